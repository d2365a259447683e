/* Timestamps, durations and the text forms of values. */
#include <math.h>

#include "common/base/timefmt.h"
#include "common/json/cel_internal.h"
#include "common/json/quantity.h"
#include "common/json/schema_internal.h"

#define SECOND INT64_C(1000000000)
#define FIRST_SECOND INT64_C(-62135596800) /* 0001-01-01 */
#define LAST_SECOND INT64_C(253402300799)  /* 9999-12-31T23:59:59 */

/* --- Calendar
 * ------------------------------------------------------------------------------------------------ */

struct civil {
        int64_t year;
        int month, day;        /* 1-based */
        int weekday, year_day; /* 0-based; 0 = Sunday */
        int hour, minute, second;
};

static int64_t floor_divide(int64_t a, int64_t b)
{
        return a / b - (a % b < 0);
}

/* Days are counted in eras of 400 years that begin on 1 March, so that the leap day is the last of its year.
 */
static struct civil civil_of(int64_t seconds)
{
        int64_t days = floor_divide(seconds, 86400), rest = seconds - days * 86400;
        int64_t shifted = days + 719468, era = floor_divide(shifted, 146097), in_era = shifted - era * 146097;
        int64_t year_of_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
        int64_t in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        int64_t month = (5 * in_year + 2) / 153;
        struct civil c = {
                .year = year_of_era + era * 400 + (month >= 10),
                .month = (int)(month < 10 ? month + 3 : month - 9),
                .day = (int)(in_year - (153 * month + 2) / 5 + 1),
                .weekday = (int)(((days + 4) % 7 + 7) % 7),
                .hour = (int)(rest / 3600),
                .minute = (int)(rest / 60 % 60),
                .second = (int)(rest % 60),
        };
        bool leap = (c.year % 4 == 0 && c.year % 100 != 0) || c.year % 400 == 0;
        static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
        c.year_day = before[c.month - 1] + c.day - 1 + (leap && c.month > 2);
        return c;
}

/* --- Parsing
 * ------------------------------------------------------------------------------------------------- */

int cel_parse_timestamp(struct cel_run *run, struct slice text, struct cel_value *ret)
{
        int64_t ms = 0, nanos = 0;
        if (time_parse_rfc3339(text, &ms) < 0)
                return cel_fail(run, "invalid timestamp \"%.*s\"", (int)MIN(text.len, 64u), text.data);
        const char *dot = memchr(text.data, '.', text.len);
        int64_t unit = SECOND / 10;
        for (const char *c = dot ? dot + 1 : ""; dot && c < text.data + text.len && *c >= '0' && *c <= '9';
             c++, unit /= 10)
                nanos += unit * (*c - '0');
        *ret = (struct cel_value){ .kind = CEL_TIMESTAMP };
        ret->time.seconds = floor_divide(ms, 1000);
        ret->time.nanos = (int32_t)nanos;
        if (ret->time.seconds < FIRST_SECOND || ret->time.seconds > LAST_SECOND)
                return cel_fail(run, "timestamp overflow");
        return 0;
}

int cel_parse_duration(struct cel_run *run, struct slice text, struct cel_value *ret)
{
        *ret = (struct cel_value){ .kind = CEL_DURATION };
        if (duration_parse_go(text, &ret->nanos) < 0)
                return cel_fail(run, "time: invalid duration \"%.*s\"", (int)MIN(text.len, 64u), text.data);
        return 0;
}

static int call_timestamp(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind == CEL_STRING)
                return cel_parse_timestamp(run, args[0].text, ret);
        *ret = (struct cel_value){ .kind = CEL_TIMESTAMP };
        if (args[0].kind == CEL_INT && (args[0].integer < FIRST_SECOND || args[0].integer > LAST_SECOND))
                return cel_fail(run, "timestamp overflow");
        ret->time.seconds = args[0].integer;
        if (args[0].kind == CEL_TIMESTAMP)
                *ret = args[0];
        return args[0].kind == CEL_INT || args[0].kind == CEL_TIMESTAMP ? 0 : cel_no_overload(run);
}

