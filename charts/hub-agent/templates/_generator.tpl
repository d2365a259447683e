{{- /* The manifest-generator: spec/flux-yaml.md 1.1. */ -}}
{{- define "hub-agent.generatorName" -}}
{{- include "hub-agent.fullname" . | trunc 44 | trimSuffix "-" -}}-manifest-generator
{{- end -}}

{{- /* Other than the agent's own: its Services must not lead here. */ -}}
{{- define "hub-agent.generatorSelectorLabels" -}}
app.kubernetes.io/name: manifest-generator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "hub-agent.generatorLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "hub-agent.generatorSelectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* Of {image, version}. */ -}}
{{- define "hub-agent.imageOf" -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" .image.repository (default .version .image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "hub-agent.generatorArgs" -}}
{{- $v := .Values -}}
{{- $m := $v.manifestGeneration -}}
{{- $args := list
  "--leader-elect=true"
  (printf "--leader-election-namespace=%s" $v.namespace)
  (printf "--leader-lease-duration=%s" $v.leaderElection.leaseDuration)
  (printf "--leader-renew-deadline=%s" $v.leaderElection.renewDeadline)
  (printf "--leader-retry-period=%s" $v.leaderElection.retryPeriod)
  (printf "--v=%d" (int $v.logVerbosity))
  (printf "--log-json=%t" (eq $v.logFormat "json"))
  (printf "--metrics-bind-address=:%d" (int $v.ports.metrics))
  (printf "--health-probe-bind-address=:%d" (int $v.ports.healthz))
  "--work-path=/data"
  (printf "--git-url=%s" $m.git.url)
  (printf "--git-branch=%s" $m.git.branch)
  (printf "--git-poll-interval=%s" $m.git.pollInterval)
  (printf "--git-timeout=%s" $m.git.timeout)
  (printf "--git-label=%s" $m.git.label)
  (printf "--git-sync-tag=%s" $m.git.syncTag)
  (printf "--git-notes-ref=%s" $m.git.notesRef)
  (printf "--git-readonly=%t" $m.git.readonly)
  (printf "--git-user=%s" $m.git.user)
  (printf "--git-email=%s" $m.git.email)
  (printf "--git-set-author=%t" $m.git.setAuthor)
  (printf "--git-ci-skip=%t" $m.git.ciSkip)
  (printf "--git-ci-skip-message=%s" $m.git.ciSkipMessage)
  (printf "--k8s-secret-name=%s" $m.git.secretName)
  (printf "--manifest-generation=%t" $m.generate)
  (printf "--generator-cache=%t" $m.generatorCache)
  (printf "--sync-interval=%s" $m.sync.interval)
  (printf "--sync-timeout=%s" $m.sync.timeout)
  (printf "--sync-state=%s" $m.sync.state)
  (printf "--sync-garbage-collection=%t" $m.sync.garbageCollection.enabled)
  (printf "--sync-garbage-collection-dry=%t" $m.sync.garbageCollection.dry)
  (printf "--sync-drift=%t" $m.sync.drift)
  (printf "--k8s-default-namespace=%s" (default "default" $m.defaultNamespace))
  (printf "--automation-interval=%s" $m.registry.automationInterval)
  (printf "--registry-disable-scanning=%t" $m.registry.disableScanning)
-}}
{{- range $m.git.path }}{{ $args = append $args (printf "--git-path=%s" .) }}{{ end -}}
{{- with $m.generatorEnv }}{{ $args = append $args (printf "--generator-env=%s" (join "," .)) }}{{ end -}}
{{- with $m.allowedNamespaces }}{{ $args = append $args (printf "--k8s-allow-namespace=%s" (join "," .)) }}{{ end -}}
{{- with $m.registry.excludeImage }}{{ $args = append $args (printf "--registry-exclude-image=%s" (join "," .)) }}{{ end -}}
{{- with $m.registry.includeImage }}{{ $args = append $args (printf "--registry-include-image=%s" (join "," .)) }}{{ end -}}
{{- with $m.registry.insecureHosts }}{{ $args = append $args (printf "--registry-insecure-host=%s" (join "," .)) }}{{ end -}}
{{- toYaml (concat $args $m.extraArgs) -}}
{{- end -}}

{{- define "hub-agent.validateGenerator" -}}
{{- $to := .to -}}
{{- $m := .values.manifestGeneration -}}
{{- if $m.enabled -}}
{{- if not $m.git.url -}}
{{- include "checks.add" (dict "to" $to "text" "manifestGeneration.git.url must be set") -}}
{{- end -}}
{{- range $m.git.path -}}
{{- if hasPrefix "/" . -}}
{{- include "checks.add" (dict "to" $to "text" (printf "manifestGeneration.git.path: %s must not begin with a slash" .)) -}}
{{- end -}}
{{- end -}}
{{- include "checks.duration" (dict "to" $to "name" "manifestGeneration.git.pollInterval" "value" $m.git.pollInterval "least" "1s" "most" "24h") -}}
{{- include "checks.duration" (dict "to" $to "name" "manifestGeneration.git.timeout" "value" $m.git.timeout "least" "1s" "most" "1h") -}}
{{- include "checks.duration" (dict "to" $to "name" "manifestGeneration.sync.interval" "value" $m.sync.interval "least" "1s" "most" "24h") -}}
{{- include "checks.duration" (dict "to" $to "name" "manifestGeneration.sync.timeout" "value" $m.sync.timeout "least" "1s" "most" "24h") -}}
{{- include "checks.duration" (dict "to" $to "name" "manifestGeneration.registry.automationInterval" "value" $m.registry.automationInterval "least" "1s" "most" "24h") -}}
{{- end -}}
{{- end -}}
