#include "hub-agent/placement/snapshots_test.h"
#include "common/base/digest.h"

static void hashes_are_those_of_the_reference(void **state)
{
        struct error err = { 0 };
        struct placement_policy all = { .placement_type = "PickAll" };
        struct selection none = { 0 };
        char hash[65];

        assert_int_equal(policy_hash(NULL, hash, &err), 0);
        assert_string_equal(hash, "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b");
        assert_int_equal(policy_hash(&all, hash, &err), 0);
        assert_string_equal(hash, "8cc57dee59684ff88766e26936c8fb125f4bde234a2beb5c54aded4569db0d5a");
        selection_hash(&none);
        assert_string_equal(none.hash, "83ff749c5d8eb5a0b62d714175bcbaef1409b371fc5a229a002db6fcc1f144e1");
}

/* spec/api.md checklist 31 */
static void a_new_placement_gets_policy_snapshot_zero(void **state)
{
        struct policy_snapshot_plan plan;
        struct scene s;

        begin(&s, "\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":2}");
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
        assert_string_equal(plan.create->object.meta.name, "web-0");
        assert_string_equal(label_of(&plan.create->object, LABEL_IS_LATEST_SNAPSHOT), "true");
        assert_string_equal(label_of(&plan.create->object, LABEL_PARENT_PLACEMENT), "web");
        assert_string_equal(label_of(&plan.create->object, LABEL_POLICY_INDEX), "0");
        assert_string_equal(annotation_of(&plan.create->object, ANNOTATION_PLACEMENT_GENERATION), "4");
        assert_string_equal(annotation_of(&plan.create->object, ANNOTATION_NUMBER_OF_CLUSTERS), "2");
        assert_true(plan.create->object.meta.owners[0].controller);
        assert_int_equal(strlen(plan.create->spec->policy_hash), 88);
        arena_free(&s.arena);
}

/* spec/placement.md checklist 3, 4, 5; spec/api.md checklist 32 */
static void a_changed_number_stays_in_place_and_any_other_change_is_a_new_snapshot(void **state)
{
        struct policy_snapshot_plan plan;
        struct scene s;

        begin(&s, "\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":2}");
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
        keep_created(&s, &plan);
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
        assert_null(plan.update.now);
        assert_null(plan.create);
        s.p = (struct placement *)object_copy(&s.p->object, &s.arena);
        s.p->spec->policy->number_of_clusters = OPT_INT(5);
        s.p->object.meta.generation = 5;
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
        assert_null(plan.create);
        assert_string_equal(annotation_of(plan.update.wanted, ANNOTATION_NUMBER_OF_CLUSTERS), "5");
        assert_string_equal(annotation_of(plan.update.wanted, ANNOTATION_PLACEMENT_GENERATION), "5");
        assert_string_equal(plan.update.wanted->meta.name, "web-0");
        assert_int_equal(
                ((struct policy_snapshot *)plan.update.wanted)->spec->policy->number_of_clusters.value, 2);
        s.p->spec->policy->placement_type = "PickAll";
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
        assert_string_equal(plan.create->object.meta.name, "web-1");
        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "false");
        arena_free(&s.arena);
}

static void the_history_limit_removes_the_oldest_first(void **state)
{
        struct policy_snapshot_plan plan;
        struct scene s;

        begin(&s, "\"revisionHistoryLimit\":2");
        for (int i = 0; i < 3; i++) {
                s.p->spec->policy = arena_zalloc(&s.arena, sizeof(*s.p->spec->policy));
                s.p->spec->policy->placement_type = i == 0 ? "A" : i == 1 ? "B" : "C";
                assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
                keep_created(&s, &plan);
        }
        assert_int_equal(plan.n_remove, 1);
        assert_string_equal(plan.remove[0]->meta.name, "web-0");
        arena_free(&s.arena);
}

