#include <stdarg.h>

#include "e2e/simulation/day_parts.h"
#include "e2e/simulation/rules.h"

#define ON_ITS_WAY_MS 2000
#define HEARD_MS 20000 /* a heartbeat, or the answer that told of it, is on its way for so long */

static void broken(struct day *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void broken(struct day *d, const char *format, ...)
{
        char text[400];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        log_error(&d->log, "rule broken", "how", text);
        if (!d->broken.code)
                error_set(&d->broken, ERR_INTERNAL, "at %lld ms: %s", (long long)loop_now_ms(d->loop), text);
}

/* "day-3" -> 3; false for others. */
static bool placement_of(const char *name, unsigned *ret)
{
        uint64_t n;

        if (!name || !text_starts_with(name, "day-") || !text_parse_u64(name + 4, &n) || n >= DAY_PLACEMENTS)
                return false;
        *ret = (unsigned)n;
        return true;
}

static bool member_of(const char *name, unsigned *ret)
{
        uint64_t n;

        if (!name || !text_starts_with(name, "member-") || !text_parse_u64(name + 7, &n) || n < 1 ||
            n > DAY_MEMBERS)
                return false;
        *ret = (unsigned)n;
        return true;
}

/* ---- at each step ---- */

/* Signs of life, of which there are more than of everything else together. */
static bool is_sign_of_life(const char *resource)
{
        return text_equal(resource, RES_INTERNAL_MEMBERS) || text_equal(resource, RES_MEMBERS) ||
               text_equal(resource, RES_LEASES);
}

bool day_looks_into(const char *resource)
{
        return text_equal(resource, RES_BINDINGS) || text_equal(resource, RES_LEASES) ||
               text_equal(resource, "/events");
}

/* Who does not hold the lease writes nothing. An event may come late; the webhooks' certificate is made by
 * whoever serves first. */
static void judge_leader(struct day *d, const struct change *c)
{
        const char *holder;

        if (!rule_is_hub_agent(c->who) || text_equal(c->resource, RES_LEASES) ||
            text_equal(c->resource, "/events") || text_equal(c->resource, "/secrets"))
                return;
        holder = doc_get_string(
                sim_fleet_get(d->fleet, "hub", RES_LEASES, NAMESPACE_FLEET_SYSTEM, LEASE_HUB_AGENT),
                "spec.holderIdentity");
        if (!text_equal(holder, c->who))
                broken(d, "one-leader: %s wrote %s %s/%s while %s leads", c->who, c->resource, c->ns, c->name,
                       or_empty(holder));
}

struct tally {
        const char *placement, *policy;
        unsigned n;
};

static bool count_of_policy(void *ctx, const json_t *b)
{
        struct tally *t = ctx;

        t->n += rule_binding_lives(b) && text_equal(rule_label(b, LABEL_PARENT_PLACEMENT), t->placement) &&
                text_equal(doc_get_string(b, "spec.schedulingPolicySnapshotName"), t->policy);
        return true;
}

/* PickN never has more than it is asked for, of one policy. What somebody asked for who died meanwhile comes
 * when nobody counts on it; and that fewer are wanted is heard of a moment later. */
static void judge_number(struct day *d, const struct change *c, unsigned placement)
{
        struct day_placement *p = &d->placements[placement];
        struct tally t = { rule_label(c->after, LABEL_PARENT_PLACEMENT),
                           doc_get_string(c->after, "spec.schedulingPolicySnapshotName"), 0 };
        unsigned most = p->wanted;

        if (c->at_ms - c->asked_ms > ON_ITS_WAY_MS)
                p->late_ms = c->at_ms;
        if ((p->kind != DAY_PICK_N && p->kind != DAY_SPREAD) || !p->there ||
            (p->late_ms && c->at_ms - p->late_ms < RULE_LAG_MS))
                return;
        if (p->wanted_ms && c->at_ms - p->wanted_ms < RULE_LAG_MS)
                most = MAX(most, p->wanted_before);
        sim_fleet_each(d->fleet, "hub", RES_BINDINGS, NULL, count_of_policy, &t);
        if (t.n > most)
                broken(d, "number: day-%u is on %u clusters by %s, and %u were asked for", placement, t.n,
                       t.policy, most);
}

/* Never two live bindings of a placement on one cluster. */
static void judge_binding(struct day *d, const struct change *c)
{
        const json_t *any = c->after ? c->after : c->before;
        bool was = c->before && rule_binding_lives(c->before), is = c->after && rule_binding_lives(c->after);
        unsigned placement, member;
        uint8_t *live;

        if (!placement_of(rule_label(any, LABEL_PARENT_PLACEMENT), &placement) ||
            !member_of(doc_get_string(any, "spec.targetCluster"), &member))
                return;
        live = &d->placements[placement].live[member];
        *live = (uint8_t)(*live + is - was);
        if (is && *live > 1)
                broken(d, "live-bindings: day-%u has %u on member-%u", placement, *live, member);
        if (is && (!was || !text_equal(doc_get_string(c->before, "spec.schedulingPolicySnapshotName"),
                                       doc_get_string(c->after, "spec.schedulingPolicySnapshotName"))))
                judge_number(d, c, placement);
}

static void note_heard(struct day *d, const struct change *c)
{
        unsigned member;

        if (!rule_is_member(c->who) || !member_of(c->name, &member))
                return;
        d->result->heartbeats++;
        d->members[member].heard_ms[d->members[member].heard++ % DAY_HEARTBEATS] = c->at_ms;
}

/* What the store had at that time; 0: nothing is known of it. */
static int64_t heard_by(const struct day_member *m, int64_t at_ms)
{
        int64_t newest = 0;

        for (unsigned i = 0; i < MIN(m->heard, DAY_HEARTBEATS); i++)
                if (m->heard_ms[i] <= at_ms)
                        newest = MAX(newest, m->heard_ms[i]);
        return newest;
}

/* Nobody is called silent who spoke within its limit (rules_heard.c); so an event tells, in whole seconds.
 * Before a heartbeat is in the store it is on its way. */
static void judge_silence(struct day *d, const struct change *c)
{
        int64_t wall_ms, told_ms, heard_ms;
        unsigned member;

        if (!c->after || !text_equal(doc_get_string(c->after, "reason"), REASON_HEARTBEAT_LOST) ||
            !member_of(doc_get_string(c->after, "involvedObject.name"), &member) ||
            time_parse_rfc3339(slice_of(or_empty(doc_get_string(c->after, "lastTimestamp"))), &wall_ms) < 0)
                return;
        told_ms = wall_ms - loop_wall_ms(d->loop) + loop_now_ms(d->loop);
        heard_ms = heard_by(&d->members[member], told_ms - HEARD_MS);
        d->result->silences++;
        if (heard_ms && told_ms - heard_ms < 2000 * (int64_t)d->fleet->heartbeat_s - HEARD_MS)
                broken(d, "heard: %s called member-%u silent, which had spoken %lld ms before", c->who,
                       member, (long long)(told_ms - heard_ms));
}

void day_changed(void *ctx, const struct change *c)
{
        struct day *d = ctx;
        bool signs = is_sign_of_life(c->resource);

        d->result->writes++;
        if (text_equal(c->resource, RES_INTERNAL_MEMBERS))
                note_heard(d, c);
        else if (text_equal(c->resource, "/events"))
                judge_silence(d, c);
        judge_leader(d, c);
        if (text_equal(c->resource, RES_BINDINGS))
                judge_binding(d, c);
        /* An event tells that a rollout is held up, after minutes and again. */
        if (d->resting && !signs && !text_equal(c->resource, "/events") &&
            (rule_is_hub_agent(c->who) || rule_is_member(c->who)))
                broken(d, "quiet: %s wrote %s %s/%s on %s though nothing had happened", c->who, c->resource,
                       c->ns, c->name, c->cluster);
}

/* ---- at quiet moments ---- */

bool day_is_wanted(const struct day *d, unsigned placement, unsigned member)
{
        const struct day_placement *p = &d->placements[placement];
        const struct day_member *m = &d->members[member];

        if (!p->there || !m->in)
                return false;
        if (p->kind == DAY_TIER || p->kind == DAY_STAGED)
                return m->tier == p->tier;
        if (p->kind == DAY_FIXED)
                return (member - 1 + d->n - p->first) % d->n < DAY_FIXED_CLUSTERS;
        return true;
}

void day_note_fitting(struct day *d, unsigned placement, bool anew)
{
        struct day_placement *p = &d->placements[placement];

        for (unsigned i = 1; i <= d->n; i++)
                p->fitted[i] = (!anew && d->members[i].in && p->fitted[i]) || day_is_wanted(d, placement, i);
}

/* What the hub's bindings say. */
struct chosen {
        struct day *d;
        struct error *err;
        uint8_t at[DAY_PLACEMENTS][DAY_MEMBERS + 1];
        unsigned total;
        int code;
};

static bool note_binding(void *ctx, const json_t *b)
{
        struct chosen *c = ctx;
        const char *name = doc_get_string(b, "metadata.name");
        unsigned placement, member;

        if (!placement_of(rule_label(b, LABEL_PARENT_PLACEMENT), &placement) ||
            !member_of(doc_get_string(b, "spec.targetCluster"), &member))
                c->code = error_set(c->err, ERR_INTERNAL, "binding %s is nobody's", name);
        else if (!rule_binding_lives(b))
                c->code = error_set(c->err, ERR_INTERNAL, "binding %s lingers", name);
        else if (!text_equal(doc_get_string(b, "spec.state"), "Bound") || !rule_binding_is_ready(b))
                c->code = error_set(c->err, ERR_INTERNAL, "binding %s is not Available", name);
        else if (!c->d->members[member].in || !c->d->placements[placement].fitted[member])
                c->code = error_set(c->err, ERR_INTERNAL, "binding %s is on a cluster that is not wanted",
                                    name);
        else
                c->at[placement][member] = 1;
        c->total++;
        return c->code == 0;
}

static unsigned count_in(const struct day *d)
{
        unsigned n = 0;

        for (unsigned i = 1; i <= d->n; i++)
                n += d->members[i].in;
        return n;
}

/* All that are wanted have it, and perhaps some that were; of PickN as many as are asked for. */
static int judge_choice(struct day *d, const struct chosen *c, unsigned placement, struct error *err)
{
        const struct day_placement *p = &d->placements[placement];
        bool counts = p->kind == DAY_PICK_N || p->kind == DAY_SPREAD;
        unsigned has = 0, wants = 0;

        for (unsigned i = 1; i <= d->n; i++) {
                bool wanted = day_is_wanted(d, placement, i);

                has += c->at[placement][i] && (wanted || counts);
                wants += wanted;
        }
        if (counts)
                wants = MIN(p->there ? p->wanted : 0, count_in(d));
        return has == wants ? 0
                            : error_set(err, ERR_INTERNAL, "day-%u is on %u clusters, not on %u", placement,
                                        has, wants);
}

static bool all_true(const json_t *doc)
{
        json_t *condition;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.conditions"), i, condition)
                if (!text_equal(doc_get_string(condition, "status"), "True") ||
                    doc_get_int(condition, "observedGeneration", -1) !=
                            doc_get_int(doc, "metadata.generation", 0))
                        return false;
        return i > 0;
}

/* The placement says so itself. PickFixed names some that are not in the fleet, which it says, too. */
static int judge_status(struct day *d, unsigned placement, struct error *err)
{
        const struct day_placement *p = &d->placements[placement];
        char name[32];
        const json_t *doc;

        day_placement_name(placement, name);
        doc = sim_fleet_get(d->fleet, "hub", RES_PLACEMENTS, "", name);
        if (!p->there)
                return doc ? error_set(err, ERR_INTERNAL, "%s is still there", name) : 0;
        if (p->kind != DAY_FIXED && !all_true(doc))
                return error_set(err, ERR_INTERNAL, "%s does not say that all is well", name);
        return 0;
}

/* A rollout counts named clusters that are not in the fleet as unavailable: of ten, three may be, so that
 * with three missing nothing is brought up to date. */
static bool may_be_old(const struct day *d, unsigned placement)
{
        const struct day_placement *p = &d->placements[placement];
        unsigned missing = 0;

        for (unsigned i = 0; p->kind == DAY_FIXED && i < DAY_FIXED_CLUSTERS; i++)
                missing += !d->members[(p->first + i) % d->n + 1].in;
        return missing * 4 > DAY_FIXED_CLUSTERS;
}

static int judge_member(struct day *d, const struct chosen *c, unsigned member, struct error *err)
{
        char name[32], ns[32], color[16];

        day_member_name(member, name);
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++) {
                const json_t *home, *settings;

                day_placement_name(i, ns);
                home = sim_fleet_get(d->fleet, name, "/namespaces", "", ns);
                if (!home != !c->at[i][member])
                        return error_set(err, ERR_INTERNAL, "%s %s %s", name, home ? "still has" : "lacks",
                                         ns);
                if (!home)
                        continue;
                settings = sim_fleet_get(d->fleet, name, "/configmaps", ns, "settings");
                snprintf(color, sizeof(color), "%u", d->placements[i].color);
                if (!settings ||
                    (!may_be_old(d, i) && !text_equal(doc_get_string(settings, "data.color"), color)))
                        return error_set(err, ERR_INTERNAL, "%s has \"%s\" of %s, not \"%s\"", name,
                                         or_empty(doc_get_string(settings, "data.color")), ns, color);
        }
        return 0;
}

