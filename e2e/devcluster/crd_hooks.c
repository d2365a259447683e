/* The CustomResourceDefinition resource itself: defaults, validation, conditions. Names are accepted and the
 * CRD is Established in the same write that creates it; kube-apiserver takes a few milliseconds more. */
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/crd_names.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define CLEANUP_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* ---- defaults ---- */

static int default_names(struct request *rq, json_t *doc)
{
        const char *kind = text_at(doc, "spec.names.kind");
        if (*kind && !*text_at(doc, "spec.names.listKind"))
                TRY(doc_set_string(doc, "spec.names.listKind", arena_printf(rq->arena, "%sList", kind)));
        if (*kind && !*text_at(doc, "spec.names.singular")) {
                char *lower = arena_strdup(rq->arena, kind);
                for (char *p = lower; p && *p; p++)
                        if (*p >= 'A' && *p <= 'Z')
                                *p = (char)(*p + 'a' - 'A');
                TRY(doc_set_string(doc, "spec.names.singular", lower));
        }
        if (!*text_at(doc, "spec.conversion.strategy"))
                TRY(doc_set_string(doc, "spec.conversion.strategy", "None"));
        return 0;
}

/* storedVersions only grows by itself; clients take versions out through /status after a migration. */
static int set_stored_versions(json_t *doc)
{
        json_t *stored = doc_get_array(doc, "status.storedVersions");
        if (!stored) {
                TRY(doc_set(doc, "status.storedVersions", json_array()));
                stored = doc_get_array(doc, "status.storedVersions");
        }
        size_t i, k;
        json_t *v, *s;
        json_array_foreach(doc_get_array(doc, "spec.versions"), i, v) {
                bool known = !doc_get_bool(v, "storage", false);
                json_array_foreach(stored, k, s)
                        known |= text_equal(json_string_value(s), text_at(v, "name"));
                if (!known && json_array_append_new(stored, json_string(text_at(v, "name"))) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int prepare(struct request *rq, const json_t *live, json_t *doc)
{
        if (rq->subresource && strcmp(rq->subresource, "status") == 0)
                return 0;
        if (default_names(rq, doc) < 0 || crd_set_names_status(rq, live, doc) < 0 ||
            set_stored_versions(doc) < 0)
                return request_fail_memory(rq);
        return 0;
}

/* ---- validation ---- */

static int need(struct schema_problems *p, const json_t *doc, const char *path)
{
        if (*text_at(doc, path))
                return 0;
        return problem_add(p, "FieldValueRequired", path, "Required value");
}

static int validate_versions(const json_t *doc, struct schema_problems *p)
{
        const json_t *versions = doc_get_array(doc, "spec.versions");
        size_t i, n_storage = 0;
        json_t *v;
        json_array_foreach((json_t *)versions, i, v)
                n_storage += doc_get_bool(v, "storage", false);
        if (n_storage == 1)
                return 0;
        TRY(problem_add(p, "FieldValueInvalid", "spec.versions",
                        "Invalid value: %smust have exactly one version marked as storage version",
                        json_array_size(versions) ? "" : "[]: "));
        if (json_array_size(doc_get_array(doc, "status.storedVersions")))
                return 0;
        return problem_add(p, "FieldValueInvalid", "status.storedVersions",
                           "Invalid value: null: must have at least one stored version");
}

static bool has_version(const json_t *doc, const char *name)
{
        size_t i;
        json_t *v;
        json_array_foreach(doc_get_array(doc, "spec.versions"), i, v)
                if (strcmp(text_at(v, "name"), name) == 0)
                        return true;
        return false;
}

/* Objects may still be stored in them. */
static int validate_stored_versions(const json_t *doc, struct schema_problems *p)
{
        size_t i;
        json_t *v;
        json_array_foreach(doc_get_array(doc, "status.storedVersions"), i, v) {
                const char *name = json_string_value(v);
                char field[64];
                if (!name || has_version(doc, name))
                        continue;
                snprintf(field, sizeof(field), "status.storedVersions[%zu]", i);
                TRY(problem_add(
                        p, "FieldValueInvalid", field,
                        "Invalid value: \"%s\": missing from spec.versions; %s was previously a storage "
                        "version, and must remain in spec.versions until a storage migration ensures no "
                        "data remains persisted in %s and removes %s from status.storedVersions",
                        name, name, name, name));
        }
        return 0;
}

/* Groups of the community itself are for what it has approved. */
static int validate_approval(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char annotation[] = "api-approved.kubernetes.io";
        const char *group = text_at(doc, "spec.group");
        const json_t *annotations = doc_get_object(doc, "metadata.annotations");
        if (live || (!text_ends_with(group, ".k8s.io") && !text_ends_with(group, ".kubernetes.io")) ||
            !text_empty(json_string_value(json_object_get(annotations, annotation))))
                return 0;
        return problem_add(p, "FieldValueRequired", "metadata.annotations[api-approved.kubernetes.io]",
                           "Required value: protected groups must have approval annotation \"%s\", see "
                           "https://github.com/kubernetes/enhancements/pull/1111",
                           annotation);
}

/* What objects are stored under. */
static int validate_unchanged(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const fixed[] = { "spec.group", "spec.scope", "spec.names.kind",
                                             "spec.names.plural" };
        for (size_t i = 0; live && i < ARRAY_LEN(fixed); i++)
                if (strcmp(text_at(live, fixed[i]), text_at(doc, fixed[i])) != 0)
                        TRY(problem_add(p, "FieldValueInvalid", fixed[i],
                                        "Invalid value: \"%s\": field is immutable", text_at(doc, fixed[i])));
        return 0;
}

static int validate_name(struct request *rq, const json_t *doc, struct schema_problems *p)
{
        const char *wanted = arena_printf(rq->arena, "%s.%s", text_at(doc, "spec.names.plural"),
                                          text_at(doc, "spec.group"));
        if (!wanted)
                return ERR_NO_MEMORY;
        if (strcmp(meta_name(doc), wanted) == 0)
                return 0;
        return problem_add(p, "FieldValueInvalid", "metadata.name",
                           "Invalid value: \"%s\": must be spec.names.plural+\".\"+spec.group",
                           meta_name(doc));
}

static int validate_choices(const json_t *doc, struct schema_problems *p)
{
        const char *scope = text_at(doc, "spec.scope"), *strategy = text_at(doc, "spec.conversion.strategy");
        if (*scope && strcmp(scope, "Cluster") != 0 && strcmp(scope, "Namespaced") != 0)
                TRY(problem_add(p, "FieldValueNotSupported", "spec.scope",
                                "Unsupported value: \"%s\": supported values: \"Cluster\", \"Namespaced\"",
                                scope));
        if (doc_get_bool(doc, "spec.preserveUnknownFields", false))
                TRY(problem_add(p, "FieldValueInvalid", "spec.preserveUnknownFields",
                                "Invalid value: true: cannot set to true, set "
                                "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
                                "instead"));
        if (strcmp(strategy, "None") == 0)
                return 0; /* others are better refused than quietly not converted */
        return problem_add(p, "FieldValueNotSupported", "spec.conversion.strategy",
                           "Unsupported value: \"%s\": supported values: \"None\"", strategy);
}

/* The reason that goes with a message of the schema compiler. */
static const char *reason_of(const char *message)
{
        return text_starts_with(message, "Required value")      ? "FieldValueRequired"
               : text_starts_with(message, "Unsupported value") ? "FieldValueNotSupported"
               : strstr(message, " in body must be of type ")   ? "FieldValueTypeInvalid"
                                                                : "FieldValueInvalid";
}

static int validate_schemas(struct request *rq, const json_t *doc, struct schema_problems *p)
{
        struct custom_resource *compiled;
        struct error err = { 0 };
        int r = crd_compile(rq->devcluster, json_object_get(doc, "spec"), &compiled, &err);
        if (r == ERR_NO_MEMORY)
                return r;
        if (r == 0) /* kept until the request ends, so that the installation after the write finds it */
                return arena_defer(rq->arena, (void (*)(void *))custom_resource_unref, compiled);
        const char *colon = strstr(err.text, ": ");
        const char *field = colon ? arena_strndup(rq->arena, err.text, (size_t)(colon - err.text)) : "spec";
        const char *message = colon ? colon + 2 : err.text;
        return problem_add(p, reason_of(message), field ? field : "spec", "%s", message);
}

static int validate(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const needed[] = { "spec.group", "spec.names.plural", "spec.names.kind",
                                              "spec.scope" };
        for (size_t i = 0; i < ARRAY_LEN(needed); i++)
                TRY(need(p, doc, needed[i]));
        TRY(validate_unchanged(live, doc, p));
        if (!live)
                TRY(validate_name(rq, doc, p));
        TRY(validate_approval(live, doc, p));
        TRY(validate_choices(doc, p));
        TRY(validate_versions(doc, p));
        TRY(validate_stored_versions(doc, p));
        return p->n ? 0 : validate_schemas(rq, doc, p);
}

/* ---- effects ---- */

static void after_write(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc)
{
        struct error err = { 0 };
        if (!doc) {
                crd_uninstall(c, live);
                crd_names_freed(d, c, text_at(live, "spec.group"));
        } else if (crd_install(d, c, doc, &err) < 0) {
                log_error(d->log, "custom resource is not served", "cluster", c->name, "crd", meta_name(doc),
                          "error", err.text);
        }
}

/* The instances go first: gc.c removes them and then this finalizer. */
static int before_delete(struct request *rq, json_t *live)
{
        return meta_add_finalizer(live, CLEANUP_FINALIZER) < 0 ? request_fail_memory(rq) : 0;
}

const struct resource_hooks crd_hooks = {
        .prepare = prepare, .validate = validate, .after_write = after_write, .before_delete = before_delete
};
