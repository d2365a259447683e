/* .gitmodules: where submodules come from. Pure. spec/helm-chart.md 12.1, 13. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

#define GIT_MODULES_MAX 100

struct git_module {
        const char *path, *url; /* NULL = not said */
};
struct git_modules {
        struct git_module *at;
        size_t n;
};
/* In the arena. ERR_LIMIT: more than GIT_MODULES_MAX; ERR_INVALID: it cannot be read. */
int git_modules_parse(struct slice text, struct arena *arena, struct git_modules *ret, struct error *err);
const char *git_modules_url(const struct git_modules *m, const char *path); /* NULL = there is none */
