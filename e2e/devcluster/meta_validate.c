/* Names, labels, annotations, finalizers, owner references: what is refused in them. */
#include "e2e/devcluster/builtin/checks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define ANNOTATIONS_MAX (256u << 10)
#define OWNERS_TEXT_MAX (64u << 10)

static int invalid(struct schema_problems *p, const char *field, const char *value, const char *why)
{
        return problem_add(p, "FieldValueInvalid", field, "Invalid value: \"%s\": %s", value, why);
}

static int validate_path_name(struct schema_problems *p, const char *field, const char *name)
{
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return problem_add(p, "FieldValueInvalid", field, "Invalid value: \"%s\": may not be '%s'",
                                   name, name);
        for (const char *bad = "/%"; *bad; bad++)
                if (strchr(name, *bad))
                        return problem_add(p, "FieldValueInvalid", field,
                                           "Invalid value: \"%s\": may not contain '%c'", name, *bad);
        return 0;
}

static int validate_name_text(const struct resource *r, const char *field, const char *name,
                              struct schema_problems *p)
{
        if (r->flags & RESOURCE_PATH_NAME)
                return validate_path_name(p, field, name);
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

/* What names are made from obeys the same rules, but may end in a dash. */
static int validate_generate_name(struct request *rq, const json_t *doc, struct schema_problems *p)
{
        const char *sent = doc_get_string(doc, "metadata.generateName");
        if (text_empty(sent))
                return 0;
        char *name = arena_strdup(rq->arena, sent);
        struct schema_problems found = { .arena = rq->arena };
        if (!name)
                return ERR_NO_MEMORY;
        if (name[0] && name[1] && text_ends_with(name, "-"))
                name[strlen(name) - 1] = 'a';
        TRY(validate_name_text(rq->resource, "metadata.generateName", name, &found));
        for (size_t i = 0; i < found.n; i++) {
                const char *why = strstr(found.at[i].message, "\": ");
                TRY(invalid(p, "metadata.generateName", sent, why ? why + 3 : ""));
        }
        return 0;
}

static int validate_name(struct request *rq, const json_t *doc, struct schema_problems *p)
{
        const char *name = meta_name(doc);
        TRY(validate_generate_name(rq, doc, p));
        if (*name == '\0')
                return problem_add(p, "FieldValueRequired", "metadata.name",
                                   "Required value: name or generateName is required");
        return validate_name_text(rq->resource, "metadata.name", name, p);
}

static int validate_labels(const json_t *labels, struct schema_problems *p)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)labels, key, value) {
                const char *v = json_string_value(value);
                if (!text_is_label_key(key))
                        TRY(invalid(p, "metadata.labels", key, label_key_problem(key)));
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
                        TRY(invalid(p, "metadata.annotations", key, label_key_problem(key)));
                total += strlen(key) + json_string_length(value);
        }
        if (total > ANNOTATIONS_MAX)
                return problem_add(p, "FieldValueTooLong", "metadata.annotations",
                                   "Too long: may not be more than %u bytes", ANNOTATIONS_MAX);
        return 0;
}

/* An owner reference as the Go struct is written. */
static int write_owner(const json_t *owner, struct buf *b)
{
        static const char *const order[] = { "apiVersion", "kind",       "name",
                                             "uid",        "controller", "blockOwnerDeletion" };
        size_t begin = b->len;
        TRY(buf_append_char(b, '{'));
        for (size_t i = 0; i < ARRAY_LEN(order); i++) {
                const json_t *value = json_object_get(owner, order[i]);
                if (!value)
                        continue;
                TRY(buf_printf(b, "%s\"%s\":", b->len > begin + 1 ? "," : "", order[i]));
                TRY(doc_write_canonical(value, b));
        }
        return buf_append_char(b, '}');
}

static int write_owners(const json_t *owners, struct buf *b)
{
        TRY(buf_append_char(b, '['));
        for (size_t i = 0; i < json_array_size(owners); i++) {
                TRY(buf_append_str(b, i ? "," : ""));
                TRY(write_owner(json_array_get(owners, i), b));
        }
        return buf_append_char(b, ']');
}

