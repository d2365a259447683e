/* OpenAPI v3, one document per group and version, and v2 as one document: as far as kubectl and client
 * libraries use them (explain, validation, strategic merge). Made from the schemas on demand; descriptions
 * are left to real servers, but for custom resources, whose own schema is shown as it was given. */
#include <inttypes.h>

#include "common/base/limits.h"
#include "e2e/devcluster/builtin/types.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/discovery.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/openapi_protobuf.h"
#include "e2e/devcluster/rest_read.h"

/* ---- schemas to documents ---- */

struct writer {
        struct request *rq;
        const char *ref_prefix; /* "#/components/schemas/" or "#/definitions/" */
        json_t *definitions;    /* name -> document */
        VEC(const struct schema *) todo;
        bool failed;
};

static json_t *schema_doc(struct writer *w, const struct schema *s);

/* A child: by reference when it has a name of its own. */
static json_t *child_doc(struct writer *w, const struct schema *s)
{
        if (!s->ref)
                return schema_doc(w, s);
        if (!json_object_get(w->definitions, s->ref)) {
                w->failed |= json_object_set_new(w->definitions, s->ref, json_null()) < 0 ||
                             vec_push(&w->todo, s) < 0;
        }
        const char *ref = arena_printf(w->rq->arena, "%s%s", w->ref_prefix, s->ref);
        return json_pack("{s:s}", "$ref", ref ? ref : "");
}

static void set_string(json_t *o, const char *key, const char *value)
{
        if (!text_empty(value))
                json_object_set_new(o, key, json_string(value));
}

static const char *type_name(enum schema_type type)
{
        static const char *const names[] = {
                [SCHEMA_ANY] = "",           [SCHEMA_OBJECT] = "object",   [SCHEMA_ARRAY] = "array",
                [SCHEMA_STRING] = "string",  [SCHEMA_INTEGER] = "integer", [SCHEMA_NUMBER] = "number",
                [SCHEMA_BOOLEAN] = "boolean"
        };
        return names[type];
}

static void add_list_markers(json_t *o, const struct schema *s)
{
        static const char *const types[] = {
                [SCHEMA_LIST_ATOMIC] = "atomic", [SCHEMA_LIST_SET] = "set", [SCHEMA_LIST_MAP] = "map"
        };
        json_object_set_new(o, "x-kubernetes-list-type", json_string(types[s->list_type]));
        if (!s->n_list_map_keys)
                return;
        json_t *keys = json_array();
        for (size_t i = 0; i < s->n_list_map_keys; i++)
                json_array_append_new(keys, json_string(s->list_map_keys[i]));
        json_object_set_new(o, "x-kubernetes-list-map-keys", keys);
}

static void add_markers(json_t *o, const struct schema *s)
{
        if (s->type == SCHEMA_ARRAY)
                add_list_markers(o, s);
        if (s->map_atomic)
                json_object_set_new(o, "x-kubernetes-map-type", json_string("atomic"));
        set_string(o, "x-kubernetes-patch-merge-key", s->patch_merge_key);
        if (s->patch_merge)
                json_object_set_new(o, "x-kubernetes-patch-strategy",
                                    json_string(s->patch_retain_keys ? "merge,retainKeys" : "merge"));
        else if (s->patch_retain_keys)
                json_object_set_new(o, "x-kubernetes-patch-strategy", json_string("retainKeys"));
        if (s->int_or_string)
                json_object_set_new(o, "format", json_string("int-or-string"));
        if (s->preserve_unknown)
                json_object_set_new(o, "x-kubernetes-preserve-unknown-fields", json_true());
}

