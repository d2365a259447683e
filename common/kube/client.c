/* REST verbs: paths, queries, bodies, and the way from a Status answer to a struct error. */
#include "common/kube/client.h"

#include "common/base/memory.h"
#include "common/json/scan.h"
#include "common/kube/connection.h"

#define JSON_TYPE "application/json"

struct kube_resource kube_resource_of(const struct kind *kind)
{
        return (struct kube_resource){ kind->group, kind->version, kind->plural, kind->kind,
                                       kind->namespaced };
}

/* `one`: the request is about one object, not about all of a resource. */
static bool scope_fits(const struct kube_resource *r, const char *ns, bool one)
{
        return r->namespaced ? !one || !text_empty(ns) : text_empty(ns);
}

static int check_scope(const struct kube_resource *r, const char *ns, const char *name, struct error *err)
{
        if (scope_fits(r, ns, true))
                return 0;
        if (r->namespaced)
                return error_set(err, ERR_INVALID, "%s \"%s\" has no namespace, but its kind needs one",
                                 r->plural, name ? name : "");
        return error_set(err, ERR_INVALID, "%s \"%s\" has namespace \"%s\", but its kind is cluster-scoped",
                         r->plural, name ? name : "", ns);
}

static void add_step(struct buf *b, const char *step)
{
        buf_append_char(b, '/');
        buf_append_str(b, step);
}

int kube_path(struct buf *b, const struct kube_resource *r, const char *ns, const char *name, const char *sub)
{
        if (!scope_fits(r, ns, name != NULL))
                return b->failed = ERR_INVALID;
        buf_append_str(b, text_empty(r->group) ? "/api" : "/apis");
        if (!text_empty(r->group))
                add_step(b, r->group);
        add_step(b, r->version);
        if (!text_empty(ns)) {
                buf_append_str(b, "/namespaces/");
                http_escape(b, ns);
        }
        add_step(b, r->plural);
        if (name) {
                buf_append_char(b, '/');
                http_escape(b, name);
        }
        if (sub)
                add_step(b, sub);
        return b->failed;
}

/* ---- errors ---- */

static enum error_code code_of(int status, const char *reason)
{
        switch (status) {
        case 400:
        case 405:
        case 406:
        case 413:
        case 415:
        case 422:
                return ERR_INVALID;
        case 401:
                return ERR_UNAUTHORIZED;
        case 403:
                return ERR_FORBIDDEN;
        case 404:
                return ERR_NOT_FOUND;
        case 409:
                return text_equal(reason, "AlreadyExists") ? ERR_EXISTS : ERR_CONFLICT;
        case 410:
                return ERR_GONE;
        case 429:
                return ERR_TOO_MANY;
        default:
                return status >= 500 ? ERR_RETRY : ERR_INVALID;
        }
}

bool kube_answer_is_html(const struct http_response *r)
{
        const char *type = http_header_get(&r->headers, "content-type");

        return (type && strstr(type, "html")) || slice_starts_with(slice_trim(r->body), "<");
}

/* The answer is not a Kubernetes Status: say what came instead, in one line. A page that claims success is a
 * login portal's or a proxy's, which may go away: worth another try. */
static int stranger_error(const struct http_response *r, const char *what, struct error *err)
{
        struct slice body = slice_trim(r->body);

        if (kube_answer_is_html(r)) {
                int code = error_set(err, r->status < 300 ? ERR_RETRY : code_of(r->status, NULL),
                                     "%s: the server answered %d with an HTML page: this is not a "
                                     "Kubernetes API server, or a proxy stands in front of it",
                                     what, r->status);

                error_set_reason(err, KUBE_REASON_NOT_KUBERNETES);
                return code;
        }
        return error_set(err, code_of(r->status, NULL), "%s: the server answered %d: %.*s", what, r->status,
                         (int)MIN(body.len, (size_t)200), body.data ? body.data : "");
}

