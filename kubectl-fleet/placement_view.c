#include "kubectl-fleet/placement_view.h"

#include "hub-agent/common.h"

const char *resource_text(const char *kind, const char *ns, const char *name, char ret[RESOURCE_TEXT_SIZE])
{
        snprintf(ret, RESOURCE_TEXT_SIZE, "%s %s%s%s", or_empty(kind), or_empty(ns),
                 text_empty(ns) ? "" : "/", or_empty(name));
        return ret;
}

/* ---- one line ---- */

static const char *policy_text(struct arena *arena, const struct placement_policy *p)
{
        const char *type = p && p->placement_type ? p->placement_type : PLACEMENT_PICK_ALL;

        if (text_equal(type, PLACEMENT_PICK_N))
                return arena_printf(arena, "%s %lld", type, (long long)p->number_of_clusters.value);
        if (text_equal(type, PLACEMENT_PICK_FIXED))
                return arena_printf(arena, "%s %u", type, p->cluster_names.n);
        return type;
}

static const struct condition *placement_condition(const struct placement *p, const char *suffix)
{
        char type[128];

        snprintf(type, sizeof(type), "%s%s", scope_of(p->object.meta.ns)->condition_prefix, suffix);
        return p->status ? condition_find(&p->status->conditions, type) : NULL;
}

static bool is_current(const struct placement *p, const struct condition *c)
{
        return c && c->observed_generation.value == p->object.meta.generation;
}

/* Clusters that were found first; places that no cluster was found for wait. */
static void count_clusters(const struct placement *p, struct placement_summary *v)
{
        struct cluster_words words = { 0 };

        for (uint32_t i = 0; p->status && i < p->status->placement_statuses.n; i++) {
                const struct per_cluster_status *c = &p->status->placement_statuses.at[i];
                enum standing standing =
                        cluster_words_next(&words, &c->conditions, p->object.meta.generation).standing;

                progress_add(&v->progress, text_empty(c->cluster_name) ? STANDING_WAITS : standing);
                v->n_drifted += c->drifted_placements.n > 0;
                v->n_diffed += c->diffed_placements.n > 0;
        }
}

static void judge(const struct placement *p, struct placement_summary *v)
{
        const struct condition *scheduled = placement_condition(p, CONDITION_SCHEDULED);
        const struct progress *g = &v->progress;

        v->standing = STANDING_BUSY;
        if (p->object.meta.deletion_ms != TIME_NONE)
                v->word = "being deleted";
        else if (!is_current(p, scheduled) || text_equal(scheduled->status, CONDITION_UNKNOWN))
                v->word = "being scheduled";
        else if (g->bad > 0)
                v->standing = STANDING_FAILED, v->word = "failed";
        else if (text_equal(scheduled->status, CONDITION_FALSE))
                v->standing = STANDING_FAILED, v->word = "not scheduled";
        else if (g->good < g->total)
                v->standing = g->busy ? STANDING_BUSY : STANDING_WAITS,
                v->word = g->busy ? "in progress" : "waiting";
        else
                v->standing = STANDING_DONE, v->word = g->total ? "available" : "on no cluster";
        if (v->standing == STANDING_DONE && v->n_drifted + v->n_diffed)
                v->standing = STANDING_BUSY, v->word = v->n_drifted ? "drifted" : "differs";
}

/* A status that speaks of several says none for all: its clusters say theirs. */
static const char *revision_of_status(const struct placement_status *s)
{
        const char *found = s ? or_empty(s->observed_resource_index) : "";

        if (!s || !text_empty(found))
                return found;
        for (uint32_t i = 0; i < s->placement_statuses.n; i++) {
                const char *one = s->placement_statuses.at[i].observed_resource_index;

                if (text_empty(one))
                        continue;
                if (!text_empty(found) && !text_equal(found, one))
                        return "several";
                found = one;
        }
        return found;
}

int placement_summarize(struct arena *arena, const struct placement *p, struct placement_summary *ret)
{
        *ret = (struct placement_summary){ .placement = p };
        ret->policy = policy_text(arena, p->spec ? p->spec->policy : NULL);
        ret->revision = revision_of_status(p->status);
        count_clusters(p, ret);
        judge(p, ret);
        return ret->policy ? 0 : ERR_NO_MEMORY;
}

/* ---- the tree ---- */

static int rank(const struct cluster_view *c)
{
        static const int ranks[] = {
                [STANDING_FAILED] = 0, [STANDING_BUSY] = 1, [STANDING_WAITS] = 2, [STANDING_DONE] = 3
        };

        return ranks[c->word.standing];
}

