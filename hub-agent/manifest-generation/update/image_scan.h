/* Registries read for automation: tags of repositories, and when each image was made. spec/flux-yaml.md 10.3.
 *
 * Lists of tags are asked for in each poll; what a tag leads to is kept, and asked again after five minutes
 * to seven days, the less often the less it changes. Only tags that a pattern has, and those in use, are
 * looked into. 16 requests at a time, at the rates of automation.h. */
#pragma once

#include "common/loop/volume.h"
#include "hub-agent/manifest-generation/images.h"
#include "hub-agent/manifest-generation/update/automation.h"

#define IMAGE_SCAN_TAGS_MAX 50000  /* of one repository */
#define IMAGE_SCAN_KEPT_MAX 200000 /* tags that something is kept of */
#define IMAGE_SCAN_CONFIG_BYTES (1u << 20)
#define IMAGE_SCAN_FILE "images.json"
#define IMAGE_SCAN_FILE_BYTES (64u << 20)

/* Objects of the cluster that credentials are in: "Secret" or "ServiceAccount". The document is in the arena.
 * ERR_NOT_FOUND: it is not there. Parks. */
struct image_secrets {
        int (*find)(void *ctx, const char *kind, const char *ns, const char *name, struct arena *arena,
                    const json_t **ret, struct error *err);
        void *ctx;
};

/* Borrowed as long as the scan lives. */
struct image_scan_options {
        struct world *world;
        struct image_secrets secrets; /* find NULL = none are asked for */
        const json_t
                *docker_config; /* --docker-config, its "auths" or the registries themselves; NULL = none */
        const char *const *insecure_hosts; /* that may be asked without TLS */
        size_t n_insecure_hosts;
        const struct address_ranges *denied; /* no connection to these; NULL = anywhere */
        const char *proxy_url;               /* NULL = none */
        struct volume *volume; /* what is known of tags is kept there too; NULL = in memory alone */
        int64_t timeout_ms;    /* of each request; 0 = 30 s */
        int64_t most_ms;       /* of one reading; 0 = 5 min. What is missing by then is read in the next */
};

struct image_scan;
struct image_scan *image_scan_new(const struct image_scan_options *o); /* NULL on no memory */
struct image_scan *image_scan_free(struct image_scan *s);              /* NULL is fine; returns NULL */
/* As images_ops has it; `scan` is an image_scan. One at a time. */
int image_scan_read(void *scan, const struct update_objects *objects,
                    const struct image_candidates *candidates, struct arena *arena, struct image_catalog *ret,
                    struct error *err);
extern const struct images_ops image_scan_ops;
/* What is wrong with the file of what was known, as a sentence; NULL = nothing. */
const char *image_scan_trouble(const struct image_scan *s);
