#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/rules.h"

/* ---- owners of objects on members ---- */

static bool is_applied_work(const json_t *owner)
{
        return text_equal(doc_get_string(owner, "kind"), "AppliedWork");
}

static unsigned count_owners(const json_t *doc)
{
        unsigned n = 0;
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                n += is_applied_work(owner);
        return n;
}

/* Objects per AppliedWork: "member-1/app-0-work" -> how many name it as their owner. */
struct owned {
        bool begun;
        struct map counts;
};

static void note_owners(struct owned *s, const char *cluster, const json_t *doc, int by)
{
        char key[320];
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner) {
                intptr_t n;

                if (!is_applied_work(owner))
                        continue;
                snprintf(key, sizeof(key), "%s/%s", cluster, doc_get_string(owner, "name"));
                n = (intptr_t)map_get(&s->counts, key) + by;
                if (map_put(&s->counts, key, (void *)n) < 0)
                        abort();
        }
}

/* ---- Works outlive their objects ---- */

/* What was placed stays on a cluster that leaves, and its Works go. */
static bool is_leaving_fleet(struct watch *w, const char *member)
{
        const json_t *cluster = watch_get(w, "hub", RES_MEMBERS, "", member);

        return !cluster || rule_is_leaving(cluster);
}

/* Who removes the last finalizer: the member's agent has to have cleaned up; what the hub forces through is
 * another matter. */
static void work_goes(struct watch *w, struct owned *s, const struct change *c)
{
        char key[320];
        intptr_t left;

        if (!rule_is_member(c->who) || is_leaving_fleet(w, c->who))
                return;
        snprintf(key, sizeof(key), "%s/%s", c->who, c->name);
        left = (intptr_t)map_get(&s->counts, key);
        watch_judged(w, &rule_work_after_objects);
        if (left > 0)
                watch_broken(w, &rule_work_after_objects, "Work %s/%s is gone, %lld objects of it are on %s",
                             c->ns, c->name, (long long)left, c->who);
        if (watch_get(w, c->who, RES_APPLIED_WORKS, "", c->name))
                watch_broken(w, &rule_work_after_objects, "Work %s/%s is gone, its AppliedWork is on %s",
                             c->ns, c->name, c->who);
}

static void work_after_objects(struct watch *w, void *state, const struct change *c)
{
        struct owned *s = state;

        if (!s->begun)
                map_init(&s->counts, MAP_OWN_KEYS, NULL);
        s->begun = true;
        if (rule_is_member(c->cluster)) {
                note_owners(s, c->cluster, c->before, -1);
                note_owners(s, c->cluster, c->after, 1);
        } else if (c->type == CHANGE_DELETED && text_equal(c->resource, RES_WORKS)) {
                work_goes(w, s, c);
        }
}

static void work_after_objects_end(void *state)
{
        struct owned *s = state;

        if (s->begun)
                map_free(&s->counts);
}

const struct rule rule_work_after_objects = { .name = "work-after-objects",
                                              .state_size = sizeof(struct owned),
                                              .changed = work_after_objects,
                                              .end = work_after_objects_end };

/* ---- what is wanted stays ---- */

#define GAP_MS 1000 /* an object that moves may be in no Work for a moment */
#define NEVER INT64_MAX

/* One object on one member as the Works of one placement name it on the hub. */
struct want {
        unsigned works;   /* that live and name it, to be applied */
        int64_t known_ms; /* since when the member has said that it saw one of them; NEVER: not yet */
        int64_t dropped_ms;
        uint64_t dropped_by; /* hash of that Work's name */
};

struct wanted {
        struct want by[WISH_PLACES]; /* an object is of one application */
};

/* One placement on one member. */
struct presence {
        unsigned works; /* that live */
        int64_t left_ms;
};

struct wants {
        bool begun;
        struct map of;     /* "member-1 apps/v1 Deployment ns/name" -> struct wanted */
        struct map places; /* "member-1 ns/name" -> struct presence */
        struct map doomed; /* uid of an AppliedWork that goes -> when its agent asked for that */
};

