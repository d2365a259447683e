/* Workloads, their containers and the images of these. spec/flux-yaml.md 9.3.2. Pure. */
#pragma once

#include "common/json/doc.h"

#define WORKLOAD_CONTAINERS_MAX 1000
#define IMAGE_TEXT_MAX 1024

/* ---- images ---- */

struct image_ref {
        const char *text;     /* as written: "nginx:1.25" */
        const char *name;     /* as written, without tag and digest: "nginx", "quay.io/a/b" */
        const char *registry; /* "quay.io", "localhost:5000"; "" if not written */
        const char *path;     /* "a/b" */
        const char *tag;      /* "" = none */
        const char *digest;   /* "sha256:..."; "" = none */
};
/* ERR_INVALID: `invalid image "...": ...`. */
int image_ref_parse(struct arena *arena, const char *text, struct image_ref *ret, struct error *err);
/* "index.docker.io/library/nginx": the repository under the one name all its spellings have. NULL on no
 * memory. */
const char *image_canonical(struct arena *arena, const struct image_ref *ref);
/* The name as written with another tag, a digest left out; NULL on no memory. */
const char *image_with_tag(struct arena *arena, const struct image_ref *ref, const char *tag);
bool image_is_tag(const char *s); /* what registries allow */

/* ---- places in documents ---- */

/* A way into a document, member by member. */
struct doc_step {
        const char *key; /* NULL: a sequence's item */
        size_t index;
};
struct doc_place {
        const struct doc_step *steps;
        size_t n;
};
json_t *doc_at(const json_t *doc, const struct doc_place *place); /* borrowed; NULL = nothing is there */
/* Sets the value there, taken, also on failure; a last step that is a key may be new, with the objects on the
 * way; a NULL value is ERR_NO_MEMORY. ERR_INVALID: the way leads through something else. Removing what is not
 * there is fine. */
int doc_set_at(json_t *doc, const struct doc_place *place, json_t *value, struct error *err);
int doc_remove_at(json_t *doc, const struct doc_place *place, struct error *err);
const char *doc_place_text(struct arena *arena,
                           const struct doc_place *place); /* "spec.containers[0].image" */

/* ---- workloads ---- */

struct workload_container {
        const char *name; /* of a HelmRelease: "chart-image" of values.image, else the key above it */
        struct image_ref image;
        bool init;
        /* The scalar that carries the tag, and whether it is the whole image or the tag alone. */
        struct doc_place place;
        bool tag_alone;
        size_t n_registry; /* bytes that image.name begins with and the scalar does not: they stand elsewhere
                            */
        const char
                *problem; /* why it cannot be updated ("spec.values.image.tag: must be a string ..."); NULL */
};

struct workload_view {
        const struct workload_container *containers; /* then initContainers, as they stand */
        size_t n;
};

/* CronJob, DaemonSet, Deployment, StatefulSet, HelmRelease. ERR_UNSUPPORTED `resource %s does not have
 * containers`, `id` named; ERR_LIMIT. What has a shape that Kubernetes would refuse has no containers. */
int workload_read(struct arena *arena, const char *id, const json_t *doc, struct workload_view *ret,
                  struct error *err);
bool workload_is_kind(const char *kind);
const struct workload_container *workload_find(const struct workload_view *w, const char *container);
/* What the scalar at `place` becomes for the tag: "nginx:1.26", or "1.26". NULL on no memory. */
const char *workload_image_text(struct arena *arena, const struct workload_container *c, const char *tag);

/* The registries' Secrets that a workload names: imagePullSecrets of its pod template, or of a HelmRelease's
 * values; and the service account whose own count too ("default" if none is named). Borrows. */
struct workload_credentials {
        const char *const *secrets;
        size_t n;
        const char *service_account;
};
int workload_credentials(struct arena *arena, const json_t *doc, struct workload_credentials *ret,
                         struct error *err);

/* "default:deployment/foo" by its parts. */
struct workload_id {
        const char *ns, *kind, *name; /* kind in lower case; ns "<cluster>" for cluster-scoped */
};
/* ERR_INVALID: `invalid workload identity "...": must be <namespace>:<kind>/<name>`. */
int workload_id_parse(struct arena *arena, const char *text, struct workload_id *ret, struct error *err);
