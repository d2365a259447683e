/* From YAML to the objects of one sync: spec/flux-yaml.md 5. Pure. */
#pragma once

#include "hub-agent/manifest-generation/flux_config.h"

#include "common/json/doc.h"

#define RESOURCES_MAX 20000 /* of one sync */

struct resource {
        const json_t *doc; /* with its effective namespace once it is settled */
        struct slice text; /* the document as it was loaded, without its marker; data NULL: it was an item of
                              a list, or was patched */
        const char *api_version, *kind, *name;
        const char *namespace; /* as written, "" for none; effective once it is settled */
        const char *identity;  /* "<namespace>:<kind>/<name>", kind in lower case; `<cluster>` without one */
        const char *source;    /* "staging/a.yaml"; of generated ones "staging/../.flux.yaml" */
        const struct flux_target *target;
        bool cluster_scoped;
};

struct resource_list {
        struct arena *arena;
        struct resource *at;
        size_t n, cap;
};

/* Appends the objects of a stream: documents without kind are passed over, a kind that ends in List is its
 * items, JSON is YAML. ERR_INVALID: `parsing YAML doc from "%s": yaml: line 12: ...` (the line of the whole
 * text), or an object lacks apiVersion or metadata.name. Each document has the limits of a text of its own.
 * ERR_LIMIT: `scanning multidoc from "%s": ...`. On failure nothing is appended. */
int resources_parse(struct resource_list *into, struct slice text, const char *source,
                    const struct flux_target *target, struct error *err);
/* Copies it. ERR_LIMIT beyond RESOURCES_MAX. */
int resources_add(struct resource_list *l, const struct resource *r, struct error *err);
/* In the order of identities; of equal ones, as they came. */
int resources_sort(struct resource_list *l, struct error *err);
/* `default:deployment/a`. NULL on no memory. */
const char *resource_identity(struct arena *arena, const char *namespace, const char *kind, const char *name);

enum resource_scope { SCOPE_UNKNOWN, SCOPE_CLUSTER, SCOPE_NAMESPACED };

struct resource_rules {
        /* Discovery. `*ret_why` (may be left NULL) tells why it is unknown. */
        enum resource_scope (*scope_of)(void *ctx, const char *api_version, const char *kind,
                                        const char **ret_why);
        void *ctx;
        const char *default_namespace;
        /* `not allowed: %s` for kinds of the fleet and the agent's own Secrets; NULL: all are. */
        bool (*is_refused)(void *ctx, const struct resource *r);
};

/* Why a resource is left out of this sync: `cannot find scope of resource %s: %s`, `resource %s will be
 * excluded until its scope is available`. */
struct resource_unknown {
        const struct resource *resource;
        const char *why;
};

/* Sets scope, namespace and identity, takes out those of unknown scope (*ret_unknown, in the arena), and
 * checks for duplicates over all, which it removes where they are equal Namespaces. CRDs in the list tell
 * scopes too. The order stays. ERR_INVALID: one of the four texts about duplicates, or `not allowed: `; then
 * *ret_bad, if it is not NULL, is the resource that came second (or is not allowed), so that its target alone
 * can be left out. */
int resources_settle(struct resource_list *l, const struct resource_rules *rules,
                     struct resource_unknown **ret_unknown, size_t *ret_n_unknown,
                     const struct resource **ret_bad, struct error *err);
