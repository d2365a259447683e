/* What all stores of the API servers hold, as their disk does: changes come in while they are written, and
 * count once they are committed. What was lost with a server was never seen here. Documents are parsed once.
 */
#pragma once

#include "e2e/devcluster/store.h"
#include "e2e/simulation/watch.h"

struct mirror;

struct mirror_options {
        struct loop *loop;
        void (*changed)(void *ctx, const struct change *c); /* of each change that is committed, in order */
        void *ctx;
        bool (*looks_into)(const char *resource); /* `before` and `after` are NULL of others; NULL: of all */
};

struct mirror *mirror_new(const struct mirror_options *o); /* NULL on no memory */
struct mirror *mirror_free(struct mirror *m);
/* Nobody is told of what comes, which makes it cheap. True at first. */
void mirror_set_silent(struct mirror *m, bool silent);
struct author {
        const char *who; /* lives as long as the mirror */
        int64_t asked_ms;
        bool unheard;
};
void mirror_write(struct mirror *m, const struct table *t, enum event_type type, struct blob *object,
                  const struct author *by);
/* What was written is on disk, or (durable false) never will be. */
void mirror_commit(struct mirror *m, bool durable);
/* Whether a cluster's store holds exactly what was committed: 0 or ERR_INTERNAL with the first difference. */
int mirror_compare(const struct mirror *m, struct cluster *c, struct error *err);

/* Borrowed until the object changes. NULL if absent. */
const json_t *mirror_get(struct mirror *m, const char *cluster, const char *resource, const char *ns,
                         const char *name);
/* In order of namespace and name. ns NULL = all. Stops when fn says false. */
void mirror_each(struct mirror *m, const char *cluster, const char *resource, const char *ns,
                 bool (*fn)(void *ctx, const json_t *doc), void *ctx);
