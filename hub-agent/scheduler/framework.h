/* Inside of the scheduler: stages, plugins and what they see. spec/scheduler.md 7. */
#pragma once

#include "hub-agent/scheduler/scheduler.h"

/* One member cluster during a cycle. */
struct candidate {
        const struct member_cluster *cluster;
        bool taken; /* holds a scheduled or bound binding of the active snapshot, or is to get one */
        const struct binding *obsolete, *unscheduled,
                *deleting;    /* the first by name that it holds; NULL = none */
        bool picked;          /* in this cycle: gets a binding, or keeps one */
        const char *filtered; /* reason, NULL = passed */
        bool counts_time;     /* the reason told tells minutes that have gone by */
        int32_t topology, affinity;
        struct cell *cell;                                  /* of ranking.c; NULL = it cannot be picked */
        const char *unreadable_property, *unreadable_value; /* one that is no quantity; NULL = none seen */
};

struct cycle {
        const struct schedule_input *in;
        const struct placement_policy *policy; /* NULL = PickAll */
        struct arena *arena;
        struct error *err;
        struct candidate *candidates; /* one per cluster, in name order */
        size_t n;
        struct term_memo *required;        /* of affinity.c, by term */
        struct preference_memo *preferred; /* likewise */
        bool skip_filter[8], skip_score[8];
        uint64_t steps; /* clusters, domains and cells looked at */
};

enum verdict { SUCCESS, UNSCHEDULABLE, ALREADY_SELECTED, SKIP, FAILED };

/* Asked once in a cycle: what changes from pick to pick is ranking.c. Any stage may be NULL. FAILED:
 * cycle->err says why. */
struct plugin {
        const char *name;
        enum verdict (*pre_filter)(struct cycle *c); /* SKIP: its filter does not run */
        enum verdict (*filter)(struct cycle *c, struct candidate *k, const char **ret_reason);
        enum verdict (*pre_score)(struct cycle *c);                  /* SKIP: its score does not run */
        enum verdict (*score)(struct cycle *c, struct candidate *k); /* adds to the candidate's scores */
};

extern const struct plugin cluster_affinity_plugin, cluster_eligibility_plugin, namespace_affinity_plugin,
        taint_toleration_plugin, same_placement_plugin;

/* Runs PreFilter and Filter over all candidates: sets `filtered`; taken ones are left out by the caller. */
int framework_filter(struct cycle *c);
/* PreScore, and then Score for one candidate. */
int framework_begin_scores(struct cycle *c);
int framework_score(struct cycle *c, struct candidate *k);
struct candidate *candidate_find(const struct cycle *c, const char *cluster); /* NULL = none */
/* The same, for who asks in about the order of the names, as bindings come: looks at *at first, and leaves
 * the place after what it found there. Begin with 0. */
struct candidate *candidate_find_next(const struct cycle *c, const char *cluster, size_t *at);
bool candidate_is_open(const struct candidate *k); /* neither filtered nor taken */

/* What a property's name stands for (spec 11.1.1). */
enum property_kind {
        PROPERTY_PLAIN,                 /* a key of status.properties */
        PROPERTY_RESOURCE,              /* an amount of status.resourceUsage */
        PROPERTY_NO_CAPACITY_TYPE,      /* malformed */
        PROPERTY_UNKNOWN_CAPACITY_TYPE, /* malformed */
};
struct property_ref {
        size_t offset; /* of the string map in struct resource_usage */
        const char *resource;
};
enum property_kind property_ref_of(const char *name, struct property_ref *ret); /* *ret: of a resource */

/* 1 with *ret; 0 absent, or reported as something that is no quantity, which is noted in the candidate;
 * ERR_INVALID for a malformed name. */
struct quantity;
int cluster_property(struct candidate *k, const char *name, struct quantity *ret, struct error *err);
int property_compare(const char *operator, int order); /* 1 holds, 0 does not, -1 unknown operator */
bool property_order_known(const char *order);

/* The first thing in a policy that no cluster can be measured by, as field and rule; NULL in *ret = none. 0
 * or ERR_NO_MEMORY. */
int policy_problem(struct arena *arena, const struct placement_policy *p, const char **ret);
