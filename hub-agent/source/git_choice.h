/* Which commit of a Git repository a spec names. Pure. spec/helm-chart.md 12.1 step 1. */
#pragma once

#include "hub-agent/git/git.h"
#include "proto/gen/types.h"

struct git_candidate {
        const char *label;   /* what stands before the hash in the revision: "main", "refs/heads/main"; "" =
                                nothing */
        struct git_hash ask; /* of the remote: a tag may be what leads to the commit */
        struct git_hash commit;
};

struct git_choice {
        const struct git_candidate *at; /* several: versions equal up to metadata; the latest commit counts */
        size_t n;
        bool named; /* a commit that may be at no ref */
};
/* `spec` may be NULL. ERR_NOT_FOUND: no such ref, "no match found for semver: ..."; ERR_INVALID. */
int git_choose(const struct git_reference *spec, const struct git_refs *refs, struct arena *arena,
               struct git_choice *ret, struct error *err);
/* "main@sha1:..." in the arena; NULL on no memory. */
const char *git_revision(const struct git_candidate *c, struct arena *arena);
/* All candidates with their commits, as which of them is the latest is known once it was looked at:
 * "v1.0.0+a@1234... v1.0.0+b@5678... ". In the arena, which takes no more than that; NULL on no memory. */
const char *git_choice_marks(const struct git_choice *c, struct arena *arena);
