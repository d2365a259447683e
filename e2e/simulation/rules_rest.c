#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/rules.h"

/* ---- tidy ---- */

struct tidy {
        struct watch *w;
        const char *resource, *cluster;
        bool misses;
};

static bool has_placement(struct watch *w, const json_t *doc, char key[192])
{
        char *slash;

        if (!rule_placement_of(doc, key))
                return false;
        slash = strchr(key, '/');
        if (!slash)
                return watch_get(w, "hub", RES_PLACEMENTS, "", key) != NULL;
        *slash = '\0';
        bool found = watch_get(w, "hub", RES_NS_PLACEMENTS, key, slash + 1) != NULL;
        *slash = '/';
        return found;
}

static void say_stale(struct tidy *t, const json_t *doc, const char *why)
{
        const char *ns = doc_get_string(doc, "metadata.namespace");

        watch_broken(t->w, &rule_tidy, "%s on %s: %s%s%s %s", t->resource, t->cluster, ns ? ns : "",
                     ns ? "/" : "", doc_get_string(doc, "metadata.name"), why);
}

/* ---- bindings that nobody wants ---- */

static bool is_fresh_true(const json_t *doc, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return text_equal(doc_get_string(c, "status"), CONDITION_TRUE) &&
                               doc_get_int(c, "observedGeneration", -1) ==
                                       doc_get_int(doc, "metadata.generation", 0);
        return false;
}

bool rule_binding_is_ready(const json_t *binding)
{
        return is_fresh_true(binding, CONDITION_AVAILABLE) || is_fresh_true(binding, CONDITION_DIFF_REPORTED);
}

struct readiness {
        const char *placement;
        unsigned ready, targeted;
};

static bool count_ready(void *ctx, const json_t *binding)
{
        struct readiness *r = ctx;
        char key[192];

        if (!rule_placement_of(binding, key) || !text_equal(key, r->placement))
                return true;
        r->ready += rule_binding_is_ready(binding);
        r->targeted += rule_binding_lives(binding);
        return true;
}

/* What is well stays where it is no longer wanted while too little is well elsewhere
 * (spec/rollout-and-work.md 2.7): that a policy asks for more clusters than there are may last for ever. */
static bool may_stay(struct watch *w, const char *resource, const json_t *binding)
{
        struct readiness r = { 0 };
        const struct wish_placement *p;
        unsigned n, unavailable;
        char key[192];

        if (!rule_placement_of(binding, key) || !(p = rule_wished(watch_wish(w), key)))
                return false;
        if (p->strategy.external_ms)
                return true;
        if (!rule_binding_is_ready(binding))
                return false;
        r.placement = key;
        watch_each(w, "hub", resource, NULL, count_ready, &r);
        n = p->policy.type == POLICY_PICK_N     ? p->policy.n
            : p->policy.type == POLICY_PICK_ALL ? r.targeted
                                                : (unsigned)__builtin_popcount(p->policy.fixed);
        unavailable = (n * p->strategy.max_unavailable + 99) / 100;
        return r.ready + unavailable <= n;
}

static bool check_owned(void *ctx, const json_t *doc)
{
        struct tidy *t = ctx;
        char key[192];

        if (rule_is_leaving(doc))
                say_stale(t, doc, "is still being deleted");
        else if (!has_placement(t->w, doc, key))
                say_stale(t, doc, "belongs to no placement");
        else if (text_ends_with(t->resource, "bindings") && !rule_binding_lives(doc) &&
                 !may_stay(t->w, t->resource, doc))
                say_stale(t, doc, "stands for no choice");
        return true;
}

/* A request that outlives its run would answer for the next one of that name. Those that users made lack a
 * label: they stay if their run went before a hub agent had seen it. */
static bool check_approval(void *ctx, const json_t *doc)
{
        const char *ns = doc_get_string(doc, "metadata.namespace"),
                   *run = doc_get_string(doc, "spec.parentStageRollout");
        struct tidy *t = ctx;

        if (rule_label(doc, LABEL_IS_LATEST_UPDATE_RUN_APPROVAL) &&
            !watch_get(t->w, "hub", ns ? RES_NS_RUNS : RES_RUNS, ns ? ns : "", run ? run : ""))
                say_stale(t, doc, "belongs to no run");
        return true;
}

