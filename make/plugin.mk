PREFIX ?= /usr/local
.PHONY: install-plugin
install-plugin: $(BIN)/kubectl-fleet ## install kubectl-fleet, its completion and manual below PREFIX (/usr/local)
	@kubectl-fleet/install $(BIN)/kubectl-fleet '$(DESTDIR)$(PREFIX)'
