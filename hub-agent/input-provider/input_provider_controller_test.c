/* ResourceSetInputProviders within a whole agent: spec/resource-set.md 18, 21, 22. */
#include "common/base/zone_test.h"
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/input-provider/input_provider.h"

#define PROVIDERS "/apis/fluxcd.controlplane.io/v1/namespaces/team/resourcesetinputproviders"
#define PROVIDER PROVIDERS "/p"
#define SECRETS "/api/v1/namespaces/team/secrets"
#define MINUTE_MS 60000

/* A machine with one time zone. */
static int read_zone(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        AUTO_BUF struct buf file;

        zone_test_file(&file, "CET-1CEST,M3.5.0,M10.5.0/3");
        if (!text_equal(path, ZONE_FOLDER "Europe/Berlin"))
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        *ret = buf_take(&file, ret_len);
        return 0;
}
static int read_nothing(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len,
                        struct error *err)
{
        return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
}
static uint64_t stamp_of_one(void *ctx, const char *path)
{
        return 1;
}
static uint64_t stamp_of_none(void *ctx, const char *path)
{
        return 0;
}
static const struct world_files with_zones = { .read = read_zone, .stamp = stamp_of_one };
static const struct world_files without_zones = { .read = read_nothing, .stamp = stamp_of_none };

struct service {
        struct loopback *net;
        int status, served;
        const char *body;
        char authorization[64];
};

static void answer(void *ctx, struct http_exchange *x)
{
        struct service *s = ctx;

        s->served++;
        snprintf(s->authorization, sizeof(s->authorization), "%s",
                 or_empty(http_header_get(&x->headers, "Authorization")));
        http_reply(x, s->status, "application/json", slice_of(s->body), NULL);
}

#define TWO "{\"inputs\":[{\"id\":\"a\",\"n\":1},{\"id\":\"b\"}]}"

static void begin(struct rig *r, struct fleet *f, struct service *s)
{
        *s = (struct service){ .net = r->net, .status = 200, .body = TWO };
        assert_int_equal(loopback_listen(r->net, "svc.example", answer, s), 0);
        start(r, f);
        stop(f);
        f->resource_sets = true;
        f->world.files = &with_zones;
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}"), 201);
}

static void end(struct rig *r, struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
        loopback_listen(r->net, "svc.example", NULL, NULL);
}

static void add(struct rig *r, const char *annotations, const char *spec)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"fluxcd.controlplane.io/v1\",\"kind\":"
                           "\"ResourceSetInputProvider\",\"metadata\":{\"name\":\"p\",\"annotations\":{%s}},"
                           "\"spec\":{%s}}",
                           annotations, spec);

        if (rig_post(r, PROVIDERS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
        assert_int_equal(rig_get(r, PROVIDER), 200);
}

#define SERVICE "\"type\":\"ExternalService\",\"url\":\"https://svc.example/inputs\""

static void assert_state(struct rig *r, const char *ready, const char *reason, const char *reconciling,
                         const char *stalled)
{
        assert_int_equal(rig_get(r, PROVIDER), 200);
        if (!text_equal(condition_of(r, "Ready"), ready) ||
            !text_equal(part_of_condition(r, "Ready", "reason"), reason) ||
            !text_equal(condition_of(r, "Reconciling"), reconciling) ||
            !text_equal(condition_of(r, "Stalled"), stalled))
                fail_msg("not %s/%s: %s", ready, reason, r->text);
}

static void assert_exports(struct rig *r, const char *wanted)
{
        AUTO_BUF struct buf text;

        assert_int_equal(rig_get(r, PROVIDER), 200);
        buf_init(&text, 1 << 20);
        doc_write_canonical(doc_get(r->answer, "status.exportedInputs"), &text);
        assert_string_equal(text.data, wanted);
}

static bool has_event(struct rig *r, const char *reason, const char *message)
{
        json_t *e;
        size_t i;

        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team/events"), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    strstr(or_empty(doc_get_string(e, "message")), message) &&
                    text_equal(doc_get_string(e, "source.component"), "flux-operator"))
                        return true;
        return false;
}

