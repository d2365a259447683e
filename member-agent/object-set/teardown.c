#include "member-agent/object-set/teardown.h"

#include "common/base/limits.h"
#include "member-agent/object-set/reference.h"

enum teardown teardown_of(const struct set_identity *set, const json_t *live)
{
        const json_t *controller = reference_controller(live);

        if (controller && reference_is_of(controller, set))
                return doc_get(live, "metadata.deletionTimestamp") ? TEARDOWN_WAIT : TEARDOWN_DELETE;
        return reference_find(live, set) ? TEARDOWN_RELEASE : TEARDOWN_GONE;
}

enum farewell teardown_farewell(const struct object_meta *m, int64_t now_ms)
{
        if (text_in("orphan", m->finalizers, m->n_finalizers))
                return FAREWELL_ORPHAN;
        if (text_in("foregroundDeletion", m->finalizers, m->n_finalizers) ||
            now_ms - m->deletion_ms >= TEARDOWN_FAREWELL_MS)
                return FAREWELL_LEAVE;
        return FAREWELL_TEAR_DOWN;
}

const char *teardown_waiting_words(const struct set_object *o, const json_t *live, struct arena *arena)
{
        const char *object = set_object_identity(o, arena);
        struct buf b AUTO_BUF;
        size_t i;
        json_t *finalizer;

        buf_init(&b, LIMIT_OBJECT_BYTES);
        if (!object)
                return NULL;
        buf_printf(&b, "waiting for %s", object);
        json_array_foreach(doc_get_array(live, "metadata.finalizers"), i, finalizer)
                buf_printf(&b, "%s%s", i ? ", " : ", finalizers: ", or_empty(json_string_value(finalizer)));
        return b.failed ? NULL : arena_strndup(arena, b.data, b.len);
}
