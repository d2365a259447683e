/* What says that it is about another manifest: signatures and the like. */
#include "hub-agent/registry/manifest.h"

#define DIGEST_PREFIX "sha256:"

struct collecting {
        struct registry *registry;
        const char *artifact_type;
        struct registry_referrers list;
        size_t cap;
};

static int collect_one(struct collecting *c, const json_t *entry, struct error *err)
{
        struct registry_descriptor d;

        TRY(registry_descriptor_read(entry, &d, err));
        if (c->artifact_type && !text_equal(d.artifact_type, c->artifact_type))
                return 0;
        if (c->list.n >= REGISTRY_REFERRERS_MAX)
                return error_set(err, ERR_LIMIT, "more than %d manifests refer to it",
                                 REGISTRY_REFERRERS_MAX);
        if (c->list.n == c->cap) {
                size_t cap = c->cap ? 2 * c->cap : 8;
                struct registry_descriptor *at =
                        ARENA_NEW_ARRAY(c->registry->transfer->arena, struct registry_descriptor, cap);

                if (!at)
                        return error_no_memory(err);
                if (c->list.n)
                        memcpy(at, c->list.at, c->list.n * sizeof(*at));
                c->list.at = at;
                c->cap = cap;
        }
        c->list.at[c->list.n++] = d;
        return 0;
}

static int collect(struct collecting *c, const json_t *index, struct error *err)
{
        const json_t *one;
        size_t i;

        json_array_foreach(doc_get_array(index, "manifests"), i, one)
                TRY(collect_one(c, one, err));
        return 0;
}

static int collect_page(struct collecting *c, struct slice body, struct error *err)
{
        json_t *doc = NULL;

        TRY(doc_parse(body, &doc, err));
        TRY(doc_keep(c->registry->transfer->arena, doc, err));
        return collect(c, doc, err);
}

static int ask_for_referrers(struct collecting *c, const char *digest, bool *ret_known, struct error *err)
{
        struct registry *r = c->registry;
        struct registry_pages pages = { 0 };
        const char *path = arena_printf(r->transfer->arena, "referrers/%s", digest);

        *ret_known = true;
        if (!path)
                return error_no_memory(err);
        while (path) {
                const struct registry_question q = { .path = path,
                                                     .accept = OCI_INDEX,
                                                     .max_body = REGISTRY_MANIFEST_BYTES,
                                                     .may_be_absent = true };
                struct http_response a;

                TRY(registry_enter_page(r, &pages, path, err));
                TRY(registry_ask(r, &q, &a, err));
                if (a.status == 404) {
                        *ret_known = false;
                        return 0;
                }
                TRY(collect_page(c, a.body, err));
                TRY(registry_next_page(r, path, &a, &path, err));
        }
        return 0;
}

static int read_fallback_tag(struct collecting *c, const char *digest, struct error *err)
{
        struct registry *r = c->registry;
        const char *tag = arena_printf(r->transfer->arena, "sha256-%s", digest + strlen(DIGEST_PREFIX));
        struct registry_manifest index;
        struct error own = { 0 };
        int code;

        if (!tag)
                return error_no_memory(err);
        code = registry_fetch_manifest(r, tag, &index, &own);
        if (code < 0 && own.http_status == 404)
                return 0;
        if (code < 0) {
                if (err)
                        *err = own;
                return code;
        }
        if (!registry_is_index(&index))
                return error_set(err, ERR_INVALID, "tag '%s' is no index of what refers to the digest", tag);
        return collect(c, index.doc, err);
}

int registry_referrers(struct registry *r, const char *digest, const char *artifact_type,
                       struct registry_referrers *ret, struct error *err)
{
        struct collecting c = { .registry = r, .artifact_type = artifact_type };
        bool known;

        registry_begin(r);
        TRY(registry_check_digest(digest, err));
        TRY(ask_for_referrers(&c, digest, &known, err));
        if (!known)
                TRY(read_fallback_tag(&c, digest, err));
        *ret = c.list;
        return 0;
}
