/* The entries of metadata.managedFields. Private to common/json. */
#pragma once

#include "common/base/vec.h"
#include "common/json/apply.h"

enum { MANAGED_UPDATES_MAX = 10 }; /* Update entries of one object; older ones are folded into one */

struct manager {
        const char *name, *operation, *api_version, *subresource; /* the last "" if none; borrowed */
        const char *time;                                         /* RFC 3339 or ""; borrowed */
        json_t *set;                                              /* owned */
        const json_t *entry; /* what it was read from, borrowed: printed again while nothing changed */
        const json_t *like;  /* the same while nothing but the time changed; both may be NULL */
};
struct managers {
        struct manager *at;
        size_t n, cap;
        char now[32]; /* the time of entries that change */
        bool changed; /* anything differs from what was read */
};

/* Reads the entries; they borrow from `array`, which must live as long. NULL and [] give none. */
int managers_read(struct managers *m, const json_t *array, int64_t wall_ms, struct error *err);
void managers_free(struct managers *m);
/* The manager's entry; Apply entries are found whatever their version. NULL if none. */
struct manager *managers_find(struct managers *m, const struct apply_options *o, const char *operation);
/* The same, adding an empty entry where there is none; NULL on no memory. */
struct manager *managers_obtain(struct managers *m, const struct apply_options *o, const char *operation);
/* Replaces the set (taken; NULL is no memory) if it differs; touches the time only if asked. */
int manager_set(struct managers *m, struct manager *who, json_t *set, bool touch);
void manager_touch(struct managers *m, struct manager *who);
/* Drops empty entries and folds the oldest updates together above the maximum. */
int managers_tidy(struct managers *m);
/* Puts the entries into object.metadata.managedFields, sorted; removes the field if there are none. */
int managers_write(struct managers *m, json_t *object, struct error *err);