static int call_duration(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind == CEL_STRING)
                return cel_parse_duration(run, args[0].text, ret);
        *ret = (struct cel_value){ .kind = CEL_DURATION, .nanos = args[0].integer };
        return args[0].kind == CEL_INT || args[0].kind == CEL_DURATION ? 0 : cel_no_overload(run);
}

/* --- Parts
 * --------------------------------------------------------------------------------------------------- */

/* "UTC" or an offset "+05:30"; names of zones would need a database that may not be there. */
static int zone_offset(struct cel_run *run, const struct cel_value *zone, int64_t *ret)
{
        struct slice s = zone->text, hours;
        int64_t h = 0, m = 0;
        *ret = 0;
        if (zone->kind != CEL_STRING)
                return cel_no_overload(run);
        if (!s.len || slice_is(s, "UTC"))
                return 0;
        bool negative = s.data[0] == '-';
        if (negative || s.data[0] == '+')
                s.data++, s.len--;
        if (!slice_cut(&s, ':', &hours) || !slice_parse_i64(hours, &h) || !slice_parse_i64(s, &m) || h < 0 ||
            h > 23 || m < 0 || m > 59)
                return cel_fail(run, "unknown time zone %.*s: only UTC and offsets are supported",
                                (int)MIN(zone->text.len, 64u), zone->text.data);
        *ret = (h * 3600 + m * 60) * (negative ? -1 : 1);
        return 0;
}

enum part {
        YEAR,
        MONTH,
        DATE,
        DAY_OF_MONTH,
        DAY_OF_WEEK,
        DAY_OF_YEAR,
        HOURS,
        MINUTES,
        SECONDS,
        MILLISECONDS
};

static int duration_part(struct cel_run *run, int64_t nanos, enum part part, struct cel_value *ret)
{
        static const int64_t units[] = {
                [HOURS] = 3600 * SECOND, [MINUTES] = 60 * SECOND, [SECONDS] = SECOND
        };
        if (part < HOURS)
                return cel_no_overload(run);
        *ret = cel_int(part == MILLISECONDS ? nanos % SECOND / 1000000 : nanos / units[part]);
        return 0;
}

static int get_part(struct cel_run *run, const struct cel_value *args, size_t n, enum part part,
                    struct cel_value *ret)
{
        int64_t offset = 0;
        if (args[0].kind == CEL_DURATION && n == 1)
                return duration_part(run, args[0].nanos, part, ret);
        if (args[0].kind != CEL_TIMESTAMP)
                return cel_no_overload(run);
        if (n > 1)
                TRY(zone_offset(run, &args[1], &offset));
        struct civil c = civil_of(args[0].time.seconds + offset);
        const int64_t parts[] = {
                c.year,     c.month - 1, c.day,    c.day - 1, c.weekday,
                c.year_day, c.hour,      c.minute, c.second,  args[0].time.nanos / 1000000
        };
        *ret = cel_int(parts[part]);
        return 0;
}

#define PART_FUNCTION(function, part)                                                                        \
        static int function(struct cel_run *run, const struct cel_value *args, size_t n,                     \
                            struct cel_value *ret)                                                           \
        {                                                                                                    \
                return get_part(run, args, n, part, ret);                                                    \
        }
PART_FUNCTION(call_year, YEAR)
PART_FUNCTION(call_month, MONTH)
PART_FUNCTION(call_date, DATE)
PART_FUNCTION(call_day_of_month, DAY_OF_MONTH)
PART_FUNCTION(call_day_of_week, DAY_OF_WEEK)
PART_FUNCTION(call_day_of_year, DAY_OF_YEAR)
PART_FUNCTION(call_hours, HOURS)
PART_FUNCTION(call_minutes, MINUTES)
PART_FUNCTION(call_seconds, SECONDS)
PART_FUNCTION(call_milliseconds, MILLISECONDS)

