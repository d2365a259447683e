/* The view "run": a staged update run as a board of stages, gates and clusters, with what each approval lets
 * happen. */
#include "common/base/map.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/page/board.h"
#include "kubectl-fleet/page/row_parts.h"
#include "kubectl-fleet/run_steer.h"

#define LEFT_OUT_SHOWN 200

/* ---- what is read ---- */

static int need_board(const struct page_board *b, struct page_needs *ret, struct error *err)
{
        const char *of = selector_of(b->look->arena, LABEL_TARGET_UPDATE_RUN, b->name);

        if (!of)
                return error_no_memory(err);
        const struct fetch all[] = {
                { .kind = b->kind, .ns = b->ns, .name = b->name, .may_lack = true },
                { .kind = scope_of(b->ns)->approval_request,
                  .ns = b->ns,
                  .selector = of,
                  .whole = true,
                  .may_lack = true },
        };

        return page_needs_add_all(ret, all, text_is_label_value(b->name) ? 2 : 1, err);
}

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        struct page_board b;

        TRY(page_board_read(l, &b, err));
        TRY(need_board(&b, ret, err));
        if (!b.run || !b.run->spec || run_is_over(b.view.state) || plan_target(b.run) == NO_INDEX)
                return 0;
        for (size_t i = 0; i < page_board_n_stages(&b); i++)
                if (page_board_compares(&b, i))
                        return page_board_plan_needs(&b, ret, err);
        return 0;
}

/* ---- pieces ---- */

static void set_word(struct page_writer *w, struct run_word word)
{
        page_set_string(w, "word", word.text);
        page_set_string(w, "tone", page_tone(word.tone));
}

static json_t *progress_row(struct arena *arena, const struct progress *p, size_t skipped)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set_number(&w, "done", (int64_t)p->good);
        page_set_number(&w, "busy", (int64_t)p->busy);
        page_set_number(&w, "failed", (int64_t)p->bad);
        page_set_number(&w, "total", (int64_t)p->total);
        page_set_number(&w, "skipped", (int64_t)skipped);
        return page_end(&w);
}

/* {can} or {can: false, why}. */
static json_t *answer(struct arena *arena, int code, const struct error *why)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set(&w, "can", json_boolean(code == 0));
        if (code < 0)
                page_set_string(&w, "why", why->text);
        return page_end(&w);
}

/* ---- the head ---- */

static json_t *can_turn(const struct page_board *b, enum run_turn turn)
{
        struct error why = { 0 };
        int code = steer_check_turn(&b->view, turn, false, &why);

        if (code == 0 && steer_is_turned(b->run, turn))
                code = error_set(&why, ERR_INVALID, "%s \"%s\" %s", b->kind->kind, b->name,
                                 turn == TURN_STOP ? "is stopped already" : "runs already");
        return answer(b->look->arena, code, &why);
}

static json_t *can_retry(const struct page_board *b)
{
        struct error why = { 0 };

        return answer(b->look->arena, steer_check_retry(&b->view, false, &why), &why);
}

static size_t count_open(const struct page_board *b, const struct stage_view *v, const struct gate *gates,
                         size_t n)
{
        size_t open = 0;

        for (size_t i = 0; i < n; i++)
                open += page_board_check_gate(b, v, &gates[i], NULL) == 0;
        return open;
}

static json_t *can_approve(const struct page_board *b)
{
        struct error why = { 0 };
        size_t n = 0;
        int code = 0;

        for (size_t i = 0; i < page_board_n_stages(b); i++) {
                const struct stage_view *v = page_board_stage(b, i);

                n += count_open(b, v, v->before, v->n_before) + count_open(b, v, v->after, v->n_after);
        }
        if (n == 0)
                code = error_set(&why, ERR_INVALID, "nothing waits for an approval");
        return answer(b->look->arena, code, &why);
}

