/* JSON documents (jansson's json_t) with type checks and limits. Getters borrow; functions documented as new
 * hand over a reference. */
#pragma once

#include <jansson.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/text.h"

#define AUTO_JSON CLEANUP(json_decref_cleanup)
static inline void json_decref_cleanup(json_t **j)
{
        json_decref(*j);
}

/* Strict UTF-8 JSON text -> document. Checks depth (LIMIT_JSON_DEPTH) before recursing; duplicate keys and
 * trailing bytes are errors; integers beyond 64 bits become reals. ERR_INVALID with line, column and what was
 * expected; ERR_LIMIT. The caller owns *ret. */
int doc_parse(struct slice text, json_t **ret, struct error *err);
/* The same for texts whose duplicate keys are to be told, not refused: the last value wins, and
 * *ret_duplicates (NULL if there are none) is a new array of the members' paths ("spec.ports[0].name"), which
 * may be many times as long as the text: who does not want them passes NULL. */
int doc_parse_loose(struct slice text, json_t **ret, json_t **ret_duplicates, struct error *err);
int doc_write(const json_t *doc, struct buf *b); /* compact, keys in document order */
/* Canonical form: compact, keys sorted by bytes, Go-compatible escapes (<, >, & and U+2028/9 as \u00xx):
 * equal documents give equal bytes. */
int doc_write_canonical(const json_t *doc, struct buf *b);
int doc_append_string(struct buf *b, const char *s, size_t n); /* one string as the canonical form has it */
int doc_write_pretty(const json_t *doc, struct buf *b);        /* indented, sorted keys */
/* As Go prints a map[string]interface{}, members sorted: for people, not to be read back. */
int doc_write_go(const json_t *doc, struct buf *b);               /* %v: map[a:x b:[1 2]] */
int doc_write_go_syntax(const json_t *doc, struct buf *b);        /* %#v: map[string]interface {}{"a":"x"} */
int doc_hash(const json_t *doc, char ret[65], struct error *err); /* SHA-256 hex of the canonical form */
json_t *doc_copy(const json_t *doc);                              /* deep, new; NULL on no memory */
/* A new object with the same members, which both then hold. Whole, or NULL: json_copy() leaves out those for
 * which there was no memory. */
json_t *doc_copy_members(const json_t *object);
/* Where both hold the same object under a key, `object` gets one of its own with the same members. */
int doc_own_member(json_t *object, const json_t *other, const char *key);
/* The members of an object with what another one has under the same keys; cheap where that has them in the
 * same order. The object must not change meanwhile, but for values.
 *   struct doc_pairs p = DOC_PAIRS(object, other);
 *   while (doc_pairs_next(&p)) ... */
struct doc_pairs {
        json_t *object, *other_object; /* the other may be NULL or no object */
        void *at, *beside;
        const char *key;
        size_t key_len;
        json_t *value, *other; /* the other's is NULL if it has none */
        bool begun;
};
#define DOC_PAIRS(a, b) ((struct doc_pairs){ .object = (json_t *)(a), .other_object = (json_t *)(b) })
bool doc_pairs_next(struct doc_pairs *p);
bool doc_equal(const json_t *a, const json_t *b); /* numbers by value (1 == 1.0), objects without order */
int doc_keep(struct arena *a, json_t *doc,
             struct error *err); /* until the arena is freed; taken, also on failure */
/* Two objects, but for these members; what is no object equals nothing. */
bool doc_equal_apart_from(const json_t *a, const json_t *b, const char *const *left_out, size_t n);

struct doc_measure {
        size_t values; /* all, containers included */
        size_t depth;  /* of nesting: 0 for a scalar, 1 for [] */
        size_t bytes;  /* about as many as the text has */
};
void doc_measure(const json_t *doc, struct doc_measure *ret);

/* Getters by a path of keys separated by dots ("metadata.name"; for keys with dots: doc_get_keys). NULL or
 * the fallback if absent or of another type. `doc` may be NULL. */
json_t *doc_get(const json_t *doc, const char *path);
json_t *doc_get_keys(const json_t *doc, const char *const *keys, size_t n);
const char *doc_get_string(const json_t *doc, const char *path);
bool doc_get_bool(const json_t *doc, const char *path, bool fallback);
int64_t doc_get_int(const json_t *doc, const char *path, int64_t fallback);
json_t *doc_get_object(const json_t *doc, const char *path);
json_t *doc_get_array(const json_t *doc, const char *path);

