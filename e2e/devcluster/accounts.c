/* Service accounts: tokens on request, and Secrets of type kubernetes.io/service-account-token. */
#include "common/base/timefmt.h"
#include "common/json/apply.h"
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/go_shape.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/tokens.h"

#define TOKEN_SECRET_TYPE "kubernetes.io/service-account-token"
#define ACCOUNT_NAME "kubernetes.io/service-account.name"
#define ACCOUNT_UID "kubernetes.io/service-account.uid"
#define TOKEN_SECONDS_MAX (1ll << 32)

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* ---- TokenRequest ---- */

#define TOKEN_GROUP "authentication.k8s.io"

static int fail_lifetime(struct request *rq, int64_t seconds, const char *why)
{
        struct status_cause *cause = ARENA_NEW(rq->arena, struct status_cause);
        const char *text = arena_printf(rq->arena, "Invalid value: %lld: %s", (long long)seconds, why);
        if (!cause || !text)
                return request_fail_memory(rq);
        *cause = (struct status_cause){ "FieldValueInvalid", text, "spec.expirationSeconds" };
        (void)request_fail(rq, 422, "Invalid", "TokenRequest." TOKEN_GROUP " \"\" is invalid: %s: %s",
                           cause->field, text);
        rq->status.group = TOKEN_GROUP;
        rq->status.kind = "TokenRequest";
        rq->status.causes = cause;
        rq->status.n_causes = 1;
        return ERR_INVALID;
}

static int read_lifetime(struct request *rq, const json_t *doc, struct token_request *t)
{
        t->seconds = doc_get_int(doc, "spec.expirationSeconds", 0);
        if (t->seconds < TOKEN_SECONDS_MIN)
                return fail_lifetime(rq, t->seconds, "may not specify a duration less than 10 minutes");
        if (t->seconds > TOKEN_SECONDS_MAX)
                return fail_lifetime(rq, t->seconds, "may not specify a duration larger than 2^32 seconds");
        return 0;
}

static int fail_no_such_object(struct request *rq, const char *plural, const char *name)
{
        (void)request_fail(rq, 404, "NotFound", "%s \"%s\" not found", plural, name);
        rq->status.kind = plural;
        rq->status.name = arena_strdup(rq->arena, name);
        return ERR_NOT_FOUND;
}

/* "apps/v1, Kind=Deployment", "/v1, Kind=ConfigMap". */
static int fail_bound_kind(struct request *rq, const json_t *ref)
{
        const char *version = text_at(ref, "apiVersion");
        return request_fail_bad(rq, "cannot bind token to object of type %s%s, Kind=%s",
                                strchr(version, '/') ? "" : "/", version, text_at(ref, "kind"));
}

static int read_bound(struct request *rq, const json_t *doc, struct token_request *t)
{
        const json_t *ref = doc_get_object(doc, "spec.boundObjectRef");
        if (!ref)
                return 0;
        const char *kind = text_at(ref, "kind"), *name = text_at(ref, "name"), *uid = text_at(ref, "uid");
        bool pod = strcmp(kind, "Pod") == 0, secret = strcmp(kind, "Secret") == 0;
        if (!pod && !secret)
                return fail_bound_kind(rq, ref);
        const struct blob *b =
                api_store_get(api_store_table(rq->cluster, pod ? "/pods" : "/secrets", false), rq->ns, name);
        if (!b)
                return fail_no_such_object(rq, pod ? "pods" : "secrets", name);
        if (*uid && strcmp(uid, blob_uid(b)) != 0)
                return request_fail(
                        rq, 409, "Conflict",
                        "Operation cannot be fulfilled on %s \"%s\": the UID in the bound object reference "
                        "(%s) does not match the UID in record. The object might have been deleted and then "
                        "recreated",
                        pod ? "pods" : "secrets", name, uid);
        t->bound_kind = kind;
        t->bound_name = name;
        t->bound_uid = arena_strdup(rq->arena, blob_uid(b));
        return t->bound_uid ? 0 : request_fail_memory(rq);
}

