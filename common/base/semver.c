/* Versions: reading and order. Ranges are in semver_range.c. */
#include "common/base/semver.h"

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_identifier(char c)
{
        return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
}

static bool is_numeric(struct slice s)
{
        for (size_t i = 0; i < s.len; i++)
                if (!is_digit(s.data[i]))
                        return false;
        return s.len > 0;
}

/* Identifiers joined by dots; those of a pre-release that are numbers have no leading zero. */
static bool are_identifiers(struct slice s, bool pre)
{
        struct slice one;
        bool more;

        do {
                more = slice_cut(&s, '.', &one);
                for (size_t i = 0; i < one.len; i++)
                        if (!is_identifier(one.data[i]))
                                return false;
                if (one.len == 0 || (pre && one.len > 1 && one.data[0] == '0' && is_numeric(one)))
                        return false;
        } while (more);
        return true;
}

/* Of digits; 64 bits, leading zeros aside. */
static bool parse_number(struct slice s, uint64_t *ret)
{
        uint64_t n = 0;

        for (size_t i = 0; i < s.len; i++)
                if (__builtin_mul_overflow(n, 10u, &n) ||
                    __builtin_add_overflow(n, (uint64_t)(s.data[i] - '0'), &n))
                        return false;
        *ret = n;
        return true;
}

static int parse_numbers(struct slice s, struct semver *v)
{
        struct slice one;
        bool more = true;

        for (; more; v->n_written++) {
                more = slice_cut(&s, '.', &one);
                if (v->n_written == ARRAY_LEN(v->number) || !is_numeric(one) ||
                    !parse_number(one, &v->number[v->n_written]))
                        return ERR_INVALID;
        }
        return 0;
}

int semver_parse(struct slice text, struct semver *ret)
{
        struct semver v = { 0 };
        struct slice core, rest = text;
        size_t at = 0;

        if (rest.len > 0 && rest.data[0] == 'v')
                rest = (struct slice){ rest.data + 1, rest.len - 1 };
        while (at < rest.len && rest.data[at] != '-' && rest.data[at] != '+')
                at++;
        core = (struct slice){ rest.data, at };
        TRY(parse_numbers(core, &v));
        rest = (struct slice){ rest.data + at, rest.len - at };
        if (rest.len > 0 && rest.data[0] == '-') {
                bool build = slice_cut(&rest, '+', &v.pre);

                v.pre = (struct slice){ v.pre.data + 1, v.pre.len - 1 };
                if (!are_identifiers(v.pre, true) || (build && !are_identifiers(rest, false)))
                        return ERR_INVALID;
        } else if (rest.len > 0 && !are_identifiers((struct slice){ rest.data + 1, rest.len - 1 }, false)) {
                return ERR_INVALID;
        }
        *ret = v;
        return 0;
}

/* Numbers of any length come before words, and among each other by value. */
static int compare_identifiers(struct slice a, struct slice b)
{
        bool numeric = is_numeric(a);

        if (numeric != is_numeric(b))
                return numeric ? -1 : 1;
        if (numeric && a.len != b.len)
                return a.len < b.len ? -1 : 1;
        return slice_compare(a, b);
}

static int compare_pre(struct slice a, struct slice b)
{
        while (a.len > 0 && b.len > 0) {
                struct slice x, y;
                int c;

                slice_cut(&a, '.', &x);
                slice_cut(&b, '.', &y);
                c = compare_identifiers(x, y);
                if (c != 0)
                        return c;
        }
        return (a.len > 0) - (b.len > 0);
}

bool semver_is_strict(struct slice text)
{
        struct semver v;
        struct slice rest = text, one;

        if (semver_parse(text, &v) < 0 || v.n_written != ARRAY_LEN(v.number) || *text.data == 'v')
                return false;
        for (size_t i = 0; i < ARRAY_LEN(v.number); i++) {
                slice_cut(&rest, '.', &one);
                if (*one.data == '0' && one.len > 1 && one.data[1] >= '0' && one.data[1] <= '9')
                        return false;
        }
        return true;
}

int semver_compare(const struct semver *a, const struct semver *b)
{
        for (size_t i = 0; i < ARRAY_LEN(a->number); i++)
                if (a->number[i] != b->number[i])
                        return a->number[i] < b->number[i] ? -1 : 1;
        if (a->pre.len == 0 || b->pre.len == 0)
                return (a->pre.len == 0) - (b->pre.len == 0);
        return compare_pre(a->pre, b->pre);
}
