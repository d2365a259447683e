/* Where tokens come from, over the loopback network: a Secret that is watched, Azure's identity endpoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/http_server.h"
#include "member-agent/refresh-token/azure_source.h"
#include "member-agent/refresh-token/secret_source.h"

#define WALL INT64_C(1767225600000) /* 2026-01-01 */
#define HOUR 3600000LL
#define DAY (24 * HOUR)

/* A member cluster with one Secret, an identity endpoint, and a disk of one file. */
struct rig {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct log log;
        struct http_endpoint member;
        struct kube_client kube;
        struct refresher refresher;
        struct fiber_group *group;
        struct waitq changed;
        char file[256];
        const char *token_base64; /* of the Secret; NULL = there is no such Secret */
        int version, gets, asked, identity_status, failures;
        bool watch_forbidden;
        const char *identity_answer, *words; /* words: what an error says */
        char seen_query[256], seen_metadata[16];
        void (*body)(struct rig *r);
};

static int write_file(void *ctx, const char *path, const void *data, size_t len, struct error *err)
{
        struct rig *r = ctx;

        assert_true(len < sizeof(r->file));
        memcpy(r->file, data, len);
        r->file[len] = '\0';
        return 0;
}

static uint64_t stamp(void *ctx, const char *path)
{
        return ((struct rig *)ctx)->file[0] ? 1 : 0;
}

static const struct world_files files = { .write = write_file, .stamp = stamp };

static int reply(struct http_exchange *x, int status, const char *text)
{
        return http_reply(x, status, "application/json", slice_of(text), NULL);
}

#define METADATA                                                                                             \
        "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":"      \
        "\"hub\",\"namespace\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"%d\"}}"

static void serve_watch(struct rig *r, struct http_exchange *x)
{
        int told = r->version;

        if (http_begin(x, 200, NULL) < 0)
                return;
        for (;;) {
                char line[512];
                int n;

                if (x->ops->wait(x, &r->changed, loop_now_ms(r->loop) + HOUR) == ERR_CLOSED)
                        return;
                if (fiber_cancelled(r->loop))
                        return;
                if (told == r->version)
                        continue;
                told = r->version;
                n = snprintf(line, sizeof(line), "{\"type\":\"MODIFIED\",\"object\":" METADATA "}\n", told);
                if (http_write(x, line, (size_t)n) < 0)
                        return;
        }
}

/* Everything but the Secret itself is asked with the selector of its name: RBAC allows no more. */
static void serve_list(struct rig *r, struct http_exchange *x)
{
        const char *accept = http_header_get(&x->headers, "Accept");

        assert_string_equal(http_query_get(x, "fieldSelector"), "metadata.name=hub");
        assert_non_null(strstr(accept, "PartialObjectMetadata"));
        if (r->watch_forbidden) {
                (void)reply(x, 403, "{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\"}");
        } else if (http_query_get(x, "watch")) {
                serve_watch(r, x);
        } else {
                char item[512];

                snprintf(item, sizeof(item), METADATA, r->version);
                (void)reply(
                        x, 200,
                        arena_printf(
                                x->arena,
                                "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\","
                                "\"metadata\":{\"resourceVersion\":\"%d\"},\"items\":[%s]}",
                                r->version, r->token_base64 ? item : ""));
        }
}

static void serve_member(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;

        if (text_equal(x->path, "/api/v1/namespaces/default/secrets")) {
                serve_list(r, x);
                return;
        }
        assert_string_equal(x->path, "/api/v1/namespaces/default/secrets/hub");
        r->gets++;
        if (!r->token_base64) {
                (void)reply(x, 404,
                            "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\",\"message\":\"secrets "
                            "\\\"hub\\\" not found\"}");
                return;
        }
        (void)reply(
                x, 200,
                arena_printf(
                        x->arena,
                        "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"hub\","
                        "\"namespace\":\"default\",\"resourceVersion\":\"%d\"},\"data\":{\"token\":\"%s\"}}",
                        r->version, r->token_base64));
}

static void serve_identity(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        const char *metadata = http_header_get(&x->headers, "Metadata");

        assert_string_equal(x->path, "/metadata/identity/oauth2/token");
        snprintf(r->seen_query, sizeof(r->seen_query), "%s", x->query);
        snprintf(r->seen_metadata, sizeof(r->seen_metadata), "%s", metadata ? metadata : "");
        r->asked++;
        if (r->failures-- > 0)
                (void)reply(x, 500, "{}");
        else
                (void)reply(x, r->identity_status, r->identity_answer);
}

/* ---- running ---- */

static void body_fiber(void *ctx)
{
        struct rig *r = ctx;

        r->body(r);
        http_transport_free(r->world.transport);
        r->net = loopback_free(r->net);
}

