/* What users have asked of the fleet so far, and nothing else: the reference model is computed from it, the
 * agents' code has no part in it. Pure data; moves (moves.h) change it once the API server has taken what
 * they ask. Times are those of loop_now_ms(). */
#pragma once

#include "common/base/vec.h"
#include "common/json/doc.h"
#include "common/kube/client.h"
#include "e2e/simulation/wish_chart.h"
#include "e2e/simulation/wish_garden.h"
#include "e2e/simulation/wish_table.h"

#define WISH_APPS 5     /* namespaces app-0 ... app-4 */
#define WISH_MEMBERS 20 /* member-1 ... member-20: index 1 ...; 0 is not used */

/* ---- what an application may hold ---- */

enum wish_slot {
        SLOT_SETTINGS,               /* ConfigMap "settings" */
        SLOT_EXTRA,                  /* ConfigMaps "extra-0" ... "extra-3" */
        SLOT_BIG = SLOT_EXTRA + 4,   /* ConfigMaps "big-0", "big-1" of some 450 KiB: several Works */
        SLOT_WEB = SLOT_BIG + 2,     /* Deployment "web" */
        SLOT_JOB,                    /* Job "once": not trackable */
        SLOT_BUNDLE,                 /* ResourceEnvelope "bundle" with ConfigMap "packed" */
        SLOT_WIDGET,                 /* Widget "thing" of the definition below */
        SLOT_NAMESPACED,             /* (end of what lives in the namespace) */
        SLOT_ROLE = SLOT_NAMESPACED, /* ClusterRole "app-i" */
        SLOT_CLUSTER_BUNDLE,         /* ClusterResourceEnvelope "app-i" with ClusterRole "packed-i" */
        SLOT_DEFINITION,             /* CustomResourceDefinition "widgets.app-i.play.test" */
        WISH_SLOTS
};

struct wish_object {
        bool exists;
        bool labelled;  /* has the label pick=yes */
        unsigned color; /* its content: shown in the object by wish_manifest(), read back by wish_color() */
};

struct wish_asked { /* a content of an object that the hub took */
        unsigned color;
        int64_t at_ms;
};

struct wish_slot_kind {
        const char *name; /* without number or app: "settings", "extra", "role"; tables name it */
        bool in_namespace;
        bool is_envelope;  /* what reaches members is its content, wish_packed() */
        bool is_trackable; /* availability is told by its status, or at once */
        bool can_change;   /* a Job cannot */
};
extern const struct wish_slot_kind wish_slots[WISH_SLOTS];

/* ---- placements ---- */

enum wish_selection {
        SELECT_NAMESPACE,      /* the namespace with everything in it */
        SELECT_NAMESPACE_ONLY, /* the namespace object alone */
        SELECT_LABELLED,       /* the namespace, and of its ConfigMaps those with pick=yes (selection scope
                                  NamespaceWithResourceSelectors) */
        SELECT_ROLE,           /* ClusterRole app-i alone */
        SELECT_CONFIG_MAPS,    /* namespaced placements: ConfigMaps with pick=yes */
        SELECT_SETTINGS,       /* namespaced placements: ConfigMap settings by name */
};
enum wish_policy_type { POLICY_PICK_ALL, POLICY_PICK_N, POLICY_PICK_FIXED };
enum wish_apply { APPLY_CLIENT_SIDE, APPLY_SERVER_SIDE, APPLY_REPORT_DIFF };
enum wish_compare { COMPARE_PARTIAL, COMPARE_FULL };
enum wish_when { WHEN_ALWAYS, WHEN_NOT_DRIFTED };
enum wish_take_over { TAKE_OVER_ALWAYS, TAKE_OVER_NO_DIFF, TAKE_OVER_NEVER };
enum wish_back { BACK_NOT, BACK_TO_WORK, BACK_TO_ORIGINAL }; /* where statuses of placed objects go */
enum wish_tier { TIER_NONE, TIER_GOLD, TIER_SILVER }; /* label tier of clusters; requirement of policies */

