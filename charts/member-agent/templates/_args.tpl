{{- /* The agent's command line: spec/member-agent.md 1.3. */ -}}
{{- define "member-agent.args" -}}
{{- $v := .Values -}}
{{- $args := list
  (printf "--leader-elect=%t" $v.leaderElection.enabled)
  (printf "--leader-election-namespace=%s" $v.leaderElection.namespace)
  (printf "--leader-lease-duration=%s" $v.leaderElection.leaseDuration)
  (printf "--leader-renew-deadline=%s" $v.leaderElection.renewDeadline)
  (printf "--leader-retry-period=%s" $v.leaderElection.retryPeriod)
  (printf "--v=%d" (int $v.logVerbosity))
  (printf "--log-json=%t" (eq $v.logFormat "json"))
  "-add_dir_header"
  "--state-file=/var/lib/argosy/member-agent.db"
  (printf "--use-ca-auth=%t" $v.useCAAuth)
  (printf "--tls-insecure=%t" $v.tlsClientInsecure)
  (printf "--hub-metrics-bind-address=:%d" (int $v.ports.hubmetrics))
  (printf "--hub-health-probe-bind-address=:%d" (int $v.ports.hubhealthz))
  (printf "--metrics-bind-address=:%d" (int $v.ports.metrics))
  (printf "--health-probe-bind-address=:%d" (int $v.ports.healthz))
  (printf "--hub-api-qps=%d" (int $v.hubAPIQPS))
  (printf "--hub-api-burst=%d" (int $v.hubAPIBurst))
  (printf "--member-api-qps=%d" (int $v.memberAPIQPS))
  (printf "--member-api-burst=%d" (int $v.memberAPIBurst))
  (printf "--deletion-wait-time=%d" (int $v.deletionWaitTime))
  (printf "--enable-pprof=%t" $v.enablePprof)
  (printf "--pprof-port=%d" (int $v.pprofPort))
  (printf "--hub-pprof-port=%d" (int $v.hubPprofPort))
  (printf "--property-provider=%s" $v.propertyProvider)
  (printf "--region=%s" $v.region)
  (printf "--enable-namespace-collection-in-property-provider=%t" $v.enableNamespaceCollectionInPropertyProvider)
  (printf "--enable-work-applier-priority-queue=%t" $v.priorityQueue.enabled)
-}}
{{- if $v.priorityQueue.enabled -}}
{{- $args = append $args (printf "--work-applier-priority-linear-equation-coeff-a=%d" (int $v.priorityQueue.priorityLinearEquationCoeffA)) -}}
{{- $args = append $args (printf "--work-applier-priority-linear-equation-coeff-b=%d" (int $v.priorityQueue.priorityLinearEquationCoeffB)) -}}
{{- end -}}
{{- if and (not $v.useCAAuth) (eq $v.config.provider "secret") -}}
{{- $args = append $args (printf "--hub-token-secret=%s/%s" $v.secret.namespace $v.secret.name) -}}
{{- end -}}
{{- if $v.rbac.namespaceServiceAccount -}}
{{- $args = append $args (printf "--namespace-service-account=%s" $v.rbac.namespaceServiceAccount) -}}
{{- end -}}
{{- if eq $v.propertyProvider "azure" -}}
{{- $args = concat $args (list "--cloud-config=/etc/kubernetes/provider/config.json"
  (printf "--use-cost-properties-in-azure-provider=%t" $v.useCostPropertiesInAzureProvider)
  (printf "--use-available-res-properties-in-azure-provider=%t" $v.useAvailableResPropertiesInAzureProvider)
  (printf "--price-max-age-hours=%d" (int $v.priceTable.maxAgeHours))) -}}
{{- end -}}
{{- with include "member-agent.priceTable" . -}}
{{- $args = append $args (printf "--price-table=%s/%s" $v.namespace .) -}}
{{- end -}}
{{- with include "member-agent.ownProperties" . -}}
{{- $args = append $args (printf "--property-config-map=%s/%s" $v.namespace .) -}}
{{- end -}}
{{- /* workApplierRequeueRateLimiterMaxSlow... -> --work-applier-requeue-rate-limiter-max-slow-... */ -}}
{{- range $name, $value := $v -}}
{{- if and (hasPrefix "workApplierRequeueRateLimiter" $name) (not (kindIs "invalid" $value)) -}}
{{- $args = append $args (printf "--%s=%v" (kebabcase $name) $value) -}}
{{- end -}}
{{- end -}}
{{- range concat $args $v.extraArgs }}
- {{ . | quote }}
{{- end -}}
{{- end -}}

{{- /* How the agent reaches the hub: spec/member-agent.md 1.4. One CA variable at most. */ -}}
{{- define "member-agent.env" -}}
{{- $c := .Values.config -}}
- name: HUB_SERVER_URL
  value: {{ $c.hubURL | quote }}
- name: MEMBER_CLUSTER_NAME
  value: {{ $c.memberClusterName | quote }}
{{- if .Values.useCAAuth }}
- name: IDENTITY_KEY
  value: {{ default (printf "%s/tls.key" (include "member-agent.identityFolder" .)) $c.identityKey | quote }}
- name: IDENTITY_CERT
  value: {{ default (printf "%s/tls.crt" (include "member-agent.identityFolder" .)) $c.identityCert | quote }}
{{- else }}
- name: CONFIG_PATH
  value: /config/token
{{- end }}
{{- if not .Values.tlsClientInsecure }}
{{- if $c.CABundle }}
- name: CA_BUNDLE
  value: {{ $c.CABundle | quote }}
{{- else if $c.hubCA }}
- name: HUB_CERTIFICATE_AUTHORITY
  value: {{ $c.hubCA | quote }}
{{- end }}
{{- end }}
{{- with $c.hubKubeHeader }}
- name: HUB_KUBE_HEADER
  value: {{ . | quote }}
{{- end }}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
# What its events about the connection to the hub are about.
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_UID
  valueFrom:
    fieldRef:
      fieldPath: metadata.uid
{{- end -}}
