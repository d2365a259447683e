.PHONY: generate
generate: $(BIN)/generate ## write CRDs, C types and the reference page from proto/kinds
	@mkdir -p docs charts/hub-agent/files/crds charts/member-agent/files/crds
	@$(BIN)/generate .
