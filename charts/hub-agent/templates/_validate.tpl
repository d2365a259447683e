{{- /* All rules that the schema (types, names) cannot say. One rendering names all violations. */ -}}
{{- define "hub-agent.validate" -}}
{{- $v := .Values -}}
{{- $to := dict "texts" list -}}
{{- include "checks.common" (dict "to" $to "values" $v) -}}
{{- include "checks.range" (dict "to" $to "name" "replicaCount" "value" $v.replicaCount "least" 1) -}}
{{- include "hub-agent.validateSharding" (dict "to" $to "values" $v) -}}
{{- include "checks.range" (dict "to" $to "name" "pprofPort" "value" $v.pprofPort "least" 1024 "most" 65535) -}}
{{- include "checks.range" (dict "to" $to "name" "logFileMaxSize" "value" $v.logFileMaxSize "least" 0) -}}
{{- include "checks.range" (dict "to" $to "name" "MaxConcurrentClusterPlacement" "value" $v.MaxConcurrentClusterPlacement "least" 10 "most" 100000) -}}
{{- include "checks.range" (dict "to" $to "name" "ConcurrentResourceChangeSyncs" "value" $v.ConcurrentResourceChangeSyncs "least" 1 "most" 100) -}}
{{- include "checks.range" (dict "to" $to "name" "MaxFleetSizeSupported" "value" $v.MaxFleetSizeSupported "least" 30 "most" 100000) -}}
{{- include "checks.rate" (dict "to" $to "qpsName" "hubAPIQPS" "qps" $v.hubAPIQPS "least" 0 "most" 10000 "burstName" "hubAPIBurst" "burst" $v.hubAPIBurst "burstMost" 20000) -}}
{{- include "checks.rate" (dict "to" $to "qpsName" "leaderElection.qps" "qps" $v.leaderElection.qps "least" 0 "most" 1000 "burstName" "leaderElection.burst" "burst" $v.leaderElection.burst "burstMost" 2000) -}}
{{- include "checks.duration" (dict "to" $to "name" "forceDeleteWaitTime" "value" $v.forceDeleteWaitTime "least" "30s" "most" "1h") -}}
{{- include "checks.duration" (dict "to" $to "name" "clusterUnhealthyThreshold" "value" $v.clusterUnhealthyThreshold "least" "30s" "most" "1h") -}}
{{- include "checks.duration" (dict "to" $to "name" "resyncPeriod" "value" $v.resyncPeriod "least" "1h" "most" "12h") -}}
{{- include "checks.duration" (dict "to" $to "name" "resourceSnapshotCreationMinimumInterval" "value" $v.resourceSnapshotCreationMinimumInterval "least" "0s" "most" "5m") -}}
{{- include "checks.duration" (dict "to" $to "name" "resourceChangesCollectionDuration" "value" $v.resourceChangesCollectionDuration "least" "0s" "most" "1m") -}}
{{- include "hub-agent.validateRateLimiter" (dict "to" $to "limiter" $v.rateLimiter) -}}
{{- include "hub-agent.validateAPILists" (dict "to" $to "values" $v) -}}
{{- include "hub-agent.validateWebhook" (dict "to" $to "values" $v) -}}
{{- include "hub-agent.validatePolicyManager" (dict "to" $to "values" $v) -}}
{{- include "hub-agent.validateResourceSets" (dict "to" $to "sets" $v.resourceSets) -}}
{{- include "hub-agent.validateSources" (dict "to" $to "sources" $v.sources "replicas" $v.replicaCount) -}}
{{- include "hub-agent.validateTrustedRoot" (dict "to" $to "values" $v) -}}
{{- include "hub-agent.validateGenerator" (dict "to" $to "values" $v) -}}
{{- include "hub-agent.validatePage" (dict "to" $to "page" $v.page) -}}
{{- include "rules.validate" (dict "to" $to "files" .Files "values" $v.prometheusRule) -}}
{{- include "checks.report" $to -}}
{{- end -}}

{{- define "hub-agent.validateSharding" -}}
{{- $n := .values.sharding.shards -}}
{{- if $n -}}
{{- include "checks.range" (dict "to" .to "name" "sharding.shards" "value" $n "least" 2 "most" 64) -}}
{{- if not .values.leaderElection.enabled -}}
{{- include "checks.add" (dict "to" .to "text" "sharding.shards needs leaderElection.enabled") -}}
{{- end -}}
{{- if gt (int .values.replicaCount) (int $n) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "replicaCount (%d) must not be above sharding.shards (%d): some pods would have none" (int .values.replicaCount) (int $n))) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "hub-agent.validateRateLimiter" -}}
{{- $l := .limiter -}}
{{- include "checks.duration" (dict "to" .to "name" "rateLimiter.baseDelay" "value" $l.baseDelay "least" "1ms" "most" "200ms") -}}
{{- include "checks.duration" (dict "to" .to "name" "rateLimiter.maxDelay" "value" $l.maxDelay "least" "1s" "most" "5m") -}}
{{- include "checks.range" (dict "to" .to "name" "rateLimiter.qps" "value" $l.qps "least" 1 "most" 1000) -}}
{{- include "checks.range" (dict "to" .to "name" "rateLimiter.bucketSize" "value" $l.bucketSize "least" 1 "most" 10000) -}}
{{- if gt (float64 $l.qps) (float64 $l.bucketSize) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "rateLimiter.qps (%v) must not exceed rateLimiter.bucketSize (%v)" $l.qps $l.bucketSize)) -}}
{{- end -}}
{{- end -}}