/* Checked getters: 0, with *ret untouched when absent; ERR_INVALID "spec.replicas: must be an integer, is a
 * string" when the type is wrong. The need_ form calls absence an error. */
int doc_need_string(const json_t *doc, const char *path, const char **ret, struct error *err);
int doc_want_string(const json_t *doc, const char *path, const char **ret, struct error *err);
int doc_want_int(const json_t *doc, const char *path, int64_t *ret, struct error *err);
int doc_want_bool(const json_t *doc, const char *path, bool *ret, struct error *err);
int doc_want_object(const json_t *doc, const char *path, json_t **ret, struct error *err);
int doc_want_array(const json_t *doc, const char *path, json_t **ret, struct error *err);

/* Setters create the objects on the way. `value` is taken, also on failure; a NULL value is ERR_NO_MEMORY, so
 * doc_set(d, "a.b", json_string(s)) checks both at once. */
int doc_set(json_t *doc, const char *path, json_t *value);
int doc_set_string(json_t *doc, const char *path, const char *value);
int doc_set_int(json_t *doc, const char *path, int64_t value);
int doc_remove(json_t *doc, const char *path); /* absent is fine */
json_t *doc_base64(struct slice data);         /* a string, new; NULL on no memory */

/* YAML both ways, scalars read as sigs.k8s.io/yaml does (YAML 1.1 booleans). Anchors limited, duplicate keys
 * an error, error texts with line. */
int yaml_parse(struct slice text, json_t **ret, struct error *err); /* exactly one document */
int yaml_parse_all(struct slice text, json_t **ret_array,
                   struct error *err);      /* stream; empty documents dropped; JSON too */
size_t doc_count_values(struct slice json); /* keys are none; up to where it is broken */
/* At most so many values, keys of YAML included, before it takes memory: of a stranger. */
int yaml_parse_bounded(struct slice text, size_t most_values, json_t **ret_array, struct error *err);
/* The same of a part of a text, before which so many lines stand: messages count from the text's beginning.
 */
int yaml_parse_part(struct slice text, size_t lines_before, json_t **ret_array, struct error *err);
/* Where something stands in a text that is one document, for messages: lines and columns from 1. */
struct yaml_place {
        size_t line, column;
};
struct yaml_step {
        const char *key; /* a member of a mapping; NULL: of a sequence */
        size_t index;
};
/* The key (or the item) that the steps lead to from the topmost value; as far as they do. 1: the text is no
 * YAML, and this is where. ERR_NO_MEMORY. */
int yaml_locate(struct slice text, const struct yaml_step *steps, size_t n, struct yaml_place *ret);
/* A document too large to be held, JSON or YAML, by its parts: mappings and sequences that are entered come
 * member by member, all else is built, handed over and freed. */
struct doc_walk {
        /* Whether the value of that key is entered, if it is a mapping or a sequence; depth 1: a member of
         * the topmost mapping. Members of sequences have no key. */
        bool (*enters)(void *ctx, size_t depth, struct slice key);
        int (*leaves)(void *ctx, size_t depth, struct slice key,
                      struct error *err); /* what was entered ended */
        int (*takes)(void *ctx, size_t depth, struct slice key, const json_t *value, struct error *err);
        void *ctx;
        /* 0 = no bound, else ERR_LIMIT before it takes memory: values and bytes of one that is taken (a value
         * of two bytes takes a hundred), and keys of a mapping in YAML that is entered. */
        size_t most_values, most_bytes, most_keys;
};
/* One document, a mapping. Duplicate keys are an error in YAML; in JSON all of them come. A text that is no
 * whole JSON is YAML; *ret_yaml: it was. The first error of a function is returned. In YAML what is entered
 * can neither be named nor be merged. */
int doc_walk(struct slice text, const struct doc_walk *w, bool *ret_yaml, struct error *err);
int yaml_write(const json_t *doc, struct buf *b); /* block style, sorted keys, as kubectl -o yaml prints */
int yaml_write_unfolded(const json_t *doc, struct buf *b); /* the same with lines of any length */
