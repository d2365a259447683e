#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/json/doc_test.h"
#include "hub-agent/source/credentials.h"

static json_t *secret_of(const char *const *keys_and_values)
{
        json_t *doc = json_pack("{s:{}}", "data");

        for (; *keys_and_values; keys_and_values += 2)
                json_object_set_new(json_object_get(doc, "data"), keys_and_values[0],
                                    doc_base64(slice_of(keys_and_values[1])));
        return doc;
}
#define SECRET(...) secret_of((const char *[]){ __VA_ARGS__, NULL })

typedef int (*taking)(const struct secret *s, struct arena *arena, struct source_login *ret,
                      struct error *err);

static int git_over_ssh(const struct secret *s, struct arena *arena, struct source_login *ret,
                        struct error *err)
{
        return source_login_git(s, true, arena, ret, err);
}

static int git_over_http(const struct secret *s, struct arena *arena, struct source_login *ret,
                         struct error *err)
{
        return source_login_git(s, false, arena, ret, err);
}

static int registry(const struct secret *s, struct arena *arena, struct source_login *ret, struct error *err)
{
        return source_login_registry(s, "ghcr.io", "org/app", arena, ret, err);
}

static void fails(taking take, json_t *doc, const char *words)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *own = doc;
        const struct secret s = { "apps/x", own };
        struct source_login l = { 0 };
        struct error err = { 0 };

        assert_int_equal(take(&s, &arena, &l, &err), ERR_INVALID);
        assert_string_equal(err.text, words);
}

/* spec/helm-chart.md checklist 70, 71, 73 */
static void what_lacks_is_named_and_values_never(void **state)
{
        fails(source_login_http, SECRET("username", "u"),
              "secret 'apps/x': malformed basic auth - has 'username' but missing 'password'");
        fails(source_login_http, SECRET("password", "geheim"),
              "secret 'apps/x': malformed basic auth - has 'password' but missing 'username'");
        fails(registry, SECRET("username", "u"),
              "invalid 'apps/x' secret data: required fields 'username' and 'password'");
        fails(source_login_bucket, SECRET("accesskey", "a"),
              "invalid 'apps/x' secret data: required fields 'accesskey' and 'secretkey'");
        fails(source_login_tls, SECRET("username", "u"),
              "secret 'apps/x' must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'");
        fails(source_login_tls, SECRET("tls.crt", "x"),
              "secret 'apps/x' contains 'tls.crt' but missing 'tls.key'");
        fails(source_login_tls, SECRET("tls.key", "x"),
              "secret 'apps/x' contains 'tls.key' but missing 'tls.crt'");
        fails(source_login_tls, SECRET("ca.crt", "x"), "secret 'apps/x': 'ca.crt' is no certificate in PEM");
        fails(git_over_ssh, SECRET("known_hosts", "h"),
              "secret 'apps/x' is missing 'identity', which ssh needs");
        fails(git_over_ssh, SECRET("identity", "k"),
              "secret 'apps/x' is missing 'known_hosts', which ssh needs");
        fails(git_over_http, SECRET("username", "u"),
              "secret 'apps/x': malformed basic auth - has 'username' but missing 'password'");
        fails(source_login_proxy, SECRET("username", "u"),
              "secret 'apps/x' is missing 'address', which a proxy needs");
        fails(source_login_proxy, SECRET("address", "host"),
              "secret 'apps/x': 'address' is no URL such as http://host:3128");
}

static void what_is_there_is_taken(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *all = SECRET("username", "u", "password", "p\n", "identity", "key", "known_hosts",
                                       "hosts", "accesskey", "a", "secretkey", "s", "bearerToken", "t",
                                       "address", "http://proxy:3128"),
                         *none = SECRET("other", "x");
        const struct secret s = { "apps/x", all }, empty = { "apps/y", none };
        struct source_login l = { 0 };

        assert_int_equal(source_login_http(&s, &arena, &l, NULL), 0);
        assert_string_equal(l.username, "u");
        assert_string_equal(l.password, "p");
        assert_int_equal(source_login_git(&s, false, &arena, &l, NULL), 0);
        assert_string_equal(l.bearer_token, "t");
        assert_int_equal(source_login_git(&s, true, &arena, &l, NULL), 0);
        assert_string_equal(l.identity, "key");
        assert_string_equal(l.known_hosts, "hosts");
        assert_string_equal(l.key_password, "p");
        assert_int_equal(source_login_bucket(&s, &arena, &l, NULL), 0);
        assert_string_equal(l.access_key, "a");
        assert_string_equal(l.secret_key, "s");
        assert_int_equal(source_login_proxy(&s, &arena, &l, NULL), 0);
        assert_string_equal(l.proxy_url, "http://u:p@proxy:3128");
        l = (struct source_login){ 0 };
        assert_int_equal(source_login_http(&empty, &arena, &l, NULL), 0);
        assert_null(l.username);
}

static void a_proxys_password_is_escaped(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = SECRET("address", "https://proxy:1", "username", "a@b", "password", "c:/d");
        struct source_login l = { 0 };

        assert_int_equal(source_login_proxy(&(struct secret){ "n", doc }, &arena, &l, NULL), 0);
        assert_string_equal(l.proxy_url, "https://a%40b:c%3A%2Fd@proxy:1");
}

/* spec/helm-chart.md checklist 72 */
static void docker_configs_are_for_their_hosts(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc =
                SECRET(".dockerconfigjson", "{\"auths\":{\"https://ghcr.io\":{\"auth\":\"dTpw\"}}}");
        const struct secret s = { "apps/x", doc };
        struct source_login l = { 0 };
        struct error err = { 0 };

        json_object_set_new(doc, "type", json_string("kubernetes.io/dockerconfigjson"));
        assert_int_equal(source_login_registry(&s, "ghcr.io", "org/app", &arena, &l, &err), 0);
        assert_string_equal(l.username, "u");
        assert_string_equal(l.password, "p");
        assert_int_equal(source_login_registry(&s, "quay.io", "org/app", &arena, &l, &err), ERR_INVALID);
        assert_string_equal(err.text, "no auth config for 'quay.io' in the docker-registry Secret 'apps/x'");
}

static int take_all(void *data)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct secret s = { "apps/x", data };
        struct source_login l = { 0 };
        struct error err = { 0 };

        TRY(source_login_http(&s, &arena, &l, &err));
        TRY(source_login_bucket(&s, &arena, &l, &err));
        TRY(source_login_proxy(&s, &arena, &l, &err));
        return source_login_registry(&s, "ghcr.io", "org/app", &arena, &l, &err);
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_that_fails_is_told(void **state)
{
        AUTO_JSON json_t *doc =
                SECRET("username", "u", "password", "p", "accesskey", "a", "secretkey", "s", "address",
                       "http://h", ".dockerconfigjson", "{\"auths\":{\"ghcr.io\":{\"auth\":\"dTpw\"}}}");

        json_object_set_new(doc, "type", json_string("kubernetes.io/dockerconfigjson"));
        walk_failing_allocations(take_all, doc);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_lacks_is_named_and_values_never),
                cmocka_unit_test(what_is_there_is_taken),
                cmocka_unit_test(a_proxys_password_is_escaped),
                cmocka_unit_test(docker_configs_are_for_their_hosts),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
