/* Informers: a cache of one kind, filled by a paged list and kept by a watch; 410 and broken watches relist
 * without dropping the cache. Holds projections (typed objects), never documents. An object that cannot be
 * decoded stays as it was last known and stops nothing else; it is logged and counted once per version. */
#pragma once

#include "common/base/key.h"
#include "common/kube/client.h"

struct informer;
struct metrics;

enum informer_event_type { INFORMER_ADDED, INFORMER_UPDATED, INFORMER_DELETED };
struct informer_event {
        enum informer_event_type type;
        const struct object *old, *now; /* borrowed; DELETED: now = last known state, old = same */
        bool initial;                   /* from the first list or a relist: lower priority */
};
typedef void (*informer_handler)(
        void *ctx, const struct informer_event *e); /* called on the informer's fiber; must not park */

/* The part that an object belongs to, put into *ret; nothing put there: to none. 0 or ERR_NO_MEMORY. */
typedef int (*informer_part_fn)(const struct object *o, struct key *ret);

struct informer_options {
        const struct kind *kind;
        /* Metadata-only: for users' resources. kind must be &partial_object_kind; resource says what to
         * watch. */
        const struct kube_resource *resource;
        const char *ns;             /* NULL = all */
        const char *label_selector; /* NULL = all */
        const char *field_selector; /* NULL = all */
        enum decode_flags flags;
        struct intern_table *interns;
        /* Events may come half a second late when there are many: what many agents write all the time is read
         * in batches then. */
        bool unhurried;
        /* Told of an added or changed object before the cache takes it, with the whole watch event as text:
         * for who wants what the projection leaves out without reading the object again. Must not park; what
         * it cannot use it leaves. Objects of lists do not come this way. NULL = nobody. */
        void (*whole_event)(void *ctx, const struct object *projection, struct slice event);
        void *whole_event_ctx;
        struct metrics *metrics; /* counts versions that cannot be decoded; NULL = they are not counted */
        /* For this long after the start a missing right is asked for again at least once a second: somebody
         * is about to grant it. 0 = as seldom as after other failures. */
        int64_t rights_come_ms;
        /* Told when the first list is there, and whenever a problem begins, has another code or reason,
         * or is over; not of each try that fails alike. Must not park. NULL = nobody. */
        void (*state_changed)(void *ctx);
        void *state_changed_ctx;
        /* The longest pause before another try, of who is looked at by people; 0 = half a minute. A kind that
         * is not there is asked for as seldom as ever. */
        int64_t pause_most_ms;
        /* What the cache holds in an object's place: one reference, the caller's; NULL on no memory. For who
         * keeps many and looks at little of each. Must not park. NULL = the object as it is. */
        struct object *(*reduce)(void *ctx, const struct object *o);
        void *reduce_ctx;
        /* The cache holds its objects stowed (proto/stowed.h): for kinds with hundreds of thousands of them.
         * Whoever reads one gets a copy of his own, so informer_get() is not for it, and without its details
         * (FIELD_DETAIL) but from informer_read_whole(). Handlers are told of whole objects by the list and
         * the watch, and of such without details when they come later; indexes cannot be of details. Not with
         * reduce. */
        bool stowed;
        /* Asked before each further page of a list: parks until it is this list's turn. 0, or negative, which
         * ends the list. NULL = it always is. */
        int (*turn)(void *ctx);
        void *turn_ctx;
        informer_part_fn part_of; /* for informer_load_part(); NULL = there are no parts */
};

/* Starts listing and watching on a fiber of `group`. The caller holds one reference, which informer_stop()
 * drops; whoever parks with an informer that others may stop holds one too. */
struct informer *informer_new(struct kube_client *k, struct fiber_group *group,
                              const struct informer_options *o);
struct informer *informer_ref(struct informer *i);
void informer_unref(struct informer *i);
/* The first half of informer_stop(), which has to follow: nobody is told of anything any more. For who stops
 * several whose handlers look into each other. Does not park. */
void informer_silence(struct informer *i);
/* Ends it (from a fiber): handlers get no more events, who waits is told ERR_CLOSED. Returns NULL. */
struct informer *informer_stop(struct informer *i);
int informer_add_handler(struct informer *i, informer_handler fn,
                         void *ctx); /* told of all present objects first, if synced */
/* It holds every object of the kind in the namespace (NULL = in all of them). */
bool informer_holds(const struct informer *i, const struct kind *kind, const char *ns);
enum decode_flags informer_flags(const struct informer *i);
bool informer_synced(const struct informer *i);
/* 0, ERR_TIMEOUT, ERR_CANCELLED, ERR_CLOSED (it was stopped). */
int informer_wait_synced(struct informer *i, int64_t deadline_ms);
/* Lists anew, keeping what is held: not synced until that is done. Parks. ERR_CLOSED when it is stopped
 * meanwhile; ERR_NO_MEMORY: nothing is watched any more. */
