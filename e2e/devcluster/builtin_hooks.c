/* Built-in kinds' behaviour beyond fields and defaults. */
#include "e2e/devcluster/builtin_hooks.h"

#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

static int set_defaults(struct request *rq, const json_t *live, json_t *doc)
{
        if (builtin_set_defaults(rq->resource->group, rq->resource->kind, doc) < 0)
                return request_fail_memory(rq);
        return 0;
}

static const char *field_text(const json_t *doc, const char *path)
{
        const char *s = doc ? doc_get_string(doc, path) : NULL;
        return s ? s : "";
}

/* Value of a field that is in `known`; NULL otherwise. */
static const char *known_field(const json_t *doc, const char *path, const char *const *known, size_t n)
{
        return text_in(path, known, n) ? field_text(doc, path) : NULL;
}

/* ---- namespaces ---- */

static int prepare_namespace(struct request *rq, const json_t *live, json_t *doc)
{
        json_t *labels = doc_get_object(doc, "metadata.labels");
        if (!labels && doc_set(doc, "metadata.labels", labels = json_object()) < 0)
                return request_fail_memory(rq);
        const char *name = meta_name(doc);
        if (*name && json_object_set_new(labels, "kubernetes.io/metadata.name", json_string(name)) < 0)
                return request_fail_memory(rq);
        int r = 0;
        if (!live) {
                r |= doc_set(doc, "spec.finalizers", json_pack("[s]", "kubernetes"));
                r |= doc_set_string(doc, "status.phase", "Active");
        } else if (!text_equal(rq->subresource, "finalize")) {
                json_t *spec = json_object_get(live, "spec");
                r |= spec ? json_object_set(doc, "spec", spec) : 0;
        }
        return r < 0 ? request_fail_memory(rq) : 0;
}

static int before_delete_namespace(struct request *rq, json_t *live)
{
        static const char *const kept[] = { "default", "kube-system", "kube-public" };
        if (text_in(meta_name(live), kept, ARRAY_LEN(kept)))
                return request_fail_forbidden(rq, meta_name(live), "this namespace may not be deleted");
        return 0;
}

static const char *namespace_field(const json_t *doc, const char *path, struct arena *a)
{
        static const char *const known[] = { "status.phase" };
        return known_field(doc, path, known, ARRAY_LEN(known));
}

static void after_namespace(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc)
{
        struct error err = { 0 };
        if (!live && bootstrap_namespace(d, c, meta_name(doc), &err) < 0)
                log_error(d->log, "namespace without its base objects", "cluster", c->name, "namespace",
                          meta_name(doc), "error", err.text);
}

static int validate_namespace(struct request *rq, const json_t *live, const json_t *doc,
                              struct schema_problems *p)
{
        const char *phase = field_text(doc, "status.phase"),
                   *right = meta_is_deleting(doc) ? "Terminating" : "Active";
        if (!text_equal(rq->subresource, "status") || strcmp(phase, right) == 0)
                return 0;
        return problem_add(p, "FieldValueInvalid", "status.Phase",
                           "Invalid value: \"%s\": may only be '%s' if `deletionTimestamp` is %sempty", phase,
                           right, meta_is_deleting(doc) ? "not " : "");
}

const struct resource_hooks namespace_hooks = { .prepare = prepare_namespace,
                                                .validate = validate_namespace,
                                                .after_write = after_namespace,
                                                .before_delete = before_delete_namespace,
                                                .field = namespace_field };

/* ---- secrets and config maps ---- */

static int prepare_secret(struct request *rq, const json_t *live, json_t *doc)
{
        const char *type = live ? doc_get_string(live, "type") : "Opaque";
        if (text_empty(doc_get_string(doc, "type")) &&
            doc_set_string(doc, "type", type ? type : "Opaque") < 0)
                return request_fail_memory(rq);
        return account_fill_secret(rq, doc);
}

static int validate_immutable(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const fields[] = { "data", "stringData", "binaryData" };
        if (!live || !doc_get_bool(live, "immutable", false))
                return 0;
        if (!doc_get_bool(doc, "immutable", false))
                TRY(problem_add(p, "FieldValueForbidden", "immutable",
                                "Forbidden: field is immutable when `immutable` is set"));
        for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
                const json_t *a = json_object_get(live, fields[i]), *b = json_object_get(doc, fields[i]);
                if ((a || b) && (!a || !b || !doc_equal(a, b)))
                        TRY(problem_add(p, "FieldValueForbidden", fields[i],
                                        "Forbidden: field is immutable when `immutable` is set"));
        }
        return 0;
}

static int validate_secret(struct request *rq, const json_t *live, const json_t *doc,
                           struct schema_problems *p)
{
        if (live && !text_equal(doc_get_string(live, "type"), doc_get_string(doc, "type")))
                TRY(problem_add(p, "FieldValueInvalid", "type", "Invalid value: \"%s\": field is immutable",
                                field_text(doc, "type")));
        TRY(account_validate_secret(doc, p));
        return validate_immutable(live, doc, p);
}

static int validate_configmap(struct request *rq, const json_t *live, const json_t *doc,
                              struct schema_problems *p)
{
        return validate_immutable(live, doc, p);
}

static const char *secret_field(const json_t *doc, const char *path, struct arena *a)
{
        static const char *const known[] = { "type" };
        return known_field(doc, path, known, ARRAY_LEN(known));
}

const struct resource_hooks secret_hooks = { .prepare = prepare_secret,
                                             .validate = validate_secret,
                                             .field = secret_field };
const struct resource_hooks configmap_hooks = { .prepare = set_defaults, .validate = validate_configmap };

/* ---- the rest: defaults and selectable fields ---- */

static const char *node_field(const json_t *doc, const char *path, struct arena *a)
{
        if (strcmp(path, "spec.unschedulable") != 0)
                return NULL;
        return doc && doc_get_bool(doc, path, false) ? "true" : "false";
}

static const char *event_field(const json_t *doc, const char *path, struct arena *a)
{
        static const char *const known[] = { "involvedObject.kind",
                                             "involvedObject.namespace",
                                             "involvedObject.name",
                                             "involvedObject.uid",
                                             "involvedObject.apiVersion",
                                             "involvedObject.resourceVersion",
                                             "involvedObject.fieldPath",
                                             "reason",
                                             "reportingComponent",
                                             "source",
                                             "type",
                                             "regarding.kind",
                                             "regarding.namespace",
                                             "regarding.name",
                                             "regarding.uid" };
        const char *regarding = text_starts_with(path, "regarding.") ? path + strlen("regarding") : NULL;
        if (regarding && text_in(path, known, ARRAY_LEN(known))) { /* stored is the core shape */
                const char *stored = arena_printf(a, "involvedObject%s", regarding);
                return stored ? field_text(doc, stored) : "";
        }
        return known_field(doc, path, known, ARRAY_LEN(known));
}

const struct resource_hooks node_hooks = { .prepare = set_defaults, .field = node_field };
const struct resource_hooks event_hooks = { .prepare = set_defaults, .field = event_field };
const struct resource_hooks plain_hooks = { .prepare = set_defaults };
