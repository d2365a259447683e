/* What the ConfigMap manifest-generation-status says. spec/flux-yaml.md 8. Pure. */
#pragma once

#include "common/base/vec.h"
#include "hub-agent/manifest-generation/collect_plan.h"
#include "hub-agent/manifest-generation/repository_state.h"

#define SYNC_STATUS_NAME "manifest-generation-status"
#define SYNC_STATUS_PROBLEMS 50
#define SYNC_STATUS_TEXT_BYTES 8192 /* of one error */

/* Texts are owned. */
struct sync_problem {
        char *identity; /* NULL: it is of a whole target path */
        char *source, *text;
};
struct sync_problems {
        struct sync_problem *at;
        size_t n, cap;
        size_t more; /* beyond SYNC_STATUS_PROBLEMS */
};
/* Beyond the limit they are counted. 0 or ERR_NO_MEMORY. */
int sync_problems_add(struct sync_problems *p, const char *identity, const char *source, const char *text);
void sync_problems_clear(struct sync_problems *p); /* and frees */

struct sync_status {
        const struct repository_status *repository;
        const char *url, *branch;  /* without secrets */
        const char *head, *synced; /* commits; "" = none yet */
        int64_t synced_ms;         /* wall time; 0 = never */
        size_t objects, changed, ignored, failed, deleted;
        const struct sync_problems *problems;
        const char *const *paths; /* and of each its record */
        const struct path_record *records;
        size_t n_paths;
        const char *images; /* why registries could not be read, a line each; NULL = they could */
};
/* The `data` of the ConfigMap; new. */
int sync_status_write(const struct sync_status *s, json_t **ret, struct error *err);
/* The record of a target path in such data; not known where there is none. */
void sync_status_record(const json_t *data, const char *path, struct path_record *ret);
