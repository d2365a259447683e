#include "common/json/patch.h"
#include "common/json/schema.h"
#include "hub-agent/webhook/webhook_test.h"

#define PATH PLACEMENT_PATH("mutate", "clusterresourceplacement")
#define SELECT "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\"}]"
#define CRP(more) "{\"metadata\":{\"name\":\"web\"},\"spec\":{" SELECT more "}}"
#define APPLY                                                                                                \
        "\"applyStrategy\":{\"type\":\"ClientSideApply\",\"comparisonOption\":\"PartialComparison\","        \
        "\"whenToApply\":\"Always\",\"whenToTakeOver\":\"Always\"}"
#define PACE                                                                                                 \
        "\"rollingUpdate\":{\"maxUnavailable\":\"25%\",\"maxSurge\":\"25%\",\"unavailablePeriodSeconds\":"   \
        "60}"
#define STRATEGY ",\"strategy\":{\"type\":\"RollingUpdate\"," PACE "," APPLY "}"
#define POLICY ",\"policy\":{\"placementType\":\"PickAll\"}"
#define HISTORY ",\"revisionHistoryLimit\":10"

/* New: what the placement becomes. */
static json_t *completed(struct hub *h, const char *text)
{
        AUTO_JSON json_t *doc = json_of(text);
        struct error err = { 0 };
        json_t *full = NULL;

        if (!ask(h, &(struct question){ PATH, .object = text }))
                fail_msg("%s: %s", text, h->message);
        if (!h->patch)
                return json_incref(doc);
        if (patch_json(doc, h->patch, &full, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return full;
}

static const struct {
        const char *from, *to;
} rows[] = {
        { CRP(""), CRP(POLICY STRATEGY HISTORY) },
        { CRP(",\"policy\":null,\"strategy\":null,\"revisionHistoryLimit\":null"),
          CRP(POLICY STRATEGY HISTORY) },
        { CRP(",\"revisionHistoryLimit\":3" POLICY STRATEGY),
          CRP(",\"revisionHistoryLimit\":3" POLICY STRATEGY) },
        { CRP(",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":3,\"topologySpreadConstraints\":"
              "[{\"topologyKey\":\"a\"},{\"topologyKey\":\"b\",\"maxSkew\":2,\"whenUnsatisfiable\":"
              "\"ScheduleAnyway\"}]}" STRATEGY HISTORY),
          CRP(",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":3,\"topologySpreadConstraints\":"
              "[{\"topologyKey\":\"a\",\"maxSkew\":1,\"whenUnsatisfiable\":\"DoNotSchedule\"},{"
              "\"topologyKey\":"
              "\"b\",\"maxSkew\":2,\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}" STRATEGY HISTORY) },
        { CRP(",\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[{\"key\":\"a\"},{\"operator\":"
              "\"Exists\"}]}" STRATEGY HISTORY),
          CRP(",\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[{\"key\":\"a\",\"operator\":"
              "\"Equal\"},"
              "{\"operator\":\"Exists\"}]}" STRATEGY HISTORY) },
        { CRP(POLICY HISTORY ",\"strategy\":{\"type\":\"External\"}"),
          CRP(POLICY HISTORY ",\"strategy\":{\"type\":\"External\"," APPLY "}") },
        { CRP(POLICY HISTORY ",\"strategy\":{\"rollingUpdate\":{\"maxSurge\":1}}"),
          CRP(POLICY HISTORY ",\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":1,"
                             "\"maxUnavailable\":\"25%\",\"unavailablePeriodSeconds\":60}," APPLY "}") },
        { CRP(POLICY HISTORY ",\"strategy\":{\"type\":\"External\",\"applyStrategy\":{\"type\":"
                             "\"ServerSideApply\"}}"),
          CRP(POLICY HISTORY ",\"strategy\":{\"type\":\"External\",\"applyStrategy\":{\"type\":"
                             "\"ServerSideApply\",\"comparisonOption\":\"PartialComparison\",\"whenToApply\":"
                             "\"Always\",\"whenToTakeOver\":\"Always\",\"serverSideApplyConfig\":{\"force\":"
                             "false}}}") },
        { CRP(POLICY HISTORY
              ",\"strategy\":{\"type\":\"External\",\"applyStrategy\":{\"type\":"
              "\"ServerSideApply\",\"comparisonOption\":\"FullComparison\",\"whenToApply\":"
              "\"IfNotDrifted\",\"whenToTakeOver\":\"Never\",\"serverSideApplyConfig\":{\"force\":"
              "true}}}"),
          CRP(POLICY HISTORY
              ",\"strategy\":{\"type\":\"External\",\"applyStrategy\":{\"type\":"
              "\"ServerSideApply\",\"comparisonOption\":\"FullComparison\",\"whenToApply\":"
              "\"IfNotDrifted\",\"whenToTakeOver\":\"Never\",\"serverSideApplyConfig\":{\"force\":"
              "true}}}") },
        /* what this agent has never heard of stays */
        { CRP(",\"later\":{\"a\":null},\"policy\":{\"placementType\":\"PickAll\",\"new\":1}" STRATEGY
                      HISTORY),
          CRP(",\"later\":{\"a\":null},\"policy\":{\"placementType\":\"PickAll\",\"new\":1}" STRATEGY
                      HISTORY) },
};

/* spec/membership-webhooks-charts.md checklist 21; spec/api.md checklist 20 */
static void what_a_placement_leaves_out_is_filled_in(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *got = completed(h, rows[i].from), *wanted = json_of(rows[i].to);

                if (!doc_equal(got, wanted))
                        fail_msg("%s became %s", rows[i].from, json_dumps(got, JSON_COMPACT));
        }
}

/* What is complete gets no patch at all, so that a second pass changes nothing. */
static void what_is_complete_is_left_alone(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_true(ask(h, &(struct question){ PATH, .object = rows[i].to }));
                assert_null(h->patch);
                assert_null(doc_get(h->answer, "response.patchType"));
        }
}

