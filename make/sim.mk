SEEDS ?= 1-20
sim: build ## seeded fault runs of a simulated fleet (SEEDS=1-200), one process per core
	@e2e/simulation/run $(BIN)/fleet-sim $(SEEDS)

.PHONY: sim-day
SEED ?= 1
MEMBERS ?= 1000
MINUTES ?= 1440
HEARTBEAT ?= 60
sim-day: $(BIN)/fleet-sim ## a day of a large simulated fleet (SEED=1 MEMBERS=1000 MINUTES=1440 HEARTBEAT=60), with the CPU time it took
	@bash -c 'time $(BIN)/fleet-sim --seed $(SEED) --members $(MEMBERS) --minutes $(MINUTES) --heartbeat $(HEARTBEAT)'
