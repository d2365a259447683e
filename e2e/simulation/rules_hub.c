#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/asked.h"
#include "e2e/simulation/held.h"
#include "e2e/simulation/rules.h"

/* ---- one leader ---- */

/* An event says what happened, and decides nothing: it may come late. The webhooks' certificate is made by
 * whoever serves first. */
static bool is_the_leaders(const struct watch *w, const char *who, const char *resource)
{
        static const char *const anybodys[] = { RES_LEASES, "/events", "/secrets" };

        return !watch_shards(w) && rule_is_hub_agent(who) &&
               !text_in(resource, anybodys, ARRAY_LEN(anybodys));
}

static void one_leader(struct watch *w, void *state, const struct change *c)
{
        const json_t *lease;
        const char *holder;

        if (text_equal(c->cluster, "hub") && text_equal(c->resource, RES_LEASES) &&
            text_equal(c->name, LEASE_HUB_AGENT))
                held_note(state, c);
        if (!is_the_leaders(w, c->who, c->resource))
                return;
        lease = watch_get(w, "hub", RES_LEASES, NAMESPACE_FLEET_SYSTEM, LEASE_HUB_AGENT);
        holder = doc_get_string(lease, "spec.holderIdentity");
        watch_judged(w, &rule_one_leader);
        if (!text_equal(holder, c->who))
                watch_broken(w, &rule_one_leader, "%s wrote %s %s/%s while %s leads", c->who, c->resource,
                             c->ns, c->name, holder ? holder : "nobody");
}

static void leader_sent(struct watch *w, void *state, const struct sent *s)
{
        const struct held *held = state;
        int who = held_agent(s->who);

        if (who < 0 || !is_the_leaders(w, s->who, s->resource) || held_at(&held[who], s->at_ms))
                return;
        watch_broken(w, &rule_one_leader, "%s sent %s %s/%s when its lease was %s", s->who, s->resource,
                     s->ns, s->name, held[who].until_ms < s->at_ms ? "another's or nobody's" : "over");
}

const struct rule rule_one_leader = { .name = "one-leader",
                                      .state_size = HELD_AGENTS * sizeof(struct held),
                                      .changed = one_leader,
                                      .sent = leader_sent };

/* ---- live bindings ---- */

struct live_bindings {
        struct asked_map asked;
        bool begun;
        struct map late; /* placement -> when a binding came that had been on its way for long, struct late */
};

struct late {
        int64_t at_ms;
};

struct tally {
        const char *placement, *policy, *cluster;
        unsigned of_policy, on_cluster;
};

static bool tally_binding(void *ctx, const json_t *b)
{
        struct tally *t = ctx;
        char placement[192];

        if (!rule_placement_of(b, placement) || !text_equal(placement, t->placement) ||
            !rule_binding_lives(b))
                return true;
        t->on_cluster += text_equal(doc_get_string(b, "spec.targetCluster"), t->cluster);
        t->of_policy += text_equal(doc_get_string(b, "spec.schedulingPolicySnapshotName"), t->policy);
        return true;
}

#define ON_ITS_WAY_MS 2000

/* What somebody asked for who died meanwhile comes when nobody counts on it: one too many, which is seen and
 * taken away. */
static bool came_late(struct live_bindings *s, const struct change *c, const char *placement)
{
        struct late *late = s->begun ? map_get(&s->late, placement) : NULL;

        if (c->before || c->at_ms - c->asked_ms < ON_ITS_WAY_MS)
                return late && c->at_ms - late->at_ms < RULE_LAG_MS;
        if (!s->begun)
                map_init(&s->late, MAP_OWN_KEYS, mem_free);
        s->begun = true;
        late = mem_must(NEW(struct late));
        late->at_ms = c->at_ms;
        ASSERT(map_put(&s->late, placement, late) == 0);
        return true;
}

/* Those that there are may stay while nothing of the placement can be taken in. */
static bool is_one_more(const struct change *c)
{
        return !c->before || !rule_binding_lives(c->before) ||
               !text_equal(doc_get_string(c->before, "spec.schedulingPolicySnapshotName"),
                           doc_get_string(c->after, "spec.schedulingPolicySnapshotName"));
}

