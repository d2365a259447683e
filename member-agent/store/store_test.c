#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "e2e/simulation/sim_disk.h"
#include "member-agent/store/seal.h"
#include "member-agent/store/store.h"

struct fixture {
        struct store *store;
        struct arena arena;
        char directory[64], path[96];
};

static void fixed_random(void *ctx, void *ret, size_t n)
{
        memset(ret, (*(int *)ctx)++, n);
}

static int seed;

static struct store *open_file(const char *path)
{
        struct store_options o = {
                .path = path, .key = { 1, 2, 3 }, .random = fixed_random, .random_ctx = &seed
        };
        struct store *s = NULL;
        struct error err = { 0 };

        assert_int_equal(store_open(&o, &s, &err), 0);
        return s;
}

static int setup(void **state)
{
        struct fixture *f = NEW(struct fixture);

        snprintf(f->directory, sizeof(f->directory), "/tmp/store-test-XXXXXX");
        assert_non_null(mkdtemp(f->directory));
        snprintf(f->path, sizeof(f->path), "%s/state.db", f->directory);
        f->store = open_file(f->path);
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;
        static const char *const suffixes[] = { "", "-wal", "-shm" };

        store_close(f->store);
        for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
                char name[128];

                snprintf(name, sizeof(name), "%s%s", f->path, suffixes[i]);
                remove(name);
        }
        remove(f->directory);
        arena_free(&f->arena);
        mem_free(f);
        return 0;
}

static struct row example_row(const char *work, const char *name)
{
        return (struct row){ .work = work,
                             .group = "apps",
                             .version = "v1",
                             .kind = "Deployment",
                             .plural = "deployments",
                             .ns = "web",
                             .name = name,
                             .namespaced = true,
                             .uid = "u1",
                             .ordinal = 3,
                             .state = ROW_APPLIED,
                             .work_generation = 7,
                             .hash = "h",
                             .strategy = 5,
                             .handled = "41",
                             .seen = "",
                             .live_generation = 2,
                             .result = RESULT_APPLIED,
                             .availability = AVAILABILITY_NOT_YET,
                             .first_drift_ms = TIME_NONE,
                             .first_diff_ms = 99,
                             .checked_ms = 1000 };
}

static void assert_row(const struct row *row, const struct row *wanted)
{
        assert_string_equal(row->work, wanted->work);
        assert_string_equal(row->group, wanted->group);
        assert_string_equal(row->version, wanted->version);
        assert_string_equal(row->kind, wanted->kind);
        assert_string_equal(row->plural, wanted->plural);
        assert_string_equal(row->ns, wanted->ns);
        assert_string_equal(row->name, wanted->name);
        assert_int_equal(row->namespaced, wanted->namespaced);
        assert_string_equal(row->uid, wanted->uid);
        assert_int_equal(row->ordinal, wanted->ordinal);
        assert_int_equal(row->state, wanted->state);
        assert_int_equal(row->work_generation, wanted->work_generation);
        assert_string_equal(row->hash, wanted->hash);
        assert_int_equal(row->strategy, wanted->strategy);
        assert_string_equal(row->handled, wanted->handled);
        assert_string_equal(row->seen, wanted->seen);
        assert_int_equal(row->live_generation, wanted->live_generation);
        assert_int_equal(row->result, wanted->result);
        assert_int_equal(row->availability, wanted->availability);
        assert_true(row->first_drift_ms == wanted->first_drift_ms);
        assert_true(row->first_diff_ms == wanted->first_diff_ms);
        assert_true(row->checked_ms == wanted->checked_ms);
}

static void a_row_comes_back_as_it_was_put(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;

        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        f->store = store_close(f->store);
        f->store = open_file(f->path);
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
        assert_row(&rows.at[0], &row);
}

