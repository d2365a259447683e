/* From what a pass found to the set's status, its events and the next look: spec/cluster-object-set.md 11,
 * 12.1, 14, 15, 18. Pure. */
#pragma once

#include "member-agent/object-set/set.h"

enum finding {
        FOUND_RESOLVED, /* nothing but what the phases hold: noted before the first write to an object */
        FOUND_COMPLETE,
        FOUND_INCOMPLETE, /* `words`: probes to blame (10.4), "" if there are none */
        FOUND_ERROR,      /* retried with backoff */
        FOUND_REFUSED,    /* preflight; this and the next are retried every ten seconds */
        FOUND_COLLISION,
        FOUND_BLOCKED,      /* waits for a person */
        FOUND_TEARING_DOWN, /* `words`: what it waits for, "" if that is nothing in particular */
        FOUND_ARCHIVED
};
#define JUDGE_NO_PHASE SIZE_MAX

struct judge_input {
        const struct cluster_object_set *set; /* as read at the beginning of the pass */
        enum finding finding;
        const char *words;   /* error, refusal, collisions, block, probes; "" = none */
        const char *ahead;   /* what keeps a later phase from beginning; NULL = nothing known */
        size_t phase;        /* the first that is not complete, from 0; JUDGE_NO_PHASE = not known */
        size_t phase_before; /* the same of the pass before, likewise: then no event tells of phases */
        const struct set_phases *now; /* digests to be noted; NULL = not resolved in this pass */
        int64_t now_ms;               /* wall clock */
};
struct judge_event {
        bool warning;
        const char *reason, *message;
};
struct judge_result {
        struct cluster_object_set_status *status; /* wanted; texts borrowed from the input */
        bool differs;                             /* from what the set has */
        int64_t after_ms;                         /* 0 = wait for events */
        bool backoff;                             /* the frame's, at most `after_ms` if that is set */
        struct judge_event events[4];
        size_t n_events;
};
int judge_set(const struct judge_input *in, struct arena *arena, struct judge_result *ret, struct error *err);
/* Milliseconds to the progress deadline; INT64_MAX = none counts, <= 0 = it has passed. */
int64_t judge_deadline_ms(const struct cluster_object_set *s, int64_t now_ms);
