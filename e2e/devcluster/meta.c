#include "e2e/devcluster/meta.h"

#include "common/base/timefmt.h"
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

static json_t *finalizers_of(const json_t *doc)
{
        return json_object_get(json_object_get(doc, "metadata"), "finalizers");
}

bool meta_has_finalizers(const json_t *doc)
{
        return json_array_size(finalizers_of(doc)) > 0;
}

bool meta_has_finalizer(const json_t *doc, const char *finalizer)
{
        size_t i;
        json_t *f;
        json_array_foreach(finalizers_of(doc), i, f)
                if (text_equal(json_string_value(f), finalizer))
                        return true;
        return false;
}

int meta_add_finalizer(json_t *doc, const char *finalizer)
{
        if (meta_has_finalizer(doc, finalizer))
                return 0;
        json_t *all = finalizers_of(doc);
        if (!all &&
            json_object_set_new(json_object_get(doc, "metadata"), "finalizers", all = json_array()) < 0)
                return ERR_NO_MEMORY;
        return json_array_append_new(all, json_string(finalizer)) < 0 ? ERR_NO_MEMORY : 0;
}

int meta_remove_finalizer(json_t *doc, const char *finalizer)
{
        size_t i;
        json_t *f, *all = finalizers_of(doc);
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

static const char *go_word(const json_t *v)
{
        switch (json_typeof(v)) {
        case JSON_OBJECT:
                return "object";
        case JSON_ARRAY:
                return "array";
        case JSON_STRING:
                return "string";
        case JSON_TRUE:
        case JSON_FALSE:
                return "bool";
        case JSON_NULL:
                return "null";
        default:
                return "number";
        }
}

static int fail_shape(struct request *rq, const char *field, const json_t *v, const char *want)
{
        return request_fail_bad(
                rq, "json: cannot unmarshal %s into Go struct field ObjectMeta.metadata.%s of type %s",
                go_word(v), field, want);
}

static int check_strings(struct request *rq, const char *field, const json_t *v)
{
        size_t i;
        json_t *item;
        if (!json_is_array(v))
                return fail_shape(rq, field, v, "[]string");
        json_array_foreach(v, i, item)
                if (!json_is_string(item))
                        return fail_shape(rq, field, item, "string");
        return 0;
}

static int check_string_map(struct request *rq, const char *field, const json_t *v)
{
        const char *key;
        json_t *item;
        if (!json_is_object(v))
                return fail_shape(rq, field, v, "map[string]string");
        json_object_foreach((json_t *)v, key, item)
                if (!json_is_string(item))
                        return fail_shape(rq, field, item, "string");
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

static int check_field(struct request *rq, const char *field, enum shape shape, const json_t *v)
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

int meta_check_shape(struct request *rq, json_t *doc, json_t *ret_removed)
{
        json_t *meta = json_object_get(doc, "metadata");
        if (!meta || json_is_null(meta))
                return json_object_set_new(doc, "metadata", json_object()) < 0 ? request_fail_memory(rq) : 0;
        if (!json_is_object(meta))
                return request_fail_bad(
                        rq, "json: cannot unmarshal %s into Go struct field .metadata of type v1.ObjectMeta",
                        go_word(meta));
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

/* Present but not text: 400 in the words of the reference. */
static int check_type_field(struct request *rq, const json_t *doc, const char *key)
{
        const json_t *value = json_object_get(doc, key);
        if (!value || json_is_string(value) || json_is_null(value))
                return 0;
        return request_fail_bad(rq,
                                "couldn't get version/kind; json parse error: json: cannot unmarshal %s into "
                                "Go struct field .%s of type string",
                                go_word(value), key);
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

int meta_check_kind(struct request *rq, json_t *doc, const char *api_version, const char *kind)
{
        if (!json_is_object(doc))
                return request_fail_bad(
                        rq,
                        "couldn't get version/kind; json parse error: json: cannot unmarshal %s into "
                        "Go value of type struct { APIVersion string; Kind string }",
                        go_word(doc));
        TRY(check_type_field(rq, doc, "apiVersion"));
        TRY(check_type_field(rq, doc, "kind"));
        const char *v = json_string_value(json_object_get(doc, "apiVersion"));
        const char *k = json_string_value(json_object_get(doc, "kind"));
        if (!text_empty(k) && strcmp(k, kind) != 0)
                return request_fail_bad(rq,
                                        "%s in version \"%s\" cannot be handled as a %s: converting (%s.%s) "
                                        "to (%s.%s): unknown conversion",
                                        k, version_of(v, rq), kind, version_of(v, rq), k, internal_group(rq),
                                        kind);
        if (!text_empty(v) && strcmp(v, api_version) != 0 && !rq->resource->custom)
                return request_fail_bad(
                        rq,
                        "%s in version \"%s\" cannot be handled as a %s: no kind \"%s\" is registered "
                        "for version \"%s\" in scheme \"pkg/runtime/scheme.go:111\"",
                        kind, version_of(v, rq), kind, kind, v);
        if (!text_empty(v) && strcmp(v, api_version) != 0)
                return request_fail_bad(
                        rq, "the API version in the data (%s) does not match the expected API version (%s)",
                        v, api_version);
        if (text_empty(k) && rq->resource->custom)
                return request_fail_bad(rq, "Object 'Kind' is missing in the request's body");
        if (json_object_set_new(doc, "kind", json_string(kind)) < 0 ||
            json_object_set_new(doc, "apiVersion", json_string(api_version)) < 0)
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
        return 0;
}

int meta_prepare_create(struct request *rq, json_t *doc)
{
        json_t *meta = json_object_get(doc, "metadata");
        static const char *const cleared[] = { "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                                               "resourceVersion", "generation" };
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
                json_t *value = json_object_get(from, kept[i]);
                if (!value)
                        json_object_del(meta, kept[i]);
                else if (json_object_set(meta, kept[i], value) < 0)
                        return request_fail_memory(rq);
        }
        return 0;
}

/* ---- validation ---- */

#define LABEL_MESSAGE                                                                                        \
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "    \
        "start and end "                                                                                     \
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "       \
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_MESSAGE                                                                                    \
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "    \
        "and must start "                                                                                    \
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "          \
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define DNS1035_MESSAGE                                                                                      \
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "         \
        "alphabetic character, "                                                                             \
        "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "  \
        "is "                                                                                                \
        "'[a-z]([-a-z0-9]*[a-z0-9])?')"
#define LABEL_VALUE_MESSAGE                                                                                  \
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " \
        "must start and "                                                                                    \
        "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "   \
        "validation is "                                                                                     \
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define QUALIFIED_MESSAGE                                                                                    \
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "   \
        "an alphanumeric "                                                                                   \
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "              \
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define ANNOTATIONS_MAX (256u << 10)

static int invalid(struct schema_problems *p, const char *field, const char *value, const char *why)
{
        return problem_add(p, "FieldValueInvalid", field, "Invalid value: \"%s\": %s", value, why);
}

static int validate_path_name(struct schema_problems *p, const char *name)
{
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return problem_add(p, "FieldValueInvalid", "metadata.name",
                                   "Invalid value: \"%s\": may not be '%s'", name, name);
        for (const char *bad = "/%"; *bad; bad++)
                if (strchr(name, *bad))
                        return problem_add(p, "FieldValueInvalid", "metadata.name",
                                           "Invalid value: \"%s\": may not contain '%c'", name, *bad);
        return 0;
}

static int validate_name(const struct resource *r, const char *name, struct schema_problems *p)
{
        const char *field = "metadata.name";
        if (*name == '\0')
                return problem_add(p, "FieldValueRequired", field,
                                   "Required value: name or generateName is required");
        if (r->flags & RESOURCE_PATH_NAME)
                return validate_path_name(p, name);
        bool core = *r->group == '\0';
        if (core && (strcmp(r->plural, "namespaces") == 0 || strcmp(r->plural, "services") == 0)) {
                if (strlen(name) > 63)
                        return invalid(p, field, name, "must be no more than 63 characters");
                if (strchr(name, '.'))
                        return invalid(p, field, name, "must not contain dots");
                return text_is_dns1123_label(name) ? 0 : invalid(p, field, name, LABEL_MESSAGE);
        }
        if (strlen(name) > 253)
                return invalid(p, field, name, "must be no more than 253 characters");
        return text_is_dns1123_subdomain(name) ? 0 : invalid(p, field, name, SUBDOMAIN_MESSAGE);
}

/* Which part of a qualified name is wrong. */
static const char *key_message(const char *key)
{
        const char *slash = strchr(key, '/');
        if (slash == key)
                return "prefix part must be non-empty";
        if (slash) {
                char prefix[256];
                snprintf(prefix, sizeof(prefix), "%.*s", (int)MIN(slash - key, 255), key);
                if (!text_is_dns1123_subdomain(prefix))
                        return "prefix part " SUBDOMAIN_MESSAGE;
        }
        return QUALIFIED_MESSAGE;
}

static int validate_labels(const json_t *labels, struct schema_problems *p)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)labels, key, value) {
                const char *v = json_string_value(value);
                if (!text_is_label_key(key))
                        TRY(invalid(p, "metadata.labels", key, key_message(key)));
                if (strlen(v) > 63)
                        TRY(invalid(p, "metadata.labels", v, "must be no more than 63 bytes"));
                else if (!text_is_label_value(v))
                        TRY(invalid(p, "metadata.labels", v, LABEL_VALUE_MESSAGE));
        }
        return 0;
}

