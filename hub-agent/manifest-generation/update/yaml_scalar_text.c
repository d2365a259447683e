/* Strings as scalars of YAML. */
#include "common/base/unicode.h"
#include "common/json/yaml.h"
#include "hub-agent/manifest-generation/update/yaml_edit_internal.h"

static bool is_letter_or_digit(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Whether it is that string without quotes to all readers, in brackets too. What is rare is quoted. */
static bool is_plain(const char *s, bool flow)
{
        size_t n = strlen(s);

        if (n == 0 || (!is_letter_or_digit(*s) && *s != '_' && *s != '/'))
                return false;
        for (size_t i = 0; i < n; i++) {
                if (is_letter_or_digit(s[i]) || strchr("_./@+=~*-", s[i]))
                        continue;
                if (s[i] != ':' || i + 1 == n || (flow && !is_letter_or_digit(s[i + 1])))
                        return false;
        }
        return !yaml_needs_quotes((struct slice){ s, n });
}

/* Characters that libyaml reads, or others with it, only as escapes. */
static bool is_escaped(uint32_t c)
{
        return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
               c == 0xfffe || c == 0xffff;
}

static int write_escaped(struct buf *b, uint32_t c)
{
        switch (c) {
        case '\n':
                return buf_append_str(b, "\\n");
        case '\t':
                return buf_append_str(b, "\\t");
        case '\r':
                return buf_append_str(b, "\\r");
        default:
                return buf_printf(b, "\\u%04x", c);
        }
}

static int write_double_quoted(struct buf *b, const char *s, size_t n)
{
        buf_append_char(b, '"');
        for (size_t i = 0, width; i < n; i += width) {
                uint32_t c = rune_decode(s + i, n - i, &width);

                if (is_escaped(c))
                        write_escaped(b, c);
                else if (c == '"' || c == '\\')
                        buf_printf(b, "\\%c", (char)c);
                else
                        buf_append(b, s + i, width);
        }
        return buf_append_char(b, '"');
}

static bool fits_single_quotes(const char *s, size_t n)
{
        for (size_t i = 0, width; i < n; i += width)
                if (is_escaped(rune_decode(s + i, n - i, &width)))
                        return false;
        return true;
}

static int write_single_quoted(struct buf *b, const char *s)
{
        buf_append_char(b, '\'');
        for (; *s; s++)
                buf_append_str(b, *s == '\'' ? "''" : (char[]){ *s, 0 });
        return buf_append_char(b, '\'');
}

int edit_write_scalar(struct buf *b, const char *value, enum yaml_part_style style, bool flow)
{
        size_t n = strlen(value);

        if (style == YAML_PART_SINGLE_QUOTED && fits_single_quotes(value, n))
                return write_single_quoted(b, value);
        if (style != YAML_PART_DOUBLE_QUOTED && style != YAML_PART_SINGLE_QUOTED && is_plain(value, flow))
                return buf_append_str(b, value);
        return write_double_quoted(b, value, n);
}