static void a_history_limit_that_is_lowered_holds_at_once(void **state)
{
        struct policy_snapshot_plan plan;
        struct scene s;

        begin(&s, "\"revisionHistoryLimit\":3");
        for (int i = 0; i < 3; i++) {
                s.p->spec->policy = arena_zalloc(&s.arena, sizeof(*s.p->spec->policy));
                s.p->spec->policy->placement_type = i == 0 ? "A" : i == 1 ? "B" : "C";
                assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
                keep_created(&s, &plan);
        }
        assert_int_equal(plan.n_remove, 0);
        s.p->spec->revision_history_limit = OPT_INT(1);
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
        assert_null(plan.create);
        assert_int_equal(plan.n_remove, 2);
        assert_string_equal(plan.remove[0]->meta.name, "web-0");
        assert_string_equal(plan.remove[1]->meta.name, "web-1");
        arena_free(&s.arena);
}

/* spec/placement.md checklist 7 */
static void two_latest_policy_snapshots_are_an_error(void **state)
{
        struct policy_snapshot_plan plan;
        struct scene s;

        begin(&s, "");
        for (int i = 0; i < 2; i++) {
                char json[256];

                snprintf(json, sizeof(json),
                         "{\"metadata\":{\"name\":\"web-%d\",\"labels\":{\"kubernetes-fleet.io/"
                         "is-latest-snapshot\":\"true\","
                         "\"kubernetes-fleet.io/policy-index\":\"%d\"}},\"spec\":{\"policyHash\":\"x\"}}",
                         i, i);
                s.existing[s.list.n++] = parse(&s, &cluster_scheduling_policy_snapshot_kind, json);
        }
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err),
                         ERR_INVALID);
        arena_free(&s.arena);
}

