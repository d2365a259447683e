/* The only door to the heap. Every allocation can be made to fail, for tests that walk through all of them.
 * All functions return NULL when memory is exhausted; callers report ERR_NO_MEMORY and drop the one piece of
 * work, except at boot and in command-line tools, which may use the mem_must_ forms. */
#pragma once

#include "common/base/base.h"

void *mem_alloc(size_t size) MUST_CHECK;            /* uninitialised; size 0 is taken as 1 */
void *mem_zalloc(size_t size) MUST_CHECK;           /* zeroed */
void *mem_calloc(size_t n, size_t size) MUST_CHECK; /* zeroed; NULL on overflow */
void *mem_realloc(void *p, size_t size) MUST_CHECK; /* on failure p stays valid */
void *mem_realloc_array(void *p, size_t n, size_t size) MUST_CHECK;
char *mem_strdup(const char *s) MUST_CHECK;
char *mem_strndup(const char *s, size_t n) MUST_CHECK; /* copies n bytes exactly, adds a NUL */
char *mem_printf(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_CHECK;
void mem_free(void *p);           /* NULL is fine */
void mem_free_secret(void *text); /* so too; its bytes up to the NUL are wiped before */

void *
mem_must(void *p); /* ends the process with a sentence when p is NULL: boot and command-line tools only */

static inline void mem_free_cleanup(void *p)
{
        mem_free(*(void **)p);
}
#define AUTO_FREE CLEANUP(mem_free_cleanup)

#define NEW(type) ((type *)mem_zalloc(sizeof(type)))

/* Lets libraries (jansson, SQLite, nghttp2) allocate here too. Call once at the start of main. */
void mem_hook_libraries(void);

/* Test support. After mem_fail_at(n) the n-th allocation from now (1-based) and, if `sticky`, all later ones
 * fail; n == 0 switches it off. mem_alloc_count() counts allocations since the last mem_fail_at(). */
void mem_fail_at(uint64_t n, bool sticky);
uint64_t mem_alloc_count(void);
bool mem_fault_fired(void);

/* For benchmarks and leak checks: the number of live allocations, and by how many bytes they have become more
 * since this was asked for the first time, which begins to count (modulo SIZE_MAX + 1: they may be fewer). */
size_t mem_live_bytes(void);
size_t mem_live_count(void);
void mem_trim(void); /* returns free pages to the system: call when going idle */
