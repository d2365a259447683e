/* Overrides: which concern a placement and a cluster, what they do to a manifest, and their snapshots. */
#include "common/base/map.h"
#include "hub-agent/override/rule.h"
#include "hub-agent/override/testing.h"

/* ---- the cluster ---- */

/* spec/rollout-and-work.md checklist 26 */
static void a_rule_matches_clusters_by_its_selector(void **state)
{
        static const struct {
                const char *selector; /* "" = none */
                int expected;
        } rows[] = {
                { "", 0 },
                { "{\"clusterSelectorTerms\":[]}", 1 },
                { "{\"clusterSelectorTerms\":[{}]}", 0 },
                { "{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"region\":\"eu\"}}}]}",
                  1 },
                { "{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"region\":\"us\"}}}]}",
                  0 },
                { "{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"region\":\"us\"}}},"
                  "{\"labelSelector\":{\"matchLabels\":{\"color\":\"blue\"}}}]}",
                  1 },
                { "{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"region\","
                  "\"operator\":\"NotIn\",\"values\":[\"eu\"]}]}}]}",
                  0 },
                { "{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"region\","
                  "\"operator\":\"Near\"}]}}]}",
                  ERR_INVALID },
                /* Broken, though what can be read of it would match. */
                { "{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"region\","
                  "\"operator\":\"Exists\",\"values\":[\"eu\"]}]}}]}",
                  ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct override_snapshot *s;
                char spec[1024];
                struct bench b;
                int match;

                begin(&b);
                snprintf(spec, sizeof(spec), "{" POLICY("{%s%s}") "}",
                         rows[i].selector[0] ? "\"clusterSelector\":" : "", rows[i].selector);
                add(&b, NULL, "o", spec);
                s = (const struct override_snapshot *)b.set.cluster.at[0];
                match = override_rule_matches(&s->spec->override_spec->policy->rules.at[0], b.member, &b.err);
                if (match != rows[i].expected)
                        fail_msg("row %zu: %d %s", i, match, b.err.text);
                arena_free(&b.arena);
        }
}

/* spec/rollout-and-work.md checklist 21 */
static void a_cluster_gets_those_with_a_rule_for_it_in_sorted_order(void **state)
{
        struct cluster_overrides o;
        struct bench b;

        begin(&b);
        add(&b, NULL, "a-0", "{" POLICY(DELETE) "}");
        add(&b, NULL, "b-0", "{" POLICY("{}") "}"); /* no selector: no cluster */
        add(&b, NULL, "c-0", "{" POLICY(DELETE) "}");
        add(&b, "one", "z-0", "{" POLICY(DELETE) "}");
        add(&b, "two", "a-0", "{" POLICY(DELETE) "}");
        assert_int_equal(override_set_for_cluster(&b.arena, &b.set, b.member, &o, &b.err), 0);
        assert_int_equal(o.cluster.n, 2);
        assert_string_equal(o.cluster.at[0], "a-0");
        assert_string_equal(o.cluster.at[1], "c-0");
        assert_int_equal(o.own.n, 2);
        assert_string_equal(o.own.at[0].ns, "one");
        assert_string_equal(o.own.at[1].ns, "two");
        assert_true(o.cluster.set && o.own.set);
        b.set.cluster.n = b.set.own.n = 1;
        assert_int_equal(override_set_for_cluster(&b.arena, &b.set, b.member, &o, &b.err), 0);
        assert_true(o.cluster.n == 1 && o.cluster.set && o.own.n == 1 && o.own.set);
        b.set.cluster.n = b.set.own.n = 0;
        assert_int_equal(override_set_for_cluster(&b.arena, &b.set, b.member, &o, &b.err), 0);
        assert_false(o.cluster.set || o.own.set); /* none is as good as unset */
        arena_free(&b.arena);
}

/* The rollout goes on, and where the override is applied it is told. */
static void a_broken_selector_concerns_every_cluster_and_fails_to_apply(void **state)
{
        struct cluster_overrides o;
        struct slice text;
        struct bench b;

        begin(&b);
        add(&b, "web", "o-0",
            "{" SELECT_CM("site") "," POLICY(
                    "{\"clusterSelector\":{\"clusterSelectorTerms\":[{\"labelSelector\":{"
                    "\"matchExpressions\":[{\"key\":\"region\",\"operator\":\"Near\"}]}}]},"
                    "\"jsonPatchOverrides\":[]}") "}");
        assert_int_equal(override_set_for_cluster(&b.arena, &b.set, b.member, &o, &b.err), 0);
        assert_int_equal(o.own.n, 1);
        assert_int_equal(apply_to(&b, CONFIG, &text), ERR_INVALID);
        assert_non_null(strstr(b.err.text,
                               "ResourceOverrideSnapshot \"o-0\" failed to apply on ConfigMap \"site\" in "
                               "namespace \"web\": invalid cluster label selector: "));
        arena_free(&b.arena);
}

/* ---- the placement ---- */

static void select_resource(struct bench *b, const char *json)
{
        struct slice one = slice_of(json);
        struct raw_list l = { .at = &one, .n = 1 };

        assert_int_equal(override_subjects_add(&b->arena, &l, &scopes, &b->subjects, &b->err), 0);
}

/* spec/rollout-and-work.md checklist 23, 24, 25 */
static void an_override_concerns_the_placements_whose_resources_it_names(void **state)
{
#define ENVELOPE                                                                                             \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/"                                                   \
        "v1beta1\",\"kind\":\"ResourceEnvelope\",\"metadata\":{"                                             \
        "\"name\":\"e\",\"namespace\":\"web\"},\"data\":{\"x\":" CONFIG "}}"
#define ENVELOPE_SELECTOR                                                                                    \
        "\"resourceSelectors\":[{\"group\":\"placement.kubernetes-fleet.io\",\"version\":\"v1beta1\","       \
        "\"kind\":"                                                                                          \
        "\"ResourceEnvelope\",\"name\":\"e\"}]"
        static const struct {
                const char *ns; /* of the override; NULL = cluster's */
                const char *placement_ns, *resource, *spec;
                bool expected;
        } rows[] = {
                /* a namespace stands for what is in it, in envelopes too */
                { NULL, NULL, CONFIG, "{" SELECT_NS("web") "}", true },
                { NULL, NULL, CONFIG, "{" SELECT_NS("other") "}", false },
                { NULL, NULL, ENVELOPE, "{" SELECT_NS("web") "}", true },
                { "web", NULL, CONFIG, "{" SELECT_CM("site") "}", true },
                { "web", NULL, CONFIG, "{" SELECT_CM("page") "}", false },
                { "other", NULL, CONFIG, "{" SELECT_CM("site") "}", false },
                /* the inner manifests, not the envelope */
                { "web", NULL, ENVELOPE, "{" SELECT_CM("site") "}", true },
                { "web", NULL, ENVELOPE, "{" ENVELOPE_SELECTOR "}", false },
                /* those that name a placement concern that one, of their scope */
                { NULL, NULL, CONFIG, "{\"placement\":{\"name\":\"p\"}," SELECT_NS("web") "}", true },
                { NULL, NULL, CONFIG, "{\"placement\":{\"name\":\"q\"}," SELECT_NS("web") "}", false },
                { "web", NULL, CONFIG, "{\"placement\":{\"name\":\"p\"}," SELECT_CM("site") "}", true },
                { "web", "web", CONFIG, "{\"placement\":{\"name\":\"p\"}," SELECT_CM("site") "}", false },
                { "web", "web", CONFIG,
                  "{\"placement\":{\"name\":\"p\",\"scope\":\"Namespaced\"}," SELECT_CM("site") "}", true },
                { "web", NULL, CONFIG,
                  "{\"placement\":{\"name\":\"p\",\"scope\":\"Namespaced\"}," SELECT_CM("site") "}", false },
                { "web", "else", CONFIG,
                  "{\"placement\":{\"name\":\"p\",\"scope\":\"Namespaced\"}," SELECT_CM("site") "}", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct override_set found;
                struct bench b;

                begin(&b);
                add(&b, rows[i].ns, "o-0", rows[i].spec);
                select_resource(&b, rows[i].resource);
                assert_int_equal(override_set_match(&b.arena, rows[i].placement_ns, "p", &b.subjects, &b.set,
                                                    &found, &b.err),
                                 0);
                if (found.cluster.n + found.own.n != rows[i].expected)
                        fail_msg("row %zu", i);
                arena_free(&b.arena);
        }
}

static void what_selects_nothing_is_concerned_by_no_override(void **state)
{
        struct override_set found;
        struct bench b;

        begin(&b);
        add(&b, "web", "o-0", "{" SELECT_CM("c") "}");
        add(&b, NULL, "c-0", "{" SELECT_NS("web") "}");
        assert_null(b.subjects.keys);
        assert_int_equal(override_set_match(&b.arena, NULL, "p", &b.subjects, &b.set, &found, &b.err), 0);
        assert_int_equal(found.cluster.n + found.own.n, 0);
        arena_free(&b.arena);
}

/* Thousands of resources and overrides meet in time that grows with their number alone. */
static void matching_looks_each_selector_up(void **state)
{
        enum { SUBJECTS = 20000 };
        struct slice *resources;
        struct override_set found;
        struct bench b;

        begin(&b);
        resources = ARENA_NEW_ARRAY(&b.arena, struct slice, SUBJECTS);
        for (int i = 0; i < SUBJECTS; i++)
                resources[i] =
                        slice_of(arena_printf(&b.arena,
                                              "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                                              "{\"name\":\"c-%d\",\"namespace\":\"web\"}}",
                                              i));
        assert_int_equal(override_subjects_add(&b.arena, &(struct raw_list){ .at = resources, .n = SUBJECTS },
                                               &scopes, &b.subjects, &b.err),
                         0);
        add(&b, "web", "o-0", "{" SELECT_CM("c-19999") "}");
        add(&b, "web", "o-1", "{" SELECT_CM("c-20000") "}");
        add(&b, NULL, "c-0", "{" SELECT_NS("web") "}");
        assert_int_equal(override_set_match(&b.arena, NULL, "p", &b.subjects, &b.set, &found, &b.err), 0);
        assert_int_equal(found.own.n, 1);
        assert_string_equal(found.own.at[0]->meta.name, "o-0");
        assert_int_equal(found.cluster.n, 1);
        assert_int_equal(map_count(b.subjects.keys), SUBJECTS + 1);
        arena_free(&b.arena);
}

/* ---- the manifest ---- */

/* spec/rollout-and-work.md checklist 32 */
static void what_rules_do_to_a_manifest(void **state)
{
        static const struct {
                const char *cluster, *own; /* policies, NULL = no such override */
                int expected;
                const char *a; /* data.a afterwards */
        } rows[] = {
                { NULL, NULL, 0, "1" },
                { POLICY(PATCH("replace", "/data/a", "\"2\"")), NULL, 1, "2" },
                { NULL, POLICY(PATCH("replace", "/data/a", "\"3\"")), 1, "3" },
                /* the namespace's comes after the cluster's and wins */
                { POLICY(PATCH("replace", "/data/a", "\"2\"")), POLICY(PATCH("replace", "/data/a", "\"3\"")),
                  1, "3" },
                /* rules in order */
                { POLICY(PATCH("replace", "/data/a", "\"2\"") "," PATCH("replace", "/data/a", "\"4\"")), NULL,
                  1, "4" },
                { POLICY(DELETE), NULL, 2, NULL },
                { NULL, POLICY(DELETE), 2, NULL },
                /* a deletion wins, whatever comes later */
                { POLICY(DELETE), POLICY(PATCH("replace", "/data/a", "\"3\"")), 2, NULL },
                { POLICY(PATCH("replace", "/data/a", "\"2\"")), POLICY(DELETE), 2, NULL },
                /* rules of other clusters do nothing */
                { POLICY("{\"overrideType\":\"Delete\"}"), NULL, 0, "1" },
                { "\"policy\":null", NULL, 0, "1" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *doc = NULL;
                struct slice text;
                char spec[2048];
                struct bench b;
                int code;

                begin(&b);
                if (rows[i].cluster) {
                        snprintf(spec, sizeof(spec), "{" SELECT_NS("web") ",%s}", rows[i].cluster);
                        add(&b, NULL, "c-0", spec);
                }
                if (rows[i].own) {
                        snprintf(spec, sizeof(spec), "{" SELECT_CM("site") ",%s}", rows[i].own);
                        add(&b, "web", "o-0", spec);
                }
                code = apply_to(&b, CONFIG, &text);
                if (code != rows[i].expected)
                        fail_msg("row %zu: %d %s", i, code, b.err.text);
                if (code == 0)
                        assert_string_equal(text.data, CONFIG); /* untouched, byte for byte */
                if (rows[i].a) {
                        assert_int_equal(doc_parse(text, &doc, &b.err), 0);
                        assert_string_equal(doc_get_string(doc, "data.a"), rows[i].a);
                }
                arena_free(&b.arena);
        }
}

/* spec/rollout-and-work.md checklist 33 */
static void variables_stand_for_the_clusters_name_and_labels(void **state)
{
        static const struct {
                const char *value, *expected, *said;
        } rows[] = {
                { "\"${MEMBER-CLUSTER-NAME}\"", "member-1", NULL },
                { "\"at ${MEMBER-CLUSTER-NAME}, "
                  "${MEMBER-CLUSTER-LABEL-KEY-region}/${MEMBER-CLUSTER-LABEL-KEY-color}\"",
                  "at member-1, eu/blue", NULL },
                { "\"${member-cluster-name} ${MEMBER-CLUSTER-NAMES}\"",
                  "${member-cluster-name} ${MEMBER-CLUSTER-NAMES}", NULL },
                { "\"${MEMBER-CLUSTER-LABEL-KEY-zone}\"", NULL,
                  "label key zone not found on cluster member-1" },
                { "\"${MEMBER-CLUSTER-LABEL-KEY-}\"", NULL, "label key  not found on cluster member-1" },
                { "\"${MEMBER-CLUSTER-LABEL-KEY-region\"", NULL, "is missing the closing bracket `}`" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *doc = NULL;
                struct slice text;
                char spec[1024];
                struct bench b;
                int code;

                begin(&b);
                snprintf(spec, sizeof(spec),
                         "{" SELECT_CM("site") "," POLICY(PATCH("add", "/data/a", "%s")) "}", rows[i].value);
                add(&b, "web", "o-0", spec);
                code = apply_to(&b, CONFIG, &text);
                if (rows[i].said) {
                        assert_int_equal(code, ERR_INVALID);
                        if (!strstr(b.err.text, rows[i].said))
                                fail_msg("row %zu: %s", i, b.err.text);
                } else {
                        assert_int_equal(code, 1);
                        assert_int_equal(doc_parse(text, &doc, &b.err), 0);
                        assert_string_equal(doc_get_string(doc, "data.a"), rows[i].expected);
                }
                arena_free(&b.arena);
        }
}

static void variables_in_paths_are_left_alone(void **state)
{
        AUTO_JSON json_t *doc = NULL;
        struct slice text;
        struct bench b;

        begin(&b);
        add(&b, "web", "o-0",
            "{" SELECT_CM("site") "," POLICY(PATCH("add", "/data/${MEMBER-CLUSTER-NAME}", "\"x\"")) "}");
        assert_int_equal(apply_to(&b, CONFIG, &text), 1);
        assert_int_equal(doc_parse(text, &doc, &b.err), 0);
        assert_string_equal(
                json_string_value(json_object_get(doc_get(doc, "data"), "${MEMBER-CLUSTER-NAME}")), "x");
        arena_free(&b.arena);
}

static void a_failed_patch_names_snapshot_and_target(void **state)
{
        struct slice text;
        struct bench b;

        begin(&b);
        add(&b, "web", "o-3", "{" SELECT_CM("site") "," POLICY(PATCH("remove", "/gone/x", "null")) "}");
        assert_int_equal(apply_to(&b, CONFIG, &text), ERR_INVALID);
        assert_non_null(strstr(b.err.text,
                               "ResourceOverrideSnapshot \"o-3\" failed to apply on ConfigMap \"site\" "
                               "in namespace \"web\": "));
        assert_non_null(strstr(b.err.text, "remove operation does not apply"));
        arena_free(&b.arena);
}

/* ---- snapshots of an override ---- */

static const struct resource_override *override_of(struct bench *b, const char *value)
{
        char text[512];

        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"o\",\"uid\":\"u\"},\"spec\":{" SELECT_NS("web") "," POLICY(
                         PATCH("replace", "/a", "\"%s\"")) "}}",
                 value);
        return parse(b, &cluster_resource_override_kind, text);
}

/* spec/rollout-and-work.md checklist 28, 29, 30 */
static void an_override_keeps_ten_numbered_snapshots_the_newest_marked_latest(void **state)
{
        const struct object *all[16];
        struct object_list existing = { all, 0 };
        struct override_snapshot_plan plan;
        struct bench b;

        begin(&b);
        for (int i = 0; i < 14; i++) {
                char value[8], name[16];

                snprintf(value, sizeof(value), "%d", i);
                snprintf(name, sizeof(name), "o-%d", i);
                assert_int_equal(plan_override_snapshots(&b.arena, override_of(&b, value), &existing,
                                                         NO_INDEX, &plan, &b.err),
                                 0);
                assert_non_null(plan.create);
                assert_string_equal(plan.create->object.meta.name, name);
                assert_string_equal(label_of(&plan.create->object, LABEL_IS_LATEST_SNAPSHOT), "true");
                assert_string_equal(label_of(&plan.create->object, LABEL_PARENT_OVERRIDE), "o");
                assert_true(plan.create->spec->override_hash && plan.create->spec->override_hash[0]);
                assert_true(plan.create->object.meta.owners[0].controller);
                assert_int_equal(plan.n_remove, i >= 10);
                assert_ptr_equal(plan.update.now, i ? all[existing.n - 1] : NULL);
                if (i) { /* unmarked first */
                        assert_string_equal(label_of(plan.update.wanted, LABEL_IS_LATEST_SNAPSHOT), "false");
                        all[existing.n - 1] = plan.update.wanted;
                }
                for (size_t k = 0; k < plan.n_remove; k++) {
                        assert_ptr_equal(plan.remove[k], all[0]); /* the oldest */
                        memmove(all, all + 1, (existing.n - 1) * sizeof(all[0]));
                        existing.n--;
                }
                all[existing.n++] = &plan.create->object;
                assert_true(existing.n <= 10);
        }
        assert_int_equal(
                plan_override_snapshots(&b.arena, override_of(&b, "13"), &existing, NO_INDEX, &plan, &b.err),
                0);
        assert_null(plan.create); /* nothing new */
        assert_null(plan.update.now);
        arena_free(&b.arena);
}

static const struct object *snapshot_of(struct bench *b, const char *value, int index, bool latest)
{
        const struct object_list none = { 0 };
        struct override_snapshot_plan plan;

        assert_int_equal(
                plan_override_snapshots(&b->arena, override_of(b, value), &none, index - 1, &plan, &b->err),
                0);
        assert_int_equal(set_label(&plan.create->object, LABEL_IS_LATEST_SNAPSHOT,
                                   latest ? LABEL_TRUE : LABEL_FALSE, &b->arena),
                         0);
        return &plan.create->object;
}

/* One that was made late, its answer lost, beside the one that was taken up again meanwhile. */
static void of_several_override_snapshots_that_are_marked_latest_the_newest_stays_so(void **state)
{
        static const struct {
                const char *wanted, *made, *unmarked;
        } rows[] = {
                { "2", "", "o-0 o-1 " },
                { "0", "o-4", "o-2 o-0 o-1 " }, /* the newest at first, as without others */
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct override_snapshot_plan plan;
                const char *unmarked = "";
                const struct object *all[4];
                struct object_list existing = { all, 3 };
                struct bench b;

                begin(&b);
                all[0] = snapshot_of(&b, "2", 2, true);
                all[1] = snapshot_of(&b, "0", 0, true);
                all[2] = snapshot_of(&b, "1", 1, true);
                assert_int_equal(plan_override_snapshots(&b.arena, override_of(&b, rows[i].wanted), &existing,
                                                         *rows[i].made ? 3 : NO_INDEX, &plan, &b.err),
                                 0);
                if (plan.update.now)
                        unmarked = arena_printf(&b.arena, "%s ", plan.update.now->meta.name);
                for (size_t k = 0; k < plan.n_unmark; k++) {
                        unmarked = arena_printf(&b.arena, "%s%s ", unmarked, plan.unmark[k].now->meta.name);
                        assert_string_equal(label_of(plan.unmark[k].wanted, LABEL_IS_LATEST_SNAPSHOT),
                                            LABEL_FALSE);
                }
                assert_string_equal(unmarked, rows[i].unmarked);
                assert_string_equal(plan.create ? plan.create->object.meta.name : "", rows[i].made);
                arena_free(&b.arena);
        }
}

static void an_override_index_that_was_given_is_not_given_again(void **state)
{
        static const struct {
                const char *ns, *name, *bindings_name;
                int64_t index;
        } rows[] = {
                { NULL, "o", "\"clusterResourceOverrideSnapshots\":[\"p-7\",\"o-3\",\"o-2\"]", 3 },
                { NULL, "o", "\"resourceOverrideSnapshots\":[{\"name\":\"o-3\",\"namespace\":\"x\"}]",
                  NO_INDEX },
                { "x", "o", "\"resourceOverrideSnapshots\":[{\"name\":\"o-3\",\"namespace\":\"x\"}]", 3 },
                { "y", "o", "\"resourceOverrideSnapshots\":[{\"name\":\"o-3\",\"namespace\":\"x\"}]",
                  NO_INDEX },
                { "x", "o", "\"clusterResourceOverrideSnapshots\":[\"o-3\"]", NO_INDEX },
        };
        struct override_snapshot_plan plan;
        const struct object *all[2];
        struct object_list existing = { all, 0 };
        struct bench b;

        begin(&b);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct object override = { .meta = { .name = (char *)rows[i].name,
                                                     .ns = (char *)rows[i].ns } };
                char json[512];

                snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"b\"},\"spec\":{%s}}",
                         rows[i].bindings_name);
                assert_int_equal(
                        override_index_named(&override, parse(&b, &cluster_resource_binding_kind, json)),
                        rows[i].index);
        }
        assert_int_equal(plan_override_snapshots(&b.arena, override_of(&b, "1"), &existing, 3, &plan, &b.err),
                         0);
        assert_string_equal(plan.create->object.meta.name, "o-4");
        all[existing.n++] = &plan.create->object;
        assert_int_equal(plan_override_snapshots(&b.arena, override_of(&b, "1"), &existing, 4, &plan, &b.err),
                         0);
        assert_null(plan.create);
        assert_int_equal(plan_override_snapshots(&b.arena, override_of(&b, "1"), &existing, 5, &plan, &b.err),
                         0);
        assert_string_equal(plan.create->object.meta.name, "o-6");
        arena_free(&b.arena);
}

/* ---- which override an object falls under ---- */

#define LIST(kind) "\"" kind "\":[{\"group\":\"%s\",\"version\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\"}]"
#define SETS_A POLICY(PATCH("add", "/metadata/labels", "{\"x\":\"y\"}"))

/* One of the cluster selects an object of the cluster by all four parts, and those of a namespace by it. One
 * of a namespace selects there. */
static void an_override_selects_by_group_version_kind_and_name(void **state)
{
#define ROLE                                                                                                 \
        "{\"apiVersion\":\"rbac.authorization.k8s.io/"                                                       \
        "v1\",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"r\"}}"
#define DEPLOYMENT                                                                                           \
        "{\"apiVersion\":\"apps/"                                                                            \
        "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\",\"namespace\":\"web\"}}"
#define NAMESPACE "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"web\"}}"
        static const struct {
                const char *manifest, *ns; /* the override's, NULL = of the cluster */
                const char *selector[4];
                bool selected;
        } rows[] = {
                { ROLE, NULL, { "rbac.authorization.k8s.io", "v1", "ClusterRole", "r" }, true },
                { ROLE, NULL, { "", "v1", "ClusterRole", "r" }, false },
                { ROLE, NULL, { "rbac.authorization.k8s.io", "v2", "ClusterRole", "r" }, false },
                { ROLE, NULL, { "rbac.authorization.k8s.io", "v1", "Namespace", "r" }, false },
                { ROLE, NULL, { "rbac.authorization.k8s.io", "v1", "ClusterRole", "s" }, false },
                { ROLE, "web", { "rbac.authorization.k8s.io", "v1", "ClusterRole", "r" }, false },
                { NAMESPACE, NULL, { "", "v1", "Namespace", "web" }, true },
                { NAMESPACE, NULL, { "", "v1", "Namespace", "shop" }, false },
                { NAMESPACE, NULL, { "", "v2", "Namespace", "web" }, false },
                { DEPLOYMENT, NULL, { "", "v1", "Namespace", "web" }, true },
                { DEPLOYMENT, NULL, { "", "v1", "Namespace", "shop" }, false },
                { DEPLOYMENT, NULL, { "", "v2", "Namespace", "web" }, false },
                { DEPLOYMENT, NULL, { "example.org", "v1", "Namespace", "web" }, false },
                { DEPLOYMENT, NULL, { "", "v1", "ClusterRole", "web" }, false },
                { DEPLOYMENT, NULL, { "apps", "v1", "Deployment", "d" }, false },
                { DEPLOYMENT, "web", { "apps", "v1", "Deployment", "d" }, true },
                { DEPLOYMENT, "shop", { "apps", "v1", "Deployment", "d" }, false },
                { DEPLOYMENT, "web", { "", "v1", "Deployment", "d" }, false },
                { DEPLOYMENT, "web", { "apps", "v2", "Deployment", "d" }, false },
                { DEPLOYMENT, "web", { "apps", "v1", "StatefulSet", "d" }, false },
                { DEPLOYMENT, "web", { "apps", "v1", "Deployment", "e" }, false },
                { CONFIG, "web", { "", "v1", "ConfigMap", "site" }, true },
                { CONFIG, "web", { "apps", "v1", "ConfigMap", "site" }, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *const *s = rows[i].selector;
                char spec[1024];
                struct slice text;
                struct bench b;

                begin(&b);
                if (rows[i].ns)
                        snprintf(spec, sizeof(spec), "{" LIST("resourceSelectors") "," SETS_A "}", s[0], s[1],
                                 s[2], s[3]);
                else
                        snprintf(spec, sizeof(spec), "{" LIST("clusterResourceSelectors") "," SETS_A "}",
                                 s[0], s[1], s[2], s[3]);
                add(&b, rows[i].ns, "o-0", spec);
                if (apply_to(&b, rows[i].manifest, &text) < 0)
                        fail_msg("row %zu: %s", i, b.err.text);
                if (!!memmem(text.data, text.len, "\"x\"", 3) != rows[i].selected)
                        fail_msg("row %zu: %.*s", i, (int)text.len, text.data);
                arena_free(&b.arena);
        }
}

/* The first that selects is enough, wherever it stands, and all overrides of an object apply in turn. */
static void each_selector_of_a_list_counts(void **state)
{
        static const char *const lists[] = {
                "{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
                "\"site\"},{"
                "\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"other\"}]," SETS_A "}",
                "{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
                "\"other\"},{"
                "\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"site\"}]," SETS_A "}",
        };

        for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
                struct slice text;
                struct bench b;

                begin(&b);
                add(&b, "web", "o-0", lists[i]);
                add(&b, "web", "p-0", "{" SELECT_CM("site") "," POLICY(PATCH("add", "/data/b", "\"2\"")) "}");
                add(&b, NULL, "q-0", "{" SELECT_NS("web") "," POLICY(PATCH("add", "/data/c", "\"3\"")) "}");
                add(&b, NULL, "s-0", "{" SELECT_NS("web") "," POLICY(PATCH("add", "/data/d", "\"4\"")) "}");
                assert_true(apply_to(&b, CONFIG, &text) >= 0);
                assert_non_null(memmem(text.data, text.len, "\"x\"", 3));
                assert_non_null(memmem(text.data, text.len, "\"b\":\"2\"", 7));
                assert_non_null(memmem(text.data, text.len, "\"c\":\"3\"", 7));
                assert_non_null(memmem(text.data, text.len, "\"d\":\"4\"", 7));
                arena_free(&b.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_rule_matches_clusters_by_its_selector),
                cmocka_unit_test(a_cluster_gets_those_with_a_rule_for_it_in_sorted_order),
                cmocka_unit_test(a_broken_selector_concerns_every_cluster_and_fails_to_apply),
                cmocka_unit_test(an_override_concerns_the_placements_whose_resources_it_names),
                cmocka_unit_test(what_selects_nothing_is_concerned_by_no_override),
                cmocka_unit_test(matching_looks_each_selector_up),
                cmocka_unit_test(what_rules_do_to_a_manifest),
                cmocka_unit_test(variables_stand_for_the_clusters_name_and_labels),
                cmocka_unit_test(variables_in_paths_are_left_alone),
                cmocka_unit_test(a_failed_patch_names_snapshot_and_target),
                cmocka_unit_test(an_override_keeps_ten_numbered_snapshots_the_newest_marked_latest),
                cmocka_unit_test(of_several_override_snapshots_that_are_marked_latest_the_newest_stays_so),
                cmocka_unit_test(an_override_index_that_was_given_is_not_given_again),
                cmocka_unit_test(an_override_selects_by_group_version_kind_and_name),
                cmocka_unit_test(each_selector_of_a_list_counts),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
