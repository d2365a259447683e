/* What is rendered of snapshots, and which Works that asks for. */
#include "hub-agent/starve_test.h"
#include "hub-agent/work-generator/work_generator_test.h"

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
        assert_string_equal(w.at[1].envelope_name, "e");
        assert_null(w.at[1].envelope_ns);
        assert_string_equal(w.at[0].snapshot_index, "3");
        assert_string_equal(w.at[1].snapshot_index, "3");
        assert_string_equal(w.at[1].manifests.at[0].data,
                            "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"z\"}}");
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md 6.5: the keys of an envelope are the user's and stand in any order: what the Work
 * holds depends on the content.
 */
static void what_is_in_an_envelope_comes_in_one_order_whatever_its_keys(void **state)
{
#define IN(key, name)                                                                                        \
        "\"" key "\":{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" name "\"}}"
        static const char *const envelopes[] = {
                CM
                "," ENVELOPE("ClusterResourceEnvelope", "", IN("a", "x") "," IN("b", "y") "," IN("c", "z")),
                CM
                "," ENVELOPE("ClusterResourceEnvelope", "", IN("c", "x") "," IN("a", "z") "," IN("b", "y")),
        };

        for (size_t i = 0; i < ARRAY_LEN(envelopes); i++) {
                struct wanted_works w;
                struct scene s;

                begin(&s, "ClientSideApply");
                add_snapshot(&s, HEAD, envelopes[i]);
                assert_int_equal(render(&s, &w), 0);
                assert_int_equal(w.n, 2);
                assert_int_equal(w.at[1].manifests.n, 3);
                for (size_t k = 0; k < 3; k++)
                        assert_non_null(strstr(w.at[1].manifests.at[k].data, k == 0   ? "\"z\""
                                                                             : k == 1 ? "\"y\""
                                                                                      : "\"x\""));
                arena_free(&s.arena);
        }
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
        assert_false(works_are_complete(&s.arena, s.b, &s.live, "3")); /* there is none */
        add_work(&s, "web-work", "3", NULL, NULL, "");
        assert_false(works_are_complete(&s.arena, s.b, &s.live, "3"));
        tell_set(&s, WORK_SET_OF_3 "1");
        assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
        assert_int_equal(plan.n, 0);
        assert_true(works_are_complete(&s.arena, s.b, &s.live, "3"));
        assert_false(works_are_complete(&s.arena, s.b, &s.live, "4"));
        tell_set(&s, WORK_SET_OF_3 "2");
        assert_false(works_in_sync(&s.arena, s.b, &s.live, "3", 1, ""));
        assert_false(works_are_complete(&s.arena, s.b, &s.live, "3"));
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

/* Of wanted envelope m/e no Work is that of another kind, name or namespace. */
static void envelopes_that_differ_in_one_thing_have_works_of_their_own(void **state)
{
        static const struct {
                const char *kind, *name, *ns;
                bool own;
        } rows[] = { { "ResourceEnvelope", "e", "m", true },
                     { "ClusterResourceEnvelope", "e", "m", false },
                     { "ResourceEnvelope", "f", "m", false },
                     { "ResourceEnvelope", "e", "n", false } };
        struct wanted_work one = { .name = "web-work-envelope-0123456789abcdef",
                                   .snapshot_index = "3",
                                   .envelope_kind = "ResourceEnvelope",
                                   .envelope_name = "e",
                                   .envelope_ns = "m" };
        const struct wanted_works w = { &one, 1 };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct work_plan plan;
                struct scene s;

                begin(&s, "ClientSideApply");
                s.works[s.live.n++] =
                        parse(&s, &work_kind,
                              arena_printf(&s.arena,
                                           "{\"metadata\":{\"name\":\"w\",\"namespace\":\"fleet-member-c1\","
                                           "\"labels\":{\"kubernetes-fleet.io/envelope-work\":\"%s\","
                                           "\"kubernetes-fleet.io/envelope-name\":\"%s\","
                                           "\"kubernetes-fleet.io/envelope-namespace\":\"%s\"}}}",
                                           rows[i].kind, rows[i].name, rows[i].ns));
                assert_int_equal(plan_works(&s.arena, s.b, &w, &s.live, "", &plan, &s.err), 0);
                assert_int_equal(plan.n, rows[i].own ? 1 : 2); /* or one goes and one comes */
                for (size_t k = 0; k < plan.n; k++)
                        assert_int_equal(plan.at[k].now && plan.at[k].wanted, rows[i].own);
                arena_free(&s.arena);
        }
}

