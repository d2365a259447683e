#include "e2e/devcluster/meta.h"

#include "common/base/timefmt.h"
#include "common/json/doc_beside.h"
#include "e2e/devcluster/go_json.h"
#include "e2e/devcluster/go_shape.h"
#include "e2e/devcluster/internal.h"

static const char *string_at(const json_t *doc, const char *key)
{
        const char *s = json_string_value(json_object_get(json_object_get(doc, "metadata"), key));
        return s ? s : "";
}

const char *meta_name(const json_t *doc)
{
        return string_at(doc, "name");
}

const char *meta_ns(const json_t *doc)
{
        return string_at(doc, "namespace");
}

const char *meta_uid(const json_t *doc)
{
        return string_at(doc, "uid");
}

const char *meta_rv(const json_t *doc)
{
        return string_at(doc, "resourceVersion");
}

bool meta_is_deleting(const json_t *doc)
{
        return *string_at(doc, "deletionTimestamp") != '\0';
}

json_t *meta_finalizers(const json_t *doc)
{
        return json_object_get(json_object_get(doc, "metadata"), "finalizers");
}

bool meta_has_finalizers(const json_t *doc)
{
        return json_array_size(meta_finalizers(doc)) > 0;
}

bool meta_has_finalizer(const json_t *doc, const char *finalizer)
{
        size_t i;
        json_t *f;
        json_array_foreach(meta_finalizers(doc), i, f)
                if (text_equal(json_string_value(f), finalizer))
                        return true;
        return false;
}

int meta_add_finalizer(json_t *doc, const char *finalizer)
{
        if (meta_has_finalizer(doc, finalizer))
                return 0;
        json_t *all = meta_finalizers(doc);
        if (!all &&
            json_object_set_new(json_object_get(doc, "metadata"), "finalizers", all = json_array()) < 0)
                return ERR_NO_MEMORY;
        return json_array_append_new(all, json_string(finalizer)) < 0 ? ERR_NO_MEMORY : 0;
}

int meta_remove_finalizer(json_t *doc, const char *finalizer)
{
        size_t i;
        json_t *f, *all = meta_finalizers(doc);
        json_array_foreach(all, i, f)
                if (text_equal(json_string_value(f), finalizer)) {
                        json_array_remove(all, i);
                        break;
                }
        if (all && json_array_size(all) == 0)
                json_object_del(json_object_get(doc, "metadata"), "finalizers");
        return 0;
}

void meta_new_uid(struct loop *l, char ret[37])
{
        uint8_t r[16];
        loop_random(l, r, sizeof(r));
        r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
        r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
        snprintf(ret, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0], r[1],
                 r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
}

/* ---- shape ---- */

enum shape { SHAPE_STRING, SHAPE_INT, SHAPE_STRINGS, SHAPE_STRING_MAP, SHAPE_OBJECTS };

static const struct {
        const char *name;
        enum shape shape;
} meta_fields[] = {
        { "annotations", SHAPE_STRING_MAP },
        { "creationTimestamp", SHAPE_STRING },
        { "deletionGracePeriodSeconds", SHAPE_INT },
        { "deletionTimestamp", SHAPE_STRING },
        { "finalizers", SHAPE_STRINGS },
        { "generateName", SHAPE_STRING },
        { "generation", SHAPE_INT },
        { "labels", SHAPE_STRING_MAP },
        { "managedFields", SHAPE_OBJECTS },
        { "name", SHAPE_STRING },
        { "namespace", SHAPE_STRING },
        { "ownerReferences", SHAPE_OBJECTS },
        { "resourceVersion", SHAPE_STRING },
        { "selfLink", SHAPE_STRING },
        { "uid", SHAPE_STRING },
};

static int fail_shape(struct request *rq, const char *field, const json_t *v, const char *want)
{
        return request_fail_decoding(
                rq, arena_printf(rq->arena,
                                 "json: cannot unmarshal %s into Go struct field ObjectMeta.%s of type %s",
                                 go_json_word(v), field, want));
}

