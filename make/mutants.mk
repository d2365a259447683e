N ?= 60
SEED ?= 1
SIM_SEEDS ?=
LANES ?= 2
PICK ?=
QUICK ?=
WITH_SANITIZERS = --sanitized-compiler '$(CC) $(SANITIZED) $(TEST_LINKER)' --sanitized-objects $(BUILD)/asan \
	--sanitized-archives '$(LIBRARY:$(OBJ)/%=$(BUILD)/asan/%)'
PLANTED ?=
EVERY ?= 1
ifneq ($(PLANTED),)
mutants: packages $(BIN)/fleet-sim ## with PLANTED=1: plant the bugs that were written down (ONLY=name), each has a seed that catches it
	@python3 e2e/mutants/planted.py --only '$(ONLY)' $(if $(SIM_SEEDS),--find $(SIM_SEEDS) --every $(EVERY)) --compiler '$(CC) $(OPTIMISE) $(TEST_LINKER)' \
		--flags '$(CFLAGS_ALL)' --libraries '$(LIBS)' --archives '$(LIBRARY)' --objects $(OBJ)
else
mutants: packages build $(TEST_OBJECTS) ## plant N=60 small bugs one at a time (SEED=s, ONLY=folder), tell which no test notices: docs/mutants.md
	$(if $(QUICK),,@$(MAKE) --no-print-directory VARIANT=asan mutants-sanitized)
	@python3 e2e/mutants/mutants.py --number $(N) --seed $(SEED) --only '$(ONLY)' --pick '$(PICK)' --lanes $(LANES) \
		$(if $(SIM_SEEDS),--sim-seeds $(SIM_SEEDS)) $(if $(QUICK),--quick) --compiler '$(CC) $(OPTIMISE) $(TEST_LINKER)' --flags '$(CFLAGS_ALL)' --libraries '$(LIBS) -lcmocka' \
		--archives '$(LIBRARY)' --objects $(OBJ) $(if $(QUICK),,$(WITH_SANITIZERS))
endif

# What the sanitized unit tests of a survivor are linked from.
mutants-sanitized: $(LIBRARY) $(patsubst %,$(OBJ)/%.o,$(filter hub-agent/% member-agent/% common/ctrl/%,$(TESTS)))
branches: packages build $(TEST_OBJECTS) ## which conditions of ONLY=folder unit tests take one way only: docs/mutants.md
	@python3 e2e/mutants/branches.py --only '$(ONLY)' --compiler '$(CC)' --flags '$(CFLAGS_ALL)' --libraries '$(LIBS) -lcmocka' \
		--archives '$(LIBRARY)' --objects $(OBJ)
.PHONY: mutants mutants-sanitized branches
