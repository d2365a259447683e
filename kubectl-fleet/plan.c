/* kubectl fleet plan: what an approval lets happen, or a Work does on a member. */
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/plan_view.h"
#include "kubectl-fleet/plan_work.h"

enum { RUN, REQUESTS, N_PARTS };

struct question {
        struct named named;
        struct fetch parts[N_PARTS];
        const char *stage; /* NULL = all */
};

/* ---- where no request shows a plan ---- */

static int compare(struct session *s, struct question *q, struct plan_view *v, struct error *err)
{
        const struct scope *scope = scope_of(q->named.ns);
        struct plan_parts parts = { .run = v->run, .requests = q->parts[REQUESTS].result };
        struct fetch bindings = { .kind = scope->binding, .ns = q->named.ns };
        struct fetch snapshots = { .kind = scope->resource_snapshot, .ns = q->named.ns, .whole = true };

        TRY(plan_check_comparison(v, q->stage, err));
        bindings.selector = selector_of(s->arena, LABEL_PARENT_PLACEMENT, v->run->spec->placement_name);
        if (!bindings.selector)
                return error_no_memory(err);
        TRY(fetch_all(s, &bindings, 1, err));
        parts.bindings = bindings.result;
        snapshots.selector = plan_snapshots_selector(s->arena, v->run, &parts.bindings);
        if (!snapshots.selector)
                return error_no_memory(err);
        TRY(fetch_all(s, &snapshots, 1, err));
        parts.snapshots = snapshots.result;
        TRY(plan_compare(s->arena, &parts, q->stage, v, err));
        if (v->n == 0)
                return error_set(err, ERR_NOT_FOUND,
                                 "%s \"%s\" has nothing ahead: all its clusters are updated",
                                 q->named.kind->kind, q->named.name);
        return 0;
}

/* ---- the command ---- */

static int show(struct session *s, const struct plan_view *v, struct error *err)
{
        struct screen screen = session_screen(s);

        if (output_is_document(s))
                return output_document(s, plan_doc(v), err);
        if (!output_is(s, "name")) {
                plan_draw(v, &screen, session_hub_words(s));
                return 0;
        }
        for (size_t i = 0; i < v->n; i++)
                if (v->at[i].request)
                        output_name(s, &v->at[i].request->object);
        return 0;
}

static int run_plan_of_run(struct session *s, struct error *err)
{
        struct question q = { .stage = session_argument(s, 1) };
        const struct update_run *run;
        struct plan_view v;
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
        TRY(fetch_all(s, q.parts, N_PARTS, err));
        run = (const struct update_run *)fetched(&q.parts[RUN]);
        if (!run)
                return explain_missing(s, &q.named, err);
        if (plan_look(s->arena, run, &q.parts[REQUESTS].result, q.stage, &v) < 0)
                return error_no_memory(err);
        if (v.n == 0)
                TRY(compare(s, &q, &v, err));
        return show(s, &v, err);
}

static int check(const struct session *s, struct error *err)
{
        if (s->line.n_words == 0 && text_empty(s->options.file))
                return error_set(err, ERR_INVALID, "the run is missing: plan <run> [stage], or work/NAME");
        return plan_work_check(s, err);
}

static int run_plan(struct session *s, struct error *err)
{
        return plan_is_of_work(s) ? plan_work_run(s, err) : run_plan_of_run(s, err);
}

static const struct command_argument arguments[] = { { "run", COMPLETES_RUN_OR_WORK },
                                                     { "stage", COMPLETES_STAGE } };

static const struct flag flags[] = {
        { "filename", FLAG_STRING, "", OPTION(file),
          "Manifest of a Work that need not be on the hub; - is standard input.", .letter = 'f',
          .completes = COMPLETES_FILE },
        { "member-context", FLAG_STRING, "", OPTION(member_context),
          "Context of the member that a Work is for.", .completes = COMPLETES_MEMBER_CONTEXT },
        { "member-kubeconfig", FLAG_STRING, "", OPTION(member_kubeconfig),
          "Kubeconfig file with that context, where it is not in the hub's.", .completes = COMPLETES_FILE },
};

const struct command plan_command = {
        .name = "plan",
        .usage = "<run> [stage] | work/<name> | -f <file>",
        .summary = "Show what an approval of an update run lets happen, or a Work does on a member",
        .about = "Show what each approval of a staged update run lets happen: which objects are added, "
                 "changed and\n"
                 "removed on which clusters, with the fields; those that wait come first. Values of Secrets "
                 "are not\n"
                 "shown. A run makes plans where the Approval tasks of its strategy say `plan: true`; for "
                 "other runs,\n"
                 "those of a hub with the original agents included, its snapshots are compared with what the "
                 "clusters of\n"
                 "the stages ahead have.\n\n"
                 "Of a Work, with -n and --member-context, it shows what the member's agent would do with "
                 "each object\n"
                 "there: the agent's own steps run in the plugin, and the member's server tries each write "
                 "and keeps\n"
                 "none. It tries with the rights that the kubeconfig has there, which need not be the "
                 "agent's.",
        .examples = "kubectl fleet plan example-run\n"
                    "kubectl fleet plan example-run canary -o yaml\n"
                    "kubectl fleet plan work/web-work -n fleet-member-edge --member-context edge\n"
                    "kubectl fleet plan -f work.yaml -n fleet-member-edge --member-context edge",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .most = 2,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB | SHARED_OUTPUT | SHARED_NAMESPACE,
        .check = check,
        .run = run_plan,
};
