#include "hub-agent/manifest-generation/flux_config.h"

#include "hub-agent/manifest-generation/tree_test.h"

/* The shapes of the documentation's examples, with commands of our own. */
static const char format[] = "version: 1\n"
                             "commandUpdated:\n"
                             "  generators:\n"
                             "    - command: print one\n"
                             "    - command: print two\n"
                             "  updaters:\n"
                             "    - containerImage:\n"
                             "        command: set image\n"
                             "      policy:\n"
                             "        command: set policy\n"
                             "    - containerImage:\n"
                             "        command: set image again\n"
                             "      policy:\n"
                             "        command: set policy again\n";
static const char folded[] = "version: 1\n"
                             "commandUpdated:\n"
                             "  generators:\n"
                             "    - command: build .\n"
                             "  updaters:\n"
                             "    # of the patch\n"
                             "    - containerImage:\n"
                             "        command: >-\n"
                             "          cat patch.yaml |\n"
                             "          edit \"$FLUX_IMG:$FLUX_TAG\" > new &&\n"
                             "          mv new patch.yaml\n";
static const char two_generators[] = "version: 1\n"
                                     "commandUpdated:\n"
                                     "  generators:\n"
                                     "    - command: build .\n"
                                     "    - command: template ../charts/one -f values.yaml\n";
static const char patch_of_chart[] = "version: 1\n"
                                     "patchUpdated:\n"
                                     "  generators:\n"
                                     "    - command: template ../charts/one -f values.yaml\n"
                                     "  patchFile: flux-patch.yaml\n";
static const char patch_of_build[] = "version: 1\n"
                                     "patchUpdated:\n"
                                     "  generators:\n"
                                     "  - command: build .\n"
                                     "    timeout: 2m\n"
                                     "  patchFile: patches/p.yaml\n";

/* spec/flux-yaml.md checklist 14 */
static void the_examples_of_the_documentation_are_read(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct flux_config c;

        assert_int_equal(flux_config_parse(&arena, slice_of(format), &c, NULL), 0);
        assert_int_equal(c.variant, FLUX_COMMAND_UPDATED);
        assert_int_equal(c.n_generators, 2);
        assert_string_equal(c.generators[1].line, "print two");
        assert_int_equal(c.n_updaters, 2);
        assert_string_equal(c.updaters[1].image.line, "set image again");
        assert_string_equal(c.updaters[0].policy.line, "set policy");

        assert_int_equal(flux_config_parse(&arena, slice_of(folded), &c, NULL), 0);
        assert_string_equal(c.updaters[0].image.line,
                            "cat patch.yaml | edit \"$FLUX_IMG:$FLUX_TAG\" > new && mv new patch.yaml");
        assert_null(c.updaters[0].policy.line);

        assert_int_equal(flux_config_parse(&arena, slice_of(two_generators), &c, NULL), 0);
        assert_int_equal(c.n_generators, 2);
        assert_int_equal(c.n_updaters, 0);

        assert_int_equal(flux_config_parse(&arena, slice_of(patch_of_chart), &c, NULL), 0);
        assert_int_equal(c.variant, FLUX_PATCH_UPDATED);
        assert_string_equal(c.patch_file, "flux-patch.yaml");

        assert_int_equal(flux_config_parse(&arena, slice_of(patch_of_build), &c, NULL), 0);
        assert_int_equal(c.generators[0].timeout_ms, 120000);
        assert_string_equal(c.patch_file, "patches/p.yaml");
}

/* spec/flux-yaml.md checklist 18 */
static void timeouts_below_a_second_are_ignored(void **state)
{
        static const struct {
                const char *text;
                int64_t ms;
        } rows[] = { { "500ms", 0 }, { "0s", 0 },        { "-5s", 0 },
                     { "1s", 1000 }, { "1500ms", 1500 }, { "1h", 3600000 } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct flux_config c;
                const char *text = arena_printf(
                        &arena, "version: 1\ncommandUpdated: {generators: [{command: x, timeout: %s}]}",
                        rows[i].text);

                assert_int_equal(flux_config_parse(&arena, slice_of(text), &c, NULL), 0);
                assert_int_equal(c.generators[0].timeout_ms, rows[i].ms);
        }
}

