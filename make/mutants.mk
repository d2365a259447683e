N ?= 60
SEED ?= 1
SIM_SEEDS ?=
LANES ?= 2
PICK ?=
QUICK ?=
mutants: packages build tests ## plant N=60 small bugs one at a time (SEED=s, ONLY=folder), tell which no test notices: docs/mutants.md
	@python3 e2e/mutants/mutants.py --number $(N) --seed $(SEED) --only '$(ONLY)' --pick '$(PICK)' --lanes $(LANES) \
		$(if $(SIM_SEEDS),--sim-seeds $(SIM_SEEDS)) $(if $(QUICK),--quick) --compiler '$(CC) $(OPTIMISE)' --flags '$(CFLAGS_ALL)' --libraries '$(LIBS) -lcmocka' \
		--archives '$(LIBRARY)' --objects $(OBJ)
.PHONY: mutants
