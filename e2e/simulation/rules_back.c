#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/rules.h"

/* What reportBackStrategy brings (spec/placement.md 15): each Work says what its placement asks for; where
 * that is something it holds, at rest, the status that objects have on its cluster, and nothing of it where
 * it is not; and of a placement that is on one cluster by its policy the hub's workloads have that status,
 * too. */

/* Kinds that have a status on members; of some it is the hub's own on the hub. */
static const struct reported_kind {
        const char *kind, *resource;
        bool comes_back;
} kinds[] = {
        { "Deployment", "apps/deployments", true },
        { "Job", "batch/jobs", true },
        { "Namespace", "/namespaces", false },
        { "CustomResourceDefinition", RES_DEFINITIONS, false },
};

struct back {
        bool begun;
        struct map made;    /* what comes back, "apps/deployments ns/name" -> since when a report brings its
                               status */
        struct map written; /* a Work, "ns/name" -> when it was written last */
};

static void note(struct map *of, const struct change *c, int64_t at_ms)
{
        char key[320];

        snprintf(key, sizeof(key), "%s %s/%s", c->resource, c->ns, c->name);
        ASSERT(map_put(of, key, (void *)(intptr_t)at_ms) == 0);
}

static int64_t noted(const struct map *of, const char *resource, const char *ns, const char *name)
{
        char key[320];

        snprintf(key, sizeof(key), "%s %s/%s", resource, ns, name);
        return (intptr_t)map_get(of, key);
}

/* The first of its name from the beginning on; for one that was made anew it must have been heard of that it
 * is another one. */
static void note_made(struct back *b, const struct change *c)
{
        bool anew = noted(&b->made, c->resource, c->ns, c->name) > 0;

        note(&b->made, c, c->at_ms + (anew ? RULE_LAG_MS : 0));
}

static bool comes_back(const char *resource)
{
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                if (text_equal(kinds[i].resource, resource))
                        return kinds[i].comes_back;
        return false;
}

static void back_changed(struct watch *w, void *state, const struct change *c)
{
        struct back *b = state;

        if (!b->begun) {
                map_init(&b->made, MAP_OWN_KEYS, NULL);
                map_init(&b->written, MAP_OWN_KEYS, NULL);
        }
        b->begun = true;
        if (!text_equal(c->cluster, "hub"))
                return;
        if (c->type == CHANGE_ADDED && comes_back(c->resource))
                note_made(b, c);
        else if (text_equal(c->resource, RES_WORKS))
                note(&b->written, c, c->at_ms);
}

static void back_end(void *state)
{
        struct back *b = state;

        if (!b->begun)
                return;
        map_free(&b->made);
        map_free(&b->written);
}

/* ---- one Work ---- */

struct reporting {
        struct watch *w;
        const struct back *back;
        const json_t *work;
        const char *ns, *name, *cluster; /* the Work's, and the member's */
        const struct wish_strategy *asked;
        const json_t *selected; /* what the placement's status says it selects */
        bool one;               /* the policy is for one cluster */
};

static bool is_for_one(const struct wish_policy *p)
{
        return p->type == POLICY_PICK_FIXED ? __builtin_popcount(p->fixed) == 1
                                            : p->type == POLICY_PICK_N && p->n == 1;
}

static const char *destination(enum wish_back back)
{
        static const char *const names[] = { "", "WorkAPI", "OriginalResource" };

        return names[back];
}

static bool says_what_is_asked(const struct reporting *r)
{
        bool mirrors = text_equal(doc_get_string(r->work, "spec.reportBackStrategy.type"), "Mirror");
        const char *to = doc_get_string(r->work, "spec.reportBackStrategy.destination");

        if (r->asked->back == BACK_NOT)
                return !mirrors;
        return mirrors && text_equal(to, destination(r->asked->back));
}

static const json_t *status_of(const json_t *doc)
{
        const json_t *status = doc_get_object(doc, "status");

        return json_object_size(status) ? status : NULL;
}

struct reported {
        const struct reported_kind *kind;
        const char *ns, *name;
        const json_t *told;
};

/* Of what runs roll out nothing is said to be selected until its clusters are on one snapshot. */
static bool is_selected(const struct reporting *r, const struct reported *o)
{
        json_t *one;
        size_t i;

        json_array_foreach(r->selected, i, one)
                if (text_equal(doc_get_string(one, "kind"), o->kind->kind) &&
                    text_equal(doc_get_string(one, "name"), o->name))
                        return true;
        return false;
}

/* On the hub it has what a Work that is applied says. Who makes it anew gets that with the next report, which
 * comes when it comes.
 */
static void check_original(const struct reporting *r, const struct reported *o)
{
        const json_t *object = watch_get(r->w, "hub", o->kind->resource, o->ns, o->name);

        if (!object || !is_selected(r, o) ||
            !rule_says(doc_get_object(r->work, "status"), CONDITION_APPLIED, CONDITION_TRUE) ||
            noted(&r->back->written, RES_WORKS, r->ns, r->name) <
                    noted(&r->back->made, o->kind->resource, o->ns, o->name))
                return;
        watch_judged(r->w, &rule_back);
        if (!json_equal(status_of(object), o->told))
                watch_broken(r->w, &rule_back,
                             "%s %s/%s of the hub has not the status that Work %s/%s reports", o->kind->kind,
                             o->ns, o->name, r->ns, r->name);
}

