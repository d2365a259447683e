/* The judging parts of the reference model: documents in, the first difference out. Nothing here asks an API
 * server; model_compare.c reads what they judge. Rules: spec/placement.md 10, spec/member-agent.md 2. */
#pragma once

#include "e2e/simulation/model.h"

/* The namespace itself is one more slot: no manifest of its own, only that it is there. */
#define SLOT_HOME WISH_SLOTS
#define MODEL_SLOTS (WISH_SLOTS + 1)

/* How late the scheduler may have heard of clusters and policies: links stay down for longer than a minute.
 */
#define MODEL_SLACK_MS 120000
/* A cluster that joined again cleans up what its former membership left; so long after joining it may be
 * there still. Shorter than the quiet time between the two looks at a run's end. */
#define MODEL_REJOIN_MS 540000

enum model_tell { TELL_NOT, TELL_MAY, TELL_MUST };

/* What a placement's status says of a cluster: the first of its conditions that is not True. */
enum model_outcome {
        OUTCOME_NONE,           /* not chosen */
        OUTCOME_BLOCKED,        /* the rollout strategy holds it at what it has */
        OUTCOME_NOT_OVERRIDDEN, /* likewise it keeps what it has */
        OUTCOME_NOT_APPLIED,
        OUTCOME_UNAVAILABLE,
        OUTCOME_NOT_REPORTED,
        OUTCOME_GOOD
};

/* What a run brought to a cluster: the content of a snapshot. */
struct model_held {
        char index[32];
        bool home; /* the namespace */
        struct wish_object objects[WISH_SLOTS];
};

/* One placement as the hub has it, and what its status was found to say. */
struct model_place {
        unsigned app;
        enum wish_place place;
        const json_t *doc;   /* NULL: there is none */
        const json_t *shown; /* what its namespace shows of its status; NULL: nothing */
        bool frozen;         /* its selectors are invalid: it stays as it was, whatever that is */
        uint32_t chosen;
        const json_t *entries[WISH_MEMBERS + 1];
        enum model_outcome outcomes[WISH_MEMBERS + 1];
        bool external; /* others roll it out: clusters keep what they have, or a run brought it */
        const struct model_held *held[WISH_MEMBERS + 1]; /* borrowed; NULL: nothing by a run that is known */
        bool may_linger; /* the budget holds up the removal from clusters that are chosen no more */
};

/* What the binding's cluster has of the placement by a run alone, given all snapshots; mem_free it. NULL: it
 * may be something else. */
struct model_held *model_held_new(const struct wish *w, const struct model_place *p, const json_t *binding,
                                  const json_t *snapshots);
/* Judges a placement against the wish; `p` comes with app, place, doc, shown and held. */
int model_judge_placement(const struct wish *w, struct model_place *p, struct error *err);
/* What its namespace shows of its status, if anything: spec/placement.md 11. */
int model_judge_shown(const struct wish *w, const struct model_place *p, struct error *err);
/* The conditions and indexes of a placement that others roll out: spec/placement.md 10.6. */
int model_judge_external(const struct wish *w, const struct model_place *p, struct error *err);

/* One member's cluster, read by model_compare.c or made up by a test. */
struct model_member {
        unsigned index;
        bool cleaning; /* it joined again not long ago */
        /* What there is of an object, borrowed; NULL if absent. */
        const json_t *(*live)(const void *ctx, unsigned app, unsigned slot);
        const void *ctx;
};

/* What a placement's status has to tell about one object on one member. */
struct model_tells {
        enum model_tell failed; /* in ReportDiff mode: that its diff cannot be told */
        enum model_tell drifted, diffed;
        bool unready, untrackable;
};

/* All objects of one application on a member: each in its place and as it should be, and told truthfully in
 * the status of each of its placements. */
int model_judge_app(const struct wish *w, unsigned app, const struct model_place places[WISH_PLACES],
                    const struct model_member *m, struct error *err);
/* The lists and conditions of a placement about one member it is on, given what there is to tell. */
int model_judge_report(const struct wish *w, const struct model_place *p, unsigned member,
                       const struct model_tells tells[MODEL_SLOTS], struct error *err);

/* The evictions there are and what each says, given the list of all of them. */
int model_judge_evictions(const struct wish *w, const json_t *list, struct error *err);

/* ---- small things the parts share ---- */

/* All update runs, their approval requests and all bindings: cluster-wide, and of all namespaces. */
struct model_runs {
        json_t *runs[2], *approvals[2], *bindings[2];
};
int model_judge_runs(const struct wish *w, const struct model_runs *lists, struct error *err);

/* What a member has of ClusterObjectSets and what they name: lists, each of more than that. */
struct model_sets {
        json_t *sets, *config_maps, *deployments, *roles;
};
int model_judge_ship(const struct wish_ship *wish, unsigned ship, const struct model_sets *live,
                     struct error *err);

/* What the hub has of ResourceSets, their providers, and what they make: lists, each of more than that. */
struct model_desk {
        json_t *tables, *sources, *config_maps, *namespaces;
        const json_t *placements; /* borrowed */
        bool no_members;          /* nobody is in the fleet */
};
/* Charts and repositories, and that the files they name are served. Parks. */
int model_judge_shelf(struct fleet *f, const struct wish_shelf *shelf, struct error *err);
int model_judge_garden(struct fleet *f, const struct wish_garden *g, struct sim_git *git, struct error *err);
int model_judge_member_beds(struct fleet *f, const struct wish_garden *g, unsigned member, bool was_out,
                            struct error *err);
int model_judge_source(const struct wish_desk *desk, unsigned source, const struct model_desk *live,
                       struct error *err);
int model_judge_table(const struct wish_desk *desk, unsigned table, const struct model_desk *live,
                      struct error *err);
/* What placed tables made, on a member that has these ConfigMaps. */
int model_judge_tenants(const struct wish_desk *desk, const struct model_desk *live,
                        const json_t *config_maps, bool was_out, struct error *err);
bool model_is_made_by(const json_t *doc, unsigned table); /* its labels say so */

struct model_difference {
        bool differs;    /* a field that is wanted is missing or of another value */
        bool more;       /* there are fields nobody wanted */
        char path[128];  /* of the first field that differs, "" if none */
        char extra[128]; /* of the first field too many */
};
/* What a manifest says against what there is: metadata of servers, labels and annotations of Kubernetes and
 * of the fleet, and the status do not count. */
void model_differ(const json_t *wanted, const json_t *live, struct model_difference *ret);

bool model_is_in(const struct wish *w, unsigned member); /* it belongs to the fleet now */
/* That an override concerns the placement's slot on the member; *ret_fails: it uses a label the member does
 * not have. */
bool model_overridden(const struct wish *w, unsigned app, enum wish_place place, unsigned slot,
                      unsigned member, bool *ret_fails);
bool model_reports(const struct model_place *p, const struct wish *w); /* ReportDiff */
const char *model_place_text(unsigned app, enum wish_place place, char ret[96]);
const char *model_slot_text(unsigned app, unsigned slot, char ret[128]);
/* The resource of a slot as members have it; of SLOT_HOME, too. */
const struct kube_resource *model_resource(unsigned app, unsigned slot);
void model_name(unsigned app, unsigned slot, char ret[64]);
const json_t *model_find(const json_t *list, const char *name);       /* whatever its namespace; or NULL */
const json_t *model_condition(const json_t *owner, const char *type); /* of owner's "conditions"; or NULL */
/* Whether it is True, and speaks of that generation. */
bool model_holds_now(const json_t *owner, const char *type, int64_t generation);
