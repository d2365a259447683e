/* create and update: from a client's document to the store, through the same steps for every resource. */
#include "e2e/devcluster/rest_write.h"

#include "common/json/apply.h"
#include "common/json/doc_beside.h"
#include "e2e/devcluster/admission.h"
#include "e2e/devcluster/admission_plugins.h"
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin/validate.h"
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/go_shape.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/webhook.h"

/* ---- steps shared by create and update ---- */

static void decref(void *json)
{
        json_decref(json);
}

int rest_parse_json(struct request *rq, struct slice text, const json_t *like, json_t **ret,
                    struct error *err)
{
        json_t *duplicates = NULL;
        TRY(doc_parse_beside(text, like, ret, &duplicates, err));
        if (!duplicates)
                return 0;
        rq->duplicates = duplicates;
        if (arena_defer(rq->arena, decref, duplicates) == 0)
                return 0;
        json_decref(duplicates);
        json_decref(*ret);
        return error_no_memory(err);
}

static void report_fields(struct request *rq, const char *what, const json_t *paths, struct buf *b)
{
        for (size_t i = 0; i < json_array_size(paths); i++) {
                const char *path = json_string_value(json_array_get(paths, i));
                if (rq->field_validation == FIELDS_WARN)
                        request_warn(rq, "%s field \"%s\"", what, path);
                else
                        (void)buf_printf(b, "%s%s field \"%s\"",
                                         b->len ? ", " : "strict decoding error: ", what, path);
        }
}

int rest_report_fields(struct request *rq, const json_t *removed)
{
        if ((json_array_size(removed) == 0 && !rq->duplicates) || rq->field_validation == FIELDS_IGNORE)
                return 0;
        AUTO_BUF struct buf b;
        buf_init(&b, 64u << 10);
        report_fields(rq, "duplicate", rq->duplicates, &b);
        report_fields(rq, "unknown", removed, &b);
        if (rq->field_validation == FIELDS_WARN)
                return 0;
        return request_fail_decoding(rq, arena_strdup(rq->arena, b.data ? b.data : ""));
}

static int shape_builtin(struct request *rq, const struct schema *schema, json_t *doc)
{
        const struct resource *r = rq->resource;
        if (builtin_set_defaults(r->group, r->kind, doc) < 0 || go_shape(schema, doc) < 0)
                return request_fail_memory(rq);
        return 0;
}

/* Shape, unknown fields, defaults: afterwards the document is one the rest may trust in its types. */
int rest_normalise(struct request *rq, json_t *doc)
{
        AUTO_JSON json_t *removed = json_array();
        struct error err = { 0 };
        if (!removed)
                return request_fail_memory(rq);
        const struct resource_version *v = rq->resource_version;
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, v);
        if (schema && !rq->resource->custom)
                TRY(go_check_types(rq, schema, doc));
        TRY(meta_check_shape(rq, doc, removed));
        if (convert_prune(rq, v, doc, removed, &err) < 0)
                return request_fail_error(rq, &err);
        TRY(rest_report_fields(rq, removed));
        if (schema && schema_apply_defaults_beside(schema, doc, rq->sound, &err) < 0)
                return request_fail_error(rq, &err);
        return schema && !rq->resource->custom ? shape_builtin(rq, schema, doc) : 0;
}

/* What kube-apiserver checks as a matter of schema only for custom resources: lists with keys, fields of
 * status that have to be there. */
static void drop_duplicates(struct schema_problems *p)
{
        size_t kept = 0;
        for (size_t i = 0; i < p->n; i++)
                if (strcmp(p->at[i].reason, "FieldValueDuplicate") != 0 &&
                    !text_starts_with(p->at[i].field, "status.") &&
                    !text_starts_with(p->at[i].field, "metadata."))
                        p->at[kept++] = p->at[i];
        p->n = kept;
}

static bool has_problem(const struct schema_problems *p, size_t n, const char *field)
{
        for (size_t i = 0; i < n; i++)
                if (text_equal(p->at[i].field, field))
                        return true;
        return false;
}

/* What the schema says of fields that nobody has said anything about. */
static int add_problems(struct schema_problems *to, const struct schema_problems *more)
{
        size_t told = to->n;
        for (size_t i = 0; i < more->n; i++)
                if (!has_problem(to, told, more->at[i].field))
                        TRY(problem_add(to, more->at[i].reason, more->at[i].field, "%s",
                                        more->at[i].message));
        return 0;
}

