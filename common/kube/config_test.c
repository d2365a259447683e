/* kubeconfig files in a world whose disk and environment are two small tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/kube/config.h"

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

struct entry {
        const char *name, *value;
};

struct machine {
        struct entry files[6], environment[4];
        struct world world;
        struct world_files access;
        struct world_process process;
};

static int read_file(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        const struct machine *m = ctx;

        for (size_t i = 0; i < ARRAY_LEN(m->files); i++) {
                if (!text_equal(m->files[i].name, path))
                        continue;
                *ret_len = strlen(m->files[i].value);
                if (*ret_len > max)
                        return error_set(err, ERR_LIMIT, "%s: too large", path);
                *ret = mem_strdup(m->files[i].value);
                return *ret ? 0 : error_no_memory(err);
        }
        return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
}

static uint64_t stamp_of(void *ctx, const char *path)
{
        const struct machine *m = ctx;

        for (size_t i = 0; i < ARRAY_LEN(m->files); i++)
                if (text_equal(m->files[i].name, path))
                        return 1;
        return 0;
}

static const char *get_environment(void *ctx, const char *name)
{
        const struct machine *m = ctx;

        for (size_t i = 0; i < ARRAY_LEN(m->environment); i++)
                if (text_equal(m->environment[i].name, name))
                        return m->environment[i].value;
        return NULL;
}

static struct world *start(struct machine *m)
{
        m->access = (struct world_files){ .read = read_file, .stamp = stamp_of };
        m->process = (struct world_process){ .getenv = get_environment };
        m->world = (struct world){ .files = &m->access, .process = &m->process, .ctx = m };
        return &m->world;
}

#define CONTEXT(name) "contexts: [{name: " name ", context: {cluster: c, user: u}}]\n"
#define CLUSTER "clusters: [{name: c, cluster: {server: 'https://one:6443/'}}]\n"
#define USER(body) "users: [{name: u, user: " body "}]\n"

static void the_current_context_names_server_credentials_and_namespace(void **state)
{
        struct machine m = {
                .files = { { "/k/config",
                             "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
                             "contexts: [{name: a, context: {cluster: c, user: u, namespace: here}}]\n"
                             "clusters: [{name: c, cluster: {server: 'https://one:6443/', "
                             "certificate-authority-data: Q0E=, tls-server-name: api, proxy-url: "
                             "'http://p:1'}}]\n" USER(
                                     "{client-certificate-data: Q0VSVA==, client-key-data: S0VZ}") } },
        };
        struct kube_config c;
        struct error err = { 0 };

        assert_int_equal(kube_config_load(start(&m), "/k/config", NULL, &c, &err), 0);
        assert_string_equal(c.context, "a");
        assert_string_equal(c.namespace_, "here");
        assert_string_equal(c.endpoint.base_url, "https://one:6443");
        assert_string_equal(c.endpoint.ca_pem, "CA");
        assert_string_equal(c.endpoint.tls_server_name, "api");
        assert_string_equal(c.endpoint.proxy_url, "http://p:1");
        assert_string_equal(c.endpoint.client_cert_pem, "CERT");
        assert_string_equal(c.endpoint.client_key_pem, "KEY");
        assert_false(c.endpoint.insecure_skip_verify);
        kube_config_free(&c);
}

static void of_a_list_of_files_the_first_that_names_a_thing_counts(void **state)
{
        struct machine m = {
                .files = { { "/a", CONTEXT("first") CLUSTER USER("{token: one}") },
                           { "/b", "current-context: second\n"
                                   "contexts: [{name: first, context: {cluster: other}}, "
                                   "{name: second, context: {cluster: d, user: u}}]\n"
                                   "clusters: [{name: d, cluster: {server: 'https://two'}}]\n" USER(
                                           "{token: two}") } },
                .environment = { { "KUBECONFIG", "/gone:/a::/b" } },
        };
        struct kube_config c;
        struct error err = { 0 };

        assert_int_equal(kube_config_load(start(&m), NULL, NULL, &c, &err), 0);
        assert_string_equal(c.context, "second"); /* /a names no current one */
        assert_string_equal(c.endpoint.base_url, "https://two");
        assert_string_equal(c.endpoint.bearer_token, "one");
        assert_string_equal(c.namespace_, "default");
        kube_config_free(&c);
        assert_int_equal(kube_config_load(&m.world, NULL, "first", &c, &err), 0);
        assert_string_equal(c.endpoint.base_url, "https://one:6443");
        kube_config_free(&c);
}

