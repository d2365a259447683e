/* The three patch types of the Kubernetes API, on documents. All but patch_json_in_place return a new
 * document and leave their inputs unchanged. Errors name the operation's index, its path and the rule. */
#pragma once

#include "common/json/doc.h"

struct schema; /* common/json/schema.h */

int patch_json(const json_t *doc, const json_t *operations, json_t **ret,
               struct error *err); /* RFC 6902, all six operations */
/* The same as the API server does it: replacing a member that is not there adds it. */
int patch_json_lenient(const json_t *doc, const json_t *operations, json_t **ret, struct error *err);
/* patch_json on *doc itself, whose parts nobody else may hold: costs what the operations touch, whatever the
 * size of the document. On failure *doc is still the caller's, with the operations before the failing one
 * applied: for those who drop it then. */
int patch_json_in_place(json_t **doc, const json_t *operations, struct error *err);
int patch_merge(const json_t *doc, const json_t *patch, json_t **ret, struct error *err); /* RFC 7396 */
/* The same, where *ret holds parts of both, and the patch is spent. What is as it was is doc's, which nobody
 * may change; objects that the patch leads to are *ret's own. */
int patch_merge_sharing(const json_t *doc, json_t *patch, json_t **ret, struct error *err);
/* RFC 7396 patch that turns `from` into `to`; an empty object when equal. */
int patch_merge_diff(const json_t *from, const json_t *to, json_t **ret, struct error *err);
/* RFC 6902 operations (add, remove, replace) that turn `from` into `to`, in a deterministic order. */
int patch_json_diff(const json_t *from, const json_t *to, json_t **ret, struct error *err);

/* Strategic merge patch by schema: patchStrategy, patchMergeKey, directives $patch, $retainKeys,
 * $deleteFromPrimitiveList/..., $setElementOrder/.... */
int patch_strategic(const json_t *doc, const json_t *patch, const struct schema *schema, json_t **ret,
                    struct error *err);
/* Three-way patches as client-side apply computes them: original (last applied; may be NULL), modified,
 * current. */
int patch_strategic_three_way(const json_t *original, const json_t *modified, const json_t *current,
                              const struct schema *schema, json_t **ret_patch, struct error *err);
int patch_merge_three_way(const json_t *original, const json_t *modified, const json_t *current,
                          json_t **ret_patch, struct error *err);
bool patch_is_empty(const json_t *patch); /* {} or directives without effect */
