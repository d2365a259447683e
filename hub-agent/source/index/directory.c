#include "hub-agent/source/index/directory.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/json/doc.h"

#define PIECE_BYTES (64u << 10)
#define NAME_BYTES (1u << 20)

struct place {
        uint32_t at, len; /* of its name, as JSON has it */
        uint64_t from;    /* the line of the name in the file */
};

struct index_directory {
        struct buf names;
        VEC(struct place) places;
};

struct index_directory *index_directory_free(struct index_directory *d)
{
        if (!d)
                return NULL;
        buf_free(&d->names);
        vec_free(&d->places);
        mem_free(d);
        return NULL;
}

/* ---- making one ---- */

struct scan {
        struct index_directory *into;
        uint64_t at;   /* of what is read now */
        bool within;   /* a line that does not count is read */
        bool is_name;  /* a line that counts is */
        uint64_t from; /* its beginning */
        uint32_t first;
};

static int end_name(struct scan *s, struct error *err)
{
        struct index_directory *d = s->into;
        struct place p = { s->first, (uint32_t)(d->names.len - s->first), s->from };

        s->is_name = false;
        if (p.len < 2 || d->names.data[d->names.len - 1] != '[')
                return error_set(err, ERR_INVALID, "the index is not as it was written");
        p.len -= 2; /* ":[" */
        if ((d->places.n + 1) * sizeof(p) + d->names.len > INDEX_DIRECTORY_BYTES)
                return error_set(err, ERR_LIMIT, "the names of the index are longer than %u bytes",
                                 INDEX_DIRECTORY_BYTES);
        return vec_push(&d->places, p) < 0 ? error_no_memory(err) : 0;
}

static void begin_line(struct scan *s, char first)
{
        s->is_name = first == '"';
        s->within = !s->is_name;
        s->from = s->at;
        s->first = (uint32_t)s->into->names.len;
}

static int take_piece(struct scan *s, struct slice piece, struct error *err)
{
        while (piece.len > 0) {
                const char *before = piece.data;
                struct slice head;
                bool ended;

                if (!s->within && !s->is_name)
                        begin_line(s, *piece.data);
                ended = slice_cut(&piece, '\n', &head);
                s->at += head.len + ended;
                if (s->is_name)
                        buf_append(&s->into->names, before, head.len);
                TRY(buf_status(&s->into->names, err, "the names of the index"));
                if (ended && s->is_name)
                        TRY(end_name(s, err));
                if (ended)
                        s->within = false;
        }
        return 0;
}

static int scan_all(struct scan *s, const struct index_source *source, char *piece, struct error *err)
{
        size_t n;

        do {
                TRY(source->read(source->ctx, s->at, piece, PIECE_BYTES, &n, err));
                TRY(take_piece(s, (struct slice){ piece, n }, err));
        } while (n > 0);
        return s->is_name ? error_set(err, ERR_INVALID, "the index ends within a name") : 0;
}

static const char *text_of(const struct index_directory *d, const struct place *p)
{
        return d->names.data + p->at;
}

static int compare_names(const char *a, size_t n, const char *b, size_t m)
{
        int order = memcmp(a, b, MIN(n, m));

        return order ? order : n < m ? -1 : n > m;
}

static int compare_places(const void *a, const void *b, void *directory)
{
        const struct place *x = a, *y = b;
        int order = compare_names(text_of(directory, x), x->len, text_of(directory, y), y->len);

        return order ? order : x->from < y->from ? -1 : x->from > y->from;
}

int index_directory_make(const struct index_source *source, struct index_directory **ret, struct error *err)
{
        struct index_directory *d = NEW(struct index_directory);
        AUTO_FREE char *piece = mem_alloc(PIECE_BYTES);
        struct scan s = { .into = d };
        int code;

        if (d)
                buf_init(&d->names, INDEX_DIRECTORY_BYTES);
        code = d && piece ? scan_all(&s, source, piece, err) : error_no_memory(err);
        if (code < 0) {
                index_directory_free(d);
                return code;
        }
        if (d->places.n > 0)
                qsort_r(d->places.at, d->places.n, sizeof(*d->places.at), compare_places, d);
        *ret = d;
        return 0;
}

/* ---- asking it ---- */

/* The first whose name is not less. */
static size_t lower_bound(const struct index_directory *d, struct slice name)
{
        size_t low = 0, high = d->places.n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                const struct place *p = &d->places.at[middle];

                if (compare_names(text_of(d, p), p->len, name.data, name.len) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

int index_directory_find(const struct index_directory *d, const char *name, uint64_t *ret_from)
{
        AUTO_BUF struct buf b;
        const struct place *p;
        size_t at;

        buf_init(&b, NAME_BYTES);
        doc_append_string(&b, name, strlen(name));
        if (b.failed)
                return b.failed == ERR_NO_MEMORY ? ERR_NO_MEMORY : ERR_NOT_FOUND;
        at = lower_bound(d, (struct slice){ b.data, b.len });
        p = at < d->places.n ? &d->places.at[at] : NULL;
        if (!p || compare_names(text_of(d, p), p->len, b.data, b.len) != 0)
                return ERR_NOT_FOUND;
        *ret_from = p->from;
        return 0;
}
