/* The agent serves reviews, keeps its certificate in a Secret and the configurations as they are to be. */
#include "common/net/cert.h"
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/webhook/certificates.h"
#include "hub-agent/webhook/serving.h"

#define REGISTRATION "/apis/admissionregistration.k8s.io/v1/"
#define VALIDATING REGISTRATION "validatingwebhookconfigurations/fleet-validating-webhook-configuration"
#define GUARD_RAIL REGISTRATION "validatingwebhookconfigurations/fleet-guard-rail-webhook-configuration"
#define MUTATING REGISTRATION "mutatingwebhookconfigurations/fleet-mutating-webhook-configuration"
#define SECRET "/api/v1/namespaces/fleet-system/secrets/fleet-webhook-certificate"
#define AUTHORITY "webhooks"

/* Reviews come over the simulation's network. */
static void served(void *rig, http_handler_fn handle, void *ctx)
{
        struct rig *r = rig;

        assert_int_equal(loopback_listen(r->net, AUTHORITY, handle, ctx), 0);
}

static struct webhook_options options(struct rig *r)
{
        return (struct webhook_options){ .flags = { .pdbs = true, .guard_rail = true },
                                         .ns = "fleet-system",
                                         .service = "fleetwebhook",
                                         .port = -1,
                                         .started = served,
                                         .started_ctx = r };
}

static void begin(struct rig *r, struct fleet *f, const struct webhook_options *o)
{
        start(r, f);
        stop(f);
        f->webhooks = o;
        start_again(r, f);
        rig_settle(r);
}

static void start_with(struct rig *r, struct fleet *f, const struct webhook_options *o)
{
        stop(f);
        f->webhooks = o;
        start_again(r, f);
        rig_settle(r);
}

static size_t webhooks_of(struct rig *r, const char *path)
{
        if (rig_get(r, path) != 200)
                return 0;
        return json_array_size(json_object_get(r->answer, "webhooks"));
}

static void remember(struct rig *r, const char *path, char *version, size_t size)
{
        assert_int_equal(rig_get(r, path), 200);
        snprintf(version, size, "%s", rig_string(r, "metadata.resourceVersion"));
}

/* spec/membership-webhooks-charts.md checklist 18 */
RIG_TEST(configurations_are_installed_and_belong_to_the_namespace, {
        struct webhook_options o = options(r);
        struct fleet f;
        const json_t *first;

        begin(r, &f, &o);
        assert_int_equal(webhooks_of(r, VALIDATING), 8);
        assert_non_null(strstr(r->text, "\"admissions.enforcer/disabled\":\"true\""));
        first = json_array_get(json_object_get(r->answer, "webhooks"), 0);
        assert_string_equal(doc_get_string(first, "clientConfig.service.name"), "fleetwebhook");
        assert_non_null(doc_get_string(first, "clientConfig.caBundle"));
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0),
                               "name"),
                "fleet-system");
        assert_int_equal(webhooks_of(r, MUTATING), 1);
        assert_int_equal(webhooks_of(r, GUARD_RAIL), 6);
        stop(&f);
})

RIG_TEST(what_somebody_edits_or_deletes_is_put_right_and_what_is_right_is_not_written, {
        struct webhook_options o = options(r);
        struct fleet f;
        char version[64];

        begin(r, &f, &o);
        remember(r, GUARD_RAIL, version, sizeof(version));
        assert_int_equal(rig_merge(r, VALIDATING, "{\"webhooks\":[]}"), 200);
        assert_int_equal(rig_delete(r, MUTATING), 200);
        rig_settle(r);
        assert_int_equal(webhooks_of(r, VALIDATING), 8);
        assert_int_equal(webhooks_of(r, MUTATING), 1);
        start_with(r, &f, &o);
        rig_get(r, GUARD_RAIL);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        stop(&f);
})

RIG_TEST(what_flags_switch_off_is_removed, {
        struct webhook_options o = options(r);
        struct fleet f;

        begin(r, &f, &o);
        o.flags.guard_rail = false;
        o.flags.workload = true;
        start_with(r, &f, &o);
        assert_int_equal(rig_get(r, GUARD_RAIL), 404);
        assert_int_equal(webhooks_of(r, VALIDATING), 6);
        start_with(r, &f, NULL);
        assert_int_equal(rig_get(r, VALIDATING), 404);
        assert_int_equal(rig_get(r, MUTATING), 404);
        stop(&f);
})

/* ---- certificates ---- */

