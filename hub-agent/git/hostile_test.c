/* Objects that no git would make, as a hostile repository may have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hub-agent/git/repo_internal.h"

struct rig {
        struct loop *loop;
        struct world world;
        struct fiber_group *group;
        struct repo *repo;
        struct git_work *work;
        struct arena arena;
        struct error err;
        char folder[64];
        void (*play)(struct rig *r);
        bool done;
};

static void play_in_fiber(void *ctx)
{
        struct rig *r = ctx;
        const char *path;

        assert_int_equal(git_work_open(&r->world, r->folder, &r->work, &r->err), 0);
        assert_int_equal(git_work_name(r->work, "test", &r->arena, &path, &r->err), 0);
        if (repo_create(&r->world, path, &r->repo, &r->err) < 0)
                fail_msg("%s", r->err.text);
        r->play(r);
        repo_close(r->repo);
        git_work_remove(r->work, path);
        git_work_close(r->work);
        r->done = true;
}

static void with_repo(void (*play)(struct rig *r))
{
        struct rig r = { .loop = loop_new_real(NULL), .play = play, .folder = "/tmp/argosy-odd-XXXXXX" };

        assert_non_null(mkdtemp(r.folder));
        world_init_real(&r.world, r.loop, NULL);
        r.group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(r.group, "test", play_in_fiber, &r));
        assert_int_equal(loop_run(r.loop, NULL), 0);
        assert_true(r.done);
        fiber_group_end(r.group);
        loop_free(r.loop);
        arena_free(&r.arena);
        assert_int_equal(rmdir(r.folder), 0);
}

/* ---- raw objects ---- */

static git_oid put(struct rig *r, git_object_t type, struct slice data)
{
        CLEANUP(repo_odb_cleanup) git_odb *odb = NULL;
        git_oid oid;

        assert_int_equal(git_repository_odb(&odb, r->repo->git), 0);
        assert_int_equal(git_odb_write(&oid, odb, data.data, data.len, type), 0);
        return oid;
}

static void add(struct buf *tree, const char *mode, const char *name, const git_oid *oid)
{
        (void)buf_printf(tree, "%s %s", mode, name);
        (void)buf_append(tree, "", 1);
        assert_int_equal(buf_append(tree, oid->id, sizeof(oid->id)), 0);
}

static git_oid put_tree(struct rig *r, const struct buf *tree)
{
        return put(r, GIT_OBJECT_TREE, (struct slice){ tree->data, tree->len });
}

static int pass(void *ctx, const struct git_entry *e, struct slice data, struct error *err)
{
        return 0;
}

static void assert_refused(struct rig *r, const git_oid *tree, int code, const char *text)
{
        const struct git_walk w = { .take = pass };
        const struct git_hash h = repo_hash(tree);

        assert_int_equal(repo_walk(r->repo, &h, &w, &r->err), code);
        assert_string_equal(r->err.text, text);
}

/* ---- memory ---- */

/* With long names, so that there are not too many. `below`: first, a folder; NULL = none. */
static git_oid put_long_names(struct rig *r, size_t n, const git_oid *below, const git_oid *file)
{
        AUTO_BUF struct buf tree;
        char name[4001];

        buf_init(&tree, 20u << 20);
        if (below)
                add(&tree, "40000", "a", below);
        memset(name, 'b', sizeof(name));
        name[4000] = '\0';
        for (size_t i = 0; i < n; i++) {
                for (size_t k = 0, rest = i; k < 6; k++, rest /= 10)
                        name[6 - k] = (char)('0' + rest % 10);
                add(&tree, "100644", name, file);
        }
        return put_tree(r, &tree);
}

static void grow_names(struct rig *r)
{
        git_oid file = put(r, GIT_OBJECT_BLOB, SLICE("x"));
        git_oid tree = put_long_names(r, 4200, NULL, &file);

        assert_refused(r, &tree, ERR_LIMIT, "read a tree: a tree of 16917600 bytes: more than 16777216");
        tree = put_long_names(r, 3900, NULL, &file);
        tree = put_long_names(r, 3900, &tree, &file);
        tree = put_long_names(r, 3900, &tree, &file);
        assert_refused(r, &tree, ERR_LIMIT, "a/a: names of folders in each other exceed 33554432 bytes");
}

static void names_of_files_take_no_more_memory_than_they_may(void **state)
{
        with_repo(grow_names);
}

static void write_much(struct rig *r)
{
        AUTO_FREE char *text = mem_alloc(GIT_TEXT_MAX + 1);
        AUTO_BUF struct buf none;
        struct git_commit_info info;

        buf_init(&none, 1);
        git_oid tree = put_tree(r, &none);
        const struct git_hash h = repo_hash(&tree);
        int n = snprintf(text, 1000, "tree %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\n", h.hex);

        memset(text + n, 'x', GIT_TEXT_MAX + 1 - (size_t)n);
        git_oid commit = put(r, GIT_OBJECT_COMMIT, (struct slice){ text, GIT_TEXT_MAX + 1 });
        const struct git_hash at = repo_hash(&commit);

        assert_int_equal(repo_commit(r->repo, &at, &r->arena, &info, &r->err), ERR_LIMIT);
        assert_string_equal(r->err.text, "read a commit: a commit of 4194305 bytes: more than 4194304");
        assert_refused(r, &commit, ERR_LIMIT, "read a tree: a commit of 4194305 bytes: more than 4194304");
}

static void a_commit_s_message_has_a_bound(void **state)
{
        with_repo(write_much);
}

/* ---- ways out ---- */

static void link_and_folder(struct rig *r)
{
        AUTO_FREE char *outside = mem_printf("%s/git-outside", r->folder),
                       *written = mem_printf("%s/file", outside);
        git_oid file = put(r, GIT_OBJECT_BLOB, SLICE("x")),
                target = put(r, GIT_OBJECT_BLOB, slice_of(outside));
        AUTO_BUF struct buf tree;
        const char *to;

        assert_int_equal(mkdir(outside, 0700), 0);
        buf_init(&tree, 1000);
        add(&tree, "100644", "file", &file);
        git_oid below = put_tree(r, &tree);

        for (int turn = 0; turn < 2; turn++) {
                buf_clear(&tree);
                add(&tree, turn ? "40000" : "120000", "a", turn ? &below : &target);
                add(&tree, turn ? "120000" : "40000", "a", turn ? &target : &below);
                git_oid top = put_tree(r, &tree);
                const struct git_hash h = repo_hash(&top);

                assert_refused(r, &top, ERR_INVALID, "two entries below '' have one name, 'a'");
                assert_int_equal(git_work_name(r->work, "out", &r->arena, &to, &r->err), 0);
                assert_int_equal(repo_checkout(r->repo, &h, to, &r->err), ERR_INVALID);
                assert_int_equal(access(to, F_OK), -1);
                assert_int_equal(access(written, F_OK), -1);
        }
        assert_int_equal(rmdir(outside), 0);
}

static void a_link_and_a_folder_of_one_name_are_refused(void **state)
{
        with_repo(link_and_folder);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_of_files_take_no_more_memory_than_they_may),
                cmocka_unit_test(a_commit_s_message_has_a_bound),
                cmocka_unit_test(a_link_and_a_folder_of_one_name_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