/* What somebody took away or changed by hand: bindings name "web-1", and the policy is not what it was. */
static void a_policy_index_that_was_given_is_not_given_again(void **state)
{
        static const struct {
                bool left; /* "web-0" is still there, and holds the policy wanted */
                struct indexes indexes;
                const char *made; /* NULL: the one that is there */
        } rows[] = {
                { false, { NO_INDEX, NO_INDEX }, "web-0" },
                { false, { 1, NO_INDEX }, "web-2" },
                { true, { 1, NO_INDEX }, "web-2" },
                { true, { 0, NO_INDEX }, NULL },
                { true, { NO_INDEX, NO_INDEX }, NULL },
                { true, { NO_INDEX, 0 }, NULL },
                { true, { NO_INDEX, 1 }, "web-1" }, /* that is made late, if at all */
                { true, { 0, 1 }, "web-1" },
                { true, { 1, 1 }, "web-2" },
                { true, { 1, 3 }, "web-3" },
                { false, { NO_INDEX, 1 }, "web-1" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct policy_snapshot_plan plan;
                struct scene s;

                begin(&s, "\"policy\":{\"placementType\":\"PickAll\"}");
                if (rows[i].left) {
                        assert_int_equal(
                                plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
                        keep_created(&s, &plan);
                }
                assert_int_equal(
                        plan_policy_snapshots(&s.arena, s.p, &s.list, rows[i].indexes, &plan, &s.err), 0);
                if (rows[i].made)
                        assert_string_equal(plan.create->object.meta.name, rows[i].made);
                else
                        assert_null(plan.create);
                arena_free(&s.arena);
        }
}

static void a_policy_that_was_edited_in_its_snapshot_is_replaced(void **state)
{
        struct policy_snapshot_plan plan;
        struct policy_snapshot *edited;
        struct scene s;

        begin(&s, "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]}");
        assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
        keep_created(&s, &plan);
        edited = (struct policy_snapshot *)object_copy(s.existing[0], &s.arena);
        edited->spec->policy->cluster_names.at[0] = "b";
        s.existing[0] = &edited->object;
        assert_int_equal(
                plan_policy_snapshots(&s.arena, s.p, &s.list, (struct indexes){ 0, NO_INDEX }, &plan, &s.err),
                0);
        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "false");
        assert_string_equal(plan.create->object.meta.name, "web-1");
        assert_string_equal(plan.create->spec->policy->cluster_names.at[0], "a");
        arena_free(&s.arena);
}

/* ---- resource snapshots ---- */

/* spec/placement.md checklist 12 */
static void resources_are_split_at_800_kib_in_order(void **state)
{
        static const struct {
                size_t sizes[4], n, parts[4], n_parts;
        } rows[] = {
                { { 0 }, 0, { 0 }, 1 },
                { { 409600, 409600 }, 2, { 2 }, 1 },
                { { 409600, 409601 }, 2, { 1, 1 }, 2 },
                { { 10, 900000, 10 }, 3, { 1, 1, 1 }, 3 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct resource_snapshot_plan plan;
                struct selection sel;
                struct scene s;

                begin(&s, "");
                sel = select_sizes(&s, rows[i].sizes, rows[i].n);
                plan_resources(&s, &sel, &at_once, &plan);
                assert_int_equal(plan.n_create, rows[i].n_parts);
                for (size_t k = 0; k < plan.n_create; k++)
                        assert_int_equal(plan.create[k]->spec->selected_resources.n, rows[i].parts[k]);
                assert_string_equal(plan.create[0]->object.meta.name, "web-0-snapshot");
                assert_string_equal(annotation_of(&plan.create[0]->object, ANNOTATION_RESOURCE_HASH),
                                    sel.hash);
                if (plan.n_create > 1) {
                        assert_string_equal(plan.create[1]->object.meta.name, "web-0-0");
                        assert_null(label_of(&plan.create[1]->object, LABEL_IS_LATEST_SNAPSHOT));
                        assert_string_equal(
                                annotation_of(&plan.create[1]->object, ANNOTATION_RESOURCE_SUBINDEX), "0");
                }
                arena_free(&s.arena);
        }
}

static void equal_content_plans_nothing_and_a_missing_part_is_made_again(void **state)
{
        static const size_t sizes[] = { 500000, 500000, 500000 };
        struct resource_snapshot_plan plan;
        struct selection sel;
        struct scene s;

        begin(&s, "");
        sel = select_sizes(&s, sizes, 3);
        plan_resources(&s, &sel, &at_once, &plan);
        keep_resources(&s, &plan);
        plan_resources(&s, &sel, &at_once, &plan);
        assert_int_equal(plan.n_create, 0);
        assert_null(plan.update.now);
        assert_non_null(plan.latest);
        s.existing[1] = s.existing[2]; /* web-0-0 is gone */
        s.list.n = 2;
        plan_resources(&s, &sel, &at_once, &plan);
        assert_int_equal(plan.n_create, 1);
        assert_string_equal(plan.create[0]->object.meta.name, "web-0-0");
        arena_free(&s.arena);
}

static void new_content_unmarks_the_old_group_and_makes_the_next(void **state)
{
        static const size_t one[] = { 10 }, two[] = { 20 };
        struct resource_snapshot_plan plan;
        struct selection sel;
        struct scene s;

        begin(&s, "\"revisionHistoryLimit\":1");
        sel = select_sizes(&s, one, 1);
        plan_resources(&s, &sel, &at_once, &plan);
        keep_resources(&s, &plan);
        sel = select_sizes(&s, two, 1);
        plan_resources(&s, &sel, &at_once, &plan);
        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "false");
        assert_int_equal(plan.n_remove, 1);
        assert_string_equal(plan.create[0]->object.meta.name, "web-1-snapshot");
        arena_free(&s.arena);
}

static void a_lowered_limit_takes_old_groups_though_nothing_is_new(void **state)
{
        static const size_t sizes[] = { 10, 20, 30 };
        struct resource_snapshot_plan plan;
        struct selection sel;
        struct scene s;

        begin(&s, "\"revisionHistoryLimit\":3");
        for (size_t i = 0; i < 3; i++) {
                sel = select_sizes(&s, &sizes[i], 1);
                plan_resources(&s, &sel, &at_once, &plan);
                assert_int_equal(plan.n_remove, 0);
                keep_resources(&s, &plan);
        }
        s.p->spec->revision_history_limit = OPT_INT(2);
        s.in_use = (struct snapshots_in_use){ (int64_t[]){ 0 }, 1, false };
        plan_resources(&s, &sel, &at_once, &plan);
        assert_int_equal(plan.n_remove, 0);
        assert_true(resource_history_is_kept(s.p, &s.list, &s.in_use));
        s.in_use = (struct snapshots_in_use){ .unknown = true };
        plan_resources(&s, &sel, &at_once, &plan);
        assert_int_equal(plan.n_remove, 0);
        s.in_use = (struct snapshots_in_use){ 0 };
        assert_false(resource_history_is_kept(s.p, &s.list, &s.in_use));
        plan_resources(&s, &sel, &at_once, &plan);
        assert_int_equal(plan.n_create, 0);
        assert_int_equal(plan.n_remove, 1);
        assert_string_equal(plan.remove[0]->meta.name, "web-0-snapshot");
        arena_free(&s.arena);
}

/* spec/placement.md checklist 9 */
/* Who ends in between has removed the oldest, and never a part of a group that an older one outlives. */
static void history_goes_oldest_first_and_a_group_as_a_whole(void **state)
{
        static const char expected[] = "web-0-snapshot web-0-0 web-1-snapshot web-1-0 web-2-snapshot web-2-0 "
                                       "web-3-snapshot web-3-0 web-4-snapshot web-4-0 web-5-snapshot web-5-0 "
                                       "web-6-snapshot web-6-0 web-7-snapshot web-7-0 web-8-snapshot web-8-0 "
                                       "web-9-snapshot web-9-0 ";

        for (enum order order = AS_MADE; order < N_ORDERS; order++) {
                struct resource_snapshot_plan plan;
                struct selection sel;
                char removed[512] = "";
                struct scene s;

                begin(&s, "\"revisionHistoryLimit\":12");
                for (size_t i = 0; i < 12; i++) {
                        const size_t sizes[] = { 500000 + i, 500000 };

                        sel = select_sizes(&s, sizes, 2);
                        plan_resources(&s, &sel, &at_once, &plan);
                        assert_int_equal(plan.n_remove, 0);
                        assert_int_equal(plan.n_create, 2);
                        keep_resources(&s, &plan);
                }
                put_in_order(&s, order);
                s.p->spec->revision_history_limit = OPT_INT(2);
                plan_resources(&s, &sel, &at_once, &plan);
                assert_int_equal(plan.n_create, 0);
                for (size_t i = 0; i < plan.n_remove; i++)
                        snprintf(removed + strlen(removed), sizeof(removed) - strlen(removed), "%s ",
                                 plan.remove[i]->meta.name);
                assert_string_equal(removed, expected);
                arena_free(&s.arena);
        }
}

static void policies_go_oldest_first_too(void **state)
{
        for (enum order order = AS_MADE; order < N_ORDERS; order++) {
                struct policy_snapshot_plan plan;
                char removed[512] = "";
                struct scene s;

                begin(&s, "\"revisionHistoryLimit\":12");
                for (int i = 0; i < 12; i++) {
                        s.p->spec->policy = arena_zalloc(&s.arena, sizeof(*s.p->spec->policy));
                        s.p->spec->policy->placement_type = arena_printf(&s.arena, "type %d", i);
                        assert_int_equal(
                                plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
                        assert_int_equal(plan.n_remove, 0);
                        keep_created(&s, &plan);
                }
                put_in_order(&s, order);
                s.p->spec->revision_history_limit = OPT_INT(2);
                assert_int_equal(plan_policy_snapshots(&s.arena, s.p, &s.list, NO_INDEXES, &plan, &s.err), 0);
                assert_null(plan.create);
                for (size_t i = 0; i < plan.n_remove; i++)
                        snprintf(removed + strlen(removed), sizeof(removed) - strlen(removed), "%s ",
                                 plan.remove[i]->meta.name);
                assert_string_equal(removed, "web-0 web-1 web-2 web-3 web-4 web-5 web-6 web-7 web-8 web-9 ");
                arena_free(&s.arena);
        }
}

static void changes_are_collected_before_a_new_group_is_made(void **state)
{
        static const size_t one[] = { 10 }, two[] = { 20 };
        struct snapshot_timing t = { NOW, 300000, 30000 };
        struct resource_snapshot_plan plan;
        struct selection sel;
        struct scene s;

        begin(&s, "");
        sel = select_sizes(&s, one, 1);
        plan_resources(&s, &sel, &t, &plan);
        plan.create[0]->object.meta.creation_ms = NOW - 5000;
        keep_resources(&s, &plan);
        sel = select_sizes(&s, two, 1);
        plan_resources(&s, &sel, &t, &plan);
        assert_int_equal(plan.delay_ms, 295000);
        assert_int_equal(plan.n_create, 0);
        assert_non_null(annotation_of(plan.update.wanted, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME));
        keep_resources(&s, &plan);
        t.now_ms = NOW + 295000;
        plan_resources(&s, &sel, &t, &plan);
        assert_int_equal(plan.delay_ms, 0);
        assert_int_equal(plan.n_create, 1);
        arena_free(&s.arena);
}

/* What is selected is what "web-0" holds, and nobody knows whether "web-1" was made. */
static void a_group_is_not_taken_up_again_below_one_that_may_have_been_made(void **state)
{
        static const struct {
                struct indexes indexes;
                const char *made; /* NULL: "web-0" is marked again */
        } rows[] = {
                { { NO_INDEX, 0 }, NULL },
                { { NO_INDEX, 1 }, "web-1-snapshot" },
                { { 1, 1 }, "web-2-snapshot" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct resource_snapshot_plan plan;
                struct selection sel;
                struct object *head;
                struct scene s;

                begin(&s, "");
                sel = select_sizes(&s, (const size_t[]){ 1 }, 1);
                plan_resources(&s, &sel, &at_once, &plan);
                keep_resources(&s, &plan);
                head = object_copy(s.existing[0], &s.arena);
                assert_int_equal(set_label(head, LABEL_IS_LATEST_SNAPSHOT, LABEL_FALSE, &s.arena), 0);
                s.existing[0] = head;
                assert_int_equal(plan_resource_snapshots(&s.arena, s.p, &sel, &s.list, rows[i].indexes,
                                                         &s.in_use, &at_once, &plan, &s.err),
                                 0);
                assert_int_equal(plan.n_create, rows[i].made ? 1 : 0);
                if (rows[i].made)
                        assert_string_equal(plan.create[0]->object.meta.name, rows[i].made);
                assert_int_equal(plan.update.now != NULL, !rows[i].made);
                arena_free(&s.arena);
        }
}

/* Content comes and goes while somebody deletes the newest snapshot, or all of them, now and then, after the
 * bindings took it. */
static void no_name_ever_stands_for_two_contents(void **state)
{
        const char *content_of[64] = { 0 };
        int64_t given = NO_INDEX;
        struct scene s;

        begin(&s, "\"revisionHistoryLimit\":3");
        for (unsigned step = 0; step < 60; step++) {
                size_t size = 10 + step * 7 % 4;
                struct resource_snapshot_plan plan;
                struct selection sel = select_sizes(&s, &size, 1);
                int64_t index;

                plan_named(&s, &sel, given, &at_once, &plan);
                for (size_t i = 0; i < plan.n_remove; i++) { /* the oldest come first */
                        assert_ptr_equal(plan.remove[i], s.existing[0]);
                        memmove(s.existing, s.existing + 1, --s.list.n * sizeof(s.existing[0]));
                }
                keep_resources(&s, &plan);
                assert_int_equal(label_number(s.existing[s.list.n - 1], LABEL_RESOURCE_INDEX, &index, &s.err),
                                 0);
                assert_true(index >= given && index < (int64_t)ARRAY_LEN(content_of));
                assert_true(!content_of[index] || text_equal(content_of[index], sel.hash));
                content_of[index] = arena_strdup(&s.arena, sel.hash);
                given = index;
                assert_string_equal(label_of(s.existing[s.list.n - 1], LABEL_IS_LATEST_SNAPSHOT), "true");
                if (step % 3 == 1)
                        s.list.n--;
                if (step % 11 == 7)
                        s.list.n = 0;
        }
        arena_free(&s.arena);
}

/* spec/placement.md 9.1: another policy is another snapshot, whatever part of it is another. The number of
 * clusters is none: it stands in an annotation. */
static void every_part_of_a_policy_is_in_its_hash(void **state)
{
#define TERM(label) "{\"labelSelector\":{\"matchLabels\":{\"t\":\"" label "\"}}}"
        static const char *const policies[] = {
                "{\"placementType\":\"PickN\"}",
                "{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\"]}",
                "{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\",\"b\"]}",
                "{\"placementType\":\"PickN\",\"topologySpreadConstraints\":[{\"topologyKey\":\"k\"}]}",
                "{\"placementType\":\"PickN\",\"topologySpreadConstraints\":[{\"topologyKey\":\"l\"}]}",
                "{\"placementType\":\"PickN\",\"topologySpreadConstraints\":[{\"maxSkew\":2,"
                "\"topologyKey\":\"k\"}]}",
                "{\"placementType\":\"PickN\",\"topologySpreadConstraints\":[{\"maxSkew\":3,"
                "\"topologyKey\":\"k\"}]}",
                "{\"placementType\":\"PickN\",\"topologySpreadConstraints\":[{\"topologyKey\":\"k\","
                "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}",
                "{\"placementType\":\"PickN\",\"topologySpreadConstraints\":[{\"topologyKey\":\"k\"},"
                "{\"topologyKey\":\"l\"}]}",
                "{\"placementType\":\"PickN\",\"tolerations\":[{\"key\":\"a\"}]}",
                "{\"placementType\":\"PickN\",\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}",
                "{\"placementType\":\"PickN\",\"tolerations\":[{\"key\":\"a\",\"value\":\"v\"}]}",
                "{\"placementType\":\"PickN\",\"tolerations\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]}",
                "{\"placementType\":\"PickN\",\"tolerations\":[{\"key\":\"a\"},{\"key\":\"b\"}]}",
                "{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[" TERM(
                        "x") "]}}}}",
                "{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[" TERM(
                        "y") "]}}}}",
                "{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":" TERM(
                        "x") "}]}}}",
                "{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":2,\"preference\":" TERM(
                        "x") "}]}}}",
                "{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":" TERM(
                        "y") "}]}}}",
        };
#undef TERM
        char hashes[ARRAY_LEN(policies)][65], hash[65];
        struct scene s = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                char spec[1024];

                snprintf(spec, sizeof(spec), "{\"spec\":{\"policy\":%s}}", policies[i]);
                s.p = parse(&s, &cluster_resource_placement_kind, spec);
                assert_int_equal(policy_hash(s.p->spec->policy, hashes[i], &s.err), 0);
                for (size_t k = 0; k < i; k++)
                        if (text_equal(hashes[k], hashes[i]))
                                fail_msg("%s\n%s", policies[k], policies[i]);
                s.p->spec->policy->number_of_clusters = OPT_INT(7);
                assert_int_equal(policy_hash(s.p->spec->policy, hash, &s.err), 0);
                assert_string_equal(hash, hashes[i]);
        }
        arena_free(&s.arena);
}

