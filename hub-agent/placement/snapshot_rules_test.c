/* Names, marks, splits and history of snapshots, rule by rule. spec/placement.md 6.3, 9. */
#include "common/json/doc.h"
#include "hub-agent/placement/filter.h"
#include "hub-agent/placement/snapshots_test.h"

static void plan_policy(struct scene *s, struct policy_snapshot_plan *plan)
{
        if (plan_policy_snapshots(&s->arena, s->p, &s->list, NO_INDEXES, plan, &s->err) < 0)
                fail_msg("%s", s->err.text);
}

static void set_policy(struct scene *s, const char *policy)
{
        const struct placement *other =
                parse(s, &cluster_resource_placement_kind,
                      arena_printf(&s->arena, "{\"metadata\":{\"name\":\"web\"},\"spec\":{%s}}", policy));

        s->p->spec->policy = other->spec->policy;
}

static void take_away(struct scene *s, const struct object *const *gone, size_t n)
{
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < s->list.n; k++)
                        if (s->existing[k] == gone[i])
                                s->existing[k--] = s->existing[--s->list.n];
}

/* spec/placement.md checklist 11; spec/api.md checklist 34 */
static void a_policy_hash_is_base64_of_its_hex_text(void **state)
{
        static const struct {
                const char *policy, *hash;
        } rows[] = {
                { "", "NzQyMzRlOThhZmU3NDk4ZmI1ZGFmMWYzNmFjMmQ3OGFjYzMzOTQ2NGY5NTA3MDNiOGMwMTk4OTJmOTgyYjkwYg"
                      "==" },
                { "\"policy\":{\"placementType\":\"PickAll\"}",
                  "OGNjNTdkZWU1OTY4NGZmODg3NjZlMjY5MzZjOGZiMTI1ZjRiZGUyMzRhMmJlYjVjNTRhZGVkNDU2OWRiMGQ1YQ="
                  "=" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct policy_snapshot_plan plan;
                struct scene s;

                begin(&s, rows[i].policy);
                plan_policy(&s, &plan);
                assert_string_equal(plan.create->spec->policy_hash, rows[i].hash);
                arena_free(&s.arena);
        }
}

/* spec/api.md checklist 32 */
static void only_a_number_that_is_asked_for_is_noted(void **state)
{
        static const struct {
                const char *policy, *number;
        } rows[] = {
                { "", NULL },
                { "\"policy\":{\"placementType\":\"PickAll\"}", NULL },
                { "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]}", NULL },
                { "\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":0}", "0" },
                { "\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":3}", "3" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct policy_snapshot_plan plan;
                struct scene s;

                begin(&s, rows[i].policy);
                plan_policy(&s, &plan);
                if (!text_equal(annotation_of(&plan.create->object, ANNOTATION_NUMBER_OF_CLUSTERS),
                                rows[i].number))
                        fail_msg("%s", rows[i].policy);
                arena_free(&s.arena);
        }
}

/* spec/placement.md checklist 6: who changed it ended before the next one was made. */
static void a_policy_that_comes_back_while_none_is_latest_is_marked_again(void **state)
{
        struct policy_snapshot_plan plan;
        struct scene s;

        begin(&s, "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]}");
        plan_policy(&s, &plan);
        keep_created(&s, &plan);
        set_policy(&s, "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"b\"]}");
        plan_policy(&s, &plan);
        s.existing[0] = plan.update.wanted;
        assert_string_equal(label_of(s.existing[0], LABEL_IS_LATEST_SNAPSHOT), "false");
        set_policy(&s, "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]}");
        plan_policy(&s, &plan);
        assert_null(plan.create);
        assert_ptr_equal(plan.update.now, s.existing[0]);
        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "true");
        assert_string_equal(plan.update.wanted->meta.name, "web-0");
        arena_free(&s.arena);
}

