/* What the files of image_scan share. Private to it. */
#pragma once

#include "common/base/map.h"
#include "hub-agent/manifest-generation/update/image_scan.h"
#include "hub-agent/registry/registry.h"

#define SCAN_AT_ONCE 16
#define SCAN_TRIES 4

/* What is known of a tag, from poll to poll. */
struct kept_tag {
        char *digest; /* what it leads to */
        int64_t created_ms;
        bool excluded; /* no image for linux/amd64: not to be asked about, nor to be counted */
        struct manifest_age age;
};

struct kept_repository {
        struct map tags;  /* of kept_tag */
        int64_t asked_ms; /* wall time of the last poll that wanted it */
};

struct image_scan {
        struct image_scan_options options;
        struct map repositories; /* of kept_repository, by canonical name */
        struct map hosts;        /* of rate_limit */
        struct registry_tokens tokens;
        size_t n_tags;
        bool loaded, changed; /* since the file was read, and written */
        char *trouble;
};

/* ---- what is kept ---- */

void scan_repository_free(void *repository);
struct kept_repository *scan_keep(struct image_scan *s, const char *name); /* NULL on no memory */
/* Replaces what was known of the tag. ERR_NO_MEMORY. */
int scan_put(struct image_scan *s, struct kept_repository *r, const char *tag, const struct kept_tag *known);
void scan_forget(struct image_scan *s, struct kept_repository *r, const char *tag);
/* Repositories that no poll asked for in a long time go, and if there is too much all that this one did not,
 * those that were not asked for the longest first. */
void scan_prune(struct image_scan *s, int64_t begun_ms);
/* From and to the volume, once and when something changed. What goes wrong is in s->trouble: what is known is
 * read again then. ERR_CANCELLED, ERR_NO_MEMORY. */
int scan_load(struct image_scan *s, struct error *err);
int scan_save(struct image_scan *s, struct error *err);

/* ---- one reading ---- */

struct scanned_repository {
        const char *name;
        struct registry_place place;
        struct rate_limit *rate;
        struct docker_login login;
        const struct image_candidate *const *candidates; /* of its images */
        size_t n_candidates;
        const char **tags;
        size_t n_tags, cap_tags;
        struct kept_repository *kept;
        const char *problem;
        const char *secrets_problem; /* of credentials that cannot be used; NULL = none */
};

struct scan_run {
        struct image_scan *scan;
        struct arena *arena;
        int64_t deadline_ms;
        int64_t begun_ms;   /* wall time */
        struct map *silent; /* hosts that could not be reached, and why: others need the time */
        struct map *found;  /* what was told of objects of the cluster: each is asked for once */
        int code;           /* of the first fiber that could not go on: ERR_NO_MEMORY, ERR_CANCELLED */
};

/* The login of those who use the repository: imagePullSecrets, the service account's, the default. */
int scan_find_login(struct scan_run *run, struct scanned_repository *r, struct error *err);

/* A client of its own, in that arena. */
int scan_open(struct scan_run *run, const struct scanned_repository *r, struct transfer *transfer,
              struct arena *arena, struct registry *ret, struct error *err);
/* Calls what asks a registry, in its turn, again if it is told to come later. `turns`: requests of it. */
int scan_ask(struct scan_run *run, const struct scanned_repository *r, size_t turns,
             int (*ask)(void *ctx, struct error *err), void *ctx, struct error *err);
/* What the tag leads to, into what is kept. ERR_CANCELLED, ERR_NO_MEMORY; all else is a tag of which nothing
 * is known. */
int scan_read_tag(struct scan_run *run, struct scanned_repository *r, const char *tag);
