/* One question to one webhook, and what its answer says; failures in kube-apiserver's words. */
#include "common/base/limits.h"
#include "e2e/devcluster/go_json.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/policy_review.h"
#include "e2e/devcluster/webhook.h"

struct call {
        struct policy_review *v;
        const struct webhook *webhook;
        struct webhook_answer *answer;
        char uid[37];
        const char *cluster; /* name: the cluster may go while we wait */
};

/* There is no answer, and this is why. */
static int fail(struct call *c, const char *stage, const char *why)
{
        struct arena *arena = c->v->rq->arena;
        c->answer->refusal = why ? arena_printf(arena, "%s: %s", stage, why) : NULL;
        return c->answer->refusal ? 0 : request_fail_memory(c->v->rq);
}

static int fail_call(struct call *c, const char *why)
{
        return fail(c, "failed to call webhook", why);
}

static int fail_answer(struct call *c, const char *why)
{
        return fail(c, "received invalid webhook response", why);
}

/* ---- the question ---- */

/* What the server gives a new object only behind the mutating webhooks. */
static json_t *before_creation(const struct request *rq, const json_t *doc)
{
        static const char *const later[] = { "uid", "creationTimestamp", "generation" };
        json_t *copy = doc_copy(doc), *meta = json_object_get(copy, "metadata");
        for (size_t i = 0; i < ARRAY_LEN(later); i++)
                json_object_del(meta, later[i]);
        if (rq->name_generated)
                json_object_del(meta, "name");
        return copy;
}

static json_t *object_or_null(const json_t *doc)
{
        return doc ? json_incref((json_t *)doc) : json_null();
}

static int add_objects(struct call *c, const char *version, json_t *request)
{
        struct policy_review *v = c->v;
        const json_t *doc, *live;
        bool unborn = c->webhook->mutates && !v->as && strcmp(v->target.operation, "CREATE") == 0;
        TRY(review_in_version(v, version, v->doc, &doc));
        TRY(review_in_version(v, version, v->live, &live));
        if (json_object_set_new(request, "uid", json_string(c->uid)) < 0 ||
            json_object_set_new(request, "object",
                                unborn ? before_creation(v->rq, doc) : object_or_null(doc)) < 0 ||
            json_object_set_new(request, "oldObject", object_or_null(live)) < 0)
                return request_fail_memory(v->rq);
        return 0;
}

static const char *review_version(const struct webhook *w)
{
        return w->old_review ? "admission.k8s.io/v1beta1" : "admission.k8s.io/v1";
}

static int write_question(struct call *c, const char *version, struct buf *out)
{
        AUTO_JSON json_t *request = review_request(c->v, version), *review = NULL;
        if (!request)
                return request_fail_memory(c->v->rq);
        TRY(add_objects(c, version, request));
        review = json_pack("{s:s,s:s,s:O}", "kind", "AdmissionReview", "apiVersion",
                           review_version(c->webhook), "request", request);
        return review && doc_write(review, out) == 0 ? 0 : request_fail_memory(c->v->rq);
}

/* ---- the call ---- */

/* *ret_why is set when nobody knows where the service is. */
static int find_server(struct call *c, struct http_endpoint *ret, const char **ret_why)
{
        struct request *rq = c->v->rq;
        const struct webhook *w = c->webhook;
        const char *address = w->service ? map_get(&rq->devcluster->service_addresses, w->service) : NULL;
        const char *name = w->service ? strchr(w->service, '/') + 1 : NULL;
        struct slice rest = slice_of(w->service), ns;
        *ret = w->server;
        if (!w->service)
                return 0;
        if (address) {
                ret->base_url = arena_printf(rq->arena, "https://%s", address);
                return ret->base_url ? 0 : request_fail_memory(rq);
        }
        (void)slice_cut(&rest, '/', &ns);
        const char *in = arena_strndup(rq->arena, ns.data, ns.len);
        if (!in)
                return request_fail_memory(rq);
        bool there = api_store_get(api_store_table(rq->cluster, "/services", false), in, name);
        *ret_why = arena_printf(
                rq->arena, there ? "no endpoints available for service \"%s\"" : "service \"%s\" not found",
                name);
        return *ret_why ? 0 : request_fail_memory(rq);
}

static const char *address_of(const struct http_endpoint *e)
{
        return strstr(e->base_url, "://") + 3;
}

/* Go's words for the commonest ends of a connection; the others in our own. */
static const char *transport_words(struct arena *arena, const struct http_endpoint *e,
                                   const struct error *err)
{
        static const char tls[] = "tls: failed to verify certificate: x509: ";
        if (err->code == ERR_TIMEOUT)
                return "context deadline exceeded";
        if (strcmp(err->reason, HTTP_REASON_REFUSED) == 0)
                return arena_printf(arena, "dial tcp %s: connect: connection refused", address_of(e));
        if (strcmp(err->reason, HTTP_REASON_CERT_AUTHORITY) == 0)
                return arena_printf(arena, "%scertificate signed by unknown authority", tls);
        return arena_strdup(arena, err->text);
}

