#include "member-agent/apply/owner.h"

#include "common/base/limits.h"

static json_t *references_of(const json_t *doc)
{
        return doc_get_array(doc, "metadata.ownerReferences");
}

static bool field_is(const json_t *reference, const char *field, const char *value)
{
        return text_equal(json_string_value(json_object_get(reference, field)), value);
}

json_t *owner_reference_new(const struct owner *o)
{
        return json_pack("{s:s, s:b, s:s, s:s, s:s}", "apiVersion", APPLIED_WORK_API_VERSION,
                         "blockOwnerDeletion", 1, "kind", APPLIED_WORK_KIND, "name", o->name, "uid", o->uid);
}

static bool is_ours(const json_t *reference, const struct owner *o)
{
        return owner_is_applied_work(reference) && field_is(reference, "name", o->name) &&
               field_is(reference, "uid", o->uid);
}

bool owner_is_applied_work(const json_t *reference)
{
        return field_is(reference, "apiVersion", APPLIED_WORK_API_VERSION) &&
               field_is(reference, "kind", APPLIED_WORK_KIND);
}

json_t *owner_find(const json_t *doc, const struct owner *o)
{
        size_t i;
        json_t *reference;

        json_array_foreach(references_of(doc), i, reference)
                if (is_ours(reference, o))
                        return reference;
        return NULL;
}

size_t owner_count(const json_t *doc)
{
        return json_array_size(references_of(doc));
}

bool owner_is_sole(const json_t *doc, const struct owner *o)
{
        size_t i;
        json_t *reference;

        json_array_foreach(references_of(doc), i, reference)
                if (!is_ours(reference, o))
                        return false;
        return true;
}

int owner_remaining(const json_t *live, const struct owner *o, owner_is_orphan is_orphan, void *ctx,
                    json_t **ret, struct error *err)
{
        AUTO_JSON json_t *remaining = json_array();
        size_t i;
        json_t *reference;

        if (!remaining)
                return error_no_memory(err);
        json_array_foreach(references_of(live), i, reference) {
                const char *name = json_string_value(json_object_get(reference, "name"));
                bool orphan = false;

                if (owner_is_applied_work(reference) && name) {
                        if (text_equal(name, o->name))
                                orphan = !field_is(reference, "uid", o->uid);
                        else
                                TRY(is_orphan(ctx, name, &orphan, err));
                }
                if (!orphan && json_array_append(remaining, reference) < 0)
                        return error_no_memory(err);
        }
        *ret = TAKE_PTR(remaining);
        return 0;
}

static void print_references(const json_t *references, struct buf *b)
{
        size_t i;
        json_t *reference;

        json_array_foreach(references, i, reference) {
                const char *kind = json_string_value(json_object_get(reference, "kind"));
                const char *name = json_string_value(json_object_get(reference, "name"));

                buf_printf(b, "%s%s/%s", i ? ", " : "", kind ? kind : "", name ? name : "");
        }
}

int owner_may_take_over(const json_t *remaining, const struct owner *o, bool allow_co_ownership,
                        struct error *err)
{
        size_t i;
        json_t *reference;

        if (json_array_size(remaining) > 0 && !allow_co_ownership) {
                struct buf names AUTO_BUF;

                buf_init(&names, 400);
                print_references(remaining, &names);
                return error_set(
                        err, ERR_INVALID,
                        "the object is already owned by some other sources(s) and co-ownership is disallowed "
                        "(existingOwnerRefs: %s)",
                        names.data);
        }
        json_array_foreach(remaining, i, reference)
                if (owner_is_applied_work(reference) && !is_ours(reference, o))
                        return error_set(err, ERR_INVALID,
                                         "the object is already owned by another Fleet AppliedWork object");
        return 0;
}

static int check_manifest_owners(const json_t *manifest, bool allow_co_ownership, struct error *err)
{
        size_t i;
        json_t *reference;

        if (owner_count(manifest) > 0 && !allow_co_ownership)
                return error_set(
                        err, ERR_INVALID,
                        "manifest is set to have multiple owner references but co-ownership is disallowed");
        json_array_foreach(references_of(manifest), i, reference)
                if (field_is(reference, "kind", APPLIED_WORK_KIND))
                        return error_set(err, ERR_INVALID,
                                         "manifest is set to be owned by an AppliedWork object");
        return 0;
}

int owner_check_before_apply(const json_t *manifest, const json_t *live, const struct owner *o,
                             bool allow_co_ownership, struct error *err)
{
        size_t i;
        json_t *reference;

        TRY(check_manifest_owners(manifest, allow_co_ownership, err));
        if (!live)
                return 0;
        if (owner_count(live) > 1 && !allow_co_ownership)
                return error_set(
                        err, ERR_INVALID,
                        "object is co-owned by multiple objects but co-ownership has been disallowed");
        if (!owner_find(live, o))
                return error_set(err, ERR_INVALID, "object is not owned by the expected AppliedWork object");
        json_array_foreach(references_of(live), i, reference)
                if (owner_is_applied_work(reference) && !is_ours(reference, o))
                        return error_set(err, ERR_INVALID,
                                         "object is already owned by another AppliedWork object");
        return 0;
}

int owner_without(const json_t *live, const struct owner *o, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *copy = doc_copy(live);
        json_t *references = copy ? references_of(copy) : NULL;

        if (!copy)
                return error_no_memory(err);
        for (size_t i = json_array_size(references); i-- > 0;)
                if (is_ours(json_array_get(references, i), o))
                        json_array_remove(references, i);
        *ret = TAKE_PTR(copy);
        return 0;
}

int owner_swapped(const json_t *live, const char *const *uids, size_t n, const struct owner *to, json_t **ret,
                  struct error *err)
{
        AUTO_JSON json_t *kept = json_array();
        size_t i;
        json_t *reference;

        if (!kept)
                return error_no_memory(err);
        json_array_foreach(references_of(live), i, reference) {
                const char *uid = json_string_value(json_object_get(reference, "uid"));

                if (text_in(uid, uids, n) || is_ours(reference, to))
                        continue;
                if (json_array_append(kept, reference) < 0)
                        return error_no_memory(err);
        }
        if (json_array_append_new(kept, owner_reference_new(to)) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(kept);
        return 0;
}

json_t *owner_patch(const json_t *live, json_t *references)
{
        return json_pack("{s:{s:O?, s:O?}}", "metadata", "resourceVersion",
                         doc_get(live, "metadata.resourceVersion"), "ownerReferences", references);
}
