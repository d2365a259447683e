/* The scale subresource: a view of three fields as autoscaling/v1 Scale. */
#include "e2e/devcluster/admission.h"
#include "e2e/devcluster/go_json.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"

static const char *spec_path(const struct request *rq)
{
        return rq->resource->custom ? rq->resource_version->scale_spec_path : ".spec.replicas";
}

static const char *status_path(const struct request *rq)
{
        return rq->resource->custom ? rq->resource_version->scale_status_path : ".status.replicas";
}

/* Label selectors appear in a Scale as query text. */
static int selector_text(const json_t *selector, struct buf *b)
{
        const char *key;
        json_t *value;
        const json_t *labels = json_object_get(selector, "matchLabels");
        json_object_foreach((json_t *)(labels ? labels : selector), key, value)
                if (json_is_string(value))
                        TRY(buf_printf(b, "%s%s=%s", b->len ? "," : "", key, json_string_value(value)));
        return 0;
}

static int add_selector(struct request *rq, const json_t *live, json_t *scale)
{
        if (rq->resource->custom) {
                const char *path = rq->resource_version->scale_selector_path;
                const char *text = text_empty(path) ? NULL : doc_get_string(live, path + 1);
                return text ? doc_set_string(scale, "status.selector", text) : 0;
        }
        AUTO_BUF struct buf b;
        buf_init(&b, 64u << 10);
        TRY(selector_text(doc_get_object(live, "spec.selector"), &b));
        return b.len ? doc_set_string(scale, "status.selector", b.data) : 0;
}

static json_t *make_scale(struct request *rq, const json_t *live)
{
        static const char *const meta[] = { "name", "namespace", "uid", "resourceVersion",
                                            "creationTimestamp" };
        json_t *scale = json_object();
        if (!scale || doc_set_string(scale, "kind", "Scale") < 0 ||
            doc_set_string(scale, "apiVersion", "autoscaling/v1") < 0 ||
            doc_set(scale, "metadata", json_object()) < 0)
                return json_decref(scale), NULL;
        for (size_t i = 0; i < ARRAY_LEN(meta); i++) {
                json_t *v = json_object_get(json_object_get(live, "metadata"), meta[i]);
                if (v)
                        json_object_set(json_object_get(scale, "metadata"), meta[i], v);
        }
        int r = doc_set(scale, "spec", json_object());
        int64_t replicas = doc_get_int(live, spec_path(rq) + 1, 0);
        if (replicas)
                r |= doc_set_int(scale, "spec.replicas", replicas);
        r |= doc_set_int(scale, "status.replicas", doc_get_int(live, status_path(rq) + 1, 0));
        r |= add_selector(rq, live, scale);
        if (r < 0)
                return json_decref(scale), NULL;
        return scale;
}

int scale_get(struct request *rq, json_t **ret)
{
        AUTO_JSON json_t *live = NULL;
        TRY(request_load(rq, &live));
        *ret = make_scale(rq, live);
        return *ret ? 0 : request_fail_memory(rq);
}

static int check_kind(struct request *rq, const json_t *scale)
{
        const char *kind = doc_get_string(scale, "kind"), *version = doc_get_string(scale, "apiVersion");
        const char *slash = version ? strchr(version, '/') : NULL;
        if (!json_is_object(scale))
                return request_fail_bad(rq, "the body must be a Scale");
        if ((text_empty(kind) || strcmp(kind, "Scale") == 0) &&
            (text_empty(version) || strcmp(version, "autoscaling/v1") == 0))
                return 0;
        if (text_equal(kind, "Scale"))
                return request_fail_bad(
                        rq,
                        "Scale in version \"%s\" cannot be handled as a Scale: no kind \"Scale\" is "
                        "registered for version \"%s\" in scheme "
                        "\"pkg/runtime/scheme.go:111\"",
                        slash ? slash + 1 : version, version);
        version = slash ? slash + 1 : text_empty(version) ? "v1" : version;
        return request_fail_bad(rq,
                                "%s in version \"%s\" cannot be handled as a Scale: converting (%s.%s) to "
                                "(autoscaling.Scale): unknown conversion",
                                kind, version, version, kind);
}

static int read_replicas(struct request *rq, const json_t *scale, int64_t *ret)
{
        const json_t *v = doc_get(scale, "spec.replicas");
        if (!v || json_is_null(v))
                return 0;
        if (json_is_integer(v)) {
                *ret = json_integer_value(v);
                return 0;
        }
        const char *why =
                arena_printf(rq->arena,
                             "json: cannot unmarshal %s into Go struct field ScaleSpec.spec.replicas of "
                             "type int32",
                             go_json_word(v));
        if (!why)
                return request_fail_memory(rq);
        (void)request_fail_bad(rq, "Scale in version \"v1\" cannot be handled as a Scale: %s", why);
        rq->status.decoding = why;
        return ERR_INVALID;
}

