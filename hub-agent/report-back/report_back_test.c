/* spec/placement.md 15. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hub-agent/report-back/report_back.h"
#include "hub-agent/work-generator/work_generator.h"

struct given {
        struct report_back_strategy report;
        struct rollout_strategy strategy;
        struct placement_policy policy;
        struct placement_spec spec;
        struct placement placement;
};

static const char *one_name[] = { "m1", "m2" };

static struct placement *given(struct given *g, const char *type, const char *destination, const char *policy)
{
        *g = (struct given){ .report = { type, destination } };
        g->strategy.report_back_strategy = type ? &g->report : NULL;
        g->spec.strategy = &g->strategy;
        g->policy = (struct placement_policy){ .placement_type = policy,
                                               .cluster_names = { one_name, 1, true },
                                               .number_of_clusters = OPT_INT(1) };
        g->spec.policy = policy ? &g->policy : NULL;
        g->placement.spec = &g->spec;
        return &g->placement;
}

/* What is not asked for is no error, whatever the policy: spec 15, the improvement of steps 3 and 4. */
static void only_a_mirror_to_the_original_of_one_cluster_reports_back(void **state)
{
        static const struct {
                const char *type, *destination, *policy;
                enum report_back wanted;
        } rows[] = {
                { NULL, NULL, "PickAll", REPORT_BACK_OFF },
                { "Disabled", "OriginalResource", "PickN", REPORT_BACK_OFF },
                { "Mirror", NULL, "PickN", REPORT_BACK_OFF },
                { "Mirror", "WorkAPI", "PickN", REPORT_BACK_OFF },
                { "Mirror", "WorkAPI", "PickAll", REPORT_BACK_OFF },
                { "Mirror", "OriginalResource", "PickN", REPORT_BACK_ON },
                { "Mirror", "OriginalResource", "PickFixed", REPORT_BACK_ON },
                { "Mirror", "OriginalResource", "PickAll", REPORT_BACK_IMPOSSIBLE },
                { "Mirror", "OriginalResource", NULL, REPORT_BACK_IMPOSSIBLE },
        };
        struct given g;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                if (report_back_of(given(&g, rows[i].type, rows[i].destination, rows[i].policy)) !=
                    rows[i].wanted)
                        fail_msg("%zu", i);
        given(&g, "Mirror", "OriginalResource", "PickN")->spec->policy->number_of_clusters = OPT_INT(2);
        assert_int_equal(report_back_of(&g.placement), REPORT_BACK_IMPOSSIBLE);
        g.policy.number_of_clusters.set = 0;
        assert_int_equal(report_back_of(&g.placement), REPORT_BACK_IMPOSSIBLE);
        given(&g, "Mirror", "OriginalResource", "PickFixed")->spec->policy->cluster_names.n = 2;
        assert_int_equal(report_back_of(&g.placement), REPORT_BACK_IMPOSSIBLE);
        assert_int_equal(report_back_of(NULL), REPORT_BACK_OFF);
}

static void works_are_told_of_a_mirror_alone(void **state)
{
        struct report_back_strategy disabled = { "Disabled", NULL },
                                    original = { "Mirror", "OriginalResource" },
                                    works = { "Mirror", "WorkAPI" };
        struct given g;

        assert_null(works_report_back(given(&g, "Disabled", "WorkAPI", "PickAll")));
        assert_null(works_report_back(NULL));
        assert_ptr_equal(works_report_back(given(&g, "Mirror", "WorkAPI", "PickAll")), &g.report);
        assert_true(equal_report_back(NULL, &disabled));
        assert_true(equal_report_back(&original, &original));
        assert_false(equal_report_back(&original, &works));
        assert_false(equal_report_back(&original, NULL));
        assert_false(equal_report_back(&disabled, &works));
}

