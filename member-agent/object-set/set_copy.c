/* What a set's Secrets held when it was complete in them, sealed in the state file like the specs of Works:
 * it stands in for a Secret that is gone, as long as the digests fit: spec/cluster-object-set.md 19.4. It is
 * on the disk before the digests are noted: who finds digests, no rows and no copy has lost the state file.
 */
#include "common/base/limits.h"
#include "member-agent/object-set/set_pass.h"

#define COPY_GENERATION 1 /* what a set holds never changes */

static const char *key_of(const struct set_pass *p, const struct content_secret *s)
{
        return arena_printf(p->arena, "%s/%s", s->ns, s->name);
}

static int add(const struct set_pass *p, const struct content_secret *s, json_t *into, struct error *err)
{
        const char *key = key_of(p, s);
        const json_t *data = doc_get_object(s->doc, "data");
        json_t *copy = key ? json_pack("{s:b, s:O?}", "immutable", true, "data", data) : NULL;

        return !copy || json_object_set_new(into, key, copy) < 0 ? error_no_memory(err) : 0;
}

static bool is_whole(const struct content_secrets *secrets)
{
        for (size_t i = 0; i < secrets->n; i++)
                if (!secrets->at[i].doc || secrets->at[i].is_copy)
                        return false;
        return secrets->n > 0;
}

static int keep(struct set_pass *p, const struct content_secrets *secrets, struct error *err)
{
        AUTO_JSON json_t *all = json_object();
        struct buf text AUTO_BUF;

        buf_init(&text, LIMIT_OBJECT_SET_BYTES);
        if (!all)
                return error_no_memory(err);
        for (size_t i = 0; i < secrets->n; i++)
                TRY(add(p, &secrets->at[i], all, err));
        if (doc_write(all, &text) < 0)
                return text.failed == ERR_NO_MEMORY ? error_no_memory(err) : 0; /* too much to be kept */
        return store_copy_put(p->agent->store, p->holder, p->self.uid, COPY_GENERATION,
                              (struct slice){ text.data, text.len }, err);
}

int set_copy_keep(struct set_pass *p, const struct content_secrets *secrets, struct error *err)
{
        bool kept;

        if (!is_whole(secrets))
                return 0;
        TRY(store_work_is_kept(p->agent->store, p->holder, p->self.uid, COPY_GENERATION, &kept, err));
        return kept ? 0 : keep(p, secrets, err);
}

static bool is_missing(const struct content_secret *s)
{
        return !s->doc && s->why.code == ERR_NOT_FOUND;
}

static int read_copy(struct set_pass *p, json_t **ret, struct error *err)
{
        struct stored_work kept;
        int r = store_work_get(p->agent->store, p->holder, p->arena, &kept, err);

        *ret = NULL;
        if (r == ERR_NOT_FOUND) {
                error_clear(err);
                return 0;
        }
        TRY(r);
        if (!text_equal(kept.uid, p->self.uid))
                return 0;
        TRY(doc_parse(kept.spec, ret, err));
        return doc_keep(p->arena, *ret, err);
}

int set_copy_use(struct set_pass *p, struct content_secrets *secrets, struct error *err)
{
        json_t *copy = NULL;
        size_t missing = 0;

        for (size_t i = 0; i < secrets->n; i++)
                missing += is_missing(&secrets->at[i]);
        if (missing > 0)
                TRY(read_copy(p, &copy, err));
        for (size_t i = 0; copy && i < secrets->n; i++) {
                struct content_secret *s = &secrets->at[i];
                const char *key = key_of(p, s);

                if (!key)
                        return error_no_memory(err);
                if (!is_missing(s) || !(s->doc = json_object_get(copy, key)))
                        continue;
                s->is_copy = true;
                error_clear(&s->why);
        }
        return 0;
}
