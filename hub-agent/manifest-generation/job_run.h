/* One job: what a request, or a poll of images, changes in the repository. Private to this folder.
 * spec/flux-yaml.md 9.3, 9.4. */
#pragma once

#include "hub-agent/manifest-generation/generation_agent.h"
#include "hub-agent/manifest-generation/update/automation.h"
#include "hub-agent/manifest-generation/update/commit.h"

#define JOB_TRIES 3 /* on a branch that moves */

struct job {
        struct generator_agent *a;
        struct reconcile *rc;
        const char *id;
        const struct job_request *request;

        /* Of each try: */
        struct git_hash head;
        struct checkout read, work; /* as committed, for generators; and where files are changed */
        struct loaded loaded;
        struct update_objects objects;
        struct job_plan plan;

        /* Of the end: */
        struct git_hash commit; /* none: nothing was to be changed, or it failed */
        const char *diff;       /* of a dry run: what would be committed; NULL = nothing */
        const char *reason;     /* of the event about a failure */
        const char *message;    /* a failure's whole text where that has no room in an error; NULL */
};

/* Until it is pushed, or fails. Everything is in rc's arena. */
int job_run(struct job *j, struct error *err);
/* Makes the plan's changes in the working folder. */
int job_edit(struct job *j, struct error *err);
/* The objects of a load as jobs see them. */
int job_objects(struct arena *arena, const struct loaded *l, struct update_objects *ret, struct error *err);
/* The tags of what the containers of a request's workloads use, or of the candidates for automation. */
int job_read_tags(struct job *j, struct image_catalog *ret, struct error *err);
int job_automation(struct job *j, struct error *err); /* the plan of a poll */
