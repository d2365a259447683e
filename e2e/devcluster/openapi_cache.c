/* Documents by the hash of what they are made of. A thousand clusters with the same CRDs share each of them;
 * a changed CRD changes the hash, so nothing has to be invalidated. When the cache is full it starts anew. */
#include "common/base/digest.h"
#include "common/base/limits.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/openapi.h"

#define CACHE_BYTES_MAX (48u << 20)

struct openapi_cache {
        struct map documents; /* key -> struct text */
        size_t bytes;
};

struct text {
        char *data;
        size_t len;
};

static void text_free(void *value)
{
        struct text *t = value;
        mem_free(t->data);
        mem_free(t);
}

void openapi_cache_free(struct devcluster *d)
{
        if (!d->openapi)
                return;
        map_free(&d->openapi->documents);
        mem_free(d->openapi);
        d->openapi = NULL;
}

static struct openapi_cache *cache_of(struct devcluster *d)
{
        if (d->openapi)
                return d->openapi;
        d->openapi = NEW(struct openapi_cache);
        if (d->openapi)
                map_init(&d->openapi->documents, MAP_OWN_KEYS, text_free);
        return d->openapi;
}

/* ---- keys ---- */

static void hash_text(struct sha256 *s, const char *text)
{
        sha256_update(s, text, strlen(text) + 1);
}

static void hash_resources(struct sha256 *s, const struct resource *const *all, size_t n, const char *group,
                           const char *version)
{
        for (size_t i = 0; i < n; i++) {
                const struct resource *r = all[i];
                if (group && (strcmp(r->group, group) != 0 || !resource_find_version(r, version)))
                        continue;
                hash_text(s, r->table_key);
                if (r->custom)
                        hash_text(s, container_of(r, struct custom_resource, resource)->hash);
        }
}

const char *openapi_document_key(struct request *rq, enum openapi_form form, const char *group,
                                 const char *version)
{
        static const char writer[] = "2"; /* raised when the same input gives another document */
        static const char *const forms[] = { "v3", "v2", "v2 protobuf" };
        const struct resource *const *all;
        uint64_t types = builtin_types_fingerprint();
        uint8_t sum[SHA256_SIZE];
        struct sha256 s;
        size_t n;
        char *key = arena_alloc(rq->arena, 2 * sizeof(sum) + 1);
        if (!key || registry_all(rq->cluster, rq->arena, &all, &n) < 0)
                return NULL;
        sha256_init(&s);
        hash_text(&s, writer);
        hash_text(&s, forms[form]);
        sha256_update(&s, &types, sizeof(types));
        hash_text(&s, group ? group : "*");
        hash_text(&s, group ? version : "*");
        hash_resources(&s, all, n, group, version);
        sha256_final(&s, sum);
        for (size_t i = 0; i < sizeof(sum); i++)
                snprintf(key + 2 * i, 3, "%02X", sum[i]);
        return key;
}

/* ---- documents ---- */

static int keep(struct openapi_cache *c, const char *key, struct buf *out, struct slice *ret,
                struct error *err)
{
        struct text *t = NEW(struct text);
        if (!t)
                return error_no_memory(err);
        t->data = buf_take(out, &t->len);
        if (!t->data) {
                mem_free(t);
                return error_no_memory(err);
        }
        if (c->bytes + t->len > CACHE_BYTES_MAX) {
                map_clear(&c->documents);
                c->bytes = 0;
        }
        if (map_put(&c->documents, key, t) < 0) {
                text_free(t);
                return error_no_memory(err);
        }
        c->bytes += t->len;
        *ret = (struct slice){ t->data, t->len };
        return 0;
}

int openapi_cache_get(struct request *rq, enum openapi_form form, const char *group, const char *version,
                      const char *key, struct slice *ret, struct error *err)
{
        struct openapi_cache *c = cache_of(rq->devcluster);
        struct text *known = c ? map_get(&c->documents, key) : NULL;
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        if (!c)
                return error_no_memory(err);
        if (known) {
                *ret = (struct slice){ known->data, known->len };
                return 0;
        }
        TRY(openapi_document_write(rq, form, group, version, &out, err));
        return keep(c, key, &out, ret, err);
}
