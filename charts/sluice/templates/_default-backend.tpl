{{- define "sluice.backendPod" -}}
{{- $b := .Values.defaultBackend -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
serviceAccountName: {{ include "sluice.backendAccount" . }}
automountServiceAccountToken: {{ $b.serviceAccount.automountServiceAccountToken }}
{{- with $b.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $b.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with $b.podSecurityContext }}
securityContext: {{ toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: {{ include "sluice.name" . }}-default-backend
    image: {{ include "sluice.image" (list . $b.image) | quote }}
    imagePullPolicy: {{ $b.image.pullPolicy }}
    {{- with $b.extraArgs }}
    args:
      {{- range $name, $value := . }}
      {{- if or (kindIs "bool" $value) $value }}
      - --{{ $name }}={{ include "sluice.text" $value }}
      {{- else }}
      - --{{ $name }}
      {{- end }}
      {{- end }}
    {{- end }}
    securityContext:
      {{- if $b.containerSecurityContext }}
      {{- toYaml $b.containerSecurityContext | nindent 6 }}
      {{- else }}
      runAsNonRoot: {{ $b.image.runAsNonRoot }}
      runAsUser: {{ int64 $b.image.runAsUser }}
      runAsGroup: {{ int64 $b.image.runAsGroup }}
      allowPrivilegeEscalation: {{ $b.image.allowPrivilegeEscalation }}
      {{- with $b.image.seccompProfile }}
      seccompProfile: {{ toYaml . | nindent 8 }}
      {{- end }}
      capabilities: { drop: [ALL] }
      readOnlyRootFilesystem: {{ $b.image.readOnlyRootFilesystem }}
      {{- end }}
    {{- with $b.extraEnvs }}
    env: {{ toYaml . | nindent 6 }}
    {{- end }}
    {{- range $kind := list "liveness" "readiness" }}
    {{ $kind }}Probe:
      httpGet: { path: /healthz, port: {{ $b.port }}, scheme: HTTP }
      {{- toYaml (index $b (printf "%sProbe" $kind)) | nindent 6 }}
    {{- end }}
    ports:
      - { name: http, containerPort: {{ $b.port }}, protocol: TCP }
    {{- with $b.extraVolumeMounts }}
    volumeMounts: {{ toYaml . | nindent 6 }}
    {{- end }}
    {{- with $b.resources }}
    resources: {{ toYaml . | nindent 6 }}
    {{- end }}
{{- with $b.extraVolumes }}
volumes: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $b.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $b.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $b.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $b.topologySpreadConstraints }}
topologySpreadConstraints: {{ toYaml . | nindent 2 }}
{{- end }}
terminationGracePeriodSeconds: 60
{{- end -}}