/* spec/resource-set.md checklist 107 */
RIG_TEST(a_static_provider_exports_its_defaults, {
        struct fleet f;
        struct service s;

        begin(r, &f, &s);
        add(r, "", "\"type\":\"Static\",\"defaultValues\":{\"region\":\"eu\",\"id\":\"x\"}");
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        char id[INPUT_ID_SIZE];
        input_id(rig_string(r, "metadata.uid"), id);
        AUTO_FREE char *wanted = mem_printf("[{\"id\":\"%s\",\"region\":\"eu\"}]", id);
        assert_exports(r, wanted);
        AUTO_FREE char *revision = mem_strdup(rig_string(r, "status.lastExportedRevision"));
        assert_true(text_starts_with(revision, "sha256:"));
        merge_and_settle(r, PROVIDER,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"1\"}}}");
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        assert_string_equal(rig_string(r, "status.lastHandledReconcileAt"), "1");
        assert_string_equal(rig_string(r, "status.lastExportedRevision"), revision);
        merge_and_settle(r, PROVIDER, "{\"spec\":{\"defaultValues\":{\"region\":\"us\"}}}");
        assert_int_equal(rig_get(r, PROVIDER), 200);
        assert_string_not_equal(rig_string(r, "status.lastExportedRevision"), revision);
        assert_true(has_event(r, "ReconciliationSucceeded", "revision sha256:"));
        end(r, &f);
})

/* spec/resource-set.md checklist 104, 108 */
RIG_TEST(a_failing_source_leaves_what_was_exported_and_is_tried_again, {
        struct fleet f;
        struct service s;

        begin(r, &f, &s);
        add(r, "", SERVICE ",\"defaultValues\":{\"n\":7}");
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        assert_exports(r, "[{\"id\":\"a\",\"n\":1},{\"id\":\"b\",\"n\":7}]");
        assert_int_equal(s.served, 1);
        AUTO_FREE char *uid = mem_strdup(rig_string(r, "metadata.uid"));
        const char *labels[] = { uid,    "ResourceSetInputProvider", "p",     "team",
                                 "True", "ReconciliationSucceeded",  "False", "https://svc.example/inputs" };
        assert_int_equal(metric_value(f.metrics, METRIC_INPUT_PROVIDER, labels), 1);
        s.status = 500;
        fiber_sleep(r->loop, 10 * MINUTE_MS);
        rig_settle(r);
        assert_true(s.served > 1);
        assert_state(r, "False", "ReconciliationFailed", "True", "absent");
        assert_string_equal(part_of_condition(r, "Reconciling", "reason"), "ProgressingWithRetry");
        assert_string_equal(
                part_of_condition(r, "Ready", "message"),
                "failed to call ExternalService provider: external service 'https://svc.example/inputs' "
                "returned HTTP 500");
        assert_exports(r, "[{\"id\":\"a\",\"n\":1},{\"id\":\"b\",\"n\":7}]");
        assert_int_equal(metric_value(f.metrics, METRIC_INPUT_PROVIDER, labels), 0);
        assert_true(has_event(r, "ReconciliationFailed", "returned HTTP 500"));
        s.status = 200;
        s.body = "{\"inputs\":[]}";
        fiber_sleep(r->loop, MINUTE_MS);
        rig_settle(r);
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        assert_null(doc_get_array(r->answer, "status.exportedInputs"));
        rig_delete(r, PROVIDER);
        rig_settle(r);
        assert_int_equal(rig_get(r, PROVIDER), 404);
        assert_int_equal(metric_value(f.metrics, METRIC_INPUT_PROVIDER, labels), 0);
        end(r, &f);
})

/* spec/resource-set.md checklist 123 */
RIG_TEST(secrets_are_read_when_they_are_needed_and_never_told, {
        struct fleet f;
        struct service s;

        begin(r, &f, &s);
        add(r, "", SERVICE ",\"secretRef\":{\"name\":\"s\"}");
        assert_state(r, "False", "ReconciliationFailed", "True", "absent");
        assert_true(text_starts_with(part_of_condition(r, "Ready", "message"),
                                     "failed to read secret 'team/s': "));
        assert_int_equal(s.served, 0);
        assert_int_equal(rig_post(r, SECRETS,
                                  "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"token\":\"t0ken\\n\"}}"),
                         201);
        fiber_sleep(r->loop, MINUTE_MS);
        rig_settle(r);
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        assert_string_equal(s.authorization, "Bearer t0ken");
        assert_null(strstr(r->text, "t0ken"));
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team/events"), 200);
        assert_null(strstr(r->text, "t0ken"));
        end(r, &f);
})

