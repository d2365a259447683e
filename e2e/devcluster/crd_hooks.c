/* The CustomResourceDefinition resource itself: defaults, validation, conditions. Names are accepted and the
 * CRD is Established in the same write that creates it; kube-apiserver takes a few milliseconds more. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/crd.h"
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

static int set_condition(json_t *conditions, const char *now, const char *type, const char *status,
                         const char *reason, const char *message)
{
        size_t i;
        json_t *c, *found = NULL;
        json_array_foreach(conditions, i, c)
                if (text_equal(json_string_value(json_object_get(c, "type")), type))
                        found = c;
        if (found && strcmp(text_at(found, "status"), status) == 0 &&
            strcmp(text_at(found, "reason"), reason) == 0)
                return 0;
        json_t *fresh = json_pack("{s:s,s:s,s:s,s:s,s:s}", "lastTransitionTime", now, "message", message,
                                  "reason", reason, "status", status, "type", type);
        if (!fresh)
                return ERR_NO_MEMORY;
        if (found) {
                int r = json_object_update(found, fresh);
                json_decref(fresh);
                return r < 0 ? ERR_NO_MEMORY : 0;
        }
        return json_array_append_new(conditions, fresh) < 0 ? ERR_NO_MEMORY : 0;
}

/* True when another CRD of the group has taken the kind or the plural already. */
static const struct resource *name_taken(struct request *rq, const json_t *doc)
{
        const char *group = text_at(doc, "spec.group"), *kind = text_at(doc, "spec.names.kind");
        const struct resource *r = registry_find_kind(rq->cluster, group, NULL, kind);
        return r && strcmp(r->plural, text_at(doc, "spec.names.plural")) != 0 ? r : NULL;
}

static int set_status(struct request *rq, const json_t *live, json_t *doc)
{
        char now[RFC3339_SIZE];
        time_format_rfc3339(rq->now_ms, now);
        json_t *status = live ? doc_copy(json_object_get(live, "status")) : json_object();
        if (!json_is_object(status)) {
                json_decref(status);
                status = json_object();
        }
        if (json_object_set_new(doc, "status", status) < 0)
                return ERR_NO_MEMORY;
        json_t *conditions = json_object_get(status, "conditions");
        if (!json_is_array(conditions) &&
            json_object_set_new(status, "conditions", conditions = json_array()) < 0)
                return ERR_NO_MEMORY;

        const struct resource *other = name_taken(rq, doc);
        if (other)
                return set_condition(conditions, now, "NamesAccepted", "False", "KindConflict",
                                     arena_printf(rq->arena, "\"%s\" is already in use", other->kind));
        TRY(doc_set(doc, "status.acceptedNames", doc_copy(doc_get_object(doc, "spec.names"))));
        TRY(set_condition(conditions, now, "NamesAccepted", "True", "NoConflicts", "no conflicts found"));
        return set_condition(conditions, now, "Established", "True", "InitialNamesAccepted",
                             "the initial names have been accepted");
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
        if (default_names(rq, doc) < 0 || set_status(rq, live, doc) < 0 || set_stored_versions(doc) < 0)
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
        size_t i, n_storage = 0;
        json_t *v;
        json_array_foreach(doc_get_array(doc, "spec.versions"), i, v)
                n_storage += doc_get_bool(v, "storage", false);
        if (n_storage != 1)
                return problem_add(p, "FieldValueInvalid", "spec.versions",
                                   "Invalid value: must have exactly one version marked as storage version");
        return 0;
}

static int validate(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const needed[] = { "spec.group", "spec.names.plural", "spec.names.kind",
                                              "spec.scope" };
        for (size_t i = 0; i < ARRAY_LEN(needed); i++)
                TRY(need(p, doc, needed[i]));
        const char *wanted = arena_printf(rq->arena, "%s.%s", text_at(doc, "spec.names.plural"),
                                          text_at(doc, "spec.group"));
        if (!wanted)
                return ERR_NO_MEMORY;
        if (strcmp(meta_name(doc), wanted) != 0)
                TRY(problem_add(p, "FieldValueInvalid", "metadata.name",
                                "Invalid value: \"%s\": must be spec.names.plural+\".\"+spec.group",
                                meta_name(doc)));
        const char *scope = text_at(doc, "spec.scope");
        if (*scope && strcmp(scope, "Cluster") != 0 && strcmp(scope, "Namespaced") != 0)
                TRY(problem_add(p, "FieldValueNotSupported", "spec.scope",
                                "Unsupported value: \"%s\": supported values: \"Cluster\", \"Namespaced\"",
                                scope));
        if (live && strcmp(scope, text_at(live, "spec.scope")) != 0)
                TRY(problem_add(p, "FieldValueInvalid", "spec.scope",
                                "Invalid value: \"%s\": field is immutable", scope));
        const char *strategy = text_at(doc, "spec.conversion.strategy");
        if (strcmp(strategy, "None") != 0) /* better refused than quietly not converted */
                TRY(problem_add(p, "FieldValueNotSupported", "spec.conversion.strategy",
                                "Unsupported value: \"%s\": supported values: \"None\"", strategy));
        TRY(validate_versions(doc, p));
        if (p->n)
                return 0;

        struct custom_resource *compiled;
        struct error err = { 0 };
        int r = crd_compile(rq->devcluster, json_object_get(doc, "spec"), &compiled, &err);
        if (r == ERR_NO_MEMORY)
                return r;
        if (r < 0) {
                const char *colon = strstr(err.text, ": ");
                const char *field =
                        colon ? arena_strndup(rq->arena, err.text, (size_t)(colon - err.text)) : "spec";
                return problem_add(p, "FieldValueInvalid", field ? field : "spec", "%s",
                                   colon ? colon + 2 : err.text);
        }
        /* Kept until the request ends, so that the installation after the write finds it compiled. */
        return arena_defer(rq->arena, (void (*)(void *))custom_resource_unref, compiled);
}

/* ---- effects ---- */

static void after_write(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc)
{
        struct error err = { 0 };
        if (!doc)
                crd_uninstall(c, live);
        else if (crd_install(d, c, doc, &err) < 0)
                log_error(d->log, "custom resource is not served", "cluster", c->name, "crd", meta_name(doc),
                          "error", err.text);
}

/* The instances go first: gc.c removes them and then this finalizer. */
static int before_delete(struct request *rq, json_t *live)
{
        return meta_add_finalizer(live, CLEANUP_FINALIZER) < 0 ? request_fail_memory(rq) : 0;
}

const struct resource_hooks crd_hooks = {
        .prepare = prepare, .validate = validate, .after_write = after_write, .before_delete = before_delete
};