static int validate_builtin(struct request *rq, const json_t *live, const json_t *doc,
                            struct schema_problems *problems)
{
        const char *group = rq->resource->group, *kind = rq->resource->kind;
        TRY(builtin_validate(group, kind, doc, problems));
        return live ? builtin_validate_update(group, kind, live, doc, problems) : 0;
}

static int validate(struct request *rq, const json_t *live, const json_t *doc)
{
        struct schema_problems problems = { .arena = rq->arena };
        struct error err = { 0 };
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (schema && schema_validate_update(schema, doc, live, rq->sound, &problems, &err) < 0)
                return request_fail_error(rq, &err);
        if (!rq->resource->custom)
                drop_duplicates(&problems);
        else if (scale_validate(rq, doc, &problems) < 0)
                return request_fail_memory(rq);
        if (hooks && hooks->validates_all && !rq->subresource)
                problems.n = 0;
        struct schema_problems shape = problems;
        problems = (struct schema_problems){ .arena = rq->arena };
        if (meta_validate(rq, live, doc, &problems) < 0)
                return request_fail_memory(rq);
        if (!rq->resource->custom && !text_equal(rq->subresource, "status") &&
            validate_builtin(rq, live, doc, &problems) < 0)
                return request_fail_memory(rq);
        bool whole = text_equal(rq->resource->group, "apiextensions.k8s.io"); /* looks at sound ones only */
        if (hooks && hooks->validate && (!whole || problems.n + shape.n == 0) &&
            hooks->validate(rq, live, doc, &problems) < 0)
                return request_fail_memory(rq);
        if (add_problems(&problems, &shape) < 0)
                return request_fail_memory(rq);
        return problems.n ? request_fail_invalid(rq, meta_name(doc), &problems) : 0;
}

static int run_prepare_hook(struct request *rq, const json_t *live, json_t *doc)
{
        const struct resource_hooks *hooks = rq->resource->hooks;
        return hooks && hooks->prepare ? hooks->prepare(rq, live, doc) : 0;
}

static void run_after_write(struct request *rq, const json_t *live, const json_t *doc)
{
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (hooks && hooks->after_write)
                hooks->after_write(rq->devcluster, rq->cluster, live, doc);
}

static struct apply_options track_options(struct request *rq)
{
        return (struct apply_options){ .manager = rq->field_manager,
                                       .api_version = request_api_version(rq),
                                       .subresource = rq->subresource,
                                       .force = rq->force,
                                       .wall_ms = rq->now_ms };
}

static int track(struct request *rq, const json_t *live, json_t *doc)
{
        struct apply_options o = track_options(rq);
        struct error err = { 0 };
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        AUTO_JSON json_t *zero = NULL;
        if (!live && schema && !rq->resource->custom) { /* what Go writes anyway is nobody's */
                o.blank = zero = go_zero(schema);
                if (!zero)
                        return request_fail_memory(rq);
        }
        if (apply_track_update(live, doc, schema, &o, &err) < 0)
                return request_fail_error(rq, &err);
        return 0;
}

static int replace_document(json_t *doc, json_t *by)
{
        if (!by || json_object_clear(doc) < 0 || json_object_update(doc, by) < 0)
                return ERR_NO_MEMORY;
        return 0;
}

/* What the storage version does not have is not there any more: the answer must not show it. */
static int show_stored(struct request *rq, const json_t *stored, json_t *doc)
{
        AUTO_JSON json_t *shown = doc_copy(stored);
        struct error err = { 0 };
        if (!shown)
                return request_fail_memory(rq);
        if (convert_stored(rq, shown, &err) < 0)
                return request_fail_error(rq, &err);
        return replace_document(doc, shown) < 0 ? request_fail_memory(rq) : 0;
}

/* A status that a client sent with a new object was dropped: what is read of it has the defaults. */
static int default_anew(struct request *rq, json_t *doc)
{
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        struct error err = { 0 };
        if (schema && rq->resource->custom && schema_apply_defaults(schema, doc, &err) < 0)
                return request_fail_error(rq, &err);
        return 0;
}

