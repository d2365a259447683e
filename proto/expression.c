#include "proto/expression.h"

#include <ctype.h>
#include <stdlib.h>

#include "common/base/text.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define SERIES_MAX 16 /* in one expression */
#define NAME_MAX_LEN 128

/* Of a scraped target. A metric's own `namespace` stands beside the pod's as `exported_namespace`. */
static const char *const given_labels[] = { "job", "instance", "namespace", "pod", "exported_namespace" };

/* What may stand in an expression beside series, labels and numbers. */
static const char *const words[] = {
        "rate",        "increase", "changes",    "sum",  "max",    "min",       "count",
        "by",          "without",  "on",         "and",  "or",     "unless",    "ignoring",
        "bool",        "offset",   "group_left", "time", "absent", "clamp_min", "histogram_quantile",
        "group_right", "topk",     "vector"
};

static const char *const lists[] = { "by", "without", "on", "ignoring", "group_left", "group_right" };

struct series {
        const struct metric_family *family; /* or */
        const struct recorded *recorded;
        bool is_bucket;
};

struct reading {
        const struct expression_scope *scope;
        const char *text, *at;
        struct series series[SERIES_MAX];
        size_t n;
        struct buf *out; /* NULL: only read */
        struct error *err;
};

static bool has(const char *const *list, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (text_equal(list[i], name))
                        return true;
        return false;
}

static bool has_until_null(const char *const *list, const char *name)
{
        for (; list && *list; list++)
                if (text_equal(*list, name))
                        return true;
        return false;
}

static bool series_has(const struct series *s, const char *label)
{
        if (s->recorded)
                return has_until_null(s->recorded->labels, label);
        return (s->is_bucket && text_equal(label, "le")) || has_until_null(s->family->labels, label);
}

static int put(struct reading *r, const char *text, size_t n)
{
        return r->out ? buf_append(r->out, text, n) : 0;
}

/* Copies the name at r->at and goes behind it. */
static int take_name(struct reading *r, const char *chars, char ret[NAME_MAX_LEN])
{
        size_t n = strspn(r->at, chars);

        if (n == 0 || n >= NAME_MAX_LEN)
                return error_set(r->err, ERR_INVALID, "a name is expected at \"%.20s\" in: %s", r->at,
                                 r->text);
        memcpy(ret, r->at, n);
        ret[n] = '\0';
        r->at += n;
        return 0;
}

/* The quote that ends the text which begins here, or the end of all. */
static const char *end_of_text(const char *quote)
{
        const char *end = quote + 1;

        while (*end && *end != '"')
                end += *end == '\\' && end[1] ? 2 : 1;
        return end;
}

static int take_text(struct reading *r) /* "..." */
{
        const char *end = end_of_text(r->at);

        if (!*end)
                return error_set(r->err, ERR_INVALID, "a text does not end in: %s", r->text);
        TRY(put(r, r->at, (size_t)(end + 1 - r->at)));
        r->at = end + 1;
        return 0;
}

static const struct metric_family *family_named(const char *name, bool *ret_bucket)
{
        static const char *const parts[] = { "_bucket", "_sum", "_count" };

        *ret_bucket = false;
        for (size_t i = 0; i < N_METRICS; i++) {
                const struct metric_family *f = &metric_families[i];
                size_t n = strlen(f->name);

                if (f->type != METRIC_HISTOGRAM && text_equal(f->name, name))
                        return f;
                if (f->type == METRIC_HISTOGRAM && strncmp(f->name, name, n) == 0 &&
                    has(parts, ARRAY_LEN(parts), name + n)) {
                        *ret_bucket = text_equal(name + n, parts[0]);
                        return f;
                }
        }
        return NULL;
}

static const struct recorded *recorded_named(const struct reading *r, const char *name)
{
        for (const struct recorded *one = r->scope->recorded; one && one->name; one++)
                if (text_equal(one->name, name))
                        return one;
        return NULL;
}

static int find_series(struct reading *r, const char *name, struct series *ret)
{
        enum metric_of of;

        *ret = (struct series){ 0 };
        ret->recorded = strchr(name, ':') ? recorded_named(r, name) : NULL;
        ret->family = ret->recorded ? NULL : family_named(name, &ret->is_bucket);
        if (!ret->recorded && !ret->family)
                return error_set(r->err, ERR_INVALID, "no series is called %s: %s", name, r->text);
        of = ret->recorded ? ret->recorded->of : ret->family->of;
        if ((of & r->scope->of) != r->scope->of)
                return error_set(r->err, ERR_INVALID, "%s is not a series of this agent: %s", name, r->text);
        return 0;
}

