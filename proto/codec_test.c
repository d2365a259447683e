#include "proto/test_documents.h"

#include "common/base/memory.h"
#include "proto/names.h"

static void assert_same(const struct kind *kind, uint64_t seed, const json_t *wanted, const json_t *got)
{
        if (doc_equal(wanted, got))
                return;
        char *a = json_dumps(wanted, JSON_SORT_KEYS | JSON_INDENT(1));
        char *b = json_dumps(got, JSON_SORT_KEYS | JSON_INDENT(1));
        fail_msg("%s, seed %llu:\n%s\n%s", kind->kind, (unsigned long long)seed, a, b);
}

static void round_trip(const struct kind *kind, uint64_t seed, struct intern_table *interns)
{
        struct dice dice = { seed };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = random_document(&dice, kind);
        struct error err = { 0 };
        struct object *o = NULL;
        if (object_decode(kind, text_of(&arena, doc), DECODE_FULL, interns, &o, &err) < 0)
                fail_msg("%s, seed %llu: %s", kind->kind, (unsigned long long)seed, err.text);
        struct object *copy = object_copy(o, &arena);
        struct object *again = object_copy(copy, &arena);
        assert_true(object_equal_part(o, again, OBJECT_META_SPEC) &&
                    object_equal_part(o, again, OBJECT_STATUS));
        object_unref(o);
        AUTO_JSON json_t *back = NULL;
        assert_int_equal(object_to_doc(again, &back, &err), 0);
        assert_same(kind, seed, doc, back);
}

static void every_kind_survives_decoding_copying_and_encoding(void **state)
{
        with_every_kind(round_trip, NULL);
        assert_int_equal(mem_live_count(), 0);
}

static void interned_strings_survive_too(void **state)
{
        struct intern_table *interns = intern_table_new();
        with_every_kind(round_trip, interns);
        intern_table_free(interns);
        assert_int_equal(mem_live_count(), 0);
}

static void a_document_gives_the_same_object_as_its_text(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct dice dice = { 5 };
        AUTO_JSON json_t *doc = random_document(&dice, &cluster_resource_placement_kind);
        struct object *a, *b;
        assert_int_equal(object_from_doc(&cluster_resource_placement_kind, doc, &arena, &a, NULL), 0);
        assert_int_equal(
                object_decode_arena(&cluster_resource_placement_kind, text_of(&arena, doc), &arena, &b, NULL),
                0);
        assert_true(object_equal_part(a, b, OBJECT_META_SPEC) && object_equal_part(a, b, OBJECT_STATUS));
}

static void fields_land_in_their_members(void **state)
{
        struct object *o;
        struct error err = { 0 };
        const char *text =
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                "v1beta1\",\"kind\":\"ClusterResourceBinding\","
                "\"metadata\":{\"name\":\"b\",\"generation\":3,\"labels\":{\"z\":\"1\",\"a\":\"2\"},"
                "\"managedFields\":[{\"manager\":\"x\"}],\"finalizers\":[\"f\"],"
                "\"creationTimestamp\":\"1970-01-01T00:00:05Z\","
                "\"ownerReferences\":[{\"apiVersion\":\"v\",\"kind\":\"k\",\"name\":\"n\",\"uid\":\"u\","
                "\"controller\":true}]},"
                "\"spec\":{\"state\":\"Bound\",\"unknown\":{\"a\":[1,2]},\"targetCluster\":\"c\","
                "\"applyStrategy\":null,\"clusterDecision\":{\"selected\":true,\"clusterScore\":"
                "{\"affinityScore\":-7}}},\"status\":{\"conditions\":[{\"type\":\"Applied\",\"status\":"
                "\"True\","
                "\"observedGeneration\":3,\"lastTransitionTime\":\"1970-01-01T00:00:07Z\"}]}}";
        if (object_decode(&cluster_resource_binding_kind, slice_of(text), DECODE_FULL, NULL, &o, &err) < 0)
                fail_msg("%s", err.text);
        const struct binding *b = (const struct binding *)o;
        assert_string_equal(o->meta.name, "b");
        assert_null(o->meta.ns);
        assert_int_equal(o->meta.generation, 3);
        assert_int_equal(o->meta.creation_ms, 5000);
        assert_true(o->meta.deletion_ms == TIME_NONE);
        assert_string_equal(string_map_get(&o->meta.labels, "a"), "2");
        assert_string_equal(o->meta.labels.at[0].key, "a");
        assert_string_equal(o->meta.finalizers[0], "f");
        assert_true(o->meta.owners[0].controller && !o->meta.owners[0].block_owner_deletion);
        assert_string_equal(b->spec->state, BINDING_BOUND);
        assert_string_equal(b->spec->target_cluster, "c");
        assert_null(b->spec->apply_strategy);
        assert_int_equal(b->spec->cluster_decision->cluster_score->affinity_score.value, -7);
        assert_true(condition_is_true(&b->status->conditions, CONDITION_APPLIED, 3));
        assert_false(condition_is_true(&b->status->conditions, CONDITION_APPLIED, 4));
        assert_int_equal(b->status->conditions.at[0].last_transition_ms, 7000);
        assert_null(b->status->failed_placements);
        object_unref(o);
}

