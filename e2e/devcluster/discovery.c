#include "e2e/devcluster/discovery.h"

#include "common/base/limits.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/rest_read.h"

/* jansson's setters take NULL as failure, so a document is built without checks in between and judged by the
 * last step: a piece that could not be made is simply not there, and memory that short fails the answer as
 * well. */

static json_t *strings(const char *const *list)
{
        json_t *a = json_array();
        for (; list && *list; list++)
                json_array_append_new(a, json_string(*list));
        return a;
}

static json_t *verb_names(uint32_t verbs)
{
        static const struct {
                uint32_t verb;
                const char *name;
        } names[] = { { VERB_CREATE, "create" },
                      { VERB_DELETE, "delete" },
                      { VERB_DELETECOLLECTION, "deletecollection" },
                      { VERB_GET, "get" },
                      { VERB_LIST, "list" },
                      { VERB_PATCH, "patch" },
                      { VERB_UPDATE, "update" },
                      { VERB_WATCH, "watch" } };
        json_t *a = json_array();
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (verbs & names[i].verb)
                        json_array_append_new(a, json_string(names[i].name));
        return a;
}

/* ---- subresources, the same for both forms of discovery ---- */

size_t discovery_subresources(const struct resource *r, const struct resource_version *v,
                              struct subresource *ret)
{
        const uint32_t rw = VERB_GET | VERB_PATCH | VERB_UPDATE;
        size_t n = 0;
        if (r->flags & RESOURCE_APPROVAL)
                ret[n++] = (struct subresource){ .name = "approval", .verbs = rw };
        if (r->flags & RESOURCE_EVICTION) {
                ret[n++] = (struct subresource){ "binding", "", "v1", "Binding", VERB_CREATE };
                ret[n++] = (struct subresource){ "eviction", "policy", "v1", "Eviction", VERB_CREATE };
        }
        if (r->flags & RESOURCE_FINALIZE)
                ret[n++] = (struct subresource){ .name = "finalize", .verbs = VERB_UPDATE };
        if (r->custom && resource_has_status(r, v))
                ret[n++] = (struct subresource){ .name = "status", .verbs = rw };
        if (resource_has_scale(r, v))
                ret[n++] = (struct subresource){ "scale", "autoscaling", "v1", "Scale", rw };
        if (!r->custom && resource_has_status(r, v))
                ret[n++] = (struct subresource){ .name = "status", .verbs = rw };
        if (r->flags & RESOURCE_TOKEN)
                ret[n++] = (struct subresource){ "token", "authentication.k8s.io", "v1", "TokenRequest",
                                                 VERB_CREATE };
        return n;
}

/* Custom resources list theirs in an order of their own. */
static json_t *custom_verbs(void)
{
        return json_pack("[s,s,s,s,s,s,s,s]", "delete", "deletecollection", "get", "list", "patch", "create",
                         "update", "watch");
}

/* ---- legacy: APIVersions, APIGroupList, APIGroup, APIResourceList ---- */

static json_t *legacy_resource(const struct resource *r)
{
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(r->plural));
        json_object_set_new(o, "singularName", json_string(r->singular));
        json_object_set_new(o, "namespaced", json_boolean(resource_is_namespaced(r)));
        json_object_set_new(o, "kind", json_string(r->kind));
        json_object_set_new(o, "verbs", r->custom ? custom_verbs() : verb_names(r->verbs));
        if (r->short_names)
                json_object_set_new(o, "shortNames", strings(r->short_names));
        if (r->categories)
                json_object_set_new(o, "categories", strings(r->categories));
        if (r->verbs & VERB_GET) {
                char hash[24];
                snprintf(hash, sizeof(hash), "%016llx",
                         (unsigned long long)hash_bytes(r->table_key, strlen(r->table_key), 1));
                json_object_set_new(o, "storageVersionHash", json_string(hash));
        }
        return o;
}

