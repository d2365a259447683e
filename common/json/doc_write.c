/* Documents to JSON text. */
#include "common/json/doc_write.h"
#include "common/json/doc_beside.h"

#include "common/base/limits.h"

/* Positive form without sign, as Go's encoding/json prints: shortest digits that read back the same, fixed
 * notation for 1e-6 <= x < 1e21. `digits` are the significant ones, the decimal point stands behind `point`
 * of them. */
static void lay_out(char *out, size_t size, const char *digits, int point)
{
        int n = (int)strlen(digits);
        if (point > 21 || point < -5) {
                snprintf(out, size, "%.1s%s%se%+d", digits, n > 1 ? "." : "", digits + 1, point - 1);
        } else if (point <= 0) {
                snprintf(out, size, "0.%.*s%s", -point, "000000", digits);
        } else if (point >= n) {
                snprintf(out, size, "%s%.*s", digits, point - n, "000000000000000000000");
        } else {
                snprintf(out, size, "%.*s.%s", point, digits, digits + point);
        }
}

void doc_format_real(double value, char ret[DOC_REAL_SIZE])
{
        /* "-d.ddde-xx" with as few digits as read back to the same value. */
        char text[40];
        for (int precision = 0; precision <= 16; precision++) {
                snprintf(text, sizeof(text), "%.*e", precision, value);
                if (strtod(text, NULL) == value)
                        break;
        }
        char digits[24];
        size_t n = 0;
        const char *p = text + (text[0] == '-');
        for (; *p != 'e'; p++)
                if (*p != '.')
                        digits[n++] = *p;
        while (n > 1 && digits[n - 1] == '0')
                n--;
        digits[n] = '\0';
        int exponent = (int)strtol(p + 1, NULL, 10);
        if (value == 0)
                exponent = 0;
        ret[0] = '-';
        lay_out(ret + (text[0] == '-'), DOC_REAL_SIZE - 1, digits, exponent + 1);
}

static int compare_keys(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int doc_push_sorted_keys(const json_t *object, struct key_stack *keys)
{
        size_t n = json_object_size(object);
        if (vec_reserve(keys, keys->n + n) < 0)
                return ERR_NO_MEMORY;
        size_t base = keys->n;
        json_t *mutable = (json_t *)object;
        bool sorted = true;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                keys->at[keys->n++] = json_object_iter_key(i);
                sorted = sorted &&
                         (keys->n - base < 2 || strcmp(keys->at[keys->n - 2], keys->at[keys->n - 1]) < 0);
        }
        if (!sorted)
                qsort(keys->at + base, n, sizeof(keys->at[0]), compare_keys);
        return 0;
}

enum style { COMPACT, CANONICAL, PRETTY };
struct writer {
        struct buf *b;
        enum style style;
        unsigned indent;
        struct key_stack keys; /* of the objects being written, innermost last */

        const struct doc_known_text *known; /* NULL: nothing is known of any part, nor to be told: */
        size_t next;                        /* span of it */
        struct doc_spans *into;
};

static int write_value(struct writer *w, const json_t *v);

/* Go escapes more than JSON asks for, so that texts can stand in HTML and JavaScript. The escape for the
 * character of `n` bytes at p (n == 0: a byte that is no UTF-8) in `out`, or NULL if it stands for itself. */
static const char *go_escape(const char *p, size_t n, char out[8])
{
        static const char short_form[256] = { ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                              ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't' };
        unsigned char c = (unsigned char)*p;
        if (n == 0)
                return "\\ufffd";
        if (n == 3 && memcmp(p, "\xe2\x80\xa8", 3) == 0)
                return "\\u2028";
        if (n == 3 && memcmp(p, "\xe2\x80\xa9", 3) == 0)
                return "\\u2029";
        if (short_form[c])
                snprintf(out, 8, "\\%c", short_form[c]);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&')
                snprintf(out, 8, "\\u%04x", c);
        else
                return NULL;
        return out;
}

/* Most bytes are such: what go_escape() leaves alone among ASCII. */
static bool stands_for_itself(unsigned char c)
{
        return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

int doc_append_string(struct buf *b, const char *s, size_t n)
{
        TRY(buf_append_char(b, '"'));
        const char *p = s, *end = s + n, *start = s;
        while (p < end) {
                char out[8];
                if (stands_for_itself((unsigned char)*p)) {
                        p++;
                        continue;
                }
                size_t len = text_utf8_length(p, (size_t)(end - p));
                const char *escape = go_escape(p, len, out);
                if (escape) {
                        TRY(buf_append(b, start, (size_t)(p - start)));
                        TRY(buf_append_str(b, escape));
                        start = p + MAX(len, (size_t)1);
                }
                p += MAX(len, (size_t)1);
        }
        TRY(buf_append(b, start, (size_t)(end - start)));
        return buf_append_char(b, '"');
}

static int write_string(struct writer *w, const char *s, size_t n)
{
        return w->style == CANONICAL ? doc_append_string(w->b, s, n) : buf_append_json_string(w->b, s, n);
}

/* The line break and indentation between members, in pretty style. */
static int new_line(struct writer *w)
{
        if (w->style != PRETTY)
                return 0;
        TRY(buf_append_char(w->b, '\n'));
        for (unsigned i = 0; i < w->indent; i++)
                TRY(buf_append(w->b, "    ", 4));
        return 0;
}

static int write_member(struct writer *w, bool first, const char *key, size_t n, const json_t *value)
{
        if (!first)
                TRY(buf_append_char(w->b, ','));
        TRY(new_line(w));
        TRY(write_string(w, key, n));
        TRY(buf_append(w->b, ": ", w->style == PRETTY ? 2 : 1));
        return write_value(w, value);
}

static int write_members_sorted(struct writer *w, const json_t *object)
{
        size_t base = w->keys.n;
        if (doc_push_sorted_keys(object, &w->keys) < 0)
                return w->b->failed = ERR_NO_MEMORY;
        size_t end = w->keys.n;
        for (size_t i = base; i < end; i++) {
                const char *key = w->keys.at[i]; /* the vector may move below */
                TRY(write_member(w, i == base, key, strlen(key), json_object_get(object, key)));
        }
        w->keys.n = base;
        return 0;
}

static int write_members(struct writer *w, const json_t *object)
{
        if (w->style != COMPACT)
                return write_members_sorted(w, object);
        json_t *mutable = (json_t *)object;
        bool first = true;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                TRY(write_member(w, first, json_object_iter_key(i), json_object_iter_key_len(i),
                                 json_object_iter_value(i)));
                first = false;
        }
        return 0;
}

