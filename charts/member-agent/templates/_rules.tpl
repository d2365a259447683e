{{- /*
Rules for Prometheus out of files/monitoring/rules.yaml. This file is the same in both charts (a test compares them).
*/ -}}

{{- /* Where runbooks are, of prometheusRule. A release from before this value reuses values without it. */ -}}
{{- define "rules.runbooks" -}}
{{- if kindIs "invalid" .runbookURL }}docs/troubleshooting.md{{ else }}{{ .runbookURL }}{{ end -}}
{{- end -}}

{{- /* files, values (of prometheusRule), job: the groups, with the job's name and the runbooks' place put in. */ -}}
{{- define "rules.groups" -}}
{{- $v := .values -}}
{{- $runbooks := include "rules.runbooks" $v -}}
{{- $job := printf "job=%q" (default .job $v.job) -}}
{{- $groups := list -}}
{{- range $group := (fromYaml (.files.Get "files/monitoring/rules.yaml")).groups -}}
{{- $rules := list -}}
{{- range $rule := $group.rules -}}
{{- if not (has (get $rule "alert") $v.disabled) -}}
{{- $_ := set $rule "expr" (replace "job=\"JOB\"" $job $rule.expr) -}}
{{- with $rule.annotations -}}
{{- $_ := set . "runbook_url" (replace "RUNBOOKS#" (printf "%s#" $runbooks) .runbook_url) -}}
{{- end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- $groups = append $groups (dict "name" $group.name "rules" $rules) -}}
{{- end -}}
{{- toYaml (dict "groups" $groups) -}}
{{- end -}}

{{- /* to, files, values (of prometheusRule): alerts that are left out exist, and texts that are put into rules are texts there. */ -}}
{{- define "rules.validate" -}}
{{- $v := default dict .values -}}
{{- $names := list -}}
{{- range $group := (fromYaml (.files.Get "files/monitoring/rules.yaml")).groups -}}
{{- range $group.rules -}}
{{- with .alert }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name := $v.disabled -}}
{{- if not (has $name $names) -}}
{{- include "checks.add" (dict "to" $.to "text" (printf "prometheusRule.disabled: no alert is called %q" $name)) -}}
{{- end -}}
{{- end -}}
{{- include "checks.match" (dict "to" .to "name" "prometheusRule.job" "value" (default "" $v.job) "pattern" "^[A-Za-z0-9._:/-]*$" "rule" "the name of a job (letters, digits, and . _ : / -)") -}}
{{- include "checks.match" (dict "to" .to "name" "prometheusRule.runbookURL" "value" (include "rules.runbooks" $v) "pattern" "^[^\\s#{}]+$" "rule" "a place without spaces, # and braces") -}}
{{- end -}}
