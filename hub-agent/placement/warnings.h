/* What an operator is to be told of a placement that does not go well: Warning events and lines of the log,
 * once per change. Pure. */
#pragma once

#include "hub-agent/common.h"

struct status_warning {
        const char *reason, *message;
};
struct status_warnings {
        struct status_warning at[7];
        size_t n;
};

/* What went wrong from the status of `before` to that of `after`: nothing that was told already, and nothing
 * that is only under way. One warning per kind of trouble names some of the clusters and counts the others.
 */
int plan_warnings(struct arena *arena, const struct placement *before, const struct placement *after,
                  struct status_warnings *ret, struct error *err);

/* Resources that were not available for so long are no matter of starting up any more. */
#define NOT_AVAILABLE_MS (5 * 60 * 1000)
/* *told_ms: of the clusters told so far the latest time at which one became unavailable; advances.
 * *ret_next_ms: when to look again, 0 = no need. */
int plan_unavailable_warning(struct arena *arena, const struct placement *p, int64_t now_ms, int64_t *told_ms,
                             struct status_warnings *ret, int64_t *ret_next_ms, struct error *err);

/* With strategy External the clusters keep what they have until an update run comes, and no controller here
 * executes one: said once for each selection, by its hash, that differs from what all clusters have. `told`
 * is the hash told last. */
int plan_external_warning(struct arena *arena, const struct placement *p, const struct object_list *snapshots,
                          const char *hash, char told[65], struct status_warnings *ret, struct error *err);
