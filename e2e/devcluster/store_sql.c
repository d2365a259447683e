/* The store's SQLite file: two tables, written in one transaction per loop turn, read once at the start. */
#include "e2e/devcluster/store_internal.h"

static const char schema_sql[] =
        "CREATE TABLE IF NOT EXISTS clusters(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rv INTEGER "
        "NOT NULL);"
        "CREATE TABLE IF NOT EXISTS objects(row INTEGER PRIMARY KEY, cluster INTEGER NOT NULL, resource TEXT "
        "NOT NULL,"
        " rv INTEGER NOT NULL, rest_at INTEGER NOT NULL, n_labels INTEGER NOT NULL, n_owners INTEGER NOT "
        "NULL,"
        " extra BLOB NOT NULL, body BLOB NOT NULL);"
        "CREATE TABLE IF NOT EXISTS settings(key TEXT PRIMARY KEY, value TEXT NOT NULL);";

/* Of pages; only what is used. Statuses of a thousand members are some 8 MiB, written once a minute: with
 * SQLite's own 2 MiB each is read again before. */
#define CACHE_KIB "16384"

static int sql_error(struct store *s, const char *what, struct error *err)
{
        return error_set(err, ERR_SYSTEM, "%s: %s: %s", s->options.path, what,
                         s->db ? sqlite3_errmsg(s->db) : "out of memory");
}

static int run(struct store *s, const char *sql, struct error *err)
{
        if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
                return sql_error(s, sql, err);
        return 0;
}

static int prepare(struct store *s, const char *sql, sqlite3_stmt **ret, struct error *err)
{
        if (sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) != SQLITE_OK)
                return sql_error(s, sql, err);
        return 0;
}

static void finalize(sqlite3_stmt **st)
{
        sqlite3_finalize(*st);
}

static int read_clusters(struct store *s, struct map *by_id, struct error *err)
{
        CLEANUP(finalize) sqlite3_stmt *st = NULL;
        TRY(prepare(s, "SELECT id, name, rv FROM clusters", &st, err));
        int r;
        while ((r = sqlite3_step(st)) == SQLITE_ROW) {
                int64_t id = sqlite3_column_int64(st, 0);
                struct cluster *c = api_store_cluster_new(s, (const char *)sqlite3_column_text(st, 1), id,
                                                          (uint64_t)sqlite3_column_int64(st, 2));
                if (!c || map_put_n(by_id, (const char *)&c->id, sizeof(c->id), c) < 0)
                        return error_no_memory(err);
                s->next_cluster = MAX(s->next_cluster, id + 1);
        }
        return r == SQLITE_DONE ? 0 : sql_error(s, "reading clusters", err);
}

static int read_object(struct store *s, sqlite3_stmt *st, struct map *by_id, struct error *err)
{
        int64_t id = sqlite3_column_int64(st, 1);
        struct cluster *c = map_get_n(by_id, (const char *)&id, sizeof(id));
        if (!c)
                return 0; /* its cluster was deleted; the row goes with the next clean-up */
        struct slice extra = { sqlite3_column_blob(st, 7), (size_t)sqlite3_column_bytes(st, 7) };
        struct slice body = { sqlite3_column_blob(st, 8), (size_t)sqlite3_column_bytes(st, 8) };
        struct blob *b =
                blob_new(body, (uint32_t)sqlite3_column_int64(st, 4), extra,
                         (uint16_t)sqlite3_column_int64(st, 5), (uint16_t)sqlite3_column_int64(st, 6));
        if (!b)
                return error_no_memory(err);
        b->row = sqlite3_column_int64(st, 0);
        b->rv = (uint64_t)sqlite3_column_int64(st, 3);
        s->next_row = MAX(s->next_row, b->row + 1);
        c->stored_rv = MAX(c->stored_rv, b->rv);
        if (api_store_load_blob(c, (const char *)sqlite3_column_text(st, 2), b) < 0)
                return error_no_memory(err);
        return 0;
}

