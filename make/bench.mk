bench: build ## measure: prints `bench NAME VALUE UNIT`, then goals
	@e2e/bench/run

MEMBERS ?= 1000
PLACEMENTS ?= 1000
CLUSTERS ?= 100
# Each placement on CLUSTERS of the MEMBERS. The state is made once and kept below build/bench: FRESH=1 makes it anew.
bench-scale: build ## the hub with MEMBERS=1000 PLACEMENTS=1000 CLUSTERS=100: memory, restarts, placements; KUBE=1: on a real API server
	@e2e/bench/scale $(MEMBERS) $(PLACEMENTS) $(CLUSTERS)

bench-scale-1m: build ## memory and restart with 10,000 members and 1,000,000 bindings and Works (takes 15 GiB of memory and 25 of disk)
	@e2e/bench/scale restart scale_1m_bindings 1000 1000 100 10
.PHONY: bench-scale bench-scale-1m
