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

/* What is noted while an object is decoded, for its outline (outline.c). A time that is noted is not what the
 * struct has for the moment: that has its number, by which it is found in the block. */
enum { OUTLINE_PLACES = 32 };
struct outline_notes {
        struct slice text;    /* of the object */
        struct slice version; /* of its resourceVersion */
        size_t n;
        struct outline_note {
                const char *at;  /* in the text, 20 characters */
                int64_t value;   /* TIME_NONE = of managedFields, which are not kept */
        } times[OUTLINE_PLACES]; /* in the order of the text */
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
        struct outline_notes *notes; /* NULL = none are taken */
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

/* From now on notes are taken. */
void outline_begin(struct decoder *d, struct outline_notes *notes);
void outline_note_time(struct decoder *d, const struct field *f, int64_t *at); /* just read from a STRING */
void outline_note_version(struct decoder *d);                                  /* its value was just read */
void outline_note_managed_fields(struct decoder *d, struct slice raw);
/* What was decoded as one block, with its outline if notes were taken and there is one. Arena NULL: from the
 * heap, with one reference. NULL on no memory. */
struct object *decoder_block(struct decoder *d, struct object *o, struct arena *arena);

/* What of an object is its own, so that a copy must copy it. The rest is in the intern table. */
struct owned {
        const char *lo, *hi;                /* strings in this range; lo NULL = all */
        const struct intern_table *interns; /* not NULL: FIELD_SHARED objects and arrays found in it are
                                             * shared; else all are copied */
};
struct owned decoder_owned(const struct decoder *d);
/* Copies an object with all it points to into one block. Arena NULL: from the heap, with one reference. */
struct object *object_compact(const struct object *o, const struct owned *own, struct arena *arena);
/* The same from the heap with `more` bytes behind it, for which object_bytes() is a multiple of 8. */
struct object *object_compact_with(const struct object *o, const struct owned *own, size_t more);

int encode_fields(const struct type *t, const void *at, struct buf *b, bool *first);
int encode_value(const struct field *f, const void *at, struct buf *b);
bool encode_wanted(const struct field *f, const void *at); /* is there anything to write? */

static inline const void *field_at(const struct field *f, const void *base)
{
        return (const char *)base + f->offset;
}
