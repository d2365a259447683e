/* spec/cluster-object-set.md 12 */
#include "member-agent/object-set/teardown.h"

#include "member-agent/object-set/testing.h"

static const struct set_identity us = { "app-1", "u1", 1, "app", NULL };

#define LIVE(rest, references) "{'metadata':{" rest "'ownerReferences':[" references "]}}"
#define GOING "'deletionTimestamp':'2026-01-01T00:00:00Z',"
#define OURS(rest) SET_REFERENCE("app-1", "u1", rest)
#define LATER SET_REFERENCE("app-2", "u2", CONTROLLING)

/* spec/cluster-object-set.md checklist 68, 74, 75, 77 */
static void what_a_set_controls_is_deleted_and_what_it_shared_is_released(void **state)
{
        static const struct {
                const char *live;
                enum teardown teardown;
        } lines[] = {
                { NULL, TEARDOWN_GONE },
                { LIVE("", ""), TEARDOWN_GONE },
                { LIVE("", LATER), TEARDOWN_GONE },
                { LIVE("", SET_REFERENCE("app-1", "another", CONTROLLING)), TEARDOWN_GONE },
                { LIVE("", OURS(CONTROLLING)), TEARDOWN_DELETE },
                { LIVE("", SET_REFERENCE("app-0", "u0", RELEASED) "," OURS(CONTROLLING)), TEARDOWN_DELETE },
                { LIVE(GOING, OURS(CONTROLLING)), TEARDOWN_WAIT },
                { LIVE("", OURS(RELEASED) "," LATER), TEARDOWN_RELEASE },
                { LIVE(GOING, OURS(RELEASED) "," LATER), TEARDOWN_RELEASE },
                { LIVE("", OURS("")), TEARDOWN_RELEASE },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *live = lines[i].live ? quoted(lines[i].live) : NULL;

                assert_int_equal(teardown_of(&us, live), lines[i].teardown);
        }
}

/* spec/cluster-object-set.md checklist 81 */
static void a_deleted_set_takes_its_objects_along_unless_it_is_told_otherwise(void **state)
{
        static const struct {
                const char *finalizers[2];
                int64_t age_ms;
                enum farewell farewell;
        } lines[] = {
                { { "olm.operatorframework.io/teardown" }, 0, FAREWELL_TEAR_DOWN },
                { { "olm.operatorframework.io/teardown" }, 299999, FAREWELL_TEAR_DOWN },
                { { "olm.operatorframework.io/teardown" }, 300000, FAREWELL_LEAVE },
                { { "foregroundDeletion", "olm.operatorframework.io/teardown" }, 0, FAREWELL_LEAVE },
                { { "olm.operatorframework.io/teardown", "orphan" }, 0, FAREWELL_ORPHAN },
                { { "olm.operatorframework.io/teardown", "orphan" }, 300000, FAREWELL_ORPHAN },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                const char *finalizers[2] = { lines[i].finalizers[0], lines[i].finalizers[1] };
                const struct object_meta m = { .finalizers = finalizers,
                                               .n_finalizers = finalizers[1] ? 2 : 1,
                                               .deletion_ms = 1000 };

                assert_int_equal(teardown_farewell(&m, 1000 + lines[i].age_ms), lines[i].farewell);
        }
}

/* spec/cluster-object-set.md checklist 73 */
static void what_is_waited_for_is_named_with_its_finalizers(void **state)
{
        static const struct set_object o = {
                .group = "", .version = "v1", .kind = "ConfigMap", .ns = "ns", .name = "cm"
        };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        AUTO_JSON json_t *plain = quoted("{'metadata':{}}");
        AUTO_JSON json_t *held = quoted("{'metadata':{'finalizers':['a/b','c']}}");

        assert_string_equal(teardown_waiting_words(&o, plain, &arena),
                            "waiting for /v1, Kind=ConfigMap ns/cm");
        assert_string_equal(teardown_waiting_words(&o, held, &arena),
                            "waiting for /v1, Kind=ConfigMap ns/cm, finalizers: a/b, c");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_a_set_controls_is_deleted_and_what_it_shared_is_released),
                cmocka_unit_test(a_deleted_set_takes_its_objects_along_unless_it_is_told_otherwise),
                cmocka_unit_test(what_is_waited_for_is_named_with_its_finalizers),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