static void read_secret(struct rig *r, struct webhook_certificates *ret)
{
        struct error err = { 0 };

        assert_int_equal(rig_get(r, SECRET), 200);
        if (webhook_certificates_read(r->answer, ret, &err) < 0)
                fail_msg("%s", err.text);
}

static void expect_bundle(struct rig *r, const char *authorities)
{
        AUTO_JSON json_t *wanted = doc_base64(slice_of(authorities));

        assert_int_equal(webhooks_of(r, VALIDATING), 8);
        assert_string_equal(doc_get_string(json_array_get(json_object_get(r->answer, "webhooks"), 0),
                                           "clientConfig.caBundle"),
                            json_string_value(wanted));
}

RIG_TEST(replicas_and_restarts_share_one_certificate, {
        CLEANUP(webhook_certificates_free) struct webhook_certificates first = { 0 }, second = { 0 };
        struct webhook_options o = options(r);
        struct fleet f;

        begin(r, &f, &o);
        read_secret(r, &first);
        assert_true(cert_not_after_ms(first.identity.cert_pem) > loop_wall_ms(r->loop) + 3649 * 86400000LL);
        start_with(r, &f, &o);
        read_secret(r, &second);
        assert_string_equal(first.identity.cert_pem, second.identity.cert_pem);
        expect_bundle(r, first.authorities);
        stop(&f);
})

RIG_TEST(a_certificate_that_is_spoilt_or_deleted_is_made_anew, {
        CLEANUP(webhook_certificates_free)
        struct webhook_certificates first = { 0 }, second = { 0 }, third = { 0 };
        AUTO_FREE char *newest = NULL;
        struct webhook_options o = options(r);
        struct fleet f;

        begin(r, &f, &o);
        read_secret(r, &first);
        assert_int_equal(rig_merge(r, SECRET, "{\"data\":{\"tls.crt\":\"bm9uZQ==\"}}"), 200);
        rig_settle(r);
        read_secret(r, &second);
        assert_string_not_equal(first.identity.cert_pem, second.identity.cert_pem);
        assert_non_null(strstr(second.authorities, first.authorities)); /* which is served for a while */
        expect_bundle(r, second.authorities);
        fiber_sleep(r->loop, 70000);
        assert_int_equal(rig_delete(r, SECRET), 200);
        rig_settle(r);
        read_secret(r, &third);
        newest = mem_strndup(second.authorities, strlen(second.authorities) - strlen(first.authorities));
        assert_non_null(strstr(third.authorities, newest));
        expect_bundle(r, third.authorities);
        stop(&f);
})

RIG_TEST(a_certificate_that_ends_soon_is_replaced_and_both_authorities_are_trusted, {
        CLEANUP(webhook_certificates_free) struct webhook_certificates first = { 0 }, second = { 0 };
        AUTO_JSON json_t *old = NULL;
        AUTO_BUF struct buf text;
        struct webhook_options o = options(r);
        struct error err = { 0 };
        struct fleet f;

        begin(r, &f, &o);
        stop(&f);
        assert_int_equal(rig_delete(r, SECRET), 200);
        assert_int_equal(webhook_certificates_make("fleet-system", "fleet-webhook-certificate",
                                                   "fleetwebhook", NULL,
                                                   loop_wall_ms(r->loop) - 3300 * 86400000LL, &old, &err),
                         0);
        buf_init(&text, 1 << 20);
        doc_write(old, &text);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/fleet-system/secrets", text.data), 201);
        read_secret(r, &first);
        start_again(r, &f);
        rig_settle(r);
        read_secret(r, &second);
        assert_string_not_equal(first.identity.cert_pem, second.identity.cert_pem);
        assert_non_null(strstr(second.authorities, first.authorities));
        assert_true(strncmp(second.authorities, first.authorities, strlen(first.authorities)) != 0);
        expect_bundle(r, second.authorities);
        stop(&f);
})

/* The API server asks for the name that the configurations say. */
RIG_TEST(a_service_of_another_name_gets_a_certificate_of_its_own, {
        CLEANUP(webhook_certificates_free) struct webhook_certificates first = { 0 }, second = { 0 };
        struct webhook_options o = options(r);
        struct fleet f;

        begin(r, &f, &o);
        read_secret(r, &first);
        o.service = "other";
        start_with(r, &f, &o);
        read_secret(r, &second);
        assert_true(cert_is_for(first.identity.cert_pem, "fleetwebhook.fleet-system.svc"));
        assert_true(cert_is_for(second.identity.cert_pem, "other.fleet-system.svc"));
        assert_non_null(strstr(second.authorities, first.authorities));
        expect_bundle(r, second.authorities);
        stop(&f);
})

