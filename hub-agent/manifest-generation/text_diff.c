#include "hub-agent/manifest-generation/text_diff.h"

#define AHEAD 200 /* lines of both sides together in which equal ones are looked for */

struct lines {
        struct slice *at;
        size_t n;
};

static int split(struct arena *arena, struct slice text, struct lines *ret)
{
        struct slice line;

        *ret = (struct lines){ 0 };
        for (size_t i = 0; i < text.len; i++)
                ret->n += text.data[i] == '\n' || i + 1 == text.len;
        ret->at = ARENA_NEW_ARRAY(arena, struct slice, ret->n + 1);
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < ret->n; i++) {
                (void)slice_cut(&text, '\n', &line);
                ret->at[i] = line;
        }
        return 0;
}

static bool is_end(const struct lines *a, const struct lines *b, size_t i, size_t k)
{
        return i == a->n && k == b->n;
}

/* Two lines in a row, or the last ones: a brace alone is found everywhere. */
static bool goes_on(const struct lines *a, const struct lines *b, size_t i, size_t k)
{
        if (is_end(a, b, i, k))
                return true;
        if (i >= a->n || k >= b->n || !slice_equal(a->at[i], b->at[k]))
                return false;
        return is_end(a, b, i + 1, k + 1) ||
               (i + 1 < a->n && k + 1 < b->n && slice_equal(a->at[i + 1], b->at[k + 1]));
}

/* The nearest place where both go on alike, else the end of both. */
static void find_end(const struct lines *a, const struct lines *b, size_t *i, size_t *k)
{
        for (size_t both = 1; both <= AHEAD; both++)
                for (size_t left = 0; left <= both; left++)
                        if (*i + left <= a->n && *k + both - left <= b->n &&
                            goes_on(a, b, *i + left, *k + both - left)) {
                                *i += left;
                                *k += both - left;
                                return;
                        }
        *i = a->n;
        *k = b->n;
}

static void write_lines(const struct lines *l, size_t from, size_t to, char mark, struct buf *b)
{
        for (size_t i = from; i < to; i++) {
                (void)buf_append_char(b, mark);
                (void)buf_append(b, l->at[i].data, l->at[i].len);
                (void)buf_append_char(b, '\n');
        }
}

static void write_hunk(const struct lines *a, size_t i, size_t to_i, const struct lines *b, size_t k,
                       size_t to_k, struct buf *out)
{
        (void)buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", to_i > i ? i + 1 : i, to_i - i,
                         to_k > k ? k + 1 : k, to_k - k);
        write_lines(a, i, to_i, '-', out);
        write_lines(b, k, to_k, '+', out);
}

int text_diff(struct arena *arena, const char *path, struct slice before, struct slice after, struct buf *b)
{
        struct lines was, is;
        size_t i = 0, k = 0;

        if (slice_equal(before, after) && !before.data == !after.data)
                return 0;
        TRY(split(arena, before, &was));
        TRY(split(arena, after, &is));
        (void)buf_printf(b, "--- %s\n+++ %s\n", before.data ? path : "/dev/null",
                         after.data ? path : "/dev/null");
        while (!is_end(&was, &is, i, k) && !b->failed) {
                size_t to_i = i, to_k = k;

                if (i < was.n && k < is.n && slice_equal(was.at[i], is.at[k])) {
                        i++;
                        k++;
                        continue;
                }
                find_end(&was, &is, &to_i, &to_k);
                write_hunk(&was, i, to_i, &is, k, to_k, b);
                i = to_i;
                k = to_k;
        }
        return b->failed;
}
