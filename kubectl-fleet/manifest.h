/* Manifests that are not on the hub yet: read from files as kubectl reads them; placements and Works are
 * checked and completed by the definitions that come with this program. */
#pragma once

#include "kubectl-fleet/output.h"
#include "proto/gen/kinds.h"

/* The placement of that name (NULL: the only one) in a file or, for "-", on standard input. Errors name file,
 * object, field and rule. */
int manifest_read(struct session *s, const char *path, const char *name, const struct placement **ret,
                  struct error *err);
int manifest_read_work(struct session *s, const char *path, const char *name, const struct work **ret,
                       struct error *err);
/* What a file, or for "-" standard input, holds (mem_free), at most LIMIT_YAML_BYTES. Descriptors that shells
 * put in place of <(command) are read, too. */
int manifest_text(struct session *s, const char *path, char **ret, size_t *ret_len, struct error *err);
