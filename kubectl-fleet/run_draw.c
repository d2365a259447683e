/* A run as a board: a line for each stage with its bar, and below it the gates and the clusters that are not
 * simply done or still to come. */
#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"
#include "kubectl-fleet/plan_view.h"
#include "kubectl-fleet/run_view.h"

struct board {
        const struct run_view *view;
        struct run_drawing *d;
        size_t start, width; /* of the line; of the stages' names */
};

static const char *const stage_signs[] = {
        [STAGE_AHEAD] = "○",   [STAGE_RUNS] = "▶", [STAGE_WAITS] = "▶",  [STAGE_STOPPED] = "■",
        [STAGE_SKIPPED] = "✔", [STAGE_DONE] = "✔", [STAGE_FAILED] = "✘",
};

static struct screen *begin(struct board *b, const char *indent)
{
        b->start = b->d->screen.out->len;
        screen_text(&b->d->screen, TONE_PLAIN, "%s", indent);
        return &b->d->screen;
}

static void end(struct board *b)
{
        screen_end_line(&b->d->screen, b->start);
}

static const char *duration_text(int64_t ms, char ret[32])
{
        duration_format_human(MAX(0, ms), ret, 32);
        return ret;
}

/* ---- gates ---- */

void approve_draw(struct screen *s, const char *indent, const struct object *run, const char *request,
                  const char *hash, const char *hub)
{
        char text[1024];

        snprintf(text, sizeof(text), "kubectl fleet approve %s --name %s%s%s%s%s%s",
                 run->meta.ns ? "areq" : "careq", or_empty(request), run->meta.ns ? " -n " : "",
                 or_empty(run->meta.ns), or_empty(hub), hash ? " --plan-hash " : "", or_empty(hash));
        screen_command(s, indent, text);
}

static void draw_word(struct screen *s, struct run_word w)
{
        screen_text(s, w.tone, "%s", w.text);
}

static void draw_approval(struct screen *s, const struct gate *g, bool past)
{
        draw_word(s, gate_word(g, past));
        if (g->state == GATE_PASSED)
                screen_text(s, TONE_FAINT, "  %s", or_empty(g->request));
        else if (g->state == GATE_WAITS && !gate_is_approved(g) && gate_refusal(g))
                screen_text(s, TONE_BAD, "  %s", gate_refusal(g));
}

static void draw_wait(struct board *b, struct screen *s, const struct gate *g, bool past)
{
        char text[32];

        if (g->state == GATE_WAITS && g->until_ms <= b->d->now_ms) {
                screen_text(s, TONE_BUSY, "wait is over in a moment");
                return;
        }
        draw_word(s, gate_word(g, past));
        if (g->state == GATE_WAITS)
                screen_text(s, TONE_BUSY, " another %s", duration_text(g->until_ms - b->d->now_ms, text));
}

static void draw_gates(struct board *b, const char *when, const struct gate *gates, size_t n, bool past)
{
        for (size_t i = 0; i < n; i++) {
                bool approval = text_equal(gates[i].type, STAGE_TASK_APPROVAL);
                struct screen *s = begin(b, "    ");

                screen_text(s, TONE_PLAIN, "%-6s  ", when);
                if (approval)
                        draw_approval(s, &gates[i], past);
                else
                        draw_wait(b, s, &gates[i], past);
                end(b);
                if (approval && gates[i].state == GATE_WAITS && !gate_is_approved(&gates[i]))
                        approve_draw(s, "            ", &b->view->run->object, gates[i].request, NULL,
                                     b->d->hub);
        }
}

/* ---- clusters ---- */

static void draw_cluster(struct board *b, const struct cluster_updating_status *c)
{
        struct step step = step_of(c);
        struct screen *s;
        char text[32];

        if (!b->d->all && (step.state == STEP_DONE || step.state == STEP_AHEAD))
                return;
        s = begin(b, "    ");
        screen_text(s, TONE_PLAIN, "%s  ", or_empty(c->cluster_name));
        draw_word(s, step.word);
        if (step.state == STEP_SKIPPED || step.state == STEP_FAILED)
                screen_text(s, TONE_PLAIN, "  %s", step.message);
        if (step.state == STEP_UPDATES)
                screen_text(s, TONE_FAINT, "  for %s", duration_text(b->d->now_ms - step.since_ms, text));
        end(b);
}

/* ---- stages ---- */

static void draw_times(struct board *b, struct screen *s, const struct stage_view *v)
{
        const struct stage_status *t = v->status;
        bool begun = t->start_time != TIME_NONE && t->start_time != 0;
        bool ended = t->end_time != TIME_NONE && t->end_time != 0;
        char text[32];

        if (!begun || v->state == STAGE_SKIPPED)
                return;
        screen_text(s, TONE_FAINT, ended ? "  in %s" : "  for %s",
                    duration_text((ended ? t->end_time : b->d->now_ms) - t->start_time, text));
}

static void draw_stage(struct board *b, const struct stage_view *v, const char *name)
{
        bool past = gates_are_past(b->view, v);
        struct run_word word = stage_word(v->state);
        struct screen *s = begin(b, "  ");

        if (s->drawn)
                screen_text(s, word.tone, "%s ", stage_signs[v->state]);
        screen_text(s, v == b->view->current ? TONE_STRONG : TONE_PLAIN, "%-*s  ", (int)b->width, name);
        screen_bar(s, &v->progress);
        screen_text(s, word.tone, "  %s", word.text);
        draw_times(b, s, v);
        if (v->state == STAGE_FAILED)
                screen_text(s, TONE_PLAIN, "  %s", stage_failure(v));
        end(b);
        draw_gates(b, "before", v->before, v->n_before, past);
        for (uint32_t i = 0; i < v->status->clusters.n; i++)
                draw_cluster(b, &v->status->clusters.at[i]);
        draw_gates(b, "after", v->after, v->n_after, past);
}

