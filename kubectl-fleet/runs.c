/* kubectl fleet runs: staged update runs in a table, or one as a board. */
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/live.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/placement_view.h"
#include "kubectl-fleet/run_view.h"

/* ---- one ---- */

enum { RUN, REQUESTS, N_PARTS };

struct one {
        struct named named;
        struct fetch parts[N_PARTS];
};

static int draw_one(struct session *s, void *ctx, struct error *err)
{
        struct one *o = ctx;
        const struct update_run *run = (const struct update_run *)fetched(&o->parts[RUN]);
        struct run_drawing d = { .screen = session_screen(s),
                                 .now_ms = loop_wall_ms(s->world->loop),
                                 .all = s->options.all,
                                 .hub = session_hub_words(s) };
        struct run_view v;

        if (!run)
                return explain_missing(s, &o->named, err);
        if (output_is(s, "name")) {
                output_name(s, &run->object);
                return 0;
        }
        if (run_look(s->arena, run, &o->parts[REQUESTS].result, &v) < 0)
                return error_no_memory(err);
        if (output_is_document(s))
                return output_document(s, run_doc(&v), err);
        run_draw(&v, &d);
        return 0;
}

static int show_one(struct session *s, struct error *err)
{
        struct one o = { 0 };
        struct live live = { .fetches = o.parts, .n = N_PARTS, .draw = draw_one, .ctx = &o, .ticks = true };
        const char *of;

        TRY(named_of(s, session_argument(s, 0), &run_names, &o.named, err));
        of = selector_of(s->arena, LABEL_TARGET_UPDATE_RUN, o.named.name);
        if (!of)
                return error_no_memory(err);
        o.parts[RUN] = (struct fetch){
                .kind = o.named.kind, .ns = o.named.ns, .name = o.named.name, .may_lack = true
        };
        o.parts[REQUESTS] =
                (struct fetch){ .kind = o.named.ns ? &approval_request_kind : &cluster_approval_request_kind,
                                .ns = o.named.ns,
                                .selector = of,
                                .may_lack = true };
        return live_show(s, &live, err);
}

/* ---- all ---- */

struct both {
        struct fetch kinds[2];
        size_t n;
};

static void add_row(const struct session *s, struct table *t, const struct run_view *v)
{
        const struct object *o = &v->run->object;
        char age[AGE_SIZE];

        if (s->options.all_namespaces)
                table_cell(t, TONE_PLAIN, "%s", or_empty(o->meta.ns));
        table_cell(t, TONE_PLAIN, "%s", o->meta.name);
        table_cell(t, TONE_PLAIN, "%s", v->run->spec ? or_empty(v->run->spec->placement_name) : "");
        table_cell(t, TONE_PLAIN, "%s", v->revision);
        table_cell(t, TONE_PLAIN, "%s", v->current ? v->current->name : "");
        table_bar(t, &v->progress);
        table_cell(t, run_tone(v->state), "%s", v->word);
        table_cell(t, TONE_PLAIN, "%s", age_of(s, o->meta.creation_ms, age));
        table_end_row(t);
}

static int add(struct session *s, const struct object *o, struct table *t, json_t *items)
{
        const struct object_list none = { 0 };
        struct run_view v;

        if (output_is(s, "name")) {
                output_name(s, o);
                return 0;
        }
        TRY(run_look(s->arena, (const struct update_run *)o, &none, &v));
        if (output_is_document(s))
                return json_array_append_new(items, run_doc(&v)) < 0 ? ERR_NO_MEMORY : 0;
        add_row(s, t, &v);
        return 0;
}

static int draw_all(struct session *s, void *ctx, struct error *err)
{
        static const char *const headers[] = { "NAMESPACE", "NAME",     "PLACEMENT", "REVISION",
                                               "STAGE",     "CLUSTERS", "STATE",     "AGE" };
        bool namespaces = s->options.all_namespaces;
        AUTO_JSON json_t *items = json_array();
        struct screen screen = session_screen(s);
        CLEANUP(table_close) struct table t;
        struct both *b = ctx;
        size_t n = 0;

        table_open(&t, &screen, headers + !namespaces, ARRAY_LEN(headers) - !namespaces,
                   s->options.no_headers);
        for (size_t i = 0; i < b->n; i++)
                for (size_t k = 0; k < b->kinds[i].result.n; k++, n++)
                        if (add(s, b->kinds[i].result.at[k], &t, items) < 0)
                                return error_no_memory(err);
        if (output_is_document(s))
                return output_document(s, json_pack("{s:O}", "items", items), err);
        table_print(&t);
        if (n == 0 && output_is(s, ""))
                session_note(s, "No update runs found");
        return 0;
}

static int show_all(struct session *s, struct error *err)
{
        struct both b = { 0 };
        struct live live = { .fetches = b.kinds, .draw = draw_all, .ctx = &b, .ticks = true };

        if (text_empty(s->options.namespace))
                b.kinds[b.n++] = (struct fetch){ .kind = run_names.cluster };
        if (s->options.all_namespaces || !text_empty(s->options.namespace))
                b.kinds[b.n++] =
                        (struct fetch){ .kind = run_names.namespaced,
                                        .ns = s->options.all_namespaces ? NULL : s->options.namespace,
                                        .may_lack = s->options.all_namespaces };
        live.n = b.n;
        return live_show(s, &live, err);
}

/* ---- the command ---- */

static int run_runs(struct session *s, struct error *err)
{
        return s->line.n_words ? show_one(s, err) : show_all(s, err);
}

extern const struct command runs_stop_command, runs_resume_command, runs_retry_command;
static const struct command *const below[] = { &runs_stop_command, &runs_resume_command, &runs_retry_command,
                                               NULL };
static const struct command_argument arguments[] = { { "run", COMPLETES_RUN } };
static const struct flag flags[] = {
        { "all", FLAG_BOOL, "false", OPTION(all),
          "Shows all clusters, those that are done and to come included.", .letter = 'a' },
};

const struct command runs_command = {
        .name = "runs",
        .usage = "[run]",
        .summary = "Show staged update runs, stop, resume and retry them",
        .about = "Show staged update runs.\n\n"
                 "Without a name: a line for each ClusterStagedUpdateRun, or, with -n, for each "
                 "StagedUpdateRun of a\n"
                 "namespace; -A shows both kinds everywhere. With a name: a board of its stages with their "
                 "gates, and\n"
                 "the clusters that are being updated or failed. `csur/NAME` and `sur/NAME` name the kind, "
                 "which also\n"
                 "shows a run that is called like a command.",
        .examples = "kubectl fleet runs\n"
                    "kubectl fleet runs example-run --watch\n"
                    "kubectl fleet runs stop example-run",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .most = 1,
        .commands = below,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB | SHARED_OUTPUT | SHARED_NAMESPACE | SHARED_ALL_NAMESPACES | SHARED_WATCH,
        .run = run_runs,
};