static json_t *can_row(const struct page_board *b)
{
        struct page_writer w;

        page_begin(&w, b->look->arena);
        page_set(&w, "stop", can_turn(b, TURN_STOP));
        page_set(&w, "resume", can_turn(b, TURN_RESUME));
        page_set(&w, "retry", can_retry(b));
        page_set(&w, "approve", can_approve(b));
        return page_end(&w);
}

static json_t *left_out_row(struct arena *arena, const struct left_out_cluster *c)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "cluster", c->cluster_name);
        page_set_string(&w, "why", left_out_words(c));
        return page_end(&w);
}

static void set_left_out(struct page_writer *w, const struct left_out_cluster_list *l)
{
        json_t *list = json_array();

        for (uint32_t i = 0; i < MIN(l->n, LEFT_OUT_SHOWN); i++)
                page_append(w, list, left_out_row(w->arena, &l->at[i]));
        page_set(w, "leftOut", list);
        page_set_number(w, "leftOutTotal", l->n);
}

static json_t *placement_name(const struct page_board *b)
{
        struct page_writer w;

        page_begin(&w, b->look->arena);
        page_set_string(&w, "kind", b->ns ? "rp" : "crp");
        page_set_string(&w, "ns", b->ns);
        page_set_string(&w, "name", b->run->spec->placement_name);
        return page_end(&w);
}

static void set_spec(struct page_writer *w, const struct page_board *b)
{
        const struct update_run_spec *spec = b->run->spec;

        if (!spec)
                return;
        page_set(w, "placement", placement_name(b));
        page_set_string(w, "strategy", spec->staged_rollout_strategy_name);
        page_set_string(w, "retryOf", spec->retry_of);
        page_set_string(w, "asked", spec->state ? spec->state : RUN_STATE_RUN);
}

/* When the first stage began, and, once the run is over, the last one ended. */
static void set_times(struct page_writer *w, const struct page_board *b)
{
        int64_t began = 0, ended = 0;

        for (size_t i = 0; i < page_board_n_stages(b); i++) {
                const struct stage_status *s = page_board_stage(b, i)->status;

                if (s->start_time != TIME_NONE && s->start_time != 0 && (began == 0 || s->start_time < began))
                        began = s->start_time;
                if (s->end_time != TIME_NONE && s->end_time > ended)
                        ended = s->end_time;
        }
        page_set(w, "made", page_time(b->run->object.meta.creation_ms));
        page_set(w, "began", page_time(began));
        page_set(w, "ended", page_time(run_is_over(b->view.state) ? ended : 0));
}

static const struct condition *telling(const struct page_board *b)
{
        static const struct condition_list none;
        const struct condition_list *l = b->run->status ? &b->run->status->conditions : &none;
        const struct condition *done = condition_find(l, CONDITION_SUCCEEDED);
        const struct condition *going = condition_find(l, CONDITION_PROGRESSING);

        return done ? done : going ? going : condition_find(l, CONDITION_INITIALIZED);
}

static json_t *head_of(const struct page_board *b)
{
        const struct condition *c = telling(b);
        struct page_writer w;

        page_begin(&w, b->look->arena);
        page_set_string(&w, "kind", b->ns ? "sur" : "csur");
        page_set_string(&w, "kindName", b->kind->kind);
        page_set_string(&w, "ns", b->ns);
        page_set_string(&w, "name", b->name);
        set_word(&w, (struct run_word){ b->view.word, run_tone(b->view.state) });
        page_set_text(&w, "message", b->view.message, PAGE_MESSAGE_BYTES);
        page_set(&w, "since", page_time(c ? c->last_transition_ms : b->run->object.meta.creation_ms));
        page_set_flag(&w, "over", run_is_over(b->view.state));
        page_set_flag(&w, "deleting", is_deleting(&b->run->object));
        page_set_string(&w, "revision", b->view.revision);
        page_set(&w, "progress", progress_row(b->look->arena, &b->view.progress, 0));
        set_spec(&w, b);
        set_times(&w, b);
        page_set(&w, "can", can_row(b));
        if (b->run->status)
                set_left_out(&w, &b->run->status->left_out_clusters);
        page_set_string(&w, "planNote", b->note);
        return page_end(&w);
}

