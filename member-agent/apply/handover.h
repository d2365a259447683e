/* What a Work that no longer lists an object, or that goes, does about it: objects that move between the
 * Works of one placement stay in place and are handed from Work to Work. Pure. Nothing is removed while any
 * Work on the member wants it, or while one that may want it has not arrived. */
#pragma once

#include "member-agent/apply/work_set.h"

/* A Work of this member as the hub last showed it, with regard to one object. */
struct handover_work {
        const char *name;
        struct work_set set;
        bool deleting;
        bool known;   /* its newest generation is in the state file, so `wants` is true to it */
        bool wants;   /* it lists the object */
        bool reports; /* it only reports differences, and makes nothing (ReportDiff) */
};

enum handover {
        HANDOVER_REMOVE, /* nobody wants it */
        HANDOVER_WAIT,   /* somebody may want it: look again */
        HANDOVER_GIVE    /* put another Work's owner reference in the place of ours */
};

struct handover_question {
        struct handover_work self;
        const struct handover_work *others; /* all siblings, and whoever else wants the object */
        size_t n;
        bool hub_heard;    /* the hub's Works have been listed since the agent started */
        bool hub_present;  /* and the watch on them is in order */
        bool catching_up;  /* what some of them want may not be known: the state file was lost */
        int64_t waited_ms; /* since this Work first had to wait */
};

/* The hub sees users' objects through one watch per kind: what moves from one kind of place to another (out
 * of an envelope) may be nowhere in a set that is followed by another at once. So long nothing is removed,
 * unless the whole placement goes. */
#define HANDOVER_SETTLE_MS 1000
/* Where the size of a set is not told, a sibling that is still to come is waited for so long; so is what
 * Works want after the state file was lost. */
#define HANDOVER_PATIENCE_MS 5000

/* *ret_to (GIVE only) is one of `others`. */
enum handover handover_decide(const struct handover_question *q, const struct handover_work **ret_to);

/* May `self`, which lists an object, put its own reference in the place of sibling `holder`'s? */
enum handover_claim {
        CLAIM_NONE, /* the holder keeps it: a conflict, to be told */
        CLAIM_WAIT, /* the holder is about to let go of it */
        CLAIM_TAKE
};
enum handover_claim handover_claim(const struct handover_work *self, const struct handover_work *holder);
