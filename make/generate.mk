.PHONY: generate
generate: $(BIN)/generate ## write CRDs, C types and the reference pages from proto/kinds and proto/metrics.c
	@mkdir -p docs charts/hub-agent/files/crds charts/member-agent/files/crds
	@$(BIN)/generate .
