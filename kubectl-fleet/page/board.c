/* What the view of a run reads, and what its stages and gates are. */
#include "kubectl-fleet/page/board.h"

#include "hub-agent/common.h"

const char *page_tone(enum tone t)
{
        static const char *const names[] = {
                [TONE_PLAIN] = "plain", [TONE_GOOD] = "good",   [TONE_BUSY] = "busy",
                [TONE_BAD] = "bad",     [TONE_FAINT] = "faint", [TONE_STRONG] = "strong"
        };

        return names[t];
}

static int read_name(const struct page_look *l, struct page_board *b, struct error *err)
{
        const char *kind;

        TRY(page_arg(l, "kind", &kind, err));
        TRY(page_arg(l, "name", &b->name, err));
        if (!text_is_dns1123_subdomain(b->name))
                return error_set(err, ERR_INVALID, "name: must be the name of an update run");
        if (text_equal(kind, "sur")) {
                TRY(page_arg(l, "ns", &b->ns, err));
                if (!text_is_dns1123_label(b->ns))
                        return error_set(err, ERR_INVALID, "ns: must be the name of a namespace");
        } else if (!text_equal(kind, "csur")) {
                return error_set(err, ERR_INVALID, "kind: must be csur or sur");
        } else if (*page_arg_or(l, "ns", "")) {
                return error_set(err, ERR_INVALID, "ns: a ClusterStagedUpdateRun has no namespace");
        }
        b->kind = scope_of(b->ns)->update_run;
        return 0;
}

int page_board_read(const struct page_look *l, struct page_board *ret, struct error *err)
{
        static const struct object_list none;
        const struct page_need *run, *requests;

        *ret = (struct page_board){ .look = l, .requests = &none };
        TRY(read_name(l, ret, err));
        run = page_need_of(l, ret->kind, 0);
        requests = page_need_of(l, scope_of(ret->ns)->approval_request, 0);
        if (requests) {
                ret->requests = &requests->fetch.result;
                ret->requests_problem = requests->problem;
        }
        if (!run)
                return 0;
        ret->problem = run->problem;
        ret->run = (const struct update_run *)fetched(&run->fetch);
        if (!ret->run)
                return 0;
        if (run_look(l->arena, ret->run, ret->requests, &ret->view) < 0 ||
            plan_look(l->arena, ret->run, ret->requests, NULL, &ret->plans) < 0)
                return error_no_memory(err);
        return 0;
}

/* ---- stages ---- */

size_t page_board_n_stages(const struct page_board *b)
{
        return b->view.n_stages + (b->view.deletion != NULL);
}

const struct stage_view *page_board_stage(const struct page_board *b, size_t i)
{
        return i < b->view.n_stages ? &b->view.stages[i] : b->view.deletion;
}

const char *page_board_stage_key(const struct page_board *b, size_t i)
{
        return arena_printf(b->look->arena, "stage/%zu", i);
}

static bool lies_ahead(const struct stage_view *v)
{
        const struct progress *p = &v->progress;

        return p->total > 0 && p->good + p->busy + p->bad == 0 && v->state != STAGE_DONE &&
               v->state != STAGE_SKIPPED && v->state != STAGE_FAILED;
}

static bool shows_plan(const struct page_board *b, const struct gate *gates, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct approval_request *r = gates[i].asked;

                if (r && ((r->status && r->status->plan) || plan_is_owed(b->run, r)))
                        return true;
        }
        return false;
}

/* What lets a stage begin is an approval before it, or one after the stage before it. */
bool page_board_compares(const struct page_board *b, size_t i)
{
        const struct stage_view *v = page_board_stage(b, i);
        const struct stage_view *previous = i > 0 ? page_board_stage(b, i - 1) : NULL;

        return lies_ahead(v) && !shows_plan(b, v->before, v->n_before) &&
               !(previous && shows_plan(b, previous->after, previous->n_after));
}

/* ---- gates ---- */

int page_board_check_gate(const struct page_board *b, const struct stage_view *stage, const struct gate *g,
                          struct error *err)
{
        const char *kind = scope_of(b->ns)->approval_request->kind, *name = or_empty(g->request);

        if (!text_equal(g->type, STAGE_TASK_APPROVAL))
                return error_set(err, ERR_INVALID, "it opens by itself");
        if (g->state == GATE_PASSED)
                return error_set(err, ERR_INVALID, "it is approved");
        if (gates_are_past(&b->view, stage))
                return error_set(err, ERR_INVALID, "the run came to its end without it");
        if (g->state == GATE_AHEAD)
                return error_set(err, ERR_INVALID, "the run has not come to it");
        if (b->requests_problem && !g->asked)
                return error_set(err, ERR_INVALID, "%s \"%s\" cannot be read: %s", kind, name,
                                 b->requests_problem);
        if (!g->asked)
                return error_set(err, ERR_INVALID, "%s \"%s\" is not there", kind, name);
        if (gate_is_approved(g))
                return error_set(err, ERR_INVALID, "it is approved, and the run has not taken it up yet");
        if (!(g->asked->status && g->asked->status->plan) && plan_is_owed(b->run, g->asked))
                return error_set(err, ERR_INVALID, "its plan is not made yet");
        return 0;
}
