/* The small vocabulary every file uses: attributes, cleanup, ownership, assertions.
 *
 * Assertions are for our own bugs and stay on in release builds; the world's errors are returned
 * (common/base/error.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/banned.h"

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_CHECK __attribute__((warn_unused_result))
#define UNUSED __attribute__((unused))
#define NORETURN __attribute__((noreturn))

/* Runs fn(&variable) when the variable goes out of scope; early return is the norm here. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#undef MIN /* <sys/param.h> has them too */
#undef MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Hands a pointer over: yields its value and leaves NULL behind, so that a cleanup attribute frees nothing.
 */
#define TAKE_PTR(p)                                                                                          \
        ({                                                                                                   \
                __typeof__(p) taken_ = (p);                                                                  \
                (p) = NULL;                                                                                  \
                taken_;                                                                                      \
        })

/* Defines name_cleanup() for CLEANUP() from a destructor that accepts NULL. */
#define DEFINE_CLEANUP(type, destructor, name)                                                               \
        static inline void name(type **p)                                                                    \
        {                                                                                                    \
                destructor(*p);                                                                              \
        }                                                                                                    \
        struct cleanup_needs_semicolon_

NORETURN void assert_failed(const char *expression, const char *file, int line);

#define ASSERT(e)                                                                                            \
        do {                                                                                                 \
                if (__builtin_expect(!(e), 0))                                                               \
                        assert_failed(#e, __FILE__, __LINE__);                                               \
        } while (0)
#define UNREACHABLE() assert_failed("unreachable", __FILE__, __LINE__)
