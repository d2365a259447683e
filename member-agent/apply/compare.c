#include "member-agent/apply/compare.h"

#include <math.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "member-agent/apply/clean.h"

/* Values in details are for reading: longer ones are cut. */
#define VALUE_MAX 32768

struct walk {
        struct arena *arena;
        struct differences *out;
        struct buf path; /* JSON pointer of where the walk is */
        struct buf scratch;
        bool secret;
        struct error *err;
};

static const char **sorted_keys(const json_t *object, struct arena *arena, size_t *ret_n);

/* ---- values ---- */

static int render_real(double d, struct buf *b)
{
        char text[40];

        if (d == floor(d) && fabs(d) < 1e15)
                return buf_printf(b, "%.0f", d);
        for (int precision = 1; precision <= 17; precision++) {
                snprintf(text, sizeof(text), "%.*g", precision, d);
                if (strtod(text, NULL) == d)
                        break;
        }
        return buf_append_str(b, text);
}

static int render(const json_t *v, struct arena *arena, struct buf *b)
{
        size_t n = 0;

        switch (json_typeof(v)) {
        case JSON_STRING:
                return buf_append(b, json_string_value(v), json_string_length(v));
        case JSON_INTEGER:
                return buf_printf(b, "%lld", (long long)json_integer_value(v));
        case JSON_REAL:
                return render_real(json_real_value(v), b);
        case JSON_TRUE:
                return buf_append_str(b, "true");
        case JSON_FALSE:
                return buf_append_str(b, "false");
        case JSON_NULL:
                return buf_append_str(b, "<nil>");
        case JSON_ARRAY:
                buf_append_char(b, '[');
                for (size_t i = 0; i < json_array_size(v); i++) {
                        if (i)
                                buf_append_char(b, ' ');
                        render(json_array_get(v, i), arena, b);
                }
                return buf_append_char(b, ']');
        case JSON_OBJECT: {
                const char **keys = sorted_keys(v, arena, &n);

                if (!keys)
                        return ERR_NO_MEMORY;
                buf_append_str(b, "map[");
                for (size_t i = 0; i < n; i++) {
                        buf_printf(b, "%s%s:", i ? " " : "", keys[i]);
                        render(json_object_get(v, keys[i]), arena, b);
                }
                return buf_append_char(b, ']');
        }
        }
        return 0;
}

int compare_render_value(const json_t *value, struct buf *b)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;

        return render(value, &arena, b);
}

/* ---- keys ---- */

