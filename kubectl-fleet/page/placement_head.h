/* The head of the view of one placement, and what it shares with the view of an object. Pure. */
#pragma once

#include "kubectl-fleet/page/places.h"
#include "kubectl-fleet/page/view.h"

struct page_placement {
        const char *name, *ns; /* ns: NULL of a ClusterResourcePlacement */
};
/* From the arguments `kind` (crp or rp), `name` and `ns`. ERR_INVALID. */
int page_placement_arg(const struct page_look *l, struct page_placement *ret, struct error *err);
/* Bindings and Works of a placement; `works_whole`: with their status, else metadata alone. Manifests are
 * never read. */
int page_placement_needs(const struct page_look *l, const struct page_placement *p, bool works_whole,
                         struct page_needs *ret, struct error *err);

struct page_trouble_count {
        size_t total, shown;
};
struct page_placement_look {
        const struct page_look *look;
        struct places places;
        struct page_trouble_count failed, drifted, different;
        size_t ill; /* places on a cluster that is not well */
};
json_t *page_placement_head(const struct page_placement_look *v); /* new; NULL on no memory */

/* Sentences of what a policy asks for; NULL = no policy. A new array; NULL on no memory. */
struct page_writer;
json_t *page_policy_words(struct page_writer *w, const struct placement_policy *p);
/* What names a placement in rows: {scope: "crp" or "rp", namespace, name}. New. */
json_t *page_placement_name(const struct object *placement);
/* The override of a snapshot, {kind, namespace, name, snapshot}; ns NULL: cluster-scoped. New. */
json_t *page_override_of(struct arena *arena, const char *ns, const char *snapshot);
