#include "common/base/arena.h"

#include <stdarg.h>

#include "common/base/limits.h"
#include "common/base/memory.h"

#define PRINTF_TRY_BYTES 1024

/* Under sanitizers poisoned bytes follow each allocation, and behind a list they are one element and more:
 * who reads or writes behind the end is told, instead of meeting whatever was allocated next. */
#ifdef ARGOSY_ASAN
#include <sanitizer/asan_interface.h>
#define GAP(element) ((element) + 16)
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)0)
#define GAP(element) 0
#endif

/* With its head 1 KiB: what is larger glibc keeps in no list of its own, and has to cut out and put together
 * each time. */
#define CHUNK_FIRST (1024u - sizeof(struct arena_chunk))
#define CHUNK_LARGEST (64u << 10)

struct arena_chunk {
        struct arena_chunk *next;
        size_t used, size; /* of data */
        _Alignas(16) char data[];
};

struct arena_defer {
        struct arena_defer *next;
        void (*fn)(void *);
        void *p;
};

static size_t limit_of(const struct arena *a)
{
        return a->limit ? a->limit : ARENA_DEFAULT_LIMIT;
}

/* A new chunk at the head; an over-large request gets one of its own behind it, so the head keeps its room.
 */
static struct arena_chunk *add_chunk(struct arena *a, size_t need)
{
        size_t size = a->head ? MIN(a->head->size * 2, CHUNK_LARGEST) : CHUNK_FIRST;
        bool own = a->head && (a->apart || need > size / 2);
        size = own || a->apart ? need : MAX(size, need);
        struct arena_chunk *chunk = mem_alloc(sizeof(*chunk) + size);
        if (!chunk)
                return NULL;
        chunk->used = 0;
        chunk->size = size;
        ASAN_POISON_MEMORY_REGION(chunk->data, size);
        struct arena_chunk **at = own ? &a->head->next : &a->head;
        chunk->next = *at;
        *at = chunk;
        return chunk;
}

/* `gap`: bytes behind it that nobody gets. */
static void *take(struct arena *a, size_t size, size_t align, size_t gap)
{
        size_t limit = limit_of(a);
        if (a->used > limit || size > limit - a->used)
                return NULL;
        struct arena_chunk *chunk = a->head;
        size_t at = chunk ? (chunk->used + align - 1) & ~(align - 1) : 0;
        if (!chunk || a->apart || at > chunk->size || size + gap > chunk->size - at) {
                chunk = add_chunk(a, size + gap);
                at = 0;
        }
        if (!chunk)
                return NULL;
        chunk->used = at + size + gap;
        a->used += size;
        ASAN_UNPOISON_MEMORY_REGION(chunk->data + at, size);
        return chunk->data + at;
}

void *arena_alloc(struct arena *a, size_t size)
{
        return take(a, size ? size : 1, 16, GAP(0));
}

void *arena_zalloc(struct arena *a, size_t size)
{
        void *p = arena_alloc(a, size);
        return p ? memset(p, 0, size) : NULL;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
        size_t total;
        if (__builtin_mul_overflow(n, size, &total))
                return NULL;
        void *p = take(a, total ? total : 1, 16, GAP(size));
        return p ? memset(p, 0, total) : NULL;
}

char *arena_text(struct arena *a, size_t n)
{
        return take(a, n ? n : 1, 1, GAP(0));
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
        char *copy = n < SIZE_MAX ? arena_text(a, n + 1) : NULL;
        if (!copy)
                return NULL;
        memcpy(copy, s, n);
        copy[n] = '\0';
        return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
        return arena_strndup(a, s, strlen(s));
}

void *arena_memdup(struct arena *a, const void *p, size_t n)
{
        void *copy = arena_alloc(a, n);
        if (copy && n)
                memcpy(copy, p, n);
        return copy;
}

/* As mem_printf(). */
char *arena_printf(struct arena *a, const char *fmt, ...)
{
        char first_try[PRINTF_TRY_BYTES];
        va_list args, again;
        va_start(args, fmt);
        va_copy(again, args);
        int n = vsnprintf(first_try, sizeof(first_try), fmt, args);
        char *text = n < 0 ? NULL : take(a, (size_t)n + 1, 1, GAP(0));
        if (text && (size_t)n < sizeof(first_try))
                memcpy(text, first_try, (size_t)n + 1);
        else if (text)
                vsnprintf(text, (size_t)n + 1, fmt, again);
        va_end(again);
        va_end(args);
        return text;
}

int arena_defer(struct arena *a, void (*fn)(void *), void *p)
{
        struct arena_defer *defer = arena_alloc(a, sizeof(*defer));
        if (!defer) {
                fn(p);
                return ERR_NO_MEMORY;
        }
        *defer = (struct arena_defer){ a->defers, fn, p };
        a->defers = defer;
        return 0;
}

static void run_defers(struct arena *a)
{
        while (a->defers) {
                struct arena_defer *defer = a->defers;
                a->defers = defer->next;
                defer->fn(defer->p);
        }
}

static void free_chunks(struct arena_chunk *chunk)
{
        while (chunk) {
                struct arena_chunk *next = chunk->next;
                ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->size);
                mem_free(chunk);
                chunk = next;
        }
}

void arena_reset(struct arena *a)
{
        run_defers(a);
        a->used = 0;
        if (!a->head)
                return;
        free_chunks(TAKE_PTR(a->head->next));
        a->head->used = 0;
        ASAN_POISON_MEMORY_REGION(a->head->data, a->head->size);
}

void arena_free(struct arena *a)
{
        run_defers(a);
        free_chunks(TAKE_PTR(a->head));
        a->used = 0;
}
