/* How a command's result leaves it: a drawing for people, or a document for programs (-o). */
#pragma once

#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/screen.h"

struct screen session_screen(struct session *s);
bool output_is(const struct session *s, const char *format); /* "json", "yaml", "name"; "" = for people */
bool output_is_document(const struct session *s);            /* json or yaml */
/* Takes the document; NULL is ERR_NO_MEMORY. */
int output_document(struct session *s, json_t *taken, struct error *err);
/* Objects to be applied, an array that is taken: a YAML stream, with -o json a List, with -o name their
 * names. NULL is ERR_NO_MEMORY. */
int output_manifests(struct session *s, json_t *taken, struct error *err);
/* "clusterresourceplacement.placement.kubernetes-fleet.io/web", a line. */
void output_name(struct session *s, const struct object *o);
/* The same without the name. */
void output_kind(struct buf *b, const struct kind *kind);
/* "deployment.apps/web", "configmap/x", a line. */
void output_object(struct buf *b, struct slice group, const char *kind, const char *name);
/* "5d" */
#define AGE_SIZE 32
const char *age_of(const struct session *s, int64_t since_ms, char ret[AGE_SIZE]); /* "" for TIME_NONE */

/* Which object words mean: "web", "crp/web". ERR_INVALID for a kind that is neither of the two. */
struct named {
        const struct kind *kind;
        const char *ns, *name;
};
struct kind_names {
        const struct kind *cluster, *namespaced;
        const char *names[4]; /* both kinds' other names, such as "crp" and "rp"; the cluster's first */
};
int named_of(const struct session *s, const char *word, const struct kind_names *names, struct named *ret,
             struct error *err);
extern const struct kind_names placement_names, run_names;
/* Where the object is not found in its scope, the error tells of the other. */
int explain_missing(const struct session *s, const struct named *n, struct error *err);
