/* spec/member-agent.md 1.3 (checklist 5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "member-agent/flags.h"

static int parse(struct member_flags *f, const char *word, struct error *err)
{
        const char *const argv[] = { "member-agent", word };

        TRY(flags_parse(member_flag_table, n_member_flags, word ? 2 : 1, argv, f, err));
        return member_flags_check(f, err);
}

static void the_defaults_are_those_of_the_reference(void **state)
{
        struct member_flags f;
        struct limiter_options limits;

        assert_int_equal(parse(&f, NULL, NULL), 0);
        assert_int_equal(f.hub_qps, 50);
        assert_int_equal(f.deletion_wait_minutes, 5);
        assert_int_equal(f.lease_duration_ms, 15000);
        assert_string_equal(f.leader_election_namespace, "kube-system");
        assert_false(f.leader_elect);
        limits = member_flags_limits(&f);
        assert_int_equal(limits.attempts_with_fixed_delay, limiter_defaults.attempts_with_fixed_delay);
        assert_true(limits.fixed_delay_s == limiter_defaults.fixed_delay_s);
        assert_true(limits.slow_base == limiter_defaults.slow_base &&
                    limits.fast_base == limiter_defaults.fast_base);
        assert_true(limits.initial_slow_s == limiter_defaults.initial_slow_s);
        assert_true(limits.max_slow_s == limiter_defaults.max_slow_s &&
                    limits.max_fast_s == limiter_defaults.max_fast_s);
        assert_int_equal(limits.skip_to_fast, limiter_defaults.skip_to_fast);
}

static void the_secret_of_the_token_is_a_namespace_and_a_name(void **state)
{
        static const char *const bad[] = { "token", "/token", "default/", "a/b/c", "A/b", "a/../b", "a b/c" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct member_flags f;
        const char *ns, *name;
        struct error err;

        assert_int_equal(parse(&f, "-hub-token-secret=fleet-system/hub.token", &err), 0);
        assert_int_equal(member_flags_secret(&f, &arena, &ns, &name, &err), 0);
        assert_string_equal(ns, "fleet-system");
        assert_string_equal(name, "hub.token");
        assert_int_equal(parse(&f, NULL, &err), 0);
        assert_int_equal(member_flags_secret(&f, &arena, &ns, &name, &err), 0);
        assert_null(name);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                f.hub_token_secret = bad[i];
                assert_int_equal(member_flags_secret(&f, &arena, &ns, &name, &err), ERR_INVALID);
        }
}

/* spec/member-agent.md checklist 5 */
static void values_out_of_range_or_order_are_refused(void **state)
{
        static const char *const words[] = {
                "-hub-api-qps=9",
                "-hub-api-qps=600",
                "-hub-api-burst=40",
                "-member-api-burst=100",
                "-deletion-wait-time=0",
                "-deletion-wait-time=61",
                "-work-applier-requeue-rate-limiter-attempts-with-fixed-delay=41",
                "-work-applier-requeue-rate-limiter-fixed-delay-seconds=1",
                "-work-applier-requeue-rate-limiter-exponential-base-for-slow-backoff=1.01",
                "-work-applier-requeue-rate-limiter-exponential-base-for-fast-backoff=1",
                "-work-applier-requeue-rate-limiter-exponential-base-for-slow-backoff=1.9",
                "-work-applier-requeue-rate-limiter-initial-slow-backoff-delay-seconds=16",
                "-work-applier-requeue-rate-limiter-max-slow-backoff-delay-seconds=901",
                "-work-applier-requeue-rate-limiter-max-fast-backoff-delay-seconds=3601",
                "-leader-elect=yes",
                "-leader-lease-duration=10s",
                "-leader-retry-period=10s",
                "-work-applier-priority-linear-equation-coeff-a=0",
                "-work-applier-priority-linear-equation-coeff-b=1001",
                "-enable-pprof=maybe",
                "-pprof-port=70000",
                "-namespace-service-account=team-a:applier",
                "-log_file_max_size=",
                "-no-such-flag",
        };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct member_flags f;
                struct error err = { 0 };

                if (parse(&f, words[i], &err) != ERR_INVALID)
                        fail_msg("%s was accepted", words[i]);
                assert_string_not_equal(err.text, "");
        }
}

/* spec/membership-webhooks-charts.md checklist 45, spec/member-agent.md checklist 5 */
static void all_violations_are_told_together(void **state)
{
        static const char *const argv[] = {
                "member-agent",
                "-hub-api-qps=600",
                "-member-api-qps=2000",
                "-leader-lease-duration=1s",
                "-work-applier-requeue-rate-limiter-initial-slow-backoff-delay-seconds=60",
                "-work-applier-requeue-rate-limiter-max-slow-backoff-delay-seconds=50",
                "-work-applier-requeue-rate-limiter-max-fast-backoff-delay-seconds=40",
                "-work-applier-requeue-rate-limiter-exponential-base-for-slow-backoff=1.9",
                "-namespace-service-account=team-a:applier",
        };
        static const char *const told[] = {
                "hub-api-burst must not be below hub-api-qps",
                "member-api-burst must not be below member-api-qps",
                "leader-lease-duration > leader-renew-deadline > leader-retry-period must hold",
                "the initial slow backoff delay must not exceed the maximal slow one",
                "the maximal slow backoff delay must not exceed the maximal fast one",
                "the base of the fast backoff must not be below that of the slow one",
                "namespace-service-account must be a service account's name",
        };
        struct error err = { 0 };
        struct member_flags f;

        assert_int_equal(flags_parse(member_flag_table, n_member_flags, ARRAY_LEN(argv), argv, &f, &err), 0);
        assert_int_equal(member_flags_check(&f, &err), ERR_INVALID);
        for (size_t i = 0; i < ARRAY_LEN(told); i++)
                if (!strstr(err.text, told[i]))
                        fail_msg("\"%s\" is not in \"%s\"", told[i], err.text);
}

