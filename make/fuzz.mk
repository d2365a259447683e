# Fuzzing with clang's libFuzzer. Each e2e/fuzz/fuzz_NAME.c is one target; seeds stand in e2e/fuzz/seeds/NAME, what a
# run finds is kept below build/fuzz.
FUZZ_SECONDS ?= 20
FUZZ_TARGETS := $(patsubst e2e/fuzz/fuzz_%.c,%,$(wildcard e2e/fuzz/fuzz_*.c))
FUZZ_PROGRAMS := $(patsubst %,$(OBJ)/fuzz_%,$(FUZZ_TARGETS))
# Of the hub agent what knows no agent: rendering, asking others, signatures, and what turns a checkout into objects.
FUZZ_HUB := $(addprefix hub-agent/resource-set/,build.c inputs.c normal.c order.c permute.c read.c) \
	$(filter-out %_controller.c %_metrics.c %/read_secrets.c,$(filter hub-agent/input-provider/%,$(LIBRARY_SOURCES))) \
	$(addprefix hub-agent/manifest-generation/,commands.c documents.c flux_config.c patch_file.c patch_text.c resources.c tree.c) \
	$(filter hub-agent/manifest-generation/update/yaml_% %/update/doc_place.c %/update/words.c,$(LIBRARY_SOURCES)) \
	$(filter hub-agent/transfer/% hub-agent/registry/% hub-agent/git/% hub-agent/source/verify/% hub-agent/source/s3/%,$(LIBRARY_SOURCES)) \
	$(addprefix hub-agent/source/,git_modules.c glob.c ignore.c)
FUZZ_OBJECTS := $(patsubst %,$(OBJ)/%.o,$(filter common/base/% common/loop/% common/json/% common/template/% common/net/% proto/% common/kube/% common/ctrl/% $(FUZZ_HUB) hub-agent/common.c hub-agent/flux_account.c hub-agent/flux_state.c e2e/devcluster/serving/http1_parse.c,$(LIBRARY_SOURCES)))
# An archive, of which each target takes what it needs: the rest may use what is not in it.
$(eval $(call archive_rule,libfuzz,$(FUZZ_OBJECTS)))
FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined

.PHONY: fuzz-programs
fuzz: packages ## fuzz each target for FUZZ_SECONDS (20)
	@$(MAKE) --no-print-directory VARIANT=fuzz CC=clang OPTIMISE='-O1 -fsanitize=fuzzer-no-link $(FUZZ_SANITIZE)' fuzz-programs
	@e2e/fuzz/run '$(BUILD)/fuzz' $(FUZZ_SECONDS) $(FUZZ_TARGETS)

fuzz-programs: $(FUZZ_PROGRAMS)

$(OBJ)/fuzz_%: $(OBJ)/e2e/fuzz/fuzz_%.c.o $(OBJ)/libfuzz.a
	@echo "  LINK  $@"
	@$(CC) -fsanitize=fuzzer $(FUZZ_SANITIZE) -o $@ $^ $(LIBS)
