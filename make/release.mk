.PHONY: release release-check
VERSION ?=
ADDRESS ?=
release: ## a release for amd64 and arm64 in build/dist (VERSION=v1.2.3 is checked, ADDRESS=URL of krew's downloads)
	@e2e/install-packages release
	@release/run $(if $(VERSION),--version '$(VERSION)') $(if $(ADDRESS),--address '$(ADDRESS)')

AGAIN ?=
release-check: packages ## builds a release twice, elsewhere and otherwise (AGAIN=FOLDER: once, as that one), compares the bytes, and tries it
	@e2e/install-packages release
	@e2e/release/run $(if $(AGAIN),--again '$(AGAIN)')
