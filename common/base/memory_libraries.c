/* Lets the libraries that take an allocator use ours, so that their failures can be injected and their memory
 * counted. libcurl and OpenSSL keep the system's: they allocate from threads and at exit, outside our
 * control. */
#include <jansson.h>
#include <malloc.h>
#include <sqlite3.h>

#include "common/base/memory.h"

static void *sqlite_alloc(int size)
{
        return mem_alloc((size_t)size);
}

static void *sqlite_realloc(void *p, int size)
{
        return mem_realloc(p, (size_t)size);
}

static int sqlite_size(void *p)
{
        return p ? (int)malloc_usable_size(p) : 0;
}

static int sqlite_roundup(int size)
{
        return (size + 7) & ~7;
}

static int sqlite_init(void *unused)
{
        return SQLITE_OK;
}

static void sqlite_shutdown(void *unused)
{
}

void mem_hook_libraries(void)
{
        static const sqlite3_mem_methods methods = {
                .xMalloc = sqlite_alloc,
                .xFree = mem_free,
                .xRealloc = sqlite_realloc,
                .xSize = sqlite_size,
                .xRoundup = sqlite_roundup,
                .xInit = sqlite_init,
                .xShutdown = sqlite_shutdown,
        };
        json_set_alloc_funcs(mem_alloc, mem_free);
        /* Refused (and harmless) once SQLite is in use. */
        (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
