#include "common/base/memory.h"

#include <malloc.h>
#include <stdarg.h>

#define PRINTF_TRY_BYTES 1024

/* What was counted. The counters are the one piece of process-wide state: the heap itself is process-wide. */
struct counts {
        uint64_t allocations, frees, live_bytes;
};
static struct {
        struct counts first,
                others;   /* of the thread that began the process; of those that offloaded work has */
        uint64_t base;    /* number of allocations at the last mem_fail_at() */
        uint64_t fail_at; /* absolute; 0 = off */
        bool sticky, fired;
        bool measures; /* somebody asks for bytes; else no block is asked for its size, which few caches hold
                        */
} heap;

/* Most of what is allocated is allocated by the first thread, which needs no locked instruction to count what
 * nobody else counts: those took a tenth of the time of a simulation. */
static __thread bool is_first;

__attribute__((constructor)) static void know_first_thread(void)
{
        is_first = true;
}

#define LOAD(what) __atomic_load_n(&heap.what, __ATOMIC_RELAXED)
#define COUNT(what, n)                                                                                       \
        do {                                                                                                 \
                if (is_first)                                                                                \
                        __atomic_store_n(&heap.first.what, heap.first.what + (n), __ATOMIC_RELAXED);         \
                else                                                                                         \
                        __atomic_add_fetch(&heap.others.what, (n), __ATOMIC_RELAXED);                        \
        } while (0)
#define TOTAL(what) (LOAD(first.what) + LOAD(others.what))

/* Counts one allocation; true if it has to fail. Of two threads that reach the number together one fails. */
static bool must_fail(void)
{
        COUNT(allocations, 1);
        uint64_t fail_at = LOAD(fail_at);
        if (__builtin_expect(!fail_at, 1) || TOTAL(allocations) < fail_at)
                return false;
        return !__atomic_exchange_n(&heap.fired, true, __ATOMIC_RELAXED) || heap.sticky;
}

/* An allocation that failed is counted as freed, so that live = allocations - frees holds. */
static void *account(void *p)
{
        if (!p)
                COUNT(frees, 1);
        else if (LOAD(measures))
                COUNT(live_bytes, malloc_usable_size(p));
        return p;
}

void *mem_alloc(size_t size)
{
        return account(must_fail() ? NULL : malloc(size ? size : 1));
}

void *mem_zalloc(size_t size)
{
        return account(must_fail() ? NULL : calloc(1, size ? size : 1));
}

void *mem_calloc(size_t n, size_t size)
{
        size_t total;
        if (__builtin_mul_overflow(n, size, &total))
                return NULL;
        return mem_zalloc(total);
}

void *mem_realloc(void *p, size_t size)
{
        if (!p)
                return mem_alloc(size);
        bool measures = LOAD(measures), fails = must_fail();
        size_t before = measures ? malloc_usable_size(p) : 0;
        COUNT(frees, 1); /* of the old block, or of the one that did not come about */
        void *moved = fails ? NULL : realloc(p, size ? size : 1);
        if (!moved)
                return NULL;
        if (measures)
                COUNT(live_bytes, malloc_usable_size(moved) - before); /* modulo 2^64 if it became smaller */
        return moved;
}

void *mem_realloc_array(void *p, size_t n, size_t size)
{
        size_t total;
        if (__builtin_mul_overflow(n, size, &total))
                return NULL;
        return mem_realloc(p, total);
}

void mem_free(void *p)
{
        if (!p)
                return;
        if (__builtin_expect(LOAD(measures), 0))
                COUNT(live_bytes, -(uint64_t)malloc_usable_size(p));
        COUNT(frees, 1);
        free(p);
}

void mem_free_secret(void *text)
{
        if (text)
                explicit_bzero(text, strlen(text));
        mem_free(text);
}

char *mem_strndup(const char *s, size_t n)
{
        char *copy = n < SIZE_MAX ? mem_alloc(n + 1) : NULL;
        if (!copy)
                return NULL;
        memcpy(copy, s, n);
        copy[n] = '\0';
        return copy;
}

char *mem_strdup(const char *s)
{
        return mem_strndup(s, strlen(s));
}

/* Most texts fit into what is tried first: they are formatted once. */
char *mem_printf(const char *fmt, ...)
{
        char first_try[PRINTF_TRY_BYTES];
        va_list args, again;
        va_start(args, fmt);
        va_copy(again, args);
        int n = vsnprintf(first_try, sizeof(first_try), fmt, args);
        char *text = n < 0 ? NULL : mem_alloc((size_t)n + 1);
        if (text && (size_t)n < sizeof(first_try))
                memcpy(text, first_try, (size_t)n + 1);
        else if (text)
                vsnprintf(text, (size_t)n + 1, fmt, again);
        va_end(again);
        va_end(args);
        return text;
}

void *mem_must(void *p)
{
        if (p)
                return p;
        fputs("out of memory\n", stderr);
        exit(1);
}

void mem_fail_at(uint64_t n, bool sticky)
{
        heap.base = TOTAL(allocations);
        heap.sticky = sticky;
        __atomic_store_n(&heap.fired, false, __ATOMIC_RELAXED);
        __atomic_store_n(&heap.fail_at, n ? heap.base + n : 0, __ATOMIC_RELAXED);
}

uint64_t mem_alloc_count(void)
{
        return TOTAL(allocations) - heap.base;
}

bool mem_fault_fired(void)
{
        return LOAD(fired);
}

size_t mem_live_bytes(void)
{
        __atomic_store_n(&heap.measures, true, __ATOMIC_RELAXED);
        return TOTAL(live_bytes);
}

size_t mem_live_count(void)
{
        return TOTAL(allocations) - TOTAL(frees);
}

void mem_trim(void)
{
        malloc_trim(0);
}