static bool want_key(const char *cluster, const json_t *doc, char ret[512])
{
        const char *version = doc_get_string(doc, "apiVersion"), *kind = doc_get_string(doc, "kind"),
                   *ns = doc_get_string(doc, "metadata.namespace"),
                   *name = doc_get_string(doc, "metadata.name");

        if (!version || !kind || !name)
                return false;
        snprintf(ret, 512, "%s %s %s %s/%s", cluster, version, kind, ns ? ns : "", name);
        return true;
}

static struct wanted *wanted_of(struct wants *s, const char *key)
{
        struct wanted *wanted = map_get(&s->of, key);

        if (wanted)
                return wanted;
        wanted = mem_must(NEW(struct wanted));
        for (size_t i = 0; i < WISH_PLACES; i++)
                wanted->by[i] = (struct want){ .known_ms = NEVER, .dropped_ms = -GAP_MS - 1 };
        if (map_put(&s->of, key, wanted) < 0)
                abort();
        return wanted;
}

static enum wish_place place_of(const json_t *work)
{
        char placement[192] = "";

        rule_placement_of(work, placement);
        return strchr(placement, '/')                ? PLACE_PART
               : text_starts_with(placement, "twin") ? PLACE_TWIN
                                                     : PLACE_MAIN;
}

/* The member has seen this state of the Work. */
static bool is_observed(const json_t *work)
{
        int64_t generation = doc_get_int(work, "metadata.generation", 0);
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(work, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), CONDITION_APPLIED))
                        return doc_get_int(c, "observedGeneration", -1) == generation;
        return false;
}

static bool is_applying(const json_t *work)
{
        return work && !rule_is_leaving(work) &&
               !text_equal(doc_get_string(work, "spec.applyStrategy.type"), "ReportDiff");
}

static struct presence *presence_of(struct wants *s, const char *cluster, const json_t *work)
{
        char placement[192] = "", key[320];
        struct presence *p;

        rule_placement_of(work, placement);
        snprintf(key, sizeof(key), "%s %s", cluster, placement);
        p = map_get(&s->places, key);
        if (p)
                return p;
        p = mem_must(NEW(struct presence));
        p->left_ms = -GAP_MS - 1;
        if (map_put(&s->places, key, p) < 0)
                abort();
        return p;
}

static void count_presence(struct wants *s, const char *cluster, const json_t *work, int by, int64_t now)
{
        struct presence *p;

        if (!work || rule_is_leaving(work))
                return;
        p = presence_of(s, cluster, work);
        p->works = (unsigned)((int)p->works + by);
        if (p->works == 0)
                p->left_ms = now;
}

static uint64_t name_hash(const json_t *work)
{
        const char *name = or_empty(doc_get_string(work, "metadata.name"));

        return hash_bytes(name, strlen(name), 0);
}

/* It moves from one Work to another, unless all of its placement was off the member meanwhile. */
static bool is_moving(struct wants *s, const char *cluster, const json_t *work, const struct want *want,
                      int64_t now)
{
        return now - want->dropped_ms <= GAP_MS && want->dropped_by != name_hash(work) &&
               presence_of(s, cluster, work)->left_ms < want->dropped_ms;
}

static void count_wants(struct wants *s, const char *cluster, const json_t *work, int by, int64_t now)
{
        json_t *manifest;
        char key[512];
        size_t i;

        if (!is_applying(work))
                return;
        json_array_foreach(doc_get_array(work, "spec.workload.manifests"), i, manifest) {
                struct want *want;

                if (!want_key(cluster, manifest, key))
                        continue;
                want = &wanted_of(s, key)->by[place_of(work)];
                if (by > 0 && want->works == 0 && !is_moving(s, cluster, work, want, now))
                        want->known_ms = NEVER;
                want->works = (unsigned)((int)want->works + by);
                if (want->works == 0) {
                        want->dropped_ms = now;
                        want->dropped_by = name_hash(work);
                }
                if (by > 0 && is_observed(work))
                        want->known_ms = MIN(want->known_ms, now);
        }
}

