/* Which snapshots a run needed may go when it has ended: its placement's intake looks at them again.
 * spec/staged-update-and-eviction.md 4.5. */
#include "hub-agent/agent.h"
#include "hub-agent/staged-update/update_run.h"

/* Keys are those of placements. */
static void map_ended(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct update_run *old = (const struct update_run *)(e->old ? e->old : e->now),
                                *run = (const struct update_run *)e->now;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (!run->spec || text_empty(run->spec->placement_name) || update_run_ended(old))
                return;
        if (e->type == INFORMER_DELETED || (e->type == INFORMER_UPDATED && update_run_ended(run)))
                emit(to, key_text(&key, run->object.meta.ns, run->spec->placement_name));
}

static struct outcome reconcile(struct reconcile *rc)
{
        manager_enqueue(rc->manager, &intake_controller, rc->key, QUEUE_NORMAL);
        return done();
}

static const struct watch watches[] = {
        { &cluster_staged_update_run_kind, ON_STATUS | ON_DELETION, map_ended },
        { &staged_update_run_kind, ON_STATUS | ON_DELETION, map_ended },
};

const struct controller ended_run_controller = {
        .name = "ended-update-run",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 1,
};
