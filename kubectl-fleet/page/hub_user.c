#include "kubectl-fleet/page/hub_user.h"

#include "common/base/memory.h"
#include "common/net/cert.h"

#define WHO_BYTES (64u << 10)

static const struct kube_resource token_reviews = { "authentication.k8s.io", "v1", "tokenreviews",
                                                    "TokenReview", false };
static const struct kube_resource access_reviews = { "authorization.k8s.io", "v1", "subjectaccessreviews",
                                                     "SubjectAccessReview", false };

/* ---- questions to the hub ---- */

/* With the page's own rights. *ret: the answer's status, in `answer`. */
static int ask(const struct page_gate *g, const struct kube_resource *r, const char *api, json_t *spec,
               json_t **answer, struct error *err)
{
        static const struct kube_write write = { 0 };
        struct kube_client page = *g->hub;
        AUTO_JSON json_t *review =
                json_pack("{s:s, s:s, s:o}", "apiVersion", api, "kind", r->kind, "spec", spec);

        page.call_deadline_ms = PAGE_ASK_MS;
        if (!review)
                return error_no_memory(err);
        return kube_doc_create(&page, r, NULL, review, &write, answer, err);
}

/* What went wrong is not the user's doing, whatever the code: a 401 was for the page's own account. */
static int cannot_tell(int code, const char *what, struct error *err)
{
        char why[ERROR_TEXT_MAX];

        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return code;
        snprintf(why, sizeof(why), "%s", err->text);
        return error_set(err, ERR_RETRY, "%s: %s", what, why);
}

/* ---- whose token it is ---- */

/* What a bearer token is made of (RFC 6750 2.1): nothing that could end a header. */
static bool is_token(const char *token)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";
        size_t n = strlen(token);

        return n > 0 && n <= PAGE_TOKEN_BYTES && strspn(token, letters) == n;
}

static int64_t expiry_of(const char *token)
{
        AUTO_FREE char *payload = NULL;
        AUTO_JSON json_t *claims = NULL;
        const json_t *exp;

        if (jwt_read(token, &payload, NULL) < 0 || doc_parse(slice_of(payload), &claims, NULL) < 0)
                return TIME_NONE;
        exp = json_object_get(claims, "exp");
        if (!json_is_number(exp) || json_number_value(exp) < 0 || json_number_value(exp) > 1e11)
                return TIME_NONE;
        return (int64_t)json_number_value(exp) * 1000;
}

static int take_member(json_t *who, const char *to, const json_t *user, const char *from, json_type type,
                       struct error *err)
{
        json_t *value = json_object_get(user, from);

        if (!value || json_is_null(value))
                return 0;
        if (json_typeof(value) != type)
                return error_set(err, ERR_RETRY, "the hub's TokenReview: status.user.%s is of the wrong type",
                                 from);
        return json_object_set(who, to, value) < 0 ? error_no_memory(err) : 0;
}

/* It is sent with each question. */
static int check_size(const json_t *who, struct error *err)
{
        AUTO_BUF struct buf b;
        int code;

        buf_init(&b, WHO_BYTES);
        code = doc_write(who, &b);
        if (code == ERR_LIMIT)
                return error_set(err, ERR_LIMIT,
                                 "groups and extra of the token's owner are larger than %u bytes", WHO_BYTES);
        return code < 0 ? error_no_memory(err) : 0;
}

static int read_who(const json_t *user, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *who = json_object();

        if (!who)
                return error_no_memory(err);
        TRY(take_member(who, "user", user, "username", JSON_STRING, err));
        TRY(take_member(who, "uid", user, "uid", JSON_STRING, err));
        TRY(take_member(who, "groups", user, "groups", JSON_ARRAY, err));
        TRY(take_member(who, "extra", user, "extra", JSON_OBJECT, err));
        if (text_empty(json_string_value(json_object_get(who, "user"))))
                return error_set(err, ERR_UNAUTHORIZED, "the hub gives the token's owner no name");
        TRY(check_size(who, err));
        *ret = json_incref(who);
        return 0;
}

