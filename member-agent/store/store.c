/* Opening, giving up on the file, transactions, and the tables meta and works. */
#include "member-agent/store/internal.h"

#include <openssl/crypto.h>

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "member-agent/store/seal.h"

#define SCHEMA_VERSION "4"

static const char schema[] =
        "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE IF NOT EXISTS works (name TEXT PRIMARY KEY, uid TEXT NOT NULL, generation INTEGER NOT "
        "NULL,"
        " spec BLOB NOT NULL, status BLOB, status_generation INTEGER, status_delivered INTEGER,"
        " listed INTEGER NOT NULL DEFAULT 0);"
        "CREATE TABLE IF NOT EXISTS inventory (work TEXT, grp TEXT, kind TEXT, ns TEXT, name TEXT, version "
        "TEXT,"
        " plural TEXT, namespaced INTEGER, uid TEXT, ordinal INTEGER, state INTEGER, work_generation INTEGER,"
        " hash TEXT, strategy INTEGER, handled TEXT, seen TEXT, live_generation INTEGER, result INTEGER,"
        " availability INTEGER, first_drift INTEGER, first_diff INTEGER, checked INTEGER,"
        " ended INTEGER NOT NULL DEFAULT 0,"
        " PRIMARY KEY (work, grp, kind, ns, name)) WITHOUT ROWID;"
        "CREATE INDEX IF NOT EXISTS inventory_object ON inventory (grp, plural, ns, name);"
        "CREATE TABLE IF NOT EXISTS wants (work TEXT, grp TEXT, kind TEXT, ns TEXT, name TEXT,"
        " PRIMARY KEY (work, grp, kind, ns, name)) WITHOUT ROWID;"
        "CREATE INDEX IF NOT EXISTS wants_object ON wants (grp, kind, ns, name);";

#define ROW_COLUMNS                                                                                          \
        "work, grp, kind, ns, name, version, plural, namespaced, uid, ordinal, state, work_generation, "     \
        "hash, "                                                                                             \
        "strategy, handled, seen, live_generation, result, availability, first_drift, first_diff, checked, " \
        "ended"

