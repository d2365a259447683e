/* Manifests that are not on the hub yet: read from files as kubectl reads them; kinds of the fleet are
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
/* Appends the documents of a file, of standard input ("-"), or of the manifests of a folder. */
int manifest_documents(struct session *s, const char *path, json_t *docs, struct error *err);
/* Each object of the two kinds (the second may be NULL) there, lists taken apart. *ret_others grows by the
 * number of documents of other kinds. */
int manifest_each(struct session *s, const char *path, const struct kind *const kinds[2],
                  int (*each)(void *ctx, const struct object *o, struct error *err), void *ctx,
                  size_t *ret_others, struct error *err);
