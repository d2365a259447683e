/* spec/membership-webhooks-charts.md 7.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/flags.h"
#include "hub-agent/source/options.h"

static int parse(struct hub_flags *f, const char *first, const char *second, struct error *err)
{
        const char *const argv[] = { "hub-agent", first, second };

        TRY(flags_parse(hub_flag_table, n_hub_flags, !first ? 1 : !second ? 2 : 3, argv, f, err));
        return hub_flags_check(f, err);
}

static void the_defaults_are_those_of_the_reference(void **state)
{
        struct hub_flags f;

        assert_int_equal(parse(&f, NULL, NULL, NULL), 0);
        assert_int_equal(f.lease_duration_ms, 60000);
        assert_int_equal(f.renew_deadline_ms, 45000);
        assert_int_equal(f.retry_period_ms, 5000);
        assert_int_equal(f.force_delete_wait_ms, 900000);
        assert_int_equal(f.unhealthy_threshold_ms, 60000);
        assert_int_equal(f.hub_qps, 250);
        assert_int_equal(f.hub_burst, 1000);
        assert_string_equal(f.leader_election_namespace, "fleet-system");
        assert_string_equal(f.webhook_service, "fleetwebhook");
        assert_true(f.webhook && f.pdbs && f.resource_placement && f.enable_v1beta1);
        assert_false(f.leader_elect || f.guard_rail || f.cert_manager || f.enable_workload);
}

static void shards_are_2_to_64_and_need_an_election(void **state)
{
        static const struct {
                const char *first, *second, *error; /* NULL = accepted */
        } table[] = {
                { "--shards=0", NULL, NULL },
                { "--shards=2", "--leader-elect", NULL },
                { "--shards=64", "--leader-elect", NULL },
                { "--shards=8", NULL, "shards needs leader-elect" },
                { "--shards=1", "--leader-elect", "shards" },
                { "--shards=65", "--leader-elect", "shards" },
                { "--shards=-1", "--leader-elect", "shards" },
                { "--shards=many", "--leader-elect", "shards" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct hub_flags f;
                struct error err = { 0 };

                assert_int_equal(parse(&f, table[i].first, table[i].second, &err) < 0,
                                 table[i].error != NULL);
                if (table[i].error)
                        assert_non_null(strstr(err.text, table[i].error));
        }
}

static void every_flag_of_the_reference_is_accepted(void **state)
{
        static const char *const words[] = {
                "--leader-elect=true",
                "--leader-lease-duration=2m",
                "--leader-renew-deadline=50s",
                "--leader-retry-period=6s",
                "--leader-election-namespace=x",
                "--leader-election-qps=-1",
                "--leader-election-burst=2000",
                "--health-probe-bind-address=0",
                "--metrics-bind-address=",
                "--enable-pprof=true",
                "--pprof-port=6066",
                "--hub-api-qps=0",
                "--hub-api-burst=250",
                "--resync-period=1h",
                "--enable-webhook",
                "--webhook-client-connection-type=Service",
                "--webhook-client-connection-type=",
                "--webhook-service-name=w",
                "--enable-guard-rail=true",
                "--whitelisted-users=a,b",
                "--deny-modify-member-cluster-labels=true",
                "--enable-workload=true",
                "--enable-pdbs=false",
                "--enable-admission-policy-manager=true",
                "--admission-policy-manager-config=/x",
                "--enable-v1beta1-apis=true",
                "--enable-cluster-inventory-apis=true",
                "--enable-staged-update-run-apis=true",
                "--enable-eviction-apis=true",
                "--enable-resource-placement=false",
                "--networking-agents-enabled=true",
                "--cluster-unhealthy-threshold=30s",
                "--force-delete-wait-time=1h",
                "--work-pending-grace-period=whatever",
                "--skipped-propagating-apis=g;g/v1;g/v1/A,B",
                "--allowed-propagating-apis=v1/ConfigMap",
                "--skipped-propagating-namespaces=a,b",
                "--concurrent-resource-change-syncs=100",
                "--max-fleet-size=1000",
                "--max-concurrent-cluster-placement=200",
                "--rate-limiter-base-delay=200ms",
                "--rate-limiter-max-delay=5m",
                "--rate-limiter-qps=100",
                "--rate-limiter-bucket-size=10000",
                "--resource-snapshot-creation-minimum-interval=0s",
                "--resource-changes-collection-duration=1m",
                "-add_dir_header",
                "--log_file_max_size=100000",
                "--v=5",
                "--vmodule=a=1",
        };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct hub_flags f;
                struct error err = { 0 };

                if (parse(&f, words[i], NULL, &err) < 0)
                        fail_msg("%s: %s", words[i], err.text);
        }
}

