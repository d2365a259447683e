{{- /* The live page: docs/page.md. */ -}}
{{- define "hub-agent.pageName" -}}
{{- include "hub-agent.fullname" . | trunc 58 | trimSuffix "-" -}}-page
{{- end -}}

{{- /* Other than the agent's own: its Services must not lead here. */ -}}
{{- define "hub-agent.pageSelectorLabels" -}}
app.kubernetes.io/name: fleet-page
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "hub-agent.pageLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "hub-agent.pageSelectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "hub-agent.pageArgs" -}}
{{- $p := .Values.page -}}
{{- $service := printf "%s.%s" $p.serviceName .Values.namespace -}}
{{- $args := list "page" "--in-cluster" "--bind=0.0.0.0" (printf "--port=%d" (int $p.port)) -}}
{{- range concat (list $p.serviceName $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service)) $p.allowedHosts -}}
{{- $args = append $args (printf "--allowed-host=%s" .) -}}
{{- end -}}
{{- if $p.tlsSecretName -}}
{{- $args = concat $args (list "--tls-cert-file=/tls/tls.crt" "--tls-key-file=/tls/tls.key") -}}
{{- else -}}
{{- $args = append $args "--insecure-http" -}}
{{- end -}}
{{- toYaml (concat $args $p.extraArgs) -}}
{{- end -}}

{{- define "hub-agent.validatePage" -}}
{{- $to := .to -}}
{{- $p := .page -}}
{{- if $p.enabled -}}
{{- include "checks.range" (dict "to" $to "name" "page.replicas" "value" $p.replicas "least" 1) -}}
{{- include "checks.range" (dict "to" $to "name" "page.port" "value" $p.port "least" 1024 "most" 65535) -}}
{{- include "checks.match" (dict "to" $to "name" "page.serviceName" "value" $p.serviceName "pattern" "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$" "rule" "a Service's name") -}}
{{- range $p.allowedHosts -}}
{{- include "checks.match" (dict "to" $to "name" "page.allowedHosts" "value" . "pattern" "^[A-Za-z0-9._-]+(:[0-9]+)?$" "rule" "names like fleet.example.com or fleet.example.com:8443") -}}
{{- end -}}
{{- if gt (len $p.allowedHosts) 12 -}}
{{- include "checks.add" (dict "to" $to "text" "page.allowedHosts: at most 12 names") -}}
{{- end -}}
{{- end -}}
{{- end -}}
