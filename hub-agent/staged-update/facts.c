/* What a run rests on: its placement, the latest policy snapshot, and the bindings. Read alike at the
 * initialization and in each pass after it. spec/staged-update-and-eviction.md 4.1-4.3. */
#include <stdlib.h>

#include "hub-agent/staged-update/pass.h"

bool keeps_clusters(const struct pass *p)
{
        const struct strategy_spec *s = p->status->strategy_snapshot;

        return s && text_equal(s->on_cluster_change, CLUSTER_CHANGE_CONTINUE);
}

/* ---- placement ---- */

int read_placement(struct pass *p)
{
        const struct placement *placement = p->in->placement;
        const struct rollout_strategy *s;

        if (!placement || !placement->spec)
                return run_aborts(p, ERROR_RUN_VALID ": " ERROR_CLASS_USER ": parent placement not found");
        if (is_deleting(&placement->object))
                return run_aborts(p, ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                     ": parent placement not found: it is being deleted");
        s = placement->spec->strategy;
        if (!s || !text_equal(s->type, ROLLOUT_EXTERNAL))
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                             ": parent placement does not have an external "
                                                             "rollout strategy, current strategy: %s",
                                             s && !text_empty(s->type) ? s->type : ROLLOUT_ROLLING_UPDATE));
        p->strategy = defaulted_apply_strategy(placement, p->arena);
        return p->strategy ? 0 : error_no_memory(p->err);
}

/* ---- policy ---- */

static int find_policy(struct pass *p, const struct policy_snapshot **ret)
{
        const struct policy_snapshot *found = NULL;
        size_t n = 0;

        for (size_t i = 0; i < p->in->policy_snapshots.n; i++) {
                const struct object *o = p->in->policy_snapshots.at[i];

                if (is_deleting(o) || !label_is_true(o, LABEL_IS_LATEST_SNAPSHOT))
                        continue;
                found = (const struct policy_snapshot *)o;
                n++;
        }
        if (n > 1)
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID
                                             ": " ERROR_CLASS_UNEXPECTED
                                             ": multiple active policy snapshots found for placement "
                                             "%s: got %zu, want 1",
                                             ref_of(p, p->run->spec->placement_name), n));
        *ret = found;
        if (found)
                return 0;
        return run_waits_or_aborts(
                p, words_f(p, ERROR_RUN_VALID ": no latest policy snapshot found for placement %s",
                           ref_of(p, p->run->spec->placement_name)));
}

static int count_clusters(struct pass *p, const struct policy_snapshot *s)
{
        const struct placement_policy *policy = s->spec ? s->spec->policy : NULL;
        const char *type = policy ? policy->placement_type : NULL;
        struct error err;

        p->cluster_count = -1;
        if (text_equal(type, PLACEMENT_PICK_FIXED))
                p->cluster_count = policy->cluster_names.n;
        if (!text_equal(type, PLACEMENT_PICK_N) ||
            annotation_number(&s->object, ANNOTATION_NUMBER_OF_CLUSTERS, &p->cluster_count, &err) == 0)
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_VALID ", " ERROR_CLASS_UNEXPECTED
                                                     ": %s: the policy snapshot `%s` doesn't have valid "
                                                     "cluster count annotation",
                                     err.text, ref_of(p, p->policy_name)));
}

int read_policy(struct pass *p)
{
        const struct policy_snapshot *s = NULL;

        TRY(find_policy(p, &s));
        p->policy_name = s->object.meta.name;
        p->policy_index = label_of(&s->object, LABEL_POLICY_INDEX);
        if (text_empty(p->policy_index))
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID ": " ERROR_CLASS_UNEXPECTED
                                                             ": policy snapshot `%s` does not have a policy "
                                                             "index label",
                                             ref_of(p, p->policy_name)));
        TRY(count_clusters(p, s));
        if (s->status &&
            condition_is_true(&s->status->conditions, CONDITION_SCHEDULED, s->object.meta.generation))
                return 0;
        return run_waits_or_aborts(
                p, words_f(p, ERROR_RUN_VALID ": policy snapshot `%s` not fully scheduled yet",
                           s->object.meta.name));
}

/* ---- bindings ---- */

static bool is_in_state(const struct binding *b, const char *state)
{
        return b->spec && text_equal(b->spec->state, state);
}

/* A run that keeps its clusters lives on under another policy, and need not wait until the scheduler has
 * carried that to each binding. */