static void what_the_watch_saw_survives_a_new_result(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;

        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        assert_int_equal(store_object_seen(f->store, "apps", "deployments", "web", "site", "44", NULL), 0);
        row.handled = "44";
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        assert_int_equal(
                store_rows_of_object(f->store, "apps", "deployments", "web", "site", &f->arena, &rows, NULL),
                0);
        assert_string_equal(rows.at[0].seen, "44");
        assert_string_equal(rows.at[0].handled, "44");
}

static void one_object_may_belong_to_two_works(void **state)
{
        struct fixture *f = *state;
        struct row a = example_row("a", "site"), b = example_row("b", "site");
        struct rows rows;

        assert_int_equal(store_row_put(f->store, &a, NULL), 0);
        assert_int_equal(store_row_put(f->store, &b, NULL), 0);
        assert_int_equal(
                store_rows_of_object(f->store, "apps", "deployments", "web", "site", &f->arena, &rows, NULL),
                0);
        assert_int_equal(rows.n, 2);
        assert_int_equal(store_row_remove(f->store, &a, NULL), 0);
        assert_int_equal(
                store_rows_of_object(f->store, "apps", "deployments", "web", "site", &f->arena, &rows, NULL),
                0);
        assert_int_equal(rows.n, 1);
        assert_string_equal(rows.at[0].work, "b");
}

static void resources_are_named_once(void **state)
{
        struct fixture *f = *state;
        struct row a = example_row("a", "one"), b = example_row("b", "two");
        struct rows rows;

        assert_int_equal(store_row_put(f->store, &a, NULL), 0);
        assert_int_equal(store_row_put(f->store, &b, NULL), 0);
        assert_int_equal(store_resources(f->store, &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
        assert_string_equal(rows.at[0].plural, "deployments");
        assert_true(rows.at[0].namespaced);
}

static const char spec[] = "{\"data\":{\"password\":\"aHVudGVyMg==\"}}";

static void works_and_their_status_survive_a_restart(void **state)
{
        struct fixture *f = *state;
        struct stored_work w;

        assert_int_equal(store_work_put(f->store, "w", "uid", 4, slice_of(spec), NULL, 0, NULL), 0);
        assert_int_equal(store_status_put(f->store, "w", 4, SLICE("{\"status\":1}"), false, NULL), 0);
        f->store = store_close(f->store);
        f->store = open_file(f->path);
        assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), 0);
        assert_true(slice_is(w.spec, spec));
        assert_string_equal(w.uid, "uid");
        assert_int_equal(w.generation, 4);
        assert_true(slice_is(w.status, "{\"status\":1}"));
        assert_false(w.status_delivered);
}

static void a_new_spec_keeps_the_known_status(void **state)
{
        struct fixture *f = *state;
        struct stored_work w;

        assert_int_equal(store_work_put(f->store, "w", "uid", 4, slice_of(spec), NULL, 0, NULL), 0);
        assert_int_equal(store_status_put(f->store, "w", 4, SLICE("{}"), true, NULL), 0);
        assert_int_equal(store_work_put(f->store, "w", "uid", 5, slice_of(spec), NULL, 0, NULL), 0);
        assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), 0);
        assert_int_equal(w.generation, 5);
        assert_int_equal(w.status_generation, 4);
        assert_true(w.status_delivered);
}

/* spec/member-agent.md 6.3 rule 8. */
static void secret_data_is_not_on_the_disk_in_clear(void **state)
{
        struct fixture *f = *state;
        static const char *const suffixes[] = { "", "-wal" };

        assert_int_equal(store_work_put(f->store, "w", "uid", 4, slice_of(spec), NULL, 0, NULL), 0);
        for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
                static char bytes[1 << 20];
                char name[128];
                FILE *file;
                size_t n;

                snprintf(name, sizeof(name), "%s%s", f->path, suffixes[i]);
                file = fopen(name, "rb");
                assert_non_null(file);
                n = fread(bytes, 1, sizeof(bytes), file);
                fclose(file);
                assert_true(n > 0 || i == 0);
                assert_null(memmem(bytes, n, "aHVudGVyMg", 10));
        }
}

