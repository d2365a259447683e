#include "e2e/devcluster/rig_store.h"

#include "e2e/devcluster/store.h"

#define UID_LENGTH 36    /* 00000000-0000-0000-0000-000000000000 */
#define MOMENT_LENGTH 20 /* 2026-01-01T00:00:00Z */

struct watcher {
        void (*changed)(void *ctx, const struct rig_change *c);
        void *ctx;
};

static void store_changed(void *ctx, struct table *t, enum event_type type, struct blob *previous,
                          struct blob *object)
{
        const struct watcher *w = ctx;
        const struct rig_change c = { .type = type == EVENT_ADDED     ? RIG_ADDED
                                              : type == EVENT_DELETED ? RIG_DELETED
                                                                      : RIG_MODIFIED,
                                      .cluster = t->cluster->name,
                                      .resource = t->key,
                                      .ns = blob_ns(object),
                                      .name = blob_name(object),
                                      .text = object->data };

        w->changed(w->ctx, &c);
}

void rig_run_watched(void (*body)(struct rig *r), void (*changed)(void *ctx, const struct rig_change *c),
                     void *ctx)
{
        struct watcher w = { changed, ctx };
        const struct store_observer observer = { .changed = store_changed, .ctx = &w };
        const struct devcluster_options options = {
                .path = ":memory:", .anonymous_admin = true, .observer = &observer
        };

        rig_run_options(body, &options, ctx);
}

static bool is_moment(const char *text)
{
        return text[4] == '-' && strspn(text, "0123456789-:TZ") == MOMENT_LENGTH;
}

static bool is_uid(const char *text)
{
        return text[8] == '-' && strspn(text, "0123456789abcdef-") == UID_LENGTH;
}

static void blur(char *text, size_t len)
{
        for (size_t i = 0; i + MOMENT_LENGTH <= len; i++) {
                size_t n = is_moment(text + i)                         ? MOMENT_LENGTH
                           : i + UID_LENGTH <= len && is_uid(text + i) ? UID_LENGTH
                                                                       : 0;

                memset(text + i, '?', n);
                i += n ? n - 1 : 0;
        }
}

static void print_object(const struct table *t, const struct blob *b, struct buf *out)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf text;
        struct error err = { 0 };

        buf_init(&text, 1 << 20);
        ASSERT(blob_parse(b, &doc, &err) == 0);
        json_object_del(json_object_get(doc, "metadata"), "resourceVersion");
        json_object_del(json_object_get(doc, "metadata"), "managedFields");
        ASSERT(doc_write_canonical(doc, &text) == 0);
        blur(text.data, text.len);
        ASSERT(buf_printf(out, "%s %s/%s %s\n", t->key, blob_ns(b), blob_name(b), text.data) == 0);
}

void rig_print_store(struct rig *r, const char *cluster, bool (*skip)(const char *resource), struct buf *out)
{
        const struct cluster *c = api_store_cluster(devcluster_store(r->devcluster), cluster);
        AUTO_FREE const char **keys = NULL;
        size_t n;

        keys = map_sorted_keys(&c->tables, &n);
        for (size_t i = 0; i < n; i++) {
                const struct table *t = map_get(&c->tables, keys[i]);

                if (skip(t->key))
                        continue;
                vec_for_each(&t->items, b)
                        print_object(t, *b, out);
        }
}
