/* kubectl fleet where: which placements put what on a cluster. */
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/live.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/where_view.h"

enum { CLUSTER, WORKS, N_PARTS };

static void print_names(struct session *s, const struct where_view *v)
{
        for (size_t i = 0; i < v->n_shares; i++) {
                const struct share *p = &v->shares[i];

                output_kind(&s->out, p->ns ? &resource_placement_kind : &cluster_resource_placement_kind);
                buf_printf(&s->out, "/%s\n", p->placement);
        }
}

static int draw(struct session *s, void *ctx, struct error *err)
{
        struct fetch *parts = ctx;
        const struct member_cluster *cluster = (const struct member_cluster *)fetched(&parts[CLUSTER]);
        struct where_drawing d = { .screen = session_screen(s),
                                   .now_ms = loop_wall_ms(s->world->loop),
                                   .all = s->options.all };
        struct where_view v;

        if (!cluster)
                return error_set(err, ERR_NOT_FOUND, "MemberCluster \"%s\" not found",
                                 session_argument(s, 0));
        if (where_look(s->arena, cluster, &parts[WORKS].result, &v) < 0)
                return error_no_memory(err);
        if (output_is(s, "name"))
                print_names(s, &v);
        else if (output_is_document(s))
                return output_document(s, where_doc(&v), err);
        else
                where_draw(&v, &d);
        return 0;
}

static int run_where(struct session *s, struct error *err)
{
        const char *cluster = session_argument(s, 0);
        struct fetch parts[N_PARTS] = {
                [CLUSTER] = { .kind = &member_cluster_kind, .name = cluster, .may_lack = true },
                [WORKS] = { .kind = &work_kind, .whole = true },
        };
        struct live live = { .fetches = parts, .n = N_PARTS, .draw = draw, .ctx = parts, .ticks = true };

        parts[WORKS].ns = arena_printf(s->arena, NAME_MEMBER_NAMESPACE, cluster);
        if (!parts[WORKS].ns)
                return error_no_memory(err);
        return live_show(s, &live, err);
}

static const struct command_argument arguments[] = { { "cluster", COMPLETES_CLUSTER } };
static const struct flag flags[] = {
        { "all", FLAG_BOOL, "false", OPTION(all), "Shows all objects, however many they are.",
          .letter = 'a' },
};

const struct command where_command = {
        .name = "where",
        .usage = "<cluster>",
        .summary = "Show which placements put what on a member cluster",
        .about = "Show a member cluster as the hub knows it, the placements of both kinds that put something "
                 "there, and\n"
                 "each object with how it fares.",
        .examples = "kubectl fleet where edge-1\n"
                    "kubectl fleet where edge-1 -o name",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 1,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB | SHARED_OUTPUT | SHARED_WATCH,
        .run = run_where,
};
