/* How a repository of charts is reached: its Secrets, its time. spec/helm-chart.md 8, 10. */
#pragma once

#include "hub-agent/registry/registry.h"
#include "hub-agent/source/source_pass.h"

struct helm_access {
        struct transfer transfer;
        struct docker_login login; /* username NULL = nobody's */
        const char *authorization; /* NULL = none */
        int64_t timeout_ms;        /* of each operation */
};
/* For one operation, from now on. Has told what fails. */
int helm_access_open(struct source_pass *p, const struct helm_repository_spec *spec, struct helm_access *ret);
/* The same for a repository in a registry. */
int helm_access_open_registry(struct source_pass *p, const struct helm_repository_spec *spec,
                              const struct registry_place *place, struct helm_access *ret);
/* Whether the other side did not let us in, or is not who it should be. */
bool helm_is_login_error(const struct error *err);
/* "https://host/path/index.yaml?query"; ERR_INVALID: it is no URL of the web. */
int helm_index_url(struct arena *arena, const char *repository, const char **ret, struct error *err);
