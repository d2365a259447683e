/* Schemas of the built-in kinds, parsed from types.txt on first use and shared by all logical clusters. */
#pragma once

#include "common/json/schema.h"

struct builtin_types;

struct builtin_types *builtin_types_new(struct error *err);
struct builtin_types *builtin_types_free(struct builtin_types *t); /* returns NULL; schemas die with it */

/* The schema of a kind: group "" for core. Built with all it refers to at the first call. ERR_NOT_FOUND if
 * the kind is not in the table, ERR_NO_MEMORY. schema->ref is the OpenAPI definition name
 * ("io.k8s.api.apps.v1.Deployment"). */
int builtin_types_kind(struct builtin_types *t, const char *group, const char *version, const char *kind,
                       const struct schema **ret, struct error *err);
/* By short name as in types.txt ("a:core.v1.PodSpec", "m:apis.meta.v1.ObjectMeta"). */
int builtin_types_named(struct builtin_types *t, const char *name, const struct schema **ret,
                        struct error *err);
/* Changes when the table does; the same on all machines and runs. */
uint64_t builtin_types_fingerprint(void);
