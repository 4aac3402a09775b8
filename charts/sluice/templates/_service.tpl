{{/* dict context, service (of values), parent (what it falls back to), name, labels → a Service of the controller */}}
{{- define "sluice.controllerService" -}}
{{- $root := .context -}}
{{- $s := .service -}}
{{- $type := default .parent.type $s.type -}}
{{- $common := $root.Values.controller.service -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  namespace: {{ include "sluice.namespace" $root }}
  labels: {{ include "sluice.componentLabels" (list $root "controller" $root.Values.controller.labels $common.labels .labels) | nindent 4 }}
  {{- with $s.annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $type }}
  {{- range $field := list "clusterIP" "loadBalancerIP" "loadBalancerClass" "externalTrafficPolicy" "sessionAffinity" "trafficDistribution" "ipFamilyPolicy" }}
  {{- with index $s $field }}
  {{ $field }}: {{ . | quote }}
  {{- end }}
  {{- end }}
  {{- range $field := list "clusterIPs" "externalIPs" "loadBalancerSourceRanges" "ipFamilies" }}
  {{- with index $s $field }}
  {{ $field }}: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with $s.healthCheckNodePort }}
  healthCheckNodePort: {{ . }}
  {{- end }}
  {{- if and (eq $type "LoadBalancer") (hasKey $s "allocateLoadBalancerNodePorts") }}
  allocateLoadBalancerNodePorts: {{ $s.allocateLoadBalancerNodePorts }}
  {{- end }}
  ports:
    {{- range $name := list "http" "https" }}
    {{- if index $common (printf "enable%s" (title $name)) }}
    - name: {{ $name }}
      port: {{ default (index $common.ports $name) (index $s.ports $name) }}
      protocol: TCP
      targetPort: {{ default (index $common.targetPorts $name) (index $s.targetPorts $name) }}
      {{- if $s.appProtocol }}
      appProtocol: {{ $name }}
      {{- end }}
      {{- if ne $type "ClusterIP" }}
      {{- with index $s.nodePorts $name }}
      nodePort: {{ . }}
      {{- end }}
      {{- end }}
    {{- end }}
    {{- end }}
    {{- range $protocol := list "tcp" "udp" }}
    {{- range $port, $_ := index $root.Values $protocol }}
    {{- $portName := include "sluice.streamPortName" (list $root $port $protocol) }}
    - name: {{ $portName }}
      port: {{ $port }}
      protocol: {{ upper $protocol }}
      targetPort: {{ $portName }}
      {{- if ne $type "ClusterIP" }}
      {{- with index (index $s.nodePorts $protocol) (toString $port) }}
      nodePort: {{ . }}
      {{- end }}
      {{- end }}
    {{- end }}
    {{- end }}
  selector:
    {{- include "sluice.selector" $root | nindent 4 }}
    app.kubernetes.io/component: controller
{{- end -}}

{{/* dict context, service (values of a small Service), name, component, labels, port, portName, targetPort */}}
{{- define "sluice.smallService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  namespace: {{ include "sluice.namespace" .context }}
  labels: {{ include "sluice.componentLabels" (list .context .component .labels .service.labels) | nindent 4 }}
  {{- with .service.annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .service.type }}
  {{- with .service.clusterIP }}
  clusterIP: {{ . | quote }}
  {{- end }}
  {{- range $field := list "loadBalancerIP" "externalTrafficPolicy" }}
  {{- with index $.service $field }}
  {{ $field }}: {{ . | quote }}
  {{- end }}
  {{- end }}
  {{- range $field := list "clusterIPs" "externalIPs" "loadBalancerSourceRanges" }}
  {{- with index $.service $field }}
  {{ $field }}: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  ports:
    - name: {{ .portName }}
      port: {{ .service.servicePort }}
      protocol: TCP
      targetPort: {{ .targetPort }}
      {{- with .appProtocol }}
      appProtocol: {{ . }}
      {{- end }}
      {{- with .service.nodePort }}
      nodePort: {{ . }}
      {{- end }}
  selector:
    {{- include "sluice.selector" .context | nindent 4 }}
    app.kubernetes.io/component: {{ .selects }}
{{- end -}}
