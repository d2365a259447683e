/* Users make ResourceSets on the hub, change what they say, and delete them. */
#include "e2e/simulation/moves_internal.h"

#define COLORS 1000
#define HAS_TENANT 55 /* percent */
#define ALL_MADE ((1u << WISH_MADE) - 1)

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };

int move_desk(struct player *p, struct error *err)
{
        int code;

        if (p->wish->desk.there)
                return 1;
        code = move_apply(p, &namespaces, NULL,
                          json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                    "metadata", "name", WISH_DESK),
                          err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->desk.there = true;
        return 1;
}

struct wish_inputs move_draw_inputs(struct dice *d)
{
        struct wish_inputs in = { 0 };

        for (unsigned i = 0; i < WISH_TENANTS; i++)
                if (dice_percent(d, HAS_TENANT))
                        in.color[i] = 1 + (unsigned)dice_below(d, COLORS);
        return in;
}

static bool has_own(const struct wish_table *t)
{
        for (unsigned i = 0; i < WISH_TENANTS; i++)
                if (t->own.color[i])
                        return true;
        return false;
}

/* Templates of pairs name the one source, and it has to be the only one. What is immutable members could not
 * change in its place either. */
static void straighten(struct wish_table *t, unsigned table)
{
        t->sealed = t->sealed && !wish_table_is_placed(table);
        if (!t->permutes)
                return;
        t->pool = false;
        if (__builtin_popcount(t->named) != 1 || wish_table_is_placed(table) || !has_own(t))
                t->permutes = false;
}

int move_put_table(struct player *p, unsigned table, const struct wish_table *wanted, struct error *err)
{
        struct wish_table *now = &p->wish->desk.tables[table], old = *now;
        int code;

        *now = *wanted;
        straighten(now, table);
        now->exists = true;
        now->drifted = false;
        now->may_stay = old.may_stay | (old.kept || now->kept ? ALL_MADE : 0);
        code = move_apply(p, &wish_table_resource, WISH_DESK, wish_table_doc(&p->wish->desk, table), err);
        if (code == 0)
                return 1;
        *now = old;
        return move_refused(p, code, err);
}

int move_request_table(struct player *p, unsigned table, struct error *err)
{
        struct wish_table wanted = p->wish->desk.tables[table];

        wanted.requests++;
        return move_put_table(p, table, &wanted, err);
}

bool move_find_table(struct player *p, struct dice *d, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_TABLES);

        for (unsigned i = 0; i < WISH_TABLES; i++) {
                *ret = (first + i) % WISH_TABLES;
                if (p->wish->desk.tables[*ret].exists)
                        return true;
        }
        return false;
}

/* ---- what is told of it ---- */

static void say_inputs(struct words *w, const struct wish_inputs *in)
{
        for (unsigned i = 0; i < WISH_TENANTS; i++)
                if (in->color[i])
                        words_add(w, " %c=%u", 'a' + i, in->color[i]);
}

static int table_done(struct player *p, unsigned table)
{
        const struct wish_table *t = &p->wish->desk.tables[table];
        struct words w = { 0 };

        say_inputs(&w, &t->own);
        words_add(&w, " named %x%s%s%s%s%s%s%s%s%s%s%s mark %u after %u requests %u", t->named,
                  t->pool ? " pool" : "", t->permutes ? " permutes" : "", t->written ? " written" : "",
                  t->leaves_out ? " leaves-out" : "", t->spoiled ? " spoiled" : "", t->waits ? " waits" : "",
                  t->kept ? " kept" : "", t->suspended ? " suspended" : "", t->sealed ? " sealed" : "",
                  t->forced ? " forced" : "", t->copies ? " copies" : "", t->mark, t->after, t->requests);
        return move_done(p, "table-%u:%s", table, w.text);
}

/* ---- making ---- */

static uint32_t sources_there(const struct player *p)
{
        uint32_t there = 0;

        for (unsigned i = 0; i < WISH_SOURCES; i++)
                there |= (uint32_t)p->wish->desk.sources[i].exists << i;
        return there;
}