static void work_changes(struct wants *s, const struct change *c)
{
        char cluster[64];

        if (!text_starts_with(c->ns, NAMESPACE_MEMBER_PREFIX))
                return;
        snprintf(cluster, sizeof(cluster), "%s", c->ns + strlen(NAMESPACE_MEMBER_PREFIX));
        count_presence(s, cluster, c->after, 1, c->at_ms);
        count_presence(s, cluster, c->before, -1, c->at_ms);
        count_wants(s, cluster, c->after, 1, c->at_ms);
        count_wants(s, cluster, c->before, -1, c->at_ms);
}

/* With its namespace or its definition everything in it goes. */
static bool goes_with_another(struct watch *w, const struct change *c)
{
        const json_t *home = *c->ns ? watch_get(w, c->cluster, "/namespaces", "", c->ns) : NULL;

        if (*c->ns && (!home || rule_is_leaving(home)))
                return true;
        return text_equal(doc_get_string(c->before, "kind"), "Widget");
}

static bool begins_to_go(const struct change *c)
{
        return c->before && !rule_is_leaving(c->before) && (!c->after || rule_is_leaving(c->after));
}

static void owner_goes(struct wants *s, const struct change *c)
{
        const char *uid = doc_get_string(c->before, "metadata.uid");

        if (begins_to_go(c) && uid)
                ASSERT(map_put(&s->doomed, uid, (void *)(intptr_t)c->asked_ms) == 0);
}

/* When it was decided that the object goes: who removes it asked then. What is collected goes because of the
 * last of its owners. */
static int64_t decided_ms(struct wants *s, const struct change *c)
{
        int64_t last_ms = 0;
        json_t *owner;
        size_t i;

        if (!text_equal(c->who, "server"))
                return c->asked_ms;
        json_array_foreach(doc_get_array(c->before, "metadata.ownerReferences"), i, owner) {
                const char *uid = doc_get_string(owner, "uid");
                int64_t ms = uid ? (intptr_t)map_get(&s->doomed, uid) : 0;

                if (!ms)
                        return c->at_ms;
                last_ms = MAX(last_ms, ms);
        }
        return last_ms ? last_ms : c->at_ms;
}

/* A request may be on its way for long, and the Work that wants its object come meanwhile. */
static bool was_known_wanted(const struct wanted *wanted, int64_t decided_ms)
{
        for (size_t i = 0; i < WISH_PLACES; i++)
                if (wanted->by[i].works > 0 && wanted->by[i].known_ms <= decided_ms)
                        return true;
        return false;
}

static void object_changes(struct watch *w, struct wants *s, const struct change *c)
{
        const struct wanted *wanted;
        char key[512];

        if (!begins_to_go(c) || text_equal(c->who, "player") || !want_key(c->cluster, c->before, key))
                return;
        wanted = map_get(&s->of, key);
        if (!wanted || goes_with_another(w, c))
                return;
        watch_judged(w, &rule_wanted_stays);
        if (was_known_wanted(wanted, decided_ms(s, c)))
                watch_broken(w, &rule_wanted_stays, "%s was deleted by %s while a Work wants it", key,
                             c->who);
}

static void wanted_stays(struct watch *w, void *state, const struct change *c)
{
        struct wants *s = state;

        if (!s->begun) {
                map_init(&s->of, MAP_OWN_KEYS, mem_free);
                map_init(&s->places, MAP_OWN_KEYS, mem_free);
                map_init(&s->doomed, MAP_OWN_KEYS, NULL);
        }
        s->begun = true;
        if (text_equal(c->resource, RES_WORKS))
                work_changes(s, c);
        else if (text_equal(c->resource, RES_APPLIED_WORKS))
                owner_goes(s, c);
        else if (rule_is_member(c->cluster))
                object_changes(w, s, c);
        if (c->after && c->type == CHANGE_ADDED && rule_is_member(c->cluster))
                watch_judged(w, &rule_wanted_stays);
}

