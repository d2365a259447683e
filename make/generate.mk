.PHONY: generate
generate: $(BIN)/generate ## write CRDs, C types, rules and the reference pages from proto/kinds, proto/metrics.c and proto/alerts.c
	@mkdir -p docs charts/hub-agent/files/crds charts/member-agent/files/crds charts/hub-agent/files/monitoring charts/member-agent/files/monitoring
	@$(BIN)/generate .
