#include "kubectl-fleet/why_view.h"

#include "kubectl-fleet/placement_view.h"

/* ---- asking the scheduler ---- */

static struct policy_snapshot *snapshot_of(struct arena *arena, const struct placement *p)
{
        const struct placement_policy *policy = p->spec ? p->spec->policy : NULL;
        const struct kind *kind = scope_of(p->object.meta.ns)->policy_snapshot;
        struct policy_snapshot *s =
                (struct policy_snapshot *)object_new(kind, p->object.meta.ns, "asked", arena);

        if (!s || !(s->spec = ARENA_NEW(arena, struct policy_snapshot_spec)) ||
            set_annotation(&s->object, ANNOTATION_PLACEMENT_GENERATION,
                           number_text(arena, p->object.meta.generation), arena) < 0)
                return NULL;
        s->spec->policy = (struct placement_policy *)policy;
        if (policy && policy->number_of_clusters.set &&
            set_annotation(&s->object, ANNOTATION_NUMBER_OF_CLUSTERS,
                           number_text(arena, policy->number_of_clusters.value), arena) < 0)
                return NULL;
        return s;
}

static int ask(struct arena *arena, const struct why_parts *parts, const struct placement *about,
               struct schedule_plan *ret, struct error *err)
{
        const struct object *p = &about->object;
        struct schedule_input in = { .placement_name = p->meta.name,
                                     .placement_uid = or_empty(p->meta.uid),
                                     .ns = p->meta.ns,
                                     .snapshot = snapshot_of(arena, about),
                                     .clusters = parts->clusters,
                                     .silence_is_told = true,
                                     .now_ms = parts->now_ms,
                                     .tell_all = true };

        if (!in.snapshot)
                return error_no_memory(err);
        return schedule_cycle(arena, &in, ret, err);
}

/* ---- who has it now ---- */

static int by_name(const void *key, const void *at)
{
        return strcmp(key, (*(const struct object *const *)at)->meta.name);
}

/* Its place among the clusters; -1 = there is no such one. */
static ptrdiff_t place_of(const struct object_list *clusters, const char *name)
{
        const struct object *const *found = clusters->n ? bsearch(or_empty(name), clusters->at, clusters->n,
                                                                  sizeof(*clusters->at), by_name)
                                                        : NULL;

        return found ? found - (const struct object *const *)clusters->at : -1;
}

static bool is_live(const struct binding *b)
{
        return b->spec && !is_deleting(&b->object) && !text_equal(b->spec->state, BINDING_UNSCHEDULED);
}

static void note_holders(const struct why_parts *parts, struct why_cluster *clusters)
{
        for (size_t i = 0; i < parts->bindings.n; i++) {
                const struct binding *b = (const struct binding *)parts->bindings.at[i];
                ptrdiff_t at = is_live(b) ? place_of(&parts->clusters, b->spec->target_cluster) : -1;

                if (at >= 0 && !clusters[at].held)
                        clusters[at].held = b;
        }
}

static void note_told(const struct why_parts *parts, struct why_cluster *clusters)
{
        const struct policy_snapshot *s =
                parts->policies.n ? (const struct policy_snapshot *)parts->policies.at[0] : NULL;

        for (uint32_t i = 0; s && s->status && i < s->status->target_clusters.n; i++) {
                const struct cluster_decision *d = &s->status->target_clusters.at[i];
                ptrdiff_t at = place_of(&parts->clusters, d->cluster_name);

                if (at >= 0 && !clusters[at].told)
                        clusters[at].told = d;
        }
}

/* ---- a policy that is tried out, on what is placed ---- */

/* What makes a policy another one: all but its number. */
static int policy_doc(struct arena *arena, const struct placement_policy *policy, json_t **ret,
                      struct error *err)
{
        struct policy_snapshot *s = (struct policy_snapshot *)object_new(
                &cluster_scheduling_policy_snapshot_kind, NULL, "asked", arena);
        json_t *doc = NULL;

        if (!s || !(s->spec = ARENA_NEW(arena, struct policy_snapshot_spec)))
                return error_no_memory(err);
        s->spec->policy = (struct placement_policy *)policy;
        TRY(object_to_doc(&s->object, &doc, err));
        doc_remove(doc, "spec.policy.numberOfClusters");
        *ret = doc;
        return 0;
}

/* Of the name of the latest snapshot where that one would stay: then nothing is decided anew. */
static int tried_snapshot(struct arena *arena, const struct why_parts *parts, struct policy_snapshot **ret,
                          struct error *err)
{
        const struct policy_snapshot *latest =
                parts->policies.n ? (const struct policy_snapshot *)parts->policies.at[0] : NULL;
        AUTO_JSON json_t *now = NULL;
        AUTO_JSON json_t *then = NULL;

