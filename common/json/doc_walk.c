/* Documents that are too large to be held. */
#include "common/json/scan.h"
#include "common/json/yaml.h"

struct walking {
        struct scanner s;
        const struct doc_walk *w;
        struct error *err;
};

static int walk_value(struct walking *k, size_t depth, struct slice key);

size_t doc_count_values(struct slice text)
{
        struct scanner s;
        size_t n = 0;

        scan_init(&s, text);
        for (enum scan_token t; (t = scan_next(&s)) != SCAN_END && t != SCAN_ERROR;)
                n += t != SCAN_KEY && t != SCAN_OBJECT_END && t != SCAN_ARRAY_END;
        return n;
}

static int check_size(const struct doc_walk *w, struct slice raw, struct error *err)
{
        if (w->most_bytes && raw.len > w->most_bytes)
                return error_set(err, ERR_LIMIT, "a part of the document has more than %zu bytes",
                                 w->most_bytes);
        /* each value has a byte at least, so most need not be counted */
        if (w->most_values && raw.len > w->most_values && doc_count_values(raw) > w->most_values)
                return error_set(err, ERR_LIMIT, "a part of the document has more than %zu values",
                                 w->most_values);
        return 0;
}

static int take_value(struct walking *k, size_t depth, struct slice key)
{
        AUTO_JSON json_t *value = NULL;
        struct slice raw;

        if (scan_skip(&k->s, &raw) < 0)
                return scan_error(&k->s, k->err);
        TRY(check_size(k->w, raw, k->err));
        TRY(doc_parse(raw, &value, k->err));
        return k->w->takes(k->w->ctx, depth, key, value, k->err);
}

static int walk_object(struct walking *k, size_t depth)
{
        enum scan_token t;

        while ((t = scan_next(&k->s)) == SCAN_KEY) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                size_t n;
                const char *key = scan_string(&k->s, &arena, &n);

                if (!key)
                        return error_no_memory(k->err);
                TRY(walk_value(k, depth, (struct slice){ key, n }));
        }
        return t == SCAN_OBJECT_END ? 0 : scan_error(&k->s, k->err);
}

static int walk_array(struct walking *k, size_t depth)
{
        while (!scan_at_close(&k->s))
                TRY(walk_value(k, depth, SLICE("")));
        return scan_next(&k->s) == SCAN_ARRAY_END ? 0 : scan_error(&k->s, k->err);
}

static char first_byte(const struct scanner *s)
{
        const char *at = s->at;

        while (at < s->end &&
               (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == ':' || *at == ','))
                at++;
        return at < s->end ? *at : 0;
}

static int walk_value(struct walking *k, size_t depth, struct slice key)
{
        char first = first_byte(&k->s);

        if ((first != '{' && first != '[') || !k->w->enters(k->w->ctx, depth, key))
                return take_value(k, depth, key);
        if (scan_next(&k->s) == SCAN_ERROR)
                return scan_error(&k->s, k->err);
        TRY(first == '{' ? walk_object(k, depth + 1) : walk_array(k, depth + 1));
        return k->w->leaves(k->w->ctx, depth, key, k->err);
}

/* One object and nothing behind it. */
static bool is_json(struct slice text)
{
        struct scanner s;

        text = slice_trim(text);
        if (!text.len || text.data[0] != '{')
                return false;
        scan_init(&s, text);
        return scan_skip(&s, NULL) == 0 && s.at == s.end;
}

int doc_walk(struct slice text, const struct doc_walk *w, bool *ret_yaml, struct error *err)
{
        struct walking k = { .w = w, .err = err };

        *ret_yaml = !is_json(text);
        if (*ret_yaml)
                return yaml_walk(text, w, err);
        scan_init(&k.s, slice_trim(text));
        if (scan_next(&k.s) != SCAN_OBJECT)
                return scan_error(&k.s, err);
        return walk_object(&k, 1);
}
