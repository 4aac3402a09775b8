{{/* What is served from the watched namespaces; a get tells nothing that a list does not. */}}
{{- define "sluice.watchRules" -}}
- { apiGroups: [""], resources: [configmaps, secrets, services], verbs: [get, list, watch] }
- { apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch] }
- { apiGroups: [networking.k8s.io], resources: [ingresses], verbs: [get, list, watch] }
- { apiGroups: [networking.k8s.io], resources: [ingresses/status], verbs: [update] }
{{- end -}}
