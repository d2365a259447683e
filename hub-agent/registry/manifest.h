/* Manifests as they come. Internal to the folder. */
#pragma once

#include "hub-agent/registry/ask.h"

#define OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define DOCKER_INDEX "application/vnd.docker.distribution.manifest.list.v2+json"
#define DOCKER_MANIFEST "application/vnd.docker.distribution.manifest.v2+json"

/* "sha256:" and 64 hex digits; ERR_INVALID. */
int registry_check_digest(const char *digest, struct error *err);
/* One manifest or index, with the digest it should have. */
int registry_fetch_manifest(struct registry *r, const char *reference, struct registry_manifest *ret,
                            struct error *err);
bool registry_is_index(const struct registry_manifest *m);
