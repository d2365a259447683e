/* Both kinds of volumes are put to the same tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/loop/volume.h"

struct scene {
        struct loop *loop;
        struct world world;
        struct volume *volume;
        struct fiber_group *root;
        void (*play)(struct scene *s);
        char folder[64]; /* "" in memory */
};

static void play_it(void *ctx)
{
        struct scene *s = ctx;

        s->play(s);
}

static void open_real(struct scene *s)
{
        (void)snprintf(s->folder, sizeof(s->folder), "/tmp/argosy-volume-XXXXXX");
        assert_non_null(mkdtemp(s->folder));
        s->loop = loop_new_real(NULL);
        world_init_real(&s->world, s->loop, NULL);
        assert_int_equal(volume_open(&s->world, s->folder, &s->volume, NULL), 0);
}

static void run(struct scene *s, void (*play)(struct scene *s))
{
        s->root = fiber_group_new(s->loop, NULL, "test");
        s->play = play;
        assert_non_null(fiber_spawn(s->root, "test", play_it, s));
        assert_int_equal(loop_run(s->loop, NULL), 0);
        fiber_group_end(s->root);
        if (s->folder[0])
                assert_int_equal(volume_remove_all(s->volume, "a", NULL), 0);
        volume_close(s->volume);
        if (s->folder[0])
                assert_int_equal(rmdir(s->folder), 0); /* nothing else was left */
        loop_free(s->loop);
}

static void in_memory(void (*play)(struct scene *s))
{
        struct scene s = { .loop = loop_new_simulated(1, 1000, NULL) };

        s.volume = volume_new_in_memory(s.loop);
        run(&s, play);
}

static void in_a_folder(void (*play)(struct scene *s))
{
        struct scene s = { 0 };

        open_real(&s);
        run(&s, play);
}

static void both(void (*play)(struct scene *s))
{
        in_memory(play);
        in_a_folder(play);
}

static void write_file(struct scene *s, const char *path, const char *text)
{
        struct volume_writer *w;

        assert_int_equal(volume_create(s->volume, path, &w, NULL), 0);
        assert_int_equal(volume_append(w, text, strlen(text) / 2, NULL), 0);
        assert_int_equal(volume_append(w, text + strlen(text) / 2, strlen(text) - strlen(text) / 2, NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
}

static void assert_reads(struct volume_reader *r, const char *text)
{
        char bytes[64];
        size_t n;

        assert_int_equal(volume_reader_size(r), strlen(text));
        assert_int_equal(volume_read(r, 0, bytes, sizeof(bytes), &n, NULL), 0);
        assert_int_equal(n, strlen(text));
        assert_memory_equal(bytes, text, n);
}

static void assert_holds(struct scene *s, const char *path, const char *text)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *r = NULL;

        assert_int_equal(volume_open_file(s->volume, path, &r, NULL), 0);
        assert_reads(r, text);
}

static int join_names(void *ctx, const char *name, struct error *err)
{
        return buf_printf(ctx, "%s ", name);
}

static void assert_names(struct scene *s, const char *folder, const char *want)
{
        AUTO_BUF struct buf names;

        buf_init(&names, 1000);
        assert_int_equal(volume_each(s->volume, folder, join_names, &names, NULL), 0);
        assert_string_equal(names.data, want);
}

static void write_and_read(struct scene *s)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *before = NULL;
        struct volume_writer *w;
        struct volume_info info, other;
        struct slice written;
        char bytes[4];
        size_t n;

        write_file(s, "a/b/one", "hello");
        assert_holds(s, "a/b/one", "hello");
        assert_int_equal(volume_look(s->volume, "a/b/one", &info, NULL), 0);
        assert_int_equal(info.kind, VOLUME_FILE);
        assert_int_equal(info.size, 5);
        assert_int_equal(volume_open_file(s->volume, "a/b/one", &before, NULL), 0);
        assert_int_equal(volume_read(before, 3, bytes, 4, &n, NULL), 0);
        assert_int_equal(n, 2);
        assert_memory_equal(bytes, "lo", 2);
        assert_int_equal(volume_read(before, 9, bytes, 4, &n, NULL), 0);
        assert_int_equal(n, 0);

        assert_int_equal(volume_create(s->volume, "a/b/one", &w, NULL), 0);
        assert_int_equal(volume_written(w, &written, NULL), 0);
        assert_int_equal(written.len, 0);
        assert_int_equal(volume_append(w, "others", 6, NULL), 0);
        assert_int_equal(volume_written(w, &written, NULL), 0);
        assert_true(slice_equal(written, slice_of("others")));
        assert_int_equal(volume_read_written(w, 2, bytes, 3, &n, NULL), 0);
        assert_int_equal(n, 3);
        assert_memory_equal(bytes, "her", 3);
        assert_int_equal(volume_read_written(w, 5, bytes, 3, &n, NULL), 0);
        assert_int_equal(n, 1);
        assert_int_equal(volume_append(w, "!", 1, NULL), 0);
        assert_int_equal(volume_written(w, &written, NULL), 0);
        assert_true(slice_equal(written, slice_of("others!")));
        assert_holds(s, "a/b/one", "hello"); /* not before it is whole */
        assert_int_equal(volume_commit(w, NULL), 0);
        assert_holds(s, "a/b/one", "others!");
        assert_reads(before, "hello");
        assert_int_equal(volume_look(s->volume, "a/b/one", &other, NULL), 0);
        assert_true(info.stamp != other.stamp);
        assert_names(s, "a/b", "one ");
}