/* A null in a list or a map of texts is read as the empty text. */
static int check_strings(struct request *rq, const char *field, json_t *v)
{
        size_t i;
        json_t *item;
        if (!json_is_array(v))
                return fail_shape(rq, field, v, "[]string");
        json_array_foreach(v, i, item) {
                bool null = json_is_null(item);
                if (null && json_array_set_new(v, i, json_string("")) < 0)
                        return request_fail_memory(rq);
                if (!null && !json_is_string(item))
                        return fail_shape(rq, field, item, "string");
        }
        return 0;
}

static int check_string_map(struct request *rq, const char *field, json_t *v)
{
        const char *key;
        json_t *item;
        if (!json_is_object(v))
                return fail_shape(rq, field, v, "map[string]string");
        json_object_foreach(v, key, item) {
                bool null = json_is_null(item);
                if (null && json_object_set_new(v, key, json_string("")) < 0)
                        return request_fail_memory(rq);
                if (!null && !json_is_string(item))
                        return fail_shape(rq, field, item, "string");
        }
        return 0;
}

static int check_objects(struct request *rq, const char *field, const json_t *v)
{
        size_t i;
        json_t *item;
        if (!json_is_array(v))
                return fail_shape(rq, field, v, "[]object");
        json_array_foreach(v, i, item)
                if (!json_is_object(item))
                        return fail_shape(rq, field, item, "object");
        return 0;
}

static int check_field(struct request *rq, const char *field, enum shape shape, json_t *v)
{
        switch (shape) {
        case SHAPE_STRING:
                return json_is_string(v) ? 0 : fail_shape(rq, field, v, "string");
        case SHAPE_INT:
                return json_is_integer(v) ? 0 : fail_shape(rq, field, v, "int64");
        case SHAPE_STRINGS:
                return check_strings(rq, field, v);
        case SHAPE_STRING_MAP:
                return check_string_map(rq, field, v);
        case SHAPE_OBJECTS:
                return check_objects(rq, field, v);
        }
        UNREACHABLE();
}

static int meta_field_index(const char *name)
{
        for (size_t i = 0; i < ARRAY_LEN(meta_fields); i++)
                if (strcmp(meta_fields[i].name, name) == 0)
                        return (int)i;
        return -1;
}

/* Whether all there is are parts of metadata that is as it should be. */
static bool is_sound(const struct request *rq, const json_t *meta)
{
        return rq->sound && json_is_object(meta) &&
               doc_shares_members(meta, json_object_get(rq->sound, "metadata"));
}

int meta_check_shape(struct request *rq, json_t *doc, json_t *ret_removed)
{
        json_t *meta = json_object_get(doc, "metadata");
        if (!meta || json_is_null(meta))
                return json_object_set_new(doc, "metadata", json_object()) < 0 ? request_fail_memory(rq) : 0;
        if (!json_is_object(meta))
                return request_fail_decoding(
                        rq, arena_printf(rq->arena,
                                         "json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
                                         go_json_word(meta)));
        if (is_sound(rq, meta))
                return 0;
        void *next;
        const char *key;
        json_t *value;
        json_object_foreach_safe(meta, next, key, value) {
                int i = meta_field_index(key);
                if (i < 0 && ret_removed) {
                        const char *path = arena_printf(rq->arena, "metadata.%s", key);
                        if (!path || json_array_append_new(ret_removed, json_string(path)) < 0)
                                return request_fail_memory(rq);
                }
                if (i < 0 || json_is_null(value))
                        json_object_del(meta, key);
                else
                        TRY(check_field(rq, key, meta_fields[i].shape, value));
        }
        return 0;
}

int meta_write_as_go(const json_t *meta, struct buf *b)
{
        static const char *const order[] = {
                "name",
                "generateName",
                "namespace",
                "selfLink",
                "uid",
                "resourceVersion",
                "generation",
                "creationTimestamp",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
                "labels",
                "annotations",
                "ownerReferences",
                "finalizers",
        };
        const json_t *managed = json_object_get(meta, "managedFields");
        size_t begin = b->len;
        TRY(buf_append_char(b, '{'));
        for (size_t i = 0; i < ARRAY_LEN(order); i++) {
                const json_t *v = json_object_get(meta, order[i]);
                if (!v)
                        continue;
                TRY(buf_printf(b, "%s\"%s\":", b->len > begin + 1 ? "," : "", order[i]));
                TRY(doc_write_canonical(v, b));
        }
        if (managed) {
                TRY(buf_printf(b, "%s\"managedFields\":", b->len > begin + 1 ? "," : ""));
                TRY(doc_write(managed, b)); /* as common/json writes the entries */
        }
        return buf_append_char(b, '}');
}

