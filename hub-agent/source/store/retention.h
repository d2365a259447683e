/* Which files of an object's folder go. Pure. spec/helm-chart.md 4.3. */
#pragma once

#include "common/base/error.h"

#define RETENTION_FILES_MAX 1000 /* removed in one run */

struct retention {
        int64_t ttl_ms;
        size_t records; /* files that stay, the current one included */
};

struct kept_file {
        const char *name;
        int64_t changed_ms;
        bool goes;
};

/* Marks those that go, of files that are not the current one: what is older than the time to live, and of the
 * others the oldest that are too many. Reorders them; of equal age the lesser name is the older. *ret_n: how
 * many go. */
void retention_plan(const struct retention *r, struct kept_file *at, size_t n, int64_t now_ms, size_t *ret_n);
