/* spec/cluster-object-set.md 3, 4.3, 5, 9, 10.4 */
#include "member-agent/object-set/outcome.h"

#include "member-agent/object-set/testing.h"

#define SET(phases, conditions)                                                                              \
        "{'metadata':{'name':'a'},'spec':{'revision':1,'lifecycleState':'Active','collisionProtection':"     \
        "'None','phases':[" phases "]},'status':{'conditions':[" conditions "]}}"
#define TWO "{'name':'one','objects':[]},{'name':'two','objects':[]}"
#define SUCCEEDED "{'type':'Succeeded','status':'True','reason':'Succeeded','message':''}"

static const struct set_object objects[] = {
        { .group = "", .version = "v1", .kind = "ConfigMap", .ns = "ns", .name = "a" },
        { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "ns", .name = "b" },
};
#define A &objects[0]
#define B &objects[1]

struct line {
        const char *conditions;
        struct {
                const char *refused;
                struct object_outcome at[2];
        } phases[2];
        size_t reached;
        enum finding finding;
        size_t phase;
        const char *words;
};

static void check(const struct line *l)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const struct cluster_object_set *s =
                set_from(&arena, arena_printf(&arena, SET(TWO, "%s"), l->conditions ? l->conditions : ""));
        struct phase_outcome reached[2];
        struct judge_input in = { 0 };

        for (size_t i = 0; i < 2; i++) {
                struct object_outcome *at = arena_memdup(&arena, l->phases[i].at, sizeof(l->phases[i].at));

                reached[i] = (struct phase_outcome){ l->phases[i].refused, at,
                                                     (at[0].object != NULL) + (at[1].object != NULL) };
        }
        assert_int_equal(outcome_find(s, reached, l->reached, &arena, &in, NULL), 0);
        assert_string_equal(in.words, l->words);
        assert_int_equal(in.finding, l->finding);
        assert_int_equal(in.phase, l->phase);
}

/* spec/cluster-object-set.md checklist 14, 15, 16, 40 */
static void a_set_is_found_as_its_worst_object_is(void **state)
{
        static const struct line lines[] = {
                { .reached = 2, .finding = FOUND_COMPLETE, .phase = 2, .words = "" },
                { .reached = 1, .finding = FOUND_INCOMPLETE, .phase = 1, .words = "" },
                { .phases = { { NULL, { { A }, { B, .unready = "not up" } } } },
                  .reached = 1,
                  .finding = FOUND_INCOMPLETE,
                  .phase = 0,
                  .words = "Object Deployment.apps/v1 ns/b: not up" },
                { .phases = { { NULL, { { A } } }, { NULL, { { B, .going = true } } } },
                  .reached = 2,
                  .finding = FOUND_INCOMPLETE,
                  .phase = 1,
                  .words = "" },
                { .phases = { { NULL, { { A, .collision = "theirs" }, { B, .unready = "not up" } } } },
                  .reached = 1,
                  .finding = FOUND_COLLISION,
                  .phase = 0,
                  .words = "revision object collisions in phase 0\ntheirs" },
                { .phases = { { NULL, { { A }, { B, .collision = "theirs" } } } },
                  .reached = 1,
                  .finding = FOUND_COLLISION,
                  .phase = 0,
                  .words = "revision object collisions in phase 0\ntheirs" },
                { .phases = { { NULL, { { A } } }, { "phase 1 validation error: x", { { B } } } },
                  .reached = 2,
                  .finding = FOUND_REFUSED,
                  .phase = 1,
                  .words = "phase 1 validation error: x" },
                { .phases = { { NULL, { { A, .error = "timeout" }, { B, .error = "conflict" } } } },
                  .reached = 1,
                  .finding = FOUND_ERROR,
                  .phase = 0,
                  .words = "reconciling object: reconciling /v1, Kind=ConfigMap ns/a: timeout\n"
                           "reconciling object: reconciling apps/v1, Kind=Deployment ns/b: conflict" },
                { .phases = { { NULL, { { A, .collision = "theirs" }, { B, .error = "timeout" } } } },
                  .reached = 1,
                  .finding = FOUND_ERROR,
                  .phase = 0,
                  .words = "reconciling object: reconciling apps/v1, Kind=Deployment ns/b: timeout" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                check(&lines[i]);
}

/* spec/cluster-object-set.md checklist 83: a set that has succeeded reaches its later phases all the same. */
static void each_phase_that_was_reached_tells_what_is_not_ready(void **state)
{
        static const struct line line = { .conditions = SUCCEEDED,
                                          .phases = { { NULL, { { A, .unready = "x" } } },
                                                      { NULL, { { B, .unready = "y" } } } },
                                          .reached = 2,
                                          .finding = FOUND_INCOMPLETE,
                                          .phase = 0,
                                          .words = "Object ConfigMap.v1 ns/a: x\n"
                                                   "Object Deployment.apps/v1 ns/b: y" };

        check(&line);
}

/* spec/cluster-object-set.md checklist 66, 72 */
static void what_was_handed_over_counts_until_the_set_has_succeeded(void **state)
{
        struct line line = { .phases = { { NULL, { { A, .unready = "x", .progressed = true } } } },
                             .reached = 2,
                             .finding = FOUND_INCOMPLETE,
                             .phase = 0,
                             .words = "Object ConfigMap.v1 ns/a: x" };

        check(&line);
        line.conditions = SUCCEEDED;
        line.finding = FOUND_COMPLETE;
        line.phase = 2;
        line.words = "";
        check(&line);
}

/* spec/cluster-object-set.md checklist 15 */
static void a_set_without_phases_is_complete_at_once(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct judge_input in = { 0 };

        assert_int_equal(outcome_find(set_from(&arena, SET("", "")), NULL, 0, &arena, &in, NULL), 0);
        assert_int_equal(in.finding, FOUND_COMPLETE);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_set_is_found_as_its_worst_object_is),
                cmocka_unit_test(each_phase_that_was_reached_tells_what_is_not_ready),
                cmocka_unit_test(what_was_handed_over_counts_until_the_set_has_succeeded),
                cmocka_unit_test(a_set_without_phases_is_complete_at_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
