{{- define "member-agent.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* The release's name if it contains the chart's, else both. */ -}}
{{- define "member-agent.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "member-agent.serviceAccountName" -}}
{{- include "member-agent.fullname" . -}}-sa
{{- end -}}

{{- define "member-agent.selectorLabels" -}}
app.kubernetes.io/name: {{ include "member-agent.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "member-agent.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "member-agent.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* values (an image's block), chart */ -}}
{{- define "member-agent.image" -}}
{{- $image := .values -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "member-agent.stateClaim" -}}
{{- default (printf "%s-state" (include "member-agent.fullname" .)) .Values.state.persistence.existingClaim -}}
{{- end -}}

{{- /* The ConfigMap with prices; "": none is read. */ -}}
{{- define "member-agent.priceTable" -}}
{{- $v := .Values -}}
{{- if and (eq $v.propertyProvider "azure") $v.useCostPropertiesInAzureProvider -}}
{{- default (ternary (printf "%s-prices" (include "member-agent.fullname" .)) "" (gt (len $v.priceTable.regions) 0)) $v.priceTable.existingConfigMap -}}
{{- end -}}
{{- end -}}

{{- /* The ConfigMap with properties of the operator's own; "": there is none. */ -}}
{{- define "member-agent.ownProperties" -}}
{{- $v := .Values -}}
{{- default (ternary (printf "%s-properties" (include "member-agent.fullname" .)) "" (gt (len $v.ownProperties.values) 0)) $v.ownProperties.existingConfigMap -}}
{{- end -}}

{{- /* Where a Secret with the identity is mounted. */ -}}
{{- define "member-agent.identityFolder" -}}
/etc/argosy/hub-identity
{{- end -}}

{{- define "member-agent.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "member-agent.securityContext" -}}
runAsNonRoot: true
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