static void run(struct rig *r, void (*body)(struct rig *))
{
        size_t before = mem_live_count();
        struct fiber_group *group;

        r->body = body;
        r->version = 1;
        r->loop = loop_new_simulated(1, WALL, NULL);
        r->world = (struct world){ .loop = r->loop, .files = &files, .ctx = r };
        r->net = loopback_new(r->loop);
        assert_int_equal(loopback_listen(r->net, "member:443", serve_member, r), 0);
        assert_int_equal(loopback_listen(r->net, "identity:443", serve_identity, r), 0);
        r->world.transport = loopback_transport(r->net, &r->world, NULL);
        r->member.base_url = (char *)"https://member:443";
        r->kube = (struct kube_client){ .world = &r->world, .endpoint = &r->member, .log = &r->log };
        r->refresher = (struct refresher){ .world = &r->world, .log = &r->log, .path = "/config/token" };
        group = fiber_group_new(r->loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "body", body_fiber, r));
        assert_int_equal(loop_run(r->loop, NULL), 0);
        assert_null(r->net);
        fiber_group_end(group);
        loop_free(r->loop);
        assert_int_equal(mem_live_count(), before);
}

static void refresh_fiber(void *ctx)
{
        struct rig *r = ctx;
        struct error err = { 0 };

        assert_int_equal(refresh_run(&r->refresher, &err), ERR_CANCELLED);
}

static void start_secret(struct rig *r, struct secret_source *s)
{
        *s = (struct secret_source){
                .kube = &r->kube, .ns = "default", .name = "hub", .refresher = &r->refresher
        };
        r->refresher.source = &s->source;
        r->group = fiber_group_new(r->loop, NULL, "sidecar");
        assert_int_equal(secret_source_start(s, r->group, NULL), 0);
        assert_non_null(fiber_spawn(r->group, "refresh", refresh_fiber, r));
}

static void stop_secret(struct rig *r, struct secret_source *s)
{
        secret_source_stop(s);
        fiber_group_end(r->group);
}

static void change_secret(struct rig *r, const char *token_base64)
{
        r->token_base64 = token_base64;
        r->version++;
        waitq_wake_all(&r->changed);
}

/* ---- the Secret ---- */

static void follow_a_change(struct rig *r)
{
        struct secret_source s;

        r->token_base64 = "b25lCg=="; /* "one\n" */
        start_secret(r, &s);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_string_equal(r->file, "one");
        assert_true(r->gets <= 2);
        r->gets = 0;
        change_secret(r, "dHdv");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        assert_string_equal(r->file, "two");
        assert_int_equal(r->gets, 1);
        stop_secret(r, &s);
}

static void a_changed_secret_is_in_the_file_within_a_second(void **state)
{
        struct rig r = { 0 };

        run(&r, follow_a_change);
}

static void wait_for_creation(struct rig *r)
{
        struct secret_source s;

        start_secret(r, &s);
        assert_int_equal(fiber_sleep(r->loop, 100000), 0);
        assert_string_equal(r->file, "");
        change_secret(r, "b25l");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        assert_string_equal(r->file, "one");
        stop_secret(r, &s);
}

static void a_secret_that_comes_later_is_waited_for(void **state)
{
        struct rig r = { 0 };

        run(&r, wait_for_creation);
}

static void look_every_five_minutes(struct rig *r)
{
        struct secret_source s;

        r->token_base64 = "b25l";
        start_secret(r, &s);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        change_secret(r, "dHdv");
        assert_int_equal(fiber_sleep(r->loop, 301000), 0);
        assert_string_equal(r->file, "two");
        stop_secret(r, &s);
}

static void without_the_right_to_watch_it_looks_every_five_minutes(void **state)
{
        struct rig r = { .watch_forbidden = true };

        run(&r, look_every_five_minutes);
}

static void keep_the_last_good_token(struct rig *r)
{
        static const char *const bad[] = { "", "***", "ICAg", "YSBi", "AQI=" };
        struct secret_source s;

        r->token_base64 = "b25l";
        start_secret(r, &s);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                change_secret(r, bad[i]);
                assert_int_equal(fiber_sleep(r->loop, 60000), 0);
                assert_string_equal(r->file, "one");
        }
        change_secret(r, "dHdv");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        assert_string_equal(r->file, "two");
        stop_secret(r, &s);
}

static void a_bad_token_does_not_replace_a_good_one(void **state)
{
        struct rig r = { 0 };

        run(&r, keep_the_last_good_token);
}