/* The same as long as the placement is not there; a Work that is made gets it at once. */
static void works_are_written_when_they_report_otherwise_than_the_placement_says(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct report_back_strategy other = { "Mirror", "WorkAPI" };
        struct binding_spec spec = { 0 };
        struct binding b = { .spec = &spec };
        struct work_spec has = { 0 }, fresh = { 0 };
        struct work w = { .spec = &has }, made = { .spec = &fresh };
        const struct object *at[] = { &w.object };
        struct object_list live = { at, 1 };
        struct work_write create = { NULL, &made };
        struct work_plan plan, creation = { .at = &create, .n = 1 };
        struct given g;
        struct placement *p = given(&g, "Mirror", "OriginalResource", "PickN");

        w.object.kind = &work_kind;
        assert_int_equal(plan_work_strategies(&arena, &b, p, &live, &plan, NULL), 0);
        assert_int_equal(plan.n, 1);
        assert_string_equal(plan.at[0].wanted->spec->report_back_strategy->destination, "OriginalResource");
        has.report_back_strategy = &g.report;
        assert_int_equal(plan_work_strategies(&arena, &b, p, &live, &plan, NULL), 0);
        assert_int_equal(plan.n, 0);
        has.report_back_strategy = &other;
        assert_int_equal(plan_work_strategies(&arena, &b, p, &live, &plan, NULL), 0);
        assert_int_equal(plan.n, 1);
        assert_int_equal(plan_work_strategies(&arena, &b, NULL, &live, &plan, NULL), 0);
        assert_int_equal(plan.n, 0);
        g.report.type = "Disabled";
        assert_int_equal(plan_work_strategies(&arena, &b, p, &live, &plan, NULL), 0);
        assert_int_equal(plan.n, 1);
        assert_null(plan.at[0].wanted->spec->report_back_strategy);
        plan_report_back(&creation, p);
        assert_null(fresh.report_back_strategy);
        g.report.type = "Mirror";
        plan_report_back(&creation, p);
        assert_ptr_equal(fresh.report_back_strategy, &g.report);
}

/* ---- which Work speaks ---- */

struct scene {
        struct condition applied;
        struct work_status status;
        struct work work;
        struct binding_spec binding_spec;
        struct string_pair label;
        struct binding binding;
        struct placement placement;
};

static void set_scene(struct scene *s)
{
        *s = (struct scene){
                .applied = { .type = "Applied", .status = "True", .observed_generation = OPT_INT(3) },
                .binding_spec = { .state = "Bound", .target_cluster = "m1" },
                .label = { LABEL_PARENT_PLACEMENT, "web" },
                .placement.object.meta.name = "web"
        };
        s->status.conditions = (struct condition_list){ &s->applied, 1, true };
        s->work.status = &s->status;
        s->work.object.meta.ns = "fleet-member-m1";
        s->work.object.meta.generation = 3;
        s->binding.spec = &s->binding_spec;
        s->binding.object.meta.deletion_ms = TIME_NONE;
        s->binding.object.meta.labels = (struct string_map){ &s->label, 1, true };
}

static bool counts(const struct scene *s)
{
        return report_back_work_counts(&s->work, &s->binding, &s->placement);
}

static void a_work_speaks_for_the_bound_cluster_of_its_placement(void **state)
{
        struct scene s;

        set_scene(&s);
        assert_true(counts(&s));
        s.applied.status = "False";
        assert_false(counts(&s));
        set_scene(&s);
        s.work.object.meta.generation = 4; /* applied is what was before */
        assert_false(counts(&s));
        set_scene(&s);
        s.work.status = NULL;
        assert_false(counts(&s));
        set_scene(&s);
        s.binding_spec.state = "Unscheduled"; /* the placement moved on */
        assert_false(counts(&s));
        set_scene(&s);
        s.binding_spec.target_cluster = "m2"; /* a member says its Work is another one's */
        assert_false(counts(&s));
        set_scene(&s);
        s.work.object.meta.ns = "team-m1";
        assert_false(counts(&s));
        set_scene(&s);
        s.label.value = "other";
        assert_false(counts(&s));
        set_scene(&s);
        s.binding.object.meta.deletion_ms = 5;
        assert_false(counts(&s));
}