static void what_is_written_is_there_once_it_is_whole_and_is_read_to_its_end(void **state)
{
        both(write_and_read);
}

static void give_up(struct scene *s)
{
        struct volume_writer *w;
        struct error err = { 0 };

        assert_int_equal(volume_create(s->volume, "a/one", &w, NULL), 0);
        assert_int_equal(volume_append(w, "x", 1, NULL), 0);
        volume_abandon(w);
        assert_names(s, "a", "");
        write_file(s, "a/one", "x");
        assert_int_equal(volume_create(s->volume, "a/one/two", &w, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text, "write a/one/two: a part of it is no folder");
}

static void what_is_given_up_leaves_nothing(void **state)
{
        both(give_up);
}

static void list_and_remove(struct scene *s)
{
        struct error err = { 0 };
        char *names;

        write_file(s, "a/b/two", "2");
        write_file(s, "a/b/one", "1");
        write_file(s, "a/c", "3");
        assert_names(s, "a", "b c ");
        assert_names(s, "a/b", "one two ");
        assert_names(s, "", "a ");
        assert_int_equal(volume_list(s->volume, "a/c", &names, &err), ERR_UNSUPPORTED);
        assert_string_equal(err.text, "read a/c: not a folder");
        assert_int_equal(volume_list(s->volume, "a/d", &names, NULL), ERR_NOT_FOUND);
        assert_int_equal(volume_remove(s->volume, "a/b", NULL), ERR_SYSTEM);
        assert_int_equal(volume_remove(s->volume, "a/b/two", NULL), 0);
        assert_int_equal(volume_remove(s->volume, "a/b/two", NULL), ERR_NOT_FOUND);
        assert_int_equal(volume_remove_all(s->volume, "a/b", NULL), 0);
        assert_int_equal(volume_remove_all(s->volume, "a/b", NULL), 0);
        assert_names(s, "a", "c ");
}

static void folders_are_listed_and_removed_with_what_is_in_them(void **state)
{
        both(list_and_remove);
}

static void link_and_look(struct scene *s)
{
        struct volume_reader *r;
        struct volume_info info;
        char *names;

        write_file(s, "a/b/one", "1");
        assert_int_equal(volume_link(s->volume, "a/b/latest", "one", NULL), 0);
        assert_int_equal(volume_link(s->volume, "a/b/latest", "two", NULL), 0); /* in its place */
        assert_int_equal(volume_look(s->volume, "a/b/latest", &info, NULL), 0);
        assert_int_equal(info.kind, VOLUME_LINK);
        assert_int_equal(volume_read_link(s->volume, "a/b/latest", &names, NULL), 0);
        assert_string_equal(names, "two");
        mem_free(names);
        assert_int_equal(volume_read_link(s->volume, "a/b/one", &names, NULL), ERR_INVALID);
        assert_int_equal(volume_read_link(s->volume, "a/b/none", &names, NULL), ERR_NOT_FOUND);
        assert_int_equal(volume_open_file(s->volume, "a/b/latest", &r, NULL), ERR_NOT_FOUND);
        assert_int_equal(volume_link(s->volume, "a/way", "b", NULL), 0);
        assert_int_equal(volume_open_file(s->volume, "a/way/one", &r, NULL), ERR_NOT_FOUND);
        assert_true(volume_list(s->volume, "a/way", &names, NULL) < 0);
        assert_int_equal(volume_link(s->volume, "a/out", "../b", NULL), ERR_INVALID);
        assert_int_equal(volume_link(s->volume, "a/out", "..", NULL), ERR_INVALID);
        assert_int_equal(volume_open_file(s->volume, "a/b", &r, NULL), ERR_INVALID);
}

static void links_are_made_and_none_is_followed(void **state)
{
        both(link_and_look);
}

/* spec/helm-chart.md 13 */
static void refuse_ways_out(struct scene *s)
{
        static const char *const paths[] = { "",   "/",      "/etc/passwd", "a//b", "a/",
                                             "..", "a/../b", "./a",         "a/." };
        struct volume_reader *r;
        struct volume_writer *w;
        struct volume_info info;

        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
                assert_int_equal(volume_look(s->volume, paths[i], &info, NULL), ERR_INVALID);
                assert_int_equal(volume_open_file(s->volume, paths[i], &r, NULL), ERR_INVALID);
                assert_int_equal(volume_create(s->volume, paths[i], &w, NULL), ERR_INVALID);
                assert_int_equal(volume_link(s->volume, paths[i], "a", NULL), ERR_INVALID);
                assert_int_equal(volume_remove(s->volume, paths[i], NULL), ERR_INVALID);
                assert_int_equal(volume_remove_all(s->volume, paths[i], NULL), ERR_INVALID);
        }
}