static void interned_strings_are_shared_between_objects(void **state)
{
        struct intern_table *interns = intern_table_new();
        struct slice text =
                SLICE("{\"spec\":{\"targetCluster\":\"c\"},\"status\":{\"conditions\":[{\"type\":\"A\","
                      "\"status\":\"True\",\"message\":\"fine\"},{\"type\":\"B\",\"status\":\"False\","
                      "\"message\":\"broken\"}]}}");
        struct object *o[2];
        for (size_t i = 0; i < 2; i++)
                assert_int_equal(
                        object_decode(&resource_binding_kind, text, DECODE_FULL, interns, &o[i], NULL), 0);
        const struct binding *a = (const struct binding *)o[0], *b = (const struct binding *)o[1];
        assert_ptr_equal(a->spec->target_cluster, b->spec->target_cluster);
        assert_ptr_equal(a->status->conditions.at[0].message, b->status->conditions.at[0].message);
        assert_ptr_not_equal(a->status->conditions.at[1].message, b->status->conditions.at[1].message);
        object_unref(o[0]);
        object_unref(o[1]);
        intern_table_free(interns);
}

static void equal_parts_are_shared_but_copies_may_be_changed(void **state)
{
        struct intern_table *interns = intern_table_new();
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice text =
                SLICE("{\"spec\":{\"applyStrategy\":{\"type\":\"ReportDiff\"},\"clusterDecision\":"
                      "{\"clusterName\":\"c\",\"clusterScore\":{\"affinityScore\":4}}}}");
        struct object *o[2];
        for (size_t i = 0; i < 2; i++)
                assert_int_equal(
                        object_decode(&resource_binding_kind, text, DECODE_FULL, interns, &o[i], NULL), 0);
        const struct binding *a = (const struct binding *)o[0], *b = (const struct binding *)o[1];
        assert_ptr_equal(a->spec->apply_strategy, b->spec->apply_strategy);
        assert_ptr_equal(a->spec->cluster_decision, b->spec->cluster_decision);
        struct binding *changed = (struct binding *)object_copy(o[0], &arena);
        assert_int_equal(changed->spec->cluster_decision->cluster_score->affinity_score.value, 4);
        changed->spec->cluster_decision->cluster_score->affinity_score = OPT_INT(5);
        changed->spec->apply_strategy->type = "ServerSideApply";
        assert_string_equal(b->spec->apply_strategy->type, "ReportDiff");
        assert_int_equal(b->spec->cluster_decision->cluster_score->affinity_score.value, 4);
        object_unref(o[0]);
        object_unref(o[1]);
        intern_table_free(interns);
}