/* Ten are named; with more the sentence would outgrow its condition. */
static void of_envelopes_that_cannot_be_placed_ten_are_named(void **state)
{
        static const struct {
                size_t wrong;
                const char *words;
        } rows[] = {
                { 0, NULL },
                { 1, "w0" },
                { 10, "w0; w1; w2; w3; w4; w5; w6; w7; w8; w9" },
                { 11, "w0; w1; w2; w3; w4; w5; w6; w7; w8; w9; and 1 more" },
                { 13, "w0; w1; w2; w3; w4; w5; w6; w7; w8; w9; and 3 more" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct wanted_work works[14] = { 0 }; /* the first is as it should be */
                const struct wanted_works wanted = { works, rows[i].wrong + 1 };
                struct error err = { 0 };

                for (size_t k = 0; k < rows[i].wrong; k++)
                        works[k + 1].invalid = arena_printf(&arena, "w%zu", k);
                assert_int_equal(check_envelopes(&arena, &wanted, &err), rows[i].wrong ? ERR_INVALID : 0);
                if (rows[i].words)
                        assert_string_equal(err.text, rows[i].words);
        }
}

/* Its Works are named after the placement. */
static void a_snapshot_that_names_no_placement_makes_no_works(void **state)
{
        struct wanted_works w;
        struct scene s;
        bool failed;

        begin(&s, "ClientSideApply");
        s.group[s.n_group++] = parse(&s, &cluster_resource_snapshot_kind,
                                     "{\"metadata\":{\"name\":\"web-3-snapshot\"},\"spec\":{}}");
        assert_int_equal(render_works(&s.arena, s.group, s.n_group, NULL, &rules, &w, &failed, &s.err),
                         ERR_INVALID);
        assert_string_equal(s.err.text, "resource snapshot \"web-3-snapshot\" lacks label "
                                        "kubernetes-fleet.io/parent-CRP");
        arena_free(&s.arena);
}

static int render_without_memory(void *ctx, struct arena *arena)
{
        struct scene *s = ctx;
        struct wanted_works w;
        struct work_plan plan;
        bool failed;
        int code = render_works(arena, s->group, s->n_group, NULL, &rules, &w, &failed, &s->err);

        return code < 0 ? code : plan_works(arena, s->b, &w, &s->live, "", &plan, &s->err);
}

static void without_memory_no_works_are_made(void **state)
{
        struct scene s;

        begin(&s, "ClientSideApply");
        add_snapshot(&s, HEAD, CM "," ENVELOPE("ClusterResourceEnvelope", "", "\"k\":" CM));
        add_work(&s, "web-work", "2", NULL, NULL, "");
        add_work(&s, "web-0", "2", NULL, NULL, "");
        each_allocation_fails(render_without_memory, &s);
        arena_free(&s.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_snapshot_of_a_group_becomes_a_work),
                cmocka_unit_test(an_empty_selection_still_makes_a_work),
                cmocka_unit_test(an_envelope_becomes_a_work_of_its_own),
                cmocka_unit_test(what_is_in_an_envelope_comes_in_one_order_whatever_its_keys),
                cmocka_unit_test(several_works_of_one_envelope_are_told_and_left_alone),
                cmocka_unit_test(envelopes_hold_only_what_their_scope_allows),
                cmocka_unit_test(an_envelope_that_breaks_a_rule_leaves_its_work_as_it_is),
                cmocka_unit_test(what_overrides_make_of_a_manifest_keeps_to_the_same_rules),
                cmocka_unit_test(only_works_that_differ_are_written),
                cmocka_unit_test(works_of_a_binding_carry_the_set_they_make),
                cmocka_unit_test(a_work_of_another_placement_is_told_by_its_labels),
                cmocka_unit_test(of_envelopes_that_cannot_be_placed_ten_are_named),
                cmocka_unit_test(a_snapshot_that_names_no_placement_makes_no_works),
                cmocka_unit_test(without_memory_no_works_are_made),
                cmocka_unit_test(envelopes_that_differ_in_one_thing_have_works_of_their_own),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
