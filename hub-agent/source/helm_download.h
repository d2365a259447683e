/* Charts out of repositories: an index tells of versions and addresses, a registry of tags. What the other
 * side fails at is in rc->err, and not told yet. spec/helm-chart.md 8.5, 9. */
#pragma once

#include "hub-agent/source/helm_access.h"
#include "hub-agent/source/index/select.h"

/* ---- by an index ---- */

/* The archive of a version, with the credentials that the repository lends. */
int helm_download(struct source_pass *p, const struct helm_repository_spec *spec,
                  const struct helm_access *access, const char *name, const struct chart_version *v,
                  struct slice *ret);

/* ---- in a registry ---- */

struct helm_registry {
        struct source_pass *pass;
        struct helm_access access;
        struct registry registry;
        const char *url; /* "oci://host/path/chart" */
};
/* *ret must stay where it is; `url` is where the place was taken from. Has told what fails. */
int helm_registry_open(struct source_pass *p, const struct helm_repository_spec *spec, const char *url,
                       const struct registry_place *place, struct helm_registry *ret);
/* The same with an access that is open. */
int helm_registry_with(struct source_pass *p, const struct helm_access *access, const char *url,
                       const struct registry_place *place, enum registry_scheme scheme,
                       struct helm_registry *ret);
/* One of three parts is taken as it is, and nobody asked. ERR_NOT_FOUND with http_status 0: no tag matches.
 */
int helm_registry_version(struct helm_registry *h, const char *name, const char *wanted, const char **ret);
/* What the version's tag leads to by now. */
int helm_registry_resolve(struct helm_registry *h, const char *version, const char **ret_digest);
/* The archive that this digest leads to. */
int helm_registry_pull(struct helm_registry *h, const char *name, const char *version, const char *digest,
                       struct slice *ret);
