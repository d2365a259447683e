#include "hub-agent/manifest-generation/patch_text.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "hub-agent/manifest-generation/documents.h"
#include "hub-agent/manifest-generation/resources.h"

#define WAY_MAX 128 /* levels of a document whose comments are kept */

struct patch_part {
        const char *identity;
        const json_t *doc;
        struct slice text; /* without the marker */
};

/* ---- reading ---- */

static struct slice read_header(struct slice text)
{
        size_t at = 0;

        while (at < text.len) {
                struct slice line = document_line(text, at);
                struct slice words = slice_trim(line);

                if (document_is_marker(line))
                        break;
                if (words.len && *words.data != '#')
                        return (struct slice){ "", 0 };
                at += MIN(line.len + 1, text.len - at);
        }
        return (struct slice){ at ? text.data : "", at };
}

/* A header with what no YAML may hold, even in comments, is not kept. */
static int check_header(struct patch_text *t, struct error *err)
{
        AUTO_JSON json_t *nothing = NULL;
        int code = yaml_parse_all(t->header, &nothing, NULL);

        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (code < 0)
                t->header = (struct slice){ "", 0 };
        return 0;
}

/* A part of one object; of others nothing is kept. */
static int read_part(struct patch_text *t, struct slice text, struct error *err)
{
        struct resource_list objects = { .arena = t->arena };
        int code = resources_parse(&objects, text, "", NULL, err);

        if (code == ERR_NO_MEMORY)
                return code;
        if (code < 0 || objects.n != 1)
                return 0;
        t->parts[t->n++] = (struct patch_part){ objects.at[0].identity, objects.at[0].doc, text };
        return 0;
}

int patch_text_begin(const struct patch_text *t, struct buf *ret, struct error *err)
{
        struct slice h = t->header;

        (void)buf_append(ret, h.data, h.len);
        if (h.len && h.data[h.len - 1] != '\n')
                (void)buf_append_char(ret, '\n');
        return buf_status(ret, err, "a patch file");
}

int patch_text_read(struct arena *arena, struct slice text, struct patch_text *ret, struct error *err)
{
        struct document_cutter cutter;
        size_t n = 0, line;
        struct slice part;

        *ret = (struct patch_text){ .arena = arena, .header = read_header(text) };
        text = (struct slice){ text.data + ret->header.len, text.len - ret->header.len };
        TRY(check_header(ret, err));
        cutter = (struct document_cutter){ text, 0 };
        while (document_next(&cutter, &part, &line))
                n++;
        ret->parts = ARENA_NEW_ARRAY(arena, struct patch_part, n + 1);
        if (!ret->parts)
                return error_no_memory(err);
        cutter = (struct document_cutter){ text, 0 };
        while (document_next(&cutter, &part, &line))
                TRY(read_part(ret, part, err));
        return 0;
}

/* NULL: there is none, or more than one. */
static const struct patch_part *find_part(const struct patch_text *t, const char *identity)
{
        const struct patch_part *found = NULL;
        size_t n = 0;

        for (size_t i = 0; i < t->n; i++)
                if (text_equal(t->parts[i].identity, identity)) {
                        found = &t->parts[i];
                        n++;
                }
        return n == 1 ? found : NULL;
}

/* ---- lines and their places ---- */

/* A line of a document in block style, and the way of keys to it: a rough look, that is checked in the end.
 */
struct line {
        struct slice text; /* whole, without its end */
        const char *way;   /* NULL: a comment, or nothing */
};

struct lines {
        struct line *at;
        size_t n;
};

struct step {
        size_t indent;
        bool item;
        const char *way;
};

static size_t indent_of(struct slice line)
{
        size_t n = 0;

        while (n < line.len && line.data[n] == ' ')
                n++;
        return n;
}

