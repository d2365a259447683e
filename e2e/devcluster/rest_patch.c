/* PATCH in its four forms: computes the patched document, then writes it as an update (or a create, for
 * apply). */
#include "common/json/apply.h"
#include "common/json/patch.h"
#include "e2e/devcluster/again.h"
#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/go_json.h"
#include "e2e/devcluster/go_shape.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"
#include "e2e/devcluster/typed.h"
#include "e2e/devcluster/undecodable.h"

static const struct {
        const char *content_type;
        enum patch_form form;
} patch_forms[] = {
        { "application/json-patch+json", PATCH_JSON },
        { "application/merge-patch+json", PATCH_MERGE },
        { "application/strategic-merge-patch+json", PATCH_STRATEGIC },
        { "application/apply-patch+yaml", PATCH_APPLY },
};

static int fail_media_type(struct request *rq, const char *accepted, const char *given)
{
        (void)given;
        if (rq->resource->custom)
                return request_fail(
                        rq, 415, "UnsupportedMediaType",
                        "the body of the request was in an unknown format - accepted media types include: %s",
                        accepted);
        int r = request_fail(rq, 415, "UnsupportedMediaType", "415: Unsupported Media Type");
        rq->status.details = true;
        return r;
}

static int find_form(struct request *rq, const char *content_type, enum patch_form *ret)
{
        struct slice rest = slice_of(content_type), head;
        (void)slice_cut(&rest, ';', &head);
        head = slice_trim(head);
        const char *all =
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
        for (size_t i = 0; i < ARRAY_LEN(patch_forms); i++) {
                if (!slice_is(head, patch_forms[i].content_type))
                        continue;
                if (patch_forms[i].form == PATCH_STRATEGIC && rq->resource->custom)
                        return fail_media_type(rq, all, content_type);
                *ret = patch_forms[i].form;
                return 0;
        }
        if (rq->resource->custom)
                return fail_media_type(rq, all, content_type);
        return fail_media_type(rq,
                               "application/json-patch+json, application/merge-patch+json, "
                               "application/strategic-merge-patch+json, application/apply-patch+yaml",
                               content_type);
}

