/* What a ResourceSet waits for before anything is applied. Pure: one live document in, a verdict out.
 * spec/resource-set.md 7. */
#pragma once

#include "hub-agent/common.h"

struct cel_program;
struct dependency {
        const struct resource_set_dependency *wanted;
        const char *ns;              /* "" = none */
        struct cel_program *program; /* NULL = no expression counts */
};

/* All of them with their expressions compiled; ERR_INVALID: one is malformed, and where. *ret has as many as
 * the spec. */
int dependencies_compile(struct arena *arena, const struct resource_set *set, struct dependency **ret,
                         struct error *err);
/* "Kind/ns/name" with apiVersion in front, as messages have it; NULL on no memory. */
const char *dependency_words(struct arena *arena, const struct dependency *d);
/* NULL: it is met. Else why it is not. `hidden`: the data of a Secret is not shown to the expression. */
const char *dependency_judge(struct arena *arena, const struct dependency *d, const json_t *live, bool hidden,
                             int64_t now_ms);