static const char *const statements[STATEMENTS] = {
        [BEGIN] = "BEGIN IMMEDIATE",
        [COMMIT] = "COMMIT",
        [ROLLBACK] = "ROLLBACK",
        [META_PUT] = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
        [META_GET] = "SELECT value FROM meta WHERE key = ?1",
        [WORK_PUT] = "INSERT INTO works (name, uid, generation, spec, listed) VALUES (?1, ?2, ?3, ?4, 1) ON "
                     "CONFLICT (name)"
                     " DO UPDATE SET uid = ?2, generation = ?3, spec = ?4, listed = 1 WHERE uid <> ?2 OR "
                     "generation <= ?3",
        [WORK_GET] =
                "SELECT uid, generation, spec, status, status_generation, status_delivered, listed FROM works"
                " WHERE name = ?1",
        [WORK_KEPT] = "SELECT 1 FROM works WHERE name = ?1 AND uid = ?2 AND generation = ?3 AND listed",
        [STATUS_PUT] =
                "UPDATE works SET status_generation = ?2, status = ?3, status_delivered = ?4 WHERE name = ?1",
        [WORK_REMOVE] = "DELETE FROM works WHERE name = ?1",
        [WORK_ROWS_REMOVE] = "DELETE FROM inventory WHERE work = ?1",
        [WORK_WANTS_REMOVE] = "DELETE FROM wants WHERE work = ?1",
        [WANT_PUT] = "INSERT OR IGNORE INTO wants (work, grp, kind, ns, name) VALUES (?1, ?2, ?3, ?4, ?5)",
        [WANTS_OF_WORK] =
                "SELECT grp, kind, ns, name FROM wants WHERE work = ?1 ORDER BY grp, kind, ns, name",
        [WANTED_BY] =
                "SELECT work FROM wants WHERE grp = ?1 AND kind = ?2 AND ns = ?3 AND name = ?4 ORDER BY work",
        [WORK_NAMES] = "SELECT name FROM works ORDER BY name",
        [HOLDERS] = "SELECT work FROM inventory WHERE work > ?1 AND work < ?1 || char(1114111)"
                    " UNION SELECT name FROM works WHERE name > ?1 AND name < ?1 || char(1114111)",
        [ROW_PUT] =
                "INSERT INTO inventory (" ROW_COLUMNS
                ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
                " ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)"
                " ON CONFLICT (work, grp, kind, ns, name) DO UPDATE SET version = ?6, plural = ?7, "
                "namespaced = ?8,"
                " uid = ?9, ordinal = ?10, state = ?11, work_generation = ?12, hash = ?13, strategy = ?14,"
                " handled = ?15, live_generation = ?17, result = ?18, availability = ?19, first_drift = ?20,"
                " first_diff = ?21, checked = ?22, ended = ?23",
        [ROW_ADD] = "INSERT OR IGNORE INTO inventory (" ROW_COLUMNS
                    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
                    " ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
        [ROW_REMOVE] =
                "DELETE FROM inventory WHERE work = ?1 AND grp = ?2 AND kind = ?3 AND ns = ?4 AND name = ?5",
        [ROWS_OF_WORK] =
                "SELECT " ROW_COLUMNS " FROM inventory WHERE work = ?1 ORDER BY ordinal, grp, kind, ns, name",
        [ROWS_OF_OBJECT] =
                "SELECT " ROW_COLUMNS
                " FROM inventory WHERE grp = ?1 AND plural = ?2 AND ns = ?3 AND name = ?4 ORDER BY work",
        [ROWS_OF_RESOURCE] = "SELECT " ROW_COLUMNS
                             " FROM inventory WHERE grp = ?1 AND plural = ?2 ORDER BY ns, name, work",
        [OBJECT_SEEN] =
                "UPDATE inventory SET seen = ?5 WHERE grp = ?1 AND plural = ?2 AND ns = ?3 AND name = ?4",
        [RESOURCES] =
                "SELECT '', grp, kind, '', '', max(version), plural, namespaced, '', 0, 0, 0, '', 0, '', '', "
                "0, 0,"
                " 0, 0, 0, 0, 0 FROM inventory GROUP BY grp, kind, plural, namespaced ORDER BY grp, plural",
};

/* ---- opening, and giving up on the file ---- */

static void drop_statements(struct store *s)
{
        for (size_t i = 0; i < STATEMENTS; i++) {
                sqlite3_finalize(s->prepared[i]);
                s->prepared[i] = NULL;
        }
}

static void shut(struct store *s)
{
        drop_statements(s);
        sqlite3_close(s->db);
        s->db = NULL;
        s->durable = false;
}

static int run(struct store *s, const char *sql, struct error *err)
{
        int r = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

        if (r == SQLITE_OK)
                return 0;
        if (r == SQLITE_NOMEM)
                return error_no_memory(err);
        return error_set(err, ERR_SYSTEM, "state file %s: %s", s->options.path, sqlite3_errmsg(s->db));
}

/* Without shared memory (some network disks) there is none: SQLite says so and goes on with a rollback
 * journal.
 */
static int ask_for_log(struct store *s, struct error *err)
{
        sqlite3_stmt *st = NULL;
        int r = sqlite3_prepare_v2(s->db, "PRAGMA journal_mode=WAL", -1, &st, NULL);

        if (r == SQLITE_OK)
                r = sqlite3_step(st);
        s->wal = r == SQLITE_ROW && text_equal((const char *)sqlite3_column_text(st, 0), "wal");
        sqlite3_finalize(st);
        if (r == SQLITE_NOMEM)
                return error_no_memory(err);
        return r == SQLITE_ROW ? 0
                               : error_set(err, ERR_SYSTEM, "state file %s: %s", s->options.path,
                                           sqlite3_errmsg(s->db));
}

/* What is committed durably is on the disk: of a rollback journal so, too, must be that it was deleted, or it
 * is rolled back after a power failure. Else nothing may be spoilt by one, which NORMAL promises of a log
 * alone.
 */
