/* How overrides' specs are hashed, and what becomes of snapshots with another hash: agents that take turns
 * must not make new snapshots. spec/rollout-and-work.md 1.4, 4. The hashes are those of the texts beside
 * them, taken with sha256sum. */
#include "hub-agent/override/testing.h"

#include "common/base/digest.h"
#include "hub-agent/go_text.h"

static const struct {
        const char *ns, *spec; /* as a client may send it */
        const char *text, *hash;
} rows[] = {
        /* every field, in another order, with white space and characters that Go escapes */
        { NULL,
          "{ \"policy\": {\"overrideRules\": [{\"jsonPatchOverrides\": [{\"value\": {\"z\": \"a<b&c>d\", "
          "\"a\": [1, 1.50, true, null]}, \"path\": \"/metadata/labels\", \"op\": \"add\"}, {\"op\": "
          "\"remove\", \"path\": \"/spec/a~1b\"}], \"overrideType\": \"JSONPatch\", \"clusterSelector\": "
          "{\"clusterSelectorTerms\": [{\"labelSelector\": {\"matchLabels\": {\"region\": \"eu\"}}}, "
          "{\"labelSelector\": {}}]}}, {\"overrideType\": \"Delete\"}]}, \"clusterResourceSelectors\": "
          "[{\"selectionScope\": \"NamespaceWithResources\", \"name\": \"web\", \"kind\": \"Namespace\", "
          "\"version\": \"v1\", \"group\": \"\"}, {\"group\": \"rbac.authorization.k8s.io\", \"version\": "
          "\"v1\", \"kind\": \"ClusterRole\", \"name\": \"reader\", \"labelSelector\": "
          "{\"matchExpressions\": [{\"values\": [\"x\", \"y\"], \"operator\": \"In\", \"key\": \"k\"}, "
          "{\"key\": \"e\", \"operator\": \"Exists\"}], \"matchLabels\": {\"b\": \"2\", \"a\": "
          "\"1\"}}}], \"placement\": {\"scope\": \"Cluster\", \"name\": \"web\"} }",
          "{\"placement\":{\"name\":\"web\",\"scope\":\"Cluster\"},\"clusterResourceSelectors\":[{\"group\":"
          "\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"web\",\"selectionScope\":"
          "\"NamespaceWithResources\"},{\"group\":\"rbac.authorization.k8s.io\",\"version\":\"v1\",\"kind\":"
          "\"ClusterRole\",\"name\":\"reader\",\"labelSelector\":{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"},"
          "\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]},{\"key\":\"e\","
          "\"operator\":\"Exists\"}]}}],\"policy\":{\"overrideRules\":[{\"clusterSelector\":{"
          "\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"region\":\"eu\"}}},{"
          "\"labelSelector\":{}}]},\"overrideType\":\"JSONPatch\",\"jsonPatchOverrides\":[{\"op\":\"add\","
          "\"path\":\"/metadata/"
          "labels\",\"value\":{\"z\":\"a\\u003cb\\u0026c\\u003ed\",\"a\":[1,1.50,true,null]}},{\"op\":"
          "\"remove\",\"path\":\"/spec/a~1b\",\"value\":null}]},{\"overrideType\":\"Delete\"}]}}",
          "d92570940b44508257f18083bac8ef2ccf07b1eacc273eb68efcaafb933d539d" },
        { "team-a",
          "{\"policy\":{\"overrideRules\":[{\"clusterSelector\":{\"clusterSelectorTerms\":[]},"
          "\"overrideType\":"
          "\"JSONPatch\",\"jsonPatchOverrides\":[{\"op\":\"replace\",\"path\":\"/spec/x&y\",\"value\":"
          "\"${MEMBER-CLUSTER-NAME} \xe2\x80\xa8\"}]}]},\"resourceSelectors\":[{\"group\":\"apps\","
          "\"version\":\"v1\",\"kind\":\"Deployment\",\"name\":\"web\"}]}",
          "{\"resourceSelectors\":[{\"group\":\"apps\",\"version\":\"v1\",\"kind\":\"Deployment\",\"name\":"
          "\"web\"}],\"policy\":{\"overrideRules\":[{\"clusterSelector\":{\"clusterSelectorTerms\":[]},"
          "\"overrideType\":\"JSONPatch\",\"jsonPatchOverrides\":[{\"op\":\"replace\",\"path\":\"/spec/"
          "x\\u0026y\",\"value\":\"${MEMBER-CLUSTER-NAME} \\u2028\"}]}]}}",
          "f75f84f99d1f01883363ad37458cb8f0aec87fdf7ca6e98e5048efa775fcd77e" },
        { "team-a",
          "{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
          "\"site\"}]}",
          "{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
          "\"site\"}],\"policy\":null}",
          "dc67439d931f3f27d61bf2c419ad6487af59fa9ab69f81e3e66d753b6ebd983b" },
};

