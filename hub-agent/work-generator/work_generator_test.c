#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "hub-agent/work-generator/work_generator.h"

#define NOW INT64_C(1767225600000)
#define NULL_HASH "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"

struct scene {
        struct arena arena;
        struct error err;
        const struct object *works[8];
        struct object_list live;
        const struct binding *b;
        const struct resource_snapshot *group[4];
        size_t n_group;
};

static void *parse(struct scene *s, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &s->arena, &o, &s->err) < 0)
                fail_msg("%s: %s", json, s->err.text);
        return o;
}

static void begin(struct scene *s, const char *strategy)
{
        char json[1024];

        *s = (struct scene){ 0 };
        s->live.at = s->works;
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"name\":\"b1\",\"generation\":2,\"labels\":{\"kubernetes-fleet.io/"
                 "parent-CRP\":\"web\"}},"
                 "\"spec\":{\"state\":\"Bound\",\"resourceSnapshotName\":\"web-3-snapshot\","
                 "\"targetCluster\":\"c1\","
                 "\"schedulingPolicySnapshotName\":\"web-0\",\"applyStrategy\":{\"type\":\"%s\"}}}",
                 strategy);
        s->b = parse(s, &cluster_resource_binding_kind, json);
}

static void add_snapshot(struct scene *s, const char *meta, const char *resources)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"x\",\"labels\":{\"kubernetes-fleet.io/"
                   "parent-CRP\":\"web\",\"kubernetes-fleet.io/"
                   "resource-index\":\"3\"},\"annotations\":{%s}},\"spec\":{\"selectedResources\":[%s]}}",
                   meta, resources);
        s->group[s->n_group++] = parse(s, &cluster_resource_snapshot_kind, b.data);
}

static enum kube_scope scope_of_kind(void *ctx, const char *group, const char *kind)
{
        if (text_equal(group, "example.com"))
                return KUBE_SCOPE_UNKNOWN;
        return text_equal(kind, "Namespace") || text_equal(kind, "ClusterRoleBinding")
                       ? KUBE_SCOPE_CLUSTER
                       : KUBE_SCOPE_NAMESPACED;
}

static bool is_allowed(void *ctx, const char *group, const char *version, const char *kind)
{
        return !text_equal(kind, "Pod");
}

static const struct manifest_rules rules = { scope_of_kind, is_allowed, NULL };

static int render(struct scene *s, struct wanted_works *ret)
{
        bool failed;

        return render_works(&s->arena, s->group, s->n_group, NULL, &rules, ret, &failed, &s->err);
}

#define CM "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}"
#define HEAD "\"kubernetes-fleet.io/number-of-enveloped-object\":\"1\""
#define ENVELOPE(kind, meta, data)                                                                           \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"" kind                         \
        "\",\"metadata\":{" meta "\"name\":\"e\"},\"data\":{" data "}}"

