/* Whether an object is as it was applied, told from its metadata. spec/flux-yaml.md 7.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "hub-agent/manifest-generation/hub_view.h"

static struct string_pair labels[] = { { FLUX_SYNC_MARK, "mark" }, { "x", "y" } };
static struct string_pair annotations[] = { { FLUX_SYNC_CHECKSUM, "sum" }, { "their", "own" } };

static struct object_meta live_of(const char *version, int64_t generation)
{
        return (struct object_meta){ .uid = "u",
                                     .resource_version = version,
                                     .generation = generation,
                                     .deletion_ms = TIME_NONE,
                                     .labels = { labels, 2, true },
                                     .annotations = { annotations, 2, true } };
}

static bool holds(int64_t generation, struct object_meta live, const char *metadata)
{
        struct known_object k = { .uid = (char *)(uintptr_t) "u",
                                  .version = (char *)(uintptr_t) "1",
                                  .generation = generation,
                                  .checksum = "sum" };
        AUTO_JSON json_t *wanted = json_pack("{s:o}", "metadata", json_loads(metadata, 0, NULL));

        assert_non_null(wanted);
        return known_object_holds(&k, &live, wanted, "mark");
}

static void the_same_version_is_the_same(void **state)
{
        assert_true(holds(0, live_of("1", 0), "{\"labels\":{\"x\":\"other\"}}"));
        assert_false(holds(0, live_of("2", 0), "{}"));
}

static void another_status_is_no_other_generation(void **state)
{
        assert_true(holds(3, live_of("2", 3), "{\"labels\":{\"x\":\"y\"}}"));
        assert_false(holds(3, live_of("2", 4), "{\"labels\":{\"x\":\"y\"}}"));
        assert_false(holds(3, live_of("2", 3), "{\"labels\":{\"x\":\"z\"}}"));
        assert_false(holds(3, live_of("2", 3), "{\"annotations\":{\"ours\":\"a\"}}"));
        assert_true(holds(3, live_of("2", 3), "{\"annotations\":{\"their\":\"own\"}}"));
}

static void of_other_metadata_only_the_version_tells(void **state)
{
        assert_false(holds(3, live_of("2", 3), "{\"finalizers\":[\"a/b\"]}"));
        assert_true(holds(3, live_of("1", 3), "{\"finalizers\":[\"a/b\"]}"));
}

static void another_object_of_that_name_is_another(void **state)
{
        struct object_meta live = live_of("1", 0);

        live.uid = "v";
        assert_false(holds(0, live, "{}"));
        live = live_of("1", 0);
        live.deletion_ms = 1;
        assert_false(holds(0, live, "{}"));
}

static void a_mark_that_was_changed_is_a_difference(void **state)
{
        struct object_meta live = live_of("2", 3);
        struct string_pair other[] = { { FLUX_SYNC_MARK, "copied" } };

        live.labels = (struct string_map){ other, 1, true };
        assert_false(holds(3, live, "{}"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_same_version_is_the_same),
                cmocka_unit_test(another_status_is_no_other_generation),
                cmocka_unit_test(of_other_metadata_only_the_version_tells),
                cmocka_unit_test(another_object_of_that_name_is_another),
                cmocka_unit_test(a_mark_that_was_changed_is_a_difference),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