int kube_status_error(const struct http_response *r, const char *what, struct error *err)
{
        AUTO_JSON json_t *status = NULL;
        const char *reason, *message, *after;
        char text[ERROR_TEXT_MAX - 256]; /* room for `what` */
        uint64_t seconds;
        int code;

        if (doc_parse(r->body, &status, NULL) < 0 || !text_equal(doc_get_string(status, "kind"), "Status"))
                code = stranger_error(r, what, err);
        else {
                reason = doc_get_string(status, "reason");
                message = doc_get_string(status, "message");
                text_shorten(text_empty(message) ? "no message" : message, text, sizeof(text));
                code = error_set(err, code_of(r->status, reason), "%s: %s", what, text);
                if (err)
                        snprintf(err->reason, sizeof(err->reason), "%s", reason ? reason : "");
        }
        if (!err)
                return code;
        err->http_status = r->status;
        after = http_header_get(&r->headers, "retry-after");
        if (after && text_parse_u64(after, &seconds) && seconds < 3600)
                err->retry_after_ms = (uint32_t)seconds * 1000;
        return code;
}

/* ---- one call ---- */

struct call {
        const char *verb, *resource; /* for counting and error texts */
        const char *method;
        const char *path;
        const char *content_type, *accept;
        struct slice body;
        size_t max_answer; /* bytes; 0 = LIMIT_RESPONSE_BYTES */
};

static int judge(const struct call *c, int sent, const struct http_response *r, struct error *err)
{
        char what[256];

        if (sent < 0)
                return error_wrap(err, "%s %s", c->verb, c->resource);
        if (r->status >= 200 && r->status <= 299 && !kube_answer_is_html(r))
                return 0;
        snprintf(what, sizeof(what), "%s %s", c->verb, c->resource);
        return kube_status_error(r, what, err);
}

/* Between the decision to write and the moment in which it leaves others are waited for: credentials, a
 * connection. */
struct departure {
        const struct kube_client *kube;
        unsigned left; /* so many times: a refusal may send it once more, with other credentials */
        bool stayed;   /* it was not let go, the last time */
};

static int may_leave(void *ctx, struct error *err)
{
        struct departure *d = ctx;
        int code = d->kube->may_write(d->kube->may_write_ctx, err);

        d->stayed = code < 0;
        d->left += code >= 0;
        return code;
}

static int perform(struct kube_client *k, const struct call *c, struct arena *arena,
                   struct http_response *ret, struct error *err)
{
        struct loop *l = k->world->loop;
        struct http_header headers[4 + KUBE_GROUPS_MAX];
        int64_t wait = k->call_deadline_ms ? k->call_deadline_ms : KUBE_CALL_DEADLINE_MS;
        struct http_request rq = { .endpoint = k->endpoint,
                                   .method = c->method,
                                   .path = c->path,
                                   .body = c->body,
                                   .max_body = c->max_answer ? c->max_answer : k->max_answer,
                                   .deadline_ms = loop_now_ms(l) + wait };
        int64_t begin = loop_now_us(l);
        struct departure departure = { .kube = k };
        struct error own;
        size_t n = 0;
        int r;

        if (!err)
                error_clear(err = &own);
        if (k->may_write && !text_equal(c->method, "GET")) {
                rq.may_leave = may_leave;
                rq.may_leave_ctx = &departure;
        }
        headers[n++] = (struct http_header){ "Accept", c->accept ? c->accept : JSON_TYPE };
        if (c->content_type)
                headers[n++] = (struct http_header){ "Content-Type", c->content_type };
        if (k->impersonate)
                headers[n++] = (struct http_header){ "Impersonate-User", k->impersonate };
        if (k->impersonate_uid)
                headers[n++] = (struct http_header){ "Impersonate-Uid", k->impersonate_uid };
        for (size_t i = 0; k->impersonate_groups && k->impersonate_groups[i]; i++)
                headers[n++] = (struct http_header){ "Impersonate-Group", k->impersonate_groups[i] };
        rq.headers = (struct http_headers){ headers, n };
        r = http_roundtrip(k->world->transport, &rq, arena, ret, err);
        if (r < 0 && departure.stayed && departure.left == 0)
                return r; /* nobody was asked anything */
        if (k->count)
                k->count(k->count_ctx,
                         &(struct kube_counted){ c->verb, c->resource, c->method, k->endpoint,
                                                 r < 0 ? 0 : ret->status, loop_now_us(l) - begin });
        r = judge(c, r, ret, err);
        kube_connection_report(k, &(struct kube_attempt){ c->method, c->path, begin / 1000 }, r, err);
        return r;
}