static void only_objects_that_are_selected_as_they_are_get_a_status(void **state)
{
        static const struct {
                struct work_resource_identifier id;
                bool selected;
        } rows[] = {
                { { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "web", .name = "site" },
                  true },
                { { .group = "", .version = "v1", .kind = "Deployment", .ns = "web", .name = "site" },
                  false },
                { { .group = "apps", .version = "v2", .kind = "Deployment", .ns = "web", .name = "site" },
                  false },
                { { .group = "apps", .version = "v1", .kind = "DaemonSet", .ns = "web", .name = "site" },
                  false },
                { { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "api", .name = "site" },
                  false },
                { { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "web", .name = "x" },
                  false },
                { { .version = "v1", .kind = "PersistentVolume", .name = "web" }, true },
                { { .version = "v1", .kind = "Secret", .ns = "web", .name = "packed" }, false },
        };
        struct envelope_identifier envelope = { .name = "e" };
        struct resource_identifier selected[] = {
                { .version = "v1", .kind = "PersistentVolume", .name = "web" },
                { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "web", .name = "site" },
                { .version = "v1", .kind = "Secret", .ns = "web", .name = "packed", .envelope = &envelope },
        };
        struct placement_status status = { .selected_resources = { selected, ARRAY_LEN(selected), true } };
        struct placement p = { .status = &status };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                if (report_back_selects(&p, &rows[i].id) != rows[i].selected)
                        fail_msg("%zu", i);
        p.status = NULL;
        assert_false(report_back_selects(&p, &rows[0].id));
}

/* A quota whose copy somebody widened on a member would be wide on the hub; a definition that says it is not
 * established is not served. */
static void what_the_api_server_itself_goes_by_is_not_a_members_to_tell(void **state)
{
        static const struct {
                const char *group, *version, *kind;
                bool reported;
        } rows[] = {
                { "", "v1", "ResourceQuota", false },
                { "", "v1", "Namespace", false },
                { "apiextensions.k8s.io", "v1", "CustomResourceDefinition", false },
                { "apiregistration.k8s.io", "v1", "APIService", false },
                { "", "v1", "Service", true },
                { "example.com", "v1", "ResourceQuota", true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct resource_identifier selected = {
                        .group = rows[i].group, .version = rows[i].version, .kind = rows[i].kind, .name = "x"
                };
                struct work_resource_identifier id = {
                        .group = rows[i].group, .version = rows[i].version, .kind = rows[i].kind, .name = "x"
                };
                struct placement_status status = { .selected_resources = { &selected, 1, true } };
                struct placement p = { .status = &status };

                if (report_back_selects(&p, &id) != rows[i].reported)
                        fail_msg("%s", rows[i].kind);
        }
}

/* Who may write a placement's status in a namespace gets nothing beyond it. */
static void a_placement_of_a_namespace_gets_the_statuses_of_that_namespace(void **state)
{
        struct resource_identifier selected[] = {
                { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "team", .name = "site" },
                { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "other", .name = "site" },
                { .group = "example.com", .version = "v1", .kind = "Zone", .name = "site" },
        };
        struct placement_status status = { .selected_resources = { selected, ARRAY_LEN(selected), true } };
        struct placement p = { .status = &status };

        for (size_t i = 0; i < ARRAY_LEN(selected); i++) {
                const struct work_resource_identifier id = { .group = selected[i].group,
                                                             .version = selected[i].version,
                                                             .kind = selected[i].kind,
                                                             .ns = selected[i].ns,
                                                             .name = selected[i].name };

                p.object.meta.ns = "team";
                assert_int_equal(report_back_selects(&p, &id), i == 0);
                p.object.meta.ns = NULL;
                assert_true(report_back_selects(&p, &id));
        }
}

/* Conditions of a placement are written all the time. */
static void only_the_spec_and_the_selection_of_a_placement_matter(void **state)
{
        static struct envelope_identifier envelope = { .name = "e" };
        static const struct resource_identifier rows[] = {
                { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "team", .name = "other" },
                { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "other", .name = "site" },
                { .group = "apps", .version = "v1", .kind = "DaemonSet", .ns = "team", .name = "site" },
                { .group = "apps", .version = "v2", .kind = "Deployment", .ns = "team", .name = "site" },
                { .group = "x", .version = "v1", .kind = "Deployment", .ns = "team", .name = "site" },
                { .group = "apps",
                  .version = "v1",
                  .kind = "Deployment",
                  .ns = "team",
                  .name = "site",
                  .envelope = &envelope },
        };
        struct resource_identifier one = { .group = "apps",
                                           .version = "v1",
                                           .kind = "Deployment",
                                           .ns = "team",
                                           .name = "site" },
                                   other = one;
        struct condition c = { .type = "Applied", .status = "True" };
        struct placement_status was = { .selected_resources = { &one, 1, true } },
                                now = { .selected_resources = { &other, 1, true },
                                        .conditions = { &c, 1, true } };
        struct placement a = { .status = &was }, b = { .status = &now };

        assert_true(report_back_alike(&a, &b));
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                other = rows[i];
                if (report_back_alike(&a, &b))
                        fail_msg("%zu", i);
        }
        other = one;
        now.selected_resources.n = 0;
        assert_false(report_back_alike(&a, &b));
        b.status = NULL;
        assert_false(report_back_alike(&a, &b));
        a.status = NULL;
        assert_true(report_back_alike(&a, &b));
        b.object.meta.generation = 2;
        assert_false(report_back_alike(&a, &b));
}