/* spec/placement.md checklist 8 */
static void after_each_change_as_many_are_left_as_the_limit_says(void **state)
{
        for (size_t limit = 1; limit <= 3; limit++) {
                struct scene policies, resources;
                char spec[64];

                snprintf(spec, sizeof(spec), "\"revisionHistoryLimit\":%zu", limit);
                begin(&policies, spec);
                begin(&resources, spec);
                for (size_t i = 0; i < 6; i++) {
                        struct policy_snapshot_plan p;
                        struct resource_snapshot_plan r;
                        const size_t sizes[] = { 500000 + i, 500000 };
                        struct selection sel = select_sizes(&resources, sizes, 2);

                        set_policy(&policies, arena_printf(&policies.arena,
                                                           "\"policy\":{\"placementType\":\"PickFixed\","
                                                           "\"clusterNames\":[\"c%zu\"]}",
                                                           i));
                        plan_policy(&policies, &p);
                        take_away(&policies, p.remove, p.n_remove);
                        keep_created(&policies, &p);
                        assert_int_equal(policies.list.n, MIN(i + 1, limit));
                        plan_resources(&resources, &sel, &at_once, &r);
                        take_away(&resources, r.remove, r.n_remove);
                        keep_resources(&resources, &r);
                        assert_int_equal(resources.list.n, 2 * MIN(i + 1, limit));
                }
                arena_free(&policies.arena);
                arena_free(&resources.arena);
        }
}

/* spec/placement.md checklist 10; spec/api.md checklist 33 */
static void nothing_selected_is_a_group_of_one(void **state)
{
        struct resource_snapshot_plan plan;
        const struct object_meta *head;
        struct selection sel;
        struct scene s;

        begin(&s, "");
        sel = select_sizes(&s, NULL, 0);
        plan_resources(&s, &sel, &at_once, &plan);
        assert_int_equal(plan.n_create, 1);
        head = &plan.create[0]->object.meta;
        assert_string_equal(head->name, "web-0-snapshot");
        assert_string_equal(annotation_of(&plan.create[0]->object, ANNOTATION_RESOURCE_HASH),
                            "83ff749c5d8eb5a0b62d714175bcbaef1409b371fc5a229a002db6fcc1f144e1");
        assert_string_equal(annotation_of(&plan.create[0]->object, ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS),
                            "1");
        assert_int_equal(plan.create[0]->spec->selected_resources.n, 0);
        assert_true(plan.create[0]->spec->selected_resources.set);
        arena_free(&s.arena);
}

/* spec/placement.md checklist 13; spec/api.md checklist 33 */
static void the_head_tells_of_the_group_and_a_part_of_its_place(void **state)
{
        static const size_t sizes[] = { 500000, 500000, 500000 };
        struct resource_snapshot_plan plan;
        struct selection sel;
        struct scene s;

        begin(&s, "");
        sel = select_sizes(&s, sizes, ARRAY_LEN(sizes));
        sel.n_envelopes = 2;
        plan_resources(&s, &sel, &at_once, &plan);
        assert_int_equal(plan.n_create, 3);
        for (int i = 0; i < 3; i++) {
                const struct object *o = &plan.create[i]->object;

                assert_string_equal(label_of(o, LABEL_PARENT_PLACEMENT), "web");
                assert_string_equal(label_of(o, LABEL_RESOURCE_INDEX), "0");
                assert_int_equal(o->meta.n_owners, 1);
                assert_true(o->meta.owners[0].controller && o->meta.owners[0].block_owner_deletion);
                assert_string_equal(o->meta.owners[0].uid, "u");
                assert_int_equal(o->meta.n_finalizers, 0);
                assert_int_equal(plan.create[i]->spec->selected_resources.n, 1);
                if (i == 0) {
                        assert_string_equal(o->meta.name, "web-0-snapshot");
                        assert_int_equal(o->meta.labels.n, 3);
                        assert_string_equal(label_of(o, LABEL_IS_LATEST_SNAPSHOT), "true");
                        assert_int_equal(o->meta.annotations.n, 3);
                        assert_string_equal(annotation_of(o, ANNOTATION_RESOURCE_HASH), sel.hash);
                        assert_string_equal(annotation_of(o, ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS), "3");
                        assert_string_equal(string_map_get(&o->meta.annotations,
                                                           "kubernetes-fleet.io/number-of-enveloped-object"),
                                            "2");
                } else {
                        char name[16], subindex[16];

                        snprintf(name, sizeof(name), "web-0-%d", i - 1);
                        snprintf(subindex, sizeof(subindex), "%d", i - 1);
                        assert_string_equal(o->meta.name, name);
                        assert_int_equal(o->meta.labels.n, 2);
                        assert_int_equal(o->meta.annotations.n, 1);
                        assert_string_equal(annotation_of(o, ANNOTATION_RESOURCE_SUBINDEX), subindex);
                }
        }
        arena_free(&s.arena);
}