static const struct resource_override *override_of(struct bench *b, const char *ns, const char *spec)
{
        const char *text =
                arena_printf(&b->arena, "{\"metadata\":{\"name\":\"o\",\"uid\":\"u\"%s%s%s},\"spec\":%s}",
                             ns ? ",\"namespace\":\"" : "", ns ? ns : "", ns ? "\"" : "", spec);

        return parse(b, ns ? &resource_override_kind : &cluster_resource_override_kind, text);
}

static void a_hash_is_that_of_the_spec_in_the_order_of_its_fields(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char hash[65], of_text[65];
                struct bench b;

                begin(&b);
                sha256_hex(rows[i].text, strlen(rows[i].text), of_text);
                assert_string_equal(of_text, rows[i].hash);
                assert_int_equal(override_hash(override_of(&b, rows[i].ns, rows[i].spec), hash, &b.err), 0);
                if (!text_equal(hash, rows[i].hash))
                        fail_msg("row %zu: %s", i, hash);
                arena_free(&b.arena);
        }
}

static void raw_values_are_only_compacted_and_escaped(void **state)
{
        static const struct {
                const char *json, *expected;
        } texts[] = {
                { " { \"b\" : 1.0e3 , \"a\" : [ 1 , 2 ] } ", "{\"b\":1.0e3,\"a\":[1,2]}" },
                { "\" a \\\" b\\\\\" ", "\" a \\\" b\\\\\"" },
                { "\"\\u003c<&>\"", "\"\\u003c\\u003c\\u0026\\u003e\"" },
                { "\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\"", "\"\\u2028\\u2029\xe2\x80\xaa\"" },
                { "\"\xc3\xa9\"", "\"\xc3\xa9\"" },
        };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                AUTO_BUF struct buf b;

                buf_init(&b, 1024);
                go_put_raw(&b, slice_of(texts[i].json));
                assert_string_equal(b.data, texts[i].expected);
        }
}

/* The latest snapshot of the override with this hash of 64 characters, as it is stored. */
static const struct object *stored(struct bench *b, const char *ns, const char *spec, const char *hash,
                                   const char *latest)
{
        const char *text = arena_printf(
                &b->arena,
                "{\"metadata\":{\"name\":\"o-4\"%s%s%s,\"labels\":{\"kubernetes-fleet.io/"
                "override-index\":\"4\","
                "\"kubernetes-fleet.io/is-latest-snapshot\":\"%s\"}},\"spec\":{\"overrideHash\":\"%s\","
                "\"overrideSpec\":%s}}",
                ns ? ",\"namespace\":\"" : "", ns ? ns : "", ns ? "\"" : "", latest,
                hash_on_wire(&b->arena, hash), spec);

        return parse(b, ns ? &resource_override_snapshot_kind : &cluster_resource_override_snapshot_kind,
                     text);
}

static void plan_over(struct bench *b, size_t row, const char *hash, const char *latest,
                      struct override_snapshot_plan *plan)
{
        const struct object *all[] = { stored(b, rows[row].ns, rows[row].spec, hash, latest) };
        const struct object_list existing = { all, 1 };

        assert_int_equal(plan_override_snapshots(&b->arena, override_of(b, rows[row].ns, rows[row].spec),
                                                 &existing, NO_INDEX, plan, &b->err),
                         0);
        assert_null(plan->create);
        assert_int_equal(plan->n_remove, 0);
}

static void snapshots_of_the_reference_are_taken_over_unchanged(void **state)
{
        struct override_snapshot_plan plan;
        struct bench b;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                begin(&b);
                plan_over(&b, i, rows[i].hash, "true", &plan);
                assert_null(plan.update.now);
                /* a hash that nobody here knows, of the same spec, is not ours to judge */
                plan_over(&b, i, "0000000000000000000000000000000000000000000000000000000000000000", "true",
                          &plan);
                assert_null(plan.update.now);
                arena_free(&b.arena);
        }
}

/* Of earlier versions: over keys in sorted order. */
static void a_hash_over_sorted_keys_is_put_right_in_place(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *doc = NULL;
                struct override_snapshot_plan plan;
                const struct override_snapshot *wanted;
                char sorted[65];
                struct bench b;

                begin(&b);
                assert_int_equal(
                        object_to_doc(&override_of(&b, rows[i].ns, rows[i].spec)->object, &doc, &b.err), 0);
                assert_int_equal(doc_hash(doc_get(doc, "spec"), sorted, &b.err), 0);
                plan_over(&b, i, sorted, i ? "true" : "false", &plan);
                wanted = (const struct override_snapshot *)plan.update.wanted;
                assert_non_null(wanted);
                assert_string_equal(wanted->object.meta.name, "o-4");
                assert_string_equal(label_of(&wanted->object, LABEL_IS_LATEST_SNAPSHOT), "true");
                assert_string_equal(wanted->spec->override_hash, hash_on_wire(&b.arena, rows[i].hash));
                arena_free(&b.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_hash_is_that_of_the_spec_in_the_order_of_its_fields),
                cmocka_unit_test(raw_values_are_only_compacted_and_escaped),
                cmocka_unit_test(snapshots_of_the_reference_are_taken_over_unchanged),
                cmocka_unit_test(a_hash_over_sorted_keys_is_put_right_in_place),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
