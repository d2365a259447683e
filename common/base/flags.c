#include "common/base/flags.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/timefmt.h"

static int refuse(struct error *err, const char *rule)
{
        return error_set(err, ERR_INVALID, "%s", rule);
}

static int check_range(const struct flag *f, double *value, struct error *err)
{
        char rule[96];

        if ((f->or_negative && *value < 0) || (f->or_zero && *value == 0)) {
                *value = f->or_negative ? -1 : 0;
                return 0;
        }
        if ((f->least == 0 && f->most == 0) || (*value >= f->least && *value <= f->most))
                return 0;
        snprintf(rule, sizeof(rule), "must be between %g and %g", f->least, f->most);
        return refuse(err, rule);
}

static int set_number(const struct flag *f, const char *text, char *field, struct error *err)
{
        double value;
        int64_t whole;

        if (f->type == FLAG_INT) {
                if (!text_parse_i64(text, &whole))
                        return refuse(err, "must be a whole number");
                value = (double)whole;
        } else {
                char *end = NULL;

                value = strtod(text, &end);
                if (text_empty(text) || *end || value != value)
                        return refuse(err, "must be a number");
        }
        TRY(check_range(f, &value, err));
        if (f->type == FLAG_INT) {
                whole = (int64_t)value;
                memcpy(field, &whole, sizeof(whole));
        } else {
                memcpy(field, &value, sizeof(value));
        }
        return 0;
}

/* The fallback is set first, and empties the list. */
static int add_string(const struct flag *f, const char *text, struct flag_strings *list, struct error *err)
{
        if (text == f->fallback)
                *list = (struct flag_strings){ 0 };
        else if (list->n == FLAG_STRINGS_MAX)
                return refuse(err, "is one too many");
        else
                list->at[list->n++] = text;
        return 0;
}

int flag_set_value(const struct flag *f, const char *text, void *options, struct error *err)
{
        char *field = (char *)options + f->offset;
        int64_t ns = 0;
        bool on;

        switch (f->type) {
        case FLAG_STRING:
                memcpy(field, &text, sizeof(text));
                return 0;
        case FLAG_BOOL:
                on = text_equal(text, "true") || text_equal(text, "1") || text_equal(text, "t");
                if (!on && !text_equal(text, "false") && !text_equal(text, "0") && !text_equal(text, "f"))
                        return refuse(err, "must be true or false");
                memcpy(field, &on, sizeof(on));
                return 0;
        case FLAG_DURATION:
                if (duration_parse_go(slice_of(text), &ns) < 0)
                        return refuse(err, "must be a duration like 1m30s");
                ns /= 1000000;
                memcpy(field, &ns, sizeof(ns));
                return 0;
        case FLAG_INT:
        case FLAG_REAL:
                return set_number(f, text, field, err);
        case FLAG_STRINGS:
                return add_string(f, text, (struct flag_strings *)(void *)field, err);
        }
        return 0;
}

static int set_value(const struct flag *f, const char *text, void *options, struct error *err)
{
        if (flag_set_value(f, text, options, err) == 0)
                return 0;
        return error_wrap(err, "invalid value \"%s\" for flag -%s", text, f->name);
}

static const struct flag *find(const struct flag *flags, size_t n, struct slice name)
{
        for (size_t i = 0; i < n; i++)
                if (slice_is(name, flags[i].name))
                        return &flags[i];
        return NULL;
}

/* One flag at argv[*at]; advances over a value in the next word. */
static int parse_one(const struct flag *flags, size_t n, int argc, const char *const *argv, int *at,
                     void *options, struct error *err)
{
        const char *word = argv[*at], *equals = strchr(word, '=');
        struct slice name = { word + 1 + (word[0] == '-' && word[1] == '-'), 0 };
        const struct flag *f;

        if (word[0] != '-' || !name.data[0])
                return error_set(err, ERR_INVALID, "unexpected argument \"%s\"", word);
        name.len = equals ? (size_t)(equals - name.data) : strlen(name.data);
        f = find(flags, n, name);
        if (!f)
                return error_set(err, ERR_INVALID, "flag provided but not defined: -%.*s", (int)name.len,
                                 name.data);
        if (equals)
                return set_value(f, equals + 1, options, err);
        if (f->type == FLAG_BOOL)
                return set_value(f, "true", options, err);
        if (*at + 1 >= argc)
                return error_set(err, ERR_INVALID, "flag needs an argument: -%s", f->name);
        return set_value(f, argv[++*at], options, err);
}

