/* What the API server serves: one descriptor per resource, built-in (constant tables, shared by all clusters)
 * or made from a CustomResourceDefinition (crd.c, one per cluster, compiled schemas shared). Everything a
 * verb needs to know about a resource is in its descriptor or its hooks. */
#pragma once

#include "common/json/doc.h"
#include "common/json/schema.h"

struct cluster;
struct devcluster;
struct request;

enum resource_verb {
        VERB_GET = 1,
        VERB_LIST = 2,
        VERB_WATCH = 4,
        VERB_CREATE = 8,
        VERB_UPDATE = 16,
        VERB_PATCH = 32,
        VERB_DELETE = 64,
        VERB_DELETECOLLECTION = 128,
        VERBS_ALL = 255
};

enum resource_flags {
        RESOURCE_NAMESPACED = 1,
        RESOURCE_STATUS = 2,            /* has /status */
        RESOURCE_SCALE = 4,             /* has /scale (apps: spec.replicas, status.replicas, spec.selector) */
        RESOURCE_NO_GENERATION = 8,     /* metadata.generation is not kept */
        RESOURCE_CREATE_ON_UPDATE = 16, /* PUT of a name that does not exist creates */
        RESOURCE_RETURN_DELETED = 32,   /* DELETE answers with the object, not a Status */
        RESOURCE_PATH_NAME = 64,        /* names are path segments (RBAC), not DNS names */
        RESOURCE_FINALIZE = 128,        /* has /finalize (namespaces) */
        RESOURCE_APPROVAL = 256,        /* has /approval (certificate signing requests) */
        RESOURCE_VIRTUAL = 512,         /* nothing is stored: hooks->create answers */
        RESOURCE_EVICTION = 1024,       /* pods: eviction, binding */
        RESOURCE_TOKEN = 2048,          /* service accounts: token */
        RESOURCE_VERSION_NEEDED = 4096, /* PUT without resourceVersion is refused */
        RESOURCE_GENERATION_ONE = 8192, /* metadata.generation is set once and never raised */
        RESOURCE_GENERATION_LATE = 16384,   /* metadata.generation begins with the first change */
        RESOURCE_GENERATION_LABELS = 32768, /* changed labels raise metadata.generation, too */
        RESOURCE_STATUS_ONLY = 65536,       /* /status changes nothing in metadata */
        RESOURCE_PROXY = 131072,            /* services, pods, nodes: proxy */
        RESOURCE_AS_CORE = 262144 /* events.k8s.io: stored in the table and shape of the core kind */
};

#define CORE_EVENTS "/events" /* table key of what RESOURCE_AS_CORE shows */

struct printer_column {
        const char *name, *type, *format, *description, *json_path; /* format and description may be "" */
        int priority;
};

/* Behaviour of one resource beyond the general rules. Any member may be NULL. Documents are in the storage
 * version's shape for built-ins. Functions that return int answer 0 or a request_fail_...() code. */
struct resource_hooks {
        /* Defaults and fields the server owns, before validation; `live` NULL on create. */
        int (*prepare)(struct request *rq, const json_t *live, json_t *doc);
        /* Appends to problems; answers as schema_validate. */
        int (*validate)(struct request *rq, const json_t *live, const json_t *doc,
                        struct schema_problems *problems);
        bool validates_all; /* also what has to be there: the schema's complaints are left out */
        /* After the write is in the store. live NULL = created, doc NULL = deleted. Must not park. */
        void (*after_write)(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc);
        /* Virtual resources: turns the posted document into the answer, in place. */
        int (*create)(struct request *rq, json_t *doc);
        /* POST to a subresource the general code does not know (token, eviction, binding); *ret new. */
        int (*create_sub)(struct request *rq, json_t *live, json_t *doc, json_t **ret);
        /* Whether DELETE is allowed at all; fails the request otherwise. */
        int (*before_delete)(struct request *rq, json_t *live);
        /* Table cells of one object: appends JSON values to `cells`, as many as columns. Replaces the JSON
         * paths. */
        int (*cells)(const json_t *doc, int64_t now_ms, json_t *cells);
        /* Text of a selectable field ("spec.nodeName"), into the arena; NULL if the resource does not have
         * the field. */
        const char *(*field)(const json_t *doc, const char *path, struct arena *arena);
};

struct resource_version {
        const char *version;
        bool served, storage;
        bool deprecated;
        const char *deprecation_warning;
        uint32_t flags;              /* CRDs: RESOURCE_STATUS and RESOURCE_SCALE are per version */
        const struct schema *schema; /* NULL = anything; built-ins: ask resource_schema() */
        const struct printer_column *columns;
        size_t n_columns;
        const char *scale_spec_path, *scale_status_path, *scale_selector_path; /* ".spec.replicas" */
        const json_t *openapi;                /* CRDs: openAPIV3Schema; borrowed from the resource's arena */
        const char *const *selectable_fields; /* CRDs: JSON paths, NULL-terminated; may be NULL */
};

struct resource {
        const char *group, *plural, *singular, *kind, *list_kind;
        const char *const *short_names, *const *categories; /* NULL-terminated or NULL */
        uint32_t verbs, flags;
        const struct resource_version *versions; /* in order of preference */
        size_t n_versions;
        const struct resource_hooks *hooks; /* may be NULL */
        const char *table_key;              /* "group/plural" */
        bool custom;
};

const struct resource_version *resource_find_version(const struct resource *r, const char *version);
const struct resource_version *resource_storage_version(const struct resource *r);
static inline bool resource_is_namespaced(const struct resource *r)
{
        return r->flags & RESOURCE_NAMESPACED;
}
bool resource_has_status(const struct resource *r, const struct resource_version *v);
bool resource_has_scale(const struct resource *r, const struct resource_version *v);
/* "apps/v1" or "v1". */
const char *resource_api_version(const struct resource *r, const struct resource_version *v,
                                 struct arena *arena);
/* "deployments.apps" or "pods": how errors name it. */
const char *resource_qualified(const struct resource *r, struct arena *arena);

/* ---- the built-in resources ---- */
extern const struct resource builtin_resources[];
extern const size_t n_builtin_resources;

/* Schema of a built-in kind's version, built at first use and kept by the devcluster; NULL if there is none.
 */
const struct schema *builtin_schema(struct devcluster *d, const struct resource *r,
                                    const struct resource_version *v);

/* ---- what one cluster serves ---- */

/* By group, version and plural; NULL if not served. */
const struct resource *registry_find(struct cluster *c, const char *group, const char *version,
                                     const char *plural, const struct resource_version **ret_version);
/* By group, version and kind (owner references); version NULL = any. */
const struct resource *registry_find_kind(struct cluster *c, const char *group, const char *version,
                                          const char *kind);
const struct resource *registry_find_key(struct cluster *c, const char *table_key);
const struct schema *resource_schema(struct devcluster *d, const struct resource *r,
                                     const struct resource_version *v);

/* All served resources in a fixed order: built-ins, then custom ones by key. The array is in the arena. */
int registry_all(struct cluster *c, struct arena *arena, const struct resource *const **ret, size_t *ret_n);

struct api_group {
        const char *name;
        const char **versions; /* preferred first */
        size_t n_versions;
};
/* All groups with their served versions ("" first); in the arena. */
int registry_groups(struct cluster *c, struct arena *arena, struct api_group **ret, size_t *ret_n);
/* Orders v1 > v2beta1 > v1beta2 > v1alpha1 > others by name: negative if a goes first. */
int version_compare(const char *a, const char *b);
