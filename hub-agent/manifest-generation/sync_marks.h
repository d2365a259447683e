/* What a synced object carries: whose it is, and what it was made of. spec/flux-yaml.md 7.2. Pure. */
#pragma once

#include "common/json/doc.h"

#define FLUX_SYNC_MARK "fluxcd.io/sync-gc-mark"      /* label */
#define FLUX_SYNC_CHECKSUM "fluxcd.io/sync-checksum" /* annotation */
#define FLUX_IGNORE "fluxcd.io/ignore"               /* annotation: "true" or "sync_only" */
#define FLUX_IGNORE_OLD "flux.weave.works/ignore"
#define FLUX_SYNC_ONLY "sync_only"
#define FLUX_SYNC_MANAGER "flux" /* of the fields that are applied */

#define SYNC_SET_SIZE 44  /* unpadded base64url of 32 bytes */
#define SYNC_MARK_SIZE 51 /* "sha256." before that */
#define SYNC_CHECKSUM_SIZE 41

/* Who was configured otherwise has another set, and leaves the objects of this one alone. */
void sync_set_name(struct slice url_without_password, const char *branch, const char *const *paths,
                   size_t n_paths, char ret[SYNC_SET_SIZE]);
void sync_mark(const char *set_name, const char *identity, char ret[SYNC_MARK_SIZE]);
int sync_checksum(struct slice text, char ret[SYNC_CHECKSUM_SIZE]); /* 0 or ERR_NO_MEMORY */

/* "https://user:secret@host/x" without ":secret"; other forms of addresses are as they were. It names sets,
 * and is not for people: a user may be a token. */
int sync_url_without_password(const char *url, struct buf *b);

/* A copy of the document with mark, checksum and namespace (NULL: none); *ret is new. */
int sync_dress(const json_t *doc, const char *ns, const char *mark, const char *checksum, json_t **ret,
               struct error *err);
/* The value of the annotation, of whatever prefix; NULL = none. */
const char *sync_ignore_of(const json_t *doc);
const char *sync_annotation(const json_t *doc, const char *key);
const char *sync_label(const json_t *doc, const char *key);
