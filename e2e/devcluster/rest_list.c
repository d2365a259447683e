#include <inttypes.h>

#include "common/base/limits.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/options.h"
#include "e2e/devcluster/rest_read.h"
#include "e2e/devcluster/rest_write.h"
#include "e2e/devcluster/selector.h"
#include "e2e/devcluster/snapshot.h"
#include "e2e/devcluster/table.h"

int rest_version_parameter(struct request *rq, uint64_t *ret, bool *ret_given)
{
        const char *text = http_query_get(rq->x, "resourceVersion");
        *ret_given = !text_empty(text);
        *ret = 0;
        if (*ret_given && !text_parse_u64(text, ret))
                return request_fail(rq, 400, "BadRequest",
                                    "invalid resource version: resourceVersion: Invalid value: \"%s\": "
                                    "strconv.ParseUint: parsing \"%s\": invalid syntax",
                                    text, text);
        return 0;
}

int rest_fail_version(struct request *rq)
{
        const char *text = http_query_get(rq->x, "resourceVersion");
        return request_fail(rq, 500, NULL,
                            "resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": "
                            "invalid syntax",
                            text, text);
}

int fail_expired(struct request *rq, uint64_t rv)
{
        return request_fail(rq, 410, "Expired", "too old resource version: %" PRIu64 " (%" PRIu64 ")", rv,
                            rq->cluster->compacted_rv);
}

static int fail_too_large(struct request *rq, uint64_t rv)
{
        (void)request_fail(rq, 504, "Timeout", "Too large resource version: %" PRIu64 ", current: %" PRIu64,
                           rv, rq->cluster->rv);
        struct status_cause *cause = ARENA_NEW(rq->arena, struct status_cause);
        if (cause) {
                *cause = (struct status_cause){ "ResourceVersionTooLarge", "Too large resource version",
                                                NULL };
                rq->status.causes = cause;
                rq->status.n_causes = 1;
                rq->status.retry_after_seconds = 1;
        }
        return ERR_RETRY;
}

/* No container runs, so none has said anything; kubectl logs shall tell that rather than fail. */
static int reply_log(struct request *rq)
{
        (void)http_reply(rq->x, 200, "text/plain", SLICE("devcluster: this pod is simulated\n"), NULL);
        return 0;
}

int rest_get(struct request *rq)
{
        if (text_equal(rq->subresource, "scale")) {
                AUTO_JSON json_t *scale = NULL;
                TRY(scale_get(rq, &scale));
                return reply_doc(rq, 200, scale);
        }
        uint64_t rv;
        bool given;
        if (rest_version_parameter(rq, &rv, &given) < 0)
                return rest_fail_version(rq);
        if (rv > rq->cluster->rv)
                return fail_too_large(rq, rv);
        struct blob *b = api_store_get(request_table(rq, false), rq->ns, rq->name);
        if (!b)
                return request_fail_not_found(rq, rq->name);
        if (text_equal(rq->subresource, "log"))
                return reply_log(rq);
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        if (render_blob(rq, b, &out) < 0)
                return request_fail_memory(rq);
        return reply_text(rq, 200, (struct slice){ out.data, out.len });
}

/* ---- pages ---- */

struct page {
        uint64_t rv;                       /* the list's resourceVersion */
        int64_t limit;                     /* 0 = all */
        const char *after_ns, *after_name; /* start behind this key; NULL = at the beginning */
        struct selector selector;
        VEC(struct blob *) items; /* references */
        const char *continue_token;
        int64_t remaining;
};

static void free_page(struct page *p)
{
        for (size_t i = 0; i < p->items.n; i++)
                blob_unref(p->items.at[i]);
        vec_free(&p->items);
}

/* Token: base64 of version, namespace and name, a line each; only we read it. Version 0: go on in the present
 * state. */
static int write_token(struct request *rq, uint64_t rv, const char *ns, const char *name, const char **ret)
{
        const char *text = arena_printf(rq->arena, "%" PRIu64 "\n%s\n%s", rv, ns, name);
        char *token = text ? arena_alloc(rq->arena, text_base64_size(strlen(text))) : NULL;
        if (!token)
                return request_fail_memory(rq);
        text_base64_encode(text, strlen(text), token);
        *ret = token;
        return 0;
}

static int make_token(struct request *rq, struct page *p, const struct blob *last)
{
        return write_token(rq, p->rv, blob_ns(last), blob_name(last), &p->continue_token);
}