/* An update leaves be what was wrong and is unchanged, but for what began with a sound document. */
static bool is_sound(struct request *rq, const json_t *doc)
{
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        struct schema_problems problems = { .arena = rq->arena };
        struct error err = { 0 };
        return rq->sound || !schema ||
               (schema_validate(schema, doc, NULL, &problems, &err) == 0 && problems.n == 0);
}

/* Of a custom resource that is updated, as sound as the schema of now asks for. */
static bool is_worth_keeping(struct request *rq, const json_t *live, const json_t *doc, const json_t *stored)
{
        return live && rq->x && !rq->waited && rq->resource->custom && stored == doc &&
               (!rq->subresource || strcmp(rq->subresource, "status") == 0) && is_sound(rq, doc);
}

/* Stores doc (request's version), whose resourceVersion is set to the new one. */
static int put(struct request *rq, const json_t *live, json_t *doc)
{
        struct error err = { 0 };
        AUTO_JSON json_t *stored = NULL;
        struct blob *b = NULL;
        struct table *t = request_table(rq, true);
        if (!t)
                return request_fail_memory(rq);
        if (!live)
                TRY(default_anew(rq, doc));
        if (convert_to_storage(rq, doc, &stored, &err) < 0 ||
            (is_worth_keeping(rq, live, doc, stored) ? api_store_put_kept(t, stored, &b, &err)
                                                     : api_store_put(t, stored, &b, &err)) < 0)
                return request_fail_error(rq, &err);
        if (stored != doc && json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion",
                                                 json_string(meta_rv(stored))) < 0)
                return request_fail_memory(rq);
        run_after_write(rq, live, stored);
        return stored != doc && rq->resource->custom ? show_stored(rq, stored, doc) : 0;
}

int rest_remove(struct request *rq, json_t *doc)
{
        struct error err = { 0 };
        AUTO_JSON json_t *stored = NULL;
        if (convert_to_storage(rq, doc, &stored, &err) < 0 ||
            api_store_remove(request_table(rq, true), stored, &err) < 0)
                return request_fail_error(rq, &err);
        if (json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion",
                                json_string(meta_rv(stored))) < 0)
                return request_fail_memory(rq);
        run_after_write(rq, stored, NULL);
        return 0;
}

/* ---- create ---- */

static int check_namespace(struct request *rq, const char *name)
{
        if (!rq->ns)
                return 0;
        struct blob *b = api_store_get(api_store_table(rq->cluster, "/namespaces", false), "", rq->ns);
        if (!b)
                return request_fail(rq, 404, "NotFound", "namespaces \"%s\" not found", rq->ns),
                       rq->status.name = rq->ns, rq->status.kind = "namespaces", ERR_NOT_FOUND;
        if (!strstr(b->data, "\"deletionTimestamp\""))
                return 0;
        AUTO_JSON json_t *ns = NULL;
        if (blob_parse(b, &ns, NULL) < 0)
                return request_fail_memory(rq);
        if (!meta_is_deleting(ns))
                return 0;
        int r = request_fail_forbidden(
                rq, name, "unable to create new content in namespace %s because it is being terminated",
                rq->ns);
        struct status_cause *cause = ARENA_NEW(rq->arena, struct status_cause);
        if (cause) {
                *cause = (struct status_cause){ "NamespaceTerminating",
                                                arena_printf(rq->arena, "namespace %s is being terminated",
                                                             rq->ns),
                                                "metadata.namespace" };
                rq->status.causes = cause;
                rq->status.n_causes = 1;
        }
        return r;
}

/* A new object has none, but for nodes: kubelets register with theirs. */
static int drop_status(struct request *rq, json_t *doc)
{
        bool keeps_status = strcmp(rq->resource->table_key, "/nodes") == 0;
        if (resource_has_status(rq->resource, rq->resource_version) && !keeps_status)
                json_object_del(doc, "status");
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        if (schema && !rq->resource->custom && go_shape(schema, doc) < 0)
                return request_fail_memory(rq);
        return 0;
}

static int prepare_create(struct request *rq, json_t *doc, bool applied)
{
        TRY(meta_check_kind(rq, doc, request_api_version(rq), rq->resource->kind));
        TRY(rest_normalise(rq, doc));
        TRY(meta_check_place(rq, doc, true));
        TRY(meta_prepare_create(rq, doc));
        TRY(drop_status(rq, doc));
        if (!applied) { /* before anything the server sets itself */
                json_object_del(json_object_get(doc, "metadata"), "managedFields");
                TRY(track(rq, NULL, doc));
        }
        return run_prepare_hook(rq, NULL, doc);
}

