/* Updating the clusters of a stage, so many at a time. spec/staged-update-and-eviction.md 6.3, 6.4. */
#include "hub-agent/staged-update/pass.h"

#define STUCK_SHOWN_MAX 3

const struct stage_config *config_of(const struct pass *p, size_t stage)
{
        const struct strategy_spec *s = p->status->strategy_snapshot;

        return s && stage < s->stages.n ? &s->stages.at[stage] : NULL;
}

/* "n%" of n clusters, rounded down; -1 when it is no percentage. */
static int64_t percent_of(const char *text, size_t n_clusters)
{
        struct slice s = slice_of(text);
        int64_t percent;

        if (s.len < 2 || s.data[s.len - 1] != '%')
                return -1;
        s.len--;
        return slice_parse_i64(s, &percent) && percent >= 0 && percent <= 100
                       ? percent * (int64_t)n_clusters / 100
                       : -1;
}

/* Negative: it is neither a number nor a percentage. */
static int64_t concurrency_of(const struct stage_config *config, size_t n_clusters)
{
        if (!config || !config->max_concurrency.set)
                return 1; /* as the definition has it for who does not say */
        return config->max_concurrency.text ? percent_of(config->max_concurrency.text, n_clusters)
                                            : config->max_concurrency.value;
}

int max_concurrency(struct pass *p, const struct stage_config *config, size_t n_clusters, size_t *ret)
{
        int64_t max = concurrency_of(config, n_clusters);

        if (max < 0)
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                             ": maxConcurrency `%s` of stage `%s` is neither "
                                                             "a number nor a percentage",
                                             or_empty(config->max_concurrency.text), config->name));
        *ret = (size_t)MAX(max, 1);
        return 0;
}

/* ---- what is known of a cluster ---- */

static bool tolerates_failures(const struct stage_config *config)
{
        return config && config->max_failed_clusters.set;
}

bool cluster_is_over(const struct pass *p, const struct stage_config *config,
                     const struct cluster_updating_status *c)
{
        return is_true(p, &c->conditions, CONDITION_SUCCEEDED) ||
               is_true(p, &c->conditions, CONDITION_SKIPPED) ||
               (tolerates_failures(config) && is_false(p, &c->conditions, CONDITION_SUCCEEDED));
}

static bool binding_has_arrived(const struct binding *b)
{
        int64_t generation = b->object.meta.generation;

        return b->status && (condition_is_true(&b->status->conditions, CONDITION_AVAILABLE, generation) ||
                             condition_is_true(&b->status->conditions, CONDITION_DIFF_REPORTED, generation));
}

static const struct condition *rollout_started(const struct binding *b)
{
        return b->status ? condition_find(&b->status->conditions, CONDITION_ROLLOUT_STARTED) : NULL;
}

/* The condition is written by the work generator, a moment after the spec: that it is old says nothing. */
bool update_run_binding_has_started(const struct binding *b)
{
        const struct condition *c = rollout_started(b);

        return c && text_equal(c->status, CONDITION_TRUE) &&
               c->observed_generation.value == b->object.meta.generation;
}

static bool was_taken_back(const struct binding *b)
{
        const struct condition *c = rollout_started(b);

        return c && !text_equal(c->status, CONDITION_TRUE) &&
               c->observed_generation.value == b->object.meta.generation;
}

/* ---- the loop ---- */

struct loop_of_stage {
        struct pass *p;
        struct stage_status *stage;
        const struct stage_config *config;
        const char *snapshot;
        size_t max, updating, over, failed;
        bool moved; /* in this pass a cluster started, or came to its end */
        struct buf stuck;
        size_t n_stuck;
};

static bool in_sync(const struct loop_of_stage *l, const struct binding *b,
                    const struct cluster_updating_status *c)
{
        return text_equal(b->spec->resource_snapshot_name, l->snapshot) &&
               binding_has_overrides(b, &c->cluster_resource_override_snapshots,
                                     &c->resource_override_snapshots) &&
               equal_apply_strategies(b->spec->apply_strategy, l->p->status->applied_strategy);
}

static bool is_bound(const struct binding *b)
{
        return text_equal(b->spec->state, BINDING_BOUND);
}

