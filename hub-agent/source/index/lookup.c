#include "hub-agent/source/index/lookup.h"

#include "common/base/timefmt.h"
#include "common/base/vec.h"
#include "common/json/doc.h"

#define PIECE_BYTES (64u << 10)
#define LINE_BYTES (5u << 20)

struct looking {
        struct arena *arena;
        struct buf wanted; /* the line that begins the chart */
        struct buf line;
        bool within, over;
        VEC(struct chart_version) found;
};

static int take_version(struct looking *l, struct error *err)
{
        struct slice text = { l->line.data, l->line.len };
        AUTO_JSON json_t *doc = NULL;
        struct chart_version v = { 0 };
        const char *created;

        if (text.len && text.data[text.len - 1] == ',')
                text.len--;
        TRY(doc_parse(text, &doc, err));
        created = doc_get_string(doc, "created");
        if (created && time_parse_rfc3339(slice_of(created), &v.created_ms) < 0)
                v.created_ms = 0;
        v.version = arena_strdup(l->arena, or_empty(doc_get_string(doc, "version")));
        v.url = arena_strdup(l->arena,
                             or_empty(json_string_value(json_array_get(json_object_get(doc, "urls"), 0))));
        v.digest = arena_strdup(l->arena, or_empty(doc_get_string(doc, "digest")));
        return !v.version || !v.url || !v.digest || vec_push(&l->found, v) < 0 ? error_no_memory(err) : 0;
}

static int end_line(struct looking *l, struct error *err)
{
        struct slice line = { l->line.data, l->line.len };
        int code = 0;

        if (l->within && slice_starts_with(line, "]"))
                l->over = true;
        else if (l->within)
                code = take_version(l, err);
        else
                l->within = slice_equal(line, (struct slice){ l->wanted.data, l->wanted.len });
        l->line.len = 0;
        return code;
}

/* Of lines that do not count, no more is kept than tells that they do not. */
static int take_piece(struct looking *l, struct slice piece, struct error *err)
{
        while (piece.len && !l->over) {
                struct slice head;
                bool ended = slice_cut(&piece, '\n', &head);
                size_t room = l->within ? head.len : l->wanted.len + 1 - MIN(l->line.len, l->wanted.len + 1);

                buf_append(&l->line, head.data, MIN(head.len, room));
                TRY(buf_status(&l->line, err, "a line of the index"));
                if (ended)
                        TRY(end_line(l, err));
        }
        return 0;
}

static int look(struct looking *l, const struct index_source *source, uint64_t at, struct error *err)
{
        char *piece = arena_alloc(l->arena, PIECE_BYTES);
        size_t n;

        if (!piece)
                return error_no_memory(err);
        while (!l->over) {
                TRY(source->read(source->ctx, at, piece, PIECE_BYTES, &n, err));
                if (n == 0)
                        break;
                at += n;
                TRY(take_piece(l, (struct slice){ piece, n }, err));
        }
        return l->within && !l->over ? error_set(err, ERR_INVALID, "the index ends within a chart") : 0;
}

int index_lookup(struct arena *arena, const struct index_source *source, uint64_t from, const char *name,
                 struct chart_version **ret, size_t *ret_n, struct error *err)
{
        struct looking l = { .arena = arena };
        int code;

        *ret_n = 0;
        buf_init(&l.wanted, LINE_BYTES);
        buf_init(&l.line, LINE_BYTES);
        doc_append_string(&l.wanted, name, strlen(name));
        buf_append_str(&l.wanted, ":[");
        code = buf_status(&l.wanted, err, "the name of a chart");
        if (code == 0)
                code = look(&l, source, from, err);
        if (code == 0) {
                *ret = arena_memdup(arena, l.found.at, l.found.n * sizeof(**ret));
                *ret_n = l.found.n;
                if (!*ret && l.found.n)
                        code = error_no_memory(err);
        }
        vec_free(&l.found);
        buf_free(&l.wanted);
        buf_free(&l.line);
        return code;
}
