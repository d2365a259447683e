#include "hub-agent/source/s3/listing.h"

#include <stdio.h>

#include "hub-agent/source/s3/xml.h"

#define ROOT "ListBucketResult"
#define ENTRY ROOT "/Contents"

struct entry {
        const char *key, *tag, *size; /* NULL = not told */
};

struct page {
        struct arena *arena;
        VEC(struct entry) entries;
        struct entry now;
        const char *token;
        bool is_page, is_cut, is_escaped;
};

static int keep(struct page *p, struct slice text, const char **ret, struct error *err)
{
        *ret = arena_strndup(p->arena, text.data, text.len);
        return *ret ? 0 : error_no_memory(err);
}

static int end_entry(struct page *p, struct error *err)
{
        if (vec_push(&p->entries, p->now) < 0)
                return error_no_memory(err);
        p->now = (struct entry){ 0 };
        return 0;
}

static int take(void *ctx, const char *path, struct slice text, struct error *err)
{
        struct page *p = ctx;

        if (text_equal(path, ENTRY "/Key"))
                return keep(p, text, &p->now.key, err);
        if (text_equal(path, ENTRY "/ETag"))
                return keep(p, slice_trim(text), &p->now.tag, err);
        if (text_equal(path, ENTRY "/Size"))
                return keep(p, slice_trim(text), &p->now.size, err);
        if (text_equal(path, ENTRY))
                return end_entry(p, err);
        if (text_equal(path, ROOT "/NextContinuationToken"))
                return text.len > 0 ? keep(p, text, &p->token, err) : 0;
        if (text_equal(path, ROOT "/IsTruncated"))
                p->is_cut = slice_is(slice_trim(text), "true");
        else if (text_equal(path, ROOT "/EncodingType"))
                p->is_escaped = slice_is(slice_trim(text), "url");
        else if (text_equal(path, ROOT))
                p->is_page = true;
        return 0;
}

/* ---- entries ---- */

static int nibble(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* In place. A plus is a blank; what is no escape stays. */
static size_t unescape(char *s)
{
        char *to = s;

        for (const char *c = s; *c; c++) {
                int high = *c == '%' ? nibble(c[1]) : -1, low = high >= 0 ? nibble(c[2]) : -1;

                if (low >= 0) {
                        *to++ = (char)(high << 4 | low);
                        c += 2;
                } else {
                        *to++ = *c == '+' ? ' ' : *c;
                }
        }
        *to = '\0';
        return (size_t)(to - s);
}

static struct slice without_quotes(const char *tag)
{
        struct slice s = slice_of(tag);

        if (s.len >= 2 && s.data[0] == '"' && s.data[s.len - 1] == '"')
                return (struct slice){ s.data + 1, s.len - 2 };
        return s;
}

static int add(struct page *p, const struct entry *e, struct s3_objects *objects, struct error *err)
{
        struct slice key, tag = without_quotes(or_empty(e->tag));
        uint64_t size;

        if (!e->key)
                return error_set(err, ERR_INVALID, "an object of the list has no key");
        if (tag.len == 0)
                return error_set(err, ERR_INVALID, "object '%s' has no ETag", e->key);
        if (!e->size || !text_parse_u64(e->size, &size))
                return error_set(err, ERR_INVALID, "object '%s' has no size", e->key);
        key = slice_of(e->key);
        if (p->is_escaped)
                key.len = unescape((char *)(uintptr_t)e->key);
        return s3_objects_add(objects, key, tag, size, err);
}

static int add_all(struct page *p, struct s3_objects *objects, struct s3_page *ret, struct error *err)
{
        if (!p->is_page)
                return error_set(err, ERR_INVALID, "the answer is no list of objects");
        if (p->is_cut && !p->token)
                return error_set(err, ERR_INVALID, "the list goes on, and does not say where");
        vec_for_each(&p->entries, e)
                TRY(add(p, e, objects, err));
        ret->next = p->is_cut ? p->token : NULL;
        return 0;
}

int s3_read_page(struct slice xml, struct arena *arena, struct s3_objects *objects, struct s3_page *ret,
                 struct error *err)
{
        struct page p = { .arena = arena };
        const struct xml_sink sink = { take, &p };
        int code = xml_read(xml, &sink, err);

        if (code == 0)
                code = add_all(&p, objects, ret, err);
        vec_free(&p.entries);
        return code;
}

/* ---- errors ---- */

struct said {
        char code[64], message[256];
};

static void put(char *to, size_t size, struct slice text)
{
        text = slice_trim(text);
        (void)snprintf(to, size, "%.*s", (int)text_utf8_cut(text.data, MIN(text.len, size - 1)), text.data);
}

static int take_error(void *ctx, const char *path, struct slice text, struct error *err)
{
        struct said *s = ctx;

        if (text_equal(path, "Error/Code"))
                put(s->code, sizeof(s->code), text);
        else if (text_equal(path, "Error/Message"))
                put(s->message, sizeof(s->message), text);
        return 0;
}

void s3_read_error(struct slice xml, char *ret, size_t size)
{
        struct said s = { 0 };
        const struct xml_sink sink = { take_error, &s };

        ret[0] = '\0';
        if (xml.len > 0 && xml_read(xml, &sink, NULL) == 0)
                (void)snprintf(ret, size, "%s%s%s", s.code, *s.code && *s.message ? ": " : "", s.message);
}
