/* Placing things on a fleet and timing it. One placement is a namespace with a ConfigMap of 1 KiB and a
 * Deployment, selected by a ClusterResourcePlacement onto all members (PickAll). */
#pragma once

#include "common/base/map.h"
#include "e2e/bench/bench.h"

/* Microseconds of the loop's clock; 0 = not yet. */
struct placement_times {
        int64_t began, applied, available;
        int64_t last_binding; /* when the last of its bindings became Available, of those that are followed */
};

struct placements {
        struct kube_client *hub;
        size_t capacity;            /* placements "bench-0" ... */
        struct placement_times *at; /* by number */
        size_t n_available;
        struct map bindings; /* names of the followed ones that are Available */
        const struct placement_times *first_followed;
        size_t n_bindings, half_of_bindings, n_available_at_half;
        struct waitq changed;
        struct fiber_group *group; /* of the watchers */
        int code;                  /* the watcher's, when it has ended */
        struct error err;
};

/* Opens the watch on all placements. */
int placements_open(struct placements *p, struct kube_client *hub, struct fiber_group *parent,
                    size_t capacity, struct error *err);
void placements_close(struct placements *p);
/* From now on the bindings of placements from `first` on are followed too: when half of n of them are
 * Available, n_available is noted. */
int placements_follow_bindings(struct placements *p, size_t first, size_t n, struct error *err);

int placements_prepare(struct placements *p, size_t number, struct error *err); /* what is to be placed */
/* Creates the placement; its time begins just before the request. */
int placements_begin(struct placements *p, size_t number, struct error *err);
/* Waits until so many are Available in all. */
int placements_wait(struct placements *p, size_t n_available, int64_t deadline_ms, struct error *err);

#define PLACEMENT_OWN_REQUESTS 4 /* creates of one placement made by the benchmark itself */
