/* The front door: from an HTTP exchange to a request, to the verb that answers it. */
#include "common/base/limits.h"
#include "e2e/devcluster/admission.h"
#include "e2e/devcluster/again.h"
#include "e2e/devcluster/authn.h"
#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/control.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/discovery.h"
#include "e2e/devcluster/go_json.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/options.h"
#include "e2e/devcluster/rest_read.h"
#include "e2e/devcluster/rest_write.h"
#include "e2e/devcluster/routes.h"
#include "e2e/devcluster/table.h"
#include "e2e/devcluster/webhook.h"

/* ---- answering ---- */

#define HEADERS_MAX 40

static int send_reply(struct request *rq, int code, const char *type, struct slice body)
{
        struct http_header at[HEADERS_MAX];
        size_t n = 0;
        for (size_t i = 0; i < rq->warnings.n && n < HEADERS_MAX - 2; i++) {
                AUTO_BUF struct buf quoted;
                buf_init(&quoted, 16u << 10);
                (void)buf_append_json_string(&quoted, rq->warnings.at[i], strlen(rq->warnings.at[i]));
                const char *value = arena_printf(rq->arena, "299 - %s", quoted.data);
                if (value)
                        at[n++] = (struct http_header){ "Warning", value };
        }
        at[n++] = (struct http_header){ "Cache-Control", "no-cache, private" };
        if (rq->status.retry_after_seconds)
                at[n++] = (struct http_header){ "Retry-After", arena_printf(rq->arena, "%d",
                                                                            rq->status.retry_after_seconds) };
        struct http_headers extra = { at, n };
        (void)http_reply(rq->x, code, type, body, &extra);
        return 0;
}

static int send_yaml(struct request *rq, int code, struct slice body)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        if (doc_parse(body, &doc, NULL) < 0 || yaml_write(doc, &out) < 0)
                return request_fail_memory(rq);
        return send_reply(rq, code, "application/yaml", (struct slice){ out.data, out.len });
}

int reply_text(struct request *rq, int code, struct slice body)
{
        struct error err = { 0 };
        if (api_store_wait(rq->devcluster->store, &err) < 0)
                return request_fail_error(rq, &err);
        return rq->yaml ? send_yaml(rq, code, body) : send_reply(rq, code, "application/json", body);
}

int reply_doc(struct request *rq, int code, const json_t *doc)
{
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        if (render_doc(rq, doc, &out) < 0)
                return request_fail_memory(rq);
        return reply_text(rq, code, (struct slice){ out.data, out.len });
}

int reply_plain(struct request *rq, int code, struct slice text)
{
        return send_reply(rq, code, "text/plain; charset=utf-8", text);
}

static void reply_failure(struct request *rq)
{
        struct error err = { 0 };

        /* A refusal rests on what was seen, too: what is not committed may never have been. */
        if (api_store_wait(rq->devcluster->store, &err) < 0)
                (void)request_fail_error(rq, &err);
        if (rq->status.plain) { /* what no handler is registered for */
                (void)reply_plain(rq, rq->status.code, slice_of(rq->status.message));
                return;
        }
        AUTO_JSON json_t *doc = status_to_doc(&rq->status);
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        if (!doc || doc_write(doc, &out) < 0) {
                (void)http_reply(rq->x, 500, "text/plain", SLICE("out of memory\n"), NULL);
                return;
        }
        int code = rq->status.code ? rq->status.code : 500;
        if (rq->yaml && send_yaml(rq, code, (struct slice){ out.data, out.len }) == 0)
                return;
        (void)buf_append_char(&out, '\n');
        (void)send_reply(rq, code, "application/json", (struct slice){ out.data, out.len });
}

/* ---- options ---- */

static bool parameter_is(struct slice *rest, const char *name, const char *value)
{
        struct slice copy = *rest, one, key;
        while (copy.len) {
                (void)slice_cut(&copy, ';', &one);
                (void)slice_cut(&one, '=', &key);
                if (slice_is(slice_trim(key), name) && slice_is(slice_trim(one), value))
                        return true;
        }
        return false;
}