const struct cel_function cel_time_functions[] = {
        { "timestamp", false, 1, 1, call_timestamp },
        { "duration", false, 1, 1, call_duration },
        { "getFullYear", true, 1, 2, call_year },
        { "getMonth", true, 1, 2, call_month },
        { "getDate", true, 1, 2, call_date },
        { "getDayOfMonth", true, 1, 2, call_day_of_month },
        { "getDayOfWeek", true, 1, 2, call_day_of_week },
        { "getDayOfYear", true, 1, 2, call_day_of_year },
        { "getHours", true, 1, 2, call_hours },
        { "getMinutes", true, 1, 2, call_minutes },
        { "getSeconds", true, 1, 2, call_seconds },
        { "getMilliseconds", true, 1, 2, call_milliseconds },
        { NULL, false, 0, 0, NULL },
};

/* --- Text
 * ---------------------------------------------------------------------------------------------------- */

/* ".123" without trailing zeros, or nothing. */
static void fraction_text(int64_t nanos, char ret[16])
{
        ret[0] = '\0';
        if (!nanos)
                return;
        snprintf(ret, 16, ".%09lld", (long long)(nanos % SECOND));
        for (size_t n = strlen(ret); ret[n - 1] == '0'; n--)
                ret[n - 1] = '\0';
}

static int timestamp_to_string(struct cel_run *run, const struct cel_value *v, struct cel_value *ret)
{
        struct civil c = civil_of(v->time.seconds);
        char fraction[16];
        fraction_text(v->time.nanos, fraction);
        return cel_printf(run, ret, "%04lld-%02d-%02dT%02d:%02d:%02d%sZ", (long long)c.year, c.month, c.day,
                          c.hour, c.minute, c.second, fraction);
}

static int duration_to_string(struct cel_run *run, const struct cel_value *v, struct cel_value *ret)
{
        char fraction[16];
        uint64_t size = v->nanos < 0 ? -(uint64_t)v->nanos : (uint64_t)v->nanos;
        fraction_text((int64_t)(size % (uint64_t)SECOND), fraction);
        return cel_printf(run, ret, "%s%llu%ss", v->nanos < 0 ? "-" : "",
                          (unsigned long long)(size / (uint64_t)SECOND), fraction);
}

int cel_to_string(struct cel_run *run, const struct cel_value *v, struct cel_value *ret)
{
        char number[64];
        switch (v->kind) {
        case CEL_STRING:
        case CEL_TYPE:
        case CEL_URL:
        case CEL_FORMAT:
                *ret = cel_text(CEL_STRING, v->text.data, v->text.len);
                return 0;
        case CEL_BYTES:
                *ret = cel_text(CEL_STRING, v->text.data, v->text.len);
                return text_is_utf8(v->text.data, v->text.len)
                               ? 0
                               : cel_fail(run, "invalid UTF-8 in bytes, cannot convert to string");
        case CEL_BOOL:
                return cel_printf(run, ret, "%s", v->boolean ? "true" : "false");
        case CEL_INT:
                return cel_printf(run, ret, "%lld", (long long)v->integer);
        case CEL_UINT:
                return cel_printf(run, ret, "%llu", (unsigned long long)v->uinteger);
        case CEL_DOUBLE:
                schema_number_text(v->real, number);
                return cel_printf(run, ret, "%s", number);
        case CEL_TIMESTAMP:
                return timestamp_to_string(run, v, ret);
        case CEL_DURATION:
                return duration_to_string(run, v, ret);
        case CEL_QUANTITY:
                quantity_print(*v->quantity, number);
                return cel_printf(run, ret, "%s", number);
        case CEL_IP:
        case CEL_CIDR:
                return cel_address_to_text(run, v, ret);
        default:
                return cel_no_overload(run);
        }
}
