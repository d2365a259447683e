/* The store: every object of every logical cluster, in memory as JSON text and in one SQLite file.
 *
 * Memory is the truth for reads; SQLite is the truth after a restart. A write changes memory at once and is
 * queued; all writes of one loop turn are committed together (group commit), then the writers' fibers and the
 * watchers are woken. Nothing is answered before the commit of what it saw: call api_store_wait() before
 * every answer.
 *
 * History of events is kept in memory per cluster, bounded by number and bytes; a watch from before its
 * beginning is answered 410, also after a restart. */
#pragma once

#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/json/doc.h"
#include "common/loop/loop.h"

/* One stored state of one object: immutable, reference-counted, one allocation. The text is the object in its
 * storage version and begins {"kind":..,"apiVersion":..,"metadata":..}. */
struct blob {
        struct kept_document *kept; /* kept.c; mostly NULL */
        uint32_t refs;
        uint32_t len;     /* bytes of text */
        uint32_t rest_at; /* offset of "metadata": what follows kind and apiVersion */
        uint32_t name_at, uid_at, labels_at, owners_at, end; /* offsets; the namespace is at len + 1 */
        uint16_t n_labels, n_owners;
        uint32_t told_len : 30; /* bytes of the status patch that made it (again.c); 0 = something else did */
        uint32_t repeated : 1;  /* it is the state before but for times and version */
        uint32_t often : 1;     /* status patches of the object were repeated before, or may have been */
        uint64_t rv;
        int64_t row; /* SQLite's row */
        char data[]; /* text NUL namespace NUL name NUL uid NUL (key NUL value NUL)* (owner uid NUL)* */
};

/* How the last status patch of an object is repeated with other times (again.c), beside the object's state.
 */
#define REPEAT_TIME_LEN 20 /* 2006-01-02T15:04:05Z */
struct repeat {
        size_t size;                  /* bytes of all this */
        const char *manager;          /* who wrote it */
        const char *told;             /* the patch, but for what differs from one to the next */
        uint32_t told_len, n;         /* n places */
        uint32_t version_at;          /* metadata.resourceVersion in the object's text */
        uint32_t entry_time_at;       /* of the writer's entry in managedFields, there, too */
        struct repeat_place {         /* a time that may be another */
                uint32_t told_at, at; /* in `told` and in the object's text */
        } places[];                   /* by told_at */
};

struct blob *blob_ref(struct blob *b);
void blob_unref(struct blob *b); /* NULL is fine */
static inline const char *blob_ns(const struct blob *b)
{
        return b->data + b->len + 1;
}
static inline const char *blob_name(const struct blob *b)
{
        return b->data + b->name_at;
}
static inline const char *blob_uid(const struct blob *b)
{
        return b->data + b->uid_at;
}
/* Iterates packed strings: for labels, key and value follow each other. */
static inline const char *blob_string_next(const char *s)
{
        return s + strlen(s) + 1;
}
const char *blob_label(const struct blob *b, const char *key); /* NULL if absent */
/* Packs a document; metadata.resourceVersion is set to rv in it. */
int blob_from_doc(json_t *doc, uint64_t rv, struct blob **ret, struct error *err);
int blob_parse(const struct blob *b, json_t **ret, struct error *err); /* new */

/* The document that was stored, if it is kept, or that a repeat has made of such a one: what blob_parse()
 * would give, borrowed while the blob is the object's state. Nobody changes it, nor any part of it. NULL if
 * it is not kept. */
const json_t *blob_kept_doc(const struct blob *b);
/* NULL if it cannot be repeated. Borrowed while the blob is the object's state. */
const struct repeat *blob_repeat(const struct blob *b);

enum event_type { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED };

struct event {
        uint64_t rv;
        struct table *table;
        struct blob *object;   /* after the change; for DELETED the last state with the deletion's version */
        struct blob *previous; /* NULL for ADDED */
        uint8_t type;
};

/* A queue of events with absolute positions: position - base indexes what is still there. */
struct event_queue {
        struct event **at;
        uint32_t cap, head, n;
        uint64_t base;
};
struct event *event_queue_get(const struct event_queue *q,
                              uint64_t position); /* base <= position < base + n */

/* One resource in one cluster. */
struct table {
        struct cluster *cluster;
        const char *key;          /* "group/plural" ("/pods"): borrowed from the cluster's map */
        VEC(struct blob *) items; /* sorted by namespace, then name */
        size_t found;             /* where api_store_get() found something last: a guess */
        struct event_queue events;
        struct waitq watchers;
        struct map scopes; /* namespace -> struct watch_scope */
        uint32_t order;    /* of making, within the cluster */
        bool changed;      /* since the last commit */
        uint64_t stale_rv; /* objects up to here were written under an older schema */
};

struct cluster {
        struct store *store;
        struct devcluster *devcluster;
        char *name;
        int64_t id;
        uint64_t rv;           /* last one given out */
        uint64_t committed_rv; /* watchers see events up to here */
        uint64_t compacted_rv; /* a watch from before gets 410 */
        uint64_t stored_rv;    /* as SQLite tells it: of the cluster's row or of its newest object's */
        struct map tables;     /* key -> struct table */
        struct event_queue history;
        size_t history_bytes;
        uint64_t watch_epoch;      /* raised to cut all watches */
        struct waitq any_change;   /* woken with every commit that touched the cluster */
        struct map owners;         /* owner uid -> struct owner_dependents: gc.c */
        struct map custom;         /* "group/plural" -> struct custom_resource: crd.c */
        struct map request_counts; /* "verb resource" -> uint64_t *: count.c */
        struct map readiness;      /* readiness.h */
        struct map unsimulated;    /* namespaces whose workloads others run */
        bool makes_pods;           /* pods.h */
        uint64_t counts_version;   /* raised when they are counted anew */
        void *access;              /* authz.c: cached rules; NULL = to be read */
        uint64_t access_version;   /* raised when a role or binding is written */
        struct policies *policies; /* policy_cache.c: compiled; NULL = to be read */
        struct webhooks *webhooks; /* webhook_cache.c: the same */
        uint64_t schema_version;   /* raised when discovery or OpenAPI changes */
        bool deleted;
};

