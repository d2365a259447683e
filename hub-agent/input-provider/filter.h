/* Which refs are exported. Pure. spec/resource-set.md 20. */
#pragma once

#include "common/base/semver.h"
#include "common/json/regex.h"
#include "hub-agent/input-provider/ref.h"

#define FILTER_LIMIT_DEFAULT 100
#define FILTER_LIMIT_MAX 10000

/* As users write it; NULL and 0 = not set. */
struct filter_texts {
        const char *include_branch, *exclude_branch, *include_tag, *exclude_tag;
        const char *include_environment, *exclude_environment, *semver;
        const char *const *labels;
        size_t n_labels;
        int64_t limit;
};

struct filter {
        const struct regex *include, *exclude;
        const struct semver_range *range;
        const char *const *labels;
        size_t n_labels, limit;
};

/* Borrows the texts; lives in the arena. ERR_INVALID and ERR_LIMIT name the field. */
int filter_make(const struct filter_texts *t, struct arena *arena, struct filter *ret, struct error *err);
/* By include and exclude: 1, 0 or ERR_NO_MEMORY. */
int filter_takes_name(const struct filter *f, const char *name);
bool filter_takes_labels(const struct filter *f, const struct input_ref *r);
/* Puts the best tags in front and sets *n to how many there are: by version if there is a range, else by
 * bytes, highest first, `limit` at most. 0 or ERR_NO_MEMORY. */
int filter_best_tags(const struct filter *f, struct input_ref *at, size_t *n);
/* skip.labels: whether the request is left as it was. */
bool filter_skips(const char *const *skip, size_t n_skip, const struct input_ref *r);