static int review_token(const struct page_gate *g, const char *token, json_t **ret_who, struct error *err)
{
        AUTO_JSON json_t *answer = NULL;
        int code = ask(g, &token_reviews, "authentication.k8s.io/v1", json_pack("{s:s}", "token", token),
                       &answer, err);

        if (code < 0)
                return cannot_tell(code, "the hub cannot tell whose token this is", err);
        if (!doc_get_bool(answer, "status.authenticated", false))
                return error_set(err, ERR_UNAUTHORIZED, "the hub does not know it, or it has expired");
        return read_who(doc_get_object(answer, "status.user"), ret_who, err);
}

static int copy(char **to, const char *from)
{
        *to = from ? mem_strdup(from) : NULL;
        return from && !*to ? ERR_NO_MEMORY : 0;
}

/* The hub as the page reaches it, with the user's token in place of the page's. */
static int make_client(struct page_visitor *v, const char *token)
{
        const struct kube_client *page = v->gate->hub;
        const struct http_endpoint *e = page->endpoint;

        TRY(copy(&v->endpoint.base_url, e->base_url));
        TRY(copy(&v->endpoint.ca_pem, e->ca_pem));
        TRY(copy(&v->endpoint.tls_server_name, e->tls_server_name));
        TRY(copy(&v->endpoint.proxy_url, e->proxy_url));
        TRY(copy(&v->endpoint.user_agent, e->user_agent));
        TRY(copy(&v->endpoint.bearer_token, token));
        v->endpoint.insecure_skip_verify = e->insecure_skip_verify;
        v->endpoint.denied = e->denied;
        v->endpoint.generation = e->generation;
        v->hub = (struct kube_client){ .world = page->world,
                                       .endpoint = &v->endpoint,
                                       .log = page->log,
                                       .call_deadline_ms = page->call_deadline_ms,
                                       .field_manager = page->field_manager };
        return 0;
}

int hub_user_new(struct page_gate *g, const char *token, struct page_visitor **ret, struct error *err)
{
        AUTO_JSON json_t *who = NULL;
        struct page_visitor *v;
        int64_t now_ms;

        if (!is_token(token))
                return error_set(err, ERR_UNAUTHORIZED, "it is no token of a hub");
        TRY(review_token(g, token, &who, err));
        v = NEW(struct page_visitor);
        if (!v)
                return error_no_memory(err);
        now_ms = loop_now_ms(g->world->loop);
        *v = (struct page_visitor){ .gate = g,
                                    .who = json_incref(who),
                                    .expires_ms = expiry_of(token),
                                    .review_ms = now_ms + PAGE_REVIEW_MS,
                                    .known_ms = now_ms,
                                    .refs = 1 };
        v->user = (struct page_user){ .name = json_string_value(json_object_get(who, "user")),
                                      .hub = &v->hub,
                                      .world = g->world };
        if (make_client(v, token) < 0) {
                page_visitor_unref(v);
                return error_no_memory(err);
        }
        *ret = v;
        return 0;
}

static void free_right(struct page_right *r)
{
        mem_free(r->ns);
        mem_free(r->why);
}

void hub_user_free(struct page_visitor *v)
{
        vec_for_each(&v->rights, r)
                free_right(r);
        vec_free(&v->rights);
        http_endpoint_free(&v->endpoint);
        json_decref(v->who);
}

/* ---- what they may see ---- */

static int ask_right(struct page_visitor *v, const struct kind *kind, const char *ns, const char *verb,
                     bool *ret, struct error *err)
{
        AUTO_JSON json_t *answer = NULL;
        json_t *spec = doc_copy_members(v->who);
        json_t *resource =
                json_pack("{s:s, s:s, s:s, s:s, s:s}", "verb", verb, "group", kind->group, "version",
                          kind->version, "resource", kind->plural, "namespace", or_empty(ns));

        if (!spec || !resource || json_object_set(spec, "resourceAttributes", resource) < 0) {
                json_decref(spec);
                json_decref(resource);
                return error_no_memory(err);
        }
        json_decref(resource);
        TRY(ask(v->gate, &access_reviews, "authorization.k8s.io/v1", spec, &answer, err));
        *ret = doc_get_bool(answer, "status.allowed", false) && !doc_get_bool(answer, "status.denied", false);
        return 0;
}

