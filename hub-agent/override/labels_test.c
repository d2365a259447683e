/* What overrides take from the labels of a cluster. */
#include "hub-agent/override/testing.h"

#define VALUE(text) PATCH("replace", "/data/a", "\"" text "\"")
#define REGION "${MEMBER-CLUSTER-LABEL-KEY-region}"
#define TIER(tier, value)                                                                                    \
        "{\"clusterSelector\":{\"clusterSelectorTerms\":[{\"labelSelector\":{\"matchLabels\":{\"tier\":"     \
        "\"" tier "\"}}}]},\"jsonPatchOverrides\":[{\"op\":\"replace\",\"path\":\"/data/a\",\"value\":"      \
        "\"" value "\"}]}"
#define TIERS "\"policy\":{\"overrideRules\":[" TIER("gold", "l") "," TIER("silver", REGION) "]}"

/* The hash of one override's policy on a cluster with these labels; the text outlives the bench. */
static const char *hash_and_work_of(const char *policy, const char *labels, char ret[80], size_t *ret_worked)
{
        struct override_applier a = { .scopes = scopes };
        const char *hash = NULL;
        char spec[2048];
        struct bench b;

        begin(&b);
        snprintf(spec, sizeof(spec), "{\"metadata\":{\"name\":\"member-1\",\"labels\":{%s}}}", labels);
        a.cluster = parse(&b, &member_cluster_kind, spec);
        snprintf(spec, sizeof(spec), "{" SELECT_CM("site") ",%s}", policy);
        add(&b, "web", "o-0", spec);
        a.set = b.set;
        assert_int_equal(override_labels_hash(&a, &b.arena, &hash, &b.err), 0);
        snprintf(ret, 80, "%s", hash ? hash : "not known");
        *ret_worked = a.worked;
        arena_free(&b.arena);
        return ret;
}

static const char *hash_of(const char *policy, const char *labels, char ret[80])
{
        size_t worked;

        return hash_and_work_of(policy, labels, ret, &worked);
}

static void the_hash_follows_what_is_taken_from_labels(void **state)
{
        static const struct {
                const char *policy, *before, *after;
                bool same;
        } rows[] = {
                { POLICY(VALUE(REGION)), "\"region\":\"eu\"", "\"region\":\"us\"", false },
                { POLICY(VALUE(REGION)), "\"region\":\"eu\"", "\"tier\":\"gold\"", false },
                { POLICY(VALUE(REGION)), "\"region\":\"eu\"", "\"region\":\"eu\",\"tier\":\"gold\"", true },
                /* the second variable of a value, and of two whose values swap */
                { POLICY(VALUE("${MEMBER-CLUSTER-LABEL-KEY-tier}-" REGION)),
                  "\"region\":\"eu\",\"tier\":\"gold\"", "\"region\":\"us\",\"tier\":\"gold\"", false },
                { POLICY(VALUE(REGION) "," VALUE("${MEMBER-CLUSTER-LABEL-KEY-tier}")),
                  "\"region\":\"a\",\"tier\":\"b\"", "\"region\":\"b\",\"tier\":\"a\"", false },
                /* another of its rules */
                { TIERS, "\"tier\":\"gold\"", "\"tier\":\"silver\"", false },
                /* a variable in a rule that does not apply, or behind a deletion */
                { TIERS, "\"tier\":\"gold\",\"region\":\"eu\"", "\"tier\":\"gold\",\"region\":\"us\"", true },
                { POLICY(DELETE "," VALUE(REGION)), "\"region\":\"eu\"", "\"region\":\"us\"", true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char before[80], after[80];
                bool same = text_equal(hash_of(rows[i].policy, rows[i].before, before),
                                       hash_of(rows[i].policy, rows[i].after, after));

                if (same != rows[i].same)
                        fail_msg("row %zu: %s, %s", i, before, after);
        }
}

static void who_takes_nothing_from_labels_has_no_hash(void **state)
{
        char hash[80];

        assert_string_equal(hash_of(POLICY(VALUE("${MEMBER-CLUSTER-NAME}")), "\"region\":\"eu\"", hash), "");
        assert_string_equal(hash_of(POLICY(VALUE("${MEMBER-CLUSTER-LABEL-KEY-region")), "", hash), "");
        assert_string_equal(hash_of(POLICY(DELETE), "", hash), "");
        assert_string_equal(
                hash_of("\"policy\":{\"overrideRules\":[" TIER("gold", "l") "]}", "\"tier\":\"gold\"", hash),
                "");
}

/* The rollout takes it off the binding, at its own pace. */
static void an_override_without_a_rule_for_the_cluster_says_nothing(void **state)
{
        char hash[80];

        assert_string_equal(hash_of(TIERS, "\"tier\":\"bronze\",\"region\":\"eu\"", hash), "not known");
}

/* A long policy is no reason to keep everybody else waiting: what it costs to read is counted, rules that are
 * not for the cluster and values alike. */
static void reading_a_policy_counts_as_work(void **state)
{
        char hash[80];
        size_t one, two, longer;

        hash_and_work_of("\"policy\":{\"overrideRules\":[" TIER("gold", "l") "]}", "", hash, &one);
        hash_and_work_of("\"policy\":{\"overrideRules\":[" TIER("gold", "l") "," TIER("silver", "l") "]}", "",
                         hash, &two);
        hash_and_work_of("\"policy\":{\"overrideRules\":[" TIER("gold", "0123456789") "]}",
                         "\"tier\":\"gold\"", hash, &longer);
        assert_true(one > 0);
        assert_int_equal(two, 2 * one);
        assert_in_range(longer, one + 10, one + 20);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_hash_follows_what_is_taken_from_labels),
                cmocka_unit_test(who_takes_nothing_from_labels_has_no_hash),
                cmocka_unit_test(an_override_without_a_rule_for_the_cluster_says_nothing),
                cmocka_unit_test(reading_a_policy_counts_as_work),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
