/* Cron expressions: the next time lies ahead, is one of those that the expression names, and is the same
 * asked from anywhere before it. The first line is the expression, the rest the time from which it is asked.
 */
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/input-provider/cron.h"

#define MOST_S (INT64_C(1) << 33)

static void check_fields(const struct cron *c, int64_t at_s)
{
        int64_t minutes = at_s / 60;
        ASSERT(at_s % 60 == 0);
        ASSERT(c->minutes & UINT64_C(1) << (minutes % 60));
        ASSERT(c->hours & UINT64_C(1) << (minutes / 60 % 24));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct slice rest = input_of(data, size), text = first_line(&rest);
        struct error err = { 0 };
        struct cron c;
        int64_t from = 0, next;
        if (cron_parse(text, &c, &err) < 0) {
                ASSERT(err.code == ERR_INVALID && *err.text);
                return 0;
        }
        if (!slice_parse_i64(rest, &from) || from < 0 || from > MOST_S)
                from = 1767225600;
        next = cron_next(&c, &zone_utc, from);
        ASSERT(next > from);
        if (next == INT64_MAX)
                return 0;
        ASSERT(cron_next(&c, &zone_utc, from + (next - from) / 2) == next);
        ASSERT(cron_next(&c, &zone_utc, next - 1) == next);
        if (c.every_s > 0)
                ASSERT(next % c.every_s == 0);
        else
                check_fields(&c, next);
        return 0;
}