        if (!(*ret = snapshot_of(arena, parts->tried)))
                return error_no_memory(err);
        if (!latest || !latest->spec)
                return 0;
        TRY(policy_doc(arena, latest->spec->policy, &now, err));
        TRY(policy_doc(arena, parts->tried->spec->policy, &then, err));
        if (doc_equal(now, then))
                (*ret)->object.meta.name = latest->object.meta.name;
        return 0;
}

static void count_on(const struct why_parts *parts, const char *cluster, int by, int *counts)
{
        ptrdiff_t at = place_of(&parts->clusters, cluster);

        if (at >= 0)
                counts[at] += by;
}

/* How many live bindings each cluster has once the plan is carried out. */
static void count_after(const struct why_parts *parts, const struct schedule_plan *plan, int *after)
{
        for (size_t i = 0; i < parts->bindings.n; i++) {
                const struct binding *b = (const struct binding *)parts->bindings.at[i];

                if (is_live(b))
                        count_on(parts, b->spec->target_cluster, 1, after);
        }
        for (size_t i = 0; i < plan->unschedule.n; i++)
                if (plan->unschedule.at[i]->spec)
                        count_on(parts, plan->unschedule.at[i]->spec->target_cluster, -1, after);
        for (size_t i = 0; i < plan->n_patch; i++)
                if (!is_live(plan->patch[i].now))
                        count_on(parts, plan->patch[i].decision.cluster_name, 1, after);
        for (size_t i = 0; i < plan->n_create; i++)
                count_on(parts, plan->create[i].cluster, 1, after);
}

static int note_changes(struct arena *arena, const struct why_parts *parts, struct why_view *v,
                        struct error *err)
{
        const struct object *p = &parts->tried->object;
        struct schedule_input in = { .placement_name = p->meta.name,
                                     .placement_uid = or_empty(p->meta.uid),
                                     .ns = p->meta.ns,
                                     .clusters = parts->clusters,
                                     .bindings = parts->bindings,
                                     .silence_is_told = true,
                                     .now_ms = parts->now_ms };
        int *after = ARENA_NEW_ARRAY(arena, int, v->n_clusters + 1);
        struct policy_snapshot *snapshot;
        struct schedule_plan plan;

        if (!after)
                return error_no_memory(err);
        TRY(tried_snapshot(arena, parts, &snapshot, err));
        in.snapshot = snapshot;
        TRY(schedule_cycle(arena, &in, &plan, err));
        count_after(parts, &plan, after);
        for (size_t i = 0; i < v->n_clusters; i++) {
                struct why_cluster *c = &v->clusters[i];

                c->change = after[i] > 0 ? (c->held ? WHY_STAYS : WHY_JOINS)
                                         : (c->held ? WHY_LEAVES : WHY_NEITHER);
                v->n_changes[c->change]++;
        }
        return 0;
}

/* ---- putting it into words ---- */

static const char *policy_type(const struct placement *p)
{
        const struct placement_policy *policy = p->spec ? p->spec->policy : NULL;

        return policy && policy->placement_type ? policy->placement_type : PLACEMENT_PICK_ALL;
}

/* The API prints a taint as "taint &{Key:k Value:v Effect:e}"; people write k=v:e. NULL on no memory. */
static const char *in_words(struct arena *arena, const char *reason)
{
        const char *open = strstr(reason, "&{Key:");
        const char *value = open ? strstr(open, " Value:") : NULL;
        const char *effect = value ? strstr(value, " Effect:") : NULL;
        const char *close = effect ? strchr(effect, '}') : NULL;
        const char *key = open ? open + strlen("&{Key:") : NULL;

        if (!close)
                return reason;
        value += strlen(" Value:");
        return arena_printf(arena, "%.*s%.*s%s%.*s:%.*s%s", (int)(open - reason), reason,
                            (int)(value - strlen(" Value:") - key), key, effect > value ? "=" : "",
                            (int)(effect - value), value, (int)(close - effect - strlen(" Effect:")),
                            effect + strlen(" Effect:"), close + 1);
}

static int put_in_words(struct arena *arena, struct why_cluster *c)
{
        if (c->verdict->filtered && !(c->against = in_words(arena, c->verdict->filtered)))
                return ERR_NO_MEMORY;
        if (c->told && !(c->said = in_words(arena, or_empty(c->told->reason))))
                return ERR_NO_MEMORY;
        return 0;
}