static void a_work_under_another_key_is_as_good_as_absent(void **state)
{
        struct fixture *f = *state;
        struct store_options o = {
                .path = f->path, .key = { 9 }, .random = fixed_random, .random_ctx = &seed
        };
        struct stored_work w;

        assert_int_equal(store_work_put(f->store, "w", "uid", 4, slice_of(spec), NULL, 0, NULL), 0);
        f->store = store_close(f->store);
        assert_int_equal(store_open(&o, &f->store, NULL), 0);
        assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), ERR_NOT_FOUND);
}

static void a_removed_work_takes_its_inventory_along(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;
        const char **names;
        size_t n;

        assert_int_equal(store_work_put(f->store, "w", "uid", 4, slice_of(spec), NULL, 0, NULL), 0);
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        assert_int_equal(store_work_remove(f->store, "w", NULL), 0);
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 0);
        assert_int_equal(store_work_names(f->store, &f->arena, &names, &n, NULL), 0);
        assert_int_equal(n, 0);
}

static void assert_wanted_by(struct store *s, const struct object_name *o, size_t n, const char *first)
{
        struct arena arena = ARENA_INIT;
        const char **names = NULL;
        size_t found = 0;

        assert_int_equal(store_wanted_by(s, o, &arena, &names, &found, NULL), 0);
        assert_int_equal(found, n);
        if (n)
                assert_string_equal(names[0], first);
        arena_free(&arena);
}

static void who_wants_an_object_follows_the_kept_works(void **state)
{
        struct fixture *f = *state;
        const struct object_name site = { "apps", "Deployment", "web", "site" },
                                 space = { "", "Namespace", "", "web" };
        struct object_name both[] = { site, space, site }, one[] = { space };

        assert_int_equal(store_work_put(f->store, "a", "u", 1, SLICE("{}"), both, 3, NULL), 0);
        assert_int_equal(store_work_put(f->store, "b", "u", 1, SLICE("{}"), one, 1, NULL), 0);
        assert_wanted_by(f->store, &site, 1, "a");
        assert_wanted_by(f->store, &space, 2, "a");
        assert_int_equal(store_work_put(f->store, "a", "u", 2, SLICE("{}"), one, 1, NULL), 0);
        assert_wanted_by(f->store, &site, 0, NULL);
        assert_int_equal(store_work_remove(f->store, "a", NULL), 0);
        assert_wanted_by(f->store, &space, 1, "b");
        f->store = store_close(f->store);
        f->store = open_file(f->path);
        assert_wanted_by(f->store, &space, 1, "b");
}

static void an_older_generation_does_not_replace_a_newer_one(void **state)
{
        struct fixture *f = *state;
        struct object_name wants[] = { { "apps", "Deployment", "web", "site" } };
        bool kept = false;

        assert_int_equal(store_work_put(f->store, "w", "u", 5, SLICE("{}"), NULL, 0, NULL), 0);
        assert_int_equal(store_work_put(f->store, "w", "u", 4, SLICE("{}"), wants, 1, NULL), 0);
        assert_int_equal(store_work_is_kept(f->store, "w", "u", 5, &kept, NULL), 0);
        assert_true(kept);
        assert_wanted_by(f->store, &wants[0], 0, NULL);
        assert_int_equal(store_work_put(f->store, "w", "another", 1, SLICE("{}"), wants, 1, NULL), 0);
        assert_int_equal(store_work_is_kept(f->store, "w", "u", 5, &kept, NULL), 0);
        assert_false(kept);
        assert_wanted_by(f->store, &wants[0], 1, "w");
}

static void a_row_that_is_there_is_not_added_again(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site"), planned = row;
        struct rows rows;

        planned.state = ROW_PLANNED;
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        assert_int_equal(store_row_add(f->store, &planned, NULL), 0);
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
        assert_int_equal(rows.at[0].state, ROW_APPLIED);
}

