/* Durations of timefmt.h. */
#include "common/base/timefmt.h"

#define NS_US INT64_C(1000)
#define NS_MS INT64_C(1000000)
#define NS_S INT64_C(1000000000)

static uint64_t unit_ns(struct slice unit)
{
        static const struct {
                const char *name;
                int64_t ns;
        } units[] = {
                { "ns", 1 },     { "us", NS_US }, { "\xc2\xb5s", NS_US }, { "\xce\xbcs", NS_US },
                { "ms", NS_MS }, { "s", NS_S },   { "m", 60 * NS_S },     { "h", 3600 * NS_S },
        };
        for (size_t i = 0; i < ARRAY_LEN(units); i++) {
                if (slice_is(unit, units[i].name))
                        return (uint64_t)units[i].ns;
        }
        return 0;
}

static bool is_digit(const struct slice *s)
{
        return s->len && s->data[0] >= '0' && s->data[0] <= '9';
}

static void skip(struct slice *s, size_t n)
{
        s->data += n;
        s->len -= n;
}

/* A decimal as whole part and fraction/scale; false if it has no digit or is too big. */
static bool take_decimal(struct slice *s, uint64_t *ret_whole, uint64_t *ret_fraction, double *ret_scale)
{
        uint64_t whole = 0, fraction = 0;
        double scale = 1;
        bool any = is_digit(s);
        for (; is_digit(s); skip(s, 1)) {
                if (whole > (uint64_t)INT64_MAX / 10)
                        return false;
                whole = whole * 10 + (uint64_t)(s->data[0] - '0');
        }
        if (s->len && s->data[0] == '.') {
                skip(s, 1);
                for (; is_digit(s); skip(s, 1)) {
                        any = true;
                        if (fraction > (uint64_t)(INT64_MAX - 9) / 10)
                                continue; /* below a nanosecond of an hour: no longer matters */
                        fraction = fraction * 10 + (uint64_t)(s->data[0] - '0');
                        scale *= 10;
                }
        }
        *ret_whole = whole;
        *ret_fraction = fraction;
        *ret_scale = scale;
        return any;
}

/* One "1.5h"; adds it to *total. */
static bool take_term(struct slice *s, uint64_t *total)
{
        uint64_t whole, fraction, ns;
        double scale;
        if (!take_decimal(s, &whole, &fraction, &scale))
                return false;
        struct slice unit = { s->data, 0 };
        for (; s->len && !is_digit(s) && s->data[0] != '.'; skip(s, 1))
                unit.len++;
        uint64_t factor = unit_ns(unit);
        if (!factor || __builtin_mul_overflow(whole, factor, &ns))
                return false;
        ns += (uint64_t)((double)fraction * ((double)factor / scale));
        return !__builtin_add_overflow(*total, ns, total) && *total <= (uint64_t)INT64_MAX + 1;
}

int duration_parse_go(struct slice s, int64_t *ret_ns)
{
        bool minus = s.len && s.data[0] == '-';
        uint64_t total = 0;
        if (s.len && (s.data[0] == '-' || s.data[0] == '+'))
                skip(&s, 1);
        if (slice_is(s, "0")) {
                *ret_ns = 0;
                return 0;
        }
        if (!s.len)
                return ERR_INVALID;
        while (s.len) {
                if (!take_term(&s, &total))
                        return ERR_INVALID;
        }
        if (total > (uint64_t)INT64_MAX + minus)
                return ERR_INVALID;
        *ret_ns = minus ? (int64_t)(0 - total) : (int64_t)total;
        return 0;
}

/* value/unit as a decimal without trailing zeros. */
static int write_decimal(char *ret, size_t size, uint64_t value, uint64_t unit, const char *name)
{
        char digits[24];
        uint64_t fraction = value % unit;
        if (!fraction)
                return snprintf(ret, size, "%llu%s", (unsigned long long)(value / unit), name);
        int width = 0;
        for (uint64_t u = unit; u > 1; u /= 10)
                width++;
        int n = snprintf(digits, sizeof(digits), "%0*llu", width, (unsigned long long)fraction);
        while (n > 0 && digits[n - 1] == '0')
                digits[--n] = '\0';
        return snprintf(ret, size, "%llu.%s%s", (unsigned long long)(value / unit), digits, name);
}

void duration_format_go(int64_t ns, char *ret, size_t size)
{
        uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
        char text[64];
        size_t n = 0;
        if (ns < 0)
                text[n++] = '-';
        if (u == 0)
                snprintf(text, sizeof(text), "0s");
        else if (u < (uint64_t)NS_US)
                write_decimal(text + n, sizeof(text) - n, u, 1, "ns");
        else if (u < (uint64_t)NS_MS)
                write_decimal(text + n, sizeof(text) - n, u, NS_US, "\xc2\xb5s");
        else if (u < (uint64_t)NS_S)
                write_decimal(text + n, sizeof(text) - n, u, NS_MS, "ms");
        else {
                unsigned long long minutes = u / (60 * NS_S);
                if (minutes >= 60)
                        n += (size_t)snprintf(text + n, sizeof(text) - n, "%lluh", minutes / 60);
                if (minutes)
                        n += (size_t)snprintf(text + n, sizeof(text) - n, "%llum", minutes % 60);
                write_decimal(text + n, sizeof(text) - n, u % (60 * NS_S), NS_S, "s");
        }
        snprintf(ret, size, "%s", text);
}

/* "5d3h": two units where the first is small, as kubectl shows ages. */
static void write_two(char *ret, size_t size, int64_t a, char unit_a, int64_t b, char unit_b)
{
        if (b)
                snprintf(ret, size, "%lld%c%lld%c", (long long)a, unit_a, (long long)b, unit_b);
        else
                snprintf(ret, size, "%lld%c", (long long)a, unit_a);
}

void duration_format_human(int64_t ms, char *ret, size_t size)
{
        int64_t s = ms / 1000, m = s / 60, h = m / 60, d = h / 24, y = d / 365;
        if (s < -1)
                snprintf(ret, size, "<invalid>");
        else if (s < 120)
                write_two(ret, size, MAX(s, (int64_t)0), 's', 0, 's');
        else if (m < 10)
                write_two(ret, size, m, 'm', s % 60, 's');
        else if (m < 180)
                write_two(ret, size, m, 'm', 0, 's');
        else if (h < 8)
                write_two(ret, size, h, 'h', m % 60, 'm');
        else if (h < 48)
                write_two(ret, size, h, 'h', 0, 'm');
        else if (d < 8)
                write_two(ret, size, d, 'd', h % 24, 'h');
        else if (y < 2)
                write_two(ret, size, d, 'd', 0, 'h');
        else if (y < 8)
                write_two(ret, size, y, 'y', d % 365, 'd');
        else
                write_two(ret, size, y, 'y', 0, 'd');
}
