#include "kubectl-fleet/screen.h"

#include <stdarg.h>

#define TABLE_MAX (64u << 20)
#define GAP 3 /* between columns */

static const char *const escapes[] = { [TONE_GOOD] = "\033[32m",
                                       [TONE_BUSY] = "\033[33m",
                                       [TONE_BAD] = "\033[31m",
                                       [TONE_FAINT] = "\033[2m",
                                       [TONE_STRONG] = "\033[1m" };
#define RESET "\033[0m"

static void paint(const struct screen *s, enum tone tone, struct buf *b, const char *fmt, va_list args)
{
        char text[4096];
        bool painted = s->colours && tone != TONE_PLAIN;

        vsnprintf(text, sizeof(text), fmt, args);
        for (char *c = text; *c; c++) /* what others wrote must not steer the terminal */
                if ((unsigned char)*c < 0x20 || *c == 0x7f)
                        *c = ' ';
        if (painted)
                buf_append_str(b, escapes[tone]);
        buf_append_str(b, text);
        if (painted)
                buf_append_str(b, RESET);
}

void screen_text(struct screen *s, enum tone tone, const char *fmt, ...)
{
        va_list args;

        va_start(args, fmt);
        paint(s, tone, s->out, fmt, args);
        va_end(args);
}

/* ---- width ---- */

/* Bytes of the next thing, and its columns. */
static size_t step(const char *text, size_t n, size_t *ret_columns)
{
        size_t bytes = 1;

        *ret_columns = 1;
        if (text[0] == '\033') {
                *ret_columns = 0;
                while (bytes < n && text[bytes - 1] != 'm')
                        bytes++;
                return bytes;
        }
        while (bytes < n && ((unsigned char)text[bytes] & 0xc0) == 0x80)
                bytes++;
        return bytes;
}

size_t screen_width_of(const char *text, size_t n)
{
        size_t width = 0, columns;

        for (size_t at = 0; at < n; width += columns)
                at += step(text + at, n - at, &columns);
        return width;
}

void screen_end_line(struct screen *s, size_t start)
{
        struct buf *b = s->out;
        size_t at = start, width = 0, columns = 0, cut = 0;

        while (b->len > start && b->data[b->len - 1] == ' ')
                b->len--;
        while (s->columns && at < b->len) {
                size_t bytes = step(b->data + at, b->len - at, &columns);

                if (width + columns > s->columns)
                        break;
                if (width + columns == s->columns && columns)
                        cut = at; /* gives way to the sign that something was cut */
                width += columns;
                at += bytes;
        }
        if (s->columns && at < b->len) {
                b->len = cut;
                buf_append_str(b, "…");
                if (s->colours)
                        buf_append_str(b, RESET);
        }
        buf_append_char(b, '\n');
}

void screen_command(struct screen *s, const char *indent, const char *command)
{
        screen_text(s, TONE_PLAIN, "%s%s", indent, command);
        buf_append_char(s->out, '\n');
}

/* ---- bars ---- */

static void draw_part(const struct screen *s, enum tone tone, const char *block, size_t n, struct buf *b)
{
        if (n == 0)
                return;
        if (s->colours)
                buf_append_str(b, escapes[tone]);
        for (size_t i = 0; i < n; i++)
                buf_append_str(b, block);
        if (s->colours)
                buf_append_str(b, RESET);
}

/* Where a part that ends at `n` of `total` ends in the bar: never full before all of it is there, never empty
 * where there is something. */
static size_t end_in_bar(size_t n, size_t total)
{
        size_t at = total ? n * BAR_WIDTH / total : 0;

        return n > 0 && at == 0 ? 1 : at;
}