/* One media range of Accept. */
static bool accept_one(struct request *rq, struct slice range)
{
        struct slice type;
        (void)slice_cut(&range, ';', &type);
        type = slice_trim(type);
        rq->form = FORM_OBJECT;
        rq->form_version = "v1";
        bool any = slice_is(type, "*/*") || slice_is(type, "application/*");
        if (!any && !slice_is(type, "application/json") && !slice_is(type, "application/yaml"))
                return false;
        rq->yaml = slice_is(type, "application/yaml");
        if (!range.len)
                return true;
        bool meta = parameter_is(&range, "g", "meta.k8s.io");
        const char *version = parameter_is(&range, "v", "v1beta1") ? "v1beta1" : "v1";
        bool table = parameter_is(&range, "as", "Table");
        bool partial = parameter_is(&range, "as", "PartialObjectMetadata") ||
                       parameter_is(&range, "as", "PartialObjectMetadataList");
        struct slice copy = range;
        bool known = (table || partial) && meta && !parameter_is(&range, "v", "v2");
        if (!known && copy.len && memmem(copy.data, copy.len, "as=", 3))
                return false;
        rq->form = !meta ? FORM_OBJECT : table ? FORM_TABLE : partial ? FORM_PARTIAL : FORM_OBJECT;
        rq->form_version = version;
        return true;
}

/* What a Table's rows are to hold of their objects. */
static int check_include(struct request *rq)
{
        static const char *const known[] = { "", "None", "Metadata", "Object" };
        const char *include = rq->form == FORM_TABLE ? http_query_get(rq->x, "includeObject") : NULL;
        if (!include || text_in(include, known, ARRAY_LEN(known)))
                return 0;
        return request_fail_bad(rq,
                                "Unable to convert to Table as requested: includeObject: Invalid value: "
                                "\"%s\": must be 'Metadata', 'Object', 'None', or empty",
                                include);
}

static int negotiate(struct request *rq)
{
        struct slice rest = slice_of(http_header_get(&rq->x->headers, "Accept")), range;
        if (!rest.len)
                return 0;
        while (rest.len) {
                (void)slice_cut(&rest, ',', &range);
                if (accept_one(rq, range))
                        return check_include(rq);
        }
        const char *accept = http_header_get(&rq->x->headers, "Accept");
        if (strstr(accept, "as=")) { /* a form there is not; the type itself would do */
                (void)request_fail(rq, 406, "NotAcceptable",
                                   "only the following media types are accepted: application/json, "
                                   "application/yaml, application/vnd.kubernetes.protobuf");
                return ERR_INVALID;
        }
        (void)request_fail(rq, 406, "NotAcceptable",
                           "406: Not Acceptable\n\nAvailable representations: application/json, "
                           "application/yaml, application/vnd.kubernetes.protobuf, "
                           "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch");
        rq->status.details = true;
        return ERR_INVALID;
}

/* ---- bodies ---- */

#define QUOTED_BODY_BYTES 30

/* The begin of the body as kube-apiserver quotes it: as it is if it looks like JSON, in hexadecimal
 * otherwise. */
static const char *quoted_body(struct request *rq)
{
        struct slice body = rq->x->body;
        size_t n = MIN(body.len, (size_t)QUOTED_BODY_BYTES);
        char hex[2 * QUOTED_BODY_BYTES + 1] = "";
        const char *more = body.len > n ? " ..." : "";
        if (n == 0)
                return "<empty>";
        if (body.data[0] != '{')
                text_hex_encode(body.data, n, hex);
        const char *text = *hex ? arena_printf(rq->arena, "%s%s", hex, more)
                                : arena_printf(rq->arena, "%.*s%s", (int)n, body.data, more);
        return text ? text : "";
}

/* A body that cannot be read, in Go's words where they are known. */
static int fail_unreadable(struct request *rq, bool yaml, const char *why)
{
        const char *problem = yaml ? NULL : go_json_problem(rq->x->body, rq->arena);
        const char *said = problem ? problem : why;
        const char *parse = yaml ? "" : "couldn't get version/kind; json parse error: ";
        if (!rq->verb || text_starts_with(rq->verb, "delete"))
                return request_fail_bad(rq, "%s%s", parse, said);
        return request_fail_bad(rq, "the object provided is unrecognized (must be of type %s): %s%s (%s)",
                                rq->resource ? rq->resource->kind : "", parse, said, quoted_body(rq));
}