static json_t *legacy_subresource(const struct resource *r, const struct subresource *s, struct arena *a)
{
        const char *name = arena_printf(a, "%s/%s", r->plural, s->name);
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(name ? name : ""));
        json_object_set_new(o, "singularName", json_string(""));
        json_object_set_new(o, "namespaced", json_boolean(resource_is_namespaced(r)));
        if (s->group) {
                json_object_set_new(o, "group", json_string(s->group));
                json_object_set_new(o, "version", json_string(s->version));
        }
        json_object_set_new(o, "kind", json_string(s->kind ? s->kind : r->kind));
        json_object_set_new(o, "verbs", verb_names(s->verbs));
        return o;
}

static int reply_resource_list(struct request *rq, const char *group, const char *version)
{
        const struct resource *const *all;
        size_t n, found = 0;
        if (registry_all(rq->cluster, rq->arena, &all, &n) < 0)
                return request_fail_memory(rq);
        AUTO_JSON json_t *doc = json_object();
        json_t *list = json_array();
        const char *gv = *group ? arena_printf(rq->arena, "%s/%s", group, version) : version;
        json_object_set_new(doc, "kind", json_string("APIResourceList"));
        if (*group) /* the oldest list says no version of its own */
                json_object_set_new(doc, "apiVersion", json_string("v1"));
        json_object_set_new(doc, "groupVersion", json_string(gv));
        json_object_set_new(doc, "resources", list);
        for (size_t i = 0; i < n; i++) {
                const struct resource_version *v =
                        strcmp(all[i]->group, group) == 0 ? resource_find_version(all[i], version) : NULL;
                if (!v)
                        continue;
                struct subresource subs[SUBRESOURCES_MAX];
                size_t n_subs = discovery_subresources(all[i], v, subs);
                found++;
                json_array_append_new(list, legacy_resource(all[i]));
                for (size_t k = 0; k < n_subs; k++)
                        json_array_append_new(list, legacy_subresource(all[i], &subs[k], rq->arena));
        }
        if (found)
                return reply_doc(rq, 200, doc);
        return *group ? request_fail_no_handler(rq) : request_fail_no_path(rq);
}

static json_t *group_version(const struct api_group *g, const char *version, struct arena *a)
{
        const char *gv = arena_printf(a, "%s/%s", g->name, version);
        return json_pack("{s:s,s:s}", "groupVersion", gv ? gv : "", "version", version);
}

static json_t *legacy_group(const struct api_group *g, struct arena *a)
{
        json_t *o = json_object(), *versions = json_array();
        json_object_set_new(o, "name", json_string(g->name));
        for (size_t i = 0; i < g->n_versions; i++)
                json_array_append_new(versions, group_version(g, g->versions[i], a));
        json_object_set_new(o, "versions", versions);
        json_object_set_new(o, "preferredVersion", group_version(g, g->versions[0], a));
        return o;
}

static int reply_group_list(struct request *rq)
{
        struct api_group *groups;
        size_t n;
        if (registry_groups(rq->cluster, rq->arena, &groups, &n) < 0)
                return request_fail_memory(rq);
        json_t *list = json_array();
        for (size_t i = 0; i < n; i++)
                if (*groups[i].name && groups[i].n_versions)
                        json_array_append_new(list, legacy_group(&groups[i], rq->arena));
        AUTO_JSON json_t *doc =
                json_pack("{s:s,s:s,s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups", list);
        return doc ? reply_doc(rq, 200, doc) : request_fail_memory(rq);
}

static int reply_group(struct request *rq, const char *name)
{
        struct api_group *groups;
        size_t n;
        if (registry_groups(rq->cluster, rq->arena, &groups, &n) < 0)
                return request_fail_memory(rq);
        for (size_t i = 0; i < n; i++) {
                if (strcmp(groups[i].name, name) != 0 || !*name || !groups[i].n_versions)
                        continue;
                AUTO_JSON json_t *doc = legacy_group(&groups[i], rq->arena);
                json_object_set_new(doc, "kind", json_string("APIGroup"));
                json_object_set_new(doc, "apiVersion", json_string("v1"));
                return reply_doc(rq, 200, doc);
        }
        return request_fail_no_handler(rq);
}

