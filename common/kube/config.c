/* kubeconfig loading. Several files of $KUBECONFIG are merged as kubectl does: the first file that names a
 * cluster, user or context wins, and so does the first current-context. */
#include "common/kube/config.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/doc.h"
#include "common/net/http_files.h"

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

struct source { /* one parsed file of the list */
        char *path;
        json_t *doc;
};

struct sources {
        struct source at[16];
        size_t n;
};

static void sources_free(struct sources *s)
{
        for (size_t i = 0; i < s->n; i++) {
                mem_free(s->at[i].path);
                json_decref(s->at[i].doc);
        }
        s->n = 0;
}

void kube_config_free(struct kube_config *c)
{
        http_endpoint_free(&c->endpoint);
        mem_free(c->namespace_);
        mem_free(c->context);
        mem_free(c->exec.user);
        mem_free(c->exec.file);
        json_decref(c->exec.entry);
        json_decref(c->exec.cluster_config);
        *c = (struct kube_config){ 0 };
}

static int read_file(struct world *w, const char *path, size_t max, char **ret, struct error *err)
{
        size_t len;

        return w->files->read(w->ctx, path, max, ret, &len, err);
}

static int add_source(struct world *w, const char *path, size_t path_len, struct sources *s,
                      struct error *err)
{
        AUTO_FREE char *text = NULL;
        AUTO_FREE char *name = mem_strndup(path, path_len);
        AUTO_JSON json_t *doc = NULL;

        if (!name)
                return error_no_memory(err);
        if (s->n == ARRAY_LEN(s->at))
                return error_set(err, ERR_LIMIT, "kubeconfig: more than %zu files are named",
                                 ARRAY_LEN(s->at));
        TRY(read_file(w, name, LIMIT_KUBECONFIG_BYTES, &text, err));
        if (yaml_parse(slice_of(text), &doc, err) < 0)
                return error_wrap(err, "kubeconfig %s", name);
        if (!json_is_object(doc))
                return error_set(err, ERR_INVALID,
                                 "kubeconfig %s: must be a mapping with clusters, users and contexts", name);
        s->at[s->n++] = (struct source){ TAKE_PTR(name), TAKE_PTR(doc) };
        return 0;
}

/* Files of a colon-separated list; those that do not exist are passed over, as kubectl does, if another
 * exists. */
static int add_list(struct world *w, const char *list, struct sources *s, struct error *err)
{
        struct slice rest = slice_of(list), path;
        bool more = true;
        int r = 0;

        while (more) {
                more = slice_cut(&rest, ':', &path);
                if (path.len == 0)
                        continue;
                r = add_source(w, path.data, path.len, s, err);
                if (r < 0 && r != ERR_NOT_FOUND)
                        return r;
        }
        if (s->n > 0)
                return 0;
        return r < 0 ? r : error_set(err, ERR_NOT_FOUND, "KUBECONFIG names no file");
}

static int load_sources(struct world *w, const char *path, struct sources *s, struct error *err)
{
        const char *env = path ? NULL : w->process->getenv(w->ctx, "KUBECONFIG");
        const char *home = w->process->getenv(w->ctx, "HOME");

        if (path)
                return add_source(w, path, strlen(path), s, err);
        if (!text_empty(env))
                return add_list(w, env, s, err);
        if (text_empty(home))
                return error_set(err, ERR_NOT_FOUND, "no kubeconfig: neither KUBECONFIG nor HOME is set");
        AUTO_FREE char *fallback = mem_printf("%s/.kube/config", home);
        if (!fallback)
                return error_no_memory(err);
        return add_source(w, fallback, strlen(fallback), s, err);
}

/* The body (`member`) of the entry `name` of a named list, and the file it came from. */
static int find_named(const struct sources *s, const char *list, const char *member, const char *name,
                      json_t **ret, const struct source **ret_source, struct error *err)
{
        for (size_t i = 0; i < s->n; i++) {
                json_t *items = doc_get_array(s->at[i].doc, list), *item;
                size_t k;

                json_array_foreach(items, k, item) {
                        if (!text_equal(doc_get_string(item, "name"), name))
                                continue;
                        *ret = doc_get_object(item, member);
                        *ret_source = &s->at[i];
                        if (!*ret)
                                return error_set(err, ERR_INVALID,
                                                 "kubeconfig %s: %s[%zu].%s: must be a mapping",
                                                 s->at[i].path, list, k, member);
                        return 0;
                }
        }
        return error_set(err, ERR_NOT_FOUND, "kubeconfig %s: %s has no entry named \"%s\"", s->at[0].path,
                         list, name);
}

