/* AdmissionReviews, in and out: spec/membership-webhooks-charts.md 4.1. */
#include "common/base/limits.h"
#include "hub-agent/webhook/rules.h"

#define REVIEW_GROUP "admission.k8s.io/"
#define REVIEW_KIND "AdmissionReview"

/* ---- what is asked ---- */

/* A text of the review, "" if it has none. One with an end in it would be another name here than at the
 * server: it is no text. */
static int take_text(const json_t *review, const char *path, const char **ret, struct error *err)
{
        *ret = "";
        return doc_want_string(review, path, ret, err);
}

static int take_operation(const json_t *review, enum admission_operation *ret, struct error *err)
{
        static const enum admission_operation all[] = { ADMISSION_CREATE, ADMISSION_UPDATE, ADMISSION_DELETE,
                                                        ADMISSION_CONNECT };
        const char *name;

        TRY(take_text(review, "request.operation", &name, err));
        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                if (text_equal(name, admission_operation_name(all[i]))) {
                        *ret = all[i];
                        return 0;
                }
        return error_set(err, ERR_INVALID,
                         "request.operation: must be CREATE, UPDATE, DELETE or CONNECT, is \"%.40s\"", name);
}

static int take_groups(struct arena *arena, const json_t *review, struct string_list *ret, struct error *err)
{
        json_t *list = NULL, *item;
        size_t i;

        TRY(doc_want_array(review, "request.userInfo.groups", &list, err));
        ret->at = ARENA_NEW_ARRAY(arena, const char *, json_array_size(list) + 1);
        if (!ret->at)
                return error_no_memory(err);
        json_array_foreach(list, i, item) {
                const char *group = json_string_value(item);

                if (!group || strlen(group) != json_string_length(item))
                        return error_set(err, ERR_INVALID,
                                         "request.userInfo.groups[%zu]: must be a string without NUL", i);
                ret->at[ret->n++] = group;
        }
        return 0;
}

static int take_object(const json_t *review, const char *path, const json_t **ret, struct error *err)
{
        json_t *found = NULL;

        if (json_is_null(doc_get(review, path)))
                return 0;
        TRY(doc_want_object(review, path, &found, err));
        *ret = found;
        return 0;
}

static int take_request(struct arena *arena, const json_t *review, struct admission_request *ret,
                        struct error *err)
{
        const struct {
                const char *path, **to;
        } texts[] = {
                { "request.uid", &ret->uid },
                { "request.kind.group", &ret->kind.group },
                { "request.kind.version", &ret->kind.version },
                { "request.kind.kind", &ret->kind.kind },
                { "request.resource.resource", &ret->resource },
                { "request.subResource", &ret->subresource },
                { "request.namespace", &ret->ns },
                { "request.name", &ret->name },
                { "request.userInfo.username", &ret->user },
                { "request.userInfo.uid", &ret->user_uid },
        };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                TRY(take_text(review, texts[i].path, texts[i].to, err));
        TRY(take_operation(review, &ret->operation, err));
        TRY(take_groups(arena, review, &ret->groups, err));
        TRY(take_object(review, "request.object", &ret->object, err));
        TRY(take_object(review, "request.oldObject", &ret->old_object, err));
        TRY(take_object(review, "request.options", &ret->options, err));
        return doc_want_bool(review, "request.dryRun", &ret->dry_run, err);
}

/* *ret_version is always set. */
static int take_review(struct arena *arena, const json_t *review, struct admission_request *ret,
                       const char **ret_version, struct error *err)
{
        const char *kind = doc_get_string(review, "kind"), *version = doc_get_string(review, "apiVersion");
        json_t *request = NULL;

        *ret_version = REVIEW_GROUP "v1";
        if (!text_equal(kind, REVIEW_KIND))
                return error_set(err, ERR_INVALID, "kind: must be " REVIEW_KIND ", is \"%.60s\"",
                                 or_empty(kind));
        if (!text_equal(version, REVIEW_GROUP "v1") && !text_equal(version, REVIEW_GROUP "v1beta1"))
                return error_set(err, ERR_INVALID,
                                 "apiVersion: must be " REVIEW_GROUP "v1 or " REVIEW_GROUP
                                 "v1beta1, is \"%.60s\"",
                                 or_empty(version));
        *ret_version = version;
        TRY(doc_want_object(review, "request", &request, err));
        if (!request)
                return error_set(err, ERR_INVALID, "request: is missing");
        return take_request(arena, review, ret, err);
}