#define NOT_VALID "config file is not valid: "

/* spec/flux-yaml.md checklist 14 */
static void what_breaks_a_rule_is_refused_with_its_place(void **state)
{
        static const struct {
                const char *text, *words;
        } rows[] = {
                { "version: 2\nscanForFiles: {}\n", NOT_VALID "line 1, column 1: version: must be 1" },
                { "version: X\nscanForFiles: {}\n",
                  NOT_VALID "line 1, column 1: version: must be an integer" },
                { "scanForFiles: {}\n", NOT_VALID "line 1, column 1: version: required" },
                { "version: 1\n", NOT_VALID
                  "line 1, column 1: one of commandUpdated, patchUpdated and scanForFiles must be there" },
                { "version: 1\nscanForFiles: {}\ncommandUpdated:\n  generators: [{command: x}]\n", NOT_VALID
                  "line 2, column 1: scanForFiles: only one of commandUpdated, patchUpdated and scanForFiles "
                  "may be there" },
                { "version: 1\ncommandUpdated:\n  generators: [{command: x}]\n  patchFile: p.yaml\n",
                  NOT_VALID "line 4, column 3: commandUpdated.patchFile: unknown field" },
                { "version: 1\npatchUpdated:\n  generators: [{command: x}]\n  patchFile: p\n  updaters: []\n",
                  NOT_VALID "line 5, column 3: patchUpdated.updaters: unknown field" },
                { "version: 1\npatchUpdated:\n  generators: [{command: x}]\n",
                  NOT_VALID "line 2, column 1: patchUpdated.patchFile: required" },
                { "version: 1\nscanForFiles: {a: 1}\n",
                  NOT_VALID "line 2, column 16: scanForFiles.a: unknown field" },
                { "version: 1\nscanForFiles:\n",
                  NOT_VALID "line 2, column 1: scanForFiles: must be a mapping" },
                { "version: 1\nscanForFiles: {}\nextra: 1\n",
                  NOT_VALID "line 3, column 1: extra: unknown field" },
                { "version: 1\ncommandUpdated:\n  updaters: []\n",
                  NOT_VALID "line 2, column 1: commandUpdated.generators: required" },
                { "version: 1\ncommandUpdated:\n  generators: []\n",
                  NOT_VALID "line 3, column 3: commandUpdated.generators: must not be empty" },
                { "version: 1\ncommandUpdated:\n  generators: x\n",
                  NOT_VALID "line 3, column 3: commandUpdated.generators: must be a list" },
                { "version: 1\ncommandUpdated:\n  generators:\n  - command: x\n  - command: 1\n    shell: "
                  "y\n",
                  NOT_VALID "line 6, column 5: commandUpdated.generators[1].shell: unknown field\n"
                            "line 5, column 5: commandUpdated.generators[1].command: must be a string" },
                { "version: 1\ncommandUpdated:\n  generators:\n  - x\n",
                  NOT_VALID "line 4, column 5: commandUpdated.generators[0]: must be a mapping" },
                { "version: 1\ncommandUpdated:\n  generators:\n  - {}\n",
                  NOT_VALID "line 4, column 5: commandUpdated.generators[0].command: required" },
                { "version: 1\ncommandUpdated:\n  generators:\n  - {command: ''}\n",
                  NOT_VALID "line 4, column 6: commandUpdated.generators[0].command: must not be empty" },
                { "version: 1\ncommandUpdated:\n  generators:\n  - {command: x, timeout: soon}\n", NOT_VALID
                  "line 4, column 18: commandUpdated.generators[0].timeout: must be a duration such as "
                  "\"90s\"" },
                { "version: 1\ncommandUpdated:\n  generators: [{command: x}]\n  updaters:\n  - image: "
                  "{command: y}\n",
                  NOT_VALID "line 5, column 5: commandUpdated.updaters[0].image: unknown field" },
                { "version: 1\npatchedUpdated: {}\n", NOT_VALID
                  "line 2, column 1: patchedUpdated: unknown field\n"
                  "line 1, column 1: one of commandUpdated, patchUpdated and scanForFiles must be there" },
                { "[1]\n", NOT_VALID "line 1, column 1: must be a mapping" },
                { "", "cannot parse: yaml: no document (0)" },
                { "version: 1\nversion: 1\n",
                  "cannot parse: yaml: line 2: key \"version\" already set in map" },
                { "version: 1\nscanForFiles: }\n",
                  "cannot parse: line 2, column 15: yaml: line 2: did not find expected node content" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                struct flux_config c;

                assert_int_equal(flux_config_parse(&arena, slice_of(rows[i].text), &c, &err), ERR_INVALID);
                assert_string_equal(err.text, rows[i].words);
        }
}

static void many_broken_rules_are_counted(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf text;
        struct flux_config c;
        struct error err = { 0 };

        buf_init(&text, 1 << 20);
        buf_append_str(&text, "version: 1\nscanForFiles:\n");
        for (int i = 0; i < 25; i++)
                buf_printf(&text, "  k%d: 1\n", i);
        assert_int_equal(flux_config_parse(&arena, (struct slice){ text.data, text.len }, &c, &err),
                         ERR_INVALID);
        assert_non_null(strstr(err.text, "line 3, column 3: scanForFiles.k0: unknown field\n"));
}

/* ---- finding ---- */

#define SIMPLE "version: 1\ncommandUpdated: {generators: [{command: x}]}\n"

static void find(struct checkout *c, struct arena *arena, const char *path, struct flux_target *ret)
{
        struct error err = { 0 };

        if (flux_target_find(arena, &c->tree, path, true, ret, &err) < 0)
                fail_msg("%s", err.text);
}

static void assert_found(struct checkout *c, const char *path, const char *folder, const char *file,
                         const char *relative)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct flux_target t;

        find(c, &arena, path, &t);
        assert_string_equal(t.folder, folder);
        if (!file) {
                assert_null(t.config);
                return;
        }
        assert_non_null(t.config);
        assert_string_equal(t.config->file, file);
        assert_string_equal(t.config->relative, relative);
}

