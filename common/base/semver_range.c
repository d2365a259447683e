/* Ranges of versions: groups of terms, each an operator and a version of which parts may be left open. */
#include "common/base/semver.h"

enum op { EQUAL, NOT_EQUAL, ABOVE, BELOW, FROM, UP_TO, TILDE, CARET };

struct term {
        struct term *next;
        enum op op;
        struct semver c; /* n_written: how many of its numbers count, from the left; the others are 0 */
};

struct group {
        struct group *next;
        struct term *terms;
        bool pre; /* a term names a pre-release */
};

struct semver_range {
        struct group *groups;
};

struct parser {
        struct arena *arena;
        struct slice group, rest; /* rest: of the group */
        size_t n_terms;
        struct error *err;
};

/* ---- what a term holds ---- */

/* The first n numbers of both: below 0, 0, above 0. */
static int compare_numbers(const struct semver *a, const struct semver *b, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (a->number[i] != b->number[i])
                        return a->number[i] < b->number[i] ? -1 : 1;
        return 0;
}

static bool is_zero(const struct semver *v)
{
        static const struct semver zero;

        return semver_compare(v, &zero) == 0;
}

/* Of all three numbers; one of none at all is compared as 0.0.0. */
static bool is_whole(const struct term *t)
{
        return t->c.n_written == 0 || t->c.n_written == ARRAY_LEN(t->c.number);
}

static bool is_not(const struct term *t, const struct semver *v)
{
        if (is_whole(t))
                return semver_compare(v, &t->c) != 0;
        if (compare_numbers(v, &t->c, t->c.n_written) != 0)
                return true;
        return t->c.n_written == 2 && !slice_equal(v->pre, t->c.pre);
}

static bool is_above(const struct term *t, const struct semver *v)
{
        return is_whole(t) ? semver_compare(v, &t->c) > 0 : compare_numbers(v, &t->c, t->c.n_written) > 0;
}

static bool is_up_to(const struct term *t, const struct semver *v)
{
        if (t->c.n_written == 0)
                return compare_numbers(v, &t->c, 2) == 0;
        return t->c.n_written == ARRAY_LEN(v->number) ? semver_compare(v, &t->c) <= 0
                                                      : compare_numbers(v, &t->c, t->c.n_written) <= 0;
}

/* At least c, and the first n numbers are its own. */
static bool is_like(const struct term *t, const struct semver *v, size_t n)
{
        return semver_compare(v, &t->c) >= 0 && compare_numbers(v, &t->c, n) == 0;
}

/* ~0.0.0 is anything, as people write it for "do not care". */
static bool is_about(const struct term *t, const struct semver *v)
{
        if (t->c.n_written == ARRAY_LEN(v->number) && is_zero(&t->c))
                return true;
        return is_like(t, v, MIN(t->c.n_written, 2u));
}

/* The left-most number that is not zero may not change; of what is written, the last one if all are. */
static bool is_compatible(const struct term *t, const struct semver *v)
{
        size_t n = 1;

        while (n < t->c.n_written && t->c.number[n - 1] == 0)
                n++;
        return t->c.n_written == 0 ? is_zero(v) : is_like(t, v, n);
}

/* spec/helm-chart.md 7.2 */
static bool term_has(const struct term *t, const struct semver *v)
{
        switch (t->op) {
        case EQUAL:
                return t->c.n_written == ARRAY_LEN(v->number) ? semver_compare(v, &t->c) == 0
                                                              : is_like(t, v, t->c.n_written);
        case NOT_EQUAL:
                return is_not(t, v);
        case ABOVE:
                return is_above(t, v);
        case FROM:
                return t->c.n_written == 0 || semver_compare(v, &t->c) >= 0;
        case BELOW:
                return t->c.n_written > 0 && semver_compare(v, &t->c) < 0;
        case UP_TO:
                return is_up_to(t, v);
        case TILDE:
                return is_about(t, v);
        case CARET:
                return is_compatible(t, v);
        }
        return false;
}

/* ---- one version of a term ---- */

static bool is_wild(struct slice s)
{
        return slice_is(s, "x") || slice_is(s, "X") || slice_is(s, "*");
}

static int improper(struct parser *p)
{
        return error_set(p->err, ERR_INVALID, "improper constraint: \"%.*s\"", (int)MIN(p->group.len, 100u),
                         p->group.data ? p->group.data : "");
}

/* What may stand there, and is neither a number nor one wildcard. */
static bool is_muddle(struct slice s)
{
        for (size_t i = 0; i < s.len; i++)
                if (!strchr("0123456789xX*", s.data[i]) || !s.data[i])
                        return false;
        return s.len > 1;
}

static int parse_part(struct parser *p, struct slice one, bool *wild, struct semver *v)
{
        struct semver number;

        if (is_wild(one)) {
                *wild = true;
                return 0;
        }
        if (one.len == 0 || memchr(one.data, '-', one.len) || semver_parse(one, &number) < 0 ||
            *one.data == 'v')
                return is_muddle(one) ? error_set(p->err, ERR_INVALID, "constraint parser error")
                                      : improper(p);
        if (!*wild)
                v->number[v->n_written++] = number.number[0];
        return 0;
}

