#include "e2e/simulation/sim_disk.h"

#include <sqlite3.h>

#include "common/base/map.h"
#include "common/base/vec.h"
#include "e2e/simulation/random.h"

#define DATABASE "/state.db"
#define SECTOR 4096
#define FILE_MAX (1 << 30)
#define UNIX_EPOCH_JULIAN_MS INT64_C(210866760000000)

struct content {
        char *data;
        size_t len, cap;
};

struct saved_sector {
        size_t index;
        char data[SECTOR];
};

/* What was changed since the last sync is kept as it was then, sector by sector. */
struct disk_file {
        struct content now;
        size_t synced_len;
        bool was_synced; /* a file that never was is gone after a power failure */
        VEC(struct saved_sector) saved;
        VEC(bool) is_saved; /* by sector */
};

struct sim_disk {
        sqlite3_vfs vfs;
        struct loop *loop;
        struct map files;   /* path -> struct disk_file */
        struct map removed; /* the same: deleted, and the directory was not synced since */
        struct dice dice;
        bool full, read_only, halted;
        bool failed;                                 /* since the database was opened */
        void (*before)(void *ctx, const char *what); /* told of changes; NULL: nobody */
        void *before_ctx;
        char name[32], uri[80];
};

struct open_file {
        sqlite3_file base;
        struct sim_disk *disk;
        struct disk_file *file;
        int lock;
};

static struct open_file *of(sqlite3_file *f)
{
        return container_of(f, struct open_file, base);
}

static int fail(struct sim_disk *d, int code)
{
        d->failed = true;
        return code;
}

/* Whether a change reaches the disk at all. */
static bool takes(struct sim_disk *d, const char *what)
{
        if (d->before && !d->halted)
                d->before(d->before_ctx, what);
        return !d->halted && !d->read_only;
}

static struct sim_disk *disk_of(sqlite3_vfs *vfs)
{
        return vfs->pAppData;
}

/* ---- contents ---- */

static int content_resize(struct content *c, size_t len)
{
        if (len > c->cap) {
                size_t cap = MAX(len, c->cap * 2);
                char *data = mem_realloc(c->data, cap);

                if (!data)
                        return ERR_NO_MEMORY;
                c->data = data;
                c->cap = cap;
        }
        if (len > c->len)
                memset(c->data + c->len, 0, len - c->len);
        c->len = len;
        return 0;
}

static int save_sector(struct disk_file *f, size_t index)
{
        size_t at = index * SECTOR, n = f->is_saved.n;
        struct saved_sector *s;

        if (index >= n) {
                if (vec_reserve(&f->is_saved, index + 1) < 0)
                        return ERR_NO_MEMORY;
                f->is_saved.n = index + 1;
                memset(f->is_saved.at + n, 0, index + 1 - n);
        }
        if (f->is_saved.at[index])
                return 0;
        if (vec_reserve(&f->saved, f->saved.n + 1) < 0)
                return ERR_NO_MEMORY;
        s = &f->saved.at[f->saved.n++];
        s->index = index;
        memcpy(s->data, f->now.data + at, MIN((size_t)SECTOR, f->now.len - at));
        f->is_saved.at[index] = true;
        return 0;
}

/* Before bytes from..end are changed. What was not there at the last sync needs no saving; what is there no
 * more was saved when it went. */
static int save(struct disk_file *f, size_t from, size_t end)
{
        size_t there = MIN(f->synced_len, f->now.len);

        for (size_t i = from / SECTOR; i * SECTOR < MIN(end, there); i++)
                TRY(save_sector(f, i));
        return 0;
}

static void forget_saved(struct disk_file *f)
{
        vec_for_each(&f->saved, s)
                f->is_saved.at[s->index] = false;
        f->saved.n = 0;
}