struct wish_policy {
        enum wish_policy_type type; /* fixed while the placement exists */
        unsigned n;                 /* PICK_N */
        uint32_t fixed;             /* PICK_FIXED: bit i = member-i; bit 0 = "nowhere", which is no cluster */
        enum wish_tier tier;        /* required affinity; NONE = any */
        enum wish_tier prefers;     /* preferred affinity */
        bool tolerates;             /* the taint play=on; stays once given */
        bool spread;                /* PICK_N: topology spread over label zone, ScheduleAnyway */
};

struct wish_strategy {
        enum wish_apply apply;
        enum wish_compare compare;
        enum wish_when when;
        enum wish_take_over take_over;
        bool co_own;
        enum wish_back back;
        unsigned max_unavailable, max_surge; /* in percent; 0 is played, not both */
        unsigned unavailable_period_s;       /* 0 ... 20 */
        int64_t external_ms;                 /* since when it is External, which is for ever; 0 = it is not */
};

enum wish_place {
        PLACE_MAIN, /* ClusterResourcePlacement "app-i" */
        PLACE_TWIN, /* ClusterResourcePlacement "twin-i": selects ClusterRole app-i as well */
        PLACE_PART, /* ResourcePlacement app-i/"part" */
        WISH_PLACES
};

struct wish_placement {
        bool exists;
        bool leaving; /* was deleted and may still be there; what follows says what it was */
        enum wish_selection selection;
        bool with_role, with_bundle,
                with_definition; /* MAIN: selects those cluster-scoped slots by name, too */
        bool accessible;         /* MAIN: its status can be read in its namespace, too; fixed */
        struct wish_policy policy;
        struct wish_strategy strategy;
        unsigned history_limit;
        int64_t since_ms;   /* made */
        int64_t policy_ms;  /* the policy was changed last (beside n) */
        int64_t count_ms;   /* n was changed last; 0 = never */
        int64_t changed_ms; /* anything of it */
};

/* ---- overrides: of MAIN, which they name; without a name they would not move a placement by themselves ----
 */

enum wish_override_what {
        OVERRIDE_SETTINGS, /* ResourceOverride app-i/"settings": of ConfigMap settings */
        OVERRIDE_ROLE,     /* ClusterResourceOverride "app-i": of ClusterRole app-i */
        WISH_OVERRIDES
};

struct wish_override {
        bool exists;
        enum wish_tier tier; /* clusters with that label; NONE = every cluster */
        bool deletes;        /* the object is not placed on them */
        bool uses_label;     /* the value holds ${MEMBER-CLUSTER-LABEL-KEY-zone} */
        unsigned value; /* else: ConfigMap data.override / ClusterRole label override = "v<value>-<cluster
                           name>" */
};

/* ---- evictions, and the budgets that limit them: of cluster-wide placements ---- */

#define WISH_EVICTABLE PLACE_PART /* MAIN and TWIN */
#define WISH_EVICTIONS 10         /* "evict-0" ... */

struct wish_budget { /* of the placement's name, whether there is one or not */
        bool exists;
        bool max;     /* maxUnavailable; else minAvailable */
        bool percent; /* of `value` */
        unsigned value;
        int64_t changed_ms; /* 0 = there never was one */
};

struct wish_eviction {
        bool exists;
        unsigned app;
        enum wish_place place;
        unsigned member;
        int64_t made_ms;
        bool of_nothing; /* the placement was not there, nor going, when it was made */
};

/* ---- update runs, and the strategies that say how they go: each placement has one of its own ---- */

#define WISH_STAGES 3 /* stages "one", "two", "three" */
#define WISH_RUNS 10  /* "run-0" ...: cluster-wide, or in the namespace of PART */

enum wish_split { SPLIT_NOT, SPLIT_TIER, SPLIT_ZONE }; /* by which label the stages part the clusters */
enum wish_flaw { FLAW_NONE, FLAW_GAP, FLAW_OVERLAP };  /* clusters in no stage; clusters in two */

struct wish_stage {
        unsigned max;       /* maxConcurrency; 0 = not said */
        bool percent;       /* of `max` */
        bool sorted;        /* by label rank */
        bool before, after; /* tasks Approval; with `plan` they ask for one */
        bool plan;
        unsigned wait_s;    /* task TimedWait; 0 = none */
        unsigned timeout_s; /* clusterTimeout with maxFailedClusters; 0 = neither */
        unsigned failures;  /* maxFailedClusters */
};

