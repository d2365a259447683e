#include "member-agent/object-set/want.h"

#include "member-agent/apply/clean.h"
#include "member-agent/apply/managed.h"
#include "member-agent/object-set/reference.h"

/* ---- what is wanted: 8.1 ---- */

static int check_map(const json_t *doc, const char *path, struct error *err)
{
        json_t *map = NULL;

        return json_is_null(doc_get(doc, path)) ? 0 : doc_want_object(doc, path, &map, err);
}

static int mark(json_t *doc, const struct set_identity *set, struct error *err)
{
        char revision[24];

        snprintf(revision, sizeof(revision), "%lld", (long long)set->revision);
        TRY(check_map(doc, "metadata.labels", err));
        TRY(check_map(doc, "metadata.annotations", err));
        TRY(clean_set_label(doc, LABEL_APP_MANAGED_BY, APP_MANAGED_BY_OBJECT_SET, err));
        TRY(clean_set_label(doc, LABEL_SET_OWNER_NAME, or_empty(set->owner), err));
        return clean_set_annotation(doc, ANNOTATION_SET_REVISION, revision, err);
}

static int own(json_t *doc, const struct set_identity *set, struct error *err)
{
        AUTO_JSON json_t *references = json_array();

        if (json_array_append_new(references, reference_new(set)) < 0 ||
            doc_set(doc, "metadata.ownerReferences", json_incref(references)) < 0)
                return error_no_memory(err);
        return 0;
}

/* What is no text is left for the server to refuse. */
static int fold_string_data(json_t *doc, struct error *err)
{
        json_t *plain = doc_get_object(doc, "stringData"), *value;
        const char *key;

        if (!plain || !text_equal(doc_get_string(doc, "kind"), "Secret") ||
            !text_equal(doc_get_string(doc, "apiVersion"), "v1"))
                return 0;
        json_object_foreach(plain, key, value)
                if (!json_is_string(value))
                        return 0;
        if (!doc_get_object(doc, "data") && doc_set(doc, "data", json_object()) < 0)
                return error_no_memory(err);
        json_object_foreach(plain, key, value) {
                struct slice text = { json_string_value(value), json_string_length(value) };

                if (json_object_set_new(doc_get_object(doc, "data"), key, doc_base64(text)) < 0)
                        return error_no_memory(err);
        }
        return doc_remove(doc, "stringData");
}

int want_prepare(const struct set_identity *set, const struct set_object *o, bool status_is_subresource,
                 json_t **ret, struct error *err)
{
        static const char *const set_by_server[] = { "metadata.creationTimestamp",
                                                     "metadata.deletionTimestamp",
                                                     "metadata.deletionGracePeriodSeconds",
                                                     "metadata.managedFields", "metadata.selfLink" };
        AUTO_JSON json_t *doc = doc_copy(o->doc);

        if (!doc)
                return error_no_memory(err);
        for (size_t i = 0; i < ARRAY_LEN(set_by_server); i++)
                doc_remove(doc, set_by_server[i]);
        if (status_is_subresource)
                doc_remove(doc, "status");
        TRY(mark(doc, set, err));
        TRY(own(doc, set, err));
        TRY(fold_string_data(doc, err));
        *ret = TAKE_PTR(doc);
        return 0;
}

/* ---- requests: 8.3, 8.4 ---- */

static json_t *other_reference(const json_t *reference, bool adopting)
{
        json_t *copy = doc_copy(reference);

        if (adopting && json_object_set_new(copy, "controller", json_false()) < 0) {
                json_decref(copy);
                return NULL;
        }
        return copy;
}

/* The live references in their order, ours in its place or behind them. */
static int references_with_ours(const json_t *live, json_t *ours, bool adopting, json_t *into)
{
        bool placed = false;
        size_t i;
        json_t *reference;

        json_array_foreach(reference_list(live), i, reference) {
                bool is_ours = doc_equal(json_object_get(reference, "uid"), json_object_get(ours, "uid"));

                placed = placed || is_ours;
                if (json_array_append_new(into, is_ours ? json_incref(ours)
                                                        : other_reference(reference, adopting)) < 0)
                        return ERR_NO_MEMORY;
        }
        return placed ? 0 : json_array_append(into, ours);
}