/* spec/resource-set.md checklist 114 */
RIG_TEST(what_only_a_change_of_the_spec_helps_stalls, {
        struct fleet f;
        struct service s;

        begin(r, &f, &s);
        add(r, "", SERVICE ",\"filter\":{\"includeTag\":\"a(\"}");
        assert_state(r, "False", "InvalidSpec", "absent", "True");
        assert_true(text_starts_with(
                part_of_condition(r, "Stalled", "message"),
                "Reconciliation failed terminally due to configuration error: invalid includeTag "
                "regex: "));
        fiber_sleep(r->loop, 60 * MINUTE_MS);
        rig_settle(r);
        assert_int_equal(s.served, 0);
        assert_true(has_event(r, "InvalidSpec", "invalid includeTag"));
        merge_and_settle(r, PROVIDER,
                         "{\"spec\":{\"filter\":null,\"schedule\":[{\"cron\":\"61 * * * *\"}]}}");
        assert_state(r, "False", "InvalidSchedule", "absent", "True");
        merge_and_settle(r, PROVIDER,
                         "{\"spec\":{\"schedule\":[{\"cron\":\"@daily\",\"timeZone\":\"Mars/Base\"}]}}");
        assert_state(r, "False", "InvalidSchedule", "absent", "True");
        assert_non_null(strstr(r->text, "with timezone 'Mars/Base': unknown time zone Mars/Base\""));
        merge_and_settle(
                r, PROVIDER,
                "{\"spec\":{\"schedule\":null,\"type\":\"ACRArtifactTag\",\"url\":\"oci://a.io/b\"}}");
        assert_state(r, "False", "InvalidSpec", "absent", "True");
        assert_non_null(strstr(r->text, "configuration error: unsupported type: ACRArtifactTag"));
        merge_and_settle(r, PROVIDER, "{\"spec\":{" SERVICE "}}");
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        end(r, &f);
})

/* spec/resource-set.md checklist 121 */
RIG_TEST(a_schedule_is_in_its_time_zone_and_says_when_there_are_none, {
        struct fleet f;
        struct service s;

        begin(r, &f, &s);
        add(r, "",
            SERVICE
            ",\"schedule\":[{\"cron\":\"0 8 1 7 *\",\"timeZone\":\"Europe/Berlin\",\"window\":\"1h\"}]");
        assert_string_equal(rig_string(r, "status.nextSchedule.when"), "2026-07-01T06:00:00Z");
        assert_string_equal(rig_string(r, "status.nextSchedule.timeZone"), "Europe/Berlin");
        f.world.files = &without_zones;
        merge_and_settle(r, PROVIDER, "{\"metadata\":{\"annotations\":{\"x\":\"y\"}}}");
        assert_state(r, "False", "InvalidSchedule", "absent", "True");
        assert_non_null(strstr(r->text,
                               "unknown time zone Europe/Berlin: the agent has no time zone database at "
                               "/usr/share/zoneinfo/"));
        end(r, &f);
})