struct wish_stages { /* of the placement's name and scope */
        bool exists;
        bool goes_on; /* onClusterChange: Continue */
        enum wish_split split;
        enum wish_flaw flaw;
        unsigned n;
        struct wish_stage stage[WISH_STAGES];
        int64_t changed_ms; /* or deleted; 0 = there never were any */
};

enum wish_run_state { RUN_PREPARED, RUN_GOES, RUN_STOPPED }; /* spec.state Initialize, Run, Stop */

struct wish_run {
        bool exists;
        bool leaving; /* was deleted and may still be there */
        unsigned app;
        enum wish_place place;
        enum wish_run_state state;
        int index;    /* of the snapshot; -1 = the newest */
        int retry_of; /* another run; -1 = none */
        int64_t made_ms;
};

struct wish_app {
        bool exists;     /* its namespace on the hub */
        bool leaving;    /* the namespace was deleted and may still be there */
        int64_t home_ms; /* it was made or deleted last */
        struct wish_object objects[WISH_SLOTS];
        VEC(struct wish_asked) asked[WISH_SLOTS]; /* all of them, oldest first */
        struct wish_placement placements[WISH_PLACES];
        struct wish_override overrides[WISH_OVERRIDES];
        struct wish_budget budgets[WISH_EVICTABLE];
        struct wish_stages stages[WISH_PLACES];
        unsigned n_runs[WISH_PLACES];    /* that were ever made of it */
        int64_t by_hand_ms[WISH_PLACES]; /* when a user last deleted a Work, binding or snapshot; 0 = never */
};

/* ---- ClusterObjectSets that users make on members themselves: revisions of ships, which carry cargo ---- */

#define WISH_SHIPS 2     /* owners of sets on each member: "ship-0", "ship-1" */
#define WISH_REVISIONS 9 /* of a ship: sets "ship-0-r1" ... "ship-0-r9" */
#define WISH_PHASES 3    /* of a set: phases "p0" ... "p2" */
#define WISH_HARBOR "harbor"
#define WISH_MASTER "master"

enum wish_cargo {
        CARGO_ASKED, /* ConfigMap "ship-0-a": whether it is ready a progressionProbe asks */
        CARGO_PLAIN, /* ConfigMap "ship-0-b" */
        CARGO_CREW,  /* Deployment "ship-0-c" */
        CARGO_ROLE,  /* ClusterRole "ship-0-d" */
        CARGO_LATE,  /* ConfigMap "ship-0-e" */
        WISH_CARGO
};
enum wish_protection { PROTECT_UNSAID, PROTECT_PREVENT, PROTECT_IF_NO_CONTROLLER, PROTECT_NONE };
enum wish_secret {
        SECRET_UNUSED,  /* all manifests are in the set */
        SECRET_MISSING, /* never was there */
        SECRET_MUTABLE,
        SECRET_THERE,
        SECRET_GONE, /* was there as it should be */
};

struct wish_item { /* of a set */
        bool wanted;
        bool more;   /* ConfigMaps: a field that other revisions may not have */
        bool by_ref; /* in the set's Secret, not in the set */
        unsigned phase, color;
        enum wish_protection protection; /* of the object alone */
};

struct wish_set {
        bool made; /* once at least */
        bool exists;
        bool leaving;                   /* was deleted and may still be there */
        bool archived;                  /* by a user */
        bool outlived;                  /* a later revision was there while it was */
        bool zipped;                    /* what is in its Secret */
        bool asked_otherwise;           /* a user changed its probes */
        bool asks, wants_yes, says_yes; /* it asks CARGO_ASKED to say yes or no; what that says */
        enum wish_protection protection, phase_protection[WISH_PHASES];
        enum wish_secret secret;
        struct wish_item items[WISH_CARGO];
};

/* A user's own object where a set may want to put one. */
struct wish_stray {
        bool there;
        bool owned; /* something else is its controller */
        bool maybe; /* a set may have taken it over since */
        bool left;  /* or an object of a set that was deleted, and which nobody may control since */
        unsigned color;
};