static const char *current_context(const struct sources *s)
{
        for (size_t i = 0; i < s->n; i++) {
                const char *name = doc_get_string(s->at[i].doc, "current-context");

                if (!text_empty(name))
                        return name;
        }
        return NULL;
}

/* `file` relative to the folder of the kubeconfig that names it. */
static char *beside(const struct source *source, const char *file)
{
        const char *slash = strrchr(source->path, '/');

        if (file[0] == '/' || !slash)
                return mem_strdup(file);
        return mem_printf("%.*s/%s", (int)(slash - source->path), source->path, file);
}

static int decode_data(const struct source *source, const char *field, const char *text, char **ret,
                       struct error *err)
{
        size_t cap = strlen(text) + 1, len;
        char *data = mem_alloc(cap);

        if (!data)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(text), data, cap - 1, &len, false) < 0) {
                mem_free(data);
                return error_set(err, ERR_INVALID, "kubeconfig %s: %s: is not valid base64", source->path,
                                 field);
        }
        data[len] = '\0';
        *ret = data;
        return 0;
}

/* A PEM value from FIELD-data (base64) or FIELD (a file, which is followed); absent leaves the endpoint
 * alone. */
static int read_pem(struct world *w, const struct source *source, const json_t *body, const char *name,
                    struct http_endpoint *e, enum http_file which, char **ret, struct error *err)
{
        char data_field[64];
        const char *data = NULL, *file = NULL;

        snprintf(data_field, sizeof(data_field), "%s-data", name);
        if (doc_want_string(body, data_field, &data, err) < 0 || doc_want_string(body, name, &file, err) < 0)
                return error_wrap(err, "kubeconfig %s", source->path);
        if (!text_empty(data))
                return decode_data(source, data_field, data, ret, err);
        if (text_empty(file))
                return 0;
        AUTO_FREE char *path = beside(source, file);
        if (!path)
                return error_no_memory(err);
        if (http_files_read(w, e, which, path, err) < 0)
                return error_wrap(err, "kubeconfig %s: %s", source->path, name);
        return 0;
}

static int copy_string(const struct source *source, const json_t *body, const char *field, char **ret,
                       struct error *err)
{
        const char *value = NULL;

        if (doc_want_string(body, field, &value, err) < 0)
                return error_wrap(err, "kubeconfig %s", source->path);
        if (text_empty(value))
                return 0;
        *ret = mem_strdup(value);
        return *ret ? 0 : error_no_memory(err);
}

#define EXEC_EXTENSION "client.authentication.k8s.io/exec"

static json_t *exec_extension(const json_t *cluster)
{
        json_t *item;
        size_t i;

        json_array_foreach(doc_get_array(cluster, "extensions"), i, item)
                if (text_equal(doc_get_string(item, "name"), EXEC_EXTENSION))
                        return doc_get(item, "extension");
        return NULL;
}

static int read_cluster(struct world *w, const struct sources *s, const char *name, struct kube_config *c,
                        struct error *err)
{
        struct http_endpoint *e = &c->endpoint;
        const struct source *source;
        json_t *body;
        size_t len;

        TRY(find_named(s, "clusters", "cluster", name, &body, &source, err));
        c->exec.cluster_config = json_incref(exec_extension(body));
        TRY(copy_string(source, body, "server", &e->base_url, err));
        if (!e->base_url)
                return error_set(err, ERR_INVALID, "kubeconfig %s: cluster \"%s\": server: is required",
                                 source->path, name);
        if (!text_starts_with(e->base_url, "https://") && !text_starts_with(e->base_url, "http://"))
                return error_set(err, ERR_INVALID,
                                 "kubeconfig %s: cluster \"%s\": server: must begin with https:// or "
                                 "http://, is \"%s\"",
                                 source->path, name, e->base_url);
        len = strlen(e->base_url);
        while (len > 0 && e->base_url[len - 1] == '/')
                e->base_url[--len] = '\0';
        TRY(read_pem(w, source, body, "certificate-authority", e, HTTP_FILE_CA, &e->ca_pem, err));
        TRY(copy_string(source, body, "tls-server-name", &e->tls_server_name, err));
        TRY(copy_string(source, body, "proxy-url", &e->proxy_url, err));
        if (doc_want_bool(body, "insecure-skip-tls-verify", &e->insecure_skip_verify, err) < 0)
                return error_wrap(err, "kubeconfig %s: cluster \"%s\"", source->path, name);
        if (e->insecure_skip_verify && e->ca_pem)
                return error_set(err, ERR_INVALID,
                                 "kubeconfig %s: cluster \"%s\": certificate-authority and "
                                 "insecure-skip-tls-verify exclude each other",
                                 source->path, name);
        return 0;
}