static int validate_annotations(const json_t *annotations, struct schema_problems *p, struct arena *arena)
{
        const char *key;
        json_t *value;
        size_t total = 0;
        json_object_foreach((json_t *)annotations, key, value) {
                char *lower = arena_strdup(arena, key);
                if (!lower)
                        return ERR_NO_MEMORY;
                for (char *c = lower; *c; c++)
                        if (*c >= 'A' && *c <= 'Z')
                                *c = (char)(*c + 'a' - 'A');
                if (!text_is_label_key(lower))
                        TRY(invalid(p, "metadata.annotations", key, key_message(key)));
                total += strlen(key) + json_string_length(value);
        }
        if (total > ANNOTATIONS_MAX)
                return problem_add(p, "FieldValueTooLong", "metadata.annotations",
                                   "Too long: may not be more than %u bytes", ANNOTATIONS_MAX);
        return 0;
}

static int validate_owners(const json_t *owners, struct schema_problems *p)
{
        static const char *const needed[] = { "apiVersion", "kind", "name", "uid" };
        size_t i;
        json_t *o;
        const char *controller = NULL;
        json_array_foreach((json_t *)owners, i, o) {
                for (size_t k = 0; k < ARRAY_LEN(needed); k++) {
                        char field[64];
                        if (!text_empty(json_string_value(json_object_get(o, needed[k]))))
                                continue;
                        snprintf(field, sizeof(field), "metadata.ownerReferences.%s", needed[k]);
                        TRY(invalid(p, field, "", "must not be empty"));
                }
                if (!json_is_true(json_object_get(o, "controller")))
                        continue;
                const char *name = json_string_value(json_object_get(o, "name"));
                if (controller)
                        TRY(problem_add(p, "FieldValueInvalid", "metadata.ownerReferences",
                                        "Invalid value: Only one reference can have Controller set to true. "
                                        "Found \"true\" in "
                                        "references for %s and %s",
                                        controller, name ? name : ""));
                controller = name ? name : "";
        }
        return 0;
}

