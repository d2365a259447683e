#include "kubectl-fleet/page/doc.h"

#include "common/base/memory.h"
#include "common/base/vec.h"

struct row {
        uint64_t hash, stamp; /* of what the browser has */
        uint32_t look;        /* the last one that drew it */
        bool sent;
        char key[];
};

/* A row that is different, until it is sent. */
struct change {
        struct row *row;
        uint64_t hash, stamp;
        size_t at, len; /* its text */
};

struct part {
        struct part *next;
        struct map rows; /* key -> struct row, whose key it borrows */
        VEC(struct change) changes;
        VEC(struct row *) gone;
        size_t changes_taken, changes_to, gone_taken, gone_to; /* sent, and in the message that is written */
        char name[];
};

struct page_doc {
        uint64_t seed;
        uint32_t look;
        size_t n_rows;
        struct part *parts; /* in the order in which they were drawn first */
        struct buf texts, head;
        uint64_t head_hash; /* of the one that the browser has */
        bool head_sent, head_drawn;
        void *kept; /* the view's */
        void (*destroy)(void *kept);
};

struct page_doc *page_doc_new(uint64_t seed)
{
        struct page_doc *d = NEW(struct page_doc);

        if (!d)
                return NULL;
        d->seed = seed;
        buf_init(&d->texts, PAGE_CHANGE_BYTES);
        buf_init(&d->head, PAGE_ROW_BYTES);
        return d;
}

struct page_doc *page_doc_free(struct page_doc *d)
{
        if (!d)
                return NULL;
        for (struct part *p = d->parts, *next; p; p = next) {
                next = p->next;
                map_free(&p->rows);
                vec_free(&p->changes);
                vec_free(&p->gone);
                mem_free(p);
        }
        page_keep(d, NULL, NULL);
        buf_free(&d->texts);
        buf_free(&d->head);
        mem_free(d);
        return NULL;
}

void *page_kept(const struct page_doc *d)
{
        return d->kept;
}

void page_keep(struct page_doc *d, void *kept, void (*destroy)(void *kept))
{
        if (d->kept)
                d->destroy(d->kept);
        d->kept = kept;
        d->destroy = destroy;
}

size_t page_doc_rows(const struct page_doc *d)
{
        size_t n = 0;

        for (const struct part *p = d->parts; p; p = p->next)
                map_for_each(&p->rows, e)
                        n += ((const struct row *)e->value)->sent;
        return n;
}

/* ---- rows ---- */

static struct part *part_of(const struct page_doc *d, const char *name)
{
        for (struct part *p = d->parts; p; p = p->next)
                if (text_equal(p->name, name))
                        return p;
        return NULL;
}

static struct part *part_made(struct page_doc *d, const char *name)
{
        struct part *p = part_of(d, name), **last = &d->parts;
        size_t n = strlen(name) + 1;

        if (p)
                return p;
        p = mem_zalloc(sizeof(*p) + n);
        if (!p)
                return NULL;
        memcpy(p->name, name, n);
        map_init(&p->rows, MAP_BORROW_KEYS, mem_free);
        while (*last)
                last = &(*last)->next;
        *last = p;
        return p;
}

static int row_made(struct page_doc *d, struct part *p, const char *key, struct row **ret)
{
        struct row *r = map_get(&p->rows, key);
        size_t n = strlen(key) + 1;

        *ret = r;
        if (r)
                return 0;
        if (d->n_rows >= PAGE_ROWS_MAX)
                return ERR_LIMIT;
        r = mem_zalloc(sizeof(*r) + n);
        if (!r)
                return ERR_NO_MEMORY;
        memcpy(r->key, key, n);
        if (map_put(&p->rows, r->key, r) < 0) {
                mem_free(r);
                return ERR_NO_MEMORY;
        }
        d->n_rows++;
        *ret = r;
        return 0;
}

static void drop_row(struct page_doc *d, struct part *p, struct row *r)
{
        map_remove(&p->rows, r->key);
        d->n_rows--;
}

/* ---- long texts ---- */

#define DEPTH_MAX 32

static json_t *cut(const char *text, size_t n)
{
        size_t kept = text_utf8_cut(text, PAGE_TEXT_MAX);
        AUTO_BUF struct buf b;

        buf_init(&b, 2 * PAGE_TEXT_MAX);
        buf_append(&b, text, kept);
        buf_printf(&b, " ... [cut here: %zu of %zu bytes are shown]", kept, n);
        return b.failed ? NULL : json_stringn(b.data, b.len);
}

