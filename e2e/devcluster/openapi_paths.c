/* Paths and operations: what clients look up there is which kind a path speaks, what an operation does and
 * which parameters it takes (kubectl: fieldValidation, dryRun), so that is what is written. */
#include "e2e/devcluster/discovery.h"
#include "e2e/devcluster/openapi.h"

struct place {
        struct openapi_document *d;
        const struct resource *r;
        const struct resource_version *v;
        const struct subresource *sub; /* NULL = the resource itself */
        const char *definition;        /* of what it speaks; NULL = none */
        bool item, all_namespaces;
};

struct operation {
        const char *method, *action, *word; /* "patch", "patch", "patch" as the identifier begins */
        uint32_t verb;
        bool takes_body, item; /* item: on one object, else on the collection */
        const char *const *parameters;
};

static const char *const reading[] = { "allowWatchBookmarks",
                                       "continue",
                                       "fieldSelector",
                                       "labelSelector",
                                       "limit",
                                       "resourceVersion",
                                       "resourceVersionMatch",
                                       "sendInitialEvents",
                                       "timeoutSeconds",
                                       "watch",
                                       NULL };
static const char *const writing[] = { "dryRun", "fieldManager", "fieldValidation", NULL };
static const char *const patching[] = { "dryRun", "fieldManager", "fieldValidation", "force", NULL };
static const char *const deleting[] = { "dryRun", "gracePeriodSeconds", "orphanDependents",
                                        "propagationPolicy", NULL };
static const char *const deleting_many[] = {
        "continue", "dryRun",           "fieldSelector",     "gracePeriodSeconds", "labelSelector",
        "limit",    "orphanDependents", "propagationPolicy", "resourceVersion",    NULL
};
static const char *const none[] = { NULL };

static const struct operation operations[] = {
        { "get", "get", "read", VERB_GET, false, true, none },
        { "put", "put", "replace", VERB_UPDATE, true, true, writing },
        { "post", "post", "create", VERB_CREATE, true, false, writing },
        { "delete", "delete", "delete", VERB_DELETE, true, true, deleting },
        { "patch", "patch", "patch", VERB_PATCH, true, true, patching },
        { "get", "list", "list", VERB_LIST, false, false, reading },
        { "delete", "deletecollection", "deleteCollection", VERB_DELETECOLLECTION, true, false,
          deleting_many },
};

static const struct {
        const char *name, *type, *description;
} parameters[] = {
        { "allowWatchBookmarks", "boolean", "Send bookmark events in a watch." },
        { "continue", "string", "Token of the previous chunk: go on behind it." },
        { "dryRun", "string", "\"All\": do everything but store it." },
        { "fieldManager", "string", "Name of whoever makes this change." },
        { "fieldSelector", "string", "Only objects whose fields have these values." },
        { "fieldValidation", "string",
          "What unknown and duplicate fields bring: Ignore, Warn (the default) or Strict." },
        { "force", "boolean", "Server-side apply: take fields over from other managers." },
        { "gracePeriodSeconds", "integer", "Seconds until the object is gone; 0 is at once." },
        { "labelSelector", "string", "Only objects whose labels match." },
        { "limit", "integer", "No more than so many objects in one answer." },
        { "name", "string", "Name of the object." },
        { "namespace", "string", "Namespace of the object." },
        { "orphanDependents", "boolean", "Old form of propagationPolicy: leave dependents alone." },
        { "propagationPolicy", "string", "Orphan, Background or Foreground: what becomes of dependents." },
        { "resourceVersion", "string", "State to read at, or to watch from." },
        { "resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan." },
        { "sendInitialEvents", "boolean", "Begin a watch with what is there." },
        { "timeoutSeconds", "integer", "How long the call may last." },
        { "watch", "boolean", "Answer with a stream of changes." },
};

static void write_parameter(struct openapi_document *d, const char *name, bool in_path)
{
        struct buf *b = &d->piece;
        size_t i = 0;
        while (i + 1 < ARRAY_LEN(parameters) && strcmp(parameters[i].name, name) != 0)
                i++;
        out_open(b, '{');
        out_member(b, "name", name);
        out_member(b, "in", in_path ? "path" : "query");
        out_member(b, "description", parameters[i].description);
        if (in_path)
                out_member_true(b, "required");
        if (!openapi_is_v2(d)) {
                out_key(b, "schema");
                out_open(b, '{');
        }
        out_member(b, "type", parameters[i].type);
        out_member_true(b, "uniqueItems");
        if (!openapi_is_v2(d))
                out_close(b, '}');
        out_close(b, '}');
}