/* Not for definitions of custom resources, which are stored as JSON. */
static int shape_stored(struct request *rq, json_t *doc)
{
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        bool json = rq->resource->custom || text_equal(rq->resource->group, "apiextensions.k8s.io");
        return !json && schema && go_store(schema, doc) < 0 ? request_fail_memory(rq) : 0;
}

static int store_new(struct request *rq, json_t *doc, struct write_result *ret)
{
        TRY(shape_stored(rq, doc));
        const struct blob *there = api_store_get(request_table(rq, false), rq->ns, meta_name(doc));
        if (there) {
                int r = request_fail_exists(rq, meta_name(doc));
                if (strstr(there->data, "\"deletionTimestamp\":\""))
                        rq->status.message =
                                arena_printf(rq->arena, "object is being deleted: %s", rq->status.message);
                return r;
        }
        if (!rq->dry_run)
                TRY(put(rq, NULL, doc));
        ret->doc = json_incref(doc);
        ret->created = true;
        return 0;
}

/* What a webhook made of a document is a client's document once more, but nobody is told of its fields. */
static int normalise_again(struct request *rq, json_t *doc)
{
        enum field_validation asked = rq->field_validation;
        rq->field_validation = FIELDS_IGNORE;
        int r = rest_normalise(rq, doc);
        rq->field_validation = asked;
        return r;
}

static int normalise_new(struct request *rq, const json_t *live, json_t *doc)
{
        TRY(drop_status(rq, doc));
        TRY(normalise_again(rq, doc));
        return run_prepare_hook(rq, NULL, doc);
}

/* Everything between a prepared document and the store. */
static int admit_new(struct request *rq, json_t *doc)
{
        static const struct webhook_settling settling = { normalise_new, admission_complete };
        TRY(check_namespace(rq, meta_name(doc)));
        TRY(admission_complete(rq, doc));
        TRY(webhooks_mutate(rq, "CREATE", NULL, NULL, doc, &settling));
        TRY(validate(rq, NULL, doc));
        TRY(admission_review(rq, "CREATE", NULL, NULL, doc));
        return rq->waited ? check_namespace(rq, meta_name(doc)) : 0;
}

int rest_create(struct request *rq, json_t *doc, struct write_result *ret)
{
        TRY(prepare_create(rq, doc, false));
        TRY(admit_new(rq, doc));
        return store_new(rq, doc, ret);
}

int rest_create_applied(struct request *rq, json_t *doc, struct write_result *ret)
{
        AUTO_JSON json_t *managed = json_incref(doc_get_array(doc, "metadata.managedFields"));
        TRY(prepare_create(rq, doc, true));
        TRY(admit_new(rq, doc));
        if (managed && json_object_set(json_object_get(doc, "metadata"), "managedFields", managed) < 0)
                return request_fail_memory(rq);
        return store_new(rq, doc, ret);
}

int rest_create_virtual(struct request *rq, json_t *doc)
{
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (!hooks || !hooks->create)
                return request_fail_no_path(rq);
        TRY(meta_check_kind(rq, doc, request_api_version(rq), rq->resource->kind));
        TRY(rest_normalise(rq, doc));
        if (rq->ns)
                TRY(meta_check_place(rq, doc, true));
        json_object_del(json_object_get(doc, "metadata"), "managedFields");
        TRY(track(rq, NULL, doc));
        return hooks->create(rq, doc);
}

/* ---- update ---- */

static int fail_immutable(struct request *rq, const char *field, const char *value)
{
        struct schema_problems p = { .arena = rq->arena };
        for (int twice = 0; twice < 2; twice++) /* metadata is checked with and without the kind */
                if (problem_add(&p, "FieldValueInvalid", field, "Invalid value: \"%s\": field is immutable",
                                value) < 0)
                        return request_fail_memory(rq);
        return request_fail_invalid(rq, rq->name, &p);
}

/* deletionTimestamp may be left out or repeated, not set. */
static int check_deletion(struct request *rq, const json_t *live, const json_t *doc)
{
        static const char path[] = "metadata.deletionTimestamp";
        const char *sent = doc_get_string(doc, path);
        if (!sent || text_equal(sent, doc_get_string(live, path)) || !text_equal(rq->verb, "patch"))
                return 0;
        return fail_immutable(rq, path, sent);
}

