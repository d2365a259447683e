/* Parses a regular expression into a tree and emits the program of regex_match.c. */
#include <stdlib.h>

#include "common/json/regex_internal.h"

enum node_kind {
        NODE_EMPTY,
        NODE_RANGE,
        NODE_CLASS,
        NODE_ASSERT,
        NODE_CONCAT,
        NODE_ALTERNATE,
        NODE_REPEAT,
        NODE_GROUP
};

struct node {
        enum node_kind kind;
        uint32_t x, y;      /* as in the instruction; REPEAT: least and most (UINT32_MAX = no bound) */
        bool lazy;          /* REPEAT: shortest first */
        struct node *child; /* CONCAT, ALTERNATE: the first; REPEAT, GROUP: the only one */
        struct node *next;  /* sibling */
};

enum { FOLD_CASE = 1, DOT_ALL = 2, MULTI_LINE = 4, UNGREEDY = 8 };

struct parser {
        struct arena *arena;
        struct regex *re;
        struct slice pattern;
        size_t at;
        unsigned flags, nesting;
        bool groups; /* are asked for */
        struct error *err;
};

static int parse_alternation(struct parser *p, struct node **ret);

static int complain(struct parser *p, const char *what, size_t from)
{
        return error_set(p->err, ERR_INVALID, "error parsing regexp: %s: `%.*s`", what,
                         (int)(p->pattern.len - from), p->pattern.data + from);
}

static bool at_end(const struct parser *p)
{
        return p->at >= p->pattern.len;
}

static char peek(const struct parser *p)
{
        return at_end(p) ? '\0' : p->pattern.data[p->at];
}

static bool accept(struct parser *p, const char *text)
{
        size_t n = strlen(text);
        if (p->pattern.len - p->at < n || memcmp(p->pattern.data + p->at, text, n) != 0)
                return false;
        p->at += n;
        return true;
}

static uint32_t next_code_point(struct parser *p)
{
        size_t width;
        uint32_t c = rune_decode(p->pattern.data + p->at, p->pattern.len - p->at, &width);
        p->at += width;
        return c;
}

static int new_node(struct parser *p, enum node_kind kind, uint32_t x, uint32_t y, struct node **ret)
{
        struct node *node = ARENA_NEW(p->arena, struct node);
        if (!node)
                return error_no_memory(p->err);
        *node = (struct node){ .kind = kind, .x = x, .y = y };
        *ret = node;
        return 0;
}

/* --- Classes
 * ------------------------------------------------------------------------------------------------- */

static int grow(struct parser *p, void **at, size_t n, size_t *cap, size_t size)
{
        if (n < *cap)
                return 0;
        size_t wanted = *cap ? 2 * *cap : 8;
        void *larger = arena_calloc(p->arena, wanted, size);
        if (!larger)
                return error_no_memory(p->err);
        if (n)
                memcpy(larger, *at, n * size);
        *at = larger;
        *cap = wanted;
        return 0;
}

static int class_add(struct parser *p, struct regex_class *class, uint32_t low, uint32_t high)
{
        TRY(grow(p, (void **)&class->ranges, class->n, &class->cap, sizeof(*class->ranges)));
        class->ranges[class->n++] = (struct regex_range){ low, high };
        return 0;
}

static int compare_ranges(const void *a, const void *b)
{
        const struct regex_range *x = a, *y = b;
        return x->low < y->low ? -1 : x->low > y->low;
}

/* Sorts and joins the ranges, as the matcher's binary search needs them. */
static void class_settle(struct regex_class *class)
{
        if (class->n)
                qsort(class->ranges, class->n, sizeof(*class->ranges), compare_ranges);
        size_t kept = 0;
        for (size_t i = 0; i < class->n; i++) {
                struct regex_range r = class->ranges[i];
                if (kept && r.low <= class->ranges[kept - 1].high + 1)
                        class->ranges[kept - 1].high = MAX(class->ranges[kept - 1].high, r.high);
                else
                        class->ranges[kept++] = r;
        }
        class->n = kept;
}

static int class_fold_case(struct parser *p, struct regex_class *class)
{
        size_t n = class->n;
        for (size_t i = 0; i < n; i++) {
                struct regex_range r = class->ranges[i];
                uint32_t low = MAX(r.low, 'a'), high = MIN(r.high, 'z');
                if (low <= high)
                        TRY(class_add(p, class, low - 32, high - 32));
                low = MAX(r.low, 'A'), high = MIN(r.high, 'Z');
                if (low <= high)
                        TRY(class_add(p, class, low + 32, high + 32));
        }
        return 0;
}

