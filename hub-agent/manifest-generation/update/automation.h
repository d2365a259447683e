/* Which images are to be released by themselves. spec/flux-yaml.md 10. Pure: what registries have comes in as
 * a catalog, the clock as a number. */
#pragma once

#include "hub-agent/manifest-generation/update/job.h"

#define IMAGES_UP_TO_DATE "image(s) up to date"
#define IMAGE_IS_PINNED "image pinned by digest: %s"

/* ---- what registries have ---- */

struct image_tag {
        const char *tag;
        bool known;         /* manifest and config could be read */
        int64_t created_ms; /* TIME_NONE: the config has none, or the zero time */
        const char *digest; /* "" = none */
};
struct image_repository {
        const char *name; /* canonical */
        const struct image_tag *tags;
        size_t n;
        const char *problem; /* why its tags could not be read; NULL = they could */
};
struct image_catalog {
        const struct image_repository *at; /* in byte order of names */
        size_t n;
};
const struct image_repository *image_catalog_find(const struct image_catalog *c, const char *canonical);
const struct image_tag *image_repository_find(const struct image_repository *r, const char *tag);

/* ---- which repositories to ask about ---- */

struct image_filter {
        const char *const *exclude; /* globs over canonical names */
        size_t n_exclude;
        const char *const *include; /* none = all */
        size_t n_include;
};
bool image_filter_has(const struct image_filter *f, const char *canonical); /* excluding wins */

struct image_candidate { /* a container that automation may update */
        const struct update_object *object;
        const struct workload_container *container;
        const struct tag_pattern *pattern; /* tags that have to be known; NULL: `problem` */
        const char *repository;            /* canonical */
        const char *problem; /* why it is left alone: pinned by digest, an invalid pattern, ...; NULL */
};
struct image_candidates {
        const struct image_candidate *at; /* in byte order of identities, containers as they stand */
        size_t n;
        const char *const *problems; /* of whole workloads, as warnings */
        size_t n_problems;
};
/* Containers of workloads that are automated, neither locked nor ignored. */
int automation_candidates(struct arena *arena, const struct update_objects *objects,
                          const struct image_filter *filter, struct image_candidates *ret, struct error *err);

/* Containers that a request for images means, whose repositories have to be read before it is planned: with
 * the pattern that decides, or one of the tag alone that the request names. */
int job_candidates(struct arena *arena, const struct job_request *r, const struct update_objects *objects,
                   struct image_candidates *ret, struct error *err);

/* ---- the newest ---- */

/* What the container's tag should be, of those that the pattern has; *ret_tag NULL: as it is, for the reason
 * *ret_why (IMAGES_UP_TO_DATE,
 * ...). A tag that has the pattern and is not older than the newest stays, also when it is not in the list
 * any more. Where time decides and nobody knows the current one's, nothing changes: it may be the newer one.
 */
int automation_newest(struct arena *arena, const struct image_repository *r, const struct tag_pattern *p,
                      const struct image_ref *current, const char **ret_tag, const char **ret_why,
                      struct error *err);
/* One job of all that is newer: its results are of the candidates, those that stay as they are skipped, with
 * why. No changes: nothing is to be done. */
int automation_plan(struct arena *arena, const struct image_candidates *candidates,
                    const struct image_catalog *catalog, struct job_plan *ret, struct error *err);

/* ---- how fast ---- */

#define RATE_PER_SECOND 200.0 /* requests to one host */
#define RATE_LEAST 1.0
#define RATE_BURST 125.0

/* Requests to one host. All times are of one clock that does not go back. */
struct rate_limit {
        double per_second;  /* now */
        double tokens;      /* below 0: turns that were given away ahead of their time */
        int64_t at_ms;      /* when `tokens` was right */
        int64_t changed_ms; /* when the rate was changed */
};
void rate_limit_init(struct rate_limit *l, int64_t now_ms);
/* Takes a turn: how many milliseconds to wait before it. */
int64_t rate_limit_take(struct rate_limit *l, int64_t now_ms);
void rate_limit_give_back(struct rate_limit *l, size_t turns);   /* that were taken and not used */
void rate_limit_slow_down(struct rate_limit *l, int64_t now_ms); /* a 429: half, at most once a second */
void rate_limit_speed_up(struct rate_limit *l, int64_t now_ms);  /* another answer: a little, likewise */

/* ---- how long what was read is good for ---- */

/* Lists of tags are for one poll. Manifests of a tag are read again now and then, since tags may move. */
#define MANIFEST_REFRESH_MIN_MS (INT64_C(5) * 60 * 1000)
#define MANIFEST_REFRESH_FIRST_MS (INT64_C(60) * 60 * 1000)
#define MANIFEST_REFRESH_MAX_MS (INT64_C(7) * 24 * 60 * 60 * 1000)

struct manifest_age {
        int64_t read_ms;    /* wall time */
        int64_t refresh_ms; /* from then on; 0 = it was never read */
};
/* It was just read: unchanged doubles the time until the next reading, changed halves it. */
void manifest_age_read(struct manifest_age *a, bool changed, int64_t wall_ms);
bool manifest_age_is_due(const struct manifest_age *a, int64_t wall_ms);