static int cut_texts(json_t *doc, unsigned depth);

/* *ret: what takes the value's place; NULL = it stays. */
static int cut_value(json_t *value, unsigned depth, json_t **ret)
{
        *ret = NULL;
        if (json_string_length(value) <= PAGE_TEXT_MAX)
                return json_is_string(value) ? 0 : cut_texts(value, depth);
        *ret = cut(json_string_value(value), json_string_length(value));
        return *ret ? 0 : ERR_NO_MEMORY;
}

/* Nothing is cut silently: the mark is part of the text. */
static int cut_texts(json_t *doc, unsigned depth)
{
        json_t *value, *shorter;
        const char *key;
        void *safe;
        size_t i;

        if (depth > DEPTH_MAX)
                return ERR_LIMIT;
        json_object_foreach_safe(doc, safe, key, value) {
                TRY(cut_value(value, depth + 1, &shorter));
                if (shorter && json_object_set_new(doc, key, shorter) < 0)
                        return ERR_NO_MEMORY;
        }
        json_array_foreach(doc, i, value) {
                TRY(cut_value(value, depth + 1, &shorter));
                if (shorter && json_array_set_new(doc, i, shorter) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* ---- drawing ---- */

static int write_head(struct page_doc *d, json_t *head)
{
        buf_clear(&d->head);
        TRY(cut_texts(head, 0));
        TRY(doc_write(head, &d->head));
        d->head_drawn = true;
        return d->head.failed;
}

int page_head(struct page_doc *d, json_t *head)
{
        int code = head ? write_head(d, head) : ERR_NO_MEMORY;

        json_decref(head);
        return code;
}

/* Appends the row's text and notes it, if it is another than the browser has. */
static int stage(struct page_doc *d, struct part *p, struct row *r, uint64_t stamp, json_t *row)
{
        struct change c = { .row = r, .stamp = stamp, .at = d->texts.len };

        TRY(cut_texts(row, 0));
        TRY(doc_write(row, &d->texts));
        c.len = d->texts.len - c.at;
        if (c.len > PAGE_ROW_BYTES)
                return ERR_LIMIT;
        c.hash = hash_bytes(d->texts.data + c.at, c.len, d->seed);
        if (r->sent && r->hash == c.hash) {
                r->stamp = stamp;
                buf_truncate(&d->texts, c.at);
                return 0;
        }
        return vec_push(&p->changes, c) < 0 ? ERR_NO_MEMORY : 0;
}

static int put_row(struct page_doc *d, const char *part, const char *key, uint64_t stamp, json_t *row)
{
        struct part *p = part_made(d, part);
        struct row *r;

        if (!p || !row)
                return ERR_NO_MEMORY;
        TRY(row_made(d, p, key, &r));
        if (r->look == d->look)
                return ERR_INTERNAL;
        r->look = d->look;
        return stage(d, p, r, stamp, row);
}

int page_row_stamped(struct page_doc *d, const char *part, const char *key, uint64_t stamp, json_t *row)
{
        int code = put_row(d, part, key, stamp, row);

        json_decref(row);
        return code;
}

int page_row(struct page_doc *d, const char *part, const char *key, json_t *row)
{
        return page_row_stamped(d, part, key, 0, row);
}

bool page_row_stays(struct page_doc *d, const char *part, const char *key, uint64_t stamp)
{
        const struct part *p = part_of(d, part);
        struct row *r = p ? map_get(&p->rows, key) : NULL;

        if (!r || !r->sent || stamp == 0 || r->stamp != stamp || r->look == d->look)
                return false;
        r->look = d->look;
        return true;
}

/* ---- one look ---- */

void page_doc_begin(struct page_doc *d)
{
        d->look++;
        for (struct part *p = d->parts; p; p = p->next) {
                p->changes.n = p->gone.n = 0;
                p->changes_taken = p->gone_taken = 0;
        }
        d->head_drawn = false;
        buf_clear(&d->texts);
        buf_clear(&d->head);
}

static int find_gone(struct page_doc *d, struct part *p)
{
        map_for_each(&p->rows, e) {
                struct row *r = e->value;

                if (r->look == d->look)
                        continue;
                if (!r->sent)
                        drop_row(d, p, r);
                else if (vec_push(&p->gone, r) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

int page_doc_end(struct page_doc *d)
{
        if (!d->head_drawn)
                TRY(page_head(d, json_object()));
        for (struct part *p = d->parts; p; p = p->next)
                TRY(find_gone(d, p));
        return 0;
}

void page_doc_hidden_by_error(struct page_doc *d)
{
        d->head_sent = false;
}

/* ---- what is sent ---- */

struct writer {
        struct buf *b;
        size_t end; /* enough */
        bool open;  /* the member "rows" or "gone" has begun */
};

static void append_name(struct buf *b, const char *text)
{
        buf_append_json_string(b, text, strlen(text));
        buf_append_char(b, ':');
}

static void open_part(struct writer *w, const char *member, const struct part *p, char bracket)
{
        if (w->open)
                buf_append_char(w->b, ',');
        else
                buf_printf(w->b, ",\"%s\":{", member);
        w->open = true;
        append_name(w->b, p->name);
        buf_append_char(w->b, bracket);
}

static void close_member(struct writer *w)
{
        if (w->open)
                buf_append_char(w->b, '}');
        w->open = false;
}

static bool is_full(const struct writer *w)
{
        return w->b->len >= w->end || w->b->failed;
}

static void write_gone(struct page_doc *d, struct writer *w)
{
        for (struct part *p = d->parts; p; p = p->next) {
                p->gone_to = p->gone_taken;
                if (p->gone_to == p->gone.n || is_full(w))
                        continue;
                open_part(w, "gone", p, '[');
                for (; p->gone_to < p->gone.n && !is_full(w); p->gone_to++) {
                        const char *key = p->gone.at[p->gone_to]->key;

                        if (p->gone_to > p->gone_taken)
                                buf_append_char(w->b, ',');
                        buf_append_json_string(w->b, key, strlen(key));
                }
                buf_append_char(w->b, ']');
        }
        close_member(w);
}

static void write_rows(struct page_doc *d, struct writer *w)
{
        for (struct part *p = d->parts; p; p = p->next) {
                p->changes_to = p->changes_taken;
                if (p->changes_to == p->changes.n || is_full(w))
                        continue;
                open_part(w, "rows", p, '{');
                for (; p->changes_to < p->changes.n && !is_full(w); p->changes_to++) {
                        const struct change *c = &p->changes.at[p->changes_to];

                        if (p->changes_to > p->changes_taken)
                                buf_append_char(w->b, ',');
                        append_name(w->b, c->row->key);
                        buf_append(w->b, d->texts.data + c->at, c->len);
                }
                buf_append_char(w->b, '}');
        }
        close_member(w);
}

/* What was written counts as sent. Returns whether something is left. */
static bool commit(struct page_doc *d, struct part *p)
{
        for (; p->gone_taken < p->gone_to; p->gone_taken++)
                drop_row(d, p, p->gone.at[p->gone_taken]);
        for (; p->changes_taken < p->changes_to; p->changes_taken++) {
                const struct change *c = &p->changes.at[p->changes_taken];

                c->row->hash = c->hash;
                c->row->stamp = c->stamp;
                c->row->sent = true;
        }
        return p->gone_taken < p->gone.n || p->changes_taken < p->changes.n;
}

/* Whoever looks has it all: what was kept for it to be sent can be large. */
static void let_go(struct page_doc *d)
{
        buf_free(&d->texts);
        buf_init(&d->texts, PAGE_CHANGE_BYTES);
        for (struct part *p = d->parts; p; p = p->next) {
                vec_free(&p->changes);
                vec_free(&p->gone);
                p->changes_taken = p->gone_taken = 0;
        }
}

int page_doc_take(struct page_doc *d, size_t size, struct buf *b, bool *ret_more)
{
        struct writer w = { .b = b, .end = b->len + size };
        uint64_t hash = hash_bytes(d->head.data, d->head.len, d->seed);
        bool head = d->head_drawn && !(d->head_sent && d->head_hash == hash), more = false;

        if (head) {
                buf_append_str(b, ",\"head\":");
                buf_append(b, d->head.data, d->head.len);
        }
        write_gone(d, &w);
        write_rows(d, &w);
        TRY(buf_reserve(b, PAGE_TAKE_ROOM));
        if (head)
                d->head_sent = true, d->head_hash = hash;
        for (struct part *p = d->parts; p; p = p->next)
                more = commit(d, p) || more;
        if (!more)
                let_go(d);
        *ret_more = more;
        return 0;
}
