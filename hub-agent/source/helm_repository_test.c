/* Repositories of charts within a whole agent: spec/helm-chart.md 3, 4, 8. */
#include "common/base/digest.h"
#include <errno.h>

#include "hub-agent/source/source_test.h"

#define INDEX(version)                                                                                       \
        "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: " version                     \
        "\n    urls: [podinfo-" version ".tgz]\n"
#define SPEC "\"url\":\"https://charts.example/stable\",\"interval\":\"5m\""

static char *file_of(struct rig *r, const char *text)
{
        char hex[SHA256_HEX_SIZE];

        sha256_hex(text, strlen(text), hex);
        return arena_printf(&r->arena, "index-%s.yaml", hex);
}

/* spec/helm-chart.md checklist 4, 7 */
RIG_TEST(an_index_is_fetched_and_kept, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        add_repository(r, SPEC);
        const char *file = file_of(r, w.body);
        AUTO_FREE char *text = mem_printf("stored artifact: revision 'sha256:%.64s'", file + 6);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", text);
        assert_condition(r, REPOSITORY, "ArtifactInStorage", "True", "Succeeded", text);
        assert_string_equal(part_of_condition(r, "Reconciling", "status"), "absent");
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        AUTO_FREE char *path = mem_printf("helmrepository/apps/podinfo/%s", file);
        assert_string_equal(rig_string(r, "status.artifact.path"), path);
        AUTO_FREE char *url = mem_printf("http://hub.example:9090/%s", path);
        assert_string_equal(rig_string(r, "status.artifact.url"), url);
        assert_string_equal(rig_string(r, "status.url"),
                            "http://hub.example:9090/helmrepository/apps/podinfo/index.yaml");
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "metadata.finalizers"), 0)),
                "finalizers.fluxcd.io");
        assert_string_equal(w.said, "/stable/index.yaml ");
        assert_true(is_kept(&w, path));
        AUTO_FREE char *told = mem_printf(
                "stored fetched index of size %zuB from 'https://charts.example/stable'", strlen(w.body));
        assert_true(has_event(r, "Normal", "NewArtifact", told));
        rig_delete(r, REPOSITORY);
        rig_settle(r);
        assert_int_equal(rig_get(r, REPOSITORY), 404);
        assert_false(is_kept(&w, path));
        assert_true(has_event(r, "Normal", "GarbageCollectionSucceeded",
                              "garbage collected artifacts for deleted resource"));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 11, 60 */
RIG_TEST(an_index_is_looked_at_again_after_the_interval, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        add_repository(r, SPEC);
        assert_int_equal(w.served, 1);
        rig_get(r, REPOSITORY);
        AUTO_FREE char *version = mem_strdup(rig_string(r, "metadata.resourceVersion"));
        pass_time(r, 5 * MINUTE_MS - 10000); /* settling takes some seconds */
        assert_int_equal(w.served, 1);
        pass_time(r, 10000);
        assert_int_equal(w.served, 2);
        rig_get(r, REPOSITORY);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        assert_true(has_event(r, "Normal", "ArtifactUpToDate", "artifact up-to-date with remote revision: "));
        w.body = INDEX("2.0.0");
        pass_time(r, 5 * MINUTE_MS);
        rig_get(r, REPOSITORY);
        assert_string_equal(strrchr(rig_string(r, "status.artifact.path"), '/') + 1, file_of(r, w.body));
        assert_string_equal(part_of_condition(r, "ArtifactOutdated", "status"), "absent");
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 64 */
RIG_TEST(what_the_server_says_has_not_changed_is_not_read, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        w.tag = "\"one\"";
        add_repository(r, SPEC);
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(w.not_modified, 1);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_int_equal(
                volume_remove(w.options.volume, doc_get_string(r->answer, "status.artifact.path"), NULL), 0);
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(w.not_modified, 1);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_true(is_kept(&w, doc_get_string(r->answer, "status.artifact.path")));
        end_sources(r, &f, &w);
})

