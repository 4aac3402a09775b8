{{/* Object names and labels are those of the retired chart: a release of it is upgraded in place, selectors cannot change. */}}
{{- define "sluice.name" -}}
{{- default "ingress-nginx" .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.fullname" -}}
{{- $name := include "sluice.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sluice.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.controllerName" -}}
{{- printf "%s-%s" (include "sluice.fullname" .) .Values.controller.name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.admissionName" -}}
{{- printf "%s-%s" (include "sluice.fullname" .) .Values.controller.admissionWebhooks.name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.admissionServiceName" -}}
{{- printf "%s-%s" (include "sluice.controllerName" .) .Values.controller.admissionWebhooks.name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.backendName" -}}
{{- printf "%s-%s" (include "sluice.fullname" .) .Values.defaultBackend.name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.electionId" -}}
{{- default (printf "%s-leader" (include "sluice.fullname" .)) .Values.controller.electionID -}}
{{- end -}}

{{- define "sluice.controllerAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "sluice.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "sluice.backendAccount" -}}
{{- with .Values.defaultBackend.serviceAccount -}}
{{- if .create -}}
{{- default (printf "%s-backend" (include "sluice.fullname" $)) .name -}}
{{- else -}}
{{- default "default" .name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "sluice.patchAccount" -}}
{{- with .Values.controller.admissionWebhooks.patch.serviceAccount -}}
{{- if .create -}}
{{- default (include "sluice.admissionName" $) .name -}}
{{- else -}}
{{- default "default" .name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "sluice.selector" . }}
{{- with .Chart.AppVersion }}
app.kubernetes.io/version: {{ . | quote }}
{{- end }}
app.kubernetes.io/part-of: {{ include "sluice.name" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* list CONTEXT COMPONENT LABELS… → metadata labels of a component */}}
{{- define "sluice.componentLabels" -}}
{{- $root := index . 0 -}}
{{ include "sluice.labels" $root }}
app.kubernetes.io/component: {{ index . 1 }}
{{- range $labels := slice . 2 }}
{{- with $labels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* list CONTEXT IMAGE → its name; IMAGE has repository, or registry and image, tag and digest */}}
{{- define "sluice.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := default $image.registry $root.Values.global.image.registry -}}
{{- $path := $image.image -}}
{{- if $registry -}}{{- $path = printf "%s/%s" $registry $image.image -}}{{- end -}}
{{- default $path $image.repository -}}
{{- with $image.tag -}}:{{ . }}{{- end -}}
{{- with $image.digest -}}@{{ . }}{{- end -}}
{{- end -}}

{{- define "sluice.patchImage" -}}
{{- $own := .Values.controller.admissionWebhooks.patch.image -}}
{{- if or $own.image $own.repository -}}
{{- include "sluice.image" (list . $own) -}}
{{- else -}}
{{- include "sluice.image" (list . .Values.controller.image) -}}
{{- end -}}
{{- end -}}

{{- define "sluice.publishPath" -}}
{{- $service := .Values.controller.service -}}
{{- if .Values.controller.publishService.pathOverride -}}
{{- .Values.controller.publishService.pathOverride -}}
{{- else if and $service.enabled $service.external.enabled -}}
{{- printf "$(POD_NAMESPACE)/%s" (include "sluice.controllerName" .) -}}
{{- else if and $service.enabled $service.internal.enabled $service.internal.annotations -}}
{{- printf "$(POD_NAMESPACE)/%s-internal" (include "sluice.controllerName" .) -}}
{{- end -}}
{{- end -}}

{{/* "true" where another workload scales the controller, or it has no number of replicas */}}
{{- define "sluice.scaledElsewhere" -}}
{{- if or .Values.controller.autoscaling.enabled .Values.controller.keda.enabled -}}true{{- end -}}
{{- end -}}

{{- define "sluice.secretsOfJobs" -}}
{{- if and .Values.controller.admissionWebhooks.enabled .Values.controller.admissionWebhooks.patch.enabled (not .Values.controller.admissionWebhooks.certManager.enabled) -}}true{{- end -}}
{{- end -}}

{{/* VALUE → its text. Numbers of a values.yaml are floats, which print as 1e+06 from a million on. */}}
{{- define "sluice.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}
