/* One pass over one set: what the controller's files share. Everything lives in the pass's arena. */
#pragma once

#include "common/base/map.h"
#include "member-agent/agent.h"
#include "member-agent/object-set/claim.h"
#include "member-agent/object-set/content.h"
#include "member-agent/object-set/outcome.h"
#include "member-agent/object-set/sets.h"
#include "member-agent/object-set/succession.h"
#include "member-agent/object-set/want.h"

#define SET_HOLDER_PREFIX "clusterobjectset/"
#define SET_LOOK_MS (15 * 60 * 1000) /* at least this often every object itself is looked at */
#define SET_IN_FLIGHT 16             /* with fewer, agent and server wait for each other */

/* ---- what is remembered of sets between passes; losing it costs a pass ---- */

enum set_awaited { AWAITED_SECRET, AWAITED_NAMESPACE, AWAITED_KIND, SET_AWAITED };
struct set_memory {
        size_t phase;             /* first that was not complete; JUDGE_NO_PHASE = not known */
        bool doubtful;            /* a Secret that it refers to changed: a pass must read it */
        bool awaits[SET_AWAITED]; /* the last pass found one missing; of Secrets the spec tells */
        bool kinds_have_come;     /* since then, maybe others: the mapper may not know yet */
        bool has_inventory;       /* all that is to be taken down was in it once, and is unless it went */
};
struct sets {
        struct member_agent *agent;
        struct informer *informer;
        struct map memory; /* name -> struct set_memory */
        struct set_watch *watches[SET_AWAITED];
        struct metrics_source metrics;
};
struct set_memory *sets_memory(struct sets *s, const char *name); /* NULL on no memory */
void sets_enqueue(struct sets *s, const char *name, enum queue_priority priority);
/* All sets as the cache has them; referenced until the arena dies. */
int sets_list(struct sets *s, struct arena *arena, struct set_list *ret, struct error *err);

/* ---- the pass ---- */

/* What decides about objects besides their manifests. */
struct set_signature {
        unsigned own;        /* about those that are ours */
        unsigned progressed; /* about those that a later sibling has: who the siblings are, too */
};
struct set_pass {
        struct reconcile *rc;
        struct member_agent *agent;
        struct arena *arena;
        const struct cluster_object_set *set; /* whole, as the server had it in this pass */
        const char *holder;
        struct set_identity self;
        struct set_list others; /* all sets */
        struct set_identity *siblings;
        size_t n_siblings;
        struct set_signature signature;
        struct set_phases phases;
        struct rows rows;      /* inventory as it was when the pass began */
        struct map *row_index; /* object_identity() -> row */
        struct set_memory *memory;
        bool awaited[SET_AWAITED]; /* what was found missing in this pass */
        bool throttled;            /* the server answered 429: nothing more is sent in this phase */
};

/* One object of a phase that is under way. */
struct set_item {
        const struct set_object *object;
        int ordinal;
        const char *key;               /* object_identity() */
        struct kube_resource resource; /* plural NULL until the server is known to have the kind */
        json_t *prepared;
        char hash[65]; /* of that */
        json_t *live;  /* newest known; NULL = absent */
        struct claim_result claim;
        bool deferred;       /* its kind or namespace comes in the same phase */
        bool examined;       /* it was looked at, or need not be: */
        bool reused;         /* nothing changed since the last look */
        bool to_write;       /* something is to be sent */
        bool was_there;      /* or so the server said when it was to be created */
        bool by_post;        /* it was not: creations are sent the other way */
        bool finished;       /* it is as it should be, and judged */
        const char *refused; /* by the dry run; NULL = not */
        struct object_outcome *out;
};

struct set_signature set_sign(const struct cluster_object_set *s, const struct set_identity *siblings,
                              size_t n);
int set_find_siblings(const struct cluster_object_set *s, const struct set_list *all, struct arena *arena,
                      struct set_identity **ret, size_t *ret_n, struct error *err);
/* A set as the server has it now: for what cannot be taken back, and for what must not be done for one that
 * goes. *ret NULL = it is gone. */
int set_read_again(struct set_pass *p, const char *name, const struct cluster_object_set **ret,
                   struct error *err);