static void every_snapshot_of_a_group_becomes_a_work(void **state)
{
        struct wanted_works w;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_snapshot(&s, "", CM);
        add_snapshot(&s, "\"kubernetes-fleet.io/subindex-of-resource-snapshot\":\"0\"", CM "," CM);
        assert_int_equal(render(&s, &w), 0);
        assert_int_equal(w.n, 2);
        assert_string_equal(w.at[0].name, "web-work");
        assert_string_equal(w.at[1].name, "web-0");
        assert_int_equal(w.at[1].manifests.n, 2);
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md checklist 42 */
static void an_empty_selection_still_makes_a_work(void **state)
{
        struct wanted_works w;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_snapshot(&s, "", "");
        assert_int_equal(render(&s, &w), 0);
        assert_int_equal(w.n, 1);
        assert_int_equal(w.at[0].manifests.n, 0);
        arena_free(&s.arena);
}

static void an_envelope_becomes_a_work_of_its_own(void **state)
{
        struct wanted_works w;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_snapshot(&s, HEAD,
                     CM "," ENVELOPE("ClusterResourceEnvelope", "",
                                     "\"k\":{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                                     "\"name\":\"z\"}}"));
        assert_int_equal(render(&s, &w), 0);
        assert_int_equal(w.n, 2);
        assert_int_equal(w.at[0].manifests.n, 1);
        assert_true(text_starts_with(w.at[1].name, "web-work-envelope-"));
        assert_int_equal(strlen(w.at[1].name), strlen("web-work-envelope-") + 16);
        assert_string_equal(w.at[1].envelope_kind, "ClusterResourceEnvelope");
        assert_string_equal(w.at[1].manifests.at[0].data,
                            "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"z\"}}");
        arena_free(&s.arena);
}

#define OBJECT(api, kind, meta)                                                                              \
        "\"k\":{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"metadata\":{" meta "\"name\":\"z\"}}"

static void envelopes_hold_only_what_their_scope_allows(void **state)
{
        static const struct {
                const char *resources, *words; /* NULL: it may be placed */
        } rows[] = {
                { ENVELOPE("ClusterResourceEnvelope", "", "\"k\":" CM),
                  "a namespaced object k (n/a) has been wrapped in a cluster resource envelope e" },
                { ENVELOPE("ClusterResourceEnvelope", "", OBJECT("v1", "ConfigMap", "")),
                  "a namespaced object k (z) has been wrapped in a cluster resource envelope e" },
                { ENVELOPE("ClusterResourceEnvelope", "", OBJECT("v1", "Namespace", "\"namespace\":\"m\",")),
                  "a namespaced object k (m/z) has been wrapped in a cluster resource envelope e" },
                { ENVELOPE("ClusterResourceEnvelope", "", OBJECT("example.com/v1", "Unknown", "")), NULL },
                { ENVELOPE("ResourceEnvelope", "\"namespace\":\"m\",", OBJECT("v1", "Namespace", "")),
                  "a cluster scope object k (z) has been wrapped in a resource envelope m/e" },
                { ENVELOPE("ResourceEnvelope", "\"namespace\":\"m\",",
                           OBJECT("rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
                                  "\"namespace\":\"m\",")),
                  "a cluster scope object k (m/z) has been wrapped in a resource envelope m/e" },
                { ENVELOPE("ResourceEnvelope", "\"namespace\":\"m\",", OBJECT("v1", "ConfigMap", "")),
                  "a cluster scope object k (z) has been wrapped in a resource envelope m/e" },
                { ENVELOPE("ResourceEnvelope", "\"namespace\":\"m\",", "\"k\":" CM),
                  "a namespaced object k (n/a) in has been wrapped in a resource envelope from another "
                  "namespace (m/e)" },
                { ENVELOPE("ResourceEnvelope", "\"namespace\":\"m\",",
                           OBJECT("example.com/v1", "Unknown", "\"namespace\":\"m\",")),
                  NULL },
                { ENVELOPE("ResourceEnvelope", "\"namespace\":\"m\",",
                           OBJECT("v1", "Pod", "\"namespace\":\"m\",")),
                  "an object k (m/z) of a kind that is not placed, Pod, has been wrapped in an envelope "
                  "m/e" },
                { ENVELOPE("ResourceEnvelope", "\"namespace\":\"m\",", "\"k\":{\"kind\":\"ConfigMap\"}"),
                  "failed to parse the wrapped manifest data to a Kubernetes runtime object "
                  "(manifestKey=k,envelopeObjRef=m/e): apiVersion and kind must be set" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct wanted_works w;
                struct scene s;
                int code;

                begin(&s, "ClientSideApply");
                add_snapshot(&s, HEAD, rows[i].resources);
                assert_int_equal(render(&s, &w), 0);
                assert_int_equal(w.n, 2);
                assert_int_equal(w.at[1].manifests.n, rows[i].words ? 0 : 1);
                code = check_envelopes(&s.arena, &w, &s.err);
                assert_int_equal(code, rows[i].words ? ERR_INVALID : 0);
                if (rows[i].words)
                        assert_string_equal(s.err.text, rows[i].words);
                arena_free(&s.arena);
        }
}

static void an_envelope_that_breaks_a_rule_leaves_its_work_as_it_is(void **state)
{
        static const char live[] =
                "{\"metadata\":{\"name\":\"old\",\"namespace\":\"fleet-member-c1\",\"labels\":{"
                "\"kubernetes-fleet.io/envelope-work\":\"ClusterResourceEnvelope\",\"kubernetes-fleet.io/"
                "envelope-name\":\"e\"}}}";
        struct wanted_works w;
        struct work_plan plan;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_snapshot(&s, HEAD, CM "," ENVELOPE("ClusterResourceEnvelope", "", "\"k\":" CM));
        s.works[s.live.n++] = parse(&s, &work_kind, live);
        assert_int_equal(render(&s, &w), 0);
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 1);
        assert_string_equal(plan.at[0].wanted->object.meta.name, "web-work");
        arena_free(&s.arena);
}

/* Gives every manifest the text in ctx. */
static int replace_text(void *ctx, struct arena *arena, struct slice *text, struct error *err)
{
        *text = slice_of(ctx);
        return 1;
}

static void what_overrides_make_of_a_manifest_keeps_to_the_same_rules(void **state)
{
        static const struct {
                const char *ns, *resource, *becomes;
                int code;
        } rows[] = {
                { NULL, CM, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}",
                  0 },
                { "n", CM, CM, 0 },
                { "n", CM, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}",
                  ERR_INVALID },
                { "n", CM,
                  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\",\"namespace\":"
                  "\"n\"}}",
                  ERR_INVALID },
                { "n", CM,
                  "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\",\"namespace\":"
                  "\"o\"}}",
                  ERR_INVALID },
                { "o", CM, NULL, ERR_INVALID },
                { "n", ENVELOPE("ResourceEnvelope", "\"namespace\":\"n\",", "\"k\":" CM),
                  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}",
                  ERR_INVALID },
                { NULL, ENVELOPE("ClusterResourceEnvelope", "", OBJECT("v1", "Namespace", "")), CM,
                  ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct manifest_override o = { rows[i].becomes ? replace_text : NULL,
                                               (void *)rows[i].becomes };
                struct wanted_works w;
                struct scene s;
                bool failed;

                begin(&s, "ClientSideApply");
                add_snapshot(&s, HEAD, rows[i].resource);
                ((struct resource_snapshot *)s.group[0])->object.meta.ns = rows[i].ns;
                assert_int_equal(render_works(&s.arena, s.group, s.n_group, &o, &rules, &w, &failed, &s.err),
                                 rows[i].code);
                assert_int_equal(failed, rows[i].code < 0 && rows[i].becomes);
                arena_free(&s.arena);
        }
}