static void a_cluster_and_a_user_may_be_chosen_beside_the_context(void **state)
{
        struct machine m = { .files = { { "/k", CONTEXT("first") CLUSTER USER("{token: one}") },
                                        { "/l", "clusters: [{name: d, cluster: {server: 'https://two'}}]\n"
                                                "users: [{name: v, user: {token: two}}]\n" } } };
        static const struct {
                const char *path;
                struct kube_config_choice choice;
                const char *url, *token, *context;
        } rows[] = {
                { "/k", { "first", NULL, NULL }, "https://one:6443", "one", "first" },
                { "/k:/l", { "first", "d", NULL }, "https://two", "one", "first" },
                { "/k:/l", { "first", NULL, "v" }, "https://one:6443", "two", "first" },
                { "/l", { NULL, "d", "v" }, "https://two", "two", NULL },
                { "/l", { NULL, "d", NULL }, "https://two", NULL, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct kube_config c;
                struct error err = { 0 };

                m.environment[0] = (struct entry){ "KUBECONFIG", rows[i].path };
                assert_int_equal(kube_config_load_exec(start(&m), NULL, &rows[i].choice, &c, &err), 0);
                assert_string_equal(c.endpoint.base_url, rows[i].url);
                assert_true(text_equal(c.endpoint.bearer_token, rows[i].token));
                assert_true(text_equal(c.context, rows[i].context));
                assert_string_equal(c.namespace_, "default");
                kube_config_free(&c);
        }
}

static void without_a_list_the_home_folder_is_looked_into(void **state)
{
        struct machine m = { .files = { { "/home/me/.kube/config",
                                          "current-context: a\n" CONTEXT("a") CLUSTER USER("{token: t}") } },
                             .environment = { { "HOME", "/home/me" } } };
        struct kube_config c;
        struct error err = { 0 };

        assert_int_equal(kube_config_find(start(&m), NULL, NULL, &c, &err), 0);
        assert_string_equal(c.endpoint.bearer_token, "t");
        kube_config_free(&c);
}

static void files_named_inside_are_beside_the_kubeconfig(void **state)
{
        struct machine m = {
                .files = { { "/k/config",
                             "current-context: a\n" CONTEXT(
                                     "a") "clusters: [{name: c, cluster: {server: "
                                          "'https://one', certificate-authority: ca.pem}}]\n" USER(
                                                  "{tokenFile: token}") },
                           { "/k/ca.pem", "THE CA" } },
        };
        struct kube_config c;
        struct error err = { 0 };

        assert_int_equal(kube_config_load(start(&m), "/k/config", NULL, &c, &err), 0);
        assert_string_equal(c.endpoint.ca_pem, "THE CA");
        assert_string_equal(c.endpoint.bearer_token_file, "/k/token"); /* read with each request */
        assert_null(c.endpoint.bearer_token);
        kube_config_free(&c);
}

/* What is wrong is said with file, place and rule. */
static void bad_kubeconfigs_are_refused_with_a_sentence(void **state)
{
#define HEAD "current-context: a\n" CONTEXT("a")
        static const struct {
                const char *text, *context;
                int code;
                const char *said;
        } rows[] = {
                { HEAD CLUSTER USER("{exec: {command: aws}}"), NULL, ERR_UNSUPPORTED,
                  "kubeconfig /k: user \"u\": exec: credential plugins are not supported" },
                { HEAD CLUSTER USER("{exec: aws}"), NULL, ERR_INVALID,
                  "kubeconfig /k: user \"u\": exec: must be an object" },
                { HEAD CLUSTER USER("{auth-provider: {name: gcp}}"), NULL, ERR_UNSUPPORTED,
                  "user \"u\": auth-provider: credential plugins are not supported" },
                { HEAD CLUSTER USER("{client-certificate-data: '%%%', client-key-data: S0VZ}"), NULL,
                  ERR_INVALID, "kubeconfig /k: client-certificate-data: is not valid base64" },
                { HEAD CLUSTER USER("{client-key-data: S0VZ}"), NULL, ERR_INVALID,
                  "client-certificate and client-key come together" },
                { HEAD CLUSTER USER("{token: 7}"), NULL, ERR_INVALID, "kubeconfig /k: token" },
                { HEAD "clusters: [{name: c, cluster: {}}]\n" USER("{}"), NULL, ERR_INVALID,
                  "cluster \"c\": server: is required" },
                { HEAD "clusters: [{name: c, cluster: {server: one}}]\n" USER("{}"), NULL, ERR_INVALID,
                  "server: must begin with https:// or http://, is \"one\"" },
                { HEAD "clusters: [{name: c, cluster: {server: 'https://one', certificate-authority: "
                       "gone}}]\n" USER("{}"),
                  NULL, ERR_NOT_FOUND, "kubeconfig /k: certificate-authority: /gone: no such file" },
                { HEAD
                  "clusters: [{name: c, cluster: {server: 'https://one', certificate-authority-data: Q0E=, "
                  "insecure-skip-tls-verify: true}}]\n" USER("{}"),
                  NULL, ERR_INVALID, "insecure-skip-tls-verify exclude each other" },
                { HEAD CLUSTER, NULL, ERR_NOT_FOUND, "users has no entry named \"u\"" },
                { HEAD CLUSTER USER("{}"), "b", ERR_NOT_FOUND, "contexts has no entry named \"b\"" },
                { CONTEXT("a") CLUSTER USER("{}"), NULL, ERR_INVALID,
                  "current-context: is required when no context is named" },
                { "current-context: a\ncontexts: [{name: a}]\n", NULL, ERR_INVALID,
                  "contexts[0].context: must be a mapping" },
                { "- a list\n", NULL, ERR_INVALID, "must be a mapping with clusters, users and contexts" },
                { "a: [", NULL, ERR_INVALID, "kubeconfig /k" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct machine m = { .files = { { "/k", rows[i].text } } };
                struct kube_config c = { 0 };
                struct error err = { 0 };
                int code = kube_config_load(start(&m), "/k", rows[i].context, &c, &err);

                if (code != rows[i].code || !strstr(err.text, rows[i].said))
                        fail_msg("row %zu: %d: %s", i, code, err.text);
        }
}

static void a_machine_without_any_kubeconfig_says_where_it_looked(void **state)
{
        struct machine m = { 0 }, listed = { .environment = { { "KUBECONFIG", "/gone" } } };
        struct kube_config c;
        struct error err = { 0 };

        assert_int_equal(kube_config_find(start(&m), NULL, NULL, &c, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text, "no kubeconfig: neither KUBECONFIG nor HOME is set");
        assert_int_equal(kube_config_find(start(&listed), NULL, NULL, &c, &err), ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, "/gone"));
}

static void inside_a_cluster_the_service_account_is_used(void **state)
{
        struct machine m = {
                .files = { { ACCOUNT "/ca.crt", "THE CA" }, { ACCOUNT "/namespace", "fleet-system" } },
                .environment = { { "KUBERNETES_SERVICE_HOST", "fd00::1" },
                                 { "KUBERNETES_SERVICE_PORT", "443" } },
        };
        struct kube_config c;
        struct error err = { 0 };

        assert_int_equal(kube_config_find(start(&m), NULL, NULL, &c, &err), 0);
        assert_string_equal(c.endpoint.base_url, "https://[fd00::1]:443");
        assert_string_equal(c.endpoint.ca_pem, "THE CA");
        assert_string_equal(c.endpoint.bearer_token_file, ACCOUNT "/token");
        assert_string_equal(c.namespace_, "fleet-system");
        assert_null(c.context);
        kube_config_free(&c);
        m.files[0].name = "/elsewhere";
        assert_int_equal(kube_config_in_cluster(&m.world, &c, &err), ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, "in-cluster configuration"));
}

static void inside_a_cluster_a_file_that_is_missing_is_named(void **state)
{
        struct machine m = {
                .files = { { "/k", "current-context: a\n" CONTEXT("a") CLUSTER USER("{token: t}") } },
                .environment = { { "KUBERNETES_SERVICE_HOST", "10.0.0.1" },
                                 { "KUBERNETES_SERVICE_PORT", "443" } },
        };
        struct kube_config c = { 0 };
        struct error err = { 0 };

        assert_int_equal(kube_config_find(start(&m), NULL, NULL, &c, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text,
                            "in-cluster configuration: " ACCOUNT "/ca.crt: no such file; and in its "
                            "place: no kubeconfig: neither KUBECONFIG nor HOME is set");
        m.environment[1].name = "ELSE";
        assert_int_equal(kube_config_find(&m.world, NULL, NULL, &c, &err), ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, "KUBERNETES_SERVICE_PORT is not set"));
        m.environment[2] = (struct entry){ "KUBECONFIG", "/k" };
        assert_int_equal(kube_config_find(&m.world, NULL, NULL, &c, &err), 0);
        kube_config_free(&c);
}

static void loading_survives_any_allocation_that_fails(void **state)
{
        struct machine m = {
                .files = { { "/k",
                             "current-context: a\n" CONTEXT("a") CLUSTER USER(
                                     "{client-certificate-data: Q0VSVA==, client-key-data: S0VZ}") } }
        };
        int code = ERR_NO_MEMORY;

        start(&m);
        for (uint64_t n = 1; code != 0 && n < 2000; n++) {
                struct kube_config c = { 0 };
                struct error err = { 0 };

                mem_fail_at(n, false);
                code = kube_config_load(&m.world, "/k", NULL, &c, &err);
                mem_fail_at(0, false);
                kube_config_free(&c);
        }
        assert_int_equal(code, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_current_context_names_server_credentials_and_namespace),
                cmocka_unit_test(of_a_list_of_files_the_first_that_names_a_thing_counts),
                cmocka_unit_test(a_cluster_and_a_user_may_be_chosen_beside_the_context),
                cmocka_unit_test(without_a_list_the_home_folder_is_looked_into),
                cmocka_unit_test(files_named_inside_are_beside_the_kubeconfig),
                cmocka_unit_test(bad_kubeconfigs_are_refused_with_a_sentence),
                cmocka_unit_test(a_machine_without_any_kubeconfig_says_where_it_looked),
                cmocka_unit_test(inside_a_cluster_the_service_account_is_used),
                cmocka_unit_test(inside_a_cluster_a_file_that_is_missing_is_named),
                cmocka_unit_test(loading_survives_any_allocation_that_fails),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
