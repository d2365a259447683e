/* Cuts CEL source into tokens; decodes literals. */
#include <errno.h>
#include <stdarg.h>

#include "common/base/unicode.h"
#include "common/json/cel_lex.h"

/* The line that is complained of, and dots up to the place, as CEL prints them. */
static int append_excerpt(struct buf *b, const char *line, size_t column)
{
        TRY(buf_printf(b, "\n | %.*s\n | ", (int)strcspn(line, "\n"), line));
        for (size_t i = 1; i < column; i++)
                TRY(buf_append_char(b, '.'));
        return buf_append_char(b, '^');
}

int cel_source_error(struct error *err, const char *source, size_t at, const char *text)
{
        AUTO_BUF struct buf excerpt;
        const char *begin = source;
        size_t line = 1, column;
        for (size_t i = 0; i < at; i++)
                if (source[i] == '\n') {
                        begin = source + i + 1;
                        line++;
                }
        column = (size_t)(source + at - begin) + 1;
        buf_init(&excerpt, ERROR_TEXT_MAX);
        if (append_excerpt(&excerpt, begin, column) < 0) /* too long to be shown */
                buf_clear(&excerpt);
        return error_set(err, ERR_INVALID, "ERROR: <input>:%zu:%zu: %s%s", line, column, text,
                         excerpt.len ? excerpt.data : "");
}