static void arrays_of_shared_strings_are_shared_but_copies_may_be_changed(void **state)
{
        struct intern_table *interns = intern_table_new();
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice text =
                SLICE("{\"metadata\":{\"finalizers\":[\"f\",\"g\"],\"labels\":{\"" LABEL_PARENT_PLACEMENT
                      "\":\"p\"},\"annotations\":{\"of-one\":\"its own\"}}}");
        struct object *o[2];
        for (size_t i = 0; i < 2; i++)
                assert_int_equal(
                        object_decode(&resource_binding_kind, text, DECODE_FULL, interns, &o[i], NULL), 0);
        assert_ptr_equal(o[0]->meta.finalizers, o[1]->meta.finalizers);
        assert_ptr_equal(o[0]->meta.labels.at, o[1]->meta.labels.at);
        assert_ptr_not_equal(o[0]->meta.annotations.at, o[1]->meta.annotations.at);
        struct object *changed = object_copy(o[0], &arena);
        changed->meta.finalizers[0] = "other";
        changed->meta.labels.at[0].value = "other";
        assert_string_equal(o[1]->meta.finalizers[0], "f");
        assert_string_equal(o[1]->meta.labels.at[0].value, "p");
        object_unref(o[0]);
        object_unref(o[1]);
        intern_table_free(interns);
}

#define HOLDS(type)                                                                                          \
        "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"Reason\",\"message\":\"A fixed sentence\"," \
        "\"observedGeneration\":2,\"lastTransitionTime\":\"2026-02-03T04:05:06Z\"}"

static void a_usual_binding_takes_at_most_600_bytes(void **state)
{
        struct intern_table *interns = intern_table_new();
        struct slice text = SLICE(
                "{\"metadata\":{\"name\":\"placement-0001-cluster-0001-01234567\","
                "\"uid\":\"6f1c1d1e-32ab-4b7c-9c54-000000000001\",\"resourceVersion\":\"100001\","
                "\"finalizers\":[\"" FINALIZER_SCHEDULER_BINDING "\",\"" FINALIZER_WORK "\"],"
                "\"labels\":{\"" LABEL_PARENT_PLACEMENT "\":\"placement-0001\"}},"
                "\"spec\":{\"state\":\"Bound\",\"resourceSnapshotName\":\"placement-0001-0-snapshot\","
                "\"schedulingPolicySnapshotName\":\"placement-0001-0\",\"targetCluster\":\"cluster-0001\","
                "\"clusterDecision\":{\"clusterName\":\"cluster-0001\",\"selected\":true,\"reason\":"
                "\"picked\"},"
                "\"applyStrategy\":{\"type\":\"ClientSideApply\",\"whenToApply\":\"Always\"}},"
                "\"status\":{\"conditions\":[" HOLDS("RolloutStarted") "," HOLDS("Overridden") "," HOLDS(
                        "WorkSynchronized") "," HOLDS("Applied") "," HOLDS("Available") "]}}");
        struct object *o;
        assert_int_equal(
                object_decode(&cluster_resource_binding_kind, text, DECODE_PROJECTION, interns, &o, NULL), 0);
        assert_int_equal(((const struct binding *)o)->status->conditions.n, 5);
        assert_in_range(object_bytes(o), 1, 600);
        object_unref(o);
        intern_table_free(interns);
}

