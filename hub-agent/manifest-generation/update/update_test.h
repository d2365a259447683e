/* What the tests of this folder share. */
#pragma once

#include "common/json/doc_test.h"

struct arena_walk {
        int (*fn)(struct arena *arena, void *data);
        void *data;
};

static inline int run_with_arena(void *data)
{
        const struct arena_walk *w = data;
        AUTO_ARENA struct arena arena = ARENA_INIT;

        return w->fn(&arena, w->data);
}

/* Arenas ask the heap seldom: each allocation out of the arena fails in turn too. */
static inline void walk_all_failures(int (*fn)(struct arena *arena, void *data), void *data)
{
        struct arena_walk walk = { fn, data };
        int code = ERR_NO_MEMORY;

        walk_failing_allocations(run_with_arena, &walk);
        for (size_t limit = 1; code < 0; limit++) {
                AUTO_ARENA struct arena arena = { .limit = limit };

                code = fn(&arena, data);
                if (code < 0)
                        assert_int_equal(code, ERR_NO_MEMORY);
        }
        assert_int_equal(code, 0);
}