static int read_objects(struct store *s, struct map *by_id, struct error *err)
{
        CLEANUP(finalize) sqlite3_stmt *st = NULL;
        TRY(prepare(
                s, "SELECT row, cluster, resource, rv, rest_at, n_labels, n_owners, extra, body FROM objects",
                &st, err));
        int r;
        while ((r = sqlite3_step(st)) == SQLITE_ROW)
                TRY(read_object(s, st, by_id, err));
        if (r != SQLITE_DONE)
                return sql_error(s, "reading objects", err);
        map_for_each(&s->clusters, e) {
                struct cluster *c = e->value;
                c->rv = c->committed_rv = c->compacted_rv = c->stored_rv;
                api_store_sort_loaded(c);
        }
        return 0;
}

static void free_map(struct map *m)
{
        map_free(m);
}

int api_store_sql_open(struct store *s, struct error *err)
{
        if (sqlite3_open(s->options.path, &s->db) != SQLITE_OK)
                return sql_error(s, "open", err);
        sqlite3_busy_timeout(s->db, 5000);
        TRY(run(s, "PRAGMA journal_mode=WAL", err));
        TRY(run(s, s->options.sync_commits ? "PRAGMA synchronous=EXTRA" : "PRAGMA synchronous=OFF", err));
        TRY(run(s, "PRAGMA locking_mode=EXCLUSIVE", err));
        TRY(run(s, "PRAGMA cache_size=-" CACHE_KIB, err));
        TRY(run(s, schema_sql, err));

        CLEANUP(free_map) struct map by_id;
        map_init(&by_id, MAP_OWN_KEYS, NULL);
        TRY(read_clusters(s, &by_id, err));
        TRY(read_objects(s, &by_id, err));
        TRY(prepare(s, "INSERT OR REPLACE INTO objects VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)", &s->put, err));
        TRY(prepare(s, "DELETE FROM objects WHERE row=?1", &s->remove, err));
        TRY(prepare(s, "UPDATE clusters SET rv=?2 WHERE id=?1", &s->set_rv, err));
        TRY(prepare(s, "BEGIN IMMEDIATE", &s->begin, err));
        TRY(prepare(s, "COMMIT", &s->commit, err));
        return prepare(s, "ROLLBACK", &s->rollback, err);
}

void api_store_sql_close(struct store *s)
{
        finalize(&s->put);
        finalize(&s->remove);
        finalize(&s->set_rv);
        finalize(&s->begin);
        finalize(&s->commit);
        finalize(&s->rollback);
        sqlite3_close(s->db);
        s->db = NULL;
}

static int step(struct store *s, sqlite3_stmt *st, const char *what, struct error *err)
{
        int r = sqlite3_step(st);
        sqlite3_reset(st);
        return r == SQLITE_DONE ? 0 : sql_error(s, what, err);
}

static int put_row(struct store *s, const struct pending *p, struct error *err)
{
        const struct blob *b = p->blob;
        sqlite3_stmt *st = s->put;
        sqlite3_bind_int64(st, 1, b->row);
        sqlite3_bind_int64(st, 2, p->cluster->id);
        sqlite3_bind_text(st, 3, p->key, -1, SQLITE_STATIC);
        sqlite3_bind_int64(st, 4, (int64_t)b->rv);
        sqlite3_bind_int64(st, 5, b->rest_at);
        sqlite3_bind_int64(st, 6, b->n_labels);
        sqlite3_bind_int64(st, 7, b->n_owners);
        sqlite3_bind_blob(st, 8, b->data + b->len + 1, (int)(b->end - b->len - 1), SQLITE_STATIC);
        sqlite3_bind_blob(st, 9, b->data, (int)b->len, SQLITE_STATIC);
        int r = step(s, st, "write", err);
        sqlite3_clear_bindings(st);
        return r;
}

