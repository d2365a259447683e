#include "e2e/simulation/moves.h"

#include <stdarg.h>

#include "common/base/memory.h"
#include "e2e/simulation/moves_internal.h"
#include "e2e/simulation/sim_page.h"

#define BAD_EVERY 5      /* after so many moves somebody wishes what the webhooks of the fleet refuse */
#define BIG_SEEDS 8      /* percent that play big ConfigMaps: they cost */
#define SET_EVERY 3      /* one seed in so many plays ClusterObjectSets */
#define TABLE_SEEDS 4    /* so many seeds on end play ResourceSets, as many then do not */
#define BEGINNING 4      /* so many first moves make applications and place them */
#define DUE_EVERY 4      /* one move in so many is of the kinds whose turn it is */
#define DUE_KINDS 3      /* in a seed */
#define SET_BEGINNINGS 2 /* the first of these turns make sets */
#define DUE_SETS 2       /* in a seed that plays sets, as many moves more are of these kinds' turn */
#define LAST_CHANGES 4
#define GOING 4
#define CHART_EVERY 5  /* one seed in so many plays charts */
#define DUE_CHARTS 3   /* turns of its kinds in such a seed: two neighbours, as one undoes the other, and */
#define CHART_STRIDE 5 /* one that is so far from them */
#define GARDEN_EVERY 5 /* one seed in so many plays a Git repository */
#define DUE_PAUSES 3   /* and one move in so many does */
#define PAUSE_EVERY 7  /* one seed in so many stops processes for a while; of those with shards all do */
#define DUE_GARDEN 4   /* turns of its kinds in such a seed, one after the other */
#define DUE_TABLES 4   /* in one that plays ResourceSets */
#define DICE_MIX 0x9e3779b97f4a7c15u

