#include "hub-agent/source/index/convert.h"

#include "common/base/semver.h"
#include "common/base/vec.h"
#include "common/json/doc.h"
#include "hub-agent/source/chart/metadata.h"

#define ENTRY_BYTES (4u << 20)
#define ENTRY_VALUES_MAX 100000

struct line {
        struct semver version;
        bool parsed;
        size_t place; /* in the index */
        struct slice text;
};

struct conversion {
        const struct index_sink *sink;
        struct index_summary *summary;
        struct arena name_arena, entry_arena; /* of the name, of the entry that is read */
        VEC(struct line) lines;               /* of the name */
        json_t *rest;                         /* members of the index but for the entries */
        bool yaml, any_name;
};

/* ---- writing ---- */

static int put(const struct conversion *c, const void *data, size_t n, struct error *err)
{
        return c->sink->write(c->sink->ctx, data, n, err);
}

static int put_text(const struct conversion *c, const char *text, struct error *err)
{
        return put(c, text, strlen(text), err);
}

/* The newest first, what is no version last; what is alike as it was. */
static int newest_first(const void *a, const void *b)
{
        const struct line *x = a, *y = b;
        int order = x->parsed && y->parsed ? semver_compare(&y->version, &x->version)
                                           : (int)y->parsed - (int)x->parsed;

        return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

static int put_lines(struct conversion *c, struct error *err)
{
        qsort(c->lines.at, c->lines.n, sizeof(*c->lines.at), newest_first);
        for (size_t i = 0; i < c->lines.n; i++) {
                TRY(put(c, c->lines.at[i].text.data, c->lines.at[i].text.len, err));
                TRY(put_text(c, i + 1 < c->lines.n ? ",\n" : "\n", err));
        }
        return 0;
}

static int put_name(struct conversion *c, struct slice name, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, ENTRY_BYTES);
        buf_append_str(&b, c->any_name ? ",\n" : "");
        doc_append_string(&b, name.data, name.len);
        buf_append_str(&b, ":[\n");
        TRY(buf_status(&b, err, "a name in the index"));
        c->any_name = true;
        TRY(put(c, b.data, b.len, err));
        TRY(put_lines(c, err));
        return put_text(c, "]", err);
}

/* ---- reading ---- */

static const char *const top_fields[] = { "apiVersion", "generated",  "entries",
                                          "publicKeys", "serverInfo", "annotations" };
static const char *const entry_fields[] = {
        "apiVersion",  "name",      "version",       "kubeVersion", "description", "type",       "keywords",
        "home",        "sources",   "dependencies",  "maintainers", "icon",        "appVersion", "deprecated",
        "annotations", "condition", "tags",          "urls",        "created",     "digest",     "removed",
        "checksum",    "engine",    "tillerVersion", "url"
};
static const char *const ignored_fields[] = { "checksum", "engine", "tillerVersion", "url" };

static int unknown(struct slice key, struct error *err)
{
        return error_set(err, ERR_INVALID, "unknown field \"%.*s\"", (int)MIN(key.len, (size_t)100),
                         key.data);
}

static bool is_one_of(struct slice key, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (slice_is(key, names[i]))
                        return true;
        return false;
}

static int check_fields(const json_t *entry, struct error *err)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)entry, key, value)
                if (!is_one_of(slice_of(key), entry_fields, ARRAY_LEN(entry_fields)))
                        return unknown(slice_of(key), err);
        return 0;
}

/* As it is kept; *ret_text.data NULL: it breaks the rules. */
static int judge_entry(struct conversion *c, const json_t *entry, struct line *ret, struct error *err)
{
        struct chart_metadata m;
        AUTO_BUF struct buf b;
        struct error why = { 0 };
        int code = chart_metadata_read(&c->entry_arena, entry, &m, &why);

        buf_init(&b, ENTRY_BYTES);
        *ret = (struct line){ .place = c->lines.n };
        if (code == 0)
                code = chart_metadata_check(&m, CHECK_INDEX_ENTRY, &why);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (code < 0)
                return 0;
        for (size_t i = 0; i < ARRAY_LEN(ignored_fields); i++)
                json_object_del(m.doc, ignored_fields[i]);
        doc_write(m.doc, &b);
        TRY(buf_status(&b, err, "an entry of the index"));
        ret->text = (struct slice){ arena_memdup(&c->name_arena, b.data, b.len), b.len };
        const char *version = arena_strdup(&c->name_arena, m.version);

        if (!ret->text.data || !version)
                return error_no_memory(err);
        ret->parsed = semver_parse(slice_of(version), &ret->version) == 0;
        return 0;
}

