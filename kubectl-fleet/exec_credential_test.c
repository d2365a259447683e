/* Credential programs, played by the test: what they are told, when they run, what comes of what they say. */
#include "kubectl-fleet/fleet_test.h"

#define NAME "/home/me/clouds/config"
#define FROM_EXEC "--kubeconfig", NAME
#define HEAD                                                                                                 \
        "clusters: [{name: c, cluster: {server: 'https://dev/clusters/hub', tls-server-name: dev, "          \
        "certificate-authority-data: Q0E=, extensions: [{name: client.authentication.k8s.io/exec, "          \
        "extension: {audience: fleet}}]}}]\n"                                                                \
        "contexts: [{name: hub, context: {cluster: c, user: eks}}]\ncurrent-context: hub\n"
#define EXEC(fields) HEAD "users: [{name: eks, user: {exec: {" fields "}}}]\n"
#define V1 "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
#define TOLD(status)                                                                                         \
        "{\"apiVersion\":\"client.authentication.k8s.io/"                                                    \
        "v1\",\"kind\":\"ExecCredential\",\"status\":{" status "}}"

/* The program: what it is to say, and what it was told when it ran last. */
static struct program {
        const char *says[3]; /* at its first runs; the last one holds for all that follow */
        int exit_code, error;
        unsigned runs;
        bool reads_input;
        char argv[256], env[2048];
} program;

static int play(void *ctx, const struct world_command *c, char **ret_output, size_t *ret_len, int *ret_code,
                struct error *err)
{
        struct user *u = ctx;
        const char *says = program.says[0];
        size_t n = 0, m = 0;

        for (unsigned i = 1; i <= program.runs && i < ARRAY_LEN(program.says) && program.says[i]; i++)
                says = program.says[i];
        program.runs++;
        program.reads_input = c->reads_input;
        for (size_t i = 0; c->argv[i]; i++)
                n += (size_t)snprintf(program.argv + n, sizeof(program.argv) - n, "%s|", c->argv[i]);
        for (size_t i = 0; c->env && c->env[i]; i++)
                m += (size_t)snprintf(program.env + m, sizeof(program.env) - m, "%s|", c->env[i]);
        TRY(fiber_sleep(u->rig->loop, 60000)); /* somebody logs in */
        if (program.error)
                return error_set(err, program.error, "%s: no such program", c->argv[0]);
        *ret_output = mem_strdup(says);
        *ret_len = strlen(says);
        *ret_code = program.exit_code;
        return 0;
}

static void config(struct user *u, const char *text)
{
        program = (struct program){ 0 };
        u->process.run = play;
        u->file = text;
}

/* A token of an account that may do everything; lives as long as the test's answer. */
static const char *good_token(struct user *u)
{
        static char told[4096];

        rig_post(u->rig, "/api/v1/namespaces/default/serviceaccounts", "{\"metadata\":{\"name\":\"me\"}}");
        rig_post(u->rig, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                 "{\"metadata\":{\"name\":\"me\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
                 "\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},\"subjects\":[{\"kind\":"
                 "\"ServiceAccount\",\"name\":\"me\",\"namespace\":\"default\"}]}");
        assert_int_equal(
                rig_post(u->rig, "/api/v1/namespaces/default/serviceaccounts/me/token", "{\"spec\":{}}"),
                201);
        snprintf(told, sizeof(told), TOLD("\"token\":\"%s\""), rig_string(u->rig, "status.token"));
        return told;
}

USER_TEST(its_token_serves_all_requests_and_is_asked_for_once, {
        config(u, EXEC(V1 "command: aws, args: [eks, get-token], env: [{name: AWS_PROFILE, value: fleet}]"));
        program.says[0] = good_token(u);
        assert_int_equal(FLEET_RUN(u, "why", "web", FROM_EXEC), 1); /* four requests side by side */
        assert_lines(u->err.data, "Error: ClusterResourcePlacement \"web\" not found");
        assert_int_equal(u->requests, 4);
        assert_int_equal(program.runs, 1);
        assert_string_equal(program.argv, "aws|eks|get-token|");
        assert_string_equal(program.env,
                            "AWS_PROFILE=fleet|KUBERNETES_EXEC_INFO={\"apiVersion\":"
                            "\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"spec\":{"
                            "\"interactive\":false}}|");
})