const struct move_kind move_kinds[] = {
        { "make-app", 10, move_make_app }, /* the first: how a run begins */
        { "place", 16, move_place },       /* the second */
        /* what applications hold */
        { "add", 8, move_add },
        { "change", 12, move_change },
        { "change-many", 5, move_change_many },
        { "delete", 5, move_delete },
        { "label", 7, move_label },
        { "big", 8, move_big, SEEDS_BIG },
        { "delete-namespace", 2, move_delete_namespace },
        /* placements */
        { "place-accessible", 4, move_place_accessible },
        { "place-reported", 5, move_place_reported },
        { "place-twin", 6, move_place_twin },
        { "place-part", 7, move_place_part },
        { "unplace", 4, move_unplace },
        { "policy", 9, move_policy },
        { "count", 6, move_count },
        { "select", 5, move_select },
        { "apply-strategy", 6, move_apply_strategy },
        { "rolling-update", 4, move_rolling_update },
        { "external", 2, move_external },
        { "history", 2, move_history },
        { "report-back", 6, move_report_back },
        /* overrides */
        { "override-add", 8, move_override_add },
        { "override-change", 4, move_override_change },
        { "override-delete", 3, move_override_delete },
        /* evictions */
        { "evict", 5, move_evict },
        { "evict-many", 4, move_evict_many },
        { "evict-nothing", 2, move_evict_nothing },
        { "eviction-delete", 4, move_eviction_delete },
        { "budget", 6, move_budget },
        { "budget-delete", 2, move_budget_delete },
        /* update runs */
        { "run", 10, move_run },
        { "run-back", 4, move_run_back },
        { "run-second", 3, move_run_second },
        { "run-retry", 3, move_run_retry },
        { "run-stop", 3, move_run_stop },
        { "run-resume", 5, move_run_resume },
        { "run-delete", 3, move_run_delete },
        { "approve", 16, move_approve },
        { "disapprove", 14, move_disapprove },
        { "approve-early", 3, move_approve_early },
        { "stages", 4, move_stages },
        { "stages-delete", 1, move_stages_delete },
        /* clusters */
        { "relabel", 10, move_relabel },
        { "taint", 4, move_taint },
        { "leave", 3, move_leave },
        { "join", 6, move_join },
        { "unready", 4, move_unready },
        { "ready", 5, move_ready },
        { "tell-size", 3, move_tell_size },
        { "tell-price", 3, move_tell_price },
        /* by hand */
        { "edit-placed", 5, move_edit_placed },
        { "extend-placed", 3, move_extend_placed },
        { "delete-placed", 5, move_delete_placed },
        { "delete-placed-namespace", 2, move_delete_placed_namespace },
        { "foreign-settings", 4, move_foreign_settings },
        { "foreign-role", 3, move_foreign_role },
        { "delete-work", 2, move_delete_work },
        { "delete-binding", 2, move_delete_binding },
        { "delete-snapshot", 2, move_delete_snapshot },
        { "delete-policy-snapshot", 2, move_delete_policy_snapshot },
        /* ClusterObjectSets on members: in the seeds that have them */
        { "set", 14, move_set_make, SEEDS_SETS },
        { "set-next", 14, move_set_next, SEEDS_SETS },
        { "set-next-fewer", 8, move_set_next_fewer, SEEDS_SETS },
        { "set-next-more", 9, move_set_next_more, SEEDS_SETS },
        { "set-next-moved", 8, move_set_next_moved, SEEDS_SETS },
        { "set-next-stuck", 8, move_set_next_stuck, SEEDS_SETS },
        { "set-again", 5, move_set_again, SEEDS_SETS },
        { "set-archive", 7, move_set_archive, SEEDS_SETS },
        { "set-delete", 7, move_set_delete, SEEDS_SETS },
        { "set-orphan", 5, move_set_orphan, SEEDS_SETS },
        { "set-foreground", 5, move_set_foreground, SEEDS_SETS },
        { "set-fix", 8, move_set_fix, SEEDS_SETS },
        { "set-spoil", 4, move_set_spoil, SEEDS_SETS },
        { "set-secret", 12, move_set_secret, SEEDS_SETS },
        { "set-secret-gone", 7, move_set_secret_gone, SEEDS_SETS },
        { "set-seal", 8, move_set_seal, SEEDS_SETS },
        { "set-stall", 8, move_set_stall, SEEDS_SETS },
        { "set-go-on", 10, move_set_go_on, SEEDS_SETS },
        { "set-edit", 9, move_set_edit, SEEDS_SETS },
        { "set-take", 10, move_set_take, SEEDS_SETS },
        { "set-stray", 11, move_set_stray, SEEDS_SETS },
        { "set-stray-owned", 9, move_set_stray_owned, SEEDS_SETS },
        /* ResourceSets: in the seeds that have them */
        { "table", 24, move_table_make, SEEDS_TABLES },   /* the first of them */
        { "source", 24, move_source_make, SEEDS_TABLES }, /* the second */
        { "table-inputs", 50, move_table_inputs, SEEDS_TABLES },
        { "table-from", 12, move_table_from, SEEDS_TABLES },
        { "table-permute", 8, move_table_permute, SEEDS_TABLES },
        { "table-write", 5, move_table_write, SEEDS_TABLES },
        { "table-mark", 8, move_table_mark, SEEDS_TABLES },
        { "table-leave-out", 8, move_table_leave_out, SEEDS_TABLES },
        { "table-spoil", 5, move_table_spoil, SEEDS_TABLES },
        { "table-after", 5, move_table_after, SEEDS_TABLES },
        { "table-wait", 6, move_table_wait, SEEDS_TABLES },
        { "table-keep", 1, move_table_keep, SEEDS_TABLES },
        { "table-suspend", 5, move_table_suspend, SEEDS_TABLES },
        { "table-seal", 5, move_table_seal, SEEDS_TABLES },
        { "table-force", 5, move_table_force, SEEDS_TABLES },
        { "table-copy", 6, move_table_copy, SEEDS_TABLES },
        { "table-mend", 20, move_table_mend, SEEDS_TABLES },
        { "table-disown", 10, move_table_disown, SEEDS_TABLES },
        { "table-delete", 10, move_table_delete, SEEDS_TABLES },
        { "table-request", 4, move_table_request, SEEDS_TABLES },
        { "table-original", 10, move_table_original, SEEDS_TABLES },
        { "table-status", 14, move_table_status, SEEDS_TABLES },
        { "made-edit", 16, move_made_edit, SEEDS_TABLES },
        { "made-delete", 12, move_made_delete, SEEDS_TABLES },
        { "made-protect", 4, move_made_protect, SEEDS_TABLES },
        { "made-foreign", 10, move_made_foreign, SEEDS_TABLES },
        { "made-neighbour", 8, move_made_neighbour, SEEDS_TABLES },
        { "source-change", 24, move_source_change, SEEDS_TABLES },
        { "source-label", 8, move_source_label, SEEDS_TABLES },
        { "source-suspend", 3, move_source_suspend, SEEDS_TABLES },
        { "source-delete", 7, move_source_delete, SEEDS_TABLES },
        { "service-trouble", 9, move_service_trouble, SEEDS_TABLES },
        { "service-answer", 14, move_service_answer, SEEDS_TABLES },
        /* charts and their repositories: in the seeds that have them */
        { "repository", 14, move_repository_make, SEEDS_CHARTS }, /* the first of them */
        { "chart", 20, move_chart_make, SEEDS_CHARTS },           /* the second */
        { "repository-suspend", 4, move_repository_suspend, SEEDS_CHARTS },
        { "repository-request", 5, move_repository_request, SEEDS_CHARTS },
        { "repository-delete", 3, move_repository_delete, SEEDS_CHARTS },
        { "publish", 24, move_publish, SEEDS_CHARTS },
        { "withdraw", 8, move_withdraw, SEEDS_CHARTS },
        { "library-trouble", 10, move_library_trouble, SEEDS_CHARTS },
        { "library-answer", 12, move_library_answer, SEEDS_CHARTS },
        { "chart-edit", 20, move_chart_edit, SEEDS_CHARTS },
        { "chart-suspend", 5, move_chart_suspend, SEEDS_CHARTS },
        { "chart-request", 6, move_chart_request, SEEDS_CHARTS },
        { "chart-delete", 7, move_chart_delete, SEEDS_CHARTS },
        { "artifact-lose", 18, move_artifact_lose, SEEDS_CHARTS },
        { "volume-full", 6, move_volume_full, SEEDS_CHARTS },
        { "volume-room", 6, move_volume_room, SEEDS_CHARTS },
        /* a Git repository and its agent: in the seeds that have it */
        { "plot-change", 16, move_plot_change, SEEDS_GARDEN },
        { "plot-add", 14, move_plot_add, SEEDS_GARDEN },
        { "plot-remove", 12, move_plot_remove, SEEDS_GARDEN },
        { "plot-rename", 6, move_plot_rename, SEEDS_GARDEN },
        { "plot-ignore", 6, move_plot_ignore, SEEDS_GARDEN },
        { "bed-place", 6, move_bed_place, SEEDS_GARDEN },
        { "bed-break", 9, move_bed_break, SEEDS_GARDEN },
        { "bed-clear", 11, move_bed_clear, SEEDS_GARDEN },
        { "bed-mend", 9, move_bed_mend, SEEDS_GARDEN },
        { "branch-force", 7, move_branch_force, SEEDS_GARDEN },
        { "tag-move", 7, move_tag_move, SEEDS_GARDEN },
        { "plot-edit", 9, move_plot_edit, SEEDS_GARDEN },
        { "plot-delete", 7, move_plot_delete, SEEDS_GARDEN },
        { "plot-leave", 6, move_plot_leave, SEEDS_GARDEN },
        { "plot-neighbour", 6, move_plot_neighbour, SEEDS_GARDEN },
        { "job-change", 8, move_job_change, SEEDS_GARDEN },
        { "garden-image", 14, move_garden_image, SEEDS_GARDEN },
        { "garden-policy", 9, move_garden_policy, SEEDS_GARDEN },
        { "garden-sync", 6, move_garden_sync, SEEDS_GARDEN },
        { "garden-collect", 14, move_garden_collect, SEEDS_GARDEN },
        { "remote-trouble", 8, move_remote_trouble, SEEDS_GARDEN },
        { "remote-answer", 12, move_remote_answer, SEEDS_GARDEN },
        { "stop-gardener", 5, move_stop_gardener, SEEDS_GARDEN },
        { "kill-gardener", 8, move_kill_gardener, SEEDS_GARDEN },
        { "start-gardener", 12, move_start_gardener, SEEDS_GARDEN },
        /* accidents */
        { "stop-member", 3, move_stop_member },
        { "kill-member", 5, move_kill_member },
        { "stop-hub-agent", 3, move_stop_hub_agent },
        { "kill-hub-agent", 4, move_kill_hub_agent },
        { "run-interrupt", 5, move_run_interrupt },
        { "start-agent", 8, move_start_agent },
        { "cut-link", 6, move_cut_link },
        { "heal-link", 6, move_heal_link },
        { "disk-full", 3, move_disk_full },
        { "disk-room", 3, move_disk_room },
        { "clock-forward", 3, move_clock_forward },
        { "clock-back", 2, move_clock_back },
        { "restart-server", 3, move_restart_server },
        { "kill-server", 3, move_kill_server },
        { "power-failure", 3, move_power_failure },
        { "server-disk-full", 2, move_server_disk_full },
        { "cut-watches", 3, move_cut_watches },
        { "compact-watches", 3, move_compact_watches },
        { "heal-all", 14, move_heal_all },

        /* processes that are stopped and go on: only in their turn, is_pause_due() */
        { "pause-hub-agent", 0, move_pause_hub_agent, SEEDS_PAUSES },
        { "pause-member", 0, move_pause_member, SEEDS_PAUSES },

        /* where the page is played */
        { "run-gated", 8, move_run_gated, SEEDS_PAGE },
        /* where lists are long */
        { "edit-at-start", 50, move_edit_at_start, SEEDS_LISTS },
};
const size_t n_move_kinds = ARRAY_LEN(move_kinds);

