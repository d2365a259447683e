#include "hub-agent/source/glob.h"

#include "common/base/unicode.h"

static bool is_over(struct slice s)
{
        return s.len == 0;
}

static uint32_t take(struct slice *s)
{
        size_t width;
        uint32_t c = rune_decode(s->data, s->len, &width);

        *s = (struct slice){ s->data + width, s->len - width };
        return c;
}

/* One character of a set, with what escapes it; false at its end. */
static bool take_member(struct slice *p, uint32_t *ret)
{
        if (is_over(*p))
                return false;
        *ret = take(p);
        if (*ret != '\\')
                return true;
        if (is_over(*p))
                return false;
        *ret = take(p);
        return true;
}

/* Behind the opening bracket; *ret_bad: it never closes. */
static bool set_has(struct slice *p, uint32_t c, bool *ret_bad)
{
        bool turned = p->len && (*p->data == '^' || *p->data == '!'), has = false, first = true;
        uint32_t from, to;

        if (turned)
                take(p);
        for (; !is_over(*p) && (first || *p->data != ']'); first = false) {
                if (!take_member(p, &from))
                        break;
                to = from;
                if (p->len > 1 && *p->data == '-' && p->data[1] != ']') {
                        take(p);
                        if (!take_member(p, &to))
                                break;
                }
                has |= from <= c && c <= to;
        }
        *ret_bad = is_over(*p);
        if (!*ret_bad)
                take(p);
        return has != turned;
}

/* One character against what the pattern begins with, which is no star. */
static bool take_one(struct slice *p, struct slice *name)
{
        uint32_t c, wanted;
        bool bad = false, has;

        if (is_over(*name))
                return false;
        c = take(name);
        wanted = take(p);
        if (wanted == '?')
                return true;
        if (wanted == '[') {
                has = set_has(p, c, &bad);
                return has && !bad;
        }
        if (wanted == '\\') {
                if (is_over(*p))
                        return false;
                wanted = take(p);
        }
        return c == wanted;
}

/* A star that took too little takes one character more: only the last one needs to be tried again. */
bool glob_matches(struct slice pattern, struct slice name)
{
        struct slice p = pattern, rest = name, behind_star = { 0 }, at_star = { 0 };
        bool starred = false;

        while (!is_over(p) || !is_over(rest)) {
                if (!is_over(p) && *p.data == '*') {
                        take(&p);
                        behind_star = p;
                        at_star = rest;
                        starred = true;
                        continue;
                }
                if (!is_over(p) && take_one(&p, &rest))
                        continue;
                if (!starred || is_over(at_star))
                        return false;
                take(&at_star);
                p = behind_star;
                rest = at_star;
        }
        return true;
}