int flags_parse(const struct flag *flags, size_t n, int argc, const char *const *argv, void *options,
                struct error *err)
{
        for (size_t i = 0; i < n; i++)
                TRY(set_value(&flags[i], flags[i].fallback, options, err));
        for (int at = 1; at < argc; at++)
                TRY(parse_one(flags, n, argc, argv, &at, options, err));
        return 0;
}

static bool has_fallback_value(const struct flag *f, const void *options)
{
        const char *field = (const char *)options + f->offset;
        union {
                bool on;
                int64_t whole;
                double real;
                const char *text;
        } fallback = { 0 };
        struct flag alone = *f;
        double real;

        if (f->type == FLAG_STRINGS)
                return ((const struct flag_strings *)field)->n == 0;
        alone.offset = 0;
        if (flag_set_value(&alone, f->fallback, &fallback, NULL) < 0)
                return true;
        switch (f->type) {
        case FLAG_STRING:
                return text_equal(*(const char *const *)field, fallback.text);
        case FLAG_BOOL:
                return *(const bool *)field == fallback.on;
        case FLAG_REAL:
                memcpy(&real, field, sizeof(real));
                return real == fallback.real;
        case FLAG_INT:
        case FLAG_DURATION:
        case FLAG_STRINGS:
                break;
        }
        return *(const int64_t *)field == fallback.whole;
}

void flags_log_missing(const struct flag *flags, size_t n, const void *options, const struct log *log)
{
        for (size_t i = 0; i < n; i++)
                if (flags[i].missing && !has_fallback_value(&flags[i], options))
                        log_warn(log, "a flag asks for what this version does not have", "flag",
                                 flags[i].name, "but", flags[i].missing);
}

static int by_name(const void *a, const void *b)
{
        const struct flag *const *x = a, *const *y = b;

        return strcmp((*x)->name, (*y)->name);
}

int flags_help(const struct flag *flags, size_t n, struct buf *b)
{
        AUTO_FREE const struct flag **sorted = mem_calloc(n + 1, sizeof(*sorted));

        if (!sorted)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
                sorted[i] = &flags[i];
        qsort(sorted, n, sizeof(*sorted), by_name);
        for (size_t i = 0; i < n; i++) {
                const struct flag *f = sorted[i];

                buf_printf(b, "  -%s\n        %s", f->name, f->help);
                if (!text_empty(f->fallback))
                        buf_printf(b, " (default %s)", f->fallback);
                if (f->least != 0 || f->most != 0)
                        buf_printf(b, " [%g to %g]", f->least, f->most);
                buf_append_char(b, '\n');
        }
        return b->failed;
}

int flags_address(const char *text, char host[FLAG_HOST_SIZE], int *ret_port, struct error *err)
{
        const char *colon = text ? strrchr(text, ':') : NULL;
        size_t n = colon ? (size_t)(colon - text) : 0;
        int64_t port;

        *ret_port = -1;
        if (text_empty(text) || text_equal(text, "0"))
                return 0;
        if (!colon || n >= FLAG_HOST_SIZE || !text_parse_i64(colon + 1, &port) || port < 0 || port > 65535)
                return error_set(err, ERR_INVALID, "\"%s\" is not an address like :8081", text);
        snprintf(host, FLAG_HOST_SIZE, "%.*s", n ? (int)n : 7, n ? text : "0.0.0.0");
        *ret_port = (int)port;
        return 0;
}
