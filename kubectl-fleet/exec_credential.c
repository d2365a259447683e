#include "kubectl-fleet/exec_credential.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "kubectl-fleet/placement_view.h"

#define GROUP "client.authentication.k8s.io/"
#define INFO_VARIABLE "KUBERNETES_EXEC_INFO"

/* ---- the entry ---- */

static int wrong(const struct exec_login *l, struct error *err)
{
        const struct kube_exec *x = &l->config->exec;

        return error_wrap(err, "kubeconfig %s: user \"%s\"", x->file, x->user);
}

static int read_version(struct exec_login *l, const json_t *entry, struct error *err)
{
        static const char *const versions[] = { GROUP "v1", GROUP "v1beta1" };

        TRY(doc_need_string(entry, "exec.apiVersion", &l->api_version, err));
        if (text_in(l->api_version, versions, ARRAY_LEN(versions)))
                return 0;
        return error_set(err, ERR_UNSUPPORTED, "exec.apiVersion: must be %s or %s, is \"%s\"", versions[0],
                         versions[1], l->api_version);
}

/* Whether the program gets our standard input. */
static int read_mode(struct exec_login *l, const json_t *entry, bool interactive, struct error *err)
{
        static const char *const modes[] = { "Never", "IfAvailable", "Always" };
        const char *mode = NULL;

        TRY(doc_want_string(entry, "exec.interactiveMode", &mode, err));
        if (!mode && text_equal(l->api_version, GROUP "v1"))
                return error_set(err, ERR_INVALID, "exec.interactiveMode: is required in %s", l->api_version);
        if (!mode)
                mode = "IfAvailable";
        if (!text_in(mode, modes, ARRAY_LEN(modes)))
                return error_set(err, ERR_INVALID,
                                 "exec.interactiveMode: must be Never, IfAvailable or Always, is \"%s\"",
                                 mode);
        if (text_equal(mode, "Always") && !interactive)
                return error_set(err, ERR_INVALID,
                                 "exec.interactiveMode: is Always, and standard input is no terminal");
        l->reads_input = interactive && !text_equal(mode, "Never");
        return 0;
}

/* A path is one from the kubeconfig's folder, a bare name is looked for on the PATH. */
static const char *program_of(struct exec_login *l, const char *command)
{
        const char *file = l->config->exec.file, *slash = strrchr(file, '/');

        if (command[0] == '/' || !strchr(command, '/') || !slash)
                return arena_strdup(&l->arena, command);
        return arena_printf(&l->arena, "%.*s/%s", (int)(slash - file), file, command);
}

static int read_argv(struct exec_login *l, const json_t *entry, struct error *err)
{
        json_t *args = NULL, *arg;
        size_t i;

        TRY(doc_need_string(entry, "exec.command", &l->command, err));
        if (text_empty(l->command))
                return error_set(err, ERR_INVALID, "exec.command: is required");
        TRY(doc_want_array(entry, "exec.args", &args, err));
        l->argv = ARENA_NEW_ARRAY(&l->arena, const char *, json_array_size(args) + 2);
        if (!l->argv || !(l->argv[0] = program_of(l, l->command)))
                return error_no_memory(err);
        json_array_foreach(args, i, arg) {
                if (!json_is_string(arg))
                        return error_set(err, ERR_INVALID, "exec.args[%zu]: must be a string", i);
                l->argv[1 + i] = json_string_value(arg);
        }
        return 0;
}

/* The last place but one is for what is told to the program. */
static int read_env(struct exec_login *l, const json_t *entry, struct error *err)
{
        json_t *env = NULL, *variable;
        size_t i;

        TRY(doc_want_array(entry, "exec.env", &env, err));
        l->env = ARENA_NEW_ARRAY(&l->arena, const char *, json_array_size(env) + 2);
        if (!l->env)
                return error_no_memory(err);
        json_array_foreach(env, i, variable) {
                const char *name = doc_get_string(variable, "name"),
                           *value = doc_get_string(variable, "value");

                if (text_empty(name) || strchr(name, '='))
                        return error_set(err, ERR_INVALID, "exec.env[%zu].name: is required, without =", i);
                l->env[i] = arena_printf(&l->arena, "%s=%s", name, value ? value : "");
                if (!l->env[i])
                        return error_no_memory(err);
        }
        return 0;
}

