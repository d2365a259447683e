#include "kubectl-fleet/page/places.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/page/row_parts.h"

static const struct condition_list no_conditions;

/* ---- one place ---- */

static int rank_of(const struct place *p)
{
        static const int ranks[] = {
                [STANDING_FAILED] = 0, [STANDING_BUSY] = 2, [STANDING_WAITS] = 3, [STANDING_DONE] = 4
        };
        int rank = ranks[p->word.standing];

        return rank > 1 && p->failed.n + p->drifted.n + p->diffed.n ? 1 : rank;
}

static void take_word(struct place *p, struct cluster_word word)
{
        p->word = word;
        p->message = page_message(word.because);
        p->since_ms = word.because ? word.because->last_transition_ms : TIME_NONE;
}

static void from_binding(const struct cluster_view *c, struct place *p)
{
        const struct binding *b = c->binding;
        const struct binding_status *s = b->status;

        *p = (struct place){ .cluster = c->cluster,
                             .binding = b,
                             .source = &b->object,
                             .conditions = s ? &s->conditions : &no_conditions,
                             .generation = b->object.meta.generation,
                             .revision = c->revision,
                             .failed = LIST_OR_NONE(s ? s->failed_placements : NULL),
                             .drifted = LIST_OR_NONE(s ? s->drifted_placements : NULL),
                             .diffed = LIST_OR_NONE(s ? s->diffed_placements : NULL),
                             .works = c->works,
                             .n_works = c->n_works,
                             .known = true };
        p->removing = is_deleting(&b->object) || text_equal(b->spec->state, BINDING_UNSCHEDULED);
        take_word(p, c->word);
        if (p->removing && is_deleting(&b->object))
                p->since_ms = b->object.meta.deletion_ms;
        else if (text_equal(b->spec->state, BINDING_SCHEDULED))
                p->since_ms = b->object.meta.creation_ms;
}

static void from_status(const struct placement *placement, const struct per_cluster_status *s,
                        struct place *p)
{
        *p = (struct place){ .cluster = or_empty(s->cluster_name),
                             .source = &placement->object,
                             .conditions = &s->conditions,
                             .generation = placement->object.meta.generation,
                             .revision = or_empty(s->observed_resource_index),
                             .failed = s->failed_placements,
                             .drifted = s->drifted_placements,
                             .diffed = s->diffed_placements,
                             .known = true };
        take_word(p, cluster_word_of(&s->conditions, p->generation));
}

static void from_unplaced(const struct placement *placement, const struct per_cluster_status *s,
                          const struct condition *why, struct place *p)
{
        from_status(placement, s, p);
        p->known = false;
        p->unplaced = true;
        take_word(p, (struct cluster_word){ STANDING_FAILED, "not scheduled", why });
}

/* ---- what the status tells of beside bindings ---- */

static const struct condition *not_scheduled(const struct per_cluster_status *s)
{
        const struct condition *c = condition_find(&s->conditions, CONDITION_SCHEDULED);

        return c && text_equal(c->status, CONDITION_FALSE) ? c : NULL;
}

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Clusters with a binding, in the order of their names. */
struct bound {
        const char **names;
        size_t n;
};

static int bound_of(struct arena *arena, const struct placement_view *v, struct bound *ret)
{
        *ret = (struct bound){ ARENA_NEW_ARRAY(arena, const char *, v->n_clusters + 1), v->n_clusters };
        if (!ret->names)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < ret->n; i++)
                ret->names[i] = v->clusters[i].cluster;
        qsort(ret->names, ret->n, sizeof(*ret->names), compare_names);
        return 0;
}

static bool is_bound(const struct bound *bound, const char *cluster)
{
        return bsearch(&cluster, bound->names, bound->n, sizeof(*bound->names), compare_names) != NULL;
}

static void add_from_status(const struct placement *p, const struct bound *bound, bool bindings_known,
                            struct places *v)
{
        for (uint32_t i = 0; p->status && i < p->status->placement_statuses.n; i++) {
                const struct per_cluster_status *s = &p->status->placement_statuses.at[i];
                const struct condition *why = not_scheduled(s);

                if (why && (text_empty(s->cluster_name) || !is_bound(bound, s->cluster_name))) {
                        from_unplaced(p, s, why, &v->at[v->n++]);
                        v->n_unplaced++;
                } else if (!bindings_known && !text_empty(s->cluster_name)) {
                        from_status(p, s, &v->at[v->n++]);
                }
        }
}

/* ---- what is left over: Works of the placement where it has no binding ---- */

static int compare_works(const void *a, const void *b)
{
        const struct object *x = *(const struct object *const *)a, *y = *(const struct object *const *)b;
        int order = strcmp(or_empty(x->meta.ns), or_empty(y->meta.ns));

        return order ? order : strcmp(x->meta.name, y->meta.name);
}

static int leftover_works(struct arena *arena, const struct object_list *works, const struct bound *bound,
                          const struct object ***ret, size_t *ret_n)
{
        const size_t prefix = strlen(NAMESPACE_MEMBER_PREFIX);

        *ret = ARENA_NEW_ARRAY(arena, const struct object *, works->n + 1);
        *ret_n = 0;
        if (!*ret)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < works->n; i++)
                if (text_starts_with(works->at[i]->meta.ns, NAMESPACE_MEMBER_PREFIX) &&
                    !is_bound(bound, works->at[i]->meta.ns + prefix))
                        (*ret)[(*ret_n)++] = works->at[i];
        qsort(*ret, *ret_n, sizeof(**ret), compare_works);
        return 0;
}

static int add_leftovers(struct arena *arena, const struct object_list *works, const struct bound *bound,
                         struct places *v)
{
        const struct object **left;
        const char **names;
        size_t n;