static int refuse(const struct page_visitor *v, const struct kind *kind, const char *ns, const char *verb,
                  struct error *err)
{
        char where[128] = "";

        if (kind->namespaced && ns)
                snprintf(where, sizeof(where), " in namespace \"%s\"", ns);
        else if (kind->namespaced)
                snprintf(where, sizeof(where), " in all namespaces together");
        return error_set(err, ERR_FORBIDDEN, "%s may not %s %s.%s%s", v->user.name, verb, kind->plural,
                         kind->group, where);
}

/* 0, ERR_FORBIDDEN: as they are; else it could not be told. */
static int ask_rights(struct page_visitor *v, const struct kind *kind, const char *ns, struct error *err)
{
        static const char *const verbs[] = { "list", "watch" };

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
                bool allowed = false;
                int code = ask_right(v, kind, ns, verbs[i], &allowed, err);

                if (code < 0)
                        return cannot_tell(code, "the hub cannot tell whether you may see it", err);
                if (!allowed)
                        return refuse(v, kind, ns, verbs[i], err);
        }
        return 0;
}

static struct page_right *find_right(struct page_visitor *v, const struct kind *kind, const char *ns)
{
        vec_for_each(&v->rights, r)
                if (r->kind == kind && text_equal(or_empty(r->ns), or_empty(ns)))
                        return r;
        return NULL;
}

static void forget_one(struct page_visitor *v)
{
        size_t oldest = 0;

        for (size_t i = 1; i < v->rights.n; i++)
                if (v->rights.at[i].until_ms < v->rights.at[oldest].until_ms)
                        oldest = i;
        free_right(&v->rights.at[oldest]);
        vec_remove(&v->rights, oldest);
}

static int remember(struct page_visitor *v, const struct page_right *wanted)
{
        struct page_right r = *wanted, *now = find_right(v, r.kind, r.ns);

        if (copy(&r.ns, wanted->ns) < 0 || copy(&r.why, wanted->why) < 0) {
                free_right(&r);
                return ERR_NO_MEMORY;
        }
        if (now) {
                free_right(now);
                *now = r;
                return 0;
        }
        if (v->rights.n >= PAGE_RIGHTS_MAX)
                forget_one(v);
        if (vec_push(&v->rights, r) == 0)
                return 0;
        free_right(&r);
        return ERR_NO_MEMORY;
}

static int told(const struct page_right *r, int64_t *ret_until_ms, struct error *err)
{
        *ret_until_ms = r->until_ms;
        return r->why ? error_set(err, ERR_FORBIDDEN, "%s", r->why) : 0;
}

int hub_user_may_list(struct page_visitor *v, const struct kind *kind, const char *ns, int64_t *ret_until_ms,
                      struct error *err)
{
        struct loop *l = v->gate->world->loop;
        const struct page_right *known;
        struct error why = { 0 };
        struct page_right r = { .kind = kind };
        int code;

        if (!kind->namespaced)
                ns = NULL; /* a right in a namespace is none to it */
        r.ns = (char *)(uintptr_t)ns;
        known = find_right(v, kind, ns);
        if (known && loop_now_ms(l) < known->until_ms)
                return told(known, ret_until_ms, err);
        r.until_ms = loop_now_ms(l) + PAGE_RIGHT_MS; /* counted from the question */
        code = ask_rights(v, kind, ns, &why);
        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return code == ERR_NO_MEMORY ? error_no_memory(err) : code;
        if (code < 0 && code != ERR_FORBIDDEN)
                r.until_ms = loop_now_ms(l) + PAGE_AGAIN_MS;
        r.why = code < 0 ? why.text : NULL;
        if (remember(v, &r) < 0)
                return error_no_memory(err);
        return told(&r, ret_until_ms, err);
}
