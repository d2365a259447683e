#include "hub-agent/input-provider/schedule.h"

#include "common/base/timefmt.h"

/* ---- reading ---- */

static int parse_window(struct schedule_entry *e, int64_t timeout_ms, struct error *err)
{
        char words[40];
        int64_t ns = 0;

        if (!text_empty(e->window) && duration_parse_go(slice_of(e->window), &ns) < 0)
                return error_set(err, ERR_INVALID, "invalid window '%s'", e->window);
        if (ns < 0)
                return error_set(err, ERR_INVALID, "negative window: %s", e->window);
        e->window_ms = ns / 1000000;
        if (ns == 0 || e->window_ms >= 2 * timeout_ms)
                return 0;
        duration_format_go(timeout_ms * 1000000, words, sizeof(words));
        return error_set(err, ERR_INVALID,
                         "a non-zero window (%s) must always be at least twice the timeout (%s)", e->window,
                         words);
}

static int parse_times(struct schedule_entry *e, const struct zone_source *zones, struct arena *arena,
                       struct error *err)
{
        e->zone = &zone_utc;
        if (text_empty(e->time_zone))
                e->time_zone = "UTC";
        TRY(cron_parse(slice_of(e->cron), &e->times, err));
        if (text_equal(e->time_zone, "UTC"))
                return 0;
        if (!zone_name_is_valid(e->time_zone))
                return error_set(err, ERR_INVALID, "unknown time zone %.64s", e->time_zone);
        return zones->find(zones->ctx, e->time_zone, arena, &e->zone, err);
}

static int parse_entry(struct schedule_entry *e, const struct schedule *s, const struct zone_source *zones,
                       struct arena *arena, struct error *err)
{
        TRY(parse_window(e, s->timeout_ms, err));
        int code = parse_times(e, zones, arena, err);

        if (code < 0)
                error_wrap(err, "failed to parse cron spec '%s' with timezone '%s'", or_empty(e->cron),
                           e->time_zone);
        return code;
}

int schedule_parse(struct schedule *s, const struct zone_source *zones, struct arena *arena,
                   struct error *err)
{
        for (size_t i = 0; i < s->n; i++) {
                int code = parse_entry(&s->at[i], s, zones, arena, err);

                if (code < 0) {
                        error_wrap(err, "failed to validate schedule[%zu]", i);
                        return code;
                }
        }
        return 0;
}

/* ---- asking ---- */

static int64_t floor_s(int64_t ms)
{
        return ms / 1000 - (ms % 1000 < 0);
}

/* Whether one of its times lies in (after_ms, up_to_ms]. */
static bool begins_within(const struct schedule_entry *e, int64_t after_ms, int64_t up_to_ms)
{
        int64_t next = cron_next(&e->times, e->zone, floor_s(after_ms));

        return next != INT64_MAX && next * 1000 <= up_to_ms;
}

/* now + timeout < begin + window, of a begin that has been. */
static bool entry_allows(const struct schedule_entry *e, int64_t timeout_ms, int64_t at_ms)
{
        return begins_within(e, at_ms + timeout_ms - e->window_ms, at_ms);
}

bool schedule_allows(const struct schedule *s, int64_t now_ms)
{
        for (size_t i = 0; i < s->n; i++)
                if (s->at[i].window_ms == 0 || entry_allows(&s->at[i], s->timeout_ms, now_ms))
                        return true;
        return s->n == 0;
}

const struct schedule_entry *schedule_next(const struct schedule *s, int64_t now_ms, int64_t *ret_ms)
{
        const struct schedule_entry *first = NULL;
        int64_t first_s = INT64_MAX;

        for (size_t i = 0; i < s->n; i++) {
                int64_t next = cron_next(&s->at[i].times, s->at[i].zone, floor_s(now_ms));

                if (next < first_s) {
                        first_s = next;
                        first = &s->at[i];
                }
        }
        if (first)
                *ret_ms = first_s * 1000;
        return first;
}

static bool in_a_window(const struct schedule *s, int64_t at_ms)
{
        for (size_t i = 0; i < s->n; i++)
                if (s->at[i].window_ms > 0 && entry_allows(&s->at[i], s->timeout_ms, at_ms))
                        return true;
        return false;
}

struct next_run schedule_after_run(const struct schedule *s, int64_t interval_ms, int64_t now_ms)
{
        struct next_run by_interval = { .at_ms = interval_ms > 0 ? now_ms + interval_ms : INT64_MAX };
        struct next_run by_entry = { .at_ms = INT64_MAX };

        if (s->n == 0)
                return by_interval;
        by_entry.entry = schedule_next(s, now_ms, &by_entry.at_ms);
        if (!by_entry.entry)
                return by_entry;
        if (by_interval.at_ms == INT64_MAX || by_entry.at_ms < by_interval.at_ms ||
            !in_a_window(s, by_interval.at_ms))
                return by_entry;
        return by_interval;
}