static void a_list_apart_is_a_pointer_in_the_struct_only(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *none, *one;
        struct slice text = SLICE("{\"status\":{\"failedPlacements\":[{\"kind\":\"Pod\",\"name\":\"p\"}]}}");
        assert_int_equal(object_decode(&resource_binding_kind,
                                       SLICE("{\"status\":{\"failedPlacements\":null}}"), DECODE_FULL, NULL,
                                       &none, NULL),
                         0);
        assert_int_equal(object_decode(&resource_binding_kind, text, DECODE_FULL, NULL, &one, NULL), 0);
        const struct binding *b = (const struct binding *)object_copy(one, &arena);
        assert_int_equal(LIST_OR_NONE(((const struct binding *)none)->status->failed_placements).n, 0);
        assert_int_equal(LIST_OR_NONE(b->status->failed_placements).n, 1);
        assert_string_equal(b->status->failed_placements->at[0].id.name, "p");
        assert_true(object_equal_part(one, &b->object, OBJECT_STATUS));
        assert_false(object_equal_part(one, none, OBJECT_STATUS));
        AUTO_BUF struct buf json;
        buf_init(&json, 4096);
        assert_int_equal(object_encode(&b->object, &json), 0);
        assert_non_null(strstr(json.data, "\"failedPlacements\":[{"));
        object_unref(none);
        object_unref(one);
}

static const char work_text[] =
        "{\"metadata\":{\"name\":\"w\",\"annotations\":{\"big\":\"%01000d\",\"small\":\"1\"}},"
        "\"spec\":{\"workload\":{\"manifests\":[{\"kind\":\"ConfigMap\"}]}},"
        "\"status\":{\"conditions\":[],\"manifestConditions\":["
        "{\"identifier\":{\"ordinal\":0},\"conditions\":[{\"type\":\"Applied\",\"status\":\"True\"}]},"
        "{\"identifier\":{\"ordinal\":1},\"conditions\":[{\"type\":\"Applied\",\"status\":\"False\"}]},"
        "{\"identifier\":{\"ordinal\":2},\"conditions\":[{\"type\":\"Applied\",\"status\":\"True\"}],"
        "\"driftDetails\":{\"observedDrifts\":[{\"path\":\"/x\"}]}},"
        "{\"identifier\":{\"ordinal\":3},\"conditions\":[],\"backReportedStatus\":{\"observedStatus\":{}}}]}"
        "}";

static void a_projection_keeps_what_the_hub_needs_of_a_work(void **state)
{
        char text[4096];
        snprintf(text, sizeof(text), work_text, 7);
        struct object *o;
        assert_int_equal(object_decode(&work_kind, slice_of(text), DECODE_PROJECTION, NULL, &o, NULL), 0);
        const struct work *w = (const struct work *)o;
        assert_false(w->spec->workload->manifests.set);
        assert_null(string_map_get(&o->meta.annotations, "big"));
        assert_string_equal(string_map_get(&o->meta.annotations, "small"), "1");
        assert_int_equal(w->status->manifest_conditions.n, 2);
        assert_int_equal(w->status->manifest_conditions.at[0].identifier->ordinal.value, 1);
        assert_string_equal(w->status->manifest_conditions.at[1].drift_details->observed_drifts.at[0].path,
                            "/x");
        object_unref(o);
        assert_int_equal(object_decode(&work_kind, slice_of(text), DECODE_FULL, NULL, &o, NULL), 0);
        w = (const struct work *)o;
        assert_int_equal(w->status->manifest_conditions.n, 4);
        assert_true(slice_is(w->spec->workload->manifests.at[0], "{\"kind\":\"ConfigMap\"}"));
        object_unref(o);
}

static void a_partial_object_keeps_its_own_kind(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o;
        assert_int_equal(
                object_decode_arena(&partial_object_kind,
                                    SLICE("{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"metadata\":"
                                          "{\"name\":\"d\",\"namespace\":\"n\"},\"spec\":{\"replicas\":3}}"),
                                    &arena, &o, NULL),
                0);
        const struct partial_object *p = (const struct partial_object *)o;
        assert_string_equal(p->api_version, "apps/v1");
        assert_string_equal(p->kind, "Deployment");
        assert_string_equal(o->meta.ns, "n");
}

static void int_or_string_tells_the_two_apart(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o;
        assert_int_equal(
                object_decode_arena(&cluster_resource_placement_disruption_budget_kind,
                                    SLICE("{\"spec\":{\"maxUnavailable\":3,\"minAvailable\":\"50%\"}}"),
                                    &arena, &o, NULL),
                0);
        const struct disruption_budget *b = (const struct disruption_budget *)o;
        assert_true(b->spec->max_unavailable.set && !b->spec->max_unavailable.text);
        assert_int_equal(b->spec->max_unavailable.value, 3);
        assert_string_equal(b->spec->min_available.text, "50%");
}