/* Without a comment behind it; *ret_comment: that, with the blank before it. */
static struct slice without_comment(struct slice words, struct slice *ret_comment)
{
        for (size_t i = 1; i < words.len; i++)
                if (words.data[i] == '#' && (words.data[i - 1] == ' ' || words.data[i - 1] == '\t')) {
                        *ret_comment = (struct slice){ words.data + i, words.len - i };
                        return slice_trim((struct slice){ words.data, i });
                }
        *ret_comment = (struct slice){ "", 0 };
        return words;
}

/* Items are known by their first line, members by their key. */
static const char *way_to(struct arena *arena, const struct step *above, struct slice words, bool item)
{
        const char *colon = item ? NULL : memchr(words.data, ':', words.len);
        size_t n = colon ? (size_t)(colon - words.data) : words.len;

        return arena_printf(arena, "%s\n%.*s", above ? above->way : "", (int)n, words.data);
}

static int place_line(struct arena *arena, struct step *steps, size_t *depth, struct line *line,
                      struct error *err)
{
        struct slice comment, words = without_comment(slice_trim(line->text), &comment);
        size_t indent = indent_of(line->text);
        bool item = words.len && *words.data == '-';

        if (!words.len || *words.data == '#')
                return 0;
        while (*depth && (steps[*depth - 1].indent > indent ||
                          (steps[*depth - 1].indent == indent && steps[*depth - 1].item >= item)))
                --*depth;
        if (*depth == WAY_MAX)
                return 0;
        line->way = way_to(arena, *depth ? &steps[*depth - 1] : NULL, words, item);
        steps[(*depth)++] = (struct step){ indent, item, line->way };
        return line->way ? 0 : error_no_memory(err);
}

static int read_lines(struct arena *arena, struct slice text, struct lines *ret, struct error *err)
{
        AUTO_FREE struct step *steps = mem_calloc(WAY_MAX, sizeof(*steps));
        size_t n = 1, depth = 0;

        for (size_t i = 0; i < text.len; i++)
                n += text.data[i] == '\n';
        *ret = (struct lines){ ARENA_NEW_ARRAY(arena, struct line, n), 0 };
        if (!steps || !ret->at)
                return error_no_memory(err);
        for (size_t at = 0; at < text.len; ret->n++) {
                struct line *line = &ret->at[ret->n];

                line->text = document_line(text, at);
                at += line->text.len + 1;
                TRY(place_line(arena, steps, &depth, line, err));
        }
        return 0;
}

/* ---- comments ---- */

/* For each line that is written: where in the old text the comments above it begin and end, and the one
 * behind it. */
struct kept {
        size_t from, to;
        struct slice behind;
};

/* Comments stay above the line they stood above; where that is gone, above the first. */
static void keep_comments(const struct lines *old, const struct lines *new, const struct map *ways,
                          struct kept *kept)
{
        size_t from = 0;

        for (size_t i = 0; i < old->n; i++) {
                const struct line *line = &old->at[i];
                struct slice words, comment;
                size_t at;

                if (!line->way)
                        continue;
                at = (size_t)(uintptr_t)map_get(ways, line->way);
                if (at && kept[at - 1].to == 0) {
                        kept[at - 1].from = from;
                        kept[at - 1].to = i;
                        words = without_comment(slice_trim(line->text), &comment);
                        if (slice_equal(words, slice_trim(new->at[at - 1].text)))
                                kept[at - 1].behind = comment;
                }
                from = i + 1;
        }
}

static void write_comments(const struct lines *old, size_t from, size_t to, size_t indent, struct buf *ret)
{
        for (size_t i = from; i < to; i++) {
                struct slice words = slice_trim(old->at[i].text);

                if (words.len && *words.data == '#')
                        (void)buf_printf(ret, "%*s%.*s\n", (int)indent, "", (int)words.len, words.data);
        }
}

static bool is_taken(const struct kept *kept, size_t n, size_t i)
{
        for (size_t k = 0; k < n; k++)
                if (kept[k].from <= i && i < kept[k].to)
                        return true;
        return false;
}

