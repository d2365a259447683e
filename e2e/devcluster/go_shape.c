#include "e2e/devcluster/go_shape.h"

#include "common/base/timefmt.h"

/* ---- zero values and empty ones ---- */

static bool is_struct(const struct schema *s)
{
        return s->type == SCHEMA_OBJECT && s->n_properties > 0;
}

static json_t *zero_value(const struct schema *s, enum schema_presence presence)
{
        if (presence == SCHEMA_ALWAYS_NULL)
                return json_null();
        switch (s->type) {
        case SCHEMA_STRING:
                return json_string("");
        case SCHEMA_INTEGER:
        case SCHEMA_NUMBER:
                return json_integer(0);
        case SCHEMA_BOOLEAN:
                return json_false();
        default:
                return json_object();
        }
}

static bool is_zero(const json_t *v)
{
        return json_is_null(v) || json_is_false(v) || (json_is_string(v) && json_string_length(v) == 0) ||
               (json_is_integer(v) && json_integer_value(v) == 0);
}

static bool is_empty(const struct schema *s, const json_t *v)
{
        return (json_is_array(v) && s->type == SCHEMA_ARRAY && json_array_size(v) == 0) ||
               (json_is_object(v) && s->additional && json_object_size(v) == 0);
}

/* Whether Go leaves the value out: null, an empty list or map, and where the field says so also zero. */
static bool is_left_out(const struct schema_property *p, const json_t *v)
{
        const struct schema *s = p->schema;

        if (p->presence == SCHEMA_ALWAYS_NULL || p->presence == SCHEMA_ALWAYS_ZERO)
                return false;
        if (json_is_null(v) || (p->presence == SCHEMA_NOT_WHEN_ZERO && is_zero(v)))
                return true;
        return is_empty(s, v);
}

static int shape_field(const struct schema_property *p, json_t *doc)
{
        json_t *v = json_object_get(doc, p->name);
        bool always = p->presence == SCHEMA_ALWAYS_ZERO || p->presence == SCHEMA_ALWAYS_NULL;

        if (v && is_left_out(p, v))
                return json_object_del(doc, p->name), 0;
        if (always && (!v || (json_is_null(v) && p->presence == SCHEMA_ALWAYS_ZERO))) {
                v = zero_value(p->schema, p->presence);
                if (json_object_set_new(doc, p->name, v) < 0)
                        return ERR_NO_MEMORY;
        }
        return v ? go_shape(p->schema, v) : 0;
}

int go_shape(const struct schema *s, json_t *doc)
{
        const char *key;
        json_t *v;
        size_t i;

        if (json_is_array(doc) && s->items)
                json_array_foreach(doc, i, v)
                        TRY(go_shape(s->items, v));
        if (!json_is_object(doc))
                return 0;
        for (i = 0; i < s->n_properties; i++)
                TRY(shape_field(&s->properties[i], doc));
        if (s->additional)
                json_object_foreach(doc, key, v)
                        TRY(go_shape(s->additional, v));
        return 0;
}

int go_store(const struct schema *s, json_t *doc)
{
        json_t *v;
        size_t i;

        if (json_is_array(doc) && s->items)
                json_array_foreach(doc, i, v)
                        TRY(go_store(s->items, v));
        if (!json_is_object(doc))
                return 0;
        for (i = 0; i < s->n_properties; i++) {
                const struct schema_property *p = &s->properties[i];

                v = json_object_get(doc, p->name);
                if (v && p->presence == SCHEMA_ALWAYS_NULL && is_empty(p->schema, v))
                        TRY(json_object_set_new(doc, p->name, json_null()) < 0 ? ERR_NO_MEMORY : 0);
                else if (json_is_object(v) || json_is_array(v))
                        TRY(go_store(p->schema, v));
        }
        return 0;
}

json_t *go_zero(const struct schema *s)
{
        json_t *doc = json_object();

        if (doc && go_shape(s, doc) < 0) {
                json_decref(doc);
                return NULL;
        }
        return doc;
}

/* ---- types ---- */

struct decoder {
        struct request *rq;
        const char *owner; /* name of the struct the field is in */
        const char *path;  /* "spec.template.spec.containers.image" */
};

static const char *last_parts(const char *ref, size_t parts)
{
        const char *at = ref + strlen(ref);

        for (; at > ref; at--)
                if (at[-1] == '.' && --parts == 0)
                        break;
        return at;
}

static const char *go_type(const struct schema *s, struct arena *a)
{
        const char *inner;

        if (s->ref)
                return last_parts(s->ref, 2);
        switch (s->type) {
        case SCHEMA_STRING:
                return text_equal(s->format, "byte") ? "[]uint8" : "string";
        case SCHEMA_INTEGER:
                return s->format ? s->format : "int32";
        case SCHEMA_NUMBER:
                return "float64";
        case SCHEMA_BOOLEAN:
                return "bool";
        default:
                break;
        }
        inner = s->items ? go_type(s->items, a) : s->additional ? go_type(s->additional, a) : NULL;
        return inner ? arena_printf(a, "%s%s", s->items ? "[]" : "map[string]", inner) : "object";
}

static const char *given_word(const json_t *v, const struct schema *s, struct arena *a)
{
        if (json_is_integer(v) && s->type == SCHEMA_INTEGER)
                return arena_printf(a, "number %lld", (long long)json_integer_value(v));
        if (json_is_real(v) && s->type == SCHEMA_INTEGER)
                return arena_printf(a, "number %.17g", json_real_value(v));
        return json_is_object(v)    ? "object"
               : json_is_array(v)   ? "array"
               : json_is_string(v)  ? "string"
               : json_is_boolean(v) ? "bool"
                                    : "number";
}

static int fail_decoding(struct decoder *d, const char *why)
{
        return request_fail_decoding(d->rq, why);
}

