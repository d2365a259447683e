/* Discovery: which resource serves a kind. Cached; a miss re-reads discovery at most once a second. */
#pragma once

#include "common/kube/client.h"

struct kube_mapper;
struct kube_mapper *kube_mapper_new(struct kube_client *k);
struct kube_mapper *kube_mapper_free(struct kube_mapper *m);

struct kube_mapped {
        struct kube_resource resource; /* strings live as long as the mapper */
        bool listable, watchable;
        /* The version to take when none is named: the group's preferred one where it serves the resource,
         * else the first in the group's order that does. */
        bool preferred_version;
        /* The server could not tell of this group version at the last reading (an aggregated API that is
         * down): what was known of it is kept. */
        bool stale;
        unsigned rank; /* place of the version in its group's order of preference, 0 = first */
};
/* version NULL or "" = the preferred one. ERR_NOT_FOUND: "no kind \"X\" is served in group \"g\", version
 * \"v\"". Parks.
 */
int kube_mapper_kind(struct kube_mapper *m, const char *group, const char *version, const char *kind,
                     struct kube_mapped *ret, struct error *err);
int kube_mapper_api_version(struct kube_mapper *m, const char *api_version, const char *kind,
                            struct kube_mapped *ret, struct error *err);
/* Reads discovery anew; true in *ret_changed (may be NULL) when the set of resources changed. A group version
 * that the server lists but cannot tell of does not fail the reading. */
int kube_mapper_refresh(struct kube_mapper *m, bool *ret_changed, struct error *err);
/* All resources, sorted by group, plural and rank, subresources left out; valid until the next refresh. */
const struct kube_mapped *kube_mapper_all(struct kube_mapper *m, size_t *ret_n);
/* Whether the last reading could not tell all of the group: what is not listed may be there all the same. */
bool kube_mapper_doubts(const struct kube_mapper *m, const char *group);
/* The scope of a kind as far as it was read; no request, does not park. A version that is not served counts
 * as another one of the kind. */
enum kube_scope { KUBE_SCOPE_UNKNOWN, KUBE_SCOPE_CLUSTER, KUBE_SCOPE_NAMESPACED };
enum kube_scope kube_mapper_scope(const struct kube_mapper *m, const char *group, const char *kind);
