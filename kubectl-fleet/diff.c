/* kubectl fleet diff: what drifted, or differs, both sides; what a ResourceSet would do. */
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/diff_set.h"
#include "kubectl-fleet/diff_view.h"
#include "kubectl-fleet/live.h"
#include "kubectl-fleet/output.h"

enum { PLACEMENT, BINDINGS, N_PARTS };

struct question {
        struct named named;
        struct fetch parts[N_PARTS];
};

/* "MEMBER KIND/NAME" has no one kind: the names are those of the clusters. */
static void print_names(struct session *s, const struct diff_view *v)
{
        const char *last = "";

        for (size_t i = 0; i < v->n; i++) {
                if (text_equal(v->at[i].cluster, last))
                        continue;
                last = v->at[i].cluster;
                output_kind(&s->out, &member_cluster_kind);
                buf_printf(&s->out, "/%s\n", last);
        }
}

static int draw(struct session *s, void *ctx, struct error *err)
{
        struct question *q = ctx;
        const struct placement *p = (const struct placement *)fetched(&q->parts[PLACEMENT]);
        const char *cluster = session_argument(s, 1);
        struct screen screen = session_screen(s);
        struct diff_view v;

        if (!p)
                return explain_missing(s, &q->named, err);
        if (diff_look(s->arena, p, &q->parts[BINDINGS].result, cluster, &v) < 0)
                return error_no_memory(err);
        if (cluster && v.n_clusters == 0)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" is not on cluster \"%s\"",
                                 q->named.kind->kind, q->named.name, cluster);
        if (output_is_document(s))
                return output_document(s, diff_doc(&v), err);
        if (output_is(s, "name"))
                print_names(s, &v);
        else
                diff_draw(&v, &screen, loop_wall_ms(s->world->loop));
        return 0;
}

static int run_diff_of_placement(struct session *s, struct error *err)
{
        struct question q = { 0 };
        struct live live = { .fetches = q.parts, .n = N_PARTS, .draw = draw, .ctx = &q };
        const char *of;

        TRY(named_of(s, session_argument(s, 0), &placement_names, &q.named, err));
        of = selector_of(s->arena, LABEL_PARENT_PLACEMENT, q.named.name);
        if (!of)
                return error_no_memory(err);
        q.parts[PLACEMENT] = (struct fetch){
                .kind = q.named.kind, .ns = q.named.ns, .name = q.named.name, .may_lack = true
        };
        q.parts[BINDINGS] =
                (struct fetch){ .kind = scope_of(q.named.ns)->binding, .ns = q.named.ns, .selector = of };
        return live_show(s, &live, err);
}

static int run_diff(struct session *s, struct error *err)
{
        return diff_is_of_set(s) ? diff_set_run(s, err) : run_diff_of_placement(s, err);
}

static const struct flag flags[] = {
        { "filename", FLAG_STRINGS, "", OPTION(files),
          "File or folder with ResourceSets that need not be on the hub; - is standard input. May be given "
          "again.",
          .letter = 'f', .completes = COMPLETES_FILE },
        { "inputs", FLAG_STRING, "", OPTION(inputs),
          "File with sets of inputs that take the place of all that the ResourceSets have.",
          .completes = COMPLETES_FILE },
};

static const struct command_argument arguments[] = { { "placement", COMPLETES_PLACEMENT },
                                                     { "cluster", COMPLETES_CLUSTER } };

const struct command diff_command = {
        .name = "diff",
        .usage = "<placement> [cluster] | resourceset/<name> | -f <file>",
        .summary = "Show what drifted on member clusters, or what a ResourceSet would do",
        .about = "Show, field by field, where objects on member clusters are not as the hub has them: what "
                 "drifted\n"
                 "after it was applied, and what differs where a placement only compares or does not take "
                 "over. The\n"
                 "members found it; nothing is compared anew.\n\n"
                 "Of a ResourceSet, of the hub or of a file, show what it would make, change and delete on "
                 "the "
                 "hub. It is\n"
                 "rendered here by the code of the hub's agent, and the hub tries each write and keeps none. "
                 "It "
                 "tries with the\n"
                 "rights of the kubeconfig, which need not be those of the set's account.",
        .examples = "kubectl fleet diff web\n"
                    "kubectl fleet diff web edge-1 -o json\n"
                    "kubectl fleet diff resourceset/apps -n team\n"
                    "kubectl fleet diff -f apps.yaml",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .most = 2,
        .shared = SHARED_HUB | SHARED_OUTPUT | SHARED_NAMESPACE | SHARED_WATCH,
        .flags = { flags, ARRAY_LEN(flags) },
        .check = diff_set_check,
        .run = run_diff,
};