int kube_raw(struct kube_client *k, const char *method, const char *path, const char *content_type,
             struct slice body, struct arena *arena, struct http_response *ret, struct error *err)
{
        struct call c = { .verb = method,
                          .resource = path,
                          .method = method,
                          .path = path,
                          .content_type = content_type,
                          .body = body };

        return perform(k, &c, arena, ret, err);
}

int kube_raw_accept(struct kube_client *k, const char *method, const char *path, const char *accept,
                    struct arena *arena, struct http_response *ret, struct error *err)
{
        struct call c = {
                .verb = method, .resource = path, .method = method, .path = path, .accept = accept
        };

        return perform(k, &c, arena, ret, err);
}

/* Appends "?a=b" or "&a=b". */
static void add_query(struct buf *b, const char *name, const char *value)
{
        if (!value)
                return;
        buf_append_char(b, strchr(b->data, '?') ? '&' : '?');
        buf_append_str(b, name);
        buf_append_char(b, '=');
        http_escape(b, value);
}

static void add_write_query(struct buf *b, struct kube_client *k, const struct kube_write *o)
{
        const char *manager = o && o->field_manager ? o->field_manager : k->field_manager;

        add_query(b, "fieldManager", manager);
        if (o && o->force)
                add_query(b, "force", "true");
        if (o && o->dry_run)
                add_query(b, "dryRun", "All");
}

static int decode_answer(const struct kind *kind, const struct http_response *r, struct arena *arena,
                         struct object **ret, struct error *err)
{
        if (!ret)
                return 0;
        if (object_decode_arena(kind, r->body, arena, ret, err) < 0)
                return error_wrap(err, "answer of the API server about %s", kind->plural);
        return 0;
}

/* ---- typed ---- */

static int send_get(struct kube_client *k, const struct kind *kind, const char *ns, const char *name,
                    struct arena *arena, struct http_response *ret, struct error *err)
{
        struct kube_resource resource = kube_resource_of(kind);
        AUTO_BUF struct buf path;

        buf_init(&path, 8192);
        TRY(check_scope(&resource, ns, name, err));
        if (kube_path(&path, &resource, ns, name, NULL) < 0)
                return buf_status(&path, err, "request path");
        struct call c = { .verb = "get", .resource = kind->plural, .method = "GET", .path = path.data };
        return perform(k, &c, arena, ret, err);
}

int kube_get(struct kube_client *k, const struct kind *kind, const char *ns, const char *name,
             struct arena *arena, struct object **ret, struct error *err)
{
        struct http_response r;

        TRY(send_get(k, kind, ns, name, arena, &r, err));
        return decode_answer(kind, &r, arena, ret, err);
}

static int send_create(struct kube_client *k, const struct object *o, struct arena *arena,
                       struct http_response *ret, struct error *err)
{
        struct kube_resource resource = kube_resource_of(o->kind);
        AUTO_BUF struct buf path, body;

