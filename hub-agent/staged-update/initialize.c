/* The first pass over a run: what it will bring where is written down. Each step keeps what it found in the
 * status, also when a later one fails. spec/staged-update-and-eviction.md 4. */
#include <stdlib.h>

#include "hub-agent/placement/snapshots.h"
#include "hub-agent/staged-update/pass.h"

static int note_placement(struct pass *p)
{
        TRY(read_placement(p));
        p->status->applied_strategy = p->strategy;
        return 0;
}

/* A run that was made after its placement was changed is not for the clusters of before, and would fail as
 * soon as the intake has made the next snapshot. What cannot be taken in leaves the old one in force. */
static int await_policy(struct pass *p)
{
        if (!p->in->policy_is_outdated || p->in->retrying_ms >= UPDATE_RUN_GRACE_MS)
                return 0;
        return run_retries(p, words_f(p,
                                      "policy snapshot `%s` is not of the policy that placement `%s` has by "
                                      "now: the next one has still to be made",
                                      p->policy_name, ref_of(p, p->run->spec->placement_name)));
}

static int note_policy(struct pass *p)
{
        TRY(read_policy(p));
        TRY(await_policy(p));
        p->status->policy_snapshot_index_used = p->policy_index;
        return 0;
}

static int note_bindings(struct pass *p)
{
        int code = read_bindings(p);

        p->status->policy_observed_cluster_count =
                p->cluster_count > 0 ? OPT_INT(p->cluster_count) : (struct opt_int){ 0 };
        return code;
}

/* ---- stages ---- */

static int copy_strategy(struct pass *p)
{
        const struct update_strategy *s = p->in->strategy;
        const struct update_strategy *copy;

        if (is_retry(p))
                return copy_retried_strategy(p);
        if (!s || !s->spec)
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                             ": referenced updateStrategy not found: `%s`",
                                             ref_of(p, p->run->spec->staged_rollout_strategy_name)));
        copy = (const struct update_strategy *)object_copy(&s->object, p->arena);
        if (!copy)
                return error_no_memory(p->err);
        p->status->strategy_snapshot = copy->spec;
        scrub_wait_times(p->status->strategy_snapshot);
        return 0;
}

static int note_deletion_stage(struct pass *p)
{
        struct stage_status *s = ARENA_NEW(p->arena, struct stage_status);
        struct cluster_updating_status *list =
                ARENA_NEW_ARRAY(p->arena, struct cluster_updating_status, p->removed.n + 1);
        uint32_t n = 0;

        if (!s || !list)
                return error_no_memory(p->err);
        for (size_t i = 0; i < p->removed.n; i++) { /* sorted by cluster */
                const char *cluster = p->removed.at[i].b->spec->target_cluster;

                if (n == 0 || !text_equal(list[n - 1].cluster_name, cluster))
                        list[n++].cluster_name = cluster;
        }
        *s = (struct stage_status){ .stage_name = NAME_DELETION_STAGE,
                                    .clusters = { list, n, true },
                                    .start_time = TIME_NONE,
                                    .end_time = TIME_NONE };
        p->status->deletion_stage_status = s;
        return 0;
}

static int note_stages(struct pass *p)
{
        struct stage_status_list stages;

        TRY(copy_strategy(p));
        TRY(compute_asked_for(p, &stages));
        p->status->stages_status = stages;
        if (keeps_clusters(p))
                TRY(find_left_out(p, &stages));
        return note_deletion_stage(p);
}

/* ---- resource snapshot ---- */

static const struct resource_snapshot *find_master(struct pass *p, const char *index, size_t *ret_n)
{
        const struct object *master = NULL;

        *ret_n = 0;
        for (size_t i = 0; i < p->in->resource_snapshots.n; i++) {
                const struct object *o = p->in->resource_snapshots.at[i];

                if (!text_equal(label_of(o, LABEL_RESOURCE_INDEX), index) || is_deleting(o))
                        continue;
                ++*ret_n;
                if (is_snapshot_head(o))
                        master = o;
        }
        return (const struct resource_snapshot *)master;
}

