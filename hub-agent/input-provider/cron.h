/* Times of a cron expression. Pure. spec/resource-set.md 21.1. */
#pragma once

#include "common/base/zone.h"

struct cron {
        uint64_t minutes, hours, days, months, weekdays; /* a bit for each value */
        bool any_day, any_weekday;                       /* written as * or ? */
        int64_t every_s;                                 /* > 0: nothing of the above counts */
};

/* Five fields (minute, hour, day of month, month, day of week from Sunday = 0) with *, ?, lists, ranges,
 * steps and names, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, "@every 1h30m".
 * ERR_INVALID names the part. */
int cron_parse(struct slice text, struct cron *ret, struct error *err);
/* The first time after `after_s` (seconds since 1970), INT64_MAX if there is none within nine years. What
 * daylight saving skips does not come; @every counts from 1970. */
int64_t cron_next(const struct cron *c, const struct zone *zone, int64_t after_s);
