/* Discovery: which resource serves a kind. Cached; a miss re-reads discovery at most once a second. */
#pragma once

#include "common/kube/client.h"

struct kube_mapper;
struct kube_mapper *kube_mapper_new(struct kube_client *k);
struct kube_mapper *kube_mapper_free(struct kube_mapper *m);

struct kube_mapped {
        struct kube_resource resource; /* strings live as long as the mapper */
        bool listable, watchable, preferred_version;
        const char *const *verbs; /* NULL-terminated */
};
/* version NULL or "" = the preferred one. ERR_NOT_FOUND: "no kind \"X\" is served in group \"g\", version
 * \"v\"". Parks.
 */
int kube_mapper_kind(struct kube_mapper *m, const char *group, const char *version, const char *kind,
                     struct kube_mapped *ret, struct error *err);
int kube_mapper_api_version(struct kube_mapper *m, const char *api_version, const char *kind,
                            struct kube_mapped *ret, struct error *err);
/* Reads discovery anew; true in *ret_changed (may be NULL) when the set of resources changed. */
int kube_mapper_refresh(struct kube_mapper *m, bool *ret_changed, struct error *err);
/* All resources, in a fixed order, subresources left out; valid until the next refresh. */
const struct kube_mapped *kube_mapper_all(struct kube_mapper *m, size_t *ret_n);