void moves_expect(struct coverage *c)
{
        for (size_t i = 0; i < n_move_kinds; i++)
                if (move_kinds[i].seeds != SEEDS_LISTS) /* it has seeds of its own */
                        coverage_expect_move(c, move_kinds[i].name);
}

/* ---- drawing ---- */

/* What a seed plays. */
struct draw {
        uint64_t seed;
        bool plays[MOVE_SEEDS];
};

bool moves_have_tables(uint64_t seed)
{
        return seed / TABLE_SEEDS % 2;
}

bool moves_have_charts(uint64_t seed)
{
        return seed % CHART_EVERY == 2;
}

bool moves_have_garden(uint64_t seed)
{
        return seed % GARDEN_EVERY == 4;
}

bool moves_have_lists(uint64_t seed)
{
        return seed >= MOVES_LISTS_SEEDS;
}

bool moves_have_pauses(uint64_t seed)
{
        return (seed >= SHARDED_SEEDS && !moves_have_lists(seed)) || seed % PAUSE_EVERY == 3;
}

static struct draw begin_draw(uint64_t seed)
{
        return (struct draw){ seed,
                              { [SEEDS_ALL] = true,
                                [SEEDS_BIG] = seed * DICE_MIX / (UINT64_MAX / 100 + 1) < BIG_SEEDS,
                                [SEEDS_SETS] = seed % SET_EVERY == 0,
                                [SEEDS_TABLES] = moves_have_tables(seed),
                                [SEEDS_CHARTS] = moves_have_charts(seed),
                                [SEEDS_GARDEN] = moves_have_garden(seed),
                                [SEEDS_PAGE] = sim_page_is_played(seed),
                                [SEEDS_PAUSES] = moves_have_pauses(seed),
                                [SEEDS_LISTS] = moves_have_lists(seed) } };
}