static int read_entry(struct exec_login *l, bool interactive, struct error *err)
{
        const json_t *entry = l->config->exec.entry;

        TRY(read_version(l, entry, err));
        TRY(read_mode(l, entry, interactive, err));
        TRY(read_argv(l, entry, err));
        TRY(read_env(l, entry, err));
        TRY(doc_want_string(entry, "exec.installHint", &l->install_hint, err));
        return doc_want_bool(entry, "exec.provideClusterInfo", &l->provides_cluster, err);
}

/* ---- what the program is told ---- */

static int cluster_doc(const struct exec_login *l, json_t **ret, struct error *err)
{
        const struct http_endpoint *e = &l->config->endpoint;
        json_t *config = l->config->exec.cluster_config;
        AUTO_JSON json_t *doc =
                json_pack("{s:s, s:O}", "server", e->base_url, "config", config ? config : json_null());
        AUTO_FREE char *ca = NULL;

        if (!doc)
                return error_no_memory(err);
        if (e->ca_pem) {
                if (!(ca = mem_alloc(text_base64_size(strlen(e->ca_pem)))))
                        return error_no_memory(err);
                text_base64_encode(e->ca_pem, strlen(e->ca_pem), ca);
        }
        TRY(doc_set_unless_empty(doc, "certificate-authority-data", ca));
        TRY(doc_set_unless_empty(doc, "tls-server-name", e->tls_server_name));
        TRY(doc_set_unless_empty(doc, "proxy-url", e->proxy_url));
        if (e->insecure_skip_verify)
                json_object_set_new(doc, "insecure-skip-tls-verify", json_true());
        *ret = TAKE_PTR(doc);
        return 0;
}

static int info_variable(const struct exec_login *l, struct buf *b, struct error *err)
{
        AUTO_JSON json_t *doc = json_pack("{s:s, s:s, s:{s:b}}", "apiVersion", l->api_version, "kind",
                                          "ExecCredential", "spec", "interactive", l->reads_input);
        json_t *cluster = NULL;

        if (!doc)
                return error_no_memory(err);
        if (l->provides_cluster) {
                TRY(cluster_doc(l, &cluster, err));
                json_object_set_new(json_object_get(doc, "spec"), "cluster", cluster);
        }
        TRY(buf_append_str(b, INFO_VARIABLE "="));
        TRY(doc_write(doc, b));
        return buf_status(b, err, INFO_VARIABLE);
}

/* ---- what it says ---- */

struct told {
        const char *token, *certificate, *key;
        int64_t expires_ms;
};

static int read_told(const struct exec_login *l, const json_t *doc, struct told *ret, struct error *err)
{
        const char *kind = "", *version = "", *expires = NULL;

        *ret = (struct told){ .expires_ms = TIME_NONE };
        TRY(doc_need_string(doc, "kind", &kind, err));
        TRY(doc_need_string(doc, "apiVersion", &version, err));
        if (!text_equal(kind, "ExecCredential") || !text_equal(version, l->api_version))
                return error_set(err, ERR_INVALID, "it told %s %s in place of ExecCredential %s", kind,
                                 version, l->api_version);
        TRY(doc_want_string(doc, "status.token", &ret->token, err));
        TRY(doc_want_string(doc, "status.clientCertificateData", &ret->certificate, err));
        TRY(doc_want_string(doc, "status.clientKeyData", &ret->key, err));
        TRY(doc_want_string(doc, "status.expirationTimestamp", &expires, err));
        if (text_empty(ret->certificate) != text_empty(ret->key))
                return error_set(err, ERR_INVALID,
                                 "status.clientCertificateData and status.clientKeyData come together");
        if (text_empty(ret->token) && text_empty(ret->key))
                return error_set(err, ERR_INVALID, "status: holds neither a token nor a client certificate");
        if (expires && time_parse_rfc3339(slice_of(expires), &ret->expires_ms) < 0)
                return error_set(err, ERR_INVALID, "status.expirationTimestamp: is no time: \"%s\"", expires);
        return 0;
}

/* Requests that are under way may still use the old one. */
static int replace(struct exec_login *l, char **field, const char *value)
{
        AUTO_FREE char *copy = text_empty(value) ? NULL : mem_strdup(value);

        if (!text_empty(value) && !copy)
                return ERR_NO_MEMORY;
        if (*field)
                TRY(arena_defer(&l->arena, mem_free_secret, TAKE_PTR(*field)));
        *field = TAKE_PTR(copy);
        return 0;
}

