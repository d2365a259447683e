/* Shared by the store's files: statements by name, prepared once, and one way to treat result codes. */
#pragma once

#include <sqlite3.h>

#include "member-agent/store/store.h"

enum statement {
        BEGIN,
        COMMIT,
        ROLLBACK,
        META_PUT,
        META_GET,
        WORK_PUT,
        WORK_GET,
        WORK_KEPT,
        STATUS_PUT,
        WORK_REMOVE,
        WORK_ROWS_REMOVE,
        WORK_WANTS_REMOVE,
        WANT_PUT,
        WANTS_OF_WORK,
        WANTED_BY,
        WORK_NAMES,
        HOLDERS,
        ROW_PUT,
        ROW_ADD,
        ROW_REMOVE,
        ROWS_OF_WORK,
        ROWS_OF_OBJECT,
        ROWS_OF_RESOURCE,
        OBJECT_SEEN,
        RESOURCES,
        STATEMENTS
};

struct store {
        struct store_options options;
        sqlite3 *db;
        sqlite3_stmt *prepared[STATEMENTS];
        bool wal; /* a write-ahead log; false: this disk has none, and SQLite keeps a rollback journal */
        bool durable;
        bool lost;  /* the file failed: the next statement goes to a store in memory */
        bool sound; /* when lost: what was committed may be believed */
        char problem[256];
};

/* The statement is borrowed; AUTO_RESET gives it back. */
int store_prepared(struct store *s, enum statement which, sqlite3_stmt **ret, struct error *err);
int store_finish(struct store *s, sqlite3_stmt *st,
                 struct error *err); /* runs a statement that yields no rows */
int store_failure(struct store *s, int sqlite_code, struct error *err);
void store_bind_text(sqlite3_stmt *st, int i, const char *text); /* NULL as ""; borrowed until the reset */
int store_remove_by_work(struct store *s, enum statement which, const char *work, struct error *err);
/* Writes what a Work wants if it is not what is there. Within a transaction. */
int store_wants_put(struct store *s, const char *work, struct object_name *wants, size_t n,
                    struct error *err);
/* Collects the first column of all rows. */
int store_read_names(struct store *s, sqlite3_stmt *st, struct arena *arena, const char ***ret, size_t *ret_n,
                     struct error *err);
const char *store_column_text(sqlite3_stmt *st, int i, struct arena *arena);

static inline void store_statement_reset(sqlite3_stmt **st)
{
        if (*st) {
                sqlite3_reset(*st);
                sqlite3_clear_bindings(*st);
        }
}
#define AUTO_RESET CLEANUP(store_statement_reset)
