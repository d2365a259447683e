#include "hub-agent/input-provider/cron.h"

#include "common/base/timefmt.h"

#define DAY_S INT64_C(86400)
#define YEARS 9 /* from one leap day to the next, over 2100 too */

struct field {
        const char *what;
        int least, most;
        const char *names; /* three letters each, from the least value on */
};

static const struct field fields[] = {
        { "minute", 0, 59, "" },
        { "hour", 0, 23, "" },
        { "day of month", 1, 31, "" },
        { "month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC" },
        { "day of week", 0, 6, "SUNMONTUEWEDTHUFRISAT" },
};

/* ---- reading ---- */

static int bad(const struct field *f, struct slice text, struct error *err)
{
        return error_set(err, ERR_INVALID, "%s: '%.*s' must be %d to %d", f->what, (int)MIN(text.len, 40u),
                         text.data ? text.data : "", f->least, f->most);
}

static char upper(char c)
{
        return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static bool parse_value(const struct field *f, struct slice s, int *ret)
{
        int64_t n;

        for (int i = 0; s.len == 3 && f->names[3 * i]; i++) {
                const char *name = f->names + 3 * i;

                if (upper(s.data[0]) == name[0] && upper(s.data[1]) == name[1] &&
                    upper(s.data[2]) == name[2]) {
                        *ret = f->least + i;
                        return true;
                }
        }
        if (s.len == 0 || s.data[0] < '0' || s.data[0] > '9' || !slice_parse_i64(s, &n) || n < f->least ||
            n > f->most)
                return false;
        *ret = (int)n;
        return true;
}

/* "*", "5", "1-5", each with "/2" behind it; a step behind one value runs to the end. */
static int parse_part(const struct field *f, struct slice part, uint64_t *bits, bool *ret_any,
                      struct error *err)
{
        struct slice step = part, range, from;
        bool stepped = slice_cut(&step, '/', &range), ranged;
        int first = f->least, last = f->most;
        int64_t by = 1;

        if (stepped && (!slice_parse_i64(step, &by) || by < 1 || step.data[0] == '+'))
                return bad(f, part, err);
        if (slice_is(range, "*") || slice_is(range, "?")) {
                *ret_any |= by == 1;
        } else {
                struct slice to = range;

                ranged = slice_cut(&to, '-', &from);
                if (!parse_value(f, from, &first) || (ranged && !parse_value(f, to, &last)))
                        return bad(f, part, err);
                if (!ranged && !stepped)
                        last = first;
                if (last < first)
                        return bad(f, part, err);
        }
        for (int64_t i = first; i <= last; i += by)
                *bits |= UINT64_C(1) << i;
        return 0;
}

static int parse_field(const struct field *f, struct slice text, uint64_t *bits, bool *ret_any,
                       struct error *err)
{
        struct slice part;
        bool more;

        do {
                more = slice_cut(&text, ',', &part);
                TRY(parse_part(f, part, bits, ret_any, err));
        } while (more);
        return 0;
}

static bool take_word(struct slice *rest, struct slice *ret)
{
        *rest = slice_trim(*rest);
        ret->data = rest->data;
        ret->len = 0;
        while (ret->len < rest->len && rest->data[ret->len] != ' ' && rest->data[ret->len] != '\t')
                ret->len++;
        *rest = (struct slice){ rest->data + ret->len, rest->len - ret->len };
        return ret->len > 0;
}

static int parse_named(struct slice text, struct cron *ret, struct error *err)
{
        static const char *const table[][2] = {
                { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
                { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
                { "@hourly", "0 * * * *" },
        };
        int64_t ns;

        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                if (slice_is(text, table[i][0]))
                        return cron_parse(slice_of(table[i][1]), ret, err);
        if (slice_starts_with(text, "@every ")) {
                struct slice every = slice_trim((struct slice){ text.data + 7, text.len - 7 });

                if (duration_parse_go(every, &ns) == 0 && ns > 0) {
                        *ret = (struct cron){ .every_s = MAX(ns / 1000000000, 1) };
                        return 0;
                }
        }
        return error_set(err, ERR_INVALID, "unrecognized descriptor: %.*s", (int)MIN(text.len, 40u),
                         text.data);
}

int cron_parse(struct slice text, struct cron *ret, struct error *err)
{
        struct cron c = { 0 };
        uint64_t *const bits[] = { &c.minutes, &c.hours, &c.days, &c.months, &c.weekdays };
        struct slice rest = slice_trim(text), word;
        bool any[ARRAY_LEN(fields)] = { false };

        if (rest.len > 0 && rest.data[0] == '@')
                return parse_named(rest, ret, err);
        for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
                if (!take_word(&rest, &word))
                        return error_set(err, ERR_INVALID, "expected exactly 5 fields, found %zu", i);
                TRY(parse_field(&fields[i], word, bits[i], &any[i], err));
        }
        if (slice_trim(rest).len > 0)
                return error_set(err, ERR_INVALID, "expected exactly 5 fields, found more");
        c.any_day = any[2];
        c.any_weekday = any[4];
        *ret = c;
        return 0;
}

/* ---- asking ---- */

static bool has(uint64_t bits, int64_t value)
{
        return bits >> value & 1;
}

/* Day of month and day of week, both restricted: either will do. */
static bool day_matches(const struct cron *c, int64_t days)
{
        struct date d = date_of_days(days);
        bool day = has(c->days, d.day), weekday = has(c->weekdays, ((days + 4) % 7 + 7) % 7);

        if (!has(c->months, d.month))
                return false;
        return c->any_day || c->any_weekday ? day && weekday : day || weekday;
}

/* How many seconds of local time to go on; 0: this minute is one. */
static int64_t step_of(const struct cron *c, int64_t local_s)
{
        int64_t days = local_s / DAY_S - (local_s % DAY_S < 0), in_day = local_s - days * DAY_S;

        if (!day_matches(c, days))
                return DAY_S - in_day;
        if (!has(c->hours, in_day / 3600))
                return 3600 - in_day % 3600;
        return has(c->minutes, in_day / 60 % 60) ? 0 : 60;
}

int64_t cron_next(const struct cron *c, const struct zone *zone, int64_t after_s)
{
        int64_t at = after_s + 60 - ((after_s % 60) + 60) % 60, end = after_s + YEARS * 366 * DAY_S;

        if (c->every_s > 0)
                return (after_s / c->every_s + (after_s >= 0)) * c->every_s;
        while (at < end) {
                int64_t until, local = at + zone_offset(zone, at, &until), step = step_of(c, local);

                if (step == 0)
                        return at;
                at = until - at < step ? until : at + step;
        }
        return INT64_MAX;
}
