spec-coverage: ## which checklist lines of ../shared/spec have which tests
	@e2e/spec-coverage
