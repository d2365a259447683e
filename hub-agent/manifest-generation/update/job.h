/* What a request to change manifests comes to: which workloads, which images and annotations, how each change
 * is made, and whether it was made. spec/flux-yaml.md 9.2, 9.3. Pure: values and documents in, decisions out;
 * all results live in the arena and borrow from what was given. */
#pragma once

#include "hub-agent/manifest-generation/update/policy.h"
#include "hub-agent/manifest-generation/update/workload.h"
#include "hub-agent/manifest-generation/update/yaml_edit.h"

#define JOB_WORKLOADS_MAX 20000
#define JOB_IMAGES_MAX 100
#define JOB_MESSAGE_MAX (64u << 10) /* bytes of a request's message */
#define JOB_USER_MAX 320

enum job_type { JOB_SYNC, JOB_POLICY, JOB_IMAGE, JOB_COLLECT, JOB_AUTO };
const char *job_type_name(enum job_type t); /* "sync", ..., "auto" */

/* ---- the request ---- */

/* A line of `image`: "nginx:1.25", "app=nginx:1.25" for containers of that name alone; without a tag the
 * newest that the container's pattern allows, "*" so for every image. */
struct job_image {
        const char *container;  /* NULL = any that uses the image */
        struct image_ref image; /* name "" = every image */
};

struct job_request {
        enum job_type type;
        bool all;                     /* workloads: * */
        const char *const *workloads; /* identities */
        size_t n_workloads;
        struct policy_changes policies; /* completed */
        const struct job_image *images;
        size_t n_images;
        const char *user, *message; /* "" = none */
        bool force, dry_run;
};
/* Of a ConfigMap's data. ERR_INVALID names the field: `data.type: must be one of sync, policy, image,
 * collect, is "x"`. A field that the type has no use for is refused too. */
int job_request_read(struct arena *arena, const json_t *config_map, struct job_request *ret,
                     struct error *err);
bool job_request_wants_images(const struct job_request *r); /* which tags there are must be known */

/* ---- what there is ---- */

enum update_origin { ORIGIN_RAW, ORIGIN_PATCH, ORIGIN_COMMANDS };

/* One object as it was loaded. */
struct update_object {
        const char *id; /* "default:deployment/foo" */
        const json_t *doc;
        const char *source; /* the file of a raw one; else target path + "/" + configuration file */
        enum update_origin origin;
        const void *config; /* the caller's own, to find the configuration again */
};
struct update_objects {
        const struct update_object *at; /* each identity once */
        size_t n;
};

/* ---- the plan ---- */

enum update_status { UPDATE_SUCCESS, UPDATE_SKIPPED, UPDATE_IGNORED, UPDATE_FAILED };
const char *update_status_name(enum update_status s); /* "success" */

struct container_update {
        const char *container;
        struct image_ref current;
        const char *target; /* the image as it will be written: "nginx:1.26" */
};
struct update_result {
        const char *id;
        enum update_status status;
        const char *text; /* "locked", "image(s) up to date", ...; "" = none */
        const struct container_update *containers;
        size_t n_containers;
};

/* For commandUpdated, container, image and tag, or policy and value are what updaters are told, once for each
 * change. */
struct job_change {
        const struct update_object *object;
        /* Of an image: */
        const char *container; /* NULL = an annotation */
        const char *image;     /* without tag, as written */
        const char *tag;
        /* Of an annotation: */
        const char *policy, *annotation;
        /* Both: where it stands in the document, and the string there; NULL = removed. */
        struct doc_place place;
        const char *value;
};

struct job_plan {
        const struct update_result *results; /* in byte order of identities */
        size_t n_results;
        const struct job_change *changes; /* in order of results */
        size_t n_changes;
        size_t n_of[UPDATE_FAILED + 1]; /* results of each status */
        bool sets_automated;            /* an image poll is due when it is done */
};

struct image_catalog; /* automation.h */
/* What cannot be done is a result of that workload, not an error: a policy job gives `resource %s not found`
 * and `resource %s does not have containers` (failed), an image job "not found in repository" (skipped) for
 * what it names, and "not included" (ignored) for what it does not. `catalog` may be NULL unless
 * job_request_wants_images(): tags that a request names are not looked up then. */
int job_plan_make(struct arena *arena, const struct job_request *r, const struct update_objects *objects,
                  const struct image_catalog *catalog, struct job_plan *ret, struct error *err);
/* In lines, for the answer of a request: "default:deployment/foo: success: app: nginx:1.25 -> nginx:1.26";
 * what is ignored as a number alone. */
int job_plan_describe(const struct job_plan *p, struct buf *b);

/* ---- doing it ---- */

/* Makes the change in a document: of patchUpdated B becomes C. */
int job_change_document(const struct job_change *c, json_t *doc, struct error *err);
/* Makes all changes of one raw file: those of the plan whose object's source it is. Work that grows with the
 * file and their number: offload. */
int job_edit_file(const struct job_plan *p, const char *source, struct slice text, struct buf *ret,
                  struct error *err);

/* ---- whether it was done ---- */

/* After an image job: exactly the planned images changed, and no other of any workload. ERR_INVALID with the
 * texts of spec/flux-yaml.md 9.3.4, each behind "verifying changes: failed to verify changes: ". */
int job_verify(const struct update_objects *before, const struct update_objects *after,
               const struct job_plan *p, struct error *err);