static int write_elements(struct writer *w, const json_t *array)
{
        for (size_t i = 0; i < json_array_size(array); i++) {
                if (i)
                        TRY(buf_append_char(w->b, ','));
                TRY(new_line(w));
                TRY(write_value(w, json_array_get(array, i)));
        }
        return 0;
}

enum { SPAN_LEAST = 40 }; /* bytes: shorter ones are written as fast */

static int add_span(struct writer *w, struct doc_span span)
{
        return vec_push(w->into, span) < 0 ? (w->b->failed = ERR_NO_MEMORY) : 0;
}

/* Copies a container whose text is known, with the spans of its parts. False: it is not. */
static bool copy_known(struct writer *w, const json_t *v)
{
        const struct doc_spans *all = w->known->spans;
        size_t i = w->next;
        while (i < all->n && all->at[i].node != v)
                i++;
        if (i == all->n)
                return false;
        const struct doc_span *span = &all->at[i];
        uint32_t here = (uint32_t)w->b->len, end = span->at + span->len;
        (void)buf_append(w->b, w->known->text + span->at, span->len);
        for (; i < all->n && all->at[i].at < end; i++)
                (void)add_span(w, (struct doc_span){ all->at[i].node, all->at[i].at - span->at + here,
                                                     all->at[i].len });
        w->next = i;
        return true;
}

static int write_anew(struct writer *w, const json_t *v, bool object);

static int write_container(struct writer *w, const json_t *v, bool object)
{
        if (!w->known)
                return write_anew(w, v, object);
        if (copy_known(w, v))
                return w->b->failed;
        size_t i = w->into->n, begin = w->b->len;
        TRY(add_span(w, (struct doc_span){ v, (uint32_t)begin, 0 }));
        TRY(write_anew(w, v, object));
        w->into->at[i].len = (uint32_t)(w->b->len - begin);
        if (w->into->at[i].len < SPAN_LEAST) /* and so are those within it */
                w->into->n = i;
        return 0;
}

static int write_anew(struct writer *w, const json_t *v, bool object)
{
        TRY(buf_append_char(w->b, object ? '{' : '['));
        if (object ? json_object_size(v) : json_array_size(v)) {
                if (w->indent++ >= LIMIT_JSON_DEPTH)
                        return w->b->failed = ERR_LIMIT;
                TRY(object ? write_members(w, v) : write_elements(w, v));
                w->indent--;
                TRY(new_line(w));
        }
        return buf_append_char(w->b, object ? '}' : ']');
}

static int write_value(struct writer *w, const json_t *v)
{
        char real[DOC_REAL_SIZE];
        switch (json_typeof(v)) {
        case JSON_OBJECT:
                return write_container(w, v, true);
        case JSON_ARRAY:
                return write_container(w, v, false);
        case JSON_STRING:
                return write_string(w, json_string_value(v), json_string_length(v));
        case JSON_INTEGER:
                return buf_append_int(w->b, json_integer_value(v));
        case JSON_REAL:
                if (w->into)
                        w->into->reals = true;
                doc_format_real(json_real_value(v), real);
                return buf_append_str(w->b, real);
        case JSON_TRUE:
                return buf_append_str(w->b, "true");
        case JSON_FALSE:
                return buf_append_str(w->b, "false");
        default:
                return buf_append_str(w->b, "null");
        }
}

static int write_document(const json_t *doc, struct buf *b, enum style style)
{
        struct writer w = { .b = b, .style = style };
        int code = write_value(&w, doc);
        vec_free(&w.keys);
        return code;
}

int doc_write(const json_t *doc, struct buf *b)
{
        return write_document(doc, b, COMPACT);
}

int doc_write_beside(const json_t *doc, const struct doc_known_text *known, struct buf *b,
                     struct doc_spans *into)
{
        struct writer w = { .b = b, .style = COMPACT, .known = known, .into = into };
        if (!into->n && vec_reserve(into, known->spans->n + 4) < 0)
                return b->failed = ERR_NO_MEMORY;
        return write_value(&w, doc);
}

void doc_spans_free(struct doc_spans *s)
{
        vec_free(s);
}

int doc_write_canonical(const json_t *doc, struct buf *b)
{
        return write_document(doc, b, CANONICAL);
}

int doc_write_pretty(const json_t *doc, struct buf *b)
{
        return write_document(doc, b, PRETTY);
}
