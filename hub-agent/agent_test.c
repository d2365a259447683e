/* What the controllers of the hub-agent share: groups of resource snapshots. */
#include "hub-agent/agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MEMBERS 13

struct group {
        struct object objects[MEMBERS + 1];
        struct string_pair labels[MEMBERS + 1], annotations[MEMBERS + 1];
        char names[MEMBERS + 1][16];
        const struct object *at[MEMBERS + 1];
};

static void add(struct group *g, size_t i, const char *index, const char *annotation, int number)
{
        struct object *o = &g->objects[i];

        snprintf(g->names[i], sizeof(g->names[i]), "%d", number);
        g->labels[i] = (struct string_pair){ LABEL_RESOURCE_INDEX, index };
        g->annotations[i] = (struct string_pair){ annotation, g->names[i] };
        o->meta.name = g->names[i];
        o->meta.labels = (struct string_map){ &g->labels[i], 1, true };
        o->meta.annotations = (struct string_map){ &g->annotations[i], 1, true };
        g->at[i] = o;
}

/* A cache that was listed holds them by name, where 10 stands before 2, and an event may bring any of them
 * last: what is placed must not depend on that. */
static void the_parts_of_a_snapshot_are_read_in_the_order_in_which_they_were_split(void **state)
{
        static const int orders[][MEMBERS - 1] = { { 0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9 },
                                                   { 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 },
                                                   { 3, 0, 7, 11, 1, 10, 4, 2, 9, 8, 5, 6 } };

        for (size_t k = 0; k < ARRAY_LEN(orders); k++)
                for (size_t head = 0; head < MEMBERS; head++) {
                        struct group g = { 0 };
                        const struct object *members[MEMBERS + 1];
                        struct object_list list = { .at = g.at, .n = MEMBERS + 1 };

                        for (size_t i = 0, part = 0; i < MEMBERS; i++)
                                if (i == head)
                                        add(&g, i, "4", ANNOTATION_RESOURCE_HASH, -1);
                                else
                                        add(&g, i, "4", ANNOTATION_RESOURCE_SUBINDEX, orders[k][part++]);
                        add(&g, MEMBERS, "3", ANNOTATION_RESOURCE_SUBINDEX, 0); /* of an older group */
                        assert_int_equal(snapshots_of_group(&list, "4", members), MEMBERS);
                        assert_ptr_equal(members[0], g.at[head]);
                        for (int i = 1; i < MEMBERS; i++) {
                                char name[16];

                                snprintf(name, sizeof(name), "%d", i - 1);
                                assert_string_equal(members[i]->meta.name, name);
                        }
                }
}

/* All other parts may be there: without the first one nobody knows how many they are. */
static void a_group_without_its_first_part_is_not_there(void **state)
{
        static const char *const asked[] = { "3", "5" };

        for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                struct reconcile rc = { .arena = &arena, .err = &err };
                const struct resource_snapshot *const *ret;
                struct group g = { 0 };
                struct object_list list = { .at = g.at, .n = 2 };
                size_t n;

                add(&g, 0, "4", ANNOTATION_RESOURCE_HASH, -1);
                add(&g, 1, "3", ANNOTATION_RESOURCE_SUBINDEX, 0);
                assert_int_equal(body_get_group(&rc, &list, asked[i], &ret, &n), ERR_NOT_FOUND);
                assert_non_null(strstr(err.text, asked[i]));
        }
}

static const struct watch *watch_of(const struct controller *c, const struct kind *kind)
{
        for (size_t i = 0; i < c->n_watches; i++)
                if (c->watches[i].kind == kind)
                        return &c->watches[i];
        return NULL;
}

/* What brings a placement of the cluster on brings one of a namespace on too: spec/placement.md 1. */
static void both_scopes_are_watched_alike(void **state)
{
        static const struct kind *const twins[][2] = {
                { &cluster_resource_placement_kind, &resource_placement_kind },
                { &cluster_scheduling_policy_snapshot_kind, &scheduling_policy_snapshot_kind },
                { &cluster_resource_snapshot_kind, &resource_snapshot_kind },
                { &cluster_resource_binding_kind, &resource_binding_kind },
                { &cluster_resource_override_kind, &resource_override_kind },
                { &cluster_resource_override_snapshot_kind, &resource_override_snapshot_kind },
        };
        static const struct controller *const controllers[] = {
                &intake_controller,  &placement_status_controller, &scheduler_controller,
                &rollout_controller, &work_generator_controller,   &override_controller
        };
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(controllers); i++)
                for (size_t k = 0; k < ARRAY_LEN(twins); k++) {
                        const struct watch *whole = watch_of(controllers[i], twins[k][0]),
                                           *one = watch_of(controllers[i], twins[k][1]);

                        assert_true(!whole == !one);
                        if (!whole)
                                continue;
                        assert_int_equal(whole->on, one->on);
                        assert_ptr_equal(whole->map, one->map);
                        assert_int_equal(whole->by_agents, one->by_agents);
                        n++;
                }
        assert_true(n >= 16);
}

/* A heartbeat changes a member every minute; who looks at it for its labels is woken by them alone. */
static void labels_change_when_one_comes_goes_or_has_another_value(void **state)
{
        struct string_pair ab[] = { { "a", "1" }, { "b", "2" } }, ba[] = { { "b", "2" }, { "a", "1" } },
                           other[] = { { "a", "1" }, { "b", "3" } },
                           renamed[] = { { "a", "1" }, { "c", "2" } };
        const struct {
                enum informer_event_type type;
                struct string_map old, now;
                bool changed;
        } rows[] = {
                { INFORMER_UPDATED, { NULL, 0, false }, { NULL, 0, false }, false },
                { INFORMER_UPDATED, { ab, 2, true }, { ab, 2, true }, false },
                { INFORMER_UPDATED, { ab, 2, true }, { ba, 2, true }, false },
                { INFORMER_UPDATED, { ab, 2, true }, { ab, 1, true }, true },
                { INFORMER_UPDATED, { ab, 1, true }, { ab, 2, true }, true },
                { INFORMER_UPDATED, { ab, 2, true }, { other, 2, true }, true },
                { INFORMER_UPDATED, { ab, 2, true }, { renamed, 2, true }, true },
                { INFORMER_ADDED, { NULL, 0, false }, { ab, 2, true }, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct object old = { .meta.labels = rows[i].old },
                                    now = { .meta.labels = rows[i].now };
                const struct informer_event e = { .type = rows[i].type,
                                                  .old = rows[i].type == INFORMER_UPDATED ? &old : NULL,
                                                  .now = &now };

                assert_int_equal(labels_changed(&e), rows[i].changed);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_parts_of_a_snapshot_are_read_in_the_order_in_which_they_were_split),
                cmocka_unit_test(a_group_without_its_first_part_is_not_there),
                cmocka_unit_test(both_scopes_are_watched_alike),
                cmocka_unit_test(labels_change_when_one_comes_goes_or_has_another_value),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
