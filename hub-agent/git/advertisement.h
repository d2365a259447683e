/* What refs a remote says it has, and what it can do: the beginning of each conversation. Pure. */
#pragma once

#include "hub-agent/git/git.h"

struct advertisement {
        struct arena *arena;
        const char *service; /* "git-upload-pack", which is said before over HTTP; NULL = not expected */
        bool announced, began, done;
        size_t bytes, room;
        struct git_ref *at;
        struct git_refs refs;
        const char *capabilities; /* "" if none */
};

void advertisement_begin(struct advertisement *a, struct arena *arena, const char *service);
/* A packet; data NULL = a flush. `done` is set by the last. ERR_INVALID, ERR_LIMIT, ERR_NOT_FOUND ("ERR
 * ...").
 */
int advertisement_take(struct advertisement *a, struct slice packet, struct error *err);
/* Refs sorted, in a->refs. ERR_INVALID: there was none, or not all; ERR_UNSUPPORTED: hashes other than SHA-1.
 */
int advertisement_end(struct advertisement *a, struct error *err);

/* What stands behind "name=" among the capabilities, or "" if it stands alone; {NULL}: it is not there. The
 * `n`-th of those. */
struct slice capability_value(const char *capabilities, const char *name, size_t n);
bool capability_is(const char *capabilities, const char *name);
