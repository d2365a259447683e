{{- /* The agent's command line: spec/membership-webhooks-charts.md 7.3. */ -}}
{{- define "hub-agent.args" -}}
{{- $v := .Values -}}
{{- $account := printf "system:serviceaccount:%s:%s" $v.namespace (include "hub-agent.serviceAccountName" .) -}}
{{- $args := list
  (printf "--leader-elect=%t" $v.leaderElection.enabled)
  (printf "--leader-election-namespace=%s" (include "hub-agent.leaseNamespace" .))
  (printf "--leader-lease-duration=%s" $v.leaderElection.leaseDuration)
  (printf "--leader-renew-deadline=%s" $v.leaderElection.renewDeadline)
  (printf "--leader-retry-period=%s" $v.leaderElection.retryPeriod)
  (printf "--leader-election-qps=%d" (int $v.leaderElection.qps))
  (printf "--leader-election-burst=%d" (int $v.leaderElection.burst))
  (printf "--v=%d" (int $v.logVerbosity))
  (printf "--log-json=%t" (eq $v.logFormat "json"))
  "-add_dir_header"
  (printf "--log_file_max_size=%d" (int64 $v.logFileMaxSize))
  (printf "--metrics-bind-address=:%d" (int $v.ports.metrics))
  (printf "--health-probe-bind-address=:%d" (int $v.ports.healthz))
  (printf "--enable-webhook=%t" $v.enableWebhook)
  (printf "--webhook-service-name=%s" $v.webhookServiceName)
  (printf "--webhook-client-connection-type=%s" $v.webhookClientConnectionType)
  (printf "--enable-guard-rail=%t" $v.enableGuardRail)
  (printf "--whitelisted-users=%s" (join "," (prepend $v.whitelistedUsers $account)))
  (printf "--deny-modify-member-cluster-labels=%t" $v.denyModifyMemberClusterLabels)
  (printf "--enable-workload=%t" $v.enableWorkload)
  (printf "--enable-pdbs=%t" $v.enablePDBs)
  (printf "--use-cert-manager=%t" $v.useCertManager)
  (printf "--force-delete-wait-time=%s" $v.forceDeleteWaitTime)
  (printf "--cluster-unhealthy-threshold=%s" $v.clusterUnhealthyThreshold)
  (printf "--resource-snapshot-creation-minimum-interval=%s" $v.resourceSnapshotCreationMinimumInterval)
  (printf "--resource-changes-collection-duration=%s" $v.resourceChangesCollectionDuration)
  (printf "--resync-period=%s" $v.resyncPeriod)
  (printf "--enable-cluster-inventory-apis=%t" $v.enableClusterInventoryAPI)
  (printf "--enable-status-back-reporting=%t" $v.enableStatusBackReporting)
  (printf "--enable-staged-update-run-apis=%t" $v.enableStagedUpdateRunAPIs)
  (printf "--enable-eviction-apis=%t" $v.enableEvictionAPIs)
  (printf "--enable-resource-placement=%t" $v.enableResourcePlacement)
  (printf "--networking-agents-enabled=%t" $v.networkingAgentsEnabled)
  (printf "--enable-pprof=%t" $v.enablePprof)
  (printf "--pprof-port=%d" (int $v.pprofPort))
  (printf "--hub-api-qps=%d" (int $v.hubAPIQPS))
  (printf "--hub-api-burst=%d" (int $v.hubAPIBurst))
  (printf "--max-concurrent-cluster-placement=%d" (int $v.MaxConcurrentClusterPlacement))
  (printf "--concurrent-resource-change-syncs=%d" (int $v.ConcurrentResourceChangeSyncs))
  (printf "--max-fleet-size=%d" (int $v.MaxFleetSizeSupported))
  (printf "--rate-limiter-base-delay=%s" $v.rateLimiter.baseDelay)
  (printf "--rate-limiter-max-delay=%s" $v.rateLimiter.maxDelay)
  (printf "--rate-limiter-qps=%d" (int $v.rateLimiter.qps))
  (printf "--rate-limiter-bucket-size=%d" (int $v.rateLimiter.bucketSize))
-}}
{{- with $v.skippedPropagatingAPIs }}{{ $args = append $args (printf "--skipped-propagating-apis=%s" .) }}{{ end -}}
{{- with $v.allowedPropagatingAPIs }}{{ $args = append $args (printf "--allowed-propagating-apis=%s" .) }}{{ end -}}
{{- with $v.skippedPropagatingNamespaces }}{{ $args = append $args (printf "--skipped-propagating-namespaces=%s" (join "," .)) }}{{ end -}}
{{- if $v.sharding.shards -}}
{{- $args = append $args (printf "--shards=%d" (int $v.sharding.shards)) -}}
{{- end -}}
{{- if $v.enableAdmissionPolicyManager -}}
{{- $args = append $args "--enable-admission-policy-manager=true" -}}
{{- with $v.admissionPolicyManagerConfigName -}}
{{- $args = append $args (printf "--admission-policy-manager-config=%s/%s" $v.additionalConfigDataMountPath .) -}}
{{- end -}}
{{- end -}}
{{- with $v.resourceSets -}}
{{- $args = append $args (printf "--enable-resource-sets=%t" .enabled) -}}
{{- if .enabled -}}
{{- if .defaultServiceAccount -}}
{{- $args = append $args (printf "--default-service-account=%s" .defaultServiceAccount) -}}
{{- else -}}
{{- $args = append $args (printf "--resource-set-account=%s/%s" $v.namespace (include "hub-agent.setsAccountName" $)) -}}
{{- end -}}
{{- $args = append $args (printf "--watch-configs-label-selector=%s" .watchConfigsLabelSelector) -}}
{{- $args = append $args (printf "--requeue-dependency=%s" .requeueDependency) -}}
{{- $args = append $args (printf "--allow-local-input-providers=%t" .allowLocalInputProviders) -}}
{{- range .overrideManagers }}{{ $args = append $args (printf "--override-manager=%s" .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- with $v.sources -}}
{{- if .enabled -}}
{{- $args = concat $args (list
  "--enable-sources=true"
  "--storage-path=/data"
  (printf "--storage-addr=:%d" (int .port))
  (printf "--storage-adv-addr=%s" (default (printf "%s.%s.svc:%d" (include "hub-agent.artifactsName" $) $v.namespace (int .port)) .address))
  (printf "--artifact-retention-ttl=%s" .retentionTTL)
  (printf "--artifact-retention-records=%d" (int .retentionRecords))
  (printf "--helm-index-max-size=%d" (int64 .indexMaxSize))
  (printf "--helm-chart-max-size=%d" (int64 .chartMaxSize))
  (printf "--helm-chart-file-max-size=%d" (int64 .chartFileMaxSize))
  (printf "--git-repository-max-size=%d" (int64 .gitRepositoryMaxSize))
  (printf "--helm-index-digest=%s" .indexDigest)
  (printf "--helm-cache-max-size=%d" (int .indexCacheSize))
  (printf "--helm-cache-ttl=%s" .indexCacheTTL)
  (printf "--helm-cache-purge-interval=%s" .indexCachePurgeInterval)
  (printf "--concurrent=%d" (int .concurrent))
  (printf "--watch-label-selector=%s" .watchLabelSelector)
  (printf "--source-deny-addresses=%s" (join "," .denyAddresses))
) -}}
{{- with .trustedRootConfigName -}}
{{- $args = append $args (printf "--sigstore-trusted-root=%s/%s" $v.additionalConfigDataMountPath .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range concat $args $v.extraArgs }}
- {{ . | quote }}
{{- end -}}
{{- end -}}