        buf_init(&path, 8192);
        buf_init(&body, LIMIT_REQUEST_BODY_BYTES);
        TRY(check_scope(&resource, o->meta.ns, o->meta.name, err));
        kube_path(&path, &resource, o->meta.ns, NULL, NULL);
        add_write_query(&path, k, NULL);
        object_encode(o, &body);
        if (buf_status(&path, err, "request path") < 0 || buf_status(&body, err, o->kind->kind) < 0)
                return error_wrap(err, "create %s %s", o->kind->plural, o->meta.name);
        struct call c = { .verb = "create",
                          .resource = o->kind->plural,
                          .method = "POST",
                          .path = path.data,
                          .content_type = JSON_TYPE,
                          .body = { body.data, body.len } };
        return perform(k, &c, arena, ret, err);
}

int kube_create(struct kube_client *k, const struct object *o, struct arena *arena, struct object **ret,
                struct error *err)
{
        struct http_response r;

        TRY(send_create(k, o, arena, &r, err));
        return decode_answer(o->kind, &r, arena, ret, err);
}

static int decode_block(const struct kind *kind, const struct http_response *r,
                        const struct kube_block_options *b, struct object **ret, struct error *err)
{
        if (object_decode(kind, r->body, b->flags, b->interns, ret, err) < 0)
                return error_wrap(err, "answer of the API server about %s", kind->plural);
        return 0;
}

int kube_get_block(struct kube_client *k, const struct kind *kind, const char *ns, const char *name,
                   const struct kube_block_options *b, struct object **ret_block, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        TRY(send_get(k, kind, ns, name, &arena, &r, err));
        return decode_block(kind, &r, b, ret_block, err);
}

int kube_create_block(struct kube_client *k, const struct object *o, const struct kube_block_options *b,
                      struct object **ret_block, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        TRY(send_create(k, o, &arena, &r, err));
        return decode_block(o->kind, &r, b, ret_block, err);
}

/* 1 if a patch was sent and answered, 0 if there was nothing to send. */
static int send_patch_diff(struct kube_client *k, const struct object *now, const struct object *wanted,
                           enum object_part part, struct arena *arena, struct http_response *ret,
                           struct error *err)
{
        struct kube_resource resource = kube_resource_of(now->kind);
        bool status = part == OBJECT_STATUS && now->kind->has_status;
        AUTO_BUF struct buf path, body;

        buf_init(&path, 8192);
        buf_init(&body, LIMIT_REQUEST_BODY_BYTES);
        if (object_merge_patch(now, wanted, part, true, &body, err) < 0 ||
            buf_status(&body, err, now->kind->kind) < 0)
                return error_wrap(err, "patch %s %s", now->kind->plural, now->meta.name);
        if (body.len == 0)
                return 0;
        TRY(check_scope(&resource, now->meta.ns, now->meta.name, err));
        kube_path(&path, &resource, now->meta.ns, now->meta.name, status ? "status" : NULL);
        add_write_query(&path, k, NULL);
        TRY(buf_status(&path, err, "request path"));
        struct call c = { .verb = "patch",
                          .resource = now->kind->plural,
                          .method = "PATCH",
                          .path = path.data,
                          .content_type = "application/merge-patch+json",
                          .body = { body.data, body.len } };
        TRY(perform(k, &c, arena, ret, err));
        return 1;
}

int kube_patch_diff(struct kube_client *k, const struct object *now, const struct object *wanted,
                    enum object_part part, struct arena *arena, struct object **ret, struct error *err)
{
        struct http_response r;
        int sent = send_patch_diff(k, now, wanted, part, arena, &r, err);

        if (sent < 0)
                return sent;
        if (sent > 0)
                return decode_answer(now->kind, &r, arena, ret, err);
        if (ret)
                *ret = (struct object *)now;
        return 0;
}

int kube_patch_diff_block(struct kube_client *k, const struct object *now, const struct object *wanted,
                          enum object_part part, const struct kube_block_options *b,
                          struct object **ret_block, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;
        int sent = send_patch_diff(k, now, wanted, part, &arena, &r, err);

        *ret_block = NULL;
        if (sent <= 0)
                return sent;
        if (b->flags & DECODE_OUTLINED &&
            object_decode_moved(now, slice_trim(r.body), ret_block) == OUTLINE_MOVED)
                return 0;
        return decode_block(now->kind, &r, b, ret_block, err);
}

