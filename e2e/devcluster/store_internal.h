/* Shared by store.c, store_sql.c and blob.c only. */
#pragma once

#include <sqlite3.h>

#include "common/json/doc_beside.h"
#include "e2e/devcluster/store.h"

struct pending {
        struct cluster *cluster;
        struct blob *blob; /* NULL = the row is removed */
        const char *key;   /* table's */
        int64_t row;
};

/* Oldest first. */
struct kept_documents {
        struct list list;
        size_t n, bytes;     /* of the documents' text, and of repeats */
        uint64_t repeated;   /* states that were made by a repeat */
        uint64_t read_again; /* documents that were wanted behind one */
        bool never_repeat;
};

struct store {
        struct store_options options;
        struct loop *loop;
        struct loop_hook hook;
        sqlite3 *db; /* NULL for ":memory:" */
        sqlite3_stmt *put, *remove, *set_rv, *begin, *commit, *rollback;
        VEC(struct pending) pending;
        VEC(struct table *) changed; /* since the last commit, each once */
        uint64_t queued, committed;  /* counts of writes: a fiber waits until committed reaches its queued */
        struct waitq waiters;
        struct map clusters;
        VEC(struct cluster *) deleted;
        int64_t next_row, next_cluster;
        struct kept_documents kept;
        bool cut; /* versions were raised without a write: they, too, have to be there after a restart */
        bool failed;
};

/* ---- store_sql.c ---- */
int api_store_sql_open(struct store *s,
                       struct error *err); /* opens, makes tables, reads everything into memory */
void api_store_sql_close(struct store *s);
int api_store_sql_commit(struct store *s, struct error *err); /* writes all pending */
int api_store_sql_cluster_create(struct store *s, struct cluster *c, struct error *err);
int api_store_sql_cluster_delete(struct store *s, struct cluster *c, struct error *err);

/* ---- store.c, used while reading ---- */
struct cluster *api_store_cluster_new(struct store *s, const char *name, int64_t id, uint64_t rv);
int api_store_load_blob(struct cluster *c, const char *key, struct blob *b); /* takes b */
void api_store_sort_loaded(struct cluster *c);

/* ---- blob.c ---- */
struct blob *blob_new(struct slice text, uint32_t rest_at, struct slice extra, uint16_t n_labels,
                      uint16_t n_owners);
/* blob_from_doc() of a document that shares parts with one whose text is known; all may be NULL. */
int blob_from_doc_beside(json_t *doc, uint64_t rv, const struct doc_known_text *known, struct doc_spans *into,
                         struct blob **ret, struct error *err);
struct blob *blob_copy(const struct blob *b); /* with its version; NULL without memory */
/* The same with another version, whose digits stand at version_at. */
struct blob *blob_copy_as(const struct blob *b, uint32_t version_at, uint64_t rv);

/* ---- scopes.c ---- */
void scopes_wake(struct table *t, uint64_t from); /* those of the events after `from` */
void scopes_wake_all(struct table *t);
void scopes_forget(const struct event *e); /* history loses it */

/* ---- kept.c ---- */
struct kept_document {
        struct list node;
        struct kept_documents *of;
        struct blob *blob;
        json_t *doc;            /* NULL: only the repeat is kept, until it is asked for */
        struct doc_spans spans; /* of doc, in the blob's text */
        struct repeat *repeat;  /* NULL = none */
        size_t bytes;           /* counted for it */
};
/* Keeps a document, if it may be; takes the spans. */
void kept_add(struct store *s, struct blob *b, json_t *doc, struct doc_spans *spans);
void blob_forget_doc(struct blob *b); /* none is fine */
/* Takes a repeat off with all that is kept; its document is dropped. */
struct kept_document *kept_take(struct blob *b);
void kept_give(struct blob *b, struct kept_document *k);
void api_store_forget_docs(struct store *s);