static int set_synchronous(struct store *s, bool durable, struct error *err)
{
        TRY(run(s,
                durable  ? "PRAGMA synchronous=EXTRA"
                : s->wal ? "PRAGMA synchronous=NORMAL"
                         : "PRAGMA synchronous=FULL",
                err));
        s->durable = durable;
        return 0;
}

static int set_up(struct store *s, struct error *err)
{
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 128, 32);
        TRY(ask_for_log(s, err));
        TRY(run(s, "PRAGMA cache_size=-256; PRAGMA temp_store=MEMORY", err));
        TRY(set_synchronous(s, false, err));
        return run(s, schema, err);
}

static int open_file(const char *path, sqlite3 **ret)
{
        return sqlite3_open_v2(
                path, ret,
                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI, NULL);
}

static int open_at(struct store *s, const char *path, struct error *err)
{
        int r = open_file(path, &s->db);

        if (r != SQLITE_OK)
                return r == SQLITE_NOMEM
                               ? error_no_memory(err)
                               : error_set(err, ERR_SYSTEM, "state file %s: %s", path, sqlite3_errstr(r));
        return set_up(s, err);
}

/* A file that is written no more says less and less of what is true: a later run must not take up Works that
 * were removed meanwhile. Through SQLite's own layer, which a full disk does not hinder. What is no database
 * is somebody else's file and stays. */
static void discard_file(struct store *s)
{
        static const char *const tails[] = { "", "-journal", "-wal", "-shm" };
        const char *name = s->db ? sqlite3_db_filename(s->db, "main") : NULL;
        AUTO_FREE char *kept = text_empty(name) ? NULL : mem_strdup(name);
        sqlite3_vfs *vfs = NULL;

        if (kept && sqlite3_errcode(s->db) != SQLITE_NOTADB)
                sqlite3_file_control(s->db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
        shut(s);
        for (size_t i = 0; kept && vfs && i < ARRAY_LEN(tails); i++) {
                AUTO_FREE char *path = mem_printf("%s%s", kept, tails[i]);

                if (path)
                        (void)vfs->xDelete(vfs, path, true); /* nor after a power failure */
        }
}

/* All that was committed, in place of what is there. */
static int copy_into(struct store *s, sqlite3 *to)
{
        sqlite3_backup *copying;
        int r;

        drop_statements(s);
        if (!sqlite3_get_autocommit(s->db))
                sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        copying = sqlite3_backup_init(to, "main", s->db, "main");
        if (!copying)
                return sqlite3_errcode(to);
        r = sqlite3_backup_step(copying, -1);
        sqlite3_backup_finish(copying);
        return r == SQLITE_DONE ? SQLITE_OK : r;
}

/* What was committed, in memory; NULL if it cannot be read either. A disk that is full can be. */
static sqlite3 *copy_of(struct store *s)
{
        sqlite3 *copy = NULL;
        int r = sqlite3_open_v2(":memory:", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

        if (r == SQLITE_OK)
                r = copy_into(s, copy);
        if (r == SQLITE_OK)
                return copy;
        sqlite3_close(copy);
        return NULL;
}

/* The file is lost to us: go on in memory, with what it said as far as it is sound. What else was in it is
 * found again through AppliedWorks and the hub, but for Works that the hub lost and whoever has no hub to
 * ask. */
static int fall_back(struct store *s, struct error *err)
{
        sqlite3 *copy = s->lost && s->sound ? copy_of(s) : NULL;

        discard_file(s);
        s->lost = false;
        if (!copy)
                return open_at(s, ":memory:", err);
        s->db = copy;
        return set_up(s, err);
}

int store_failure(struct store *s, int sqlite_code, struct error *err)
{
        const char *why = sqlite3_errmsg(s->db);

        switch (sqlite_code & 0xff) {
        case SQLITE_NOMEM:
                return error_no_memory(err);
        case SQLITE_FULL:
        case SQLITE_IOERR:
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
                s->lost = true;
                s->sound = (sqlite_code & 0xff) != SQLITE_CORRUPT && (sqlite_code & 0xff) != SQLITE_NOTADB;
                snprintf(s->problem, sizeof(s->problem), "%.200s", why);
                return error_set(err, ERR_RETRY, "state file %s given up: %s", s->options.path, why);
        default:
                return error_set(err, ERR_SYSTEM, "state file %s: %s", s->options.path, why);
        }
}

int store_prepared(struct store *s, enum statement which, sqlite3_stmt **ret, struct error *err)
{
        int r;

        if (s->lost)
                TRY(fall_back(s, err));
        if (!s->prepared[which]) {
                r = sqlite3_prepare_v3(s->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT,
                                       &s->prepared[which], NULL);
                if (r != SQLITE_OK)
                        return store_failure(s, r, err);
        }
        *ret = s->prepared[which];
        return 0;
}

int store_finish(struct store *s, sqlite3_stmt *st, struct error *err)
{
        int r = sqlite3_step(st);

        return r == SQLITE_DONE || r == SQLITE_ROW ? 0 : store_failure(s, r, err);
}

static int simple(struct store *s, enum statement which, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, which, &st, err));
        return store_finish(s, st, err);
}