struct delete_options {
        const char *uid, *rv; /* preconditions; NULL = none */
        const char *propagation;
        bool dry_run;
};

static int delete_path(struct kube_client *k, const struct kube_resource *resource, const char *ns,
                       const char *name, const struct delete_options *o, struct error *err)
{
        AUTO_BUF struct buf path, body;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        buf_init(&path, 8192);
        buf_init(&body, 8192);
        TRY(check_scope(resource, ns, name, err));
        kube_path(&path, resource, ns, name, NULL);
        buf_append_str(&body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"");
        if (o->dry_run)
                buf_append_str(&body, ",\"dryRun\":[\"All\"]");
        if (o->propagation)
                buf_printf(&body, ",\"propagationPolicy\":\"%s\"", o->propagation);
        if (o->uid || o->rv) {
                buf_append_str(&body, ",\"preconditions\":{");
                if (o->uid)
                        buf_printf(&body, "\"uid\":\"%s\"", o->uid);
                if (o->rv)
                        buf_printf(&body, "%s\"resourceVersion\":\"%s\"", o->uid ? "," : "", o->rv);
                buf_append_char(&body, '}');
        }
        buf_append_char(&body, '}');
        if (buf_status(&path, err, "request path") < 0 || buf_status(&body, err, "delete options") < 0)
                return err ? err->code : ERR_LIMIT;
        struct call c = { .verb = "delete",
                          .resource = resource->plural,
                          .method = "DELETE",
                          .path = path.data,
                          .content_type = JSON_TYPE,
                          .body = { body.data, body.len } };
        return perform(k, &c, &arena, &r, err);
}

int kube_delete(struct kube_client *k, const struct object *o, bool bound, struct error *err)
{
        struct kube_resource resource = kube_resource_of(o->kind);
        const struct delete_options options = { .uid = o->meta.uid,
                                                .rv = bound ? o->meta.resource_version : NULL };
        int r = delete_path(k, &resource, o->meta.ns, o->meta.name, &options, err);

        return r == ERR_NOT_FOUND ? 0 : r;
}

int kube_delete_named(struct kube_client *k, const struct kind *kind, const char *ns, const char *name,
                      const char *uid, struct error *err)
{
        struct kube_resource resource = kube_resource_of(kind);
        const struct delete_options options = { .uid = uid };
        int r = delete_path(k, &resource, ns, name, &options, err);

        return r == ERR_NOT_FOUND ? 0 : r;
}

int kube_list(struct kube_client *k, const struct kind *kind, const char *ns, const char *label_selector,
              enum decode_flags flags, struct intern_table *interns, int (*each)(void *ctx, struct object *o),
              void *ctx, char **ret_resource_version, struct error *err)
{
        struct kube_list_options o = {
                .ns = ns, .label_selector = label_selector, .flags = flags, .interns = interns
        };

        return kube_list_resource(k, kind, NULL, &o, each, ctx, ret_resource_version, err);
}

/* ---- pages ---- */

#define PAGE_AIM_BYTES (1u << 20) /* a page is held as a whole, and more than once for a moment */
#define PAGE_MANY 16              /* objects; so many may be larger than that */
#define BUSY_TRIES 10
#define BUSY_MS 1000       /* what a server that says 429 without a time is given */
#define BUSY_MOST_MS 60000 /* far less than a continue token lives */

/* How many objects the next page asks for: as many as by the last one's size make about PAGE_AIM_BYTES. What
 * does not fit at all is asked for again in halves, down to a single object, which may take as much as any
 * answer. */
struct paging {
        unsigned limit, most;
        bool begun; /* the first page is there */
};

static struct paging paging_of(const struct kube_client *k, unsigned first)
{
        unsigned most = k->page_most ? MIN(k->page_most, (unsigned)LIMIT_LIST_PAGE) : LIMIT_LIST_PAGE;