static const struct named_class {
        const char *name; /* of [:name:] or the letter of \d */
        const char *ranges;
} named_classes[] = {
        { "d", "09" },           { "w", "09AZaz__" },
        { "s", "\t\n\f\r  " },   { "alnum", "09AZaz" },
        { "alpha", "AZaz" },     { "ascii", "\x01\x7f" },
        { "blank", "\t\t  " },   { "cntrl", "\x01\x1f\x7f\x7f" },
        { "digit", "09" },       { "graph", "!~" },
        { "lower", "az" },       { "print", " ~" },
        { "punct", "!/:@[`{~" }, { "space", "\t\r  " },
        { "upper", "AZ" },       { "word", "09AZaz__" },
        { "xdigit", "09AFaf" },
};

static const struct named_class *find_class(struct slice name)
{
        for (size_t i = 0; i < ARRAY_LEN(named_classes); i++)
                if (slice_is(name, named_classes[i].name))
                        return &named_classes[i];
        return NULL;
}

static int class_add_named(struct parser *p, struct regex_class *class, const struct named_class *named,
                           bool negated)
{
        uint32_t next = 0;
        for (const char *r = named->ranges; *r; r += 2) {
                uint32_t low = (unsigned char)r[0], high = (unsigned char)r[1];
                if (low == 1)
                        low = 0; /* NUL cannot stand in the table */
                if (!negated)
                        TRY(class_add(p, class, low, high));
                else if (low > next)
                        TRY(class_add(p, class, next, low - 1));
                next = high + 1;
        }
        return negated ? class_add(p, class, next, 0x10ffff) : 0;
}

static int new_class(struct parser *p, struct regex_class **ret)
{
        struct regex_class *class = ARENA_NEW(p->arena, struct regex_class);
        if (!class)
                return error_no_memory(p->err);
        *ret = class;
        return 0;
}

static int class_node(struct parser *p, struct regex_class *class, struct node **ret)
{
        if (p->flags & FOLD_CASE)
                TRY(class_fold_case(p, class));
        class_settle(class);
        TRY(grow(p, (void **)&p->re->classes, p->re->n_classes, &p->re->cap_classes,
                 sizeof(*p->re->classes)));
        p->re->classes[p->re->n_classes] = class;
        return new_node(p, NODE_CLASS, (uint32_t)p->re->n_classes++, 0, ret);
}

/* --- Escapes
 * ------------------------------------------------------------------------------------------------- */

