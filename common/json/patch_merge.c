/* JSON merge patches (RFC 7396): applying, computing, and the three-way form of client-side apply. */
#include "common/json/patch.h"

#include "common/base/limits.h"

/* Both sides are bounded in depth, so recursion is. */
static int merge_into(json_t *target, const json_t *patch)
{
        json_t *mutable = (json_t *)patch;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                const json_t *value = json_object_iter_value(i);
                if (json_is_null(value)) {
                        json_object_del(target, key);
                        continue;
                }
                if (!json_is_object(value)) {
                        if (json_object_set_new_nocheck(target, key, doc_copy(value)) < 0)
                                return ERR_NO_MEMORY;
                        continue;
                }
                json_t *child = json_object_get(target, key);
                if (!json_is_object(child)) {
                        child = json_object();
                        if (json_object_set_new_nocheck(target, key, child) < 0)
                                return ERR_NO_MEMORY;
                }
                TRY(merge_into(child, value));
        }
        return 0;
}

int patch_merge(const json_t *doc, const json_t *patch, json_t **ret, struct error *err)
{
        if (!json_is_object(patch)) {
                json_t *copy = doc_copy(patch);
                if (!copy)
                        return error_no_memory(err);
                *ret = copy;
                return 0;
        }
        AUTO_JSON json_t *result = json_is_object(doc) ? doc_copy(doc) : json_object();
        if (!result || merge_into(result, patch) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(result);
        return 0;
}

/* Whether a patch stands for itself where there was nothing. */
static bool has_nulls(const json_t *patch)
{
        json_t *mutable = (json_t *)patch;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const json_t *value = json_object_iter_value(i);
                if (json_is_null(value) || (json_is_object(value) && has_nulls(value)))
                        return true;
        }
        return false;
}

/* Equal, and written as the same text. */
static bool is_same(const json_t *a, const json_t *b)
{
        json_t *x = (json_t *)a, *y = (json_t *)b;
        if (a == b)
                return true;
        if (json_typeof(a) != json_typeof(b) || json_array_size(a) != json_array_size(b) ||
            json_object_size(a) != json_object_size(b))
                return false;
        if (json_is_object(a)) {
                void *i = json_object_iter(x), *k = json_object_iter(y);
                for (; i; i = json_object_iter_next(x, i), k = json_object_iter_next(y, k))
                        if (strcmp(json_object_iter_key(i), json_object_iter_key(k)) != 0 ||
                            !is_same(json_object_iter_value(i), json_object_iter_value(k)))
                                return false;
                return true;
        }
        for (size_t i = 0; i < json_array_size(a); i++)
                if (!is_same(json_array_get(a, i), json_array_get(b, i)))
                        return false;
        return json_is_array(a) || doc_equal(a, b);
}

/* Parts of a new value that are as they were become those that were: nobody has to look at them again. */
static void share_same(json_t *value, json_t *there)
{
        const char *key;
        json_t *member;
        for (size_t i = 0; i < MIN(json_array_size(value), json_array_size(there)); i++) {
                json_t *old = json_array_get(there, i);
                if (json_array_get(value, i) == old)
                        continue;
                if (is_same(json_array_get(value, i), old))
                        (void)json_array_set(value, i, old);
                else
                        share_same(json_array_get(value, i), old);
        }
        if (!json_is_object(there))
                return;
        json_object_foreach(value, key, member) {
                json_t *old = json_object_get(there, key);
                if (member == old)
                        continue;
                if (old && is_same(member, old))
                        (void)json_object_set_nocheck(value, key, old); /* in its place: takes no memory */
                else if (old)
                        share_same(member, old);
        }
}

static int share_value(json_t *target, const char *key, json_t *value)
{
        json_t *there = json_object_get(target, key);
        if (there && is_same(value, there))
                return 0;
        if (there)
                share_same(value, there);
        return json_object_set_nocheck(target, key, value) < 0 ? ERR_NO_MEMORY : 0;
}

static int share_object(json_t *target, const char *key, json_t *value);

/* `target` is nobody else's. */
static int share_into(json_t *target, const json_t *patch)
{
        json_t *mutable = (json_t *)patch;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                json_t *value = json_object_iter_value(i);
                if (json_is_null(value))
                        json_object_del(target, key);
                else if (json_is_object(value))
                        TRY(share_object(target, key, value));
                else
                        TRY(share_value(target, key, value));
        }
        return 0;
}

/* Whether a patch names all members of an object first and in its order, so that it can become the result. */
static bool covers(const json_t *patch, const json_t *there)
{
        struct doc_pairs p = DOC_PAIRS(patch, there);
        size_t n = json_object_size(there), i = 0;
        if (json_object_size(patch) < n)
                return false;
        while (doc_pairs_next(&p))
                if (json_is_null(p.value) || (++i == n && p.beside)) /* not all of them were next */
                        return false;
        return true;
}

/* The same in a patch that covers `there`: what stands in it is merged in its place. */
static int share_covering(json_t *patch, json_t *there)
{
        struct doc_pairs p = DOC_PAIRS(patch, there);
        while (doc_pairs_next(&p)) {
                if (p.value == p.other)
                        continue;
                if (json_is_object(p.value) && json_is_object(p.other) && covers(p.value, p.other)) {
                        TRY(share_covering(p.value, p.other));
                } else if (json_is_object(p.value) && (p.other || has_nulls(p.value))) {
                        AUTO_JSON json_t *merged =
                                json_is_object(p.other) ? doc_copy_members(p.other) : json_object();
                        if (!merged || share_into(merged, p.value) < 0 ||
                            json_object_set_nocheck(patch, p.key, merged) < 0)
                                return ERR_NO_MEMORY;
                } else if (p.other && is_same(p.value, p.other)) {
                        (void)json_object_set_nocheck(patch, p.key, p.other);
                } else if (p.other) {
                        share_same(p.value, p.other);
                }
        }
        return 0;
}