static json_t *schema_doc(struct writer *w, const struct schema *s)
{
        json_t *o = json_object();
        set_string(o, "type", s->int_or_string ? "string" : type_name(s->type));
        set_string(o, "format", s->format);
        set_string(o, "description", s->description);
        if (s->n_properties) {
                json_t *properties = json_object();
                for (size_t i = 0; i < s->n_properties; i++)
                        json_object_set_new(properties, s->properties[i].name,
                                            child_doc(w, s->properties[i].schema));
                json_object_set_new(o, "properties", properties);
        }
        if (s->additional)
                json_object_set_new(o, "additionalProperties", child_doc(w, s->additional));
        if (s->items)
                json_object_set_new(o, "items", child_doc(w, s->items));
        if (s->n_required) {
                json_t *required = json_array();
                for (size_t i = 0; i < s->n_required; i++)
                        json_array_append_new(required, json_string(s->required[i]));
                json_object_set_new(o, "required", required);
        }
        if (s->default_value)
                json_object_set(o, "default", (json_t *)s->default_value);
        add_markers(o, s);
        return o;
}

static void write_todo(struct writer *w)
{
        for (size_t i = 0; i < w->todo.n && !w->failed; i++) {
                const struct schema *s = w->todo.at[i];
                w->failed |= json_object_set_new(w->definitions, s->ref, schema_doc(w, s)) < 0;
        }
        w->todo.n = 0;
}

/* ---- one resource ---- */

static json_t *gvk_doc(const struct resource *r, const struct resource_version *v)
{
        return json_pack("{s:s,s:s,s:s}", "group", r->group, "version", v->version, "kind", r->kind);
}

/* "example.com" -> "com.example". */
static const char *reverse_group(struct arena *a, const char *group)
{
        const char *out = "";
        struct slice rest = slice_of(group), part;
        while (rest.len && out) {
                (void)slice_cut(&rest, '.', &part);
                out = arena_printf(a, "%.*s%s%s", (int)part.len, part.data, *out ? "." : "", out);
        }
        return out ? out : group;
}

static const struct schema *object_meta_schema(struct writer *w)
{
        const struct schema *s = NULL;
        (void)builtin_types_named(w->rq->devcluster->types, "m:apis.meta.v1.ObjectMeta", &s, NULL);
        return s;
}

/* A custom resource's schema as its CRD gives it, with the fields every object has. */
static json_t *custom_doc(struct writer *w, const struct resource_version *v)
{
        json_t *doc = doc_copy(v->openapi);
        json_t *properties = json_object_get(doc, "properties");
        if (!doc)
                return NULL;
        if (!json_is_object(properties))
                json_object_set_new(doc, "properties", properties = json_object());
        json_object_set_new(properties, "apiVersion", json_pack("{s:s}", "type", "string"));
        json_object_set_new(properties, "kind", json_pack("{s:s}", "type", "string"));
        const struct schema *meta = object_meta_schema(w);
        if (meta)
                json_object_set_new(properties, "metadata", child_doc(w, meta));
        return doc;
}

/* Puts the kind's definition in and returns its name. */
static const char *add_kind(struct writer *w, const struct resource *r, const struct resource_version *v)
{
        const struct schema *s = r->custom ? NULL : builtin_schema(w->rq->devcluster, r, v);
        const char *name = s && s->ref
                                   ? s->ref
                                   : arena_printf(w->rq->arena, "%s.%s.%s",
                                                  reverse_group(w->rq->arena, r->group), v->version, r->kind);
        json_t *known = name ? json_object_get(w->definitions, name) : NULL;
        if (!name || (!s && !r->custom) ||
            (known && json_object_get(known, "x-kubernetes-group-version-kind")))
                return name;
        json_t *doc = s ? schema_doc(w, s) : custom_doc(w, v);
        json_object_set_new(doc, "x-kubernetes-group-version-kind", json_pack("[o]", gvk_doc(r, v)));
        w->failed |= json_object_set_new(w->definitions, name, doc) < 0;
        return name;
}

static json_t *query_parameter(const char *name, const char *type, bool v3)
{
        if (v3)
                return json_pack("{s:s,s:s,s:{s:s,s:b}}", "name", name, "in", "query", "schema", "type", type,
                                 "uniqueItems", 1);
        return json_pack("{s:s,s:s,s:s,s:b}", "name", name, "in", "query", "type", type, "uniqueItems", 1);
}

