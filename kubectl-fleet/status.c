/* kubectl fleet status: placements in a table, or one as a tree. */
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/live.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/placement_view.h"

/* ---- one ---- */

enum { PLACEMENT, BINDINGS, WORKS, SNAPSHOTS, N_PARTS };

struct one {
        struct named named;
        struct fetch parts[N_PARTS];
};

static int make_parts(struct session *s, struct one *o, struct error *err)
{
        const struct scope *scope = scope_of(o->named.ns);
        const char *of = selector_of(s->arena, LABEL_PARENT_PLACEMENT, o->named.name);
        const char *latest =
                arena_printf(s->arena, "%s,%s=%s", of ? of : "", LABEL_IS_LATEST_SNAPSHOT, LABEL_TRUE);
        const char *works = o->named.ns ? arena_printf(s->arena, "%s,%s=%s", of ? of : "",
                                                       LABEL_PARENT_PLACEMENT_NAMESPACE, o->named.ns)
                                        : arena_printf(s->arena, "%s,!%s", of ? of : "",
                                                       LABEL_PARENT_PLACEMENT_NAMESPACE);

        if (!of || !latest || !works)
                return error_no_memory(err);
        o->parts[PLACEMENT] = (struct fetch){
                .kind = o->named.kind, .ns = o->named.ns, .name = o->named.name, .may_lack = true
        };
        o->parts[BINDINGS] = (struct fetch){ .kind = scope->binding, .ns = o->named.ns, .selector = of };
        o->parts[WORKS] = (struct fetch){ .kind = &work_kind, .selector = works, .metadata_only = true };
        o->parts[SNAPSHOTS] = (struct fetch){
                .kind = scope->resource_snapshot, .ns = o->named.ns, .selector = latest, .metadata_only = true
        };
        return 0;
}

static int draw_one(struct session *s, void *ctx, struct error *err)
{
        struct one *o = ctx;
        struct placement_parts parts = { .placement = (const struct placement *)fetched(&o->parts[PLACEMENT]),
                                         .bindings = o->parts[BINDINGS].result,
                                         .works = o->parts[WORKS].result,
                                         .snapshots = o->parts[SNAPSHOTS].result };
        struct placement_drawing d = { .screen = session_screen(s),
                                       .now_ms = loop_wall_ms(s->world->loop),
                                       .all = s->options.all };
        struct placement_view v;

        if (!parts.placement)
                return explain_missing(s, &o->named, err);
        if (output_is(s, "name")) {
                output_name(s, &parts.placement->object);
                return 0;
        }
        if (placement_look(s->arena, &parts, &v) < 0)
                return error_no_memory(err);
        if (output_is_document(s))
                return output_document(s, placement_doc(&v), err);
        placement_draw(&v, &d);
        return 0;
}

static int show_one(struct session *s, struct error *err)
{
        struct one o = { 0 };
        struct live live = { .fetches = o.parts, .n = N_PARTS, .draw = draw_one, .ctx = &o, .ticks = true };

        TRY(named_of(s, session_argument(s, 0), &placement_names, &o.named, err));
        TRY(make_parts(s, &o, err));
        return live_show(s, &live, err);
}

/* ---- all ---- */

#define ROWS_AT_ONCE 50

struct listing {
        struct session *s;
        struct screen screen;
        struct table table;
        json_t *items;
        size_t n;
};

static void open_listing(struct session *s, struct listing *l)
{
        static const char *const headers[] = { "NAMESPACE", "NAME",  "POLICY", "REVISION",
                                               "CLUSTERS",  "STATE", "AGE" };
        bool namespaces = s->options.all_namespaces;

        *l = (struct listing){ .s = s, .screen = session_screen(s), .items = json_array() };
        table_open(&l->table, &l->screen, headers + !namespaces, ARRAY_LEN(headers) - !namespaces,
                   s->options.no_headers);
}

static void close_listing(struct listing *l)
{
        table_close(&l->table);
        json_decref(l->items);
}

static void add_row(struct listing *l, const struct placement_summary *v)
{
        const struct object *o = &v->placement->object;
        char age[AGE_SIZE];

        if (l->s->options.all_namespaces)
                table_cell(&l->table, TONE_PLAIN, "%s", or_empty(o->meta.ns));
        table_cell(&l->table, TONE_PLAIN, "%s", o->meta.name);
        table_cell(&l->table, TONE_PLAIN, "%s", v->policy);
        table_cell(&l->table, TONE_PLAIN, "%s", v->revision);
        table_bar(&l->table, &v->progress);
        table_cell(&l->table, tone_of(v->standing), "%s", v->word);
        table_cell(&l->table, TONE_PLAIN, "%s", age_of(l->s, o->meta.creation_ms, age));
        table_end_row(&l->table);
}

