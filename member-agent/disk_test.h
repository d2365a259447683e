/* For tests of a member agent whose state file, and the key beside it, lie on a simulated disk. */
#pragma once

#include "e2e/simulation/sim_disk.h"
#include "member-agent/member_agent_test.h"

static inline void start_on(struct agent *a, struct rig *r, struct sim_disk *d)
{
        start(a, r, sim_disk_uri(d));
        sim_disk_give_files(d, &a->world);
}