static void say(struct why_cluster *c, enum tone tone, const char *word, const char *because)
{
        c->tone = tone;
        c->word = word;
        c->because = because;
}

static bool ties_with_picked(const struct why_view *v, const struct why_cluster *c)
{
        for (size_t i = 0; i < v->n_clusters; i++) {
                const struct schedule_verdict *other = v->clusters[i].verdict;

                if (other->picked && other->affinity == c->verdict->affinity &&
                    other->topology == c->verdict->topology)
                        return true;
        }
        return false;
}

static const char *fits_text(struct arena *arena, const struct why_view *v, const struct why_cluster *c)
{
        if (!c->scored)
                return "it fits";
        if (c->verdict->picked)
                return arena_printf(arena, "it fits best: affinity %d, spread %d", c->verdict->affinity,
                                    c->verdict->topology);
        if (ties_with_picked(v, c))
                return arena_printf(
                        arena,
                        "it fits as well as one that is picked, and the name decides: affinity %d, "
                        "spread %d",
                        c->verdict->affinity, c->verdict->topology);
        return arena_printf(arena, "it fits, but %zu rank%s higher: affinity %d, spread %d", v->n_fresh,
                            v->n_fresh == 1 ? "s" : "", c->verdict->affinity, c->verdict->topology);
}

static const char *stays_text(struct arena *arena, const struct why_cluster *c, const char *fits)
{
        if (c->against)
                return arena_printf(arena, "it stays, but would not be picked anew: %s", c->against);
        return c->verdict->picked ? fits
                                  : arena_printf(arena, "it stays; anew others would be picked: %s", fits);
}

static int judge_tried(struct arena *arena, const struct why_view *v, struct why_cluster *c)
{
        const char *against = c->against;
        const char *fits = against ? against : fits_text(arena, v, c);

        if (!fits)
                return ERR_NO_MEMORY;
        if (c->change == WHY_STAYS)
                say(c, against ? TONE_BUSY : TONE_GOOD, "would stay", stays_text(arena, c, fits));
        else if (c->change == WHY_JOINS)
                say(c, TONE_GOOD, "would join", fits);
        else if (c->change == WHY_LEAVES)
                say(c, TONE_BAD, "would leave",
                    c->verdict->picked ? arena_printf(arena, "others stay rather than it: %s", fits) : fits);
        else
                say(c, TONE_FAINT, "not picked",
                    c->verdict->picked
                            ? arena_printf(arena, "%s; what is placed already is not moved for it", fits)
                            : fits);
        return c->because ? 0 : ERR_NO_MEMORY;
}

static int judge(struct arena *arena, const struct why_view *v, struct why_cluster *c, bool live)
{
        const char *against = c->against;
        const char *fits = against ? "" : fits_text(arena, v, c);

        if (c->held)
                say(c, against ? TONE_BUSY : TONE_GOOD, "picked", fits ? stays_text(arena, c, fits) : NULL);
        else if (against)
                say(c, TONE_FAINT, "not picked", against);
        else if (c->verdict->picked && live && v->n_held)
                say(c, TONE_BUSY, "not picked",
                    arena_printf(arena, "%s; what is placed already is not moved for it", fits));
        else if (c->verdict->picked)
                say(c, TONE_GOOD, "would be picked", fits);
        else
                say(c, TONE_FAINT, "not picked", fits);
        return fits && c->because ? 0 : ERR_NO_MEMORY;
}

static int rank(const struct why_cluster *c)
{
        static const int of[] = { [WHY_STAYS] = 0, [WHY_JOINS] = 0, [WHY_LEAVES] = 1, [WHY_NEITHER] = 2 };

        if (c->tried)
                return of[c->change] + (c->change == WHY_NEITHER && c->verdict->filtered);
        return c->held ? 0 : c->verdict->picked ? 1 : !c->verdict->filtered ? 2 : 3;
}

static int by_rank(const void *a, const void *b)
{
        const struct why_cluster *x = a, *y = b;

        if (rank(x) != rank(y))
                return rank(x) - rank(y);
        if (!x->verdict->filtered && !y->verdict->filtered) {
                if (x->verdict->topology != y->verdict->topology)
                        return x->verdict->topology > y->verdict->topology ? -1 : 1;
                if (x->verdict->affinity != y->verdict->affinity)
                        return x->verdict->affinity > y->verdict->affinity ? -1 : 1;
        }
        return strcmp(x->verdict->cluster->object.meta.name, y->verdict->cluster->object.meta.name);
}