static int by_bytes(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **sorted_keys(const json_t *object, struct arena *arena, size_t *ret_n)
{
        size_t n = json_object_size(object), i = 0;
        const char **keys = arena_calloc(arena, n + 1, sizeof(*keys)), *key;
        json_t *value;

        if (!keys)
                return NULL;
        json_object_foreach((json_t *)object, key, value)
                keys[i++] = key;
        qsort(keys, n, sizeof(*keys), by_bytes);
        *ret_n = n;
        return keys;
}

/* ---- the walk ---- */

static size_t enter_key(struct walk *w, const char *key)
{
        size_t before = w->path.len;

        buf_append_char(&w->path, '/');
        for (; *key; key++) {
                if (*key == '~')
                        buf_append_str(&w->path, "~0");
                else if (*key == '/')
                        buf_append_str(&w->path, "~1");
                else
                        buf_append_char(&w->path, *key);
        }
        return before;
}

static size_t enter_index(struct walk *w, size_t index)
{
        size_t before = w->path.len;

        buf_printf(&w->path, "/%zu", index);
        return before;
}

/* Of a Secret also what tools note on it: many keep a whole copy of what they applied there. */
static bool is_hidden(const struct walk *w)
{
        static const char *const places[] = { "/data", "/stringData", "/metadata/annotations" };

        for (size_t i = 0; w->secret && i < ARRAY_LEN(places); i++)
                if (text_starts_with(w->path.data, places[i]))
                        return true;
        return false;
}

static const char *text_of(struct walk *w, const json_t *value)
{

        if (!value)
                return "";
        buf_clear(&w->scratch);
        render(value, w->arena, &w->scratch); /* a value over the limit is shown up to it */
        if (w->scratch.failed == ERR_NO_MEMORY)
                return NULL;
        if (is_hidden(w) && w->scratch.len > 0)
                return COMPARE_REDACTED;
        return arena_strndup(w->arena, w->scratch.data, w->scratch.len);
}

static int report(struct walk *w, const json_t *source, const json_t *target)
{
        struct difference *d;

        w->out->total++;
        if (w->out->n == COMPARE_MAX_DETAILS)
                return 0;
        TRY(buf_status(&w->path, w->err, "path of a difference"));
        d = &w->out->at[w->out->n];
        d->path = arena_strndup(w->arena, w->path.data, w->path.len);
        d->hub = text_of(w, source);
        d->member = text_of(w, target);
        if (!d->path || !d->hub || !d->member)
                return error_no_memory(w->err);
        w->out->n++;
        return 0;
}

static int walk(struct walk *w, const json_t *source, const json_t *target);

static int walk_objects(struct walk *w, const json_t *source, const json_t *target)
{
        size_t n_source = 0, n_target = 0, i = 0, j = 0;
        const char **source_keys = sorted_keys(source, w->arena, &n_source);
        const char **target_keys = sorted_keys(target, w->arena, &n_target);

        if (!source_keys || !target_keys)
                return error_no_memory(w->err);
        while (i < n_source || j < n_target) {
                int order = i == n_source ? 1 : j == n_target ? -1 : strcmp(source_keys[i], target_keys[j]);
                const char *key = order <= 0 ? source_keys[i] : target_keys[j];
                size_t before = enter_key(w, key);

                TRY(walk(w, order <= 0 ? json_object_get(source, key) : NULL,
                         order >= 0 ? json_object_get(target, key) : NULL));
                buf_truncate(&w->path, before);
                i += order <= 0;
                j += order >= 0;
        }
        return 0;
}

static int walk_arrays(struct walk *w, const json_t *source, const json_t *target)
{
        size_t n_source = json_array_size(source), n_target = json_array_size(target), before;

        for (size_t i = n_target; i < n_source; i++) {
                before = enter_index(w, i);
                TRY(report(w, json_array_get(source, i), NULL));
                buf_truncate(&w->path, before);
        }
        for (size_t i = 0; i < MIN(n_source, n_target); i++) {
                before = enter_index(w, i);
                TRY(walk(w, json_array_get(source, i), json_array_get(target, i)));
                buf_truncate(&w->path, before);
        }
        for (size_t i = n_source; i < n_target; i++) {
                before = enter_key(w, "-");
                TRY(report(w, NULL, json_array_get(target, i)));
                buf_truncate(&w->path, before);
        }
        return 0;
}

static int walk(struct walk *w, const json_t *source, const json_t *target)
{
        if (json_is_object(source) && json_is_object(target))
                return walk_objects(w, source, target);
        if (json_is_array(source) && json_is_array(target))
                return walk_arrays(w, source, target);
        return source && target && doc_equal(source, target) ? 0 : report(w, source, target);
}

int compare_documents(const json_t *source, const json_t *target, struct arena *arena,
                      struct differences *ret, struct error *err)
{
        AUTO_JSON json_t *from = doc_copy(source);
        AUTO_JSON json_t *to = doc_copy(target);
        struct walk w = { .arena = arena, .out = ret, .err = err };
        int r;

        if (!from || !to)
                return error_no_memory(err);
        TRY(clean_for_comparison(from, err));
        TRY(clean_for_comparison(to, err));
        w.secret = text_equal(doc_get_string(source, "apiVersion"), "v1") &&
                   text_equal(doc_get_string(source, "kind"), "Secret");
        ret->n = ret->total = 0;
        buf_init(&w.path, LIMIT_HEADER_BYTES);
        buf_init(&w.scratch, VALUE_MAX);
        r = walk(&w, from, to);
        buf_free(&w.path);
        buf_free(&w.scratch);
        return r;
}