/* Into the shape Go writes, with the sender as the owner of what was asked for. */
static int shape_request(struct request *rq, json_t *doc)
{
        const struct schema *schema;
        struct error err = { 0 };
        struct apply_options o = { .manager = rq->field_manager,
                                   .api_version = TOKEN_GROUP "/v1",
                                   .subresource = rq->subresource,
                                   .wall_ms = rq->now_ms };
        if (builtin_types_named(rq->devcluster->types, "a:authentication.v1.TokenRequest", &schema, &err) < 0)
                return request_fail_error(rq, &err);
        AUTO_JSON json_t *spec = json_incref(doc_get_object(doc, "spec"));
        json_object_clear(doc);
        if (doc_set_string(doc, "kind", "TokenRequest") < 0 ||
            doc_set_string(doc, "apiVersion", TOKEN_GROUP "/v1") < 0 ||
            (spec && json_object_set(doc, "spec", spec) < 0) ||
            (!doc_get(spec, "expirationSeconds") &&
             doc_set_int(doc, "spec.expirationSeconds", TOKEN_SECONDS_DEFAULT) < 0) ||
            go_shape(schema, doc) < 0)
                return request_fail_memory(rq);
        json_object_del(doc, "status");
        AUTO_JSON json_t *blank = go_zero(schema);
        if (!blank)
                return request_fail_memory(rq);
        o.blank = blank;
        return apply_track_update(NULL, doc, schema, &o, &err) < 0 ? request_fail_error(rq, &err) : 0;
}

static int set_answer(struct request *rq, const struct token_request *t, const char *token, json_t *doc)
{
        char until[RFC3339_SIZE], now[RFC3339_SIZE], uid[37];
        meta_new_uid(rq->devcluster->loop, uid);
        time_format_rfc3339(rq->now_ms + t->seconds * 1000, until);
        time_format_rfc3339(rq->now_ms, now);
        json_t *audiences =
                json_array_size(t->audiences) ? doc_copy(t->audiences) : json_pack("[s]", TOKEN_ISSUER);
        int r = doc_set(doc, "spec.audiences", audiences);
        r |= doc_set_string(doc, "metadata.name", t->account);
        r |= doc_set_string(doc, "metadata.namespace", t->ns);
        r |= doc_set_string(doc, "metadata.uid", uid);
        r |= doc_set_string(doc, "metadata.creationTimestamp", now);
        r |= doc_set_int(doc, "spec.expirationSeconds", t->seconds);
        r |= doc_set(doc, "status", json_pack("{s:s,s:s}", "expirationTimestamp", until, "token", token));
        return r < 0 ? request_fail_memory(rq) : 0;
}

static int create_token(struct request *rq, json_t *live, json_t *doc, json_t **ret)
{
        struct token_request t = { .ns = rq->ns, .account = rq->name, .account_uid = meta_uid(live) };
        const char *token;
        struct error err = { 0 };
        if (strcmp(rq->subresource, "token") != 0)
                return request_fail_no_path(rq);
        TRY(shape_request(rq, doc));
        t.audiences = doc_get_array(doc, "spec.audiences");
        TRY(read_lifetime(rq, doc, &t));
        TRY(read_bound(rq, doc, &t));
        if (token_sign(rq->devcluster, &t, rq->arena, &token, &err) < 0)
                return request_fail_error(rq, &err);
        TRY(set_answer(rq, &t, token, doc));
        *ret = json_incref(doc);
        return 0;
}

/* ---- secrets ---- */

static int put_base64(json_t *data, const char *key, const char *text)
{
        return json_object_set_new(data, key, doc_base64(slice_of(text))) < 0 ? ERR_NO_MEMORY : 0;
}