static int fail_transport(struct call *c, const struct http_endpoint *e, const struct error *err)
{
        struct arena *arena = c->v->rq->arena;
        const char *why = transport_words(arena, e, err);
        if (err->code == ERR_NO_MEMORY || !why)
                return request_fail_memory(c->v->rq);
        return fail_call(c, arena_printf(arena, "Post \"%s\": %s", c->webhook->url, why));
}

static int roundtrip(struct call *c, struct slice body, struct http_response *ret)
{
        struct request *rq = c->v->rq;
        struct devcluster *d = rq->devcluster;
        const struct webhook *w = c->webhook;
        struct http_header headers[] = { { "Content-Type", "application/json" },
                                         { "Accept", "application/json, */*" } };
        struct http_endpoint server;
        struct error err = { 0 };
        const char *why = NULL;
        TRY(find_server(c, &server, &why));
        if (!why && !d->options.webhooks)
                why = "this server has no network";
        if (why)
                return fail_call(c, arena_printf(rq->arena, "Post \"%s\": %s", w->url, why));
        const struct http_request q = { .endpoint = &server,
                                        .method = "POST",
                                        .path = w->path,
                                        .headers = { headers, ARRAY_LEN(headers) },
                                        .body = body,
                                        .max_body = LIMIT_REQUEST_BODY_BYTES,
                                        .deadline_ms = loop_now_ms(d->loop) + w->timeout_seconds * 1000 };
        rq->waited = true;
        int r = http_roundtrip(d->options.webhooks, &q, rq->arena, ret, &err);
        if (r == ERR_CANCELLED)
                return request_fail(rq, 503, "ServiceUnavailable", "the server is shutting down");
        return r < 0 ? fail_transport(c, &server, &err) : 0;
}

/* The cluster or its resource may have gone, or be another one now. */
static int look_again(struct call *c)
{
        struct request *rq = c->v->rq;
        const struct resource_version *unused;
        if (api_store_cluster(rq->devcluster->store, c->cluster) != rq->cluster) {
                (void)request_fail(rq, 404, "NotFound", "no logical cluster \"%s\"", c->cluster);
                return ERR_GONE; /* not of one object, which a deleted collection passes over */
        }
        if (registry_find(rq->cluster, rq->group, rq->version, rq->plural, &unused) == rq->resource)
                return 0;
        rq->again = true;
        return request_fail_conflict(rq, rq->name ? rq->name : "", MOVED_MESSAGE);
}

/* ---- the answer ---- */

static const char *status_words(struct arena *arena, const struct http_response *answer)
{
        static const struct {
                int status;
                const char *words;
        } known[] = {
                { 400, "the server rejected our request for an unknown reason" },
                { 401, "the server has asked for the client to provide credentials" },
                { 403, "forbidden" },
                { 404, "the server could not find the requested resource" },
                { 405, "the server does not allow this method on the requested resource" },
                { 406, "the server was unable to respond with a content type that the client supports" },
                { 409, "the server reported a conflict" },
                { 415, "the server was unable to understand the content type" },
                { 429, "the server has received too many requests and has asked us to try again later" },
                { 503, "the server is currently unable to handle the request" },
                { 504, "the server was unable to return a response in the time allotted, but may still be "
                       "processing the request" },
        };
        struct slice body = slice_trim(answer->body);
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
                if (known[i].status == answer->status)
                        return known[i].words;
        if (answer->status < 500)
                return arena_printf(arena,
                                    "the server responded with the status code %d but did not return more "
                                    "information",
                                    answer->status);
        return arena_printf(
                arena, "an error on the server (\"%.*s\") has prevented the request from succeeding",
                body.len ? (int)MIN(body.len, (size_t)2048) : 7, body.len ? body.data : "unknown");
}

/* Why the body is no AdmissionReview at all; NULL if it is one. */
static const char *kind_problem(struct arena *arena, struct slice body, const json_t *doc)
{
        const char *version = doc_get_string(doc, "apiVersion"), *kind = doc_get_string(doc, "kind");
        if (text_empty(kind))
                return arena_printf(arena, "Object 'Kind' is missing in '%.*s'", (int)MIN(body.len, 2048u),
                                    body.data);
        if (text_empty(version))
                return arena_printf(arena, "Object 'apiVersion' is missing in '%.*s'",
                                    (int)MIN(body.len, 2048u), body.data);
        if (strcmp(kind, "AdmissionReview") == 0 && text_starts_with(version, "admission.k8s.io/v1"))
                return NULL;
        return arena_printf(arena,
                            "no kind \"%s\" is registered for version \"%s\" in scheme "
                            "\"pkg/runtime/scheme.go:111\"",
                            kind, version);
}

static int read_review(struct call *c, struct slice body, json_t **ret)
{
        struct arena *arena = c->v->rq->arena;
        struct error err = { 0 };
        int r = doc_parse(body, ret, &err);
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(c->v->rq);
        if (r < 0) {
                const char *why = go_json_problem(body, arena);
                return fail_call(c, arena_printf(arena, "couldn't get version/kind; json parse error: %s",
                                                 why ? why : err.text));
        }
        const char *why = kind_problem(arena, body, *ret);
        return why ? fail_call(c, why) : 0;
}