/* The content of the one before is back while the newest, which bindings still name, is gone: taking the
 * older one up again would free the name of the newest for something else. */
static void an_older_group_is_not_taken_up_again_below_one_that_was_given(void **state)
{
        static const size_t one[] = { 10 }, two[] = { 20 };
        struct resource_snapshot_plan plan;
        struct selection first, second;
        struct scene s;

        begin(&s, "");
        first = select_sizes(&s, one, 1);
        second = select_sizes(&s, two, 1);
        plan_resources(&s, &first, &at_once, &plan);
        keep_resources(&s, &plan);
        plan_resources(&s, &second, &at_once, &plan);
        keep_resources(&s, &plan);
        s.list.n--; /* web-1-snapshot */
        plan_named(&s, &first, 1, &at_once, &plan);
        assert_null(plan.update.now);
        assert_string_equal(plan.create[0]->object.meta.name, "web-2-snapshot");
        plan_named(&s, &first, 0, &at_once, &plan); /* nobody had taken it */
        assert_int_equal(plan.n_create, 0);
        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "true");
        arena_free(&s.arena);
}

static void a_group_that_was_edited_is_replaced_without_delay(void **state)
{
        static const size_t sizes[] = { 500000, 500000 };
        static const struct snapshot_timing later = { NOW, 300000, 30000 };

        for (size_t edited = 0; edited < 2; edited++) {
                struct resource_snapshot_plan plan;
                struct selection sel;
                struct object *o;
                struct scene s;

                begin(&s, "");
                sel = select_sizes(&s, sizes, 2);
                plan_resources(&s, &sel, &later, &plan);
                keep_resources(&s, &plan);
                o = object_copy(s.existing[edited], &s.arena);
                o->meta.generation = 2;
                s.existing[edited] = o;
                plan_named(&s, &sel, 0, &later, &plan);
                assert_int_equal(plan.delay_ms, 0);
                assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "false");
                assert_int_equal(plan.n_create, 2);
                assert_string_equal(plan.create[0]->object.meta.name, "web-1-snapshot");
                assert_null(plan.latest);
                arena_free(&s.arena);
        }
}