/* By a policy that was given up long ago, nobody is picked. */
static void check_policy(struct watch *w, const struct change *c, const struct tally *t,
                         const struct asked_list *asked)
{
        const json_t *snapshot =
                watch_get(w, "hub", *c->ns ? RES_NS_POLICIES : RES_POLICIES, c->ns, t->policy);

        if (!c->before && snapshot &&
            !asked_policy(asked, doc_get(snapshot, "spec.policy"), c->at_ms - RULE_LAG_MS))
                watch_broken(w, &rule_live_bindings,
                             "placement %s has a new binding on %s of policy %s, which is asked for no more",
                             t->placement, t->cluster, t->policy);
}

static void live_bindings(struct watch *w, void *state, const struct change *c)
{
        struct live_bindings *s = state;
        const struct asked_list *asked;
        struct tally t = { 0 };
        char placement[192];
        unsigned most;

        asked_note(&s->asked, c);
        if (!text_ends_with(c->resource, "resourcebindings") || !c->after || !rule_binding_lives(c->after) ||
            !rule_placement_of(c->after, placement) || came_late(s, c, placement))
                return;
        t = (struct tally){ .placement = placement,
                            .policy = doc_get_string(c->after, "spec.schedulingPolicySnapshotName"),
                            .cluster = doc_get_string(c->after, "spec.targetCluster") };
        watch_each(w, "hub", c->resource, *c->ns ? c->ns : NULL, tally_binding, &t);
        watch_judged(w, &rule_live_bindings);
        if (t.on_cluster > 1)
                watch_broken(w, &rule_live_bindings, "placement %s has %u live bindings on %s", placement,
                             t.on_cluster, t.cluster);
        asked = asked_of(&s->asked, placement);
        if (!asked)
                return;
        check_policy(w, c, &t, asked);
        most = asked_most(asked, c->at_ms - RULE_LAG_MS); /* that it is less now may be heard of late */
        if (t.of_policy > most && is_one_more(c))
                watch_broken(w, &rule_live_bindings,
                             "placement %s has %u live bindings of policy %s, N is %u", placement,
                             t.of_policy, t.policy, most);
}

static void live_bindings_end(void *state)
{
        struct live_bindings *s = state;

        asked_free(&s->asked);
        if (s->begun)
                map_free(&s->late);
}

const struct rule rule_live_bindings = { .name = "live-bindings",
                                         .state_size = sizeof(struct live_bindings),
                                         .changed = live_bindings,
                                         .end = live_bindings_end };

/* ---- bindings outlive their Works ---- */

struct find_work {
        const char *binding;
        char placement[192];
        const char *found;
};

static bool is_of_binding(void *ctx, const json_t *work)
{
        struct find_work *f = ctx;
        char placement[192];

        if (text_equal(rule_label(work, LABEL_PARENT_BINDING), f->binding) &&
            rule_placement_of(work, placement) && text_equal(placement, f->placement))
                f->found = doc_get_string(work, "metadata.name");
        return !f->found;
}

static void binding_after_works(struct watch *w, void *state, const struct change *c)
{
        struct find_work f = { .binding = c->name };
        char ns[96];

        if (!text_ends_with(c->resource, "resourcebindings") || c->type != CHANGE_DELETED ||
            !rule_placement_of(c->before, f.placement))
                return;
        /* Nobody is there any more who could take them away. */
        if (!watch_get(w, "hub", RES_MEMBERS, "", doc_get_string(c->before, "spec.targetCluster")))
                return;
        snprintf(ns, sizeof(ns), NAME_MEMBER_NAMESPACE, doc_get_string(c->before, "spec.targetCluster"));
        watch_each(w, "hub", RES_WORKS, ns, is_of_binding, &f);
        watch_judged(w, &rule_binding_after_works);
        if (f.found)
                watch_broken(w, &rule_binding_after_works,
                             "binding %s of placement %s is gone, its Work %s/%s lives", c->name, f.placement,
                             ns, f.found);
}

const struct rule rule_binding_after_works = { .name = "binding-after-works",
                                               .changed = binding_after_works };

/* ---- a binding says of its newest generation what its Works say of theirs ---- */

struct find_stale {
        struct find_work of;
        const char *type;
        const char *stale;
};