static bool is_played(const struct draw *w, unsigned kind)
{
        return w->plays[move_kinds[kind].seeds];
}

/* What not every seed plays is a group of its own; the rest is one, big ones or not. */
static enum move_seeds group_of(unsigned kind)
{
        return move_kinds[kind].seeds == SEEDS_BIG ? SEEDS_ALL : move_kinds[kind].seeds;
}

/* In seeds without a group all is drawn as if there were none. */
static unsigned weight_of(const struct draw *w, unsigned kind)
{
        return w->plays[group_of(kind)] ? move_kinds[kind].weight : 0;
}

static uint64_t all_weights(const struct draw *w)
{
        uint64_t all = 0;

        for (unsigned i = 0; i < n_move_kinds; i++)
                all += weight_of(w, i);
        return all;
}

static unsigned draw_kind(const struct draw *w, struct dice *d)
{
        for (;;) {
                uint64_t left = dice_below(d, all_weights(w));
                unsigned kind = 0;

                for (; left >= weight_of(w, kind); kind++)
                        left -= weight_of(w, kind);
                if (is_played(w, kind))
                        return kind;
        }
}

/* The number of kinds of a group; *ret is the i-th of them. */
static unsigned walk(enum move_seeds group, uint64_t i, unsigned *ret)
{
        unsigned n = 0;

        for (unsigned kind = 0; kind < n_move_kinds; kind++)
                if (group_of(kind) == group && n++ == i)
                        *ret = kind;
        return n;
}

