/* Stopping: what is under way on single clusters comes to its end, and nothing new begins.
 * spec/staged-update-and-eviction.md 7. */
#include "hub-agent/staged-update/pass.h"

static void tell_stopping(struct pass *p, struct stage_status *s, const char *stuck)
{
        if (stuck)
                set_run_progress(p, CONDITION_FALSE, REASON_RUN_STUCK, stuck);
        else
                set_run_progress(p, CONDITION_UNKNOWN, REASON_RUN_STOPPING, MESSAGE_RUN_STOPPING);
        set_stage_progress(p, s, CONDITION_UNKNOWN, REASON_STAGE_STOPPING, MESSAGE_STAGE_STOPPING);
        wake_after(p, UPDATE_RUN_CLUSTER_POLL_MS);
}

/* The conditions take their last value at once: a moment that a wait counts from does not move. */
static void tell_stopped(struct pass *p, struct stage_status *s)
{
        set_stage_progress(p, s, CONDITION_FALSE, REASON_STAGE_STOPPED, MESSAGE_STAGE_STOPPED);
        set_run_progress(p, CONDITION_FALSE, REASON_RUN_STOPPED, MESSAGE_RUN_STOPPED);
}

int stop_run(struct pass *p, int stage)
{
        bool deletion = stage == (int)p->status->stages_status.n, stopped = false;
        struct stage_status *s =
                deletion ? p->status->deletion_stage_status : &p->status->stages_status.at[stage];
        const char *stuck = NULL;

        TRY(deletion ? stop_deletion_stage(p, &stopped)
                     : finish_clusters(p, (size_t)stage, &stopped, &stuck));
        if (stopped)
                tell_stopped(p, s);
        else
                tell_stopping(p, s, stuck);
        return 0;
}
