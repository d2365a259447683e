/* The agent's own memory across restarts: desired state (encrypted), inventory of applied objects,
 * undelivered status. spec/member-agent.md 6. Truth stays with the hub (specs), the API server (objects) and
 * owner references (ownership): deleting the file is safe. One SQLite file per agent; calls are synchronous
 * and short; nothing here parks.
 *
 * When the file cannot be written any more (disk full, I/O error, corruption), the store goes on in memory
 * and says so (store_problem), until store_mend() finds that it can be written again. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"
#include "member-agent/apply/strategy.h"

#define STORE_KEY_SIZE 32

struct store;

struct store_options {
        const char *path;            /* ":memory:" keeps nothing */
        uint8_t key[STORE_KEY_SIZE]; /* AES-256-GCM key for specs, which may hold Secrets */
        void (*random)(void *ctx, void *ret, size_t n); /* nonces */
        void *random_ctx;
};
int store_open(const struct store_options *o, struct store **ret, struct error *err);
struct store *store_close(struct store *s);
const char *store_problem(const struct store *s); /* why it runs in memory only; "" if all is well */

/* Tries to write what is in memory only to the file, in place of what is there, and to go on in it. 0, also
 * when there is nothing to mend; else why not, and nothing has changed. Not within a transaction. */
int store_mend(struct store *s, struct error *err);

int store_clear(struct store *s, struct error *err); /* forgets everything but the schema */

/* Groups writes. A durable transaction is on the disk when store_commit returns. Do not park in between. */
int store_begin(struct store *s, bool durable, struct error *err);
int store_commit(struct store *s, struct error *err);
void store_rollback(struct store *s);

int store_meta_put(struct store *s, const char *key, const char *value, struct error *err);
/* NULL in *ret if absent. */
int store_meta_get(struct store *s, const char *key, struct arena *arena, const char **ret,
                   struct error *err);

/* ---- desired state ---- */

struct stored_work {
        const char *name, *uid;
        int64_t generation;
        struct slice spec;   /* the whole Work as JSON text, without status */
        struct slice status; /* newest status we wanted to see on the hub; data NULL if none */
        int64_t status_generation;
        bool status_delivered;
        bool listed; /* what it wants is kept; false after a former version of this program: put it again */
};
/* An object as manifests name it; ns "" = none. */
struct object_name {
        const char *group, *kind, *ns, *name;
};
/* Keeps a Work and, in the same transaction, which objects it wants (in any order; sorted on return). A
 * generation older than the one that is there is not kept. */
int store_work_put(struct store *s, const char *name, const char *uid, int64_t generation, struct slice spec,
                   struct object_name *wants, size_t n_wants, struct error *err);
/* Keeps, in the place of a Work, what wants nothing and cannot be asked for again: it is on the disk when
 * this returns. */
int store_copy_put(struct store *s, const char *name, const char *uid, int64_t generation, struct slice copy,
                   struct error *err);
/* Whether this very generation of the Work is kept, so that what it wants is known. */
int store_work_is_kept(struct store *s, const char *name, const char *uid, int64_t generation, bool *ret,
                       struct error *err);
/* Names of the Works that want an object, sorted; the array lives in the arena. */
int store_wanted_by(struct store *s, const struct object_name *o, struct arena *arena, const char ***ret,
                    size_t *ret_n, struct error *err);
/* ERR_NOT_FOUND if absent, or if it was written under another key. */
int store_work_get(struct store *s, const char *name, struct arena *arena, struct stored_work *ret,
                   struct error *err);
int store_status_put(struct store *s, const char *name, int64_t generation, struct slice status,
                     bool delivered, struct error *err);
/* The Work is gone: forgets it, what it wants and its inventory, durably: after a power loss, too, it does
 * not rise again. */
int store_work_remove(struct store *s, const char *name, struct error *err);
int store_work_names(struct store *s, struct arena *arena, const char ***ret, size_t *ret_n,
                     struct error *err);
/* Names that begin with prefix and go on, of what has rows in the inventory or is kept: each once, sorted. */
int store_holders(struct store *s, const char *prefix, struct arena *arena, const char ***ret, size_t *ret_n,
                  struct error *err);

/* ---- inventory: what we applied, or were about to ---- */

enum row_state { ROW_PLANNED, ROW_APPLIED, ROW_REMOVING };

/* Of a Job that its cluster deletes when it has finished. */
enum row_ended {
        ENDED_NONE,     /* it is no such Job, or nobody looked */
        ENDED_NOT,      /* it had not finished when it was last looked at */
        ENDED_FINISHED, /* it had */
        ENDED_TAKEN     /* it went before it had: somebody deleted it */
};

struct row {
        const char *work, *group, *version, *kind, *plural, *ns /* "" = none */, *name;
        bool namespaced;
        const char *uid; /* of the live object, "" if unknown */
        int ordinal;
        enum row_state state;
        int64_t work_generation;
        const char *hash;    /* of the manifest that was applied, "" = none */
        unsigned strategy;   /* pass_strategy_number() */
        const char *handled; /* resourceVersion the results below were made from; "" = none */
        const char *seen;    /* newest resourceVersion the watch told of; "" = unknown */
        int64_t live_generation;
        enum result result;
        enum availability availability;
        int64_t first_drift_ms, first_diff_ms; /* TIME_NONE = none */
        int64_t checked_ms;                    /* wall time of the last look at the object itself */
        enum row_ended ended;
};
struct rows {
        struct row *at;
        size_t n;
};
int store_row_put(struct store *s, const struct row *row,
                  struct error *err); /* replaces; keeps `seen` of an existing row */
/* Puts a row that a Work does not have yet; one that is there stays as it is. */
int store_row_add(struct store *s, const struct row *row, struct error *err);
int store_row_remove(struct store *s, const struct row *row, struct error *err);
int store_rows_of_work(struct store *s, const char *work, struct arena *arena, struct rows *ret,
                       struct error *err);
/* Rows of all Works that hold this object. */
int store_rows_of_object(struct store *s, const char *group, const char *plural, const char *ns,
                         const char *name, struct arena *arena, struct rows *ret, struct error *err);
int store_object_seen(struct store *s, const char *group, const char *plural, const char *ns,
                      const char *name, const char *resource_version, struct error *err);
/* Rows of one resource, for comparing with a whole list. */
int store_rows_of_resource(struct store *s, const char *group, const char *plural, struct arena *arena,
                           struct rows *ret, struct error *err);
/* Distinct resources in the inventory: which kinds have to be watched. Only group, version, plural, kind,
 * namespaced. */
int store_resources(struct store *s, struct arena *arena, struct rows *ret, struct error *err);