static const char *body_definition(const struct place *p, const struct operation *o)
{
        if (o->verb == VERB_PATCH)
                return OPENAPI_PATCH;
        return o->verb & (VERB_DELETE | VERB_DELETECOLLECTION) ? OPENAPI_DELETE_OPTIONS : p->definition;
}

static const char *answer_definition(const struct place *p, const struct operation *o)
{
        if (o->verb & (VERB_DELETE | VERB_DELETECOLLECTION))
                return OPENAPI_STATUS;
        if (o->verb != VERB_LIST || !p->definition)
                return p->definition;
        return arena_printf(p->d->rq->arena, "%sList", p->definition);
}

static void write_content(struct openapi_document *d, const char *type, const char *definition)
{
        struct buf *b = &d->piece;
        out_key(b, type);
        out_open(b, '{');
        out_key(b, "schema");
        openapi_reference_write(d, definition);
        out_close(b, '}');
}

static void write_parameters(const struct place *p, const struct operation *o, const char *body)
{
        struct buf *b = &p->d->piece;
        out_key(b, "parameters");
        out_open(b, '[');
        for (size_t i = 0; o->parameters[i]; i++)
                write_parameter(p->d, o->parameters[i], false);
        if (body && openapi_is_v2(p->d)) {
                out_open(b, '{');
                out_member(b, "name", "body");
                out_member(b, "in", "body");
                if (o->verb != VERB_DELETE && o->verb != VERB_DELETECOLLECTION)
                        out_member_true(b, "required");
                out_key(b, "schema");
                openapi_reference_write(p->d, body);
                out_close(b, '}');
        }
        out_close(b, ']');
}

static const char *const patch_types[] = { "application/apply-patch+yaml", "application/json-patch+json",
                                           "application/merge-patch+json",
                                           "application/strategic-merge-patch+json" };

static void write_request(const struct place *p, const struct operation *o, const char *body)
{
        struct buf *b = &p->d->piece;
        size_t n_patch = ARRAY_LEN(patch_types) - p->r->custom; /* CRDs know no strategic merge */
        if (openapi_is_v2(p->d)) {
                static const char *const any[] = { "application/json", "application/yaml" };
                bool patch = o->verb == VERB_PATCH;
                out_member_strings(b, "consumes", patch ? patch_types : any,
                                   patch ? n_patch : ARRAY_LEN(any));
                out_member_strings(b, "produces", any, 1);
                return;
        }
        if (!body)
                return;
        out_key(b, "requestBody");
        out_open(b, '{');
        out_key(b, "content");
        out_open(b, '{');
        if (o->verb == VERB_PATCH)
                for (size_t i = 0; i < n_patch; i++)
                        write_content(p->d, patch_types[i], body);
        else
                write_content(p->d, "application/json", body);
        out_close(b, '}');
        out_close(b, '}');
}

static void write_response(const struct place *p, const struct operation *o)
{
        struct buf *b = &p->d->piece;
        const char *definition = answer_definition(p, o);
        out_key(b, "responses");
        out_open(b, '{');
        out_key(b, o->verb == VERB_CREATE ? "201" : "200");
        out_open(b, '{');
        out_member(b, "description", o->verb == VERB_CREATE ? "Created" : "OK");
        if (definition && openapi_is_v2(p->d)) {
                out_key(b, "schema");
                openapi_reference_write(p->d, definition);
        } else if (definition) {
                out_key(b, "content");
                out_open(b, '{');
                write_content(p->d, "application/json", definition);
                out_close(b, '}');
        }
        out_close(b, '}');
        out_close(b, '}');
}