/* spec/placement.md checklist 14: whichever parts are missing. */
static void what_is_missing_of_a_group_is_made_under_the_same_index(void **state)
{
        static const size_t sizes[] = { 500000, 500000, 500000, 500000 };

        for (unsigned missing = 1; missing < 8; missing++) {
                struct resource_snapshot_plan plan;
                struct selection sel;
                struct scene s;
                size_t n = 0;

                begin(&s, "");
                sel = select_sizes(&s, sizes, ARRAY_LEN(sizes));
                plan_resources(&s, &sel, &at_once, &plan);
                keep_resources(&s, &plan);
                for (unsigned k = 0; k < 3; k++)
                        if (missing & (1u << k))
                                take_away(&s, (const struct object *[]){ &plan.create[k + 1]->object }, 1);
                plan_resources(&s, &sel, &at_once, &plan);
                assert_null(plan.update.now);
                assert_int_equal(plan.n_remove, 0);
                for (unsigned k = 0; k < 3; k++)
                        if (missing & (1u << k)) {
                                char name[16];

                                snprintf(name, sizeof(name), "web-0-%u", k);
                                assert_string_equal(plan.create[n++]->object.meta.name, name);
                        }
                assert_int_equal(plan.n_create, n);
                arena_free(&s.arena);
        }
}

/* spec/placement.md checklist 15, 16: what is due when, from the age of the head and of the change. */
static void a_change_is_due_after_the_later_of_both_intervals(void **state)
{
        static const struct {
                int64_t collect, interval, head_age, delay;
        } rows[] = {
                { 0, 0, 0, 0 },
                { 30000, 60000, 3600000, 30000 },
                { 30000, 300000, 5000, 295000 },
                { 30000, 0, 5000, 30000 },
                { 0, 60000, 20000, 40000 },
                { 0, 60000, 60000, 0 },
                { 30000, 40000, 10000, 30000 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                static const size_t one[] = { 10 }, two[] = { 20 }, three[] = { 30 };
                struct snapshot_timing t = { NOW, rows[i].interval, rows[i].collect };
                struct resource_snapshot_plan plan;
                struct selection sel;
                struct scene s;

                begin(&s, "");
                sel = select_sizes(&s, one, 1);
                plan_resources(&s, &sel, &t, &plan);
                assert_int_equal(plan.delay_ms, 0);
                assert_int_equal(plan.n_create, 1);
                plan.create[0]->object.meta.creation_ms = NOW - rows[i].head_age;
                keep_resources(&s, &plan);
                sel = select_sizes(&s, two, 1);
                plan_resources(&s, &sel, &t, &plan);
                assert_int_equal(plan.delay_ms, rows[i].delay);
                assert_int_equal(plan.n_create, rows[i].delay ? 0 : 1);
                if (!rows[i].delay) {
                        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "false");
                        if (!rows[i].collect && !rows[i].interval)
                                assert_null(annotation_of(plan.update.wanted,
                                                          ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME));
                } else {
                        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "true");
                        assert_string_equal(
                                annotation_of(plan.update.wanted, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME),
                                "2026-01-01T00:00:00Z");
                        assert_ptr_equal(plan.latest, s.existing[0]);
                        keep_resources(&s, &plan);
                        t.now_ms += 10000; /* what changes meanwhile is waited for no longer */
                        sel = select_sizes(&s, three, 1);
                        plan_resources(&s, &sel, &t, &plan);
                        assert_int_equal(plan.delay_ms, rows[i].delay - 10000);
                        assert_null(plan.update.now);
                }
                arena_free(&s.arena);
        }
}

/* The API server's clock is ahead by an hour, and then the agent's own is set back by another. */
static void no_clock_makes_a_change_wait_longer_than_the_intervals(void **state)
{
        static const size_t one[] = { 10 }, two[] = { 20 };
        struct snapshot_timing t = { NOW, 30000, 15000 };
        struct resource_snapshot_plan plan;
        struct selection sel;
        struct scene s;

        begin(&s, "");
        sel = select_sizes(&s, one, 1);
        plan_resources(&s, &sel, &t, &plan);
        plan.create[0]->object.meta.creation_ms = NOW + 3600000;
        keep_resources(&s, &plan);
        sel = select_sizes(&s, two, 1);
        plan_resources(&s, &sel, &t, &plan);
        assert_int_equal(plan.delay_ms, 30000);
        keep_resources(&s, &plan);
        t.now_ms += 10000 - 3600000;
        plan_resources(&s, &sel, &t, &plan);
        assert_int_equal(plan.delay_ms, 30000);
        assert_string_equal(annotation_of(plan.update.wanted, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME),
                            "2025-12-31T23:00:10Z");
        keep_resources(&s, &plan);
        t.now_ms += 29999;
        plan_resources(&s, &sel, &t, &plan);
        assert_int_equal(plan.delay_ms, 1);
        t.now_ms++;
        plan_resources(&s, &sel, &t, &plan);
        assert_int_equal(plan.n_create, 1);
        arena_free(&s.arena);
}

