/* Names and marks of Works, and what tells an object of an envelope. spec/rollout-and-work.md 6.4, 6.5, 6.8.
 */
#include "hub-agent/work-generator/work_generator_test.h"

#define NOW INT64_C(1767225600000)
#define CM                                                                                                   \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{%s\"name\":\"a\",\"namespace\":\"ns\"}" \
        "}"

static enum kube_scope scope_of_kind(void *ctx, const char *group, const char *kind)
{
        return text_equal(kind, "Namespace") ? KUBE_SCOPE_CLUSTER : KUBE_SCOPE_NAMESPACED;
}

static bool is_allowed(void *ctx, const char *group, const char *version, const char *kind)
{
        return true;
}

static const struct manifest_rules rules = { scope_of_kind, is_allowed, NULL };

/* A placement "p" of the cluster, or in a namespace. */
static void begin_in(struct scene *s, const char *ns)
{
        begin(s, "ClientSideApply");
        s->b = parse(s, ns ? &resource_binding_kind : &cluster_resource_binding_kind,
                     arena_printf(&s->arena,
                                  "{\"metadata\":{\"name\":\"b1\",%s\"generation\":2,\"labels\":{"
                                  "\"kubernetes-fleet.io/parent-CRP\":\"p\"}},\"spec\":{\"state\":\"Bound\","
                                  "\"resourceSnapshotName\":\"p-3-snapshot\",\"targetCluster\":\"c1\","
                                  "\"schedulingPolicySnapshotName\":\"p-0\"}}",
                                  ns ? "\"namespace\":\"ns\"," : ""));
}

static void add_part(struct scene *s, const char *ns, int subindex, const char *resources)
{
        AUTO_BUF struct buf b;
        char annotation[96] = "";

        buf_init(&b, 1 << 16);
        if (subindex >= 0)
                snprintf(annotation, sizeof(annotation),
                         "\"kubernetes-fleet.io/subindex-of-resource-snapshot\":\"%d\"", subindex);
        else
                snprintf(annotation, sizeof(annotation),
                         "\"kubernetes-fleet.io/number-of-enveloped-object\":\"1\"");
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"x\",%s\"labels\":{\"kubernetes-fleet.io/parent-CRP\":\"p\","
                   "\"kubernetes-fleet.io/resource-index\":\"3\"},\"annotations\":{%s}},\"spec\":{"
                   "\"selectedResources\":[%s]}}",
                   ns ? "\"namespace\":\"ns\"," : "", annotation, resources);
        s->group[s->n_group++] =
                parse(s, ns ? &resource_snapshot_kind : &cluster_resource_snapshot_kind, b.data);
}

static void plan(struct scene *s, struct wanted_works *w, struct work_plan *p)
{
        bool failed;

        if (render_works(&s->arena, s->group, s->n_group, NULL, &rules, w, &failed, &s->err) < 0 ||
            plan_works(&s->arena, s->b, w, &s->live, NULL, p, &s->err) < 0)
                fail_msg("%s", s->err.text);
}

#define CLUSTER_ENVELOPE                                                                                     \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ClusterResourceEnvelope\","    \
        "\"metadata\":{\"name\":\"e\"},\"data\":{\"k\":{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","       \
        "\"metadata\":{\"name\":\"z\"}}}}"
#define OWN_ENVELOPE                                                                                         \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourceEnvelope\","           \
        "\"metadata\":{\"name\":\"e\",\"namespace\":\"ns\"},\"data\":{\"k\":{\"apiVersion\":\"v1\","         \
        "\"kind\":"                                                                                          \
        "\"ConfigMap\",\"metadata\":{\"name\":\"z\",\"namespace\":\"ns\"}}}}"

static bool is_planned(const struct work_plan *p, const char *name)
{
        for (size_t i = 0; i < p->n; i++)
                if (!p->at[i].now && text_equal(p->at[i].wanted->object.meta.name, name))
                        return true;
        return false;
}

/* spec/rollout-and-work.md checklist 38; spec/api.md checklist 36, 37. The digits are of SHA-256 of
 * "ClusterResourceEnvelope//e" and "ResourceEnvelope/ns/e". */
static void works_are_named_by_placement_part_and_envelope(void **state)
{
        static const struct {
                const char *ns, *envelope, *names[4];
        } rows[] = {
                { NULL, CLUSTER_ENVELOPE, { "p-work", "p-0", "p-1", "p-work-envelope-219e199518acb7c8" } },
                { "ns",
                  OWN_ENVELOPE,
                  { "ns.p-work", "ns.p-0", "ns.p-1", "ns.p-work-envelope-a6f9ee74dac2b4da" } },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct wanted_works w;
                struct work_plan p;
                struct scene s;

                begin_in(&s, rows[i].ns);
                add_part(&s, rows[i].ns, -1, rows[i].envelope);
                add_part(&s, rows[i].ns, 0, "");
                add_part(&s, rows[i].ns, 1, "");
                plan(&s, &w, &p);
                assert_int_equal(p.n, 4);
                for (size_t k = 0; k < 4; k++)
                        if (!is_planned(&p, rows[i].names[k]))
                                fail_msg("there is no \"%s\"", rows[i].names[k]);
                arena_free(&s.arena);
        }
}