/* What the kubeconfig has beside it stays where the program tells nothing of the kind. */
static int take(struct exec_login *l, const struct told *t, struct error *err)
{
        struct http_endpoint *e = &l->config->endpoint;

        if (replace(l, &e->bearer_token, t->token) < 0)
                return error_no_memory(err);
        if (!text_empty(t->key)) {
                if (replace(l, &e->client_cert_pem, t->certificate) < 0 ||
                    replace(l, &e->client_key_pem, t->key) < 0)
                        return error_no_memory(err);
                e->generation++;
        }
        l->expires_ms = t->expires_ms;
        l->login.version++;
        return 0;
}

static int understand(struct exec_login *l, struct slice said, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct told told;

        if (doc_parse(said, &doc, NULL) < 0)
                return error_set(err, ERR_INVALID, "it told no JSON document");
        TRY(read_told(l, doc, &told, err));
        return take(l, &told, err);
}

/* ---- running it ---- */

static int call(struct exec_login *l, struct error *err)
{
        const struct world_process *p = l->world->process;
        struct world_command c = { .argv = l->argv,
                                   .env = l->env,
                                   .reads_input = l->reads_input,
                                   .max_output = LIMIT_EXEC_CREDENTIAL_BYTES };
        AUTO_BUF struct buf info;
        char *said = NULL;
        size_t n = 0, last = 0;
        int exit_code = 0, code;

        buf_init(&info, LIMIT_KUBECONFIG_BYTES * 2);
        TRY(info_variable(l, &info, err));
        while (l->env[last])
                last++;
        if (!p->run)
                return error_set(err, ERR_UNSUPPORTED, "programs cannot be run here");
        l->env[last] = info.data;
        code = p->run(l->world->ctx, &c, &said, &n, &exit_code, err);
        l->env[last] = NULL;
        if (code == 0 && exit_code != 0)
                code = error_set(err, ERR_UNAUTHORIZED, "it ended with exit code %d", exit_code);
        if (code == 0)
                code = understand(l, (struct slice){ said, n }, err);
        mem_free_secret(said);
        return code;
}

/* What the kubeconfig says to whoever lacks the program is shown, but steers no terminal. */
static int explain(const struct exec_login *l, int code, struct error *err)
{
        char hint[512] = "";

        if (code == ERR_NOT_FOUND && !text_empty(l->install_hint)) {
                snprintf(hint, sizeof(hint), ": %s", l->install_hint);
                for (char *c = hint; *c; c++)
                        if (((unsigned char)*c < 0x20 && *c != '\n') || *c == 0x7f)
                                *c = ' ';
        }
        if (code == ERR_NOT_FOUND)
                error_set(err, ERR_UNAUTHORIZED, "it is not installed%s", hint);
        error_wrap(err, "credentials of exec.command %s", l->command);
        return wrong(l, err);
}

static int run(struct exec_login *l, struct error *err)
{
        int code;

        l->running = true;
        code = call(l, &l->failure);
        l->running = false;
        if (code == 0)
                l->failure = (struct error){ 0 };
        else
                code = explain(l, code, &l->failure);
        waitq_wake_all(&l->done);
        if (code < 0 && err)
                *err = l->failure;
        return code;
}

static bool is_fresh(const struct exec_login *l, uint64_t refused)
{
        if (l->login.version == 0 || l->login.version == refused)
                return false;
        return l->expires_ms == TIME_NONE || loop_wall_ms(l->world->loop) < l->expires_ms;
}

/* Those who come while it runs take what comes of that, be it an error. */
static int refresh(struct http_login *login, uint64_t refused, int64_t *deadline_ms, struct error *err)
{
        struct exec_login *l = container_of(login, struct exec_login, login);
        int64_t began = loop_now_ms(l->world->loop);
        bool waited = false;
        int code = 0;

        while (l->running) {
                TRY(waitq_wait(l->world->loop, &l->done, DEADLINE_NONE));
                waited = true;
        }
        if (waited && l->failure.code) {
                *err = l->failure;
                return l->failure.code;
        }
        if (!is_fresh(l, refused))
                code = run(l, err);
        *deadline_ms += loop_now_ms(l->world->loop) - began;
        return code;
}

int exec_login_open(struct exec_login *l, struct world *w, struct kube_config *config, bool interactive,
                    struct error *err)
{
        *l = (struct exec_login){
                .login.refresh = refresh, .world = w, .config = config, .expires_ms = TIME_NONE
        };
        if (read_entry(l, interactive, err) < 0)
                return wrong(l, err);
        config->endpoint.login = &l->login;
        return 0;
}

void exec_login_close(struct exec_login *l)
{
        if (l->config)
                l->config->endpoint.login = NULL;
        arena_free(&l->arena);
        *l = (struct exec_login){ 0 };
}
