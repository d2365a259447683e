/* Every later pass: whether what the run was made for still holds, and how far it has come by its own record.
 * spec/staged-update-and-eviction.md 5. */
#include "hub-agent/staged-update/pass.h"

/* ---- what the run rests on ---- */

static const char *print_strategy(struct pass *p, const struct apply_strategy *s)
{
        if (!s)
                return "none";
        return words_f(p,
                       "{type: %s, comparisonOption: %s, whenToApply: %s, whenToTakeOver: %s, "
                       "allowCoOwnership: %s, forceConflicts: %s}",
                       or_empty(s->type), or_empty(s->comparison_option), or_empty(s->when_to_apply),
                       or_empty(s->when_to_take_over), s->allow_co_ownership.value ? "true" : "false",
                       s->server_side_apply_config && s->server_side_apply_config->force.value ? "true"
                                                                                               : "false");
}

static int check_placement(struct pass *p)
{
        TRY(read_placement(p));
        if (equal_apply_strategies(p->strategy, p->status->applied_strategy))
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_ABORT ": " ERROR_CLASS_USER
                                                     ": the applyStrategy in the updateRun is outdated, "
                                                     "latest: %s, recorded: %s",
                                     print_strategy(p, p->strategy),
                                     print_strategy(p, p->status->applied_strategy)));
}

static int check_policy(struct pass *p)
{
        int64_t recorded = p->status->policy_observed_cluster_count.value;

        if (keeps_clusters(p)) /* it goes on with whatever the latest policy is, also while that is made */
                return 0;
        TRY(read_policy(p));
        if (!text_equal(p->policy_index, p->status->policy_snapshot_index_used))
                return run_aborts(p,
                                  words_f(p,
                                          ERROR_RUN_ABORT ": the policy snapshot index used in the "
                                                          "updateRun is outdated, latest: %s, recorded: %s",
                                          p->policy_index, or_empty(p->status->policy_snapshot_index_used)));
        if (p->cluster_count < 0 || p->cluster_count == recorded)
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_ABORT ": the cluster count initialized in the updateRun is "
                                                     "outdated, latest: %lld, recorded: %lld",
                                     (long long)p->cluster_count, (long long)recorded));
}

/* ---- stages ---- */

static int compare_clusters(struct pass *p, uint32_t i, const struct cluster_updating_status_list *now,
                            const struct cluster_updating_status_list *recorded)
{
        if (now->n != recorded->n)
                return run_aborts(p,
                                  words_f(p,
                                          ERROR_RUN_ABORT ": the number of clusters in index `%u` stage has "
                                                          "changed, new: %u, existing: %u",
                                          i, now->n, recorded->n));
        for (uint32_t k = 0; k < now->n; k++)
                if (!text_equal(now->at[k].cluster_name, recorded->at[k].cluster_name))
                        return run_aborts(
                                p, words_f(p,
                                           ERROR_RUN_ABORT ": the `%u` cluster in the `%u` stage has "
                                                           "changed, new: %s, existing: %s",
                                           k, i, now->at[k].cluster_name, recorded->at[k].cluster_name));
        return 0;
}

static int compare_stages(struct pass *p, const struct stage_status_list *now)
{
        const struct stage_status_list *recorded = &p->status->stages_status;

        if (now->n != recorded->n)
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_ABORT ": the number of stages in the updateRun has "
                                                             "changed, new: %u, existing: %u",
                                             now->n, recorded->n));
        for (uint32_t i = 0; i < now->n; i++) {
                const struct stage_status *a = &now->at[i], *b = &recorded->at[i];

                if (!text_equal(a->stage_name, b->stage_name))
                        return run_aborts(p,
                                          words_f(p,
                                                  ERROR_RUN_ABORT ": index `%u` stage name in the updateRun "
                                                                  "has changed, new: %s, existing: %s",
                                                  i, a->stage_name, b->stage_name));
                TRY(compare_clusters(p, i, &a->clusters, &b->clusters));
        }
        return 0;
}

static int check_stages(struct pass *p)
{
        struct stage_status_list now;

        if (!p->status->strategy_snapshot)
                return run_aborts(p, ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                     ": the updateRun has nil updateStrategySnapshot");
        if (!p->status->stages_status.set && p->status->strategy_snapshot->stages.n > 0)
                return run_aborts(p, ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                     ": the updateRun has nil stagesStatus");
        if (keeps_clusters(p))
                return find_left_out(p, &p->status->stages_status);
        TRY(compute_asked_for(p, &now));
        return compare_stages(p, &now);
}

/* ---- progress ---- */

struct progress {
        int updating, last_done; /* -1 = none */
};

static int unexpected(struct pass *p, const char *words)
{
        return run_aborts(p, words ? words_f(p, ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED ": %s", words)
                                   : NULL);
}

static int check_finished(struct pass *p, int i, struct progress *g)
{
        const struct stage_status *s = &p->status->stages_status.at[i];
        const struct stage_config *config = config_of(p, (size_t)i);

        if (g->updating >= 0)
                return unexpected(p, words_f(p, "the finished stage `%d` is after the updating stage `%d`", i,
                                             g->updating));
        for (uint32_t k = 0; k < s->clusters.n; k++)
                if (!cluster_is_over(p, config, &s->clusters.at[k]))
                        return unexpected(
                                p, words_f(p, "cluster `%s` in the finished stage `%s` has not succeeded",
                                           s->clusters.at[k].cluster_name, s->stage_name));
        if (i != g->last_done + 1)
                return unexpected(p, words_f(p,
                                             "the finished stage `%s` is not right after the last finished "
                                             "stage with index `%d`",
                                             s->stage_name, g->last_done));
        g->last_done = i;
        return 0;
}

