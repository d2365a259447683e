#include "hub-agent/webhook/webhook_test.h"

#define MEMBER_PATH "/validate-cluster.kubernetes-fleet.io-v1beta1-membercluster"

#define TAINT(key, value) "{\"key\":\"" key "\",\"value\":\"" value "\",\"effect\":\"NoSchedule\"}"
#define MEMBER_MORE(more)                                                                                    \
        "{\"metadata\":{\"name\":\"m1\"},\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"a\"}" more "}" \
        "}"
#define MEMBER(taints) MEMBER_MORE(",\"taints\":[" taints "]")
#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* spec/membership-webhooks-charts.md checklist 34 */
static void taints_that_are_no_good_are_refused(void **state)
{
        static const struct {
                const char *object, *says; /* NULL: let in */
        } rows[] = {
                { MEMBER(""), NULL },
                { MEMBER(TAINT("a", "b") "," TAINT("a", "c")), NULL },
                { MEMBER(TAINT("example.com/a", "")), NULL },
                { MEMBER(TAINT("a", "b") "," TAINT("a", "b")),
                  "taint {Key:a Value:b Effect:NoSchedule} already exists, taints must be unique" },
                { MEMBER(TAINT("a b", "")),
                  "invalid taint key {Key:a b Value: Effect:NoSchedule}: name part must consist of" },
                { MEMBER(TAINT("", "")), "name part must be non-empty" },
                { MEMBER(TAINT("a/b/c", "")), "with an optional DNS subdomain prefix and '/'" },
                { MEMBER(TAINT("/b", "")), "prefix part must be non-empty" },
                { MEMBER(TAINT(LONG LONG LONG LONG "/b", "")),
                  "prefix part must be no more than 253 characters" },
                { MEMBER(TAINT("A_/b", "")), "prefix part a lowercase RFC 1123 subdomain must consist of" },
                { MEMBER(TAINT("a", "-b")),
                  "invalid taint value {Key:a Value:-b Effect:NoSchedule}: a valid label must be an empty" },
                { MEMBER(TAINT("a", LONG)), "must be no more than 63 bytes" },
        };
        static const char *const operations[] = { "CREATE", "UPDATE" };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                for (size_t k = 0; k < ARRAY_LEN(operations); k++) {
                        assert_int_equal(ask(h, &(struct question){ MEMBER_PATH, operations[k],
                                                                    .object = rows[i].object,
                                                                    .old = MEMBER_MORE("") }),
                                         !rows[i].says);
                        if (rows[i].says)
                                assert_says(h, rows[i].says);
                }
}

/* It is let in, as the definition allows it, and whoever asks is told. */
static void a_period_that_leaves_a_member_unheard_between_two_heartbeats_is_warned_of(void **state)
{
        static const struct {
                const char *object;
                bool warns;
        } rows[] = {
                { MEMBER_MORE(""), false },
                { MEMBER_MORE(",\"heartbeatPeriodSeconds\":285"), false },
                { MEMBER_MORE(",\"heartbeatPeriodSeconds\":286"), true },
                { MEMBER_MORE(",\"heartbeatPeriodSeconds\":600"), true },
        };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                json_t *warnings;

                assert_true(ask(h, &(struct question){ MEMBER_PATH, "CREATE", .object = rows[i].object }));
                warnings = doc_get_array(h->answer, "response.warnings");
                assert_int_equal(json_array_size(warnings), rows[i].warns);
                if (rows[i].warns)
                        assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)),
                                               "MemberCluster m1: spec.heartbeatPeriodSeconds: "));
        }
}

static void nothing_is_said_of_what_is_no_write(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        assert_true(ask(h, &(struct question){ MEMBER_PATH, "CONNECT", .object = MEMBER(TAINT("a b", "")) }));
}

/* The agents write finalizers and labels whatever somebody put into the spec before there were webhooks. */
static void an_update_that_keeps_the_spec_is_let_in(void **state)
{
        static const char bad[] = MEMBER(TAINT("a b", ""));
        AUTO_HUB struct hub *h = hub_new();

        assert_true(ask(h, &(struct question){ MEMBER_PATH, "UPDATE", .object = bad, .old = bad }));
}

/* spec/membership-webhooks-charts.md checklist 35 */
static void a_member_whose_services_are_exported_stays(void **state)
{
        static const char member[] = MEMBER_MORE(""),
                          strict[] = MEMBER_MORE(",\"deleteOptions\":{\"validationMode\":\"Strict\"}"),
                          skip[] = MEMBER_MORE(",\"deleteOptions\":{\"validationMode\":\"Skip\"}");
        AUTO_HUB struct hub *h = hub_new();

        h->exports = "[{\"metadata\":{\"name\":\"going\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
                     "\"spec\":{\"serviceReference\":{\"namespacedName\":\"shop/old\"}}},"
                     "{\"metadata\":{\"name\":\"live\"},"
                     "\"spec\":{\"serviceReference\":{\"namespacedName\":\"shop/cart\"}}}]";
        assert_true(ask(h, &(struct question){ MEMBER_PATH, "DELETE", .old = member }));
        h->world.flags.networking_agents = true;
        assert_true(ask(h, &(struct question){ MEMBER_PATH, "DELETE", .old = skip }));
        assert_false(ask(h, &(struct question){ MEMBER_PATH, "DELETE", .old = member }));
        assert_false(ask(h, &(struct question){ MEMBER_PATH, "DELETE", .old = strict }));
        assert_int_equal(h->code, 403);
        assert_string_equal(h->message, "Please delete serviceExport shop/cart in the member cluster before "
                                        "leaving, request is denied");
        h->exports_fail = "no answer";
        assert_false(ask(h, &(struct question){ MEMBER_PATH, "DELETE", .old = member }));
        assert_int_equal(h->code, 500);
        h->exports_fail = h->exports = NULL;
        assert_true(ask(h, &(struct question){ MEMBER_PATH, "DELETE", .old = member }));
}

static void what_cannot_be_decoded_is_an_error(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        assert_false(ask(h, &(struct question){ MEMBER_PATH, .object = "{\"spec\":7}" }));
        assert_int_equal(h->code, 400);
        assert_says(h, "spec: must be an object");
        assert_false(ask(h, &(struct question){ MEMBER_PATH, "DELETE" }));
        assert_int_equal(h->code, 400);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(taints_that_are_no_good_are_refused),
                cmocka_unit_test(a_period_that_leaves_a_member_unheard_between_two_heartbeats_is_warned_of),
                cmocka_unit_test(nothing_is_said_of_what_is_no_write),
                cmocka_unit_test(an_update_that_keeps_the_spec_is_let_in),
                cmocka_unit_test(a_member_whose_services_are_exported_stays),
                cmocka_unit_test(what_cannot_be_decoded_is_an_error),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
