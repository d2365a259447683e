/* Who of the hub agents holds a lease, and since when no more: what they send is judged by it. The document
 * of a lease is the server's, so this is what all others see of it; an agent's own view is never longer. */
#pragma once

#include "e2e/simulation/watch.h"

#define HELD_AGENTS WISH_HUB_AGENTS

/* Of one lease, by one agent: nothing of it may be sent later than either. */
struct held {
        int64_t until_ms;  /* when it was another's, or nobody's; INT64_MAX = it is the agent's; 0 = never was
                            */
        int64_t lapses_ms; /* by the last renewal: when that was sent, and as long as the lease says */
};

int held_agent(const char *name); /* 0 ... HELD_AGENTS - 1; -1: no hub agent */
void held_note(struct held held[HELD_AGENTS], const struct change *lease);
/* What left at that moment was sent while the lease was held. */
bool held_at(const struct held *h, int64_t at_ms);
