#include <unistd.h>

#include "common/base/base.h"

/* Neither allocates nor takes a lock of stdio: it may run on a small stack, in any state. */
NORETURN void assert_failed(const char *expression, const char *file, int line)
{
        char text[512];
        int n = snprintf(text, sizeof(text), "%s:%d: assertion failed: %s\n", file, line, expression);
        size_t len = n < 0 ? 0 : MIN((size_t)n, sizeof(text) - 1);
        if (write(STDERR_FILENO, text, len) < 0)
                abort();
        abort();
}