/* A body is first asked for its kind, and must be able to answer. */
static int check_envelope(struct request *rq, const json_t *doc)
{
        static const char *const keys[] = { "apiVersion", "kind" };
        if (!json_is_object(doc))
                return fail_unreadable(
                        rq, false,
                        arena_printf(rq->arena,
                                     "json: cannot unmarshal %s into Go value of type struct { "
                                     "APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
                                     "Kind string \"json:\\\"kind,omitempty\\\"\" }",
                                     go_json_word(doc)));
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
                const json_t *v = json_object_get(doc, keys[i]);
                if (v && !json_is_string(v) && !json_is_null(v))
                        return fail_unreadable(rq, false,
                                               arena_printf(rq->arena,
                                                            "json: cannot unmarshal %s into Go struct field "
                                                            ".%s of type string",
                                                            go_json_word(v), keys[i]));
        }
        return 0;
}

static int parse_body(struct request *rq, json_t **ret)
{
        struct slice rest = slice_of(http_header_get(&rq->x->headers, "Content-Type")), type;
        (void)slice_cut(&rest, ';', &type);
        type = slice_trim(type);
        struct error err = { 0 };
        int r;
        if (rq->x->body.len > LIMIT_REQUEST_BODY_BYTES)
                return request_fail(rq, 413, "RequestEntityTooLarge", "Request entity too large: limit is %u",
                                    LIMIT_REQUEST_BODY_BYTES);
        if (!type.len || slice_is(type, "application/json") || slice_is(type, "*/*"))
                r = rest_parse_json(rq, rq->x->body, NULL, ret, &err);
        else if (slice_is(type, "application/yaml"))
                r = yaml_parse(rq->x->body, ret, &err);
        else if (slice_is(type, "application/vnd.kubernetes.protobuf"))
                r = protobuf_decode(rq->devcluster->protobuf, rq->x->body, ret, &err);
        else
                r = ERR_UNSUPPORTED;
        if (r == ERR_UNSUPPORTED)
                return request_fail(rq, 415, "UnsupportedMediaType",
                                    "the body of the request was in an unknown format - accepted media types "
                                    "include: application/json, application/yaml, "
                                    "application/vnd.kubernetes.protobuf");
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(rq);
        if (r < 0)
                return fail_unreadable(rq, slice_is(type, "application/yaml"), err.text);
        if (json_is_null(*ret)) { /* nothing in it, as {} */
                json_decref(*ret);
                *ret = json_object();
        }
        return *ret ? check_envelope(rq, *ret) : request_fail_memory(rq);
}

/* ---- verbs that write ---- */

static void unref_blob(struct blob **b)
{
        blob_unref(*b);
}

/* The text of what was just written, whatever is written while the commit is waited for. */
static int reply_stored(struct request *rq, struct blob *b)
{
        CLEANUP(unref_blob) struct blob *held = blob_ref(b);
        return reply_text(rq, 200, (struct slice){ held->data, held->len });
}

static int reply_written(struct request *rq, struct write_result *w)
{
        AUTO_JSON json_t *doc = w->doc;
        struct blob *b = rq->name && rq->form == FORM_OBJECT
                                 ? api_store_get(request_table(rq, false), rq->ns, rq->name)
                                 : NULL;
        if (b && blob_kept_doc(b) == doc)
                return reply_stored(rq, b);
        return reply_doc(rq, w->created ? 201 : 200, doc);
}

static int review_sub(struct request *rq, json_t *doc)
{
        static const struct {
                const char *subresource;
                struct admission_kind kind;
        } kinds[] = { { "token", { "authentication.k8s.io", "v1", "TokenRequest" } },
                      { "eviction", { "policy", "v1", "Eviction" } },
                      { "binding", { "", "v1", "Binding" } } };
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                if (strcmp(rq->subresource, kinds[i].subresource) == 0) {
                        TRY(webhooks_mutate(rq, "CREATE", &kinds[i].kind, NULL, doc, NULL));
                        return admission_review(rq, "CREATE", &kinds[i].kind, NULL, doc);
                }
        return 0;
}

static int create_sub(struct request *rq)
{
        const struct resource_hooks *hooks = rq->resource->hooks;
        AUTO_JSON json_t *live = NULL, *doc = NULL, *answer = NULL;
        if (!hooks || !hooks->create_sub)
                return request_fail_no_path(rq);
        TRY(parse_body(rq, &doc));
        TRY(request_load(rq, &live));
        TRY(review_sub(rq, doc));
        TRY(request_check_unmoved(rq, live));
        TRY(hooks->create_sub(rq, live, doc, &answer));
        return reply_doc(rq, 201, answer);
}

