/* ClusterObjectSets at each step: phases one after the other up, and down again; one controller, which passes
 * upwards; nothing foreign touched. spec/cluster-object-set.md 4.3, 5, 8.3, 9, 12.1. */
#include "e2e/simulation/rules_set.h"

#include "common/base/memory.h"

/* ---- whose an object is ---- */

const json_t *rule_controller(const json_t *doc)
{
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                if (doc_get_bool(owner, "controller", false))
                        return owner;
        return NULL;
}

bool rule_is_of_a_set(const json_t *owner)
{
        return text_equal(doc_get_string(owner, "kind"), "ClusterObjectSet");
}

static unsigned count_controllers(const json_t *doc)
{
        unsigned n = 0;
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                n += doc_get_bool(owner, "controller", false);
        return n;
}

static const json_t *reference_of(const json_t *doc, const char *uid)
{
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                if (text_equal(doc_get_string(owner, "uid"), uid))
                        return owner;
        return NULL;
}

bool rule_controlling_set(const json_t *doc, unsigned ship, unsigned *ret_revision)
{
        const json_t *controller = rule_controller(doc);
        unsigned of;

        return controller && rule_is_of_a_set(controller) &&
               wish_set_of(doc_get_string(controller, "name"), &of, ret_revision) && of == ship;
}

const json_t *rule_set_doc(struct watch *w, const char *cluster, unsigned ship, unsigned revision)
{
        char name[WISH_SHIP_NAME];

        return watch_get(w, cluster, RES_SETS, "", wish_set_name(ship, revision, name));
}

bool rule_set_stands(const json_t *set)
{
        return set && !rule_is_leaving(set) &&
               text_equal(doc_get_string(set, "spec.lifecycleState"), "Active");
}

/* ---- what a change is about ---- */

struct about {
        struct watch *w;
        const struct change *c;
        unsigned member, ship, cargo;
        const struct wish_ship *wished;
};

static bool member_of(const struct change *c, unsigned *ret)
{
        uint64_t member;

        if (!rule_is_member(c->cluster) || !text_starts_with(c->name, "ship-") ||
            !text_parse_u64(c->cluster + strlen("member-"), &member) || member > WISH_MEMBERS)
                return false;
        *ret = (unsigned)member;
        return true;
}

static bool is_about_cargo(struct watch *w, const struct change *c, struct about *ret)
{
        *ret = (struct about){ .w = w, .c = c };
        if (!member_of(c, &ret->member) || !wish_cargo_of(c->name, &ret->ship, &ret->cargo))
                return false;
        ret->wished = &watch_wish(w)->members[ret->member].ships[ret->ship];
        return true;
}

static const json_t *cargo_doc(const struct about *a, unsigned cargo)
{
        const struct kube_resource *r = wish_cargo_resource(cargo);
        const char *home = wish_cargo_home(cargo);
        char resource[128], name[WISH_SHIP_NAME];

        snprintf(resource, sizeof(resource), "%s/%s", r->group, r->plural);
        return watch_get(a->w, a->c->cluster, resource, home ? home : "",
                         wish_cargo_name(a->ship, cargo, name));
}

static bool begins_to_go(const struct change *c)
{
        return c->before && !rule_is_leaving(c->before) && (!c->after || rule_is_leaving(c->after));
}

/* ---- phases, one after the other ---- */

/* When an object last was as a set wants it, so that a next phase may begin. */
struct good {
        bool now;
        int64_t until_ms;
};

struct order {
        struct good good[WISH_MEMBERS + 1][WISH_SHIPS][WISH_REVISIONS][WISH_CARGO];
};

static bool is_crew_ready(const json_t *doc)
{
        return doc_get_int(doc, "status.observedGeneration", -1) ==
                       doc_get_int(doc, "metadata.generation", 0) &&
               doc_get_int(doc, "status.updatedReplicas", 0) == doc_get_int(doc, "status.replicas", 0) &&
               rule_says(json_object_get(doc, "status"), "Available", "True");
}

static bool is_ready(const struct wish_set *s, unsigned cargo, const json_t *doc)
{
        if (cargo == CARGO_CREW)
                return is_crew_ready(doc);
        return cargo != CARGO_ASKED || !s->asks || s->asked_otherwise ||
               text_equal(doc_get_string(doc, "data.ready"), s->wants_yes ? "yes" : "no");
}

