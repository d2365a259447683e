/* Works as they arrive: the watch's cache keeps a projection, and what is left out of it, the manifests, goes
 * to the state file at once. A new generation is thus applied without reading the Work from the hub again. */
#include "common/base/limits.h"
#include "member-agent/apply/pass.h"
#include "member-agent/apply/wants.h"

int work_save(struct member_agent *a, const struct work *w, size_t *ret_bytes, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct work bare = *w;
        struct buf text AUTO_BUF;
        struct object_name *wants;
        size_t n_wants;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        bare.status = NULL;
        if (object_encode(&bare.object, &text) < 0)
                return buf_status(&text, err, "Work") < 0 ? err->code : error_no_memory(err);
        *ret_bytes = text.len;
        TRY(wants_of_work(w, &arena, &wants, &n_wants, err));
        return store_work_put(a->store, w->object.meta.name, w->object.meta.uid, w->object.meta.generation,
                              (struct slice){ text.data, text.len }, wants, n_wants, err);
}

/* The state file has this generation, or the cache has seen it: then it is on the way there or was left to
 * be read. */
static bool is_known(struct member_agent *a, const struct object *o)
{
        const struct object *cached = informer_get(a->works, o->meta.ns, o->meta.name);

        return cached && text_equal(cached->meta.uid, o->meta.uid) &&
               cached->meta.generation == o->meta.generation;
}

/* A status of the hub that the state file knows nothing of must be read with the Work. */
static bool has_unknown_status(struct member_agent *a, const struct work *w)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct stored_work stored;

        if (!w->status || w->status->conditions.n == 0)
                return false;
        return store_work_get(a->store, w->object.meta.name, &arena, &stored, NULL) < 0 ||
               !text_equal(stored.uid, w->object.meta.uid) || !stored.status.data;
}

void work_received(void *agent, const struct object *o, struct slice event)
{
        struct member_agent *a = agent;
        struct object *whole = NULL;
        enum watch_type type;
        struct error err = { 0 };
        size_t bytes;

        if (!a->joined || o->meta.deletion_ms != TIME_NONE || is_known(a, o) ||
            has_unknown_status(a, (const struct work *)(const void *)o))
                return;
        if (object_decode_watch_event(&work_kind, event, DECODE_FULL, NULL, &type, &whole, &err) == 0 &&
            work_save(a, (const struct work *)(const void *)whole, &bytes, &err) == 0) {
                object_unref(whole);
                return;
        }
        object_unref(whole);
        log_debug(a->log, "a Work could not be kept as it came and will be read", "work", o->meta.name,
                  "error", err.text);
}