static void draw_bar(const struct screen *s, const struct progress *p, struct buf *b)
{
        size_t good = end_in_bar(p->good, p->total);
        size_t bad = MAX(end_in_bar(p->good + p->bad, p->total), good + (p->bad > 0));
        size_t busy = MAX(end_in_bar(p->good + p->bad + p->busy, p->total), bad + (p->busy > 0));

        busy = MIN(busy, BAR_WIDTH);
        bad = MIN(bad, busy - (busy == BAR_WIDTH && p->busy > 0));
        good = MIN(good, bad - (bad > 0 && p->bad > 0 && good == bad));
        draw_part(s, TONE_GOOD, "█", good, b);
        draw_part(s, TONE_BAD, "█", bad - good, b);
        draw_part(s, TONE_BUSY, "▒", busy - bad, b);
        draw_part(s, TONE_FAINT, "░", BAR_WIDTH - busy, b);
        buf_append_char(b, ' ');
}

static void write_bar(const struct screen *s, const struct progress *p, struct buf *b)
{
        if (s->drawn)
                draw_bar(s, p, b);
        buf_printf(b, "%zu/%zu", p->good, p->total);
}

void screen_bar(struct screen *s, const struct progress *p)
{
        write_bar(s, p, s->out);
}

/* ---- tables ---- */

void table_open(struct table *t, struct screen *s, const char *const *headers, size_t n, bool headless)
{
        ASSERT(n <= TABLE_COLUMNS);
        *t = (struct table){ .screen = s, .n_columns = n, .headless = headless };
        buf_init(&t->cells, TABLE_MAX);
        for (size_t i = 0; i < n; i++) {
                t->headers[i] = headers[i];
                t->widths[i] = headless ? 0 : strlen(headers[i]);
        }
}

void table_close(struct table *t)
{
        buf_free(&t->cells);
}

static void end_cell(struct table *t, size_t start)
{
        size_t width = screen_width_of(t->cells.data + start, t->cells.len - start);

        ASSERT(t->column < t->n_columns);
        t->widths[t->column] = MAX(t->widths[t->column], width);
        t->column++;
        buf_append_char(&t->cells, '\0');
}

void table_cell(struct table *t, enum tone tone, const char *fmt, ...)
{
        size_t start = t->cells.len;
        va_list args;

        va_start(args, fmt);
        paint(t->screen, tone, &t->cells, fmt, args);
        va_end(args);
        end_cell(t, start);
}

void table_bar(struct table *t, const struct progress *p)
{
        size_t start = t->cells.len;

        write_bar(t->screen, p, &t->cells);
        end_cell(t, start);
}

void table_end_row(struct table *t)
{
        while (t->column < t->n_columns)
                end_cell(t, t->cells.len);
        t->column = 0;
        t->rows++;
}

static void print_cell(struct table *t, size_t column, const char *text, size_t n)
{
        size_t width = screen_width_of(text, n);

        buf_append(t->screen->out, text, n);
        if (column + 1 < t->n_columns)
                for (size_t i = width; i < t->widths[column] + GAP; i++)
                        buf_append_char(t->screen->out, ' ');
}

void table_print(struct table *t)
{
        const char *cell = t->cells.data;
        size_t start = t->screen->out->len;

        if (!t->headless && t->rows) {
                for (size_t i = 0; i < t->n_columns; i++)
                        print_cell(t, i, t->headers[i], strlen(t->headers[i]));
                screen_end_line(t->screen, start);
                t->headless = true; /* once */
        }
        for (size_t row = 0; row < t->rows; row++) {
                start = t->screen->out->len;
                for (size_t i = 0; i < t->n_columns; i++) {
                        size_t n = strlen(cell);

                        print_cell(t, i, cell, n);
                        cell += n + 1;
                }
                screen_end_line(t->screen, start);
        }
        t->rows = 0;
        buf_clear(&t->cells);
}

/* ---- trees ---- */

void tree_branch(struct tree *t, size_t depth, bool last)
{
        struct screen *s = t->screen;

        ASSERT(depth < TREE_DEPTH);
        t->last[depth] = last;
        t->start = s->out->len;
        for (size_t i = 1; i <= depth; i++) {
                const char *line = i < depth ? (t->last[i] ? "   " : "│  ") : (last ? "└─ " : "├─ ");

                if (s->drawn)
                        screen_text(s, TONE_FAINT, "%s", line);
                else
                        buf_append_str(s->out, "  ");
        }
}

void tree_end_line(struct tree *t)
{
        screen_end_line(t->screen, t->start);
}