/* ---- certificates of cert-manager ---- */

static struct webhook_serving *serving;
static char *cert, *key;
static uint64_t stamp; /* of both files */

static void served_by(void *rig, http_handler_fn handle, void *ctx)
{
        serving = handle ? ctx : NULL;
        served(rig, handle, ctx);
}

static int read_mounted(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len,
                        struct error *err)
{
        if (strcmp(path, "/certs/tls.crt") != 0 && strcmp(path, "/certs/tls.key") != 0)
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        *ret = mem_strdup(strstr(path, "crt") ? cert : key);
        *ret_len = strlen(*ret);
        return 0;
}
static uint64_t stamp_mounted(void *ctx, const char *path)
{
        return stamp;
}

static const struct world_files mounted = { .read = read_mounted, .stamp = stamp_mounted };

/* As the kubelet does when the Secret has changed. */
static void mount(struct rig *r)
{
        struct error err = { 0 };

        mem_free(cert);
        mem_free(key);
        assert_int_equal(cert_self_signed_ca("ca", loop_wall_ms(r->loop), 1, &cert, &key, &err), 0);
        stamp++;
}

static void expect_readiness(bool ready, const char *why)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 4096);
        assert_non_null(serving);
        assert_int_equal(webhook_serving_ready(serving, &b), ready);
        if (!strstr(b.data, why))
                fail_msg("expected %s, heard %s", why, b.data);
}

/* As cert-manager does: the same authorities into every entry. */
static void inject(struct rig *r, const char *path)
{
        AUTO_BUF struct buf text;
        json_t *w;
        size_t i;

        assert_int_equal(rig_get(r, path), 200);
        json_array_foreach(json_object_get(r->answer, "webhooks"), i, w)
                assert_int_equal(doc_set_string(w, "clientConfig.caBundle", "Y2E="), 0);
        buf_init(&text, 1 << 20);
        doc_write(r->answer, &text);
        assert_int_equal(rig_put(r, path, text.data), 200);
        rig_settle(r);
}

/* spec/membership-webhooks-charts.md checklist 18, 44 */
RIG_TEST(with_cert_manager_a_replica_is_ready_once_every_webhook_has_its_authorities, {
        struct webhook_options o = options(r);
        struct fleet f;

        mount(r);
        o.cert_manager = o.flags.workload = true;
        o.folder = "/certs";
        o.started = served_by;
        start(r, &f);
        f.world.files = &mounted;
        start_with(r, &f, &o);
        assert_int_equal(rig_get(r, SECRET), 404);
        assert_int_equal(webhooks_of(r, VALIDATING), 6);
        assert_non_null(
                strstr(r->text, "\"cert-manager.io/inject-ca-from\":\"fleet-system/fleet-webhook-cert"));
        fiber_sleep(r->loop, 6000);
        expect_readiness(false, "MutatingWebhookConfiguration fleet-mutating-webhook-configuration webhook "
                                "fleet.clusterresourceplacementv1beta1.mutating is missing CA bundle "
                                "(cert-manager injection pending)");
        inject(r, MUTATING);
        inject(r, VALIDATING);
        fiber_sleep(r->loop, 6000);
        expect_readiness(false, "ValidatingWebhookConfiguration fleet-guard-rail-webhook-configuration");
        inject(r, GUARD_RAIL);
        fiber_sleep(r->loop, 6000);
        expect_readiness(true, "");
        assert_int_equal(rig_merge(r, VALIDATING, "{\"metadata\":{\"labels\":null}}"), 200);
        rig_settle(r); /* put right, with what was put in */
        assert_int_equal(webhooks_of(r, VALIDATING), 6);
        assert_non_null(strstr(r->text, "admissions.enforcer/disabled"));
        assert_non_null(strstr(r->text, "\"caBundle\":\"Y2E=\""));
        stop(&f);
        mem_free(TAKE_PTR(cert));
        mem_free(TAKE_PTR(key));
})