/* A Work with conditions as JSON; each of Applied and Available may be NULL. */
static void add_work(struct scene *s, const char *name, const char *index, const char *applied,
                     const char *available, const char *manifests)
{
        AUTO_BUF struct buf b;
        const char *types[] = { "Applied", "Available" }, *given[] = { applied, available };
        bool any = false;

        buf_init(&b, 64u << 20);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"fleet-member-c1\",\"generation\":1,"
                   "\"labels\":{"
                   "\"kubernetes-fleet.io/parent-resource-snapshot-index\":\"%s\"},\"annotations\":{"
                   "\"kubernetes-fleet.io/parent-resource-override-snapshot-hash\":\"" NULL_HASH "\","
                   "\"kubernetes-fleet.io/parent-cluster-resource-override-snapshot-hash\":\"" NULL_HASH
                   "\"}},\"spec\":{\"applyStrategy\":{\"type\":\"ClientSideApply\"}},\"status\":{"
                   "\"conditions\":[",
                   name, index);
        for (int i = 0; i < 2; i++) {
                if (!given[i])
                        continue;
                buf_printf(&b,
                           "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"X\",\"message\":\"\","
                           "\"observedGeneration\":1,"
                           "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
                           any ? "," : "", types[i], given[i]);
                any = true;
        }
        buf_printf(&b, "],\"manifestConditions\":[%s]}}", manifests);
        s->works[s->live.n++] = parse(s, &work_kind, b.data);
}

/* spec/rollout-and-work.md checklist 40, 41, 43 */
static void only_works_that_differ_are_written(void **state)
{
        struct wanted_works w;
        struct work_plan plan;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_snapshot(&s, "", CM);
        assert_int_equal(render(&s, &w), 0);
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 1);
        assert_null(plan.at[0].now);
        assert_string_equal(plan.at[0].wanted->object.meta.ns, "fleet-member-c1");
        assert_string_equal(label_of(&plan.at[0].wanted->object, LABEL_PARENT_BINDING), "b1");
        assert_string_equal(annotation_of(&plan.at[0].wanted->object, ANNOTATION_OVERRIDE_SNAPSHOT_HASH),
                            NULL_HASH);
        assert_string_equal(
                annotation_of(&plan.at[0].wanted->object, ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH),
                NULL_HASH);
        assert_string_equal(annotation_of(&plan.at[0].wanted->object, ANNOTATION_PARENT_RESOURCE_SNAPSHOT),
                            "web-3-snapshot");
        add_work(&s, "web-work", "3", NULL, NULL, "");
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 0);
        assert_true(works_in_sync(&s.arena, s.b, &s.live, "3", 1, ""));
        assert_false(works_in_sync(&s.arena, s.b, &s.live, "4", 1, ""));
        add_work(&s, "web-0", "2", NULL, NULL, "");
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 1);
        assert_null(plan.at[0].wanted);
        arena_free(&s.arena);
}

