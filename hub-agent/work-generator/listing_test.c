/* The order in which drifted manifests are listed on a binding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/work-generator/work_generator.h"

#define NOW INT64_C(1767225600000)
#define WORKS 103 /* a prime number */
#define LISTED 100

struct scene {
        struct arena arena;
        struct error err;
        const struct binding *b;
        const struct object *works[WORKS];
        struct resource_identifier ids[WORKS];
        struct resource_identifier_list identities[WORKS];
        struct object_list live;
};

static void *parse(struct scene *s, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &s->arena, &o, &s->err) < 0)
                fail_msg("%s: %s", json, s->err.text);
        return o;
}

static void begin(struct scene *s)
{
        *s = (struct scene){ .live.at = s->works };
        s->b = parse(s, &cluster_resource_binding_kind,
                     "{\"metadata\":{\"name\":\"b1\",\"generation\":2},\"spec\":{\"state\":\"Bound\","
                     "\"targetCluster\":\"c1\",\"applyStrategy\":{\"type\":\"ClientSideApply\"}}}");
}

/* A Work of one envelope, whose one manifest has drifted. */
static void add(struct scene *s, const char *envelope)
{
        size_t i = s->live.n++;

        s->ids[i] =
                (struct resource_identifier){ .version = "v1", .kind = "ConfigMap", .ns = "n", .name = "a" };
        s->identities[i] = (struct resource_identifier_list){ &s->ids[i], 1, true };
        s->works[i] = parse(
                s, &work_kind,
                arena_printf(&s->arena,
                             "{\"metadata\":{\"name\":\"w%zu\",\"generation\":1,\"labels\":{"
                             "\"kubernetes-fleet.io/envelope-work\":\"ResourceEnvelope\","
                             "\"kubernetes-fleet.io/envelope-namespace\":\"n\","
                             "\"kubernetes-fleet.io/envelope-name\":\"%s\"}},\"spec\":{},\"status\":{"
                             "\"conditions\":[{\"type\":\"Applied\",\"status\":\"True\",\"reason\":\"X\","
                             "\"message\":\"\",\"observedGeneration\":1,\"lastTransitionTime\":"
                             "\"2026-01-01T00:00:00Z\"},{\"type\":\"Available\",\"status\":\"True\","
                             "\"reason\":\"X\","
                             "\"message\":\"\",\"observedGeneration\":1,\"lastTransitionTime\":"
                             "\"2026-01-01T00:00:00Z\"}],\"manifestConditions\":[{\"identifier\":{"
                             "\"ordinal\":0},\"conditions\":[],\"driftDetails\":{\"observationTime\":"
                             "\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"
                             "\"2026-01-01T00:00:00Z\"}}]}}",
                             i, envelope));
}

/* spec/rollout-and-work.md 6.8: what is cut is cut in the order of the objects, then of the envelopes that
 * they came in, so that the list is the same whatever order the Works come in. */
static void of_one_object_in_many_envelopes_the_first_are_listed(void **state)
{
        for (size_t step = 1; step < WORKS; step += 34) { /* has no divisor in common with their number */
                struct sync_result in_sync = { 0 };
                struct binding *b;
                struct scene s;
                bool settled;

                begin(&s);
                for (size_t i = 0; i < WORKS; i++)
                        add(&s, arena_printf(&s.arena, "e%03zu", i * step % WORKS));
                in_sync.identities = s.identities;
                b = binding_with_status(&s.arena, s.b, &s.live, &in_sync, NULL, NOW, &settled);
                assert_int_equal(LIST_OR_NONE(b->status->drifted_placements).n, LISTED);
                for (size_t i = 0; i < LISTED; i++) {
                        char name[16];

                        snprintf(name, sizeof(name), "e%03zu", i);
                        assert_string_equal(b->status->drifted_placements->at[i].id.envelope->name, name);
                }
                arena_free(&s.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(of_one_object_in_many_envelopes_the_first_are_listed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
