/* What a cache holds in an object's place: the object, with a reference of its own, or, for kinds of which
 * there are very many, the object stowed (proto/stowed.h). */
#include "common/base/memory.h"
#include "common/ctrl/informer_internal.h"

#define SCRATCH_KEPT (64u << 10)

const struct kept *kept_new(struct informer *i, const char *key, const struct object *o)
{
        const struct kept *k;

        if (!i->options.stowed)
                return (const struct kept *)object_ref(o);
        k = (const struct kept *)object_stow(o, key, i->options.interns, &i->scratch);
        if (i->scratch.cap > SCRATCH_KEPT) /* after one that was larger than most are */
                buf_free(&i->scratch);
        return k;
}

void kept_free(const struct informer *i, const struct kept *k)
{
        if (i->options.stowed)
                stowed_free((struct stowed *)(uintptr_t)k);
        else
                object_unref((const struct object *)k);
}

size_t kept_bytes(const struct informer *i, const struct kept *k)
{
        return i->options.stowed ? stowed_bytes((const struct stowed *)k)
                                 : object_bytes((const struct object *)k);
}

const char *kept_key(const struct informer *i, const char *key, const struct kept *k)
{
        if (i->options.stowed)
                return stowed_key((const struct stowed *)k);
        return i->resource.namespaced ? key : ((const struct object *)k)->meta.name;
}

const struct object *kept_object(const struct informer *i, const struct kept *k, enum stowed_part part)
{
        if (i->options.stowed)
                return object_unstow((const struct stowed *)k, i->options.kind, i->options.interns, part);
        return object_ref((const struct object *)k);
}