#define WORK_SET_OF_3 "3/74234e98afe7498f.74234e98afe7498f/"

static void tell_set(struct scene *s, const char *set)
{
        struct object *work = object_copy(s->works[0], &s->arena);

        assert_int_equal(set_annotation(work, ANNOTATION_WORK_SET, set, &s->arena), 0);
        s->works[0] = work;
}

/* The member must be able to tell when all Works of a binding have arrived, or an object that moves between
 * them would be removed by the one before the other asks for it. */
static void works_of_a_binding_carry_the_set_they_make(void **state)
{
        struct wanted_works w;
        struct work_plan plan;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_snapshot(&s, "", CM);
        assert_int_equal(render(&s, &w), 0);
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_string_equal(annotation_of(&plan.at[0].wanted->object, ANNOTATION_WORK_SET),
                            WORK_SET_OF_3 "1");
        add_work(&s, "web-work", "3", NULL, NULL, "");
        tell_set(&s, WORK_SET_OF_3 "1");
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 0);
        tell_set(&s, WORK_SET_OF_3 "2");
        assert_false(works_in_sync(&s.arena, s.b, &s.live, "3", 1, ""));
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 1);
        assert_string_equal(annotation_of(&plan.at[0].wanted->object, ANNOTATION_WORK_SET),
                            WORK_SET_OF_3 "1");
        arena_free(&s.arena);
}

/* Placement "web" in "team-a" and ClusterResourcePlacement "team-a.web". */
static void a_work_of_another_placement_is_told_by_its_labels(void **state)
{
        static const struct {
                const char *labels, *owner;
        } cases[] = {
                { "\"parent-resource-binding\":\"b1\",\"kubernetes-fleet.io/parent-CRP\":\"web\"", NULL },
                { "\"parent-resource-binding\":\"b2\",\"kubernetes-fleet.io/parent-CRP\":\"team-a.web\"",
                  "ClusterResourcePlacement \"team-a.web\"" },
                { "\"parent-resource-binding\":\"b1\",\"kubernetes-fleet.io/parent-CRP\":\"web\","
                  "\"kubernetes-fleet.io/parent-placement-namespace\":\"team-a\"",
                  "ResourcePlacement \"web\" in namespace \"team-a\"" },
                { "\"parent-resource-binding\":\"\"", "no placement: somebody made it by hand" },
        };
        struct scene s;

        begin(&s, "ClientSideApply");
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const struct object *work = parse(
                        &s, &work_kind,
                        arena_printf(&s.arena,
                                     "{\"metadata\":{\"name\":\"w\",\"labels\":{\"kubernetes-fleet.io/%s}}}",
                                     cases[i].labels + 1));
                const char *owner = work_of_another(&s.arena, work, s.b);

                if (!text_equal(owner, cases[i].owner))
                        fail_msg("%s: %s", cases[i].labels, owner ? owner : "NULL");
        }
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md checklist 46 */
static void several_works_of_one_envelope_are_told_and_left_alone(void **state)
{
        static const char json[] =
                "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"fleet-member-c1\",\"labels\":{"
                "\"kubernetes-fleet.io/envelope-work\":\"ResourceEnvelope\",\"kubernetes-fleet.io/"
                "envelope-name\":"
                "\"e\",\"kubernetes-fleet.io/envelope-namespace\":\"m\"}}}";
        struct wanted_work one = { .name = "web-work-envelope-0123456789abcdef",
                                   .snapshot_index = "3",
                                   .envelope_kind = "ResourceEnvelope",
                                   .envelope_name = "e",
                                   .envelope_ns = "m" };
        const struct wanted_works w = { &one, 1 };
        struct work_plan plan;
        struct scene s;

        begin(&s, "ClientSideApply");
        for (int i = 0; i < 2; i++) {
                char text[512];

                snprintf(text, sizeof(text), json, i ? "right" : "left");
                s.works[s.live.n++] = parse(&s, &work_kind, text);
        }
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), ERR_INTERNAL);
        assert_string_equal(s.err.text, "2 work objects found for the same envelope m/e, only one expected");
        assert_string_equal(plan.duplicates,
                            "Multiple Work objects ([left right]) found for envelope m/e in namespace "
                            "fleet-member-c1; delete all but the oldest to recover");
        s.live.n = 1;
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 1);
        assert_ptr_equal(plan.at[0].now, s.works[0]);
        arena_free(&s.arena);
}

