/* Stacks of fibers: mapped with a guard page below, kept in a small pool. */
#include <sys/mman.h>
#include <unistd.h>

#include "common/loop/internal.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

#ifdef ARGOSY_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#define STACK_BYTES (4 * LIMIT_FIBER_STACK_BYTES) /* instrumented frames are several times as large */
#else
#define STACK_BYTES LIMIT_FIBER_STACK_BYTES
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)0)
#define __lsan_register_root_region(p, n) ((void)0)
#define __lsan_unregister_root_region(p, n) ((void)0)
#endif

/* What has not returned when a fiber has ended may still be poisoned: run_fiber() and what calls it. To clear
 * a whole stack each time took a twentieth of the time of a test under sanitizers. */
#define FOREVER_BYTES (16u << 10)

#define WARM 8 /* idle stacks that keep their pages */

static size_t page_size(void)
{
        return (size_t)sysconf(_SC_PAGESIZE);
}

/* With the guard page below it an odd number of pages: stacks that are mapped one below the other do not all
 * have their tops, which are what is used of most, in the same few sets of the caches. */
static size_t mapping_bytes(void)
{
        return STACK_BYTES + page_size();
}

/* The struct at the top, rounded so that the stack below it begins aligned. */
#define HEAD_BYTES ((sizeof(struct fiber) + 63) & ~(size_t)63)

static struct fiber *map_stack(struct stack_pool *pool)
{
        size_t page = page_size();
        char *low = mmap(NULL, mapping_bytes(), PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (low == MAP_FAILED)
                return NULL;
        char *stack = low + page;
        if (mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE) < 0) {
                munmap(low, mapping_bytes());
                return NULL;
        }
        pool->mapped += mapping_bytes();
        struct fiber *f = (struct fiber *)(void *)(stack + STACK_BYTES - HEAD_BYTES);
        f->stack = stack;
        f->stack_size = STACK_BYTES - HEAD_BYTES;
        f->valgrind_id = VALGRIND_STACK_REGISTER(stack, stack + STACK_BYTES);
        __lsan_register_root_region(stack, STACK_BYTES);
        return f;
}

static void unmap_stack(struct stack_pool *pool, struct fiber *f)
{
        char *low = (char *)f->stack - page_size();
        VALGRIND_STACK_DEREGISTER(f->valgrind_id);
        __lsan_unregister_root_region(f->stack, STACK_BYTES);
        munmap(low, mapping_bytes());
        pool->mapped -= mapping_bytes();
}

struct fiber *stack_take(struct stack_pool *pool)
{
        if (!pool->idle.n)
                return map_stack(pool);
        struct fiber *f = pool->idle.at[--pool->idle.n];
        pool->n_trimmed = MIN(pool->n_trimmed, pool->idle.n);
        ASAN_UNPOISON_MEMORY_REGION((char *)f->stack + f->stack_size - FOREVER_BYTES, FOREVER_BYTES);
        *f = (struct fiber){ .stack = f->stack, .stack_size = f->stack_size, .valgrind_id = f->valgrind_id };
        return f;
}

void stack_give(struct stack_pool *pool, struct fiber *f, size_t most_idle)
{
        if (vec_push(&pool->idle, f) < 0)
                unmap_stack(pool, f);
        while (pool->idle.n > most_idle)
                unmap_stack(pool, pool->idle.at[--pool->idle.n]);
}

void stack_pool_trim(struct stack_pool *pool)
{
        size_t page = page_size();
        for (; pool->n_trimmed + WARM < pool->idle.n; pool->n_trimmed++) {
                struct fiber *f = pool->idle.at[pool->n_trimmed];
                uintptr_t top_page = (uintptr_t)f & ~(uintptr_t)(page - 1);
                madvise(f->stack, top_page - (uintptr_t)f->stack, MADV_DONTNEED);
        }
}

void stack_pool_free(struct stack_pool *pool)
{
        while (pool->idle.n)
                unmap_stack(pool, pool->idle.at[--pool->idle.n]);
        vec_free(&pool->idle);
        pool->n_trimmed = 0;
}