struct wish_ship {
        struct wish_set sets[WISH_REVISIONS]; /* revision i + 1 */
        struct wish_stray strays[WISH_CARGO];
        bool stalled;     /* its Deployment is not available */
        bool disk_failed; /* that of its member's agent: what a set has may be known by its manifests alone */
};

/* ---- clusters ---- */

enum wish_membership { MEMBER_OUT, MEMBER_IN, MEMBER_LEAVING };

struct wish_member_state { /* what policies look at */
        enum wish_tier tier;
        unsigned zone; /* 0 = no label; else zone-1 ... zone-3 */
        bool tainted;  /* play=on:NoSchedule */
        bool in;       /* it has a MemberCluster that is not being deleted */
};

struct wish_member_was {
        int64_t until_ms;
        struct wish_member_state state;
};

#define WISH_TOLD_NAMESPACE "default"
#define WISH_TOLD_MAP "about"
#define WISH_TOLD_SIZE "size"
#define WISH_TOLD_PRICES "prices"

struct wish_member {
        enum wish_membership membership;
        unsigned rank; /* label rank, an integer; 0 = none. Goes with the MemberCluster */
        /* What the operator tells of the cluster; 0 = nothing: a property, and the price of its machine of
         * two cores. */
        unsigned size, price;
        struct wish_member_state now;
        VEC(struct wish_member_was) before; /* oldest first */
        /* Users' own doings on the cluster, bit i of app i. */
        uint32_t unready; /* Deployments "web" of these apps are not available */
        /* A user's ConfigMap app-i/settings, or ClusterRole app-i, that was there before any placement
         * brought it; `equal`: its fields are those of the hub at that moment. */
        struct wish_foreign {
                bool settings, role, equal;
                bool home; /* the user made the namespace for the ConfigMap, too */
                int64_t since_ms;
        } foreign[WISH_APPS];
        /* When a user last wrote or deleted a placed object there by hand: [app][slot], 0 = never. */
        int64_t meddled_ms[WISH_APPS][WISH_SLOTS];
        bool harbor; /* namespace WISH_HARBOR, and in it ConfigMap "master" that may control strays */
        struct wish_ship ships[WISH_SHIPS];
};

#define WISH_HUB_AGENTS 3

/* A process was stopped last, within these times: what it had decided before may leave when it goes on. */
struct wish_stop {
        int64_t from_ms, until_ms; /* 0 = never */
};

struct wish {
        unsigned n_members;
        int64_t clock_ms; /* the clocks were set last: members may look silent, and be heard of again; 0 =
                             never */
        struct wish_stop stops[WISH_HUB_AGENTS]; /* by held_agent() */
        struct wish_app apps[WISH_APPS];
        struct wish_member members[WISH_MEMBERS + 1];
        struct wish_eviction evictions[WISH_EVICTIONS];
        struct wish_run runs[WISH_RUNS];
        struct wish_desk desk;
        struct wish_shelf shelf;
        struct wish_garden garden;
};

void wish_clear(struct wish *w);
/* Notes the state that ends now. */
int wish_ask(struct wish *w, unsigned app, unsigned slot, int64_t at_ms); /* notes the content as it is now */
/* Whether the object ever was asked to hold this, no later than `until_ms`. */
bool wish_was_asked(const struct wish *w, unsigned app, unsigned slot, unsigned color, int64_t until_ms);
int wish_member_set(struct wish *w, unsigned member, const struct wish_member_state *now, int64_t at_ms);

/* ---- as objects; all new, NULL on no memory ---- */
void wish_object_name(unsigned app, unsigned slot, char ret[64]);
const char *wish_app_name(unsigned app);                                  /* "app-3" */
json_t *wish_manifest(const struct wish *w, unsigned app, unsigned slot); /* the object on the hub */
/* What members get of it: itself, or the content of an envelope; with the name it has there. */
json_t *wish_placed(const struct wish *w, unsigned app, unsigned slot);
json_t *wish_placed_as(unsigned app, unsigned slot, const struct wish_object *o); /* if it were like that */
/* Each application's Widgets are of a group of their own. */
const struct kube_resource *wish_resource(unsigned app, unsigned slot);
const struct kube_resource *wish_placed_resource(unsigned app, unsigned slot); /* ConfigMap for SLOT_BUNDLE */
void wish_placed_name(unsigned app, unsigned slot, char ret[64]);
bool wish_color(unsigned slot, const json_t *doc,
                unsigned *ret); /* reads the content of a hub's or placed object */
