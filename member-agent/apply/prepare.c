#include "member-agent/apply/prepare.h"

#include "common/base/limits.h"
#include "common/json/patch.h"
#include "common/kube/merge_keys.h"
#include "member-agent/apply/clean.h"
#include "member-agent/apply/managed.h"

void prepared_free(struct prepared *p)
{
        json_decref(p->doc);
        p->doc = NULL;
}

void apply_request_free(struct apply_request *r)
{
        json_decref(r->body);
        r->body = NULL;
}

static size_t annotation_bytes(const json_t *doc)
{
        const char *key;
        json_t *value;
        size_t sum = 0;

        json_object_foreach(doc_get_object(doc, "metadata.annotations"), key, value)
                sum += strlen(key) + json_string_length(value);
        return sum;
}

static int set_last_applied(struct prepared *p, struct error *err)
{
        struct buf text AUTO_BUF;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        doc_write_canonical(p->doc, &text);
        buf_append_char(&text, '\n');
        if (text.failed == ERR_NO_MEMORY)
                return error_no_memory(err);
        p->last_applied_set =
                !text.failed && annotation_bytes(p->doc) + strlen(ANNOTATION_LAST_APPLIED) + text.len <=
                                        ANNOTATIONS_MAX_BYTES;
        return clean_set_annotation(p->doc, ANNOTATION_LAST_APPLIED, p->last_applied_set ? text.data : "",
                                    err);
}

int prepare_manifest(const json_t *manifest, const char *hash, const struct owner *o, enum apply_type type,
                     struct prepared *ret, struct error *err)
{
        struct prepared p CLEANUP(prepared_free) = { .doc = doc_copy(manifest) };
        json_t *references;

        if (!p.doc)
                return error_no_memory(err);
        TRY(clean_for_apply(p.doc, err));
        if (type == STRATEGY_SERVER_SIDE)
                clean_generated(p.doc);
        TRY(clean_set_annotation(p.doc, ANNOTATION_SPEC_HASH, hash, err));
        references = json_array();
        if (doc_set(p.doc, "metadata.ownerReferences", references) < 0 ||
            json_array_append_new(references, owner_reference_new(o)) < 0)
                return error_no_memory(err);
        if (type == STRATEGY_CLIENT_SIDE)
                TRY(set_last_applied(&p, err));
        *ret = p;
        p.doc = NULL;
        return 0;
}

bool prepare_only_own_managers(const json_t *live)
{
        static const char *const own[] = { FIELD_MANAGER_WORK_APPLIER, "before-first-apply" };

        return managed_only_by(live, own, ARRAY_LEN(own));
}

static bool is_server_side(const struct prepared *p, const struct strategy *s)
{
        return s->type == STRATEGY_SERVER_SIDE || !p->last_applied_set;
}

int prepare_adoption(const struct prepared *p, const json_t *live, const char *hash, const struct strategy *s,
                     json_t **ret, struct error *err)
{
        *ret = NULL;
        if (!is_server_side(p, s) || text_equal(clean_annotation(live, ANNOTATION_SPEC_HASH), hash))
                return 0;
        return managed_adoption(live, FIELD_MANAGER_WORK_APPLIER, ret, err);
}

static int lock(json_t *body, const json_t *live, const struct strategy *s, struct error *err)
{
        const char *version = doc_get_string(live, "metadata.resourceVersion");

        if (!s->only_if_not_drifted || !version)
                return 0;
        return doc_set_string(body, "metadata.resourceVersion", version) < 0 ? error_no_memory(err) : 0;
}

static int server_side(const struct prepared *p, const json_t *live, const struct strategy *s, bool force,
                       struct apply_request *ret, struct error *err)
{
        AUTO_JSON json_t *body = doc_copy(p->doc);

        if (!body)
                return error_no_memory(err);
        clean_generated(body);
        TRY(lock(body, live, s, err));
        *ret = (struct apply_request){ .request = REQUEST_APPLY,
                                       .patch_type = KUBE_PATCH_APPLY,
                                       .body = TAKE_PTR(body),
                                       .force = force || prepare_only_own_managers(live) };
        return 0;
}