/* "v1.2.x-rc.1+build": behind the first wildcard all are, and a pre-release stays. */
static int parse_operand(struct parser *p, struct slice text, struct semver *ret)
{
        struct semver v = { 0 }, tail;
        struct slice core = text, one;
        bool more = true, wild = false;
        size_t n = 0, at = 0;

        if (core.len > 0 && core.data[0] == 'v')
                core = (struct slice){ core.data + 1, core.len - 1 };
        while (at < core.len && core.data[at] != '-' && core.data[at] != '+')
                at++;
        const char *behind = arena_printf(p->arena, "0%.*s", (int)(core.len - at), core.data + at);

        if (!behind)
                return error_no_memory(p->err);
        if (semver_parse(slice_of(behind), &tail) < 0)
                return improper(p);
        core.len = at;
        while (more) {
                more = slice_cut(&core, '.', &one);
                if (n++ == ARRAY_LEN(v.number))
                        return improper(p);
                TRY(parse_part(p, one, &wild, &v));
        }
        v.pre = tail.pre;
        *ret = v;
        return 0;
}

/* ---- reading ---- */

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip(struct parser *p, bool commas)
{
        while (p->rest.len > 0 && (is_space(p->rest.data[0]) || (commas && p->rest.data[0] == ',')))
                p->rest = (struct slice){ p->rest.data + 1, p->rest.len - 1 };
}

static struct slice take_operator(struct parser *p)
{
        size_t n = 0;

        while (n < p->rest.len && strchr("=!<>~^", p->rest.data[n]) && p->rest.data[n])
                n++;
        struct slice taken = { p->rest.data, n };
        p->rest = (struct slice){ p->rest.data + n, p->rest.len - n };
        return taken;
}

static struct slice take_word(struct parser *p)
{
        size_t n = 0;

        while (n < p->rest.len && !is_space(p->rest.data[n]) && p->rest.data[n] != ',')
                n++;
        struct slice taken = { p->rest.data, n };
        p->rest = (struct slice){ p->rest.data + n, p->rest.len - n };
        return taken;
}

static bool find_operator(struct slice text, enum op *ret)
{
        static const struct {
                const char *text;
                enum op op;
        } table[] = {
                { "", EQUAL },   { "=", EQUAL }, { "!=", NOT_EQUAL }, { ">", ABOVE },
                { "<", BELOW },  { ">=", FROM }, { "=>", FROM },      { "<=", UP_TO },
                { "=<", UP_TO }, { "~", TILDE }, { "~>", TILDE },     { "^", CARET },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                if (slice_is(text, table[i].text)) {
                        *ret = table[i].op;
                        return true;
                }
        return false;
}

static int add_term(struct parser *p, struct group *g, enum op op, struct slice word)
{
        struct term *t = ARENA_NEW(p->arena, struct term);
        struct semver v;

        if (!t)
                return error_no_memory(p->err);
        if (++p->n_terms > SEMVER_TERMS_MAX)
                return error_set(p->err, ERR_LIMIT, "a constraint of more than %d terms", SEMVER_TERMS_MAX);
        TRY(parse_operand(p, word, &v));
        g->pre |= v.pre.len > 0;
        *t = (struct term){ g->terms, op, v };
        g->terms = t;
        return 0;
}

/* Behind a version: whether " - " follows, which is taken. */
static bool take_hyphen(struct parser *p)
{
        struct parser ahead = *p;

        skip(&ahead, false);
        if (ahead.rest.data == p->rest.data || ahead.rest.len < 2 || ahead.rest.data[0] != '-' ||
            !is_space(ahead.rest.data[1]))
                return false;
        ahead.rest = (struct slice){ ahead.rest.data + 1, ahead.rest.len - 1 };
        skip(&ahead, false);
        p->rest = ahead.rest;
        return true;
}

static int parse_term(struct parser *p, struct group *g)
{
        struct slice sign = take_operator(p), word;
        enum op op;

        skip(p, false);
        word = take_word(p);
        if (!find_operator(sign, &op) || word.len == 0)
                return improper(p);
        if (sign.len > 0 || !take_hyphen(p))
                return add_term(p, g, op, word);
        TRY(add_term(p, g, FROM, word));
        return add_term(p, g, UP_TO, take_word(p));
}

static int parse_group(struct parser *p, struct slice text, struct semver_range *r)
{
        struct group *g = ARENA_NEW(p->arena, struct group);

        if (!g)
                return error_no_memory(p->err);
        p->group = p->rest = text;
        for (skip(p, true); p->rest.len > 0; skip(p, true))
                TRY(parse_term(p, g));
        if (!g->terms)
                return improper(p);
        g->next = r->groups;
        r->groups = g;
        return 0;
}

/* Cuts at the first "||". */
static bool cut_group(struct slice *rest, struct slice *ret)
{
        for (size_t i = 0; i + 1 < rest->len; i++)
                if (rest->data[i] == '|' && rest->data[i + 1] == '|') {
                        *ret = (struct slice){ rest->data, i };
                        *rest = (struct slice){ rest->data + i + 2, rest->len - i - 2 };
                        return true;
                }
        *ret = *rest;
        return false;
}

int semver_range_parse(struct arena *arena, struct slice text, const struct semver_range **ret,
                       struct error *err)
{
        struct semver_range *r = ARENA_NEW(arena, struct semver_range);
        struct parser p = { .arena = arena, .err = err };
        struct slice group;
        bool more;

        if (!r)
                return error_no_memory(err);
        do {
                more = cut_group(&text, &group);
                TRY(parse_group(&p, group, r));
        } while (more);
        *ret = r;
        return 0;
}

bool semver_range_has(const struct semver_range *r, const struct semver *v)
{
        for (const struct group *g = r->groups; g; g = g->next) {
                bool all = v->pre.len == 0 || g->pre;

                for (const struct term *t = g->terms; all && t; t = t->next)
                        all = term_has(t, v);
                if (all)
                        return true;
        }
        return false;
}