static void a_quantity_may_be_a_number(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o;
        assert_int_equal(
                object_decode_arena(&node_kind,
                                    SLICE("{\"status\":{\"capacity\":{\"cpu\":4,\"memory\":\"1Gi\"}}}"),
                                    &arena, &o, NULL),
                0);
        const struct node *n = (const struct node *)o;
        assert_string_equal(string_map_get(&n->status->capacity, "cpu"), "4");
        assert_string_equal(string_map_get(&n->status->capacity, "memory"), "1Gi");
}

static void an_integer_that_is_too_large_becomes_the_nearest(void **state)
{
        static const struct {
                const char *text;
                int64_t value;
        } cases[] = {
                { "4611686018427387903", INT64_MAX / 2 },
                { "4611686018427387904", INT64_MAX / 2 },
                { "9223372036854775807", INT64_MAX / 2 },
                { "92233720368547758070", INT64_MAX / 2 },
                { "-4611686018427387905", INT64_MIN / 2 },
                { "-1e30", INT64_MIN / 2 },
                { "1e3", 1000 },
                { "-2.0", -2 },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char text[128];
                struct object *o;
                snprintf(text, sizeof(text), "{\"status\":{\"conditions\":[{\"observedGeneration\":%s}]}}",
                         cases[i].text);
                assert_int_equal(object_decode(&work_kind, slice_of(text), DECODE_FULL, NULL, &o, NULL), 0);
                const struct work *w = (const struct work *)o;
                assert_true(w->status->conditions.at[0].observed_generation.value == cases[i].value);
                object_unref(o);
        }
}

static void u_0000_in_a_string_does_not_cut_it(void **state)
{
        struct object *o;
        assert_int_equal(
                object_decode(&member_cluster_kind,
                              SLICE("{\"metadata\":{\"annotations\":{\"a\":\"\\u0000x\\u0000\\u0000\"},"
                                    "\"labels\":{\"\\u0000\":\"y\"}}}"),
                              DECODE_PROJECTION, NULL, &o, NULL),
                0);
        assert_string_equal(string_map_get(&o->meta.annotations, "a"),
                            "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd");
        assert_string_equal(string_map_get(&o->meta.labels, "\xef\xbf\xbd"), "y");
        object_unref(o);
        assert_int_equal(mem_live_count(), 0);
}