static int check_uid(struct call *c, const json_t *response)
{
        const char *uid = doc_get_string(response, "uid");
        if (text_equal(uid, c->uid))
                return 0;
        return fail_answer(c, arena_printf(c->v->rq->arena, "expected response.uid=\"%s\", got \"%s\"",
                                           c->uid, uid ? uid : ""));
}

static int check_version(struct call *c, const json_t *review)
{
        const char *version = doc_get_string(review, "apiVersion"), *wanted = review_version(c->webhook);
        if (text_equal(version, wanted))
                return 0;
        return fail_answer(c, arena_printf(c->v->rq->arena,
                                           "expected webhook response of %s, Kind=AdmissionReview, got %s, "
                                           "Kind=AdmissionReview",
                                           wanted, version));
}

static int check_patch(struct call *c, const char *patch, const char *type)
{
        struct arena *arena = c->v->rq->arena;
        if (!c->webhook->mutates && !text_empty(patch))
                return fail_answer(c, "validating webhook may not return response.patch");
        if (!c->webhook->mutates && type)
                return fail_answer(c, "validating webhook may not return response.patchType");
        if (!text_empty(patch) && !type && !c->webhook->old_review)
                return fail_answer(c, "webhook returned response.patch but not response.patchType");
        if (text_empty(patch) && type && !c->webhook->old_review)
                return fail_answer(c, "webhook returned response.patchType but not response.patch");
        if (type && strcmp(type, "JSONPatch") != 0)
                return fail_answer(
                        c,
                        arena_printf(arena, "webhook returned invalid response.patchType of \"%s\"", type));
        return 0;
}

static int read_patch(struct call *c, const char *text)
{
        struct arena *arena = c->v->rq->arena;
        size_t n = strlen(text);
        struct error err = { 0 };
        char *plain = arena_zalloc(arena, n + 1);
        if (!plain)
                return request_fail_memory(c->v->rq);
        if (text_base64_decode(slice_of(text), plain, n, &n, false) < 0)
                return fail_call(c, "illegal base64 data in response.patch");
        int r = doc_parse((struct slice){ plain, n }, &c->answer->patch, &err);
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(c->v->rq);
        if (r == 0 && json_is_array(c->answer->patch))
                return 0;
        return fail_answer(c, r < 0 ? err.text : "the patch is no list of operations");
}

static void take_warnings(struct call *c, const json_t *response)
{
        json_t *w;
        size_t i;
        json_array_foreach(doc_get_array(response, "warnings"), i, w)
                if (json_is_string(w))
                        request_warn(c->v->rq, "%s", json_string_value(w));
}

static int read_response(struct call *c, const json_t *review)
{
        const json_t *response = doc_get_object(review, "response"),
                     *allowed = json_object_get(response, "allowed");
        const char *patch = doc_get_string(response, "patch"), *type = doc_get_string(response, "patchType");
        struct webhook_answer *a = c->answer;
        if (!response)
                return fail_answer(c, "webhook response was absent");
        if (allowed && !json_is_boolean(allowed))
                return fail_call(c, arena_printf(c->v->rq->arena,
                                                 "json: cannot unmarshal %s into Go struct field "
                                                 "AdmissionResponse.response.allowed of type bool",
                                                 go_json_word(allowed)));
        if (!c->webhook->old_review)
                TRY(check_uid(c, response));
        if (!a->refusal)
                TRY(check_version(c, review));
        if (!a->refusal)
                TRY(check_patch(c, patch, type));
        if (!a->refusal && !text_empty(patch))
                TRY(read_patch(c, patch));
        if (a->refusal)
                return 0;
        a->allowed = json_is_true(allowed);
        a->status = doc_get_object(response, "status");
        take_warnings(c, response);
        return 0;
}

static int read_answer(struct call *c, const struct http_response *answer)
{
        if (answer->status < 200 || answer->status > 299)
                return fail_call(c, status_words(c->v->rq->arena, answer));
        TRY(read_review(c, answer->body, &c->answer->review));
        return c->answer->refusal ? 0 : read_response(c, c->answer->review);
}

void webhook_answer_free(struct webhook_answer *a)
{
        json_decref(a->patch);
        json_decref(a->review);
        *a = (struct webhook_answer){ 0 };
}

int webhook_call(struct policy_review *v, const struct webhook *w, const char *version,
                 struct webhook_answer *ret)
{
        struct call c = { v, w, ret, "", arena_strdup(v->rq->arena, v->rq->cluster->name) };
        struct http_response answer = { 0 };
        AUTO_BUF struct buf question;
        *ret = (struct webhook_answer){ 0 };
        buf_init(&question, LIMIT_RESPONSE_BYTES);
        if (!c.cluster)
                return request_fail_memory(v->rq);
        meta_new_uid(v->rq->devcluster->loop, c.uid);
        TRY(write_question(&c, version, &question));
        TRY(roundtrip(&c, (struct slice){ question.data, question.len }, &answer));
        if (v->rq->waited)
                TRY(look_again(&c));
        return ret->refusal ? 0 : read_answer(&c, &answer);
}