static int request(const json_t *prepared, const json_t *live, bool adopting, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *body = doc_copy(prepared);
        AUTO_JSON json_t *references = json_array();
        const char *version = doc_get_string(live, "metadata.resourceVersion");

        if (!body || !references ||
            references_with_ours(live, json_array_get(reference_list(body), 0), adopting, references) < 0 ||
            doc_set(body, "metadata.ownerReferences", json_incref(references)) < 0 ||
            doc_set_string(body, "metadata.resourceVersion", or_empty(version)) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(body);
        return 0;
}

/* The largest that clients may compare as a number. */
#define VERSION_OF_NOTHING "9223372036854775807"

int want_creation(const json_t *prepared, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *body = doc_copy_members(prepared);
        AUTO_JSON json_t *metadata = doc_copy_members(json_object_get(prepared, "metadata"));

        if (!body || !metadata ||
            json_object_set_new(metadata, "resourceVersion", json_string(VERSION_OF_NOTHING)) < 0 ||
            json_object_set(body, "metadata", metadata) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(body);
        return 0;
}

int want_request(const json_t *prepared, const json_t *live, json_t **ret, struct error *err)
{
        return request(prepared, live, false, ret, err);
}

int want_adoption(const json_t *prepared, const json_t *live, json_t **ret, struct error *err)
{
        return request(prepared, live, true, ret, err);
}

int want_conversion(const json_t *live, json_t **ret, struct error *err)
{
        return managed_adoption(live, FIELD_MANAGER_OBJECT_SET, ret, err);
}

/* ---- letting go: 12.1, 12.3 ---- */

static int without_ours(const struct set_identity *set, const json_t *live, json_t *patch, struct error *err)
{
        AUTO_JSON json_t *kept = json_array();
        size_t i;
        json_t *reference;

        if (!reference_find(live, set))
                return 0;
        json_array_foreach(reference_list(live), i, reference)
                if (!reference_is_of(reference, set) && json_array_append(kept, reference) < 0)
                        return error_no_memory(err);
        return doc_set(patch, "metadata.ownerReferences", json_incref(kept)) < 0 ? error_no_memory(err) : 0;
}

static int set_null(json_t *patch, const char *map, const char *key, struct error *err)
{
        if (!doc_get_object(patch, map) && doc_set(patch, map, json_object()) < 0)
                return error_no_memory(err);
        return json_object_set_new(doc_get_object(patch, map), key, json_null()) < 0 ? error_no_memory(err)
                                                                                     : 0;
}

/* Whom nobody controls may have them from another owner's set, or from another revision. */
static bool are_our_marks(const struct set_identity *set, const json_t *live)
{
        const json_t *controller = reference_controller(live);
        int64_t revision;

        if (controller)
                return reference_is_of(controller, set);
        return text_equal(or_empty(clean_label(live, LABEL_SET_OWNER_NAME)), or_empty(set->owner)) &&
               text_parse_i64(or_empty(clean_annotation(live, ANNOTATION_SET_REVISION)), &revision) &&
               revision == set->revision;
}

static int without_marks(const struct set_identity *set, const json_t *live, json_t *patch, struct error *err)
{
        if (!are_our_marks(set, live))
                return 0;
        if (text_equal(clean_label(live, LABEL_APP_MANAGED_BY), APP_MANAGED_BY_OBJECT_SET))
                TRY(set_null(patch, "metadata.labels", LABEL_APP_MANAGED_BY, err));
        if (clean_label(live, LABEL_SET_OWNER_NAME))
                TRY(set_null(patch, "metadata.labels", LABEL_SET_OWNER_NAME, err));
        if (clean_annotation(live, ANNOTATION_SET_REVISION))
                TRY(set_null(patch, "metadata.annotations", ANNOTATION_SET_REVISION, err));
        return 0;
}

int want_release(const struct set_identity *set, const json_t *live, bool mark_too, json_t **ret,
                 struct error *err)
{
        const char *version = doc_get_string(live, "metadata.resourceVersion");
        AUTO_JSON json_t *patch = json_object();

        *ret = NULL;
        if (!patch)
                return error_no_memory(err);
        TRY(without_ours(set, live, patch, err));
        if (mark_too)
                TRY(without_marks(set, live, patch, err));
        if (json_object_size(patch) == 0)
                return 0;
        if (doc_set_string(patch, "metadata.resourceVersion", or_empty(version)) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(patch);
        return 0;
}