static const char *status_of(struct scene *s, const struct sync_result *r, const char *type)
{
        struct binding *wanted;
        const struct condition *c;
        bool settled;

        wanted = binding_with_status(&s->arena, s->b, &s->live, r, NULL, NOW, &settled);
        assert_non_null(wanted);
        c = condition_find(&wanted->status->conditions, type);
        assert_true(!c || !strstr(or_empty(c->message), "left out")); /* nothing here is too long */
        return c ? arena_printf(&s->arena, "%s %s", c->status, c->reason) : "absent";
}

static void the_worst_work_decides_the_bindings_conditions(void **state)
{
        static const struct {
                const char *applied[2], *available[2], *expected[2];
        } rows[] = {
                { { "True", "True" },
                  { "True", "True" },
                  { "True AllWorkHaveBeenApplied", "True AllWorkAreAvailable" } },
                { { "True", NULL }, { NULL, NULL }, { "False NotAllWorkHaveBeenApplied", "absent" } },
                { { "True", "False" }, { "True", NULL }, { "False NotAllWorkHaveBeenApplied", "absent" } },
                { { "True", "True" },
                  { "True", NULL },
                  { "True AllWorkHaveBeenApplied", "False NotAllWorkAreAvailable" } },
                { { "True", "True" },
                  { "True", "False" },
                  { "True AllWorkHaveBeenApplied", "False NotAllWorkAreAvailable" } },
        };
        static const struct sync_result in_sync;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin(&s, "ClientSideApply");
                add_work(&s, "w1", "3", rows[i].applied[0], rows[i].available[0], "");
                add_work(&s, "w2", "3", rows[i].applied[1], rows[i].available[1], "");
                assert_string_equal(status_of(&s, &in_sync, "Applied"), rows[i].expected[0]);
                assert_string_equal(status_of(&s, &in_sync, "Available"), rows[i].expected[1]);
                assert_string_equal(status_of(&s, &in_sync, "Overridden"), "True NoOverrideSpecified");
                assert_string_equal(status_of(&s, &in_sync, "WorkSynchronized"), "True AllWorkSynced");
                arena_free(&s.arena);
        }
}

static void failures_are_told_where_they_belong(void **state)
{
        static const struct sync_result override = { ERR_INVALID, "because", true, false },
                                        sync = { ERR_FORBIDDEN, "because", false, false },
                                        changed = { 0, NULL, false, true };
        struct scene s;

        begin(&s, "ClientSideApply");
        assert_string_equal(status_of(&s, &override, "Overridden"), "False OverriddenFailed");
        assert_string_equal(status_of(&s, &override, "WorkSynchronized"), "absent");
        assert_string_equal(status_of(&s, &sync, "WorkSynchronized"), "False SyncWorkFailed");
        assert_string_equal(status_of(&s, &sync, "Applied"), "absent");
        assert_string_equal(status_of(&s, &changed, "Applied"), "False ApplyInProgress");
        arena_free(&s.arena);
        begin(&s, "ReportDiff");
        assert_string_equal(status_of(&s, &changed, "DiffReported"), "False DiffReportInProgress");
        assert_string_equal(status_of(&s, &changed, "Applied"), "absent");
        arena_free(&s.arena);
}

#define MANIFEST(ordinal, name, status, more)                                                                \
        "{\"identifier\":{\"ordinal\":" ordinal                                                              \
        ",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"n\","                                    \
        "\"name\":\"" name "\"},\"conditions\":[{\"type\":\"Applied\",\"status\":\"" status                  \
        "\",\"reason\":\"R\",\"message\":\"\","                                                              \
        "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]" more "}"

#define KNOWN(n_)                                                                                            \
        {                                                                                                    \
                .version = "v1", .kind = "ConfigMap", .ns = "n", .name = (n_)                                \
        }
static struct resource_identifier known_manifests[] = { KNOWN("z"), KNOWN("b"), KNOWN("d") };
static const struct resource_identifier_list known[8] = { { known_manifests, 3, true },
                                                          { known_manifests, 3, true } };

