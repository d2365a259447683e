/* For tests of pure rules: what becomes of a decision when one of its allocations fails. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/memory.h"

/* Calls `decide` until each of its allocations, those from the arena too, has failed alone. With a failure it
 * must end in ERR_NO_MEMORY, and without one in 0. */
static inline void each_allocation_fails(int (*decide)(void *ctx, struct arena *arena), void *ctx)
{
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                struct arena arena = { .apart = true };
                int code;

                mem_fail_at(n, false);
                code = decide(ctx, &arena);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (code != (fired ? ERR_NO_MEMORY : 0))
                        fail_msg("allocation %llu: %d", (unsigned long long)n, code);
                arena_free(&arena);
        }
}
