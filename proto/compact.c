/* Copies a typed object with everything it points to into one block: first a walk that measures, then the
 * same walk that copies. Structs and arrays come first, strings behind them, so that nothing is padded. */
#include "common/base/memory.h"
#include "proto/codec.h"

struct copier {
        char *block; /* NULL while measuring */
        size_t used; /* of structs and arrays */
        size_t text; /* of strings; while copying, an offset in the block */
        const struct owned *own;
};

static void *take(struct copier *c, size_t size)
{
        void *at = c->block ? c->block + c->used : NULL;
        c->used += (size + 7) & ~(size_t)7;
        return at;
}

static const char *copy_bytes(struct copier *c, const char *s, size_t n, size_t room)
{
        size_t at = c->text;
        c->text += room;
        if (!c->block)
                return s;
        memcpy(c->block + at, s, n);
        if (room > n)
                c->block[at + n] = '\0';
        return c->block + at;
}

static inline void copy_string(struct copier *c, const char *s, const char **ret)
{
        if (!s)
                return;
        bool borrowed = c->own->lo && (s < c->own->lo || s >= c->own->hi);
        if (borrowed) /* the plain copy has it */
                return;
        size_t n = strlen(s);
        s = copy_bytes(c, s, n, n + 1);
        if (c->block)
                *ret = s;
}

static void copy_slice(struct copier *c, struct slice s, struct slice *ret)
{
        if (!s.data)
                return;
        s.data = copy_bytes(c, s.data, s.len, s.len);
        if (c->block)
                *ret = s;
}

static void copy_pointers(struct copier *c, const struct type *t, const void *from, void *to);

static void copy_element(struct copier *c, const struct field *f, const char *from, char *to)
{
        switch (f->type) {
        case FIELD_LIST:
                if (f->element)
                        copy_pointers(c, f->element, from, to);
                else
                        copy_string(c, *(const char *const *)from, (const char **)to);
                return;
        case FIELD_RAW_LIST:
                copy_slice(c, *(const struct slice *)from, (struct slice *)to);
                return;
        default:
                copy_string(c, *(const char *const *)from, (const char **)to);
        }
        from += sizeof(char *);
        to = to ? to + sizeof(char *) : NULL;
        if (f->type == FIELD_STRING_MAP)
                copy_string(c, *(const char *const *)from, (const char **)to);
        else if (f->type == FIELD_RAW_MAP)
                copy_slice(c, *(const struct slice *)from, (struct slice *)to);
        else
                copy_pointers(c, f->element, from, to);
}

static bool array_shared(const struct copier *c, const struct field *f, const struct any_list *l, size_t size)
{
        return l->n && field_shares_array(f) && c->own->interns &&
               intern_has_bytes(c->own->interns, l->at, l->n * size);
}

static void copy_list(struct copier *c, const struct field *f, const struct any_list *from,
                      struct any_list *to)
{
        if (!from->n && !c->block)
                return;
        size_t size = field_element_size(f);
        if (array_shared(c, f, from, size))
                return;
        char *at = from->n ? take(c, from->n * size) : NULL;
        if (c->block) {
                to->at = at;
                if (from->n)
                        memcpy(at, from->at, from->n * size);
        }
        for (uint32_t i = 0; i < from->n; i++)
                copy_element(c, f, (const char *)from->at + i * size, at ? at + i * size : NULL);
}

static void copy_child(struct copier *c, const struct field *f, const void *from, void **ret)
{
        const struct type *t = f->element;
        if (!from)
                return;
        if ((f->flags & FIELD_SHARED) && c->own->interns && intern_has_bytes(c->own->interns, from, t->size))
                return;
        void *to = take(c, t->size);
        if (c->block) {
                memcpy(to, from, t->size);
                *ret = to;
        }
        copy_pointers(c, t, from, to);
}

static void copy_list_apart(struct copier *c, const struct field *f, const struct any_list *from, void **ret)
{
        if (!from)
                return;
        struct any_list *to = take(c, sizeof(*to));
        if (to) {
                *to = *from;
                *ret = to;
        }
        copy_list(c, f, from, to);
}

/* `to` already is a plain copy of `from`; what its pointers lead to is copied here. NULL while measuring. */
static void copy_pointers(struct copier *c, const struct type *t, const void *from, void *to)
{
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field *f = &t->fields[i];
                const void *source = field_at(f, from);
                void *target = to ? (char *)to + f->offset : NULL;
                switch (f->type) {
                case FIELD_BOOL:
                case FIELD_FLAG:
                case FIELD_INT:
                case FIELD_TIME:
                        break;
                case FIELD_STRING:
                case FIELD_INTERNED:
                        copy_string(c, *(const char *const *)source, target);
                        break;
                case FIELD_INT_OR_STRING:
                        copy_string(c, ((const struct int_or_string *)source)->text,
                                    to ? &((struct int_or_string *)target)->text : NULL);
                        break;
                case FIELD_OBJECT:
                        copy_child(c, f, *(void *const *)source, target);
                        break;
                case FIELD_RAW:
                        copy_slice(c, *(const struct slice *)source, target);
                        break;
                default:
                        if (f->flags & FIELD_APART)
                                copy_list_apart(c, f, *(void *const *)source, target);
                        else
                                copy_list(c, f, source, target);
                }
        }
}

static void copy_object(struct copier *c, const struct object *from)
{
        struct object *to = take(c, from->kind->root->size);
        if (to)
                memcpy(to, from, from->kind->root->size);
        struct meta_wire source, target;
        meta_to_wire(&from->meta, &source);
        target = source;
        copy_pointers(c, &meta_wire_type, &source, to ? &target : NULL);
        copy_pointers(c, from->kind->root, from, to);
        if (to)
                ASSERT(meta_from_wire(&target, &to->meta, NULL) == 0);
}

static struct object *compact(const struct object *o, const struct owned *own, struct arena *arena,
                              size_t more)
{
        struct copier c = { .own = own };
        copy_object(&c, o);
        size_t structs = c.used, texts = c.text, total = structs + texts;
        if (more)
                total = ((total + 7) & ~(size_t)7) + more;
        if (total > UINT32_MAX)
                return NULL;
        c.block = arena ? arena_alloc(arena, total) : mem_alloc(total);
        if (!c.block)
                return NULL;
        c.used = 0;
        c.text = structs;
        copy_object(&c, o);
        ASSERT(c.used == structs && c.text == structs + texts);
        struct object *copy = (struct object *)(void *)c.block;
        copy->refs = arena ? 0 : 1;
        copy->outlined = 0;
        copy->block_size = arena ? 0 : (uint32_t)total;
        return copy;
}

struct object *object_compact(const struct object *o, const struct owned *own, struct arena *arena)
{
        return compact(o, own, arena, 0);
}

struct object *object_compact_with(const struct object *o, const struct owned *own, size_t more)
{
        return compact(o, own, NULL, more);
}

struct object *object_copy(const struct object *o, struct arena *arena)
{
        /* The copy may be changed, so only strings are shared with the table. */
        struct owned own = { 0 };
        if (o->block_size)
                own = (struct owned){ .lo = (const char *)o, .hi = (const char *)o + o->block_size };
        return object_compact(o, &own, arena);
}

struct object *object_block(const struct object *o, const struct object *from,
                            const struct intern_table *interns)
{
        struct owned own = { .lo = (const char *)from,
                             .hi = (const char *)from + from->block_size,
                             .interns = interns };

        ASSERT(from->block_size);
        return object_compact(o, &own, NULL);
}
