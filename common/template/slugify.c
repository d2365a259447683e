/* Any text as a label value: lower-case letters, digits, dashes and underscores. */
#include "common/template/function_tools.h"

#define LONGEST 63

struct spelling {
        uint16_t letter;
        char text[5];
};

#include "common/template/gen/transliteration.h"

static const char *spelling_of(uint32_t c)
{
        size_t low = 0, high = ARRAY_LEN(spellings);
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (spellings[middle].letter < c)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < ARRAY_LEN(spellings) && spellings[low].letter == c ? spellings[low].text : "";
}

static int put(struct buf *out, size_t begin, char c)
{
        c = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
        bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        if (!kept && out->len > begin && out->data[out->len - 1] == '-')
                return 0; /* one dash for any number of them */
        return buf_append_char(out, kept ? c : '-');
}

static int put_text(struct buf *out, size_t begin, const char *text)
{
        for (; *text; text++)
                TRY(put(out, begin, *text));
        return 0;
}

static int put_rune(struct buf *out, size_t begin, uint32_t c)
{
        if (c == '"' || c == '\'' || c == 0x2019)
                return 0;
        if (c == '&' || c == '@')
                return put_text(out, begin, c == '&' ? "and" : "at");
        if (c >= 0x2012 && c <= 0x2015)
                return put(out, begin, '-');
        return c < 0x80 ? put(out, begin, (char)c) : put_text(out, begin, spelling_of(c));
}

static bool is_border(char c)
{
        return c == '-' || c == '_';
}

static size_t cut_length(const char *text, size_t len)
{
        if (len <= LONGEST)
                return len;
        for (size_t i = LONGEST + 1; i-- > 0;)
                if (text[i] == '-')
                        return i;
        return LONGEST;
}

int template_slugify(struct slice text, struct buf *out)
{
        AUTO_BUF struct buf all;
        size_t width, begin = 0;
        buf_init(&all, out->max);
        text = trim_space(text);
        for (size_t at = 0; at < text.len; at += width) {
                uint32_t c = rune_decode(text.data + at, text.len - at, &width);
                put_rune(&all, 0, c);
        }
        if (all.failed)
                return out->failed = all.failed;
        while (begin < all.len && is_border(all.data[begin]))
                begin++;
        while (all.len > begin && is_border(all.data[all.len - 1]))
                buf_truncate(&all, all.len - 1);
        return buf_append(out, all.data + begin, cut_length(all.data + begin, all.len - begin));
}
