/* ResourceSets at each step: what they want stays, what they make is listed first, what is not theirs is let
 * be, and placements go before namespaces. spec/resource-set.md 9, 11. */
#include "common/base/memory.h"
#include "e2e/simulation/rules.h"

#define RES_TABLES GROUP_FLUX "/resourcesets"
#define RES_SOURCES GROUP_FLUX "/resourcesetinputproviders"
#define LATE_MS 60000      /* what an agent decides by may be so old: watches stall for 40 s */
#define GONE_WAIT_MS 58000 /* so long the placements are waited for, but for the way of a message */
#define READ_MS 15000      /* between reading an object and deleting it, messages may be slow */

/* ---- what a change is about ---- */

/* Something that a table makes, or might. */
struct about {
        unsigned table, made;
        enum wish_part part;
};

static bool is_about(const char *resource, const char *ns, const char *name, struct about *ret)
{
        bool placed, settings = text_equal(resource, "/configmaps");

        if (settings && !text_equal(ns, WISH_DESK) && !text_equal(name, "settings"))
                return false;
        ret->part = settings                               ? PART_SETTINGS
                    : text_equal(resource, "/namespaces")  ? PART_NAMESPACE
                    : text_equal(resource, RES_PLACEMENTS) ? PART_PLACEMENT
                                                           : WISH_PARTS;
        if (ret->part == WISH_PARTS)
                return false;
        placed = !settings || !text_equal(ns, WISH_DESK);
        return wish_made_of(settings && placed ? ns : name, &ret->table, &ret->made) &&
               wish_table_is_placed(ret->table) == placed;
}

static bool is_hubs(const struct change *c, struct about *ret)
{
        return text_equal(c->cluster, "hub") && is_about(c->resource, c->ns, c->name, ret);
}

static bool is_theirs(const json_t *doc, unsigned table)
{
        char name[WISH_TABLE_NAME];

        return text_equal(rule_label(doc, LABEL_SET_NAME), wish_table_name(table, name)) &&
               text_equal(rule_label(doc, LABEL_SET_NAMESPACE), WISH_DESK);
}

static bool is_protected(const json_t *doc)
{
        const char *const keys[] = { "metadata", "annotations", ANNOTATION_FLUX_PRUNE };

        return text_equal(json_string_value(doc_get_keys(doc, keys, 3)), FLUX_DISABLED);
}

static bool begins_to_go(const struct change *c)
{
        return c->before && !rule_is_leaving(c->before) && (!c->after || rule_is_leaving(c->after));
}

static const json_t *table_doc(struct watch *w, unsigned table)
{
        char name[WISH_TABLE_NAME];

        return watch_get(w, "hub", RES_TABLES, WISH_DESK, wish_table_name(table, name));
}

static const char *part_name(const struct about *a, char ret[128])
{
        wish_part_id(a->table, a->made, a->part, ret);
        return ret;
}

/* ---- what is wanted, and since when ---- */

struct wants {
        bool wanted[WISH_TABLES][WISH_MADE];
        int64_t since_ms[WISH_TABLES][WISH_MADE]; /* it is as it is */
        bool forced[WISH_TABLES];                 /* ever: then what is there may be made anew */
        bool holds[WISH_TABLES];                  /* what it makes is as it was */
        int64_t held_ms[WISH_TABLES];             /* when that last was so */
        bool doubts[WISH_TABLES]; /* a source of it goes or is new: what that gives may count, or not */
        int64_t doubts_ms[WISH_TABLES];
        unsigned pooled;   /* sources that are in the pool, a bit each */
        int64_t pooled_ms; /* when that last was another one */
};

static bool read_exports(struct watch *w, unsigned table, struct wish_inputs ret[WISH_SOURCES])
{
        const struct wish_desk *d = &watch_wish(w)->desk;
        char name[WISH_TABLE_NAME];

        for (unsigned i = 0; i < WISH_SOURCES; i++) {
                const json_t *doc = watch_get(w, "hub", RES_SOURCES, WISH_DESK, wish_source_name(i, name));
                bool named = d->tables[table].named >> i & 1;

                if (!wish_source_exports(doc, &ret[i]) && (named || (doc && wish_table_takes(d, table, i))))
                        return false;
        }
        return true;
}