int rest_check_version(struct request *rq, const json_t *live, const json_t *doc)
{
        const char *uid = meta_uid(doc), *rv = meta_rv(doc);
        uint64_t number;
        if (*rv && !text_parse_u64(rv, &number))
                return request_fail(rq, 500, NULL, "strconv.ParseUint: parsing \"%s\": invalid syntax", rv);
        if (*uid && strcmp(uid, meta_uid(live)) != 0 && text_equal(rq->verb, "patch"))
                return fail_immutable(rq, "metadata.uid", uid);
        if (*uid && strcmp(uid, meta_uid(live)) != 0)
                return request_fail_conflict(rq, rq->name,
                                             "StorageError: invalid object, Code: 4, Key: "
                                             "/registry/%s%s%s/%s, ResourceVersion: 0, "
                                             "AdditionalErrorMsg: Precondition failed: UID in precondition: "
                                             "%s, UID in object meta: %s",
                                             rq->resource->plural, rq->ns ? "/" : "", rq->ns ? rq->ns : "",
                                             rq->name, uid, meta_uid(live));
        if (*rv && strcmp(rv, "0") != 0 && strcmp(rv, meta_rv(live)) != 0)
                return request_fail_conflict(rq, rq->name, MOVED_MESSAGE);
        return 0;
}

static int keep(json_t *doc, const json_t *live, const char *key)
{
        json_t *value = json_object_get(live, key);
        if (!value)
                return json_object_del(doc, key), 0;
        return json_object_set(doc, key, value);
}

/* What /status may say of metadata: of built-in kinds all that a client may set, with exceptions. */
static int take_metadata(struct request *rq, const json_t *live, json_t *base, const json_t *doc)
{
        const char *key = rq->resource->table_key;
        json_t *meta = json_object_get(doc, "metadata");
        if (rq->resource->custom || (rq->resource->flags & RESOURCE_STATUS_ONLY))
                return 0;
        if (strcmp(key, "apps/deployments") == 0)
                TRY(keep(meta, json_object_get(live, "metadata"), "labels"));
        if (strcmp(key, "/pods") == 0) /* old kubelets spoilt them */
                TRY(keep(meta, json_object_get(live, "metadata"), "ownerReferences"));
        return json_object_set(base, "metadata", meta);
}

/* Whether a status, or nothing, is all that differs from a document that shares its parts. */
static bool is_status_alone(const json_t *live, const json_t *doc)
{
        struct doc_pairs p = DOC_PAIRS(doc, live);
        if (json_object_size(doc) != json_object_size(live))
                return false;
        while (doc_pairs_next(&p)) {
                bool metadata = strcmp(p.key, "metadata") == 0;
                if (!p.other || (metadata && (json_object_size(p.value) != json_object_size(p.other) ||
                                              !doc_shares_members(p.value, p.other))))
                        return false;
                if (!metadata && p.value != p.other && strcmp(p.key, "status") != 0)
                        return false;
        }
        return true;
}

/* A subresource may write its part only: everything else comes from the live object. */
static int restrict_to_subresource(struct request *rq, const json_t *live, json_t *doc)
{
        if (rq->sound && rq->resource->custom && strcmp(rq->subresource, "status") == 0 &&
            is_status_alone(live, doc))
                return 0;
        AUTO_JSON json_t *base = rq->sound ? doc_copy_members(live) : doc_copy(live);
        if (!base || (rq->sound && doc_own_member(base, live, "metadata") < 0))
                return ERR_NO_MEMORY;
        json_t *managed = doc_get_array(doc, "metadata.managedFields");
        if (strcmp(rq->subresource, "status") == 0) {
                if (keep(base, doc, "status") < 0 || take_metadata(rq, live, base, doc) < 0)
                        return ERR_NO_MEMORY;
        } else if (strcmp(rq->subresource, "ephemeralcontainers") == 0) {
                if (keep(json_object_get(base, "spec"), json_object_get(doc, "spec"), "ephemeralContainers") <
                    0)
                        return ERR_NO_MEMORY;
        } else if (strcmp(rq->subresource, "binding") == 0) {
                return 0;
        } else if (strcmp(rq->subresource, "finalize") == 0) {
                TRY(doc_set(base, "spec", doc_copy(json_object_get(doc, "spec"))));
        } else if (strcmp(rq->subresource, "approval") == 0) {
                json_t *conditions = doc_get_array(doc, "status.conditions");
                TRY(doc_set(base, "status.conditions", conditions ? doc_copy(conditions) : json_array()));
        }
        if (managed && json_object_set(json_object_get(base, "metadata"), "managedFields", managed) < 0)
                return ERR_NO_MEMORY;
        return replace_document(doc, base);
}