static int keep_identity(json_t *doc, const json_t *live)
{
        static const char *const keys[] = { "apiVersion", "kind" };
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
                if (json_object_set(doc, keys[i], json_object_get(live, keys[i])) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

/* *ret may hold parts of the patch, which is spent then. */
static int compute(struct request *rq, enum patch_form form, const json_t *live, json_t *patch, json_t **ret)
{
        struct error err = { 0 };
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        int r;
        if (form == PATCH_JSON)
                r = patch_json_lenient(live, patch, ret, &err);
        else if (form == PATCH_STRATEGIC && schema)
                r = patch_strategic(live, patch, schema, ret, &err);
        else
                r = rq->sound ? patch_merge_sharing(live, patch, ret, &err)
                              : patch_merge(live, patch, ret, &err);
        if (r == 0 && rq->sound && form == PATCH_MERGE)
                r = doc_own_member(*ret, live, "metadata");
        if (r == 0 && form == PATCH_STRATEGIC &&
            json_is_object(*ret)) /* becomes the kind, whatever it says */
                r = keep_identity(*ret, live);
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(rq);
        if (r < 0 && form == PATCH_JSON) { /* kube-apiserver does not say which operation it was */
                (void)request_fail(rq, 422, "Invalid",
                                   "the server rejected our request due to an error in our request");
                rq->status.details = true;
                return ERR_INVALID;
        }
        if (r < 0 && form == PATCH_STRATEGIC)
                return request_fail(rq, 500, NULL, "%s", err.text);
        return r < 0 ? request_fail_bad(rq, "%s", err.text) : 0;
}

static int apply_conflicts(struct request *rq, const json_t *conflicts, const struct error *err)
{
        size_t n = json_array_size(conflicts);
        struct status_cause *causes = ARENA_NEW_ARRAY(rq->arena, struct status_cause, n + 1);
        if (!causes)
                return request_fail_memory(rq);
        for (size_t i = 0; i < n; i++) {
                const json_t *c = json_array_get(conflicts, i);
                const char *with = doc_get_string(c, "with"), *field = doc_get_string(c, "field");
                causes[i] =
                        (struct status_cause){ "FieldManagerConflict",
                                               arena_printf(rq->arena, "conflict with %s", with ? with : ""),
                                               field ? arena_strdup(rq->arena, field) : NULL };
        }
        (void)request_fail(rq, 409, "Conflict", "%s", err->text);
        rq->status.causes = causes;
        rq->status.n_causes = n;
        return ERR_CONFLICT;
}

static int check_applied(struct request *rq, json_t *config)
{
        const char *version = doc_get_string(config, "apiVersion"), *kind = doc_get_string(config, "kind");
        if (!rq->resource->custom && (text_empty(version) || !text_equal(kind, rq->resource->kind)))
                return request_fail_bad(rq, "invalid object type: %s%s, Kind=%s",
                                        version && strchr(version, '/') ? "" : "/", version ? version : "",
                                        kind ? kind : "");
        TRY(meta_check_sent_name(rq, config));
        TRY(meta_check_kind(rq, config, request_api_version(rq), rq->resource->kind));
        if (json_object_get(json_object_get(config, "metadata"), "managedFields") &&
            json_array_size(doc_get_array(config, "metadata.managedFields")) > 0)
                return request_fail_bad(rq, "metadata.managedFields must be nil");
        if (!rq->x || http_query_get(rq->x, "fieldManager"))
                return 0;
        struct schema_problems p = { .arena = rq->arena };
        if (problem_add(&p, "FieldValueRequired", "fieldManager",
                        "Required value: is required for apply patch") < 0)
                return request_fail_memory(rq);
        int r = request_fail_invalid(rq, "", &p);
        rq->status.message = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
                             "required for apply patch";
        rq->status.group = "meta.k8s.io";
        rq->status.kind = "PatchOptions";
        return r;
}

static int merge_applied(struct request *rq, const json_t *live, const json_t *config, json_t **ret)
{
        struct apply_options o = { .manager = rq->field_manager,
                                   .api_version = request_api_version(rq),
                                   .subresource = rq->subresource,
                                   .force = rq->force,
                                   .wall_ms = rq->now_ms };
        const struct schema *schema = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        AUTO_JSON json_t *conflicts = NULL;
        struct error err = { 0 };
        int r = apply_server_side(live, config, schema, &o, ret, &conflicts, &err);
        if (r == ERR_CONFLICT)
                return apply_conflicts(rq, conflicts, &err);
        return r < 0 ? request_fail_error(rq, &err) : 0;
}

/* Values that fit the schema, and yet cannot be read: times, bytes. */
static int check_values(struct request *rq, json_t *config)
{
        const struct schema *s = resource_schema(rq->devcluster, rq->resource, rq->resource_version);
        if (!s || rq->resource->custom || go_check_types(rq, s, config) == 0)
                return 0;
        const char *version = request_api_version(rq), *slash = strchr(version, '/') ? "" : "/",
                   *kind = rq->resource->kind, *why = rq->status.decoding;
        if (!why)
                return ERR_NO_MEMORY;
        return request_fail(
                rq, 500, NULL,
                "failed to convert new object (%s/%s; %s%s, Kind=%s) to proper version: unable to "
                "convert unstructured object to %s%s, Kind=%s: %s%s",
                meta_ns(config), meta_name(config), slash, version, kind, slash, version, kind,
                text_starts_with(why, "illegal base64") ? "error decoding from json: " : "", why);
}

static int apply(struct request *rq, const json_t *live, json_t *config, struct write_result *ret)
{
        TRY(check_applied(rq, config));
        TRY(typed_check(rq, config)); /* unknown fields and wrong shapes are the client's, not the merge's */
        TRY(check_values(rq, config));
        if (convert_prune(rq, rq->resource_version, config, NULL, NULL) < 0)
                return request_fail_memory(rq);
        TRY(meta_check_shape(rq, config, NULL));
        if (live)
                TRY(rest_check_version(rq, live, config));
        else
                json_object_del(json_object_get(config, "metadata"), "resourceVersion");
        if (!live && *meta_uid(config))
                return request_fail_conflict(rq, rq->name,
                                             "uid mismatch: the provided object specified uid %s, and no "
                                             "existing object was found",
                                             meta_uid(config));
        TRY(meta_check_place(rq, config, false));
        if (!live)
                TRY(authorize_verb(rq, "create"));
        AUTO_JSON json_t *merged = NULL;
        TRY(merge_applied(rq, live, config, &merged));
        return live ? rest_update_live(rq, live, merged, true, ret) : rest_create_applied(rq, merged, ret);
}

static int fail_unreadable(struct request *rq, enum patch_form form, struct slice body, const char *why)
{
        const char *said = go_json_problem(body, rq->arena);
        if (!said)
                said = why;
        if (form == PATCH_APPLY)
                return request_fail_bad(rq, "error decoding YAML: error converting YAML to JSON: %s", why);
        return request_fail_bad(rq, "%s%s", form == PATCH_STRATEGIC ? "" : "error decoding patch: ", said);
}

/* What a merge patch is mostly the same as: the document that request_look() will give; NULL if that is read
 * from text. */
static const json_t *kept_for(struct request *rq, enum patch_form form)
{
        struct table *t = request_table(rq, false);
        const struct blob *b = api_store_get(t, rq->ns, rq->name);
        if (form != PATCH_MERGE || !b || text_equal(rq->subresource, "scale") ||
            !convert_is_identity(rq, t, b))
                return NULL;
        return blob_kept_doc(b);
}

static int parse(struct request *rq, enum patch_form form, struct slice body, json_t **ret)
{
        struct error err = { 0 };
        int r = form == PATCH_APPLY  ? yaml_parse(body, ret, &err)
                : form == PATCH_JSON ? doc_parse(body, ret, &err)
                                     : rest_parse_json(rq, body, kept_for(rq, form), ret, &err);
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(rq);
        if (r < 0 && form == PATCH_APPLY && slice_trim(body).len == 0)
                return (*ret = json_object()) ? 0 : request_fail_memory(rq);
        if (r < 0)
                return fail_unreadable(rq, form, body, err.text);
        if (form == PATCH_JSON && !json_is_array(*ret))
                return request_fail_bad(
                        rq, "error decoding patch: json: cannot unmarshal object into Go value of type "
                            "[]handlers.jsonPatchOp");
        if (form != PATCH_JSON && !json_is_object(*ret)) {
                const char *kind = json_is_array(*ret) ? "array" : "string";
                bool null = json_is_null(*ret);
                json_decref(*ret);
                *ret = NULL;
                if (null && form == PATCH_MERGE)
                        return request_fail_bad(rq, "Invalid JSON Patch");
                return request_fail_bad(
                        rq, "%sjson: cannot unmarshal %s into Go value of type map[string]interface {}",
                        form == PATCH_MERGE   ? "error decoding patch: "
                        : form == PATCH_APPLY ? "error decoding YAML: error unmarshaling JSON: while "
                                                "decoding JSON: "
                                              : "",
                        kind);
        }
        return 0;
}

static int patch_scale(struct request *rq, enum patch_form form, json_t *patch, struct write_result *ret)
{
        AUTO_JSON json_t *scale = NULL, *patched = NULL;
        TRY(scale_get(rq, &scale));
        TRY(compute(rq, form == PATCH_STRATEGIC || form == PATCH_APPLY ? PATCH_MERGE : form, scale, patch,
                    &patched));
        int r = scale_update(rq, patched, ret);
        return r < 0 && rq->status.decoding ? fail_undecodable(rq, form, patch, patched) : r;
}

/* The result did not decode, and neither it nor a patch that it shares parts with is what it was when that
 * was tried: they are made anew. */
static int fail_result(struct request *rq, enum patch_form form, struct slice body, const json_t *live)
{
        AUTO_JSON json_t *patch = NULL, *patched = NULL;
        const char *why = rq->status.decoding;
        TRY(parse(rq, form, body, &patch));
        TRY(compute(rq, form, live, patch, &patched));
        rq->status.decoding = why;
        return fail_undecodable(rq, form, patch, patched);
}

int rest_patch(struct request *rq, const char *content_type, struct slice body, struct write_result *ret)
{
        enum patch_form form = PATCH_JSON;
        AUTO_JSON json_t *patch = NULL, *live = NULL, *patched = NULL;
        TRY(find_form(rq, content_type, &form));
        TRY(parse(rq, form, body, &patch));
        if (text_equal(rq->subresource, "scale"))
                return patch_scale(rq, form, patch, ret);

        int r = request_look(rq, &live);
        if (form == PATCH_APPLY && (r == 0 || (r == ERR_NOT_FOUND && !rq->subresource)))
                return apply(rq, live, patch, ret);
        TRY(r);
        TRY(compute(rq, form, live, patch, &patched));
        uint32_t before = again_before(rq);
        r = rest_update_live(rq, live, patched, false, ret);
        if (r == 0 && form == PATCH_MERGE)
                again_learn(rq, body, before, live, ret->doc);
        return r < 0 && rq->status.decoding ? fail_result(rq, form, body, live) : r;
}
