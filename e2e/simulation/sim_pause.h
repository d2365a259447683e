/* Stops an agent's process as SIGSTOP does, or a pause of its virtual machine, at a moment that matters, and
 * lets it go on later: loop_process_stop(). */
#pragma once

#include "common/net/http.h"

/* For its moment: who leads renews its lease in that time, and most others write something. */
#define SIM_PAUSE_AWAITED_MS 8000

enum sim_pause_at {
        PAUSE_NOW,           /* wherever it is */
        PAUSE_DECIDED,       /* with its next write decided and not sent */
        PAUSE_SENT,          /* with its next write on the wire: it arrives, and so does the answer */
        PAUSE_LEASE_DECIDED, /* the same two of its next write of a lease */
        PAUSE_LEASE_SENT,
        PAUSE_MOMENTS
};

struct sim_pause {
        struct loop *loop;
        struct loop_process *process;
        enum sim_pause_at at;
        bool awaited; /* the moment is to come */
        int64_t ms;
        struct timer timer; /* until it is stopped without that moment, then until it goes on */
};

int sim_pause_init(struct sim_pause *p, struct loop *l); /* 0 or ERR_NO_MEMORY */
void sim_pause_clear(struct sim_pause *p);
/* From the moment on for `ms`; if it does not come soon, wherever it is by then. Not while another pause is
 * on. 0 or ERR_NO_MEMORY. */
int sim_pause_begin(struct sim_pause *p, enum sim_pause_at at, int64_t ms);
void sim_pause_end(struct sim_pause *p);         /* goes on at once; nothing is awaited any more */
bool sim_pause_is_on(const struct sim_pause *p); /* stopped, or to be */

/* ---- for the agent's network: as in struct loopback_faults ---- */
bool sim_pause_hold_back(struct sim_pause *p, const struct http_request *rq);
void sim_pause_sent(struct sim_pause *p, const struct http_request *rq);
