/* What a ResourceSet's status says: conditions, history, durations and the annotations that steer it. Pure.
 * spec/resource-set.md 1, 8, 15. */
#pragma once

#include "hub-agent/common.h"

#define HISTORY_MAX 5
#define STATE_MESSAGE_MAX 32768

enum state { STATE_RUNNING, STATE_READY, STATE_SUSPENDED, STATE_WAITING, STATE_FAILED, STATE_STALLED };

/* Sets the conditions of a state in `set`, a copy to change: 15.1. `reason` and `message` are of Ready;
 * STATE_RUNNING has its own where they are NULL. The longest message is cut. ERR_NO_MEMORY. */
int state_set(struct resource_set *set, enum state state, const char *reason, const char *message,
              int64_t now_ms, struct arena *arena);

struct history_note {
        const char *digest, *status;
        int64_t now_ms, took_ms;
        bool counted; /* the two counts below are known */
        size_t n_inputs, n_resources, n_different;
};
/* 15.2, in place. ERR_NO_MEMORY. */
int history_note(struct resource_set *set, const struct history_note *note, struct arena *arena);

/* "52ms", "1m5s". */
#define TOOK_SIZE 48
void took_text(int64_t ms, char ret[TOOK_SIZE]);

bool is_suspended(const struct object *o); /* in any case of letters */
bool is_forced(const struct object *o);
/* Of an annotation; `fallback_ms` where there is none, or none that can be read. */
int64_t annotated_ms(const struct object *o, const char *key, int64_t fallback_ms);
/* The inventory; an empty one where there is none. */
struct resource_set_inventory_entry_list inventory_of(const struct resource_set *set);
/* Its status, made if there is none; NULL on no memory. */
struct resource_set_status *status_of(struct resource_set *set, struct arena *arena);