/* {label="x", other=~"y"}, in which the scope's selector is put first. */
static int take_selector(struct reading *r, const struct series *s)
{
        char label[NAME_MAX_LEN];
        bool selects = *r->at == '{';

        TRY(put(r, "{", 1));
        TRY(put(r, r->scope->selector, strlen(r->scope->selector)));
        if (selects && r->at[1] != '}')
                TRY(put(r, ",", 1));
        for (r->at += selects; selects && *r->at != '}';) {
                const char *begin = r->at;

                TRY(take_name(r, NAME_CHARS, label));
                if (!series_has(s, label))
                        return error_set(r->err, ERR_INVALID, "%s has no label %s: %s",
                                         s->recorded ? s->recorded->name : s->family->name, label, r->text);
                r->at += strspn(r->at, "=!~");
                if (*r->at != '"')
                        return error_set(r->err, ERR_INVALID, "label %s needs a text: %s", label, r->text);
                TRY(put(r, begin, (size_t)(r->at - begin)));
                TRY(take_text(r));
                if (*r->at == ',')
                        TRY(put(r, r->at++, 1));
        }
        r->at += selects;
        return put(r, "}", 1);
}

static int take_series(struct reading *r)
{
        char name[NAME_MAX_LEN];

        r->at++; /* the @ */
        TRY(take_name(r, NAME_CHARS ":", name));
        if (r->n == SERIES_MAX)
                return error_set(r->err, ERR_INVALID, "more than %d series: %s", SERIES_MAX, r->text);
        TRY(find_series(r, name, &r->series[r->n]));
        TRY(put(r, name, strlen(name)));
        return take_selector(r, &r->series[r->n++]);
}

static bool known_label(const struct reading *r, const char *label)
{
        if (has(given_labels, ARRAY_LEN(given_labels), label))
                return true;
        for (size_t i = 0; i < r->n; i++)
                if (series_has(&r->series[i], label))
                        return true;
        return false;
}

/* The labels behind `by` and its kin, which may stand in front of the series that have them. */
static int check_list(struct reading *r, const char *at)
{
        while (*at && *at != ')') {
                char label[NAME_MAX_LEN];
                struct reading one = *r;

                at += strspn(at, " (,");
                if (!isalpha((unsigned char)*at) && *at != '_')
                        break;
                one.at = at;
                TRY(take_name(&one, NAME_CHARS, label));
                if (!known_label(r, label))
                        return error_set(r->err, ERR_INVALID, "no series has a label %s: %s", label, r->text);
                at = one.at;
        }
        return 0;
}

static int take_word(struct reading *r)
{
        const char *begin = r->at;
        char word[NAME_MAX_LEN];

        TRY(take_name(r, NAME_CHARS, word));
        if (!has(words, ARRAY_LEN(words), word))
                return error_set(r->err, ERR_INVALID, "%s is neither a word nor, with @, a series: %s", word,
                                 r->text);
        if (has(lists, ARRAY_LEN(lists), word)) {
                r->at += strcspn(r->at, ")");
                return put(r, begin, (size_t)(r->at - begin));
        }
        return put(r, begin, (size_t)(r->at - begin));
}

/* Once for the series, and again for the lists, which may stand before them. */
static int check_lists(struct reading *r)
{
        for (const char *at = r->text; *at;) {
                size_t n = strspn(at, NAME_CHARS);
                char word[NAME_MAX_LEN];

                if (*at == '"') { /* it ends: all was read once */
                        at = end_of_text(at) + 1;
                        continue;
                }
                if (n == 0 || n >= sizeof(word)) {
                        at += n ? n : 1;
                        continue;
                }
                memcpy(word, at, n);
                word[n] = '\0';
                at += n;
                if (has(lists, ARRAY_LEN(lists), word) && (at == r->text + n || at[-(ptrdiff_t)n - 1] != '@'))
                        TRY(check_list(r, at));
        }
        return 0;
}

static int read_all(struct reading *r)
{
        for (r->at = r->text; *r->at;) {
                if (*r->at == '@')
                        TRY(take_series(r));
                else if (*r->at == '"')
                        TRY(take_text(r));
                else if (*r->at == '[') { /* [5m], [$__rate_interval] */
                        size_t n = strcspn(r->at, "]");

                        TRY(put(r, r->at, n));
                        r->at += n;
                } else if (isdigit((unsigned char)*r->at)) { /* 0.99, 15m */
                        size_t n = strspn(r->at, NAME_CHARS ".");

                        TRY(put(r, r->at, n));
                        r->at += n;
                } else if (isalpha((unsigned char)*r->at) || *r->at == '_')
                        TRY(take_word(r));
                else
                        TRY(put(r, r->at++, 1));
        }
        if (r->n == 0)
                return error_set(r->err, ERR_INVALID, "it names no series: %s", r->text);
        return check_lists(r);
}

int expression_expand(const char *text, const struct expression_scope *scope, struct buf *ret,
                      struct error *err)
{
        struct reading r = { .scope = scope, .text = text, .out = ret, .err = err };

        return read_all(&r);
}

int expression_check_summary(const char *summary, const char *expression,
                             const struct expression_scope *scope, struct error *err)
{
        static const char marker[] = "$labels.";
        struct reading r = { .scope = scope, .text = expression, .err = err };

        TRY(read_all(&r));
        for (const char *at = summary; (at = strstr(at, marker));) {
                char label[NAME_MAX_LEN];

                r.at = at += sizeof(marker) - 1;
                TRY(take_name(&r, NAME_CHARS, label));
                if (!known_label(&r, label))
                        return error_set(err, ERR_INVALID, "no series has a label %s: %s", label, summary);
        }
        return 0;
}