/* spec/membership-webhooks-charts.md checklist 44: as whoever asks the agent hears it. */
RIG_TEST(an_agent_that_waits_for_cert_manager_is_not_ready, {
        struct webhook_options o = options(r);
        struct http_response a;
        struct fleet f;

        mount(r);
        o.cert_manager = o.flags.workload = true;
        o.folder = "/certs";
        start(r, &f);
        f.world.files = &mounted;
        f.probed = true;
        start_with(r, &f, &o);
        fiber_sleep(r->loop, 6000);
        assert_int_equal(probe(&f, "/readyz", &a), 503);
        assert_non_null(strstr(a.body.data, "is missing CA bundle (cert-manager injection pending)\n"));
        inject(r, MUTATING);
        inject(r, VALIDATING);
        inject(r, GUARD_RAIL);
        fiber_sleep(r->loop, 6000);
        assert_int_equal(probe(&f, "/readyz", &a), 200);
        stop(&f);
        mem_free(TAKE_PTR(cert));
        mem_free(TAKE_PTR(key));
})

/* spec/membership-webhooks-charts.md checklist 43 */
RIG_TEST(new_files_are_served_without_a_restart, {
        AUTO_FREE char *first = NULL;
        struct webhook_options o = options(r);
        struct fleet f;

        mount(r);
        first = mem_strdup(cert);
        o.cert_manager = o.flags.workload = true;
        o.folder = "/certs";
        o.started = served_by;
        start(r, &f);
        f.world.files = &mounted;
        start_with(r, &f, &o);
        assert_string_equal(webhook_serving_certificate(serving), first);
        mount(r);
        assert_string_not_equal(cert, first);
        fiber_sleep(r->loop, 6000);
        assert_string_equal(webhook_serving_certificate(serving), cert);
        stop(&f);
        mem_free(TAKE_PTR(cert));
        mem_free(TAKE_PTR(key));
})

struct shown {
        unsigned refusals, asked;
        char *cert, *key; /* key: the only one that fits */
};
static struct shown shown;

static int renewed(void *rig, const struct tls_identity *identity, struct error *err)
{
        shown.asked++;
        if (shown.refusals > 0) {
                shown.refusals--;
                return error_set(err, ERR_SYSTEM, "not now");
        }
        mem_free(shown.cert);
        shown.cert = mem_strdup(identity->cert_pem);
        return 0;
}

/* Nothing new is read then, but what was read is not served yet. */
RIG_TEST(a_certificate_that_cannot_be_taken_over_at_once_is_taken_over_later, {
        CLEANUP(webhook_certificates_free) struct webhook_certificates now = { 0 };
        struct webhook_options o = options(r);
        struct fleet f;

        shown = (struct shown){ .refusals = 2 };
        o.renewed = renewed;
        begin(r, &f, &o);
        assert_int_equal(rig_delete(r, SECRET), 200);
        rig_settle(r);
        read_secret(r, &now);
        expect_bundle(r, now.authorities);
        fiber_sleep(r->loop, 58000);
        assert_int_equal(shown.asked, 0); /* API servers are told first */
        fiber_sleep(r->loop, 13000);
        assert_int_equal(shown.asked, 3);
        assert_string_equal(shown.cert, now.identity.cert_pem);
        fiber_sleep(r->loop, 600000);
        assert_int_equal(shown.asked, 3);
        stop(&f);
        mem_free(TAKE_PTR(shown.cert));
})

/* The watch tells of it once. */
RIG_TEST(what_another_replica_made_is_served_when_api_servers_were_told, {
        CLEANUP(webhook_certificates_free) struct webhook_certificates now = { 0 };
        AUTO_JSON json_t *made = NULL;
        AUTO_BUF struct buf text;
        struct webhook_options o = options(r);
        struct error err = { 0 };
        struct fleet f;

        shown = (struct shown){ 0 };
        o.renewed = renewed;
        begin(r, &f, &o);
        fiber_sleep(r->loop, 120000);
        assert_int_equal(webhook_certificates_make("fleet-system", "fleet-webhook-certificate",
                                                   "fleetwebhook", NULL, loop_wall_ms(r->loop), &made, &err),
                         0);
        buf_init(&text, 1 << 20);
        doc_write(made, &text);
        assert_int_equal(rig_merge(r, SECRET, text.data), 200);
        read_secret(r, &now);
        fiber_sleep(r->loop, 58000);
        assert_int_equal(shown.asked, 0);
        fiber_sleep(r->loop, 4000);
        assert_int_equal(shown.asked, 1);
        assert_string_equal(shown.cert, now.identity.cert_pem);
        stop(&f);
        mem_free(TAKE_PTR(shown.cert));
})

/* As TLS does: the key of another certificate is none. */
static int renewed_with_its_key(void *rig, const struct tls_identity *identity, struct error *err)
{
        if (!text_equal(identity->key_pem, shown.key))
                return error_set(err, ERR_INVALID, "that is another's key");
        return renewed(rig, identity, err);
}

