#include "hub-agent/source/store/store_test.h"

#define HELLO_SHA256 "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

/* spec/helm-chart.md checklist 5, 21 */
static void write_one(struct scene *s)
{
        struct source_artifact a;
        AUTO_FREE char *target = NULL;

        assert_int_equal(keep(s, "podinfo-6.0.3+1.tgz", "hello", &a), 0);
        assert_string_equal(a.path, "helmchart/apps/podinfo/podinfo-6.0.3+1.tgz");
        assert_string_equal(a.url, "http://hub.example:9090/helmchart/apps/podinfo/podinfo-6.0.3+1.tgz");
        assert_string_equal(a.digest, HELLO_SHA256);
        assert_int_equal(a.size.value, 5);
        assert_int_equal(a.last_update_time, WALL);
        assert_int_equal(artifact_link(&s->store, &s->arena, a.path, "latest.tar.gz", NULL), 0);
        assert_int_equal(
                volume_read_link(s->store.volume, "helmchart/apps/podinfo/latest.tar.gz", &target, NULL), 0);
        assert_string_equal(target, "podinfo-6.0.3+1.tgz");
        s->store.address = "https://elsewhere";
        assert_string_equal(artifact_url(&s->store, &s->arena, a.path),
                            "https://elsewhere/helmchart/apps/podinfo/podinfo-6.0.3+1.tgz");
}

static void an_artifact_is_told_as_it_was_written(void **state)
{
        in_scene(write_one);
}

static void write_with_each_digest(struct scene *s)
{
        static const struct {
                const char *name, *text;
        } digests[] = {
                { "sha384", "sha384:"
                            "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bd"
                            "f5f6a13de828684f" },
                { "sha512", "sha512:"
                            "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d"
                            "7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043" },
        };
        struct error err = { 0 };

        for (size_t i = 0; i < ARRAY_LEN(digests); i++) {
                enum artifact_state state;
                struct source_artifact a;

                assert_int_equal(artifact_digest_named(digests[i].name, &s->store.digest, NULL), 0);
                assert_int_equal(keep(s, digests[i].name, "hello", &a), 0);
                assert_string_equal(a.digest, digests[i].text);
                assert_int_equal(artifact_digest_named("sha256", &s->store.digest, NULL), 0);
                map_clear(&s->store.verified);                                    /* as after a restart */
                assert_int_equal(artifact_check(&s->store, &a, &state, NULL), 0); /* by its own */
                assert_int_equal(state, ARTIFACT_GOOD);
        }
        assert_int_equal(artifact_digest_named("md5", &s->store.digest, &err), ERR_INVALID);
        assert_string_equal(err.text, "unsupported digest algorithm md5: it is sha256, sha384 or sha512");
}

static void digests_are_of_three_kinds(void **state)
{
        in_scene(write_with_each_digest);
}

static void lose_one(struct scene *s)
{
        struct source_artifact a;
        enum artifact_state state;

        assert_int_equal(keep(s, "a.tgz", "hello", &a), 0);
        assert_int_equal(artifact_check(&s->store, &a, &state, NULL), 0);
        assert_int_equal(state, ARTIFACT_GOOD);
        assert_int_equal(volume_remove(s->store.volume, a.path, NULL), 0);
        assert_int_equal(artifact_check(&s->store, &a, &state, NULL), 0);
        assert_int_equal(state, ARTIFACT_MISSING);
        a.path = "helmchart/apps/podinfo";
        assert_int_equal(artifact_check(&s->store, &a, &state, NULL), 0); /* a folder is no artifact */
        assert_int_equal(state, ARTIFACT_MISSING);
}

/* spec/helm-chart.md checklist 19 */
static void a_file_that_went_is_missed(void **state)
{
        in_scene(lose_one);
}