/* The hub is told that the Work is gone only after this: nobody would ever say so again. */
static void a_removed_work_does_not_rise_again_after_a_power_failure(void **state)
{
        struct loop *l = loop_new_simulated(1, 1767225600000, NULL);
        struct sim_disk *disk = sim_disk_new(l);
        struct arena arena = ARENA_INIT;
        struct row row = example_row("web-work", "site");
        struct stored_work w;
        struct rows rows;
        struct store *s;

        s = open_file(sim_disk_uri(disk));
        assert_int_equal(store_begin(s, true, NULL), 0);
        assert_int_equal(store_row_put(s, &row, NULL), 0);
        assert_int_equal(store_commit(s, NULL), 0);
        assert_int_equal(store_work_put(s, "web-work", "u", 1, SLICE("{}"), NULL, 0, NULL), 0);
        assert_int_equal(store_work_remove(s, "web-work", NULL), 0);
        sim_disk_set_halted(disk, true);
        store_close(s);
        sim_disk_set_halted(disk, false);
        sim_disk_lose_unsynced(disk);
        s = open_file(sim_disk_uri(disk));
        assert_int_equal(store_work_get(s, "web-work", &arena, &w, NULL), ERR_NOT_FOUND);
        assert_int_equal(store_rows_of_work(s, "web-work", &arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 0);
        store_close(s);
        arena_free(&arena);
        sim_disk_free(disk);
        loop_free(l);
}

static void count_syncs(void *ctx, const char *what)
{
        *(int *)ctx += text_equal(what, "sync");
}

/* This disk has no shared memory, so no log: the pages that a rollback journal holds are synced before it
 * says that it holds them, then the database. */
static void without_a_log_a_commit_that_may_be_lost_spoils_nothing(void **state)
{
        struct loop *l = loop_new_simulated(1, 1767225600000, NULL);
        struct sim_disk *disk = sim_disk_new(l);
        struct row row = example_row("web-work", "site");
        struct store *s = open_file(sim_disk_uri(disk));
        int n = 0;

        assert_int_equal(store_row_put(s, &row, NULL), 0);
        sim_disk_tell(disk, count_syncs, &n);
        row.ordinal++;
        assert_int_equal(store_row_put(s, &row, NULL), 0);
        assert_int_equal(n, 3);
        store_close(s);
        sim_disk_free(disk);
        loop_free(l);
}

/* It says less and less of what is true. */
static void a_file_that_was_given_up_is_not_there_again_after_a_power_failure(void **state)
{
        struct loop *l = loop_new_simulated(1, 1767225600000, NULL);
        struct sim_disk *disk = sim_disk_new(l);
        struct arena arena = ARENA_INIT;
        struct row row = example_row("web-work", "site");
        struct store *s = open_file(sim_disk_uri(disk));
        struct rows rows;

        assert_int_equal(store_begin(s, true, NULL), 0);
        assert_int_equal(store_row_put(s, &row, NULL), 0);
        assert_int_equal(store_commit(s, NULL), 0);
        sim_disk_set_full(disk, true);
        row.work = "other";
        assert_true(store_row_put(s, &row, NULL) < 0);
        assert_int_equal(store_row_put(s, &row, NULL), 0);
        assert_string_not_equal(store_problem(s), "");
        store_close(s);
        sim_disk_set_full(disk, false);
        sim_disk_lose_unsynced(disk);
        s = open_file(sim_disk_uri(disk));
        assert_int_equal(store_rows_of_work(s, "web-work", &arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 0);
        store_close(s);
        arena_free(&arena);
        sim_disk_free(disk);
        loop_free(l);
}

static void what_a_full_disk_still_says_is_kept_in_memory(void **state)
{
        struct loop *l = loop_new_simulated(1, 1767225600000, NULL);
        struct sim_disk *disk = sim_disk_new(l);
        struct arena arena = ARENA_INIT;
        struct row row = example_row("web-work", "site"), lost = example_row("web-work", "half");
        struct stored_work w;
        struct rows rows;
        struct store *s;
        char big[100000];

        memset(big, 'x', sizeof(big));
        s = open_file(sim_disk_uri(disk));
        assert_int_equal(store_row_put(s, &row, NULL), 0);
        assert_int_equal(store_work_put(s, "web-work", "u", 1, SLICE("{}"), NULL, 0, NULL), 0);
        sim_disk_set_full(disk, true);
        assert_int_equal(store_begin(s, true, NULL), 0);
        (void)store_row_put(s, &lost, NULL);
        (void)store_work_put(s, "other", "u", 1, (struct slice){ big, sizeof(big) }, NULL, 0, NULL);
        assert_int_not_equal(store_commit(s, NULL), 0);
        store_rollback(s);
        assert_string_not_equal(store_problem(s), "");
        assert_int_equal(store_work_get(s, "web-work", &arena, &w, NULL), 0);
        assert_int_equal(store_rows_of_work(s, "web-work", &arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
        assert_int_equal(store_work_remove(s, "web-work", NULL), 0);
        store_close(s);
        sim_disk_set_full(disk, false);
        s = open_file(sim_disk_uri(disk)); /* the file would tell of what was removed since */
        assert_int_equal(store_work_get(s, "web-work", &arena, &w, NULL), ERR_NOT_FOUND);
        store_close(s);
        arena_free(&arena);
        sim_disk_free(disk);
        loop_free(l);
}

static void a_rolled_back_row_is_not_there(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;

        assert_int_equal(store_begin(f->store, true, NULL), 0);
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        store_rollback(f->store);
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 0);
}

static void a_broken_file_is_given_up_for_memory(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;
        FILE *file;

        f->store = store_close(f->store);
        file = fopen(f->path, "wb");
        fputs("this is not a database, and long enough to be looked at as one: ............................",
              file);
        fclose(file);
        f->store = open_file(f->path);
        assert_string_not_equal(store_problem(f->store), "");
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        assert_int_equal(access(f->path, F_OK), 0);
        assert_true(store_mend(f->store, NULL) < 0); /* somebody else's */
        assert_string_not_equal(store_problem(f->store), "");
        file = fopen(f->path, "r");
        assert_non_null(file);
        assert_int_equal(fgetc(file), 't');
        fclose(file);
        assert_int_equal(store_rows_of_work(f->store, row.work, &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
}

static void what_memory_has_takes_the_place_of_the_file_when_it_can_be_written_again(void **state)
{
        struct loop *l = loop_new_simulated(1, 1767225600000, NULL);
        struct sim_disk *disk = sim_disk_new(l);
        struct arena arena = ARENA_INIT;
        struct rows rows;
        struct store *s = open_file(sim_disk_uri(disk));
        struct row old = example_row("w", "old"), new = example_row("w", "new");

        assert_int_equal(store_row_put(s, &old, NULL), 0);
        assert_int_equal(store_mend(s, NULL), 0); /* there is nothing to mend */
        sim_disk_set_read_only(disk, true);
        assert_true(store_row_put(s, &new, NULL) < 0);
        assert_int_equal(store_row_put(s, &new, NULL), 0);
        assert_int_equal(store_row_remove(s, &old, NULL), 0);
        assert_true(store_mend(s, NULL) < 0);
        assert_string_not_equal(store_problem(s), "");
        sim_disk_set_read_only(disk, false);
        assert_int_equal(store_mend(s, NULL), 0);
        assert_string_equal(store_problem(s), "");
        store_close(s);
        s = open_file(sim_disk_uri(disk));
        assert_int_equal(store_rows_of_work(s, "w", &arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
        assert_string_equal(rows.at[0].name, "new");
        store_close(s);
        arena_free(&arena);
        sim_disk_free(disk);
        loop_free(l);
}

static void a_file_that_cannot_be_made_is_given_up_for_memory(void **state)
{
        struct store *s = open_file("/nonexistent/folder/state.db");

        assert_string_not_equal(store_problem(s), "");
        assert_int_equal(store_meta_put(s, "joined", "true", NULL), 0);
        store_close(s);
}

/* A Work that was removed while the disk was full does not come back with the next start. */
static void a_file_that_was_given_up_is_not_taken_up_again(void **state)
{
        struct loop *l = loop_new_simulated(1, 1767225600000, NULL);
        struct sim_disk *disk = sim_disk_new(l);
        struct arena arena = ARENA_INIT;
        struct stored_work w;
        struct error err = { 0 };
        struct store *s;

        s = open_file(sim_disk_uri(disk));
        assert_int_equal(store_work_put(s, "web-work", "u", 1, SLICE("{}"), NULL, 0, &err), 0);
        sim_disk_set_full(disk, true);
        assert_int_equal(store_work_remove(s, "web-work", &err), ERR_RETRY);
        assert_int_equal(store_work_remove(s, "web-work", &err), 0);
        assert_int_not_equal(store_problem(s)[0], '\0');
        store_close(s);
        sim_disk_set_full(disk, false);
        s = open_file(sim_disk_uri(disk));
        assert_int_equal(store_work_get(s, "web-work", &arena, &w, &err), ERR_NOT_FOUND);
        assert_string_equal(store_problem(s), "");
        store_close(s);
        arena_free(&arena);
        sim_disk_free(disk);
        loop_free(l);
}

static void a_cleared_store_forgets_all(void **state)
{
        struct fixture *f = *state;
        const char *value = "x";

        assert_int_equal(store_meta_put(f->store, "joined", "true", NULL), 0);
        assert_int_equal(store_clear(f->store, NULL), 0);
        assert_int_equal(store_meta_get(f->store, "joined", &f->arena, &value, NULL), 0);
        assert_null(value);
}

/* Edits the file as somebody would who can write it but has no key. */
static void edit(struct fixture *f, const char *sql)
{
        sqlite3 *db = NULL;

        f->store = store_close(f->store);
        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        f->store = open_file(f->path);
}

static void a_spec_counts_only_as_the_generation_it_was_written_as(void **state)
{
        static const char *const edits[] = { "UPDATE works SET generation = 9",
                                             "UPDATE works SET uid = 'other'",
                                             "UPDATE works SET name = 'v' WHERE name = 'w'",
                                             "UPDATE works SET spec = status" };
        struct fixture *f = *state;
        struct stored_work w;

        for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
                assert_int_equal(store_work_put(f->store, "w", "u", 3, SLICE("{}"), NULL, 0, NULL), 0);
                assert_int_equal(store_status_put(f->store, "w", 3, SLICE("{}"), true, NULL), 0);
                assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), 0);
                edit(f, edits[i]);
                assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), ERR_NOT_FOUND);
                assert_int_equal(store_work_get(f->store, "v", &f->arena, &w, NULL), ERR_NOT_FOUND);
                assert_int_equal(store_clear(f->store, NULL), 0);
        }
}

/* An agent that is upgraded while its hub is away goes on with what it was told. */
static void a_file_of_the_first_schema_is_read_and_written_anew(void **state)
{
        static const char first_schema[] =
                "DROP TABLE works; DROP TABLE wants; UPDATE meta SET value = '1' WHERE key = 'schema';"
                "ALTER TABLE inventory DROP COLUMN ended;"
                "CREATE TABLE works (name TEXT PRIMARY KEY, uid TEXT NOT NULL, generation INTEGER NOT NULL,"
                " spec BLOB NOT NULL, status BLOB, status_generation INTEGER, status_delivered INTEGER);"
                "INSERT INTO works VALUES ('w', 'u', 3, x'%s', '{\"a\":1}', 3, 1)";
        struct fixture *f = *state;
        uint8_t key[SEAL_KEY_SIZE] = { 1, 2, 3 }, nonce[SEAL_NONCE_SIZE] = { 9 };
        struct row row = example_row("w", "site");
        struct slice sealed;
        struct stored_work w;
        struct rows rows;
        bool kept = true;
        char *hex;

        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        assert_int_equal(seal(key, nonce, "w", SLICE("{\"b\":2}"), &f->arena, &sealed, NULL), 0);
        hex = arena_alloc(&f->arena, sealed.len * 2 + 1);
        text_hex_encode(sealed.data, sealed.len, hex);
        edit(f, arena_printf(&f->arena, first_schema, hex));
        assert_string_equal(store_problem(f->store), "");
        assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), 0);
        assert_true(slice_is(w.spec, "{\"b\":2}"));
        assert_true(slice_is(w.status, "{\"a\":1}"));
        assert_true(w.status_delivered);
        assert_false(w.listed);
        assert_int_equal(store_work_is_kept(f->store, "w", "u", 3, &kept, NULL), 0);
        assert_false(kept);
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
        assert_int_equal(store_work_put(f->store, "w", "u", 3, w.spec, NULL, 0, NULL), 0);
        assert_int_equal(store_status_put(f->store, "w", 3, w.status, true, NULL), 0);
        assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), 0);
        assert_true(slice_is(w.status, "{\"a\":1}"));
        assert_true(w.listed);
}