static bool check_work(void *ctx, const json_t *doc)
{
        struct tidy *t = ctx;
        const char *binding = rule_label(doc, LABEL_PARENT_BINDING),
                   *ns = rule_label(doc, LABEL_PARENT_PLACEMENT_NAMESPACE);

        check_owned(t, doc);
        if (!binding || !watch_get(t->w, "hub", ns ? RES_NS_BINDINGS : RES_BINDINGS, ns ? ns : "", binding))
                say_stale(t, doc, "belongs to no binding");
        return true;
}

/* Groups of a placement are told apart by their index; of each only the first is counted. */
struct history {
        struct tidy tidy;
        char placement[192];
        unsigned groups, latest, in_use;
        VEC(const json_t *) first;
};

static bool is_first_of_group(const json_t *doc)
{
        static const char *const keys[] = { "metadata", "annotations", ANNOTATION_RESOURCE_SUBINDEX };

        return !json_string_value(doc_get_keys(doc, keys, 3));
}

static bool count_groups(void *ctx, const json_t *doc)
{
        struct history *h = ctx;
        char placement[192];

        if (!is_first_of_group(doc) || !rule_placement_of(doc, placement) ||
            !text_equal(placement, h->placement))
                return true;
        ASSERT(vec_push(&h->first, doc) == 0);
        h->groups++;
        h->latest += text_equal(rule_label(doc, LABEL_IS_LATEST_SNAPSHOT), LABEL_TRUE);
        return true;
}

static int64_t index_of(const json_t *snapshot)
{
        const char *text = rule_label(snapshot, LABEL_RESOURCE_INDEX);
        int64_t index;

        return text && text_parse_i64(text, &index) ? index : -1;
}

static unsigned groups_above(const struct history *h, const json_t *snapshot)
{
        unsigned n = 0;

        vec_for_each(&h->first, s)
                n += index_of(*s) > index_of(snapshot);
        return n;
}

struct use {
        const char *snapshot;
        bool found;
};

static bool note_use(void *ctx, const json_t *binding)
{
        struct use *u = ctx;

        u->found = !rule_is_leaving(binding) &&
                   text_equal(doc_get_string(binding, "spec.resourceSnapshotName"), u->snapshot);
        return !u->found;
}

/* "app-0-3-snapshot" of a run that has it and has not ended. */
static bool run_uses(struct watch *w, const char *ns, const json_t *snapshot, const char *placement)
{
        struct rule_run_use use = { placement, rule_label(snapshot, LABEL_RESOURCE_INDEX), false };

        watch_each(w, "hub", ns ? RES_NS_RUNS : RES_RUNS, ns, rule_note_run_use, &use);
        return use.found;
}

/* What a binding names, or a run that goes on, stays, however many have followed. */
static void count_in_use(struct history *h, const char *ns, unsigned limit)
{
        vec_for_each(&h->first, s) {
                struct use u = { doc_get_string(*s, "metadata.name"), false };

                if (groups_above(h, *s) < limit)
                        continue;
                watch_each(h->tidy.w, "hub", ns ? RES_NS_BINDINGS : RES_BINDINGS, ns, note_use, &u);
                h->in_use += u.found || run_uses(h->tidy.w, ns, *s, h->placement);
        }
}

static bool has_slot(const struct wish_app *a, unsigned slot)
{
        return a->objects[slot].exists && (a->exists || !wish_slots[slot].in_namespace);
}

/* A placement that names what is not there is refused as it is, and no snapshot is made of it or goes. */
static bool names_what_is_there(const struct wish *w, unsigned app, enum wish_place place)
{
        const struct wish_app *a = &w->apps[app];
        const struct wish_placement *p = &a->placements[place];

        return (place == PLACE_PART || p->selection > SELECT_LABELLED || a->exists) &&
               (!(p->with_role || p->selection == SELECT_ROLE) || has_slot(a, SLOT_ROLE)) &&
               (!p->with_bundle || has_slot(a, SLOT_CLUSTER_BUNDLE)) &&
               (!p->with_definition || has_slot(a, SLOT_DEFINITION)) &&
               (p->selection != SELECT_SETTINGS || has_slot(a, SLOT_SETTINGS));
}

