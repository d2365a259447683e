/* A run of the clusters that another one left behind: those that failed, were skipped or not reached, to the
 * same snapshot and by the same stages. Not in the reference. */
#include "hub-agent/staged-update/pass.h"

bool is_retry(const struct pass *p)
{
        return !text_empty(p->run->spec->retry_of);
}

static int refuse(struct pass *p, const char *words)
{
        return run_aborts(
                p,
                words ? words_f(p, ERROR_RUN_VALID ": " ERROR_CLASS_USER ": spec.retryOf: %s", words) : NULL);
}

/* It has to be of the same placement and strategy, to have begun, and to have ended. */
int check_retried(struct pass *p)
{
        const struct update_run *r = p->in->retried;
        const struct update_run_spec *own = p->run->spec;
        const char *name = own->retry_of;

        if (!is_retry(p))
                return 0;
        if (!r || !r->spec)
                return refuse(p, words_f(p, "there is no update run `%s`", ref_of(p, name)));
        if (!text_equal(r->spec->placement_name, own->placement_name))
                return refuse(p, words_f(p, "update run `%s` is of placement `%s`, and this one of `%s`",
                                         ref_of(p, name), or_empty(r->spec->placement_name),
                                         or_empty(own->placement_name)));
        if (!text_equal(r->spec->staged_rollout_strategy_name, own->staged_rollout_strategy_name))
                return refuse(p, words_f(p, "update run `%s` has strategy `%s`, and this one `%s`",
                                         ref_of(p, name), or_empty(r->spec->staged_rollout_strategy_name),
                                         or_empty(own->staged_rollout_strategy_name)));
        if (!update_run_ended(r))
                return refuse(p, words_f(p, "update run `%s` has not ended", ref_of(p, name)));
        if (!r->status->strategy_snapshot || text_empty(r->status->resource_snapshot_index_used))
                return refuse(p, words_f(p, "update run `%s` never began", ref_of(p, name)));
        if (text_empty(own->resource_snapshot_index) ||
            text_equal(own->resource_snapshot_index, r->status->resource_snapshot_index_used))
                return 0;
        return refuse(p,
                      words_f(p, "update run `%s` is of resource snapshot index `%s`, and this one of `%s`",
                              ref_of(p, name), r->status->resource_snapshot_index_used,
                              own->resource_snapshot_index));
}

int copy_retried_strategy(struct pass *p)
{
        const struct update_run *copy =
                (const struct update_run *)object_copy(&p->in->retried->object, p->arena);

        if (!copy)
                return error_no_memory(p->err);
        p->status->strategy_snapshot = copy->status->strategy_snapshot;
        scrub_wait_times(p->status->strategy_snapshot);
        return 0;
}

static bool has_succeeded(const struct cluster_updating_status *c)
{
        const struct condition *s = condition_find(&c->conditions, CONDITION_SUCCEEDED);

        return s && text_equal(s->status, CONDITION_TRUE);
}

/* Of the run that is retried those left behind; later, when that one may be gone, those of the own record. */
static int name_clusters(struct pass *p, struct map *ret)
{
        bool begun = is_true(p, &p->status->conditions, CONDITION_INITIALIZED);
        const struct stage_status_list *stages =
                begun ? &p->status->stages_status : &p->in->retried->status->stages_status;

        map_init(ret, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < stages->n; i++)
                for (uint32_t k = 0; k < stages->at[i].clusters.n; k++) {
                        const struct cluster_updating_status *c = &stages->at[i].clusters.at[k];

                        if ((begun || !has_succeeded(c)) && map_put(ret, c->cluster_name, ret) < 0)
                                return error_no_memory(p->err);
                }
        return 0;
}

int compute_asked_for(struct pass *p, struct stage_status_list *ret)
{
        struct map only;
        int code;

        if (!is_retry(p))
                return compute_stages(p, ret);
        code = name_clusters(p, &only);
        p->only = &only;
        if (code == 0)
                code = compute_stages(p, ret);
        p->only = NULL;
        map_free(&only);
        return code;
}