/* Mostly of sources that are there. */
static struct wish_table draw_table(const struct player *p, struct dice *d, unsigned table)
{
        struct wish_table t = { .own = move_draw_inputs(d),
                                .written = dice_percent(d, 40),
                                .waits = dice_percent(d, 25),
                                .mark = dice_percent(d, 40) ? 1 + (unsigned)dice_below(d, COLORS) : 0 };

        if (dice_percent(d, 60))
                t.named = 1u << dice_below(d, WISH_SOURCES);
        if (dice_percent(d, 20))
                t.named |= 1u << dice_below(d, WISH_SOURCES);
        if (dice_percent(d, 80))
                t.named &= sources_there(p);
        t.pool = dice_percent(d, 30);
        t.permutes = !wish_table_is_placed(table) && dice_percent(d, 35);
        t.sealed = dice_percent(d, 10);
        t.forced = t.sealed && dice_percent(d, 70);
        t.copies = dice_percent(d, 15);
        return t;
}

int move_table_make(struct player *p, struct dice *d, struct error *err)
{
        unsigned first = (unsigned)dice_below(d, WISH_TABLES), table = first;
        struct wish_table wanted;
        char name[WISH_TABLE_NAME];

        do
                table = (table + 1) % WISH_TABLES;
        while (p->wish->desk.tables[table].exists && table != first);
        if (p->wish->desk.tables[table].exists)
                return 0;
        NEED(move_desk(p, err));
        if (!move_is_gone(p, &wish_table_resource, WISH_DESK, wish_table_name(table, name)))
                return 0;
        wanted = draw_table(p, d, table);
        NEED(move_put_table(p, table, &wanted, err));
        return table_done(p, table);
}

/* ---- changing ---- */

/* `change` returns false if there is nothing to change. */
static int change_table(struct player *p, struct dice *d,
                        bool (*change)(struct wish_table *t, unsigned table, struct dice *d),
                        struct error *err)
{
        struct wish_table wanted;
        unsigned table;

        if (!move_find_table(p, d, &table))
                return 0;
        wanted = p->wish->desk.tables[table];
        if (!change(&wanted, table, d))
                return 0;
        NEED(move_put_table(p, table, &wanted, err));
        return table_done(p, table);
}

#define CHANGE(name) static bool name(struct wish_table *t, unsigned table, struct dice *d)

/* Mostly one tenant more or less, or another color of one. */
CHANGE(change_inputs)
{
        unsigned *color = &t->own.color[dice_below(d, WISH_TENANTS)];

        if (dice_percent(d, 20))
                t->own = move_draw_inputs(d);
        else
                *color = *color && dice_percent(d, 50) ? 0 : 1 + (unsigned)dice_below(d, COLORS);
        return true;
}

int move_table_inputs(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_inputs, err);
}

CHANGE(change_from)
{
        if (dice_percent(d, 30))
                t->pool = !t->pool;
        else
                t->named ^= 1u << dice_below(d, WISH_SOURCES);
        return true;
}

int move_table_from(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_from, err);
}

CHANGE(change_permute)
{
        if (wish_table_is_placed(table))
                return false;
        t->permutes = !t->permutes;
        t->named = 1u << dice_below(d, WISH_SOURCES);
        if (!has_own(t))
                t->own.color[0] = 1;
        return true;
}

int move_table_permute(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_permute, err);
}

CHANGE(change_written)
{
        t->written = !t->written;
        return true;
}

int move_table_write(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_written, err);
}

CHANGE(change_mark)
{
        t->mark = t->mark && dice_percent(d, 40) ? 0 : 1 + (unsigned)dice_below(d, COLORS);
        return true;
}

int move_table_mark(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_mark, err);
}

CHANGE(change_leaves_out)
{
        t->leaves_out = !t->leaves_out;
        return true;
}

int move_table_leave_out(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_leaves_out, err);
}

CHANGE(change_spoiled)
{
        t->spoiled = !t->spoiled;
        return true;
}