/* A conversion that was cut off may have added it already. */
static int add_column(struct store *s, const char *table, const char *column, struct error *err)
{
        char sql[128];

        if (sqlite3_table_column_metadata(s->db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) ==
            SQLITE_OK)
                return 0;
        snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN %s INTEGER NOT NULL DEFAULT 0", table, column);
        return run(s, sql, err);
}

/* Schemas 1 and 2 knew less of a Work: what they kept is read as it is, and written anew by who reads it.
 * Schema 3 did not know whether Jobs had finished: what is gone by then counts as finished. A file of a
 * schema that is not known is from a later program version: start anew rather than guess. */
static int convert(struct store *s, const char *version, struct error *err)
{
        bool is_2 = text_equal(version, "1") || text_equal(version, "2");

        if (is_2)
                TRY(add_column(s, "works", "listed", err));
        if (is_2 || text_equal(version, "3"))
                return add_column(s, "inventory", "ended", err);
        TRY(run(s, "DROP TABLE works; DROP TABLE inventory; DROP TABLE wants; DELETE FROM meta;", err));
        return run(s, schema, err);
}

static int check_version(struct store *s, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const char *version = NULL;

        TRY(store_meta_get(s, "schema", &arena, &version, err));
        if (text_equal(version, SCHEMA_VERSION))
                return 0;
        if (version)
                TRY(convert(s, version, err));
        return store_meta_put(s, "schema", SCHEMA_VERSION, err);
}

static int open_or_fall_back(struct store *s, struct error *err)
{
        struct error why = { 0 };
        int r = open_at(s, s->options.path, &why);

        if (r == 0)
                r = check_version(s, &why);
        if (r == 0)
                return 0;
        if (r == ERR_NO_MEMORY)
                return error_no_memory(err);
        snprintf(s->problem, sizeof(s->problem), "%.200s", why.text);
        TRY(fall_back(s, err));
        return check_version(s, err);
}

