/* Volumes on disk. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "e2e/chart-runner/folder.h"
#include "e2e/chart-runner/pod_template.h"
#include "e2e/chart-runner/volumes.h"

struct place {
        char folder[64];
        json_t *secret;
        int asked; /* for tokens */
        int64_t seconds;
};

static json_t *doc(const char *text)
{
        json_t *ret = NULL;
        struct error err = { 0 };

        if (doc_parse(slice_of(text), &ret, &err) < 0)
                fail_msg("%s", err.text);
        return ret;
}

static int look_up(void *ctx, const char *kind, const char *name, const json_t **ret, struct error *err)
{
        struct place *p = ctx;

        *ret = strcmp(name, "s") == 0 ? p->secret : NULL;
        return *ret ? 0 : error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found", kind, name);
}

static int give_token(void *ctx, const char *audience, int64_t seconds, struct arena *arena, const char **ret,
                      int64_t *ret_renew_ms, struct error *err)
{
        struct place *p = ctx;

        p->asked++;
        p->seconds = seconds;
        *ret = arena_printf(arena, "token for %s", audience);
        *ret_renew_ms = 5000;
        return *ret ? 0 : ERR_NO_MEMORY;
}

static int make_all(struct place *p, const char *volumes, int64_t *renew, struct error *err)
{
        const struct pod_lookup lookup = { .get = look_up, .ctx = p };
        const struct volume_source s = { .lookup = &lookup,
                                         .token = give_token,
                                         .ctx = p,
                                         .folder = p->folder,
                                         .claims = p->folder,
                                         .uid = -1,
                                         .gid = -1 };
        AUTO_JSON json_t *pod = json_pack("{s:{s:s}, s:{s:o}}", "metadata", "namespace", "n", "spec",
                                          "volumes", doc(volumes));

        return pod_volumes(pod, &s, renew, err);
}

static const char *contents(struct place *p, const char *file)
{
        static char text[256];
        char path[256];
        int fd;

        snprintf(path, sizeof(path), "%s/volumes/%s", p->folder, file);
        fd = open(path, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

        if (fd >= 0)
                close(fd);
        text[n > 0 ? n : 0] = '\0';
        return n < 0 ? NULL : text;
}

static mode_t mode_of(struct place *p, const char *file)
{
        char path[256];
        struct stat s;

        snprintf(path, sizeof(path), "%s/volumes/%s", p->folder, file);
        assert_int_equal(stat(path, &s), 0);
        return s.st_mode & 07777;
}

static int set_up(void **state)
{
        static struct place place;

        place = (struct place){ .folder = "/tmp/volumes-test-XXXXXX" };
        place.secret = doc("{\"data\":{\"a\":\"MQ==\",\"b\":\"Mg==\"}}");
        *state = &place;
        return mkdtemp(place.folder) ? 0 : -1;
}

static int tear_down(void **state)
{
        struct place *p = *state;

        folder_remove(AT_FDCWD, p->folder);
        json_decref(p->secret);
        return access(p->folder, F_OK) == 0 ? -1 : 0;
}

static void a_secret_becomes_files_that_change_all_at_once(void **state)
{
        static const char volumes[] =
                "[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\",\"defaultMode\":288}}]";
        struct place *p = *state;
        int64_t renew;
        struct error err = { 0 };
        char first[64], path[256];

        assert_int_equal(make_all(p, volumes, &renew, &err), 0);
        assert_true(renew == INT64_MAX);
        assert_string_equal(contents(p, "v/a"), "1");
        assert_int_equal(mode_of(p, "v/b"), 0440);
        snprintf(path, sizeof(path), "%s/volumes/v/..data", p->folder);
        ssize_t n = readlink(path, first, sizeof(first) - 1);

        assert_true(n > 0);
        json_object_del(json_object_get(p->secret, "data"), "b");
        assert_int_equal(doc_set_string(p->secret, "data.a", "Mw=="), 0);
        assert_int_equal(make_all(p, volumes, &renew, &err), 0);
        assert_string_equal(contents(p, "v/a"), "3");
        assert_null(contents(p, "v/b"));
        first[n] = '\0';
        snprintf(path, sizeof(path), "%s/volumes/v/%s", p->folder, first);
        assert_int_equal(access(path, F_OK), -1); /* the old contents are gone */
}

static void a_token_is_asked_for_with_its_life_and_audience(void **state)
{
        struct place *p = *state;
        int64_t renew;
        struct error err = { 0 };

        assert_int_equal(
                make_all(
                        p,
                        "[{\"name\":\"v\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"audience\":"
                        "\"x\",\"expirationSeconds\":700,\"path\":\"t\"}},{\"downwardAPI\":{\"items\":[{"
                        "\"path\":"
                        "\"ns\",\"fieldRef\":{\"fieldPath\":\"metadata.namespace\"}}]}}]}}]",
                        &renew, &err),
                0);
        assert_string_equal(contents(p, "v/t"), "token for x");
        assert_int_equal(p->seconds, 700);
        assert_int_equal(renew, 5000);
        assert_string_equal(contents(p, "v/ns"), "n");
}

static void what_cannot_be_mounted_is_told(void **state)
{
        static const struct {
                const char *volumes, *words;
        } cases[] = {
                { "[{\"name\":\"v\",\"secret\":{\"secretName\":\"none\"}}]",
                  "MountVolume.SetUp failed for volume \"v\": Secret \"none\" not found" },
                { "[{\"name\":\"v\",\"hostPath\":{\"path\":\"/\"}}]",
                  "MountVolume.SetUp failed for volume \"v\": this kind of volume is not supported" },
                { "[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\",\"items\":[{\"key\":\"a\",\"path\":"
                  "\"../a\"}]}}]",
                  "MountVolume.SetUp failed for volume \"v\": path \"../a\" leads out of the volume" },
        };
        struct place *p = *state;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct error err = { 0 };
                int64_t renew;

                assert_true(make_all(p, cases[i].volumes, &renew, &err) < 0);
                assert_string_equal(err.text, cases[i].words);
        }
}