#define NOON "Fri, 27 Nov 2026 12:00:00 GMT"
RIG_TEST(an_index_that_changes_twice_within_a_second_is_not_missed, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        w.modified = w.date = NOON;
        add_repository(r, SPEC);
        w.body = INDEX("2.0.0");
        pass_time(r, 5 * MINUTE_MS);
        rig_get(r, REPOSITORY);
        assert_string_equal(strrchr(rig_string(r, "status.artifact.path"), '/') + 1, file_of(r, w.body));
        w.date = "Fri, 27 Nov 2026 12:00:01 GMT";
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(w.not_modified, 0);
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(w.not_modified, 1);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 13, 63 */
RIG_TEST(a_repository_that_fails_keeps_its_index_and_is_tried_again, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        add_repository(r, SPEC);
        w.status = 404;
        pass_time(r, 5 * MINUTE_MS + 1);
        assert_condition(r, REPOSITORY, "FetchFailed", "True", "Failed",
                         "failed to fetch Helm repository index: failed to cache index to temporary file: "
                         "failed to fetch https://charts.example/stable/index.yaml : 404 Not Found");
        assert_condition(r, REPOSITORY, "Ready", "False", "Failed", NULL);
        assert_condition(r, REPOSITORY, "Reconciling", "True", "ProgressingWithRetry", NULL);
        assert_true(is_kept(&w, doc_get_string(r->answer, "status.artifact.path")));
        assert_true(has_event(r, "Warning", "Failed", "404 Not Found"));
        int served = w.served;
        pass_time(r, 10000);
        assert_true(w.served > served && w.served <= served + 5);
        w.status = 200;
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_string_equal(part_of_condition(r, "FetchFailed", "status"), "absent");
        w.hangs = true;
        merge(r, REPOSITORY, "{\"spec\":{\"timeout\":\"2s\"}}");
        pass_time(r, 3000);
        assert_condition(r, REPOSITORY, "FetchFailed", "True", "Failed", NULL);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 58, 61, 62 */
RIG_TEST(an_index_that_is_none_is_told, {
        static const struct {
                const char *body, *reason, *message;
        } table[] = {
                { "", "IndexationFailed",
                  "failed to load Helm repository from index YAML: failed to load index: empty index.yaml "
                  "file" },
                { "entries: {}\n", "IndexationFailed",
                  "failed to load Helm repository from index YAML: failed to load index: no API version "
                  "specified" },
                { "123456789012345678901234567890123456789012345678901234567890"
                  "123456789012345678901234567890123456789012345678901234567890",
                  "Failed",
                  "failed to fetch Helm repository index: failed to cache index to temporary file: index "
                  "exceeds the maximum index file size of 110 bytes" },
        };
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.options.index_bytes = 110;
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                w.body = table[i].body;
                add_repository(r, SPEC);
                assert_condition(r, REPOSITORY, "FetchFailed", "True", table[i].reason, table[i].message);
                rig_delete(r, REPOSITORY);
                rig_settle(r);
        }
        add_repository(r, "\"url\":\"oci://charts.example/stable\"");
        assert_condition(r, REPOSITORY, "Stalled", "True", "URLInvalid",
                         "invalid Helm repository URL: 'oci' URL scheme cannot be used with 'default' "
                         "HelmRepository type");
        assert_condition(r, REPOSITORY, "Ready", "False", "URLInvalid", NULL);
        w.body = INDEX("1.0.0");
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"url\":\"https://charts.example/stable\"}}");
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 9, 10 */
RIG_TEST(what_is_suspended_is_left_alone_and_a_request_is_noted, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        add_repository(r, SPEC);
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"suspend\":true}}");
        merge_and_settle(r, REPOSITORY,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"one\"}}}");
        pass_time(r, 30 * MINUTE_MS);
        assert_int_equal(w.served, 1);
        rig_get(r, REPOSITORY);
        assert_string_equal(rig_string(r, "status.lastHandledReconcileAt"), "one");
        assert_string_equal(condition_of(r, "Ready"), "True");
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"suspend\":false}}");
        assert_int_equal(w.served, 2);
        merge_and_settle(r, REPOSITORY,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"one\"}}}");
        assert_int_equal(w.served, 2);
        merge_and_settle(r, REPOSITORY,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"two\"}}}");
        assert_int_equal(w.served, 3);
        rig_get(r, REPOSITORY);
        assert_string_equal(rig_string(r, "status.lastHandledReconcileAt"), "two");
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 70, 73 */
RIG_TEST(a_repository_is_asked_with_the_credentials_of_its_secret, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        w.authorized = "Basic dXNlcjpyaWdodA==";
        add_repository(r, SPEC ",\"secretRef\":{\"name\":\"login\"}");
        assert_condition(r, REPOSITORY, "FetchFailed", "True", "AuthenticationFailed",
                         "failed to get authentication secret 'apps/login': secrets \"login\" not found");
        assert_int_equal(w.served, 0);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/apps/secrets",
                                  "{\"metadata\":{\"name\":\"login\"},\"stringData\":{\"username\":\"user\","
                                  "\"password\":\"wrong\"}}"),
                         201);
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "FetchFailed", "True", "AuthenticationFailed", NULL);
        assert_true(strstr(part_of_condition(r, "FetchFailed", "message"), "401 Unauthorized"));
        assert_null(strstr(r->text, "wrong"));
        merge(r, "/api/v1/namespaces/apps/secrets/login", "{\"stringData\":{\"password\":\"right\"}}");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_null(strstr(r->text, "right"));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 19, 20, 21 */
