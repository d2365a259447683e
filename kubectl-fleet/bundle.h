/* kubectl fleet bundle: what somebody who helps needs to see of a fleet, in one file. Reads page by page and
 * puts each page into the archive before the next is asked for, so that memory does not grow with the fleet.
 * What cannot be read is told in the bundle, and is no failure. */
#pragma once

#include "kubectl-fleet/bundle_file.h"

#define BUNDLE_PAGE_BYTES (1u << 20)   /* of an answer with several objects */
#define BUNDLE_OBJECT_BYTES (8u << 20) /* of one with a single object */
#define BUNDLE_TEXT_BYTES (2u << 20)   /* of a log, or of metrics */
#define BUNDLE_PAGE_OBJECTS 200
#define BUNDLE_PROBLEMS_BYTES (1u << 20) /* of lines in problems.txt; what is behind is counted */

struct bundle {
        struct session *session;
        struct bundle_file *file;
        struct kube_client *kube; /* of the side that is read */
        const char *side;         /* "hub", "members/east": folder of what it says */
        json_t *index;            /* an entry for each part, in order */
        struct buf problems;      /* a line each, as long as there is room */
        size_t n_problems;        /* all of them */
        size_t n_left_out;        /* those without a line */
        int64_t most_objects;     /* of one kind; 0 = all */
};

/* What went wrong with a part: the bundle goes on, also where there is no room for another line. An error of
 * the archive itself is passed on. */
void bundle_problem(struct bundle *b, const char *part, const char *why);
/* Puts a text, hidden as bundle_hide_text() does, under `name` below the side, and an entry into the index;
 * cut: what is missing of it, NULL = nothing. */
int bundle_put_text(struct bundle *b, const char *name, struct slice text, const char *cut,
                    struct error *err);

/* All objects of a resource below SIDE/objects, some to a file, a line each; ns NULL = all namespaces.
 * metadata_only: nothing else is asked for. */
int bundle_put_objects(struct bundle *b, const struct kube_resource *r, const char *ns, bool metadata_only,
                       struct error *err);
/* Logs and metrics of the pods of a namespace, below SIDE/pods. */
int bundle_put_pods(struct bundle *b, const char *ns, struct error *err);
/* The answer to GET path as it is, below the side. */
int bundle_put_answer(struct bundle *b, const char *name, const char *path, struct error *err);