static void an_optional_secret_leaves_an_empty_folder(void **state)
{
        struct place *p = *state;
        int64_t renew;
        struct error err = { 0 };

        assert_int_equal(make_all(p,
                                  "[{\"name\":\"v\",\"secret\":{\"secretName\":\"none\",\"optional\":true}},"
                                  "{\"name\":\"e\",\"emptyDir\":{}}]",
                                  &renew, &err),
                         0);
        assert_int_equal(mode_of(p, "e"), 0777);
        assert_null(contents(p, "v/a"));
}

static void every_container_gets_the_token_unless_it_mounts_its_own(void **state)
{
        AUTO_JSON json_t *spec =
                doc("{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\",\"volumeMounts\":[{\"name\":\"x\","
                    "\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}]}]}");

        assert_int_equal(pod_add_token_volume(spec), 0);
        json_t *a = json_array_get(json_object_get(spec, "containers"), 0),
               *b = json_array_get(json_object_get(spec, "containers"), 1);

        assert_int_equal(json_array_size(json_object_get(a, "volumeMounts")), 1);
        assert_string_equal(doc_get_string(json_array_get(json_object_get(b, "volumeMounts"), 0), "name"),
                            "x");
        assert_int_equal(json_array_size(json_object_get(b, "volumeMounts")), 1);
        json_t *volume = json_array_get(json_object_get(spec, "volumes"), 0);

        assert_int_equal(json_array_size(doc_get_array(volume, "projected.sources")), 3);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(a_secret_becomes_files_that_change_all_at_once, set_up,
                                                tear_down),
                cmocka_unit_test_setup_teardown(a_token_is_asked_for_with_its_life_and_audience, set_up,
                                                tear_down),
                cmocka_unit_test_setup_teardown(what_cannot_be_mounted_is_told, set_up, tear_down),
                cmocka_unit_test_setup_teardown(an_optional_secret_leaves_an_empty_folder, set_up, tear_down),
                cmocka_unit_test(every_container_gets_the_token_unless_it_mounts_its_own),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