static void a_file_of_the_third_schema_keeps_its_rows(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;

        row.ended = ENDED_FINISHED;
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        edit(f, "UPDATE meta SET value = '3' WHERE key = 'schema'; ALTER TABLE inventory DROP COLUMN ended");
        assert_string_equal(store_problem(f->store), "");
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
        assert_int_equal(rows.at[0].ended, ENDED_NONE);
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.at[0].ended, ENDED_FINISHED);
}

/* As an agent that is rolled back finds it. */
static void a_file_of_a_later_schema_is_begun_anew(void **state)
{
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;

        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        edit(f, "UPDATE meta SET value = '5' WHERE key = 'schema'; ALTER TABLE inventory RENAME COLUMN hash "
                "TO x");
        assert_string_equal(store_problem(f->store), "");
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 0);
        assert_int_equal(store_row_put(f->store, &row, NULL), 0);
        edit(f, "SELECT 1"); /* which opens it again */
        assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
        assert_int_equal(rows.n, 1);
}

/* The agent died between a step of the conversion and the note that it was made. */
static void a_conversion_that_was_cut_off_is_finished(void **state)
{
        static const char *const edits[] = {
                "UPDATE meta SET value = '3' WHERE key = 'schema'",
                "UPDATE meta SET value = '2' WHERE key = 'schema'; ALTER TABLE inventory DROP COLUMN ended",
                "UPDATE meta SET value = '2' WHERE key = 'schema'",
        };
        struct fixture *f = *state;
        struct row row = example_row("w", "site");
        struct rows rows;

        for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
                assert_int_equal(store_row_put(f->store, &row, NULL), 0);
                edit(f, edits[i]);
                assert_string_equal(store_problem(f->store), "");
                assert_int_equal(store_rows_of_work(f->store, "w", &f->arena, &rows, NULL), 0);
                assert_int_equal(rows.n, 1);
        }
}