static int create(struct request *rq)
{
        if (rq->subresource)
                return create_sub(rq);
        AUTO_JSON json_t *doc = NULL;
        TRY(parse_body(rq, &doc));
        if (rq->resource->flags & RESOURCE_VIRTUAL) {
                TRY(rest_create_virtual(rq, doc));
                return reply_doc(rq, 201, doc);
        }
        struct write_result w = { 0 };
        TRY(rest_create(rq, doc, &w));
        return reply_written(rq, &w);
}

int scale_update(struct request *rq, json_t *scale, struct write_result *ret);

static int update(struct request *rq)
{
        AUTO_JSON json_t *doc = NULL;
        struct write_result w = { 0 };
        TRY(parse_body(rq, &doc));
        TRY(meta_check_sent_name(rq, doc));
        if (text_equal(rq->subresource, "scale"))
                TRY(scale_update(rq, doc, &w));
        else
                TRY(rest_update(rq, doc, &w));
        return reply_written(rq, &w);
}

static int patch(struct request *rq)
{
        struct write_result w = { 0 };
        if (rq->x->body.len > LIMIT_REQUEST_BODY_BYTES)
                return request_fail(rq, 413, "RequestEntityTooLarge", "Request entity too large: limit is %u",
                                    LIMIT_REQUEST_BODY_BYTES);
        const char *type = http_header_get(&rq->x->headers, "Content-Type");
        struct blob *repeated = again_patch(rq, type ? type : "", rq->x->body);
        if (repeated)
                return reply_stored(rq, repeated);
        TRY(rest_patch(rq, type ? type : "", rq->x->body, &w));
        return reply_written(rq, &w);
}

static int delete (struct request *rq)
{
        AUTO_JSON json_t *options = NULL, *left = NULL, *status = NULL;
        struct delete_options o = { .grace_seconds = -1 };
        if (rq->x->body.len)
                TRY(parse_body(rq, &options));
        TRY(options_read_delete(rq, options, &o));
        const char *uid = NULL;
        TRY(rest_delete(rq, rq->ns, rq->name, &o, &left, &uid));
        if (left) {
                struct error err = { 0 };
                AUTO_JSON json_t *shown = json_incref(left);
                (void)err;
                return reply_doc(rq, 200, shown);
        }
        status = status_success(rq, rq->name, uid);
        return status ? reply_doc(rq, 200, status) : request_fail_memory(rq);
}

/* ---- choosing the verb ---- */

static int subresource_verbs(const struct request *rq)
{
        const struct resource *r = rq->resource;
        const char *s = rq->subresource;
        if (strcmp(s, "status") == 0 && resource_has_status(r, rq->resource_version))
                return VERB_GET | VERB_UPDATE | VERB_PATCH;
        if (strcmp(s, "scale") == 0 && resource_has_scale(r, rq->resource_version))
                return VERB_GET | VERB_UPDATE | VERB_PATCH;
        if (strcmp(s, "finalize") == 0 && (r->flags & RESOURCE_FINALIZE))
                return VERB_UPDATE;
        if (strcmp(s, "approval") == 0 && (r->flags & RESOURCE_APPROVAL))
                return VERB_GET | VERB_UPDATE | VERB_PATCH;
        if (strcmp(s, "log") == 0 && (r->flags & RESOURCE_EVICTION))
                return VERB_GET;
        if (strcmp(s, "ephemeralcontainers") == 0 && (r->flags & RESOURCE_EVICTION))
                return VERB_GET | VERB_UPDATE | VERB_PATCH;
        if (strcmp(s, "proxy") == 0 && (r->flags & RESOURCE_PROXY))
                return VERB_GET | VERB_CREATE | VERB_UPDATE | VERB_PATCH | VERB_DELETE;
        if ((strcmp(s, "eviction") == 0 || strcmp(s, "binding") == 0) && (r->flags & RESOURCE_EVICTION))
                return VERB_CREATE;
        if (strcmp(s, "token") == 0 && (r->flags & RESOURCE_TOKEN))
                return VERB_CREATE;
        return -1;
}

static const struct {
        const char *name;
        enum resource_verb verb;
        int (*run)(struct request *rq);
} verbs[] = {
        { "get", VERB_GET, rest_get },
        { "list", VERB_LIST, rest_list },
        { "watch", VERB_WATCH, rest_watch },
        { "create", VERB_CREATE, create },
        { "update", VERB_UPDATE, update },
        { "patch", VERB_PATCH, patch },
        { "delete", VERB_DELETE, delete },
        { "deletecollection", VERB_DELETECOLLECTION, rest_delete_collection },
};

