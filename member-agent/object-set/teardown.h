/* Taking a set's objects away, the last phase first: spec/cluster-object-set.md 12. Pure: what the inventory
 * has and how each object is, in; what is to be done with it, out. Secrets are not needed. */
#pragma once

#include "member-agent/object-set/set.h"

enum teardown {
        TEARDOWN_GONE,    /* nothing there, or nothing of ours in it */
        TEARDOWN_DELETE,  /* ours: DELETE with uid and resourceVersion */
        TEARDOWN_RELEASE, /* another's by now: want_release() */
        TEARDOWN_WAIT     /* asked for already */
};
enum teardown teardown_of(const struct set_identity *set, const json_t *live);

/* 12.3: what a set that is being deleted does with its objects. */
#define TEARDOWN_FAREWELL_MS (5 * 60 * 1000)
enum farewell {
        FAREWELL_TEAR_DOWN, /* as when archived, so long at most */
        FAREWELL_LEAVE,     /* the collector is at it (foregroundDeletion), or time is up */
        FAREWELL_ORPHAN     /* objects become plainly nobody's */
};
enum farewell teardown_farewell(const struct object_meta *m, int64_t now_ms);

/* "waiting for <object>, finalizers: a, b"; NULL on no memory. */
const char *teardown_waiting_words(const struct set_object *o, const json_t *live, struct arena *arena);
