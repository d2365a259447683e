/* kubectl fleet plan: what an approval lets happen. */
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/live.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/plan_view.h"

enum { RUN, REQUESTS, N_PARTS };

struct question {
        struct named named;
        struct fetch parts[N_PARTS];
};

static bool asks_for_plan(const struct stage_task_list *l)
{
        for (uint32_t i = 0; i < l->n; i++)
                if (l->at[i].plan.value)
                        return true;
        return false;
}

static bool strategy_asks(const struct update_run *run, const char *stage)
{
        const struct strategy_spec *s = run->status ? run->status->strategy_snapshot : NULL;

        for (uint32_t i = 0; s && i < s->stages.n; i++)
                if ((!stage || text_equal(stage, s->stages.at[i].name)) &&
                    (asks_for_plan(&s->stages.at[i].before_stage_tasks) ||
                     asks_for_plan(&s->stages.at[i].after_stage_tasks)))
                        return true;
        return false;
}

static int explain_none(const struct session *s, const struct question *q, const struct plan_view *v,
                        struct error *err)
{
        const char *stage = session_argument(s, 1), *of = stage ? " for stage " : "";
        const char *kind = q->named.kind->kind, *name = q->named.name;

        if (v->n_without == 0)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" has asked for no approval%s%s yet", kind,
                                 name, of, or_empty(stage));
        return error_set(err, ERR_NOT_FOUND, "%s \"%s\" shows no plan%s%s: %s", kind, name, of,
                         or_empty(stage),
                         strategy_asks(v->run, stage)
                                 ? "its strategy asks for one, but the hub's agent has made none"
                                 : "its strategy's Approval tasks do not ask for one (plan: true)");
}

static int draw(struct session *s, void *ctx, struct error *err)
{
        struct question *q = ctx;
        const struct update_run *run = (const struct update_run *)fetched(&q->parts[RUN]);
        struct screen screen = session_screen(s);
        struct plan_view v;

        if (!run)
                return explain_missing(s, &q->named, err);
        if (plan_look(s->arena, run, &q->parts[REQUESTS].result, session_argument(s, 1), &v) < 0)
                return error_no_memory(err);
        if (v.n == 0)
                return explain_none(s, q, &v, err);
        if (output_is_document(s))
                return output_document(s, plan_doc(&v), err);
        if (!output_is(s, "name")) {
                plan_draw(&v, &screen, session_hub_words(s));
                return 0;
        }
        for (size_t i = 0; i < v.n; i++)
                output_name(s, &v.at[i].request->object);
        return 0;
}

static int run_plan(struct session *s, struct error *err)
{
        struct question q = { 0 };
        struct live live = { .fetches = q.parts, .n = N_PARTS, .draw = draw, .ctx = &q };
        const char *of;

        TRY(named_of(s, session_argument(s, 0), &run_names, &q.named, err));
        of = selector_of(s->arena, LABEL_TARGET_UPDATE_RUN, q.named.name);
        if (!of)
                return error_no_memory(err);
        q.parts[RUN] = (struct fetch){
                .kind = q.named.kind, .ns = q.named.ns, .name = q.named.name, .may_lack = true
        };
        q.parts[REQUESTS] = (struct fetch){
                .kind = q.named.ns ? &approval_request_kind : &cluster_approval_request_kind,
                .ns = q.named.ns,
                .selector = of,
                .whole = true,
                .may_lack = true,
        };
        return live_show(s, &live, err);
}

static const struct command_argument arguments[] = { { "run", COMPLETES_RUN }, { "stage", COMPLETES_STAGE } };

const struct command plan_command = {
        .name = "plan",
        .usage = "<run> [stage]",
        .summary = "Show what the approvals of a staged update run let happen",
        .about = "Show what each approval of a staged update run lets happen: which objects are added, "
                 "changed and\n"
                 "removed on which clusters, with the fields; those that wait come first. Values of Secrets "
                 "are not\n"
                 "shown. A run makes plans where the Approval tasks of its strategy say `plan: true`.",
        .examples = "kubectl fleet plan example-run\n"
                    "kubectl fleet plan example-run canary -o yaml",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 2,
        .shared = SHARED_HUB | SHARED_OUTPUT | SHARED_NAMESPACE,
        .run = run_plan,
};