static int fill_data(struct request *rq, json_t *doc, const char *account, const char *uid)
{
        struct token_request t = {
                .ns = rq->ns, .account = account, .account_uid = uid, .bound_name = meta_name(doc)
        };
        const char *token;
        struct error err = { 0 };
        if (token_sign_legacy(rq->devcluster, &t, rq->arena, &token, &err) < 0)
                return request_fail_error(rq, &err);
        if (!doc_get_object(doc, "data") && doc_set(doc, "data", json_object()) < 0)
                return request_fail_memory(rq);
        json_t *data = doc_get_object(doc, "data");
        if (put_base64(data, "token", token) < 0 || put_base64(data, "namespace", rq->ns) < 0 ||
            put_base64(data, "ca.crt", pki_ca_text(rq->devcluster)) < 0)
                return request_fail_memory(rq);
        return 0;
}

/* Real clusters fill the data a moment later; here it is there at once, if the account is. */
int account_fill_secret(struct request *rq, json_t *doc)
{
        if (!text_equal(doc_get_string(doc, "type"), TOKEN_SECRET_TYPE))
                return 0;
        json_t *annotations = doc_get_object(doc, "metadata.annotations");
        const char *account = json_string_value(json_object_get(annotations, ACCOUNT_NAME));
        if (!account || json_object_get(doc_get_object(doc, "data"), "token"))
                return 0;
        const struct blob *b =
                api_store_get(api_store_table(rq->cluster, "/serviceaccounts", false), rq->ns, account);
        if (!b)
                return 0;
        if (json_object_set_new(annotations, ACCOUNT_UID, json_string(blob_uid(b))) < 0)
                return request_fail_memory(rq);
        return fill_data(rq, doc, account, blob_uid(b));
}

int account_validate_secret(const json_t *doc, struct schema_problems *p)
{
        static const char *const keys[] = { "metadata", "annotations", ACCOUNT_NAME };
        if (!text_equal(doc_get_string(doc, "type"), TOKEN_SECRET_TYPE) ||
            doc_get_keys(doc, keys, ARRAY_LEN(keys)))
                return 0;
        return problem_add(p, "FieldValueRequired", "metadata.annotations[" ACCOUNT_NAME "]",
                           "Required value");
}

/* ---- a service account came or went ---- */

static void for_token_secrets(struct devcluster *d, struct cluster *c, const json_t *account, bool gone)
{
        struct table *t = api_store_table(c, "/secrets", false);
        const char *ns = meta_ns(account);
        size_t i = t ? api_store_lower_bound(t, ns, "") : 0;
        while (t && i < t->items.n && strcmp(blob_ns(t->items.at[i]), ns) == 0) {
                static const char *const keys[] = { "metadata", "annotations", ACCOUNT_NAME };
                AUTO_JSON json_t *secret = NULL;
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct request rq;
                size_t before = t->items.n;
                const struct blob *b = t->items.at[i];
                if (!strstr(b->data, TOKEN_SECRET_TYPE) || blob_parse(b, &secret, NULL) < 0 ||
                    !text_equal(json_string_value(doc_get_keys(secret, keys, 3)), meta_name(account)) ||
                    request_internal(&rq, d, c, "/secrets", arena_strdup(&arena, ns),
                                     arena_strdup(&arena, blob_name(b)), &arena) < 0) {
                        i++;
                        continue;
                }
                if (gone)
                        (void)api_store_remove(t, secret, NULL);
                else if (account_fill_secret(&rq, secret) == 0)
                        (void)api_store_put(t, secret, NULL, NULL);
                vec_free(&rq.warnings);
                i += t->items.n == before;
        }
}

static void after_account(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc)
{
        if (!live || !doc)
                for_token_secrets(d, c, doc ? doc : live, !doc);
}

static int prepare_account(struct request *rq, const json_t *live, json_t *doc)
{
        return builtin_set_defaults("", "ServiceAccount", doc) < 0 ? request_fail_memory(rq) : 0;
}

const struct resource_hooks service_account_hooks = { .prepare = prepare_account,
                                                      .create_sub = create_token,
                                                      .after_write = after_account };