static int sort_binding(struct pass *p, size_t i)
{
        const struct binding *b = (const struct binding *)p->in->bindings.at[i];
        struct target t = { b, p->in->clusters[i], i };

        if (is_in_state(b, BINDING_UNSCHEDULED)) {
                p->removed.at[p->removed.n++] = t;
                return 0;
        }
        if (!keeps_clusters(p) &&
            (!b->spec || !text_equal(b->spec->scheduling_policy_snapshot_name, p->policy_name)))
                return run_retries(p,
                                   words_f(p,
                                           "binding `%s` is of policy snapshot `%s`, and the latest one "
                                           "is `%s`: the scheduler has still to decide on it",
                                           b->object.meta.name,
                                           b->spec ? or_empty(b->spec->scheduling_policy_snapshot_name) : "",
                                           p->policy_name));
        if (!b->spec)
                return 0;
        p->selected.at[p->selected.n++] = t;
        return 0;
}

static const char *cluster_of(const struct target *t)
{
        return or_empty(t->b->spec->target_cluster);
}

static int by_cluster(const void *a, const void *b)
{
        const struct target *x = a, *y = b;
        int order = strcmp(cluster_of(x), cluster_of(y));

        return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* What was evicted, or deleted by hand, may still be on its way out when its cluster has been chosen again:
 * it is the new binding that is updated. Two that both live were made by mistake, and one is about to go. */
static int drop_departing(struct pass *p)
{
        struct targets *all = &p->selected;
        size_t n = 0;

        for (size_t i = 0; i < all->n; i++) {
                struct target *t = &all->at[i], *before = n > 0 ? &all->at[n - 1] : NULL;

                if (!before || !text_equal(cluster_of(before), cluster_of(t)))
                        all->at[n++] = *t;
                else if (is_deleting(&before->b->object))
                        *before = *t;
                else if (!is_deleting(&t->b->object))
                        return run_waits_or_aborts(p, words_f(p,
                                                              ERROR_RUN_VALID
                                                              ": " ERROR_CLASS_UNEXPECTED
                                                              ": cluster `%s` has two bindings: %s and %s",
                                                              cluster_of(t), before->b->object.meta.name,
                                                              t->b->object.meta.name));
        }
        all->n = n;
        return 0;
}

static bool is_initialized(const struct pass *p)
{
        return is_true(p, &p->status->conditions, CONDITION_INITIALIZED);
}

/* The scheduler may be about to decide: after the policy was changed, or a binding was evicted. */
static int check_count(struct pass *p)
{
        if (p->selected.n + p->removed.n == 0 && !is_initialized(p))
                return run_waits_or_aborts(p, words_f(p,
                                                      ERROR_RUN_VALID
                                                      ": no scheduled or to-be-deleted bindings found "
                                                      "for the latest policy snapshot %s",
                                                      ref_of(p, p->policy_name)));
        if (p->cluster_count < 0)
                p->cluster_count = (int64_t)p->selected.n;
        if (p->cluster_count == (int64_t)p->selected.n || keeps_clusters(p))
                return 0;
        return run_waits_or_aborts(p, words_f(p,
                                              ERROR_RUN_VALID
                                              ": " ERROR_CLASS_UNEXPECTED
                                              ": the number of selected bindings %zu is not equal to "
                                              "the observed cluster count %lld",
                                              p->selected.n, (long long)p->cluster_count));
}

int read_bindings(struct pass *p)
{
        size_t n = p->in->bindings.n;

        p->selected.at = ARENA_NEW_ARRAY(p->arena, struct target, n + 1);
        p->removed.at = ARENA_NEW_ARRAY(p->arena, struct target, n + 1);
        if (!p->selected.at || !p->removed.at)
                return error_no_memory(p->err);
        for (size_t i = 0; i < n; i++)
                TRY(sort_binding(p, i));
        qsort(p->selected.at, p->selected.n, sizeof(p->selected.at[0]), by_cluster);
        qsort(p->removed.at, p->removed.n, sizeof(p->removed.at[0]), by_cluster);
        TRY(drop_departing(p));
        return check_count(p);
}

static int is_before(const void *cluster, const void *target)
{
        return strcmp(cluster, cluster_of(target));
}

struct target *target_of(const struct targets *t, const char *cluster)
{
        return bsearch(cluster, t->at, t->n, sizeof(t->at[0]), is_before);
}