        return (struct paging){ .limit = first ? MIN(first, most) : most, .most = most };
}

static unsigned next_limit(const struct paging *p, size_t page_bytes)
{
        size_t aim = (size_t)p->limit * PAGE_AIM_BYTES / MAX(page_bytes, 1);

        if (p->limit <= PAGE_MANY && page_bytes >= LIMIT_LIST_PAGE_BYTES / 4)
                return p->limit;
        return (unsigned)MIN(MIN(MAX(aim, PAGE_MANY), (size_t)p->limit * 2), p->most);
}

static void page_request(const struct paging *p, struct call *c, struct buf *path)
{
        buf_printf(path, "%climit=%u", strchr(path->data, '?') ? '&' : '?', p->limit);
        c->max_answer = p->limit > 1 ? LIMIT_LIST_PAGE_BYTES : 0;
}

/* A server that is too busy says when to come again. What came of the list so far is not thrown away for
 * that: a large list would hardly ever end, and ask for more than one that waits. */
static int ask_for_page(struct kube_client *k, const struct paging *p, const struct call *c,
                        struct arena *arena, struct http_response *ret, struct error *err)
{
        /* Whoever waits but shortly for an answer is not kept longer by this. */
        int64_t most_ms = k->call_deadline_ms ? MIN(k->call_deadline_ms, BUSY_MOST_MS) : BUSY_MOST_MS;