/* Comes with a token for those who would rather go on than begin anew. */
static int fail_old_token(struct request *rq, const struct page *p)
{
        const char *token = NULL;
        TRY(write_token(rq, 0, p->after_ns, p->after_name, &token));
        (void)request_fail(
                rq, 410, "Expired",
                "The provided continue parameter is too old to display a consistent list result. You can "
                "start a new list without the continue parameter, or use the continue token in this response "
                "to retrieve the remainder of the results. Continuing with the provided token results in an "
                "inconsistent list - objects that were created, modified, or deleted between the time the "
                "first chunk was returned and now may show up in the list.");
        rq->status.continue_token = token;
        return ERR_GONE;
}

static int read_token(struct request *rq, const char *token, struct page *p)
{
        size_t cap = strlen(token) + 4, len = 0;
        char *text = arena_alloc(rq->arena, cap + 1);
        if (!text)
                return request_fail_memory(rq);
        struct slice rv, ns, rest;
        uint64_t version = 0;
        bool good = text_base64_decode(slice_of(token), text, cap, &len, false) == 0;
        rest = (struct slice){ text, len };
        good = good && slice_cut(&rest, '\n', &rv) && slice_cut(&rest, '\n', &ns);
        const char *rv_text = good ? arena_strndup(rq->arena, rv.data, rv.len) : NULL;
        if (!good || !rv_text || !text_parse_u64(rv_text, &version))
                return request_fail_bad(rq,
                                        "invalid continue token: continue key is not valid: illegal base64 "
                                        "data at input byte %zu",
                                        strlen(token) / 4 * 4);
        p->rv = version ? version : rq->cluster->rv;
        p->after_ns = arena_strndup(rq->arena, ns.data, ns.len);
        p->after_name = arena_strndup(rq->arena, rest.data, rest.len);
        if (!p->after_ns || !p->after_name)
                return request_fail_memory(rq);
        return p->rv >= rq->cluster->compacted_rv ? 0 : fail_old_token(rq, p);
}

/* Whether the list is asked for exactly as it was at a version. */
static bool wants_exact(const struct page *p, const char *match, uint64_t rv)
{
        return text_equal(match, "Exact") || (text_empty(match) && rv && p->limit);
}

static int read_page_options(struct request *rq, struct page *p)
{
        const char *limit = http_query_get(rq->x, "limit"), *token = http_query_get(rq->x, "continue");
        const char *match = http_query_get(rq->x, "resourceVersionMatch");
        uint64_t rv;
        bool given;
        TRY(selector_parse(rq, http_query_get(rq->x, "labelSelector"), http_query_get(rq->x, "fieldSelector"),
                           &p->selector));
        TRY(options_check_list(rq, false));
        if (!text_empty(limit))
                (void)text_parse_i64(limit, &p->limit);
        p->limit = MAX(p->limit, 0);
        TRY(rest_version_parameter(rq, &rv, &given));
        p->rv = rq->cluster->rv;
        if (!text_empty(token))
                return given && rv
                               ? request_fail_bad(
                                         rq, "specifying resource version is not allowed when using continue")
                               : read_token(rq, token, p);
        if (given && rv > rq->cluster->rv)
                return fail_too_large(rq, rv);
        if (given && rv == 0) /* any state will do: kube-apiserver answers from its cache, and whole */
                p->limit = 0;
        if (!wants_exact(p, match, rv))
                return 0;
        p->rv = rv;
        return rv < rq->cluster->compacted_rv ? fail_expired(rq, rv) : 0;
}

/* The first item a page may have; where the last page ended, it is skipped. */
static int begin(struct request *rq, struct page *p, struct snapshot *s)
{
        const char *ns = p->after_name ? p->after_ns : rq->ns ? rq->ns : "";
        if (snapshot_begin(s, request_table(rq, false), p->rv, ns, p->after_name ? p->after_name : "") < 0)
                return request_fail_memory(rq);
        return 0;
}

static bool is_behind_last(const struct page *p, const struct blob *b)
{
        return !p->after_name || strcmp(blob_ns(b), p->after_ns) != 0 ||
               strcmp(blob_name(b), p->after_name) != 0;
}

static bool is_in_namespace(const struct request *rq, const struct blob *b)
{
        return !rq->ns || strcmp(blob_ns(b), rq->ns) == 0;
}

