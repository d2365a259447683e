/* metav1.Status answers, worded as kube-apiserver words them. */
#include <stdarg.h>
#include <stdio.h>

#include "e2e/devcluster/request.h"

static const char *format(struct arena *a, const char *fmt, va_list ap)
{
        char text[ERROR_TEXT_MAX * 4];
        vsnprintf(text, sizeof(text), fmt, ap);
        const char *copy = arena_strdup(a, text);
        return copy ? copy : "out of memory";
}

static int code_of(int http)
{
        switch (http) {
        case 401:
                return ERR_UNAUTHORIZED;
        case 403:
                return ERR_FORBIDDEN;
        case 404:
                return ERR_NOT_FOUND;
        case 409:
                return ERR_CONFLICT;
        case 410:
                return ERR_GONE;
        case 429:
                return ERR_TOO_MANY;
        default:
                return http >= 500 ? ERR_INTERNAL : ERR_INVALID;
        }
}

static int fail(struct request *rq, int code, const char *reason, const char *name, const char *message)
{
        rq->status = (struct api_status){ .code = code, .reason = reason, .message = message };
        if (name && rq->resource) {
                rq->status.name = arena_strdup(rq->arena, name);
                rq->status.group = rq->resource->group;
                rq->status.kind = rq->resource->plural;
        }
        return code_of(code);
}

int request_fail(struct request *rq, int code, const char *reason, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        const char *message = format(rq->arena, fmt, ap);
        va_end(ap);
        return fail(rq, code, reason, NULL, message);
}

static int fail_named(struct request *rq, int code, const char *reason, const char *name, const char *fmt,
                      ...)
{
        va_list ap;
        va_start(ap, fmt);
        const char *message = format(rq->arena, fmt, ap);
        va_end(ap);
        return fail(rq, code, reason, name, message);
}

int request_fail_not_found(struct request *rq, const char *name)
{
        return fail_named(rq, 404, "NotFound", name, "%s \"%s\" not found",
                          resource_qualified(rq->resource, rq->arena), name);
}

int request_fail_exists(struct request *rq, const char *name)
{
        return fail_named(rq, 409, "AlreadyExists", name, "%s \"%s\" already exists",
                          resource_qualified(rq->resource, rq->arena), name);
}

int request_fail_conflict(struct request *rq, const char *name, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        const char *why = format(rq->arena, fmt, ap);
        va_end(ap);
        return fail_named(rq, 409, "Conflict", name, "Operation cannot be fulfilled on %s \"%s\": %s",
                          resource_qualified(rq->resource, rq->arena), name, why);
}

int request_fail_forbidden(struct request *rq, const char *name, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        const char *why = format(rq->arena, fmt, ap);
        va_end(ap);
        const char *what = rq->resource ? resource_qualified(rq->resource, rq->arena) : "";
        if (text_empty(name))
                return fail_named(rq, 403, "Forbidden", "", "%s is forbidden: %s", what, why);
        return fail_named(rq, 403, "Forbidden", name, "%s \"%s\" is forbidden: %s", what, name, why);
}

int request_fail_bad(struct request *rq, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        const char *message = format(rq->arena, fmt, ap);
        va_end(ap);
        return fail(rq, 400, "BadRequest", NULL, message);
}

int request_fail_decoding(struct request *rq, const char *why)
{
        const char *kind = rq->resource->kind, *version = rq->resource_version->version;

        if (!why)
                return request_fail_memory(rq);
        (void)request_fail_bad(rq, "%s in version \"%s\" cannot be handled as a %s: %s", kind, version, kind,
                               why);
        rq->status.decoding = why;
        return ERR_INVALID;
}

int request_fail_method(struct request *rq, const char *method)
{
        (void)method;
        int r = fail(rq, 405, "MethodNotAllowed", NULL,
                     "the server does not allow this method on the requested resource");
        return r;
}

int request_fail_no_path(struct request *rq)
{
        return fail(rq, 404, "NotFound", NULL, "the server could not find the requested resource");
}

int request_fail_no_handler(struct request *rq)
{
        int r = fail(rq, 404, "NotFound", NULL, "404 page not found\n");
        rq->status.plain = true;
        return r;
}

int request_fail_memory(struct request *rq)
{
        return fail(rq, 503, "ServiceUnavailable", NULL, "the server is out of memory"), ERR_NO_MEMORY;
}

int request_fail_error(struct request *rq, const struct error *err)
{
        const char *text = arena_strdup(rq->arena, err->text);
        switch (err->code) {
        case ERR_NO_MEMORY:
                return request_fail_memory(rq);
        case ERR_LIMIT:
                return fail(rq, 413, "RequestEntityTooLarge", NULL, text);
        case ERR_INVALID:
                return fail(rq, 400, "BadRequest", NULL, text);
        default:
                return fail_named(rq, 500, "InternalError", NULL, "Internal error occurred: %s", err->text);
        }
}