/* The document that was applied last by merging; NULL if it is absent or unreadable. */
static json_t *last_applied(const json_t *live)
{
        const char *text = clean_annotation(live, ANNOTATION_LAST_APPLIED);
        json_t *doc = NULL;

        if (!text_empty(text) && doc_parse(slice_of(text), &doc, NULL) == 0 && json_is_object(doc))
                return doc;
        json_decref(doc);
        return NULL;
}

/* Puts `into` what of `value` a field set names and `others` (may be NULL) does not. Lists whose elements are
 * told apart are left out. */
static int own_part(const json_t *value, const json_t *set, const json_t *others, json_t *into)
{
        const char *key;
        json_t *below;

        json_object_foreach((json_t *)set, key, below) {
                const char *name = text_starts_with(key, "f:") ? key + 2 : NULL;
                const json_t *theirs = json_object_get(others, key),
                             *child = name ? json_object_get(value, name) : NULL;
                bool whole = json_object_size(below) == 0;
                json_t *part;

                if (!child || (whole ? theirs != NULL : !json_is_object(child)))
                        continue;
                part = whole ? doc_copy(child) : json_object();
                if (json_object_set_new(into, name, part) < 0 ||
                    (!whole && own_part(child, below, theirs, part) < 0))
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* The server keeps account of what server-side apply wrote: who merges from now on removes what the apply
 * would have removed. *ret NULL if there was none. */
static int last_server_side(const json_t *live, json_t **ret, struct error *err)
{
        static const char *const identity[] = { "apiVersion", "kind", "metadata.name" };
        const json_t *ours = managed_entry(live, FIELD_MANAGER_WORK_APPLIER, MANAGED_APPLY);
        AUTO_JSON json_t *others = NULL;
        AUTO_JSON json_t *doc = NULL;

        *ret = NULL;
        if (!ours || !text_equal(doc_get_string(ours, "apiVersion"), doc_get_string(live, "apiVersion")))
                return 0;
        others = managed_fields_of_others(live, FIELD_MANAGER_WORK_APPLIER);
        doc = json_object();
        if (!others || !doc || own_part(live, json_object_get(ours, "fieldsV1"), others, doc) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < ARRAY_LEN(identity); i++) {
                const char *text = doc_get_string(live, identity[i]);

                if (text && doc_set_string(doc, identity[i], text) < 0)
                        return error_no_memory(err);
        }
        *ret = TAKE_PTR(doc);
        return 0;
}

/* A JSON merge patch replaces the list of owners whole; ours is among the live ones already (2.10 step 3). */
static int keep_live_owners(json_t *modified, const json_t *live, struct error *err)
{
        json_t *owners = doc_copy(doc_get_array(live, "metadata.ownerReferences"));

        return doc_set(modified, "metadata.ownerReferences", owners) < 0 ? error_no_memory(err) : 0;
}

static int three_way(const struct prepared *p, const json_t *live, const char *group, const char *kind,
                     const struct strategy *s, struct apply_request *ret, struct error *err)
{
        AUTO_JSON json_t *original = last_applied(live);
        AUTO_JSON json_t *modified = doc_copy(p->doc);
        AUTO_JSON json_t *patch = NULL;
        const struct schema *schema = merge_keys_of(group, kind);

        if (!modified)
                return error_no_memory(err);
        if (!original)
                TRY(last_server_side(live, &original, err));
        if (schema) {
                TRY(patch_strategic_three_way(original, modified, live, schema, &patch, err));
        } else {
                TRY(keep_live_owners(modified, live, err));
                TRY(patch_merge_three_way(original, modified, live, &patch, err));
        }
        if (patch_is_empty(patch)) {
                *ret = (struct apply_request){ .request = REQUEST_NOTHING };
                return 0;
        }
        TRY(lock(patch, live, s, err));
        *ret = (struct apply_request){ .request = REQUEST_PATCH,
                                       .patch_type = schema ? KUBE_PATCH_STRATEGIC : KUBE_PATCH_MERGE,
                                       .body = TAKE_PTR(patch) };
        return 0;
}

int prepare_request(const struct prepared *p, const json_t *live, const char *group, const char *kind,
                    const struct strategy *s, struct apply_request *ret, struct error *err)
{
        if (is_server_side(p, s))
                return server_side(p, live, s, s->type == STRATEGY_SERVER_SIDE && s->force, ret, err);
        return three_way(p, live, group, kind, s, ret, err);
}