static bool is_refused(const struct wish *w, const char *key)
{
        const struct wish_placement *p = rule_wished(w, key);

        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned place = 0; place < WISH_PLACES; place++)
                        if (p == &w->apps[app].placements[place])
                                return !names_what_is_there(w, app, place);
        return false;
}

static void check_history(struct watch *w, const char *resource, const char *placement, unsigned limit,
                          bool may_have_none)
{
        struct history h = { .tidy = { w, resource, "hub" } };
        const char *slash = strchr(placement, '/');
        char ns[192] = "";

        snprintf(h.placement, sizeof(h.placement), "%s", placement);
        if (slash)
                snprintf(ns, sizeof(ns), "%.*s", (int)(slash - placement), placement);
        watch_each(w, "hub", resource, slash ? ns : NULL, count_groups, &h);
        if (h.latest != 1 && !(may_have_none && h.latest == 0))
                watch_broken(w, &rule_tidy, "placement %s has %u latest %s", placement, h.latest, resource);
        if (text_ends_with(resource, "resourcesnapshots"))
                count_in_use(&h, slash ? ns : NULL, limit);
        if (h.groups - h.in_use > limit)
                watch_broken(w, &rule_tidy, "placement %s keeps %u %s, %u allowed and %u in use", placement,
                             h.groups, resource, limit, h.in_use);
        vec_free(&h.first);
}

static bool check_placement(void *ctx, const json_t *doc)
{
        struct tidy *t = ctx;
        const char *ns = doc_get_string(doc, "metadata.namespace"),
                   *name = doc_get_string(doc, "metadata.name");
        unsigned limit = (unsigned)doc_get_int(doc, "spec.revisionHistoryLimit", 10);
        char key[192];

        snprintf(key, sizeof(key), "%s%s%s", ns ? ns : "", ns ? "/" : "", name);
        if (rule_is_leaving(doc)) {
                say_stale(t, doc, "is still being deleted");
                return true;
        }
        if (is_refused(watch_wish(t->w), key))
                return true;
        check_history(t->w, ns ? RES_NS_SNAPSHOTS : RES_SNAPSHOTS, key, limit,
                      text_equal(doc_get_string(doc, "spec.strategy.type"), "External"));
        check_history(t->w, ns ? RES_NS_POLICIES : RES_POLICIES, key, limit, false);
        return true;
}

static bool has_work(struct watch *w, const json_t *applied_work)
{
        const char *ns = doc_get_string(applied_work, "spec.workNamespace"),
                   *name = doc_get_string(applied_work, "spec.workName");

        return watch_get(w, "hub", RES_WORKS, ns ? ns : "", name ? name : "") != NULL;
}

static bool check_applied_work(void *ctx, const json_t *doc)
{
        struct tidy *t = ctx;

        if (rule_is_leaving(doc))
                say_stale(t, doc, "is still being deleted");
        else if (!has_work(t->w, doc))
                say_stale(t, doc, "belongs to no Work");
        return true;
}

/* Of the clusters in the fleet; what left keeps its objects and their records. */
static void each_applied_work(struct watch *w, bool (*fn)(void *ctx, const json_t *doc), struct tidy *t)
{
        char name[32];

        t->resource = RES_APPLIED_WORKS;
        t->cluster = name;
        for (unsigned i = 1; i <= watch_wish(w)->n_members; i++) {
                snprintf(name, sizeof(name), "member-%u", i);
                if (watch_wish(w)->members[i].membership == MEMBER_IN)
                        watch_each(w, name, RES_APPLIED_WORKS, NULL, fn, t);
        }
}

static bool note_missed(void *ctx, const json_t *doc)
{
        struct tidy *t = ctx;

        t->misses |= !has_work(t->w, doc);
        return !t->misses;
}