static int hex_value(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_hex_escape(struct parser *p, size_t from, uint32_t *ret)
{
        bool braces = accept(p, "{");
        uint32_t value = 0;
        size_t digits = 0, most = braces ? 6 : 2;
        for (; digits < most && hex_value(peek(p)) >= 0; digits++)
                value = value << 4 | (uint32_t)hex_value(p->pattern.data[p->at++]);
        if (!digits || value > 0x10ffff || (braces ? !accept(p, "}") : digits != 2))
                return complain(p, "invalid escape sequence", from);
        *ret = value;
        return 0;
}

/* A backslash that stands for one code point; the backslash is consumed. */
static int parse_escaped_char(struct parser *p, uint32_t *ret)
{
        static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";
        size_t from = p->at - 1;
        if (at_end(p))
                return error_set(p->err, ERR_INVALID,
                                 "error parsing regexp: trailing backslash at end of expression: ``");
        char c = p->pattern.data[p->at];
        const char *letter = c ? strchr(letters, c) : NULL;
        bool punctuation = (unsigned char)c < 0x80 && c > ' ' && hex_value(c) < 0 &&
                           !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_';
        p->at++;
        if (letter)
                *ret = (unsigned char)values[letter - letters];
        else if (c == 'x')
                return parse_hex_escape(p, from, ret);
        else if (c == '0')
                *ret = 0;
        else if (punctuation || c == '_' || c == ' ')
                *ret = (unsigned char)c;
        else
                return complain(p, "invalid escape sequence", from);
        return 0;
}

/* \d and its kin; *ret_done says whether there was one. */
static int parse_perl_class(struct parser *p, struct regex_class *class, bool *ret_done)
{
        char c = p->at + 1 < p->pattern.len ? p->pattern.data[p->at + 1] : '\0';
        char lower = (char)(c | 0x20);
        *ret_done = peek(p) == '\\' && (lower == 'd' || lower == 'w' || lower == 's');
        if (!*ret_done)
                return 0;
        p->at += 2;
        return class_add_named(p, class, find_class((struct slice){ &lower, 1 }), c != lower);
}

/* --- [...]
 * --------------------------------------------------------------------------------------------------- */

static int parse_posix_class(struct parser *p, struct regex_class *class, bool *ret_done)
{
        size_t from = p->at;
        *ret_done = false;
        if (!accept(p, "[:"))
                return 0;
        bool negated = accept(p, "^");
        size_t begin = p->at;
        while (peek(p) >= 'a' && peek(p) <= 'z')
                p->at++;
        struct slice name = { p->pattern.data + begin, p->at - begin };
        if (!accept(p, ":]")) {
                p->at = from; /* an ordinary '[' */
                return 0;
        }
        const struct named_class *named = name.len > 1 ? find_class(name) : NULL;
        if (!named)
                return complain(p, "invalid character class range", from);
        *ret_done = true;
        return class_add_named(p, class, named, negated);
}

static int parse_class_char(struct parser *p, uint32_t *ret)
{
        if (accept(p, "\\"))
                return parse_escaped_char(p, ret);
        *ret = next_code_point(p);
        return 0;
}

static int parse_class_range(struct parser *p, struct regex_class *class, size_t open)
{
        size_t from = p->at;
        uint32_t low = 0, high = 0;
        TRY(parse_class_char(p, &low));
        high = low;
        if (peek(p) == '-' && p->at + 1 < p->pattern.len && p->pattern.data[p->at + 1] != ']') {
                p->at++;
                TRY(parse_class_char(p, &high));
        }
        if (at_end(p))
                return complain(p, "missing closing ]", open);
        if (high < low)
                return error_set(p->err, ERR_INVALID,
                                 "error parsing regexp: invalid character class range: `%.*s`",
                                 (int)(p->at - from), p->pattern.data + from);
        return class_add(p, class, low, high);
}

static int parse_class(struct parser *p, struct node **ret)
{
        size_t open = p->at - 1;
        struct regex_class *class = NULL;
        TRY(new_class(p, &class));
        class->negated = accept(p, "^");
        for (bool first = true; first || peek(p) != ']'; first = false) {
                if (at_end(p))
                        return complain(p, "missing closing ]", open);
                bool done = false;
                TRY(parse_posix_class(p, class, &done));
                if (!done)
                        TRY(parse_perl_class(p, class, &done));
                if (!done)
                        TRY(parse_class_range(p, class, open));
        }
        p->at++;
        return class_node(p, class, ret);
}

/* --- Groups, atoms, repeats
 * ---------------------------------------------------------------------------------- */

static int parse_flags(struct parser *p, size_t from, bool *ret_whole_group)
{
        unsigned flags = p->flags;
        bool clear = false;
        for (;; p->at++) {
                const char *letter = peek(p) ? strchr("ismU", peek(p)) : NULL;
                unsigned flag = letter ? 1u << (letter - "ismU") : 0;
                if (peek(p) == '-' && !clear)
                        clear = true;
                else if (peek(p) == ':' || peek(p) == ')')
                        break;
                else if (!flag)
                        return complain(p, "invalid or unsupported Perl syntax", from);
                else
                        flags = clear ? flags & ~flag : flags | flag;
        }
        p->flags = flags;
        *ret_whole_group = p->pattern.data[p->at++] == ')';
        return 0;
}

static int parse_group_name(struct parser *p, size_t from, struct slice *ret)
{
        size_t begin = p->at;
        while (!at_end(p) && peek(p) != '>')
                p->at++;
        if (at_end(p) || p->at == begin)
                return complain(p, "invalid named capture", from);
        *ret = (struct slice){ p->pattern.data + begin, p->at - begin };
        p->at++;
        return 0;
}

/* Groups are numbered by their opening parentheses. */
static int number_group(struct parser *p, struct slice name, uint32_t *ret)
{
        struct regex *re = p->re;
        if (re->n_groups == REGEX_MAX_GROUPS)
                return error_set(p->err, ERR_LIMIT, "regexp has more than %d groups", REGEX_MAX_GROUPS);
        TRY(grow(p, (void **)&re->group_names, re->n_groups, &re->cap_groups, sizeof(*re->group_names)));
        re->group_names[re->n_groups++] = name;
        *ret = (uint32_t)re->n_groups;
        return 0;
}

static int parse_group(struct parser *p, struct node **ret)
{
        size_t open = p->at - 1;
        unsigned outer = p->flags;
        bool captures = p->groups;
        struct slice name = { "", 0 };
        uint32_t group = 0;
        if (++p->nesting > REGEX_MAX_NESTING)
                return error_set(p->err, ERR_LIMIT, "regexp nests deeper than %d groups", REGEX_MAX_NESTING);
        if (accept(p, "?<=") || accept(p, "?<!"))
                return complain(p, "invalid or unsupported Perl syntax", open);
        if (accept(p, "?P<") || accept(p, "?<")) {
                TRY(parse_group_name(p, open, &name));
        } else if (accept(p, "?")) {
                bool flags_only = false;
                captures = false;
                TRY(parse_flags(p, open, &flags_only));
                if (flags_only) { /* (?i) holds to the end of the enclosing group */
                        p->nesting--;
                        return new_node(p, NODE_EMPTY, 0, 0, ret);
                }
        }
        if (captures)
                TRY(number_group(p, name, &group));
        TRY(parse_alternation(p, ret));
        if (!accept(p, ")"))
                return complain(p, "missing closing )", 0);
        p->flags = outer;
        p->nesting--;
        if (!captures)
                return 0;
        struct node *inner = *ret;
        TRY(new_node(p, NODE_GROUP, group, 0, ret));
        (*ret)->child = inner;
        return 0;
}

static int literal_node(struct parser *p, uint32_t c, struct node **ret)
{
        bool letter = c < 0x80 && (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!(p->flags & FOLD_CASE) || !letter)
                return new_node(p, NODE_RANGE, c, c, ret);
        struct regex_class *class = NULL;
        TRY(new_class(p, &class));
        TRY(class_add(p, class, c, c));
        return class_node(p, class, ret);
}

static int dot_node(struct parser *p, struct node **ret)
{
        if (p->flags & DOT_ALL)
                return new_node(p, NODE_RANGE, 0, 0x10ffff, ret);
        struct regex_class *class = NULL;
        TRY(new_class(p, &class));
        TRY(class_add(p, class, '\n', '\n'));
        class->negated = true;
        return class_node(p, class, ret);
}

static int parse_backslash(struct parser *p, struct node **ret)
{
        static const struct {
                char letter;
                enum regex_assert condition;
        } assertions[] = { { 'A', REGEX_TEXT_BEGIN },
                           { 'z', REGEX_TEXT_END },
                           { 'b', REGEX_WORD_BOUNDARY },
                           { 'B', REGEX_NO_WORD_BOUNDARY } };
        for (size_t i = 0; i < ARRAY_LEN(assertions); i++)
                if (peek(p) == assertions[i].letter) {
                        p->at++;
                        return new_node(p, NODE_ASSERT, assertions[i].condition, 0, ret);
                }
        struct regex_class *class = NULL;
        bool done = false;
        p->at--;
        TRY(new_class(p, &class));
        TRY(parse_perl_class(p, class, &done));
        if (done)
                return class_node(p, class, ret);
        p->at++;
        uint32_t c = 0;
        TRY(parse_escaped_char(p, &c));
        return literal_node(p, c, ret);
}

static int parse_atom(struct parser *p, struct node **ret)
{
        bool lines = p->flags & MULTI_LINE;
        if (accept(p, "("))
                return parse_group(p, ret);
        if (accept(p, "["))
                return parse_class(p, ret);
        if (accept(p, "."))
                return dot_node(p, ret);
        if (accept(p, "^"))
                return new_node(p, NODE_ASSERT, lines ? REGEX_LINE_BEGIN : REGEX_TEXT_BEGIN, 0, ret);
        if (accept(p, "$"))
                return new_node(p, NODE_ASSERT, lines ? REGEX_LINE_END : REGEX_TEXT_END, 0, ret);
        if (accept(p, "\\"))
                return parse_backslash(p, ret);
        if (strchr("*+?", peek(p)))
                return complain(p, "missing argument to repetition operator", p->at);
        return literal_node(p, next_code_point(p), ret);
}

static bool parse_number(struct parser *p, uint32_t *ret)
{
        size_t begin = p->at;
        uint32_t value = 0;
        for (; peek(p) >= '0' && peek(p) <= '9'; p->at++)
                value = MIN(value * 10 + (uint32_t)(peek(p) - '0'), 100000u);
        *ret = value;
        return p->at > begin;
}

/* {n}, {n,} or {n,m}; anything else in braces is literal text. */
static int parse_counts(struct parser *p, uint32_t *ret_least, uint32_t *ret_most, bool *ret_done)
{
        size_t from = p->at;
        uint32_t least = 0, most = 0;
        *ret_done = false;
        if (!accept(p, "{"))
                return 0;
        bool good = parse_number(p, &least);
        most = least;
        if (good && accept(p, ",") && !parse_number(p, &most))
                most = UINT32_MAX;
        if (!good || !accept(p, "}")) {
                p->at = from;
                return 0;
        }
        if (least > REGEX_MAX_REPEAT || (most != UINT32_MAX && (most > REGEX_MAX_REPEAT || most < least)))
                return complain(p, "invalid repeat count", from);
        *ret_least = least;
        *ret_most = most;
        *ret_done = true;
        return 0;
}

static int parse_repeats(struct parser *p, struct node **node)
{
        size_t from = p->at;
        for (bool repeated = false;; repeated = true) {
                uint32_t least = 0, most = UINT32_MAX;
                bool done = true;
                if (accept(p, "+"))
                        least = 1;
                else if (accept(p, "?"))
                        most = 1;
                else if (!accept(p, "*"))
                        TRY(parse_counts(p, &least, &most, &done));
                if (!done)
                        return 0;
                if (repeated)
                        return complain(p, "invalid nested repetition operator", from);
                struct node *repeat = NULL;
                TRY(new_node(p, NODE_REPEAT, least, most, &repeat));
                repeat->lazy = accept(p, "?") != !!(p->flags & UNGREEDY);
                repeat->child = *node;
                *node = repeat;
        }
}

static int parse_concatenation(struct parser *p, struct node **ret)
{
        struct node *whole = NULL, **tail;
        TRY(new_node(p, NODE_CONCAT, 0, 0, &whole));
        tail = &whole->child;
        while (!at_end(p) && peek(p) != '|' && peek(p) != ')') {
                TRY(parse_atom(p, tail));
                TRY(parse_repeats(p, tail));
                tail = &(*tail)->next;
        }
        *ret = whole;
        return 0;
}

static int parse_alternation(struct parser *p, struct node **ret)
{
        struct node *whole = NULL, **tail;
        TRY(new_node(p, NODE_ALTERNATE, 0, 0, &whole));
        tail = &whole->child;
        do {
                TRY(parse_concatenation(p, tail));
                tail = &(*tail)->next;
        } while (accept(p, "|"));
        *ret = whole;
        return 0;
}

/* --- Emission
 * ------------------------------------------------------------------------------------------------ */

static int emit(struct parser *p, uint32_t op, uint32_t x, uint32_t y, uint32_t *ret_at)
{
        struct regex *re = p->re;
        if (re->n_code >= REGEX_MAX_INSTRUCTIONS)
                return error_set(p->err, ERR_LIMIT,
                                 "error parsing regexp: expression too large (more than %d steps)",
                                 REGEX_MAX_INSTRUCTIONS);
        TRY(grow(p, (void **)&re->code, re->n_code, &re->cap_code, sizeof(*re->code)));
        re->code[re->n_code] = (struct regex_instruction){ op, x, y };
        if (ret_at)
                *ret_at = (uint32_t)re->n_code;
        re->n_code++;
        return 0;
}

static uint32_t here(const struct parser *p)
{
        return (uint32_t)p->re->n_code;
}

/* Sends a split the preferred way: into what follows it, or (lazy) past it. */
static void aim(struct parser *p, uint32_t split, uint32_t into, uint32_t past, bool lazy)
{
        p->re->code[split].x = lazy ? past : into;
        p->re->code[split].y = lazy ? into : past;
}

static int emit_node(struct parser *p, const struct node *node);

static int emit_alternate(struct parser *p, const struct node *node)
{
        /* The jumps to the end are chained through their targets until the end is known. */
        uint32_t chain = UINT32_MAX;
        for (const struct node *c = node->child; c; c = c->next) {
                uint32_t split = 0;
                if (c->next)
                        TRY(emit(p, REGEX_SPLIT, 0, 0, &split));
                TRY(emit_node(p, c));
                if (c->next) {
                        TRY(emit(p, REGEX_JUMP, chain, 0, &chain));
                        aim(p, split, split + 1, here(p), false);
                }
        }
        while (chain != UINT32_MAX) {
                uint32_t next = p->re->code[chain].x;
                p->re->code[chain].x = here(p);
                chain = next;
        }
        return 0;
}

/* As (x+)?: what goes round decides anew behind x, so that an x that matched nothing has matched. */
static int emit_star(struct parser *p, const struct node *node)
{
        uint32_t first = 0, again = 0;
        TRY(emit(p, REGEX_SPLIT, 0, 0, &first));
        TRY(emit_node(p, node->child));
        TRY(emit(p, REGEX_SPLIT, 0, 0, &again));
        aim(p, first, first + 1, here(p), node->lazy);
        aim(p, again, first + 1, here(p), node->lazy);
        return 0;
}

static int emit_repeat(struct parser *p, const struct node *node)
{
        for (uint32_t i = 0; i < node->x; i++)
                TRY(emit_node(p, node->child));
        if (node->y == UINT32_MAX)
                return emit_star(p, node);
        uint32_t first = here(p);
        for (uint32_t i = node->x; i < node->y; i++) {
                TRY(emit(p, REGEX_SPLIT, UINT32_MAX, 0, NULL));
                TRY(emit_node(p, node->child));
        }
        /* Each optional copy may be left to the common end; nested splits have been aimed already. */
        for (uint32_t at = first; at < here(p); at++)
                if (p->re->code[at].op == REGEX_SPLIT && p->re->code[at].x == UINT32_MAX)
                        aim(p, at, at + 1, here(p), node->lazy);
        return 0;
}

static int emit_node(struct parser *p, const struct node *node)
{
        switch (node->kind) {
        case NODE_EMPTY:
                return 0;
        case NODE_RANGE:
                return emit(p, REGEX_RANGE, node->x, node->y, NULL);
        case NODE_CLASS:
                return emit(p, REGEX_CLASS, node->x, 0, NULL);
        case NODE_ASSERT:
                return emit(p, REGEX_ASSERT, node->x, 0, NULL);
        case NODE_CONCAT:
                for (const struct node *c = node->child; c; c = c->next)
                        TRY(emit_node(p, c));
                return 0;
        case NODE_ALTERNATE:
                return emit_alternate(p, node);
        case NODE_REPEAT:
                return emit_repeat(p, node);
        case NODE_GROUP:
                TRY(emit(p, REGEX_SAVE, 2 * node->x, 0, NULL));
                TRY(emit_node(p, node->child));
                return emit(p, REGEX_SAVE, 2 * node->x + 1, 0, NULL);
        }
        UNREACHABLE();
}

/* An upper bound of what emission takes would be costly; empty bodies inside large repeats emit nothing but
 * spin, so their product is bounded too. */
static int check_repeats(struct parser *p, const struct node *node, uint64_t product)
{
        if (node->kind == NODE_REPEAT) {
                uint32_t most = node->y == UINT32_MAX ? node->x + 1 : node->y;
                product *= MAX(most, 1u);
                if (product > REGEX_MAX_REPEAT)
                        return error_set(p->err, ERR_INVALID,
                                         "error parsing regexp: invalid repeat count: `%.*s`",
                                         (int)p->pattern.len, p->pattern.data);
        }
        for (const struct node *c = node->child; c; c = c->next)
                TRY(check_repeats(p, c, product));
        return 0;
}

static int compile(struct arena *arena, struct slice pattern, bool groups, const struct regex **ret,
                   struct error *err)
{
        struct regex *re = ARENA_NEW(arena, struct regex);
        if (!re)
                return error_no_memory(err);
        struct parser p = { .arena = arena, .re = re, .pattern = pattern, .groups = groups, .err = err };
        struct node *tree = NULL;
        TRY(parse_alternation(&p, &tree));
        if (!at_end(&p))
                return complain(&p, "unexpected )", 0);
        TRY(check_repeats(&p, tree, 1));
        TRY(emit_node(&p, tree));
        TRY(emit(&p, REGEX_MATCH, 0, 0, NULL));
        re->anchored = re->code[0].op == REGEX_ASSERT && re->code[0].x == REGEX_TEXT_BEGIN;
        *ret = re;
        return 0;
}

int regex_compile(struct arena *arena, struct slice pattern, const struct regex **ret, struct error *err)
{
        return compile(arena, pattern, false, ret, err);
}

int regex_compile_groups(struct arena *arena, struct slice pattern, const struct regex **ret,
                         struct error *err)
{
        return compile(arena, pattern, true, ret, err);
}