static void the_expiry_is_that_of_the_token_or_a_day_ahead(void **state)
{
        static const struct {
                const char *token;
                int64_t expires_ms;
        } lines[] = {
                { "opaque", WALL + DAY },
                { "e30.eyJleHAiOjE3MDAwMDAwMDB9.sig", 1700000000000LL },        /* {"exp":1700000000} */
                { "e30.e30.sig", WALL + DAY },                                  /* {} */
                { "e30.eyJleHAiOiJ4In0.sig", WALL + DAY },                      /* {"exp":"x"} */
                { "e30.eyJleHAiOjkyMjMzNzIwMzY4NTQ3NzU4MDd9.sig", WALL + DAY }, /* the largest integer */
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                assert_int_equal(token_expires_ms(lines[i].token, WALL), lines[i].expires_ms);
}

/* ---- the identity endpoint ---- */

static int fetch_from_azure(struct rig *r, struct hub_token *t, struct error *err)
{
        struct azure_source s = { .world = &r->world,
                                  .endpoint.base_url = (char *)"https://identity:443",
                                  .client_id = "id 1",
                                  .scope = "api://x" };

        azure_source_init(&s);
        return s.source.fetch(&s.source, loop_now_ms(r->loop) + REFRESH_DEADLINE_MS, t, err);
}

static void take_a_token(struct rig *r)
{
        struct hub_token t = { 0 };
        struct error err = { 0 };

        assert_int_equal(fetch_from_azure(r, &t, &err), 0);
        assert_string_equal(t.text, "abc");
        assert_int_equal(t.expires_ms, 1767229200000LL);
        assert_string_equal(r->seen_query, "api-version=2018-02-01&resource=api%3A%2F%2Fx&client_id=id%201");
        assert_string_equal(r->seen_metadata, "true");
        hub_token_free(&t);
}

static void an_identitys_token_comes_with_its_expiry(void **state)
{
        static const char *const answers[] = {
                "{\"access_token\":\"abc\",\"expires_on\":\"1767229200\"}",
                "{\"access_token\":\"abc\",\"expires_on\":1767229200,\"token_type\":\"Bearer\"}",
        };

        for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
                struct rig r = { .identity_status = 200, .identity_answer = answers[i] };

                run(&r, take_a_token);
                assert_int_equal(r.asked, 1);
        }
}

static void take_a_token_a_little_later(struct rig *r)
{
        int64_t begun = loop_now_ms(r->loop);

        take_a_token(r);
        assert_in_range(loop_now_ms(r->loop) - begun, 310, 330);
}

static void a_busy_identity_endpoint_is_asked_four_times_ever_more_slowly(void **state)
{
        struct rig r = { .identity_status = 200,
                         .failures = 3,
                         .identity_answer = "{\"access_token\":\"abc\",\"expires_on\":\"1767229200\"}" };

        run(&r, take_a_token_a_little_later);
        assert_int_equal(r.asked, 4);
}

static void refuse_an_answer(struct rig *r)
{
        struct hub_token t = { 0 };
        struct error err = { 0 };

        assert_true(fetch_from_azure(r, &t, &err) < 0);
        assert_non_null(strstr(err.text, "identity endpoint"));
        assert_non_null(strstr(err.text, or_empty(r->words)));
        assert_null(t.text);
}

static void strange_answers_of_the_identity_endpoint_are_refused(void **state)
{
        static const struct {
                int status;
                const char *answer, *says;
        } lines[] = {
                { 200, "" },
                { 200, "<html>" },
                { 200, "{}" },
                { 200, "{\"access_token\":\"\",\"expires_on\":\"1767229200\"}" },
                { 200, "{\"access_token\":\"abc\"}" },
                { 200, "{\"access_token\":\"abc\",\"expires_on\":\"soon\"}" },
                { 200, "{\"access_token\":\"abc\",\"expires_on\":-1}" },
                { 200, "{\"access_token\":7,\"expires_on\":1767229200}" },
                { 400, "{\"error\":\"invalid_request\",\"error_description\":\"Identity not found\"}",
                  "status 400: Identity not found" },
                { 404, "not found", "status 404" },
                { 503, "", "status 503" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct rig r = { .identity_status = lines[i].status,
                                 .identity_answer = lines[i].answer,
                                 .words = lines[i].says };

                run(&r, refuse_an_answer);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_changed_secret_is_in_the_file_within_a_second),
                cmocka_unit_test(a_secret_that_comes_later_is_waited_for),
                cmocka_unit_test(without_the_right_to_watch_it_looks_every_five_minutes),
                cmocka_unit_test(a_bad_token_does_not_replace_a_good_one),
                cmocka_unit_test(the_expiry_is_that_of_the_token_or_a_day_ahead),
                cmocka_unit_test(an_identitys_token_comes_with_its_expiry),
                cmocka_unit_test(a_busy_identity_endpoint_is_asked_four_times_ever_more_slowly),
                cmocka_unit_test(strange_answers_of_the_identity_endpoint_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