static bool has_leaving_source(struct watch *w, unsigned table)
{
        const struct wish_table *t = &watch_wish(w)->desk.tables[table];
        char name[WISH_TABLE_NAME];

        for (unsigned i = 0; i < WISH_SOURCES; i++)
                if ((t->pool || (t->named >> i & 1)) &&
                    rule_is_leaving(watch_get(w, "hub", RES_SOURCES, WISH_DESK, wish_source_name(i, name))))
                        return true;
        return false;
}

/* One that is new, or was given a label: who has not heard of it goes on without it, who has waits for it. */
static bool has_unheard_source(struct watch *w, unsigned table)
{
        const struct wish_desk *d = &watch_wish(w)->desk;
        struct wish_inputs exports;
        char name[WISH_TABLE_NAME];

        for (unsigned i = 0; i < WISH_SOURCES; i++) {
                const json_t *doc = watch_get(w, "hub", RES_SOURCES, WISH_DESK, wish_source_name(i, name));

                if (doc && !(d->tables[table].named >> i & 1) && wish_table_takes(d, table, i) &&
                    !wish_source_exports(doc, &exports))
                        return true;
        }
        return false;
}

/* Of a set that cannot be built, waits or is suspended all is wanted that was. */
static bool holds_still(struct watch *w, unsigned table, const struct wish_inputs exports[WISH_SOURCES])
{
        const struct wish_desk *d = &watch_wish(w)->desk;

        return d->tables[table].suspended || wish_table_is_broken(d, table, exports);
}

static void note_table(struct watch *w, struct wants *s, unsigned table, int64_t now)
{
        const struct wish_desk *d = &watch_wish(w)->desk;
        struct wish_inputs exports[WISH_SOURCES];
        struct wish_made made[WISH_MADE] = { 0 };
        const json_t *doc = table_doc(w, table);
        bool stands = doc && !rule_is_leaving(doc) && d->tables[table].exists;

        s->forced[table] |= d->tables[table].forced;
        if (s->holds[table])
                s->held_ms[table] = now;
        if (s->doubts[table])
                s->doubts_ms[table] = now;
        s->doubts[table] = has_leaving_source(w, table) || has_unheard_source(w, table);
        s->holds[table] = stands && (s->doubts[table] || !read_exports(w, table, exports) ||
                                     holds_still(w, table, exports));
        if (s->holds[table])
                return;
        if (stands)
                wish_table_makes(d, table, exports, made);
        for (unsigned i = 0; i < WISH_MADE; i++) {
                if (s->wanted[table][i] != made[i].wanted)
                        s->since_ms[table][i] = now;
                s->wanted[table][i] = made[i].wanted;
        }
}

static void note_pool(struct watch *w, struct wants *s, int64_t now)
{
        const struct wish_desk *d = &watch_wish(w)->desk;
        unsigned pooled = 0;

        for (unsigned i = 0; i < WISH_SOURCES; i++)
                pooled |= (unsigned)(d->sources[i].exists && d->sources[i].pooled) << i;
        if (pooled != s->pooled)
                s->pooled_ms = now;
        s->pooled = pooled;
}

static void note_wants(struct watch *w, struct wants *s, const struct change *c)
{
        if (!text_equal(c->cluster, "hub") ||
            (!text_equal(c->resource, RES_TABLES) && !text_equal(c->resource, RES_SOURCES)))
                return;
        note_pool(w, s, c->at_ms);
        for (unsigned i = 0; i < WISH_TABLES; i++)
                note_table(w, s, i, c->at_ms);
}

static void kept_changed(struct watch *w, void *state, const struct change *c)
{
        struct wants *s = state;
        struct about a;
        char id[128];

        note_wants(w, s, c);
        if (!rule_is_hub_agent(c->who) || !begins_to_go(c) || !is_hubs(c, &a))
                return;
        watch_judged(w, &rule_table_kept);
        if (s->wanted[a.table][a.made] && !s->forced[a.table] && !s->doubts[a.table] &&
            c->asked_ms - MAX(s->since_ms[a.table][a.made], s->doubts_ms[a.table]) > LATE_MS)
                watch_broken(w, &rule_table_kept, "%s deletes %s, which table-%u wants", c->who,
                             part_name(&a, id), a.table);
}

const struct rule rule_table_kept = {
        .of_tables = true, .name = "table-kept", .state_size = sizeof(struct wants), .changed = kept_changed
};

/* ---- listed before it is made ---- */