static void alter(struct scene *s, const char *path, const char *text)
{
        struct volume_writer *w;

        assert_int_equal(volume_create(s->store.volume, path, &w, NULL), 0);
        assert_int_equal(volume_append(w, text, strlen(text), NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
}

static void alter_one(struct scene *s)
{
        struct source_artifact a, odd;
        enum artifact_state state;
        struct error err = { 0 };
        struct volume_info info;

        assert_int_equal(keep(s, "a.tgz", "hello", &a), 0);
        alter(s, a.path, "jello");
        assert_int_equal(artifact_check(&s->store, &a, &state, &err), 0);
        assert_int_equal(state, ARTIFACT_ALTERED);
        assert_non_null(strstr(err.text, "doesn't match '" HELLO_SHA256 "'"));
        assert_int_equal(volume_look(s->store.volume, a.path, &info, NULL), ERR_NOT_FOUND);
        assert_int_equal(keep(s, "a.tgz", "hello", &odd), 0);
        odd.digest = "md5:00";
        assert_int_equal(artifact_check(&s->store, &odd, &state, &err), 0);
        assert_int_equal(state, ARTIFACT_ALTERED);
        assert_string_equal(err.text, "the digest 'md5:00' is of no kind that is known");
}

/* spec/helm-chart.md checklist 20 */
static void a_file_that_was_altered_is_taken_away(void **state)
{
        in_scene(alter_one);
}

static int refuse_all(void *ctx, enum volume_change what, const char *path)
{
        return ENOSPC;
}

static void fill_the_disk(struct scene *s)
{
        struct source_artifact a, b;
        enum artifact_state state;

        assert_int_equal(keep(s, "a.tgz", "hello", &a), 0);
        volume_set_fault(s->store.volume, refuse_all, NULL);
        assert_int_equal(keep(s, "b.tgz", "others", &b), ERR_SYSTEM);
        assert_string_equal(s->err.text, "write helmchart/apps/podinfo/b.tgz: No space left on device");
        volume_set_fault(s->store.volume, NULL, NULL);
        assert_int_equal(artifact_check(&s->store, &a, &state, NULL), 0);
        assert_int_equal(state, ARTIFACT_GOOD);
        assert_names(s, "helmchart/apps/podinfo", "a.tgz ");
}

static void a_full_disk_leaves_what_is_there(void **state)
{
        in_scene(fill_the_disk);
}

struct crash {
        int at, seen;
};

static int stop_at(void *ctx, enum volume_change what, const char *path)
{
        struct crash *c = ctx;

        return c->seen++ >= c->at ? EIO : 0;
}

static bool all_are_there(void *ctx, const char *kind, const char *ns, const char *name)
{
        return true;
}

static void crash_everywhere(struct scene *s)
{
        static const struct artifact_owners owners = { all_are_there, NULL };
        bool done = false;

        for (int at = 0; !done; at++) {
                struct crash crash = { at, 0 };
                struct source_artifact old, new;
                enum artifact_state state;

                volume_set_fault(s->store.volume, NULL, NULL);
                assert_int_equal(volume_remove_all(s->store.volume, "helmchart", NULL), 0);
                assert_int_equal(keep(s, "a.tgz", "hello", &old), 0);
                volume_set_fault(s->store.volume, stop_at, &crash);
                done = keep(s, "a.tgz", "others", &new) == 0; /* the same version, made anew */
                volume_set_fault(s->store.volume, NULL, NULL);
                map_clear(&s->store.verified);
                assert_int_equal(artifact_check(&s->store, done ? &new : &old, &state, NULL), 0);
                assert_int_equal(state, ARTIFACT_GOOD);
                assert_int_equal(artifact_sweep(&s->store, &helm_chart_kind, &owners, NULL), 0);
                assert_names(s, "helmchart/apps/podinfo", "a.tgz ");
                assert_true(at < 20);
        }
}

/* spec/helm-chart.md checklist 23, 25 */
static void a_crash_at_any_write_leaves_a_whole_artifact(void **state)
{
        in_scene(crash_everywhere);
}

static void make_many(struct scene *s)
{
        struct source_artifact a;
        struct object *chart = chart_named(s, "podinfo");
        const char *const versions[] = { "1.tgz", "2.tgz", "3.tgz", "4.tgz", "5.tgz" };
        size_t n;

        s->store.retention = (struct retention){ 60000, 2 };
        alter(s, "helmchart/apps/podinfo/1.tgz.lock", "");
        for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
                assert_int_equal(keep(s, versions[i], versions[i], &a), 0);
                assert_int_equal(artifact_link(&s->store, &s->arena, a.path, "latest.tar.gz", NULL), 0);
                assert_int_equal(fiber_sleep(s->loop, 10000), 0);
        }
        assert_int_equal(artifact_collect(&s->store, chart, a.path, &s->arena, &n, NULL), 0);
        assert_int_equal(n, 3);
        assert_names(s, "helmchart/apps/podinfo", "1.tgz.lock 4.tgz 5.tgz latest.tar.gz ");
        assert_int_equal(fiber_sleep(s->loop, 120000), 0);
        assert_int_equal(artifact_collect(&s->store, chart, a.path, &s->arena, &n, NULL), 0);
        assert_int_equal(n, 1);
        assert_int_equal(artifact_collect(&s->store, chart, a.path, &s->arena, &n, NULL), 0);
        assert_int_equal(n, 0); /* the current one is never too old */
        assert_names(s, "helmchart/apps/podinfo", "1.tgz.lock 5.tgz latest.tar.gz ");
        assert_int_equal(artifact_collect(&s->store, chart_named(s, "other"), NULL, &s->arena, &n, NULL), 0);
        assert_int_equal(n, 0);
}

/* spec/helm-chart.md checklist 22 */
static void two_files_stay_and_old_ones_go(void **state)
{
        in_scene(make_many);
}

static void remove_one_object(struct scene *s)
{
        struct source_artifact a;
        struct volume_info info;
        struct object *chart = chart_named(s, "podinfo");

        assert_int_equal(keep(s, "a.tgz", "hello", &a), 0);
        alter(s, "helmchart/apps/other/a.tgz", "hello");
        assert_int_equal(artifact_remove_all(&s->store, chart, &s->arena, NULL), 0);
        assert_names(s, "helmchart/apps", "other ");
        assert_int_equal(map_count(&s->store.verified), 0);
        assert_int_equal(artifact_remove_all(&s->store, chart, &s->arena, NULL), 0);
        assert_int_equal(artifact_remove_all(&s->store, chart_named(s, "other"), &s->arena, NULL), 0);
        assert_int_equal(volume_look(s->store.volume, "helmchart/apps", &info, NULL), ERR_NOT_FOUND);
        assert_int_equal(keep(s, "a.tgz", "hello", &a), 0);
        volume_set_fault(s->store.volume, refuse_all, NULL);
        assert_int_equal(artifact_remove_all(&s->store, chart, &s->arena, &s->err), ERR_SYSTEM);
        volume_set_fault(s->store.volume, NULL, NULL);
}

/* spec/helm-chart.md checklist 7, 8 */
static void an_object_s_folder_goes_with_it(void **state)
{
        in_scene(remove_one_object);
}

static bool only_podinfo(void *ctx, const char *kind, const char *ns, const char *name)
{
        return text_equal(kind, "helmchart") && text_equal(ns, "apps") && text_equal(name, "podinfo");
}

static void sweep_up(struct scene *s)
{
        static const struct artifact_owners owners = { only_podinfo, NULL };
        struct source_artifact a;
        struct volume_info info;

        assert_int_equal(artifact_sweep(&s->store, &helm_chart_kind, &owners, NULL),
                         0); /* nothing there yet */
        assert_int_equal(keep(s, "a.tgz", "hello", &a), 0);
        alter(s, "helmchart/apps/podinfo/" VOLUME_TEMPORARY "1-a.tgz", "hel");
        alter(s, "helmchart/apps/gone/a.tgz", "hello");
        alter(s, "helmrepository/apps/podinfo/index-1.yaml", "{}");
        alter(s, "helmchart/stray", "not ours");
        alter(s, "lost+found/x", "not ours");
        assert_int_equal(artifact_sweep(&s->store, &helm_chart_kind, &owners, NULL), 0);
        assert_int_equal(artifact_sweep(&s->store, &helm_repository_kind, &owners, NULL), 0);
        assert_names(s, "helmchart/apps", "podinfo ");
        assert_names(s, "helmchart/apps/podinfo", "a.tgz ");
        assert_int_equal(volume_look(s->store.volume, "helmrepository/apps", &info, NULL), ERR_NOT_FOUND);
        assert_int_equal(volume_look(s->store.volume, "helmchart/stray", &info, NULL), 0);
        assert_int_equal(volume_look(s->store.volume, "lost+found/x", &info, NULL), 0);
}

/* spec/helm-chart.md checklist 23 */
static void what_is_nobody_s_is_swept_at_start_and_nothing_else(void **state)
{
        in_scene(sweep_up);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_artifact_is_told_as_it_was_written),
                cmocka_unit_test(digests_are_of_three_kinds),
                cmocka_unit_test(a_file_that_went_is_missed),
                cmocka_unit_test(a_file_that_was_altered_is_taken_away),
                cmocka_unit_test(a_full_disk_leaves_what_is_there),
                cmocka_unit_test(a_crash_at_any_write_leaves_a_whole_artifact),
                cmocka_unit_test(two_files_stay_and_old_ones_go),
                cmocka_unit_test(an_object_s_folder_goes_with_it),
                cmocka_unit_test(what_is_nobody_s_is_swept_at_start_and_nothing_else),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
