/* Stops, resumes and retries a staged update run: what `kubectl fleet runs` and the live page have in common.
 */
#pragma once

#include "common/kube/client.h"
#include "kubectl-fleet/run_view.h"

struct steering {
        struct kube_client *hub;
        struct arena *arena;
        const struct kind *kind; /* of a run */
        const char *ns, *name;
        bool commands; /* refusals say what is to be typed */
};
enum run_turn { TURN_STOP, TURN_RESUME };

/* Whether it can be done, by what the run is: 0, or ERR_INVALID in a sentence. Pure. */
int steer_check_turn(const struct run_view *v, enum run_turn turn, bool commands, struct error *err);
int steer_check_retry(const struct run_view *v, bool commands, struct error *err);
/* It is so already: then nothing is written. */
bool steer_is_turned(const struct update_run *run, enum run_turn turn);

/* All park. ERR_NOT_FOUND in the server's words where the run is not there. */
/* Reads, checks, writes. ERR_CONFLICT: to be tried again (conflicts.h). */
int steer_turn(const struct steering *s, enum run_turn turn, bool *ret_changed, struct error *err);

struct retry {
        const char *name; /* of the new run; NULL = that of the old one and a number */
        bool once;        /* one that was made so already and is not over is as good: no second is made */
        bool made;        /* filled: it is new */
};
/* *ret_name: of the new run. */
int steer_retry(const struct steering *s, struct retry *r, const char **ret_name, struct error *err);