static void is_over(struct loop_of_stage *l)
{
        l->over++;
        l->updating--;
        l->moved = true;
}

static void succeeds(struct loop_of_stage *l, struct cluster_updating_status *c)
{
        set_cluster_condition(l->p, c, CONDITION_SUCCEEDED, CONDITION_TRUE, REASON_CLUSTER_UPDATING_SUCCEEDED,
                              MESSAGE_CLUSTER_UPDATING_SUCCEEDED);
        is_over(l);
}

static void fails(struct loop_of_stage *l, struct cluster_updating_status *c, const char *words)
{
        set_cluster_condition(l->p, c, CONDITION_SUCCEEDED, CONDITION_FALSE, REASON_CLUSTER_UPDATING_FAILED,
                              words);
        l->p->plan->urgent = true;
}

static void note_started(struct loop_of_stage *l, struct cluster_updating_status *c)
{
        set_cluster_condition(l->p, c, CONDITION_STARTED, CONDITION_TRUE, REASON_CLUSTER_UPDATING_STARTED,
                              MESSAGE_CLUSTER_UPDATING_STARTED);
        l->moved = true;
        stage_started(l->p, l->stage);
}

/* ---- clusters that leave a run that keeps those it began with ---- */

static void skip(struct loop_of_stage *l, struct cluster_updating_status *c, const char *words)
{
        set_cluster_condition(l->p, c, CONDITION_SKIPPED, CONDITION_TRUE, REASON_CLUSTER_LEFT, words);
        is_over(l);
}

/* It is none of the placement's any more. */
static void skip_unpicked(struct loop_of_stage *l, struct cluster_updating_status *c)
{
        skip(l, c, words_f(l->p, "cluster `%s` is not picked for the placement any more", c->cluster_name));
}

/* Its binding goes, as by an eviction, or has gone: picked again, the cluster has one that nobody gave
 * anything yet. */
static bool was_cleared(const struct loop_of_stage *l, const struct binding *b)
{
        return keeps_clusters(l->p) &&
               (is_deleting(&b->object) || (text_equal(b->spec->state, BINDING_SCHEDULED) &&
                                            text_empty(b->spec->resource_snapshot_name)));
}

static void skip_cleared(struct loop_of_stage *l, const struct binding *b, struct cluster_updating_status *c)
{
        struct pass *p = l->p;

        p->plan->confirm.at[p->plan->confirm.n++] = b;
        skip(l, c,
             words_f(p,
                     "cluster `%s` lost what was placed on it while it was updated, as by an eviction: it is "
                     "left to the next run",
                     c->cluster_name));
}

/* ---- clusters under way ---- */

static void lacks_binding(struct loop_of_stage *l, struct cluster_updating_status *c)
{
        if (keeps_clusters(l->p)) {
                skip_unpicked(l, c);
                return;
        }
        note_problem(l->p,
                     words_f(l->p,
                             ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                             ": the binding for cluster `%s` in stage `%s` is not found in "
                                             "the toBeUpdatedBindings map",
                             c->cluster_name, l->stage->stage_name));
}

static int plan_write(struct loop_of_stage *l, const struct binding *b,
                      const struct cluster_updating_status *c)
{
        struct pass *p = l->p;
        struct binding *wanted = (struct binding *)object_copy(&b->object, p->arena);

        if (!wanted || object_add_finalizer(&wanted->object, FINALIZER_WORK, p->arena) < 0)
                return error_no_memory(p->err);
        wanted->spec->state = BINDING_BOUND;
        wanted->spec->resource_snapshot_name = l->snapshot;
        wanted->spec->cluster_resource_override_snapshots = c->cluster_resource_override_snapshots;
        wanted->spec->resource_override_snapshots = c->resource_override_snapshots;
        wanted->spec->apply_strategy = p->status->applied_strategy;
        p->plan->update[p->plan->n_update++] = (struct rollout_write){ b, wanted };
        return 0;
}

static void let_start(struct loop_of_stage *l, const struct binding *b)
{
        l->p->plan->started.at[l->p->plan->started.n++] = b;
}

static int64_t failures_allowed(const struct loop_of_stage *l)
{
        const struct int_or_string *limit = &l->config->max_failed_clusters;

        return MAX(limit->text ? percent_of(limit->text, l->stage->clusters.n) : limit->value, 0);
}

