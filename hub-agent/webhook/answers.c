/* How rules answer: spec/membership-webhooks-charts.md 4.1. */
#include "common/base/limits.h"
#include "hub-agent/webhook/rules.h"

#define FAULTS_TOLD 100 /* of one object; more are counted */

int admission_answer_with(struct admission_call *c, bool allowed, int code, const char *reason,
                          const char *message)
{
        char *text = (char *)(uintptr_t)message;

        if (!message)
                return error_no_memory(c->err);
        if (strlen(message) >= LIMIT_ADMISSION_MESSAGE_BYTES) {
                text = arena_alloc(c->arena, LIMIT_ADMISSION_MESSAGE_BYTES);
                if (!text)
                        return error_no_memory(c->err);
                text_shorten(message, text, LIMIT_ADMISSION_MESSAGE_BYTES);
        }
        c->answer.allowed = allowed;
        c->answer.code = code;
        c->answer.reason = reason;
        c->answer.message = text;
        return 0;
}

int admission_allow(struct admission_call *c)
{
        c->answer.allowed = true;
        c->answer.code = 200;
        return 0;
}

int admission_fail(struct admission_call *c, int code, const struct error *why)
{
        if (why->code == ERR_CANCELLED || why->code == ERR_NO_MEMORY) {
                if (c->err && c->err != why)
                        *c->err = *why;
                return why->code;
        }
        return admission_answer_with(c, false, code, NULL, arena_strdup(c->arena, why->text));
}

const char *admission_operation_name(enum admission_operation op)
{
        switch (op) {
        case ADMISSION_CREATE:
                return "CREATE";
        case ADMISSION_UPDATE:
                return "UPDATE";
        case ADMISSION_DELETE:
                return "DELETE";
        case ADMISSION_CONNECT:
                return "CONNECT";
        }
        return "";
}

bool admission_cannot_decode(struct admission_call *c, const struct kind *kind, const json_t *doc,
                             const struct object **ret, int *ret_code)
{
        struct error why = { 0 };
        struct object *o;

        if (!doc)
                error_set(&why, ERR_INVALID, "there is no content to decode");
        else if (object_from_doc(kind, doc, c->arena, &o, &why) == 0) {
                *ret = o;
                return false;
        }
        *ret_code = admission_fail(c, 400, &why);
        return true;
}

bool admission_keeps_spec(const struct admission_call *c)
{
        const json_t *now = json_object_get(c->request.object, "spec");
        const json_t *before = json_object_get(c->request.old_object, "spec");

        return c->request.operation == ADMISSION_UPDATE && now && before && doc_equal(now, before);
}

bool is_reserved_namespace(const char *ns)
{
        return text_starts_with(ns, NAMESPACE_RESERVED_PREFIX_FLEET) ||
               text_starts_with(ns, NAMESPACE_RESERVED_PREFIX_KUBE);
}

/* ---- faults ---- */

static bool is_told(const struct faults *f, const char *text)
{
        for (size_t i = 0; i < f->n; i++)
                if (text_equal(f->at[i], text))
                        return true;
        return false;
}

void fault_add(struct faults *f, const char *text)
{
        if (!text || (!f->at && !(f->at = ARENA_NEW_ARRAY(f->arena, const char *, FAULTS_TOLD)))) {
                f->no_memory = true;
                return;
        }
        if (is_told(f, text))
                return;
        if (f->n == FAULTS_TOLD)
                f->untold++;
        else
                f->at[f->n++] = text;
}

static size_t joined_length(const struct faults *f)
{
        size_t n = sizeof("[, and  more]") + 20;

        for (size_t i = 0; i < f->n; i++)
                n += strlen(f->at[i]) + sizeof(", ");
        return n;
}

const char *faults_text(const struct faults *f)
{
        AUTO_BUF struct buf b;

        buf_init(&b, joined_length(f));
        if (f->no_memory)
                return NULL;
        if (f->n == 1 && !f->untold)
                return f->at[0];
        buf_append_char(&b, '[');
        for (size_t i = 0; i < f->n; i++) {
                buf_append_str(&b, i ? ", " : "");
                buf_append_str(&b, f->at[i]);
        }
        if (f->untold)
                buf_printf(&b, ", and %zu more", f->untold);
        buf_append_char(&b, ']');
        return b.failed ? NULL : arena_strndup(f->arena, b.data, b.len);
}

int admission_deny_faults(struct admission_call *c, const char *head, const struct faults *f)
{
        const char *text = faults_text(f);

        return text ? ADMISSION_DENY(c, "%s%s", head, text) : error_no_memory(c->err);
}

const char *text_made(const char *text, struct faults *f)
{
        f->no_memory = f->no_memory || !text;
        return or_empty(text);
}

const char *texts_joined(const char *const *texts, size_t n, struct faults *f)
{
        const char *text = n ? texts[0] : "";

        for (size_t i = 1; i < n && text; i++)
                text = arena_printf(f->arena, "%s; %s", text, texts[i]);
        return text_made(text, f);
}

bool seen_before(struct map *seen, const char *text, struct faults *f)
{
        if (map_has(seen, text))
                return true;
        if (map_put(seen, text, seen) < 0)
                f->no_memory = true;
        return false;
}