static json_t *operation(struct writer *w, const struct resource *r, const struct resource_version *v,
                         const char *action, bool v3)
{
        json_t *o = json_object(), *parameters = json_array();
        bool writes = strcmp(action, "get") != 0 && strcmp(action, "list") != 0;
        const char *id = arena_printf(w->rq->arena, "%s%s%s%s", action, v->version, r->kind, r->group);
        set_string(o, "operationId", id);
        if (writes) {
                json_array_append_new(parameters, query_parameter("dryRun", "string", v3));
                json_array_append_new(parameters, query_parameter("fieldManager", "string", v3));
                json_array_append_new(parameters, query_parameter("fieldValidation", "string", v3));
        }
        if (strcmp(action, "patch") == 0)
                json_array_append_new(parameters, query_parameter("force", "boolean", v3));
        json_object_set_new(o, "parameters", parameters);
        json_object_set_new(o, "responses", json_pack("{s:{s:s}}", "200", "description", "OK"));
        json_object_set_new(o, "x-kubernetes-action", json_string(action));
        json_object_set_new(o, "x-kubernetes-group-version-kind", gvk_doc(r, v));
        return o;
}

static void add_paths(struct writer *w, json_t *paths, const struct resource *r,
                      const struct resource_version *v, bool v3)
{
        static const struct {
                const char *method, *action;
                enum resource_verb verb;
                bool item;
        } operations[] = {
                { "get", "list", VERB_LIST, false },    { "post", "post", VERB_CREATE, false },
                { "get", "get", VERB_GET, true },       { "put", "put", VERB_UPDATE, true },
                { "patch", "patch", VERB_PATCH, true }, { "delete", "delete", VERB_DELETE, true }
        };
        struct arena *a = w->rq->arena;
        const char *base = *r->group ? arena_printf(a, "/apis/%s/%s", r->group, v->version)
                                     : arena_printf(a, "/api/%s", v->version);
        const char *all = arena_printf(a, "%s%s/%s", base,
                                       resource_is_namespaced(r) ? "/namespaces/{namespace}" : "", r->plural);
        const char *one = arena_printf(a, "%s/{name}", all);
        if (!base || !all || !one) {
                w->failed = true;
                return;
        }
        json_t *list = json_object(), *item = json_object();
        for (size_t i = 0; i < ARRAY_LEN(operations); i++)
                if (r->verbs & operations[i].verb)
                        json_object_set_new(operations[i].item ? item : list, operations[i].method,
                                            operation(w, r, v, operations[i].action, v3));
        json_object_set_new(paths, all, list);
        if (json_object_size(item))
                json_object_set_new(paths, one, item);
        else
                json_decref(item);
}

static int write_documents(struct writer *w, json_t *paths, const char *group, const char *version, bool v3)
{
        const struct resource *const *all;
        size_t n, found = 0;
        if (registry_all(w->rq->cluster, w->rq->arena, &all, &n) < 0)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++) {
                const struct resource *r = all[i];
                if (group && strcmp(r->group, group) != 0)
                        continue;
                for (size_t k = 0; k < r->n_versions; k++) {
                        const struct resource_version *v = &r->versions[k];
                        if (!v->served || (version && strcmp(v->version, version) != 0))
                                continue;
                        found++;
                        (void)add_kind(w, r, v);
                        add_paths(w, paths, r, v, v3);
                }
        }
        write_todo(w);
        return w->failed ? ERR_NO_MEMORY : found ? 0 : ERR_NOT_FOUND;
}

/* ---- answers ---- */

