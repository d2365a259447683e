/* spec/flux-yaml.md 8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/manifest-generation/sync_status.h"

static const char *get(const json_t *data, const char *key)
{
        return json_string_value(json_object_get(data, key));
}

static const char *const paths[] = { "", "staging" };
static struct path_record records[] = { { .known = true, .objects = 4 },
                                        { .known = true, .objects = 0, .held = true, .before = 7 } };

static int write(const struct sync_problems *problems, json_t **ret)
{
        struct repository_status repository;
        const struct sync_status s = { .repository = &repository,
                                       .url = "https://git.example/x",
                                       .branch = "main",
                                       .head = "b",
                                       .synced = "a",
                                       .synced_ms = 1767225600000,
                                       .objects = 4,
                                       .changed = 2,
                                       .failed = 1,
                                       .problems = problems,
                                       .paths = paths,
                                       .records = records,
                                       .n_paths = 2 };

        repository_status_init(&repository, true, false, 1);
        return sync_status_write(&s, ret, NULL);
}

static void it_tells_where_the_sync_stands(void **state)
{
        struct sync_problems none = { 0 };
        AUTO_JSON json_t *data = NULL;

        assert_int_equal(write(&none, &data), 0);
        assert_string_equal(get(data, "repository"), "new");
        assert_string_equal(get(data, "head"), "b");
        assert_string_equal(get(data, "synced"), "a");
        assert_string_equal(get(data, "syncedAt"), "2026-01-01T00:00:00Z");
        assert_string_equal(get(data, "objects"), "4");
        assert_string_equal(get(data, "changed"), "2");
        assert_string_equal(get(data, "collectionHeld"), "staging: 0 objects, 7 before\n");
        assert_null(get(data, "errors"));
}

/* spec/flux-yaml.md checklist 40 */
static void errors_come_with_object_source_and_text(void **state)
{
        struct sync_problems p = { 0 };
        AUTO_JSON json_t *data = NULL;

        assert_int_equal(sync_problems_add(&p, "apps:secret/a", "a.yaml", "refused: no"), 0);
        assert_int_equal(sync_problems_add(&p, NULL, "staging", "broken"), 0);
        assert_int_equal(write(&p, &data), 0);
        assert_string_equal(get(data, "errors"), "- error: 'refused: no'\n"
                                                 "  object: apps:secret/a\n"
                                                 "  source: a.yaml\n"
                                                 "- error: broken\n"
                                                 "  source: staging\n");
        sync_problems_clear(&p);
}

static void of_many_errors_fifty_are_told(void **state)
{
        struct sync_problems p = { 0 };
        AUTO_FREE char *text = mem_alloc(100000);
        AUTO_JSON json_t *data = NULL;

        memset(text, 'x', 99999);
        text[99999] = '\0';
        for (int i = 0; i < 60; i++)
                assert_int_equal(sync_problems_add(&p, "a", "b", text), 0);
        assert_int_equal(p.n, 50);
        assert_int_equal(write(&p, &data), 0);
        assert_true(strlen(get(data, "errors")) < 500000);
        assert_non_null(strstr(get(data, "errors"), "# and 10 more\n"));
        sync_problems_clear(&p);
}

static void records_of_paths_are_read_back(void **state)
{
        struct sync_problems none = { 0 };
        AUTO_JSON json_t *data = NULL;
        struct path_record p;

        assert_int_equal(write(&none, &data), 0);
        sync_status_record(data, "", &p);
        assert_true(p.known && !p.held && p.objects == 4);
        sync_status_record(data, "staging", &p);
        assert_true(p.held && p.before == 7);
        sync_status_record(data, "other", &p);
        assert_false(p.known);
        sync_status_record(NULL, "", &p);
        assert_false(p.known);
}

static void each_allocation_that_fails_is_told(void **state)
{
        int code = ERR_NO_MEMORY;

        mem_hook_libraries();
        for (uint64_t n = 1; code < 0; n++) {
                struct sync_problems p = { 0 };
                AUTO_JSON json_t *data = NULL;

                mem_fail_at(n, false);
                code = sync_problems_add(&p, "a", "b", "c");
                if (code == 0)
                        code = write(&p, &data);
                mem_fail_at(0, false);
                assert_true(code == 0 || (code == ERR_NO_MEMORY && !data));
                sync_problems_clear(&p);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(it_tells_where_the_sync_stands),
                cmocka_unit_test(errors_come_with_object_source_and_text),
                cmocka_unit_test(of_many_errors_fifty_are_told),
                cmocka_unit_test(records_of_paths_are_read_back),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