static void failed_and_drifted_manifests_are_listed_in_the_order_of_the_work(void **state)
{
        static const struct sync_result in_sync = { .identities = known };
        struct binding *wanted;
        struct scene s;
        bool settled;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL,
                 MANIFEST("0", "z", "False", "") "," MANIFEST("1", "b", "False", "") "," MANIFEST(
                         "2", "d", "True",
                         ",\"driftDetails\":{\"observationTime\":\"2026-01-01T00:00:00Z\","
                         "\"firstDriftedObservedTime\":"
                         "\"2026-01-01T00:00:00Z\",\"observedInMemberClusterGeneration\":4}"));
        wanted = binding_with_status(&s.arena, s.b, &s.live, &in_sync, NULL, NOW, &settled);
        assert_true(settled);
        assert_int_equal(wanted->status->failed_placements->n, 2);
        assert_string_equal(wanted->status->failed_placements->at[0].id.name, "z");
        assert_string_equal(wanted->status->failed_placements->at[1].id.name, "b");
        assert_string_equal(wanted->status->failed_placements->at[0].condition->reason, "R");
        assert_int_equal(wanted->status->drifted_placements->n, 1);
        assert_int_equal(wanted->status->drifted_placements->at[0].target_cluster_observed_generation.value,
                         4);
        arena_free(&s.arena);
}

static struct binding *built(struct scene *s, const struct sync_result *r)
{
        bool settled;
        struct binding *b = binding_with_status(&s->arena, s->b, &s->live, r, NULL, NOW, &settled);

        assert_non_null(b);
        return b;
}

#define DRIFT                                                                                                \
        ",\"driftDetails\":{\"observationTime\":\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"      \
        "\"2026-01-01T00:00:00Z\",\"observedInMemberClusterGeneration\":4}"

static size_t n_listed(const struct binding *b)
{
        return LIST_OR_NONE(b->status->failed_placements).n + LIST_OR_NONE(b->status->drifted_placements).n +
               LIST_OR_NONE(b->status->diffed_placements).n;
}

/* spec/rollout-and-work.md checklist 48, 49 */
static void nothing_is_listed_while_a_work_is_under_way(void **state)
{
        static const struct sync_result in_sync = { .identities = known },
                                        changed = { .works_changed = true, .identities = known };
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL,
                 MANIFEST("0", "a", "False", "") "," MANIFEST("1", "b", "True", DRIFT));
        assert_int_equal(n_listed(built(&s, &in_sync)), 2);
        assert_int_equal(n_listed(built(&s, &changed)), 0);
        assert_string_equal(status_of(&s, &changed, "Applied"), "False ApplyInProgress");
        add_work(&s, "w2", "3", NULL, NULL, "");
        assert_int_equal(n_listed(built(&s, &in_sync)), 0);
        arena_free(&s.arena);
        begin(&s, "ReportDiff");
        add_work(&s, "w1", "3", NULL, NULL, MANIFEST("1", "b", "True", DRIFT));
        assert_int_equal(n_listed(built(&s, &changed)), 0);
        assert_string_equal(status_of(&s, &changed, "DiffReported"), "False DiffReportInProgress");
        arena_free(&s.arena);
}

/* ---- members that lie, or write much ---- */

/* The object is the one that the hub put at that place of the Work, whatever the member calls it. */
static void a_member_names_a_manifest_by_its_place_alone(void **state)
{
        static const struct sync_result in_sync = { .identities = known }, unknown = { 0 };
        const struct binding *b;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL,
                 MANIFEST("1", "of-another", "False", DRIFT) "," MANIFEST(
                         "3", "beyond", "False", DRIFT) "," MANIFEST("-1", "before", "False", DRIFT));
        b = built(&s, &in_sync);
        assert_int_equal(n_listed(b), 2);
        assert_string_equal(b->status->failed_placements->at[0].id.name, "b");
        assert_string_equal(b->status->drifted_placements->at[0].id.name, "b");
        assert_string_equal(status_of(&s, &unknown, "Applied"), "False NotAllWorkHaveBeenApplied");
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md 6.8: lists are of manifests. The condition tells; the Work itself, who it was. */
static void a_work_that_failed_without_naming_what_lists_nothing(void **state)
{
        static const struct sync_result in_sync = { .identities = known }, unknown = { 0 };
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "True", "");
        add_work(&s, "w2", "3", "False", NULL, MANIFEST("3", "beyond", "False", DRIFT));
        assert_int_equal(n_listed(built(&s, &in_sync)), 0);
        assert_int_equal(n_listed(built(&s, &unknown)), 0);
        assert_string_equal(status_of(&s, &in_sync, "Applied"), "False NotAllWorkHaveBeenApplied");
        assert_true(works_have_failed(&s.live));
        arena_free(&s.arena);
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "False", "");
        assert_int_equal(n_listed(built(&s, &in_sync)), 0);
        assert_string_equal(status_of(&s, &in_sync, "Available"), "False NotAllWorkAreAvailable");
        assert_true(works_have_failed(&s.live));
        arena_free(&s.arena);
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "False", "");
        add_work(&s, "w2", "3", NULL, NULL, "");
        assert_false(works_have_failed(&s.live)); /* one has still to report */
        arena_free(&s.arena);
}