int problem_add(struct schema_problems *p, const char *reason, const char *field, const char *fmt, ...)
{
        if (p->n == p->cap) {
                size_t cap = p->cap ? p->cap * 2 : 8;
                struct schema_problem *at = arena_calloc(p->arena, cap, sizeof(*at));
                if (!at)
                        return ERR_NO_MEMORY;
                if (p->n)
                        memcpy(at, p->at, p->n * sizeof(*at));
                p->at = at;
                p->cap = cap;
        }
        va_list ap;
        va_start(ap, fmt);
        const char *message = format(p->arena, fmt, ap);
        va_end(ap);
        const char *where = arena_strdup(p->arena, field);
        if (!where)
                return ERR_NO_MEMORY;
        p->at[p->n++] = (struct schema_problem){ .reason = reason, .field = where, .message = message };
        return 0;
}

static bool is_repeated(const struct schema_problems *p, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (text_equal(p->at[i].field, p->at[k].field) &&
                    text_equal(p->at[i].message, p->at[k].message))
                        return true;
        return false;
}

/* Equal problems are told once; one stands alone, several in brackets: as apimachinery's Aggregate prints. */
static int join_problems(const struct schema_problems *p, struct buf *b)
{
        size_t different = 0;
        for (size_t i = 0; i < p->n; i++) {
                if (is_repeated(p, i))
                        continue;
                TRY(buf_printf(b, "%s%s: %s", different++ ? ", " : "[", p->at[i].field, p->at[i].message));
        }
        if (different > 1)
                return buf_append_char(b, ']');
        memmove(b->data, b->data + 1, b->len--); /* the bracket, not the end */
        return 0;
}

int request_fail_invalid(struct request *rq, const char *name, const struct schema_problems *problems)
{
        const struct resource *r = rq->resource;
        AUTO_BUF struct buf b;
        buf_init(&b, 256u << 10);
        struct status_cause *causes = ARENA_NEW_ARRAY(rq->arena, struct status_cause, problems->n);
        if (join_problems(problems, &b) < 0 || !causes)
                return request_fail_memory(rq);
        for (size_t i = 0; i < problems->n; i++)
                causes[i] = (struct status_cause){ problems->at[i].reason, problems->at[i].message,
                                                   problems->at[i].field };
        const char *group = r->flags & RESOURCE_AS_CORE ? "" : r->group;
        const char *message = arena_printf(rq->arena, "%s%s%s \"%s\" is invalid: %s", r->kind,
                                           *group ? "." : "", group, name ? name : "", b.data);
        if (!message)
                return request_fail_memory(rq);
        rq->status = (struct api_status){ .code = 422,
                                          .reason = "Invalid",
                                          .message = message,
                                          .name = arena_strdup(rq->arena, name ? name : ""),
                                          .group = group,
                                          .kind = r->kind,
                                          .causes = causes,
                                          .n_causes = problems->n };
        return ERR_INVALID;
}

static json_t *causes_to_doc(const struct api_status *s)
{
        json_t *causes = json_array();
        for (size_t i = 0; causes && i < s->n_causes; i++) {
                const struct status_cause *c = &s->causes[i];
                json_t *cause = json_object();
                if (c->reason)
                        json_object_set_new(cause, "reason", json_string(c->reason));
                if (c->message)
                        json_object_set_new(cause, "message", json_string(c->message));
                if (!text_empty(c->field))
                        json_object_set_new(cause, "field", json_string(c->field));
                json_array_append_new(causes, cause);
        }
        return causes;
}

static json_t *details_to_doc(const struct api_status *s)
{
        json_t *details = json_object();
        if (!text_empty(s->name))
                json_object_set_new(details, "name", json_string(s->name));
        if (!text_empty(s->group))
                json_object_set_new(details, "group", json_string(s->group));
        if (!text_empty(s->kind))
                json_object_set_new(details, "kind", json_string(s->kind));
        if (!text_empty(s->uid))
                json_object_set_new(details, "uid", json_string(s->uid));
        if (s->n_causes)
                json_object_set_new(details, "causes", causes_to_doc(s));
        if (s->retry_after_seconds)
                json_object_set_new(details, "retryAfterSeconds", json_integer(s->retry_after_seconds));
        return details;
}

json_t *status_to_doc(const struct api_status *s)
{
        json_t *doc = json_object();
        if (!doc)
                return NULL;
        bool failed = s->code >= 400;
        json_object_set_new(doc, "kind", json_string("Status"));
        json_object_set_new(doc, "apiVersion", json_string("v1"));
        json_object_set_new(doc, "metadata",
                            s->continue_token ? json_pack("{s:s}", "continue", s->continue_token)
                                              : json_object());
        json_object_set_new(doc, "status", json_string(failed ? "Failure" : "Success"));
        if (s->message)
                json_object_set_new(doc, "message", json_string(s->message));
        if (s->reason)
                json_object_set_new(doc, "reason", json_string(s->reason));
        if (s->name || s->kind || s->n_causes || s->details || s->retry_after_seconds ||
            (failed && (s->code == 404 || s->code == 405) && !s->name))
                json_object_set_new(doc, "details", details_to_doc(s));
        if (failed)
                json_object_set_new(doc, "code", json_integer(s->code));
        return doc;
}

json_t *status_success(struct request *rq, const char *name, const char *uid)
{
        struct api_status s = { .code = 200,
                                .name = name,
                                .group = rq->resource->group,
                                .kind = rq->resource->plural,
                                .uid = uid };
        return status_to_doc(&s);
}
