/* When an object is ready: built-in rules and the set's own probes: spec/cluster-object-set.md 10. Pure: one
 * live document in, a verdict out. */
#pragma once

#include "member-agent/object-set/assertion.h"

struct probe_result {
        enum verdict verdict;
        const char *words; /* joined with " and "; "" when true */
};
struct probe_input {
        const struct progression_probe_list *probes; /* the set's own; may be NULL */
        const char *group, *kind;
        const json_t *live;
        bool first_consumer; /* a claim whose StorageClass binds it when somebody uses it */
};
/* ERR_INVALID: a selector that cannot be read, with the text of 10.1. */
int probe_object(const struct probe_input *in, struct arena *arena, struct probe_result *ret,
                 struct error *err);
/* Whether `first_consumer` has to be found out: a claim that is not bound. *ret_class: the StorageClass it
 * names, NULL = the default one. */
bool probe_needs_class(const char *group, const char *kind, const json_t *live, const char **ret_class);

#define PROBE_FAILURES_TOLD 10
/* 10.4: of objects that are not ready one line each, of the first so many; "" if there are none. NULL on no
 * memory. */
struct probe_failure {
        const struct set_object *object;
        const char *words;
};
const char *probe_failures_words(const struct probe_failure *at, size_t n, struct arena *arena);
