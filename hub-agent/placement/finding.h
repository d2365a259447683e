/* What the intake of a placement found, for the controller that writes its status. It is kept in the intake's
 * record, so after a restart there is none before the intake has passed once, and nothing is said until then.
 */
#pragma once

#include "common/loop/loop.h"
#include "hub-agent/memory.h"

/* What a selection or a group of snapshots holds. Does not change once it is made; shared by references. */
struct selected {
        unsigned refs;
        struct arena arena;
        struct resource_identifier_list ids;
        char hash[65]; /* of the content: spec/placement.md 6.3 */
};
/* A copy with one reference; NULL on no memory. */
struct selected *selected_new(const struct resource_identifier_list *ids, const char *hash);
struct selected *selected_ref(struct selected *s);
void selected_unref(void *selected);

enum finding_kind {
        FINDING_SELECTED, /* snapshots are as the placement wants them */
        FINDING_REFUSED,  /* it cannot be carried out as it stands; `message` says why */
        FINDING_STOPPED,  /* as refused, and nothing new may be begun for it, not even its copy (mirror.h) */
};
struct finding {
        enum finding_kind kind;
        int64_t generation; /* of the placement that was looked at */
        const char *reason; /* a constant; of Scheduled=False, as the message; NULL when all is well */
        const char *message;
        const char *head;          /* uid of the latest resource snapshot; NULL with strategy External */
        struct selected *selected; /* what the status names; NULL unless selected */
        bool old_group;            /* that is of the group before: a new one is due, but not yet */
};

struct kept_finding;
struct intake_memory {
        struct memory memory;
        char fingerprint[65];     /* of the metadata by which `known` was read */
        struct selected *known;   /* the selection that was read last; NULL if none */
        int64_t failing_since_ms; /* loop_now_ms(); not the user's doing; 0 = it does not fail */
        /* Indexes of the snapshots that were asked for and of which nobody knows whether they were made, or
         * yet will be; 0: there is none. None below is marked latest until then, though the same is wanted
         * again, or who told of the indexes before has gone since: there would be two. */
        int64_t policy_asked_for, resources_asked_for;
        struct kept_finding *finding;
        bool taken; /* somebody selects resources and makes snapshots of them */
        struct waitq turn;
};

/* Keeps a copy in place of the finding before. ERR_NO_MEMORY: that one stays. */
int finding_put(struct intake_memory *m, const struct finding *f);
/* The placement cannot be taken in at present. What was found about this generation stays, with these words;
 * where nothing was, it is FINDING_REFUSED. ERR_NO_MEMORY: the finding before stays. */
int finding_put_passing(struct intake_memory *m, int64_t generation, const char *reason, const char *message);
/* The finding about this generation of a placement; *ret NULL when there is none: then the intake has still
 * to pass. Stays valid until `arena` dies, also when it is replaced meanwhile. */
int finding_get(struct intake_memory *m, const struct object *placement, struct arena *arena,
                const struct finding **ret);