/* Present but not text. */
static int check_type_field(struct request *rq, const json_t *doc, const char *key)
{
        const json_t *value = json_object_get(doc, key);
        if (!value || json_is_string(value) || json_is_null(value))
                return 0;
        return request_fail_decoding(rq, arena_printf(rq->arena,
                                                      "couldn't get version/kind; json parse error: json: "
                                                      "cannot unmarshal %s into Go struct field .%s of type "
                                                      "string",
                                                      go_json_word(value), key));
}

/* "v1" of "apps/v1". */
static const char *version_of(const char *api_version, const struct request *rq)
{
        const char *slash = api_version ? strchr(api_version, '/') : NULL;
        return text_empty(api_version) ? rq->version : slash ? slash + 1 : api_version;
}

/* The package of the group's internal types. */
static const char *internal_group(struct request *rq)
{
        const char *group = rq->resource->group;
        return *group ? arena_strndup(rq->arena, group, strcspn(group, ".")) : "core";
}

/* KIND in version "V" cannot be handled as a OURS: why, where KIND is what was sent. */
static int fail_kind(struct request *rq, const char *sent, const char *version, const char *why)
{
        if (!why)
                return request_fail_memory(rq);
        (void)request_fail_bad(rq, "%s in version \"%s\" cannot be handled as a %s: %s", sent, version,
                               rq->resource->kind, why);
        rq->status.decoding = why;
        return ERR_INVALID;
}

/* A patched object is decoded as the kind it says it is, and only then found to be the wrong one. */
static int check_as_sent(struct request *rq, json_t *doc, const char *api_version, const char *kind)
{
        const char *slash = api_version ? strchr(api_version, '/') : NULL;
        const char *group = slash ? arena_strndup(rq->arena, api_version, (size_t)(slash - api_version)) : "";
        struct request as = *rq;
        if (!text_equal(rq->verb, "patch") || !group)
                return 0;
        as.resource = registry_find_kind(rq->cluster, group, version_of(api_version, rq), kind);
        as.resource_version =
                as.resource ? resource_find_version(as.resource, version_of(api_version, rq)) : NULL;
        if (!as.resource_version)
                return fail_kind(rq, kind, version_of(api_version, rq),
                                 arena_printf(rq->arena,
                                              "no kind \"%s\" is registered for version \"%s\" in scheme "
                                              "\"pkg/runtime/scheme.go:111\"",
                                              kind, api_version ? api_version : rq->version));
        if (as.resource->custom)
                return 0;
        const struct schema *schema = resource_schema(rq->devcluster, as.resource, as.resource_version);
        if (!schema || go_check_types(&as, schema, doc) == 0)
                return 0;
        rq->status = as.status;
        return ERR_INVALID;
}

/* A custom object is decoded as whatever it is, and validation finds that it is another kind. */
static int fail_custom_kind(struct request *rq, json_t *doc, const char *sent)
{
        const char *name = meta_name(doc), *kind = rq->resource->kind, *group = rq->resource->group;
        struct schema_problems p = { .arena = rq->arena };
        const struct schema *schema = rq->resource_version->schema;
        struct error err = { 0 };
        TRY(meta_check_shape(rq, doc, NULL));
        if (problem_add(&p, "FieldValueInvalid", "kind", "Invalid value: \"%s\": must be %s", sent, kind) < 0)
                return request_fail_memory(rq);
        if (schema && schema_validate(schema, doc, NULL, &p, &err) < 0) /* as it is: without defaults */
                return request_fail_error(rq, &err);
        int r = request_fail_invalid(rq, name, &p);
        const char *problems = strstr(rq->status.message, " is invalid: ");
        rq->status.kind = arena_strdup(rq->arena, sent);
        rq->status.message = arena_printf(rq->arena, "%s.%s \"%s\"%s", sent, group, name, problems);
        return rq->status.message ? r : request_fail_memory(rq);
}