static int refuse(const char *file, const char *user, const char *plugin, struct error *err)
{
        return error_set(err, ERR_UNSUPPORTED,
                         "kubeconfig %s: user \"%s\": %s: credential plugins are not supported; use a token, "
                         "a token file or a client certificate",
                         file, user, plugin);
}

static int read_plugins(const struct source *source, const json_t *body, const char *name,
                        struct kube_exec *exec, struct error *err)
{
        json_t *exec_entry = NULL;

        if (doc_get(body, "auth-provider"))
                return refuse(source->path, name, "auth-provider", err);
        if (doc_want_object(body, "exec", &exec_entry, err) < 0)
                return error_wrap(err, "kubeconfig %s: user \"%s\"", source->path, name);
        if (!exec_entry)
                return 0;
        exec->entry = json_incref((json_t *)body);
        exec->user = mem_strdup(name);
        exec->file = mem_strdup(source->path);
        return exec->user && exec->file ? 0 : error_no_memory(err);
}

static int read_user(struct world *w, const struct sources *s, const char *name, struct kube_config *c,
                     struct error *err)
{
        struct http_endpoint *e = &c->endpoint;
        const struct source *source;
        json_t *body;
        AUTO_FREE char *token_file = NULL;

        TRY(find_named(s, "users", "user", name, &body, &source, err));
        TRY(read_plugins(source, body, name, &c->exec, err));
        TRY(read_pem(w, source, body, "client-certificate", e, HTTP_FILE_CERT, &e->client_cert_pem, err));
        TRY(read_pem(w, source, body, "client-key", e, HTTP_FILE_KEY, &e->client_key_pem, err));
        TRY(copy_string(source, body, "token", &e->bearer_token, err));
        TRY(copy_string(source, body, "tokenFile", &token_file, err));
        TRY(copy_string(source, body, "username", &e->username, err));
        TRY(copy_string(source, body, "password", &e->password, err));
        if (token_file) {
                e->bearer_token_file = beside(source, token_file);
                if (!e->bearer_token_file)
                        return error_no_memory(err);
        }
        if (!e->client_cert_pem != !e->client_key_pem)
                return error_set(
                        err, ERR_INVALID,
                        "kubeconfig %s: user \"%s\": client-certificate and client-key come together",
                        source->path, name);
        return 0;
}

/* What the context says; no context is needed where the choice names a cluster. */
static int read_context(const struct sources *s, struct kube_config_choice *choice, const char **ret_ns,
                        struct error *err)
{
        const char *cluster = NULL, *user = NULL;
        const struct source *source;
        json_t *body;

        if (!choice->context)
                choice->context = current_context(s);
        if (!choice->context && choice->cluster)
                return 0;
        if (!choice->context)
                return error_set(err, ERR_INVALID,
                                 "kubeconfig %s: current-context: is required when no context is named",
                                 s->at[0].path);
        TRY(find_named(s, "contexts", "context", choice->context, &body, &source, err));
        if (doc_need_string(body, "cluster", &cluster, err) < 0 ||
            doc_want_string(body, "user", &user, err) < 0 ||
            doc_want_string(body, "namespace", ret_ns, err) < 0)
                return error_wrap(err, "kubeconfig %s: context \"%s\"", source->path, choice->context);
        if (!choice->cluster)
                choice->cluster = cluster;
        if (!choice->user && !text_empty(user))
                choice->user = user;
        return 0;
}

static int load_chosen(struct world *w, const struct sources *s, struct kube_config_choice choice,
                       struct kube_config *c, struct error *err)
{
        const char *ns = NULL;

        TRY(read_context(s, &choice, &ns, err));
        TRY(read_cluster(w, s, choice.cluster, c, err));
        if (choice.user)
                TRY(read_user(w, s, choice.user, c, err));
        c->context = choice.context ? mem_strdup(choice.context) : NULL;
        c->namespace_ = mem_strdup(text_empty(ns) ? "default" : ns);
        return (c->context || !choice.context) && c->namespace_ ? 0 : error_no_memory(err);
}

int kube_config_load_exec(struct world *w, const char *path, const struct kube_config_choice *choice,
                          struct kube_config *ret, struct error *err)
{
        CLEANUP(sources_free) struct sources sources = { 0 };
        CLEANUP(kube_config_free) struct kube_config c = { 0 };

