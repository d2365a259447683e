#include "hub-agent/webhook/webhook_test.h"

#define EVICTION_PATH PLACEMENT_PATH("validate", "clusterresourceplacementeviction")
#define BUDGET_PATH PLACEMENT_PATH("validate", "clusterresourceplacementdisruptionbudget")

#define PLACEMENT(name, meta, policy)                                                                        \
        "{\"metadata\":{\"name\":\"" name "\"" meta "},\"spec\":{\"policy\":{\"placementType\":\"" policy    \
        "\"}}}"
#define EVICTION(of)                                                                                         \
        "{\"metadata\":{\"name\":\"e\"},\"spec\":{\"placementName\":\"" of "\",\"clusterName\":\"m1\"}}"
#define BUDGET(of, limit) "{\"metadata\":{\"name\":\"" of "\"},\"spec\":{" limit "}}"

static struct hub *hub_with_placements(void)
{
        struct hub *h = hub_new();

        h->placements[0] = PLACEMENT("all", "", "PickAll");
        h->placements[1] = PLACEMENT("fixed", "", "PickFixed");
        h->placements[2] = PLACEMENT("going", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "PickN");
        return h;
}

/* spec/membership-webhooks-charts.md checklist 32 */
static void an_eviction_is_judged_by_its_placement(void **state)
{
        AUTO_HUB struct hub *h = hub_with_placements();

        assert_false(ask(h, &(struct question){ EVICTION_PATH, .object = EVICTION("fixed") }));
        assert_string_equal(h->message, "cluster resource placement policy type PickFixed is not supported");
        assert_false(ask(h, &(struct question){ EVICTION_PATH, .object = EVICTION("going") }));
        assert_string_equal(h->message, "cluster resource placement going is being deleted");
        assert_true(ask(h, &(struct question){ EVICTION_PATH, .object = EVICTION("all") }));
        assert_true(ask(h, &(struct question){ EVICTION_PATH, .object = EVICTION("none") }));
        assert_says(h, "is not found");
}

/* spec/membership-webhooks-charts.md checklist 33 */
static void a_budget_is_judged_by_its_placement(void **state)
{
        AUTO_HUB struct hub *h = hub_with_placements();

        assert_false(
                ask(h, &(struct question){ BUDGET_PATH, .object = BUDGET("all", "\"maxUnavailable\":1") }));
        assert_string_equal(h->message,
                            "cluster resource placement policy type PickAll is not supported with "
                            "any specified max unavailable 1");
        assert_false(ask(
                h, &(struct question){ BUDGET_PATH, .object = BUDGET("all", "\"minAvailable\":\"10%\"") }));
        assert_true(ask(h, &(struct question){ BUDGET_PATH, .object = BUDGET("all", "\"minAvailable\":1") }));
        assert_true(
                ask(h, &(struct question){ BUDGET_PATH, .object = BUDGET("going", "\"maxUnavailable\":1") }));
        assert_true(
                ask(h, &(struct question){ BUDGET_PATH, .object = BUDGET("none", "\"maxUnavailable\":1") }));
}

static void a_placement_that_cannot_be_read_is_an_error(void **state)
{
        AUTO_HUB struct hub *h = hub_with_placements();

        h->find_fails = "the cache is not filled";
        assert_false(ask(h, &(struct question){ EVICTION_PATH, .object = EVICTION("all") }));
        assert_int_equal(h->code, 400);
        assert_string_equal(h->message, "the cache is not filled");
        assert_false(
                ask(h, &(struct question){ BUDGET_PATH, .object = BUDGET("all", "\"maxUnavailable\":1") }));
        assert_int_equal(h->code, 400);
}

static void what_cannot_be_decoded_is_an_error(void **state)
{
        static const char *const paths[] = { EVICTION_PATH, BUDGET_PATH };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
                assert_false(ask(h, &(struct question){ paths[i], .object = "{\"spec\":7}" }));
                assert_int_equal(h->code, 400);
                assert_says(h, "spec: must be an object");
                /* and of what is taken away nothing is asked */
                assert_true(ask(h, &(struct question){ paths[i], "DELETE", .old = "{\"spec\":7}" }));
        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_eviction_is_judged_by_its_placement),
                cmocka_unit_test(a_budget_is_judged_by_its_placement),
                cmocka_unit_test(a_placement_that_cannot_be_read_is_an_error),
                cmocka_unit_test(what_cannot_be_decoded_is_an_error),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