/* spec/flux-yaml.md checklist 7, 8, 9 */
static void the_nearest_file_in_the_path_or_above_is_taken(void **state)
{
        static const char *const root[] = { ".flux.yaml", SIMPLE, "staging/eu/x.yaml", "", NULL };
        static const char *const both[] = {
                ".flux.yaml", SIMPLE, "staging/.flux.yaml", SIMPLE, "staging/eu/x.yaml", "", NULL
        };
        static const char *const below[] = { "staging/eu/.flux.yaml", SIMPLE, "other/x.yaml", "", NULL };
        struct checkout c;

        checkout_open(&c, root);
        assert_found(&c, "", "", ".flux.yaml", ".flux.yaml");
        assert_found(&c, "staging", "staging", ".flux.yaml", "../.flux.yaml");
        assert_found(&c, "/staging/./eu/", "staging/eu", ".flux.yaml", "../../.flux.yaml");
        checkout_close(&c);
        checkout_open(&c, both);
        assert_found(&c, "staging", "staging", "staging/.flux.yaml", ".flux.yaml");
        assert_found(&c, "staging/eu", "staging/eu", "staging/.flux.yaml", "../.flux.yaml");
        assert_found(&c, "", "", ".flux.yaml", ".flux.yaml");
        checkout_close(&c);
        checkout_open(&c, below);
        assert_found(&c, "staging", "staging", NULL, NULL);
        assert_found(&c, "", "", NULL, NULL);
        assert_found(&c, "other", "other", NULL, NULL);
        checkout_close(&c);
}

/* spec/flux-yaml.md checklist 10 */
static void a_path_may_name_the_file_itself(void **state)
{
        static const char *const files[] = {
                ".flux.yaml", SIMPLE, "staging/.flux.yaml", SIMPLE, "staging/raw.yaml", "", NULL
        };
        struct checkout c;

        checkout_open(&c, files);
        assert_found(&c, "staging/.flux.yaml", "staging", "staging/.flux.yaml", ".flux.yaml");
        assert_found(&c, ".flux.yaml", "", ".flux.yaml", ".flux.yaml");
        assert_found(&c, "staging/raw.yaml", "staging", NULL, NULL);
        checkout_close(&c);
}

