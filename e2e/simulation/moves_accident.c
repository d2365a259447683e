/* What goes wrong with programs, networks, disks, clocks and servers, and how it gets well again. */
#include "e2e/simulation/held.h"
#include "e2e/simulation/moves_internal.h"
#include "e2e/simulation/sim_fleet.h"

/* ---- agents: [0] = hub-agent, [i] = member-i, then further hub-agents ---- */

static unsigned n_agents(const struct player *p)
{
        return p->fleet->n_members + p->fleet->n_hub_agents;
}

static const char *agent_name(const struct player *p, unsigned index, char ret[FLEET_AGENT_NAME])
{
        if (index > 0 && index <= p->fleet->n_members)
                return move_cluster_name(index, ret);
        fleet_hub_agent_name(index ? index - p->fleet->n_members : 0, ret);
        return ret;
}

static unsigned any_hub_agent(const struct player *p, struct dice *d)
{
        unsigned i = (unsigned)dice_below(d, p->fleet->n_hub_agents);

        return i ? p->fleet->n_members + i : 0;
}

/* From a random one on, an agent of whom `flags` says true. */
static bool find_agent(const struct player *p, struct dice *d, const bool *flags, unsigned *ret)
{
        unsigned n = n_agents(p), first = (unsigned)dice_below(d, n);

        for (unsigned i = 0; i < n; i++) {
                *ret = (first + i) % n;
                if (flags[*ret])
                        return true;
        }
        return false;
}

static int keep_alive(struct player *p, unsigned index, struct error *err)
{
        char name[FLEET_AGENT_NAME];
        int code = -1;

        if (p->agent_down[index])
                return 0;
        TRY(p->fleet->ops->exit_code(p->fleet, agent_name(p, index, name), &code, err));
        if (code < 0)
                return 0;
        log_info(p->log, "agent ended by itself, starting it again", "agent", name);
        return p->fleet->ops->start_agent(p->fleet, name, err);
}

int moves_keep_alive(struct player *p, struct error *err)
{
        for (unsigned i = 0; i < n_agents(p); i++)
                TRY(keep_alive(p, i, err));
        return moves_keep_gardener(p, err);
}

static int stop(struct player *p, unsigned index, bool hard, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        if (p->agent_down[index])
                return 0;
        TRY(keep_alive(p, index, err));
        TRY(p->fleet->ops->stop_agent(p->fleet, agent_name(p, index, name), hard, err));
        p->agent_down[index] = true;
        return move_done(p, "%s", name);
}

static int start(struct player *p, unsigned index, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        TRY(p->fleet->ops->start_agent(p->fleet, agent_name(p, index, name), err));
        p->agent_down[index] = false;
        return move_done(p, "%s", name);
}

int move_stop_member(struct player *p, struct dice *d, struct error *err)
{
        return stop(p, move_member(p, d), false, err);
}

int move_kill_member(struct player *p, struct dice *d, struct error *err)
{
        return stop(p, move_member(p, d), true, err);
}

int move_stop_hub_agent(struct player *p, struct dice *d, struct error *err)
{
        return stop(p, any_hub_agent(p, d), false, err);
}

int move_kill_hub_agent(struct player *p, struct dice *d, struct error *err)
{
        return stop(p, any_hub_agent(p, d), true, err);
}

int move_start_agent(struct player *p, struct dice *d, struct error *err)
{
        unsigned index;

        return find_agent(p, d, p->agent_down, &index) ? start(p, index, err) : 0;
}

int moves_restart_hub(struct player *p, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        for (unsigned i = 0; i < n_agents(p); i++) {
                if ((i > 0 && i <= p->fleet->n_members) || p->agent_down[i])
                        continue;
                TRY(keep_alive(p, i, err));
                TRY(p->fleet->ops->stop_agent(p->fleet, agent_name(p, i, name), true, err));
                TRY(p->fleet->ops->start_agent(p->fleet, name, err));
        }
        return 0;
}

/* ---- users, while a hub agent begins ---- */

static bool is_hub_agent(const struct player *p, unsigned index)
{
        return index == 0 || index > p->fleet->n_members;
}

/* All that run, or all that were made to end. *ret_any: there was one. */
static int set_hub_agents(struct player *p, bool run, bool hard, bool *ended, bool *ret_any,
                          struct error *err)
{
        for (unsigned i = 0; i < n_agents(p); i++) {
                if (!is_hub_agent(p, i) || (run ? !ended[i] : p->agent_down[i]))
                        continue;
                *ret_any = ended[i] = true;
                TRY(run ? start(p, i, err) : stop(p, i, hard, err));
        }
        return 0;
}