enum { HOSTILE_MANIFESTS = 150, HOSTILE_DETAILS = 40, HOSTILE_TEXT = 3000 };

static void print_hostile(struct buf *b, int ordinal, const char *text)
{
        if (ordinal)
                buf_printf(b, ",");
        buf_printf(b,
                   "{\"identifier\":{\"ordinal\":%d,\"version\":\"v1\",\"kind\":\"%s\",\"name\":\"x\"},"
                   "\"conditions\":[{\"type\":\"Applied\",\"status\":\"False\",\"reason\":\"R\",\"message\":"
                   "\"%s\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],\"driftDetails\":{"
                   "\"observationTime\":\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"
                   "\"2026-01-01T00:00:00Z\",\"observedInMemberClusterGeneration\":4,\"observedDrifts\":[",
                   ordinal, text, text);
        for (int i = 0; i < HOSTILE_DETAILS; i++)
                buf_printf(b, "%s{\"path\":\"/%d\",\"valueInMember\":\"%s\"}", i ? "," : "", i, text);
        buf_printf(b, "]}}");
}

static size_t encoded_bytes(const struct object *o)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 64u << 20);
        assert_int_equal(object_encode(o, &b), 0);
        return b.len;
}

static void a_member_that_writes_much_fills_no_more_than_its_share(void **state)
{
        struct resource_identifier ids[HOSTILE_MANIFESTS];
        const struct resource_identifier_list list[8] = { { ids, HOSTILE_MANIFESTS, true } };
        const struct sync_result in_sync = { .identities = list };
        char text[HOSTILE_TEXT + 1];
        const struct condition *c;
        const struct binding *b;
        AUTO_BUF struct buf json;
        struct scene s;

        memset(text, 'x', HOSTILE_TEXT);
        text[HOSTILE_TEXT] = 0;
        buf_init(&json, 64u << 20);
        for (int i = 0; i < HOSTILE_MANIFESTS; i++) {
                ids[i] = known_manifests[0];
                print_hostile(&json, i, text);
        }
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL, json.data);
        b = built(&s, &in_sync);
        assert_in_range(encoded_bytes(&b->object), LIMIT_BINDING_ENTRIES_BYTES / 2,
                        LIMIT_BINDING_ENTRIES_BYTES * 5 / 4);
        assert_int_equal(strlen(b->status->failed_placements->at[0].condition->message),
                         LIMIT_STATUS_TEXT_BYTES);
        c = condition_find(&b->status->conditions, "Applied");
        assert_string_equal(c->reason, "NotAllWorkHaveBeenApplied");
        assert_non_null(strstr(c->message, "left out"));
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md checklist 50 */
static void available_follows_applied_and_neither_is_said_of_reports_of_differences(void **state)
{
        static const char *const applied[] = { NULL, "False", "Unknown" };
        static const struct sync_result in_sync;
        struct scene s;

        for (size_t i = 0; i < ARRAY_LEN(applied); i++) {
                begin(&s, "ClientSideApply");
                add_work(&s, "w1", "3", applied[i], "True", "");
                assert_string_equal(status_of(&s, &in_sync, "Available"), "absent");
                arena_free(&s.arena);
        }
        begin(&s, "ReportDiff");
        add_work(&s, "w1", "3", "True", "True", "");
        assert_string_equal(status_of(&s, &in_sync, "Applied"), "absent");
        assert_string_equal(status_of(&s, &in_sync, "Available"), "absent");
        arena_free(&s.arena);
}