/* Those above lines that are gone. */
static void write_left_over(const struct lines *old, const struct kept *kept, size_t n, struct buf *ret)
{
        for (size_t i = 0; i < old->n; i++)
                if (!old->at[i].way && !is_taken(kept, n, i))
                        write_comments(old, i, i + 1, 0, ret);
}

static void write_lines(const struct lines *old, const struct lines *new, const struct kept *kept,
                        struct buf *ret)
{
        write_left_over(old, kept, new->n, ret);
        for (size_t i = 0; i < new->n; i++) {
                struct slice text = new->at[i].text;

                write_comments(old, kept[i].from, kept[i].to, indent_of(text), ret);
                (void)buf_append(ret, text.data, text.len);
                if (kept[i].behind.len)
                        (void)buf_printf(ret, " %.*s", (int)kept[i].behind.len, kept[i].behind.data);
                (void)buf_append_char(ret, '\n');
        }
}

static int with_comments(struct arena *arena, struct slice old_text, struct slice new_text, struct buf *ret,
                         struct error *err)
{
        struct lines old, new;
        struct map ways = MAP_INIT;
        struct kept *kept;

        TRY(read_lines(arena, old_text, &old, err));
        TRY(read_lines(arena, new_text, &new, err));
        kept = ARENA_NEW_ARRAY(arena, struct kept, new.n + 1);
        if (!kept)
                return error_no_memory(err);
        map_init(&ways, MAP_BORROW_KEYS, NULL);
        for (size_t i = 0; i < new.n; i++)
                if (new.at[i].way && !map_has(&ways, new.at[i].way) &&
                    map_put(&ways, new.at[i].way, (void *)(uintptr_t)(i + 1)) < 0) {
                        map_free(&ways);
                        return error_no_memory(err);
                }
        keep_comments(&old, &new, &ways, kept);
        map_free(&ways);
        write_lines(&old, &new, kept, ret);
        return buf_status(ret, err, "a patch file");
}

/* ---- writing ---- */

/* Whether it reads back as that. */
static int says(struct slice text, const json_t *patch, bool *ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        int code = yaml_parse(text, &doc, NULL);

        *ret = code == 0 && doc_equal(doc, patch);
        return code == ERR_NO_MEMORY ? error_no_memory(err) : 0;
}

/* Without directives and ends of documents, which would not mean the same elsewhere. */
static bool is_plain(struct slice text)
{
        for (size_t at = 0; at < text.len;) {
                struct slice line = document_line(text, at);

                if (document_is_marker(line) || slice_starts_with(line, "%") ||
                    slice_starts_with(line, "..."))
                        return false;
                at += line.len + 1;
        }
        return true;
}

static bool has_comments(struct slice text)
{
        return memchr(text.data, '#', text.len) != NULL;
}

static int append_part(struct buf *ret, struct slice text, struct error *err)
{
        (void)buf_append_str(ret, "---\n");
        (void)buf_append(ret, text.data, text.len);
        if (text.len && text.data[text.len - 1] != '\n')
                (void)buf_append_char(ret, '\n');
        return buf_status(ret, err, "a patch file");
}

int patch_text_write(const struct patch_text *t, const char *identity, const json_t *patch, struct buf *ret,
                     struct error *err)
{
        const struct patch_part *part = find_part(t, identity);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf plain;
        AUTO_BUF struct buf commented;
        bool good = false;

        buf_init(&plain, ret->max);
        buf_init(&commented, ret->max);
        if (part && doc_equal(part->doc, patch) && is_plain(part->text))
                return append_part(ret, part->text, err);
        (void)yaml_write_unfolded(patch, &plain);
        TRY(buf_status(&plain, err, "a patch file"));
        if (part && has_comments(part->text)) {
                TRY(with_comments(&arena, part->text, (struct slice){ plain.data, plain.len }, &commented,
                                  err));
                TRY(says((struct slice){ commented.data, commented.len }, patch, &good, err));
                if (good)
                        return append_part(ret, (struct slice){ commented.data, commented.len }, err);
        }
        return append_part(ret, (struct slice){ plain.data, plain.len }, err);
}