static int fail_negative(struct request *rq, int64_t replicas)
{
        struct schema_problems p = { .arena = rq->arena };
        if (problem_add(&p, "FieldValueInvalid", "spec.replicas",
                        "Invalid value: %lld: must be greater than or equal to 0", (long long)replicas) < 0)
                return request_fail_memory(rq);
        int r = request_fail_invalid(rq, rq->name, &p);
        rq->status.message = arena_printf(rq->arena, "Scale.autoscaling \"%s\" is invalid: %s: %s", rq->name,
                                          p.at[0].field, p.at[0].message);
        rq->status.kind = "Scale";
        rq->status.group = "autoscaling";
        return r;
}

/* Policies see the Scale, before and after. */
static int review(struct request *rq, const json_t *live, const json_t *doc)
{
        static const struct admission_kind scale = { "autoscaling", "v1", "Scale" };
        AUTO_JSON json_t *before = make_scale(rq, live), *after = make_scale(rq, doc);
        if (!before || !after)
                return request_fail_memory(rq);
        return admission_review(rq, "UPDATE", &scale, before, after);
}

int scale_update(struct request *rq, json_t *scale, struct write_result *ret)
{
        AUTO_JSON json_t *live = NULL, *doc = NULL;
        TRY(request_load(rq, &live));
        TRY(check_kind(rq, scale));
        TRY(rest_check_version(rq, live, scale));
        int64_t replicas = 0;
        TRY(read_replicas(rq, scale, &replicas));
        if (replicas < 0 && !rq->resource->custom) /* a custom object is checked itself */
                return fail_negative(rq, replicas);
        doc = doc_copy(live);
        if (!doc || doc_set_int(doc, spec_path(rq) + 1, replicas) < 0)
                return request_fail_memory(rq);
        AUTO_JSON json_t *stored = NULL;
        struct write_result written = { 0 };
        TRY(review(rq, live, doc));
        TRY(rest_update_live(rq, live, doc, false, &written));
        stored = written.doc;
        ret->created = false;
        ret->doc = make_scale(rq, stored);
        return ret->doc ? 0 : request_fail_memory(rq);
}

/* ---- custom objects ---- */

/* The value a path of plain members leads to; NULL if there is none. */
static const json_t *value_at(const json_t *doc, const char *path)
{
        return text_empty(path) ? NULL : doc_get(doc, path + 1);
}

static int check_count(struct schema_problems *p, const json_t *doc, const char *path)
{
        static const char *const types[] = {
                [JSON_OBJECT] = "map[string]interface {}",
                [JSON_ARRAY] = "[]interface {}",
                [JSON_STRING] = "string",
                [JSON_REAL] = "float64",
                [JSON_TRUE] = "bool",
                [JSON_FALSE] = "bool",
        };
        const json_t *v = value_at(doc, path);
        AUTO_BUF struct buf text;

        buf_init(&text, 64u << 10);
        if (!v || json_is_null(v) || (json_is_integer(v) && json_integer_value(v) >= 0))
                return 0;
        if (json_is_integer(v))
                return problem_add(p, "FieldValueInvalid", path,
                                   "Invalid value: %" JSON_INTEGER_FORMAT
                                   ": should be a non-negative integer",
                                   json_integer_value(v));
        TRY(doc_write_go(v, &text));
        return problem_add(p, "FieldValueInvalid", path,
                           "Invalid value: 0: %s accessor error: %s is of the type %s, expected int64", path,
                           text.data, types[json_typeof(v)]);
}

int scale_validate(struct request *rq, const json_t *doc, struct schema_problems *problems)
{
        const struct resource_version *v = rq->resource_version;
        struct schema_problems mine = { .arena = rq->arena };
        size_t rest = problems->n - problems->n_values;

        if (!rq->resource->custom || !resource_has_scale(rq->resource, v))
                return 0;
        TRY(check_count(&mine, doc, v->scale_spec_path));
        TRY(check_count(&mine, doc, v->scale_status_path));
        for (size_t i = 0; i < mine.n; i++) { /* one at a time moves into its place */
                TRY(problem_add(problems, "", "", "%s", ""));
                struct schema_problem *at = &problems->at[problems->n_values++];
                memmove(at + 1, at, rest * sizeof(*at));
                *at = mine.at[i];
        }
        return 0;
}
