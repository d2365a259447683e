#include "hub-agent/manifest-generation/update/words.h"

#include "common/base/unicode.h"

/* An escape takes at most four bytes a byte. */
const char *words_quote(struct arena *arena, const char *s)
{
        AUTO_BUF struct buf b;
        size_t n = strlen(s);

        buf_init(&b, 4 * n + 16);
        if (write_quoted(&b, (struct slice){ s, n }, QUOTE_PLAIN) < 0)
                return NULL;
        return arena_strndup(arena, b.data, b.len);
}

const char *words_slice(struct arena *arena, struct slice s)
{
        return arena_strndup(arena, s.len ? s.data : "", s.len);
}

struct words_lines words_lines_of(const char *text)
{
        return (struct words_lines){ .rest = slice_of(text) };
}

bool words_next_line(struct words_lines *l, struct slice *ret)
{
        while (!l->over) {
                struct slice line;

                l->over = !slice_cut(&l->rest, '\n', &line);
                l->line++;
                *ret = slice_trim(line);
                if (ret->len > 0)
                        return true;
        }
        return false;
}

size_t words_count_lines(const char *text)
{
        struct words_lines l = words_lines_of(text);
        struct slice line;
        size_t n = 0;

        while (words_next_line(&l, &line))
                n++;
        return n;
}

int words_compare(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void *words_grow(struct arena *arena, void *at, size_t n, size_t *cap, size_t item_size)
{
        size_t more = n ? 2 * n : 8;
        void *larger;

        if (n < *cap)
                return at;
        larger = arena_calloc(arena, more, item_size);
        if (!larger)
                return NULL;
        if (n)
                memcpy(larger, at, n * item_size);
        *cap = more;
        return larger;
}
