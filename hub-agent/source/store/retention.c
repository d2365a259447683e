#include "hub-agent/source/store/retention.h"

#include <stdlib.h>
#include <string.h>

static int compare_ages(const void *a, const void *b)
{
        const struct kept_file *one = a, *two = b;

        if (one->changed_ms != two->changed_ms)
                return one->changed_ms < two->changed_ms ? -1 : 1;
        return strcmp(one->name, two->name);
}

void retention_plan(const struct retention *r, struct kept_file *at, size_t n, int64_t now_ms, size_t *ret_n)
{
        size_t left = n + 1, most = MAX(r->records, (size_t)1);

        if (n)
                qsort(at, n, sizeof(*at), compare_ages);
        for (size_t i = 0; i < n; i++) {
                at[i].goes = n + 1 - left < RETENTION_FILES_MAX &&
                             (now_ms - at[i].changed_ms > r->ttl_ms || left > most);
                left -= at[i].goes;
        }
        *ret_n = n + 1 - left;
}
