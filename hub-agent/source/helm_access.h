/* How a repository of charts is reached: its Secrets, its time. spec/helm-chart.md 8, 10. */
#pragma once

#include "hub-agent/source/source_pass.h"
#include "hub-agent/transfer/transfer.h"

struct helm_access {
        struct transfer transfer;
        const char *authorization; /* NULL = none */
};
/* For one operation, from now on. Has told what fails. */
int helm_access_open(struct source_pass *p, const struct helm_repository_spec *spec, struct helm_access *ret);
/* "https://host/path/index.yaml?query"; ERR_INVALID: it is no URL of the web. */
int helm_index_url(struct arena *arena, const char *repository, const char **ret, struct error *err);