/* spec/membership-webhooks-charts.md checklist 45 */
static void values_out_of_range_or_order_are_refused(void **state)
{
        static const char *const lines[][2] = {
                { "--leader-lease-duration=45s" },
                { "--leader-retry-period=45s" },
                { "--leader-election-qps=1001" },
                { "--leader-election-burst=100" },
                { "--hub-api-qps=10001" },
                { "--hub-api-burst=249" },
                { "--resync-period=59m" },
                { "--enable-webhook=perhaps" },
                { "--webhook-client-connection-type=dns" },
                { "--enable-webhook=true", "--webhook-service-name=" },
                { "--use-cert-manager=true" },
                { "--enable-v1beta1-apis=false" },
                { "--cluster-unhealthy-threshold=29s" },
                { "--force-delete-wait-time=61m" },
                { "--skipped-propagating-apis=a", "--allowed-propagating-apis=b" },
                { "--concurrent-resource-change-syncs=101" },
                { "--max-fleet-size=29" },
                { "--max-concurrent-cluster-placement=9" },
                { "--rate-limiter-base-delay=201ms" },
                { "--rate-limiter-max-delay=999ms" },
                { "--rate-limiter-qps=101" },
                { "--resource-snapshot-creation-minimum-interval=301s" },
                { "--resource-changes-collection-duration=61s" },
                { "--pprof-port=0" },
                { "--no-such-flag" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct hub_flags f;
                struct error err = { 0 };

                if (parse(&f, lines[i][0], lines[i][1], &err) != ERR_INVALID)
                        fail_msg("%s was accepted", lines[i][0]);
                assert_true(strlen(err.text) > 10);
        }
}

/* spec/membership-webhooks-charts.md checklist 45
 * The first and the last value of each range that has no unit of its own in the table of flags. */
static void ranges_hold_to_the_millisecond(void **state)
{
        static const struct {
                const char *flag;
                int64_t least_ms, most_ms;
        } rows[] = {
                { "force-delete-wait-time", 30000, 3600000 },
                { "cluster-unhealthy-threshold", 30000, 3600000 },
                { "resync-period", 3600000, 43200000 },
                { "resource-snapshot-creation-minimum-interval", 0, 300000 },
                { "resource-changes-collection-duration", 0, 60000 },
                { "rate-limiter-base-delay", 1, 200 },
                { "rate-limiter-max-delay", 1000, 300000 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const int64_t at[] = { rows[i].least_ms - 1, rows[i].least_ms, rows[i].most_ms,
                                       rows[i].most_ms + 1 };

                for (size_t k = 0; k < ARRAY_LEN(at); k++) {
                        bool within = k == 1 || k == 2;
                        struct error err = { 0 };
                        struct hub_flags f;
                        char word[128];

                        snprintf(word, sizeof(word), "--%s=%lldms", rows[i].flag, (long long)at[k]);
                        if ((parse(&f, word, NULL, &err) == 0) != within)
                                fail_msg("%s: %s", word, within ? err.text : "was accepted");
                }
        }
}

/* spec/membership-webhooks-charts.md checklist 45 */
static void numbers_keep_to_their_ranges(void **state)
{
        static const struct {
                const char *flag, *beside; /* what the rules across flags want beside it */
                int64_t least, most;
        } rows[] = {
                { "hub-api-qps", "--hub-api-burst=20000", 10, 10000 },
                { "hub-api-burst", "--hub-api-qps=0", 10, 20000 },
                { "leader-election-qps", "--leader-election-burst=2000", 10, 1000 },
                { "leader-election-burst", "--leader-election-qps=-7", 10, 2000 },
                { "concurrent-resource-change-syncs", NULL, 1, 100 },
                { "max-fleet-size", NULL, 30, 100000 },
                { "max-concurrent-cluster-placement", NULL, 10, 100000 },
                { "rate-limiter-qps", "--rate-limiter-bucket-size=10000", 1, 1000 },
                { "rate-limiter-bucket-size", "--rate-limiter-qps=1", 1, 10000 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const int64_t at[] = { rows[i].least - 1, rows[i].least, rows[i].most, rows[i].most + 1 };

                for (size_t k = 0; k < ARRAY_LEN(at); k++) {
                        bool within = k == 1 || k == 2;
                        struct error err = { 0 };
                        struct hub_flags f;
                        char word[128];

                        snprintf(word, sizeof(word), "--%s=%lld", rows[i].flag, (long long)at[k]);
                        if ((parse(&f, word, rows[i].beside, &err) == 0) != within)
                                fail_msg("%s: %s", word, within ? err.text : "was accepted");
                }
        }
}

static void without_a_limit_of_requests_is_none_or_below(void **state)
{
        static const char *const words[] = { "0", "-1", "-250" };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct error err = { 0 };
                struct hub_flags f;
                char hub[64], election[64];

                snprintf(hub, sizeof(hub), "--hub-api-qps=%s", words[i]);
                snprintf(election, sizeof(election), "--leader-election-qps=%s", words[i]);
                assert_int_equal(parse(&f, hub, election, &err), 0);
                assert_int_equal(f.hub_qps, -1);
                assert_int_equal(f.election_qps, -1);
        }
}

static void one_limit_may_equal_the_other_where_the_reference_lets_it(void **state)
{
        static const struct {
                const char *first, *second;
                bool ok;
        } rows[] = {
                { "--hub-api-qps=1000", "--hub-api-burst=1000", true },
                { "--hub-api-qps=1001", "--hub-api-burst=1000", false },
                { "--leader-election-qps=1000", "--leader-election-burst=1000", true },
                { "--rate-limiter-qps=100", "--rate-limiter-bucket-size=100", true },
                { "--leader-lease-duration=46s", "--leader-renew-deadline=45s", true },
                { "--leader-lease-duration=45s", "--leader-renew-deadline=45s", false },
                { "--leader-renew-deadline=6s", "--leader-retry-period=5s", true },
                { "--leader-renew-deadline=5s", "--leader-retry-period=5s", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct error err = { 0 };
                struct hub_flags f;

                if ((parse(&f, rows[i].first, rows[i].second, &err) == 0) != rows[i].ok)
                        fail_msg("%s %s: %s", rows[i].first, rows[i].second, err.text);
        }
}

/* spec/membership-webhooks-charts.md checklist 45 */
static void all_violations_are_told_together(void **state)
{
        static const char *const argv[] = {
                "hub-agent",
                "--force-delete-wait-time=1s",
                "--cluster-unhealthy-threshold=2h",
                "--resync-period=1m",
                "--resource-snapshot-creation-minimum-interval=1h",
                "--resource-changes-collection-duration=1h",
                "--rate-limiter-base-delay=5m",
                "--rate-limiter-max-delay=1ms",
                "--rate-limiter-qps=1000",
                "--rate-limiter-bucket-size=1",
                "--hub-api-qps=1000",
                "--hub-api-burst=10",
                "--leader-election-qps=1000",
                "--leader-election-burst=10",
                "--leader-lease-duration=1s",
                "--skipped-propagating-apis=a",
                "--allowed-propagating-apis=b",
                "--enable-v1beta1-apis=false",
                "--webhook-client-connection-type=pigeon",
                "--enable-webhook=true",
                "--webhook-service-name=",
                "--use-cert-manager=true",
        };
        static const char *const told[] = {
                "force-delete-wait-time must be 30s to 1h0m0s",
                "cluster-unhealthy-threshold must be 30s to 1h0m0s",
                "resync-period must be 1h0m0s to 12h0m0s",
                "resource-snapshot-creation-minimum-interval must be 0s to 5m0s",
                "resource-changes-collection-duration must be 0s to 1m0s",
                "rate-limiter-base-delay must be 1ms to 200ms",
                "rate-limiter-max-delay must be 1s to 5m0s",
                "rate-limiter-base-delay must be below rate-limiter-max-delay",
                "rate-limiter-qps must not exceed rate-limiter-bucket-size",
                "hub-api-burst must not be below hub-api-qps",
                "leader-election-burst must not be below leader-election-qps",
                "leader-lease-duration > leader-renew-deadline > leader-retry-period must hold",
                "skipped-propagating-apis and allowed-propagating-apis exclude each other",
                "the KubeFleet v1beta1 APIs are the storage version and must be enabled",
                "webhook-client-connection-type must be url or service",
                "webhook-service-name must be set with enable-webhook",
                "use-cert-manager needs enable-workload",
        };
        struct error err = { 0 };
        struct hub_flags f;

        assert_int_equal(flags_parse(hub_flag_table, n_hub_flags, ARRAY_LEN(argv), argv, &f, &err), 0);
        assert_int_equal(hub_flags_check(&f, &err), ERR_INVALID);
        for (size_t i = 0; i < ARRAY_LEN(told); i++)
                if (!strstr(err.text, told[i]))
                        fail_msg("\"%s\" is not in \"%s\"", told[i], err.text);
}

/* spec/membership-webhooks-charts.md checklist 46 */
static void what_is_obsolete_is_refused_or_has_no_effect(void **state)
{
        struct error err = { 0 };
        struct hub_flags f;

        assert_int_equal(parse(&f, "--enable-v1beta1-apis=false", NULL, &err), ERR_INVALID);
        assert_string_equal(err.text,
                            "the KubeFleet v1beta1 APIs are the storage version and must be enabled");
        assert_int_equal(parse(&f, "--work-pending-grace-period=-7 fortnights", NULL, &err), 0);
        assert_int_equal(parse(&f, "--work-pending-grace-period=", NULL, &err), 0);
}

/* spec/membership-webhooks-charts.md: the flag needs enable-workload. */
static void certificates_from_cert_manager_go_with_workloads_on_the_hub(void **state)
{
        struct hub_flags f;
        struct error err = { 0 };

        assert_int_equal(parse(&f, "--use-cert-manager=true", "--enable-workload=true", &err), 0);
        assert_true(f.cert_manager && f.enable_workload);
}

static void the_account_of_sets_has_its_namespace(void **state)
{
        static const char *const wrong[] = { "--resource-set-account=x", "--resource-set-account=/x",
                                             "--resource-set-account=x/", "--resource-set-account=a/b/c" };
        struct error err = { 0 };
        struct hub_flags f;

        for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
                assert_int_equal(parse(&f, wrong[i], NULL, &err), ERR_INVALID);
                assert_string_equal(err.text, "resource-set-account must be NAMESPACE/NAME");
        }
        assert_int_equal(parse(&f, "--resource-set-account=fleet-system/sets", NULL, NULL), 0);
        assert_int_equal(parse(&f, "--resource-set-account=", NULL, NULL), 0);
}

/* ---- ResourceSets: spec/resource-set.md 16.3 ---- */

static void those_of_resource_sets_have_defaults_and_ranges(void **state)
{
        struct hub_flags f;
        struct error err = { 0 };

        assert_int_equal(parse(&f, NULL, NULL, NULL), 0);
        assert_string_equal(f.watch_configs, "reconcile.fluxcd.io/watch=Enabled");
        assert_string_equal(f.default_service_account, "");
        assert_int_equal(f.requeue_dependency_ms, 5000);
        assert_int_equal(f.set_jitter, 5);
        assert_int_equal(f.set_retry_least_ms, 750);
        assert_int_equal(f.set_retry_most_ms, 900000);
        assert_int_equal(parse(&f, "--resource-set-interval-jitter-percentage=99",
                               "--resource-set-concurrent=10", NULL),
                         0);
        assert_int_equal(f.set_jitter, 99);
        assert_int_equal(f.set_concurrency, 10);
        assert_int_equal(parse(&f, "--resource-set-interval-jitter-percentage=100", NULL, &err), ERR_INVALID);
        assert_int_equal(parse(&f, "--resource-set-concurrent=0", NULL, &err), ERR_INVALID);
        assert_int_equal(parse(&f, "--resource-set-min-retry-delay=20m", NULL, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "resource-set-max-retry-delay"));
        assert_int_equal(parse(&f, "--resource-set-min-retry-delay=0s", NULL, &err), ERR_INVALID);
}

static void assert_refused(const char *flag, const char *words)
{
        struct hub_flags f;
        struct error err = { 0 };

        assert_int_equal(parse(&f, flag, NULL, &err), ERR_INVALID);
        if (!strstr(err.text, words))
                fail_msg("%s: %s", flag, err.text);
}

/* spec/helm-chart.md checklist 11, 13 */
static void those_of_sources_have_defaults_and_ranges(void **state)
{
        struct hub_flags f;

        assert_int_equal(parse(&f, NULL, NULL, NULL), 0);
        assert_false(f.sources);
        assert_int_equal(f.artifact_ttl_ms, 60000);
        assert_int_equal(f.artifact_records, 2);
        assert_int_equal(f.index_bytes, 52428800);
        assert_int_equal(f.source_retry_most_ms, 900000);
        assert_refused("--artifact-digest-algo=md5", "artifact-digest-algo must be sha256, sha384 or sha512");
        assert_string_equal(f.source_denied, SOURCE_DENIED);
        assert_refused("--source-deny-addresses=10.0.0.0/8,10.0.0/33",
                       "source-deny-addresses: '10.0.0/33' is no range of addresses");
        assert_int_equal(f.cache_most, 0);
        assert_true(f.source_all_namespaces);
        assert_int_equal(f.source_concurrency, 2);
        assert_int_equal(f.source_jitter, 5);
        assert_int_equal(f.cache_ttl_ms, 900000);
        assert_int_equal(f.cache_purge_ms, 60000);
        assert_refused("--helm-cache-ttl=soon", "helm-cache-ttl");
        assert_refused("--helm-cache-purge-interval=5", "helm-cache-purge-interval");
        assert_refused("--helm-cache-ttl=0s", "helm-cache-ttl and helm-cache-purge-interval must be above 0");
        assert_refused("--helm-cache-purge-interval=-1m", "must be above 0");
        assert_refused("--helm-cache-max-size=-1", "helm-cache-max-size");
        assert_refused("--helm-index-digest=maybe", "helm-index-digest must be warn or enforce");
        assert_refused("--min-retry-delay=16m", "min-retry-delay must be above 0 and not above");
        assert_refused("--interval-jitter-percentage=100", "interval-jitter-percentage");
}

struct environment {
        const char *account, *managers;
};

static const char *value_of(void *ctx, const char *name)
{
        const struct environment *e = ctx;

        return strcmp(name, "DEFAULT_SERVICE_ACCOUNT") == 0 ? e->account
               : strcmp(name, "OVERRIDE_MANAGERS") == 0     ? e->managers
                                                            : NULL;
}

/* spec/resource-set.md checklist 105 */
static void the_environment_may_name_the_account_and_the_managers(void **state)
{
        static const struct world_process process = { .getenv = value_of };
        struct environment e = { 0 };
        const struct world w = { .process = &process, .ctx = &e };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct hub_flags f;
        struct error err = { 0 };

        assert_int_equal(parse(&f, "--override-manager=x", NULL, NULL), 0);
        assert_int_equal(hub_flags_take_environment(&f, &w, &arena, &err), 0);
        assert_string_equal(f.default_service_account, "");
        assert_string_equal(f.override_managers.at[0], "x");
        e = (struct environment){ "flux", " a, b,," };
        assert_int_equal(hub_flags_take_environment(&f, &w, &arena, &err), 0);
        assert_string_equal(f.default_service_account, "flux");
        assert_int_equal(f.override_managers.n, 2);
        assert_string_equal(f.override_managers.at[0], "a");
        assert_string_equal(f.override_managers.at[1], "b");
        assert_null(f.override_managers.at[2]);
        assert_int_equal(parse(&f, "--default-service-account=own", NULL, NULL), 0);
        assert_int_equal(hub_flags_take_environment(&f, &w, &arena, &err), 0);
        assert_string_equal(f.default_service_account, "own");
        e.managers = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17";
        assert_int_equal(hub_flags_take_environment(&f, &w, &arena, &err), ERR_LIMIT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_defaults_are_those_of_the_reference),
                cmocka_unit_test(shards_are_2_to_64_and_need_an_election),
                cmocka_unit_test(every_flag_of_the_reference_is_accepted),
                cmocka_unit_test(values_out_of_range_or_order_are_refused),
                cmocka_unit_test(ranges_hold_to_the_millisecond),
                cmocka_unit_test(numbers_keep_to_their_ranges),
                cmocka_unit_test(without_a_limit_of_requests_is_none_or_below),
                cmocka_unit_test(one_limit_may_equal_the_other_where_the_reference_lets_it),
                cmocka_unit_test(all_violations_are_told_together),
                cmocka_unit_test(what_is_obsolete_is_refused_or_has_no_effect),
                cmocka_unit_test(those_of_resource_sets_have_defaults_and_ranges),
                cmocka_unit_test(those_of_sources_have_defaults_and_ranges),
                cmocka_unit_test(the_environment_may_name_the_account_and_the_managers),
                cmocka_unit_test(certificates_from_cert_manager_go_with_workloads_on_the_hub),
                cmocka_unit_test(the_account_of_sets_has_its_namespace),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