static const char *verb_of(struct request *rq)
{
        const char *m = rq->x->method, *watch = http_query_get(rq->x, "watch");
        bool watching = (watch && !text_equal(watch, "false") && !text_equal(watch, "0")) || rq->watch_path;
        if (rq->watch_path && rq->name)
                return "watch";
        if (strcmp(m, "GET") == 0 || strcmp(m, "HEAD") == 0)
                return rq->name ? "get" : watching ? "watch" : "list";
        if (strcmp(m, "POST") == 0)
                return "create";
        if (strcmp(m, "PUT") == 0)
                return "update";
        if (strcmp(m, "PATCH") == 0)
                return "patch";
        if (strcmp(m, "DELETE") == 0)
                return rq->name ? "delete" : "deletecollection";
        return "";
}

/* Behind services, pods and nodes there is no network. */
static int refuse_proxy(struct request *rq)
{
        AUTO_JSON json_t *live = NULL;
        TRY(request_load(rq, &live));
        if (strcmp(rq->resource->table_key, "/services") == 0)
                return request_fail(rq, 503, "ServiceUnavailable",
                                    "no endpoints available for service \"%s\"", rq->name);
        return request_fail(rq, 503, "ServiceUnavailable",
                            "error trying to reach service: there is no network behind this server");
}

/* exec, attach, portforward: there are no containers that could answer. */
static bool needs_container(const struct request *rq)
{
        static const char *const all[] = { "exec", "attach", "portforward" };

        return rq->name && (rq->resource->flags & RESOURCE_EVICTION) && rq->subresource &&
               text_in(rq->subresource, all, ARRAY_LEN(all));
}

static int refuse_container(struct request *rq)
{
        AUTO_JSON json_t *live = NULL;

        TRY(request_load(rq, &live));
        return request_fail(rq, 501, "NotImplemented",
                            "devcluster: pods are simulated; there is no container to %s",
                            strcmp(rq->subresource, "exec") == 0     ? "run a command in"
                            : strcmp(rq->subresource, "attach") == 0 ? "attach to"
                                                                     : "forward a port to");
}

static int run_verb(struct request *rq)
{
        int allowed = rq->subresource ? subresource_verbs(rq) : (int)rq->resource->verbs;
        if (strcmp(rq->x->method, "HEAD") == 0)
                return request_fail_method(rq, rq->x->method);
        if (needs_container(rq))
                return refuse_container(rq);
        if (allowed < 0) /* a custom resource lacks the subresource, others the path */
                return rq->resource->custom && rq->name ? request_fail_not_found(rq, rq->name)
                                                        : request_fail_no_path(rq);
        bool needs_name = text_equal(rq->verb, "update") || text_equal(rq->verb, "patch");
        if ((needs_name && !rq->name) || (text_equal(rq->verb, "create") && rq->name && !rq->subresource))
                return request_fail_method(rq, rq->x->method);
        if (resource_is_namespaced(rq->resource) && !rq->ns && (rq->name || strcmp(rq->verb, "create") == 0))
                return rq->name ? request_fail_no_path(rq) : request_fail_method(rq, rq->x->method);
        if (text_equal(rq->subresource, "proxy"))
                return refuse_proxy(rq);
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                if (strcmp(verbs[i].name, rq->verb) == 0)
                        return allowed & verbs[i].verb ? verbs[i].run(rq)
                                                       : request_fail_method(rq, rq->x->method);
        return request_fail_method(rq, rq->x->method);
}

/* Names the version to use instead: the most preferred one that is served and newer. */
static void warn_old_version(struct request *rq)
{
        const struct resource *r = rq->resource;
        for (size_t i = 0; i < r->n_versions; i++) {
                const struct resource_version *v = &r->versions[i];
                if (!v->served || v->deprecated || version_compare(v->version, rq->version) >= 0)
                        continue;
                request_warn(rq, "%s %s is deprecated; use %s %s", request_api_version(rq), r->kind,
                             resource_api_version(r, v, rq->arena), r->kind);
                return;
        }
        request_warn(rq, "%s %s is deprecated", request_api_version(rq), r->kind);
}

static void warn_deprecated(struct request *rq)
{
        const struct resource_version *v = rq->resource_version;
        if (v->deprecation_warning)
                request_warn(rq, "%s", v->deprecation_warning);
        else if (v->deprecated)
                warn_old_version(rq);
}