static void restore_saved(struct disk_file *f)
{
        (void)content_resize(&f->now, f->synced_len); /* never larger than it has been */
        vec_for_each(&f->saved, s)
                memcpy(f->now.data + s->index * SECTOR, s->data,
                       MIN((size_t)SECTOR, f->synced_len - s->index * SECTOR));
        forget_saved(f);
}

static void disk_file_free(void *file)
{
        struct disk_file *f = file;

        mem_free(f->now.data);
        vec_free(&f->saved);
        vec_free(&f->is_saved);
        mem_free(f);
}

/* ---- an open file ---- */

static int file_close(sqlite3_file *f)
{
        return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 at)
{
        const struct content *c = &of(f)->file->now;
        size_t there = (size_t)at < c->len ? MIN((size_t)n, c->len - (size_t)at) : 0;

        if (there > 0)
                memcpy(buf, c->data + at, there);
        if (there == (size_t)n)
                return SQLITE_OK;
        memset((char *)buf + there, 0, (size_t)n - there);
        return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *f, const void *buf, int n, sqlite3_int64 at)
{
        struct sim_disk *d = of(f)->disk;
        struct content *c = &of(f)->file->now;
        size_t end = (size_t)at + (size_t)n;

        if (!takes(d, "write"))
                return fail(d, SQLITE_IOERR_WRITE);
        if (end > c->len) {
                if (d->full || end > FILE_MAX)
                        return fail(d, SQLITE_FULL);
        }
        if (save(of(f)->file, (size_t)at, end) < 0 || (end > c->len && content_resize(c, end) < 0))
                return SQLITE_IOERR_NOMEM;
        memcpy(c->data + at, buf, (size_t)n);
        return SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
        struct content *c = &of(f)->file->now;

        if (!takes(of(f)->disk, "truncate"))
                return fail(of(f)->disk, SQLITE_IOERR_TRUNCATE);
        if ((size_t)size < c->len) {
                if (save(of(f)->file, (size_t)size, c->len) < 0)
                        return SQLITE_IOERR_NOMEM;
                c->len = (size_t)size;
        }
        return SQLITE_OK;
}

static int file_sync(sqlite3_file *f, int flags)
{
        struct disk_file *file = of(f)->file;

        if (!takes(of(f)->disk, "sync"))
                return fail(of(f)->disk, SQLITE_IOERR_FSYNC);
        if (!file->was_synced)
                map_clear(&of(f)->disk->removed); /* with a new file its directory is synced */
        forget_saved(file);
        file->synced_len = file->now.len;
        file->was_synced = true;
        return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
        *ret = (sqlite3_int64)of(f)->file->now.len;
        return SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int level)
{
        of(f)->lock = level;
        return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *f, int *ret)
{
        *ret = of(f)->lock >= SQLITE_LOCK_RESERVED;
        return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int what, void *arg)
{
        return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *f)
{
        return SECTOR;
}

static int file_traits(sqlite3_file *f)
{
        return 0;
}

/* Without shared memory: SQLite uses a rollback journal in place of a write-ahead log. */
static const sqlite3_io_methods methods = { .iVersion = 1,
                                            .xClose = file_close,
                                            .xRead = file_read,
                                            .xWrite = file_write,
                                            .xTruncate = file_truncate,
                                            .xSync = file_sync,
                                            .xFileSize = file_size,
                                            .xLock = file_lock,
                                            .xUnlock = file_lock,
                                            .xCheckReservedLock = file_check_lock,
                                            .xFileControl = file_control,
                                            .xSectorSize = file_sector,
                                            .xDeviceCharacteristics = file_traits };