/* ---- what is answered ---- */

static int put_text(json_t *to, const char *key, const char *text)
{
        return text_empty(text) ? 0 : json_object_set_new(to, key, json_string(text));
}

static json_t *status_of(const struct admission_answer *a)
{
        json_t *status = json_pack("{s:i}", "code", a->code);

        if (put_text(status, "reason", a->reason) < 0 || put_text(status, "message", a->message) < 0) {
                json_decref(status);
                return NULL;
        }
        return status;
}

static int put_patch(json_t *response, const json_t *patch)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 2 * LIMIT_OBJECT_BYTES);
        if (json_array_size(patch) == 0)
                return 0;
        if (doc_write(patch, &b) < 0 ||
            json_object_set_new(response, "patch", doc_base64((struct slice){ b.data, b.len })) < 0)
                return -1;
        return json_object_set_new(response, "patchType", json_string("JSONPatch"));
}

static int put_warning(json_t *response, const char *warning)
{
        return text_empty(warning) ? 0 : json_object_set_new(response, "warnings", json_pack("[s]", warning));
}

static int encode(const char *version, const char *uid, const struct admission_answer *a, json_t **ret,
                  struct error *err)
{
        AUTO_JSON json_t *response =
                json_pack("{s:s,s:b,s:o}", "uid", uid, "allowed", a->allowed, "status", status_of(a));
        json_t *review;

        if (!response || put_patch(response, a->patch) < 0 || put_warning(response, a->warning) < 0)
                return error_no_memory(err);
        review = json_pack("{s:s,s:s,s:O}", "apiVersion", version, "kind", REVIEW_KIND, "response", response);
        if (!review)
                return error_no_memory(err);
        *ret = review;
        return 0;
}

/* ---- between the two ---- */

static const struct webhook *webhook_at(const char *path)
{
        for (size_t i = 0; i < n_webhooks; i++)
                if (text_equal(webhooks[i].path, path))
                        return &webhooks[i];
        return NULL;
}

bool webhook_serves(const char *path)
{
        return webhook_at(path) != NULL;
}

static int answer_review(struct admission_call *c, const json_t *review, const char **ret_version)
{
        struct error why = { 0 };
        int code = take_review(c->arena, review, &c->request, ret_version, &why);

        if (code < 0)
                return admission_fail(c, 400, &why);
        return c->webhook->answer(c);
}

static int refuse_body(struct admission_call *c, struct error *why)
{
        error_wrap(why, "the body is no " REVIEW_KIND);
        return admission_fail(c, 400, why);
}

int webhook_answer(const struct admission_world *w, const char *path, struct slice body, struct arena *arena,
                   json_t **ret, struct error *err)
{
        struct admission_call call = {
                .world = w, .webhook = webhook_at(path), .arena = arena, .request.uid = "", .err = err
        };
        AUTO_JSON json_t *review = NULL;
        const char *version = REVIEW_GROUP "v1";
        struct error why = { 0 };
        int code;

        if (!call.webhook)
                return error_set(err, ERR_NOT_FOUND, "no webhook answers at \"%.200s\"", path);
        if (doc_parse(body, &review, &why) < 0)
                code = refuse_body(&call, &why);
        else
                code = answer_review(&call, review, &version);
        if (code == 0)
                code = encode(version, call.request.uid, &call.answer, ret, err);
        json_decref(call.answer.patch);
        return code;
}
