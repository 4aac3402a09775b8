{{- define "sluice.controllerSecurityContext" -}}
{{- $c := .Values.controller -}}
{{- if $c.containerSecurityContext -}}
{{ toYaml $c.containerSecurityContext }}
{{- else -}}
runAsNonRoot: {{ $c.image.runAsNonRoot }}
runAsUser: {{ int64 $c.image.runAsUser }}
runAsGroup: {{ int64 $c.image.runAsGroup }}
allowPrivilegeEscalation: {{ $c.image.allowPrivilegeEscalation }}
{{- with $c.image.seccompProfile }}
seccompProfile: {{ toYaml . | nindent 2 }}
{{- end }}
capabilities:
  drop: [ALL]
  add: [NET_BIND_SERVICE]
readOnlyRootFilesystem: {{ $c.image.readOnlyRootFilesystem }}
{{- end -}}
{{- end -}}

{{/* "true" where nothing else lies on /tmp, which must be writable */}}
{{- define "sluice.ownTmp" -}}
{{- $free := true -}}
{{- range .Values.controller.extraVolumeMounts -}}
{{- if eq (trimSuffix "/" .mountPath) "/tmp" -}}{{- $free = false -}}{{- end -}}
{{- end -}}
{{- if and $free .Values.controller.image.readOnlyRootFilesystem -}}true{{- end -}}
{{- end -}}

{{- define "sluice.containerPorts" -}}
{{- $c := .Values.controller -}}
{{- $host := $c.hostPort -}}
{{- range $name, $port := $c.containerPort }}
- name: {{ $name }}
  containerPort: {{ $port }}
  protocol: TCP
  {{- if $host.enabled }}
  hostPort: {{ index $host.ports $name | default $port }}
  {{- end }}
{{- end }}
{{- if $c.metrics.enabled }}
- name: {{ $c.metrics.portName }}
  containerPort: {{ $c.metrics.port }}
  protocol: TCP
{{- end }}
{{- if $c.admissionWebhooks.enabled }}
- name: webhook
  containerPort: {{ $c.admissionWebhooks.port }}
  protocol: TCP
{{- end }}
{{- range $port, $_ := .Values.tcp }}
- name: {{ include "sluice.streamPortName" (list $ $port "tcp") }}
  containerPort: {{ $port }}
  protocol: TCP
  {{- if $host.enabled }}
  hostPort: {{ $port }}
  {{- end }}
{{- end }}
{{- range $port, $_ := .Values.udp }}
- name: {{ include "sluice.streamPortName" (list $ $port "udp") }}
  containerPort: {{ $port }}
  protocol: UDP
  {{- if $host.enabled }}
  hostPort: {{ $port }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* list CONTEXT PORT PROTOCOL; container and Service ports must carry one name */}}
{{- define "sluice.streamPortName" -}}
{{- $prefix := (index . 0).Values.portNamePrefix -}}
{{- if $prefix -}}{{ $prefix }}-{{- end -}}
{{ index . 1 }}-{{ index . 2 }}
{{- end -}}

{{/* list CONTEXT PROBE; the path and the host follow healthCheckPath and healthCheckHost */}}
{{- define "sluice.probe" -}}
{{- $c := (index . 0).Values.controller -}}
{{- $probe := deepCopy (index . 1) -}}
{{- if $probe.httpGet -}}
{{- if ne $c.healthCheckPath "/healthz" -}}{{- $_ := set $probe.httpGet "path" $c.healthCheckPath -}}{{- end -}}
{{- with $c.healthCheckHost -}}{{- $_ := set $probe.httpGet "host" . -}}{{- end -}}
{{- end -}}
{{ toYaml $probe }}
{{- end -}}