/* The defaults are good as the definition has it, and say no more than its own defaults. */
static void what_is_filled_in_is_valid(void **state)
{
        AUTO_HUB struct hub *h = hub_new();
        const struct schema *schema = NULL;
        AUTO_JSON json_t *crd = NULL;
        struct error err = { 0 };

        for (size_t i = 0; i < n_crd_texts && !crd; i++)
                if (text_equal(crd_texts[i].name, "clusterresourceplacements.placement.kubernetes-fleet.io"))
                        crd = json_of(crd_texts[i].json);
        assert_int_equal(schema_from_crd(&h->arena,
                                         doc_get(json_array_get(doc_get(crd, "spec.versions"), 1),
                                                 "schema.openAPIV3Schema"),
                                         &schema, &err),
                         0);
        for (size_t i = 0; i < ARRAY_LEN(rows) - 1; i++) {
                struct schema_problems problems = { .arena = &h->arena };
                AUTO_JSON json_t *got = completed(h, rows[i].from), *again = doc_copy(got);

                assert_int_equal(schema_validate(schema, got, NULL, &problems, &err), 0);
                if (problems.n)
                        fail_msg("%s: %s: %s", rows[i].from, problems.at[0].field, problems.at[0].message);
                assert_int_equal(schema_apply_defaults(schema, again, &err), 0);
                assert_true(doc_equal(doc_get(got, "spec.strategy"), doc_get(again, "spec.strategy")));
                assert_true(doc_equal(doc_get(got, "spec.policy"), doc_get(again, "spec.policy")));
        }
}

static void what_cannot_be_decoded_is_an_error(void **state)
{
        static const char *const bad[] = { "{\"spec\":[]}", "{\"spec\":{\"policy\":[]}}", "[]",
                                           "{\"spec\":{\"strategy\":{\"applyStrategy\":3}}}", NULL };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                assert_false(ask(h, &(struct question){ PATH, .object = bad[i] }));
                assert_int_equal(h->code, 400);
                assert_null(h->patch);
        }
        assert_true(ask(h, &(struct question){ PATH, .object = "{}" })); /* the definition refuses it */
        assert_null(h->patch);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_a_placement_leaves_out_is_filled_in),
                cmocka_unit_test(what_is_complete_is_left_alone),
                cmocka_unit_test(what_is_filled_in_is_valid),
                cmocka_unit_test(what_cannot_be_decoded_is_an_error),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