USER_TEST(it_is_told_of_the_cluster_where_it_asks_to_be, {
        config(u, EXEC("apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, "
                       "provideClusterInfo: true"));
        program.says[0] = "";
        u->terminal.interactive = true;
        assert_int_equal(FLEET_RUN(u, "status", FROM_EXEC), 1);
        assert_string_equal(program.argv, "/home/me/clouds/./bin/login|");
        assert_true(program.reads_input);
        assert_lines(program.env, "\"interactive\":true\n");
        assert_lines(program.env,
                     "\"cluster\":{\"server\":\"https://dev/clusters/hub\",\"config\":{\"audience\":"
                     "\"fleet\"},\"certificate-authority-data\":\"Q0E=\",\"tls-server-name\":\"dev\"}");
})

USER_TEST(a_shell_that_completes_words_lets_it_ask_nothing, {
        config(u, EXEC("apiVersion: client.authentication.k8s.io/v1beta1, command: aws"));
        program.says[0] = good_token(u);
        u->terminal.interactive = true;
        assert_int_equal(FLEET_RUN(u, "__complete", FROM_EXEC, "status", ""), 0);
        assert_int_equal(program.runs, 1);
        assert_false(program.reads_input);
        assert_lines(program.env, "\"interactive\":false");
})

USER_TEST(a_refused_token_is_asked_for_anew_once, {
        config(u, EXEC(V1 "command: aws"));
        program.says[0] = TOLD("\"token\":\"of-yesterday\"");
        program.says[1] = good_token(u);
        assert_int_equal(FLEET_RUN(u, "status", FROM_EXEC), 0);
        assert_int_equal(program.runs, 2);
        assert_int_equal(u->requests, 2);
        config(u, EXEC(V1 "command: aws"));
        program.says[0] = TOLD("\"token\":\"of-yesterday\"");
        assert_int_equal(FLEET_RUN(u, "status", FROM_EXEC), 1);
        assert_lines(u->err.data, "Error: \nUnauthorized");
        assert_int_equal(program.runs, 2);
})

