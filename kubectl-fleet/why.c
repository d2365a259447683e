/* kubectl fleet why: why a placement is on a cluster or not. */
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/manifest.h"
#include "kubectl-fleet/why_view.h"

enum { PLACEMENT, CLUSTERS, BINDINGS, POLICIES, N_PARTS };

struct question {
        struct named named;
        const char *cluster;              /* NULL = all */
        const struct placement *manifest; /* NULL: the hub's */
        struct fetch parts[N_PARTS];
};

/* With -f the placement may go unnamed: a single word is then its name, if the file has it, not a cluster's.
 */
static int read_words(struct session *s, struct question *q, struct error *err)
{
        const char *name = session_argument(s, 0);

        q->cluster = session_argument(s, 1);
        if (!text_empty(s->options.member))
                q->cluster = s->options.member;
        if (text_empty(s->options.file))
                return named_of(s, name, &placement_names, &q->named, err);
        TRY(manifest_read(s, s->options.file, name, &q->manifest, err));
        q->named = (struct named){ .kind = q->manifest->object.kind,
                                   .ns = q->manifest->object.meta.ns,
                                   .name = q->manifest->object.meta.name };
        return 0;
}

static int make_parts(struct session *s, struct question *q, struct error *err)
{
        const struct scope *scope = scope_of(q->named.ns);
        const char *of = selector_of(s->arena, LABEL_PARENT_PLACEMENT, q->named.name);
        const char *latest =
                arena_printf(s->arena, "%s,%s=%s", of ? of : "", LABEL_IS_LATEST_SNAPSHOT, LABEL_TRUE);

        if (!of || !latest)
                return error_no_memory(err);
        q->parts[PLACEMENT] = (struct fetch){
                .kind = q->named.kind, .ns = q->named.ns, .name = q->named.name, .may_lack = true
        };
        q->parts[CLUSTERS] = (struct fetch){ .kind = &member_cluster_kind };
        q->parts[BINDINGS] =
                (struct fetch){ .kind = scope->binding, .ns = q->named.ns, .selector = of, .may_lack = true };
        q->parts[POLICIES] = (struct fetch){
                .kind = scope->policy_snapshot, .ns = q->named.ns, .selector = latest, .may_lack = true
        };
        return 0;
}

static int show(struct session *s, const struct question *q, const struct why_view *v, struct error *err)
{
        struct screen screen = session_screen(s);
        const struct why_cluster *only = q->cluster ? why_find(v, q->cluster) : NULL;

        if (q->cluster && !only)
                return error_set(err, ERR_NOT_FOUND, "MemberCluster \"%s\" not found", q->cluster);
        if (output_is_document(s))
                return output_document(s, why_doc(v, only), err);
        if (output_is(s, "name")) {
                for (size_t i = 0; i < v->n_clusters; i++)
                        if (v->n_held ? v->clusters[i].held != NULL : v->clusters[i].verdict->picked)
                                output_name(s, &v->clusters[i].verdict->cluster->object);
                return 0;
        }
        if (only)
                return why_draw_cluster(v, only, &screen, s->arena) < 0 ? error_no_memory(err) : 0;
        why_draw(v, &screen, s->options.no_headers);
        return 0;
}

static int run_why(struct session *s, struct error *err)
{
        struct question q = { 0 };
        struct why_parts parts = { .now_ms = loop_wall_ms(s->world->loop) };
        struct why_view v;

        TRY(read_words(s, &q, err));
        TRY(make_parts(s, &q, err));
        /* a manifest stands in for the first and, since the scheduler has not seen it, the last */
        TRY(fetch_all(s, q.parts + (q.manifest ? CLUSTERS : PLACEMENT), q.manifest ? 2 : N_PARTS, err));
        parts.placement = q.manifest ? q.manifest : (const struct placement *)fetched(&q.parts[PLACEMENT]);
        if (!parts.placement)
                return explain_missing(s, &q.named, err);
        parts.clusters = q.parts[CLUSTERS].result;
        parts.bindings = q.parts[BINDINGS].result;
        parts.policies = q.parts[POLICIES].result;
        TRY(why_look(s->arena, &parts, &v, err));
        return show(s, &q, &v, err);
}

static int check_why(const struct session *s, struct error *err)
{
        if (text_empty(s->options.file) && s->line.n_words == 0)
                return error_set(err, ERR_INVALID, "a placement, or a manifest with -f, is required");
        if (s->line.n_words == 2 && !text_empty(s->options.member))
                return error_set(err, ERR_INVALID, "a cluster is named twice: \"%s\" and --member \"%s\"",
                                 session_argument(s, 1), s->options.member);
        return 0;
}

static const struct command_argument arguments[] = { { "placement", COMPLETES_PLACEMENT },
                                                     { "cluster", COMPLETES_CLUSTER } };
static const struct flag flags[] = {
        { "filename", FLAG_STRING, "", OPTION(file),
          "File with the placement, which need not be on the hub; - is standard input.", .letter = 'f',
          .completes = COMPLETES_FILE },
        { "member", FLAG_STRING, "", OPTION(member), "The cluster asked about, where no placement is named.",
          .completes = COMPLETES_CLUSTER },
};

const struct command why_command = {
        .name = "why",
        .usage = "[placement] [cluster]",
        .summary = "Show why a placement is on a cluster, or not",
        .about = "Show why a placement is on a cluster, or not.\n\n"
                 "The scheduler's own rules are run here on what the hub has: for each cluster whether it "
                 "fits, how it\n"
                 "ranks, and whether it would be picked if nothing were placed yet, beside where the "
                 "placement is. With\n"
                 "a cluster: requirement by requirement, with what the cluster has. With -f: for a placement "
                 "that is\n"
                 "not applied yet. Nothing is written to the hub.",
        .examples = "kubectl fleet why web\n"
                    "kubectl fleet why web edge-1\n"
                    "kubectl fleet why -f placement.yaml",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .most = 2,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB | SHARED_OUTPUT | SHARED_NAMESPACE,
        .check = check_why,
        .run = run_why,
};