/* They are exchanged between the reading of the one and of the other. */
RIG_TEST(a_certificate_that_was_read_with_the_key_of_the_former_one_is_read_again, {
        AUTO_FREE char *former = NULL;
        struct webhook_options o = options(r);
        struct fleet f;

        mount(r);
        o.cert_manager = o.flags.workload = true;
        o.folder = "/certs";
        o.renewed = renewed_with_its_key;
        start(r, &f);
        f.world.files = &mounted;
        start_with(r, &f, &o);
        former = mem_strdup(key);
        mount(r);
        shown = (struct shown){ .key = TAKE_PTR(key) };
        key = mem_strdup(former);
        fiber_sleep(r->loop, 20000);
        assert_int_equal(shown.asked, 0);
        mem_free(key);
        key = mem_strdup(shown.key);
        stamp++;
        fiber_sleep(r->loop, 20000);
        assert_int_equal(shown.asked, 1);
        assert_string_equal(shown.cert, cert);
        stop(&f);
        mem_free(TAKE_PTR(shown.cert));
        mem_free(TAKE_PTR(shown.key));
        mem_free(TAKE_PTR(cert));
        mem_free(TAKE_PTR(key));
})

/* ---- reviews ---- */

static int post_review(struct rig *r, const char *method, const char *path, const char *body,
                       struct http_response *ret)
{
        struct http_endpoint endpoint = { .base_url = (char *)(uintptr_t) "https://" AUTHORITY };
        const struct http_request rq = { .endpoint = &endpoint,
                                         .method = method,
                                         .path = path,
                                         .body = slice_of(body),
                                         .deadline_ms = loop_now_ms(r->loop) + 5000 };
        struct error err = { 0 };

        return http_roundtrip(r->client, &rq, &r->arena, ret, &err) < 0 ? err.code : ret->status;
}

#define POD_REVIEW                                                                                           \
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u-1\"," \
        "\"operation\":\"CREATE\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"            \
        "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},\"name\":\"p\","             \
        "\"namespace\":\"default\",\"userInfo\":{\"username\":\"alice\"},\"object\":{\"apiVersion\":\"v1\"," \
        "\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"default\"}}}}"

RIG_TEST(reviews_are_answered_and_nothing_else, {
        struct webhook_options o = options(r);
        struct http_response a;
        struct fleet f;

        begin(r, &f, &o);
        assert_int_equal(post_review(r, "POST", "/validate--v1-pod?timeout=5s", POD_REVIEW, &a), 200);
        assert_non_null(strstr(a.body.data, "\"uid\":\"u-1\""));
        assert_non_null(strstr(a.body.data, "\"allowed\":false"));
        assert_int_equal(post_review(r, "POST", "/validate--v1-pod", "nonsense", &a), 200);
        assert_non_null(strstr(a.body.data, "400"));
        assert_int_equal(post_review(r, "POST", "/unknown", POD_REVIEW, &a), 404);
        assert_int_equal(post_review(r, "GET", "/validate--v1-pod", "", &a), 405);
        stop(&f);
        assert_true(post_review(r, "POST", "/validate--v1-pod", POD_REVIEW, &a) < 0);
})

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(configurations_are_installed_and_belong_to_the_namespace),
                cmocka_unit_test(
                        what_somebody_edits_or_deletes_is_put_right_and_what_is_right_is_not_written),
                cmocka_unit_test(what_flags_switch_off_is_removed),
                cmocka_unit_test(replicas_and_restarts_share_one_certificate),
                cmocka_unit_test(a_certificate_that_is_spoilt_or_deleted_is_made_anew),
                cmocka_unit_test(a_certificate_that_ends_soon_is_replaced_and_both_authorities_are_trusted),
                cmocka_unit_test(a_service_of_another_name_gets_a_certificate_of_its_own),
                cmocka_unit_test(with_cert_manager_a_replica_is_ready_once_every_webhook_has_its_authorities),
                cmocka_unit_test(an_agent_that_waits_for_cert_manager_is_not_ready),
                cmocka_unit_test(new_files_are_served_without_a_restart),
                cmocka_unit_test(a_certificate_that_cannot_be_taken_over_at_once_is_taken_over_later),
                cmocka_unit_test(what_another_replica_made_is_served_when_api_servers_were_told),
                cmocka_unit_test(a_certificate_that_was_read_with_the_key_of_the_former_one_is_read_again),
                cmocka_unit_test(reviews_are_answered_and_nothing_else),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