struct listed {
        bool now[WISH_TABLES][WISH_MADE][WISH_PARTS];
        int64_t until_ms[WISH_TABLES][WISH_MADE][WISH_PARTS];
};

static bool lists(const json_t *doc, const char *id)
{
        json_t *entry;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.inventory.entries"), i, entry)
                if (text_equal(doc_get_string(entry, "id"), id))
                        return true;
        return false;
}

static void note_listed(struct listed *s, unsigned table, const struct change *c)
{
        for (unsigned made = 0; made < WISH_MADE; made++)
                for (unsigned part = 0; part < wish_table_parts(table); part++) {
                        bool was = s->now[table][made][part];
                        char id[128];

                        wish_part_id(table, made, part, id);
                        s->now[table][made][part] = lists(c->after, id);
                        if (was && !s->now[table][made][part])
                                s->until_ms[table][made][part] = c->at_ms;
                }
}

static void listed_changed(struct watch *w, void *state, const struct change *c)
{
        struct listed *s = state;
        char name[WISH_TABLE_NAME], id[128];
        struct about a;

        for (unsigned i = 0; i < WISH_TABLES && text_equal(c->resource, RES_TABLES); i++)
                if (text_equal(c->name, wish_table_name(i, name)))
                        note_listed(s, i, c);
        if (!rule_is_hub_agent(c->who) || !is_hubs(c, &a) || c->type != CHANGE_ADDED)
                return;
        watch_judged(w, &rule_table_listed);
        if (!s->now[a.table][a.made][a.part] && s->until_ms[a.table][a.made][a.part] < c->asked_ms)
                watch_broken(w, &rule_table_listed, "%s makes %s, and no inventory lists it", c->who,
                             part_name(&a, id));
}

const struct rule rule_table_listed = { .of_tables = true,
                                        .name = "table-listed",
                                        .state_size = sizeof(struct listed),
                                        .changed = listed_changed };

/* ---- placements before namespaces ---- */

struct going {
        int64_t since_ms[WISH_TABLES][WISH_MADE]; /* its placement goes; 0 = it does not */
};

static void order_changed(struct watch *w, void *state, const struct change *c)
{
        struct going *s = state;
        const json_t *placement;
        struct about a;

        if (!is_hubs(c, &a))
                return;
        if (a.part == PART_PLACEMENT)
                s->since_ms[a.table][a.made] = !rule_is_leaving(c->after)     ? 0
                                               : s->since_ms[a.table][a.made] ? s->since_ms[a.table][a.made]
                                                                              : c->at_ms;
        if (a.part != PART_NAMESPACE || !rule_is_hub_agent(c->who) || !begins_to_go(c))
                return;
        watch_judged(w, &rule_table_order);
        placement = watch_get(w, "hub", RES_PLACEMENTS, "", c->name);
        if (!placement || !is_theirs(placement, a.table) || is_protected(placement))
                return;
        if (!s->since_ms[a.table][a.made])
                watch_broken(w, &rule_table_order, "%s deletes namespace %s, and its placement stands",
                             c->who, c->name);
        else if (c->at_ms - s->since_ms[a.table][a.made] < GONE_WAIT_MS)
                watch_broken(w, &rule_table_order, "%s deletes namespace %s before its placement is gone",
                             c->who, c->name);
}

const struct rule rule_table_order = {
        .of_tables = true, .name = "table-order", .state_size = sizeof(struct going), .changed = order_changed
};

/* ---- nothing foreign ---- */

struct foreign {
        struct wants wants;
        int64_t player_ms[WISH_TABLES][WISH_MADE][WISH_PARTS]; /* a user last wrote it */
};

/* What it says but for what controllers of placements write. */
static bool is_rewritten(const struct change *c)
{
        static const char *const paths[] = { "metadata.labels", "metadata.annotations", "spec", "data",
                                             "immutable" };

        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
                const json_t *a = doc_get(c->before, paths[i]), *b = doc_get(c->after, paths[i]);

                if (a != b && !(a && b && json_equal(a, b)))
                        return true;
        }
        return false;
}

