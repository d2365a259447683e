#include "kubectl-fleet/run_view.h"

#include "hub-agent/common.h"

bool run_is_over(enum run_state state)
{
        return state == RUN_DONE || state == RUN_FAILED;
}

enum tone run_tone(enum run_state state)
{
        static const enum tone tones[] = {
                [RUN_NEW] = TONE_FAINT,     [RUN_READY] = TONE_FAINT, [RUN_GOES_ON] = TONE_BUSY,
                [RUN_WAITS] = TONE_BUSY,    [RUN_STUCK] = TONE_BAD,   [RUN_STOPPING] = TONE_BUSY,
                [RUN_STOPPED] = TONE_FAINT, [RUN_DONE] = TONE_GOOD,   [RUN_FAILED] = TONE_BAD
        };

        return tones[state];
}

static bool is(const struct condition *c, const char *status)
{
        return c && text_equal(c->status, status);
}

static bool holds(const struct condition_list *l, const char *type)
{
        return is(condition_find(l, type), CONDITION_TRUE);
}

/* ---- gates ---- */

static const char *wait_time_of(const struct stage_config *config, bool before)
{
        const struct stage_task_list *l =
                config ? before ? &config->before_stage_tasks : &config->after_stage_tasks : NULL;

        for (uint32_t i = 0; l && i < l->n; i++)
                if (text_equal(l->at[i].type, STAGE_TASK_TIMED_WAIT))
                        return l->at[i].wait_time;
        return NULL;
}

/* A wait counts from when the stage's clusters were done (6.7). */
static int64_t end_of_wait(const struct stage_status *s, const struct stage_config *config)
{
        const struct condition *c = condition_find(&s->conditions, CONDITION_PROGRESSING);
        const char *text = wait_time_of(config, false);
        int64_t ns;

        if (!c || !text_equal(c->reason, REASON_STAGE_WAITING) || c->last_transition_ms == TIME_NONE ||
            text_empty(text) || duration_parse_go(slice_of(text), &ns) < 0)
                return TIME_NONE;
        return c->last_transition_ms + ns / 1000000;
}

static const struct approval_request *request_of(const struct object_list *requests, const char *name)
{
        for (size_t i = 0; name && i < requests->n; i++)
                if (text_equal(requests->at[i]->meta.name, name))
                        return (const struct approval_request *)requests->at[i];
        return NULL;
}

static void look_at_gate(const struct stage_task_status *t, const struct stage_status *s,
                         const struct stage_config *config, const struct object_list *requests,
                         struct gate *ret)
{
        bool approval = text_equal(t->type, STAGE_TASK_APPROVAL);

        *ret = (struct gate){ .type = t->type, .request = t->approval_request_name, .until_ms = TIME_NONE };
        ret->asked = request_of(requests, ret->request);
        ret->wait_time = approval ? NULL : wait_time_of(config, false);
        if (holds(&t->conditions,
                  approval ? CONDITION_APPROVAL_REQUEST_APPROVED : CONDITION_WAIT_TIME_ELAPSED)) {
                ret->state = GATE_PASSED;
                return;
        }
        if (!approval)
                ret->until_ms = end_of_wait(s, config);
        if (approval ? holds(&t->conditions, CONDITION_APPROVAL_REQUEST_CREATED) : ret->until_ms != TIME_NONE)
                ret->state = GATE_WAITS;
}

static int look_at_gates(struct arena *arena, const struct stage_task_status_list *l,
                         const struct stage_status *s, const struct stage_config *config,
                         const struct object_list *requests, struct gate **ret, size_t *ret_n)
{
        *ret = ARENA_NEW_ARRAY(arena, struct gate, l->n + 1);
        *ret_n = l->n;
        if (!*ret)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < l->n; i++)
                look_at_gate(&l->at[i], s, config, requests, &(*ret)[i]);
        return 0;
}

/* ---- stages ---- */

static enum stage_state stage_state_of(const struct stage_status *s)
{
        const struct condition *done = condition_find(&s->conditions, CONDITION_SUCCEEDED);
        const struct condition *going = condition_find(&s->conditions, CONDITION_PROGRESSING);

        if (is(done, CONDITION_TRUE))
                return text_equal(done->reason, REASON_STAGE_SKIPPED_NO_CLUSTERS) ? STAGE_SKIPPED
                                                                                  : STAGE_DONE;
        if (is(done, CONDITION_FALSE))
                return STAGE_FAILED;
        if (!going)
                return STAGE_AHEAD;
        if (text_equal(going->reason, REASON_STAGE_WAITING))
                return STAGE_WAITS;
        return text_equal(going->reason, REASON_STAGE_STOPPED) ? STAGE_STOPPED : STAGE_RUNS;
}

