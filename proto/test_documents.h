/* Random documents made by walking a kind's field table: for tests of the codec. Deterministic by seed. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/codec.h"
#include "proto/gen/kinds.h"

struct dice {
        uint64_t state;
};

static inline uint32_t roll(struct dice *d, uint32_t sides)
{
        d->state = d->state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(d->state >> 33) % sides;
}

static inline json_t *random_text(struct dice *d)
{
        static const char *const words[] = { "True",
                                             "a",
                                             "",
                                             "cluster-1",
                                             "snow \u2603 \"quoted\"\n\\",
                                             "name",
                                             "Bound",
                                             "0123456789abcdef0123456789abcdef",
                                             "\u00e9",
                                             "<&>" };
        return json_string(words[roll(d, ARRAY_LEN(words))]);
}

static inline json_t *random_struct(struct dice *d, const struct type *t, int depth);

static inline json_t *random_raw(struct dice *d)
{
        switch (roll(d, 4)) {
        case 0:
                return json_pack("{s:s,s:[i,b,{}]}", "apiVersion", "v1", "x", 7, 1);
        case 1:
                return json_integer((json_int_t)roll(d, 1000) - 500);
        case 2:
                return random_text(d);
        default:
                return json_pack("{s:{s:i}}", "deep", "er", 1); /* no null: a merge patch cannot set one */
        }
}

static inline json_t *random_element(struct dice *d, const struct field *f, int depth)
{
        if (f->type == FIELD_RAW_LIST || f->type == FIELD_RAW_MAP)
                return random_raw(d);
        return f->element ? random_struct(d, f->element, depth + 1) : random_text(d);
}

static inline json_t *random_list(struct dice *d, const struct field *f, int depth)
{
        json_t *array = json_array();
        for (uint32_t n = roll(d, depth > 4 ? 2 : 7); n > 0; n--)
                json_array_append_new(array, random_element(d, f, depth));
        return array;
}

static inline json_t *random_map(struct dice *d, const struct field *f, int depth)
{
        json_t *object = json_object();
        for (uint32_t n = roll(d, 5); n > 0; n--) {
                char key[16];
                snprintf(key, sizeof(key), "%c/%u", 'z' - (char)roll(d, 26), roll(d, 50));
                json_object_set_new(object, key, random_element(d, f, depth));
        }
        return object;
}

static inline json_t *random_value(struct dice *d, const struct field *f, int depth)
{
        char time[RFC3339_SIZE];
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED:
                return random_text(d);
        case FIELD_BOOL:
                return json_boolean(roll(d, 2));
        case FIELD_FLAG:
                return json_true();
        case FIELD_INT:
                return json_integer((json_int_t)roll(d, 100000) - (roll(d, 2) ? 50000 : 0) + 1);
        case FIELD_TIME:
                if (f->flags & FIELD_MICRO)
                        time_format_rfc3339_micro(
                                ((int64_t)roll(d, 1000000000) * 1000 + roll(d, 1000)) * 1000000, time);
                else
                        time_format_rfc3339((int64_t)(roll(d, 1000000000) + 1) * 1000, time);
                return json_string(time);
        case FIELD_OBJECT:
                return random_struct(d, f->element, depth + 1);
        case FIELD_RAW:
                return random_raw(d);
        case FIELD_INT_OR_STRING:
                return roll(d, 2) ? json_integer(roll(d, 100)) : random_text(d);
        case FIELD_LIST:
        case FIELD_RAW_LIST:
                return random_list(d, f, depth);
        default:
                return random_map(d, f, depth);
        }
}

static inline json_t *random_struct(struct dice *d, const struct type *t, int depth)
{
        json_t *object = json_object();
        for (size_t i = 0; i < t->n_fields; i++)
                if ((t->fields[i].flags & FIELD_EMIT_EMPTY) || roll(d, depth > 3 ? 4 : 3))
                        json_object_set_new(object, t->fields[i].name, random_value(d, &t->fields[i], depth));
        return object;
}

/* A document of a kind, with metadata; the parts may come in any order. */
static inline json_t *random_document(struct dice *d, const struct kind *kind)
{
        json_t *doc = random_struct(d, kind->root, 0);
        if (kind->api_version[0]) {
                json_object_set_new(doc, "apiVersion", json_string(kind->api_version));
                json_object_set_new(doc, "kind", json_string(kind->kind));
        }
        json_t *meta = random_struct(d, &meta_wire_type, 0);
        /* These lists have no "present but empty"; a generation is never 0. */
        static const char *const lists[] = { "finalizers", "ownerReferences" };
        for (size_t i = 0; i < ARRAY_LEN(lists); i++)
                if (!json_array_size(json_object_get(meta, lists[i])))
                        json_object_del(meta, lists[i]);
        json_object_set_new(doc, "metadata", meta);
        return doc;
}

/* The text of a document, freed with the arena. */
static inline struct slice text_of(struct arena *arena, const json_t *doc)
{
        char *text = json_dumps(doc, JSON_COMPACT | JSON_ENCODE_ANY);
        struct slice s = { arena_strdup(arena, text), strlen(text) };
        free(text);
        return s;
}

enum { SEEDS_OF_A_KIND = 60 };

static inline void with_every_kind(void (*fn)(const struct kind *kind, uint64_t seed,
                                              struct intern_table *interns),
                                   struct intern_table *interns)
{
        for (size_t i = 0; all_kinds[i]; i++)
                for (uint64_t seed = 1; seed <= SEEDS_OF_A_KIND; seed++)
                        fn(all_kinds[i], seed, interns);
}
