#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hub-agent/placement/given.h"

static struct object *parse(struct arena *arena, const struct kind *kind, const char *json)
{
        struct error err = { 0 };
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), arena, &o, &err) < 0)
                fail_msg("%s: %s", json, err.text);
        return o;
}

static void a_name_tells_its_index_if_it_is_one_of_the_owners(void **state)
{
        static const struct {
                const char *name, *owner, *suffix;
                int64_t index;
        } rows[] = {
                { "web-0", "web", "", 0 },
                { "web-12-snapshot", "web", SUFFIX_RESOURCE_SNAPSHOT, 12 },
                { "web-12-snapshot", "web", "", NO_INDEX },
                { "web-12", "web", SUFFIX_RESOURCE_SNAPSHOT, NO_INDEX },
                { "web-1-0", "web", "", NO_INDEX }, /* the first of "web-1" */
                { "web-1-0", "web-1", "", 0 },
                { "webs-1", "web", "", NO_INDEX },
                { "web", "web", "", NO_INDEX },
                { "web-", "web", "", NO_INDEX },
                { "web-+1", "web", "", NO_INDEX },
                { "web--1", "web", "", NO_INDEX },
                { "web-1000000000000000", "web", "", INDEX_MAX },
                { "web-1000000000000001", "web", "", NO_INDEX },
                { "web-99999999999999999999999999", "web", "", NO_INDEX },
                { "", "web", "", NO_INDEX },
                { NULL, "web", "", NO_INDEX },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                if (index_in_name(rows[i].name, rows[i].owner, rows[i].suffix) != rows[i].index)
                        fail_msg("%s of %s", rows[i].name, rows[i].owner);
}

static void bindings_tell_what_was_given(void **state)
{
        static const struct {
                const char *meta, *policy, *resources;
                int64_t policies_given, resources_given;
        } rows[] = {
                { "", "web-2", "web-5-snapshot", 2, 5 },
                { "", "web-2", "", 2, NO_INDEX },
                { "", "other-2", "other-5-snapshot", NO_INDEX, NO_INDEX },
                /* Perhaps of a former placement of the name, and not used again in any case. */
                { ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "web-2", "web-5-snapshot", NO_INDEX,
                  NO_INDEX },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct given g = NONE_GIVEN, higher = { 9, 9 };
                struct object *b;
                char json[512];

                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"b\"%s},\"spec\":{\"schedulingPolicySnapshotName\":\"%s\","
                         "\"resourceSnapshotName\":\"%s\",\"state\":\"Bound\",\"targetCluster\":\"c\"}}",
                         rows[i].meta, rows[i].policy, rows[i].resources);
                b = parse(&arena, &cluster_resource_binding_kind, json);
                given_by_binding(&g, "web", b);
                assert_int_equal(g.policies, rows[i].policies_given);
                assert_int_equal(g.resources, rows[i].resources_given);
                given_by_binding(&higher, "web", b);
                assert_int_equal(higher.policies, 9);
                assert_int_equal(higher.resources, 9);
        }
}

/* Many name the same: what one of them names that the others do not counts, wherever it stands. */
static void of_many_bindings_the_highest_is_told(void **state)
{
        static const char *const named[][3] = {
                /* policy, resources, deleted at */
                { "web-1", "web-5-snapshot", "" },
                { "web-1", "web-7-snapshot", "" },
                { "web-9", "web-9-snapshot", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"" },
                { "web-1", "web-5-snapshot", "" },
                { "web-3", "web-5-snapshot", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"" },
                { "web-3", "web-5-snapshot", "" },
                { "web-2", "", "" },
        };
        enum { N = ARRAY_LEN(named) };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *at[2 * N];

        for (size_t i = 0; i < N; i++) {
                char json[512];

                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"b\"%s},\"spec\":{\"schedulingPolicySnapshotName\":\"%s\","
                         "\"resourceSnapshotName\":\"%s\",\"state\":\"Bound\",\"targetCluster\":\"c\"}}",
                         named[i][2], named[i][0], named[i][1]);
                at[i] = at[N + i] = parse(&arena, &cluster_resource_binding_kind, json);
        }
        for (size_t i = 0; i < N; i++) {
                struct given g = NONE_GIVEN;

                given_by_bindings(&g, "web", &(struct object_list){ at + i, N });
                assert_int_equal(g.policies, 3);
                assert_int_equal(g.resources, 7);
        }
}

static void works_tell_what_was_given(void **state)
{
        static const struct {
                const char *ns, *meta, *labels;
                int64_t given;
        } rows[] = {
                { NULL, "", "", 4 },
                { NULL, "", ",\"kubernetes-fleet.io/parent-placement-namespace\":\"team\"", NO_INDEX },
                { "team", "", ",\"kubernetes-fleet.io/parent-placement-namespace\":\"team\"", 4 },
                { "team", "", "", NO_INDEX },
                { NULL, ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "", NO_INDEX },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct placement p = { .object.meta = { .name = "web", .ns = (char *)rows[i].ns } };
                struct given g = NONE_GIVEN;
                char json[512];

                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"w\"%s,\"labels\":{\"kubernetes-fleet.io/parent-CRP\":"
                         "\"web\",\"kubernetes-fleet.io/parent-resource-snapshot-index\":\"4\"%s}}}",
                         rows[i].meta, rows[i].labels);
                given_by_work(&g, &p.object, parse(&arena, &work_kind, json));
                assert_int_equal(g.resources, rows[i].given);
                assert_int_equal(g.policies, NO_INDEX);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_name_tells_its_index_if_it_is_one_of_the_owners),
                cmocka_unit_test(bindings_tell_what_was_given),
                cmocka_unit_test(of_many_bindings_the_highest_is_told),
                cmocka_unit_test(works_tell_what_was_given),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