static int fail_other_kind(struct request *rq, json_t *doc, const char *sent_version, const char *sent)
{
        if (rq->resource->custom)
                return fail_custom_kind(rq, doc, sent);
        const char *v = version_of(sent_version, rq), *kind = rq->resource->kind;
        TRY(check_as_sent(rq, doc, sent_version, sent));
        return fail_kind(rq, sent, v,
                         arena_printf(rq->arena, "converting (%s.%s) to (%s.%s): unknown conversion", v, sent,
                                      internal_group(rq), kind));
}

/* Of a version that there is not all fields are unknown. */
static void warn_of_all(struct request *rq, const json_t *doc)
{
        static const char *const known[] = { "apiVersion", "kind", "metadata" };
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)doc, key, value)
                if (rq->field_validation == FIELDS_WARN && !text_in(key, known, ARRAY_LEN(known)))
                        request_warn(rq, "unknown field \"%s\"", key);
}

static int fail_other_version(struct request *rq, const json_t *doc, const char *sent,
                              const char *api_version)
{
        const char *kind = rq->resource->kind, *v = version_of(sent, rq);
        bool other_group = strchr(sent, '/') || *rq->resource->group;
        if (rq->resource->custom && !resource_find_version(rq->resource, v))
                warn_of_all(rq, doc);
        if (rq->resource->custom || (other_group && !text_equal(rq->verb, "patch")))
                return request_fail_bad(
                        rq, "the API version in the data (%s) does not match the expected API version (%s)",
                        sent, api_version);
        return fail_kind(rq, kind, v,
                         arena_printf(rq->arena,
                                      "no kind \"%s\" is registered for version \"%s\" in scheme "
                                      "\"pkg/runtime/scheme.go:111\"",
                                      kind, sent));
}

int meta_check_kind(struct request *rq, json_t *doc, const char *api_version, const char *kind)
{
        if (!json_is_object(doc))
                return request_fail_decoding(
                        rq,
                        arena_printf(rq->arena,
                                     "couldn't get version/kind; json parse error: json: cannot unmarshal %s "
                                     "into Go value of type struct { APIVersion string "
                                     "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                                     "\"json:\\\"kind,omitempty\\\"\" }",
                                     go_json_word(doc)));
        TRY(check_type_field(rq, doc, "apiVersion"));
        TRY(check_type_field(rq, doc, "kind"));
        const char *v = json_string_value(json_object_get(doc, "apiVersion"));
        const char *k = json_string_value(json_object_get(doc, "kind"));
        if (!text_empty(k) && strcmp(k, kind) != 0)
                return fail_other_kind(rq, doc, v, k);
        if (!text_empty(v) && strcmp(v, api_version) != 0)
                return fail_other_version(rq, doc, v, api_version);
        if (text_empty(k) && rq->resource->custom)
                return request_fail_bad(rq, "Object 'Kind' is missing in the request's body");
        if (text_empty(k) && json_object_set_new(doc, "kind", json_string(kind)) < 0)
                return request_fail_memory(rq);
        if (text_empty(v) && json_object_set_new(doc, "apiVersion", json_string(api_version)) < 0)
                return request_fail_memory(rq);
        return 0;
}

int meta_check_sent_name(struct request *rq, const json_t *doc)
{
        const json_t *name = json_object_get(json_object_get(doc, "metadata"), "name");
        if (!json_is_object(doc) || (name && !json_is_string(name)) || text_equal(rq->subresource, "scale"))
                return 0; /* refused elsewhere */
        if (text_empty(json_string_value(name)))
                return request_fail_bad(
                        rq,
                        "the name of the object (%s based on URL) was undeterminable: name must be provided",
                        rq->name);
        if (strcmp(json_string_value(name), rq->name) != 0)
                return request_fail_bad(rq,
                                        "the name of the object (%s) does not match the name on the URL (%s)",
                                        json_string_value(name), rq->name);
        return 0;
}

