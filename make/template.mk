# What Go's text/template gives for the templates of common/template/cases; needs Go.
.PHONY: template-cases
template-cases: ## make the tables of expected results of templates anew, with Go
	@e2e/template/run
