/* Which of a chart's versions is meant. Pure. spec/helm-chart.md 8.3, 9.3. */
#pragma once

#include "common/base/semver.h"

/* One version of a chart, as an index or a registry has it. */
struct chart_version {
        const char *version;
        int64_t created_ms;       /* wall; 0 = not known */
        const char *url, *digest; /* where an index says so; "" = it does not */
};

/* *ret: of `at`, which is in the order of the index. Wanted "" is "*". A version written like that wins; else
 * the highest in the range, of those that differ in metadata only the one made last, then the first.
 * ERR_NOT_FOUND: no such version; ERR_INVALID: no range. */
int select_version(const struct chart_version *at, size_t n, const char *wanted,
                   const struct chart_version **ret, struct error *err);