/* A later sibling's, too. */
static bool is_good(const struct about *a, unsigned revision, unsigned cargo, const json_t *doc)
{
        unsigned of;

        return doc && rule_controlling_set(doc, a->ship, &of) && of >= revision &&
               is_ready(&a->wished->sets[revision], cargo, doc);
}

static void note_good(const struct about *a, struct order *o)
{
        for (unsigned i = 0; i < WISH_REVISIONS; i++) {
                struct good *g = &o->good[a->member][a->ship][i][a->cargo];
                bool was = g->now ||
                           is_good(a, i, a->cargo, a->c->before); /* by other probes than it had then */

                g->now = is_good(a, i, a->cargo, a->c->after);
                if (was && !g->now)
                        g->until_ms = a->c->at_ms;
        }
}

/* The first item before the phase that was not good when somebody asked for what happens now; WISH_CARGO: all
 * were. */
static unsigned first_bad(const struct about *a, const struct order *o, unsigned revision, unsigned phase)
{
        const struct wish_set *s = &a->wished->sets[revision];

        for (unsigned i = 0; i < WISH_CARGO; i++) {
                const struct good *g = &o->good[a->member][a->ship][revision][i];

                if (s->items[i].wanted && s->items[i].phase < phase && !g->now &&
                    (!g->until_ms || a->c->asked_ms - g->until_ms > RULE_LAG_MS) &&
                    !is_good(a, revision, i, cargo_doc(a, i))) /* by other probes than it had then */
                        return i;
        }
        return WISH_CARGO;
}

static void judge_taking(const struct about *a, const struct order *o)
{
        unsigned of, before, bad, phase;
        const json_t *set;

        if (!rule_controlling_set(a->c->after, a->ship, &of) ||
            (rule_controlling_set(a->c->before, a->ship, &before) && before == of))
                return;
        set = rule_set_doc(a->w, a->c->cluster, a->ship, of);
        if (!set || rule_says(json_object_get(set, "status"), "Succeeded", "True"))
                return;
        watch_judged(a->w, &rule_set_order);
        phase = a->wished->sets[of].items[a->cargo].phase;
        bad = first_bad(a, o, of, phase);
        if (bad < WISH_CARGO)
                watch_broken(a->w, &rule_set_order,
                             "%s: ship-%u-r%u takes %s of phase %u, and cargo %c of phase %u was not ready",
                             a->c->cluster, a->ship, of + 1, a->c->name, phase, 'a' + (int)bad,
                             a->wished->sets[of].items[bad].phase);
}

/* What is taken down goes before all of earlier phases. */
static void judge_teardown(const struct about *a)
{
        const char *uid = doc_get_string(rule_controller(a->c->before), "uid");
        const struct wish_set *s;
        unsigned of;

        if (!begins_to_go(a->c) || !rule_controlling_set(a->c->before, a->ship, &of))
                return;
        watch_judged(a->w, &rule_set_order);
        s = &a->wished->sets[of];
        for (unsigned i = 0; i < WISH_CARGO; i++)
                if (s->items[i].wanted && s->items[i].phase > s->items[a->cargo].phase &&
                    text_equal(doc_get_string(rule_controller(cargo_doc(a, i)), "uid"), uid))
                        watch_broken(a->w, &rule_set_order,
                                     "%s: ship-%u-r%u deletes %s, and cargo %c of a later phase is there",
                                     a->c->cluster, a->ship, of + 1, a->c->name, 'a' + (int)i);
}

static bool was_archived(const struct change *c)
{
        return text_equal(c->resource, RES_SETS) && c->before && c->after && rule_is_member(c->who) &&
               text_equal(doc_get_string(c->before, "spec.lifecycleState"), "Active") &&
               text_equal(doc_get_string(c->after, "spec.lifecycleState"), "Archived");
}

/* That went, is complete, or was not long ago. */
static bool may_have_replaced(const struct about *a, const struct order *o, unsigned revision)
{
        const json_t *set = rule_set_doc(a->w, a->c->cluster, a->ship, revision);

        return a->wished->sets[revision].made &&
               (!rule_set_stands(set) || rule_says(json_object_get(set, "status"), "Succeeded", "True") ||
                first_bad(a, o, revision, WISH_PHASES) == WISH_CARGO);
}

