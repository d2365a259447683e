/* How often the disk is waited for: a real file, through SQLite's own layer, which is counted. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "member-agent/store/store.h"

#define DISK "counted"
#define EVENTS 50

struct counted_disk {
        sqlite3_vfs vfs;
        sqlite3_io_methods database, log; /* with the sync that counts */
        int (*sync)(sqlite3_file *, int);
        int syncs;
};

static struct counted_disk disk;

static int count_sync(sqlite3_file *f, int flags)
{
        disk.syncs++;
        return disk.sync(f, flags);
}

static int open_counted(sqlite3_vfs *v, sqlite3_filename path, sqlite3_file *f, int flags, int *ret_flags)
{
        sqlite3_io_methods *counting = flags & SQLITE_OPEN_MAIN_DB ? &disk.database : &disk.log;
        sqlite3_vfs *real = v->pAppData;
        int r = real->xOpen(real, path, f, flags, ret_flags);

        if (r != SQLITE_OK)
                return r;
        *counting = *f->pMethods;
        disk.sync = f->pMethods->xSync;
        counting->xSync = count_sync;
        f->pMethods = counting;
        return r;
}

struct fixture {
        char directory[64], path[128];
        struct store *store;
};

static void no_random(void *ctx, void *ret, size_t n)
{
        memset(ret, 1, n);
}

static void begin(struct fixture *f)
{
        struct store_options o = { .path = f->path, .random = no_random };
        sqlite3_vfs *real = sqlite3_vfs_find(NULL);

        disk = (struct counted_disk){ .vfs = *real };
        disk.vfs.pAppData = real;
        disk.vfs.zName = DISK;
        disk.vfs.xOpen = open_counted;
        assert_int_equal(sqlite3_vfs_register(&disk.vfs, 0), SQLITE_OK);
        snprintf(f->directory, sizeof(f->directory), "/tmp/sync-test-XXXXXX");
        assert_non_null(mkdtemp(f->directory));
        snprintf(f->path, sizeof(f->path), "file:%s/state.db?vfs=" DISK, f->directory);
        assert_int_equal(store_open(&o, &f->store, NULL), 0);
        assert_string_equal(store_problem(f->store), "");
}

static void end(struct fixture *f)
{
        char path[96];

        store_close(f->store);
        snprintf(path, sizeof(path), "%s/state.db", f->directory);
        assert_int_equal(remove(path), 0);
        assert_int_equal(remove(f->directory), 0);
        sqlite3_vfs_unregister(&disk.vfs);
}

static void put(struct fixture *f, int ordinal)
{
        struct row row = { .work = "w",
                           .group = "",
                           .version = "v1",
                           .kind = "ConfigMap",
                           .plural = "configmaps",
                           .ns = "default",
                           .name = "c",
                           .uid = "",
                           .ordinal = ordinal,
                           .hash = "",
                           .handled = "",
                           .seen = "" };

        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
}

static void see_events(struct fixture *f)
{
        for (int i = 0; i < EVENTS; i++)
                assert_int_equal(store_object_seen(f->store, "", "configmaps", "default", "c",
                                                   i % 2 ? "1" : "2", NULL),
                                 0);
}

/* What the watch tells of objects is told again after a crash. */
static void what_follows_a_durable_transaction_does_not_wait_for_the_disk(void **state)
{
        struct fixture f;

        begin(&f);
        assert_int_equal(store_begin(f.store, true, NULL), 0);
        put(&f, 1);
        disk.syncs = 0;
        assert_int_equal(store_commit(f.store, NULL), 0);
        assert_true(disk.syncs > 0);
        disk.syncs = 0;
        see_events(&f);
        assert_int_equal(disk.syncs, 0);
        assert_int_equal(store_begin(f.store, true, NULL), 0);
        put(&f, 2);
        assert_int_equal(store_commit(f.store, NULL), 0);
        assert_true(disk.syncs > 0);
        end(&f);
}

static void nor_does_what_follows_one_that_was_rolled_back(void **state)
{
        struct fixture f;

        begin(&f);
        assert_int_equal(store_begin(f.store, true, NULL), 0);
        put(&f, 1);
        store_rollback(f.store);
        put(&f, 2);
        disk.syncs = 0;
        see_events(&f);
        assert_int_equal(disk.syncs, 0);
        end(&f);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_follows_a_durable_transaction_does_not_wait_for_the_disk),
                cmocka_unit_test(nor_does_what_follows_one_that_was_rolled_back),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
