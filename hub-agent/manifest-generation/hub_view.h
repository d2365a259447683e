/* What the hub has of the objects that were applied: caches of metadata, one for each resource (and
 * namespace, where only some are allowed), kept by watches; and what each object was when it was applied
 * last, so that nothing is asked for about one that is still so. spec/flux-yaml.md 7.2. */
#pragma once

#include "common/ctrl/controller.h"
#include "hub-agent/manifest-generation/sync_marks.h"
#include "hub-agent/manifest-generation/sync_plan.h"

struct hub_view;
struct hub_kind;

/* An object as it was when it was applied last, or found as it should be. */
struct known_object {
        char *uid, *version;
        int64_t generation;
        char checksum[SYNC_CHECKSUM_SIZE];
        bool drifted;       /* it is another by now */
        unsigned failures;  /* in a row */
        unsigned drifts;    /* so often it was changed soon after it was mended */
        int64_t due_ms;     /* of the loop: when to try again; INT64_MAX = not */
        int64_t applied_ms; /* of the loop */
};

struct hub_view_options {
        struct manager *manager;
        struct intern_table *interns;
        /* A marked object that is known is another version, or gone (live NULL). Must not park. */
        void (*changed)(void *ctx, const char *identity, struct known_object *known,
                        const struct object *live);
        void *ctx;
};
struct hub_view *hub_view_new(const struct hub_view_options *o); /* NULL on no memory */
struct hub_view *hub_view_free(struct hub_view *v);              /* from a fiber; NULL is fine */

/* The cache of a resource, whose texts live as long as the view, in a namespace (NULL = all), made if there
 * is none. ERR_NO_MEMORY. */
int hub_view_kind(struct hub_view *v, const struct kube_resource *r, const char *ns, struct hub_kind **ret);
/* Parks until it is filled, or cannot be: 0, ERR_TIMEOUT (who asks goes on without it), ERR_CANCELLED. */
int hub_kind_await(struct hub_kind *k, struct loop *l, int64_t deadline_ms);
/* The marked object, borrowed until the next park; NULL = there is none, or the cache is not filled. */
const struct object *hub_kind_get(const struct hub_kind *k, const char *ns, const char *name);
bool hub_kind_filled(const struct hub_kind *k);

/* Ends the caches that nobody asked for since the last call: their kinds may not be served any more. Parks.
 */
void hub_view_tidy(struct hub_view *v);

/* Of that identity; NULL = it was not applied. Valid until it is forgotten. */
struct known_object *hub_view_known(struct hub_view *v, const char *identity);
struct known_object *hub_view_obtain(struct hub_view *v, const char *identity); /* made; NULL on no memory */
void hub_view_forget(struct hub_view *v, const char *identity);
/* When the first of them is to be tried again; INT64_MAX: none. */
int64_t hub_view_due_ms(const struct hub_view *v);
/* What was due by then and was not tried, since its target path is broken by now, waits for the next sync. */
void hub_view_rest(struct hub_view *v, int64_t until_ms);
/* All that failed are to be tried again at that time, or earlier. */
void hub_view_hurry(struct hub_view *v, int64_t at_ms);
/* Those that are not in `wanted` are forgotten. */
void hub_view_keep(struct hub_view *v, const struct map *wanted);
/* What the hub answered to an apply, or gave. ERR_NO_MEMORY: it is not known then. */
int known_object_note(struct known_object *k, const json_t *live, const char *checksum);
/* Whether a live object's metadata says that it is as it was: the same one, and the same version or at least
 * the same generation with the labels and annotations of `wanted`, and our own. */
bool known_object_holds(const struct known_object *k, const struct object_meta *live, const json_t *wanted,
                        const char *mark);