static void wanted_stays_end(void *state)
{
        struct wants *s = state;

        if (!s->begun)
                return;
        map_free(&s->of);
        map_free(&s->places);
        map_free(&s->doomed);
}

const struct rule rule_wanted_stays = { .name = "wanted-stays",
                                        .state_size = sizeof(struct wants),
                                        .changed = wanted_stays,
                                        .end = wanted_stays_end };

/* ---- one owner unless shared ---- */

/* Whether a Work lets others own its objects, too; one that is not there, or that its member has not yet seen
 * as it is, has no say. */
static bool shares(struct watch *w, const char *cluster, const char *name)
{
        char ns[96];
        const json_t *work;

        snprintf(ns, sizeof(ns), NAME_MEMBER_NAMESPACE, cluster);
        work = watch_get(w, "hub", RES_WORKS, ns, name);
        return !work || rule_is_leaving(work) || !is_observed(work) ||
               doc_get_bool(work, "spec.applyStrategy.allowCoOwnership", false);
}

static void one_owner(struct watch *w, void *state, const struct change *c)
{
        unsigned n = count_owners(c->after), jealous = 0;
        json_t *owner;
        size_t i;

        if (!rule_is_member(c->cluster) || !c->after || n <= count_owners(c->before))
                return;
        watch_judged(w, &rule_one_owner);
        json_array_foreach(doc_get_array(c->after, "metadata.ownerReferences"), i, owner)
                if (is_applied_work(owner) && !shares(w, c->cluster, doc_get_string(owner, "name")))
                        jealous++;
        if (n > 1 && jealous > 0)
                watch_broken(w, &rule_one_owner, "%s on %s: %s/%s has %u owners, %u of them do not share",
                             c->resource, c->cluster, c->ns, c->name, n, jealous);
}

const struct rule rule_one_owner = { .name = "one-owner", .changed = one_owner };

/* ---- what is not ours ---- */

/* And what is of sets is judged by rules_set.c. */
static bool is_own_record(const struct change *c)
{
        return text_equal(c->resource, RES_APPLIED_WORKS) || text_equal(c->resource, RES_LEASES) ||
               text_ends_with(c->resource, "/events") || text_starts_with(c->name, "ship-");
}

/* A Work takes over what it may not: its member has seen that it never may. */
static const char *taken_by_force(struct watch *w, const struct change *c)
{
        char ns[96];
        json_t *owner;
        size_t i;

        snprintf(ns, sizeof(ns), NAME_MEMBER_NAMESPACE, c->cluster);
        json_array_foreach(doc_get_array(c->after, "metadata.ownerReferences"), i, owner) {
                const char *name = doc_get_string(owner, "name");
                const json_t *work = is_applied_work(owner) ? watch_get(w, "hub", RES_WORKS, ns, name) : NULL;

                if (work && is_observed(work) &&
                    text_equal(doc_get_string(work, "spec.applyStrategy.whenToTakeOver"), "Never"))
                        return name;
        }
        return NULL;
}

static void not_ours(struct watch *w, void *state, const struct change *c)
{
        const char *taker;

        if (!rule_is_member(c->cluster) || !rule_is_member(c->who) || !c->before || is_own_record(c))
                return;
        watch_judged(w, &rule_not_ours);
        if (count_owners(c->before) == 0 && (taker = taken_by_force(w, c)))
                watch_broken(w, &rule_not_ours, "Work %s took over %s %s/%s on %s, which it never may", taker,
                             c->resource, c->ns, c->name, c->cluster);
        if (count_owners(c->before) == 0 && count_owners(c->after) == 0)
                watch_broken(w, &rule_not_ours, "%s %s %s %s/%s, which is not ours", c->who,
                             c->after ? "wrote" : "deleted", c->resource, c->ns, c->name);
}

const struct rule rule_not_ours = { .name = "not-ours", .changed = not_ours };