/* By the strategy's own limit; without one a cluster that failed ends the run as it stands. */
static bool has_too_many_failed(const struct loop_of_stage *l)
{
        return tolerates_failures(l->config) && (int64_t)l->failed > failures_allowed(l);
}

static int start_cluster(struct loop_of_stage *l, const struct target *t, struct cluster_updating_status *c)
{
        bool synced = in_sync(l, t->b, c) && is_bound(t->b);

        if (is_deleting(&t->b->object) || l->p->n_problems > 0 || has_too_many_failed(l))
                return 0; /* it gets another one or leaves, or the run is about to end */
        if (!synced)
                TRY(plan_write(l, t->b, c));
        else if (!update_run_binding_has_started(t->b))
                let_start(l, t->b);
        note_started(l, c);
        if (synced && update_run_binding_has_started(t->b) && binding_has_arrived(t->b))
                succeeds(l, c);
        return 0;
}

static void is_preempted(struct loop_of_stage *l, const struct target *t, struct cluster_updating_status *c)
{
        struct pass *p = l->p;
        const char *ref =
                p->in->run->object.meta.ns ? ref_of(p, t->b->object.meta.name) : t->b->object.meta.name;
        const char *words = words_f(p,
                                    ERROR_CLASS_USER
                                    ": the binding of the updating cluster `%s` in the stage `%s` is not "
                                    "up-to-date with the desired status, please check the status of "
                                    "binding `%s` and see if there is a concurrent updateRun referencing "
                                    "the same placement and updating the same cluster",
                                    c->cluster_name, l->stage->stage_name, or_empty(ref));

        fails(l, c, words);
        p->plan->confirm.at[p->plan->confirm.n++] = t->b;
        note_problem(p, words ? words_f(p, ERROR_RUN_ABORT ": %s", words) : NULL);
}

/* ---- clusters that take long ---- */

static int64_t started_at(const struct cluster_updating_status *c)
{
        const struct condition *started = condition_find(&c->conditions, CONDITION_STARTED);

        return started ? started->last_transition_ms : TIME_NONE;
}

static int64_t timeout_of(const struct stage_config *config)
{
        int64_t ns;

        if (!config || text_empty(config->cluster_timeout) ||
            duration_parse_go(slice_of(config->cluster_timeout), &ns) < 0)
                return UPDATE_RUN_STUCK_MS;
        return ns / 1000000;
}

/* What the binding says of it, for the user. */
static const char *what_holds_up(const struct binding *b)
{
        static const char *const types[] = { CONDITION_OVERRIDDEN, CONDITION_WORK_SYNCHRONIZED,
                                             CONDITION_APPLIED, CONDITION_AVAILABLE,
                                             CONDITION_DIFF_REPORTED };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const struct condition *c = b->status ? fresh_condition(&b->status->conditions, types[i],
                                                                        b->object.meta.generation)
                                                      : NULL;

                if (c && text_equal(c->status, CONDITION_FALSE))
                        return text_empty(c->message) ? or_empty(c->reason) : c->message;
        }
        return "it has not reported yet";
}

static void note_stuck(struct loop_of_stage *l, const struct cluster_updating_status *c)
{
        if (l->n_stuck++ < STUCK_SHOWN_MAX)
                buf_printf(&l->stuck, "%s%s", l->n_stuck > 1 ? ", " : "", c->cluster_name);
}

static void takes_time(struct loop_of_stage *l, const struct target *t, struct cluster_updating_status *c)
{
        int64_t left = timeout_of(l->config) - since(l->p, started_at(c));

        if (left >= 0) {
                wake_after(l->p, left + 1);
                return;
        }
        if (!tolerates_failures(l->config)) {
                note_stuck(l, c);
                return;
        }
        fails(l, c,
              words_f(l->p, "cluster `%s` was not updated within %llds: %s", c->cluster_name,
                      (long long)(timeout_of(l->config) / 1000), what_holds_up(t->b)));
        is_over(l);
        l->failed++;
}

static void look_at_started(struct loop_of_stage *l, const struct target *t,
                            struct cluster_updating_status *c)
{
        const struct binding *b = t->b;