/* Reads the set itself once more: *ret is as it is now; ERR_RETRY if it goes, or is archived. */
int set_still_stands(struct set_pass *p, const struct cluster_object_set **ret, struct error *err);
static inline bool set_is_fatal(int code)
{
        return code == ERR_NO_MEMORY || code == ERR_CANCELLED;
}

/* Calls fn for 0 to n-1, SET_IN_FLIGHT at a time. After a failure, or when the server is throttled, no
 * further one is begun; the first one's code and error are returned. */
typedef int (*set_step)(void *ctx, size_t i, struct error *err);
int set_for_each(struct set_pass *p, size_t n, set_step fn, void *ctx, struct error *err);

/* ---- inventory: set_rows.c ---- */

const char *set_holder(const char *name, struct arena *arena);
int set_rows_load(struct set_pass *p, struct error *err);
const struct row *set_row_of(const struct set_pass *p, const struct set_item *item);
bool set_row_is_current(const struct set_pass *p, const struct set_item *item);
/* Write-ahead: no object may be touched without a durable record of it. */
int set_rows_plan(struct set_pass *p, const struct set_item *items, size_t n, struct error *err);
int set_rows_record(struct set_pass *p, const struct set_item *items, size_t n, struct error *err);
/* Puts what the set's manifests name into the inventory, beside what it has. */
int set_rows_restore(struct set_pass *p, struct error *err);
size_t set_count_objects(const struct cluster_object_set *s);
int set_rows_forget(struct member_agent *a, const char *name, struct arena *arena, struct error *err);
/* Whether all objects are as the last pass left them, by what the cache has of the set and without a request;
 * *ret_ms: until they are to be looked at all the same. `waits`: they would be, if the watches had begun. */
int set_rows_steady(struct member_agent *a, const struct cluster_object_set *s,
                    const struct set_signature *signature, int64_t now_ms, struct arena *arena, bool *ret,
                    bool *ret_waits, int64_t *ret_ms, struct error *err);

/* ---- the steps ---- */

/* Reads the Secrets that the set refers to. What cannot be read is told there. */
int set_secrets_read(struct set_pass *p, struct content_secrets *secrets, struct error *err);
/* What they hold, kept for when one of them is gone: set_copy.c. */
int set_copy_keep(struct set_pass *p, const struct content_secrets *secrets, struct error *err);
int set_copy_use(struct set_pass *p, struct content_secrets *secrets, struct error *err);
/* What sets wait for is followed: set_watches.c. From a fiber, but for the first. */
int set_watches_want(struct sets *s, enum set_awaited what, struct error *err);
void set_watches_settle(struct sets *s); /* ends those that nobody needs any more */
void set_watches_free(struct sets *s);
void set_watches_changed(struct sets *s); /* other sets, or other phases of one */

/* One phase: spec 7.2, 8, 9, 10. What goes wrong with an object becomes its outcome; an error is of the set
 * as a whole. */
int set_phase_run(struct set_pass *p, size_t index, struct phase_outcome *ret, struct error *err);
/* The first kind that phases from `from` on need, and that is neither served nor defined by the set, in
 * words; NULL = none. */
int set_look_ahead(struct set_pass *p, size_t from, const char **ret, struct error *err);
bool set_is_definition(const struct set_object *o);
/* Something is missing: when it comes the set is to be woken. */
int set_await(struct set_pass *p, enum set_awaited what, struct error *err);
const char *set_unknown_kind(struct set_pass *p, const struct set_object *o); /* NULL on no memory */

/* ---- metrics ---- */

void set_metrics_begin(struct sets *s);
void set_metrics_corrected(struct set_pass *p);  /* an object was set back, or made again */
void set_metrics_rolled_out(struct set_pass *p); /* for the first time */

/* ---- the end ---- */

/* Takes down what the inventory says, the last phase first: spec 12.1. *ret_words: what is waited for, NULL =
 * all is gone. */
int set_teardown_run(struct set_pass *p, const char **ret_words, struct error *err);
/* Objects become plainly nobody's: spec 12.3. */
int set_teardown_orphan(struct set_pass *p, struct error *err);