/* spec/flux-yaml.md checklist 12 */
static void scan_for_files_makes_a_path_raw_below_another_file(void **state)
{
        static const char *const files[] = { ".flux.yaml", SIMPLE, "raw/.flux.yaml",
                                             "version: 1\nscanForFiles: {}\n", NULL };
        struct checkout c;

        checkout_open(&c, files);
        assert_found(&c, "raw", "raw", NULL, NULL);
        checkout_close(&c);
}

/* spec/flux-yaml.md checklist 1 */
static void without_generation_no_file_is_looked_for(void **state)
{
        static const char *const files[] = { ".flux.yaml", "no: [yaml", NULL };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct flux_target t;
        struct checkout c;

        checkout_open(&c, files);
        assert_int_equal(flux_target_find(&arena, &c.tree, "", false, &t, NULL), 0);
        assert_null(t.config);
        assert_int_equal(flux_target_find(&arena, &c.tree, ".flux.yaml", false, &t, NULL), 0);
        assert_null(t.config);
        checkout_close(&c);
}

/* spec/flux-yaml.md checklist 9, 34 */
static void what_cannot_be_found_or_read_is_told(void **state)
{
        static const char *const files[] = {
                "bad/.flux.yaml",
                "a: ]",
                "wrong/.flux.yaml",
                "version: 3\nscanForFiles: {}\n",
                "out/.flux.yaml",
                "version: 1\npatchUpdated: {generators: [{command: x}], patchFile: ../../p}",
                "in/.flux.yaml",
                "version: 1\npatchUpdated: {generators: [{command: x}], patchFile: ../p}",
                NULL
        };
        static const struct {
                const char *path, *words;
                int code;
        } rows[] = {
                { "../x", "path \"../x\" is outside of base directory /work", ERR_INVALID },
                { "none", "unable to read root path \"none\"", ERR_NOT_FOUND },
                { "bad",
                  "cannot parse config file: cannot parse: line 1, column 4: yaml: line 1: did not find "
                  "expected node "
                  "content",
                  ERR_INVALID },
                { "wrong",
                  "cannot parse config file: config file is not valid: line 1, column 1: version: must be 1",
                  ERR_INVALID },
                { "out", "path \"../../p\" is outside of base directory /work", ERR_INVALID },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct flux_target t;
        struct checkout c;

        checkout_open(&c, files);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct error err = { 0 };

                assert_int_equal(flux_target_find(&arena, &c.tree, rows[i].path, true, &t, &err),
                                 rows[i].code);
                assert_string_equal(err.text, rows[i].words);
        }
        find(&c, &arena, "in", &t);
        assert_string_equal(t.config->patch_path, "p");
        checkout_close(&c);
}

static int find_it(void *ctx)
{
        const struct checkout *c = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct flux_target t;

        return flux_target_find(&arena, &c->tree, "a/b", true, &t, &err);
}

static int complain(void *unused)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct flux_config c;
        int code = flux_config_parse(
                &arena, SLICE("version: 2\ncommandUpdated: {generators: [{timeout: 1}]}\n"), &c, &err);

        return code == ERR_INVALID ? 0 : code;
}

static void each_allocation_that_fails_is_told(void **state)
{
        static const char *const files[] = { ".flux.yaml", patch_of_build, "a/b/x.yaml", "", NULL };
        struct checkout c;

        checkout_open(&c, files);
        walk_failing_allocations(find_it, &c);
        walk_failing_allocations(complain, NULL);
        checkout_close(&c);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_examples_of_the_documentation_are_read),
                cmocka_unit_test(timeouts_below_a_second_are_ignored),
                cmocka_unit_test(what_breaks_a_rule_is_refused_with_its_place),
                cmocka_unit_test(many_broken_rules_are_counted),
                cmocka_unit_test(the_nearest_file_in_the_path_or_above_is_taken),
                cmocka_unit_test(a_path_may_name_the_file_itself),
                cmocka_unit_test(scan_for_files_makes_a_path_raw_below_another_file),
                cmocka_unit_test(without_generation_no_file_is_looked_for),
                cmocka_unit_test(what_cannot_be_found_or_read_is_told),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
