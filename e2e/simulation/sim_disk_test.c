#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "e2e/simulation/sim_disk.h"

struct bench {
        struct loop *loop;
        struct sim_disk *disk;
        sqlite3 *db;
};

static void mount(struct bench *b)
{
        assert_int_equal(sqlite3_open_v2(sim_disk_uri(b->disk), &b->db,
                                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL),
                         SQLITE_OK);
}

static void unmount(struct bench *b)
{
        sqlite3_close(b->db);
        b->db = NULL;
}

static int run(struct bench *b, const char *sql)
{
        return sqlite3_exec(b->db, sql, NULL, NULL, NULL);
}

static int64_t ask(struct bench *b, const char *sql)
{
        sqlite3_stmt *st;
        int64_t n;

        assert_int_equal(sqlite3_prepare_v2(b->db, sql, -1, &st, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(st), SQLITE_ROW);
        n = sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
        return n;
}

/* A table with one row, on the disk. */
static void open_bench(struct bench *b)
{
        b->loop = loop_new_simulated(1, 1767225600000, NULL);
        b->disk = sim_disk_new(b->loop);
        assert_non_null(b->disk);
        mount(b);
        assert_int_equal(run(b, "PRAGMA synchronous=EXTRA; CREATE TABLE t(x); INSERT INTO t VALUES (1)"),
                         SQLITE_OK);
}

static void close_bench(struct bench *b)
{
        assert_int_equal(ask(b, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
                         1);
        unmount(b);
        sim_disk_free(b->disk);
        loop_free(b->loop);
}

static void what_was_committed_is_there_again(void **state)
{
        struct bench b;

        open_bench(&b);
        unmount(&b);
        mount(&b);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 1);
        close_bench(&b);
}

static void a_full_disk_says_so_and_loses_nothing(void **state)
{
        struct bench b;

        open_bench(&b);
        sim_disk_set_full(b.disk, true);
        assert_int_not_equal(run(&b, "INSERT INTO t VALUES (zeroblob(100000))"), SQLITE_OK);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 1);
        sim_disk_set_full(b.disk, false);
        assert_int_equal(run(&b, "INSERT INTO t VALUES (zeroblob(100000))"), SQLITE_OK);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 2);
        close_bench(&b);
}

static void a_power_failure_takes_what_was_not_synced(void **state)
{
        struct bench b;

        open_bench(&b);
        assert_int_equal(run(&b, "PRAGMA synchronous=OFF; INSERT INTO t VALUES (2)"), SQLITE_OK);
        unmount(&b);
        sim_disk_lose_unsynced(b.disk);
        mount(&b);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 1);
        close_bench(&b);
}

/* The journal that is to be rolled back is there again: a commit is on the disk once its end is. */
static void a_power_failure_brings_back_what_was_deleted_but_not_for_good(void **state)
{
        struct bench b;

        open_bench(&b);
        assert_int_equal(
                run(&b, "PRAGMA synchronous=FULL; INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)"),
                SQLITE_OK);
        unmount(&b);
        sim_disk_lose_unsynced(b.disk);
        mount(&b);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 2);
        assert_int_equal(run(&b, "PRAGMA synchronous=EXTRA; INSERT INTO t VALUES (4)"), SQLITE_OK);
        unmount(&b);
        sim_disk_lose_unsynced(b.disk);
        mount(&b);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 3);
        close_bench(&b);
}

static void after_a_power_failure_every_byte_is_as_synced(void **state)
{
        struct bench b;

        open_bench(&b);
        assert_int_equal(run(&b, "INSERT INTO t VALUES (zeroblob(200000))"), SQLITE_OK);
        assert_int_equal(run(&b, "PRAGMA synchronous=OFF; DELETE FROM t; VACUUM;"
                                 "INSERT INTO t VALUES (zeroblob(50000)); INSERT INTO t VALUES (3)"),
                         SQLITE_OK);
        unmount(&b);
        sim_disk_lose_unsynced(b.disk);
        mount(&b);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 2);
        assert_int_equal(ask(&b, "SELECT sum(length(x)) FROM t"), 200001);
        close_bench(&b);
}

static void a_dead_user_writes_no_more_and_its_half_transaction_is_undone(void **state)
{
        struct bench b;

        open_bench(&b);
        assert_int_equal(run(&b, "PRAGMA cache_size=1; BEGIN; INSERT INTO t VALUES (zeroblob(300000))"),
                         SQLITE_OK);
        sim_disk_set_halted(b.disk, true);
        assert_int_not_equal(run(&b, "COMMIT"), SQLITE_OK);
        unmount(&b);
        sim_disk_set_halted(b.disk, false);
        mount(&b);
        assert_int_equal(ask(&b, "SELECT count(*) FROM t"), 1);
        close_bench(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_committed_is_there_again),
                cmocka_unit_test(a_full_disk_says_so_and_loses_nothing),
                cmocka_unit_test(a_power_failure_takes_what_was_not_synced),
                cmocka_unit_test(a_power_failure_brings_back_what_was_deleted_but_not_for_good),
                cmocka_unit_test(after_a_power_failure_every_byte_is_as_synced),
                cmocka_unit_test(a_dead_user_writes_no_more_and_its_half_transaction_is_undone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
