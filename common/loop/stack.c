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

/* The struct at the top, rounded so that the stack below it begins aligned. */
#define HEAD_BYTES ((sizeof(struct fiber) + 63) & ~(size_t)63)

static struct fiber *map_stack(struct stack_pool *pool)
{
        size_t page = page_size();
        char *low = mmap(NULL, STACK_BYTES, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (low == MAP_FAILED)
                return NULL;
        if (mprotect(low + page, STACK_BYTES - page, PROT_READ | PROT_WRITE) < 0) {
                munmap(low, STACK_BYTES);
                return NULL;
        }
        pool->mapped += STACK_BYTES;
        struct fiber *f = (struct fiber *)(void *)(low + STACK_BYTES - HEAD_BYTES);
        f->stack = low + page;
        f->stack_size = STACK_BYTES - page - HEAD_BYTES;
        f->valgrind_id = VALGRIND_STACK_REGISTER(low + page, low + STACK_BYTES);
        __lsan_register_root_region(low + page, STACK_BYTES - page);
        return f;
}

static void unmap_stack(struct stack_pool *pool, struct fiber *f)
{
        char *low = (char *)f->stack - page_size();
        VALGRIND_STACK_DEREGISTER(f->valgrind_id);
        __lsan_unregister_root_region(f->stack, STACK_BYTES - page_size());
        munmap(low, STACK_BYTES);
        pool->mapped -= STACK_BYTES;
}

struct fiber *stack_take(struct stack_pool *pool)
{
        if (!pool->n)
                return map_stack(pool);
        struct fiber *f = pool->idle[--pool->n];
        pool->n_trimmed = MIN(pool->n_trimmed, pool->n);
        ASAN_UNPOISON_MEMORY_REGION((char *)f->stack + f->stack_size - FOREVER_BYTES, FOREVER_BYTES);
        *f = (struct fiber){ .stack = f->stack, .stack_size = f->stack_size, .valgrind_id = f->valgrind_id };
        return f;
}

void stack_give(struct stack_pool *pool, struct fiber *f)
{
        if (pool->n == ARRAY_LEN(pool->idle))
                unmap_stack(pool, f);
        else
                pool->idle[pool->n++] = f;
}

void stack_pool_trim(struct stack_pool *pool)
{
        size_t page = page_size();
        for (; pool->n_trimmed + WARM < pool->n; pool->n_trimmed++) {
                struct fiber *f = pool->idle[pool->n_trimmed];
                uintptr_t top_page = (uintptr_t)f & ~(uintptr_t)(page - 1);
                madvise(f->stack, top_page - (uintptr_t)f->stack, MADV_DONTNEED);
        }
}

void stack_pool_free(struct stack_pool *pool)
{
        while (pool->n)
                unmap_stack(pool, pool->idle[--pool->n]);
        pool->n_trimmed = 0;
}
