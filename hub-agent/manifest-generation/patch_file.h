/* The patch file of patchUpdated: applied to what was generated, and written anew after a change. Pure.
 * spec/flux-yaml.md 6. */
#pragma once

#include "hub-agent/manifest-generation/resources.h"

/* A patch whose resource is gone: `patch refers to missing resource (%s)`, a warning. */
struct patch_missing {
        const char *identity;
};

/* Replaces each resource's document by its patched one, and sorts by identity. `text`: of the patch file;
 * empty if there is none. Resources are as they were parsed, not settled: names and namespaces are those that
 * the generators print. Built-in kinds: strategic merge, others: JSON merge patch. ERR_INVALID: `cannot apply
 * patchFile "flux-patch.yaml" to generated resources: ...` in front of which come no more words. */
int patch_file_apply(struct resource_list *l, struct slice text, const char *patch_file,
                     struct patch_missing **ret_missing, size_t *ret_n_missing, struct error *err);

/* The text that turns `generated` into `changed`: one document for each object in both that differs, in the
 * order of identity, each after "---\n", keys sorted. Documents of `before` (the file as it is) whose
 * contents stay the same keep their text, others their comments as far as the lines below them are still
 * there. Into the buffer, which is empty; empty text: no patch is needed. */
int patch_file_create(struct arena *arena, const struct resource_list *generated,
                      const struct resource_list *changed, struct slice before, struct buf *ret,
                      struct error *err);

/* Whether the patch file can be written: `base directory ("x") of patchFile ("x/y.yaml") does not exist`
 * (ERR_NOT_FOUND). */
int patch_file_check_folder(const struct tree *t, struct arena *arena, const struct flux_config *config,
                            struct error *err);

#define PATCH_FILE_BYTES (8u << 20)
