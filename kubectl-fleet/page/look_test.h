/* What the tests of views share: a hub of documents, from which needs are filled as a session fills them, and
 * what a browser would have after each look. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/kube/selector.h"
#include "kubectl-fleet/page/doc.h"
#include "kubectl-fleet/page/reduce.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

#define SCENE_OBJECTS_MAX 4096
#define SCENE_NOW_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

struct scene_object {
        const struct kind *kind;
        json_t *doc;
};
struct scene {
        struct scene_object at[SCENE_OBJECTS_MAX];
        size_t n;
        const struct kind *unreadable; /* lists of this kind may not be read; NULL = all may */
        const struct page_journal *journal;
        json_t *args, *shown; /* shown: {head, parts: {part: {key: row}}} */
        struct page_doc *doc;
        size_t rows_sent, bytes_sent; /* by the last look */
        size_t n_needs;               /* of the last look */
        struct error err;
};

/* Single quotes stand for double ones. */
static inline json_t *scene_parse(const char *text)
{
        json_t *doc = NULL;
        AUTO_FREE char *copy = mem_strdup(text);
        struct error err = { 0 };

        for (char *c = copy; *c; c++)
                if (*c == '\'')
                        *c = '"';
        if (doc_parse(slice_of(copy), &doc, &err) < 0)
                fprintf(stderr, "%s\n%s\n", err.text, copy);
        assert_non_null(doc);
        return doc;
}

static inline struct scene_object *scene_find(struct scene *s, const struct kind *kind, const char *ns,
                                              const char *name)
{
        for (size_t i = 0; i < s->n; i++)
                if (s->at[i].kind == kind &&
                    text_equal(doc_get_string(s->at[i].doc, "metadata.name"), name) &&
                    text_equal(or_empty(doc_get_string(s->at[i].doc, "metadata.namespace")), or_empty(ns)))
                        return &s->at[i];
        return NULL;
}

/* Puts it there, in place of one of its name; each time it has another version. */
static inline void scene_put_doc(struct scene *s, const struct kind *kind, json_t *doc)
{
        static int64_t version;
        char text[32];
        struct scene_object *o = scene_find(s, kind, doc_get_string(doc, "metadata.namespace"),
                                            doc_get_string(doc, "metadata.name"));

        if (!o) {
                assert_true(s->n < SCENE_OBJECTS_MAX);
                o = &s->at[s->n++];
        }
        json_decref(o->doc);
        snprintf(text, sizeof(text), "%lld", (long long)++version);
        assert_int_equal(doc_set_string(doc, "metadata.resourceVersion", text), 0);
        *o = (struct scene_object){ kind, doc };
}

static inline void scene_put(struct scene *s, const struct kind *kind, const char *fmt, ...)
        PRINTF_LIKE(3, 4);
static inline void scene_put(struct scene *s, const struct kind *kind, const char *fmt, ...)
{
        const size_t size = 4u << 20;
        AUTO_FREE char *text = mem_alloc(size);
        va_list args;

        va_start(args, fmt);
        assert_true(vsnprintf(text, size, fmt, args) < (int)size);
        va_end(args);
        scene_put_doc(s, kind, scene_parse(text));
}

static inline void scene_remove(struct scene *s, const struct kind *kind, const char *ns, const char *name)
{
        struct scene_object *o = scene_find(s, kind, ns, name);

        assert_non_null(o);
        json_decref(o->doc);
        *o = s->at[--s->n];
        s->at[s->n] = (struct scene_object){ 0 };
}

/* ---- needs are filled ---- */

static inline bool scene_wants(const struct fetch *f, const struct scene_object *o, struct arena *arena)
{
        const char *ns = or_empty(doc_get_string(o->doc, "metadata.namespace"));
        struct label_query *q;

        if (o->kind != f->kind || (f->ns && !text_equal(f->ns, ns)))
                return false;
        if (f->name)
                return text_equal(doc_get_string(o->doc, "metadata.name"), f->name);
        if (!f->selector)
                return true;
        assert_int_equal(label_query_parse(arena, f->selector, &q, NULL), 0);
        return label_query_matches(q, doc_get(o->doc, "metadata.labels"));
}

static inline void scene_let_go(void *o)
{
        object_unref(o);
}

static inline int scene_compare(const void *a, const void *b)
{
        const struct object *x = *(const struct object *const *)a, *y = *(const struct object *const *)b;
        int order = strcmp(or_empty(x->meta.ns), or_empty(y->meta.ns));

        return order ? order : strcmp(x->meta.name, y->meta.name);
}

