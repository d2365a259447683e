/* Semantic versions, and ranges of them as people write them for charts and images.
 * spec/helm-chart.md 7, spec/resource-set.md 20.3.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

struct semver {
        uint64_t number[3]; /* major, minor, patch */
        struct slice pre;   /* "rc.1"; empty = a release. Borrows the text that was parsed */
        unsigned n_written; /* how many of the numbers the text has: the others are 0 */
};

/* "v1.2.3-rc.1+build", the v and all but the first number optional, leading zeros allowed; 0 or ERR_INVALID.
 */
int semver_parse(struct slice text, struct semver *ret);
/* Three numbers without leading zeros, and no v: as tags of registries have to be. */
bool semver_is_strict(struct slice text);
/* As precedence has it: a pre-release before its release; build data does not count. */
int semver_compare(const struct semver *a, const struct semver *b);

struct semver_range;
/* Terms joined by space or comma (all hold), groups of them by || (one holds): = != > < >= => <= =< ~ ~> ^,
 * none = "="; x, X, * and missing numbers are wildcards; "1.2 - 2.3" includes both ends. ERR_INVALID names
 * the group, ERR_LIMIT: more than SEMVER_TERMS_MAX. It borrows `text` and lives in the arena. */
#define SEMVER_TERMS_MAX 100
int semver_range_parse(struct arena *arena, struct slice text, const struct semver_range **ret,
                       struct error *err);
/* A pre-release is in it only if a term of the group that holds names a pre-release itself. */
bool semver_range_has(const struct semver_range *r, const struct semver *v);
