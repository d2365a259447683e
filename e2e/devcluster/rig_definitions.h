/* Custom resources for the many rigs of one test program: checking and compiling the same definitions for
 * each test takes longer than most tests. */
#pragma once

#include "e2e/devcluster/rig.h"

struct rig_definitions { /* {0} at first; lives as long as the process */
        struct rig_definition *at;
        size_t n;
        uint64_t rv;     /* the hub's version before the first of them */
        int64_t wall_ms; /* when they were posted */
};

/* Posts the definitions text(0), text(1)... up to NULL to the hub. When that was done before, at the same
 * moment of a hub of the same version, they are put there as they were stored and compiled then: the objects
 * are equal to the last byte, but no request is made or counted. */
void rig_define(struct rig *r, struct rig_definitions *kept, const char *(*text)(size_t i));