/* spec/placement.md 9.4: the next change is waited for as long as any. */
static void a_change_that_is_taken_back_is_forgotten(void **state)
{
        static const size_t one[] = { 10 }, two[] = { 20 };
        struct snapshot_timing t = { NOW, 0, 30000 };
        struct resource_snapshot_plan plan;
        struct selection first, second;
        struct scene s;

        begin(&s, "");
        first = select_sizes(&s, one, 1);
        second = select_sizes(&s, two, 1);
        plan_resources(&s, &first, &t, &plan);
        plan.create[0]->object.meta.creation_ms = NOW - 3600000;
        keep_resources(&s, &plan);
        plan_resources(&s, &second, &t, &plan);
        assert_int_equal(plan.delay_ms, 30000);
        keep_resources(&s, &plan);
        t.now_ms += 10000;
        plan_resources(&s, &first, &t, &plan);
        assert_int_equal(plan.delay_ms, 0);
        assert_int_equal(plan.n_create, 0);
        assert_null(annotation_of(plan.update.wanted, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME));
        keep_resources(&s, &plan);
        t.now_ms += 10000;
        plan_resources(&s, &second, &t, &plan);
        assert_int_equal(plan.delay_ms, 30000);
        arena_free(&s.arena);
}

/* ---- whatever comes in whatever order ---- */

static uint64_t lot(uint64_t *state, uint64_t n)
{
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        return (*state >> 33) % n;
}

/* Parts hold all in order, none more than it may unless it holds one alone, none less than it could. */
static void any_selection_is_split_in_order_and_no_more_than_needed(void **state)
{
        uint64_t seed = 7;

        for (int round = 0; round < 150; round++) {
                struct resource_snapshot_plan plan;
                size_t sizes[12], n = lot(&seed, ARRAY_LEN(sizes) + 1), at = 0;
                struct selection sel;
                struct scene s;

                for (size_t i = 0; i < n; i++)
                        sizes[i] = 1 + lot(&seed, lot(&seed, 4) ? 400000 : 900000);
                begin(&s, "");
                sel = select_sizes(&s, sizes, n);
                plan_resources(&s, &sel, &at_once, &plan);
                for (size_t k = 0; k < plan.n_create; k++) {
                        const struct resource_snapshot_spec *part = plan.create[k]->spec;
                        size_t bytes = 0;

                        for (uint32_t i = 0; i < part->selected_resources.n; i++, at++) {
                                assert_int_equal(part->selected_resources.at[i].len, sizes[at]);
                                bytes += sizes[at];
                        }
                        assert_true(bytes <= SNAPSHOT_BYTES_MAX || part->selected_resources.n == 1);
                        assert_true(part->selected_resources.n > 0 || n == 0);
                        assert_true(at == n || bytes + sizes[at] > SNAPSHOT_BYTES_MAX);
                }
                assert_int_equal(at, n);
                arena_free(&s.arena);
        }
}

static void shuffle(const struct object **at, size_t n, uint64_t *seed)
{
        for (size_t i = n; i > 1; i--) {
                size_t k = lot(seed, i);
                const struct object *o = at[k];

                at[k] = at[i - 1];
                at[i - 1] = o;
        }
}

static const char *names_in(struct scene *s, const struct resource_snapshot_plan *plan)
{
        const char *text =
                arena_printf(&s->arena, "update %s;", plan->update.now ? plan->update.now->meta.name : "");

        for (size_t i = 0; i < plan->n_remove; i++)
                text = arena_printf(&s->arena, "%s -%s", text, plan->remove[i]->meta.name);
        for (size_t i = 0; i < plan->n_create; i++)
                text = arena_printf(&s->arena, "%s +%s", text, plan->create[i]->object.meta.name);
        return text;
}

