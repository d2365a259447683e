/* What users do and what goes wrong with programs and machines. A run is a list of moves drawn up before it
 * starts; each move has dice of its own, so that a shorter list plays the rest the same way. */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/coverage.h"
#include "e2e/simulation/random.h"
#include "e2e/simulation/wish.h"

struct move {
        int64_t at_ms; /* from the beginning of the play */
        unsigned kind; /* index in move_kinds */
        uint64_t dice;
        bool due; /* its kind has its turn: it is owed until there is something for it to do */
};
#define MOVES_OWED 8

struct player {
        struct fleet *fleet;
        struct sim_git *git; /* NULL: no repository is played */
        bool gardener_down;
        struct wish *wish;
        struct coverage *coverage;
        const struct log *log;
        bool agent_down[WISH_MEMBERS + 4], link_down[WISH_MEMBERS + 4], disk_full[WISH_MEMBERS + 4];
        bool volume_full[4]; /* of artifacts, of each hub agent */
        bool server_disk_full;
        int64_t server_full_ms; /* since when */
        unsigned n_moves;       /* that had an effect */
        size_t n_begun;         /* of the list */
        struct move owed[MOVES_OWED];
        unsigned n_owed;
        /* Asked before each move: negative ends the play with it. May be NULL. */
        int (*go_on)(void *ctx, struct error *err);
        void *ctx;
        const char *playing; /* the kind of move that is on: how lines of it begin */
};

/* What not every seed plays: it costs, or needs many moves to tell a story. */
enum move_seeds {
        SEEDS_ALL,
        SEEDS_BIG,
        SEEDS_SETS,
        SEEDS_TABLES,
        SEEDS_CHARTS,
        SEEDS_GARDEN,
        SEEDS_PAGE,
        SEEDS_PAUSES,
        SEEDS_LISTS
};
#define MOVE_SEEDS (SEEDS_LISTS + 1)

struct move_kind {
        const char *name; /* "override-change" */
        unsigned weight;  /* among all */
        /* Does it, asks the API server first and notes in the wish what it took. 1: done; 0: nothing to do
         * now (there is no such thing yet). Negative: the play itself is broken; what a user is refused is
         * part of the game and 0. What it did goes to the log: one line of level info, "move". */
        int (*play)(struct player *p, struct dice *d, struct error *err);
        enum move_seeds seeds; /* that play it */
};
extern const struct move_kind move_kinds[];
extern const size_t n_move_kinds;
/* That each kind is played is expected of so many seeds: in a hundred the rarest are played three times or
 * so. */
#define MOVES_SEEDS 300
void moves_expect(struct coverage *c);
bool moves_have_tables(uint64_t seed); /* it plays ResourceSets */
bool moves_have_charts(uint64_t seed); /* and charts */
bool moves_have_garden(uint64_t seed); /* and a Git repository */
bool moves_have_pauses(uint64_t seed); /* processes are stopped, and go on later */

/* From here on, up to MOVES_LISTS_SEEDS, two or three hub agents share the placements out. */
#define SHARDED_SEEDS 7000000
/* From here on lists of the hub agents come in many pages, and users edit while one begins. */
#define MOVES_LISTS_SEEDS 8000000
bool moves_have_lists(uint64_t seed);

/* The list of a seed: `ms` long. mem_free it. */
struct move *moves_draw(uint64_t seed, int64_t ms, unsigned members, size_t *ret_n);
/* Plays them, keeps programs alive that ended by themselves. */
int moves_play(struct player *p, const struct move *moves, size_t n, struct error *err);
/* Starts again what ended by itself, as a kubelet does. */
int moves_keep_alive(struct player *p, struct error *err);
/* Everybody is back, every disk has room; the workloads are left as they are. */
int moves_heal(struct player *p, struct error *err);