/* generation counts changes of what users ask for: all but metadata and, where it is a subresource, status.
 */
static int bump_generation(struct request *rq, const json_t *live, json_t *doc)
{
        static const char *const left_out[] = { "metadata", "apiVersion", "kind", "status" };
        if (rq->resource->flags & (RESOURCE_NO_GENERATION | RESOURCE_GENERATION_ONE))
                return 0;
        bool has_status = resource_has_status(rq->resource, rq->resource_version);
        bool labels = rq->resource->flags & RESOURCE_GENERATION_LABELS &&
                      !doc_equal(doc_get(live, "metadata.labels"), doc_get(doc, "metadata.labels"));
        if (!labels && doc_equal_apart_from(live, doc, left_out, has_status ? 4 : 3))
                return 0;
        int64_t now = doc_get_int(live, "metadata.generation", 0);
        return doc_set_int(doc, "metadata.generation", now + 1);
}

static bool same_managers(const json_t *a, const json_t *b)
{
        const json_t *x = doc_get_array(a, "metadata.managedFields"),
                     *y = doc_get_array(b, "metadata.managedFields");
        static const char *const left_out[] = { "time" };
        size_t n = json_array_size(x);
        if (n != json_array_size(y))
                return false;
        for (size_t i = 0; i < n; i++)
                if (!doc_equal_apart_from(json_array_get(x, i), json_array_get(y, i), left_out, 1))
                        return false;
        return true;
}

/* Nothing but times of managers differs: such a write is not done at all. */
static bool is_no_op(const json_t *live, const json_t *doc)
{
        static const char *const meta_key[] = { "metadata" }, *const managed_key[] = { "managedFields" };
        return doc_equal_apart_from(live, doc, meta_key, 1) &&
               doc_equal_apart_from(json_object_get(live, "metadata"), json_object_get(doc, "metadata"),
                                    managed_key, 1) &&
               same_managers(live, doc);
}

static bool is_finished(const json_t *doc)
{
        return meta_is_deleting(doc) && !meta_has_finalizers(doc) &&
               doc_get_int(doc, "metadata.deletionGracePeriodSeconds", 0) == 0 &&
               json_array_size(doc_get_array(doc, "spec.finalizers")) == 0;
}

/* The last finalizer is gone. What watchers are shown is the object as it was stored last. */
static int finish(struct request *rq, const json_t *live)
{
        AUTO_JSON json_t *last = doc_copy(live);
        return last ? rest_remove(rq, last) : request_fail_memory(rq);
}

static int store_update(struct request *rq, const json_t *live, json_t *doc, struct write_result *ret)
{
        ret->created = false;
        TRY(shape_stored(rq, doc));
        if (is_no_op(live, doc)) {
                ret->doc = json_incref((json_t *)live);
                return 0;
        }
        if (!rq->dry_run)
                TRY(is_finished(doc) ? finish(rq, live) : put(rq, live, doc));
        ret->doc = json_incref(doc);
        return 0;
}

/* An empty list, or one empty entry: the owners are to be forgotten. */
static bool is_reset(const json_t *doc)
{
        const json_t *sent = json_object_get(json_object_get(doc, "metadata"), "managedFields");
        return json_is_array(sent) &&
               (json_array_size(sent) == 0 ||
                (json_array_size(sent) == 1 && json_object_size(json_array_get(sent, 0)) == 0));
}

/* Absent means unchanged; [{}] means forget (the API's way to reset). */
static int settle_managed_fields(const json_t *live, json_t *doc)
{
        json_t *meta = json_object_get(doc, "metadata");
        const json_t *sent = json_object_get(meta, "managedFields");
        if (json_array_size(sent) == 1 && json_object_size(json_array_get(sent, 0)) == 0)
                return json_object_del(meta, "managedFields"), 0;
        if (json_array_size(sent) > 0)
                return 0;
        return keep(meta, json_object_get(live, "metadata"), "managedFields");
}