static int reply_v3(struct request *rq, const char *group, const char *version)
{
        AUTO_JSON json_t *definitions = json_object(), *paths = json_object();
        struct writer w = { .rq = rq, .ref_prefix = "#/components/schemas/", .definitions = definitions };
        int r = definitions && paths ? write_documents(&w, paths, group, version, true) : ERR_NO_MEMORY;
        vec_free(&w.todo);
        if (r == ERR_NOT_FOUND)
                return request_fail_no_path(rq);
        AUTO_JSON json_t *doc = r < 0 ? NULL
                                      : json_pack("{s:s,s:{s:s,s:s},s:O,s:{s:O}}", "openapi", "3.0.0", "info",
                                                  "title", "Kubernetes", "version", "v1.34.0", "paths", paths,
                                                  "components", "schemas", definitions);
        return doc ? reply_doc(rq, 200, doc) : request_fail_memory(rq);
}

static json_t *make_v2(struct request *rq)
{
        AUTO_JSON json_t *definitions = json_object(), *paths = json_object();
        struct writer w = { .rq = rq, .ref_prefix = "#/definitions/", .definitions = definitions };
        int r = definitions && paths ? write_documents(&w, paths, NULL, NULL, false) : ERR_NO_MEMORY;
        vec_free(&w.todo);
        return r < 0 ? NULL
                     : json_pack("{s:s,s:{s:s,s:s},s:O,s:O}", "swagger", "2.0", "info", "title", "Kubernetes",
                                 "version", "v1.34.0", "paths", paths, "definitions", definitions);
}

static int reply_v2(struct request *rq)
{
        /* Asked for as ...v2@v1.0+protobuf, which Go's MIME parser refuses in an answer. */
        static const char protobuf[] = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
        const char *accept = http_header_get(&rq->x->headers, "Accept");
        AUTO_JSON json_t *doc = make_v2(rq);
        if (!doc)
                return request_fail_memory(rq);
        if (!accept || !strstr(accept, "com.github.proto-openapi.spec.v2"))
                return reply_doc(rq, 200, doc);
        AUTO_BUF struct buf out;
        buf_init(&out, LIMIT_RESPONSE_BYTES);
        if (openapi_write_protobuf(doc, &out) < 0)
                return request_fail_memory(rq);
        (void)http_reply(rq->x, 200, protobuf, (struct slice){ out.data, out.len }, NULL);
        return 0;
}

/* The hash lets clients keep a document until the group's resources change. */
static void add_index(struct request *rq, json_t *paths, const struct api_group *g, const char *version)
{
        struct arena *a = rq->arena;
        uint64_t hash = 34;
        map_for_each(&rq->cluster->custom, e) {
                const struct custom_resource *c = e->value;
                if (strcmp(c->resource.group, g->name) == 0)
                        hash = hash_bytes(c->hash, sizeof(c->hash), hash);
        }
        const char *key = *g->name ? arena_printf(a, "apis/%s/%s", g->name, version)
                                   : arena_printf(a, "api/%s", version);
        const char *url =
                arena_printf(a, "/clusters/%s/openapi/v3/%s?hash=%016" PRIX64, rq->cluster->name, key, hash);
        if (key && url)
                json_object_set_new(paths, key, json_pack("{s:s}", "serverRelativeURL", url));
}

static int reply_index(struct request *rq)
{
        struct api_group *groups;
        size_t n;
        if (registry_groups(rq->cluster, rq->arena, &groups, &n) < 0)
                return request_fail_memory(rq);
        json_t *paths = json_object();
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < groups[i].n_versions; k++)
                        add_index(rq, paths, &groups[i], groups[i].versions[k]);
        AUTO_JSON json_t *doc = json_pack("{s:o}", "paths", paths);
        return doc ? reply_doc(rq, 200, doc) : request_fail_memory(rq);
}

int openapi_handle(struct request *rq, const char *const *s, size_t n)
{
        if (n == 2 && strcmp(s[1], "v2") == 0)
                return reply_v2(rq);
        if (n < 2 || strcmp(s[1], "v3") != 0)
                return request_fail_no_path(rq);
        if (n == 2)
                return reply_index(rq);
        if (n == 4 && strcmp(s[2], "api") == 0)
                return reply_v3(rq, "", s[3]);
        if (n == 5 && strcmp(s[2], "apis") == 0)
                return reply_v3(rq, s[3], s[4]);
        return request_fail_no_path(rq);
}