{{- define "sluice.container" -}}
{{- $c := .Values.controller -}}
- name: {{ $c.containerName }}
  image: {{ include "sluice.image" (list . $c.image) | quote }}
  imagePullPolicy: {{ $c.image.pullPolicy }}
  {{- with $c.lifecycle }}
  lifecycle: {{ toYaml . | nindent 4 }}
  {{- end }}
  args: {{ include "sluice.arguments" . | nindent 4 }}
  securityContext: {{ include "sluice.controllerSecurityContext" . | nindent 4 }}
  env:
    - name: POD_NAME
      valueFrom: { fieldRef: { fieldPath: metadata.name } }
    - name: POD_NAMESPACE
      valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
    {{- if $c.enableMimalloc }}
    - name: LD_PRELOAD
      value: /usr/local/lib/libmimalloc.so
    {{- end }}
    {{- with $c.extraEnvs }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $c.startupProbe }}
  startupProbe: {{ include "sluice.probe" (list $ .) | nindent 4 }}
  {{- end }}
  {{- with $c.livenessProbe }}
  livenessProbe: {{ include "sluice.probe" (list $ .) | nindent 4 }}
  {{- end }}
  {{- with $c.readinessProbe }}
  readinessProbe: {{ include "sluice.probe" (list $ .) | nindent 4 }}
  {{- end }}
  ports: {{- include "sluice.containerPorts" . | nindent 4 }}
  {{- if or (include "sluice.ownTmp" .) $c.extraModules $c.admissionWebhooks.enabled $c.extraVolumeMounts }}
  volumeMounts:
    {{- if include "sluice.ownTmp" . }}
    - { name: tmp, mountPath: /tmp }
    {{- end }}
    {{- if $c.extraModules }}
    - { name: modules, mountPath: /modules_mount }
    {{- end }}
    {{- if $c.admissionWebhooks.enabled }}
    - { name: webhook-cert, mountPath: /usr/local/certificates/, readOnly: true }
    {{- end }}
    {{- with $c.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- with $c.resources }}
  resources: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $c.resizePolicy }}
  resizePolicy: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* list CONTEXT MODULE → an init container that copies an nginx module to /modules_mount */}}
{{- define "sluice.moduleContainer" -}}
{{- $root := index . 0 -}}
{{- $module := index . 1 -}}
- name: {{ $module.name }}
  image: {{ include "sluice.image" (list $root $module.image) | quote }}
  imagePullPolicy: {{ default "IfNotPresent" $module.image.pullPolicy }}
  command:
    {{- if $module.image.distroless }}
    - /init_module
    {{- else }}
    - sh
    - -c
    - /usr/local/bin/init_module.sh
    {{- end }}
  securityContext:
    runAsNonRoot: {{ dig "runAsNonRoot" true $module.image }}
    runAsUser: {{ dig "runAsUser" 65532 $module.image | int64 }}
    runAsGroup: {{ dig "runAsGroup" 65532 $module.image | int64 }}
    allowPrivilegeEscalation: {{ dig "allowPrivilegeEscalation" false $module.image }}
    seccompProfile: {{ toYaml (dig "seccompProfile" (dict "type" "RuntimeDefault") $module.image) | nindent 6 }}
    capabilities: { drop: [ALL] }
    readOnlyRootFilesystem: {{ dig "readOnlyRootFilesystem" true $module.image }}
  {{- with $module.resources }}
  resources: {{ toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    - { name: modules, mountPath: /modules_mount }
{{- end -}}

{{- define "sluice.volumes" -}}
{{- $c := .Values.controller -}}
{{- if include "sluice.ownTmp" . }}
- name: tmp
  emptyDir: {}
{{- end }}
{{- if $c.extraModules }}
- name: modules
  emptyDir: {}
{{- end }}
{{- if $c.admissionWebhooks.enabled }}
- name: webhook-cert
  secret:
    secretName: {{ include "sluice.admissionName" . }}
    {{- if $c.admissionWebhooks.certManager.enabled }}
    items:
      - { key: tls.crt, path: cert }
      - { key: tls.key, path: key }
    {{- end }}
{{- end }}
{{- with $c.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "sluice.podSpec" -}}
{{- $c := .Values.controller -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
serviceAccountName: {{ include "sluice.controllerAccount" . }}
automountServiceAccountToken: {{ .Values.serviceAccount.automountServiceAccountToken }}
{{- with $c.dnsConfig }}
dnsConfig: {{ toYaml . | nindent 2 }}
{{- end }}
dnsPolicy: {{ $c.dnsPolicy }}
{{- with $c.hostAliases }}
hostAliases: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $c.hostname }}
hostname: {{ toYaml . }}
{{- end }}
{{- if $c.hostNetwork }}
hostNetwork: true
{{- end }}
{{- if $c.shareProcessNamespace }}
shareProcessNamespace: true
{{- end }}
{{- with $c.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $c.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- if or $c.podSecurityContext $c.sysctls }}
securityContext:
  {{- with $c.podSecurityContext }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if $c.sysctls }}
  sysctls:
    {{- range $name, $value := $c.sysctls }}
    - { name: {{ $name | quote }}, value: {{ $value | quote }} }
    {{- end }}
  {{- end }}
{{- end }}
{{- if or $c.extraInitContainers $c.extraModules }}
initContainers:
  {{- with $c.extraInitContainers }}
  {{- tpl (toYaml .) $ | nindent 2 }}
  {{- end }}
  {{- range $c.extraModules }}
  {{- include "sluice.moduleContainer" (list $ .) | nindent 2 }}
  {{- end }}
{{- end }}
containers:
  {{- include "sluice.container" . | nindent 2 }}
  {{- with $c.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with include "sluice.volumes" . }}
volumes: {{- . | nindent 2 }}
{{- end }}
{{- with $c.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $c.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $c.affinity }}
affinity: {{ tpl (toYaml .) $ | nindent 2 }}
{{- end }}
{{- with $c.topologySpreadConstraints }}
topologySpreadConstraints: {{ tpl (toYaml .) $ | nindent 2 }}
{{- end }}
terminationGracePeriodSeconds: {{ $c.terminationGracePeriodSeconds }}
{{- end -}}