bool rules_miss_works(struct watch *w)
{
        struct tidy t = { .w = w };

        each_applied_work(w, note_missed, &t);
        return t.misses;
}

/* "app-1.play.test/v1" is defined by "widgets.app-1.play.test". */
static bool is_defined(struct watch *w, const char *api)
{
        const char *slash = api ? strchr(api, '/') : NULL;
        char name[128];

        if (!slash || !strstr(api, ".play.test/"))
                return true;
        snprintf(name, sizeof(name), "widgets.%.*s", (int)(slash - api), api);
        return watch_get(w, "hub", RES_DEFINITIONS, "", name) != NULL;
}

static bool holds_undefined(struct watch *w, const json_t *snapshot)
{
        json_t *resource;
        size_t i;

        json_array_foreach(doc_get_array(snapshot, "spec.selectedResources"), i, resource)
                if (!is_defined(w, doc_get_string(resource, "apiVersion")))
                        return true;
        return false;
}

struct newer {
        char placement[192];
        int64_t than;
        bool is_there;
};

static bool find_newer(void *ctx, const json_t *snapshot)
{
        struct newer *n = ctx;
        char placement[192];

        n->is_there = rule_placement_of(snapshot, placement) && text_equal(placement, n->placement) &&
                      index_of(snapshot) > n->than;
        return !n->is_there;
}

/* Not the one marked latest, which somebody may have deleted. */
static bool is_newest(const struct tidy *t, const json_t *snapshot)
{
        struct newer n = { .than = index_of(snapshot) };

        if (rule_placement_of(snapshot, n.placement))
                watch_each(t->w, "hub", t->resource, NULL, find_newer, &n);
        return !n.is_there;
}

static bool note_undefined(void *ctx, const json_t *snapshot)
{
        struct tidy *t = ctx;

        t->misses = holds_undefined(t->w, snapshot) && is_newest(t, snapshot);
        return !t->misses;
}

bool rules_miss_kinds(struct watch *w)
{
        static const char *const snapshots[] = { RES_SNAPSHOTS, RES_NS_SNAPSHOTS };
        struct tidy t = { .w = w };

        for (size_t i = 0; i < ARRAY_LEN(snapshots) && !t.misses; i++) {
                t.resource = snapshots[i];
                watch_each(w, "hub", t.resource, NULL, note_undefined, &t);
        }
        return t.misses;
}

static void tidy_at_rest(struct watch *w, void *state)
{
        static const char *const owned[] = { RES_BINDINGS,     RES_NS_BINDINGS, RES_SNAPSHOTS,
                                             RES_NS_SNAPSHOTS, RES_POLICIES,    RES_NS_POLICIES };
        struct tidy t = { .w = w, .cluster = "hub" };

        watch_judged(w, &rule_tidy);
        for (size_t i = 0; i < ARRAY_LEN(owned); i++) {
                t.resource = owned[i];
                watch_each(w, "hub", owned[i], NULL, check_owned, &t);
        }
        t.resource = RES_WORKS;
        watch_each(w, "hub", RES_WORKS, NULL, check_work, &t);
        t.resource = RES_APPROVALS;
        watch_each(w, "hub", RES_APPROVALS, NULL, check_approval, &t);
        t.resource = RES_NS_APPROVALS;
        watch_each(w, "hub", RES_NS_APPROVALS, NULL, check_approval, &t);
        t.resource = RES_PLACEMENTS;
        watch_each(w, "hub", RES_PLACEMENTS, NULL, check_placement, &t);
        t.resource = RES_NS_PLACEMENTS;
        watch_each(w, "hub", RES_NS_PLACEMENTS, NULL, check_placement, &t);
        each_applied_work(w, check_applied_work, &t);
}

const struct rule rule_tidy = { .name = "tidy", .at_rest = tidy_at_rest };

/* ---- quiet ---- */

#define TOLD_AGAIN_MS 60000

struct quiet {
        bool resting, begun;
        struct map told; /* event -> when it was written last, while all rests */
};