int informer_refresh(struct informer *i);
/* Lists anew while what is held stays in use; *ret_lists is for informer_wait_listed(), which parks until
 * that list has ended. ERR_TIMEOUT: it has not, and from then on the cache is not synced until one has;
 * `hasty`: so as soon as something stands in its way. Both also ERR_CLOSED, ERR_CANCELLED, ERR_NO_MEMORY as
 * above. */
int informer_relist(struct informer *i, uint64_t *ret_lists);
int informer_wait_listed(struct informer *i, uint64_t lists, bool hasty, int64_t deadline_ms);
const struct kube_resource *informer_resource(const struct informer *i);
/* Human words about the last failed list or watch, "" if healthy. */
const char *informer_problem(const struct informer *i);
/* The same without what was asked for, of which each try has another address: for people. */
const char *informer_problem_reason(const struct informer *i);
int informer_problem_code(const struct informer *i); /* 0 if healthy */
uint64_t informer_objects(const struct informer *i);
size_t informer_bytes(const struct informer *i);

/* Borrowed until the next park; take object_ref() to keep. ns NULL for cluster-scoped. */
/* "ns/name", or "name" without a namespace (ns NULL or ""). 0 or ERR_NO_MEMORY. */
int object_key(struct key *k, const char *ns, const char *name);
const struct object *informer_get(const struct informer *i, const char *ns, const char *name);
bool informer_has(const struct informer *i, const char *ns, const char *name);
/* informer_get() for any cache: *ret (NULL if absent) is referenced until the arena dies. 0 or ERR_NO_MEMORY.
 */
int informer_read(const struct informer *i, const char *ns, const char *name, struct arena *arena,
                  const struct object **ret);
int informer_read_whole(const struct informer *i, const char *ns, const char *name, struct arena *arena,
                        const struct object **ret);
int informer_read_key(const struct informer *i, const char *key, struct arena *arena,
                      const struct object **ret);
/* The keys of all, copied to the arena, in no particular order: for who parks between looking at them. 0 or
 * ERR_NO_MEMORY. */
int informer_keys(const struct informer *i, struct arena *arena, const char *const **ret, size_t *ret_n);
/* Calls fn for each object, in no particular order, until it returns something negative, which is returned.
 * It is lent for the call, where fn does not take a reference. fn must not park, nor change the cache. Also
 * ERR_NO_MEMORY. */
int informer_for_each(const struct informer *i, int (*fn)(void *ctx, const struct object *o), void *ctx);

/* Indexes: fn names the index values of an object by calling emit(), with NULL for one that there was no
 * memory for. Add before objects arrive or after. */
typedef void (*index_emit)(void *to, const char *value);
typedef void (*index_fn)(const struct object *o, index_emit emit, void *to);
int informer_add_index(struct informer *i, const char *name, index_fn fn);

/* ---- a first list that takes long ----
 *
 * Behind its first page a watch begins from its version, beside the pages that are still to come. So what is
 * in the cache by then is as new as it ever is; only what is not in it may be there all the same. A part of
 * the kind, which a selector picks, can be listed alone meanwhile: what of it is not in the cache is not
 * there.
 */

/* The first list is running, and a watch tells of what changes since it began. */
bool informer_follows(const struct informer *i);
/* Parks until that is so, or the list is there. As informer_wait_synced(). */
int informer_wait_follows(struct informer *i, int64_t deadline_ms);
/* Lists a part; the selector has to pick all that belongs to it, and may pick more. ERR_CLOSED: the cache
 * does not follow (any more), or it is filled. Else as kube_list(). Parks. */
int informer_load_part(struct informer *i, const char *part, const char *ns, const char *label_selector,
                       struct error *err);
bool informer_has_part(const struct informer *i, const char *part); /* by a list of its own, or of all */

struct object_list {
        const struct object **at;
        size_t n;
};
/* All objects / those with an index value, sorted by namespace and name; the array lives in the arena and is
 * the caller's to shorten; the objects are referenced until the arena dies. */
int informer_list(const struct informer *i, struct arena *arena, struct object_list *ret);
int informer_by_index(const struct informer *i, const char *index, const char *value, struct arena *arena,
                      struct object_list *ret);
/* For who reads no status, of which a cache that stows its objects makes none then. */
int informer_by_index_without_status(const struct informer *i, const char *index, const char *value,
                                     struct arena *arena, struct object_list *ret);

/* After an own write: puts the server's answer into the cache if it is newer, so that the next reconcile sees
 * it. It is a block, decoded with the cache's table of interned strings or with none. */
void informer_observe(struct informer *i, const struct object *o);