static int share_object(json_t *target, const char *key, json_t *value)
{
        json_t *there = json_object_get(target, key), *child;
        if (there == value)
                return 0;
        if (json_is_object(there) && covers(value, there)) {
                TRY(share_covering(value, there));
                return json_object_set_nocheck(target, key, value) < 0 ? ERR_NO_MEMORY : 0;
        }
        if (!json_is_object(there) && !has_nulls(value))
                return json_object_set_nocheck(target, key, value) < 0 ? ERR_NO_MEMORY : 0;
        child = json_is_object(there) ? doc_copy_members(there) : json_object();
        if (json_object_set_new_nocheck(target, key, child) < 0)
                return ERR_NO_MEMORY;
        return share_into(child, value);
}

int patch_merge_sharing(const json_t *doc, json_t *patch, json_t **ret, struct error *err)
{
        if (!json_is_object(patch) || !json_is_object(doc))
                return patch_merge(doc, patch, ret, err);
        AUTO_JSON json_t *result = doc_copy_members(doc);
        if (!result || share_into(result, patch) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(result);
        return 0;
}

static int diff_objects(const json_t *from, const json_t *to, json_t *patch);

static int diff_member(const json_t *old, const json_t *new, const char *key, json_t *patch)
{
        if (json_is_object(old) && json_is_object(new)) {
                AUTO_JSON json_t *inner = json_object();
                if (!inner)
                        return ERR_NO_MEMORY;
                TRY(diff_objects(old, new, inner));
                if (!json_object_size(inner))
                        return 0;
                return json_object_set_nocheck(patch, key, inner) < 0 ? ERR_NO_MEMORY : 0;
        }
        /* A null within the wanted document cannot be told from a removal. */
        if (doc_equal(old, new) || (json_is_null(new) && !old))
                return 0;
        return json_object_set_new_nocheck(patch, key, doc_copy(new)) < 0 ? ERR_NO_MEMORY : 0;
}

static int diff_objects(const json_t *from, const json_t *to, json_t *patch)
{
        json_t *mutable = (json_t *)to;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                TRY(diff_member(json_object_get(from, key), json_object_iter_value(i), key, patch));
        }
        mutable = (json_t *)from;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                if (!json_object_get(to, key) && json_object_set_new_nocheck(patch, key, json_null()) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

int patch_merge_diff(const json_t *from, const json_t *to, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *patch = NULL;
        if (json_is_object(from) && json_is_object(to)) {
                patch = json_object();
                if (!patch || diff_objects(from, to, patch) < 0)
                        return error_no_memory(err);
        } else {
                patch = doc_copy(to);
                if (!patch)
                        return error_no_memory(err);
        }
        *ret = TAKE_PTR(patch);
        return 0;
}

static int three_way(const json_t *original, const json_t *modified, const json_t *current, json_t *patch);

static int three_way_member(const json_t *old, const json_t *new, const json_t *now, const char *key,
                            json_t *patch)
{
        if (json_is_object(new) && json_is_object(now)) {
                AUTO_JSON json_t *inner = json_object();
                if (!inner)
                        return ERR_NO_MEMORY;
                TRY(three_way(json_is_object(old) ? old : NULL, new, now, inner));
                if (!json_object_size(inner))
                        return 0;
                return json_object_set_nocheck(patch, key, inner) < 0 ? ERR_NO_MEMORY : 0;
        }
        /* As kubectl: a null in the manifest removes what is there once, when it comes to stand there. */
        if (doc_equal(new, now) || (json_is_null(new) && (!now || (old && json_is_null(old)))))
                return 0;
        return json_object_set_new_nocheck(patch, key, doc_copy(new)) < 0 ? ERR_NO_MEMORY : 0;
}

/* What differs between now and wanted, and removals of what was applied before, is wanted no longer and still
 * there. */
static int three_way(const json_t *original, const json_t *modified, const json_t *current, json_t *patch)
{
        json_t *mutable = (json_t *)modified;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                TRY(three_way_member(json_object_get(original, key), json_object_iter_value(i),
                                     json_object_get(current, key), key, patch));
        }
        mutable = (json_t *)original;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                if (!json_object_get(modified, key) && json_object_get(current, key) &&
                    json_object_set_new_nocheck(patch, key, json_null()) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

int patch_merge_three_way(const json_t *original, const json_t *modified, const json_t *current,
                          json_t **ret_patch, struct error *err)
{
        if (!json_is_object(modified) || !json_is_object(current) || (original && !json_is_object(original)))
                return error_set(err, ERR_INVALID, "a three-way patch needs objects");
        AUTO_JSON json_t *patch = json_object();
        if (!patch || three_way(original, modified, current, patch) < 0)
                return error_no_memory(err);
        *ret_patch = TAKE_PTR(patch);
        return 0;
}

bool patch_is_empty(const json_t *patch)
{
        if (!json_is_object(patch))
                return false;
        json_t *mutable = (json_t *)patch;
        for (void *i = json_object_iter(mutable); i; i = json_object_iter_next(mutable, i)) {
                const char *key = json_object_iter_key(i);
                const json_t *value = json_object_iter_value(i);
                bool no_effect = (text_starts_with(key, "$setElementOrder/") ||
                                  text_starts_with(key, "$deleteFromPrimitiveList/")) &&
                                 json_array_size(value) == 0;
                if (strcmp(key, "$patch") == 0)
                        no_effect = json_is_string(value) && strcmp(json_string_value(value), "merge") == 0;
                if (!no_effect)
                        return false;
        }
        return true;
}