int store_open(const struct store_options *o, struct store **ret, struct error *err)
{
        struct store *s = NEW(struct store);
        int r;

        if (!s)
                return error_no_memory(err);
        s->options = *o;
        s->options.path = mem_strdup(o->path);
        r = s->options.path ? open_or_fall_back(s, err) : error_no_memory(err);
        if (r < 0) {
                store_close(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct store *store_close(struct store *s)
{
        if (!s)
                return NULL;
        shut(s);
        mem_free((char *)s->options.path);
        OPENSSL_cleanse(s->options.key, sizeof(s->options.key));
        mem_free(s);
        return NULL;
}

const char *store_problem(const struct store *s)
{
        return s->problem;
}

/* A file that is as it was left must hold nothing that memory does not: it is overwritten whole before it
 * counts. */
int store_mend(struct store *s, struct error *err)
{
        sqlite3 *memory, *file = NULL;
        int r;

        if (s->lost)
                TRY(fall_back(s, err));
        if (!s->problem[0])
                return 0;
        memory = s->db;
        r = open_file(s->options.path, &file);
        if (r == SQLITE_OK)
                r = copy_into(s, file);
        s->db = file;
        if (r == SQLITE_OK && set_up(s, err) == 0) {
                sqlite3_close(memory);
                s->durable = false;
                s->problem[0] = '\0';
                return 0;
        }
        sqlite3_close(file);
        s->db = memory;
        if (r == SQLITE_NOMEM)
                return error_no_memory(err);
        return r == SQLITE_OK
                       ? err->code
                       : error_set(err, ERR_RETRY, "state file %s: %s", s->options.path, sqlite3_errstr(r));
}

int store_clear(struct store *s, struct error *err)
{
        return run(s,
                   "DELETE FROM works; DELETE FROM inventory; DELETE FROM wants;"
                   "DELETE FROM meta WHERE key <> 'schema';",
                   err);
}

/* ---- transactions ---- */

int store_begin(struct store *s, bool durable, struct error *err)
{
        if (s->lost)
                TRY(fall_back(s, err));
        if (durable != s->durable)
                TRY(set_synchronous(s, durable, err));
        return simple(s, BEGIN, err);
}

/* What is written by itself, or next, need not wait for the disk because the last transaction did. Where this
 * fails it waits. */
static void end_durable(struct store *s)
{
        if (s->durable && s->db && !s->lost)
                (void)set_synchronous(s, false, NULL);
}

int store_commit(struct store *s, struct error *err)
{
        int r = simple(s, COMMIT, err);

        if (r < 0)
                store_rollback(s);
        else
                end_durable(s);
        return r;
}

void store_rollback(struct store *s)
{
        if (s->db && !s->lost && !sqlite3_get_autocommit(s->db))
                (void)simple(s, ROLLBACK, NULL);
        end_durable(s);
}

/* ---- binding and reading ---- */

void store_bind_text(sqlite3_stmt *st, int i, const char *text)
{
        sqlite3_bind_text(st, i, text ? text : "", -1, SQLITE_STATIC);
}

const char *store_column_text(sqlite3_stmt *st, int i, struct arena *arena)
{
        const char *text = (const char *)sqlite3_column_text(st, i);

        return arena_strndup(arena, text ? text : "", (size_t)sqlite3_column_bytes(st, i));
}

static void bind_blob(sqlite3_stmt *st, int i, struct slice s)
{
        if (s.data)
                sqlite3_bind_blob64(st, i, s.data, s.len, SQLITE_STATIC);
}

static struct slice column_blob(sqlite3_stmt *st, int i)
{
        return (struct slice){ sqlite3_column_blob(st, i), (size_t)sqlite3_column_bytes(st, i) };
}

/* ---- meta ---- */

int store_meta_put(struct store *s, const char *key, const char *value, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, META_PUT, &st, err));
        store_bind_text(st, 1, key);
        store_bind_text(st, 2, value);
        return store_finish(s, st, err);
}

int store_meta_get(struct store *s, const char *key, struct arena *arena, const char **ret, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;
        int r;

        TRY(store_prepared(s, META_GET, &st, err));
        store_bind_text(st, 1, key);
        r = sqlite3_step(st);
        if (r != SQLITE_ROW && r != SQLITE_DONE)
                return store_failure(s, r, err);
        *ret = NULL;
        if (r == SQLITE_ROW && !(*ret = store_column_text(st, 0, arena)))
                return error_no_memory(err);
        return 0;
}

/* ---- works ---- */

/* A sealed text opens only as what it was written as: the spec of this Work, uid and generation, or a status
 * of it. Rows that were exchanged or edited read as absent. */
static int seal_as(struct store *s, const char *what, const char *name, const char *uid, int64_t generation,
                   struct slice plain, struct arena *arena, struct slice *ret, struct error *err)
{
        const char *context = arena_printf(arena, "%s\n%s\n%s\n%lld", what, name, uid, (long long)generation);
        uint8_t nonce[SEAL_NONCE_SIZE];

        if (!context)
                return error_no_memory(err);
        s->options.random(s->options.random_ctx, nonce, sizeof(nonce));
        return seal(s->options.key, nonce, context, plain, arena, ret, err);
}

static int unseal_as(struct store *s, const char *what, const char *name, const char *uid, int64_t generation,
                     struct slice sealed, struct arena *arena, struct slice *ret, struct error *err)
{
        const char *context = arena_printf(arena, "%s\n%s\n%s\n%lld", what, name, uid, (long long)generation);

        return context ? unseal(s->options.key, context, sealed, arena, ret, err) : error_no_memory(err);
}

static int put_work(struct store *s, const char *name, const char *uid, int64_t generation,
                    struct slice sealed, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, WORK_PUT, &st, err));
        store_bind_text(st, 1, name);
        store_bind_text(st, 2, uid);
        sqlite3_bind_int64(st, 3, generation);
        bind_blob(st, 4, sealed);
        return store_finish(s, st, err);
}