int meta_check_place(struct request *rq, json_t *doc, bool creating)
{
        json_t *meta = json_object_get(doc, "metadata");
        if (!resource_is_namespaced(rq->resource)) {
                json_object_del(meta, "namespace");
        } else if (*meta_ns(doc) == '\0') {
                if (json_object_set_new(meta, "namespace", json_string(rq->ns ? rq->ns : "")) < 0)
                        return request_fail_memory(rq);
        } else if (rq->ns && strcmp(meta_ns(doc), rq->ns) != 0) {
                return request_fail_bad(rq, "the namespace of the provided object does not match the "
                                            "namespace sent on the request");
        }
        if (creating)
                return 0;
        if (*meta_name(doc) == '\0')
                return json_object_set_new(meta, "name", json_string(rq->name)) < 0 ? request_fail_memory(rq)
                                                                                    : 0;
        if (strcmp(meta_name(doc), rq->name) != 0)
                return request_fail_bad(rq,
                                        "the name of the object (%s) does not match the name on the URL (%s)",
                                        meta_name(doc), rq->name);
        return 0;
}

/* ---- what the server owns ---- */

#define GENERATED_NAME_MAX 63
#define GENERATED_SUFFIX 5

const char *meta_random_name(struct request *rq, const char *base)
{
        static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
        char suffix[GENERATED_SUFFIX + 1] = { 0 };
        for (int i = 0; i < GENERATED_SUFFIX; i++)
                suffix[i] = letters[loop_random_u64(rq->devcluster->loop) % (sizeof(letters) - 1)];
        return arena_printf(rq->arena, "%.*s%s", GENERATED_NAME_MAX - GENERATED_SUFFIX, base, suffix);
}

static int generate_name(struct request *rq, json_t *meta)
{
        const char *base = json_string_value(json_object_get(meta, "generateName"));
        const char *name = json_string_value(json_object_get(meta, "name"));
        if (text_empty(base) || !text_empty(name))
                return 0;
        const char *full = meta_random_name(rq, base);
        if (!full || json_object_set_new(meta, "name", json_string(full)) < 0)
                return request_fail_memory(rq);
        rq->name_generated = true;
        return 0;
}

int meta_prepare_create(struct request *rq, json_t *doc)
{
        json_t *meta = json_object_get(doc, "metadata");
        static const char *const cleared[] = { "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                                               "resourceVersion" };
        if (*meta_rv(doc))
                return request_fail(rq, 500, NULL,
                                    "resourceVersion should not be set on objects to be created");
        for (size_t i = 0; i < ARRAY_LEN(cleared); i++)
                json_object_del(meta, cleared[i]);
        TRY(generate_name(rq, meta));
        char uid[37], now[RFC3339_SIZE];
        meta_new_uid(rq->devcluster->loop, uid);
        time_format_rfc3339(rq->now_ms, now);
        if (json_object_set_new(meta, "uid", json_string(uid)) < 0 ||
            json_object_set_new(meta, "creationTimestamp", json_string(now)) < 0)
                return request_fail_memory(rq);
        /* Kinds that do not count their changes leave a number that was sent. */
        if (!(rq->resource->flags & (RESOURCE_NO_GENERATION | RESOURCE_GENERATION_LATE)) &&
            json_object_set_new(meta, "generation", json_integer(1)) < 0)
                return request_fail_memory(rq);
        return 0;
}

int meta_prepare_update(struct request *rq, const json_t *live, json_t *doc)
{
        static const char *const kept[] = { "name",
                                            "namespace",
                                            "uid",
                                            "generation",
                                            "creationTimestamp",
                                            "deletionTimestamp",
                                            "generateName",
                                            "deletionGracePeriodSeconds",
                                            "resourceVersion" };
        json_t *meta = json_object_get(doc, "metadata"), *from = json_object_get(live, "metadata");
        json_object_del(meta, "selfLink");
        for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
                json_t *value = json_object_get(from, kept[i]), *now = json_object_get(meta, kept[i]);
                if (!value && now)
                        json_object_del(meta, kept[i]);
                else if (value != now && json_object_set(meta, kept[i], value) < 0)
                        return request_fail_memory(rq);
        }
        return 0;
}