/* What the request may not write is as it was. */
static int restrict_update(struct request *rq, const json_t *live, json_t *doc)
{
        int r = 0;
        if (rq->subresource && strcmp(rq->subresource, "scale") != 0)
                r = restrict_to_subresource(rq, live, doc);
        else if (resource_has_status(rq->resource, rq->resource_version))
                r = keep(doc, live, "status");
        return r < 0 ? request_fail_memory(rq) : 0;
}

static int normalise_update(struct request *rq, const json_t *live, json_t *doc)
{
        TRY(normalise_again(rq, doc));
        return restrict_update(rq, live, doc);
}

static int prepare_update(struct request *rq, const json_t *live, json_t *doc, bool applied)
{
        static const struct webhook_settling settling = { normalise_update, NULL };
        bool reset = is_reset(doc); /* before empty lists go */
        TRY(meta_check_kind(rq, doc, request_api_version(rq), rq->resource->kind));
        TRY(rest_normalise(rq, doc));
        if (text_equal(rq->verb, "patch"))
                TRY(meta_check_sent_name(rq, doc));
        TRY(meta_check_place(rq, doc, false));
        TRY(rest_check_version(rq, live, doc));
        TRY(check_deletion(rq, live, doc));
        TRY(restrict_update(rq, live, doc));
        TRY(meta_prepare_update(rq, live, doc));
        if (!applied) {
                if (settle_managed_fields(live, doc) < 0)
                        return request_fail_memory(rq);
                if (reset)
                        json_object_del(json_object_get(doc, "metadata"), "managedFields");
                else
                        TRY(track(rq, live, doc));
        }
        if (!text_equal(rq->subresource, "scale")) /* what is written there is a Scale: scale.c */
                TRY(webhooks_mutate(rq, "UPDATE", NULL, live, doc, &settling));
        TRY(run_prepare_hook(rq, live, doc));
        return bump_generation(rq, live, doc) < 0 ? request_fail_memory(rq) : 0;
}

int rest_update_live(struct request *rq, const json_t *live, json_t *doc, bool applied,
                     struct write_result *ret)
{
        AUTO_JSON json_t *managed =
                applied ? json_incref(doc_get_array(doc, "metadata.managedFields")) : NULL;
        TRY(prepare_update(rq, live, doc, applied));
        TRY(validate(rq, live, doc));
        if (!text_equal(rq->subresource, "scale"))
                TRY(admission_review(rq, "UPDATE", NULL, live, doc));
        TRY(request_check_unmoved(rq, live));
        if (managed && json_object_set(json_object_get(doc, "metadata"), "managedFields", managed) < 0)
                return request_fail_memory(rq);
        return store_update(rq, live, doc, ret);
}

/* Of a whole update nobody can say what it is based on. */
static int fail_without_version(struct request *rq)
{
        struct schema_problems p = { .arena = rq->arena };
        const char *kind = resource_qualified(rq->resource, rq->arena);
        if (problem_add(&p, "FieldValueInvalid", "metadata.resourceVersion",
                        "Invalid value: 0: must be specified for an update") < 0)
                return request_fail_memory(rq);
        int r = request_fail_invalid(rq, rq->name, &p);
        rq->status.message = arena_printf(rq->arena, "%s \"%s\" is invalid: %s: %s", kind, rq->name,
                                          p.at[0].field, p.at[0].message);
        rq->status.kind = rq->resource->plural;
        return r;
}

int rest_update(struct request *rq, json_t *doc, struct write_result *ret)
{
        AUTO_JSON json_t *live = NULL;
        int r = request_look(rq, &live);
        if (r == ERR_NOT_FOUND && (rq->resource->flags & RESOURCE_CREATE_ON_UPDATE) && !rq->subresource) {
                if (json_is_object(doc) && json_is_object(json_object_get(doc, "metadata"))) {
                        TRY(meta_check_shape(rq, doc, NULL));
                        json_object_del(json_object_get(doc, "metadata"), "resourceVersion");
                        TRY(meta_check_place(rq, doc, false));
                }
                return rest_create(rq, doc, ret);
        }
        TRY(r);
        if ((rq->resource->custom || (rq->resource->flags & RESOURCE_VERSION_NEEDED)) && !*meta_rv(doc))
                return fail_without_version(rq);
        return rest_update_live(rq, live, doc, false, ret);
}
