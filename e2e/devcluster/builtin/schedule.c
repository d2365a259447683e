#include "e2e/devcluster/builtin/schedule.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FIELDS 5

static const struct field {
        int low, high;
        const char *names[13]; /* of the values from `low` on */
} fields[FIELDS] = {
        { 0, 59, { NULL } },
        { 0, 23, { NULL } },
        { 1, 31, { NULL } },
        { 1, 12, { "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec" } },
        { 0, 6, { "sun", "mon", "tue", "wed", "thu", "fri", "sat" } },
};

static bool read_value(const struct field *f, struct slice text, int *ret, char *problem)
{
        int64_t n;

        for (int i = 0; f->names[i]; i++)
                if (text.len == strlen(f->names[i]) && strncasecmp(text.data, f->names[i], text.len) == 0) {
                        *ret = f->low + i;
                        return true;
                }
        if (slice_parse_i64(text, &n) && n >= 0 && n <= 9999) {
                *ret = (int)n;
                return true;
        }
        snprintf(problem, SCHEDULE_PROBLEM_MAX,
                 "failed to parse int from %.*s: strconv.Atoi: parsing \"%.*s\": invalid syntax",
                 (int)text.len, text.data, (int)text.len, text.data);
        return false;
}

static bool check_bounds(const struct field *f, int from, int to, struct slice all, char *problem)
{
        if (from < f->low)
                snprintf(problem, SCHEDULE_PROBLEM_MAX, "beginning of range (%d) below minimum (%d): %.*s",
                         from, f->low, (int)all.len, all.data);
        else if (to > f->high)
                snprintf(problem, SCHEDULE_PROBLEM_MAX, "end of range (%d) above maximum (%d): %.*s", to,
                         f->high, (int)all.len, all.data);
        else if (from > to)
                snprintf(problem, SCHEDULE_PROBLEM_MAX,
                         "beginning of range (%d) beyond end of range (%d): %.*s", from, to, (int)all.len,
                         all.data);
        else
                return true;
        return false;
}

/* One of a field's parts between commas: "*", "5", "1-5", each with "/2" perhaps. */
static bool check_part(const struct field *f, struct slice all, char *problem)
{
        struct slice rest = all, range, first;
        int from = f->low, to = f->high, step = 1;
        bool stepped = memchr(all.data, '/', all.len);

        (void)slice_cut(&rest, '/', &range);
        if (stepped && !read_value(&(struct field){ 0 }, rest, &step, problem))
                return false;
        if (step == 0) {
                snprintf(problem, SCHEDULE_PROBLEM_MAX, "step of range should be a positive number: %.*s",
                         (int)all.len, all.data);
                return false;
        }
        if (slice_is(range, "*") || slice_is(range, "?"))
                return true;
        bool both = memchr(range.data, '-', range.len);
        (void)slice_cut(&range, '-', &first);
        if (!read_value(f, first, &from, problem))
                return false;
        if (!both)
                to = stepped ? f->high : from;
        else if (!read_value(f, range, &to, problem))
                return false;
        return check_bounds(f, from, to, all, problem);
}

static bool check_word(const char *text, char *problem)
{
        static const char *const words[] = { "@yearly", "@annually", "@monthly", "@weekly",
                                             "@daily",  "@midnight", "@hourly" };

        if (text_in(text, words, sizeof(words) / sizeof(*words)) || text_starts_with(text, "@every "))
                return true;
        snprintf(problem, SCHEDULE_PROBLEM_MAX, "unrecognized descriptor: %s", text);
        return false;
}

bool schedule_is_valid(const char *text, char problem[SCHEDULE_PROBLEM_MAX])
{
        struct slice parts[FIELDS + 1], part;
        size_t n = 0;

        if (strstr(text, "TZ=")) {
                snprintf(problem, SCHEDULE_PROBLEM_MAX,
                         "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
                return false;
        }
        if (*text == '@')
                return check_word(text, problem);
        for (const char *p = text + strspn(text, " \t"); *p; p += strspn(p, " \t")) {
                size_t len = strcspn(p, " \t");

                if (n <= FIELDS)
                        parts[n] = (struct slice){ p, len };
                n++;
                p += len;
        }
        if (n != FIELDS) {
                snprintf(problem, SCHEDULE_PROBLEM_MAX, "expected exactly 5 fields, found %zu: [%.200s]", n,
                         text);
                return false;
        }
        for (size_t i = 0; i < FIELDS; i++)
                while (parts[i].len) {
                        (void)slice_cut(&parts[i], ',', &part);
                        if (part.len && !check_part(&fields[i], part, problem))
                                return false;
                }
        return true;
}