static int check_updating(struct pass *p, int i, struct progress *g)
{
        const struct stage_status *s = &p->status->stages_status.at[i];
        const struct stage_config *config = config_of(p, (size_t)i);
        size_t max, n = 0;

        if (g->updating >= 0)
                return unexpected(p, words_f(p,
                                             "the stage `%s` is updating, but there is already a stage with "
                                             "index `%d` updating",
                                             s->stage_name, g->updating));
        if (i != g->last_done + 1)
                return unexpected(p, words_f(p,
                                             "the updating stage `%s` is not right after the last finished "
                                             "stage with index `%d`",
                                             s->stage_name, g->last_done));
        g->updating = i;
        TRY(max_concurrency(p, config, s->clusters.n, &max));
        for (uint32_t k = 0; k < s->clusters.n; k++)
                n += is_true(p, &s->clusters.at[k].conditions, CONDITION_STARTED) &&
                     !cluster_is_over(p, config, &s->clusters.at[k]);
        if (n <= max)
                return 0;
        return unexpected(p, words_f(p,
                                     "the number of updating clusters `%zu` in the updating stage `%s` "
                                     "exceeds maxConcurrency `%zu`",
                                     n, s->stage_name, max));
}

static int check_stage(struct pass *p, int i, struct progress *g)
{
        const struct stage_status *s = &p->status->stages_status.at[i];
        const struct condition *c = condition_find(&s->conditions, CONDITION_SUCCEEDED);

        if (is_true(p, &s->conditions, CONDITION_SUCCEEDED))
                return check_finished(p, i, g);
        if (is_false(p, &s->conditions, CONDITION_SUCCEEDED))
                return run_aborts(p, words_f(p, ERROR_RUN_ABORT ": the stage `%s` has failed, err: %s",
                                             s->stage_name, or_empty(c->message)));
        return condition_find(&s->conditions, CONDITION_PROGRESSING) ? check_updating(p, i, g) : 0;
}

static int check_listed(struct pass *p, const struct map *listed)
{
        for (size_t i = 0; i < p->removed.n; i++) {
                const char *cluster = p->removed.at[i].b->spec->target_cluster;

                if (!map_has(listed, cluster))
                        return unexpected(
                                p, words_f(p, "the cluster `%s` to be deleted is not in the delete stage",
                                           cluster));
        }
        return 0;
}

static int check_deletion_list(struct pass *p)
{
        struct map listed;
        int code;

        if (keeps_clusters(p))
                return 0;
        code = map_deletion_stage(p, &listed);
        if (code == 0)
                code = check_listed(p, &listed);
        map_free(&listed);
        return code;
}

static int check_deletion_stage(struct pass *p, const struct progress *g, int *ret_stage)
{
        const struct stage_status *s = p->status->deletion_stage_status;
        int n = (int)p->status->stages_status.n;
        const struct condition *c;

        if (!s)
                return unexpected(p, "the updateRun has nil deletionStageStatus");
        TRY(check_deletion_list(p));
        c = condition_find(&s->conditions, CONDITION_SUCCEEDED);
        if (g->updating < 0 && g->last_done == n - 1) {
                *ret_stage = is_true(p, &s->conditions, CONDITION_SUCCEEDED) ? STAGE_NONE : n;
                if (!is_false(p, &s->conditions, CONDITION_SUCCEEDED))
                        return 0;
                return run_aborts(p, words_f(p, ERROR_RUN_ABORT ": the delete stage has failed, err: %s",
                                             or_empty(c->message)));
        }
        *ret_stage = g->updating >= 0 ? g->updating : g->last_done + 1;
        if (!c && !is_true(p, &s->conditions, CONDITION_PROGRESSING))
                return 0;
        return unexpected(p, words_f(p,
                                     "the delete stage is active, but there are still stages updating, "
                                     "updatingStageIndex: %d, lastFinishedStageIndex: %d",
                                     g->updating, g->last_done));
}

static int check_progress(struct pass *p, int *ret_stage)
{
        struct progress g = { -1, -1 };

        for (uint32_t i = 0; i < p->status->stages_status.n; i++)
                TRY(check_stage(p, (int)i, &g));
        return check_deletion_stage(p, &g, ret_stage);
}

/* ---- what is rolled out ---- */

static bool is_to_begin(const struct pass *p, size_t stage, const struct cluster_updating_status *c)
{
        return !is_true(p, &c->conditions, CONDITION_STARTED) && !cluster_is_over(p, config_of(p, stage), c);
}

/* It must be there as long as a cluster is to get it. */
static int check_snapshot(struct pass *p)
{
        const struct stage_status_list *l = &p->status->stages_status;

        for (uint32_t i = 0; i < l->n; i++)
                for (uint32_t k = 0; k < l->at[i].clusters.n; k++)
                        if (is_to_begin(p, i, &l->at[i].clusters.at[k]))
                                return read_snapshot(p, or_empty(p->status->resource_snapshot_index_used));
        return 0;
}

int validate_run(struct pass *p, int *ret_stage)
{
        TRY(check_placement(p));
        TRY(check_policy(p));
        TRY(read_bindings(p));
        TRY(check_stages(p));
        TRY(check_tasks(p));
        TRY(check_progress(p, ret_stage));
        return check_snapshot(p);
}