static int find_given_snapshot(struct pass *p, const char *index)
{
        const char *placement = ref_of(p, p->run->spec->placement_name);
        int64_t number;
        size_t n;

        if (!text_parse_i64(index, &number) || number < 0)
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                             ": invalid resource snapshot index `%s` "
                                                             "provided, expected an integer >= 0",
                                             index));
        p->master = find_master(p, index, &n);
        if (n == 0)
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                             ": no resourceSnapshots with index `%s` found "
                                                             "for placement `%s`",
                                             index, placement));
        if (!p->master)
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID ": " ERROR_CLASS_UNEXPECTED
                                                             ": no master resourceSnapshot found for "
                                                             "placement %s",
                                             placement));
        if (resource_group_is_whole(&p->in->resource_snapshots, &p->master->object))
                return 0;
        return run_waits_or_aborts(p, words_f(p,
                                              ERROR_RUN_VALID ": " ERROR_CLASS_UNEXPECTED
                                                              ": resourceSnapshots with index `%s` are "
                                                              "missing for placement %s",
                                              index, placement));
}

/* What somebody edited in a snapshot is never used. */
static int check_snapshot(struct pass *p)
{
        const char *index = label_of(&p->master->object, LABEL_RESOURCE_INDEX);

        for (size_t i = 0; i < p->in->resource_snapshots.n; i++) {
                const struct object *o = p->in->resource_snapshots.at[i];

                if (text_equal(label_of(o, LABEL_RESOURCE_INDEX), index) && resource_snapshot_was_edited(o))
                        return run_aborts(p, words_f(p,
                                                     ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                                     ": resourceSnapshot `%s` was changed "
                                                                     "after it was made",
                                                     ref_of(p, o->meta.name)));
        }
        return 0;
}

/* Without an index a run takes what is selected now, however soon after the snapshot before. */
static int take_snapshot(struct pass *p)
{
        if (p->in->not_taken)
                return run_aborts(p,
                                  words_f(p, ERROR_RUN_VALID ": " ERROR_CLASS_USER ": %s", p->in->not_taken));
        p->plan->take_snapshot = !p->in->taken;
        p->master = p->in->taken;
        return p->master ? check_snapshot(p) : 0;
}

int read_snapshot(struct pass *p, const char *index)
{
        TRY(find_given_snapshot(p, index));
        return check_snapshot(p);
}

static int note_overrides_of(struct pass *p, const struct cluster_overrides *list,
                             struct cluster_updating_status *c)
{
        const struct target *t = target_of(&p->selected, c->cluster_name);

        c->cluster_resource_override_snapshots = list[t->at].cluster;
        c->resource_override_snapshots = list[t->at].own;
        return 0;
}

static int note_overrides(struct pass *p)
{
        struct stage_status_list *stages = &p->status->stages_status;
        const struct cluster_overrides *list = NULL;
        int code = p->in->overrides(p->in->ctx, p->master, &list);

        if (code == ERR_INVALID)
                return run_aborts(p, words_f(p, ERROR_RUN_VALID ": %s", p->err->text));
        TRY(code);
        for (uint32_t i = 0; list && i < stages->n; i++)
                for (uint32_t k = 0; k < stages->at[i].clusters.n; k++)
                        TRY(note_overrides_of(p, list, &stages->at[i].clusters.at[k]));
        return 0;
}

static int note_snapshot(struct pass *p)
{
        const char *index = is_retry(p) ? p->in->retried->status->resource_snapshot_index_used
                                        : p->run->spec->resource_snapshot_index;

        TRY(text_empty(index) ? take_snapshot(p) : read_snapshot(p, index));
        if (p->plan->take_snapshot)
                return 0;
        p->status->resource_snapshot_index_used = label_of(&p->master->object, LABEL_RESOURCE_INDEX);
        return note_overrides(p);
}

int initialize_run(struct pass *p)
{
        TRY(note_placement(p));
        TRY(check_retried(p));
        TRY(note_policy(p));
        TRY(note_bindings(p));
        TRY(note_stages(p));
        TRY(note_snapshot(p));
        if (!p->plan->take_snapshot)
                set_condition(p, &p->status->conditions, CONDITION_INITIALIZED, CONDITION_TRUE,
                              REASON_RUN_INITIALIZED, MESSAGE_RUN_INITIALIZED);
        return 0;
}