/* As an informer would: projections, metadata alone, or whole. */
static inline void scene_fill(struct scene *s, struct page_need *need, struct arena *arena)
{
        struct fetch *f = &need->fetch;

        need->filled = f->kind != s->unreadable;
        need->problem = need->filled ? NULL : "may not be listed";
        f->result = (struct object_list){ .at = ARENA_NEW_ARRAY(arena, const struct object *, s->n + 1) };
        for (size_t i = 0; need->filled && i < s->n; i++) {
                const struct kind *kind = f->metadata_only ? &partial_object_kind : f->kind;
                AUTO_BUF struct buf text;
                struct object *o;
                struct error err = { 0 };

                buf_init(&text, 8u << 20);
                if (!scene_wants(f, &s->at[i], arena))
                        continue;
                doc_write(s->at[i].doc, &text);
                if (object_decode(kind, (struct slice){ text.data, text.len },
                                  f->whole ? DECODE_FULL : DECODE_PROJECTION, NULL, &o, &err) < 0)
                        fprintf(stderr, "%s\n", err.text);
                assert_int_equal(err.code, 0);
                if (f->names_only) {
                        struct object *less = page_reduce_snapshot(NULL, o);

                        assert_non_null(less);
                        object_unref(o);
                        o = less;
                }
                assert_int_equal(arena_defer(arena, scene_let_go, o), 0);
                f->result.at[f->result.n++] = o;
        }
        if (f->result.n)
                qsort(f->result.at, f->result.n, sizeof(*f->result.at), scene_compare);
}

/* One thing read may name the next: until nothing new is named. */
static inline int scene_needs(struct scene *s, const struct page_view *view, struct page_look *l,
                              struct page_needs *needs, uint64_t fail_at)
{
        struct page_needs now = { 0 };
        size_t n;

        do {
                struct page_needs next = { 0 };
                int code;

                n = now.n;
                l->needs = &now;
                mem_fail_at(fail_at, false);
                code = view->need(l, &next, &s->err);
                if (mem_fault_fired() || code < 0)
                        return code;
                mem_fail_at(0, false);
                for (size_t i = 0; i < next.n; i++)
                        scene_fill(s, &next.at[i], l->arena);
                now = next;
        } while (now.n != n);
        *needs = now;
        l->needs = needs;
        s->n_needs = now.n;
        return 0;
}

/* ---- what the browser has ---- */

static inline void scene_merge(struct scene *s, const json_t *change)
{
        const char *part, *key;
        json_t *rows, *row, *parts = json_object_get(s->shown, "parts");
        size_t i;

        if (json_object_get(change, "head"))
                json_object_set(s->shown, "head", json_object_get(change, "head"));
        json_object_foreach(json_object_get(change, "rows"), part, rows) {
                if (!json_object_get(parts, part))
                        json_object_set_new(parts, part, json_object());
                json_object_foreach(rows, key, row) {
                        json_object_set(json_object_get(parts, part), key, row);
                        s->rows_sent++;
                }
        }
        json_object_foreach(json_object_get(change, "gone"), part, rows)
                json_array_foreach(rows, i, row)
                        json_object_del(json_object_get(parts, part), json_string_value(row));
}

static inline void scene_take(struct scene *s)
{
        bool more = true;

        s->rows_sent = s->bytes_sent = 0;
        while (more) {
                AUTO_BUF struct buf text;
                AUTO_JSON json_t *change = NULL;

                buf_init(&text, 64u << 20);
                buf_append_char(&text, '{');
                assert_int_equal(page_doc_take(s->doc, 65536, &text, &more), 0);
                s->bytes_sent += text.len - 1;
                if (text.len > 1 && text.data[1] == ',')
                        text.data[1] = ' ';
                buf_append_char(&text, '}');
                assert_int_equal(doc_parse((struct slice){ text.data, text.len }, &change, NULL), 0);
                scene_merge(s, change);
        }
}

/* Looks once. `fail_at`: that allocation of the view fails; 0 = none. */
static inline int scene_look_failing(struct scene *s, const struct page_view *view, uint64_t fail_at,
                                     bool *ret_fired)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct page_look l = {
                .arena = &arena, .args = s->args, .now_ms = SCENE_NOW_MS, .journal = s->journal
        };
        struct page_needs needs = { 0 };
        int code;

        memset(&s->err, 0, sizeof(s->err));
        code = scene_needs(s, view, &l, &needs, fail_at);
        if (code == 0 && !mem_fault_fired()) {
                page_doc_begin(s->doc);
                mem_fail_at(fail_at, false);
                code = view->look(&l, s->doc, &s->err);
        }
        *ret_fired = mem_fault_fired();
        mem_fail_at(0, false);
        if (code < 0)
                return code;
        assert_int_equal(page_doc_end(s->doc), 0);
        scene_take(s);
        return 0;
}

