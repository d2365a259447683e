/* Admission policies put to requests that nobody sends: what devcluster's policies say, without an API server
 * around them. */
#pragma once

#include "common/json/doc.h"

struct judge; /* a policy with its bindings; lives in the arena, borrows the documents */

/* ERR_INVALID names what the API server would not take. */
int judge_compile(struct arena *arena, const json_t *policy, const json_t *const *bindings, size_t n,
                  struct judge **ret, struct error *err);

struct judge_case { /* what does not apply is "" */
        const char *operation, *group, *version, *resource, *subresource, *ns, *name;
        const json_t *request, *object, *old, *params; /* as expressions see them; NULL = null */
        const json_t *namespace_labels;
        bool has_param; /* false: the bindings find none, and let in */
};
struct judge_answer {
        bool concerned, allowed;
        const char *message, *reason; /* of the denial; in the arena */
};
/* ERR_INVALID: an expression has no value. */
int judge_ask(const struct judge *j, const struct judge_case *c, struct arena *arena,
              struct judge_answer *ret, struct error *err);
