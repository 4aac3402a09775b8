{{/* list AUTOSCALING EXTRA */}}
{{- define "sluice.hpaMetrics" -}}
{{- $a := index . 0 -}}
{{- range $resource, $percent := dict "cpu" $a.targetCPUUtilizationPercentage "memory" $a.targetMemoryUtilizationPercentage }}
{{- with $percent }}
- type: Resource
  resource:
    name: {{ $resource }}
    target: { type: Utilization, averageUtilization: {{ . }} }
{{- end }}
{{- end }}
{{- with index . 1 }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* dict context, values (with labels, minAvailable…), name, component */}}
{{- define "sluice.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ include "sluice.namespace" .context }}
  labels: {{ include "sluice.componentLabels" (list .context .component .values.labels) | nindent 4 }}
  {{- with .values.annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "sluice.selector" .context | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  {{- if .values.maxUnavailable }}
  maxUnavailable: {{ .values.maxUnavailable }}
  {{- else }}
  minAvailable: {{ .values.minAvailable }}
  {{- end }}
  {{- with .values.unhealthyPodEvictionPolicy }}
  unhealthyPodEvictionPolicy: {{ . }}
  {{- end }}
{{- end -}}

{{/* dict context, labels, name, component, ports (list of dict port, protocol) */}}
{{- define "sluice.networkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}
  namespace: {{ include "sluice.namespace" .context }}
  labels: {{ include "sluice.componentLabels" (list .context .component .labels) | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "sluice.selector" .context | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  policyTypes: [Ingress, Egress]
  {{- if .ports }}
  ingress:
    - ports: {{ toYaml .ports | nindent 8 }}
  {{- end }}
  egress:
    - {}
{{- end -}}