static unsigned turn_of(enum move_seeds group, uint64_t turn)
{
        unsigned kind = 0;

        (void)walk(group, turn % walk(group, UINT64_MAX, &kind), &kind);
        return kind;
}

/* Seeds walk through the kinds: in any hundred of them each has its turn several times, often enough in a
 * seed that it finds something to do. */
static bool is_due(const struct draw *w, uint64_t i, unsigned *ret_kind)
{
        uint64_t turn = i / DUE_EVERY;
        unsigned kind = turn_of(SEEDS_ALL, w->seed * DUE_KINDS + turn % DUE_KINDS);

        if (i < BEGINNING || i % DUE_EVERY != 0)
                return false;
        while (w->plays[SEEDS_BIG] && turn == 1 && move_kinds[kind].seeds != SEEDS_BIG)
                kind = (unsigned)((kind + 1) % n_move_kinds);
        if (!is_played(w, kind))
                return false;
        *ret_kind = kind;
        return true;
}

/* Without a first revision there is little to do. */
static bool is_set_due(const struct draw *w, uint64_t i, unsigned *ret_kind)
{
        uint64_t turn = i / DUE_EVERY;

        if (!w->plays[SEEDS_SETS] || i < BEGINNING || i % DUE_EVERY != DUE_EVERY / 2)
                return false;
        *ret_kind = turn_of(SEEDS_SETS,
                            turn <= SET_BEGINNINGS ? 0 : w->seed / SET_EVERY * DUE_SETS + turn % DUE_SETS);
        return true;
}

/* Nor without a table, and what it takes its inputs from. */
static bool is_table_due(const struct draw *w, uint64_t i, unsigned *ret_kind)
{
        uint64_t turn = i / DUE_EVERY,
                 seed = w->seed / (2 * TABLE_SEEDS) * TABLE_SEEDS + w->seed % TABLE_SEEDS;

        if (!w->plays[SEEDS_TABLES] || i < BEGINNING || i % DUE_EVERY != DUE_EVERY - 1)
                return false;
        *ret_kind =
                turn_of(SEEDS_TABLES, turn <= SET_BEGINNINGS       ? 0
                                      : turn == SET_BEGINNINGS + 1 ? 1
                                                                   : seed * DUE_TABLES + turn % DUE_TABLES);
        return true;
}

/* First a repository and charts of it. */
static bool is_chart_due(const struct draw *w, uint64_t i, unsigned *ret_kind)
{
        uint64_t turn = i / DUE_EVERY, of = turn % DUE_CHARTS,
                 kind = w->seed / CHART_EVERY + of + (of == DUE_CHARTS - 1 ? CHART_STRIDE : 0);

        if (!w->plays[SEEDS_CHARTS] || i < BEGINNING || i % DUE_EVERY != 1)
                return false;
        *ret_kind = turn_of(SEEDS_CHARTS, turn == 1 ? 0 : turn <= 3 ? 1 : kind);
        return true;
}