        if (was_cleared(l, b)) {
                skip_cleared(l, b, c);
                return;
        }
        if (!in_sync(l, b, c) || !is_bound(b) || is_deleting(&b->object) || was_taken_back(b)) {
                is_preempted(l, t, c);
                return;
        }
        if (!update_run_binding_has_started(b))
                let_start(l, b);
        else if (binding_has_arrived(b)) {
                succeeds(l, c);
                return;
        }
        takes_time(l, t, c);
}

static int look_at(struct loop_of_stage *l, struct cluster_updating_status *c)
{
        const struct target *t;

        if (cluster_is_over(l->p, l->config, c)) {
                l->over++;
                l->failed += is_false(l->p, &c->conditions, CONDITION_SUCCEEDED);
                return 0;
        }
        l->updating++;
        if (is_false(l->p, &c->conditions, CONDITION_SUCCEEDED)) {
                note_problem(l->p,
                             words_f(l->p, ERROR_RUN_ABORT ": the cluster `%s` in the stage %s has failed",
                                     c->cluster_name, l->stage->stage_name));
                return 0;
        }
        t = target_of(&l->p->selected, c->cluster_name);
        if (!t)
                lacks_binding(l, c);
        else if (!is_true(l->p, &c->conditions, CONDITION_STARTED))
                return start_cluster(l, t, c);
        else
                look_at_started(l, t, c);
        return 0;
}

/* ---- the stage ---- */

static void name_failed(struct loop_of_stage *l, struct buf *ret)
{
        size_t n = 0;

        for (uint32_t i = 0; i < l->stage->clusters.n; i++) {
                const struct cluster_updating_status *c = &l->stage->clusters.at[i];

                if (is_false(l->p, &c->conditions, CONDITION_SUCCEEDED) && n++ < STUCK_SHOWN_MAX)
                        buf_printf(ret, "%s%s", n > 1 ? ", " : "", c->cluster_name);
        }
        if (n > STUCK_SHOWN_MAX)
                buf_append_str(ret, "...");
}

static void check_failures(struct loop_of_stage *l)
{
        AUTO_BUF struct buf names;

        buf_init(&names, 1024);
        if (!has_too_many_failed(l))
                return;
        name_failed(l, &names);
        note_problem(l->p, words_f(l->p,
                                   ERROR_RUN_ABORT ": %zu cluster(s) of stage %s failed, and "
                                                   "maxFailedClusters allows %lld: %s",
                                   l->failed, l->stage->stage_name, (long long)failures_allowed(l),
                                   listed_text(l->p, &names)));
}

/* Until something moves the run has not come on: no clock that is set takes that back. */
static const char *said_stuck(const struct loop_of_stage *l)
{
        const struct condition *c =
                fresh_condition(&l->p->status->conditions, CONDITION_PROGRESSING, l->p->generation);

        return c && !l->moved && text_equal(c->reason, REASON_RUN_STUCK) ? c->message : NULL;
}

static const char *stuck_words(struct loop_of_stage *l)
{
        if (l->n_stuck == 0)
                return said_stuck(l);
        if (l->n_stuck > STUCK_SHOWN_MAX)
                buf_append_str(&l->stuck, "...");
        return words_f(l->p, MESSAGE_RUN_STUCK, listed_text(l->p, &l->stuck), l->stage->stage_name);
}

static bool is_stuck(const struct loop_of_stage *l)
{
        return l->n_stuck > 0 || said_stuck(l);
}

static void tell_progress(struct loop_of_stage *l)
{
        if (is_stuck(l))
                set_run_progress(l->p, CONDITION_FALSE, REASON_RUN_STUCK, stuck_words(l));
        else if (l->over < l->stage->clusters.n)
                set_run_progress(l->p, CONDITION_TRUE, REASON_RUN_PROGRESSING, MESSAGE_RUN_PROGRESSING);
}

static void measure_stage(struct pass *p, const struct stage_status *s)
{
        const struct condition *c = condition_find(&s->conditions, CONDITION_PROGRESSING);

        if (c && text_equal(c->reason, REASON_STAGE_STARTED) && s->start_time != TIME_NONE)
                measure(p, MEASURED_STAGE, NULL, since(p, s->start_time));
}

