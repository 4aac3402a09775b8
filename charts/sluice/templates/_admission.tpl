{{/* dict context, labels, name */}}
{{- define "sluice.certManagerMeta" -}}
name: {{ .name }}
namespace: {{ include "sluice.namespace" .context }}
labels: {{ include "sluice.componentLabels" (list .context "admission-webhook" .labels) | nindent 2 }}
{{- end -}}

{{/* dict context, hook (of Helm), job (values), arguments (list of text) → the Job */}}
{{- define "sluice.admissionJob" -}}
{{- $a := .context.Values.controller.admissionWebhooks -}}
{{- $patch := $a.patch -}}
{{- $labels := include "sluice.componentLabels" (list .context "admission-webhook" $a.labels $patch.labels) -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "sluice.admissionName" .context }}-{{ .job.name }}
  namespace: {{ include "sluice.namespace" .context }}
  labels: {{ $labels | nindent 4 }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    {{- with $a.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- with .job.activeDeadlineSeconds }}
  activeDeadlineSeconds: {{ . }}
  {{- end }}
  template:
    metadata:
      labels: {{ $labels | nindent 8 }}
      {{- with $patch.podAnnotations }}
      annotations: {{ toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- with .context.Values.imagePullSecrets }}
      imagePullSecrets: {{ toYaml . | nindent 8 }}
      {{- end }}
      serviceAccountName: {{ include "sluice.patchAccount" .context }}
      automountServiceAccountToken: {{ $patch.serviceAccount.automountServiceAccountToken }}
      restartPolicy: OnFailure
      {{- with $patch.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with $patch.runtimeClassName }}
      runtimeClassName: {{ . }}
      {{- end }}
      containers:
        - name: {{ .job.name }}
          image: {{ include "sluice.patchImage" .context | quote }}
          imagePullPolicy: {{ $patch.image.pullPolicy }}
          command: [/kube-webhook-certgen]
          args: {{ toYaml .arguments | nindent 12 }}
          env:
            - name: POD_NAMESPACE
              valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
            {{- with $a.extraEnvs }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- with .job.securityContext }}
          securityContext: {{ toYaml . | nindent 12 }}
          {{- end }}
          {{- with .job.resources }}
          resources: {{ toYaml . | nindent 12 }}
          {{- end }}
          {{- with .job.volumeMounts }}
          volumeMounts: {{ toYaml . | nindent 12 }}
          {{- end }}
      {{- with .job.volumes }}
      volumes: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with $patch.nodeSelector }}
      nodeSelector: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with $patch.tolerations }}
      tolerations: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with $patch.securityContext }}
      securityContext: {{ toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}

{{/* dict context, kind, namespaced → head of an object that the Jobs need */}}
{{- define "sluice.jobObject" -}}
kind: {{ .kind }}
metadata:
  name: {{ default (include "sluice.admissionName" .context) .name }}
  {{- if .namespaced }}
  namespace: {{ include "sluice.namespace" .context }}
  {{- end }}
  labels: {{ include "sluice.componentLabels" (list .context "admission-webhook" .context.Values.controller.admissionWebhooks.patch.labels) | nindent 4 }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