        TRY(load_sources(w, path, &sources, err));
        TRY(load_chosen(w, &sources, *choice, &c, err));
        if (c.endpoint.bearer_token || c.endpoint.bearer_token_file)
                json_decref(TAKE_PTR(c.exec.entry));
        *ret = c;
        c = (struct kube_config){ 0 };
        return 0;
}

int kube_config_load(struct world *w, const char *path, const char *context, struct kube_config *ret,
                     struct error *err)
{
        CLEANUP(kube_config_free) struct kube_config c = { 0 };

        TRY(kube_config_load_exec(w, path, &(struct kube_config_choice){ .context = context }, &c, err));
        if (c.exec.entry)
                return refuse(c.exec.file, c.exec.user, "exec", err);
        *ret = c;
        c = (struct kube_config){ 0 };
        return 0;
}

int kube_config_contexts(struct world *w, const char *path, struct arena *arena, const char ***ret,
                         size_t *ret_n, struct error *err)
{
        CLEANUP(sources_free) struct sources s = { 0 };
        size_t n = 0, k;
        json_t *item;

        TRY(load_sources(w, path, &s, err));
        for (size_t i = 0; i < s.n; i++)
                n += json_array_size(doc_get_array(s.at[i].doc, "contexts"));
        *ret = ARENA_NEW_ARRAY(arena, const char *, n + 1);
        if (!*ret)
                return error_no_memory(err);
        *ret_n = 0;
        for (size_t i = 0; i < s.n; i++)
                json_array_foreach(doc_get_array(s.at[i].doc, "contexts"), k, item) {
                        const char *name = doc_get_string(item, "name");

                        if (text_empty(name) || text_in(name, *ret, *ret_n))
                                continue;
                        if (!((*ret)[*ret_n] = arena_strdup(arena, name)))
                                return error_no_memory(err);
                        ++*ret_n;
                }
        return 0;
}

int kube_config_in_cluster(struct world *w, struct kube_config *ret, struct error *err)
{
        CLEANUP(kube_config_free) struct kube_config c = { 0 };
        const char *host = w->process->getenv(w->ctx, "KUBERNETES_SERVICE_HOST");
        const char *port = w->process->getenv(w->ctx, "KUBERNETES_SERVICE_PORT");
        AUTO_FREE char *ns = NULL;
        bool v6;

        if (text_empty(host) || text_empty(port))
                return error_set(err, ERR_NOT_FOUND, "not inside a cluster: %s is not set",
                                 text_empty(host) ? "KUBERNETES_SERVICE_HOST" : "KUBERNETES_SERVICE_PORT");
        v6 = strchr(host, ':') != NULL;
        c.endpoint.base_url = mem_printf("https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
        c.endpoint.bearer_token_file = mem_strdup(SERVICE_ACCOUNT_DIR "/token");
        if (!c.endpoint.base_url || !c.endpoint.bearer_token_file)
                return error_no_memory(err);
        if (http_files_read(w, &c.endpoint, HTTP_FILE_CA, SERVICE_ACCOUNT_DIR "/ca.crt", err) < 0)
                return error_wrap(err, "in-cluster configuration");
        if (read_file(w, SERVICE_ACCOUNT_DIR "/namespace", 256, &ns, NULL) < 0)
                ns = NULL;
        c.namespace_ = mem_strdup(text_empty(ns) ? "default" : ns);
        if (!c.namespace_)
                return error_no_memory(err);
        *ret = c;
        c = (struct kube_config){ 0 };
        return 0;
}

static bool is_in_cluster(struct world *w)
{
        return !text_empty(w->process->getenv(w->ctx, "KUBERNETES_SERVICE_HOST"));
}

/* Inside a cluster a kubeconfig may stand in for a service account whose files are not mounted; without one,
 * the missing file is what is wrong. */
int kube_config_find(struct world *w, const char *path, const char *context, struct kube_config *ret,
                     struct error *err)
{
        struct error inside = { 0 };
        int r = ERR_NOT_FOUND;

        if (text_empty(path) && text_empty(context))
                r = kube_config_in_cluster(w, ret, &inside);
        if (r == ERR_NOT_FOUND)
                r = kube_config_load(w, text_empty(path) ? NULL : path, text_empty(context) ? NULL : context,
                                     ret, err);
        else if (r < 0 && err)
                *err = inside;
        if (r == ERR_NOT_FOUND && inside.code && is_in_cluster(w))
                return error_wrap(err, "%s; and in its place", inside.text);
        return r;
}
