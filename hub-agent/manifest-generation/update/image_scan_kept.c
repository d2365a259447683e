/* What is known of tags, in memory and in a file. */
#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "hub-agent/manifest-generation/update/image_scan_internal.h"

static void tag_free(void *value)
{
        struct kept_tag *t = value;

        mem_free(t->digest);
        mem_free(t);
}

void scan_repository_free(void *repository)
{
        struct kept_repository *r = repository;

        map_free(&r->tags);
        mem_free(r);
}

struct kept_repository *scan_keep(struct image_scan *s, const char *name)
{
        struct kept_repository *r = map_get(&s->repositories, name);

        if (r)
                return r;
        r = NEW(struct kept_repository);
        if (!r)
                return NULL;
        map_init(&r->tags, MAP_OWN_KEYS, tag_free);
        if (map_put(&s->repositories, name, r) == 0)
                return r;
        scan_repository_free(r);
        return NULL;
}

int scan_put(struct image_scan *s, struct kept_repository *r, const char *tag, const struct kept_tag *known)
{
        bool there = map_has(&r->tags, tag);
        struct kept_tag *own = NEW(struct kept_tag);
        char *digest = mem_strdup(or_empty(known->digest));

        if (own && digest) {
                *own = *known;
                own->digest = digest;
                if (map_put(&r->tags, tag, own) == 0) {
                        s->n_tags += !there;
                        s->changed = true;
                        return 0;
                }
        }
        mem_free(digest);
        mem_free(own);
        return ERR_NO_MEMORY;
}

void scan_forget(struct image_scan *s, struct kept_repository *r, const char *tag)
{
        if (!map_remove(&r->tags, tag))
                return;
        s->n_tags--;
        s->changed = true;
}

/* ---- room ---- */

static const char *longest_unasked(const struct image_scan *s, int64_t before_ms)
{
        const char *oldest = NULL;
        int64_t asked_ms = before_ms;

        map_for_each(&s->repositories, e) {
                const struct kept_repository *r = e->value;

                if (r->asked_ms < asked_ms) {
                        asked_ms = r->asked_ms;
                        oldest = e->key;
                }
        }
        return oldest;
}

/* Those of this poll stay, whatever they take: the next one would read them again. */
void scan_prune(struct image_scan *s, int64_t begun_ms)
{
        const char *name;

        while ((name = longest_unasked(s, s->n_tags > IMAGE_SCAN_KEPT_MAX
                                                  ? begun_ms
                                                  : begun_ms - MANIFEST_REFRESH_MAX_MS))) {
                const struct kept_repository *r = map_get(&s->repositories, name);

                s->n_tags -= map_count(&r->tags);
                s->changed = true;
                map_remove(&s->repositories, name);
        }
}

/* ---- the file ---- */

static int set_tag(json_t *tags, const char *tag, const struct kept_tag *t)
{
        json_t *one = json_object();

        if (!one || json_object_set_new(tags, tag, one) < 0 || doc_set_string(one, "digest", t->digest) < 0 ||
            doc_set_int(one, "read", t->age.read_ms) < 0 ||
            doc_set_int(one, "refresh", t->age.refresh_ms) < 0)
                return ERR_NO_MEMORY;
        if (t->created_ms != TIME_NONE && doc_set_int(one, "created", t->created_ms) < 0)
                return ERR_NO_MEMORY;
        return t->excluded ? doc_set(one, "excluded", json_true()) : 0;
}

static int set_repositories(const struct image_scan *s, json_t *into)
{
        map_for_each(&s->repositories, e) {
                const struct kept_repository *r = e->value;
                json_t *one = json_object(), *tags = json_object();

                if (!one || json_object_set_new(into, e->key, one) < 0) {
                        json_decref(tags);
                        return ERR_NO_MEMORY;
                }
                if (json_object_set_new(one, "tags", tags) < 0 || doc_set_int(one, "asked", r->asked_ms) < 0)
                        return ERR_NO_MEMORY;
                map_for_each(&r->tags, t)
                        TRY(set_tag(tags, t->key, t->value));
        }
        return 0;
}

