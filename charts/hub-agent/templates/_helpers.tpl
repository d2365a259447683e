{{- define "hub-agent.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* The release's name if it contains the chart's, else both. */ -}}
{{- define "hub-agent.fullname" -}}
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

{{- define "hub-agent.serviceAccountName" -}}
{{- include "hub-agent.fullname" . -}}-sa
{{- end -}}

{{- /* As whom ResourceSets act that name no account. */ -}}
{{- define "hub-agent.setsAccountName" -}}
{{- include "hub-agent.fullname" . | trunc 49 | trimSuffix "-" -}}-resource-sets
{{- end -}}

{{- /* The Service of the archives of sources. */ -}}
{{- define "hub-agent.artifactsName" -}}
{{- include "hub-agent.fullname" . | trunc 53 | trimSuffix "-" -}}-artifacts
{{- end -}}

{{- define "hub-agent.selectorLabels" -}}
app.kubernetes.io/name: {{ include "hub-agent.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "hub-agent.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "hub-agent.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "hub-agent.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* "true" if members are held to their finalizers: asked for, and Kubernetes can. */ -}}
{{- define "hub-agent.hasMemberPolicy" -}}
{{- and .Values.rbac.memberPolicy (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version) -}}
{{- end -}}

{{- /* "true" if the guard rail holds without an agent: asked for, and Kubernetes can. */ -}}
{{- define "hub-agent.hasGuardPolicies" -}}
{{- and .Values.enableGuardRail .Values.guardRailPolicies (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version) -}}
{{- end -}}

{{- /* "true" if the API server holds what it can of the other webhooks' rules. */ -}}
{{- define "hub-agent.hasWebhookRulePolicies" -}}
{{- and .Values.webhookRulePolicies (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version) -}}
{{- end -}}

{{- define "hub-agent.leaseNamespace" -}}
{{- default .Values.namespace .Values.leaderElection.namespace -}}
{{- end -}}
