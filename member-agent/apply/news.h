/* What changed for the worse or the better between two statuses of a Work: what events and the log tell, once
 * per change. Pure: the last status is known across restarts, so nothing is told twice. Digits do not count
 * as a change of words, since versions and counts in error texts change with every try. */
#pragma once

#include "proto/gen/types.h"

/* A hash of words that digits do not count in; `seed` as of hash_bytes(). */
uint64_t news_words_hash(const char *words, uint64_t seed);

struct news {
        const struct work_resource_identifier *about;
        bool trouble;     /* begins, or becomes another; else it ended */
        const char *rule; /* reason word: "FoundDrifts", "ManifestApplyFailed"; of an end: what it is now */
        const char *text; /* one sentence, with the paths that differ and never their values */
};

/* Of each manifest at most one. `before` may be NULL. *ret has room for all manifests of `after`. */
int news_of(const struct work_status *before, const struct work_status *after, struct arena *arena,
            struct news **ret, size_t *ret_n, struct error *err);