        for (unsigned tries = 1;; tries++) {
                struct error own;
                int64_t wait_ms;
                int code;

                error_clear(&own);
                code = perform(k, c, arena, ret, &own);
                if (code >= 0)
                        return code;
                wait_ms = own.retry_after_ms ? (int64_t)own.retry_after_ms : BUSY_MS;
                if (code != ERR_TOO_MANY || !p->begun || tries == BUSY_TRIES || wait_ms > most_ms) {
                        if (err)
                                *err = own;
                        return code;
                }
                arena_reset(arena);
                if (fiber_sleep(k->world->loop, wait_ms) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
}

static int get_page(struct kube_client *k, struct paging *p, const char *path, struct call *c,
                    struct arena *arena, struct http_response *ret, struct error *err)
{
        for (;;) {
                AUTO_BUF struct buf full;
                int code;

                buf_init(&full, 65536);
                buf_append_str(&full, path);
                page_request(p, c, &full);
                TRY(buf_status(&full, err, "request path"));
                c->path = full.data;
                code = ask_for_page(k, p, c, arena, ret, err);
                if (code == 0)
                        p->limit = next_limit(p, ret->body.len);
                if (code != ERR_LIMIT || p->limit <= 1)
                        return code;
                p->limit /= 2;
                error_clear(err);
                arena_reset(arena);
        }
}

/* One page: decoded while its bytes are in the arena, then dropped. */
static int list_page(struct kube_client *k, const struct kind *kind, const struct kube_resource *resource,
                     const struct kube_list_options *o, struct paging *paging, const char *token,
                     int (*each)(void *, struct object *), void *ctx, char **ret_rv, char **ret_token,
                     struct error *err)
{
        AUTO_BUF struct buf path;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_sink sink = { each, o->undecodable, ctx };
        struct call c = { .verb = "list", .resource = resource->plural, .method = "GET" };
        struct http_response r;
        int code;

        buf_init(&path, 65536);
        kube_path(&path, resource, o->ns, NULL, NULL);
        add_query(&path, "labelSelector", o->label_selector);
        add_query(&path, "fieldSelector", o->field_selector);
        add_query(&path, "continue", token);
        TRY(buf_status(&path, err, "request path"));
        if (o->metadata_only)
                c.accept = KUBE_ACCEPT_METADATA_LIST;
        TRY(get_page(k, paging, path.data, &c, &arena, &r, err));
        code = object_decode_list(kind, r.body, o->flags, o->interns, &sink, ret_rv, ret_token, err);
        if (code < 0 && err && err->code) /* `each` may end it without a word */
                error_wrap(err, "list of %s", resource->plural);
        return code;
}

static int tell_page(const struct kube_list_options *o, void *ctx, const char *version, struct error *err)
{
        int code = o->page(ctx, version);

        return code < 0 ? error_set(err, code, "the list is given up") : 0;
}

int kube_list_resource(struct kube_client *k, const struct kind *kind, const struct kube_resource *resource,
                       const struct kube_list_options *o, int (*each)(void *, struct object *), void *ctx,
                       char **ret_resource_version, struct error *err)
{
        struct kube_resource own = resource ? *resource : kube_resource_of(kind);
        struct paging paging = paging_of(k, o->first_page);
        AUTO_FREE char *token = NULL;
        AUTO_FREE char *rv = NULL;

        do {
                char *next = NULL, *version = NULL;

                TRY(list_page(k, kind, &own, o, &paging, token, each, ctx, &version, &next, err));
                mem_free(token);
                token = next;
                paging.begun = true;
                mem_free(rv);
                rv = version;
                if (!text_empty(token) && o->page)
                        TRY(tell_page(o, ctx, rv, err));
        } while (!text_empty(token));
        if (ret_resource_version)
                *ret_resource_version = TAKE_PTR(rv);
        return 0;
}

/* ---- documents ---- */

static int parse_answer(const struct http_response *r, const char *what, json_t **ret, struct error *err)
{
        if (!ret)
                return 0;
        if (doc_parse(r->body, ret, err) < 0)
                return error_wrap(err, "answer of the API server about %s", what);
        return 0;
}

int kube_doc_get(struct kube_client *k, const struct kube_resource *resource, const char *ns,
                 const char *name, json_t **ret, struct error *err)
{
        AUTO_BUF struct buf path;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        buf_init(&path, 8192);
        TRY(check_scope(resource, ns, name, err));
        kube_path(&path, resource, ns, name, NULL);
        TRY(buf_status(&path, err, "request path"));
        struct call c = { .verb = "get", .resource = resource->plural, .method = "GET", .path = path.data };
        TRY(perform(k, &c, &arena, &r, err));
        return parse_answer(&r, resource->plural, ret, err);
}

static int append_page(json_t *items, const json_t *page, const struct kube_resource *r, struct error *err)
{
        json_t *more = doc_get_array(page, "items"), *item;
        AUTO_BUF struct buf api_version;
        size_t i;

        buf_init(&api_version, 512);
        if (!more)
                return error_set(err, ERR_INVALID, "list of %s: items: must be an array", r->plural);
        buf_printf(&api_version, "%s%s%s", r->group ? r->group : "", text_empty(r->group) ? "" : "/",
                   r->version);
        TRY(buf_status(&api_version, err, "apiVersion"));
        json_array_foreach(more, i, item) {
                /* Items of built-in lists carry no type of their own. */
                if (!doc_get(item, "kind") && (doc_set_string(item, "kind", r->kind) < 0 ||
                                               doc_set_string(item, "apiVersion", api_version.data) < 0))
                        return error_no_memory(err);
                if (json_array_append(items, item) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

int kube_doc_list(struct kube_client *k, const struct kube_resource *resource, const char *ns,
                  const char *label_selector, json_t **ret_items, struct error *err)
{
        AUTO_JSON json_t *items = json_array();
        struct paging paging = paging_of(k, 0);
        AUTO_FREE char *token = NULL;

        if (!items)
                return error_no_memory(err);
        do {
                AUTO_BUF struct buf path;
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *page = NULL;
                const char *next;
                struct http_response r;

                buf_init(&path, 65536);
                kube_path(&path, resource, ns, NULL, NULL);
                add_query(&path, "labelSelector", label_selector);
                add_query(&path, "continue", token);
                TRY(buf_status(&path, err, "request path"));
                struct call c = { .verb = "list", .resource = resource->plural, .method = "GET" };
                TRY(get_page(k, &paging, path.data, &c, &arena, &r, err));
                TRY(parse_answer(&r, resource->plural, &page, err));
                TRY(append_page(items, page, resource, err));
                next = doc_get_string(page, "metadata.continue");
                mem_free(token);
                token = NULL;
                if (!text_empty(next) && !(token = mem_strdup(next)))
                        return error_no_memory(err);
        } while (token);
        *ret_items = TAKE_PTR(items);
        return 0;
}

struct doc_write {
        const char *verb, *method, *content_type;
        const char *ns, *name;
        const struct kube_write *options;
        const json_t *body;
};

static int write_doc(struct kube_client *k, const struct kube_resource *resource, const struct doc_write *w,
                     json_t **ret, struct error *err)
{
        AUTO_BUF struct buf path, body;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        buf_init(&path, 8192);
        buf_init(&body, LIMIT_REQUEST_BODY_BYTES);
        TRY(check_scope(resource, w->ns, w->name, err));
        kube_path(&path, resource, w->ns, w->name, w->options ? w->options->subresource : NULL);
        add_write_query(&path, k, w->options);
        doc_write(w->body, &body);
        if (buf_status(&path, err, "request path") < 0 || buf_status(&body, err, resource->kind) < 0)
                return error_wrap(err, "%s %s %s", w->verb, resource->plural, w->name ? w->name : "");
        struct call c = { .verb = w->verb,
                          .resource = resource->plural,
                          .method = w->method,
                          .path = path.data,
                          .content_type = w->content_type,
                          .body = { body.data, body.len } };
        TRY(perform(k, &c, &arena, &r, err));
        return parse_answer(&r, resource->plural, ret, err);
}

int kube_doc_create(struct kube_client *k, const struct kube_resource *r, const char *ns, const json_t *doc,
                    const struct kube_write *o, json_t **ret, struct error *err)
{
        struct doc_write w = { "create", "POST", JSON_TYPE, ns, NULL, o, doc };

        return write_doc(k, r, &w, ret, err);
}

int kube_doc_update(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                    const json_t *doc, const struct kube_write *o, json_t **ret, struct error *err)
{
        struct doc_write w = { "update", "PUT", JSON_TYPE, ns, name, o, doc };

        return write_doc(k, r, &w, ret, err);
}

int kube_doc_patch(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                   enum kube_patch_type type, const json_t *patch, const struct kube_write *o, json_t **ret,
                   struct error *err)
{
        static const char *const types[] = { [KUBE_PATCH_MERGE] = "application/merge-patch+json",
                                             [KUBE_PATCH_JSON] = "application/json-patch+json",
                                             [KUBE_PATCH_STRATEGIC] =
                                                     "application/strategic-merge-patch+json",
                                             [KUBE_PATCH_APPLY] = "application/apply-patch+yaml" };
        struct doc_write w = {
                type == KUBE_PATCH_APPLY ? "apply" : "patch", "PATCH", types[type], ns, name, o, patch
        };

        return write_doc(k, r, &w, ret, err);
}

int kube_doc_delete(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                    const char *uid, const char *propagation, struct error *err)
{
        const struct delete_options options = { .uid = uid, .propagation = propagation };

        return delete_path(k, r, ns, name, &options, err);
}

int kube_doc_delete_read(struct kube_client *k, const struct kube_resource *r, const json_t *live,
                         const char *propagation, bool dry_run, struct error *err)
{
        const char *ns = r->namespaced ? doc_get_string(live, "metadata.namespace") : NULL;
        struct delete_options o = { .dry_run = dry_run, .propagation = propagation };
        const char *name = NULL;

        TRY(doc_need_string(live, "metadata.name", &name, err));
        TRY(doc_need_string(live, "metadata.uid", &o.uid, err));
        TRY(doc_need_string(live, "metadata.resourceVersion", &o.rv, err));
        return delete_path(k, r, ns, name, &o, err);
}