static int write_version(struct store *s, struct cluster *c, struct error *err)
{
        if (c->stored_rv == c->rv)
                return 0;
        sqlite3_bind_int64(s->set_rv, 1, c->id);
        sqlite3_bind_int64(s->set_rv, 2, (int64_t)c->rv);
        TRY(step(s, s->set_rv, "write", err));
        c->stored_rv = c->rv;
        return 0;
}

static int write_pending(struct store *s, struct error *err)
{
        for (size_t i = 0; i < s->pending.n; i++) {
                const struct pending *p = &s->pending.at[i];
                if (p->blob) {
                        TRY(put_row(s, p, err));
                        p->cluster->stored_rv = p->blob->rv; /* what is read back has it */
                } else {
                        sqlite3_bind_int64(s->remove, 1, p->row);
                        TRY(step(s, s->remove, "write", err));
                }
        }
        for (size_t i = 0; i < s->pending.n; i++)
                TRY(write_version(s, s->pending.at[i].cluster, err));
        if (s->cut)
                map_for_each(&s->clusters, e)
                        TRY(write_version(s, e->value, err));
        s->cut = false;
        return 0;
}

/* One row that is put, with its cluster's newest version: a statement by itself is a transaction. */
static bool is_single_put(const struct store *s)
{
        const struct pending *p = s->pending.at;
        return s->pending.n == 1 && !s->cut && p->blob && p->blob->rv == p->cluster->rv;
}

int api_store_sql_commit(struct store *s, struct error *err)
{
        if (is_single_put(s))
                return write_pending(s, err);
        TRY(step(s, s->begin, "BEGIN IMMEDIATE", err));
        int r = write_pending(s, err);
        if (r < 0) {
                (void)step(s, s->rollback, "ROLLBACK", NULL);
                return r;
        }
        return step(s, s->commit, "COMMIT", err);
}

int api_store_sql_cluster_create(struct store *s, struct cluster *c, struct error *err)
{
        CLEANUP(finalize) sqlite3_stmt *st = NULL;
        TRY(prepare(s, "INSERT INTO clusters VALUES(?1,?2,?3)", &st, err));
        sqlite3_bind_int64(st, 1, c->id);
        sqlite3_bind_text(st, 2, c->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(st, 3, (int64_t)c->rv);
        return step(s, st, "write", err);
}

int api_store_sql_cluster_delete(struct store *s, struct cluster *c, struct error *err)
{
        CLEANUP(finalize) sqlite3_stmt *objects = NULL, *cluster = NULL;
        TRY(prepare(s, "DELETE FROM objects WHERE cluster=?1", &objects, err));
        TRY(prepare(s, "DELETE FROM clusters WHERE id=?1", &cluster, err));
        sqlite3_bind_int64(objects, 1, c->id);
        sqlite3_bind_int64(cluster, 1, c->id);
        TRY(step(s, objects, "write", err));
        return step(s, cluster, "write", err);
}

int api_store_setting_get(struct store *s, const char *key, char **ret, struct error *err)
{
        CLEANUP(finalize) sqlite3_stmt *st = NULL;
        *ret = NULL;
        if (!s->db)
                return 0;
        TRY(prepare(s, "SELECT value FROM settings WHERE key=?1", &st, err));
        sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
        int r = sqlite3_step(st);
        if (r == SQLITE_DONE)
                return 0;
        if (r != SQLITE_ROW)
                return sql_error(s, "reading settings", err);
        *ret = mem_strdup((const char *)sqlite3_column_text(st, 0));
        return *ret ? 0 : error_no_memory(err);
}

int api_store_setting_put(struct store *s, const char *key, const char *value, struct error *err)
{
        CLEANUP(finalize) sqlite3_stmt *st = NULL;
        if (!s->db)
                return 0;
        TRY(prepare(s, "INSERT OR REPLACE INTO settings VALUES(?1,?2)", &st, err));
        sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_text(st, 2, value, -1, SQLITE_STATIC);
        return step(s, st, "write", err);
}