static int loop_init(struct loop_of_stage *l, struct pass *p, size_t stage)
{
        *l = (struct loop_of_stage){ .p = p,
                                     .stage = &p->status->stages_status.at[stage],
                                     .config = config_of(p, stage) };
        buf_init(&l->stuck, 1024);
        l->snapshot = arena_printf(p->arena, "%s-%s" SUFFIX_RESOURCE_SNAPSHOT, p->run->spec->placement_name,
                                   or_empty(p->status->resource_snapshot_index_used));
        return l->snapshot ? 0 : error_no_memory(p->err);
}

static int walk(struct loop_of_stage *l)
{
        TRY(max_concurrency(l->p, l->config, l->stage->clusters.n, &l->max));
        for (uint32_t i = 0; i < l->stage->clusters.n && l->updating < l->max; i++)
                TRY(look_at(l, &l->stage->clusters.at[i]));
        check_failures(l);
        tell_progress(l);
        return problems_end(l->p);
}

int update_clusters(struct pass *p, size_t stage, bool *ret_done)
{
        struct loop_of_stage l;
        int code;

        *ret_done = false;
        TRY(loop_init(&l, p, stage));
        code = walk(&l);
        buf_free(&l.stuck);
        TRY(code);
        *ret_done = l.over == l.stage->clusters.n;
        if (*ret_done)
                measure_stage(p, l.stage);
        else
                wake_after(p, UPDATE_RUN_CLUSTER_POLL_MS);
        return 0;
}

/* ---- stopping (spec 7) ---- */

/* Whose the binding is now does not matter: what was begun here is over or not. */
static void look_at_last(struct loop_of_stage *l, const struct target *t, struct cluster_updating_status *c)
{
        if (update_run_binding_has_started(t->b) && binding_has_arrived(t->b)) {
                succeeds(l, c);
                return;
        }
        if (!update_run_binding_has_started(t->b) && !was_taken_back(t->b) && in_sync(l, t->b, c) &&
            is_bound(t->b))
                let_start(l, t->b);
        takes_time(l, t, c);
}

static int finish(struct loop_of_stage *l, struct cluster_updating_status *c)
{
        struct pass *p = l->p;
        const struct target *t;

        if (!is_true(p, &c->conditions, CONDITION_STARTED) || cluster_is_over(p, l->config, c)) {
                l->failed += is_false(p, &c->conditions, CONDITION_SUCCEEDED);
                return 0;
        }
        l->updating++;
        t = target_of(&p->selected, c->cluster_name);
        if (t && was_cleared(l, t->b))
                skip_cleared(l, t->b, c);
        else if (t)
                look_at_last(l, t, c);
        else if (keeps_clusters(p))
                skip_unpicked(l, c);
        else
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                             ": the binding for cluster `%s` in stage `%s` "
                                                             "is not found in the toBeUpdatedBindings map "
                                                             "during stopping",
                                             c->cluster_name, l->stage->stage_name));
        return 0;
}

static void note_begun_one(struct loop_of_stage *l, const struct binding *b)
{
        for (uint32_t i = 0; i < l->stage->clusters.n; i++) {
                struct cluster_updating_status *c = &l->stage->clusters.at[i];

                if (text_equal(c->cluster_name, b->spec->target_cluster) &&
                    !is_true(l->p, &c->conditions, CONDITION_STARTED))
                        note_started(l, c);
        }
}

/* What a pass began whose status was lost is under way, too. The approval that let it begin was accepted
 * before. */
static int note_begun(struct loop_of_stage *l, size_t stage)
{
        struct pass *p = l->p;
        struct rollout_list begun = { .at = ARENA_NEW_ARRAY(p->arena, const struct binding *,
                                                            p->in->bindings.n + 1) };

        if (!begun.at)
                return error_no_memory(p->err);
        TRY(list_begun(p, &begun));
        if (begun.n > 0)
                note_let_in(p, stage);
        for (size_t i = 0; i < begun.n; i++)
                note_begun_one(l, begun.at[i]);
        return 0;
}

static int finish_all(struct loop_of_stage *l, size_t stage)
{
        TRY(note_begun(l, stage));
        for (uint32_t i = 0; i < l->stage->clusters.n; i++)
                TRY(finish(l, &l->stage->clusters.at[i]));
        check_failures(l);
        return problems_end(l->p);
}

