/* Which objects of a repository are applied, and in what order. spec/flux-yaml.md 7.2, 11. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/json/doc.h"

/* One object as it was loaded; borrowed. */
struct sync_object {
        const char *identity; /* "apps:deployment/web", "<cluster>:namespace/apps" */
        const char *ns;       /* the effective one; NULL = cluster scope */
        const char *kind, *name, *api_version;
        const char *source; /* the file, or target path and configuration file */
        const char *target; /* the target path it came from */
        const json_t *doc;
};

struct sync_rules {
        const char *const *namespaces; /* the only ones; none = all */
        size_t n_namespaces;
        const char *agent_namespace; /* its Secrets are the agent's */
};

enum sync_fate {
        SYNC_APPLY,
        SYNC_IGNORED, /* Git says so */
        SYNC_OUTSIDE, /* of the namespaces that are allowed */
        SYNC_REFUSED, /* ERR_FORBIDDEN: `not allowed: %s` */
};
enum sync_fate sync_fate_of(const struct sync_rules *r, const struct sync_object *o, struct error *err);
/* Whether objects there may be read and written at all: a Namespace by its own name, all else of cluster
 * scope always. */
bool sync_is_allowed(const struct sync_rules *r, const char *ns, const char *kind, const char *name);

#define SYNC_RANKS 5
unsigned sync_rank(const char *kind); /* 0 first */
/* By rank, name, identity. */
void sync_sort(const struct sync_object **objects, size_t n);
int sync_compare(const char *kind_a, const char *name_a, const char *identity_a, const char *kind_b,
                 const char *name_b, const char *identity_b);
/* "apps:deployment/web". NULL on no memory. */
const char *sync_identity(struct arena *arena, const char *ns, const char *kind, const char *name);