static void judge_deletion(struct watch *w, const struct foreign *s, const struct change *c,
                           const struct about *a)
{
        int64_t by_player = s->player_ms[a->table][a->made][a->part];
        char id[128];

        if (is_theirs(c->before, a->table) && !is_protected(c->before))
                return;
        if (s->wants.forced[a->table] && s->wants.wanted[a->table][a->made])
                return; /* what stands in the way is made anew, whosever it is */
        if (!by_player || c->asked_ms - by_player > READ_MS)
                watch_broken(w, &rule_table_foreign, "%s deletes %s, which is not its own, or protected",
                             c->who, part_name(a, id));
}

static void judge_writing(struct watch *w, const struct foreign *s, const struct change *c,
                          const struct about *a)
{
        int64_t since = MAX(s->wants.since_ms[a->table][a->made], s->wants.held_ms[a->table]);
        char id[128];

        if (watch_wish(w)->desk.tables[a->table].pool) /* who takes from it may know it as it was */
                since = MAX(since, s->wants.pooled_ms);
        if (!s->wants.wanted[a->table][a->made] && !s->wants.holds[a->table] && c->asked_ms - since > LATE_MS)
                watch_broken(w, &rule_table_foreign, "%s writes %s, which nothing wants", c->who,
                             part_name(a, id));
        else if (!is_theirs(c->after, a->table))
                watch_broken(w, &rule_table_foreign, "%s writes %s without saying whose it is", c->who,
                             part_name(a, id));
}

static void foreign_changed(struct watch *w, void *state, const struct change *c)
{
        struct foreign *s = state;
        struct about a;

        note_wants(w, &s->wants, c);
        if (!text_equal(c->cluster, "hub"))
                return;
        if (!is_about(c->resource, c->ns, c->name, &a)) {
                if (rule_is_hub_agent(c->who) && text_equal(c->resource, "/configmaps") &&
                    text_equal(c->ns, WISH_DESK))
                        watch_broken(w, &rule_table_foreign, "%s writes %s/%s, which is nobody's", c->who,
                                     c->ns, c->name);
                return;
        }
        if (text_equal(c->who, "player"))
                s->player_ms[a.table][a.made][a.part] = c->at_ms;
        if (!rule_is_hub_agent(c->who))
                return;
        watch_judged(w, &rule_table_foreign);
        if (begins_to_go(c))
                judge_deletion(w, s, c, &a);
        else if (c->after && !rule_is_leaving(c->after) && is_rewritten(c))
                judge_writing(w, s, c, &a);
}

const struct rule rule_table_foreign = { .of_tables = true,
                                         .name = "table-foreign",
                                         .state_size = sizeof(struct foreign),
                                         .changed = foreign_changed };

/* ---- tried again and again ---- */

static bool says(const json_t *doc, const char *type, const char *reason)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type) &&
                    text_equal(doc_get_string(c, "reason"), reason))
                        return true;
        return false;
}

static bool is_failing(const json_t *doc)
{
        return says(doc, CONDITION_FLUX_READY, REASON_FLUX_FAILED) ||
               says(doc, CONDITION_FLUX_READY, REASON_FLUX_HEALTH_FAILED);
}

static bool exports_the_same(const struct change *c)
{
        const json_t *a = doc_get(c->before, "status.exportedInputs"),
                     *b = doc_get(c->after, "status.exportedInputs");

        return a == b || (a && b && json_equal(a, b));
}

bool rules_table_is_tried_again(const struct change *c)
{
        if (text_equal(c->resource, "/events") && text_equal(c->ns, WISH_DESK) &&
            text_starts_with(c->name, "source-"))
                return true;
        if (!c->before || !c->after)
                return false;
        if (text_equal(c->resource, RES_SOURCES)) /* services are asked every few seconds, and that is told */
                return text_equal(doc_get_string(c->after, "spec.type"), "ExternalService") &&
                       exports_the_same(c);
        return text_equal(c->resource, RES_TABLES) && (is_failing(c->before) || is_failing(c->after));
}

struct retry {
        bool any;
};

static bool note_retry(void *ctx, const json_t *doc)
{
        struct retry *r = ctx;

        r->any = r->any || is_failing(doc) || says(doc, CONDITION_FLUX_RECONCILING, REASON_FLUX_PROGRESSING);
        return !r->any;
}

bool rules_tables_try_again(struct watch *w)
{
        struct retry r = { false };

        watch_each(w, "hub", RES_TABLES, NULL, note_retry, &r);
        watch_each(w, "hub", RES_SOURCES, NULL, note_retry, &r);
        return r.any;
}
