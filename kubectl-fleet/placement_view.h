/* What `status` shows of placements: made from what the hub has, drawn as text or written as a document.
 * Pure. */
#pragma once

#include "common/ctrl/informer.h"
#include "kubectl-fleet/standing.h"
#include "proto/gen/kinds.h"

/* One placement in a line, from it alone. */
struct placement_summary {
        const struct placement *placement;
        const char *policy, *revision; /* "PickN 3"; the index of the snapshot, "" if none */
        struct progress progress;
        size_t n_drifted, n_diffed; /* clusters with objects that drifted or differ */
        enum standing standing;     /* of the whole */
        const char *word;
};
/* Strings are the placement's or in the arena. 0 or ERR_NO_MEMORY. */
int placement_summarize(struct arena *arena, const struct placement *p, struct placement_summary *ret);
json_t *placement_summary_doc(const struct placement_summary *v); /* new */

/* One placement as a tree. */
struct cluster_view {
        const char *cluster;
        const struct binding *binding;
        const char *revision; /* on its way there, or there; "" = none yet */
        struct cluster_word word;
        const char **works;
        size_t n_works;
};
struct placement_view {
        struct placement_summary summary;
        const char *snapshot; /* name of the latest resource snapshot; NULL = none */
        const char *latest;   /* its index; "" = none */
        int64_t snapshot_ms;
        struct cluster_view *clusters; /* those in trouble first, then by name */
        size_t n_clusters;
        const struct condition *scheduled; /* NULL = the scheduler has not spoken */
};
struct placement_parts {
        const struct placement *placement;
        struct object_list bindings;  /* struct binding, of the placement */
        struct object_list works;     /* struct partial_object, labelled with the placement */
        struct object_list snapshots; /* struct partial_object: its resource snapshots marked latest */
};
int placement_look(struct arena *arena, const struct placement_parts *parts, struct placement_view *ret);

struct placement_drawing {
        struct screen screen;
        int64_t now_ms;
        bool all; /* clusters and objects that would be counted only */
};
void placement_draw(const struct placement_view *v, struct placement_drawing *d);
json_t *placement_doc(const struct placement_view *v); /* new; NULL on no memory */

/* A resource as people name it: "Deployment web/nginx". */
#define RESOURCE_TEXT_SIZE 400
const char *resource_text(const char *kind, const char *ns, const char *name, char ret[RESOURCE_TEXT_SIZE]);
json_t *resource_identifier_doc(const struct resource_identifier *id); /* new */
json_t *condition_doc(const struct condition *c);                      /* new; null for NULL */
/* Sets a member unless the text is empty. */
int doc_set_unless_empty(json_t *doc, const char *key, const char *text);