static int reply_core_versions(struct request *rq)
{
        AUTO_JSON json_t *doc = json_pack("{s:s,s:[s],s:[{s:s,s:s}]}", "kind", "APIVersions", "versions",
                                          "v1", "serverAddressByClientCIDRs", "clientCIDR", "0.0.0.0/0",
                                          "serverAddress", "127.0.0.1");
        return doc ? reply_doc(rq, 200, doc) : request_fail_memory(rq);
}

/* ---- aggregated: APIGroupDiscoveryList ---- */

static json_t *response_kind(const char *group, const char *version, const char *kind)
{
        /* of the core group the version is left out */
        return json_pack("{s:s,s:s,s:s}", "group", group, "version", *group ? version : "", "kind", kind);
}

static json_t *aggregated_resource(const struct resource *r, const struct resource_version *v)
{
        json_t *o = json_object();
        json_object_set_new(o, "resource", json_string(r->plural));
        json_object_set_new(o, "responseKind", response_kind(r->group, v->version, r->kind));
        json_object_set_new(o, "scope", json_string(resource_is_namespaced(r) ? "Namespaced" : "Cluster"));
        json_object_set_new(o, "singularResource", json_string(r->singular));
        json_object_set_new(o, "verbs", verb_names(r->verbs));
        if (r->short_names)
                json_object_set_new(o, "shortNames", strings(r->short_names));
        if (r->categories)
                json_object_set_new(o, "categories", strings(r->categories));
        struct subresource subs[SUBRESOURCES_MAX];
        size_t n = discovery_subresources(r, v, subs);
        json_t *list = n ? json_array() : NULL;
        for (size_t i = 0; i < n; i++)
                json_array_append_new(
                        list,
                        json_pack("{s:s,s:o,s:o}", "subresource", subs[i].name, "responseKind",
                                  subs[i].group ? response_kind(subs[i].group, subs[i].version, subs[i].kind)
                                                : response_kind(r->group, v->version, r->kind),
                                  "verbs", verb_names(subs[i].verbs)));
        if (list)
                json_object_set_new(o, "subresources", list);
        return o;
}

static json_t *aggregated_version(const struct resource *const *all, size_t n, const char *group,
                                  const char *version)
{
        json_t *resources = json_array();
        for (size_t i = 0; i < n; i++) {
                const struct resource_version *v =
                        strcmp(all[i]->group, group) == 0 ? resource_find_version(all[i], version) : NULL;
                if (v)
                        json_array_append_new(resources, aggregated_resource(all[i], v));
        }
        return json_pack("{s:s,s:o,s:s}", "version", version, "resources", resources, "freshness", "Current");
}

static int reply_aggregated(struct request *rq, bool core, const char *form)
{
        struct api_group *groups;
        const struct resource *const *all;
        size_t n_groups, n;
        if (registry_groups(rq->cluster, rq->arena, &groups, &n_groups) < 0 ||
            registry_all(rq->cluster, rq->arena, &all, &n) < 0)
                return request_fail_memory(rq);
        json_t *items = json_array();
        for (size_t i = 0; i < n_groups; i++) {
                if ((*groups[i].name == '\0') != core || groups[i].n_versions == 0)
                        continue;
                json_t *versions = json_array();
                for (size_t k = 0; k < groups[i].n_versions; k++)
                        json_array_append_new(
                                versions, aggregated_version(all, n, groups[i].name, groups[i].versions[k]));
                json_t *meta = json_object();
                if (*groups[i].name)
                        json_object_set_new(meta, "name", json_string(groups[i].name));
                json_array_append_new(items, json_pack("{s:o,s:o}", "metadata", meta, "versions", versions));
        }
        const char *api_version = arena_printf(rq->arena, "apidiscovery.k8s.io/%s", form);
        AUTO_JSON json_t *doc = json_pack("{s:s,s:s,s:{},s:o}", "kind", "APIGroupDiscoveryList", "apiVersion",
                                          api_version ? api_version : "", "metadata", "items", items);
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        if (!doc || doc_write(doc, &out) < 0)
                return request_fail_memory(rq);
        const char *type = arena_printf(
                rq->arena, "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList", form);
        struct http_header headers[] = { { "Vary", "Accept" }, { "Cache-Control", "public" } };
        struct http_headers extra = { headers, ARRAY_LEN(headers) };
        (void)http_reply(rq->x, 200, type, (struct slice){ out.data, out.len }, &extra);
        return 0;
}

