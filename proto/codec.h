/* Inside the codec: what its files share. Not for users of proto/object.h. */
#pragma once

#include "common/json/scan.h"
#include "proto/object.h"

/* All generated lists and maps look like this. */
struct any_list {
        void *at;
        uint32_t n;
        bool set;
};

/* Bytes of one element of a list or map field. A map's element is its key and, behind it, the value. */
size_t field_element_size(const struct field *f);
bool field_is_list(const struct field *f); /* lists and maps of any sort */
/* A list or map with nothing of its own: all its strings may be in the intern table, and so may its array. */
bool field_shares_array(const struct field *f);
/* What a list or map field at `at` holds; empty where it is FIELD_APART and absent. */
const struct any_list *field_list(const struct field *f, const void *at);

/* Metadata in the shape the tables can describe. */
struct meta_wire {
        const char *name, *ns, *uid, *resource_version, *generate_name;
        struct opt_int generation;
        int64_t creation_ms, deletion_ms;
        struct string_map labels, annotations;
        struct string_list finalizers;
        struct any_list owners;
};
extern const struct type meta_wire_type;         /* all of it */
extern const struct type meta_wire_mutable_type; /* what a patch may change */
void meta_to_wire(const struct object_meta *m, struct meta_wire *ret);
int meta_from_wire(const struct meta_wire *w, struct object_meta *ret, struct error *err); /* ERR_LIMIT */

/* Where the decoder is, for errors: links on the C stack. */
struct path {
        const struct path *parent;
        const char *key; /* NULL: index counts */
        uint32_t index;
};

/* Decoding goes into a scratch arena; strings go into one text area, so that copying can tell them from
 * interned ones by their address. */
struct decoder {
        struct scanner scan;
        struct arena *arena;
        struct intern_table *interns; /* may be NULL */
        char *text;
        size_t text_len, text_cap;
        enum decode_flags flags;
        bool intern_keys;
        struct error *err;
};
int decoder_init(struct decoder *d, struct slice json, enum decode_flags flags, struct intern_table *interns,
                 struct arena *arena, struct error *err);
/* What tells which object `json` is, whatever else it holds, as a block of its own; ERR_INVALID where that
 * cannot be told. */
int decode_identity(const struct kind *kind, struct slice json, struct object **ret, struct error *err);
/* The object whose value comes next in the scanner, into the arena: refs and block_size are 0. */
int decode_object(struct decoder *d, const struct kind *kind, struct object **ret);
/* Any struct by its table; text behind it is an error. */
int decode_root(struct decoder *d, const struct type *t, void *ret);
/* The last STRING or KEY as a string of the text area. */
int decode_text(struct decoder *d, bool intern_it, const char **ret);
int decode_failed(struct decoder *d); /* the scanner's own error */
int decode_wrong(struct decoder *d, const struct path *path, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* What of an object is its own, so that a copy must copy it. The rest is in the intern table. */
struct owned {
        const char *lo, *hi;                /* strings in this range; lo NULL = all */
        const struct intern_table *interns; /* not NULL: FIELD_SHARED objects and arrays found in it are
                                             * shared; else all are copied */
};
struct owned decoder_owned(const struct decoder *d);
/* Copies an object with all it points to into one block. Arena NULL: from the heap, with one reference. */
struct object *object_compact(const struct object *o, const struct owned *own, struct arena *arena);

int encode_fields(const struct type *t, const void *at, struct buf *b, bool *first);
int encode_value(const struct field *f, const void *at, struct buf *b);
bool encode_wanted(const struct field *f, const void *at); /* is there anything to write? */

static inline const void *field_at(const struct field *f, const void *base)
{
        return (const char *)base + f->offset;
}