static bool is_garden_due(const struct draw *w, uint64_t i, unsigned *ret_kind)
{
        uint64_t turn = i / DUE_EVERY;

        if (!w->plays[SEEDS_GARDEN] || i < BEGINNING || i % DUE_EVERY != 1)
                return false;
        *ret_kind = turn_of(SEEDS_GARDEN, w->seed / GARDEN_EVERY * DUE_GARDEN + turn % DUE_GARDEN);
        return true;
}

/* Beside these turns another move of four is one of the garden, by weight: what is committed is soon old. */
static bool is_of_garden(const struct draw *w, uint64_t i, uint64_t dice, unsigned *ret_kind)
{
        struct draw garden = { .seed = w->seed, .plays = { [SEEDS_GARDEN] = w->plays[SEEDS_GARDEN] } };
        struct dice d = { dice ^ DICE_MIX };

        if (!w->plays[SEEDS_GARDEN] || i < BEGINNING || i % DUE_EVERY != DUE_EVERY / 2)
                return false;
        *ret_kind = draw_kind(&garden, &d);
        return true;
}

/* Beside these turns another move of four is one of a table, by weight: tables stand still by themselves. */
static bool is_of_table(const struct draw *w, uint64_t i, uint64_t dice, unsigned *ret_kind)
{
        struct draw tables = { .seed = w->seed, .plays = { [SEEDS_TABLES] = w->plays[SEEDS_TABLES] } };
        struct dice d = { dice ^ DICE_MIX };

        if (!w->plays[SEEDS_TABLES] || i < BEGINNING * 2 || i % DUE_EVERY != 1)
                return false;
        *ret_kind = draw_kind(&tables, &d);
        return true;
}

/* Mostly users wait for what they see, now and then they do not. A larger fleet has more to do for each. */
static int64_t draw_gap(struct dice *d, unsigned members)
{
        int64_t gap = 200 + (int64_t)dice_below(d, dice_percent(d, 40) ? 800 : 5800);

        return members > 5 ? gap * 2 : gap;
}

static unsigned kind_that(int (*play)(struct player *p, struct dice *d, struct error *err))
{
        unsigned kind = 0;

        while (move_kinds[kind].play != play)
                kind++;
        return kind;
}

/* At last something changes that tables depend on, and nobody touches them after that: they notice it or they
 * do not. */
static void change_at_last(struct move *moves, size_t n)
{
        for (size_t i = 1; i <= LAST_CHANGES && i < n; i++)
                moves[n - i].kind = kind_that(i == 1 ? move_table_original : move_source_change);
}

/* So it is with charts: a version is published, files go, and nobody asks for anything after that. */
static void lose_at_last(struct move *moves, size_t n)
{
        for (size_t i = 1; i <= LAST_CHANGES && i < n; i++)
                moves[n - i].kind = kind_that(i == 3 ? move_publish : move_artifact_lose);
}

/* Where the page looks things come, change and go, which by chance they seldom do while it looks: three moves
 * of eight, but for those whose turn it is. */
static bool is_looked_at(const struct draw *w, uint64_t i, unsigned *ret_kind)
{
        static int (*const plays[])(struct player * p, struct dice * d, struct error * err) = {
                move_override_add, move_run_gated,       move_place,      move_run,
                move_place_part,   move_count,           move_run_gated,  move_unplace,
                move_run,          move_override_change, move_run_delete, move_policy,
                move_run_gated,    move_override_add,    move_leave,      move_run_gated,
                move_join,         move_override_delete,
        };
        uint64_t at = i % (2 * DUE_EVERY);

        if (!w->plays[SEEDS_PAGE] || i < BEGINNING || at % 2 == 0 || at > DUE_EVERY + 1)
                return false;
        *ret_kind = kind_that(plays[(i / (2 * DUE_EVERY) * 3 + at / 2) % ARRAY_LEN(plays)]);
        return true;
}

/* At last much goes, and views that are open have to lose it. */
static struct move go_at_last(uint64_t seed, size_t i, int64_t at_ms)
{
        static int (*const plays[GOING])(struct player * p, struct dice * d,
                                         struct error * err) = { move_run_delete, move_override_delete,
                                                                 move_unplace, move_leave };

