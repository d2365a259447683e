/* Whether somebody may do something: RBAC over the roles and bindings of a cluster. The parsed rules are kept
 * per cluster and follow every write of a role or binding, so that a decision costs a few hash look-ups. */
#pragma once

#include "e2e/devcluster/rbac.h"
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
/* All rules somebody has in a namespace (NULL or "" = those that hold everywhere); in the arena, good until
 * the next write to roles or bindings. ERR_NO_MEMORY. */
int access_rules(struct devcluster *d, struct cluster *c, const struct identity *who, const char *ns,
                 struct arena *arena, const struct rbac_rule *const **ret, size_t *ret_n);
/* The rules of one role: kind "Role" or "ClusterRole". NULL if there is no such role (or no memory). */
const struct rbac_rules *access_role_rules(struct cluster *c, const char *kind, const char *ns,
                                           const char *name);
bool access_is_master(const struct identity *who);

/* Asks for the request itself; fails with 403 in kube-apiserver's words. */
int authorize(struct request *rq);
/* The same request with another verb: a patch that creates needs the right to create as well. */
int authorize_verb(struct request *rq, const char *verb);
/* The same for another question of the request's user. */
int authorize_question(struct request *rq, const struct access_question *q);

/* A role or binding was written: live NULL = created, doc NULL = deleted. */
void access_changed(struct cluster *c, const struct resource *r, const json_t *live, const json_t *doc);
void access_forget(struct cluster *c); /* reads everything again when next asked */
void access_free(struct cluster *c);
