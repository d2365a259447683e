#include "common/base/posix_flags.h"

#include "common/base/memory.h"
#include "common/base/text.h"

/* ---- looking up ---- */

static const struct flag *by_name(const struct flag_table *tables, size_t n, struct slice name)
{
        for (size_t t = 0; t < n; t++)
                for (size_t i = 0; i < tables[t].n; i++)
                        if (slice_is(name, tables[t].flags[i].name))
                                return &tables[t].flags[i];
        return NULL;
}

static const struct flag *by_letter(const struct flag_table *tables, size_t n, char letter)
{
        for (size_t t = 0; t < n; t++)
                for (size_t i = 0; i < tables[t].n; i++)
                        if (letter && tables[t].flags[i].letter == letter)
                                return &tables[t].flags[i];
        return NULL;
}

bool posix_flag_given(const struct posix_line *l, const char *name)
{
        for (size_t i = 0; i < l->n_given; i++)
                if (text_equal(l->given[i]->name, name))
                        return true;
        return false;
}

const struct flag *posix_flag_of_word(const struct flag_table *tables, size_t n, const char *word,
                                      bool *ret_wants)
{
        struct slice rest = slice_of(word), name = { 0 };
        const struct flag *f;
        bool has_value;

        *ret_wants = false;
        if (word[0] != '-' || !word[1])
                return NULL;
        if (word[1] == '-') {
                rest = slice_of(word + 2);
                has_value = slice_cut(&rest, '=', &name);
                f = by_name(tables, n, name);
                *ret_wants = f && f->type != FLAG_BOOL && !has_value;
                return f;
        }
        f = by_letter(tables, n, word[1]);
        for (size_t i = 2; f && f->type == FLAG_BOOL && word[i] && word[i] != '='; i++)
                f = by_letter(tables, n, word[i]);
        *ret_wants = f && f->type != FLAG_BOOL && word[strlen(word) - 1] == f->letter;
        return f;
}

/* ---- parsing ---- */

struct parsing {
        const struct flag_table *tables;
        size_t n;
        const char *const *argv;
        int argc, at;
        void *options;
        struct posix_line *line;
        bool open;
        struct error *err;
};

static int note_given(struct parsing *p, const struct flag *f)
{
        if (p->line->n_given == POSIX_WORDS_MAX)
                return error_set(p->err, ERR_LIMIT, "more than %d flags", POSIX_WORDS_MAX);
        p->line->given[p->line->n_given++] = f;
        return 0;
}

static int take_value(struct parsing *p, const struct flag *f, const char *value)
{
        int code = flag_set_value(f, value, p->options, p->err);

        if (code < 0 && f->letter)
                return error_wrap(p->err, "invalid argument \"%s\" for \"-%c, --%s\" flag", value, f->letter,
                                  f->name);
        if (code < 0)
                return error_wrap(p->err, "invalid argument \"%s\" for \"--%s\" flag", value, f->name);
        return note_given(p, f);
}

/* The value in the next word. */
static int take_next(struct parsing *p, const struct flag *f, const char *letters)
{
        if (p->at + 1 < p->argc)
                return take_value(p, f, p->argv[++p->at]);
        if (p->open) {
                p->line->open = f;
                return 0;
        }
        if (letters)
                return error_set(p->err, ERR_INVALID, "flag needs an argument: '%c' in -%s", f->letter,
                                 letters);
        return error_set(p->err, ERR_INVALID, "flag needs an argument: --%s", f->name);
}

static int take_long(struct parsing *p, const char *word)
{
        struct slice rest = slice_of(word), name;
        bool has_value = slice_cut(&rest, '=', &name);
        const struct flag *f = by_name(p->tables, p->n, name);

        if (name.len == 0 || name.data[0] == '-')
                return error_set(p->err, ERR_INVALID, "bad flag syntax: --%s", word);
        if (!f)
                return error_set(p->err, ERR_INVALID, "unknown flag: --%.*s", (int)name.len, name.data);
        if (has_value)
                return take_value(p, f, rest.data);
        return f->type == FLAG_BOOL ? take_value(p, f, "true") : take_next(p, f, NULL);
}