static int by_trouble(const void *a, const void *b)
{
        const struct cluster_view *x = a, *y = b;

        return rank(x) != rank(y) ? rank(x) - rank(y) : strcmp(x->cluster, y->cluster);
}

static int by_cluster(const void *a, const void *b)
{
        return strcmp(((const struct cluster_view *)a)->cluster, ((const struct cluster_view *)b)->cluster);
}

/* The index in a snapshot's name: what a binding is on. */
static const char *revision_of(struct arena *arena, const char *snapshot, const char *placement)
{
        int64_t index = index_in_name(snapshot, placement, SUFFIX_RESOURCE_SNAPSHOT);

        return index == NO_INDEX ? "" : number_text(arena, index);
}

static struct cluster_word word_of(const struct binding *b)
{
        static const struct condition_list none;
        const struct condition_list *l = b->status ? &b->status->conditions : &none;

        if (b->object.meta.deletion_ms != TIME_NONE || text_equal(b->spec->state, BINDING_UNSCHEDULED))
                return (struct cluster_word){ STANDING_BUSY, "being removed", NULL };
        if (text_equal(b->spec->state, BINDING_SCHEDULED))
                return (struct cluster_word){ STANDING_WAITS, "picked, waiting", NULL };
        return cluster_word_of(l, b->object.meta.generation);
}

/* A Work lies in its member's namespace. */
static int add_work(struct arena *arena, const struct object *work, struct placement_view *v)
{
        const size_t prefix = strlen(NAMESPACE_MEMBER_PREFIX);
        struct cluster_view key = { 0 }, *c;
        const char **more;

        if (!text_starts_with(work->meta.ns, NAMESPACE_MEMBER_PREFIX))
                return 0;
        key.cluster = work->meta.ns + prefix;
        c = v->n_clusters ? bsearch(&key, v->clusters, v->n_clusters, sizeof(*c), by_cluster) : NULL;
        if (!c)
                return 0;
        more = ARENA_NEW_ARRAY(arena, const char *, c->n_works + 1);
        if (!more)
                return ERR_NO_MEMORY;
        if (c->n_works)
                memcpy(more, c->works, c->n_works * sizeof(*more));
        more[c->n_works++] = work->meta.name;
        c->works = more;
        return 0;
}

int placement_look(struct arena *arena, const struct placement_parts *parts, struct placement_view *ret)
{
        const struct placement *p = parts->placement;
        struct progress progress = { 0 };

        *ret = (struct placement_view){ .scheduled = placement_condition(p, CONDITION_SCHEDULED) };
        TRY(placement_summarize(arena, p, &ret->summary));
        ret->clusters = ARENA_NEW_ARRAY(arena, struct cluster_view, parts->bindings.n + 1);
        if (!ret->clusters)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < parts->bindings.n; i++) {
                const struct binding *b = (const struct binding *)parts->bindings.at[i];
                struct cluster_view *c = &ret->clusters[ret->n_clusters];

                if (!b->spec || !b->spec->target_cluster)
                        continue;
                *c = (struct cluster_view){ .cluster = b->spec->target_cluster,
                                            .binding = b,
                                            .revision = revision_of(arena, b->spec->resource_snapshot_name,
                                                                    p->object.meta.name),
                                            .word = word_of(b) };
                if (!c->revision)
                        return ERR_NO_MEMORY;
                progress_add(&progress, c->word.standing);
                ret->n_clusters++;
        }
        /* Places without a cluster are known to the placement's status alone. */
        progress.total = MAX(progress.total, ret->summary.progress.total);
        ret->summary.progress = progress;
        judge(p, &ret->summary);
        if (ret->n_clusters)
                qsort(ret->clusters, ret->n_clusters, sizeof(*ret->clusters), by_cluster);
        for (size_t i = 0; i < parts->works.n; i++)
                TRY(add_work(arena, parts->works.at[i], ret));
        if (ret->n_clusters)
                qsort(ret->clusters, ret->n_clusters, sizeof(*ret->clusters), by_trouble);
        for (size_t i = 0; i < parts->snapshots.n && !ret->snapshot; i++)
                if (text_ends_with(parts->snapshots.at[i]->meta.name, SUFFIX_RESOURCE_SNAPSHOT)) {
                        ret->snapshot = parts->snapshots.at[i]->meta.name;
                        ret->snapshot_ms = parts->snapshots.at[i]->meta.creation_ms;
                }
        ret->latest = revision_of(arena, ret->snapshot, p->object.meta.name);
        return ret->latest ? 0 : ERR_NO_MEMORY;
}
