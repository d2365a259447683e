/* Keys that could not be queued for lack of memory. What the caches hold names them again; a deletion does
 * not, so its object is kept until then. Nothing here allocates before there is memory again. */
#include "common/ctrl/frame.h"

#define RETRY_MS 1000

void running_lose_key(struct running *r, const struct running_watch *w, const struct informer_event *e)
{
        r->lost = true;
        waitq_wake_all(&r->manager->lost);
        if (!e || e->type != INFORMER_DELETED)
                return;
        if (r->n_lost_deletions < ARRAY_LEN(r->lost_deletions))
                r->lost_deletions[r->n_lost_deletions++] =
                        (struct lost_deletion){ w->watch, object_ref(e->now) };
        else
                log_error(&r->manager->log, "no memory to queue the key of a deleted object", "controller",
                          r->controller->name, "name", e->now->meta.name);
}

void running_forget_lost(struct running *r)
{
        while (r->n_lost_deletions > 0)
                object_unref(r->lost_deletions[--r->n_lost_deletions].object);
        r->lost = false;
}

static void find_again(struct running *r)
{
        struct lost_deletion deletions[LOST_DELETIONS_MAX];
        size_t n = r->n_lost_deletions;

        memcpy(deletions, r->lost_deletions, sizeof(deletions));
        r->n_lost_deletions = 0;
        r->lost = false;
        for (size_t i = 0; i < n; i++) {
                struct running_watch w = { r, deletions[i].watch };
                struct informer_event e = { .type = INFORMER_DELETED,
                                            .old = deletions[i].object,
                                            .now = deletions[i].object };

                frame_handle_event(&w, &e);
                object_unref(e.now);
        }
        running_requeue_all(r);
}

static bool is_any_lost(const struct manager *m)
{
        vec_for_each(&m->running, r)
                if ((*r)->lost)
                        return true;
        return false;
}

void lost_keys_run(void *manager)
{
        struct manager *m = manager;
        struct loop *l = m->options.world->loop;

        for (;;) {
                while (!is_any_lost(m))
                        if (waitq_wait(l, &m->lost, DEADLINE_NONE) < 0)
                                return;
                if (fiber_sleep(l, RETRY_MS) < 0)
                        return;
                for (size_t i = 0; i < m->running.n; i++)
                        if (m->running.at[i]->lost)
                                find_again(m->running.at[i]);
        }
}
