/* What the page tells of a member cluster wherever it shows one. Pure. */
#pragma once

#include "kubectl-fleet/page/row_parts.h"
#include "kubectl-fleet/where_view.h"

struct page_cluster {
        const struct member_cluster *cluster;
        bool joined, healthy, removing, cordoned;
        int64_t heard_ms; /* TIME_NONE = never */
        enum standing standing;
        const char *word;    /* "healthy" */
        const char *message; /* why not; "" */
};
/* 0 or ERR_NO_MEMORY. */
int page_cluster_look(struct arena *arena, const struct member_cluster *c, struct page_cluster *ret);
/* standing, word, message, heard, joined, removing, cordoned, labels, taints, nodes, version, cpu and memory
 * {capacity, allocatable, available}, cost {cpu, memory}: what is not known is left out. */
void page_put_cluster(struct page_writer *w, const struct page_cluster *c);
/* {"done", "busy", "failed", "total"}; the rest waits. */
json_t *page_progress(const struct progress *p);
/* "crp/web", "rp/team/web": the key of an object's row, and its name in links. NULL on no memory. */
const char *page_object_key(struct arena *arena, const struct object *o, const char *cluster,
                            const char *namespaced);
/* At most so many objects of one placement are told of one by one; those in trouble come first. */
#define PAGE_SHARE_OBJECTS_MAX 1000
