/* Leader election on a coordination.k8s.io/v1 Lease, compatible with client-go's: a candidate may take the
 * lease when its record has not changed for the lease's duration, measured on the candidate's own clock. */
#pragma once

#include "common/kube/client.h"

/* How long each request that gives leases back may wait for its answer. API servers aim at one second for 99
 * of 100; of a Pod's grace period, 30 s, two requests (a leader's) or eight one after the other (who shares
 * shards, one of which is being given up) leave nearly half for all else that ends. Who is cut off sooner
 * costs others the rest of its lease. */
#define RELEASE_DEADLINE_MS 2000

struct leader_options {
        const char *ns, *name, *identity;
        int64_t lease_ms, renew_deadline_ms, retry_ms;
        const char *label, *label_value; /* put on the lease; NULL = none */
        int64_t longest_ms; /* another's lease holds no longer, whatever it says; 0 = as long as it says */
};

/* What a lease was before we took it. */
enum leader_before {
        LEASE_WAS_NEW,     /* nobody ever held it */
        LEASE_WAS_OURS,    /* it named us */
        LEASE_WAS_ANOTHERS /* another held it last */
};

struct leader {
        struct kube_client *kube;
        struct leader_options options;
        char *observed;         /* the record last seen, as canonical text */
        int64_t observed_at_ms; /* when it was first seen so */
        int64_t renewed_at_ms;  /* last success */
        json_t *held;           /* the lease as we last wrote it: a renewal needs no read */
        enum leader_before before;
        bool leading;
        bool followed; /* another led while leader_acquire() waited */
        bool lapsed;   /* leader_hold() ended because no renewal got through, not because another leads */
};

/* Who a process is in a lease: "HOST_UID" in a Pod that knows its uid (environment POD_UID), where no two run
 * at once, so that a container started again after a crash goes on under its own lease; elsewhere
 * "HOST_RANDOM". Without a HOSTNAME the component's name stands for it. */
#define LEADER_IDENTITY_SIZE 224
void leader_identity(const struct world *w, const char *component, char ret[LEADER_IDENTITY_SIZE]);
void leader_init(struct leader *le, struct kube_client *k, const struct leader_options *o);
void leader_clear(struct leader *le);
int leader_acquire(struct leader *le, struct error *err); /* parks until leading; ERR_CANCELLED */
/* Parks while leading: returns ERR_TIMEOUT once the lease could not be renewed in time, or was taken, also by
 * who gave it back since; ERR_CANCELLED. */
int leader_hold(struct leader *le, struct error *err);
/* After a lapse, or before work that waited: parks until the lease is renewed, which needs that nobody else
 * had it meanwhile. 0;
 * ERR_TIMEOUT if another has it or it is gone, so that what we remember may be old; ERR_CANCELLED. */
int leader_regain(struct leader *le, struct error *err);
/* What leaves now is sent under the lease: nobody else can have taken it. By the clock itself, since a
 * process that was stopped goes on with what it had decided. */
bool leader_may_write(const struct leader *le);
void leader_release(struct leader *le); /* gives the lease back if it is ours; bounded, never fails loudly */

/* ---- in single steps, for who holds several (shards.h) ---- */

/* A lease as it was read (NULL = it is not there): whether it may be taken now. 0 or ERR_NO_MEMORY. */
int leader_look(struct leader *le, const json_t *lease, bool *ret_free);
/* One try to take or renew it, reading it first. 0: it is ours, `before` says whose it was; ERR_EXISTS:
 * another holds it; ERR_CONFLICT: another was faster. */
int leader_try(struct leader *le, int64_t call_deadline_ms, struct error *err);
/* One renewal, within what is left of it: as leader_try(), and `before` says whether it was ours throughout.
 */
int leader_renew(struct leader *le, struct error *err);
