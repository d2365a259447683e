/* Ranges of versions. Each term is what lies between two bounds, or all else. */
#include "common/base/semver.h"

enum op { EQUAL, NOT_EQUAL, ABOVE, BELOW, FROM, UP_TO, TILDE, CARET };

struct term {
        struct term *next;
        struct semver from; /* included */
        struct semver to;   /* `closed`: included, else not; unless `core`, pre-releases of it are below it */
        bool any_from, after, any_to, closed, core;
        bool outside; /* what is not within */
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
        struct slice rest; /* of the group */
        size_t n_terms;
        struct error *err;
};

/* ---- one version of a term ---- */

static bool is_wild(struct slice s)
{
        return slice_is(s, "x") || slice_is(s, "X") || slice_is(s, "*");
}

static int improper(struct parser *p, struct slice text)
{
        return error_set(p->err, ERR_INVALID, "improper constraint: %.*s", (int)MIN(text.len, 100u),
                         text.data ? text.data : "");
}

/* What stands before the first wildcard, with how many numbers that leaves; behind one only wildcards. */
static int parse_operand(struct parser *p, struct slice text, struct semver *ret)
{
        struct slice rest = text, one, known = { text.data, 0 };
        bool more, wild = false;
        size_t n = 0;

        if (rest.len > 0 && rest.data[0] == 'v')
                rest = (struct slice){ rest.data + 1, rest.len - 1 };
        do {
                more = slice_cut(&rest, '.', &one);
                if (wild && !is_wild(one))
                        return improper(p, text);
                wild |= is_wild(one);
                if (!wild)
                        known.len = (size_t)(one.data + one.len - text.data);
                n++;
        } while (more);
        if (!wild)
                return semver_parse(text, ret) < 0 ? improper(p, text) : 0;
        if (n > ARRAY_LEN(ret->number))
                return improper(p, text);
        *ret = (struct semver){ 0 };
        if (known.len > 0 && (semver_parse(known, ret) < 0 || ret->pre.len > 0))
                return improper(p, text);
        return 0;
}

/* The first version behind all that begin with the first n numbers. */
static struct semver behind(const struct semver *v, size_t n)
{
        struct semver next = { 0 };

        memcpy(next.number, v->number, n * sizeof(next.number[0]));
        next.number[n - 1]++;
        return next;
}

/* ---- terms ---- */

static void up_to_behind(struct term *t, const struct semver *v, size_t n)
{
        t->any_to = n == 0;
        t->core = true;
        if (n > 0)
                t->to = behind(v, n);
}

/* The left-most number that is not zero may not change; of what is written, the last one if all are. */
static size_t caret_numbers(const struct semver *v)
{
        for (size_t i = 0; i < v->n_written; i++)
                if (v->number[i] != 0)
                        return i + 1;
        return v->n_written;
}

static void bound_above(struct term *t, const struct semver *v)
{
        t->any_to = true;
        if (v->n_written == ARRAY_LEN(v->number)) {
                t->after = true;
        } else if (v->n_written == 0) {
                t->outside = t->any_from = true; /* above all there are: none */
        } else {
                t->from = behind(v, v->n_written);
                t->core = true;
        }
}

static void bound(struct term *t, enum op op, const struct semver *v)
{
        t->from = *v;
        switch (op) {
        case EQUAL:
        case NOT_EQUAL:
                if (v->n_written < ARRAY_LEN(v->number)) {
                        up_to_behind(t, v, v->n_written);
                } else {
                        t->to = *v;
                        t->closed = true;
                }
                t->outside = op == NOT_EQUAL;
                break;
        case ABOVE:
                bound_above(t, v);
                break;
        case FROM:
                t->any_to = true;
                break;
        case BELOW:
                t->any_from = true;
                t->to = *v;
                break;
        case UP_TO:
                t->any_from = true;
                t->to = *v;
                t->closed = true;
                if (v->n_written < ARRAY_LEN(v->number))
                        up_to_behind(t, v, v->n_written);
                break;
        case TILDE:
                up_to_behind(t, v, MIN(v->n_written, 2u));
                break;
        case CARET:
                up_to_behind(t, v, caret_numbers(v));
                break;
        }
}

static bool term_has(const struct term *t, const struct semver *v)
{
        struct semver core = *v;
        bool within = true;
        int c;

        core.pre = (struct slice){ 0 };
        if (!t->any_from) {
                c = semver_compare(t->core && t->any_to ? &core : v, &t->from);
                within = t->after ? c > 0 : c >= 0;
        }
        if (within && !t->any_to) {
                c = semver_compare(t->core ? &core : v, &t->to);
                within = t->closed && !t->core ? c <= 0 : c < 0;
        }
        return within != t->outside;
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
        bound(t, op, &v);
        t->next = g->terms;
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
        struct slice begin = p->rest, sign = take_operator(p), word;
        enum op op;

        skip(p, false);
        word = take_word(p);
        if (!find_operator(sign, &op) || word.len == 0)
                return improper(p, begin);
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
        p->rest = text;
        for (skip(p, true); p->rest.len > 0; skip(p, true))
                TRY(parse_term(p, g));
        if (!g->terms)
                return improper(p, text);
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