/* A cache holds snapshots in any order: the plan is the same. */
static void a_plan_does_not_depend_on_the_order_of_the_cache(void **state)
{
        static const size_t next[] = { 10, 20 };
        uint64_t seed = 3;
        const char *planned = NULL;
        struct scene s;

        begin(&s, "\"revisionHistoryLimit\":12");
        for (size_t i = 0; i < 12; i++) {
                const size_t sizes[] = { 500000 + i, 500000, 400000 };
                struct selection sel = select_sizes(&s, sizes, 3);
                struct resource_snapshot_plan plan;

                plan_resources(&s, &sel, &at_once, &plan);
                keep_resources(&s, &plan);
        }
        s.p->spec->revision_history_limit = OPT_INT(3);
        for (int round = 0; round < 50; round++) {
                struct selection sel = select_sizes(&s, next, 2);
                struct resource_snapshot_plan plan;

                shuffle(s.existing, s.list.n, &seed);
                plan_resources(&s, &sel, &at_once, &plan);
                planned = planned ? planned : names_in(&s, &plan);
                assert_string_equal(names_in(&s, &plan), planned);
        }
        assert_true(text_starts_with(planned, "update web-11-snapshot; -web-0-snapshot -web-0-0 -web-0-1 "));
        arena_free(&s.arena);
}

static int by_order(const void *a, const void *b)
{
        return filter_compare(a, b);
}

/* The order of spec/placement.md 6.1 is total: the hash does not depend on what the selectors found first. */
static void objects_found_in_any_order_are_kept_in_one(void **state)
{
        static const char *const groups[] = { "", "apps", "a.io" }, *const versions[] = { "v1", "v1beta1" };
        static const char *const kinds[] = { "Namespace", "ConfigMap", "Deployment", "Alpha", "Zebra" };
        static const char *const spaces[] = { "", "one", "two" }, *const names[] = { "x", "y" };
        struct selected_id ids[180], sorted[180];
        uint64_t seed = 11;
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(ids); i++)
                ids[n++] = (struct selected_id){ groups[i % 3], versions[i / 3 % 2], kinds[i / 6 % 5],
                                                 spaces[i / 30 % 3], names[i / 90] };
        for (int round = 0; round < 20; round++) {
                for (size_t i = n; i > 1; i--) {
                        size_t k = lot(&seed, i);
                        struct selected_id id = ids[k];

                        ids[k] = ids[i - 1];
                        ids[i - 1] = id;
                }
                qsort(ids, n, sizeof(ids[0]), by_order);
                if (!round)
                        memcpy(sorted, ids, sizeof(ids));
                for (size_t i = 0; i < n; i++) {
                        assert_int_equal(filter_compare(&ids[i], &sorted[i]), 0);
                        assert_true(text_equal(ids[i].name, sorted[i].name) &&
                                    text_equal(ids[i].ns, sorted[i].ns) &&
                                    text_equal(ids[i].kind, sorted[i].kind) &&
                                    text_equal(ids[i].group, sorted[i].group) &&
                                    text_equal(ids[i].version, sorted[i].version));
                        assert_true(i == 0 || filter_compare(&ids[i - 1], &ids[i]) < 0);
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_policy_hash_is_base64_of_its_hex_text),
                cmocka_unit_test(only_a_number_that_is_asked_for_is_noted),
                cmocka_unit_test(a_policy_that_comes_back_while_none_is_latest_is_marked_again),
                cmocka_unit_test(after_each_change_as_many_are_left_as_the_limit_says),
                cmocka_unit_test(nothing_selected_is_a_group_of_one),
                cmocka_unit_test(the_head_tells_of_the_group_and_a_part_of_its_place),
                cmocka_unit_test(what_is_missing_of_a_group_is_made_under_the_same_index),
                cmocka_unit_test(a_change_is_due_after_the_later_of_both_intervals),
                cmocka_unit_test(no_clock_makes_a_change_wait_longer_than_the_intervals),
                cmocka_unit_test(a_change_that_is_taken_back_is_forgotten),
                cmocka_unit_test(any_selection_is_split_in_order_and_no_more_than_needed),
                cmocka_unit_test(a_plan_does_not_depend_on_the_order_of_the_cache),
                cmocka_unit_test(objects_found_in_any_order_are_kept_in_one),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