static void judge_archive(struct about *a, const struct order *o)
{
        unsigned revision;

        if (!member_of(a->c, &a->member) || !wish_set_of(a->c->name, &a->ship, &revision))
                return;
        watch_judged(a->w, &rule_set_order);
        a->wished = &watch_wish(a->w)->members[a->member].ships[a->ship];
        for (unsigned i = revision + 1; i < WISH_REVISIONS; i++)
                if (may_have_replaced(a, o, i))
                        return;
        watch_broken(a->w, &rule_set_order, "%s: %s is archived by %s, and no later revision is complete",
                     a->c->cluster, a->c->name, a->c->who);
}

static void order_changed(struct watch *w, void *state, const struct change *c)
{
        struct order *o = state;
        struct about a = { .w = w, .c = c };

        if (was_archived(c)) {
                judge_archive(&a, o);
                return;
        }
        if (!is_about_cargo(w, c, &a))
                return;
        if (rule_is_member(c->who)) {
                judge_taking(&a, o);
                judge_teardown(&a);
        }
        note_good(&a, o);
}

const struct rule rule_set_order = { .name = "set-order",
                                     .state_size = sizeof(struct order),
                                     .changed = order_changed };

/* ---- one controller ---- */

struct taken { /* by a user, last */
        int64_t ms[WISH_MEMBERS + 1][WISH_SHIPS][WISH_CARGO];
};

/* From set to set it passes upwards, and whoever had it keeps a reference as long as it stands. */
static void judge_passing(const struct about *a)
{
        const json_t *from = rule_controller(a->c->before), *was;
        unsigned before, after;

        if (!rule_controlling_set(a->c->before, a->ship, &before) ||
            !rule_controlling_set(a->c->after, a->ship, &after) || before == after)
                return;
        watch_judged(a->w, &rule_set_controller);
        was = rule_set_doc(a->w, a->c->cluster, a->ship, before);
        if (!rule_set_stands(was) ||
            !text_equal(doc_get_string(was, "metadata.uid"), doc_get_string(from, "uid")))
                return;
        if (after < before)
                watch_broken(a->w, &rule_set_controller, "%s: %s passes from revision %u down to %u",
                             a->c->cluster, a->c->name, before + 1, after + 1);
        if (!reference_of(a->c->after, doc_get_string(from, "uid")))
                watch_broken(a->w, &rule_set_controller, "%s: revision %u, which stands, loses %s to %u",
                             a->c->cluster, before + 1, a->c->name, after + 1);
}

/* The marks say whose it is. */
static void judge_marks(const struct about *a)
{
        const char *const keys[] = { "metadata", "annotations", "olm.operatorframework.io/revision" };
        const char *revision = json_string_value(doc_get_keys(a->c->after, keys, ARRAY_LEN(keys)));
        char number[16], ship[WISH_SHIP_NAME];
        unsigned of;

        if (!rule_controlling_set(a->c->after, a->ship, &of))
                return;
        snprintf(number, sizeof(number), "%u", of + 1);
        if (!text_equal(revision, number) ||
            !text_equal(rule_label(a->c->after, "olm.operatorframework.io/owner-name"),
                        wish_ship_name(a->ship, ship)))
                watch_broken(a->w, &rule_set_controller, "%s: %s is of revision %u and marked \"%s\"",
                             a->c->cluster, a->c->name, of + 1, revision ? revision : "");
}

/* That stands, is complete and names the object: it has it. */
static bool is_kept_by(const struct about *a, unsigned revision)
{
        const json_t *set = rule_set_doc(a->w, a->c->cluster, a->ship, revision);

        return a->wished->sets[revision].items[a->cargo].wanted && rule_set_stands(set) &&
               rule_says(json_object_get(set, "status"), "Succeeded", "True");
}

