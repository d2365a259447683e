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

static int ask(struct arena *arena, const struct why_parts *parts, struct schedule_plan *ret,
               struct error *err)
{
        const struct object *p = &parts->placement->object;
        struct schedule_input in = { .placement_name = p->meta.name,
                                     .placement_uid = or_empty(p->meta.uid),
                                     .ns = p->meta.ns,
                                     .snapshot = snapshot_of(arena, parts->placement),
                                     .clusters = parts->clusters,
                                     .now_ms = parts->now_ms,
                                     .tell_all = true };

        if (!in.snapshot)
                return error_no_memory(err);
        return schedule_cycle(arena, &in, ret, err);
}

/* ---- putting it into words ---- */

static const struct binding *holder_of(const struct object_list *bindings, const char *cluster)
{
        for (size_t i = 0; i < bindings->n; i++) {
                const struct binding *b = (const struct binding *)bindings->at[i];

                if (b->spec && text_equal(b->spec->target_cluster, cluster) && !is_deleting(&b->object) &&
                    !text_equal(b->spec->state, BINDING_UNSCHEDULED))
                        return b;
        }
        return NULL;
}

static const struct cluster_decision *told_of(const struct object_list *policies, const char *cluster)
{
        const struct policy_snapshot *s =
                policies->n ? (const struct policy_snapshot *)policies->at[0] : NULL;

        for (uint32_t i = 0; s && s->status && i < s->status->target_clusters.n; i++)
                if (text_equal(s->status->target_clusters.at[i].cluster_name, cluster))
                        return &s->status->target_clusters.at[i];
        return NULL;
}

static const char *policy_type(const struct placement *p)
{
        const struct placement_policy *policy = p->spec ? p->spec->policy : NULL;

        return policy && policy->placement_type ? policy->placement_type : PLACEMENT_PICK_ALL;
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

static int judge(struct arena *arena, const struct why_view *v, struct why_cluster *c, bool live)
{
        const char *against = c->verdict->filtered;
        const char *fits = against ? "" : fits_text(arena, v, c);

        if (c->held && against)
                say(c, TONE_BUSY, "picked",
                    arena_printf(arena, "it stays, but would not be picked anew: %s", against));
        else if (c->held && !c->verdict->picked)
                say(c, TONE_GOOD, "picked",
                    arena_printf(arena, "it stays; anew others would be picked: %s", fits));
        else if (c->held)
                say(c, TONE_GOOD, "picked", fits);
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

int why_look(struct arena *arena, const struct why_parts *parts, struct why_view *ret, struct error *err)
{
        bool scored = text_equal(policy_type(parts->placement), PLACEMENT_PICK_N);
        struct placement_summary summary;
        struct schedule_plan plan;

        *ret = (struct why_view){ .placement = parts->placement, .n_clusters = parts->clusters.n };
        TRY(ask(arena, parts, &plan, err));
        ret->clusters = ARENA_NEW_ARRAY(arena, struct why_cluster, parts->clusters.n + 1);
        if (!ret->clusters || placement_summarize(arena, parts->placement, &summary) < 0)
                return error_no_memory(err);
        ret->policy = summary.policy;
        if (text_equal(plan.scheduled.reason, REASON_SCHEDULING_POLICY_INVALID))
                ret->problem = plan.scheduled.message;
        for (size_t i = 0; i < parts->clusters.n; i++) {
                struct why_cluster *c = &ret->clusters[i];

                c->verdict = &plan.verdicts[i];
                c->scored = scored;
                c->held = holder_of(&parts->bindings, c->verdict->cluster->object.meta.name);
                c->told = told_of(&parts->policies, c->verdict->cluster->object.meta.name);
                ret->n_held += c->held != NULL;
                ret->n_fresh += c->verdict->picked;
        }
        for (size_t i = 0; i < ret->n_clusters; i++)
                if (judge(arena, ret, &ret->clusters[i], parts->policies.n > 0) < 0)
                        return error_no_memory(err);
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
                doc_set_unless_empty(doc, "scheduler", c->told->reason);
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
