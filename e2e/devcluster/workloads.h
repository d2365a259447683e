/* The simulated half of a cluster: what schedulers, kubelets, cloud providers and the controller manager
 * would do to built-in objects. Driven by writes, never by polling: every write of a kind with rules
 * (workload_status.h) is looked at again some milliseconds later, until nothing is left to change. */
#pragma once

#include "e2e/devcluster/store.h"

struct devcluster;

#define WORKLOAD_DELAY_MS 5

struct simulator;

struct simulator *simulator_new(struct devcluster *d); /* NULL on no memory */
struct simulator *simulator_free(struct simulator *s); /* after its fibers ended */
/* From a write to its effect; 0 = at once. Default WORKLOAD_DELAY_MS. */
void simulator_set_delay(struct simulator *s, int64_t ms);

/* A change of the store: called for every one, cheap for tables without rules. */
void simulator_changed(struct simulator *s, struct table *t, enum event_type type, const struct blob *object);
/* Looks at all objects of a cluster again: after a restart, or when a readiness rule changed. */
void simulator_refresh(struct simulator *s, struct cluster *c);