static void count_clusters(const struct stage_status *s, struct stage_view *v)
{
        for (uint32_t i = 0; i < s->clusters.n; i++) {
                const struct condition_list *l = &s->clusters.at[i].conditions;
                const struct condition *done = condition_find(l, CONDITION_SUCCEEDED);

                if (holds(l, CONDITION_SKIPPED)) {
                        v->n_skipped++;
                        continue;
                }
                v->progress.total++;
                v->progress.good += is(done, CONDITION_TRUE);
                v->progress.bad += is(done, CONDITION_FALSE);
                v->progress.busy += !done && holds(l, CONDITION_STARTED);
        }
}

static const struct stage_config *config_of(const struct update_run_status *status, const char *stage)
{
        for (uint32_t i = 0; status->strategy_snapshot && i < status->strategy_snapshot->stages.n; i++)
                if (text_equal(status->strategy_snapshot->stages.at[i].name, stage))
                        return &status->strategy_snapshot->stages.at[i];
        return NULL;
}

static int look_at_stage(struct arena *arena, const struct update_run_status *status,
                         const struct stage_status *s, const struct object_list *requests,
                         struct stage_view *v)
{
        const struct stage_config *config = config_of(status, s->stage_name);

        *v = (struct stage_view){ .status = s, .name = or_empty(s->stage_name), .state = stage_state_of(s) };
        count_clusters(s, v);
        TRY(look_at_gates(arena, &s->before_stage_task_status, s, config, requests, &v->before,
                          &v->n_before));
        return look_at_gates(arena, &s->after_stage_task_status, s, config, requests, &v->after, &v->n_after);
}

/* ---- the run ---- */

static void set_state(struct run_view *v, enum run_state state, const char *word, const struct condition *c)
{
        v->state = state;
        v->word = word;
        v->message = c ? or_empty(c->message) : "";
}

static void judge_progress(const struct condition *going, struct run_view *v)
{
        static const struct {
                const char *reason;
                enum run_state state;
                const char *word;
        } words[] = {
                { REASON_RUN_WAITING, RUN_WAITS, "waiting" },
                { REASON_RUN_STUCK, RUN_STUCK, "stuck" },
                { REASON_RUN_STOPPED, RUN_STOPPED, "stopped" },
                { REASON_RUN_STOPPING, RUN_STOPPING, "stopping" },
                { REASON_RUN_FAILED, RUN_FAILED, "failed" },
                { REASON_RUN_SUCCEEDED, RUN_DONE, "succeeded" },
        };

        set_state(v, RUN_GOES_ON, "in progress", NULL);
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (text_equal(going->reason, words[i].reason))
                        set_state(v, words[i].state, words[i].word, going);
}

static void judge(const struct update_run *run, struct run_view *v)
{
        static const struct condition_list none;
        const struct condition_list *l = run->status ? &run->status->conditions : &none;
        const struct condition *initialized = condition_find(l, CONDITION_INITIALIZED);
        const struct condition *going = condition_find(l, CONDITION_PROGRESSING);
        const struct condition *done = condition_find(l, CONDITION_SUCCEEDED);

        if (is(initialized, CONDITION_FALSE))
                set_state(v, RUN_FAILED, "not initialized", initialized);
        else if (is(done, CONDITION_TRUE))
                set_state(v, RUN_DONE, "succeeded", NULL);
        else if (is(done, CONDITION_FALSE))
                set_state(v, RUN_FAILED, "failed", done);
        else if (!initialized)
                set_state(v, RUN_NEW, "being initialized", NULL);
        else if (going)
                judge_progress(going, v);
        else
                set_state(v, RUN_READY, "initialized", NULL);
}

static bool is_under_way(enum stage_state s)
{
        return s == STAGE_RUNS || s == STAGE_WAITS || s == STAGE_STOPPED || s == STAGE_FAILED;
}

static int look_at_deletion(struct arena *arena, const struct update_run_status *status,
                            const struct object_list *requests, struct run_view *v)
{
        const struct stage_status *s = status->deletion_stage_status;

        if (!s || (s->clusters.n == 0 && stage_state_of(s) != STAGE_FAILED))
                return 0;
        v->deletion = ARENA_NEW(arena, struct stage_view);
        if (!v->deletion)
                return ERR_NO_MEMORY;
        TRY(look_at_stage(arena, status, s, requests, v->deletion));
        if (is_under_way(v->deletion->state))
                v->current = v->deletion;
        return 0;
}

int run_look(struct arena *arena, const struct update_run *run, const struct object_list *requests,
             struct run_view *ret)
{
        const struct update_run_status *status = run->status;
        const char *asked = run->spec ? or_empty(run->spec->resource_snapshot_index) : "";

