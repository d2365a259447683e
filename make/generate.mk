.PHONY: generate
generate: $(BIN)/generate ## write CRDs, C types and the reference page from proto/kinds
	@mkdir -p docs charts/hub-agent/crds charts/member-agent/crds
	@$(BIN)/generate .
