#include "hub-agent/manifest-generation/documents.h"

bool document_is_marker(struct slice line)
{
        return line.len >= 3 && memcmp(line.data, "---", 3) == 0 &&
               (line.len == 3 || line.data[3] == ' ' || line.data[3] == '\t' || line.data[3] == '\r');
}

static bool says_nothing(struct slice line)
{
        struct slice text = slice_trim(line);

        return !text.len || text.data[0] == '#' || line.data[0] == '%';
}

struct slice document_line(struct slice text, size_t at)
{
        const char *end = memchr(text.data + at, '\n', text.len - at);

        return (struct slice){ text.data + at, end ? (size_t)(end - text.data) - at : text.len - at };
}

bool document_next(struct document_cutter *s, struct slice *ret, size_t *ret_line)
{
        struct slice all = s->rest;
        size_t at = 0, lines = 0, begin = 0, begin_line = s->line;
        bool marked = false, any = false;

        if (!all.len)
                return false;
        while (at < all.len) {
                struct slice line = document_line(all, at);

                if (document_is_marker(line) && (marked || any))
                        break;
                marked = marked || document_is_marker(line);
                any = any || !says_nothing(line);
                at += MIN(line.len + 1, all.len - at);
                lines++;
                /* a marker alone is left out, which JSON would not have */
                if (document_is_marker(line) && slice_trim(line).len == 3 && lines == 1) {
                        begin = at;
                        begin_line = s->line + 1;
                }
        }
        *ret = (struct slice){ all.data + begin, at - begin };
        *ret_line = begin_line;
        s->rest = (struct slice){ all.data + at, all.len - at };
        s->line += lines;
        return true;
}
