SEEDS ?= 1-20
sim: build ## seeded fault runs of a simulated fleet (SEEDS=1-200)
	@build/bin/fleet-sim --seeds $(SEEDS)
