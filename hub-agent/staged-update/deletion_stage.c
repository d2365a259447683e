/* The last stage takes the placement off the clusters that are no longer picked.
 * spec/staged-update-and-eviction.md 6.6, 7. */
#include "hub-agent/staged-update/pass.h"

int map_deletion_stage(struct pass *p, struct map *ret)
{
        struct cluster_updating_status_list *l = &p->status->deletion_stage_status->clusters;

        map_init(ret, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < l->n; i++)
                if (map_put(ret, l->at[i].cluster_name, &l->at[i]) < 0)
                        return error_no_memory(p->err);
        return 0;
}

static int is_unlisted(struct pass *p, const char *cluster, const char *during)
{
        if (keeps_clusters(p)) /* it left after the run began: the next run takes it off */
                return 0;
        return run_aborts(p,
                          words_f(p,
                                  ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                  ": the to be deleted cluster `%s` is not in the deleting "
                                                  "stage during %s",
                                  cluster, during));
}

static int is_back(struct pass *p, const char *cluster, const char *during)
{
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                     ": the deleted cluster `%s` in the deleting stage still "
                                                     "has a binding during %s",
                                     cluster, during));
}

static void mark_started(struct pass *p, struct cluster_updating_status *c)
{
        set_cluster_condition(p, c, CONDITION_STARTED, CONDITION_TRUE, REASON_CLUSTER_UPDATING_STARTED,
                              MESSAGE_CLUSTER_UPDATING_STARTED);
}

/* A deletion that was asked for and is not to be seen was lost, or is not in the cache yet: it is asked for
 * again, which does no harm. */
static int look_at_binding(struct pass *p, const struct map *listed, const struct binding *b, bool stopping)
{
        const char *during = stopping ? "stopping" : "execution", *cluster = b->spec->target_cluster;
        struct cluster_updating_status *c = map_get(listed, cluster);

        if (!c)
                return is_unlisted(p, cluster, during);
        if (is_true(p, &c->conditions, CONDITION_SUCCEEDED))
                return is_back(p, cluster, during);
        if (stopping && !is_true(p, &c->conditions, CONDITION_STARTED) && !is_deleting(&b->object))
                return 0;
        if (!is_deleting(&b->object))
                p->plan->remove.at[p->plan->remove.n++] = b;
        mark_started(p, c);
        return 0;
}

static int look_at_bindings(struct pass *p, bool stopping)
{
        struct map listed;
        int code = map_deletion_stage(p, &listed);

        for (size_t i = 0; code == 0 && i < p->removed.n; i++)
                code = look_at_binding(p, &listed, p->removed.at[i].b, stopping);
        map_free(&listed);
        return code;
}

/* *ret_going: how many are on their way out. */
static void look_at_clusters(struct pass *p, size_t *ret_going, size_t *ret_left)
{
        struct cluster_updating_status_list *l = &p->status->deletion_stage_status->clusters;

        *ret_going = *ret_left = 0;
        for (uint32_t i = 0; i < l->n; i++) {
                struct cluster_updating_status *c = &l->at[i];

                if (target_of(&p->removed, c->cluster_name)) {
                        ++*ret_left;
                        *ret_going += is_true(p, &c->conditions, CONDITION_STARTED);
                        continue;
                }
                mark_started(p, c);
                set_cluster_condition(p, c, CONDITION_SUCCEEDED, CONDITION_TRUE,
                                      REASON_CLUSTER_UPDATING_SUCCEEDED, MESSAGE_CLUSTER_UPDATING_SUCCEEDED);
        }
}

int run_deletion_stage(struct pass *p, bool *ret_done)
{
        struct stage_status *s = p->status->deletion_stage_status;
        size_t going, left;

        *ret_done = false;
        stage_started(p, s);
        TRY(look_at_bindings(p, false));
        look_at_clusters(p, &going, &left);
        *ret_done = left == 0;
        if (*ret_done) {
                stage_succeeded(p, s, REASON_STAGE_SUCCEEDED, MESSAGE_STAGE_COMPLETED,
                                MESSAGE_STAGE_SUCCEEDED);
                return 0;
        }
        set_run_progress(p, CONDITION_TRUE, REASON_RUN_PROGRESSING, MESSAGE_RUN_PROGRESSING);
        wake_after(p, UPDATE_RUN_CLUSTER_POLL_MS);
        return 0;
}

/* What goes already is waited for, and nothing else is taken off. */
int stop_deletion_stage(struct pass *p, bool *ret_stopped)
{
        size_t going, left;

        TRY(look_at_bindings(p, true));
        look_at_clusters(p, &going, &left);
        *ret_stopped = going == 0;
        return 0;
}