/* Nobody was given it whole, so there is no pace to be kept. */
static void a_part_of_a_group_is_completed_or_replaced_without_delay(void **state)
{
        static const size_t sizes[] = { 500000, 500000 };
        static const struct snapshot_timing later = { NOW, 300000, 30000 };

        for (size_t n_changed = 0; n_changed < 2; n_changed++) {
                struct resource_snapshot_plan plan;
                struct selection sel;
                struct scene s;

                begin(&s, "");
                sel = select_sizes(&s, sizes, 2);
                plan_resources(&s, &sel, &later, &plan);
                assert_int_equal(plan.n_create, 2);
                plan.n_create = 1;
                keep_resources(&s, &plan);
                assert_false(resource_group_is_whole(&s.list, s.existing[0]));
                sel = select_sizes(&s, sizes, 2 - n_changed);
                plan_named(&s, &sel, 0, &later, &plan);
                assert_int_equal(plan.delay_ms, 0);
                assert_int_equal(plan.n_create, 1);
                assert_string_equal(plan.create[0]->object.meta.name,
                                    n_changed ? "web-1-snapshot" : "web-0-0");
                keep_resources(&s, &plan);
                assert_int_equal(resource_group_is_whole(&s.list, s.existing[0]), !n_changed);
                arena_free(&s.arena);
        }
}

