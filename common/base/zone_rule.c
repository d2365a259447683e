/* The rule at the end of a time zone file: POSIX's TZ with the hours of RFC 8536, -167 to 167. */
#include "common/base/timefmt.h"
#include "common/base/zone_internal.h"

#define DAY_S INT64_C(86400)
#define HOURS_MAX 167

/* ---- reading ---- */

static bool take(struct slice *s, char c)
{
        if (s->len == 0 || s->data[0] != c)
                return false;
        *s = (struct slice){ s->data + 1, s->len - 1 };
        return true;
}

static bool take_number(struct slice *s, int most, int *ret)
{
        int value = 0;
        size_t n = 0;

        for (; n < s->len && s->data[n] >= '0' && s->data[n] <= '9' && value <= most; n++)
                value = value * 10 + (s->data[n] - '0');
        if (n == 0 || value > most)
                return false;
        *s = (struct slice){ s->data + n, s->len - n };
        *ret = value;
        return true;
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "CET" or "<+0330>". */
static bool skip_name(struct slice *s)
{
        size_t n = 0;

        if (take(s, '<')) {
                struct slice name;

                return slice_cut(s, '>', &name) && name.len > 0;
        }
        while (n < s->len && is_letter(s->data[n]))
                n++;
        *s = (struct slice){ s->data + n, s->len - n };
        return n >= 3;
}

/* "[+-]hh[:mm[:ss]]" in seconds. */
static bool take_time(struct slice *s, int64_t *ret)
{
        bool negative = take(s, '-');
        int part[3] = { 0 };

        if (!negative)
                take(s, '+');
        if (!take_number(s, HOURS_MAX, &part[0]))
                return false;
        for (size_t i = 1; i < ARRAY_LEN(part) && take(s, ':'); i++)
                if (!take_number(s, 59, &part[i]))
                        return false;
        *ret = (part[0] * INT64_C(3600) + part[1] * 60 + part[2]) * (negative ? -1 : 1);
        return true;
}

static bool take_day(struct slice *s, struct zone_day *ret)
{
        *ret = (struct zone_day){ .form = ZONE_COUNTED, .seconds = 7200 };
        if (!take(s, ','))
                return false;
        if (take(s, 'M')) {
                ret->form = ZONE_WEEKDAY;
                if (!take_number(s, 12, &ret->month) || !take(s, '.') || !take_number(s, 5, &ret->week) ||
                    !take(s, '.') || !take_number(s, 6, &ret->day) || ret->month == 0 || ret->week == 0)
                        return false;
        } else if (take(s, 'J')) {
                ret->form = ZONE_JULIAN;
                if (!take_number(s, 365, &ret->day) || ret->day == 0)
                        return false;
        } else if (!take_number(s, 365, &ret->day)) {
                return false;
        }
        return !take(s, '/') || take_time(s, &ret->seconds);
}

int zone_rule_parse(struct slice text, struct zone_rule *ret)
{
        struct zone_rule r = { .known = true };

        *ret = (struct zone_rule){ 0 };
        if (text.len == 0)
                return 0;
        if (!skip_name(&text) || !take_time(&text, &r.standard))
                return ERR_INVALID;
        r.standard = -r.standard; /* written as what is added to local time */
        if (text.len > 0) {
                r.has_summer = true;
                r.summer = r.standard + 3600;
                if (!skip_name(&text))
                        return ERR_INVALID;
                if (text.len > 0 && text.data[0] != ',') {
                        if (!take_time(&text, &r.summer))
                                return ERR_INVALID;
                        r.summer = -r.summer;
                }
                if (!take_day(&text, &r.begin) || !take_day(&text, &r.end) || text.len > 0)
                        return ERR_INVALID;
        }
        *ret = r;
        return 0;
}

/* ---- asking ---- */

static bool is_leap(int64_t year)
{
        return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int64_t days_of(const struct zone_day *d, int64_t year)
{
        int64_t first = date_to_days((struct date){ year, 1, 1 }), day;

        if (d->form == ZONE_COUNTED)
                return first + d->day;
        if (d->form == ZONE_JULIAN)
                return first + d->day - 1 + (is_leap(year) && d->day >= 60);
        first = date_to_days((struct date){ year, (unsigned)d->month, 1 });
        day = first + ((d->day - (first + 4) % 7) % 7 + 7) % 7 + 7 * (d->week - 1);
        while (date_of_days(day).month != (unsigned)d->month)
                day -= 7;
        return day;
}

/* When summer begins or ends that year, in UTC. */
static int64_t change_of(const struct zone_rule *r, bool begins, int64_t year)
{
        const struct zone_day *d = begins ? &r->begin : &r->end;

        return days_of(d, year) * DAY_S + d->seconds - (begins ? r->standard : r->summer);
}

int64_t zone_rule_offset(const struct zone_rule *r, int64_t at_s, int64_t *ret_until)
{
        int64_t last = INT64_MIN, year = date_of_days(at_s / DAY_S - (at_s % DAY_S < 0)).year;
        bool summer = false;

        *ret_until = INT64_MAX;
        if (!r->has_summer)
                return r->standard;
        for (int64_t y = year - 1; y <= year + 1; y++)
                for (int begins = 0; begins < 2; begins++) {
                        int64_t t = change_of(r, begins, y);

                        if (t > at_s) {
                                *ret_until = MIN(*ret_until, t);
                        } else if (t >= last) {
                                last = t;
                                summer = begins;
                        }
                }
        return summer ? r->summer : r->standard;
}
