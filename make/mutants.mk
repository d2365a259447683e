N ?= 60
SEED ?= 1
SIM_SEEDS ?=
LANES ?= 2
PICK ?=
QUICK ?=
mutants: packages build tests ## plant N=60 small bugs one at a time (SEED=s, ONLY=folder), tell which no test notices: docs/mutants.md
	@$(MAKE) --no-print-directory VARIANT=asan mutants-sanitized
	@python3 e2e/mutants/mutants.py --number $(N) --seed $(SEED) --only '$(ONLY)' --pick '$(PICK)' --lanes $(LANES) \
		$(if $(SIM_SEEDS),--sim-seeds $(SIM_SEEDS)) $(if $(QUICK),--quick) --compiler '$(CC) $(OPTIMISE)' --flags '$(CFLAGS_ALL)' --libraries '$(LIBS) -lcmocka' \
		--archives '$(LIBRARY)' --objects $(OBJ) --sanitized-compiler '$(CC) $(SANITIZED)' \
		--sanitized-archives '$(LIBRARY:$(OBJ)/%=$(BUILD)/asan/%)' --sanitized-objects $(BUILD)/asan

# What the sanitized unit tests of a survivor are linked from.
mutants-sanitized: $(LIBRARY) $(patsubst %,$(OBJ)/%.o,$(filter hub-agent/% member-agent/% common/ctrl/%,$(TESTS)))
.PHONY: mutants mutants-sanitized
