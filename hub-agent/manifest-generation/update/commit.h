/* What a commit says: its message, who made it, the note on it; and what a sync tells of commits.
 * spec/flux-yaml.md 8, 9.4. Pure. */
#pragma once

#include "hub-agent/manifest-generation/update/job.h"

/* ---- message ---- */

/* The text of --git-ci-skip-message, or that of --git-ci-skip; "" = none. */
const char *commit_skip_text(bool ci_skip, const char *ci_skip_message);
/* Of an automatic, image or policy job, with the skip text behind it. An image job without a message of its
 * own is "Release IMAGES to WORKLOADS". */
int commit_message(const struct job_request *r, const struct job_plan *p, const char *skip, struct buf *ret,
                   struct error *err);

/* ---- people ---- */

struct commit_person {
        const char *name, *mail;
};
/* "Name <mail>"; "mail@host" alone is both; another text is a name, with the mail of `fallback`. ERR_INVALID:
 * line feeds, brackets, nothing. */
int commit_person_parse(struct arena *arena, const char *text, const struct commit_person *fallback,
                        struct commit_person *ret, struct error *err);
/* The committer, or the request's user with --git-set-author if there is one. */
int commit_author(struct arena *arena, const struct job_request *r, const struct commit_person *committer,
                  bool set_author, struct commit_person *ret, struct error *err);

/* ---- notes ---- */

#define COMMIT_NOTE_BYTES_MAX (8u << 20)

/* {"jobID", "spec": {"type", "cause": {"Message", "User"}, "spec"}, "result"}; without workloads that were
 * ignored. */
int commit_note_write(const char *job_id, const struct job_request *r, const struct job_plan *p,
                      struct buf *ret, struct error *err);

struct commit_note {
        const char *job_id;
        enum job_type type;
        const char *user, *message;
        const char *const *workloads; /* those that changed, in byte order */
        size_t n_workloads;
};
/* ERR_INVALID: no note of ours, as others may write what they like under the same ref. */
int commit_note_read(struct arena *arena, struct slice text, struct commit_note *ret, struct error *err);

/* ---- sync events ---- */

/* "Sync: 1234567, default:deployment/foo", "Sync: 1234567..89abcde, no workloads changed". `commits`: newest
 * first, at least one; `old`: the revision before them, "" at the first sync. */
int sync_event_text(const char *const *commits, size_t n_commits, const char *old,
                    const char *const *workloads, size_t n_workloads, struct buf *ret, struct error *err);