int cel_lex_error(struct cel_lexer *lex, const char *fmt, ...)
{
        char text[256];
        va_list args;
        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        return cel_source_error(lex->err, lex->source, (size_t)(lex->token_begin - lex->source), text);
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_value(char c)
{
        if (is_digit(c))
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* --- Numbers
 * ------------------------------------------------------------------------------------------------- */

static int lex_integer(struct cel_lexer *lex, const char *digits, int base)
{
        char number[80];
        size_t n = (size_t)(lex->at - digits);
        if (!n || n >= sizeof(number))
                return cel_lex_error(lex, "Syntax error: invalid number");
        memcpy(number, digits, n);
        number[n] = '\0';
        errno = 0;
        uint64_t value = strtoull(number, NULL, base);
        bool overflow = errno == ERANGE;
        if (lex->at < lex->end && (*lex->at == 'u' || *lex->at == 'U')) {
                lex->at++;
                lex->constant = (struct cel_value){ .kind = CEL_UINT, .uinteger = value };
                return overflow ? cel_lex_error(lex, "invalid uint literal") : 0;
        }
        if (overflow || value > (uint64_t)INT64_MAX + 1)
                return cel_lex_error(lex, "invalid int literal");
        lex->token = value > INT64_MAX ? CEL_TOKEN_INT_MIN : CEL_TOKEN_CONSTANT;
        lex->constant = cel_int((int64_t)value);
        return 0;
}

static void skip_digits(struct cel_lexer *lex)
{
        while (lex->at < lex->end && is_digit(*lex->at))
                lex->at++;
}

/* Steps over ".5" and "e-3"; true if there was any. */
static bool skip_fraction(struct cel_lexer *lex)
{
        const char *begin = lex->at;
        if (lex->end - lex->at > 1 && *lex->at == '.' && is_digit(lex->at[1])) {
                lex->at++;
                skip_digits(lex);
        }
        if (lex->at < lex->end && (*lex->at | 0x20) == 'e') {
                const char *e = lex->at++;
                if (lex->at < lex->end && (*lex->at == '+' || *lex->at == '-'))
                        lex->at++;
                if (lex->at >= lex->end || !is_digit(*lex->at))
                        lex->at = e;
                else
                        skip_digits(lex);
        }
        return lex->at > begin;
}

static int lex_number(struct cel_lexer *lex)
{
        lex->token = CEL_TOKEN_CONSTANT;
        if (lex->end - lex->at > 2 && lex->at[0] == '0' && lex->at[1] == 'x' && hex_value(lex->at[2]) >= 0) {
                const char *digits = lex->at += 2;
                while (lex->at < lex->end && hex_value(*lex->at) >= 0)
                        lex->at++;
                return lex_integer(lex, digits, 16);
        }
        const char *begin = lex->at;
        skip_digits(lex);
        if (!skip_fraction(lex))
                return lex_integer(lex, begin, 10);
        char number[64];
        if ((size_t)(lex->at - begin) >= sizeof(number))
                return cel_lex_error(lex, "Syntax error: number too long");
        memcpy(number, begin, (size_t)(lex->at - begin));
        number[lex->at - begin] = '\0';
        lex->constant = cel_double(strtod(number, NULL));
        return 0;
}

/* --- Strings
 * ------------------------------------------------------------------------------------------------- */

/* \xHH, \uHHHH, \UHHHHHHHH, \OOO; at the first digit. */
static int lex_code(struct cel_lexer *lex, const char *end, size_t digits, int base, uint32_t *ret)
{
        uint32_t value = 0;
        for (size_t i = 0; i < digits; i++) {
                int digit = lex->at < end ? hex_value(*lex->at) : -1;
                if (digit < 0 || digit >= base)
                        return cel_lex_error(lex, "Syntax error: invalid escape sequence");
                value = value * (uint32_t)base + (uint32_t)digit;
                lex->at++;
        }
        *ret = value;
        return 0;
}

static int lex_escape(struct cel_lexer *lex, const char *end, bool bytes, char *out, size_t *n)
{
        static const char letters[] = "abfnrtv\\?\"'`", values[] = "\a\b\f\n\r\t\v\\?\"'`";
        char c = lex->at < end ? *lex->at++ : '\0';
        const char *letter = c ? strchr(letters, c) : NULL;
        uint32_t code = 0;
        bool raw_byte = bytes;
        if (letter) {
                code = (unsigned char)values[letter - letters];
        } else if (c == 'x' || c == 'X') {
                TRY(lex_code(lex, end, 2, 16, &code));
        } else if (c >= '0' && c <= '3') {
                lex->at--;
                TRY(lex_code(lex, end, 3, 8, &code));
        } else if ((c == 'u' || c == 'U') && !bytes) {
                raw_byte = false;
                TRY(lex_code(lex, end, c == 'u' ? 4 : 8, 16, &code));
        } else {
                return cel_lex_error(lex, "Syntax error: invalid escape sequence");
        }
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
                return cel_lex_error(lex, "Syntax error: invalid code point in escape sequence");
        if (raw_byte)
                out[(*n)++] = (char)code;
        else
                *n += rune_encode(code, out + *n);
        return 0;
}

static int decode_string(struct cel_lexer *lex, const char *end, bool raw, bool bytes)
{
        /* No escape is longer decoded than written. */
        char *out = arena_alloc(lex->arena, (size_t)(end - lex->at) + 1);
        size_t n = 0;
        if (!out)
                return error_no_memory(lex->err);
        while (lex->at < end) {
                char c = *lex->at++;
                if (c == '\\' && !raw)
                        TRY(lex_escape(lex, end, bytes, out, &n));
                else
                        out[n++] = c;
        }
        out[n] = '\0';
        lex->token = CEL_TOKEN_CONSTANT;
        lex->constant = cel_text(bytes ? CEL_BYTES : CEL_STRING, out, n);
        return 0;
}

static int lex_string(struct cel_lexer *lex, bool raw, bool bytes)
{
        char quote = *lex->at;
        char triple[4] = { quote, quote, quote, '\0' };
        bool long_form = lex->end - lex->at >= 3 && !memcmp(lex->at, triple, 3);
        size_t width = long_form ? 3 : 1;
        const char *end = lex->at += width;
        for (;; end++) {
                if (end >= lex->end || (!long_form && *end == '\n'))
                        return cel_lex_error(lex, "Syntax error: unterminated string");
                if (*end == '\\' && !raw)
                        end++;
                else if ((size_t)(lex->end - end) >= width && !memcmp(end, triple, width))
                        break;
        }
        TRY(decode_string(lex, end, raw, bytes));
        lex->at = end + width;
        return 0;
}

/* r"", b"", rb"" and their kin; *ret_done says whether there was one. */
static int lex_prefixed_string(struct cel_lexer *lex, bool *ret_done)
{
        const char *c = lex->at;
        bool raw = false, bytes = false;
        while (c < lex->end && c - lex->at < 2 &&
               (((*c | 0x20) == 'r' && !raw) || ((*c | 0x20) == 'b' && !bytes))) {
                raw |= (*c | 0x20) == 'r';
                bytes |= (*c | 0x20) == 'b';
                c++;
        }
        *ret_done = c < lex->end && (*c == '"' || *c == '\'');
        if (!*ret_done)
                return 0;
        lex->at = c;
        return lex_string(lex, raw, bytes);
}

/* --- The rest
 * ------------------------------------------------------------------------------------------------ */

static void skip_blanks(struct cel_lexer *lex)
{
        for (; lex->at < lex->end; lex->at++) {
                if (lex->end - lex->at > 1 && lex->at[0] == '/' && lex->at[1] == '/')
                        while (lex->at + 1 < lex->end && lex->at[1] != '\n')
                                lex->at++;
                else if (!strchr(" \t\r\n\f", *lex->at) || !*lex->at)
                        break;
        }
}

static int lex_backticks(struct cel_lexer *lex)
{
        const char *begin = ++lex->at;
        while (lex->at < lex->end && *lex->at != '`' && *lex->at != '\n')
                lex->at++;
        if (lex->at >= lex->end || *lex->at != '`' || lex->at == begin)
                return cel_lex_error(lex, "Syntax error: unterminated quoted identifier");
        lex->token = CEL_TOKEN_QUOTED;
        lex->text = (struct slice){ begin, (size_t)(lex->at++ - begin) };
        return 0;
}

static int lex_punctuation(struct cel_lexer *lex)
{
        static const char *const pairs[] = { "&&", "||", "==", "!=", "<=", ">=" };
        size_t width = 1;
        for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
                if (lex->end - lex->at > 1 && !memcmp(lex->at, pairs[i], 2))
                        width = 2;
        if (width == 1 && (!*lex->at || !strchr("()[]{}.,?:!<>+-*/%", *lex->at)))
                return cel_lex_error(lex, "Syntax error: token recognition error at: '%c'", *lex->at);
        lex->token = CEL_TOKEN_PUNCTUATION;
        lex->text = (struct slice){ lex->at, width };
        lex->at += width;
        return 0;
}

int cel_lex_next(struct cel_lexer *lex)
{
        skip_blanks(lex);
        lex->token_begin = lex->at;
        lex->text = (struct slice){ lex->at, 0 };
        if (lex->at >= lex->end) {
                lex->token = CEL_TOKEN_END;
                return 0;
        }
        char c = *lex->at;
        bool done = false;
        if (is_digit(c) || (c == '.' && lex->end - lex->at > 1 && is_digit(lex->at[1])))
                return lex_number(lex);
        if (c == '`')
                return lex_backticks(lex);
        TRY(lex_prefixed_string(lex, &done));
        if (done)
                return 0;
        if (!is_letter(c))
                return lex_punctuation(lex);
        while (lex->at < lex->end && (is_letter(*lex->at) || is_digit(*lex->at)))
                lex->at++;
        lex->token = CEL_TOKEN_IDENTIFIER;
        lex->text.len = (size_t)(lex->at - lex->text.data);
        return 0;
}