static int take_letters(struct parsing *p, const char *letters)
{
        for (const char *l = letters; *l; l++) {
                const struct flag *f = by_letter(p->tables, p->n, *l);

                if (!f)
                        return error_set(p->err, ERR_INVALID, "unknown shorthand flag: '%c' in -%s", *l,
                                         letters);
                if (l[1] == '=')
                        return take_value(p, f, l + 2);
                if (f->type != FLAG_BOOL)
                        return l[1] ? take_value(p, f, l + 1) : take_next(p, f, l);
                TRY(take_value(p, f, "true"));
        }
        return 0;
}

static int take_word(struct parsing *p, const char *word)
{
        struct posix_line *l = p->line;

        if (!l->words_only && text_equal(word, "--")) {
                l->words_only = true;
                return 0;
        }
        if (!l->words_only && word[0] == '-' && word[1])
                return word[1] == '-' ? take_long(p, word + 2) : take_letters(p, word + 1);
        if (l->n_words == POSIX_WORDS_MAX)
                return error_set(p->err, ERR_LIMIT, "more than %d words", POSIX_WORDS_MAX);
        l->words[l->n_words++] = word;
        return 0;
}

static int parse(struct parsing *p)
{
        *p->line = (struct posix_line){ 0 };
        for (size_t t = 0; t < p->n; t++)
                for (size_t i = 0; i < p->tables[t].n; i++)
                        TRY(flag_set_value(&p->tables[t].flags[i], p->tables[t].flags[i].fallback, p->options,
                                           p->err));
        for (; p->at < p->argc; p->at++)
                TRY(take_word(p, p->argv[p->at]));
        return 0;
}

int posix_flags_parse(const struct flag_table *tables, size_t n, int argc, const char *const *argv,
                      void *options, struct posix_line *ret, struct error *err)
{
        struct parsing p = { .tables = tables,
                             .n = n,
                             .argc = argc,
                             .argv = argv,
                             .options = options,
                             .line = ret,
                             .err = err };

        return parse(&p);
}

int posix_flags_parse_open(const struct flag_table *tables, size_t n, int argc, const char *const *argv,
                           void *options, struct posix_line *ret, struct error *err)
{
        struct parsing p = { .tables = tables,
                             .n = n,
                             .argc = argc,
                             .argv = argv,
                             .options = options,
                             .line = ret,
                             .open = true,
                             .err = err };

        return parse(&p);
}

/* ---- help ---- */

static const char *value_name(const struct flag *f)
{
        static const char *const names[] = {
                [FLAG_BOOL] = "",         [FLAG_INT] = "int",           [FLAG_REAL] = "float",
                [FLAG_STRING] = "string", [FLAG_DURATION] = "duration", [FLAG_STRINGS] = "stringArray"
        };

        return f->placeholder ? f->placeholder : names[f->type];
}

static void print_head(const struct flag *f, struct buf *b)
{
        const char *value = value_name(f);

        if (f->letter)
                buf_printf(b, "  -%c, --%s", f->letter, f->name);
        else
                buf_printf(b, "      --%s", f->name);
        if (*value)
                buf_printf(b, " %s", value);
}

static void print_flag(const struct flag *f, size_t width, struct buf *b)
{
        size_t start = b->len, used;
        bool plain = f->type == FLAG_BOOL && text_equal(f->fallback, "false");

        print_head(f, b);
        used = b->len - start;
        buf_printf(b, "%*s%s", (int)(width - used + 3), "", f->help);
        if (!text_empty(f->fallback) && !plain)
                buf_printf(b, f->type == FLAG_STRING ? " (default \"%s\")" : " (default %s)", f->fallback);
        buf_append_char(b, '\n');
}

static int compare_names(const void *a, const void *b)
{
        const struct flag *const *x = a, *const *y = b;

        return strcmp((*x)->name, (*y)->name);
}

int posix_flags_help(const struct flag_table *table, struct buf *b)
{
        AUTO_FREE const struct flag **sorted = mem_calloc(table->n + 1, sizeof(*sorted));
        AUTO_BUF struct buf head;
        size_t width = 0;

        buf_init(&head, 4096);
        if (!sorted)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < table->n; i++) {
                sorted[i] = &table->flags[i];
                buf_clear(&head);
                print_head(sorted[i], &head);
                width = MAX(width, head.len);
        }
        qsort(sorted, table->n, sizeof(*sorted), compare_names);
        for (size_t i = 0; i < table->n; i++)
                print_flag(sorted[i], width, b);
        return b->failed;
}
