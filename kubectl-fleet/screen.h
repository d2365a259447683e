/* What commands draw with: words in colours, bars, tables and trees on a terminal; the same words without any
 * of it where a program reads along. Pure: everything goes into a buffer. */
#pragma once

#include "common/base/buf.h"
#include "common/base/text.h"

enum tone { TONE_PLAIN, TONE_GOOD, TONE_BUSY, TONE_BAD, TONE_FAINT, TONE_STRONG };

struct screen {
        struct buf *out;
        bool colours;
        bool drawn;       /* bars and the lines of trees */
        unsigned columns; /* lines are cut there; 0 = never */
};

void screen_text(struct screen *s, enum tone tone, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* A line with what is to be typed, as it is: never cut, never in colours. */
void screen_command(struct screen *s, const char *indent, const char *command);
/* Ends the line that began behind `start` (out->len then), cut to the terminal's width. */
void screen_end_line(struct screen *s, size_t start);
size_t screen_width_of(const char *text, size_t n); /* columns: escapes have none, a UTF-8 character one */

/* How many of `total` are how far; the rest waits. */
struct progress {
        size_t good, busy, bad, total;
};
/* "██████░░░░ 6/10", without the bar where none is drawn. Nothing to do is drawn empty: "0/0". */
#define BAR_WIDTH 10
void screen_bar(struct screen *s, const struct progress *p);

/* ---- tables ---- */

#define TABLE_COLUMNS 10
/* Rows are kept until table_print(): then all columns are as wide as their widest cell. Printed in pieces,
 * columns never become narrower. */
struct table {
        struct screen *screen;
        struct buf cells; /* "cell\0cell\0", row by row */
        size_t n_columns, column, rows, widths[TABLE_COLUMNS];
        const char *headers[TABLE_COLUMNS];
        bool headless;
};
void table_open(struct table *t, struct screen *s, const char *const *headers, size_t n, bool headless);
void table_close(struct table *t);
/* Cells of a row one after the other; what is missing at its end stays empty. */
void table_cell(struct table *t, enum tone tone, const char *fmt, ...) PRINTF_LIKE(3, 4);
void table_bar(struct table *t, const struct progress *p);
void table_end_row(struct table *t);
void table_print(struct table *t);

/* ---- trees ---- */

#define TREE_DEPTH 6
struct tree {
        struct screen *screen;
        bool last[TREE_DEPTH]; /* whether the branch at a depth is the last one */
        size_t start;          /* of the line being written */
};
/* Begins the line of a branch: depth 0 is the root. `last`: no other comes behind it at this depth. */
void tree_branch(struct tree *t, size_t depth, bool last);
void tree_end_line(struct tree *t);