/* ---- stages ---- */

/* Of the plan that shows what the gate lets happen, the key in "plans"; "" = there is none. */
static const char *plan_of(const struct page_board *b, const struct gate *g, size_t next)
{
        if (!text_equal(g->type, STAGE_TASK_APPROVAL))
                return "";
        if (g->asked && g->asked->status && g->asked->status->plan)
                return g->request;
        if (next < page_board_n_stages(b) && b->compared[next])
                return page_board_stage_key(b, next);
        return "";
}

static void set_request(struct page_writer *w, const struct gate *g)
{
        const char *refusal = g->state == GATE_WAITS && !gate_is_approved(g) ? gate_refusal(g) : NULL;

        page_set_string(w, "request", g->request);
        page_set_text(w, "refusal", refusal, PAGE_MESSAGE_BYTES);
        page_set(w, "asked", page_time(g->asked ? g->asked->object.meta.creation_ms : 0));
        page_set_string(w, "hash", g->asked && g->asked->status ? g->asked->status->plan_hash : "");
}

static json_t *gate_row(const struct page_board *b, const struct stage_view *v, const struct gate *g,
                        size_t next)
{
        static const char *const states[] = { "ahead", "waiting", "passed" };
        const char *plan = plan_of(b, g, next);
        struct error why = { 0 };
        int code = page_board_check_gate(b, v, g, &why);
        struct page_writer w;

        page_begin(&w, b->look->arena);
        page_set_string(&w, "type", g->type);
        page_set_string(&w, "state", states[g->state]);
        set_word(&w, gate_word(g, gates_are_past(&b->view, v)));
        page_set_string(&w, "wait", g->wait_time);
        page_set(&w, "until", page_time(g->until_ms));
        set_request(&w, g);
        page_set(&w, "plan", plan ? json_string(plan) : NULL);
        page_set(&w, "can", json_boolean(code == 0));
        page_set_string(&w, "why", code < 0 ? why.text : "");
        return page_end(&w);
}

static json_t *gate_rows(const struct page_board *b, const struct stage_view *v, bool before, size_t next)
{
        const struct gate *gates = before ? v->before : v->after;
        size_t n = before ? v->n_before : v->n_after;
        json_t *list = json_array();
        struct page_writer w = { .doc = list, .failed = !list };

        for (size_t i = 0; i < n; i++)
                page_append(&w, list, gate_row(b, v, &gates[i], next));
        return page_end(&w);
}

static json_t *stage_row(const struct page_board *b, const struct stage_view *v, size_t i)
{
        bool deletion = v == b->view.deletion;
        struct page_writer w;

        page_begin(&w, b->look->arena);
        page_set_number(&w, "index", (int64_t)i);
        page_set_string(&w, "name", deletion ? DELETION_NAME : v->name);
        page_set_flag(&w, "deletion", deletion);
        page_set_flag(&w, "current", v == b->view.current);
        set_word(&w, stage_word(v->state));
        page_set_text(&w, "message", stage_failure(v), PAGE_MESSAGE_BYTES);
        page_set(&w, "progress", progress_row(b->look->arena, &v->progress, v->n_skipped));
        page_set(&w, "began", page_time(v->state == STAGE_SKIPPED ? 0 : v->status->start_time));
        page_set(&w, "ended", page_time(v->state == STAGE_SKIPPED ? 0 : v->status->end_time));
        page_set(&w, "before", gate_rows(b, v, true, i));
        page_set(&w, "after", gate_rows(b, v, false, i + 1));
        if (b->compared[i])
                page_set(&w, "plan", json_string(page_board_stage_key(b, i)));
        return page_end(&w);
}