static const json_t *condition_of(const json_t *doc, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

static bool is_of_generation(const json_t *doc, const json_t *condition)
{
        return condition &&
               doc_get_int(condition, "observedGeneration", -1) == doc_get_int(doc, "metadata.generation", 0);
}

static bool tells(const json_t *binding, const char *type)
{
        const json_t *c = condition_of(binding, type);

        return is_of_generation(binding, c) && text_equal(doc_get_string(c, "status"), CONDITION_TRUE);
}

/* What a member said of this generation and took back while the binding was on its way is no news: it speaks
 * of other conditions now. */
static bool told_of_generation(const json_t *work, const char *type)
{
        const json_t *c = condition_of(work, type);

        return is_of_generation(work, c ? c : condition_of(work, CONDITION_APPLIED));
}

static bool is_fresh_work(void *ctx, const json_t *work)
{
        struct find_stale *f = ctx;

        f->of.found = NULL;
        (void)is_of_binding(&f->of, work);
        if (f->of.found && !rule_is_leaving(work) && !told_of_generation(work, f->type))
                f->stale = f->of.found;
        return !f->stale;
}

static void fresh_news(struct watch *w, void *state, const struct change *c)
{
        static const char *const types[] = { CONDITION_APPLIED, CONDITION_AVAILABLE,
                                             CONDITION_DIFF_REPORTED };
        const char *cluster = doc_get_string(c->after, "spec.targetCluster");
        struct find_stale f = { .of = { .binding = c->name } };
        char ns[96];

        if ((!text_equal(c->resource, RES_BINDINGS) && !text_equal(c->resource, RES_NS_BINDINGS)) ||
            !c->after || !c->before || !rule_is_hub_agent(c->who) || rule_is_leaving(c->after) || !cluster ||
            !rule_placement_of(c->after, f.of.placement))
                return;
        snprintf(ns, sizeof(ns), NAME_MEMBER_NAMESPACE, cluster);
        for (size_t i = 0; i < ARRAY_LEN(types) && !f.stale; i++) {
                f.type = types[i];
                if (!tells(c->after, f.type) || tells(c->before, f.type))
                        continue;
                watch_judged(w, &rule_fresh_news);
                watch_each(w, "hub", RES_WORKS, ns, is_fresh_work, &f);
        }
        if (f.stale)
                watch_broken(w, &rule_fresh_news,
                             "binding %s of placement %s is %s, its Work %s has yet to say so", c->name,
                             f.of.placement, f.type, f.stale);
}

const struct rule rule_fresh_news = { .name = "fresh-news", .changed = fresh_news };

/* ---- one latest snapshot ---- */

struct latest_state {
        bool begun;
        struct map gone;     /* "ns/name" of snapshots that were deleted */
        struct map returned; /* of those that came back -> struct came_back */
};

/* A message of its making that the network held back comes a second time, after somebody deleted it: nobody
 * can help that. It is no second one beside a newer one whose making was sent before it came, until the hub
 * agent has seen it. */
struct came_back {
        int64_t at_ms;
        bool excused;
};

struct latest {
        struct latest_state *state;
        const struct change *change;
        const char *placement, *index; /* index: of the group counted already */
        unsigned groups;
};

static const char *snapshot_index(const json_t *snapshot)
{
        const char *index = rule_label(snapshot, LABEL_RESOURCE_INDEX);

        return index ? index : rule_label(snapshot, LABEL_POLICY_INDEX);
}

static const char *snapshot_key(char key[320], const char *ns, const char *name)
{
        snprintf(key, 320, "%s/%s", ns ? ns : "", name ? name : "");
        return key;
}

static bool is_latest(const json_t *snapshot)
{
        return text_equal(rule_label(snapshot, LABEL_IS_LATEST_SNAPSHOT), LABEL_TRUE);
}

static int64_t index_number(const json_t *snapshot)
{
        int64_t number = -1;

        (void)text_parse_i64(or_empty(snapshot_index(snapshot)), &number);
        return number;
}

static bool is_excused(const struct latest *l, const json_t *snapshot)
{
        char key[320];
        struct came_back *b =
                map_get(&l->state->returned, snapshot_key(key, doc_get_string(snapshot, "metadata.namespace"),
                                                          doc_get_string(snapshot, "metadata.name")));

        if (b && l->change->asked_ms <= b->at_ms && index_number(snapshot) < index_number(l->change->after))
                b->excused = true;
        return b && b->excused;
}

/* The pieces of one group all have its index. */
static bool count_latest(void *ctx, const json_t *snapshot)
{
        struct latest *l = ctx;
        char placement[192];
        const char *index = snapshot_index(snapshot);

        if (!is_latest(snapshot) || rule_is_leaving(snapshot) || !rule_placement_of(snapshot, placement) ||
            !text_equal(placement, l->placement) || (l->index && text_equal(l->index, index)) ||
            is_excused(l, snapshot))
                return true;
        l->groups++;
        l->index = index;
        return true;
}

static bool is_newer_latest(void *ctx, const json_t *snapshot)
{
        struct latest *l = ctx;
        char placement[192];

        l->groups += is_latest(snapshot) && !rule_is_leaving(snapshot) &&
                     rule_placement_of(snapshot, placement) && text_equal(placement, l->placement) &&
                     index_number(snapshot) > index_number(l->change->after);
        return l->groups == 0;
}

static void note_return(struct watch *w, struct latest l, const char *key)
{
        struct came_back *b = mem_must(NEW(struct came_back));

        watch_each(w, "hub", l.change->resource, *l.change->ns ? l.change->ns : NULL, is_newer_latest, &l);
        *b = (struct came_back){ l.change->at_ms, l.groups > 0 };
        if (map_put(&l.state->returned, key, b) < 0)
                abort();
}

static void begin_latest(struct latest_state *s)
{
        if (s->begun)
                return;
        map_init(&s->gone, MAP_OWN_KEYS, NULL);
        map_init(&s->returned, MAP_OWN_KEYS, mem_free);
        s->begun = true;
}

static void latest_snapshot(struct watch *w, void *state, const struct change *c)
{
        struct latest_state *s = state;
        struct latest l = { .state = s, .change = c };
        char placement[192], key[320];

        if (!text_ends_with(c->resource, "snapshots") || strstr(c->resource, "override"))
                return;
        begin_latest(s);
        snapshot_key(key, c->ns, c->name);
        if (!c->after && map_put(&s->gone, key, s) < 0)
                abort();
        if (!c->after || !is_latest(c->after)) {
                map_remove(&s->returned, key);
                return;
        }
        if (!rule_placement_of(c->after, placement))
                return;
        l.placement = placement;
        if (c->type == CHANGE_ADDED && map_has(&s->gone, key))
                note_return(w, l, key);
        watch_each(w, "hub", c->resource, *c->ns ? c->ns : NULL, count_latest, &l);
        watch_judged(w, &rule_latest_snapshot);
        if (l.groups > 1)
                watch_broken(w, &rule_latest_snapshot, "placement %s has %u latest %s", placement, l.groups,
                             strchr(c->resource, '/') + 1);
}

static void latest_snapshot_end(void *state)
{
        struct latest_state *s = state;

        if (!s->begun)
                return;
        map_free(&s->gone);
        map_free(&s->returned);
}

const struct rule rule_latest_snapshot = { .name = "latest-snapshot",
                                           .state_size = sizeof(struct latest_state),
                                           .changed = latest_snapshot,
                                           .end = latest_snapshot_end };

/* ---- a name never stands for two contents ---- */

struct contents {
        bool begun;
        struct map of; /* "app-0-2-snapshot" with namespace -> hash of what it held */
};

struct find_user {
        const char *snapshot;
        bool found;
};

static bool names_snapshot(void *ctx, const json_t *binding)
{
        struct find_user *f = ctx;

        f->found = !rule_is_leaving(binding) &&
                   text_equal(doc_get_string(binding, "spec.resourceSnapshotName"), f->snapshot);
        return !f->found;
}

static bool is_named(struct watch *w, const char *ns, const char *snapshot)
{
        struct find_user user = { .snapshot = snapshot };

        watch_each(w, "hub", *ns ? RES_NS_BINDINGS : RES_BINDINGS, *ns ? ns : NULL, names_snapshot, &user);
        return user.found;
}

/* Bindings name snapshots, and nobody compares contents again under the same name. */
static void index_once(struct watch *w, void *state, const struct change *c)
{
        static const char *const keys[] = { "metadata", "annotations", ANNOTATION_RESOURCE_HASH };
        bool in_namespace = text_equal(c->resource, RES_NS_SNAPSHOTS);
        struct contents *s = state;
        const char *hash, *before;
        char key[320];

        if ((!in_namespace && !text_equal(c->resource, RES_SNAPSHOTS)) || c->type != CHANGE_ADDED ||
            !(hash = json_string_value(doc_get_keys(c->after, keys, 3))))
                return;
        if (!s->begun)
                map_init(&s->of, MAP_OWN_KEYS, mem_free);
        s->begun = true;
        snprintf(key, sizeof(key), "%s/%s", c->ns, c->name);
        before = map_get(&s->of, key);
        watch_judged(w, &rule_index_once);
        if (before && !text_equal(before, hash) && is_named(w, c->ns, c->name))
                watch_broken(w, &rule_index_once, "%s %s%s%s holds another content than bindings had of it",
                             c->resource, c->ns, in_namespace ? "/" : "", c->name);
        if (map_put(&s->of, key, mem_must(mem_strdup(hash))) < 0)
                abort();
}

static void index_once_end(void *state)
{
        struct contents *s = state;

        if (s->begun)
                map_free(&s->of);
}

const struct rule rule_index_once = { .name = "index-once",
                                      .state_size = sizeof(struct contents),
                                      .changed = index_once,
                                      .end = index_once_end };

/* ---- what others roll out ---- */

/* Since when a placement is External in its status, too: the hub agent knows. */
struct told {
        int64_t ms;
};

struct told_all {
        bool begun;
        struct map told; /* placement -> struct told */
};

static bool is_told(const json_t *placement)
{
        json_t *c;
        size_t i;

        if (!text_equal(doc_get_string(placement, "spec.strategy.type"), "External"))
                return false;
        json_array_foreach(doc_get_array(placement, "status.conditions"), i, c)
                if (text_ends_with(doc_get_string(c, "type"), "Scheduled"))
                        return doc_get_int(c, "observedGeneration", -1) ==
                               doc_get_int(placement, "metadata.generation", 0);
        return false;
}

static void note_told(struct told_all *s, const struct change *c)
{
        struct told *t;
        char key[192];

        snprintf(key, sizeof(key), "%s%s%s", c->ns, *c->ns ? "/" : "", c->name);
        t = map_get(&s->told, key);
        if (!c->after || !text_equal(doc_get_string(c->after, "spec.strategy.type"), "External")) {
                map_remove(&s->told, key);
                return;
        }
        if (t || !is_told(c->after))
                return;
        t = mem_must(NEW(struct told));
        t->ms = c->at_ms;
        if (map_put(&s->told, key, t) < 0)
                abort();
}

/* A binding moves to another snapshot. Works only follow their bindings, and snapshots are made for whoever
 * is to roll them out. */
static bool rolls_out(const struct change *c)
{
        const char *to = doc_get_string(c->after, "spec.resourceSnapshotName");

        return rule_is_hub_agent(c->who) && to && *to &&
               !text_equal(to, doc_get_string(c->before, "spec.resourceSnapshotName"));
}

static void external_changed(struct watch *w, void *state, const struct change *c)
{
        struct told_all *s = state;
        const struct told *t;
        char placement[192];

        if (!s->begun)
                map_init(&s->told, MAP_OWN_KEYS, mem_free);
        s->begun = true;
        if (text_equal(c->resource, RES_PLACEMENTS) || text_equal(c->resource, RES_NS_PLACEMENTS)) {
                note_told(s, c);
                return;
        }
        if ((!text_equal(c->resource, RES_BINDINGS) && !text_equal(c->resource, RES_NS_BINDINGS)) ||
            !c->after || rule_is_leaving(c->after) || !rule_placement_of(c->after, placement) ||
            !(t = map_get(&s->told, placement)) || c->at_ms - t->ms < RULE_LAG_MS / 2)
                return;
        watch_judged(w, &rule_external);
        if (rolls_out(c) && !rule_run_may_write(w, c->after))
                watch_broken(w, &rule_external, "placement %s is External, and %s wrote %s %s%s%s", placement,
                             c->who, c->resource, c->ns, *c->ns ? "/" : "", c->name);
}

static void external_end(void *state)
{
        struct told_all *s = state;

        if (s->begun)
                map_free(&s->told);
}

const struct rule rule_external = { .name = "external",
                                    .state_size = sizeof(struct told_all),
                                    .changed = external_changed,
                                    .end = external_end };
