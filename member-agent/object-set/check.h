/* What is wrong with a set before anything is asked of a server, and which answers of a dry run refuse an
 * object: spec/cluster-object-set.md 7. Pure. */
#pragma once

#include "member-agent/object-set/set.h"

/* One object that is refused, and why: one text per rule. */
struct refusal {
        const struct set_object *object;
        const char **why;
        size_t n_why;
};
struct refusals {
        struct refusal *at;
        size_t n;
};

/* 7.1: *ret is the whole message ("revision validation error: …"), NULL if all is well. Duplicates are found
 * without regard to the version. */
int check_set(const struct set_identity *set, const struct set_phases *phases, struct arena *arena,
              const char **ret, struct error *err);
/* Whether the answer to a dry run says that the object cannot be as wanted (7.2), rather than that nothing is
 * known (429, 5xx, no answer). */
bool check_is_refusal(const struct error *answer);
/* "phase %d validation error: …" */
int check_phase_words(const struct set_phase *phase, size_t index, const struct refusals *refused,
                      struct arena *arena, const char **ret, struct error *err);
