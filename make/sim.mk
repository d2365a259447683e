SEEDS ?= 1-20
sim: build ## seeded fault runs of a simulated fleet (SEEDS=1-200), one process per core
	@e2e/simulation/run $(BIN)/fleet-sim $(SEEDS)
