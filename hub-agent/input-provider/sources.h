/* The services, each in a file of its own. Internal to the folder. */
#pragma once

#include "hub-agent/input-provider/listing.h"

/* err->reason of an ERR_INVALID that says the provider itself cannot be made of the spec and its Secret. */
#define SOURCE_REASON_NOT_MADE "ProviderNotMade"
static inline int source_not_made(struct error *err)
{
        error_set_reason(err, SOURCE_REASON_NOT_MADE);
        return ERR_INVALID;
}

int github_collect(struct source *s, enum listing_of what, struct error *err);
int gitlab_collect(struct source *s, enum listing_of what, struct error *err);
int gitlab_collect_environments(struct source *s, enum listing_of what, struct error *err);
int gitea_collect(struct source *s, enum listing_of what, struct error *err);
int azure_devops_collect(struct source *s, enum listing_of what, struct error *err);
int oci_collect(struct source *s, enum listing_of what, struct error *err);
int external_service_collect(struct source *s, enum listing_of what, struct error *err);

/* The token of the GitHub App's installation, in the arena; from the memory if it is good for a while. `api`
 * ends in a slash. */
int github_app_token(struct source *s, const char *api, const char **ret, struct error *err);