static void an_edited_status_is_none(void **state)
{
        struct fixture *f = *state;
        struct stored_work w;

        assert_int_equal(store_work_put(f->store, "w", "u", 3, SLICE("{}"), NULL, 0, NULL), 0);
        assert_int_equal(store_status_put(f->store, "w", 3, SLICE("{\"a\":1}"), true, NULL), 0);
        assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), 0);
        assert_true(slice_is(w.status, "{\"a\":1}"));
        edit(f, "UPDATE works SET status = '{\"a\":2}'");
        assert_int_equal(store_work_get(f->store, "w", &f->arena, &w, NULL), 0);
        assert_null(w.status.data);
}

static void a_changed_sealed_text_is_refused(void **state)
{
        struct fixture *f = *state;
        uint8_t key[SEAL_KEY_SIZE] = { 7 }, nonce[SEAL_NONCE_SIZE] = { 1 };
        struct slice sealed, plain;

        assert_int_equal(seal(key, nonce, "work", SLICE("secret"), &f->arena, &sealed, NULL), 0);
        assert_int_equal(unseal(key, "work", sealed, &f->arena, &plain, NULL), 0);
        assert_true(slice_is(plain, "secret"));
        assert_int_equal(unseal(key, "other", sealed, &f->arena, &plain, NULL), ERR_INVALID);
        ((char *)(uintptr_t)sealed.data)[SEAL_OVERHEAD] ^= 1;
        assert_int_equal(unseal(key, "work", sealed, &f->arena, &plain, NULL), ERR_INVALID);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(a_row_comes_back_as_it_was_put, setup, teardown),
                cmocka_unit_test_setup_teardown(what_the_watch_saw_survives_a_new_result, setup, teardown),
                cmocka_unit_test_setup_teardown(one_object_may_belong_to_two_works, setup, teardown),
                cmocka_unit_test_setup_teardown(resources_are_named_once, setup, teardown),
                cmocka_unit_test_setup_teardown(works_and_their_status_survive_a_restart, setup, teardown),
                cmocka_unit_test_setup_teardown(a_new_spec_keeps_the_known_status, setup, teardown),
                cmocka_unit_test_setup_teardown(secret_data_is_not_on_the_disk_in_clear, setup, teardown),
                cmocka_unit_test_setup_teardown(a_work_under_another_key_is_as_good_as_absent, setup,
                                                teardown),
                cmocka_unit_test_setup_teardown(a_removed_work_takes_its_inventory_along, setup, teardown),
                cmocka_unit_test_setup_teardown(who_wants_an_object_follows_the_kept_works, setup, teardown),
                cmocka_unit_test_setup_teardown(an_older_generation_does_not_replace_a_newer_one, setup,
                                                teardown),
                cmocka_unit_test_setup_teardown(a_row_that_is_there_is_not_added_again, setup, teardown),
                cmocka_unit_test(a_removed_work_does_not_rise_again_after_a_power_failure),
                cmocka_unit_test(without_a_log_a_commit_that_may_be_lost_spoils_nothing),
                cmocka_unit_test(a_file_that_was_given_up_is_not_there_again_after_a_power_failure),
                cmocka_unit_test(what_a_full_disk_still_says_is_kept_in_memory),
                cmocka_unit_test_setup_teardown(a_rolled_back_row_is_not_there, setup, teardown),
                cmocka_unit_test_setup_teardown(a_broken_file_is_given_up_for_memory, setup, teardown),
                cmocka_unit_test(what_memory_has_takes_the_place_of_the_file_when_it_can_be_written_again),
                cmocka_unit_test_setup_teardown(a_file_that_cannot_be_made_is_given_up_for_memory, setup,
                                                teardown),
                cmocka_unit_test(a_file_that_was_given_up_is_not_taken_up_again),
                cmocka_unit_test_setup_teardown(a_cleared_store_forgets_all, setup, teardown),
                cmocka_unit_test_setup_teardown(a_spec_counts_only_as_the_generation_it_was_written_as, setup,
                                                teardown),
                cmocka_unit_test_setup_teardown(a_file_of_the_third_schema_keeps_its_rows, setup, teardown),
                cmocka_unit_test_setup_teardown(a_file_of_a_later_schema_is_begun_anew, setup, teardown),
                cmocka_unit_test_setup_teardown(a_conversion_that_was_cut_off_is_finished, setup, teardown),
                cmocka_unit_test_setup_teardown(a_file_of_the_first_schema_is_read_and_written_anew, setup,
                                                teardown),
                cmocka_unit_test_setup_teardown(an_edited_status_is_none, setup, teardown),
                cmocka_unit_test_setup_teardown(a_changed_sealed_text_is_refused, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
