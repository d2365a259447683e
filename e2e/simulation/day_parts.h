/* What the files of a day share. */
#pragma once

#include "e2e/simulation/day.h"
#include "e2e/simulation/faults.h"
#include "e2e/simulation/random.h"
#include "e2e/simulation/sim_fleet.h"

enum { DAY_PLACEMENTS = 8, DAY_TIERS = 10, DAY_ZONES = 5, DAY_FIXED_CLUSTERS = 10, DAY_HEARTBEATS = 8 };

enum day_kind {
        DAY_TIER,       /* PickAll of the clusters of one tier */
        DAY_EVERYWHERE, /* PickAll */
        DAY_PICK_N,     /* the clusters with most of something free */
        DAY_SPREAD,     /* PickN over zones */
        DAY_FIXED,      /* PickFixed */
        DAY_STAGED      /* PickAll of one tier, rolled out by update runs */
};

struct day_member {
        bool in;      /* users want it in the fleet */
        bool leaving; /* and no more; its agent is needed still */
        bool down, cut;
        unsigned tier;
        int64_t back_ms; /* when it comes back; of those that are away */
        /* When the hub's store had its last heartbeats, in turn; heard: how many there were ever. */
        int64_t heard_ms[DAY_HEARTBEATS];
        unsigned heard;
};

struct day_placement {
        enum day_kind kind;
        bool there;
        unsigned color; /* what its ConfigMap says */
        unsigned tier, wanted, first;
        unsigned wanted_before;     /* until wanted_ms, and for a while after */
        int64_t wanted_ms, late_ms; /* late: when a binding last came that had been on its way for long */
        unsigned runs;              /* made so far */
        /* Of each member: live bindings by now, as the store has them; whether it fitted at some time since
         * the policy is as it is, so that it may have it still: what runs is not taken away for a label. */
        uint8_t live[DAY_MEMBERS + 1];
        bool fitted[DAY_MEMBERS + 1];
};

struct day {
        const struct day_plan *plan;
        struct day_result *result;
        struct loop *loop;
        FILE *trace;
        struct log_sink sink;
        struct log log;
        struct coverage *coverage;
        struct faults *faults;
        struct fleet *fleet;
        struct kube_client *hub; /* of the users */
        struct dice dice;
        unsigned n; /* members */
        struct day_member members[DAY_MEMBERS + 1];
        struct day_placement placements[DAY_PLACEMENTS];
        unsigned evictions, hub_agent_down; /* 0 = none, else index + 1 */
        int64_t hub_agent_back_ms;
        bool resting;        /* nothing is to be written but signs of life */
        struct error broken; /* the first rule that was */
};

extern const struct kube_resource day_member_resource, day_run_resource;

void day_member_name(unsigned member, char ret[32]);
void day_placement_name(unsigned placement, char ret[32]); /* its namespace's, too */
/* Whether a member is to have it; of PickN: whether it may. */
bool day_is_wanted(const struct day *d, unsigned placement, unsigned member);
/* To be called when members or labels are others; `anew`: when its policy is. */
void day_note_fitting(struct day *d, unsigned placement, bool anew);

/* ---- day_moves.c: what users do and what goes wrong ---- */

/* One drawn move; 1 = done, 0 = nothing to do for it now. What users are refused is none and 0. */
int day_move(struct day *d, struct error *err);
/* Whose time has come is back. */
int day_come_back(struct day *d, struct error *err);
/* Everybody is, and agents of members that have left end. */
int day_heal(struct day *d, struct error *err);
int day_join(struct day *d, unsigned member, struct error *err);
int day_make_placement(struct day *d, unsigned placement, struct error *err);
/* A run that brings what there is by now to all clusters of a staged placement. */
int day_make_run(struct day *d, unsigned placement, struct error *err);

/* ---- day_model.c: what has to hold ---- */

/* At each change of any store. */
void day_changed(void *ctx, const struct change *c);
bool day_looks_into(const char *resource);
/* That all is as users asked, or the first difference. */
int day_look(struct day *d, struct error *err);
/* The last run of a staged placement: 1 succeeded, 0 goes on, -1 ended otherwise or there is none. */
int day_run_state(struct day *d, unsigned placement);