RIG_TEST(a_file_that_was_altered_or_is_gone_is_made_anew, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        add_repository(r, SPEC);
        rig_get(r, REPOSITORY);
        const char *path = arena_strdup(&r->arena, rig_string(r, "status.artifact.path"));
        struct volume_writer *other = NULL;
        assert_int_equal(volume_create(w.options.volume, path, &other, NULL), 0);
        assert_int_equal(volume_append(other, "spoilt", 6, NULL), 0);
        assert_int_equal(volume_commit(other, NULL), 0);
        pass_time(r, 5 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_true(has_event(r, "Warning", "ArtifactVerificationFailed",
                              "failed to verify integrity of artifact: "));
        struct volume_info info;
        assert_int_equal(volume_look(w.options.volume, path, &info, NULL), 0);
        assert_int_not_equal(info.size, 6);
        stop(&f);
        w.options.address = "https://other.example";
        start_again(r, &f);
        rig_get(r, REPOSITORY);
        assert_string_equal(rig_string(r, "status.url"),
                            "https://other.example/helmrepository/apps/podinfo/index.yaml");
        assert_true(text_starts_with(rig_string(r, "status.artifact.url"), "https://other.example/helm"));
        end_sources(r, &f, &w);
})

static int full(void *ctx, enum volume_change what, const char *path)
{
        return what == VOLUME_APPEND ? ENOSPC : 0;
}

/* spec/helm-chart.md checklist 24 */
RIG_TEST(a_full_disk_is_told_and_the_old_index_stays, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        add_repository(r, SPEC);
        rig_get(r, REPOSITORY);
        const char *path = arena_strdup(&r->arena, rig_string(r, "status.artifact.path"));
        volume_set_fault(w.options.volume, full, NULL);
        w.body = INDEX("2.0.0");
        pass_time(r, 5 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "StorageOperationFailed", "True", "StorageOperationFailed", NULL);
        assert_string_equal(condition_of(r, "Ready"), "False");
        assert_string_equal(rig_string(r, "status.artifact.path"), path);
        assert_true(is_kept(&w, path));
        volume_set_fault(w.options.volume, NULL, NULL);
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_string_not_equal(rig_string(r, "status.artifact.path"), path);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 74 */
RIG_TEST(a_registry_has_no_status_and_what_was_there_goes, {
        struct fleet f;
        struct web w;

        begin_sources(r, &f, &w);
        w.body = INDEX("1.0.0");
        add_repository(r, SPEC);
        rig_get(r, REPOSITORY);
        const char *path = arena_strdup(&r->arena, rig_string(r, "status.artifact.path"));
        merge_and_settle(r, REPOSITORY,
                         "{\"spec\":{\"type\":\"oci\",\"url\":\"oci://charts.example/stable\"}}");
        rig_get(r, REPOSITORY);
        assert_null(doc_get(r->answer, "status.conditions"));
        assert_null(doc_get(r->answer, "status.artifact"));
        assert_null(doc_get(r->answer, "metadata.finalizers"));
        assert_false(is_kept(&w, path));
        assert_int_equal(w.served, 1);
        end_sources(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_index_is_fetched_and_kept),
                cmocka_unit_test(an_index_is_looked_at_again_after_the_interval),
                cmocka_unit_test(what_the_server_says_has_not_changed_is_not_read),
                cmocka_unit_test(an_index_that_changes_twice_within_a_second_is_not_missed),
                cmocka_unit_test(a_repository_that_fails_keeps_its_index_and_is_tried_again),
                cmocka_unit_test(an_index_that_is_none_is_told),
                cmocka_unit_test(what_is_suspended_is_left_alone_and_a_request_is_noted),
                cmocka_unit_test(a_repository_is_asked_with_the_credentials_of_its_secret),
                cmocka_unit_test(a_file_that_was_altered_or_is_gone_is_made_anew),
                cmocka_unit_test(a_full_disk_is_told_and_the_old_index_stays),
                cmocka_unit_test(a_registry_has_no_status_and_what_was_there_goes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