        TRY(leftover_works(arena, works, bound, &left, &n));
        names = ARENA_NEW_ARRAY(arena, const char *, n + 1);
        if (!names)
                return ERR_NO_MEMORY;
        for (size_t i = 0, end; i < n; i = end) {
                struct place *p = &v->at[v->n++];

                *p = (struct place){ .cluster = left[i]->meta.ns + strlen(NAMESPACE_MEMBER_PREFIX),
                                     .source = left[i],
                                     .conditions = &no_conditions,
                                     .word = { STANDING_BUSY, "left over", NULL },
                                     .message = "Works of this placement are there, and no binding is",
                                     .since_ms = left[i]->meta.deletion_ms,
                                     .revision = "",
                                     .works = names + i,
                                     .removing = true,
                                     .known = true };
                for (end = i; end < n && text_equal(left[end]->meta.ns, left[i]->meta.ns); end++)
                        p->works[p->n_works++] = names[end] = left[end]->meta.name;
                v->n_leftover++;
        }
        return 0;
}

/* ---- all ---- */

static int by_cluster(const void *a, const void *b)
{
        const struct place *x = a, *y = b;
        int order = strcmp(x->cluster, y->cluster);

        order = order ? order : x->removing - y->removing;
        return order ? order : strcmp(x->source->meta.name, y->source->meta.name);
}

/* A cluster may have a second binding, while the first is removed, and places may have no cluster. */
static int give_keys(struct arena *arena, struct places *v)
{
        qsort(v->at, v->n, sizeof(*v->at), by_cluster);
        for (size_t i = 0; i < v->n; i++) {
                struct place *p = &v->at[i];

                if (!*p->cluster)
                        p->key = arena_printf(arena, "#%zu", i);
                else if (i && text_equal(p->cluster, v->at[i - 1].cluster))
                        p->key = arena_printf(arena, "%s %s", p->cluster, p->source->meta.name);
                else
                        p->key = p->cluster;
                if (!p->key)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int by_trouble(const void *a, const void *b)
{
        const struct place *x = a, *y = b;

        return x->rank != y->rank ? x->rank - y->rank : strcmp(x->key, y->key);
}

int places_of(struct arena *arena, const struct placement_parts *parts, bool bindings_known,
              struct places *ret)
{
        const struct placement *p = parts->placement;
        size_t told = p->status ? p->status->placement_statuses.n : 0;
        struct bound bound;

        *ret = (struct places){ 0 };
        TRY(placement_look(arena, parts, &ret->view));
        TRY(bound_of(arena, &ret->view, &bound));
        if (!bindings_known) /* it counted those */
                TRY(placement_summarize(arena, p, &ret->view.summary));
        ret->at = ARENA_NEW_ARRAY(arena, struct place, ret->view.n_clusters + told + parts->works.n + 1);
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < ret->view.n_clusters; i++)
                from_binding(&ret->view.clusters[i], &ret->at[ret->n++]);
        add_from_status(p, &bound, bindings_known, ret);
        if (bindings_known)
                TRY(add_leftovers(arena, &parts->works, &bound, ret));
        for (size_t i = 0; i < ret->n; i++) {
                struct place *one = &ret->at[i];

                one->rank = rank_of(one);
                ret->cut = ret->cut || one->failed.n >= PLACEMENT_DETAILS_MAX ||
                           one->drifted.n >= PLACEMENT_DETAILS_MAX || one->diffed.n >= PLACEMENT_DETAILS_MAX;
        }
        TRY(give_keys(arena, ret));
        qsort(ret->at, ret->n, sizeof(*ret->at), by_trouble);
        return 0;
}

/* ---- steps ---- */

static const char *name_of_step(const char *condition)
{
        static const struct {
                const char *condition, *step;
        } names[] = { { CONDITION_ROLLOUT_STARTED, "rolled out" }, { CONDITION_OVERRIDDEN, "overridden" },
                      { CONDITION_WORK_SYNCHRONIZED, "written" },  { CONDITION_APPLIED, "applied" },
                      { CONDITION_AVAILABLE, "available" },        { CONDITION_DIFF_REPORTED, "compared" } };

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (text_equal(condition, names[i].condition))
                        return names[i].step;
        return condition;
}

static struct place_step scheduled_step(const struct place *p)
{
        const struct condition *c = condition_find(p->conditions, CONDITION_SCHEDULED);
        const struct binding_spec *spec = p->binding ? p->binding->spec : NULL;

        if (spec)
                return (struct place_step){ "scheduled",
                                            STANDING_DONE,
                                            "",
                                            "",
                                            spec->cluster_decision ? or_empty(spec->cluster_decision->reason)
                                                                   : "",
                                            p->binding->object.meta.creation_ms };
        return (struct place_step){ "scheduled",
                                    STANDING_DONE,
                                    "",
                                    c ? or_empty(c->reason) : "",
                                    c ? or_empty(c->message) : "",
                                    c ? c->last_transition_ms : TIME_NONE };
}

size_t place_steps(const struct place *p, struct place_step ret[PLACE_STEPS_MAX])
{
        struct cluster_step steps[CLUSTER_STEPS_MAX];
        size_t n = cluster_steps_of(p->conditions, p->generation, steps);

        ret[0] = scheduled_step(p);
        for (size_t i = 0; i < n; i++) {
                const struct condition *c = steps[i].condition;

                ret[i + 1] = (struct place_step){
                        name_of_step(steps[i].type),  steps[i].standing, steps[i].word,
                        c ? or_empty(c->reason) : "", page_message(c),   c ? c->last_transition_ms : TIME_NONE
                };
        }
        return n + 1;
}
