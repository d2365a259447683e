/* Whether somebody may do something. */
#pragma once

#include "e2e/devcluster/request.h"

struct access_question {
        const struct identity *who;
        const char *verb;
        const char *group, *version, *resource, *subresource, *ns, *name; /* NULL or "" = none or all */
        const char *path; /* non-resource request; NULL otherwise */
};
/* *ret_reason (may be NULL): words for SubjectAccessReview, "" if none; in the arena. */
bool access_allowed(struct devcluster *d, struct cluster *c, const struct access_question *q,
                    struct arena *arena, const char **ret_reason);
/* Asks for the request itself; fails with 403 in kube-apiserver's words. */
int authorize(struct request *rq);
/* The cluster's rules changed. */
void access_forget(struct cluster *c);
void access_free(struct cluster *c);
