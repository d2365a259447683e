.PHONY: generate
generate: $(BIN)/generate ## write CRDs, C types and the reference page from proto/kinds
	@$(BIN)/generate .
