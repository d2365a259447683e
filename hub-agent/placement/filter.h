/* What may be placed at all, and how objects are cleaned and ordered before they go into a snapshot: pure
 * rules. spec/placement.md 5, 6.1, 6.2. */
#pragma once

#include "common/base/map.h"
#include "common/json/doc.h"
#include "proto/object.h"

/* Group, version and kind an API list names; NULL = any. */
struct api_pattern {
        const char *group, *version, *kind;
};

struct filter_rules {
        struct arena arena; /* owns the parsed texts */
        struct api_pattern *listed;
        size_t n_listed;
        bool allow; /* `listed` is an allow list: nothing else passes, the built-in deny list does not count
                     */
        const char **namespaces;
        size_t n_namespaces;
        bool workloads_run_here; /* --enable-workload: claims may be made by the hub's own StatefulSets */
};

/* Both lists are tokens separated by ';' (namespaces: ',' too) and may be NULL; at most one of skipped and
 * allowed. ERR_INVALID names the token. */
int filter_rules_parse(const char *skipped_apis, const char *allowed_apis, const char *skipped_namespaces,
                       bool workloads_run_here, struct filter_rules *ret, struct error *err);
void filter_rules_free(struct filter_rules *r);

bool filter_api_allowed(const struct filter_rules *r, const char *group, const char *version,
                        const char *kind);
bool filter_namespace_allowed(const struct filter_rules *r, const char *ns);

/* spec 5.3, as far as metadata tells. Endpoints made for a Service are the caller's to judge. */
bool filter_object_excluded(const struct filter_rules *r, const char *group, const char *version,
                            const char *kind, const struct object_meta *meta);
/* spec 5.3, the rest: needs the body. */
bool filter_document_excluded(const json_t *doc);

/* spec 6.2: removes in place what must not travel. ERR_INVALID when spec is no object where one is needed. */
int filter_sanitise(json_t *doc, struct error *err);

/* One selected object, by which it is ordered (spec 6.1). ns is "" for cluster-scoped ones. */
struct selected_id {
        const char *group, *version, *kind, *ns, *name;
};
int filter_compare(const struct selected_id *a, const struct selected_id *b);