static int plan_without_memory(void *ctx, struct arena *arena)
{
        struct scene *s = ctx;
        struct slice text =
                slice_of("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\"}}");
        struct selection selection = { .resources = &text, .n = 1 };
        struct policy_snapshot_plan policy;
        struct resource_snapshot_plan resources;
        int code;

        selection_hash(&selection);
        code = plan_policy_snapshots(arena, s->p, &s->list, NO_INDEXES, &policy, &s->err);
        return code < 0 ? code
                        : plan_resource_snapshots(arena, s->p, &selection, &s->list, NO_INDEXES, &s->in_use,
                                                  &at_once, &resources, &s->err);
}

static void without_memory_no_snapshot_is_made(void **state)
{
        struct scene s;

        begin(&s, "\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":2}");
        each_allocation_fails(plan_without_memory, &s);
        arena_free(&s.arena);
}

/* What is hashed is the policy as the reference prints it: each of these texts is in its order already. */
static void a_policy_is_hashed_as_it_is_printed(void **state)
{
#define LABELS                                                                                               \
        "\"labelSelector\":{\"matchLabels\":{\"a\":\"b\",\"c\":\"d\"},\"matchExpressions\":[{\"key\":\"e\"," \
        "\"operator\":\"In\",\"values\":[\"f\",\"g\"]},{\"key\":\"h\",\"operator\":\"Exists\"}]}"
#define PROPERTIES                                                                                           \
        "\"propertySelector\":{\"matchExpressions\":[{\"name\":\"x/"                                         \
        "y\",\"operator\":\"Gt\",\"values\":[\"1\"]},{"                                                      \
        "\"name\":\"z\",\"operator\":\"Eq\",\"values\":[\"2\"]}]}"
#define SORTER "\"propertySorter\":{\"name\":\"x/y\",\"sortOrder\":\"Ascending\"}"
        static const char *const policies[] = {
                "{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\",\"b\"]}",
                "{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{" LABELS
                "," PROPERTIES "},{" LABELS "}]},\"preferredDuringSchedulingIgnoredDuringExecution\":[{"
                "\"weight\":7,\"preference\":{" LABELS "," SORTER "}},{\"weight\":-8,\"preference\":{" SORTER
                "}}]}}}",
                "{\"placementType\":\"PickN\",\"topologySpreadConstraints\":[{\"maxSkew\":2,\"topologyKey\":"
                "\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"},{\"topologyKey\":\"region\"}]}",
                "{\"placementType\":\"PickAll\",\"tolerations\":[{\"key\":\"k\",\"operator\":\"Equal\","
                "\"value\":"
                "\"v\",\"effect\":\"NoSchedule\"},{\"operator\":\"Exists\"}]}",
                "{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[]}}},"
                "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\"}],\"tolerations\":[{"
                "\"key\":\"k\"}]}",
                "{\"affinity\":{}}",
        };
        struct scene s = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                char spec[4096], hash[65], wanted[65];

                snprintf(spec, sizeof(spec), "{\"spec\":{\"policy\":%s}}", policies[i]);
                s.p = parse(&s, &cluster_resource_placement_kind, spec);
                assert_int_equal(policy_hash(s.p->spec->policy, hash, &s.err), 0);
                sha256_hex(policies[i], strlen(policies[i]), wanted);
                if (!text_equal(hash, wanted))
                        fail_msg("not hashed as it is printed: %s", policies[i]);
        }
        arena_free(&s.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(hashes_are_those_of_the_reference),
                cmocka_unit_test(a_new_placement_gets_policy_snapshot_zero),
                cmocka_unit_test(a_changed_number_stays_in_place_and_any_other_change_is_a_new_snapshot),
                cmocka_unit_test(the_history_limit_removes_the_oldest_first),
                cmocka_unit_test(a_history_limit_that_is_lowered_holds_at_once),
                cmocka_unit_test(a_lowered_limit_takes_old_groups_though_nothing_is_new),
                cmocka_unit_test(two_latest_policy_snapshots_are_an_error),
                cmocka_unit_test(resources_are_split_at_800_kib_in_order),
                cmocka_unit_test(equal_content_plans_nothing_and_a_missing_part_is_made_again),
                cmocka_unit_test(new_content_unmarks_the_old_group_and_makes_the_next),
                cmocka_unit_test(history_goes_oldest_first_and_a_group_as_a_whole),
                cmocka_unit_test(policies_go_oldest_first_too),
                cmocka_unit_test(changes_are_collected_before_a_new_group_is_made),
                cmocka_unit_test(a_policy_index_that_was_given_is_not_given_again),
                cmocka_unit_test(a_policy_that_was_edited_in_its_snapshot_is_replaced),
                cmocka_unit_test(a_group_is_not_taken_up_again_below_one_that_may_have_been_made),
                cmocka_unit_test(no_name_ever_stands_for_two_contents),
                cmocka_unit_test(an_older_group_is_not_taken_up_again_below_one_that_was_given),
                cmocka_unit_test(a_group_that_was_edited_is_replaced_without_delay),
                cmocka_unit_test(every_part_of_a_policy_is_in_its_hash),
                cmocka_unit_test(a_part_of_a_group_is_completed_or_replaced_without_delay),
                cmocka_unit_test(without_memory_no_snapshot_is_made),
                cmocka_unit_test(a_policy_is_hashed_as_it_is_printed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