static int write_file(struct image_scan *s, struct error *err)
{
        CLEANUP(volume_writer_cleanup) struct volume_writer *file = NULL;
        AUTO_JSON json_t *doc = json_object();
        AUTO_BUF struct buf b;

        buf_init(&b, IMAGE_SCAN_FILE_BYTES);
        if (!doc || set_repositories(s, doc) < 0 || doc_write(doc, &b) == ERR_NO_MEMORY)
                return error_no_memory(err);
        TRY(buf_status(&b, err, "what is known of images"));
        TRY(volume_create(s->options.volume, IMAGE_SCAN_FILE, &file, err));
        TRY(volume_append(file, b.data, b.len, err));
        return volume_commit(TAKE_PTR(file), err);
}

static void take_tag(struct image_scan *s, struct kept_repository *r, const char *tag, const json_t *from,
                     bool *ret_failed)
{
        struct kept_tag t = { .digest = (char *)(uintptr_t)or_empty(doc_get_string(from, "digest")),
                              .created_ms = doc_get_int(from, "created", TIME_NONE),
                              .excluded = doc_get_bool(from, "excluded", false),
                              .age = { doc_get_int(from, "read", 0), doc_get_int(from, "refresh", 0) } };

        t.age.refresh_ms = MIN(MAX(t.age.refresh_ms, 0), MANIFEST_REFRESH_MAX_MS);
        *ret_failed |= scan_put(s, r, tag, &t) < 0;
}

static int take_repositories(struct image_scan *s, json_t *doc, struct error *err)
{
        const char *name, *tag;
        json_t *one, *known;
        bool failed = false;

        json_object_foreach(doc, name, one) {
                struct kept_repository *r = scan_keep(s, name);

                if (!r)
                        return error_no_memory(err);
                r->asked_ms = doc_get_int(one, "asked", 0);
                json_object_foreach(doc_get_object(one, "tags"), tag, known)
                        take_tag(s, r, tag, known, &failed);
        }
        return failed ? error_no_memory(err) : 0;
}

static int read_file(struct image_scan *s, struct error *err)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        AUTO_FREE char *text = NULL;
        AUTO_JSON json_t *doc = NULL;
        size_t n;

        TRY(volume_open_file(s->options.volume, IMAGE_SCAN_FILE, &file, err));
        if (volume_reader_size(file) > IMAGE_SCAN_FILE_BYTES)
                return error_set(err, ERR_LIMIT, "it has more than %u bytes", IMAGE_SCAN_FILE_BYTES);
        n = (size_t)volume_reader_size(file);
        text = mem_alloc(n);
        if (!text)
                return error_no_memory(err);
        TRY(volume_read(file, 0, text, n, &n, err));
        TRY(doc_parse((struct slice){ text, n }, &doc, err));
        return take_repositories(s, doc, err);
}

/* Memory and cancelling are the caller's, all else is told. */
static int note_trouble(struct image_scan *s, const char *what, int code, const struct error *why,
                        struct error *err)
{
        mem_free(s->trouble);
        s->trouble = NULL;
        if (code == 0 || code == ERR_NOT_FOUND)
                return 0;
        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return code == ERR_NO_MEMORY ? error_no_memory(err)
                                             : error_set(err, ERR_CANCELLED, "cancelled");
        s->trouble = mem_printf("cannot %s %s: %s", what, IMAGE_SCAN_FILE, why->text);
        return s->trouble ? 0 : error_no_memory(err);
}

int scan_load(struct image_scan *s, struct error *err)
{
        struct error why = { 0 };

        if (s->loaded || !s->options.volume)
                return 0;
        TRY(note_trouble(s, "read", read_file(s, &why), &why, err));
        s->loaded = true;
        s->changed = false;
        return 0;
}

int scan_save(struct image_scan *s, struct error *err)
{
        struct error why = { 0 };

        if (!s->changed || !s->options.volume)
                return 0;
        TRY(note_trouble(s, "write", write_file(s, &why), &why, err));
        s->changed = s->trouble != NULL;
        return 0;
}
