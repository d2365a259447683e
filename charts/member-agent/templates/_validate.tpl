{{- /* All rules that the schema (types, names) cannot say. One rendering names all violations. */ -}}
{{- define "member-agent.validate" -}}
{{- $v := .Values -}}
{{- $to := dict "texts" list -}}
{{- include "checks.common" (dict "to" $to "values" $v) -}}
{{- include "checks.range" (dict "to" $to "name" "replicaCount" "value" $v.replicaCount "least" 1) -}}
{{- include "checks.range" (dict "to" $to "name" "pprofPort" "value" $v.pprofPort "least" 1024 "most" 65535) -}}
{{- include "checks.range" (dict "to" $to "name" "hubPprofPort" "value" $v.hubPprofPort "least" 1024 "most" 65535) -}}
{{- include "checks.range" (dict "to" $to "name" "deletionWaitTime" "value" $v.deletionWaitTime "least" 1 "most" 60) -}}
{{- include "checks.rate" (dict "to" $to "qpsName" "hubAPIQPS" "qps" $v.hubAPIQPS "least" 10 "most" 1000 "burstName" "hubAPIBurst" "burst" $v.hubAPIBurst "burstMost" 2000) -}}
{{- include "checks.rate" (dict "to" $to "qpsName" "memberAPIQPS" "qps" $v.memberAPIQPS "least" 10 "most" 10000 "burstName" "memberAPIBurst" "burst" $v.memberAPIBurst "burstMost" 20000) -}}
{{- include "checks.match" (dict "to" $to "name" "propertyProvider" "value" $v.propertyProvider "pattern" "^(none|azure)$" "rule" "none or azure") -}}
{{- include "checks.range" (dict "to" $to "name" "priceTable.maxAgeHours" "value" $v.priceTable.maxAgeHours "least" 1 "most" 8760) -}}
{{- if and (gt (len $v.priceTable.regions) 0) $v.priceTable.existingConfigMap -}}
{{- include "checks.add" (dict "to" $to "text" "priceTable.regions and priceTable.existingConfigMap exclude each other") -}}
{{- end -}}
{{- if and (gt (len $v.ownProperties.values) 0) $v.ownProperties.existingConfigMap -}}
{{- include "checks.add" (dict "to" $to "text" "ownProperties.values and ownProperties.existingConfigMap exclude each other") -}}
{{- end -}}
{{- include "checks.range" (dict "to" $to "name" "priorityQueue.priorityLinearEquationCoeffA" "value" $v.priorityQueue.priorityLinearEquationCoeffA "least" -100 "most" -1) -}}
{{- include "checks.range" (dict "to" $to "name" "priorityQueue.priorityLinearEquationCoeffB" "value" $v.priorityQueue.priorityLinearEquationCoeffB "least" 1 "most" 1000) -}}
{{- include "checks.match" (dict "to" $to "name" "leaderElection.namespace" "value" $v.leaderElection.namespace "pattern" "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" "rule" "a namespace's name") -}}
{{- if $v.rbac.namespaceServiceAccount -}}
{{- include "checks.match" (dict "to" $to "name" "rbac.namespaceServiceAccount" "value" $v.rbac.namespaceServiceAccount "pattern" "^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$" "rule" "a service account's name") -}}
{{- end -}}
{{- include "member-agent.validateHub" (dict "to" $to "values" $v) -}}
{{- include "member-agent.validateIdentity" (dict "to" $to "values" $v) -}}
{{- include "member-agent.validateState" (dict "to" $to "values" $v) -}}
{{- include "member-agent.validateRequeue" (dict "to" $to "values" $v) -}}
{{- include "rules.validate" (dict "to" $to "files" .Files "values" $v.prometheusRule) -}}
{{- include "checks.report" $to -}}
{{- end -}}

{{- define "member-agent.validateHub" -}}
{{- $c := .values.config -}}
{{- include "checks.match" (dict "to" .to "name" "config.hubURL" "value" $c.hubURL "pattern" "^https://[^/\\s]+(/\\S*)?$" "rule" "the https:// address of the hub's API server") -}}
{{- include "checks.match" (dict "to" .to "name" "config.memberClusterName" "value" $c.memberClusterName "pattern" "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" "rule" "the name of this cluster's MemberCluster (lower-case letters, digits, dashes; at most 63)") -}}
{{- if and $c.hubCA $c.CABundle -}}
{{- include "checks.add" (dict "to" .to "text" "config.hubCA and config.CABundle exclude each other") -}}
{{- end -}}
{{- if and $c.hubCA (not (hasPrefix "-----BEGIN " (b64dec $c.hubCA))) -}}
{{- include "checks.add" (dict "to" .to "text" "config.hubCA must be base64 of a PEM certificate") -}}
{{- end -}}
{{- end -}}