USER_TEST(what_it_told_holds_until_it_expires, {
        struct kube_config c = { 0 };
        struct exec_login l = { 0 };
        int64_t deadline = 0;

        config(u, EXEC(V1 "command: aws"));
        program.says[0] = TOLD("\"token\":\"a\",\"expirationTimestamp\":\"2026-01-01T00:10:00Z\"");
        program.says[1] = TOLD("\"token\":\"b\",\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"");
        assert_int_equal(kube_config_load_exec(&u->world, NAME, &(struct kube_config_choice){ 0 }, &c, NULL),
                         0);
        assert_int_equal(exec_login_open(&l, &u->world, &c, false, NULL), 0);
        assert_int_equal(l.login.refresh(&l.login, 0, &deadline, NULL), 0);
        assert_int_equal(deadline, 60000); /* requests do not pay for who takes a minute to log in */
        fiber_sleep(u->rig->loop, 500000);
        assert_int_equal(l.login.refresh(&l.login, 0, &deadline, NULL), 0);
        assert_int_equal(program.runs, 1);
        assert_string_equal(c.endpoint.bearer_token, "a");
        fiber_sleep(u->rig->loop, 60000);
        assert_int_equal(l.login.refresh(&l.login, 0, &deadline, NULL), 0);
        assert_int_equal(program.runs, 2);
        assert_string_equal(c.endpoint.bearer_token, "b");
        assert_string_equal(c.endpoint.client_cert_pem, "C");
        assert_string_equal(c.endpoint.client_key_pem, "K");
        assert_int_equal(c.endpoint.generation, 1); /* no connection of the old certificate goes on */
        fiber_sleep(u->rig->loop, 86400000);
        assert_int_equal(l.login.refresh(&l.login, 1, &deadline, NULL), 0); /* the first was refused */
        assert_int_equal(program.runs, 2);
        exec_login_close(&l);
        kube_config_free(&c);
})

USER_TEST(a_token_of_ones_own_needs_no_program, {
        char token[2048];

        config(u, EXEC(V1 "command: aws"));
        good_token(u);
        snprintf(token, sizeof(token), "--token=%s", rig_string(u->rig, "status.token"));
        assert_int_equal(FLEET_RUN(u, "status", FROM_EXEC, token), 0);
        assert_int_equal(program.runs, 0);
})

#define OF                                                                                                   \
        "Error: list clusterresourceplacements: kubeconfig " NAME                                            \
        ": user \"eks\": credentials of exec.command aws: "

USER_TEST(what_goes_wrong_with_it_names_user_command_and_remedy, {
        static const struct {
                const char *says;
                int exit_code, error;
                const char *want;
        } cases[] = {
                { "", 0, ERR_NOT_FOUND, "it is not installed: apt install aws \n or ask" },
                { "", 7, 0, "it ended with exit code 7" },
                { "token", 0, 0, "it told no JSON document" },
                { "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}", 0,
                  0,
                  "it told ExecCredential client.authentication.k8s.io/v1beta1 in place of ExecCredential "
                  "client.authentication.k8s.io/v1" },
                { TOLD(""), 0, 0, "status: holds neither a token nor a client certificate" },
                { TOLD("\"clientKeyData\":\"k\""), 0, 0,
                  "status.clientCertificateData and status.clientKeyData come together" },
                { TOLD("\"token\":\"t\",\"expirationTimestamp\":\"soon\""), 0, 0,
                  "status.expirationTimestamp: is no time: \"soon\"" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                config(u, EXEC(V1 "command: aws, installHint: \"apt install aws\\e\\n or ask\""));
                program.says[0] = cases[i].says;
                program.exit_code = cases[i].exit_code;
                program.error = cases[i].error;
                assert_int_equal(FLEET_RUN(u, "status", FROM_EXEC), 1);
                assert_lines(u->err.data, OF);
                assert_lines(u->err.data, cases[i].want);
                assert_int_equal(program.runs, 1);
                /* those that wait for it take its failure, and do not call it again */
                program.runs = 0;
                assert_int_equal(FLEET_RUN(u, "why", "web", FROM_EXEC), 1);
                assert_int_equal(program.runs, 1);
                assert_int_equal(u->requests, 0);
        }
})

USER_TEST(a_wrong_entry_is_told_by_user_and_field, {
        static const struct {
                const char *config, *error;
        } cases[] = {
                { EXEC(""), "exec.apiVersion: is required" },
                { EXEC("apiVersion: client.authentication.k8s.io/v1alpha1, command: a"),
                  "exec.apiVersion: must be client.authentication.k8s.io/v1 or "
                  "client.authentication.k8s.io/v1beta1, is \"client.authentication.k8s.io/v1alpha1\"" },
                { EXEC("apiVersion: client.authentication.k8s.io/v1, command: a"),
                  "exec.interactiveMode: is required in client.authentication.k8s.io/v1" },
                { EXEC("apiVersion: client.authentication.k8s.io/v1, command: a, interactiveMode: Perhaps"),
                  "exec.interactiveMode: must be Never, IfAvailable or Always, is \"Perhaps\"" },
                { EXEC("apiVersion: client.authentication.k8s.io/v1, command: a, interactiveMode: Always"),
                  "exec.interactiveMode: is Always, and standard input is no terminal" },
                { EXEC(V1), "exec.command: is required" },
                { EXEC(V1 "command: ''"), "exec.command: is required" },
                { EXEC(V1 "command: a, args: [1]"), "exec.args[0]: must be a string" },
                { EXEC(V1 "command: a, env: [{name: ok}, {value: x}]"), "exec.env[1].name: is required" },
                { EXEC(V1 "command: a, provideClusterInfo: perhaps"), "exec.provideClusterInfo: must be" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                config(u, cases[i].config);
                assert_int_equal(FLEET_RUN(u, "status", FROM_EXEC), 1);
                assert_lines(u->err.data, "Error: failed to create hub cluster client: kubeconfig " NAME
                                          ": user \"eks\": ");
                assert_lines(u->err.data, cases[i].error);
                assert_int_equal(program.runs + u->requests, 0);
        }
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(its_token_serves_all_requests_and_is_asked_for_once),
                cmocka_unit_test(it_is_told_of_the_cluster_where_it_asks_to_be),
                cmocka_unit_test(a_shell_that_completes_words_lets_it_ask_nothing),
                cmocka_unit_test(a_refused_token_is_asked_for_anew_once),
                cmocka_unit_test(what_it_told_holds_until_it_expires),
                cmocka_unit_test(a_token_of_ones_own_needs_no_program),
                cmocka_unit_test(what_goes_wrong_with_it_names_user_command_and_remedy),
                cmocka_unit_test(a_wrong_entry_is_told_by_user_and_field),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