struct store_observer { /* told of every change, in order, outside of SQLite; runs inside the writer */
        void (*changed)(void *ctx, struct table *t, enum event_type type, struct blob *previous,
                        struct blob *object);
        /* What was told of since the last time is on disk, or (code < 0) never will be: the store has failed.
         * Outside of fibers or in one; may be NULL. */
        void (*committed)(void *ctx, int code);
        void *ctx;
};

struct store_options {
        struct loop *loop;
        const struct log *log;
        const char *path; /* ":memory:" keeps nothing on disk */
        bool sync_commits;
        int64_t history_events;
        struct store_observer observer;
        void (*cluster_free)(struct cluster *c); /* frees what other modules hung on it; may be NULL */
};

struct store;
int api_store_open(const struct store_options *o, struct store **ret, struct error *err);
struct store *api_store_close(struct store *s); /* commits; returns NULL */

struct cluster *api_store_cluster(struct store *s, const char *name); /* NULL if absent */
int api_store_cluster_create(struct store *s, const char *name, struct cluster **ret, struct error *err);
/* Its memory stays until the store closes: watches and controllers may still be on their way out. */
int api_store_cluster_delete(struct store *s, struct cluster *c, struct error *err);
const struct map *api_store_clusters(const struct store *s); /* name -> struct cluster */

/* Small texts of the server itself (keys). *ret is new, NULL when absent. */
int api_store_setting_get(struct store *s, const char *key, char **ret, struct error *err);
int api_store_setting_put(struct store *s, const char *key, const char *value, struct error *err);

/* The table of a resource; made when absent and `create`. NULL when absent or without memory. */
struct table *api_store_table(struct cluster *c, const char *key, bool create);
struct blob *api_store_get(struct table *t, const char *ns,
                           const char *name); /* borrowed; NULL; t may be NULL */
/* Index of the first item with namespace and name not below the given ones. */
size_t api_store_lower_bound(const struct table *t, const char *ns, const char *name);

/* Creates or replaces; metadata.namespace and .name of doc say where. Sets metadata.resourceVersion in doc.
 * *ret is borrowed from the table (may be NULL). */
int api_store_put(struct table *t, json_t *doc, struct blob **ret, struct error *err);
/* The same for a document that is changed no more: it is kept, where that is possible, until the next state
 * comes or others need the room. */
int api_store_put_kept(struct table *t, json_t *doc, struct blob **ret, struct error *err);
/* Keeps how the patch that made `b` is repeated (takes r, which is one block), if b's document is kept. */
void api_store_keep_repeat(struct table *t, struct blob *b, struct repeat *r);
/* Puts the state that follows b by its repeat: its text with the times of `told` and the entry's time. What
 * is kept of b goes over to it, apart from the document. */
int api_store_put_repeated(struct table *t, struct blob *b, const char *told, const char *entry_time,
                           struct blob **ret, struct error *err);
/* For tests: how often that was done, and that nothing is kept for it from now on. */
uint64_t api_store_repeated(const struct store *s);
uint64_t api_store_read_again(const struct store *s); /* documents that were wanted behind a repeat */
void api_store_never_repeat(struct store *s);
/* Puts what another store made, whose text names its version: it must be the one that follows here. */
int api_store_put_copy(struct table *t, const struct blob *of, struct error *err);
/* Removes the object that doc is the last state of. */
int api_store_remove(struct table *t, json_t *doc, struct error *err);

int api_store_commit(struct store *s, struct error *err); /* now; otherwise at the end of the turn */
/* Parks the fiber until everything written so far is committed: 0, or ERR_SYSTEM when the disk refused. */
int api_store_wait(struct store *s, struct error *err);

/* Position of the first event behind rv in the table's queue. */
uint64_t api_store_events_after(const struct table *t, uint64_t rv);
/* ---- scopes.c: who waits for which changes ---- */

/* Watches of one namespace, woken by its changes alone: they sleep while the table's history goes on. */
struct watch_scope {
        struct waitq watchers;
        /* Of events of the namespace since this is here: the last that history has lost, the last that is
         * committed, the first of the last commit that had any, and the last before that. 0 = none; what was
         * before is not known, and so is `before_rv`, UINT64_MAX, at first. */
        uint64_t forgotten_rv, last_rv, first_rv, before_rv;
        unsigned refs;
};
/* For a watch of a namespace (NULL: of all). *ret NULL: it waits for every change of the table. To be given
 * back, also then. */
int watch_scope_take(struct table *t, const char *ns, struct watch_scope **ret);
void watch_scope_give(struct table *t, const char *ns, struct watch_scope *s);
struct waitq *watch_scope_queue(struct table *t, struct watch_scope *s);
/* A version up to which nothing concerns who has seen everything up to `rv`; rv itself where that is not
 * known. */
uint64_t watch_scope_skip(const struct table *t, const struct watch_scope *s, uint64_t rv);

void api_store_compact(struct cluster *c, size_t keep_events); /* forgets history but the newest */
void api_store_cut_watches(struct cluster *c, bool compact);