int move_table_spoil(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_spoiled, err);
}

/* Of an earlier one, so that none waits for itself. */
CHANGE(change_after)
{
        if (table == 0)
                return false;
        t->after = t->after ? 0 : 1 + (unsigned)dice_below(d, table);
        return true;
}

int move_table_after(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_after, err);
}

CHANGE(change_waits)
{
        t->waits = !t->waits;
        return true;
}

int move_table_wait(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_waits, err);
}

CHANGE(change_kept)
{
        t->kept = !t->kept;
        return true;
}

int move_table_keep(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_kept, err);
}

CHANGE(change_suspended)
{
        t->suspended = !t->suspended;
        return true;
}

int move_table_suspend(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_suspended, err);
}

CHANGE(change_sealed)
{
        t->sealed = !t->sealed;
        return true;
}

int move_table_seal(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_sealed, err);
}

CHANGE(change_forced)
{
        t->forced = !t->forced;
        return true;
}

int move_table_force(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_forced, err);
}

CHANGE(change_copies)
{
        t->copies = !t->copies;
        return true;
}

int move_table_copy(struct player *p, struct dice *d, struct error *err)
{
        return change_table(p, d, change_copies, err);
}

int move_table_request(struct player *p, struct dice *d, struct error *err)
{
        unsigned table;

        if (!move_find_table(p, d, &table))
                return 0;
        NEED(move_request_table(p, table, err));
        return table_done(p, table);
}

/* Nothing holds it up any more. */
int move_table_mend(struct player *p, struct dice *d, struct error *err)
{
        struct wish_table wanted, *now;
        unsigned table;

        if (!move_find_table(p, d, &table))
                return 0;
        now = &p->wish->desk.tables[table];
        wanted = *now;
        wanted.spoiled = wanted.suspended = false;
        wanted.after = 0;
        wanted.named &= sources_there(p);
        wanted.copies = wanted.copies && p->wish->desk.original;
        wanted.forced = wanted.forced || wanted.sealed;
        if (!has_own(&wanted))
                wanted.own = move_draw_inputs(d);
        if (memcmp(&wanted, now, sizeof(wanted)) == 0)
                return 0;
        NEED(move_put_table(p, table, &wanted, err));
        return table_done(p, table);
}

/* ---- ends ---- */

/* Suspended or protected, what it made stays. */
int move_table_delete(struct player *p, struct dice *d, struct error *err)
{
        struct wish_table *t, old;
        char name[WISH_TABLE_NAME];
        struct kube_client *hub;
        unsigned table;
        int code;

        if (!move_find_table(p, d, &table))
                return 0;
        TRY(move_client(p, 0, &hub, err));
        t = &p->wish->desk.tables[table];
        old = *t;
        t->exists = false;
        if (t->suspended || t->kept)
                t->may_stay = ALL_MADE;
        code = kube_doc_delete(hub, &wish_table_resource, WISH_DESK, wish_table_name(table, name), NULL, NULL,
                               err);
        if (code == 0)
                return move_done(p, "table-%u%s", table, t->suspended ? ", suspended" : "");
        *t = old;
        return move_refused(p, code, err);
}

/* ---- what tables copy ---- */

int move_table_original(struct player *p, struct dice *d, struct error *err)
{
        unsigned *color = &p->wish->desk.original, old = *color;
        struct kube_client *hub;
        int code;

        NEED(move_desk(p, err));
        TRY(move_client(p, 0, &hub, err));
        *color = old && dice_percent(d, 30) ? 0 : 1 + (unsigned)dice_below(d, COLORS);
        if (*color)
                code = move_apply(p, &config_maps, WISH_DESK, wish_original_doc(*color), err);
        else
                code = kube_doc_delete(hub, &config_maps, WISH_DESK, WISH_ORIGINAL, NULL, NULL, err);
        if (code == 0)
                return move_done(p, "color %u", *color);
        *color = old;
        return move_refused(p, code, err);
}
