/* Where a pass has its Work from: the hub, or the state file of the last run. */
#include "member-agent/apply/pass.h"
#include "member-agent/apply/source.h"

static struct work *work_of(struct object *o)
{
        return (struct work *)(void *)o;
}

/* A former version of this program kept less of it. */
static int keep_anew(struct member_agent *a, const struct stored_work *stored, struct source *s,
                     struct error *err)
{
        TRY(work_save(a, s->whole, &s->bytes, err));
        if (!stored->status.data)
                return 0;
        return store_status_put(a->store, stored->name, stored->status_generation, stored->status,
                                stored->status_delivered, err);
}

static int use_stored(struct member_agent *a, const struct stored_work *stored, struct arena *arena,
                      struct source *s, struct error *err)
{
        struct object *o = NULL;

        TRY(object_decode_arena(&work_kind, stored->spec, arena, &o, err));
        s->whole = work_of(o);
        s->bytes = stored->spec.len;
        if (!stored->listed)
                TRY(keep_anew(a, stored, s, err));
        if (!stored->status.data)
                return 0;
        TRY(object_decode_arena(&work_kind, stored->status, arena, &o, err));
        s->before = work_of(o)->status;
        s->before_on_hub = stored->status_delivered;
        s->before_kept = stored->status_delivered && stored->status_generation == stored->generation;
        return 0;
}

static bool same_conditions(const struct work_status *a, const struct work_status *b)
{
        size_t n = a ? a->conditions.n : 0;

        if (n != (b ? b->conditions.n : 0))
                return false;
        for (size_t i = 0; i < n; i++) {
                const struct condition *x = &a->conditions.at[i],
                                       *y = condition_find(&b->conditions, x->type);

                if (!y || !text_equal(x->status, y->status) || !text_equal(x->reason, y->reason) ||
                    x->observed_generation.value != y->observed_generation.value)
                        return false;
        }
        return true;
}

/* Reads the Work from the hub, unless `whole` came as the answer of a write. */
static int use_hub(struct member_agent *a, const char *name, struct arena *arena, struct source *s,
                   struct error *err)
{
        struct object *o = NULL;

        if (!s->whole) {
                TRY(kube_get(&a->hub, &work_kind, a->ns, name, arena, &o, err));
                s->whole = work_of(o);
        }
        s->before = s->whole->status;
        s->before_on_hub = true;
        s->before_kept = false;
        s->at = &s->whole->object;
        return work_save(a, s->whole, &s->bytes, err);
}

int source_load(struct member_agent *a, const char *name, struct arena *arena, struct source *s,
                struct error *err)
{
        struct stored_work stored;
        int r;

        if (s->whole)
                return use_hub(a, name, arena, s, err);
        r = store_work_get(a->store, name, arena, &stored, err);
        if (r < 0 && r != ERR_NOT_FOUND)
                return r;
        if (s->seen && (r == ERR_NOT_FOUND || !text_equal(stored.uid, s->seen->object.meta.uid) ||
                        stored.generation != s->seen->object.meta.generation))
                return use_hub(a, name, arena, s, err);
        if (r < 0)
                return r;
        TRY(use_stored(a, &stored, arena, s, err));
        s->at = s->seen ? &s->seen->object : NULL;
        if (!s->seen || !s->before_on_hub || same_conditions(s->before, s->seen->status))
                return 0;
        s->whole = NULL; /* someone else wrote, or lost, the status on the hub */
        return use_hub(a, name, arena, s, err);
}

int source_add_finalizer(struct reconcile *rc, struct member_agent *a, struct source *s)
{
        struct object *wanted = object_copy(&s->seen->object, rc->arena), *answer = NULL;

        if (!wanted || object_add_finalizer(wanted, FINALIZER_WORK, rc->arena) < 0)
                return error_no_memory(rc->err);
        TRY(kube_patch_diff(&a->hub, &s->seen->object, wanted, OBJECT_META_SPEC, rc->arena, &answer,
                            rc->err));
        s->whole = work_of(answer);
        return agent_observe(a, a->works, answer, rc->err);
}