static int64_t available_since(struct scene *s, const struct sync_result *r)
{
        const struct condition *c = condition_find(&built(s, r)->status->conditions, "Available");

        assert_non_null(c);
        return c->last_transition_ms;
}

/* spec/rollout-and-work.md 2.5, 6.7: the time of Available paces rollouts. */
static void available_begins_anew_when_works_changed_and_only_then(void **state)
{
        static const struct sync_result in_sync, anew = { .available_anew = true };
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "True", "");
        ((struct binding *)s.b)->status = built(&s, &in_sync)->status;
        for (uint32_t i = 0; i < s.b->status->conditions.n; i++)
                s.b->status->conditions.at[i].last_transition_ms = NOW - 90000;
        assert_int_equal(available_since(&s, &in_sync), NOW - 90000);
        assert_int_equal(available_since(&s, &anew), NOW);
        ((struct object *)&s.b->object)->meta.generation++;
        assert_int_equal(available_since(&s, &in_sync), NOW - 90000);
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md checklist 51: those that failed are cut as they come, the others once they are
 * sorted. */
static void lists_end_at_a_hundred_cut_in_sorted_order(void **state)
{
        struct resource_identifier ids[150];
        const struct resource_identifier_list list[8] = { { ids, 150, true } };
        const struct sync_result in_sync = { .identities = list };
        char names[150][8];
        AUTO_BUF struct buf manifests;
        const struct binding *b;
        struct scene s;

        buf_init(&manifests, 1 << 16);
        for (int i = 149; i >= 0; i--) {
                snprintf(names[i], sizeof(names[i]), "m%03d", i);
                ids[i] = (struct resource_identifier)KNOWN(names[i]);
                buf_printf(&manifests,
                           "%s{\"identifier\":{\"ordinal\":%d,\"version\":\"v1\",\"kind\":\"ConfigMap\","
                           "\"namespace\":\"n\",\"name\":\"m%03d\"},\"conditions\":[{\"type\":\"Applied\","
                           "\"status\":\"False\",\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":"
                           "\"2026-01-01T00:00:00Z\"}]" DRIFT "}",
                           i < 149 ? "," : "", i, i);
        }
        assert_false(manifests.failed);
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL, manifests.data);
        b = built(&s, &in_sync);
        assert_int_equal(b->status->failed_placements->n, 100);
        assert_int_equal(b->status->drifted_placements->n, 100);
        assert_string_equal(b->status->failed_placements->at[99].id.name, "m050");
        assert_string_equal(b->status->drifted_placements->at[0].id.name, "m000");
        assert_string_equal(b->status->drifted_placements->at[99].id.name, "m099");
        arena_free(&s.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_snapshot_of_a_group_becomes_a_work),
                cmocka_unit_test(an_empty_selection_still_makes_a_work),
                cmocka_unit_test(an_envelope_becomes_a_work_of_its_own),
                cmocka_unit_test(several_works_of_one_envelope_are_told_and_left_alone),
                cmocka_unit_test(envelopes_hold_only_what_their_scope_allows),
                cmocka_unit_test(an_envelope_that_breaks_a_rule_leaves_its_work_as_it_is),
                cmocka_unit_test(what_overrides_make_of_a_manifest_keeps_to_the_same_rules),
                cmocka_unit_test(only_works_that_differ_are_written),
                cmocka_unit_test(works_of_a_binding_carry_the_set_they_make),
                cmocka_unit_test(a_work_of_another_placement_is_told_by_its_labels),
                cmocka_unit_test(the_worst_work_decides_the_bindings_conditions),
                cmocka_unit_test(failures_are_told_where_they_belong),
                cmocka_unit_test(failed_and_drifted_manifests_are_listed_in_the_order_of_the_work),
                cmocka_unit_test(nothing_is_listed_while_a_work_is_under_way),
                cmocka_unit_test(a_member_names_a_manifest_by_its_place_alone),
                cmocka_unit_test(a_work_that_failed_without_naming_what_lists_nothing),
                cmocka_unit_test(a_member_that_writes_much_fills_no_more_than_its_share),
                cmocka_unit_test(available_follows_applied_and_neither_is_said_of_reports_of_differences),
                cmocka_unit_test(available_begins_anew_when_works_changed_and_only_then),
                cmocka_unit_test(lists_end_at_a_hundred_cut_in_sorted_order),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
