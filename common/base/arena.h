/* An arena: allocations that die together. What one reconcile, request or parse makes lives in its arena. */
#pragma once

#include "common/base/error.h"

struct arena {
        struct arena_chunk *head;
        struct arena_defer *defers;
        size_t used;  /* bytes handed out, for accounting */
        size_t limit; /* 0 = ARENA_DEFAULT_LIMIT of limits.h */
        bool apart;   /* for tests: each allocation is one of the heap, so that mem_fail_at() reaches it */
};

#define ARENA_INIT                                                                                           \
        {                                                                                                    \
                0                                                                                            \
        }

/* NULL when memory or the arena's limit is exhausted. Aligned to 16 (alloc) or 1 (strings). */
void *arena_alloc(struct arena *a, size_t size) MUST_CHECK;
void *arena_zalloc(struct arena *a, size_t size) MUST_CHECK;
void *arena_calloc(struct arena *a, size_t n, size_t size) MUST_CHECK;
char *arena_text(struct arena *a, size_t n) MUST_CHECK; /* n bytes for the caller to fill, aligned to 1 */
char *arena_strdup(struct arena *a, const char *s) MUST_CHECK;
char *arena_strndup(struct arena *a, const char *s, size_t n) MUST_CHECK;
void *arena_memdup(struct arena *a, const void *p, size_t n) MUST_CHECK;
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_CHECK;
/* Frees with the arena something that is not memory: fn(p) runs at reset/free, last registered first.
 * On failure runs fn(p) at once and returns ERR_NO_MEMORY, so the caller never leaks. */
int arena_defer(struct arena *a, void (*fn)(void *), void *p) MUST_CHECK;
void arena_reset(struct arena *a); /* frees all but one chunk */
void arena_free(struct arena *a);  /* frees all; the arena may be used again */

#define AUTO_ARENA CLEANUP(arena_free)
#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_NEW_ARRAY(a, type, n) ((type *)arena_calloc((a), (n), sizeof(type)))
