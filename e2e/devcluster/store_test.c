/* The store on disk: what was acknowledged is there after kill -9 and after a restart. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define ROUNDS 200

static char folder[] = "/tmp/devcluster-store-XXXXXX";
static char path[sizeof(folder) + 16];

static struct devcluster_options on_disk(void)
{
        return (struct devcluster_options){ .path = path, .sync_commits = true, .anonymous_admin = true };
}

static int acknowledged = -1; /* the pipe's writing end, in the child */

static void write_for_ever(struct rig *r)
{
        for (int i = 0;; i++) {
                assert_int_equal(
                        rig_post(r, CM, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"n%d\"}}", i)),
                        201);
                if (write(acknowledged, &i, sizeof(i)) != sizeof(i))
                        _exit(1);
        }
}

static int last_acknowledged;

static void read_back(struct rig *r)
{
        for (int i = 0; i <= last_acknowledged; i++)
                assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "/n%d", i)), 200);
        assert_int_equal(rig_get(r, CM "/n0"), 200);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/serviceaccounts/default"), 200);
}

static void acknowledged_writes_survive_a_kill(void **state)
{
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
                struct devcluster_options o = on_disk();
                close(ends[0]);
                acknowledged = ends[1];
                rig_run_with(write_for_ever, &o);
                _exit(1);
        }
        close(ends[1]);
        while (last_acknowledged < ROUNDS)
                assert_int_equal(read(ends[0], &last_acknowledged, sizeof(int)), sizeof(int));
        kill(child, SIGKILL);
        while (read(ends[0], &last_acknowledged, sizeof(int)) == sizeof(int))
                ;
        close(ends[0]);
        assert_int_equal(waitpid(child, NULL, 0), child);
        struct devcluster_options o = on_disk();
        rig_run_with(read_back, &o);
}

static char version[32];

static void change(struct rig *r)
{
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"kept\",\"labels\":{\"l\":\"1\"}}}"), 201);
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"gone\"}}"), 201);
        assert_int_equal(rig_delete(r, CM "/gone"), 200);
        assert_int_equal(rig_get(r, CM), 200);
        snprintf(version, sizeof(version), "%s", rig_string(r, "metadata.resourceVersion"));
}

static void look(struct rig *r)
{
        assert_int_equal(rig_get(r, CM "?labelSelector=l%3D1"), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 1);
        assert_int_equal(rig_get(r, CM "/gone"), 404);
        assert_int_equal(rig_get(r, CM "?watch=true&resourceVersion=2"), 410);
}

static void a_restart_keeps_objects_labels_and_versions(void **state)
{
        struct devcluster_options o = on_disk();
        rig_run_with(change, &o);
        rig_run_with(look, &o);
}

static void keep_version(struct rig *r)
{
        assert_int_equal(rig_get(r, CM), 200);
        snprintf(version, sizeof(version), "%s", rig_string(r, "metadata.resourceVersion"));
}

static void write_last(struct rig *r)
{
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"last\"}}"), 201);
        keep_version(r);
}

static void remove_last(struct rig *r)
{
        assert_int_equal(rig_get(r, CM), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        assert_int_equal(rig_delete(r, CM "/last"), 200);
        keep_version(r);
}

static void find_version(struct rig *r)
{
        assert_int_equal(rig_get(r, CM), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
}

/* The version is the newest object's, until that goes. */
static void a_restart_keeps_the_version_of_the_last_write(void **state)
{
        struct devcluster_options o = on_disk();
        rig_run_with(write_last, &o);
        rig_run_with(remove_last, &o);
        rig_run_with(find_version, &o);
}

static int make_folder(void **state)
{
        if (!mkdtemp(folder))
                return -1;
        snprintf(path, sizeof(path), "%s/db", folder);
        return 0;
}

static int remove_folder(void **state)
{
        static const char *const files[] = { "db", "db-wal", "db-shm" };
        for (size_t i = 0; i < ARRAY_LEN(files); i++) {
                char name[sizeof(folder) + 32];
                snprintf(name, sizeof(name), "%s/%s", folder, files[i]);
                unlink(name);
        }
        return rmdir(folder);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(acknowledged_writes_survive_a_kill),
                cmocka_unit_test(a_restart_keeps_objects_labels_and_versions),
                cmocka_unit_test(a_restart_keeps_the_version_of_the_last_write),
        };
        return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
