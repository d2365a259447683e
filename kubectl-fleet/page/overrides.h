/* What the parts of the view of overrides share: which override snapshots concern a placement, and which of
 * its clusters each of them touches. Pure. spec/rollout-and-work.md 3-5. */
#pragma once

#include "common/base/map.h"
#include "hub-agent/common.h"
#include "hub-agent/override/rule.h"
#include "kubectl-fleet/page/row_parts.h"

/* What is rendered of one cluster in one look; the rest is counted as left out. */
#define PAGE_OVERRIDE_BYTES (8u << 20)  /* of manifests, each as often as it is passed through overrides */
#define PAGE_OVERRIDE_PASSES_MAX 10000u /* manifests times rules */

/* One override as a snapshot has it. */
struct touch {
        const struct override_snapshot *snapshot;
        const struct override_spec *spec; /* never NULL */
        struct override_rule_list rules;
        const char *key;   /* "cro/NAME-3", "ro/NS/NAME-0" */
        bool latest;       /* it is what the override says now */
        bool meant;        /* the latest, and meant for this placement or for something in it */
        bool for_secrets;  /* it selects Secrets */
        bool near_secrets; /* a Namespace with Secrets, as far as is known */
        size_t n_named;    /* bindings that name it */
        size_t n_would;    /* clusters that a rule concerns, of one that no binding names */
        size_t *by_rule;   /* clusters that each rule concerns, of those that name it, else of all */
        bool *broken;      /* the rule's selector cannot be read */
};

/* An override as a binding names it. */
struct named_override {
        struct touch *touch; /* NULL: the snapshot is gone */
        const char *ns, *snapshot;
        const char *key;
};
struct named_overrides {
        struct named_override *at;
        size_t n;
};

/* One cluster of the placement. */
struct override_place {
        const struct binding *binding; /* with a spec */
        const char *name;
        const struct member_cluster *cluster; /* NULL: it is gone */
        struct named_overrides named;         /* in the order in which they are applied */
};

struct overrides {
        const struct page_look *look;
        const struct scope *scope;
        bool no_objects, only_objects; /* what is asked for */
        const char *ns, *name;         /* of the placement; ns NULL: a ClusterResourcePlacement */
        const struct placement *placement;
        const struct binding
                *binding; /* of the cluster that is asked about; NULL: it is on none, or not there */
        struct override_place *places;
        size_t n_places;
        const struct override_place *asked;
        struct touch *at;
        size_t n;
        struct map *by_key;  /* -> struct touch */
        struct map *objects; /* keys of what the placement has; NULL: not known */
};

static inline const char *override_target(const struct binding *b)
{
        return b->spec ? or_empty(b->spec->target_cluster) : "";
}

/* Fills places and touches from what was read. */
int overrides_gather(struct overrides *o);
/* Whether a value at this path may be one of a Secret, of an override that is meant for some. */
bool override_value_hidden(const struct touch *t, const char *path);
/* Rows of "overrides" and "clusters". */
int overrides_draw(const struct overrides *o, struct page_doc *d);
/* Rows of "objects", and the one of "rendered": what becomes of the manifests on the cluster asked about. */
int overrides_draw_objects(const struct overrides *o, struct page_doc *d);
