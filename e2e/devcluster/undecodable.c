#include "e2e/devcluster/undecodable.h"

#include "common/base/limits.h"
#include "e2e/devcluster/meta.h"

/* ---- the patched object as text ---- */

static const char *words_of(const json_t *operation)
{
        const char *path = json_string_value(json_object_get(operation, "path"));

        return path ? path : "";
}

static bool touches_metadata(enum patch_form form, const json_t *patch)
{
        json_t *operation;
        size_t i;

        if (form != PATCH_JSON)
                return json_object_get(patch, "metadata") != NULL;
        json_array_foreach((json_t *)patch, i, operation)
                if (text_starts_with(words_of(operation), "/metadata"))
                        return true;
        return false;
}

/* Members of `doc` before or behind `key` in order of their names; {} around them. */
static int write_side(const json_t *doc, const char *key, bool behind, struct buf *b)
{
        AUTO_JSON json_t *side = json_object();
        const char *name;
        json_t *value;

        if (!side)
                return ERR_NO_MEMORY;
        json_object_foreach((json_t *)doc, name, value) {
                int order = strcmp(name, key);
                if ((behind ? order > 0 : order < 0) && json_object_set(side, name, value) < 0)
                        return ERR_NO_MEMORY;
        }
        return doc_write_canonical(side, b);
}

/* The members sorted, but what `key` holds is written by a function. */
static int write_around(const json_t *doc, const char *key, int (*write)(const json_t *, struct buf *),
                        struct buf *b)
{
        const json_t *apart = json_object_get(doc, key);
        size_t begin = b->len, behind;

        if (!apart)
                return doc_write_canonical(doc, b);
        TRY(write_side(doc, key, false, b));
        b->len--; /* the closing brace; what is appended ends the text again */
        TRY(buf_printf(b, "%s\"%s\":", b->len > begin + 1 ? "," : "", key));
        TRY(write(apart, b));
        behind = b->len;
        TRY(write_side(doc, key, true, b));
        if (b->len - behind > 2) {
                b->data[behind] = ',';
        } else { /* {} */
                b->data[behind] = '}';
                b->data[--b->len] = '\0';
        }
        return 0;
}

static int write_sorted_metadata(const json_t *meta, struct buf *b)
{
        return write_around(meta, "managedFields", doc_write, b);
}

/* Where the patch went through, members are sorted; elsewhere they stand as in the Go struct, which is known
 * of metadata. */
static int write_patched(const json_t *doc, bool sorted, struct buf *b)
{
        return write_around(doc, "metadata", sorted ? write_sorted_metadata : meta_write_as_go, b);
}

static int write_value(const struct request *rq, enum patch_form form, const json_t *patch,
                       const json_t *patched, struct buf *b)
{
        if (form == PATCH_STRATEGIC)
                return doc_write_go(patch, b);
        if (rq->resource->custom) /* a map all through */
                return doc_write_canonical(patched, b);
        return write_patched(patched, touches_metadata(form, patch), b);
}

/* ---- why a strategic patch's result does not convert: Go's converter, not its decoder, reads it ---- */

static const char *kind_of(const json_t *v)
{
        static const char *const names[] = {
                [JSON_OBJECT] = "map",    [JSON_ARRAY] = "slice",  [JSON_STRING] = "string",
                [JSON_INTEGER] = "int64", [JSON_REAL] = "float64", [JSON_TRUE] = "bool",
                [JSON_FALSE] = "bool",    [JSON_NULL] = "nil",
        };
        return names[json_typeof(v)];
}

static const char *cannot_restore(const struct schema *s, const json_t *v, struct arena *arena);

static const char *cannot_restore_members(const struct schema *s, const json_t *v, struct arena *arena)
{
        const char *key, *why = NULL;
        json_t *member;
        size_t i;

        if (json_is_array(v) && s->items) {
                json_array_foreach((json_t *)v, i, member)
                        why = why ? why : cannot_restore(s->items, member, arena);
                return why;
        }
        json_object_foreach((json_t *)v, key, member) {
                const struct schema *p = schema_property(s, key);
                if (p && !why)
                        why = cannot_restore(p, member, arena);
        }
        return why;
}

static const char *go_scalar(const struct schema *s)
{
        return s->type == SCHEMA_STRING    ? "string"
               : s->type == SCHEMA_BOOLEAN ? "bool"
               : s->type == SCHEMA_NUMBER  ? "float64"
               : s->format                 ? s->format
                                           : "int32";
}

/* Only between numbers, and from them to text, does Go know a conversion that could fail. */
static const char *cannot_convert(const struct schema *s, const json_t *v, struct arena *arena)
{
        bool fits = s->type == SCHEMA_STRING    ? json_is_string(v)
                    : s->type == SCHEMA_BOOLEAN ? json_is_boolean(v)
                    : s->type == SCHEMA_INTEGER ? json_is_integer(v)
                                                : json_is_number(v);

        if (fits)
                return NULL;
        if ((s->type == SCHEMA_STRING && json_is_integer(v)) ||
            (s->type == SCHEMA_INTEGER && json_is_real(v)))
                return arena_printf(arena, "cannot convert %s to %s", kind_of(v), go_scalar(s));
        return arena_printf(arena, "unrecognized type: %s", go_scalar(s));
}

static const char *cannot_restore(const struct schema *s, const json_t *v, struct arena *arena)
{
        if (json_is_null(v) || s->preserve_unknown)
                return NULL;
        if (s->type == SCHEMA_ARRAY && !json_is_array(v))
                return arena_printf(arena, "cannot restore slice from %s", kind_of(v));
        if (s->type == SCHEMA_OBJECT && !json_is_object(v))
                return arena_printf(arena, "cannot restore %s %s",
                                    s->additional ? "map from" : "struct from:", kind_of(v));
        /* Quantities and times read themselves; bytes are a slice. */
        if (s->type >= SCHEMA_STRING && !s->ref && !s->int_or_string && !text_equal(s->format, "byte"))
                return cannot_convert(s, v, arena);
        return cannot_restore_members(s, v, arena);
}

static const char *reason_of(struct request *rq, enum patch_form form, const json_t *patched)
{
        const struct schema *s = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        const char *why = form == PATCH_STRATEGIC && s ? cannot_restore(s, patched, rq->arena) : NULL;

        if (!why && form == PATCH_STRATEGIC && text_starts_with(rq->status.decoding, "illegal base64"))
                why = arena_printf(rq->arena, "error decoding from json: %s", rq->status.decoding);
        return why ? why : rq->status.decoding;
}

int fail_undecodable(struct request *rq, enum patch_form form, const json_t *patch, const json_t *patched)
{
        struct status_cause *cause = ARENA_NEW(rq->arena, struct status_cause);
        const char *why = reason_of(rq, form, patched);
        AUTO_BUF struct buf value, quoted;

        buf_init(&value, LIMIT_RESPONSE_BYTES);
        buf_init(&quoted, LIMIT_RESPONSE_BYTES);
        if (!cause || write_value(rq, form, patch, patched, &value) < 0 ||
            buf_append_json_string(&quoted, value.data, value.len) < 0)
                return request_fail_memory(rq);
        *cause = (struct status_cause){ "FieldValueInvalid",
                                        arena_printf(rq->arena, "Invalid value: %s: %s", quoted.data, why),
                                        "patch" };
        rq->status = (struct api_status){
                .code = 422,
                .reason = "Invalid",
                .message = arena_printf(rq->arena, " \"\" is invalid: patch: %s", cause->message),
                .causes = cause,
                .n_causes = 1,
        };
        return rq->status.message && cause->message ? ERR_INVALID : request_fail_memory(rq);
}