json_t *wish_placement_doc(const struct wish *w, unsigned app, enum wish_place place);
const struct kube_resource *wish_placement_resource(enum wish_place place);
void wish_placement_name(unsigned app, enum wish_place place, char ret[64]); /* PART's in the namespace */
const struct kube_resource *wish_override_resource(enum wish_override_what what);
void wish_override_name(unsigned app, enum wish_override_what what, char ret[64]);
json_t *wish_override_doc(const struct wish *w, unsigned app, enum wish_override_what what);
extern const struct kube_resource wish_budget_resource, wish_eviction_resource;
void wish_eviction_name(unsigned eviction, char ret[64]);
json_t *wish_budget_doc(const struct wish *w, unsigned app, enum wish_place place);
json_t *wish_eviction_doc(const struct wish *w, unsigned eviction);
/* wish_run.c */
const struct kube_resource *wish_stages_resource(enum wish_place place);
const struct kube_resource *wish_run_resource(enum wish_place place);
const struct kube_resource *wish_approval_resource(enum wish_place place);
const char *wish_stage_name(unsigned stage);
void wish_run_name(unsigned run, char ret[64]);
json_t *wish_stages_doc(const struct wish *w, unsigned app, enum wish_place place);
json_t *wish_run_doc(const struct wish *w, unsigned run);
/* A request as a user makes it who does not wait for the hub agent: for before or after one of its stages. */
json_t *wish_approval_doc(const struct wish *w, unsigned run, unsigned stage, bool before);
/* wish_set.c */
extern const struct kube_resource wish_set_resource;
#define WISH_SHIP_NAME 32
const char *wish_ship_name(unsigned ship, char ret[WISH_SHIP_NAME]);                   /* "ship-0" */
const char *wish_set_name(unsigned ship, unsigned revision, char ret[WISH_SHIP_NAME]); /* "ship-0-r1" of 0 */
const char *wish_cargo_name(unsigned ship, unsigned cargo, char ret[WISH_SHIP_NAME]);
bool wish_set_of(const char *name, unsigned *ret_ship, unsigned *ret_revision); /* the other way round */
bool wish_cargo_of(const char *name, unsigned *ret_ship, unsigned *ret_cargo);
const struct kube_resource *wish_cargo_resource(unsigned cargo);
const char *wish_cargo_home(unsigned cargo); /* its namespace or NULL */
bool wish_cargo_color(unsigned cargo, const json_t *doc, unsigned *ret);
unsigned wish_cargo_slot(unsigned cargo);                                        /* what it is like */
json_t *wish_cargo_doc(const struct wish_set *s, unsigned ship, unsigned cargo); /* the manifest */
json_t *wish_stray_doc(unsigned ship, unsigned cargo, unsigned color);
json_t *wish_set_doc(const struct wish_set *s, unsigned ship, unsigned revision);
json_t *wish_set_probes(const struct wish_set *s); /* spec.progressionProbes */
json_t *wish_set_secret(const struct wish_set *s, unsigned ship, unsigned revision); /* of the set's name */
unsigned wish_set_phases(const struct wish_set *s);
enum wish_protection wish_protection_of(const struct wish_set *s, unsigned cargo); /* as it works */
/* May the set take what is no set's? */
bool wish_may_adopt(const struct wish_set *s, unsigned cargo, bool has_controller);
json_t *wish_member_labels(const struct wish_member_state *s); /* {"tier":..,"zone":..}, null where none */
/* The slots that a placement selects now: bit s of slot s. The namespace itself comes with every selection of
 * MAIN but SELECT_ROLE. */
uint32_t wish_selected(const struct wish *w, unsigned app, enum wish_place place);
bool wish_selects_namespace(const struct wish *w, unsigned app, enum wish_place place);
/* One cluster's fitness for a policy in a state: affinity, taints; not PickFixed's list. */
bool wish_fits(const struct wish_policy *p, const struct wish_member_state *s);