static void quiet_at_rest(struct watch *w, void *state)
{
        struct quiet *q = state;

        watch_judged(w, &rule_quiet);
        q->resting = true;
}

/* That something stays as bad as it is, is told after some minutes, and now and then once more. */
static bool is_told_again(struct quiet *q, const struct change *c)
{
        char key[320];
        intptr_t before;

        if (!text_equal(c->resource, "/events"))
                return false;
        if (!q->begun)
                map_init(&q->told, MAP_OWN_KEYS, NULL);
        q->begun = true;
        snprintf(key, sizeof(key), "%s %s/%s", c->cluster, c->ns, c->name);
        before = (intptr_t)map_get(&q->told, key);
        ASSERT(map_put(&q->told, key, (void *)(intptr_t)c->at_ms) == 0);
        return !before || c->at_ms - before >= TOLD_AGAIN_MS;
}

static void quiet_end(void *state)
{
        struct quiet *q = state;

        if (q->begun)
                map_free(&q->told);
}

static bool is_sign_of_life(const struct change *c)
{
        return text_equal(c->resource, RES_LEASES) || text_equal(c->resource, RES_INTERNAL_MEMBERS) ||
               text_equal(c->resource, RES_MEMBERS);
}

/* Keys that say nothing new: what every write changes, and when something that lasts was last looked at. A
 * status that is shown in a namespace is a spec there, and has a generation. */
static bool is_no_news(const char *key)
{
        return text_equal(key, "resourceVersion") || text_equal(key, "managedFields") ||
               text_equal(key, "observationTime") || text_equal(key, "lastUpdatedTime") ||
               text_equal(key, "generation");
}

/* Where two documents differ first. */
static bool find_difference(const json_t *a, const json_t *b, char *path, size_t size)
{
        size_t used = strlen(path), i;
        const char *key;
        json_t *value;

        if (json_equal(a, b))
                return false;
        if (json_is_object(a) && json_is_object(b)) {
                json_object_foreach((json_t *)b, key, value) {
                        if (is_no_news(key))
                                continue;
                        snprintf(path + used, size - used, ".%s", key);
                        if (find_difference(json_object_get(a, key), value, path, size))
                                return true;
                        path[used] = '\0';
                }
                return json_object_size(a) != json_object_size(b);
        }
        if (!json_is_array(a) || json_array_size(a) != json_array_size(b))
                return true;
        json_array_foreach((json_t *)b, i, value) {
                snprintf(path + used, size - used, "[%zu]", i);
                if (find_difference(json_array_get(a, i), value, path, size))
                        return true;
                path[used] = '\0';
        }
        return false;
}

/* That a cluster takes too long is told after minutes. */
static bool is_stuck_now(const struct change *c)
{
        json_t *condition;
        size_t i;

        if (!text_equal(c->resource, RES_RUNS) && !text_equal(c->resource, RES_NS_RUNS))
                return false;
        json_array_foreach(doc_get_array(c->after, "status.conditions"), i, condition)
                if (text_equal(doc_get_string(condition, "reason"), "UpdateRunStuck"))
                        return true;
        return false;
}

static void quiet_changed(struct watch *w, void *state, const struct change *c)
{
        struct quiet *q = state;
        char path[256] = "";

        if (!q->resting ||
            (!rule_is_hub_agent(c->who) && !rule_is_member(c->who) && !text_equal(c->who, WISH_GARDENER)) ||
            is_sign_of_life(c) || is_told_again(q, c) || is_stuck_now(c) || rules_table_is_tried_again(c) ||
            rules_chart_is_tried_again(c) || rules_garden_speaks(c))
                return;
        if (c->before && c->after && !find_difference(c->before, c->after, path, sizeof(path)))
                return;
        watch_broken(w, &rule_quiet, "%s wrote %s %s/%s on %s though nothing had happened: %s", c->who,
                     c->resource, c->ns, c->name, c->cluster, path);
}

const struct rule rule_quiet = { .name = "quiet",
                                 .state_size = sizeof(struct quiet),
                                 .changed = quiet_changed,
                                 .at_rest = quiet_at_rest,
                                 .end = quiet_end };
