/* spec/flux-yaml.md 1.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/manifest-generation/generation_flags.h"

static int parse(struct generation_flags *f, const char *first, const char *second, struct error *err)
{
        const char *const argv[] = { "manifest-generator", first, second };

        TRY(flags_parse(generation_flag_table, n_generation_flags,
                        !first    ? 1
                        : !second ? 2
                                  : 3,
                        argv, f, err));
        return generation_flags_check(f, err);
}

static void the_defaults_are_those_of_the_documentation(void **state)
{
        struct generation_flags f;

        assert_int_equal(parse(&f, NULL, NULL, NULL), 0);
        assert_string_equal(f.git_url, "");
        assert_string_equal(f.git_branch, "master");
        assert_int_equal(f.git_paths.n, 0);
        assert_false(f.generation || f.collect || f.collect_dry || f.git_readonly || f.git_set_author);
        assert_false(f.git_ci_skip || f.without_scanning);
        assert_true(f.generator_cache && f.sync_drift);
        assert_int_equal(f.git_poll_ms, 300000);
        assert_int_equal(f.git_timeout_ms, 20000);
        assert_int_equal(f.sync_interval_ms, 300000);
        assert_int_equal(f.sync_timeout_ms, 60000);
        assert_int_equal(f.automation_ms, 300000);
        assert_string_equal(f.sync_state, "git");
        assert_string_equal(f.git_sync_tag, "flux-sync");
        assert_string_equal(f.git_notes_ref, "flux");
        assert_string_equal(f.git_secret_name, "flux-git-deploy");
}

/* spec/flux-yaml.md checklist 2 */
static void a_path_with_a_leading_slash_is_refused(void **state)
{
        static const char *const words[] = { "--git-path=/x", "--git-path=a,/x" };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct generation_flags f;
                struct error err = { 0 };

                assert_int_equal(parse(&f, words[i], NULL, &err), ERR_INVALID);
                assert_string_equal(err.text,
                                    "subdirectory given as --git-path should not have leading forward slash");
        }
}

static void paths_come_one_by_one_or_between_commas(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct generation_flags f;
        const char *const *paths;
        size_t n;

        assert_int_equal(parse(&f, "--git-path=staging, base,", "--git-path=apps", NULL), 0);
        assert_int_equal(generation_list(&f.git_paths, &arena, &paths, &n, NULL), 0);
        assert_int_equal(n, 3);
        assert_string_equal(paths[0], "staging");
        assert_string_equal(paths[1], "base");
        assert_string_equal(paths[2], "apps");
}

static void what_is_not_in_this_version_is_refused_by_name(void **state)
{
        static const char *const words[] = { "--git-signing-key=x",
                                             "--git-verify-signatures",
                                             "--git-verify-signatures-mode=all",
                                             "--git-gpg-key-import=/x",
                                             "--git-secret",
                                             "--sops" };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct generation_flags f;
                struct error err = { 0 };

                assert_int_equal(parse(&f, words[i], NULL, &err), ERR_UNSUPPORTED);
                assert_memory_equal(err.text, words[i], strcspn(words[i], "="));
                assert_non_null(strstr(err.text, "is not in this version"));
        }
}

static void values_that_make_no_sense_are_refused(void **state)
{
        static const char *const words[] = {
                "--sync-state=file",      "--sync-interval=0s",       "--git-timeout=-1s",
                "--git-branch=",          "--git-branch=a..b",        "--git-sync-tag=a b",
                "--git-label=x:y",        "--leader-retry-period=1h", "--registry-poll-interval=-1s",
                "--work-path=",           "--git-notes-ref=-x",       "--automation-interval=10ms",
                "--git-poll-interval=0s", "--sync-timeout=0s",
        };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct generation_flags f;
                struct error err = { 0 };

                if (parse(&f, words[i], NULL, &err) != ERR_INVALID)
                        fail_msg("%s", words[i]);
        }
}

/* spec/flux-yaml.md checklist 47 */
static void a_label_names_both_the_tag_and_the_ref_of_notes(void **state)
{
        struct generation_flags f;

        assert_int_equal(parse(&f, "--git-sync-tag=a", "--git-label=x", NULL), 0);
        assert_string_equal(generation_sync_tag(&f), "x");
        assert_string_equal(generation_notes_ref(&f), "x");
        assert_int_equal(parse(&f, "--git-sync-tag=a", "--git-notes-ref=b", NULL), 0);
        assert_string_equal(generation_sync_tag(&f), "a");
        assert_string_equal(generation_notes_ref(&f), "b");
}

static void the_old_name_of_the_interval_counts_where_the_new_is_not_given(void **state)
{
        struct generation_flags f;

        assert_int_equal(parse(&f, "--registry-poll-interval=7m", NULL, NULL), 0);
        assert_int_equal(generation_images_ms(&f), 420000);
        assert_int_equal(parse(&f, "--registry-poll-interval=7m", "--automation-interval=1m", NULL), 0);
        assert_int_equal(generation_images_ms(&f), 60000);
}

/* spec/flux-yaml.md checklist 6 */
static void a_read_only_repository_keeps_its_state_in_the_secret(void **state)
{
        struct generation_flags f;

        assert_int_equal(parse(&f, "--git-readonly", "--k8s-secret-name=s", NULL), 0);
        assert_string_equal(generation_state_secret(&f), "s");
        assert_int_equal(parse(&f, "--sync-state=secret", NULL, NULL), 0);
        assert_string_equal(generation_state_secret(&f), "flux-git-deploy");
        assert_int_equal(parse(&f, NULL, NULL, NULL), 0);
        assert_null(generation_state_secret(&f));
}

static void each_allocation_that_fails_is_told(void **state)
{
        const struct flag_strings given = { { "a,b", "c" }, 2 };
        int code = ERR_NO_MEMORY;

        for (uint64_t n = 1; code < 0; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const char *const *list;
                size_t length;

                mem_fail_at(n, false);
                code = generation_list(&given, &arena, &list, &length, NULL);
                mem_fail_at(0, false);
                assert_true(code == 0 || code == ERR_NO_MEMORY);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_defaults_are_those_of_the_documentation),
                cmocka_unit_test(a_path_with_a_leading_slash_is_refused),
                cmocka_unit_test(paths_come_one_by_one_or_between_commas),
                cmocka_unit_test(what_is_not_in_this_version_is_refused_by_name),
                cmocka_unit_test(values_that_make_no_sense_are_refused),
                cmocka_unit_test(a_label_names_both_the_tag_and_the_ref_of_notes),
                cmocka_unit_test(the_old_name_of_the_interval_counts_where_the_new_is_not_given),
                cmocka_unit_test(a_read_only_repository_keeps_its_state_in_the_secret),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