static bool count_one(void *ctx, const json_t *doc)
{
        (void)doc;
        ++*(unsigned *)ctx;
        return true;
}

static bool note_undecided(void *ctx, const json_t *eviction)
{
        const char **undecided = ctx;

        if (json_array_size(doc_get_array(eviction, "status.conditions")) == 0)
                *undecided = doc_get_string(eviction, "metadata.name");
        return true;
}

static int judge_rest(struct day *d, const struct chosen *c, struct error *err)
{
        const char *undecided = NULL;
        unsigned works = 0;

        sim_fleet_each(d->fleet, "hub", RES_WORKS, NULL, count_one, &works);
        if (works != c->total)
                return error_set(err, ERR_INTERNAL, "%u Works for %u bindings", works, c->total);
        sim_fleet_each(d->fleet, "hub", RES_EVICTIONS, NULL, note_undecided, &undecided);
        return undecided ? error_set(err, ERR_INTERNAL, "%s is not decided", undecided) : 0;
}

int day_look(struct day *d, struct error *err)
{
        AUTO_FREE struct chosen *c = NEW(struct chosen);

        if (!c)
                return error_no_memory(err);
        c->d = d;
        c->err = err;
        for (unsigned i = 1; i <= d->n; i++)
                if (d->members[i].leaving)
                        return error_set(err, ERR_INTERNAL, "member-%u is still leaving", i);
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++)
                TRY(judge_status(d, i, err));
        sim_fleet_each(d->fleet, "hub", RES_BINDINGS, NULL, note_binding, c);
        TRY(c->code);
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++)
                TRY(judge_choice(d, c, i, err));
        for (unsigned i = 1; i <= d->n; i++)
                if (d->members[i].in)
                        TRY(judge_member(d, c, i, err));
        return judge_rest(d, c, err);
}

int day_run_state(struct day *d, unsigned placement)
{
        char name[48], of[32];
        const json_t *run;

        day_placement_name(placement, of);
        snprintf(name, sizeof(name), "%s-run-%u", of, d->placements[placement].runs);
        run = sim_fleet_get(d->fleet, "hub", RES_RUNS, "", name);
        if (!run || rule_run_ended(run))
                return run && rule_says(json_object_get(run, "status"), "Succeeded", "True") ? 1 : -1;
        return 0;
}