static int take_entry(struct conversion *c, const json_t *entry, struct error *err)
{
        struct line line = { 0 };
        int code = 0;

        if (c->yaml && json_is_object(entry))
                TRY(check_fields(entry, err));
        if (json_is_object(entry))
                code = judge_entry(c, entry, &line, err);
        arena_reset(&c->entry_arena);
        TRY(code);
        if (!line.text.data) {
                c->summary->dropped++;
                return 0;
        }
        if (++c->summary->entries > INDEX_ENTRIES_MAX)
                return error_set(err, ERR_LIMIT, "the index has more than %d entries", INDEX_ENTRIES_MAX);
        return vec_push(&c->lines, line) < 0 ? error_no_memory(err) : 0;
}

static bool enters(void *ctx, size_t depth, struct slice key)
{
        return depth == 2 || (depth == 1 && slice_is(key, "entries"));
}

static int end_name(struct conversion *c, struct slice name, struct error *err)
{
        int code;

        if (++c->summary->names > INDEX_NAMES_MAX)
                return error_set(err, ERR_LIMIT, "the index has more than %d names", INDEX_NAMES_MAX);
        code = c->lines.n ? put_name(c, name, err) : 0;
        c->lines.n = 0;
        arena_reset(&c->name_arena);
        return code;
}

static int leaves(void *ctx, size_t depth, struct slice key, struct error *err)
{
        return depth == 2 ? end_name(ctx, key, err) : 0;
}

static int takes(void *ctx, size_t depth, struct slice key, const json_t *value, struct error *err)
{
        struct conversion *c = ctx;

        if (depth == 3 && key.len)
                return error_set(err, ERR_INVALID, "entries: each must be a list, one has a member \"%.*s\"",
                                 (int)MIN(key.len, (size_t)100), key.data);
        if (depth == 3)
                return take_entry(c, value, err);
        if (json_is_null(value))
                return 0;
        if (depth == 2 || slice_is(key, "entries"))
                return error_set(err, ERR_INVALID,
                                 depth == 2 ? "entries.%.*s: must be a list" : "%.*s: must be a mapping",
                                 (int)MIN(key.len, (size_t)100), key.data);
        if (!is_one_of(key, top_fields, ARRAY_LEN(top_fields)))
                return c->yaml ? unknown(key, err) : 0;
        return json_object_setn_nocheck(c->rest, key.data, key.len, (json_t *)(uintptr_t)value) < 0
                       ? error_no_memory(err)
                       : 0;
}

/* ---- the whole ---- */

static int put_rest(struct conversion *c, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, ENTRY_BYTES);
        if (text_empty(doc_get_string(c->rest, "apiVersion")))
                return error_set(err, ERR_INVALID, "no API version specified");
        doc_write(c->rest, &b);
        TRY(buf_status(&b, err, "what the index says of itself"));
        TRY(put_text(c, "\n},", err));
        TRY(put(c, b.data + 1, b.len - 1, err)); /* it has one member at least */
        return put_text(c, "\n", err);
}

static int convert(struct conversion *c, struct slice text, struct error *err)
{
        const struct doc_walk walk = { enters,           leaves,      takes,          c,
                                       ENTRY_VALUES_MAX, ENTRY_BYTES, INDEX_NAMES_MAX };

        if (slice_trim(text).len == 0)
                return error_set(err, ERR_INVALID, "empty index.yaml file");
        TRY(put_text(c, "{\"entries\":{\n", err));
        TRY(doc_walk(text, &walk, &c->yaml, err));
        return put_rest(c, err);
}

int index_convert(struct slice text, const struct index_sink *sink, struct index_summary *ret,
                  struct error *err)
{
        struct conversion c = { .sink = sink, .summary = ret, .rest = json_object() };
        int code = c.rest ? 0 : error_no_memory(err);

        *ret = (struct index_summary){ 0 };
        if (code == 0)
                code = convert(&c, text, err);
        vec_free(&c.lines);
        arena_free(&c.name_arena);
        arena_free(&c.entry_arena);
        json_decref(c.rest);
        return code;
}
