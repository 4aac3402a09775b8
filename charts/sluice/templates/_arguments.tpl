{{- define "sluice.arguments" -}}
{{- $c := .Values.controller -}}
- /nginx-ingress-controller
{{- if not $c.enableAnnotationValidations }}
- --enable-annotation-validation=false
{{- end }}
{{- if .Values.defaultBackend.enabled }}
- --default-backend-service=$(POD_NAMESPACE)/{{ include "sluice.backendName" . }}
{{- end }}
{{- if $c.publishService.enabled }}
{{- with include "sluice.publishPath" . }}
- --publish-service={{ . }}
{{- end }}
{{- end }}
- --election-id={{ include "sluice.electionId" . }}
- --controller-class={{ $c.ingressClassResource.controllerValue }}
{{- with $c.ingressClass }}
- --ingress-class={{ . }}
{{- end }}
- --configmap={{ default "$(POD_NAMESPACE)" $c.configMapNamespace }}/{{ include "sluice.controllerName" . }}
{{- if .Values.tcp }}
- --tcp-services-configmap={{ default "$(POD_NAMESPACE)" $c.tcp.configMapNamespace }}/{{ include "sluice.fullname" . }}-tcp
{{- end }}
{{- if .Values.udp }}
- --udp-services-configmap={{ default "$(POD_NAMESPACE)" $c.udp.configMapNamespace }}/{{ include "sluice.fullname" . }}-udp
{{- end }}
{{- if $c.scope.enabled }}
- --watch-namespace={{ default "$(POD_NAMESPACE)" $c.scope.namespace }}
{{- else if $c.scope.namespaceSelector }}
- --watch-namespace-selector={{ $c.scope.namespaceSelector }}
{{- end }}
{{- if and $c.reportNodeInternalIp $c.hostNetwork }}
- --report-node-internal-ip-address=true
{{- end }}
{{- if $c.admissionWebhooks.enabled }}
- --validating-webhook=:{{ $c.admissionWebhooks.port }}
- --validating-webhook-certificate={{ $c.admissionWebhooks.certificate }}
- --validating-webhook-key={{ $c.admissionWebhooks.key }}
{{- end }}
{{- with $c.maxmindLicenseKey }}
- --maxmind-license-key={{ . }}
{{- end }}
{{- with $c.healthCheckHost }}
- --healthz-host={{ . }}
{{- end }}
{{- if ne $c.healthCheckPath "/healthz" }}
- --health-check-path={{ $c.healthCheckPath }}
{{- end }}
{{- if $c.ingressClassByName }}
- --ingress-class-by-name=true
{{- end }}
{{- if $c.watchIngressWithoutClass }}
- --watch-ingress-without-class=true
{{- end }}
{{- if $c.metrics.enabled }}
- --enable-metrics=true
{{- end }}
{{- if $c.enableTopologyAwareRouting }}
- --enable-topology-aware-routing=true
{{- end }}
{{- if $c.disableLeaderElection }}
- --disable-leader-election=true
{{- end }}
{{- with $c.electionTTL }}
- --election-ttl={{ . }}
{{- end }}
{{- range $name, $value := $c.extraArgs }}
{{- if or (kindIs "bool" $value) $value }}
- --{{ $name }}={{ include "sluice.text" $value }}
{{- else }}
- --{{ $name }}
{{- end }}
{{- end }}
{{- end -}}