static int edit(struct player *p, struct dice *d, struct error *err)
{
        static int (*const edits[])(struct player *, struct dice *, struct error *) = {
                move_policy,  move_count,  move_policy, move_count,          move_place,
                move_unplace, move_change, move_select, move_rolling_update, move_relabel
        };

        return edits[dice_below(d, ARRAY_LEN(edits))](p, d, err);
}

/* Edits before it begins, and while it lists what there is; it may end in the middle of that and begin
 * again. */
int move_edit_at_start(struct player *p, struct dice *d, struct error *err)
{
        bool ended[ARRAY_LEN(p->agent_down)] = { 0 }, any = false;
        unsigned rounds = 1 + (unsigned)dice_below(d, 3);

        for (unsigned i = 0; i < rounds; i++) {
                TRY(set_hub_agents(p, false, dice_percent(d, 50), ended, &any, err));
                if (!any)
                        return 0;
                TRY(edit(p, d, err));
                TRY(edit(p, d, err));
                TRY(set_hub_agents(p, true, false, ended, &any, err));
                TRY(fiber_sleep(p->fleet->world->loop, (int64_t)dice_below(d, 4000)));
                if (dice_percent(d, 50))
                        TRY(edit(p, d, err));
                TRY(fiber_sleep(p->fleet->world->loop, (int64_t)dice_below(d, 4000)));
        }
        return 1;
}

/* ---- processes that are stopped, and go on ---- */

#define PAUSE_SHORT_MS 9000 /* no lease runs out */
#define PAUSE_LONG_MS 20000 /* all do, and others had the time to take them */
#define PAUSE_MORE_MS 50000

/* Of hub agents every other one is stopped with a write decided: what it decided others may have taken over
 * when it goes on. */
static enum sim_pause_at draw_moment(struct dice *d, bool hub_agent)
{
        uint64_t drawn = dice_below(d, hub_agent ? 2 * PAUSE_MOMENTS - 2 : PAUSE_MOMENTS);

        return drawn < PAUSE_MOMENTS ? (enum sim_pause_at)drawn : PAUSE_DECIDED;
}

static void note_stop(struct player *p, const char *name, int64_t ms)
{
        int64_t now = loop_now_ms(p->fleet->world->loop);
        int who = held_agent(name);

        if (who >= 0)
                p->wish->stops[who] = (struct wish_stop){ now, now + SIM_PAUSE_AWAITED_MS + ms };
}

static int pause_agent(struct player *p, unsigned index, bool hub_agent, struct dice *d, struct error *err)
{
        static const char *const moments[PAUSE_MOMENTS] = { "at once", "with a write decided",
                                                            "with a write sent",
                                                            "with a write of a lease decided",
                                                            "with a write of a lease sent" };
        enum sim_pause_at at = draw_moment(d, hub_agent);
        int64_t ms = dice_percent(d, 25) ? 1000 + (int64_t)dice_below(d, PAUSE_SHORT_MS)
                                         : PAUSE_LONG_MS + (int64_t)dice_below(d, PAUSE_MORE_MS);
        char name[FLEET_AGENT_NAME];
        int code;

        if (p->agent_down[index])
                return 0;
        code = sim_fleet_pause(p->fleet, agent_name(p, index, name), at, ms, err);
        if (code == ERR_EXISTS) /* it stands already, or has ended by itself */
                return 0;
        if (code < 0)
                return code;
        note_stop(p, name, ms);
        return move_done(p, "%s %s for %lld ms", name, moments[at], (long long)ms);
}

int move_pause_hub_agent(struct player *p, struct dice *d, struct error *err)
{
        return pause_agent(p, any_hub_agent(p, d), true, d, err);
}

int move_pause_member(struct player *p, struct dice *d, struct error *err)
{
        return pause_agent(p, move_member(p, d), false, d, err);
}

/* ---- networks ---- */

static int set_link(struct player *p, unsigned index, bool up, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        if (p->link_down[index] == !up)
                return 0;
        TRY(p->fleet->ops->set_link(p->fleet, agent_name(p, index, name), up, err));
        p->link_down[index] = !up;
        return move_done(p, "%s %s the hub", name, up ? "reaches" : "loses");
}

int move_cut_link(struct player *p, struct dice *d, struct error *err)
{
        return set_link(p, (unsigned)dice_below(d, n_agents(p)), false, err);
}

int move_heal_link(struct player *p, struct dice *d, struct error *err)
{
        unsigned index;

        return find_agent(p, d, p->link_down, &index) ? set_link(p, index, true, err) : 0;
}

/* ---- disks ---- */

