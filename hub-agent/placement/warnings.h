/* What an operator is to be told of a placement that does not go well: Warning events and lines of the log,
 * once per change. Pure. */
#pragma once

#include "hub-agent/common.h"
#include "hub-agent/placement/told.h"

struct status_warning {
        const char *reason, *message;
};
struct status_warnings {
        struct status_warning at[7];
        size_t n;
};

/* What went wrong from the status of `before` to that of `after`: nothing that was told already and has not
 * ended since (`told`, or in `before` after a restart), and nothing that is only under way. One warning per
 * kind of trouble names some of the clusters and counts the others.
 */
int plan_warnings(struct arena *arena, const struct placement *before, const struct placement *after,
                  struct told_list *told, struct status_warnings *ret, struct error *err);

/* Resources that were not available for so long are no matter of starting up any more; nor is a member that
 * says nothing of what it was given. */
#define NOT_AVAILABLE_MS (5 * 60 * 1000)
/* *told_ms: of the clusters told so far the latest time at which one became unavailable; advances.
 * *ret_next_ms: when to look again, 0 = no need. */
int plan_unavailable_warning(struct arena *arena, const struct placement *p, int64_t now_ms, int64_t *told_ms,
                             struct status_warnings *ret, int64_t *ret_next_ms, struct error *err);

/* A rollout that waits while nothing has changed on any cluster for as long, and for the wait that the
 * strategy asks for, will not go on by itself. *told_ms: the last change that was known when it was told;
 * advances. */
int plan_stalled_warning(struct arena *arena, const struct placement *p, int64_t now_ms, int64_t *told_ms,
                         struct status_warnings *ret, int64_t *ret_next_ms, struct error *err);

/* Objects often come right after the placement that names them. */
#define NOT_FOUND_MS (5 * 1000)
struct not_found_told {
        uint64_t hash;    /* of the selectors; 0 = all name something */
        int64_t since_ms; /* loop_now_ms(), as now_ms: clocks that are set delay nothing */
        bool told;
};
/* Selectors by name that name nothing in what is selected: the clusters' statuses cannot tell of what none of
 * them was given (spec/placement.md 6: nothing found is no error). */
int plan_not_found_warning(struct arena *arena, const struct placement *p,
                           const struct resource_identifier_list *selected, int64_t now_ms,
                           struct not_found_told *told, struct status_warnings *ret, int64_t *ret_next_ms,
                           struct error *err);

/* With strategy External the clusters keep what they have until an update run comes, and no controller here
 * executes one: said once for each selection, by its hash, that differs from what all clusters have. `told`
 * is the hash told last. */
int plan_external_warning(struct arena *arena, const struct placement *p, const struct object_list *snapshots,
                          const char *hash, char told[65], struct status_warnings *ret, struct error *err);