#define LIMITER_FLAG "-work-applier-requeue-rate-limiter-"
static void values_may_be_equal_where_one_is_the_limit_of_another(void **state)
{
        static const char *const words[] = {
                "-hub-api-burst=50",
                "-member-api-burst=250",
                LIMITER_FLAG "initial-slow-backoff-delay-seconds=15",
                LIMITER_FLAG "max-slow-backoff-delay-seconds=900",
                LIMITER_FLAG "exponential-base-for-slow-backoff=1.5",
        };
        struct member_flags f;

        assert_int_equal(parse(&f, NULL, NULL), 0);
        assert_int_equal(f.member_qps, 250);
        assert_true(f.max_slow_s == 15 && f.max_fast_s == 900 && f.fast_base == 1.5);
        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct error err = { 0 };

                if (parse(&f, words[i], &err) < 0)
                        fail_msg("%s: %s", words[i], err.text);
        }
}

static void flags_without_meaning_here_are_accepted(void **state)
{
        static const char *const words[] = { "--add_dir_header",
                                             "--property-provider=azure",
                                             "--region=eu",
                                             "-v=5",
                                             "--enable-v1beta1-apis=true",
                                             "-hub-api-qps=-3" };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct member_flags f;

                assert_int_equal(parse(&f, words[i], NULL), 0);
        }
}

static void each_flag_of_properties_sets_what_it_names_and_no_more(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct property_settings s;
        struct member_flags f;
        struct error err = { 0 };

        assert_int_equal(parse(&f, NULL, &err), 0);
        assert_int_equal(member_flags_properties(&f, &arena, &s, &err), 0);
        assert_false(s.namespaces || s.azure || s.without_available);
        assert_true(s.costs);
        assert_string_equal(s.region, "");
        assert_true(!s.price_ns && !s.prices && !s.own_ns && !s.own);
        assert_int_equal(s.price_max_age_ms, 24 * 3600 * 1000);
        f.namespace_collection = true;
        f.property_provider = "azure";
        f.azure_costs = f.azure_available = false;
        f.region = "eu";
        f.price_table = "fleet-system/prices";
        f.property_config_map = "default/own";
        f.price_max_age_hours = 1;
        assert_int_equal(member_flags_properties(&f, &arena, &s, &err), 0);
        assert_true(s.namespaces && s.azure && s.without_available);
        assert_false(s.costs);
        assert_string_equal(s.region, "eu");
        assert_string_equal(s.price_ns, "fleet-system");
        assert_string_equal(s.prices, "prices");
        assert_string_equal(s.own_ns, "default");
        assert_string_equal(s.own, "own");
        assert_int_equal(s.price_max_age_ms, 3600 * 1000);
}

static void maps_of_properties_are_a_namespace_and_a_name(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct property_settings s;
        struct member_flags f;
        struct error err = { 0 };

        assert_int_equal(parse(&f, "--property-config-map=own", &err), 0);
        assert_int_equal(member_flags_properties(&f, &arena, &s, &err), ERR_INVALID);
        assert_string_equal(err.text, "property-config-map \"own\" is not NAMESPACE/NAME");
        f.price_table = "prices/";
        assert_int_equal(member_flags_properties(&f, &arena, &s, &err), ERR_INVALID);
        assert_string_equal(err.text, "price-table \"prices/\" is not NAMESPACE/NAME");
}

static void addresses_may_be_short_or_off(void **state)
{
        char host[64];
        int port = 0;

        assert_int_equal(flags_address(":8081", host, &port, NULL), 0);
        assert_string_equal(host, "0.0.0.0");
        assert_int_equal(port, 8081);
        assert_int_equal(flags_address("127.0.0.1:9", host, &port, NULL), 0);
        assert_string_equal(host, "127.0.0.1");
        assert_int_equal(flags_address("0", host, &port, NULL), 0);
        assert_int_equal(port, -1);
        assert_int_equal(flags_address("8081", host, &port, NULL), ERR_INVALID);
        assert_int_equal(flags_address(":99999", host, &port, NULL), ERR_INVALID);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_defaults_are_those_of_the_reference),
                cmocka_unit_test(the_secret_of_the_token_is_a_namespace_and_a_name),
                cmocka_unit_test(values_out_of_range_or_order_are_refused),
                cmocka_unit_test(all_violations_are_told_together),
                cmocka_unit_test(values_may_be_equal_where_one_is_the_limit_of_another),
                cmocka_unit_test(flags_without_meaning_here_are_accepted),
                cmocka_unit_test(addresses_may_be_short_or_off),
                cmocka_unit_test(each_flag_of_properties_sets_what_it_names_and_no_more),
                cmocka_unit_test(maps_of_properties_are_a_namespace_and_a_name),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
