/* The webhooks of a cluster as they are kept, and their resources' hooks. */
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/webhook.h"

#define MUTATING "admissionregistration.k8s.io/mutatingwebhookconfigurations"
#define VALIDATING "admissionregistration.k8s.io/validatingwebhookconfigurations"
#define TIMEOUT_SECONDS 10

static void drop_document(void *doc)
{
        json_decref(doc);
}

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* ---- where it is ---- */

/* "https://host:port/path?query" to its server and the rest. */
static int split_url(struct arena *arena, struct webhook *w)
{
        const char *host = strstr(w->url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
        size_t n = path ? (size_t)(path - w->url) : strlen(w->url);
        w->server.base_url = arena_strndup(arena, w->url, n);
        w->path = path ? path : "/";
        return w->server.base_url ? 0 : ERR_NO_MEMORY;
}

static int read_service(struct arena *arena, const json_t *service, struct webhook *w)
{
        const char *ns = text_at(service, "namespace"), *name = text_at(service, "name"),
                   *path = text_at(service, "path");
        w->service = arena_printf(arena, "%s/%s", ns, name);
        w->server.tls_server_name = arena_printf(arena, "%s.%s.svc", name, ns);
        w->url = arena_printf(arena, "https://%s.%s.svc:%lld%s%s?timeout=%ds", name, ns,
                              (long long)doc_get_int(service, "port", 443), *path == '/' ? "" : "/", path,
                              w->timeout_seconds);
        return w->service && w->server.tls_server_name && w->url ? 0 : ERR_NO_MEMORY;
}

/* What is no PEM verifies nothing: every call will say so. */
static int read_authorities(struct arena *arena, const char *text, struct webhook *w)
{
        size_t n = strlen(text);
        if (!n)
                return 0;
        w->server.ca_pem = arena_zalloc(arena, n + 1);
        if (!w->server.ca_pem)
                return ERR_NO_MEMORY;
        if (text_base64_decode(slice_of(text), w->server.ca_pem, n, &n, false) < 0)
                n = 0;
        w->server.ca_pem[n] = '\0';
        return 0;
}

static int read_client(struct arena *arena, const json_t *config, struct webhook *w)
{
        const json_t *service = doc_get_object(config, "service");
        const char *url = text_at(config, "url");
        w->server.user_agent = "kube-apiserver-admission";
        TRY(read_authorities(arena, text_at(config, "caBundle"), w));
        if (service) {
                TRY(read_service(arena, service, w));
        } else {
                w->url = arena_printf(arena, "%s%ctimeout=%ds", url, strchr(url, '?') ? '&' : '?',
                                      w->timeout_seconds);
                if (!w->url)
                        return ERR_NO_MEMORY;
        }
        return split_url(arena, w);
}

/* ---- what it is ---- */

/* The first version that it names and that we speak. */
static bool speaks_old(const json_t *hook)
{
        json_t *v;
        size_t i;
        json_array_foreach(doc_get_array(hook, "admissionReviewVersions"), i, v)
                if (text_equal(json_string_value(v), "v1") || text_equal(json_string_value(v), "v1beta1"))
                        return text_equal(json_string_value(v), "v1beta1");
        return false;
}

static int read_webhook(struct arena *arena, const json_t *hook, bool mutates, struct webhook *w)
{
        *w = (struct webhook){ .mutates = mutates,
                               .reinvoked = strcmp(text_at(hook, "reinvocationPolicy"), "IfNeeded") == 0,
                               .affects_dry_run =
                                       strncmp(text_at(hook, "sideEffects"), "None", strlen("None")) != 0,
                               .old_review = speaks_old(hook),
                               .timeout_seconds = (int)doc_get_int(hook, "timeoutSeconds", TIMEOUT_SECONDS) };
        TRY(policy_compile_webhook(arena, hook, &w->of));
        return read_client(arena, doc_get_object(hook, "clientConfig"), w);
}

static int read_configuration(struct arena *arena, const struct blob *b, bool mutates, struct webhook *at,
                              size_t *n)
{
        json_t *doc = NULL, *hook;
        size_t i;
        TRY(blob_parse(b, &doc, NULL));
        TRY(arena_defer(arena, drop_document, doc));
        json_array_foreach(doc_get_array(doc, "webhooks"), i, hook) {
                TRY(read_webhook(arena, hook, mutates, &at[*n]));
                (*n)++;
        }
        return 0;
}

static int count_webhooks(const struct table *t, size_t *ret)
{
        *ret = 0;
        for (size_t i = 0; t && i < t->items.n; i++) {
                AUTO_JSON json_t *doc = NULL;
                TRY(blob_parse(t->items.at[i], &doc, NULL));
                *ret += json_array_size(doc_get_array(doc, "webhooks"));
        }
        return 0;
}

static int read_table(struct arena *arena, const struct table *t, bool mutates, struct webhook **ret,
                      size_t *ret_n)
{
        size_t n;
        TRY(count_webhooks(t, &n));
        *ret = ARENA_NEW_ARRAY(arena, struct webhook, n + 1);
        if (!*ret)
                return ERR_NO_MEMORY;
        for (size_t i = 0; t && i < t->items.n; i++)
                TRY(read_configuration(arena, t->items.at[i], mutates, *ret, ret_n));
        return 0;
}

/* ---- keeping ---- */

void webhooks_unref(struct webhooks *w)
{
        if (!w || --w->refs)
                return;
        arena_free(&w->arena);
        mem_free(w);
}

void webhooks_forget(struct cluster *c)
{
        webhooks_unref(c->webhooks);
        c->webhooks = NULL;
}

int webhooks_of(struct cluster *c, struct webhooks **ret)
{
        const struct table *m = api_store_table(c, MUTATING, false),
                           *v = api_store_table(c, VALIDATING, false);
        *ret = NULL;
        if ((!m || m->items.n == 0) && (!v || v->items.n == 0))
                return 0;
        if (!c->webhooks) {
                struct webhooks *w = NEW(struct webhooks);
                if (!w)
                        return ERR_NO_MEMORY;
                w->refs = 1;
                if (read_table(&w->arena, m, true, &w->mutating, &w->n_mutating) < 0 ||
                    read_table(&w->arena, v, false, &w->validating, &w->n_validating) < 0)
                        return webhooks_unref(w), ERR_NO_MEMORY;
                c->webhooks = w;
        }
        c->webhooks->refs++;
        *ret = c->webhooks;
        return 0;
}

/* ---- the resources ---- */

static int prepare(struct request *rq, const json_t *live, json_t *doc)
{
        if (builtin_set_defaults(rq->resource->group, rq->resource->kind, doc) < 0)
                return request_fail_memory(rq);
        return 0;
}

static void after_write(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc)
{
        webhooks_forget(c);
}

const struct resource_hooks webhook_configuration_hooks = { .prepare = prepare, .after_write = after_write };
