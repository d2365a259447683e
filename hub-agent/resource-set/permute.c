/* Every combination of one set of each provider: spec/resource-set.md 3.4. */
#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/base/unicode.h"
#include "hub-agent/resource-set/inputs.h"

static bool becomes_a_line(uint32_t c)
{
        return rune_is_space(c) || (c < 0x80 && strchr("!\"#%&'()*,-./:;?@[\\]_{}", (int)c) && c);
}

char *inputs_key(struct arena *arena, const char *name)
{
        char *key = arena_strdup(arena, name);
        size_t n = 0, width;
        bool gap = false;

        if (!key)
                return NULL;
        for (const char *at = name; *at; at += width) {
                uint32_t c = rune_lower(rune_decode(at, strlen(at), &width));

                if (becomes_a_line(c)) {
                        gap = n > 0;
                } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
                        if (gap)
                                key[n++] = '_';
                        gap = false;
                        key[n++] = (char)c;
                }
        }
        key[n] = '\0';
        return key;
}

struct factors {
        const struct input_source *source[64];
        const char *key[64];
        size_t at[64], n;
};

static int check_key(const struct factors *f, const struct input_source *s, const char *key,
                     struct error *err)
{
        if (!key)
                return error_no_memory(err);
        if (!*key)
                return error_set(err, ERR_INVALID, "normalized provider name is empty: '%s'", s->name);
        if (text_equal(key, "id"))
                return error_set(err, ERR_INVALID,
                                 "the normalized name of %s/%s is 'id', which is the permutation's", s->kind,
                                 s->name);
        for (size_t i = 0; i < f->n; i++)
                if (text_equal(f->key[i], key))
                        return error_set(err, ERR_INVALID,
                                         "%s/%s and %s/%s have the same normalized name '%s'",
                                         f->source[i]->kind, f->source[i]->name, s->kind, s->name, key);
        return f->n < ARRAY_LEN(f->key)
                       ? 0
                       : error_set(err, ERR_LIMIT, "more than %zu providers to permute", ARRAY_LEN(f->key));
}

static int take_factors(struct arena *arena, const struct input_source *sources, size_t n, bool empty,
                        struct factors *f, size_t *ret_count, struct error *err)
{
        size_t count = 1;

        for (size_t i = 0; i < n; i++) {
                size_t size = json_array_size(sources[i].sets);
                const char *key = inputs_key(arena, sources[i].name);

                if (size == 0 && !empty)
                        continue;
                count *= size;
                if (count > LIMIT_RESOURCE_SET_PERMUTATIONS)
                        return error_set(err, ERR_LIMIT,
                                         "adding provider '%s' with %zu inputs would exceed the maximum "
                                         "allowed permutations. max: %d, got: %zu",
                                         sources[i].name, size, LIMIT_RESOURCE_SET_PERMUTATIONS, count);
                TRY(check_key(f, &sources[i], key, err));
                f->source[f->n] = &sources[i];
                f->key[f->n++] = key;
        }
        *ret_count = f->n ? count : 0;
        return 0;
}

static int make_permutation(const struct factors *f, json_t *into, struct error *err)
{
        AUTO_BUF struct buf where;
        json_t *one = json_object();
        char id[16];

        buf_init(&where, 64u << 10);
        if (!one || json_array_append_new(into, one) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < f->n; i++) {
                if (json_object_set(one, f->key[i], json_array_get(f->source[i]->sets, f->at[i])) < 0)
                        return error_no_memory(err);
                buf_printf(&where, "%s%s=%zu", i ? "/" : "", f->key[i], f->at[i]);
        }
        TRY(buf_status(&where, err, "permutation"));
        snprintf(id, sizeof(id), "%u", adler32_sum(where.data, where.len));
        return json_object_set_new(one, "id", json_string(id)) < 0 ? error_no_memory(err) : 0;
}

/* The last one varies fastest. */
static void step(struct factors *f)
{
        for (size_t i = f->n; i-- > 0;) {
                if (++f->at[i] < json_array_size(f->source[i]->sets))
                        return;
                f->at[i] = 0;
        }
}

int inputs_permute(struct arena *arena, const struct input_source *sources, size_t n, bool empty,
                   json_t **ret, struct error *err)
{
        struct factors f = { 0 };
        json_t *all = json_array();
        size_t count = 0;

        TRY(doc_keep(arena, all, err));
        TRY(take_factors(arena, sources, n, empty, &f, &count, err));
        for (size_t i = 0; i < count; i++) {
                TRY(make_permutation(&f, all, err));
                step(&f);
        }
        *ret = all;
        return 0;
}