        return (struct move){ .at_ms = at_ms, .kind = kind_that(plays[i]), .dice = seed * DICE_MIX + i };
}

static bool is_pause_due(const struct draw *w, uint64_t i, uint64_t dice, unsigned *ret_kind)
{
        if (!w->plays[SEEDS_PAUSES] || i < BEGINNING || i % DUE_PAUSES != DUE_PAUSES / 2)
                return false;
        *ret_kind = kind_that(dice >> 63 ? move_pause_member : move_pause_hub_agent);
        return true;
}

struct move *moves_draw(uint64_t seed, int64_t ms, unsigned members, size_t *ret_n)
{
        VEC(struct move) moves = VEC_INIT;
        const struct draw w = begin_draw(seed);
        int64_t at = 0;

        for (uint64_t i = 0;; i++) {
                struct dice d = { (seed ^ 0x6d6f766573u) * DICE_MIX + i * 0xd1342543de82ef95u };
                struct move m = { 0 };

                dice_next(&d);
                at += draw_gap(&d, members);
                m = (struct move){ .at_ms = at, .kind = draw_kind(&w, &d), .dice = dice_next(&d) };
                if (i < BEGINNING)
                        m.kind = (unsigned)i % 2;
                m.due = is_set_due(&w, i, &m.kind) || is_chart_due(&w, i, &m.kind) ||
                        is_garden_due(&w, i, &m.kind) || is_table_due(&w, i, &m.kind) ||
                        is_looked_at(&w, i, &m.kind) ||
                        (!is_of_table(&w, i, m.dice, &m.kind) && !is_of_garden(&w, i, m.dice, &m.kind) &&
                         (is_due(&w, i, &m.kind) || is_pause_due(&w, i, m.dice, &m.kind)));
                if (at >= ms || vec_push(&moves, m) < 0)
                        break;
        }
        if (w.plays[SEEDS_TABLES])
                change_at_last(moves.at, moves.n);
        if (w.plays[SEEDS_CHARTS])
                lose_at_last(moves.at, moves.n - (w.plays[SEEDS_TABLES] ? MIN(moves.n, LAST_CHANGES) : 0));
        for (size_t i = 0; w.plays[SEEDS_PAGE] && ms > 0 && i < GOING; i++)
                if (vec_push(&moves, go_at_last(seed, i, ms - 1)) < 0)
                        break;
        *ret_n = moves.n;
        return moves.at;
}

/* ---- playing ---- */

/* 1: done; 0: there was nothing to do. */
static int play_one(struct player *p, const struct move *m, struct error *err)
{
        struct dice d = { m->dice };
        int code;

        p->playing = move_kinds[m->kind].name;
        code = move_kinds[m->kind].play(p, &d, err);
        if (code < 0)
                return error_wrap(err, "move %s", p->playing);
        if (code == 0)
                return 0;
        p->n_moves++;
        coverage_move(p->coverage, p->playing);
        return 1;
}

static void owe(struct player *p, const struct move *m)
{
        for (unsigned i = 0; i < p->n_owed; i++)
                if (p->owed[i].kind == m->kind)
                        return;
        if (p->n_owed < MOVES_OWED)
                p->owed[p->n_owed++] = *m;
}

/* One at most, each time by other dice. */
static int play_owed(struct player *p, struct error *err)
{
        for (unsigned i = 0; i < p->n_owed; i++) {
                int code;

                p->owed[i].dice = p->owed[i].dice * DICE_MIX + 1;
                code = play_one(p, &p->owed[i], err);
                TRY(code);
                if (code == 0)
                        continue;
                p->n_owed--;
                memmove(&p->owed[i], &p->owed[i + 1], (p->n_owed - i) * sizeof(p->owed[i]));
                return 0;
        }
        return 0;
}

static int play_next(struct player *p, const struct move *m, struct error *err)
{
        int code;

        TRY(play_owed(p, err));
        code = play_one(p, m, err);
        TRY(code);
        if (code == 0 && m->due)
                owe(p, m);
        return 0;
}

