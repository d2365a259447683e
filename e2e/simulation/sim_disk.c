#include "e2e/simulation/sim_disk.h"

#include <sqlite3.h>

#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/random.h"

#define SECTOR 4096
#define FILE_MAX (64 << 20)
#define SHARED_REGIONS 16
#define UNIX_EPOCH_JULIAN_MS INT64_C(210866760000000)

struct content {
        char *data;
        size_t len, cap;
};

struct disk_file {
        struct content now, synced;
        bool was_synced; /* a file that never was is gone after a power failure */
};

struct sim_disk {
        sqlite3_vfs vfs;
        struct loop *loop;
        struct map files; /* path -> struct disk_file */
        struct dice dice;
        bool full, halted;
        char name[32], uri[80];
};

struct open_file {
        sqlite3_file base;
        struct sim_disk *disk;
        struct disk_file *file;
        int lock;
        void *shared[SHARED_REGIONS]; /* index of the write-ahead log: memory, gone with its one user */
};

static struct open_file *of(sqlite3_file *f)
{
        return container_of(f, struct open_file, base);
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

static int content_copy(struct content *to, const struct content *from)
{
        TRY(content_resize(to, from->len));
        if (from->len > 0)
                memcpy(to->data, from->data, from->len);
        return 0;
}

static void disk_file_free(void *file)
{
        struct disk_file *f = file;

        mem_free(f->now.data);
        mem_free(f->synced.data);
        mem_free(f);
}

/* ---- shared memory of one user ---- */

static int shared_map(sqlite3_file *f, int region, int size, int extend, void volatile **ret)
{
        *ret = NULL;
        if (region >= SHARED_REGIONS)
                return SQLITE_IOERR_SHMMAP;
        if (!of(f)->shared[region] && extend)
                of(f)->shared[region] = mem_calloc(1, (size_t)size);
        if (!of(f)->shared[region] && extend)
                return SQLITE_IOERR_NOMEM;
        *ret = of(f)->shared[region];
        return SQLITE_OK;
}

static int shared_lock(sqlite3_file *f, int offset, int n, int flags)
{
        return SQLITE_OK;
}

static void shared_barrier(sqlite3_file *f)
{
}

static int shared_unmap(sqlite3_file *f, int remove)
{
        for (size_t i = 0; i < SHARED_REGIONS; i++) {
                mem_free(of(f)->shared[i]);
                of(f)->shared[i] = NULL;
        }
        return SQLITE_OK;
}

/* ---- an open file ---- */

static int file_close(sqlite3_file *f)
{
        return shared_unmap(f, 1);
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
        const struct sim_disk *d = of(f)->disk;
        struct content *c = &of(f)->file->now;
        size_t end = (size_t)at + (size_t)n;

        if (d->halted)
                return SQLITE_IOERR_WRITE;
        if (end > c->len) {
                if (d->full || end > FILE_MAX)
                        return SQLITE_FULL;
                if (content_resize(c, end) < 0)
                        return SQLITE_IOERR_NOMEM;
        }
        memcpy(c->data + at, buf, (size_t)n);
        return SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
        struct content *c = &of(f)->file->now;

        if (of(f)->disk->halted)
                return SQLITE_IOERR_TRUNCATE;
        if ((size_t)size < c->len)
                c->len = (size_t)size;
        return SQLITE_OK;
}

static int file_sync(sqlite3_file *f, int flags)
{
        struct disk_file *file = of(f)->file;

        if (of(f)->disk->halted)
                return SQLITE_IOERR_FSYNC;
        if (content_copy(&file->synced, &file->now) < 0)
                return SQLITE_IOERR_NOMEM;
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

/* Shared memory, though there is nobody to share with: without it SQLite keeps no write-ahead log but a
 * rollback journal, and syncs every commit. */
static const sqlite3_io_methods methods = { .iVersion = 2,
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
                                            .xDeviceCharacteristics = file_traits,
                                            .xShmMap = shared_map,
                                            .xShmLock = shared_lock,
                                            .xShmBarrier = shared_barrier,
                                            .xShmUnmap = shared_unmap };

/* ---- the disk ---- */

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *ret_flags)
{
        struct sim_disk *d = disk_of(vfs);
        struct disk_file *file = path ? map_get(&d->files, path) : NULL;

        *of(f) = (struct open_file){ .disk = d };
        if (!path || (!file && (!(flags & SQLITE_OPEN_CREATE) || d->full || d->halted)))
                return SQLITE_CANTOPEN;
        if (!file) {
                file = NEW(struct disk_file);
                if (!file || map_put(&d->files, path, file) < 0) {
                        mem_free(file);
                        return SQLITE_NOMEM;
                }
        }
        of(f)->file = file;
        of(f)->base.pMethods = &methods;
        if (ret_flags)
                *ret_flags = flags;
        return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_directory)
{
        struct sim_disk *d = disk_of(vfs);

        if (d->halted)
                return SQLITE_IOERR_DELETE;
        return map_remove(&d->files, path) ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
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

struct sim_disk *sim_disk_new(struct loop *l)
{
        struct sim_disk *d = NEW(struct sim_disk);

        if (!d)
                return NULL;
        d->loop = l;
        d->dice.state = loop_random_u64(l);
        map_init(&d->files, MAP_OWN_KEYS, disk_file_free);
        /* The name is drawn: runs that failed may have left disks behind in this process. */
        snprintf(d->name, sizeof(d->name), "sim-%016llx", (unsigned long long)dice_next(&d->dice));
        snprintf(d->uri, sizeof(d->uri), "file:/state.db?vfs=%s", d->name);
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

void sim_disk_set_halted(struct sim_disk *d, bool halted)
{
        d->halted = halted;
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
                        (void)content_copy(&f->now, &f->synced); /* never larger than it has been */
        }
}