int finish_clusters(struct pass *p, size_t stage, bool *ret_finished, const char **ret_stuck)
{
        struct loop_of_stage l;
        int code;

        TRY(loop_init(&l, p, stage));
        code = finish_all(&l, stage);
        *ret_finished = l.updating == 0;
        *ret_stuck = is_stuck(&l) ? stuck_words(&l) : NULL;
        buf_free(&l.stuck);
        return code;
}

/* ---- when the run ends ---- */

/* From the input: the pass may have ended before it sorted the bindings. */
static int map_bindings(struct pass *p, struct map *ret)
{
        map_init(ret, MAP_BORROW_KEYS, NULL);
        for (size_t i = 0; i < p->in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)p->in->bindings.at[i];

                if (b->spec && !is_deleting(&b->object) && !text_equal(b->spec->state, BINDING_UNSCHEDULED) &&
                    map_put(ret, or_empty(b->spec->target_cluster), (void *)b) < 0)
                        return error_no_memory(p->err);
        }
        return 0;
}

/* The next may have been begun in its place, also when the run's status does not say so yet. */
static bool gives_place(const struct loop_of_stage *l, const struct binding *b,
                        const struct cluster_updating_status *c)
{
        if (!b || cluster_is_over(l->p, l->config, c))
                return true;
        if (is_bound(b) && in_sync(l, b, c) && update_run_binding_has_started(b) && binding_has_arrived(b))
                return true;
        return tolerates_failures(l->config) && is_true(l->p, &c->conditions, CONDITION_STARTED) &&
               since(l->p, started_at(c)) > timeout_of(l->config);
}

static bool is_begun(const struct loop_of_stage *l, const struct binding *b,
                     const struct cluster_updating_status *c)
{
        return is_bound(b) && in_sync(l, b, c) && !update_run_binding_has_started(b) && !was_taken_back(b);
}

/* Two runs may bring the same: what one of them began, and is going to announce, is not the other one's. */
static bool is_of_another(const struct pass *p, const struct binding *b, const char *ours)
{
        const char *due = p->in->announcing(p->in->ctx, b);

        return due && !text_equal(due, ours);
}

/* No further than so many at a time reach: a cluster beyond that is somebody else's. */
static int list_begun_of(struct pass *p, size_t stage, const struct map *bindings, struct rollout_list *ret)
{
        const char *ours = update_run_rollout_message(p->run, p->arena);
        struct loop_of_stage l;
        size_t n = 0;
        int64_t max;

        if (!ours)
                return error_no_memory(p->err);
        TRY(loop_init(&l, p, stage));
        max = concurrency_of(l.config, l.stage->clusters.n);
        for (uint32_t i = 0; i < l.stage->clusters.n && n < (size_t)MAX(max, 1); i++) {
                const struct cluster_updating_status *c = &l.stage->clusters.at[i];
                const struct binding *b = map_get(bindings, c->cluster_name);

                if (gives_place(&l, b, c))
                        continue;
                n++;
                if (is_begun(&l, b, c) && !is_of_another(p, b, ours))
                        ret->at[ret->n++] = b;
        }
        buf_free(&l.stuck);
        return 0;
}

/* A stage is on from the end of the one before it, which is written down first; n = none is. */
static size_t stage_that_is_on(const struct pass *p)
{
        const struct stage_status_list *l = &p->status->stages_status;
        size_t i = 0;

        while (i < l->n && is_true(p, &l->at[i].conditions, CONDITION_SUCCEEDED))
                i++;
        return i;
}

int list_begun(struct pass *p, struct rollout_list *ret)
{
        size_t stage = stage_that_is_on(p);
        bool approved = false;
        struct map bindings;
        int code;

        if (stage == p->status->stages_status.n || text_equal(p->run->spec->state, RUN_STATE_INITIALIZE))
                return 0;
        TRY(was_let_in(p, stage, &approved));
        if (!approved)
                return 0;
        code = map_bindings(p, &bindings);
        if (code == 0)
                code = list_begun_of(p, stage, &bindings, ret);
        map_free(&bindings);
        return code;
}