static void a_wrong_input_names_the_field(void **state)
{
        static const struct {
                const struct kind *kind;
                const char *text, *problem;
        } cases[] = {
                { &member_cluster_kind, "{\"spec\":{\"taints\":[{\"key\":\"a\"},{\"key\":5}]}}",
                  "spec.taints[1].key: must be a string, is a number" },
                { &member_cluster_kind, "{\"spec\":{\"heartbeatPeriodSeconds\":\"60\"}}",
                  "spec.heartbeatPeriodSeconds: must be an integer, is a string" },
                { &member_cluster_kind, "{\"spec\":{\"heartbeatPeriodSeconds\":1.5}}",
                  "spec.heartbeatPeriodSeconds: must be an integer" },
                { &member_cluster_kind, "{\"status\":{\"properties\":{\"a.b/c\":{\"value\":[]}}}}",
                  "status.properties.a.b/c.value: must be a string, is an array" },
                { &member_cluster_kind, "{\"status\":{\"conditions\":{}}}",
                  "status.conditions: must be an array, is an object" },
                { &member_cluster_kind,
                  "{\"status\":{\"conditions\":[{\"lastTransitionTime\":\"yesterday\"}]}}",
                  "status.conditions[0].lastTransitionTime: must be a time" },
                { &member_cluster_kind, "{\"metadata\":{\"labels\":{\"a\":true}}}",
                  "metadata.labels.a: must be a string, is a boolean" },
                { &member_cluster_kind, "{\"metadata\":[]}", "metadata: must be an object, is an array" },
                { &member_cluster_kind, "{\"spec\":7}", "spec: must be an object, is a number" },
                { &member_cluster_kind, "{\"kind\":\"Work\"}", "kind: must be MemberCluster, is Work" },
                { &member_cluster_kind, "{\"apiVersion\":\"v1\"}",
                  "apiVersion: must be cluster.kubernetes-fleet.io/v1beta1" },
                { &member_cluster_kind, "[]", "must be an object, is an array" },
                { &work_kind, "{\"spec\":{\"workload\":{\"manifests\":[{},null]}}}",
                  "spec.workload.manifests[1]: must not be null" },
                { &work_kind, "{\"status\":", "" },
                { &work_kind, "{} {}", "" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct error err = { 0 };
                struct object *o = NULL;
                assert_int_equal(
                        object_decode(cases[i].kind, slice_of(cases[i].text), DECODE_FULL, NULL, &o, &err),
                        ERR_INVALID);
                if (!strstr(err.text, cases[i].problem))
                        fail_msg("%s: wanted \"%s\", got \"%s\"", cases[i].text, cases[i].problem, err.text);
                assert_null(o);
        }
        assert_int_equal(mem_live_count(), 0);
}

/* Replaces the value at the n-th node of a document by one of another type. Returns nodes passed. */
static size_t spoil(json_t *value, size_t n, size_t seen)
{
        const char *key;
        json_t *child;
        size_t i;
        json_object_foreach(value, key, child) {
                if (seen++ == n) {
                        json_object_set_new(value, key, json_is_true(child) ? json_array() : json_true());
                        return SIZE_MAX;
                }
                seen = spoil(child, n, seen);
                if (seen == SIZE_MAX)
                        return seen;
        }
        json_array_foreach(value, i, child) {
                if (seen++ == n) {
                        json_array_set_new(value, i, json_is_true(child) ? json_array() : json_true());
                        return SIZE_MAX;
                }
                seen = spoil(child, n, seen);
                if (seen == SIZE_MAX)
                        return seen;
        }
        return seen;
}

static void a_wrong_type_anywhere_is_refused_or_harmless(void **state)
{
        struct dice dice = { 77 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = random_document(&dice, &member_cluster_kind);
        size_t refused = 0;
        for (size_t n = 0;; n++) {
                AUTO_JSON json_t *spoiled = json_deep_copy(doc);
                if (spoil(spoiled, n, 0) != SIZE_MAX)
                        break;
                struct error err = { 0 };
                struct object *o = NULL;
                int code = object_decode(&member_cluster_kind, text_of(&arena, spoiled), DECODE_FULL, NULL,
                                         &o, &err);
                assert_true(code == 0 || (code == ERR_INVALID && strstr(err.text, ": must be")));
                refused += code < 0;
                object_unref(o);
        }
        assert_true(refused > 20);
}

static void every_failing_allocation_is_reported(void **state)
{
        struct dice dice = { 9 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = random_document(&dice, &cluster_staged_update_run_kind);
        struct slice text = text_of(&arena, doc);
        size_t before = mem_live_count();
        for (uint64_t n = 1;; n++) {
                struct error err = { 0 };
                struct object *o = NULL;
                mem_fail_at(n, false);
                int code = object_decode(&cluster_staged_update_run_kind, text, DECODE_FULL, NULL, &o, &err);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_true(fired ? code == ERR_NO_MEMORY : code == 0);
                object_unref(o);
                assert_int_equal(mem_live_count(), before);
                if (!fired)
                        return;
        }
}

/* Sharing is a saving only: when there is no memory for it, the object holds its own copy. */
static void failing_allocations_with_interning_never_lose_a_value(void **state)
{
        struct dice dice = { 11 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = random_document(&dice, &cluster_resource_binding_kind);
        struct slice text = text_of(&arena, doc);
        bool fired = true;
        for (uint64_t n = 1; fired; n++) {
                struct intern_table *interns = intern_table_new();
                struct object *o = NULL;
                mem_fail_at(n, false);
                int code =
                        object_decode(&cluster_resource_binding_kind, text, DECODE_FULL, interns, &o, NULL);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_true(code == 0 || (fired && code == ERR_NO_MEMORY));
                if (code == 0) {
                        AUTO_JSON json_t *back = NULL;
                        assert_int_equal(object_to_doc(o, &back, NULL), 0);
                        assert_same(&cluster_resource_binding_kind, n, doc, back);
                }
                object_unref(o);
                intern_table_free(interns);
        }
}

static void a_reference_keeps_an_object_alive(void **state)
{
        struct object *o;
        assert_int_equal(object_decode(&work_kind, SLICE("{\"metadata\":{\"name\":\"w\"}}"), DECODE_FULL,
                                       NULL, &o, NULL),
                         0);
        assert_ptr_equal(object_ref(o), o);
        object_unref(o);
        assert_string_equal(o->meta.name, "w");
        assert_true(object_bytes(o) > sizeof(struct work));
        object_unref(o);
        object_unref(NULL);
        assert_int_equal(mem_live_count(), 0);
}

/* spec/api.md checklist 44 */
static void empty_values_that_the_crd_requires_are_written(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct work *w = (struct work *)object_new(&work_kind, "n", "w", &arena);
        w->status = ARENA_NEW(&arena, struct work_status);
        assert_int_equal(
                condition_set(&w->status->conditions,
                              &(struct condition){ .type = "Applied", .status = "True", .reason = "R" }, 5000,
                              &arena),
                1);
        AUTO_BUF struct buf b;
        buf_init(&b, 4096);
        assert_int_equal(object_encode(&w->object, &b), 0);
        assert_string_equal(
                b.data,
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"Work\",\"metadata\":"
                "{\"name\":\"w\",\"namespace\":\"n\"},\"status\":{\"conditions\":[{\"lastTransitionTime\":"
                "\"1970-01-01T00:00:05Z\",\"message\":\"\",\"reason\":\"R\",\"status\":\"True\","
                "\"type\":\"Applied\"}]}}");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_kind_survives_decoding_copying_and_encoding),
                cmocka_unit_test(interned_strings_survive_too),
                cmocka_unit_test(a_document_gives_the_same_object_as_its_text),
                cmocka_unit_test(fields_land_in_their_members),
                cmocka_unit_test(interned_strings_are_shared_between_objects),
                cmocka_unit_test(equal_parts_are_shared_but_copies_may_be_changed),
                cmocka_unit_test(arrays_of_shared_strings_are_shared_but_copies_may_be_changed),
                cmocka_unit_test(a_usual_binding_takes_at_most_600_bytes),
                cmocka_unit_test(a_list_apart_is_a_pointer_in_the_struct_only),
                cmocka_unit_test(a_projection_keeps_what_the_hub_needs_of_a_work),
                cmocka_unit_test(a_partial_object_keeps_its_own_kind),
                cmocka_unit_test(int_or_string_tells_the_two_apart),
                cmocka_unit_test(a_quantity_may_be_a_number),
                cmocka_unit_test(an_integer_that_is_too_large_becomes_the_nearest),
                cmocka_unit_test(u_0000_in_a_string_does_not_cut_it),
                cmocka_unit_test(a_wrong_input_names_the_field),
                cmocka_unit_test(a_wrong_type_anywhere_is_refused_or_harmless),
                cmocka_unit_test(every_failing_allocation_is_reported),
                cmocka_unit_test(failing_allocations_with_interning_never_lose_a_value),
                cmocka_unit_test(a_reference_keeps_an_object_alive),
                cmocka_unit_test(empty_values_that_the_crd_requires_are_written),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