/* Who is not archived nor going deletes nothing, and what a complete later revision wants stays. */
static void judge_going(const struct about *a, const struct taken *t)
{
        int64_t taken = t->ms[a->member][a->ship][a->cargo];
        unsigned of;

        if (!begins_to_go(a->c) || !rule_controlling_set(a->c->before, a->ship, &of))
                return;
        watch_judged(a->w, &rule_set_controller);
        if (rule_is_member(a->c->who) && rule_set_stands(rule_set_doc(a->w, a->c->cluster, a->ship, of)))
                watch_broken(a->w, &rule_set_controller, "%s: %s deletes %s of ship-%u-r%u, which stands",
                             a->c->cluster, a->c->who, a->c->name, a->ship, of + 1);
        if (taken && a->c->at_ms - taken < RULE_LAG_MS)
                return;
        for (unsigned i = of + 1; i < WISH_REVISIONS; i++)
                if (is_kept_by(a, i))
                        watch_broken(a->w, &rule_set_controller,
                                     "%s: %s goes with ship-%u-r%u, and revision %u wants it", a->c->cluster,
                                     a->c->name, a->ship, of + 1, i + 1);
}

static void controller_changed(struct watch *w, void *state, const struct change *c)
{
        struct taken *t = state;
        struct about a;

        if (!is_about_cargo(w, c, &a))
                return;
        if (count_controllers(c->after) > 1)
                watch_broken(w, &rule_set_controller, "%s: %s has two controllers", c->cluster, c->name);
        if (text_equal(c->who, "player")) {
                if (begins_to_go(c))
                        t->ms[a.member][a.ship][a.cargo] = c->at_ms;
                return;
        }
        judge_going(&a, t);
        if (c->after && rule_is_member(c->who)) {
                judge_passing(&a);
                judge_marks(&a);
        }
}

const struct rule rule_set_controller = { .name = "set-controller",
                                          .state_size = sizeof(struct taken),
                                          .changed = controller_changed };

/* ---- nothing foreign ---- */

static bool has_set_reference(const json_t *doc)
{
        json_t *owner;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, owner)
                if (rule_is_of_a_set(owner))
                        return true;
        return false;
}

/* What a set left behind bears its marks, or at least its name among the writers of fields. */
static bool was_of_a_set(const json_t *doc)
{
        json_t *entry;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.managedFields"), i, entry)
                if (text_equal(doc_get_string(entry, "manager"), "olm.operatorframework.io"))
                        return true;
        return false;
}

static void judge_foreign(const struct about *a)
{
        unsigned of;

        if (has_set_reference(a->c->before))
                return;
        watch_judged(a->w, &rule_set_foreign);
        if (!a->c->after)
                watch_broken(a->w, &rule_set_foreign, "%s: %s deletes %s, which is no set's", a->c->cluster,
                             a->c->who, a->c->name);
        else if (!rule_controlling_set(a->c->after, a->ship, &of)) {
                if (!was_of_a_set(a->c->before))
                        watch_broken(a->w, &rule_set_foreign, "%s: %s writes %s, which is no set's",
                                     a->c->cluster, a->c->who, a->c->name);
        } else if (!wish_may_adopt(&a->wished->sets[of], a->cargo, rule_controller(a->c->before)))
                watch_broken(a->w, &rule_set_foreign, "%s: ship-%u-r%u takes %s, which it may not",
                             a->c->cluster, a->ship, of + 1, a->c->name);
}

/* Of a set the agent writes finalizers, status, and that it is archived; it deletes old records. */
static void judge_set(struct watch *w, const struct change *c)
{
        AUTO_JSON json_t *before = doc_copy_members(json_object_get(c->before, "spec")),
                         *after = doc_copy_members(json_object_get(c->after, "spec"));

        watch_judged(w, &rule_set_foreign);
        if (!c->after) {
                if (rule_set_stands(c->before))
                        watch_broken(w, &rule_set_foreign, "%s: %s deletes set %s", c->cluster, c->who,
                                     c->name);
                return;
        }
        json_object_del(before, "lifecycleState");
        json_object_del(after, "lifecycleState");
        if (!json_equal(before, after))
                watch_broken(w, &rule_set_foreign, "%s: %s changes what set %s is", c->cluster, c->who,
                             c->name);
}

static void foreign_changed(struct watch *w, void *state, const struct change *c)
{
        struct about a;

        if (!c->before || !rule_is_member(c->who))
                return;
        if (rule_is_member(c->cluster) && text_equal(c->resource, RES_SETS))
                judge_set(w, c);
        else if (is_about_cargo(w, c, &a))
                judge_foreign(&a);
}

const struct rule rule_set_foreign = { .name = "set-foreign", .changed = foreign_changed };
