/* What Secrets hold for sources. Pure; messages name keys and never values.
 * spec/resource-set.md 19.7, 19.8, 22.
 */
#pragma once

#include "hub-agent/input-provider/source.h"
#include "hub-agent/transfer/secret.h"

/* Each adds to *ret; texts are in the arena. ERR_INVALID: "invalid secret '...': ...". */
int secret_git(const struct secret *s, bool app, struct arena *arena, struct source_credentials *ret,
               struct error *err);
int secret_service(const struct secret *s, struct arena *arena, struct source_credentials *ret,
                   struct error *err);
int secret_tls(const struct secret *s, struct arena *arena, struct source_credentials *ret,
               struct error *err);
/* `room` has space for one more. The config lives as long as the arena. */
int secret_docker_config(const struct secret *s, struct arena *arena, const json_t **room, size_t *n,
                         struct error *err);
