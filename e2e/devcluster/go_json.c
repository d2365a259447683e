#include "e2e/devcluster/go_json.h"

#include "common/base/limits.h"

const char *go_json_word(const json_t *v)
{
        switch (json_typeof(v)) {
        case JSON_OBJECT:
                return "object";
        case JSON_ARRAY:
                return "array";
        case JSON_STRING:
                return "string";
        case JSON_TRUE:
        case JSON_FALSE:
                return "bool";
        case JSON_NULL:
                return "null";
        default:
                return "number";
        }
}

struct syntax {
        const char *at, *end;
        struct arena *arena;
        const char *problem;
        unsigned depth;
};

static const char too_short[] = "unexpected end of JSON input";

/* The character as Go quotes one. */
static const char *quoted(struct syntax *s, unsigned char c)
{
        if (c == '\'')
                return "'\\''";
        if (c == '"')
                return "'\"'";
        if (c == '\n' || c == '\t' || c == '\r')
                return arena_printf(s->arena, "'\\%c'", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        if (c < 0x20 || c == 0x7f)
                return arena_printf(s->arena, "'\\x%02x'", c);
        return c < 0x80 ? arena_printf(s->arena, "'%c'", c) : arena_printf(s->arena, "'\\u%04x'", c);
}

static bool refuse(struct syntax *s, const char *where)
{
        const char *c = s->at < s->end ? quoted(s, (unsigned char)*s->at) : NULL;

        s->problem = s->at == s->end ? too_short
                                     : arena_printf(s->arena, "invalid character %s %s", c ? c : "", where);
        return false;
}

static void skip_space(struct syntax *s)
{
        while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
                s->at++;
}

/* Takes the character if it is the next one. */
static bool take(struct syntax *s, char c)
{
        if (s->at == s->end || *s->at != c)
                return false;
        s->at++;
        return true;
}

static bool literal(struct syntax *s, const char *word)
{
        for (const char *c = word; *c; c++)
                if (!take(s, *c))
                        return refuse(s, arena_printf(s->arena, "in literal %s (expecting '%c')", word, *c));
        return true;
}

static bool digits(struct syntax *s, const char *where)
{
        if (s->at == s->end || *s->at < '0' || *s->at > '9')
                return refuse(s, where);
        while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
                s->at++;
        return true;
}

static bool number(struct syntax *s)
{
        (void)take(s, '-');
        if (!take(s, '0') && !digits(s, "in numeric literal"))
                return false;
        if (take(s, '.') && !digits(s, "after decimal point in numeric literal"))
                return false;
        if (!take(s, 'e') && !take(s, 'E'))
                return true;
        if (!take(s, '+'))
                (void)take(s, '-');
        return digits(s, "in exponent of numeric literal");
}

static bool escape(struct syntax *s)
{
        if (!take(s, 'u')) {
                if (s->at == s->end || !*s->at || !strchr("\"\\/bfnrt", *s->at))
                        return refuse(s, "in string escape code");
                s->at++;
                return true;
        }
        for (int i = 0; i < 4; i++, s->at++)
                if (s->at == s->end || !*s->at || !strchr("0123456789abcdefABCDEF", *s->at))
                        return refuse(s, "in \\u hexadecimal character escape");
        return true;
}

static bool string(struct syntax *s)
{
        s->at++;
        while (!take(s, '"')) {
                if (s->at == s->end || (unsigned char)*s->at < 0x20)
                        return refuse(s, "in string literal");
                if (*s->at++ == '\\' && !escape(s))
                        return false;
        }
        return true;
}

static bool value(struct syntax *s);

static bool object(struct syntax *s)
{
        s->at++;
        skip_space(s);
        if (take(s, '}'))
                return true;
        for (;;) {
                skip_space(s);
                if (s->at == s->end || *s->at != '"')
                        return refuse(s, "looking for beginning of object key string");
                if (!string(s))
                        return false;
                skip_space(s);
                if (!take(s, ':'))
                        return refuse(s, "after object key");
                if (!value(s))
                        return false;
                skip_space(s);
                if (take(s, '}'))
                        return true;
                if (!take(s, ','))
                        return refuse(s, "after object key:value pair");
        }
}

static bool array(struct syntax *s)
{
        s->at++;
        skip_space(s);
        if (take(s, ']'))
                return true;
        for (;;) {
                if (!value(s))
                        return false;
                skip_space(s);
                if (take(s, ']'))
                        return true;
                if (!take(s, ','))
                        return refuse(s, "after array element");
        }
}

static bool value(struct syntax *s)
{
        bool good;

        skip_space(s);
        if (s->depth == LIMIT_JSON_DEPTH) /* a limit of ours, of which Go says nothing */
                return false;
        if (s->at == s->end)
                return refuse(s, "looking for beginning of value");
        s->depth++;
        switch (*s->at) {
        case '{':
                good = object(s);
                break;
        case '[':
                good = array(s);
                break;
        case '"':
                good = string(s);
                break;
        case 't':
                good = literal(s, "true");
                break;
        case 'f':
                good = literal(s, "false");
                break;
        case 'n':
                good = literal(s, "null");
                break;
        default:
                good = *s->at == '-' || (*s->at >= '0' && *s->at <= '9')
                               ? number(s)
                               : refuse(s, "looking for beginning of value");
        }
        s->depth--;
        return good;
}

const char *go_json_problem(struct slice text, struct arena *arena)
{
        struct syntax s = { .at = text.data, .end = text.data + text.len, .arena = arena };

        if (!value(&s))
                return s.problem;
        skip_space(&s);
        if (s.at < s.end)
                (void)refuse(&s, "after top-level value");
        return s.problem;
}