static bool is_standard_finalizer(const char *s)
{
        return strchr(s, '/') || text_equal(s, "kubernetes") || text_equal(s, "orphan") ||
               text_equal(s, "foregroundDeletion");
}

static int validate_finalizers(struct request *rq, const json_t *live, const json_t *doc,
                               struct schema_problems *p)
{
        size_t i;
        json_t *f;
        json_array_foreach(finalizers_of(doc), i, f) {
                const char *s = json_string_value(f);
                bool is_new = live && !meta_has_finalizer(live, s);
                if (live && meta_is_deleting(live) && is_new)
                        TRY(problem_add(p, "FieldValueForbidden", "metadata.finalizers",
                                        "Forbidden: no new finalizers can be added if the object is being "
                                        "deleted, found new "
                                        "finalizers []string{\"%s\"}",
                                        s));
                if (!text_is_label_key(s))
                        TRY(invalid(p, "metadata.finalizers", s, key_message(s)));
                if (!is_standard_finalizer(s) && !rq->resource->custom)
                        TRY(invalid(p, arena_printf(rq->arena, "metadata.finalizers[%zu]", i), s,
                                    "name is neither a standard finalizer name nor is it fully qualified"));
                else if (!is_standard_finalizer(s) && (!live || is_new))
                        request_warn(rq,
                                     "metadata.finalizers: \"%s\": prefer a domain-qualified finalizer name "
                                     "including a path (/) to "
                                     "avoid accidental conflicts with other finalizer writers",
                                     s);
        }
        return 0;
}

int meta_validate(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *problems)
{
        const json_t *meta = json_object_get(doc, "metadata");
        if (!live)
                TRY(validate_name(rq->resource, meta_name(doc), problems));
        TRY(validate_labels(json_object_get(meta, "labels"), problems));
        TRY(validate_annotations(json_object_get(meta, "annotations"), problems, rq->arena));
        TRY(validate_owners(json_object_get(meta, "ownerReferences"), problems));
        return validate_finalizers(rq, live, doc, problems);
}