/* Ends a transaction in which `r` came to pass. */
static int end(struct store *s, int r, struct error *err)
{
        if (r == 0)
                return store_commit(s, err);
        store_rollback(s);
        return r;
}

static int seal_and_put(struct store *s, const char *name, const char *uid, int64_t generation,
                        struct slice spec, struct object_name *wants, size_t n_wants, bool durable,
                        struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct slice sealed;
        int r;

        TRY(seal_as(s, "spec", name, uid, generation, spec, &arena, &sealed, err));
        TRY(store_begin(s, durable, err));
        r = put_work(s, name, uid, generation, sealed, err);
        if (r == 0 && sqlite3_changes(s->db) > 0)
                r = store_wants_put(s, name, wants, n_wants, err);
        return end(s, r, err);
}

int store_work_put(struct store *s, const char *name, const char *uid, int64_t generation, struct slice spec,
                   struct object_name *wants, size_t n_wants, struct error *err)
{
        return seal_and_put(s, name, uid, generation, spec, wants, n_wants, false, err);
}

int store_copy_put(struct store *s, const char *name, const char *uid, int64_t generation, struct slice copy,
                   struct error *err)
{
        return seal_and_put(s, name, uid, generation, copy, NULL, 0, true, err);
}

int store_work_is_kept(struct store *s, const char *name, const char *uid, int64_t generation, bool *ret,
                       struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;
        int r;

        TRY(store_prepared(s, WORK_KEPT, &st, err));
        store_bind_text(st, 1, name);
        store_bind_text(st, 2, uid);
        sqlite3_bind_int64(st, 3, generation);
        r = sqlite3_step(st);
        if (r != SQLITE_ROW && r != SQLITE_DONE)
                return store_failure(s, r, err);
        *ret = r == SQLITE_ROW;
        return 0;
}

/* A status that cannot be read is none: it is read on the hub, or made anew. Former schemas kept it in clear.
 */
static int read_status(struct store *s, struct slice sealed, struct arena *arena, struct stored_work *w,
                       struct error *err)
{
        int r = unseal_as(s, "status", w->name, "", w->status_generation, sealed, arena, &w->status, err);

        if (r != ERR_INVALID)
                return r;
        error_clear(err);
        w->status = (struct slice){ 0 };
        if (w->listed)
                return 0;
        w->status = (struct slice){ arena_strndup(arena, sealed.data, sealed.len), sealed.len };
        return w->status.data ? 0 : error_no_memory(err);
}

/* Former schemas bound a spec to the Work's name alone. */
static int read_spec(struct store *s, struct slice sealed, struct arena *arena, struct stored_work *w,
                     struct error *err)
{
        int r = unseal_as(s, "spec", w->name, w->uid, w->generation, sealed, arena, &w->spec, err);

        if (r != ERR_INVALID || w->listed)
                return r;
        error_clear(err);
        return unseal(s->options.key, w->name, sealed, arena, &w->spec, err);
}

