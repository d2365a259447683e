/* When a provider may run, and when it runs next. Pure. spec/resource-set.md 21. */
#pragma once

#include "hub-agent/input-provider/cron.h"

struct schedule_entry {
        const char *cron, *time_zone, *window; /* as written; zone "" or NULL = UTC, window "" or NULL = 0s */
        struct cron times;
        const struct zone *zone;
        int64_t window_ms;
};

struct schedule {
        struct schedule_entry *at;
        size_t n;
        int64_t timeout_ms;
};

/* Where time zones come from; *ret lives as long as the arena. ERR_NOT_FOUND: there is none of that name. */
struct zone_source {
        int (*find)(void *ctx, const char *name, struct arena *arena, const struct zone **ret,
                    struct error *err);
        void *ctx;
};

/* Fills the lower half of each entry. ERR_INVALID: "failed to validate schedule[%d]: ...". */
int schedule_parse(struct schedule *s, const struct zone_source *zones, struct arena *arena,
                   struct error *err);
bool schedule_allows(const struct schedule *s, int64_t now_ms);
/* The entry that begins next, NULL if none does, and when. */
const struct schedule_entry *schedule_next(const struct schedule *s, int64_t now_ms, int64_t *ret_ms);

struct next_run {
        int64_t at_ms;                      /* INT64_MAX: never */
        const struct schedule_entry *entry; /* the one that begins then; NULL = the interval is over */
};
/* After a run; interval_ms <= 0: there is no interval. */
struct next_run schedule_after_run(const struct schedule *s, int64_t interval_ms, int64_t now_ms);