/* "rbac.authorization.k8s.io" -> "RbacAuthorization", "v1beta1" -> "V1beta1" */
static void append_camel(struct buf *b, struct slice text)
{
        static const char suffix[] = ".k8s.io";
        size_t cut = sizeof(suffix) - 1;
        bool up = true;
        if (text.len > cut && memcmp(text.data + text.len - cut, suffix, cut) == 0)
                text.len -= cut;
        for (size_t i = 0; i < text.len; i++) {
                char c = text.data[i];
                bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
                if (letter)
                        (void)buf_append_char(b, up && c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
                up = !letter;
        }
}

static void write_identifier(const struct place *p, const struct operation *o)
{
        struct buf *b = &p->d->piece;
        out_key(b, "operationId");
        (void)buf_printf(b, "\"%s", o->word);
        append_camel(b, slice_of(*p->r->group ? p->r->group : "core"));
        append_camel(b, slice_of(p->v->version));
        if (resource_is_namespaced(p->r) && !p->all_namespaces)
                (void)buf_append_str(b, "Namespaced");
        (void)buf_append_str(b, p->r->kind);
        if (p->sub)
                append_camel(b, slice_of(p->sub->name));
        (void)buf_append_str(b, p->all_namespaces ? "ForAllNamespaces\"" : "\"");
}

static struct kind_name kind_of(const struct place *p)
{
        if (p->sub && p->sub->group)
                return (struct kind_name){ p->sub->group, p->sub->version, p->sub->kind };
        return (struct kind_name){ p->r->group, p->v->version, p->r->kind };
}

static void write_operation(const struct place *p, const struct operation *o)
{
        struct buf *b = &p->d->piece;
        const char *body = o->takes_body ? body_definition(p, o) : NULL;
        struct kind_name kind = kind_of(p);
        out_key(b, o->method);
        out_open(b, '{');
        write_identifier(p, o);
        write_request(p, o, body);
        write_parameters(p, o, body);
        write_response(p, o);
        out_member(b, "x-kubernetes-action", o->action);
        out_key(b, "x-kubernetes-group-version-kind");
        openapi_kind_write(b, &kind);
        out_close(b, '}');
}

static bool offered(const struct place *p, const struct operation *o)
{
        uint32_t verbs = p->sub ? p->sub->verbs : p->r->verbs;
        if (!(verbs & o->verb))
                return false;
        if (p->all_namespaces)
                return o->verb == VERB_LIST;
        return p->sub || p->item == o->item;
}

static const char *path_of(const struct place *p)
{
        struct arena *a = p->d->rq->arena;
        const char *group = p->r->group;
        const char *root = *group ? arena_printf(a, "/apis/%s/%s", group, p->v->version)
                                  : arena_printf(a, "/api/%s", p->v->version);
        bool in_namespace = resource_is_namespaced(p->r) && !p->all_namespaces;
        return root ? arena_printf(a, "%s/%s%s%s%s%s", root, in_namespace ? "namespaces/{namespace}/" : "",
                                   p->r->plural, p->item ? "/{name}" : "", p->sub ? "/" : "",
                                   p->sub ? p->sub->name : "")
                    : NULL;
}

static int write_path(const struct place *p, struct error *err)
{
        struct buf *b = &p->d->piece;
        const char *path = path_of(p);
        size_t n = 0;
        if (!path)
                return error_no_memory(err);
        out_open(b, '{');
        for (size_t i = 0; i < ARRAY_LEN(operations); i++)
                if (offered(p, &operations[i])) {
                        write_operation(p, &operations[i]);
                        n++;
                }
        out_key(b, "parameters");
        out_open(b, '[');
        if (p->item)
                write_parameter(p->d, "name", true);
        if (resource_is_namespaced(p->r) && !p->all_namespaces)
                write_parameter(p->d, "namespace", true);
        out_close(b, ']');
        out_close(b, '}');
        if (n == 0) {
                buf_clear(b);
                return 0;
        }
        return openapi_piece_done(p->d, path, err);
}

static const char *subresource_definition(struct openapi_document *d, const struct subresource *s,
                                          const char *own)
{
        static const struct {
                const char *kind, *type;
        } types[] = { { "Scale", "a:autoscaling.v1.Scale" },
                      { "Eviction", "a:policy.v1.Eviction" },
                      { "Binding", "a:core.v1.Binding" },
                      { "TokenRequest", "a:authentication.v1.TokenRequest" } };
        const struct schema *schema = NULL;
        if (!s->group)
                return own;
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
                if (strcmp(types[i].kind, s->kind) == 0 &&
                    builtin_types_named(d->rq->devcluster->types, types[i].type, &schema, NULL) == 0 &&
                    openapi_schema_collect(d, schema) == 0)
                        return schema->ref;
        return NULL;
}

int openapi_paths_write(struct openapi_document *d, const struct resource *r,
                        const struct resource_version *v, struct error *err)
{
        struct place p = { .d = d, .r = r, .v = v, .definition = openapi_definition_name(d, r, v) };
        struct subresource subs[SUBRESOURCES_MAX];
        size_t n = discovery_subresources(r, v, subs);
        const char *own = p.definition;
        if (!own)
                return error_no_memory(err);
        TRY(write_path(&p, err));
        if (resource_is_namespaced(r)) {
                p.all_namespaces = true;
                TRY(write_path(&p, err));
                p.all_namespaces = false;
        }
        p.item = true;
        TRY(write_path(&p, err));
        for (size_t i = 0; i < n; i++) {
                p.sub = &subs[i];
                p.definition = subresource_definition(d, &subs[i], own);
                if (!p.definition)
                        return error_no_memory(err);
                TRY(write_path(&p, err));
        }
        return 0;
}