static int read_work(struct store *s, sqlite3_stmt *st, struct arena *arena, struct stored_work *w,
                     struct error *err)
{
        struct slice status = column_blob(st, 3);

        w->uid = store_column_text(st, 0, arena);
        w->generation = sqlite3_column_int64(st, 1);
        w->status_generation = sqlite3_column_int64(st, 4);
        w->status_delivered = sqlite3_column_int(st, 5);
        w->listed = sqlite3_column_int(st, 6);
        if (!w->uid)
                return error_no_memory(err);
        if (status.data)
                TRY(read_status(s, status, arena, w, err));
        return read_spec(s, column_blob(st, 2), arena, w, err);
}

int store_work_get(struct store *s, const char *name, struct arena *arena, struct stored_work *ret,
                   struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;
        struct stored_work w = { .name = name };
        int r;

        TRY(store_prepared(s, WORK_GET, &st, err));
        store_bind_text(st, 1, name);
        r = sqlite3_step(st);
        if (r == SQLITE_DONE)
                return error_set(err, ERR_NOT_FOUND, "Work %s is not in the state file", name);
        if (r != SQLITE_ROW)
                return store_failure(s, r, err);
        r = read_work(s, st, arena, &w, err);
        if (r == ERR_INVALID)
                return error_set(err, ERR_NOT_FOUND, "Work %s cannot be read from the state file", name);
        if (r == 0)
                *ret = w;
        return r;
}

int store_status_put(struct store *s, const char *name, int64_t generation, struct slice status,
                     bool delivered, struct error *err)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        sqlite3_stmt *st AUTO_RESET = NULL;
        struct slice sealed;

        TRY(seal_as(s, "status", name, "", generation, status, &arena, &sealed, err));
        TRY(store_prepared(s, STATUS_PUT, &st, err));
        store_bind_text(st, 1, name);
        sqlite3_bind_int64(st, 2, generation);
        bind_blob(st, 3, sealed);
        sqlite3_bind_int(st, 4, delivered);
        return store_finish(s, st, err);
}

int store_remove_by_work(struct store *s, enum statement which, const char *work, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, which, &st, err));
        store_bind_text(st, 1, work);
        return store_finish(s, st, err);
}

int store_work_remove(struct store *s, const char *name, struct error *err)
{
        static const enum statement all[] = { WORK_ROWS_REMOVE, WORK_WANTS_REMOVE, WORK_REMOVE };
        int r = 0;

        TRY(store_begin(s, true, err));
        for (size_t i = 0; r == 0 && i < ARRAY_LEN(all); i++)
                r = store_remove_by_work(s, all[i], name, err);
        return end(s, r, err);
}

int store_read_names(struct store *s, sqlite3_stmt *st, struct arena *arena, const char ***ret, size_t *ret_n,
                     struct error *err)
{
        VEC(const char *) names = VEC_INIT;
        bool failed = false;
        int r;

        while ((r = sqlite3_step(st)) == SQLITE_ROW && !failed) {
                const char *name = store_column_text(st, 0, arena);

                failed = !name || vec_push(&names, name) < 0;
        }
        *ret_n = names.n;
        *ret = names.n ? arena_memdup(arena, names.at, names.n * sizeof(*names.at)) : NULL;
        failed |= names.n && !*ret;
        vec_free(&names);
        if (failed)
                return error_no_memory(err);
        return r == SQLITE_DONE ? 0 : store_failure(s, r, err);
}

int store_work_names(struct store *s, struct arena *arena, const char ***ret, size_t *ret_n,
                     struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, WORK_NAMES, &st, err));
        return store_read_names(s, st, arena, ret, ret_n, err);
}

int store_holders(struct store *s, const char *prefix, struct arena *arena, const char ***ret, size_t *ret_n,
                  struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, HOLDERS, &st, err));
        store_bind_text(st, 1, prefix);
        return store_read_names(s, st, arena, ret, ret_n, err);
}