{{- define "member-agent.validateIdentity" -}}
{{- $v := .values -}}
{{- $c := $v.config -}}
{{- if $v.useCAAuth -}}
{{- if not (or $c.identitySecretName (and $c.identityKey $c.identityCert)) -}}
{{- include "checks.add" (dict "to" .to "text" "useCAAuth needs config.identitySecretName, or config.identityKey and config.identityCert with volumes of yours") -}}
{{- end -}}
{{- else -}}
{{- include "checks.match" (dict "to" .to "name" "config.provider" "value" $c.provider "pattern" "^(secret|azure)$" "rule" "secret or azure") -}}
{{- range $name := list "name" "namespace" -}}
{{- if and (eq $c.provider "secret") (not (get $v.secret $name)) -}}
{{- include "checks.add" (dict "to" $.to "text" (printf "secret.%s must be set with config.provider secret" $name)) -}}
{{- end -}}
{{- end -}}
{{- if and (eq $c.provider "azure") (not $v.azure.clientid) -}}
{{- include "checks.add" (dict "to" .to "text" "azure.clientid must be set with config.provider azure") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "member-agent.validateState" -}}
{{- $v := .values -}}
{{- if and $v.state.persistence.enabled (gt (int $v.replicaCount) 1) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "replicaCount must be 1 with state.persistence.enabled, got %v: pods cannot share the state" $v.replicaCount)) -}}
{{- end -}}
{{- $sizes := dict "state.sizeLimit" $v.state.sizeLimit "state.persistence.size" $v.state.persistence.size -}}
{{- range $name, $value := $sizes -}}
{{- include "checks.match" (dict "to" $.to "name" $name "value" $value "pattern" "^[0-9]+(\\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$" "rule" "a size like 1Gi") -}}
{{- end -}}
{{- end -}}

{{- /* Ranges of single values, then the rules across them, with the agent's defaults for what is not set. */ -}}
{{- define "member-agent.validateRequeue" -}}
{{- $prefix := "workApplierRequeueRateLimiter" -}}
{{- $ranges := dict "AttemptsWithFixedDelay" (list 1 40) "FixedDelaySeconds" (list 2 300)
  "ExponentialBaseForSlowBackoff" (list 1.05 2) "InitialSlowBackoffDelaySeconds" (list 2 3600)
  "MaxSlowBackoffDelaySeconds" (list 2 3600) "ExponentialBaseForFastBackoff" (list 1.0001 2)
  "MaxFastBackoffDelaySeconds" (list 0.001 3600) -}}
{{- $now := dict "ExponentialBaseForSlowBackoff" 1.2 "InitialSlowBackoffDelaySeconds" 2.0 "MaxSlowBackoffDelaySeconds" 15.0
  "ExponentialBaseForFastBackoff" 1.5 "MaxFastBackoffDelaySeconds" 900.0 -}}
{{- range $name, $range := $ranges -}}
{{- $value := index $.values (printf "%s%s" $prefix $name) -}}
{{- if not (kindIs "invalid" $value) -}}
{{- include "checks.range" (dict "to" $.to "name" (printf "%s%s" $prefix $name) "value" $value "least" (index $range 0) "most" (index $range 1)) -}}
{{- $_ := set $now $name (float64 $value) -}}
{{- end -}}
{{- end -}}
{{- range $pair := list (list "InitialSlowBackoffDelaySeconds" "MaxSlowBackoffDelaySeconds") (list "MaxSlowBackoffDelaySeconds" "MaxFastBackoffDelaySeconds") (list "ExponentialBaseForSlowBackoff" "ExponentialBaseForFastBackoff") -}}
{{- $small := get $now (index $pair 0) -}}
{{- $large := get $now (index $pair 1) -}}
{{- if gt $small $large -}}
{{- include "checks.add" (dict "to" $.to "text" (printf "%s%s (%v) must not exceed %s%s (%v)" $prefix (index $pair 0) $small $prefix (index $pair 1) $large)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