static int fail_type(struct decoder *d, const struct schema *s, const json_t *v)
{
        struct arena *a = d->rq->arena;

        return fail_decoding(
                d, arena_printf(a, "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                                given_word(v, s, a), d->owner, d->path, go_type(s, a)));
}

static bool fits(const struct schema *s, const json_t *v)
{
        bool special = s->ref && !is_struct(s); /* quantities, times: a form of their own */

        switch (s->type) {
        case SCHEMA_STRING:
                return json_is_string(v) || special;
        case SCHEMA_INTEGER:
                return json_is_integer(v) &&
                       (text_equal(s->format, "int64") ||
                        (json_integer_value(v) >= INT32_MIN && json_integer_value(v) <= INT32_MAX));
        case SCHEMA_NUMBER:
                return json_is_number(v);
        case SCHEMA_BOOLEAN:
                return json_is_boolean(v);
        case SCHEMA_ARRAY:
                return json_is_array(v);
        case SCHEMA_OBJECT:
                return json_is_object(v) || s->preserve_unknown;
        default:
                return true;
        }
}

static int check_bytes(struct decoder *d, const json_t *v)
{
        const char *text = json_string_value(v);
        size_t n = json_string_length(v), got, at = 0;
        void *room = arena_alloc(d->rq->arena, n + 1);

        if (!room)
                return request_fail_memory(d->rq);
        if (text_base64_decode(slice_of(text), room, n + 1, &got, false) == 0)
                return 0;
        while (at < n && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", text[at]))
                at++;
        if (at == n) /* it ends within a group of four: the group is named */
                at -= n % 4;
        return fail_decoding(d, arena_printf(d->rq->arena, "illegal base64 data at input byte %zu", at));
}

static int check_quantity(struct decoder *d, const json_t *v);
static int check_value(struct decoder *d, const struct schema *s, json_t *v);

/* Times are read by a layout; what does not begin with a year names the first part. */
static int check_time(struct decoder *d, const json_t *v, bool micro)
{
        const char *text = json_string_value(v),
                   *layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
        int64_t unused;

        if (!text)
                return fail_decoding(d, arena_printf(d->rq->arena,
                                                     "json: cannot unmarshal %s into Go value of type string",
                                                     json_is_number(v)   ? "number"
                                                     : json_is_object(v) ? "object"
                                                                         : "array"));
        if (time_parse_rfc3339(slice_of(text), &unused) == 0)
                return 0;
        return fail_decoding(d, arena_printf(d->rq->arena,
                                             "parsing time \"%s\" as \"%s\": cannot parse \"%s\" as \"2006\"",
                                             text, layout, text));
}

/* What a null element of a list or a map is read as; new, NULL where it stays. */
static json_t *null_element(const struct schema *s)
{
        bool special = s->ref && !is_struct(s);

        if (special || s->preserve_unknown || s->type == SCHEMA_ANY || s->type == SCHEMA_ARRAY ||
            s->additional)
                return NULL;
        return zero_value(s, SCHEMA_ALWAYS_ZERO);
}

static int check_members(struct decoder *d, const struct schema *s, json_t *v)
{
        const char *key, *owner = d->owner, *path = d->path;
        json_t *member;

        json_object_foreach(v, key, member) {
                const struct schema *p = schema_property(s, key);
                json_t *zero = p && json_is_null(member) && p == s->additional ? null_element(p) : NULL;

                if (zero && json_object_set_new(v, key, zero) < 0)
                        return request_fail_memory(d->rq);
                if (!p || json_is_null(member))
                        continue;
                if (is_struct(s)) {
                        d->owner = s->ref ? last_parts(s->ref, 1) : "";
                        d->path = *path ? arena_printf(d->rq->arena, "%s.%s", path, key) : key;
                        if (!d->path)
                                return request_fail_memory(d->rq);
                }
                TRY(check_value(d, p, member));
                d->owner = owner;
                d->path = path;
        }
        return 0;
}

static int check_elements(struct decoder *d, const struct schema *items, json_t *list)
{
        json_t *item;
        size_t i;

        json_array_foreach(list, i, item) {
                json_t *zero = json_is_null(item) ? null_element(items) : NULL;

                if (zero && json_array_set_new(list, i, zero) < 0)
                        return request_fail_memory(d->rq);
                if (!json_is_null(item))
                        TRY(check_value(d, items, item));
        }
        return 0;
}

static int check_value(struct decoder *d, const struct schema *s, json_t *v)
{
        if (!fits(s, v))
                return fail_type(d, s, v);
        if (s->ref && text_ends_with(s->ref, ".resource.Quantity"))
                return check_quantity(d, v);
        if (s->ref && (text_ends_with(s->ref, ".v1.Time") || text_ends_with(s->ref, ".v1.MicroTime")))
                return check_time(d, v, text_ends_with(s->ref, "MicroTime"));
        if (text_equal(s->format, "byte") && json_is_string(v))
                return check_bytes(d, v);
        if (json_is_array(v) && s->items)
                TRY(check_elements(d, s->items, v));
        return json_is_object(v) ? check_members(d, s, v) : 0;
}

int go_check_types(struct request *rq, const struct schema *s, json_t *doc)
{
        struct decoder d = { rq, rq->resource->kind, "" };

        return check_members(&d, s, doc);
}

/* ---- quantities ---- */

static int check_quantity(struct decoder *d, const json_t *v)
{
        const char *text = json_string_value(v);
        size_t number = text ? strspn(text, "+-0123456789.") : 0;

        if (json_is_number(v) ||
            (number > 0 && !text[number + strspn(text + number, "numkKMGTPEei0123456789+-")]))
                return 0;
        return fail_decoding(d, "quantities must match the regular expression "
                                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}