int moves_play(struct player *p, const struct move *moves, size_t n, struct error *err)
{
        struct loop *l = p->fleet->world->loop;
        int64_t begin = loop_now_ms(l);

        for (size_t i = 0; i < n; i++) {
                int64_t wait = begin + moves[i].at_ms - loop_now_ms(l);

                if (wait > 0)
                        TRY(fiber_sleep(l, wait));
                if (p->go_on)
                        TRY(p->go_on(p->ctx, err));
                p->n_begun = i + 1;
                TRY(moves_make_room(p, err));
                TRY(moves_keep_alive(p, err));
                TRY(play_next(p, &moves[i], err));
                if (i % BAD_EVERY == BAD_EVERY - 1)
                        TRY(moves_bad_wish(p, ~moves[i].dice, err));
        }
        return 0;
}

/* ---- what moves share ---- */

void words_add(struct words *w, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(w->text + w->n, sizeof(w->text) - w->n, format, args);
        va_end(args);
        if (n > 0)
                w->n = MIN(w->n + (size_t)n, sizeof(w->text) - 1);
}

int move_done(struct player *p, const char *format, ...)
{
        char text[sizeof(struct words) + 128];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        log_info(p->log, "move", "kind", p->playing, "what", text);
        return 1;
}

int move_refused(struct player *p, int code, struct error *err)
{
        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return code;
        log_info(p->log, "move refused", "kind", p->playing, "why", err ? err->text : "");
        error_clear(err);
        return 0;
}

int64_t move_now(const struct player *p)
{
        return loop_now_ms(p->fleet->world->loop);
}

const char *move_cluster_name(unsigned cluster, char ret[FLEET_AGENT_NAME])
{
        snprintf(ret, FLEET_AGENT_NAME, cluster ? "member-%u" : "hub", cluster);
        return ret;
}

int move_client(struct player *p, unsigned cluster, struct kube_client **ret, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        return p->fleet->ops->client(p->fleet, move_cluster_name(cluster, name), ret, err);
}

int move_apply(struct player *p, const struct kube_resource *r, const char *ns, json_t *doc,
               struct error *err)
{
        AUTO_JSON json_t *owned = doc;
        struct kube_write how = { .field_manager = "player", .force = true };
        struct kube_client *hub;

        if (!owned)
                return error_no_memory(err);
        TRY(move_client(p, 0, &hub, err));
        return kube_doc_patch(hub, r, ns, doc_get_string(owned, "metadata.name"), KUBE_PATCH_APPLY, owned,
                              &how, NULL, err);
}

bool move_is_gone(struct player *p, const struct kube_resource *r, const char *ns, const char *name)
{
        AUTO_JSON json_t *doc = NULL;
        struct kube_client *hub;
        struct error err = { 0 };

        return move_client(p, 0, &hub, &err) == 0 &&
               kube_doc_get(hub, r, ns, name, &doc, &err) == ERR_NOT_FOUND;
}

const char *move_placement_home(unsigned app, enum wish_place place)
{
        return wish_placement_resource(place)->namespaced ? wish_app_name(app) : NULL;
}

unsigned move_member(struct player *p, struct dice *d)
{
        return 1 + (unsigned)dice_below(d, p->fleet->n_members);
}

bool move_find_app(struct player *p, struct dice *d, bool (*fits)(const struct wish_app *a), unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_APPS);

        for (unsigned i = 0; i < WISH_APPS; i++) {
                *ret = (first + i) % WISH_APPS;
                if (fits(&p->wish->apps[*ret]))
                        return true;
        }
        return false;
}

bool move_app_lives(const struct wish_app *a)
{
        return a->exists && !a->leaving;
}

bool move_find_placement(struct player *p, struct dice *d, unsigned *ret_app, enum wish_place *ret_place)
{
        unsigned first = (unsigned)dice_below(d, WISH_APPS * WISH_PLACES);

        for (unsigned i = 0; i < WISH_APPS * WISH_PLACES; i++) {
                unsigned at = (first + i) % (WISH_APPS * WISH_PLACES);

                *ret_app = at / WISH_PLACES;
                *ret_place = at % WISH_PLACES;
                if (p->wish->apps[*ret_app].placements[*ret_place].exists)
                        return true;
        }
        return false;
}