{{- /* "group", "group/version", "v1/Kind,Kind", "group/version/Kind,Kind", separated by semicolons. */ -}}
{{- define "hub-agent.validateAPILists" -}}
{{- $v := .values -}}
{{- range $name := list "skippedPropagatingAPIs" "allowedPropagatingAPIs" -}}
{{- range $token := splitList ";" (get $v $name) -}}
{{- if gt (len (splitList "/" $token)) 3 -}}
{{- include "checks.add" (dict "to" $.to "text" (printf "%s: %q must be a group, group/version, v1/Kind or group/version/Kind,Kind" $name $token)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $v.skippedPropagatingAPIs $v.allowedPropagatingAPIs -}}
{{- include "checks.add" (dict "to" .to "text" "skippedPropagatingAPIs and allowedPropagatingAPIs exclude each other") -}}
{{- end -}}
{{- end -}}

{{- define "hub-agent.validateWebhook" -}}
{{- $v := .values -}}
{{- include "checks.match" (dict "to" .to "name" "webhookClientConnectionType" "value" (lower $v.webhookClientConnectionType) "pattern" "^(service|url|)$" "rule" "service or url") -}}
{{- if $v.enableWebhook -}}
{{- include "checks.match" (dict "to" .to "name" "webhookServiceName" "value" $v.webhookServiceName "pattern" "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$" "rule" "a Service's name") -}}
{{- end -}}
{{- if and $v.useCertManager (not $v.enableWorkload) -}}
{{- include "checks.add" (dict "to" .to "text" "useCertManager needs enableWorkload: true, since cert-manager's pods run on the hub") -}}
{{- end -}}
{{- if and $v.useCertManager (not $v.webhookCertSecretName) -}}
{{- include "checks.add" (dict "to" .to "text" "webhookCertSecretName must be set with useCertManager") -}}
{{- end -}}
{{- if and $v.enableGuardRail (not $v.enableWebhook) -}}
{{- include "checks.add" (dict "to" .to "text" "enableGuardRail needs enableWebhook: true") -}}
{{- end -}}
{{- end -}}

{{- define "hub-agent.validatePolicyManager" -}}
{{- $v := .values -}}
{{- $name := $v.admissionPolicyManagerConfigName -}}
{{- if and $v.enableAdmissionPolicyManager $name (not (hasKey $v.additionalConfigData $name)) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "admissionPolicyManagerConfigName: additionalConfigData has no %q" $name)) -}}
{{- end -}}
{{- end -}}

{{- define "hub-agent.validateTrustedRoot" -}}
{{- $name := .values.sources.trustedRootConfigName -}}
{{- if and $name (not (hasKey .values.additionalConfigData $name)) -}}
{{- include "checks.add" (dict "to" .to "text" (printf "sources.trustedRootConfigName: additionalConfigData has no %q" $name)) -}}
{{- end -}}
{{- end -}}

{{- define "hub-agent.validateResourceSets" -}}
{{- $to := .to -}}
{{- $s := .sets -}}
{{- $name := "^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$" -}}
{{- with $s.defaultServiceAccount -}}
{{- include "checks.match" (dict "to" $to "name" "resourceSets.defaultServiceAccount" "value" . "pattern" $name "rule" "a service account's name") -}}
{{- end -}}
{{- range $s.serviceAccounts -}}
{{- include "checks.match" (dict "to" $to "name" "resourceSets.serviceAccounts" "value" . "pattern" $name "rule" "names of service accounts") -}}
{{- end -}}
{{- if and $s.defaultServiceAccount $s.rules -}}
{{- include "checks.add" (dict "to" $to "text" "resourceSets.rules have no effect with resourceSets.defaultServiceAccount") -}}
{{- end -}}
{{- include "checks.duration" (dict "to" $to "name" "resourceSets.requeueDependency" "value" $s.requeueDependency "least" "100ms" "most" "1h") -}}
{{- end -}}

{{- define "hub-agent.validateSources" -}}
{{- $to := .to -}}
{{- $s := .sources -}}
{{- include "checks.duration" (dict "to" $to "name" "sources.retentionTTL" "value" $s.retentionTTL "least" "1s" "most" "24h") -}}
{{- include "checks.range" (dict "to" $to "name" "sources.retentionRecords" "value" $s.retentionRecords "least" 1 "most" 1000) -}}
{{- include "checks.range" (dict "to" $to "name" "sources.indexMaxSize" "value" $s.indexMaxSize "least" 1 "most" 1073741824) -}}
{{- include "checks.range" (dict "to" $to "name" "sources.chartMaxSize" "value" $s.chartMaxSize "least" 1 "most" 1073741824) -}}
{{- include "checks.range" (dict "to" $to "name" "sources.chartFileMaxSize" "value" $s.chartFileMaxSize "least" 1 "most" 104857600) -}}
{{- include "checks.range" (dict "to" $to "name" "sources.gitRepositoryMaxSize" "value" $s.gitRepositoryMaxSize "least" 1 "most" 1073741824) -}}
{{- include "checks.range" (dict "to" $to "name" "sources.concurrent" "value" $s.concurrent "least" 1 "most" 1000) -}}
{{- include "checks.match" (dict "to" $to "name" "sources.size" "value" $s.size "pattern" "^[1-9][0-9]*(Mi|Gi|Ti)$" "rule" "a size like 512Mi or 1Gi") -}}
{{- end -}}