/* ---- what is written ---- */

static const char *patch_of(const char *object, const char *observed, char ret[500])
{
        AUTO_JSON json_t *doc = NULL, *patch = NULL;
        AUTO_BUF struct buf b;

        buf_init(&b, 500);
        assert_int_equal(doc_parse(slice_of(object), &doc, NULL), 0);
        assert_int_equal(report_back_patch(doc, slice_of(observed), &patch, NULL), 0);
        if (!patch)
                return NULL;
        assert_int_equal(doc_write_canonical(patch, &b), 0);
        snprintf(ret, 500, "%s", b.data);
        return ret;
}

static void the_whole_status_becomes_what_was_reported(void **state)
{
        char text[500];
        struct error err = { 0 };
        json_t *patch;

        assert_string_equal(patch_of("{}", "{\"status\":{\"replicas\":2}}", text),
                            "{\"status\":{\"replicas\":2}}");
        assert_string_equal(
                patch_of("{\"spec\":{\"a\":1},\"status\":{\"replicas\":1,\"old\":true}}",
                         "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"status\":{\"replicas\":2}}",
                         text),
                "{\"status\":{\"old\":null,\"replicas\":2}}");
        assert_null(patch_of("{\"status\":{\"replicas\":2}}", "{\"status\":{\"replicas\":2}}", text));
        /* A difference says nothing of what came meanwhile, such as another object of the name. */
        assert_string_equal(patch_of("{\"metadata\":{\"name\":\"site\",\"resourceVersion\":\"7\"}}",
                                     "{\"status\":{\"replicas\":2}}", text),
                            "{\"metadata\":{\"resourceVersion\":\"7\"},\"status\":{\"replicas\":2}}");
        assert_int_equal(report_back_patch(NULL, SLICE("{\"status\":3}"), &patch, &err), ERR_INVALID);
        assert_int_equal(report_back_patch(NULL, SLICE("{\"spec\":{}}"), &patch, &err), ERR_INVALID);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_a_mirror_to_the_original_of_one_cluster_reports_back),
                cmocka_unit_test(works_are_told_of_a_mirror_alone),
                cmocka_unit_test(works_are_written_when_they_report_otherwise_than_the_placement_says),
                cmocka_unit_test(a_work_speaks_for_the_bound_cluster_of_its_placement),
                cmocka_unit_test(only_objects_that_are_selected_as_they_are_get_a_status),
                cmocka_unit_test(what_the_api_server_itself_goes_by_is_not_a_members_to_tell),
                cmocka_unit_test(a_placement_of_a_namespace_gets_the_statuses_of_that_namespace),
                cmocka_unit_test(only_the_spec_and_the_selection_of_a_placement_matter),
                cmocka_unit_test(the_whole_status_becomes_what_was_reported),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