static void no_path_leads_out(void **state)
{
        both(refuse_ways_out);
}

static void keep_private(struct scene *s)
{
        AUTO_FREE char *file = mem_printf("%s/a/b/one", s->folder), *folder = mem_printf("%s/a/b", s->folder);
        struct stat st;

        write_file(s, "a/b/one", "1");
        assert_int_equal(stat(file, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_int_equal(stat(folder, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
}

static void files_and_folders_are_the_owner_s_alone(void **state)
{
        in_a_folder(keep_private);
}

static void what_is_no_folder_is_no_volume(void **state)
{
        struct loop *l = loop_new_real(NULL);
        struct world w;
        struct volume *v;

        world_init_real(&w, l, NULL);
        assert_int_equal(volume_open(&w, "/dev/null", &v, NULL), ERR_UNSUPPORTED);
        assert_int_equal(volume_open(&w, "/nowhere", &v, NULL), ERR_NOT_FOUND);
        loop_free(l);
}

struct bad_luck {
        enum volume_change when;
        int error_number;
        bool crashed;
};

static int fail_then(void *ctx, enum volume_change what, const char *path)
{
        struct bad_luck *b = ctx;

        return what == b->when || b->crashed ? b->error_number : 0;
}

static void fail_each_way(struct scene *s)
{
        static const enum volume_change ways[] = { VOLUME_CREATE, VOLUME_APPEND, VOLUME_SYNC, VOLUME_RENAME };

        write_file(s, "a/one", "old");
        for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
                struct bad_luck full = { ways[i], ENOSPC, false };
                CLEANUP(volume_writer_cleanup) struct volume_writer *w = NULL;
                struct error err = { 0 };

                volume_set_fault(s->volume, fail_then, &full);
                int code = volume_create(s->volume, "a/one", &w, &err);

                if (code == 0)
                        code = volume_append(w, "new", 3, &err);
                if (code == 0) {
                        code = volume_commit(w, &err);
                        w = NULL;
                }
                assert_int_equal(code, ERR_SYSTEM);
                assert_string_equal(err.text, "write a/one: No space left on device");
                w = volume_abandon(w);
                assert_holds(s, "a/one", "old");
                assert_names(s, "a", "one ");
        }
        volume_set_fault(s->volume, NULL, NULL);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
        in_memory(fail_each_way);
}

static void crash_half_way(struct scene *s)
{
        struct bad_luck crash = { VOLUME_CREATE, EIO, true };
        AUTO_FREE char *names = NULL;
        struct volume_writer *w;

        write_file(s, "a/one", "old");
        assert_int_equal(volume_create(s->volume, "a/one", &w, NULL), 0);
        assert_int_equal(volume_append(w, "ne", 2, NULL), 0);
        volume_set_fault(s->volume, fail_then, &crash);
        assert_int_equal(volume_commit(w, NULL), ERR_SYSTEM);
        assert_holds(s, "a/one", "old");
        assert_int_equal(volume_list(s->volume, "a", &names, NULL), 0);
        assert_true(text_starts_with(names, VOLUME_TEMPORARY));
        volume_set_fault(s->volume, NULL, NULL);
}

static void a_crash_leaves_a_temporary_file(void **state)
{
        in_memory(crash_half_way);
}

/* As a program may leave it: nothing of ours would ever make it. */
static void leave_deep(struct scene *s)
{
        int at = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        assert_int_equal(mkdirat(at, "a", 0700), 0);
        for (int i = 0; i < 3000; i++) {
                int next = openat(at, i ? "deep" : "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

                assert_true(next >= 0);
                assert_int_equal(mkdirat(next, "deep", 0700), 0);
                assert_int_equal(mkdirat(next, "0", 0700), 0);
                assert_int_equal(symlinkat("/", next, "1"), 0);
                assert_int_equal(mknodat(next, "2", S_IFIFO | 0600, 0), 0);
                close(at);
                at = next;
        }
        close(at);
}

static void remove_deep(struct scene *s)
{
        AUTO_FREE char *locked = mem_printf("%s/a/deep/locked", s->folder), *in = mem_printf("%s/in", locked);
        struct error err = { 0 };

        leave_deep(s);
        assert_int_equal(mkdir(locked, 0700), 0);
        assert_int_equal(mkdir(in, 0), 0);
        assert_int_equal(chmod(locked, 0), 0);
        if (volume_remove_all(s->volume, "a", &err) < 0)
                fail_msg("%s", err.text);
        assert_names(s, "", "");
}

static void folders_are_removed_however_deep_they_are_and_whatever_is_in_them(void **state)
{
        in_a_folder(remove_deep);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(folders_are_removed_however_deep_they_are_and_whatever_is_in_them),
                cmocka_unit_test(what_is_written_is_there_once_it_is_whole_and_is_read_to_its_end),
                cmocka_unit_test(what_is_given_up_leaves_nothing),
                cmocka_unit_test(folders_are_listed_and_removed_with_what_is_in_them),
                cmocka_unit_test(links_are_made_and_none_is_followed),
                cmocka_unit_test(no_path_leads_out),
                cmocka_unit_test(files_and_folders_are_the_owner_s_alone),
                cmocka_unit_test(what_is_no_folder_is_no_volume),
                cmocka_unit_test(a_full_disk_leaves_the_old_file),
                cmocka_unit_test(a_crash_leaves_a_temporary_file),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