static inline int scene_try(struct scene *s, const struct page_view *view)
{
        bool fired;

        return scene_look_failing(s, view, 0, &fired);
}

static inline void scene_look(struct scene *s, const struct page_view *view)
{
        int code = scene_try(s, view);

        if (code < 0)
                fprintf(stderr, "%s\n", s->err.text);
        assert_int_equal(code, 0);
}

static inline void scene_args(struct scene *s, const char *args)
{
        json_decref(s->args);
        s->args = scene_parse(args);
}

static inline const json_t *scene_head(const struct scene *s)
{
        return json_object_get(s->shown, "head");
}

static inline const json_t *scene_row(const struct scene *s, const char *part, const char *key)
{
        return json_object_get(json_object_get(json_object_get(s->shown, "parts"), part), key);
}

static inline size_t scene_rows(const struct scene *s, const char *part)
{
        return json_object_size(json_object_get(json_object_get(s->shown, "parts"), part));
}

/* Asserts that `doc` has at least these members with these values; lists are compared whole. */
static inline void assert_has(const json_t *doc, const char *want)
{
        AUTO_JSON json_t *wanted = scene_parse(want);
        AUTO_JSON json_t *merged = json_deep_copy(doc);

        assert_non_null(doc);
        json_object_update_recursive(merged, wanted);
        if (!doc_equal(merged, doc)) {
                AUTO_BUF struct buf text;

                buf_init(&text, 16u << 20);
                doc_write_pretty(doc, &text);
                fprintf(stderr, "--- wanted: %s\n--- in: %s\n", want, text.data);
        }
        assert_true(doc_equal(merged, doc));
}

struct bad_args {
        const char *args, *text;
};
static inline void assert_bad_args(struct scene *s, const struct page_view *view,
                                   const struct bad_args *cases, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                scene_args(s, cases[i].args);
                assert_int_equal(scene_try(s, view), ERR_INVALID);
                assert_string_equal(s->err.text, cases[i].text);
        }
}

/* Of a view of one placement: which arguments name none, and one that is not there. */
static inline void assert_names_a_placement(struct scene *s, const struct page_view *view)
{
        static const struct bad_args cases[] = {
                { "{}", "kind: is needed" },
                { "{'kind':'pod','name':'x'}", "kind: must be crp or rp" },
                { "{'kind':'crp'}", "name: is needed" },
                { "{'kind':'crp','name':7}", "name: must be a string" },
                { "{'kind':'crp','name':'a,b=c'}",
                  "name: must be a name of a placement, up to 63 characters" },
                { "{'kind':'crp','name':'x','ns':'y'}", "ns: a ClusterResourcePlacement has no namespace" },
                { "{'kind':'rp','name':'x'}", "ns: is needed" },
                { "{'kind':'rp','name':'x','ns':'A b'}", "ns: must be a name of a namespace" },
        };

        assert_bad_args(s, view, cases, ARRAY_LEN(cases));
        scene_args(s, "{'kind':'crp','name':'web'}");
        assert_int_equal(scene_try(s, view), ERR_NOT_FOUND);
        assert_string_equal(s->err.text, "ClusterResourcePlacement \"web\" not found");
}

/* Whether a text stands anywhere in what the browser has. */
static inline bool scene_shows(const struct scene *s, const char *text)
{
        AUTO_BUF struct buf all;

        buf_init(&all, 256u << 20);
        assert_int_equal(doc_write(s->shown, &all), 0);
        return strstr(all.data, text) != NULL;
}

static inline int scene_set_up(void **state)
{
        struct scene *s = NEW(struct scene);

        s->doc = page_doc_new(7);
        s->shown = json_pack("{s:{}, s:{}}", "head", "parts");
        *state = s;
        return 0;
}

static inline int scene_tear_down(void **state)
{
        struct scene *s = *state;

        for (size_t i = 0; i < s->n; i++)
                json_decref(s->at[i].doc);
        json_decref(s->args);
        json_decref(s->shown);
        page_doc_free(s->doc);
        mem_free(s);
        return 0;
}
#define SCENE_TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