/* Schemas of built-in kinds are built at first use. Without memory for that the request fails here: later
 * code takes "no schema" for "anything goes". */
static int build_schemas(struct request *rq)
{
        const struct resource *r = rq->resource;
        for (size_t i = 0; i < r->n_versions && !r->custom && !rq->route->has_schemas; i++) {
                const struct schema *unused;
                if (builtin_types_kind(rq->devcluster->types, r->group, r->versions[i].version, r->kind,
                                       &unused, NULL) == ERR_NO_MEMORY)
                        return request_fail_memory(rq);
        }
        rq->route->has_schemas = true;
        return 0;
}

/* Whether the server knows the group at all, for built-ins; below others nothing is registered. */
static bool is_served(const struct request *rq)
{
        for (size_t i = 0; i < n_builtin_resources; i++)
                if (strcmp(builtin_resources[i].group, rq->group) == 0)
                        return true;
        return false;
}

/* As registry_find(); what was found is kept until another schema is served. */
static const struct resource *look_up_resource(struct request *rq)
{
        struct route *t = rq->route;
        if (!t->resource || t->schema_version != rq->cluster->schema_version) {
                t->resource =
                        registry_find(rq->cluster, rq->group, rq->version, rq->plural, &t->resource_version);
                t->schema_version = rq->cluster->schema_version;
                t->has_schemas = false;
        }
        rq->resource_version = t->resource_version;
        return t->resource;
}

static int find_resource(struct request *rq)
{
        rq->resource = look_up_resource(rq);
        if (!rq->resource)
                return is_served(rq) ? request_fail_no_path(rq) : request_fail_no_handler(rq);
        if (resource_hold(rq->resource, rq->arena) < 0)
                return request_fail_memory(rq);
        return resource_is_namespaced(rq->resource) || !rq->ns ? 0 : request_fail_no_path(rq);
}

#define TRIES_MAX 10

/* A write that was overtaken while webhooks looked at it is done anew, from its body on. */
static int run_verb_again(struct request *rq)
{
        const struct request asked = *rq;
        int r = run_verb(rq);
        for (int tries = 1; rq->again && tries < TRIES_MAX; tries++) {
                struct request once = asked;
                once.warnings.at = rq->warnings.at;
                once.warnings.cap = rq->warnings.cap;
                *rq = once; /* its warnings are those from before, too */
                TRY(find_resource(rq));
                r = run_verb(rq);
        }
        return r;
}

static int handle_resource(struct request *rq)
{
        rq->verb = verb_of(rq);
        TRY(authenticate(rq));
        TRY(authorize(rq));
        TRY(find_resource(rq));
        count_request(rq);
        TRY(build_schemas(rq));
        TRY(negotiate(rq));
        TRY(options_read_write(rq));
        warn_deprecated(rq);
        return run_verb_again(rq);
}

static int handle_other(struct request *rq)
{
        const struct route *t = rq->route;
        rq->verb = strcmp(rq->x->method, "GET") == 0 ? "get" : verb_of(rq);
        TRY(authenticate(rq));
        if (t->n && strcmp(t->at[0], "devcluster") == 0)
                return control_handle(rq);
        bool probe = t->n == 1 && (strcmp(t->at[0], "healthz") == 0 || strcmp(t->at[0], "livez") == 0 ||
                                   strcmp(t->at[0], "readyz") == 0 || strcmp(t->at[0], "version") == 0);
        if (!probe)
                TRY(authorize(rq));
        count_request(rq);
        return discovery_handle(rq, t->at, t->n);
}

static int handle(struct request *rq)
{
        static const char *const health[] = { "/healthz", "/livez", "/readyz" };
        if (text_in(rq->x->path, health, ARRAY_LEN(health)))
                return reply_plain(rq, 200, SLICE("ok"));
        TRY(route_take(rq));
        return rq->plural ? handle_resource(rq) : handle_other(rq);
}

void devcluster_handle(void *devcluster, struct http_exchange *x)
{
        struct devcluster *d = devcluster;
        AUTO_ARENA struct arena arena = ARENA_INIT; /* what it holds of the server ends with the handler */
        struct request rq = { .devcluster = d, .x = x, .arena = &arena, .now_ms = loop_wall_ms(d->loop) };
        if (handle(&rq) < 0)
                reply_failure(&rq);
        vec_free(&rq.warnings);
}