static int set_disk(struct player *p, unsigned member, bool full, struct error *err)
{
        if (p->disk_full[member] == full)
                return 0;
        TRY(sim_fleet_set_disk_full(p->fleet, member, full, err));
        p->disk_full[member] = full;
        for (unsigned i = 0; i < WISH_SHIPS; i++)
                p->wish->members[member].ships[i].disk_failed = true;
        return move_done(p, "member-%u's disk %s", member, full ? "is full" : "has room");
}

int move_disk_full(struct player *p, struct dice *d, struct error *err)
{
        return set_disk(p, move_member(p, d), true, err);
}

int move_disk_room(struct player *p, struct dice *d, struct error *err)
{
        unsigned index;

        return find_agent(p, d, p->disk_full, &index) ? set_disk(p, index, false, err) : 0;
}

/* ---- clocks: NTP, or a machine that slept; forward they outlive tokens ---- */

#define FORWARD_MS 1500000
#define BACK_MS 300000

static int shift_clock(struct player *p, int64_t by)
{
        struct loop *l = p->fleet->world->loop;

        loop_shift_wall(l, by);
        p->wish->clock_ms = loop_now_ms(l);
        return move_done(p, "by %lld ms", (long long)by);
}

int move_clock_forward(struct player *p, struct dice *d, struct error *err)
{
        return shift_clock(p, (int64_t)dice_below(d, FORWARD_MS));
}

int move_clock_back(struct player *p, struct dice *d, struct error *err)
{
        return shift_clock(p, -(int64_t)dice_below(d, BACK_MS));
}

/* ---- servers ---- */

int move_restart_server(struct player *p, struct dice *d, struct error *err)
{
        TRY(p->fleet->ops->restart_server(p->fleet, err));
        return move_done(p, "all API servers");
}

int move_kill_server(struct player *p, struct dice *d, struct error *err)
{
        TRY(sim_fleet_kill_server(p->fleet, false, err));
        return move_done(p, "all API servers");
}

int move_power_failure(struct player *p, struct dice *d, struct error *err)
{
        TRY(sim_fleet_kill_server(p->fleet, true, err));
        return move_done(p, "all API servers");
}

#define FULL_MS 5000 /* an operator notices: while nothing can be written there is little to play */

static int set_server_disk(struct player *p, bool full, struct error *err)
{
        if (p->server_disk_full == full)
                return 0;
        TRY(sim_fleet_set_server_disk_full(p->fleet, full, err));
        p->server_disk_full = full;
        p->server_full_ms = move_now(p);
        return move_done(p, full ? "nothing can be written" : "it has room");
}

int move_server_disk_full(struct player *p, struct dice *d, struct error *err)
{
        return set_server_disk(p, true, err);
}

int moves_make_room(struct player *p, struct error *err)
{
        if (!p->server_disk_full || move_now(p) - p->server_full_ms < FULL_MS)
                return 0;
        p->playing = "server-disk-room";
        return set_server_disk(p, false, err);
}

static int cut_watches(struct player *p, struct dice *d, bool compact)
{
        unsigned cluster = (unsigned)dice_below(d, p->fleet->n_members + 2); /* the last: all */
        bool all = cluster > p->fleet->n_members;
        char name[FLEET_AGENT_NAME];

        move_cluster_name(cluster, name);
        if (!sim_fleet_devcluster(p->fleet))
                return 0; /* it is down: there are none */
        devcluster_cut_watches(sim_fleet_devcluster(p->fleet), all ? NULL : name, compact);
        return move_done(p, "of %s", all ? "all clusters" : name);
}

int move_cut_watches(struct player *p, struct dice *d, struct error *err)
{
        return cut_watches(p, d, false);
}

int move_compact_watches(struct player *p, struct dice *d, struct error *err)
{
        return cut_watches(p, d, true);
}

/* ---- all is well again ---- */

int moves_heal(struct player *p, struct error *err)
{
        sim_fleet_go_on(p->fleet);
        TRY(set_server_disk(p, false, err));
        TRY(moves_heal_garden(p, err));
        TRY(moves_heal_shelf(p, err));
        for (unsigned i = 0; i < n_agents(p); i++) {
                TRY(set_link(p, i, true, err));
                if (i > 0 && i <= p->fleet->n_members)
                        TRY(set_disk(p, i, false, err));
                if (p->agent_down[i])
                        TRY(start(p, i, err));
                TRY(keep_alive(p, i, err));
        }
        return 0;
}

int move_heal_all(struct player *p, struct dice *d, struct error *err)
{
        TRY(moves_heal(p, err));
        return move_done(p, "everybody is back");
}
