{{- /*
Checks of values. Each define adds a sentence to the list under "texts" of the dictionary it gets as "to";
"checks.report" ends rendering with all of them at once. This file is the same in both charts (a test compares them).
*/ -}}

{{- define "checks.add" -}}
{{- $_ := set .to "texts" (append .to.texts .text) -}}
{{- end -}}

{{- define "checks.report" -}}
{{- if .texts }}{{ fail (join "; " .texts) }}{{ end -}}
{{- end -}}

{{- /* to, name, value, least, most (may be absent): a number in a range. */ -}}
{{- define "checks.range" -}}
{{- $v := float64 .value -}}
{{- if lt $v (float64 .least) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s must be at least %v, got %v" .name .least .value)) -}}
{{- else if hasKey . "most" -}}
{{- if gt $v (float64 .most) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s must be at most %v, got %v" .name .most .value)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* to, name, value, pattern, rule: a text that matches. */ -}}
{{- define "checks.match" -}}
{{- if not (regexMatch .pattern (toString .value)) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s must be %s, got %q" .name .rule (toString .value))) -}}
{{- end -}}
{{- end -}}

{{- /* A duration in Go's syntax as milliseconds; nothing if it is none. */ -}}
{{- define "checks.milliseconds" -}}
{{- $text := toString . -}}
{{- if eq $text "0" -}}
0
{{- else if regexMatch "^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$" $text -}}
{{- $units := dict "ns" 0.000001 "us" 0.001 "µs" 0.001 "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0 -}}
{{- $sum := 0.0 -}}
{{- range $part := regexFindAll "[0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h)" $text -1 -}}
{{- $number := regexFind "^[0-9]+(\\.[0-9]*)?" $part -}}
{{- $sum = addf $sum (mulf (float64 (trimSuffix "." $number)) (get $units (trimPrefix $number $part))) -}}
{{- end -}}
{{- printf "%.6f" $sum -}}
{{- end -}}
{{- end -}}

{{- /* to, name, value, least, most (durations as text): a duration in a range. */ -}}
{{- define "checks.duration" -}}
{{- $ms := include "checks.milliseconds" .value -}}
{{- if not $ms -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s must be a duration like 1m30s, got %q" .name (toString .value))) -}}
{{- else if lt (float64 $ms) (float64 (include "checks.milliseconds" .least)) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s must be at least %s, got %s" .name .least .value)) -}}
{{- else if gt (float64 $ms) (float64 (include "checks.milliseconds" .most)) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s must be at most %s, got %s" .name .most .value)) -}}
{{- end -}}
{{- end -}}

{{- /* to, longName, long, shortName, short: the first duration is the longer one. Says nothing where one is no duration. */ -}}
{{- define "checks.longer" -}}
{{- $long := include "checks.milliseconds" .long -}}
{{- $short := include "checks.milliseconds" .short -}}
{{- if and $long $short -}}
{{- if le (float64 $long) (float64 $short) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s (%s) must be longer than %s (%s)" .longName .long .shortName .short)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* to, qpsName, qps, least, most, burstName, burst, burstMost: a rate limit; a negative rate means no limit. */ -}}
{{- define "checks.rate" -}}
{{- if ge (float64 .qps) 0.0 -}}
{{- include "checks.range" (dict "to" .to "name" .qpsName "value" .qps "least" .least "most" .most) -}}
{{- end -}}
{{- include "checks.range" (dict "to" .to "name" .burstName "value" .burst "least" 10 "most" .burstMost) -}}
{{- if lt (float64 .burst) (float64 .qps) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "%s (%v) must not be below %s (%v)" .burstName .burst .qpsName .qps)) -}}
{{- end -}}
{{- end -}}

{{- /* to, values (of the chart): what both charts have in common. */ -}}
{{- define "checks.common" -}}
{{- $v := .values -}}
{{- $label := "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" -}}
{{- include "checks.match" (dict "to" .to "name" "namespace" "value" $v.namespace "pattern" $label "rule" "a namespace's name (lower-case letters, digits, dashes; at most 63)") -}}
{{- include "checks.match" (dict "to" .to "name" "image.repository" "value" $v.image.repository "pattern" "^[^\\s@]+$" "rule" "an image's name without tag or digest") -}}
{{- include "checks.match" (dict "to" .to "name" "image.pullPolicy" "value" $v.image.pullPolicy "pattern" "^(Always|IfNotPresent|Never)$" "rule" "Always, IfNotPresent or Never") -}}
{{- include "checks.range" (dict "to" .to "name" "logVerbosity" "value" $v.logVerbosity "least" 0 "most" 10) -}}
{{- include "checks.match" (dict "to" .to "name" "logFormat" "value" $v.logFormat "pattern" "^(text|json)$" "rule" "text or json") -}}
{{- $l := $v.leaderElection -}}
{{- range $name := list "leaseDuration" "renewDeadline" "retryPeriod" -}}
{{- include "checks.duration" (dict "to" $.to "name" (printf "leaderElection.%s" $name) "value" (get $l $name) "least" "1s" "most" "1h") -}}
{{- end -}}
{{- include "checks.longer" (dict "to" .to "longName" "leaderElection.leaseDuration" "long" $l.leaseDuration "shortName" "leaderElection.renewDeadline" "short" $l.renewDeadline) -}}
{{- include "checks.longer" (dict "to" .to "longName" "leaderElection.renewDeadline" "long" $l.renewDeadline "shortName" "leaderElection.retryPeriod" "short" $l.retryPeriod) -}}
{{- $seen := dict -}}
{{- range $name, $port := $v.ports -}}
{{- include "checks.range" (dict "to" $.to "name" (printf "ports.%s" $name) "value" $port "least" 1024 "most" 65535) -}}
{{- if hasKey $seen (toString $port) -}}
{{- include "checks.add" (dict "to" $.to "text" (printf "ports.%s and ports.%s must differ, both are %v" (get $seen (toString $port)) $name $port)) -}}
{{- end -}}
{{- $_ := set $seen (toString $port) $name -}}
{{- end -}}
{{- $p := $v.podDisruptionBudget -}}
{{- if and $p.enabled (eq (kindIs "invalid" $p.minAvailable) (kindIs "invalid" $p.maxUnavailable)) -}}
{{- include "checks.add" (dict "to" .to "text" "podDisruptionBudget needs one of minAvailable and maxUnavailable") -}}
{{- end -}}
{{- if and $v.serviceMonitor.enabled (not (include "checks.milliseconds" $v.serviceMonitor.interval)) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "serviceMonitor.interval must be a duration like 30s, got %q" (toString $v.serviceMonitor.interval))) -}}
{{- end -}}
{{- end -}}