/* *ret: "v2", "v2beta1", or NULL when the client wants the legacy form. The first form of Accept that there
 * is counts; 406 when there is none. */
static int aggregated_form(struct request *rq, const char **ret)
{
        struct slice rest = slice_of(http_header_get(&rq->x->headers, "Accept")), range;
        bool refused = false;
        *ret = NULL;
        while (rest.len) {
                (void)slice_cut(&rest, ',', &range);
                const char *one = arena_strndup(rq->arena, range.data, range.len);
                if (!one)
                        return request_fail_memory(rq);
                if (!strstr(one, "apidiscovery.k8s.io"))
                        return 0;
                if (strstr(one, "v=v2")) {
                        *ret = strstr(one, "v=v2beta1") ? "v2beta1" : "v2";
                        return 0;
                }
                refused = true;
        }
        if (!refused)
                return 0;
        return request_fail(
                rq, 406, "NotAcceptable",
                "only the following media types are accepted: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}

/* ---- version, health ---- */

static int reply_version(struct request *rq)
{
        AUTO_JSON json_t *doc = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "major", "1", "minor",
                                          "36", "gitVersion", "v1.36.0+devcluster", "gitCommit", "",
                                          "gitTreeState", "clean", "buildDate", "1970-01-01T00:00:00Z",
                                          "goVersion", "", "compiler", "gcc", "platform", "linux/amd64");
        return doc ? reply_doc(rq, 200, doc) : request_fail_memory(rq);
}

static int reply_paths(struct request *rq)
{
        AUTO_JSON json_t *doc = json_pack("{s:[s,s,s,s,s,s,s,s]}", "paths", "/api", "/api/v1", "/apis",
                                          "/healthz", "/livez", "/openapi/v3", "/readyz", "/version");
        return doc ? reply_doc(rq, 200, doc) : request_fail_memory(rq);
}

static int reply_api(struct request *rq, const char *const *s, size_t n)
{
        const char *form = NULL;
        TRY(aggregated_form(rq, &form));
        if (n == 1)
                return form ? reply_aggregated(rq, true, form) : reply_core_versions(rq);
        return reply_resource_list(rq, "", s[1]);
}

static int reply_apis(struct request *rq, const char *const *s, size_t n)
{
        const char *form = NULL;
        TRY(aggregated_form(rq, &form));
        if (n == 1)
                return form ? reply_aggregated(rq, false, form) : reply_group_list(rq);
        return n == 2 ? reply_group(rq, s[1]) : reply_resource_list(rq, s[1], s[2]);
}

int discovery_handle(struct request *rq, const char *const *s, size_t n)
{
        rq->resource = NULL;
        if (n == 0)
                return reply_paths(rq);
        if (strcmp(s[0], "openapi") == 0)
                return openapi_handle(rq, s, n);
        if (strcmp(rq->x->method, "GET") != 0 && strcmp(rq->x->method, "HEAD") != 0)
                return request_fail_method(rq, rq->x->method);
        if (strcmp(s[0], "api") == 0 && n <= 2)
                return reply_api(rq, s, n);
        if (strcmp(s[0], "apis") == 0 && n <= 3)
                return reply_apis(rq, s, n);
        if (strcmp(s[0], "version") == 0)
                return reply_version(rq);
        if (strcmp(s[0], "healthz") == 0 || strcmp(s[0], "livez") == 0 || strcmp(s[0], "readyz") == 0)
                return reply_plain(rq, 200, SLICE("ok"));
        return request_fail_no_handler(rq);
}
