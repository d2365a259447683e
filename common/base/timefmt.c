#include "common/base/timefmt.h"

/* Counts in eras of 400 years that begin on a 1st of March, so that the leap day is an era's last day. */
struct date date_of_days(int64_t days)
{
        days += 719468; /* 0000-03-01 */
        int64_t era = (days >= 0 ? days : days - 146096) / 146097;
        unsigned day_of_era = (unsigned)(days - era * 146097);
        unsigned year = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
        unsigned day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        unsigned month = (5 * day_of_year + 2) / 153; /* 0 = March */
        struct date c = { .year = year + era * 400, .day = day_of_year - (153 * month + 2) / 5 + 1 };
        c.month = month < 10 ? month + 3 : month - 9;
        c.year += c.month <= 2;
        return c;
}

int64_t date_to_days(struct date c)
{
        int64_t y = c.year - (c.month <= 2);
        int64_t era = (y >= 0 ? y : y - 399) / 400;
        unsigned year = (unsigned)(y - era * 400);
        unsigned month = c.month > 2 ? c.month - 3 : c.month + 9;
        unsigned day_of_year = (153 * month + 2) / 5 + c.day - 1;
        unsigned day_of_era = year * 365 + year / 4 - year / 100 + day_of_year;
        return era * 146097 + day_of_era - 719468;
}

static int64_t floor_div(int64_t a, int64_t b)
{
        return a / b - (a % b < 0);
}

/* `n` digits with leading zeros. */
static char *put_number(char *at, unsigned value, int n)
{
        for (int i = n - 1; i >= 0; i--, value /= 10)
                at[i] = (char)('0' + value % 10);
        return at + n;
}

/* Returns the length; no NUL is written. */
static int write_seconds(int64_t seconds, char ret[RFC3339_SIZE])
{
        /* Years outside 0..9999 have no RFC 3339 form. */
        seconds = MIN(MAX(seconds, INT64_C(-62167219200)), INT64_C(253402300799));
        int64_t days = floor_div(seconds, 86400);
        unsigned s = (unsigned)(seconds - days * 86400);
        struct date c = date_of_days(days);
        char *at = put_number(ret, (unsigned)c.year % 10000, 4);
        const struct {
                char before;
                unsigned value;
        } rest[] = {
                { '-', c.month }, { '-', c.day }, { 'T', s / 3600 }, { ':', s / 60 % 60 }, { ':', s % 60 }
        };
        for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
                *at++ = rest[i].before;
                at = put_number(at, rest[i].value, 2);
        }
        return (int)(at - ret);
}

void time_format_rfc3339(int64_t wall_ms, char ret[RFC3339_SIZE])
{
        int n = write_seconds(floor_div(wall_ms, 1000), ret);
        memcpy(ret + n, "Z", 2);
}

void time_format_rfc3339_milli(int64_t wall_ms, char ret[RFC3339_SIZE])
{
        int64_t seconds = floor_div(wall_ms, 1000);
        int n = write_seconds(seconds, ret);
        snprintf(ret + n, (size_t)(RFC3339_SIZE - n), ".%03uZ", (unsigned)(wall_ms - seconds * 1000) % 1000);
}

void time_format_rfc3339_micro(int64_t wall_us, char ret[RFC3339_SIZE])
{
        int64_t seconds = floor_div(wall_us, 1000000);
        int n = write_seconds(seconds, ret);
        snprintf(ret + n, (size_t)(RFC3339_SIZE - n), ".%06uZ",
                 (unsigned)(wall_us - seconds * 1000000) % 1000000);
}

/* Exactly n digits at the front. */
static bool take_number(struct slice *s, size_t n, unsigned *ret)
{
        if (s->len < n)
                return false;
        unsigned v = 0;
        for (size_t i = 0; i < n; i++) {
                char c = s->data[i];
                if (c < '0' || c > '9')
                        return false;
                v = v * 10 + (unsigned)(c - '0');
        }
        s->data += n;
        s->len -= n;
        *ret = v;
        return true;
}

static bool take_char(struct slice *s, char c)
{
        if (!s->len || s->data[0] != c)
                return false;
        s->data++;
        s->len--;
        return true;
}

static bool take_date(struct slice *s, int64_t *ret_days)
{
        static const unsigned char month_days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        unsigned year;
        struct date c;
        if (!take_number(s, 4, &year) || !take_char(s, '-') || !take_number(s, 2, &c.month) ||
            !take_char(s, '-') || !take_number(s, 2, &c.day))
                return false;
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if (c.month < 1 || c.month > 12 || c.day < 1 ||
            c.day > month_days[c.month - 1] + (leap && c.month == 2 ? 1u : 0u))
                return false;
        c.year = year;
        *ret_days = date_to_days(c);
        return true;
}

static bool take_clock(struct slice *s, bool lenient, int64_t *ret_seconds)
{
        unsigned h, m, sec = 0;
        if (!take_number(s, 2, &h) || !take_char(s, ':') || !take_number(s, 2, &m) || h > 23 || m > 59)
                return false;
        if (take_char(s, ':') ? !take_number(s, 2, &sec) || sec > 59 : !lenient)
                return false;
        *ret_seconds = h * 3600 + m * 60 + sec;
        return true;
}

/* ".5" and so on, to microseconds; further digits are read and dropped. */
static bool take_fraction(struct slice *s, bool lenient, int64_t *ret_us)
{
        int64_t us = 0, unit = 100000;
        *ret_us = 0;
        if (!take_char(s, '.') && !(lenient && take_char(s, ',')))
                return true;
        unsigned digit;
        if (!take_number(s, 1, &digit))
                return false;
        do {
                us += digit * unit;
                unit /= 10;
        } while (take_number(s, 1, &digit));
        *ret_us = us;
        return true;
}

static bool take_offset(struct slice *s, bool lenient, int64_t *ret_seconds)
{
        *ret_seconds = 0;
        if (take_char(s, 'Z') || (lenient && (take_char(s, 'z') || !s->len)))
                return true;
        bool minus = s->len && s->data[0] == '-';
        unsigned h, m;
        if (!take_char(s, '+') && !take_char(s, '-'))
                return false;
        if (!take_number(s, 2, &h) || !(take_char(s, ':') || lenient) || !take_number(s, 2, &m) ||
            (!lenient && (h > 23 || m > 59)))
                return false;
        *ret_seconds = (minus ? -1 : 1) * (int64_t)(h * 3600 + m * 60);
        return true;
}

static int parse(struct slice s, bool lenient, int64_t *ret_wall_us)
{
        int64_t days, seconds, us, offset;
        if (!take_date(&s, &days) ||
            !(take_char(&s, 'T') || (lenient && (take_char(&s, 't') || take_char(&s, ' ')))) ||
            !take_clock(&s, lenient, &seconds) || !take_fraction(&s, lenient, &us) ||
            !take_offset(&s, lenient, &offset) || s.len)
                return ERR_INVALID;
        *ret_wall_us = (days * 86400 + seconds - offset) * 1000000 + us;
        return 0;
}

int time_parse_rfc3339_micro(struct slice s, int64_t *ret_wall_us)
{
        return parse(s, false, ret_wall_us);
}

int time_parse_lenient(struct slice s, int64_t *ret_wall_ms)
{
        int64_t us;
        TRY(parse(s, true, &us));
        *ret_wall_ms = floor_div(us, 1000);
        return 0;
}

int time_parse_rfc3339(struct slice s, int64_t *ret_wall_ms)
{
        int64_t us;
        TRY(time_parse_rfc3339_micro(s, &us));
        *ret_wall_ms = floor_div(us, 1000);
        return 0;
}