static int fill(struct request *rq, struct page *p, struct snapshot *s)
{
        for (struct blob *b; (b = snapshot_next(s)) && is_in_namespace(rq, b);) {
                if (!is_behind_last(p, b) || !selector_matches(rq, &p->selector, b))
                        continue;
                if (p->limit && (int64_t)p->items.n == p->limit) {
                        p->remaining = 1;
                        return make_token(rq, p, p->items.at[p->items.n - 1]);
                }
                if (vec_push(&p->items, b) < 0)
                        return request_fail_memory(rq);
                blob_ref(b);
        }
        return 0;
}

static int collect(struct request *rq, struct page *p)
{
        CLEANUP(snapshot_end) struct snapshot s = { 0 };
        TRY(begin(rq, p, &s));
        TRY(fill(rq, p, &s));
        /* As kube-apiserver: only told when no selector makes the count a guess. */
        bool plain = !p->selector.n_labels && !p->selector.n_fields;
        if (!p->continue_token || !plain) {
                p->remaining = 0;
                return 0;
        }
        for (const struct blob *b; (b = snapshot_next(&s)) && is_in_namespace(rq, b);)
                p->remaining++;
        return 0;
}

#define STREAM_ABOVE (1u << 20)
#define DRAIN_MS 60000

static int flush(struct request *rq, struct buf *out, bool *streaming)
{
        struct http_header at[] = { { "Content-Type", "application/json" },
                                    { "Cache-Control", "no-cache, private" } };
        struct http_headers headers = { at, ARRAY_LEN(at) };
        if (!*streaming && http_begin(rq->x, 200, &headers) < 0)
                return ERR_CLOSED;
        *streaming = true;
        TRY(http_write(rq->x, out->data, out->len));
        buf_clear(out);
        return rq->x->ops->drain(rq->x, STREAM_ABOVE, loop_now_ms(rq->devcluster->loop) + DRAIN_MS);
}

static int write_page(struct request *rq, struct page *p)
{
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        bool streaming = false;
        char rv[24];
        snprintf(rv, sizeof(rv), "%" PRIu64, p->rv);
        if (render_list_begin(rq, rv, p->continue_token, p->remaining, &out) < 0)
                return request_fail_memory(rq);
        for (size_t i = 0; i < p->items.n; i++) {
                if (i)
                        (void)buf_append_char(&out, ',');
                if (render_item(rq, p->items.at[i], &out) < 0 || out.failed) {
                        if (!streaming)
                                return request_fail_memory(rq);
                        return 0; /* the stream ends short: the client sees broken JSON, not a wrong list */
                }
                if (!rq->yaml && out.len > STREAM_ABOVE && flush(rq, &out, &streaming) < 0)
                        return 0;
        }
        if (render_list_end(rq, &out) < 0)
                return streaming ? 0 : request_fail_memory(rq);
        if (!streaming)
                return reply_text(rq, 200, (struct slice){ out.data, out.len });
        if (flush(rq, &out, &streaming) == 0)
                (void)http_end(rq->x);
        return 0;
}

int rest_list(struct request *rq)
{
        struct error err = { 0 };
        CLEANUP(free_page) struct page p = { 0 };
        TRY(read_page_options(rq, &p));
        TRY(collect(rq, &p));
        if (api_store_wait(rq->devcluster->store, &err) < 0) /* of what was just seen */
                return request_fail_error(rq, &err);
        return write_page(rq, &p);
}

/* ---- deletecollection ---- */

int rest_delete_collection(struct request *rq)
{
        CLEANUP(free_page) struct page p = { 0 };
        TRY(read_page_options(rq, &p));
        TRY(collect(rq, &p));
        const char *propagation = http_query_get(rq->x, "propagationPolicy");
        struct delete_options o = { .propagation = propagation, .grace_seconds = -1, .dry_run = rq->dry_run };
        for (size_t i = 0; i < p.items.n; i++) {
                AUTO_JSON json_t *left = NULL;
                const char *uid;
                int r = rest_delete(rq, blob_ns(p.items.at[i]), blob_name(p.items.at[i]), &o, &left, &uid);
                if (r < 0 && r != ERR_NOT_FOUND)
                        return r;
        }
        struct error err = { 0 };
        if (api_store_wait(rq->devcluster->store, &err) < 0)
                return request_fail_error(rq, &err);
        p.rv = rq->cluster->rv;
        p.continue_token = NULL;
        return write_page(rq, &p);
}