        *ret = (struct run_view){ .run = run };
        ret->revision = status && !text_empty(status->resource_snapshot_index_used)
                                ? status->resource_snapshot_index_used
                                : asked;
        judge(run, ret);
        if (!status)
                return 0;
        ret->stages = ARENA_NEW_ARRAY(arena, struct stage_view, status->stages_status.n + 1);
        if (!ret->stages)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < status->stages_status.n; i++) {
                struct stage_view *v = &ret->stages[ret->n_stages++];

                TRY(look_at_stage(arena, status, &status->stages_status.at[i], requests, v));
                ret->progress.good += v->progress.good;
                ret->progress.busy += v->progress.busy;
                ret->progress.bad += v->progress.bad;
                ret->progress.total += v->progress.total;
                if (!ret->current && is_under_way(v->state))
                        ret->current = v;
        }
        return look_at_deletion(arena, status, requests, ret);
}

/* ---- in words ---- */

struct run_word stage_word(enum stage_state state)
{
        static const struct run_word words[] = {
                [STAGE_AHEAD] = { "to come", TONE_FAINT },
                [STAGE_RUNS] = { "in progress", TONE_BUSY },
                [STAGE_WAITS] = { "waiting", TONE_BUSY },
                [STAGE_STOPPED] = { "stopped", TONE_FAINT },
                [STAGE_DONE] = { "done", TONE_GOOD },
                [STAGE_SKIPPED] = { "skipped, no clusters", TONE_FAINT },
                [STAGE_FAILED] = { "failed", TONE_BAD },
        };

        return words[state];
}

const char *stage_failure(const struct stage_view *v)
{
        const struct condition *done = condition_find(&v->status->conditions, CONDITION_SUCCEEDED);

        return v->state == STAGE_FAILED && done ? or_empty(done->message) : "";
}

bool gates_are_past(const struct run_view *v, const struct stage_view *stage)
{
        return run_is_over(v->state) || stage->state == STAGE_SKIPPED;
}

bool gate_is_approved(const struct gate *g)
{
        const struct approval_request *r = g->asked;

        return r && r->status &&
               is(fresh_condition(&r->status->conditions, CONDITION_APPROVED, r->object.meta.generation),
                  CONDITION_TRUE);
}

const char *gate_refusal(const struct gate *g)
{
        const struct condition *c =
                g->asked && g->asked->status
                        ? condition_find(&g->asked->status->conditions, CONDITION_APPROVAL_ACCEPTED)
                        : NULL;

        return is(c, CONDITION_FALSE) ? or_empty(c->message) : NULL;
}

struct run_word gate_word(const struct gate *g, bool past)
{
        if (!text_equal(g->type, STAGE_TASK_APPROVAL)) {
                if (g->state == GATE_PASSED)
                        return (struct run_word){ "wait is over", TONE_GOOD };
                if (g->state == GATE_WAITS)
                        return (struct run_word){ "waits", TONE_BUSY };
                return (struct run_word){ past ? "not waited for" : "waits later", TONE_FAINT };
        }
        if (g->state == GATE_PASSED)
                return (struct run_word){ "approved", TONE_GOOD };
        if (g->state == GATE_AHEAD)
                return (struct run_word){ past ? "not asked for" : "asked for later", TONE_FAINT };
        return gate_is_approved(g) ? (struct run_word){ "approved, and not taken up yet", TONE_BUSY }
                                   : (struct run_word){ "waits for approval", TONE_BUSY };
}

struct step step_of(const struct cluster_updating_status *c)
{
        const struct condition *skipped = condition_find(&c->conditions, CONDITION_SKIPPED);
        const struct condition *done = condition_find(&c->conditions, CONDITION_SUCCEEDED);
        const struct condition *started = condition_find(&c->conditions, CONDITION_STARTED);

        if (is(skipped, CONDITION_TRUE))
                return (struct step){ STEP_SKIPPED,
                                      { "skipped", TONE_FAINT },
                                      or_empty(skipped->message),
                                      skipped->last_transition_ms };
        if (is(done, CONDITION_FALSE))
                return (struct step){
                        STEP_FAILED, { "failed", TONE_BAD }, or_empty(done->message), done->last_transition_ms
                };
        if (done)
                return (struct step){
                        STEP_DONE, { "done", TONE_GOOD }, or_empty(done->message), done->last_transition_ms
                };
        if (started)
                return (struct step){
                        STEP_UPDATES, { "updating", TONE_BUSY }, "", started->last_transition_ms
                };
        return (struct step){ STEP_AHEAD, { "to come", TONE_FAINT }, "", TIME_NONE };
}

const char *left_out_words(const struct left_out_cluster *c)
{
        if (text_equal(c->reason, LEFT_OUT_IN_NO_STAGE))
                return "no stage selects it";
        return text_equal(c->reason, LEFT_OUT_JOINED) ? "it was picked after the run began"
                                                      : or_empty(c->reason);
}