static void check_object(const struct reporting *r, const struct reported *o)
{
        const json_t *live = status_of(watch_get(r->w, r->cluster, o->kind->resource, o->ns, o->name));

        watch_judged(r->w, &rule_back);
        if (live && (!o->told || !json_equal(live, o->told)))
                watch_broken(r->w, &rule_back, "Work %s/%s does not report the status that %s %s/%s has",
                             r->ns, r->name, o->kind->kind, o->ns, o->name);
        else if (o->told && o->kind->comes_back && r->asked->back == BACK_TO_ORIGINAL && r->one)
                check_original(r, o);
}

static const char *or_nothing(const char *text)
{
        return text ? text : "";
}

static void check_manifest(const struct reporting *r, const json_t *m)
{
        const char *kind = or_nothing(doc_get_string(m, "identifier.kind"));
        struct reported o = { .ns = or_nothing(doc_get_string(m, "identifier.namespace")),
                              .name = or_nothing(doc_get_string(m, "identifier.name")),
                              .told = status_of(doc_get_object(m, "backReportedStatus.observedStatus")) };

        if (r->asked->back == BACK_NOT) {
                if (doc_get(m, "backReportedStatus"))
                        watch_broken(r->w, &rule_back,
                                     "Work %s/%s reports the status of %s %s, which nobody asked for", r->ns,
                                     r->name, kind, o.name);
                return;
        }
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                if (text_equal(kinds[i].kind, kind))
                        o.kind = &kinds[i];
        if (o.kind && rule_says(m, CONDITION_APPLIED, CONDITION_TRUE))
                check_object(r, &o);
}

static void check_reporting(const struct reporting *r)
{
        json_t *m;
        size_t i;

        if (!says_what_is_asked(r)) {
                watch_broken(r->w, &rule_back, "Work %s/%s does not say that statuses go to \"%s\"", r->ns,
                             r->name, destination(r->asked->back));
                return;
        }
        json_array_foreach(doc_get_array(r->work, "status.manifestConditions"), i, m)
                check_manifest(r, m);
}

/* Whether the Works of the binding are brought in line: not those of one that is to leave its cluster, nor of
 * one that no rollout has spoken of as it is, which with strategy External waits for a run
 * (spec/rollout-and-work.md 6.2). */
static bool is_spoken_of(const json_t *binding)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(binding, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), CONDITION_ROLLOUT_STARTED))
                        return doc_get_int(c, "observedGeneration", -1) ==
                               doc_get_int(binding, "metadata.generation", 0);
        return false;
}

static bool is_brought_in_line(struct watch *w, const json_t *work)
{
        const char *name = rule_label(work, LABEL_PARENT_BINDING),
                   *ns = rule_label(work, LABEL_PARENT_PLACEMENT_NAMESPACE);
        const json_t *binding =
                name ? watch_get(w, "hub", ns ? RES_NS_BINDINGS : RES_BINDINGS, ns ? ns : "", name) : NULL;

        return binding && rule_binding_lives(binding) && is_spoken_of(binding);
}

static bool check_work(void *ctx, const json_t *work)
{
        struct reporting r = *(const struct reporting *)ctx;
        const struct wish_placement *p;
        char placement[192];

        if (rule_is_leaving(work) || !rule_placement_of(work, placement) ||
            !(p = rule_wished(watch_wish(r.w), placement)) || !p->exists || p->leaving ||
            !is_brought_in_line(r.w, work) ||
            text_equal(doc_get_string(work, "spec.applyStrategy.type"), APPLY_REPORT_DIFF))
                return true;
        r.work = work;
        r.name = doc_get_string(work, "metadata.name");
        r.asked = &p->strategy;
        r.one = is_for_one(&p->policy);
        if (!strchr(placement, '/')) /* workloads are those of cluster-wide ones */
                r.selected = doc_get_array(watch_get(r.w, "hub", RES_PLACEMENTS, "", placement),
                                           "status.selectedResources");
        check_reporting(&r);
        return true;
}

static void back_at_rest(struct watch *w, void *state)
{
        const struct wish *wish = watch_wish(w);
        char cluster[32], ns[64];
        struct reporting r = { .w = w, .back = state, .ns = ns, .cluster = cluster };

        for (unsigned i = 1; i <= wish->n_members; i++) {
                snprintf(cluster, sizeof(cluster), "member-%u", i);
                snprintf(ns, sizeof(ns), NAME_MEMBER_NAMESPACE, cluster);
                if (wish->members[i].membership == MEMBER_IN)
                        watch_each(w, "hub", RES_WORKS, ns, check_work, &r);
        }
}

const struct rule rule_back = { .name = "report-back",
                                .state_size = sizeof(struct back),
                                .changed = back_changed,
                                .at_rest = back_at_rest,
                                .end = back_end };