/* ---- the run ---- */

static void draw_head(struct board *b)
{
        const struct run_view *v = b->view;
        const struct object *o = &v->run->object;
        const struct update_run_spec *spec = v->run->spec;
        struct screen *s = begin(b, "");

        screen_text(s, TONE_STRONG, "%s %s%s%s", o->kind->kind, or_empty(o->meta.ns), o->meta.ns ? "/" : "",
                    o->meta.name);
        if (spec)
                screen_text(s, TONE_PLAIN, "  placement %s  revision %s  strategy %s",
                            or_empty(spec->placement_name), text_empty(v->revision) ? "latest" : v->revision,
                            or_empty(spec->staged_rollout_strategy_name));
        if (spec && !text_empty(spec->retry_of))
                screen_text(s, TONE_PLAIN, "  retry of %s", spec->retry_of);
        end(b);
        s = begin(b, "  ");
        screen_bar(s, &v->progress);
        screen_text(s, run_tone(v->state), "  %s", v->word);
        if (!text_empty(v->message))
                screen_text(s, TONE_PLAIN, "  %s", v->message);
        end(b);
}

static void draw_left_out(struct board *b)
{
        const struct update_run_status *status = b->view->run->status;

        for (uint32_t i = 0; status && i < status->left_out_clusters.n; i++) {
                const struct left_out_cluster *c = &status->left_out_clusters.at[i];
                struct screen *s = begin(b, "  ");

                screen_text(s, TONE_BUSY, "left out");
                screen_text(s, TONE_PLAIN, "  %s: %s", or_empty(c->cluster_name), left_out_words(c));
                end(b);
        }
}

void run_draw(const struct run_view *v, struct run_drawing *d)
{
        struct board b = { .view = v, .d = d, .width = v->deletion ? strlen(DELETION_NAME) : 0 };

        for (size_t i = 0; i < v->n_stages; i++)
                b.width = MAX(b.width, strlen(v->stages[i].name));
        draw_head(&b);
        for (size_t i = 0; i < v->n_stages; i++)
                draw_stage(&b, &v->stages[i], v->stages[i].name);
        if (v->deletion)
                draw_stage(&b, v->deletion, DELETION_NAME);
        draw_left_out(&b);
}

/* ---- documents ---- */

static json_t *gate_doc(const struct gate *g)
{
        static const char *const states[] = { "ahead", "waiting", "passed" };
        json_t *doc = json_pack("{s:s, s:s}", "type", or_empty(g->type), "state", states[g->state]);

        if (doc)
                doc_set_unless_empty(doc, "approvalRequest", g->request);
        return doc;
}

static json_t *gates_doc(const struct gate *gates, size_t n)
{
        json_t *doc = json_array();

        for (size_t i = 0; doc && i < n; i++)
                json_array_append_new(doc, gate_doc(&gates[i]));
        return doc;
}

static json_t *cluster_doc(const struct cluster_updating_status *c)
{
        struct step step = step_of(c);

        return json_pack("{s:s, s:s, s:s}", "cluster", or_empty(c->cluster_name), "state",
                         step.state == STEP_AHEAD ? "ahead" : step.word.text, "message", step.message);
}

static json_t *stage_doc(const struct stage_view *v)
{
        json_t *clusters = json_array();

        for (uint32_t i = 0; clusters && i < v->status->clusters.n; i++)
                json_array_append_new(clusters, cluster_doc(&v->status->clusters.at[i]));
        return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "name", v->name, "state",
                         stage_word(v->state).text, "done", (json_int_t)v->progress.good, "updating",
                         (json_int_t)v->progress.busy, "failed", (json_int_t)v->progress.bad, "skipped",
                         (json_int_t)v->n_skipped, "total", (json_int_t)v->progress.total, "before",
                         gates_doc(v->before, v->n_before), "clusters", clusters, "after",
                         gates_doc(v->after, v->n_after));
}

static json_t *left_out_doc(const struct update_run_status *status)
{
        json_t *doc = json_array();

        for (uint32_t i = 0; doc && status && i < status->left_out_clusters.n; i++)
                json_array_append_new(doc,
                                      json_pack("{s:s, s:s}", "cluster",
                                                or_empty(status->left_out_clusters.at[i].cluster_name),
                                                "reason", or_empty(status->left_out_clusters.at[i].reason)));
        return doc;
}

json_t *run_doc(const struct run_view *v)
{
        const struct update_run_spec *spec = v->run->spec;
        json_t *stages = json_array(), *doc;

        for (size_t i = 0; stages && i < v->n_stages; i++)
                json_array_append_new(stages, stage_doc(&v->stages[i]));
        if (stages && v->deletion)
                json_array_append_new(stages, stage_doc(v->deletion));
        doc = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "kind", v->run->object.kind->kind,
                        "name", v->run->object.meta.name, "placement",
                        spec ? or_empty(spec->placement_name) : "", "strategy",
                        spec ? or_empty(spec->staged_rollout_strategy_name) : "", "revision", v->revision,
                        "state", v->word, "message", v->message, "stages", stages, "leftOutClusters",
                        left_out_doc(v->run->status));
        if (doc) {
                doc_set_unless_empty(doc, "namespace", v->run->object.meta.ns);
                doc_set_unless_empty(doc, "retryOf", spec ? spec->retry_of : NULL);
        }
        return doc;
}