/* spec/rollout-and-work.md checklist 39; spec/api.md checklist 36 */
static void works_have_no_owner_and_tell_whose_they_are(void **state)
{
        static const char *const spaces[] = { NULL, "ns" };

        for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
                struct wanted_works w;
                struct work_plan p;
                struct scene s;

                begin_in(&s, spaces[i]);
                add_part(&s, spaces[i], -1, spaces[i] ? OWN_ENVELOPE : CLUSTER_ENVELOPE);
                plan(&s, &w, &p);
                assert_int_equal(p.n, 2);
                for (size_t k = 0; k < p.n; k++) {
                        const struct object *o = &p.at[k].wanted->object;
                        bool envelope = strstr(o->meta.name, "-envelope-") != NULL;

                        assert_string_equal(o->meta.ns, "fleet-member-c1");
                        assert_int_equal(o->meta.n_owners, 0);
                        assert_string_equal(label_of(o, LABEL_PARENT_PLACEMENT), "p");
                        assert_string_equal(label_of(o, "kubernetes-fleet.io/parent-resource-binding"), "b1");
                        assert_string_equal(
                                or_empty(label_of(o, "kubernetes-fleet.io/parent-placement-namespace")),
                                or_empty(spaces[i]));
                        assert_string_equal(label_of(o, "kubernetes-fleet.io/parent-resource-snapshot-index"),
                                            "3");
                        assert_string_equal(
                                annotation_of(o, "kubernetes-fleet.io/parent-resource-snapshot-name"),
                                "p-3-snapshot");
                        assert_string_equal(or_empty(label_of(o, "kubernetes-fleet.io/envelope-name")),
                                            envelope ? "e" : "");
                        assert_string_equal(or_empty(label_of(o, "kubernetes-fleet.io/envelope-namespace")),
                                            envelope ? or_empty(spaces[i]) : "");
                        assert_string_equal(or_empty(label_of(o, "kubernetes-fleet.io/envelope-work")),
                                            !envelope   ? ""
                                            : spaces[i] ? "ResourceEnvelope"
                                                        : "ClusterResourceEnvelope");
                }
                arena_free(&s.arena);
        }
}

/* spec/rollout-and-work.md checklist 44 */
static void a_config_map_marked_as_an_envelope_is_a_config_map(void **state)
{
        struct wanted_works w;
        struct work_plan p;
        struct scene s;
        const char *map;

        begin_in(&s, NULL);
        map = arena_printf(&s.arena, CM,
                           "\"annotations\":{\"kubernetes-fleet.io/envelope-configmap\":\"true\"},");
        add_part(&s, NULL, -1, map);
        plan(&s, &w, &p);
        assert_int_equal(w.n, 1);
        assert_int_equal(w.at[0].manifests.n, 1);
        assert_true(slice_equal(w.at[0].manifests.at[0], slice_of(map)));
        arena_free(&s.arena);
}

static void enclose(struct work *w, const char *kind, const char *ns, struct arena *arena)
{
        set_label(&w->object, "kubernetes-fleet.io/envelope-work", kind, arena);
        set_label(&w->object, "kubernetes-fleet.io/envelope-name", "e", arena);
        if (ns)
                set_label(&w->object, "kubernetes-fleet.io/envelope-namespace", ns, arena);
}

#define FAILED                                                                                               \
        "{\"identifier\":{\"ordinal\":0},\"conditions\":[{\"type\":\"Applied\",\"status\":\"False\","        \
        "\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],"               \
        "\"driftDetails\":{\"observationTime\":\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"       \
        "\"2026-01-01T00:00:00Z\"},\"diffDetails\":{\"observationTime\":\"2026-01-01T00:00:00Z\","           \
        "\"firstDiffedObservedTime\":\"2026-01-01T00:00:00Z\"}}"

static void check_envelope(const struct envelope_identifier *e, const char *kind, const char *ns)
{
        if (!kind) {
                assert_null(e);
                return;
        }
        assert_string_equal(e->name, "e");
        assert_string_equal(e->type, kind);
        assert_string_equal(or_empty(e->ns), or_empty(ns));
}

/* spec/rollout-and-work.md checklist 52: of all three lists. */
static void what_came_in_an_envelope_is_listed_with_it(void **state)
{
        static const struct {
                const char *kind, *ns;
        } rows[] = { { NULL, NULL }, { "ClusterResourceEnvelope", NULL }, { "ResourceEnvelope", "ns" } };
        static struct resource_identifier id = {
                .version = "v1", .kind = "ConfigMap", .ns = "n", .name = "a"
        };
        static const struct resource_identifier_list known[8] = { { &id, 1, true } };
        static const struct sync_result in_sync = { .identities = known };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct binding_status *told;
                struct scene s;
                bool settled;

                begin(&s, "ClientSideApply");
                add_work(&s, "w", "3", "False", NULL, FAILED);
                if (rows[i].kind)
                        enclose((struct work *)(uintptr_t)s.works[0], rows[i].kind, rows[i].ns, &s.arena);
                told = binding_with_status(&s.arena, s.b, &s.live, &in_sync, NULL, NOW, &settled)->status;
                assert_int_equal(LIST_OR_NONE(told->failed_placements).n, 1);
                assert_int_equal(LIST_OR_NONE(told->drifted_placements).n, 1);
                assert_int_equal(LIST_OR_NONE(told->diffed_placements).n, 1);
                check_envelope(told->failed_placements->at[0].id.envelope, rows[i].kind, rows[i].ns);
                check_envelope(told->drifted_placements->at[0].id.envelope, rows[i].kind, rows[i].ns);
                check_envelope(told->diffed_placements->at[0].id.envelope, rows[i].kind, rows[i].ns);
                arena_free(&s.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(works_are_named_by_placement_part_and_envelope),
                cmocka_unit_test(works_have_no_owner_and_tell_whose_they_are),
                cmocka_unit_test(a_config_map_marked_as_an_envelope_is_a_config_map),
                cmocka_unit_test(what_came_in_an_envelope_is_listed_with_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