/* ---- the disk ---- */

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *ret_flags)
{
        struct sim_disk *d = disk_of(vfs);
        struct disk_file *file = path ? map_get(&d->files, path) : NULL;

        *of(f) = (struct open_file){ .disk = d };
        if (!path || (!file && (!(flags & SQLITE_OPEN_CREATE) || d->full || d->halted || d->read_only)))
                return fail(d, SQLITE_CANTOPEN);
        if (!file) {
                file = NEW(struct disk_file);
                if (!file || map_put(&d->files, path, file) < 0) {
                        mem_free(file);
                        return SQLITE_NOMEM;
                }
        }
        of(f)->file = file;
        of(f)->base.pMethods = &methods;
        if (flags & SQLITE_OPEN_MAIN_DB)
                d->failed = false;
        if (ret_flags)
                *ret_flags = d->read_only ? (flags & ~SQLITE_OPEN_READWRITE) | SQLITE_OPEN_READONLY : flags;
        return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_directory)
{
        struct sim_disk *d = disk_of(vfs);

        struct disk_file *f;

        if (!takes(d, "delete"))
                return fail(d, SQLITE_IOERR_DELETE);
        f = map_take(&d->files, path);
        if (!f)
                return SQLITE_IOERR_DELETE_NOENT;
        if (sync_directory)
                map_clear(&d->removed);
        if (sync_directory || !f->was_synced) {
                disk_file_free(f);
                return SQLITE_OK;
        }
        restore_saved(f);
        if (map_put(&d->removed, path, f) == 0)
                return SQLITE_OK;
        disk_file_free(f);
        return SQLITE_NOMEM;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int what, int *ret)
{
        *ret = map_has(&disk_of(vfs)->files, path);
        return SQLITE_OK;
}

static int disk_full_path(sqlite3_vfs *vfs, const char *path, int n, char *ret)
{
        snprintf(ret, (size_t)n, "%s", path);
        return SQLITE_OK;
}

static int disk_randomness(sqlite3_vfs *vfs, int n, char *ret)
{
        for (int i = 0; i < n; i++)
                ret[i] = (char)dice_next(&disk_of(vfs)->dice);
        return n;
}

static int disk_sleep(sqlite3_vfs *vfs, int us)
{
        return us; /* nobody else holds a lock: there is nothing to wait for */
}

static int disk_time(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
        *ret = loop_wall_ms(disk_of(vfs)->loop) + UNIX_EPOCH_JULIAN_MS;
        return SQLITE_OK;
}

static int disk_last_error(sqlite3_vfs *vfs, int n, char *ret)
{
        return 0;
}

/* ---- small files ---- */

static int small_read(void *disk, const char *path, size_t max, char **ret, size_t *ret_len,
                      struct error *err)
{
        struct sim_disk *d = disk;
        const struct disk_file *f = map_get(&d->files, path);

        if (!f)
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        if (f->now.len > max)
                return error_set(err, ERR_LIMIT, "%s: larger than %zu bytes", path, max);
        *ret = mem_printf("%.*s", (int)f->now.len, f->now.data);
        *ret_len = f->now.len;
        return *ret ? 0 : error_no_memory(err);
}

static int small_write(void *disk, const char *path, const void *data, size_t len, struct error *err)
{
        struct sim_disk *d = disk;
        struct disk_file *f;

        if (d->full || d->halted || d->read_only)
                return error_set(err, ERR_SYSTEM, "%s: the disk takes nothing", path);
        f = NEW(struct disk_file);
        if (!f || content_resize(&f->now, len) < 0 || map_put(&d->files, path, f) < 0) {
                if (f)
                        disk_file_free(f);
                return error_no_memory(err);
        }
        memcpy(f->now.data, data, len);
        f->synced_len = len;
        f->was_synced = true;
        return 0;
}

void sim_disk_give_files(struct sim_disk *d, struct world *w)
{
        static const struct world_files files = { .read = small_read, .write = small_write };

        w->files = &files;
        w->ctx = d;
}

struct sim_disk *sim_disk_new(struct loop *l)
{
        struct sim_disk *d = NEW(struct sim_disk);