/* ---- clusters ---- */

static json_t *cluster_row(struct arena *arena, const char *name, const struct step *step, size_t stage,
                           size_t place)
{
        static const char *const states[] = { [STEP_AHEAD] = "ahead",
                                              [STEP_UPDATES] = "updating",
                                              [STEP_DONE] = "done",
                                              [STEP_FAILED] = "failed",
                                              [STEP_SKIPPED] = "skipped" };
        struct page_writer w;

        page_begin(&w, arena);
        page_set_number(&w, "stage", (int64_t)stage);
        page_set_number(&w, "place", (int64_t)place);
        page_set_string(&w, "cluster", name);
        page_set_string(&w, "state", states[step->state]);
        set_word(&w, step->word);
        page_set(&w, "since", page_time(step->since_ms));
        page_set_text(&w, "message", step->state == STEP_DONE ? "" : step->message, PAGE_MESSAGE_BYTES);
        return page_end(&w);
}

static uint64_t stamp_of(const struct step *step, size_t place)
{
        char numbers[64];

        snprintf(numbers, sizeof(numbers), "%d %zu %lld", step->state, place, (long long)step->since_ms);
        return page_stamp_text(page_stamp_text(PAGE_STAMP, numbers), step->message);
}

/* "3/member-1"; what somebody listed twice has its place in the key. NULL on no memory. */
static const char *cluster_key(struct arena *arena, struct map *seen, size_t stage, size_t place,
                               const char *name)
{
        const char *key = arena_printf(arena, "%zu/%s", stage, name);

        if (key && map_has(seen, key))
                key = arena_printf(arena, "%zu/%s#%zu", stage, name, place);
        return key && map_put(seen, key, seen) == 0 ? key : NULL;
}

static int draw_clusters(const struct page_board *b, size_t stage, struct page_doc *d)
{
        const struct cluster_updating_status_list *l = &page_board_stage(b, stage)->status->clusters;
        struct arena *arena = b->look->arena;
        struct map *seen = map_of_arena(arena);

        for (uint32_t i = 0; seen && i < l->n; i++) {
                const char *name = or_empty(l->at[i].cluster_name);
                const char *key = cluster_key(arena, seen, stage, i, name);
                struct step step = step_of(&l->at[i]);
                uint64_t stamp = stamp_of(&step, i);

                if (!key)
                        return ERR_NO_MEMORY;
                if (!page_row_stays(d, "clusters", key, stamp))
                        TRY(page_row_stamped(d, "clusters", key, stamp,
                                             cluster_row(arena, name, &step, stage, i)));
        }
        return seen ? 0 : ERR_NO_MEMORY;
}

/* ---- the view ---- */

static int draw_stages(const struct page_board *b, struct page_doc *d)
{
        char key[32];

        for (size_t i = 0; i < page_board_n_stages(b); i++) {
                snprintf(key, sizeof(key), "%zu", i);
                TRY(page_row(d, "stages", key, stage_row(b, page_board_stage(b, i), i)));
                TRY(draw_clusters(b, i, d));
        }
        return 0;
}

static int explain_absence(const struct page_board *b, struct error *err)
{
        if (b->problem)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" cannot be read: %s", b->kind->kind, b->name,
                                 b->problem);
        if (b->ns)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found in namespace \"%s\"", b->kind->kind,
                                 b->name, b->ns);
        return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found", b->kind->kind, b->name);
}

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        struct page_board b;
        int code;

        TRY(page_board_read(l, &b, err));
        if (!b.run)
                return explain_absence(&b, err);
        TRY(page_board_plans(&b, d, err));
        code = page_head(d, head_of(&b));
        if (code == 0)
                code = draw_stages(&b, d);
        return code < 0 ? error_set(err, code, "%s \"%s\": %s", b.kind->kind, b.name, error_code_name(code))
                        : 0;
}

const struct page_view run_page_view = { .name = "run", .need = need, .look = look };