static int add(void *ctx, struct object *o)
{
        struct listing *l = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct placement_summary v;

        l->n++;
        if (output_is(l->s, "name")) {
                output_name(l->s, o);
                return 0;
        }
        TRY(placement_summarize(&arena, (const struct placement *)o, &v));
        if (output_is_document(l->s))
                return json_array_append_new(l->items, placement_summary_doc(&v)) < 0 ? ERR_NO_MEMORY : 0;
        add_row(l, &v);
        if (l->table.rows >= ROWS_AT_ONCE) {
                table_print(&l->table);
                if (!l->s->options.watch)
                        session_flush(l->s);
        }
        return 0;
}

static int end_listing(struct session *s, struct listing *l, struct error *err)
{
        if (output_is_document(s))
                return output_document(s, json_pack("{s:O}", "items", l->items), err);
        table_print(&l->table);
        if (l->n == 0 && output_is(s, ""))
                session_note(s,
                             s->options.all_namespaces || text_empty(s->options.namespace)
                                     ? "No placements found"
                                     : "No placements found in namespace %s",
                             s->options.namespace);
        return 0;
}

struct both {
        struct fetch kinds[2];
        size_t n;
};

static struct both kinds_to_list(const struct session *s)
{
        struct both b = { 0 };

        if (text_empty(s->options.namespace))
                b.kinds[b.n++].kind = placement_names.cluster;
        if (s->options.all_namespaces || !text_empty(s->options.namespace)) {
                b.kinds[b.n].kind = placement_names.namespaced;
                b.kinds[b.n].may_lack = s->options.all_namespaces;
                b.kinds[b.n++].ns = s->options.all_namespaces ? NULL : s->options.namespace;
        }
        return b;
}

static int draw_all(struct session *s, void *ctx, struct error *err)
{
        struct both *b = ctx;
        struct listing l;
        int code = 0;

        open_listing(s, &l);
        for (size_t i = 0; i < b->n; i++)
                for (size_t k = 0; code == 0 && k < b->kinds[i].result.n; k++)
                        code = add(&l, (struct object *)b->kinds[i].result.at[k]);
        code = code < 0 ? error_no_memory(err) : end_listing(s, &l, err);
        close_listing(&l);
        return code;
}

/* Rows are on the screen while further pages are on their way. */
static int stream_all(struct session *s, const struct both *b, struct error *err)
{
        struct listing l;
        int code = 0;

        open_listing(s, &l);
        for (size_t i = 0; code == 0 && i < b->n; i++) {
                code = fetch_each(s, b->kinds[i].kind, b->kinds[i].ns, add, &l, err);
                if (code == ERR_NOT_FOUND && b->kinds[i].may_lack)
                        code = 0;
        }
        if (code == 0)
                code = end_listing(s, &l, err);
        close_listing(&l);
        return code;
}

static int show_all(struct session *s, struct error *err)
{
        struct both b = kinds_to_list(s);
        struct live live = { .fetches = b.kinds, .n = b.n, .draw = draw_all, .ctx = &b, .ticks = true };

        return s->options.watch ? live_show(s, &live, err) : stream_all(s, &b, err);
}

/* ---- the command ---- */

static int run_status(struct session *s, struct error *err)
{
        return s->line.n_words ? show_one(s, err) : show_all(s, err);
}

static const struct command_argument arguments[] = { { "placement", COMPLETES_PLACEMENT } };
static const struct flag flags[] = {
        { "all", FLAG_BOOL, "false", OPTION(all), "Shows all clusters and objects, however many they are.",
          .letter = 'a' },
};

const struct command status_command = {
        .name = "status",
        .usage = "[placement]",
        .summary = "Show how far placements have come",
        .about = "Show how far placements have come.\n\n"
                 "Without a name: a line for each ClusterResourcePlacement, or, with -n, for each "
                 "ResourcePlacement of\n"
                 "a namespace; -A shows both kinds everywhere. With a name: a tree of its snapshot, its "
                 "clusters, their\n"
                 "Works, and the objects that failed, drifted or differ. `rp/NAME` and `crp/NAME` name the "
                 "kind.",
        .examples = "kubectl fleet status\n"
                    "kubectl fleet status web --watch\n"
                    "kubectl fleet status -n team-a rp/web -o yaml",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .most = 1,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB | SHARED_OUTPUT | SHARED_NAMESPACE | SHARED_ALL_NAMESPACES | SHARED_WATCH,
        .run = run_status,
};