/* spec/resource-set.md checklist 122 */
RIG_TEST(outside_its_window_a_provider_waits_unless_it_is_forced, {
        struct fleet f;
        struct service s;
        char next[RFC3339_SIZE];
        const char *const annotations = "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/"
                                        "requestedAt\":\"1\",\"reconcile.fluxcd.io/forceAt\":"
                                        "\"1\"}}}";

        begin(r, &f, &s);
        int64_t begin_ms = loop_wall_ms(r->loop) / 86400000 * 86400000 + 8 * 3600000;
        time_format_rfc3339(begin_ms, next);
        fiber_sleep(r->loop, begin_ms - 6 * 3600000 - loop_wall_ms(r->loop));
        add(r, "", SERVICE ",\"schedule\":[{\"cron\":\"0 8 * * *\",\"window\":\"1h\"}]");
        assert_state(r, "True", "SkippedDueToSchedule", "absent", "absent");
        assert_string_equal(rig_string(r, "status.nextSchedule.when"), next);
        assert_string_equal(rig_string(r, "status.nextSchedule.cron"), "0 8 * * *");
        assert_int_equal(s.served, 0);
        assert_true(has_event(r, "SkippedDueToSchedule", next));
        merge_and_settle(r, PROVIDER, annotations);
        assert_int_equal(s.served, 1);
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        assert_string_equal(rig_string(r, "status.lastHandledForceAt"), "1");
        merge_and_settle(r, PROVIDER, "{\"metadata\":{\"annotations\":{\"x\":\"y\"}}}");
        assert_int_equal(s.served, 1);
        assert_state(r, "True", "ReconciliationSucceeded", "absent", "absent");
        fiber_sleep(r->loop, begin_ms - loop_wall_ms(r->loop) + 1000);
        rig_settle(r);
        assert_int_equal(s.served, 2);
        fiber_sleep(r->loop, 11 * MINUTE_MS);
        assert_int_equal(s.served, 3);
        end(r, &f);
})

/* spec/resource-set.md checklist 95 */
RIG_TEST(a_suspended_provider_is_not_asked_until_it_is_resumed, {
        struct fleet f;
        struct service s;

        begin(r, &f, &s);
        add(r, "\"fluxcd.controlplane.io/reconcile\":\"Disabled\"", SERVICE);
        assert_state(r, "True", "ReconciliationDisabled", "absent", "absent");
        assert_string_equal(part_of_condition(r, "Ready", "message"),
                            "Initialized with reconciliation suspended");
        fiber_sleep(r->loop, 60 * MINUTE_MS);
        assert_int_equal(s.served, 0);
        assert_true(has_event(r, "ReconciliationDisabled", "Reconciliation is disabled"));
        merge_and_settle(
                r, PROVIDER,
                "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/reconcile\":\"enabled\"}}}");
        assert_int_equal(s.served, 1);
        merge_and_settle(
                r, PROVIDER,
                "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/reconcile\":\"disabled\"}}}");
        rig_delete(r, PROVIDER);
        rig_settle(r);
        assert_int_equal(rig_get(r, PROVIDER), 404);
        end(r, &f);
})

/* spec/resource-set.md checklist 97 */
RIG_TEST(annotations_say_how_often_a_source_is_asked, {
        struct fleet f;
        struct service s;

        begin(r, &f, &s);
        add(r, "\"fluxcd.controlplane.io/reconcileEvery\":\"1m\"", SERVICE);
        assert_int_equal(s.served, 1);
        fiber_sleep(r->loop, 3 * MINUTE_MS + 5000);
        assert_int_equal(s.served, 4);
        merge_and_settle(
                r, PROVIDER,
                "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/reconcileEvery\":\"0s\"}}}");
        assert_int_equal(s.served, 5);
        fiber_sleep(r->loop, 120 * MINUTE_MS);
        assert_int_equal(s.served, 5);
        merge_and_settle(
                r, PROVIDER,
                "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/reconcileEvery\":\"often\"}}}");
        assert_int_equal(s.served, 6);
        fiber_sleep(r->loop, 10 * MINUTE_MS + 5000);
        assert_int_equal(s.served, 7);
        end(r, &f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_static_provider_exports_its_defaults),
                cmocka_unit_test(a_failing_source_leaves_what_was_exported_and_is_tried_again),
                cmocka_unit_test(secrets_are_read_when_they_are_needed_and_never_told),
                cmocka_unit_test(what_only_a_change_of_the_spec_helps_stalls),
                cmocka_unit_test(a_schedule_is_in_its_time_zone_and_says_when_there_are_none),
                cmocka_unit_test(outside_its_window_a_provider_waits_unless_it_is_forced),
                cmocka_unit_test(a_suspended_provider_is_not_asked_until_it_is_resumed),
                cmocka_unit_test(annotations_say_how_often_a_source_is_asked),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
