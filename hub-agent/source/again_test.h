/* For tests that make an object's run fail again and again: how long to wait until it has come right. */
#pragma once

#include "hub-agent/source/source_test.h"

#define LONGEST_PAUSE_MS (20 * MINUTE_MS) /* before another try, and more */

static inline void ask_for_run(struct rig *r, const char *path, uint64_t n)
{
        AUTO_FREE char *patch =
                mem_printf("{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"%llu\"}}}",
                           (unsigned long long)n);

        merge(r, path, patch);
}

/* That it is Ready, and by the run that was asked for. */
static inline bool is_right_again(struct rig *r, const char *path, uint64_t n)
{
        char asked[24];

        snprintf(asked, sizeof(asked), "%llu", (unsigned long long)n);
        return rig_get(r, path) == 200 && text_equal(rig_string(r, "status.lastHandledReconcileAt"), asked) &&
               text_equal(part_of_condition(r, "Ready", "status"), "True");
}

/* At once or after one or two short pauses, as a rule: an agent at rest for twenty minutes costs more than
 * its run. Whoever waited in vain finds out by what is asserted next. */
static inline void wait_until_right(struct rig *r, const char *path, uint64_t n)
{
        for (int64_t waited = 0, ms = 1000; waited < LONGEST_PAUSE_MS; waited += ms, ms *= 2) {
                pass_time(r, ms);
                if (is_right_again(r, path, n))
                        return;
        }
}