        if (!d)
                return NULL;
        d->loop = l;
        d->dice.state = loop_random_u64(l);
        map_init(&d->files, MAP_OWN_KEYS, disk_file_free);
        map_init(&d->removed, MAP_OWN_KEYS, disk_file_free);
        /* The name is drawn: runs that failed may have left disks behind in this process. */
        snprintf(d->name, sizeof(d->name), "sim-%016llx", (unsigned long long)dice_next(&d->dice));
        snprintf(d->uri, sizeof(d->uri), "file:" DATABASE "?vfs=%s", d->name);
        d->vfs = (sqlite3_vfs){ .iVersion = 2,
                                .szOsFile = sizeof(struct open_file),
                                .mxPathname = 256,
                                .zName = d->name,
                                .pAppData = d,
                                .xOpen = disk_open,
                                .xDelete = disk_delete,
                                .xAccess = disk_access,
                                .xFullPathname = disk_full_path,
                                .xRandomness = disk_randomness,
                                .xSleep = disk_sleep,
                                .xGetLastError = disk_last_error,
                                .xCurrentTimeInt64 = disk_time };
        if (sqlite3_vfs_register(&d->vfs, false) == SQLITE_OK)
                return d;
        mem_free(d);
        return NULL;
}

struct sim_disk *sim_disk_free(struct sim_disk *d)
{
        if (!d)
                return NULL;
        sqlite3_vfs_unregister(&d->vfs);
        map_free(&d->files);
        map_free(&d->removed);
        mem_free(d);
        return NULL;
}

const char *sim_disk_uri(const struct sim_disk *d)
{
        return d->uri;
}

void sim_disk_set_full(struct sim_disk *d, bool full)
{
        d->full = full;
}

void sim_disk_set_read_only(struct sim_disk *d, bool read_only)
{
        d->read_only = read_only;
}

void sim_disk_spoil(struct sim_disk *d)
{
        struct disk_file *f = map_get(&d->files, DATABASE);

        for (size_t i = SECTOR; f && i < f->now.len; i++)
                f->now.data[i] = (char)dice_next(&d->dice);
}

void sim_disk_set_halted(struct sim_disk *d, bool halted)
{
        d->halted = halted;
}

void sim_disk_tell(struct sim_disk *d, void (*before)(void *ctx, const char *what), void *ctx)
{
        d->before = before;
        d->before_ctx = ctx;
}

static sqlite3 *deserialized(const struct content *c)
{
        unsigned char *copy = sqlite3_malloc64(c->len);
        sqlite3 *db;

        if (!copy || sqlite3_open(":memory:", &db) != SQLITE_OK) {
                sqlite3_free(copy);
                return NULL;
        }
        memcpy(copy, c->data, c->len);
        if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)c->len, (sqlite3_int64)c->len,
                                SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) == SQLITE_OK)
                return db;
        sqlite3_close(db);
        return NULL;
}

struct sqlite3 *sim_disk_read(const struct sim_disk *d)
{
        const struct disk_file *f = map_get(&d->files, DATABASE);

        return f && f->now.len > 0 && !d->failed ? deserialized(&f->now) : NULL;
}

/* Nothing is put back in the place of a file that was made and synced since. */
static void put_back_removed(struct sim_disk *d)
{
        AUTO_FREE const char **paths = NULL;
        size_t n;

        paths = map_sorted_keys(&d->removed, &n);
        for (size_t i = 0; paths && i < n; i++) {
                struct disk_file *f = map_get(&d->removed, paths[i]);

                if (!map_has(&d->files, paths[i]) && map_put(&d->files, paths[i], f) == 0)
                        (void)map_take(&d->removed, paths[i]);
        }
        map_clear(&d->removed);
}

void sim_disk_lose_unsynced(struct sim_disk *d)
{
        AUTO_FREE const char **paths = NULL;
        size_t n;

        paths = map_sorted_keys(&d->files, &n);
        for (size_t i = 0; paths && i < n; i++) {
                struct disk_file *f = map_get(&d->files, paths[i]);

                if (!f->was_synced)
                        map_remove(&d->files, paths[i]);
                else
                        restore_saved(f);
        }
        put_back_removed(d);
}
