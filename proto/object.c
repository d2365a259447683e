/* Whole typed objects: making, decoding, counting references. */
#include "proto/object.h"

#include "common/base/memory.h"
#include "proto/codec.h"

static int end_of_text(struct decoder *d)
{
        return scan_next(&d->scan) == SCAN_END ? 0 : decode_failed(d);
}

static int decode_whole(struct decoder *d, const struct kind *kind, struct object **ret)
{
        TRY(decode_object(d, kind, ret));
        return end_of_text(d);
}

static int decode_to(const struct kind *kind, struct slice json, enum decode_flags flags,
                     struct intern_table *interns, struct arena *to, struct object **ret, struct error *err)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct outline_notes notes;
        struct decoder d;
        struct object *o;
        int code = decoder_init(&d, json, flags, interns, &scratch, err);
        if (code == 0 && (flags & DECODE_OUTLINED) && !to)
                outline_begin(&d, &notes);
        if (code == 0)
                code = decode_whole(&d, kind, &o);
        if (code < 0)
                return error_wrap(err, "%s", kind->kind), code;
        struct object *copy = decoder_block(&d, o, to);
        if (!copy)
                return error_no_memory(err);
        *ret = copy;
        return 0;
}

int object_decode(const struct kind *kind, struct slice json, enum decode_flags flags,
                  struct intern_table *interns, struct object **ret, struct error *err)
{
        return decode_to(kind, json, flags, interns, NULL, ret, err);
}

int object_decode_arena(const struct kind *kind, struct slice json, struct arena *arena, struct object **ret,
                        struct error *err)
{
        return decode_to(kind, json, DECODE_FULL, NULL, arena, ret, err);
}

int object_from_doc(const struct kind *kind, const json_t *doc, struct arena *arena, struct object **ret,
                    struct error *err)
{
        AUTO_BUF struct buf text;
        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (doc_write(doc, &text) < 0)
                return buf_status(&text, err, kind->kind);
        return object_decode_arena(kind, (struct slice){ text.data, text.len }, arena, ret, err);
}

int object_to_doc(const struct object *o, json_t **ret, struct error *err)
{
        AUTO_BUF struct buf text;
        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (object_encode(o, &text) < 0)
                return buf_status(&text, err, o->kind->kind);
        return doc_parse((struct slice){ text.data, text.len }, ret, err);
}

struct object *object_new(const struct kind *kind, const char *ns, const char *name, struct arena *arena)
{
        struct object *o = arena_zalloc(arena, kind->root->size);
        if (!o)
                return NULL;
        o->kind = kind;
        o->meta.creation_ms = o->meta.deletion_ms = TIME_NONE;
        o->meta.name = name ? arena_strdup(arena, name) : NULL;
        o->meta.ns = ns ? arena_strdup(arena, ns) : NULL;
        return (name && !o->meta.name) || (ns && !o->meta.ns) ? NULL : o;
}

struct object *object_ref(const struct object *o)
{
        struct object *counted = (struct object *)(uintptr_t)o;
        ASSERT(counted->refs > 0 && counted->refs < INT32_MAX);
        counted->refs++;
        return counted;
}

void object_unref(const struct object *o)
{
        if (!o || !o->block_size)
                return;
        struct object *counted = (struct object *)(uintptr_t)o;
        ASSERT(counted->refs > 0);
        if (--counted->refs == 0)
                mem_free(counted);
}

size_t object_bytes(const struct object *o)
{
        return o->block_size;
}

/* ---- finalizers ---- */

bool object_has_finalizer(const struct object *o, const char *finalizer)
{
        return text_in(finalizer, o->meta.finalizers, o->meta.n_finalizers);
}

int object_add_finalizer(struct object *o, const char *finalizer, struct arena *arena)
{
        const char **list;

        if (object_has_finalizer(o, finalizer))
                return 0;
        list = ARENA_NEW_ARRAY(arena, const char *, (size_t)o->meta.n_finalizers + 1);
        if (!list)
                return ERR_NO_MEMORY;
        for (uint16_t i = 0; i < o->meta.n_finalizers; i++)
                list[i] = o->meta.finalizers[i];
        list[o->meta.n_finalizers++] = finalizer;
        o->meta.finalizers = list;
        return 0;
}

void object_remove_finalizer(struct object *o, const char *finalizer)
{
        uint16_t kept = 0;

        for (uint16_t i = 0; i < o->meta.n_finalizers; i++)
                if (!text_equal(o->meta.finalizers[i], finalizer))
                        o->meta.finalizers[kept++] = o->meta.finalizers[i];
        o->meta.n_finalizers = kept;
}
