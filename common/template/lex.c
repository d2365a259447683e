/* Cuts a template into tokens. */
#include "common/template/lex.h"

#include <stdarg.h>

#include "common/base/unicode.h"

#define TRIM_MARKER 2 /* a dash and a blank */

void lexer_init(struct lexer *l, struct slice text, struct slice left, struct slice right)
{
        *l = (struct lexer){ .input = text, .left = left, .right = right, .start_line = 1, .line = 1 };
}

static bool is_space(int c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_alphanumeric(uint32_t c)
{
        if (c < 0x80)
                return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        return rune_is_letter(c) || rune_is_digit(c);
}

/* ---- reading ---- */

static int byte_at(const struct lexer *l, size_t at)
{
        return at < l->input.len ? (unsigned char)l->input.data[at] : -1;
}

/* The character ahead: -1 at the end. */
static int64_t peek(const struct lexer *l, size_t *ret_width)
{
        if (l->at >= l->input.len) {
                *ret_width = 0;
                return -1;
        }
        return rune_decode(l->input.data + l->at, l->input.len - l->at, ret_width);
}

static void advance(struct lexer *l, size_t n)
{
        for (size_t i = 0; i < n; i++)
                l->line += l->input.data[l->at + i] == '\n';
        l->at += n;
}

static bool stands_here(const struct lexer *l, size_t at, struct slice text)
{
        return at <= l->input.len && text.len <= l->input.len - at &&
               memcmp(l->input.data + at, text.data, text.len) == 0;
}

static bool left_marker_at(const struct lexer *l, size_t at)
{
        return byte_at(l, at) == '-' && is_space(byte_at(l, at + 1));
}

static bool right_marker_at(const struct lexer *l, size_t at)
{
        return is_space(byte_at(l, at)) && byte_at(l, at + 1) == '-';
}

static bool at_right_delimiter(const struct lexer *l, size_t at, bool *ret_trim)
{
        *ret_trim = right_marker_at(l, at) && stands_here(l, at + TRIM_MARKER, l->right);
        return *ret_trim || stands_here(l, at, l->right);
}

static size_t spaces_at(const struct lexer *l, size_t at)
{
        size_t n = 0;
        while (is_space(byte_at(l, at + n)))
                n++;
        return n;
}

/* ---- giving ---- */

static void ignore(struct lexer *l)
{
        l->start = l->at;
        l->start_line = l->line;
}

static struct token give(struct lexer *l, enum token_type type)
{
        struct token t = {
                type, (uint32_t)l->start, l->start_line, { l->input.data + l->start, l->at - l->start }
        };
        ignore(l);
        return t;
}

static struct token complain(struct lexer *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
static struct token complain(struct lexer *l, const char *fmt, ...)
{
        va_list args;
        va_start(args, fmt);
        vsnprintf(l->complaint, sizeof(l->complaint), fmt, args);
        va_end(args);
        l->failed = true;
        return (struct token){ TOKEN_ERROR, (uint32_t)l->start, l->start_line, slice_of(l->complaint) };
}

/* As Go's %#U: U+002D '-'. */
static struct token complain_of(struct lexer *l, const char *what, uint32_t c)
{
        char text[5] = "";
        size_t n = rune_is_print(c) ? rune_encode(c, text) : 0;
        return n ? complain(l, "%s U+%04X '%.*s'", what, c, (int)n, text) : complain(l, "%s U+%04X", what, c);
}

/* ---- outside of actions ---- */

/* Skips a comment, whose delimiter stands here. False: *ret is what is wrong with it. */
static bool skip_comment(struct lexer *l, size_t marker, struct token *ret)
{
        advance(l, l->left.len + marker);
        ignore(l);
        const char *begin = l->input.data + l->at + 2;
        const char *end = memmem(begin, l->input.len - l->at - 2, "*/", 2);
        if (!end) {
                *ret = complain(l, "unclosed comment");
                return false;
        }
        size_t behind = (size_t)(end - l->input.data) + 2;
        bool trim;
        if (!at_right_delimiter(l, behind, &trim)) {
                *ret = complain(l, "comment ends before closing delimiter");
                return false;
        }
        behind += l->right.len + (trim ? TRIM_MARKER : 0);
        advance(l, behind - l->at);
        if (trim)
                advance(l, spaces_at(l, l->at));
        ignore(l);
        return true;
}

static struct token lex_left(struct lexer *l, size_t marker)
{
        advance(l, l->left.len);
        struct token t = give(l, TOKEN_LEFT);
        advance(l, marker);
        ignore(l);
        l->inside = true;
        l->parens = 0;
        return t;
}

static size_t trailing_spaces(struct slice s)
{
        size_t n = 0;
        while (n < s.len && is_space((unsigned char)s.data[s.len - 1 - n]))
                n++;
        return n;
}

/* Text up to the next delimiter, without the blanks that it trims. */
static struct token lex_text_before(struct lexer *l, size_t len, bool trim)
{
        size_t cut = trim ? trailing_spaces((struct slice){ l->input.data + l->at, len }) : 0;
        advance(l, len - cut);
        struct token t = give(l, TOKEN_TEXT);
        advance(l, cut);
        ignore(l);
        return t;
}

static struct token lex_text(struct lexer *l)
{
        for (;;) {
                const char *from = l->input.data + l->at;
                const char *left = memmem(from, l->input.len - l->at, l->left.data, l->left.len);
                if (!left) {
                        advance(l, l->input.len - l->at);
                        return give(l, l->at > l->start ? TOKEN_TEXT : TOKEN_EOF);
                }
                size_t len = (size_t)(left - from), behind = l->at + len + l->left.len;
                size_t marker = left_marker_at(l, behind) ? TRIM_MARKER : 0;
                struct token t = lex_text_before(l, len, marker);
                if (t.text.len)
                        return t;
                if (!stands_here(l, behind + marker, SLICE("/*")))
                        return lex_left(l, marker);
                if (!skip_comment(l, marker, &t))
                        return t;
        }
}

/* ---- inside of actions ---- */

static struct token lex_right(struct lexer *l, bool trim)
{
        if (trim) {
                advance(l, TRIM_MARKER);
                ignore(l);
        }
        advance(l, l->right.len);
        struct token t = give(l, TOKEN_RIGHT);
        if (trim) {
                advance(l, spaces_at(l, l->at));
                ignore(l);
        }
        l->inside = false;
        return t;
}

/* The last blank may belong to a trimming delimiter. */
static struct token lex_space(struct lexer *l)
{
        size_t n = spaces_at(l, l->at);
        bool trim;
        if (at_right_delimiter(l, l->at + n - 1, &trim) && trim) {
                if (n == 1)
                        return lex_right(l, true);
                n--;
        }
        advance(l, n);
        return give(l, TOKEN_SPACE);
}

static bool at_terminator(const struct lexer *l)
{
        int c = byte_at(l, l->at);
        return c < 0 || is_space(c) || strchr(".,|:)(", c) || stands_here(l, l->at, l->right);
}

static void skip_alphanumeric(struct lexer *l)
{
        size_t width;
        for (int64_t c = peek(l, &width); c >= 0 && is_alphanumeric((uint32_t)c); c = peek(l, &width))
                l->at += width;
}

static struct token bad_character(struct lexer *l)
{
        size_t width;
        return complain_of(l, "bad character", (uint32_t)peek(l, &width));
}

/* .name and $name, or . and $ alone. */
static struct token lex_name(struct lexer *l, enum token_type alone, enum token_type named)
{
        l->at++;
        if (at_terminator(l))
                return give(l, alone);
        skip_alphanumeric(l);
        return at_terminator(l) ? give(l, named) : bad_character(l);
}

static enum token_type word_type(struct slice word)
{
        static const struct {
                const char *word;
                enum token_type type;
        } words[] = {
                { "true", TOKEN_BOOL },         { "false", TOKEN_BOOL },
                { "nil", TOKEN_NIL },           { "block", TOKEN_BLOCK },
                { "break", TOKEN_BREAK },       { "continue", TOKEN_CONTINUE },
                { "else", TOKEN_ELSE },         { "define", TOKEN_DEFINE },
                { "end", TOKEN_END },           { "if", TOKEN_IF },
                { "range", TOKEN_RANGE },       { "with", TOKEN_WITH },
                { "template", TOKEN_TEMPLATE },
        };
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (slice_is(word, words[i].word))
                        return words[i].type;
        return TOKEN_IDENTIFIER;
}

static struct token lex_word(struct lexer *l)
{
        skip_alphanumeric(l);
        if (!at_terminator(l))
                return bad_character(l);
        return give(l, word_type((struct slice){ l->input.data + l->start, l->at - l->start }));
}

static bool accept(struct lexer *l, const char *set)
{
        int c = byte_at(l, l->at);
        if (c <= 0 || !strchr(set, c))
                return false;
        l->at++;
        return true;
}

static void accept_run(struct lexer *l, const char *set)
{
        while (accept(l, set))
                ;
}

static void scan_digits(struct lexer *l)
{
        const char *decimal = "0123456789_", *hexadecimal = "0123456789abcdefABCDEF_", *digits = decimal;
        if (accept(l, "0")) { /* 0 alone, or what tells the base */
                if (accept(l, "xX"))
                        digits = hexadecimal;
                else if (accept(l, "oO"))
                        digits = "01234567_";
                else if (accept(l, "bB"))
                        digits = "01_";
        }
        accept_run(l, digits);
        if (accept(l, "."))
                accept_run(l, digits);
        if ((digits == decimal && accept(l, "eE")) || (digits == hexadecimal && accept(l, "pP"))) {
                accept(l, "+-");
                accept_run(l, decimal);
        }
}

/* A number, to which a letter may stick. */
static bool scan_number(struct lexer *l)
{
        size_t width;
        accept(l, "+-");
        scan_digits(l);
        accept(l, "i");
        int64_t c = peek(l, &width);
        if (c < 0 || !is_alphanumeric((uint32_t)c))
                return true;
        l->at += width;
        return false;
}

/* Go quotes what is wrong; what can stand here prints as it is. */
static struct token complain_of_number(struct lexer *l, const char *what)
{
        size_t n = MIN(l->at - l->start, 100u);
        return complain(l, "%s: \"%.*s\"", what, (int)n, l->input.data + l->start);
}

static struct token lex_number(struct lexer *l)
{
        bool good = scan_number(l), imaginary = l->input.data[l->at - 1] == 'i';
        int sign = byte_at(l, l->at);
        if (good && (sign == '+' || sign == '-')) {
                good = scan_number(l) && l->input.data[l->at - 1] == 'i';
                imaginary = true;
        }
        if (!good)
                return complain_of_number(l, "bad number syntax");
        return imaginary ? complain_of_number(l, "complex numbers are not supported") : give(l, TOKEN_NUMBER);
}

static struct token lex_quoted(struct lexer *l, char quote, enum token_type type, const char *unterminated)
{
        for (l->at++;; l->at++) {
                int c = byte_at(l, l->at);
                if (c == '\\')
                        c = byte_at(l, ++l->at), c = c == '\n' ? c : c < 0 ? c : 'x';
                else if (c == quote)
                        break;
                if (c < 0 || c == '\n')
                        return complain(l, "%s", unterminated);
        }
        l->at++;
        return give(l, type);
}

static struct token lex_raw(struct lexer *l)
{
        const char *from = l->input.data + l->at + 1;
        const char *end = memchr(from, '`', l->input.len - l->at - 1);
        if (!end)
                return complain(l, "unterminated raw quoted string");
        advance(l, (size_t)(end - from) + 2);
        return give(l, TOKEN_RAW_STRING);
}

static struct token lex_one(struct lexer *l, size_t n, enum token_type type)
{
        l->at += n;
        return give(l, type);
}

static struct token lex_paren(struct lexer *l, int c)
{
        l->at++;
        l->parens += c == '(' ? 1 : -1;
        if (l->parens < 0)
                return complain(l, "unexpected right paren");
        return give(l, c == '(' ? TOKEN_OPEN : TOKEN_CLOSE);
}

static struct token lex_symbol(struct lexer *l, int c)
{
        int next = byte_at(l, l->at + 1);
        switch (c) {
        case '=':
                return lex_one(l, 1, TOKEN_ASSIGN);
        case ':':
                return next == '=' ? lex_one(l, 2, TOKEN_DECLARE) : complain(l, "expected :=");
        case '|':
                return lex_one(l, 1, TOKEN_PIPE);
        case '"':
                return lex_quoted(l, '"', TOKEN_STRING, "unterminated quoted string");
        case '\'':
                return lex_quoted(l, '\'', TOKEN_CHAR_CONSTANT, "unterminated character constant");
        case '`':
                return lex_raw(l);
        case '$':
                return lex_name(l, TOKEN_VARIABLE, TOKEN_VARIABLE);
        case '.':
                return next >= '0' && next <= '9' ? lex_number(l) : lex_name(l, TOKEN_DOT, TOKEN_FIELD);
        case '(':
        case ')':
                return lex_paren(l, c);
        default:
                return lex_one(l, 1, TOKEN_CHAR);
        }
}

static struct token lex_action(struct lexer *l)
{
        bool trim;
        if (at_right_delimiter(l, l->at, &trim))
                return l->parens ? complain(l, "unclosed left paren") : lex_right(l, trim);
        size_t width;
        int64_t c = peek(l, &width);
        if (c < 0)
                return complain(l, "unclosed action");
        if (is_space((int)c))
                return lex_space(l);
        if (c == '+' || c == '-' || (c >= '0' && c <= '9'))
                return lex_number(l);
        if (is_alphanumeric((uint32_t)c))
                return lex_word(l);
        if (c < 0x20 || c >= 0x7f)
                return complain_of(l, "unrecognized character in action:", (uint32_t)c);
        return lex_symbol(l, (int)c);
}

struct token lexer_next(struct lexer *l)
{
        if (l->failed)
                return (struct token){ TOKEN_EOF, (uint32_t)l->at, l->line, { "", 0 } };
        return l->inside ? lex_action(l) : lex_text(l);
}