static int look_at_clusters(struct arena *arena, const struct why_parts *parts,
                            const struct schedule_plan *plan, struct why_view *v, struct error *err)
{
        bool scored = text_equal(policy_type(v->placement), PLACEMENT_PICK_N);
        bool tried = parts->tried && !parts->bindings_unknown;

        for (size_t i = 0; i < v->n_clusters; i++)
                v->clusters[i] = (struct why_cluster){ .verdict = &plan->verdicts[i],
                                                       .scored = scored,
                                                       .tried = tried };
        note_holders(parts, v->clusters);
        note_told(parts, v->clusters);
        for (size_t i = 0; i < v->n_clusters; i++) {
                v->n_held += v->clusters[i].held != NULL;
                v->n_fresh += v->clusters[i].verdict->picked;
                v->n_fit += !v->clusters[i].verdict->filtered;
        }
        if (tried)
                TRY(note_changes(arena, parts, v, err));
        for (size_t i = 0; i < v->n_clusters; i++)
                if (put_in_words(arena, &v->clusters[i]) < 0 ||
                    (tried ? judge_tried(arena, v, &v->clusters[i])
                           : judge(arena, v, &v->clusters[i], parts->policies.n > 0)) < 0)
                        return error_no_memory(err);
        return 0;
}

/* What is wrong with the policy; *ret stays NULL. Of a newer version it may be. */
static int find_problem(struct arena *arena, const struct placement *p, const struct schedule_plan *plan,
                        const char **ret)
{
        static const char *const known[] = { PLACEMENT_PICK_ALL, PLACEMENT_PICK_N, PLACEMENT_PICK_FIXED, "" };

        if (text_equal(plan->scheduled.reason, REASON_SCHEDULING_POLICY_INVALID))
                *ret = plan->scheduled.message;
        else if (!text_in(policy_type(p), known, ARRAY_LEN(known)))
                return (*ret = arena_printf(arena, "placement type \"%s\" is not known here", policy_type(p)))
                               ? 0
                               : ERR_NO_MEMORY;
        return 0;
}

int why_look(struct arena *arena, const struct why_parts *parts, struct why_view *ret, struct error *err)
{
        const struct placement *p = parts->tried ? parts->tried : parts->placement;
        struct placement_summary summary;
        struct schedule_plan plan;

        *ret = (struct why_view){ .placement = p, .n_clusters = parts->clusters.n };
        TRY(ask(arena, parts, p, &plan, err));
        ret->clusters = ARENA_NEW_ARRAY(arena, struct why_cluster, parts->clusters.n + 1);
        if (!ret->clusters || placement_summarize(arena, p, &summary) < 0 ||
            find_problem(arena, p, &plan, &ret->problem) < 0)
                return error_no_memory(err);
        ret->policy = summary.policy;
        TRY(look_at_clusters(arena, parts, &plan, ret, err));
        if (ret->n_clusters)
                qsort(ret->clusters, ret->n_clusters, sizeof(*ret->clusters), by_rank);
        return 0;
}

const struct why_cluster *why_find(const struct why_view *v, const char *cluster)
{
        for (size_t i = 0; i < v->n_clusters; i++)
                if (text_equal(v->clusters[i].verdict->cluster->object.meta.name, cluster))
                        return &v->clusters[i];
        return NULL;
}

/* ---- documents ---- */

static json_t *cluster_doc(const struct why_cluster *c)
{
        json_t *doc = json_pack("{s:s, s:s, s:s, s:b, s:b}", "cluster", c->verdict->cluster->object.meta.name,
                                "state", c->word, "because", c->because, "placed", c->held != NULL,
                                "pickedAnew", c->verdict->picked);

        if (doc && c->scored && !c->verdict->filtered) {
                json_object_set_new(doc, "affinityScore", json_integer(c->verdict->affinity));
                json_object_set_new(doc, "spreadScore", json_integer(c->verdict->topology));
        }
        if (doc && c->told)
                doc_set_unless_empty(doc, "scheduler", c->said);
        return doc;
}

json_t *why_doc(const struct why_view *v, const struct why_cluster *only)
{
        json_t *clusters = json_array(), *doc;

        for (size_t i = 0; clusters && i < v->n_clusters; i++)
                if (!only || only == &v->clusters[i])
                        json_array_append_new(clusters, cluster_doc(&v->clusters[i]));
        doc = json_pack("{s:s, s:s, s:s, s:o}", "kind", v->placement->object.kind->kind, "name",
                        v->placement->object.meta.name, "policy", v->policy, "clusters", clusters);
        if (doc) {
                doc_set_unless_empty(doc, "namespace", v->placement->object.meta.ns);
                doc_set_unless_empty(doc, "problem", v->problem);
        }
        return doc;
}