static const char *text_of(const json_t *owner, const char *key)
{
        const char *text = json_string_value(json_object_get(owner, key));
        return text ? text : "";
}

static int validate_owner(const json_t *owner, struct schema_problems *p)
{
        static const char *const needed[] = { "apiVersion", "kind", "name", "uid" };
        for (size_t k = 0; k < ARRAY_LEN(needed); k++) {
                char field[64];
                if (*text_of(owner, needed[k]))
                        continue;
                snprintf(field, sizeof(field), "metadata.ownerReferences.%s", needed[k]);
                TRY(invalid(p, field, "", k == 0 ? "version must not be empty" : "must not be empty"));
        }
        if (strcmp(text_of(owner, "apiVersion"), "v1") != 0 || strcmp(text_of(owner, "kind"), "Event") != 0)
                return 0;
        AUTO_BUF struct buf b;
        buf_init(&b, OWNERS_TEXT_MAX);
        TRY(write_owner(owner, &b));
        return problem_add(p, "FieldValueInvalid", "metadata.ownerReferences",
                           "Invalid value: %s: /v1, Kind=Event is disallowed from being an owner", b.data);
}

static int two_controllers(const json_t *owners, const json_t *first, const json_t *second,
                           struct schema_problems *p)
{
        AUTO_BUF struct buf b;
        buf_init(&b, OWNERS_TEXT_MAX);
        TRY(write_owners(owners, &b));
        return problem_add(p, "FieldValueInvalid", "metadata.ownerReferences",
                           "Invalid value: %s: Only one reference can have Controller set to true. Found "
                           "\"true\" in references for %s/%s and %s/%s",
                           b.data, text_of(first, "kind"), text_of(first, "name"), text_of(second, "kind"),
                           text_of(second, "name"));
}

static int validate_owners(const json_t *owners, struct schema_problems *p)
{
        size_t i;
        json_t *o;
        const json_t *controller = NULL;
        json_array_foreach((json_t *)owners, i, o)
                TRY(validate_owner(o, p));
        json_array_foreach((json_t *)owners, i, o) {
                if (!json_is_true(json_object_get(o, "controller")))
                        continue;
                if (controller)
                        TRY(two_controllers(owners, controller, o, p));
                controller = o;
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
        json_array_foreach(meta_finalizers(doc), i, f) {
                const char *s = json_string_value(f);
                bool is_new = live && !meta_has_finalizer(live, s);
                /* Metadata is checked with and without the kind: this problem is told twice. */
                for (int n = 0; live && meta_is_deleting(live) && is_new && n < 2; n++)
                        TRY(problem_add(p, "FieldValueForbidden", "metadata.finalizers",
                                        "Forbidden: no new finalizers can be added if the object is being "
                                        "deleted, found new "
                                        "finalizers []string{\"%s\"}",
                                        s));
                if (!text_is_label_key(s))
                        TRY(invalid(p, "metadata.finalizers", s, label_key_problem(s)));
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

/* A part of metadata, unless it is as it was in a document that is valid. */
static const json_t *to_check(const struct request *rq, const json_t *meta, const char *key)
{
        const json_t *part = json_object_get(meta, key);
        return rq->sound && part == json_object_get(json_object_get(rq->sound, "metadata"), key) ? NULL
                                                                                                 : part;
}

int meta_validate(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *problems)
{
        const json_t *meta = json_object_get(doc, "metadata");
        if (!live)
                TRY(validate_name(rq, doc, problems));
        TRY(validate_labels(to_check(rq, meta, "labels"), problems));
        TRY(validate_annotations(to_check(rq, meta, "annotations"), problems, rq->arena));
        TRY(validate_owners(to_check(rq, meta, "ownerReferences"), problems));
        return to_check(rq, meta, "finalizers") ? validate_finalizers(rq, live, doc, problems) : 0;
}
