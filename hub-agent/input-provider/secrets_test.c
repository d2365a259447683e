/* Secrets and TLS: spec/resource-set.md 22, over sockets where it is about connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/cert.h"
#include "e2e/devcluster/serving/http1_server_test.h"
#include "hub-agent/input-provider/secrets.h"

#define DAY_MS INT64_C(86400000)

static void put(json_t *doc, const char *key, const char *value)
{
        json_object_set_new(json_object_get(doc, "data"), key, doc_base64(slice_of(value)));
}

static json_t *secret_of(const char *const *keys_and_values)
{
        json_t *doc = json_pack("{s:{}}", "data");

        for (; *keys_and_values; keys_and_values += 2)
                put(doc, keys_and_values[0], keys_and_values[1]);
        return doc;
}
#define SECRET(...) secret_of((const char *[]){ __VA_ARGS__, NULL })

/* spec/resource-set.md checklist 123 */
static void credentials_are_trimmed_and_what_lacks_is_named(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *full = SECRET("username", " git\n", "password", "t0ken\n"),
                         *half = SECRET("username", "git"),
                         *other = SECRET("password", "t0ken", "username", " \n"),
                         *token = SECRET("token", "x \n");
        struct source_credentials c = { 0 };
        struct error err = { 0 };

        assert_int_equal(secret_git(&(struct secret){ "ns/a", full }, true, &arena, &c, &err), 0);
        assert_string_equal(c.username, "git");
        assert_string_equal(c.password, "t0ken");
        assert_int_equal(secret_git(&(struct secret){ "ns/a", half }, true, &arena, &c, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid secret 'ns/a': key 'password' is missing");
        assert_int_equal(secret_git(&(struct secret){ "ns/a", other }, true, &arena, &c, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid secret 'ns/a': key 'username' is missing");
        assert_int_equal(secret_service(&(struct secret){ "ns/a", token }, &arena, &c, &err), 0);
        assert_string_equal(c.token, "x");
        assert_int_equal(secret_service(&(struct secret){ "ns/a", half }, &arena, &c, &err), ERR_INVALID);
        json_object_set_new(json_object_get(token, "data"), "token", json_string("%%"));
        assert_int_equal(secret_service(&(struct secret){ "ns/a", token }, &arena, &c, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid secret 'ns/a': key 'token' holds no text");
}

/* spec/resource-set.md checklist 110 */
static void an_apps_fields_are_taken_for_git_hub_alone(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *app = SECRET("githubAppID", "1", "githubAppInstallationOwner", "o",
                                       "githubAppPrivateKey", "k", "githubAppBaseURL", "https://x");
        struct source_credentials c = { 0 };

        assert_int_equal(secret_git(&(struct secret){ "ns/a", app }, true, &arena, &c, NULL), 0);
        assert_string_equal(c.app_id, "1");
        assert_string_equal(c.app_owner, "o");
        assert_string_equal(c.app_key, "k");
        assert_string_equal(c.app_base_url, "https://x");
        assert_int_equal(secret_git(&(struct secret){ "ns/a", app }, false, &arena, &c, NULL), ERR_INVALID);
}

/* spec/resource-set.md checklist 115 */
static void docker_configs_come_in_two_forms(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *now = SECRET(".dockerconfigjson", "{\"auths\":{\"a\":{}}}"),
                         *old = SECRET(".dockercfg", "{\"b\":{}}"), *bad = SECRET(".dockercfg", "{"),
                         *none = SECRET("x", "y");
        const json_t *room[2];
        struct error err = { 0 };
        size_t n = 0;

        assert_int_equal(secret_docker_config(&(struct secret){ "ns/a", now }, &arena, room, &n, &err), 0);
        assert_int_equal(secret_docker_config(&(struct secret){ "ns/a", old }, &arena, room, &n, &err), 0);
        assert_int_equal(n, 2);
        assert_non_null(json_object_get(room[0], "a"));
        assert_non_null(json_object_get(room[1], "b"));
        assert_int_equal(secret_docker_config(&(struct secret){ "ns/a", bad }, &arena, room, &n, &err),
                         ERR_INVALID);
        assert_int_equal(secret_docker_config(&(struct secret){ "ns/a", none }, &arena, room, &n, &err),
                         ERR_INVALID);
        assert_string_equal(err.text, "invalid secret 'ns/a': key '.dockerconfigjson' is missing");
}

/* ---- TLS ---- */

struct rig {
        struct loop *loop;
        struct world world;
        struct http1_server *server;
        struct tls_identity identity;
        struct arena arena;
        char *ca, *ca_key, *cert, *key, *url;
        const char *seen; /* the client's name */
        bool done;
};

static void answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;

        r->seen = x->peer_common_name ? arena_strdup(&r->arena, x->peer_common_name) : "nobody";
        http_reply(x, 200, "application/json", SLICE("{\"inputs\":[{\"id\":\"1\"}]}"), NULL);
}

static int collect(struct rig *r, const json_t *secret, struct error *err)
{
        struct source s = { .world = &r->world,
                            .arena = &r->arena,
                            .type = "ExternalService",
                            .url = r->url,
                            .filter = { .limit = 10 },
                            .any_address = true,
                            .deadline_ms = loop_now_ms(r->loop) + 60000 };
        int code = 0;

        r->seen = NULL;
        *err = (struct error){ 0 };
        if (secret)
                code = secret_tls(&(struct secret){ "ns/tls", secret }, &r->arena, &s.credentials, err);
        if (code == 0)
                code = source_collect(&s, err);
        source_free(&s);
        return code;
}

static void ask_with_certificates(struct rig *r)
{
        AUTO_JSON json_t *all = SECRET("ca.crt", r->ca, "tls.crt", r->cert, "tls.key", r->key);
        AUTO_JSON json_t *ca = SECRET("caFile", r->ca), *lone = SECRET("ca.crt", r->ca, "tls.key", r->key);
        AUTO_JSON json_t *bad = SECRET("ca.crt", "no PEM"), *none = SECRET("x", "y");
        AUTO_JSON json_t *wrong = SECRET("tls.crt", r->cert, "tls.key", r->ca_key);
        struct error err;

        assert_int_equal(collect(r, all, &err), 0);
        assert_string_equal(r->seen, "client");
        assert_int_equal(collect(r, ca, &err), 0);
        assert_string_equal(r->seen, "nobody");
        assert_int_equal(collect(r, NULL, &err), ERR_UNAUTHORIZED); /* the system's authorities do not do */
        assert_int_equal(collect(r, lone, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid secret 'ns/tls': 'tls.crt' and 'tls.key' must come together");
        assert_int_equal(collect(r, bad, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid secret 'ns/tls': 'ca.crt' is no certificate in PEM");
        assert_int_equal(collect(r, none, &err), ERR_INVALID);
        assert_int_equal(collect(r, wrong, &err), ERR_INVALID);
        assert_string_equal(err.text,
                            "invalid secret 'ns/tls': 'tls.key' is not the key of 'tls.crt' in PEM");
}

/* Without the flag that allows it no provider asks what listens on the hub's own machine. */
static void ask_this_machine(struct rig *r)
{
        struct source s = { .world = &r->world,
                            .arena = &r->arena,
                            .type = "ExternalService",
                            .url = r->url,
                            .filter = { .limit = 10 },
                            .deadline_ms = loop_now_ms(r->loop) + 60000 };
        struct error err = { 0 };

        r->seen = NULL;
        assert_int_equal(source_collect(&s, &err), ERR_FORBIDDEN);
        assert_non_null(strstr(err.text, "this leads to an address of this machine, which is not asked"));
        assert_null(r->seen);
}

static void body(void *ctx)
{
        struct rig *r = ctx;
        struct http_server_options o = {
                .bind = "127.0.0.1", .handle = answer, .ctx = r, .tls = &r->identity
        };
        const char *const ips[] = { "127.0.0.1", NULL };
        int64_t now = loop_wall_ms(r->loop);
        struct error err;

        assert_int_equal(cert_self_signed_ca("ca", now, 10, &r->ca, &r->ca_key, &err), 0);
        assert_int_equal(cert_issue(r->ca, r->ca_key, &(struct cert_subject){ "server", .ip_addresses = ips },
                                    true, now, 1, &r->identity.cert_pem, &r->identity.key_pem, &err),
                         0);
        r->identity.client_ca_pem = mem_strdup(r->ca);
        assert_int_equal(cert_issue(r->ca, r->ca_key, &(struct cert_subject){ "client" }, false, now, 1,
                                    &r->cert, &r->key, &err),
                         0);
        assert_int_equal(http1_server_start(&r->world, &o, &r->server, &err), 0);
        r->url = mem_printf("https://127.0.0.1:%d/inputs", http1_server_port(r->server));
        ask_with_certificates(r);
        ask_this_machine(r);
        http_transport_free(r->world.transport);
        http1_server_stop(r->server);
        r->done = true;
}

/* spec/resource-set.md checklist 123 */
static void certificates_of_a_secret_are_shown_and_checked(void **state)
{
        struct error err = { 0 };
        struct rig r = { .loop = loop_new_real(&err) };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        r.world.loop = r.loop;
        r.world.transport = http_transport_curl(&r.world, &err);
        assert_non_null(r.world.transport);
        assert_non_null(fiber_spawn(group, "body", body, &r));
        loop_run(r.loop, &err);
        assert_true(r.done);
        fiber_group_end(group);
        loop_free(r.loop);
        arena_free(&r.arena);
        tls_identity_free(&r.identity);
        char *const owned[] = { r.ca, r.ca_key, r.cert, r.key, r.url };

        for (size_t i = 0; i < ARRAY_LEN(owned); i++)
                mem_free(owned[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(credentials_are_trimmed_and_what_lacks_is_named),
                cmocka_unit_test(an_apps_fields_are_taken_for_git_hub_alone),
                cmocka_unit_test(docker_configs_come_in_two_forms),
                cmocka_unit_test(certificates_of_a_secret_are_shown_and_checked),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
