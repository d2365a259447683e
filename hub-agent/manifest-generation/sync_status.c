#include "hub-agent/manifest-generation/sync_status.h"

#include <stdio.h>

#include "common/base/memory.h"
#include "common/base/timefmt.h"

#define ROOT "." /* how a target path that is the root is called */
#define ERRORS_BYTES (SYNC_STATUS_PROBLEMS * (SYNC_STATUS_TEXT_BYTES + 1024))

/* ---- problems ---- */

static void free_problem(struct sync_problem *p)
{
        mem_free(p->identity);
        mem_free(p->source);
        mem_free(p->text);
        *p = (struct sync_problem){ 0 };
}

int sync_problems_add(struct sync_problems *p, const char *identity, const char *source, const char *text)
{
        size_t room = MIN(strlen(text) + 1, (size_t)SYNC_STATUS_TEXT_BYTES);
        struct sync_problem one = { 0 };

        if (p->n >= SYNC_STATUS_PROBLEMS) {
                p->more++;
                return 0;
        }
        one.identity = identity ? mem_strdup(identity) : NULL;
        one.source = mem_strdup(or_empty(source));
        one.text = mem_alloc(MAX(room, (size_t)16));
        if (!one.source || !one.text || (identity && !one.identity) || vec_push(p, one) < 0) {
                free_problem(&one);
                return ERR_NO_MEMORY;
        }
        text_shorten(text, p->at[p->n - 1].text, MAX(room, (size_t)16));
        return 0;
}

void sync_problems_clear(struct sync_problems *p)
{
        for (size_t i = 0; i < p->n; i++)
                free_problem(&p->at[i]);
        vec_free(p);
        p->more = 0;
}

static json_t *list_problems(const struct sync_problems *p)
{
        json_t *list = json_array();

        for (size_t i = 0; list && i < p->n; i++) {
                const struct sync_problem *one = &p->at[i];
                json_t *entry = json_pack("{s:s,s:s}", "source", one->source, "error", one->text);

                if (!entry ||
                    (one->identity && json_object_set_new(entry, "object", json_string(one->identity)) < 0)) {
                        json_decref(entry);
                        json_decref(list);
                        return NULL;
                }
                if (json_array_append_new(list, entry) < 0) {
                        json_decref(list);
                        return NULL;
                }
        }
        return list;
}

static int write_problems(json_t *data, const struct sync_problems *p)
{
        AUTO_BUF struct buf b;
        AUTO_JSON json_t *list = NULL;

        buf_init(&b, ERRORS_BYTES);
        if (p->n == 0)
                return 0;
        list = list_problems(p);
        if (!list)
                return ERR_NO_MEMORY;
        TRY(yaml_write_unfolded(list, &b));
        if (p->more)
                TRY(buf_printf(&b, "# and %zu more\n", p->more));
        return doc_set_string(data, "errors", b.data);
}

/* ---- target paths ---- */

static const char *name_of(const char *path)
{
        return *path ? path : ROOT;
}

static int write_paths(json_t *data, const struct sync_status *s)
{
        AUTO_JSON json_t *paths = json_object();
        AUTO_BUF struct buf text;
        AUTO_BUF struct buf held;

        buf_init(&text, 1u << 20);
        buf_init(&held, 1u << 20);
        if (!paths)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < s->n_paths; i++) {
                const struct path_record *r = &s->records[i];

                if (!r->known)
                        continue;
                if (json_object_set_new(paths, name_of(s->paths[i]), path_record_write(r)) < 0)
                        return ERR_NO_MEMORY;
                if (r->held)
                        TRY(buf_printf(&held, "%s: %zu objects, %zu before\n", name_of(s->paths[i]),
                                       r->objects, r->before));
        }
        TRY(doc_write_canonical(paths, &text));
        TRY(doc_set_string(data, "paths", text.data));
        return held.len ? doc_set_string(data, "collectionHeld", held.data) : 0;
}

void sync_status_record(const json_t *data, const char *path, struct path_record *ret)
{
        const char *text = json_string_value(json_object_get(data, "paths"));
        AUTO_JSON json_t *paths = NULL;

        if (text)
                (void)doc_parse(slice_of(text), &paths, NULL);
        path_record_read(json_object_get(paths, name_of(path)), ret);
}

/* ---- all of it ---- */

static int put_count(json_t *data, const char *key, size_t n)
{
        char text[24];

        snprintf(text, sizeof(text), "%zu", n);
        return doc_set_string(data, key, text);
}

static int put_text(json_t *data, const char *key, const char *text)
{
        return text_empty(text) ? 0 : doc_set_string(data, key, text);
}

static int fill(json_t *data, const struct sync_status *s)
{
        char when[RFC3339_SIZE] = "";

        if (s->synced_ms)
                time_format_rfc3339(s->synced_ms, when);
        TRY(put_text(data, "url", s->url));
        TRY(put_text(data, "branch", s->branch));
        TRY(put_text(data, "repository", repository_state_name(s->repository->state)));
        TRY(put_text(data, "repositoryProblem", s->repository->problem));
        TRY(put_text(data, "head", s->head));
        TRY(put_text(data, "synced", s->synced));
        TRY(put_text(data, "syncedAt", when));
        TRY(put_count(data, "objects", s->objects));
        TRY(put_count(data, "changed", s->changed));
        TRY(put_count(data, "ignored", s->ignored));
        TRY(put_count(data, "failed", s->failed));
        TRY(put_count(data, "deleted", s->deleted));
        TRY(put_text(data, "images", s->images));
        TRY(write_paths(data, s));
        return write_problems(data, s->problems);
}

int sync_status_write(const struct sync_status *s, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *data = json_object();
        int code = data ? fill(data, s) : ERR_NO_MEMORY;

        if (code < 0)
                return code == ERR_NO_MEMORY ? error_no_memory(err)
                                             : error_set(err, code, "%s is too large", SYNC_STATUS_NAME);
        *ret = TAKE_PTR(data);
        return 0;
}
