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

#define STARVE_PADDING_MAX (63u << 10) /* the first chunks of an arena: 1 KB, 2, 4, 8, 16 and 32 */

/* Calls `decide` until each of its allocations, those from the arena too, has failed alone: an arena asks for
 * memory at the end of a chunk, and padding in front moves that end over whatever is allocated. With a
 * failure `decide` must end in ERR_NO_MEMORY, and without one in 0. */
static inline void each_allocation_fails(int (*decide)(void *ctx, struct arena *arena), void *ctx)
{
        for (size_t padding = 0; padding <= STARVE_PADDING_MAX; padding += 16) {
                bool fired = true;

                for (uint64_t n = 1; fired; n++) {
                        struct arena arena = ARENA_INIT;
                        int code;

                        for (size_t used = 0; used < padding; used += 16)
                                assert_non_null(arena_alloc(&arena, 16));
                        mem_fail_at(n, false);
                        code = decide(ctx, &arena);
                        fired = mem_fault_fired();
                        mem_fail_at(0, false);
                        assert_in_range(arena.used - padding, 0, STARVE_PADDING_MAX);
                        if (code != (fired ? ERR_NO_MEMORY : 0))
                                fail_msg("allocation %llu behind %zu bytes: %d", (unsigned long long)n,
                                         padding, code);
                        arena_free(&arena);
                }
        }
}
