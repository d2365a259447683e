/* Buckets within a whole agent: spec/helm-chart.md 12.2. */
#include <errno.h>

#include "hub-agent/source/bucket_test.h"

#define SECRET(name, data)                                                                                   \
        "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"" name                          \
        "\"},\"stringData\":{" data "}}"
#define LOGIN SECRET("login", "\"accesskey\":\"AKTEST\",\"secretkey\":\"hunter2hunter2\"")

static void add_secret(struct rig *r, const char *body)
{
        if (rig_post(r, "/api/v1/namespaces/apps/secrets", body) != 201)
                fail_msg("%s", r->text);
}

/* Of the Normal event with that reason, the number; and what its annotation says. */
static int events_of(struct rig *r, const char *reason, const char *annotation, const char **ret)
{
        json_t *e;
        size_t i;
        int n = 0;

        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/apps/events"), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, e) {
                if (!text_equal(doc_get_string(e, "reason"), reason))
                        continue;
                n += (int)doc_get_int(e, "count", 0);
                *ret = json_string_value(json_object_get(doc_get(e, "metadata.annotations"), annotation));
        }
        return n;
}

/* spec/helm-chart.md checklist 95 */
RIG_TEST(events_tell_revision_and_digest_and_once_that_all_is_well_again, {
        struct fleet f;
        struct web w;
        struct object_store s;
        const char *said;

        begin_store(r, &f, &w, &s);
        add_bucket(r, BUCKET_SPEC);
        assert_int_equal(rig_get(r, BUCKET), 200);
        AUTO_FREE char *revision = mem_strdup(rig_string(r, "status.artifact.revision"));
        AUTO_FREE char *digest = mem_strdup(rig_string(r, "status.artifact.digest"));
        assert_int_equal(events_of(r, "NewArtifact", "source.toolkit.fluxcd.io/revision", &said), 1);
        assert_string_equal(said, revision);
        assert_int_equal(events_of(r, "NewArtifact", "source.toolkit.fluxcd.io/digest", &said), 1);
        assert_string_equal(said, digest);
        s.look_status = 503;
        look_again(r, BUCKET, "one");
        pass_time(r, 5000); /* it is asked several times */
        assert_condition(r, BUCKET, "Ready", "False", "BucketOperationFailed", NULL);
        s.look_status = 0;
        s.at[0].tag = "e9";
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        assert_int_equal(events_of(r, "Succeeded", "source.toolkit.fluxcd.io/revision", &said), 1);
        assert_string_not_equal(said, revision);
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 91 */
RIG_TEST(what_is_in_a_bucket_is_fetched_and_kept, {
        struct fleet f;
        struct web w;
        struct object_store s;
        char hex[SHA256_HEX_SIZE];

        begin_store(r, &f, &w, &s);
        add_bucket(r, BUCKET_SPEC);
        static const char lines[] = "app/a b+c.yaml e2\napp/b.yaml e1\nreadme.txt e3\n";
        sha256_hex(lines, strlen(lines), hex);
        AUTO_FREE char *text = mem_printf("stored artifact: revision 'sha256:%s'", hex);
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", text);
        assert_condition(r, BUCKET, "ArtifactInStorage", "True", "Succeeded", text);
        assert_string_equal(part_of_condition(r, "Reconciling", "status"), "absent");
        AUTO_FREE char *path = mem_printf("bucket/apps/files/%s.tar.gz", hex);
        assert_string_equal(rig_string(r, "status.artifact.path"), path);
        assert_string_equal(rig_string(r, "status.artifact.revision") + 7, hex);
        assert_string_equal(rig_string(r, "status.url"),
                            "http://hub.example:9090/bucket/apps/files/latest.tar.gz");
        struct file_set files = files_kept(r, &w);
        assert_int_equal(files.n, 3);
        assert_true(slice_is(file_set_find(&files, "app/a b+c.yaml")->data, "kind: A\n"));
        assert_true(slice_is(file_set_find(&files, "readme.txt")->data, "read me\n"));
        assert_string_equal(s.said, "");
        assert_true(has_event(r, "Normal", "NewArtifact",
                              "stored artifact with 3 fetched files from 'apps' bucket"));
        rig_delete(r, BUCKET);
        rig_settle(r);
        assert_int_equal(rig_get(r, BUCKET), 404);
        assert_false(is_kept(&w, path));
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 91 */
RIG_TEST(nothing_is_fetched_while_a_bucket_is_as_it_was, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        add_bucket(r, BUCKET_SPEC);
        assert_int_equal(s.gets, 3);
        rig_get(r, BUCKET);
        AUTO_FREE char *version = mem_strdup(rig_string(r, "metadata.resourceVersion"));
        AUTO_FREE char *path = mem_strdup(rig_string(r, "status.artifact.path"));
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(s.lists, 2);
        assert_int_equal(s.gets, 3);
        rig_get(r, BUCKET);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        assert_true(has_event(r, "Normal", "ArtifactUpToDate", "artifact up-to-date with remote revision: "));
        s.at[0].tag = "e4";
        s.at[0].data = SLICE("kind: C\n");
        pass_time(r, 5 * MINUTE_MS);
        assert_int_equal(s.gets, 6);
        struct file_set files = files_kept(r, &w);
        assert_true(slice_is(file_set_find(&files, "app/b.yaml")->data, "kind: C\n"));
        assert_string_not_equal(rig_string(r, "status.artifact.path"), path);
        assert_string_equal(part_of_condition(r, "ArtifactOutdated", "status"), "absent");
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 90, 91 */
RIG_TEST(pages_prefixes_and_ignored_paths_make_the_index, {
        static char keys[40][16];
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        s.page = 7;
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
                snprintf(keys[i], sizeof(keys[i]), "app/%02zu.yaml", i);
                keep_in(&s, keys[i], "e", "x");
        }
        add_bucket(r, BUCKET_SPEC);
        pass_time(r, 5000);
        assert_int_equal(s.lists, 7);
        assert_true(text_starts_with(s.query, "continuation-token=next%2B42&encoding-type=url&list-type=2"));
        assert_int_equal(files_kept(r, &w).n, 43);
        assert_int_equal(s.most, 4);
        keep_in(&s, ".sourceignore", "e", "app/0*.yaml\n# a comment\n");
        merge_and_settle(r, BUCKET, "{\"spec\":{\"ignore\":\"app/1*\\n!/app/01.yaml\",\"prefix\":\"app/\"}}");
        pass_time(r, 5000);
        struct file_set files = files_kept(r, &w);
        assert_int_equal(files.n, 23); /* 20 to 39, 01 and two others */
        assert_non_null(file_set_find(&files, "app/01.yaml"));
        assert_null(file_set_find(&files, "app/02.yaml"));
        assert_null(file_set_find(&files, "readme.txt"));
        assert_null(file_set_find(&files, ".sourceignore"));
        assert_true(text_ends_with(s.query, "&prefix=app%2F"));
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 70, 73, 91 */
RIG_TEST(requests_are_signed_with_the_keys_of_the_secret, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        s.access_key = "AKTEST";
        s.secret_key = "hunter2hunter2";
        s.region = "eu-west-1";
        add_bucket(r, BUCKET_SPEC ",\"region\":\"eu-west-1\",\"secretRef\":{\"name\":\"login\"}");
        assert_condition(r, BUCKET, "FetchFailed", "True", "AuthenticationFailed",
                         "failed to get authentication secret 'apps/login': secrets \"login\" not found");
        add_secret(r, SECRET("login", "\"accesskey\":\"AKTEST\""));
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "FetchFailed", "True", "AuthenticationFailed",
                         "invalid 'apps/login' secret data: required fields 'accesskey' and 'secretkey'");
        merge(r, "/api/v1/namespaces/apps/secrets/login", "{\"stringData\":{\"secretkey\":\"wrongwrong\"}}");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed",
                         "failed to confirm existence of 'apps' bucket: HEAD https://" STORE
                         "/apps: 403 Forbidden");
        assert_true(has_event(r, "Warning", "BucketOperationFailed", "403 Forbidden"));
        assert_null(strstr(r->text, "wrongwrong"));
        assert_null(strstr(r->text, "AKTEST"));
        merge(r, "/api/v1/namespaces/apps/secrets/login",
              "{\"stringData\":{\"secretkey\":\"hunter2hunter2\"}}");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        assert_null(strstr(r->text, "hunter2"));
        assert_null(strstr(r->text, "AKTEST"));
        assert_true(text_starts_with(s.said, "AWS4-HMAC-SHA256 Credential=AKTEST/eu-west-1/s3, "));
        struct slice archive = bytes_kept(r, &w, rig_string(r, "status.artifact.path"));
        assert_null(memmem(archive.data, archive.len, "hunter2", 7));
        assert_true(has_event(r, "Normal", "Succeeded", "stored artifact with 3 fetched files"));
        assert_null(strstr(r->text, "hunter2"));
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 71 */
RIG_TEST(authorities_and_proxies_come_from_secrets_that_say_what_they_lack, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        add_bucket(r, BUCKET_SPEC ",\"certSecretRef\":{\"name\":\"tls\"}");
        assert_condition(r, BUCKET, "FetchFailed", "True", "AuthenticationFailed",
                         "failed to get TLS authentication secret 'apps/tls': secrets \"tls\" not found");
        add_secret(r, SECRET("tls", "\"tls.crt\":\"x\""));
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "FetchFailed", "True", "AuthenticationFailed",
                         "secret 'apps/tls' contains 'tls.crt' but missing 'tls.key'");
        merge_and_settle(r, BUCKET,
                         "{\"spec\":{\"certSecretRef\":null,\"proxySecretRef\":{\"name\":\"proxy\"}}}");
        assert_condition(r, BUCKET, "FetchFailed", "True", "AuthenticationFailed",
                         "failed to get proxy secret 'apps/proxy': secrets \"proxy\" not found");
        add_secret(r, SECRET("proxy", "\"username\":\"me\""));
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "FetchFailed", "True", "AuthenticationFailed",
                         "secret 'apps/proxy' is missing 'address', which a proxy needs");
        assert_int_equal(s.looks, 0);
        merge(r, "/api/v1/namespaces/apps/secrets/proxy",
              "{\"stringData\":{\"address\":\"http://proxy.example:3128\",\"password\":\"hunter2\"}}");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        assert_null(strstr(r->text, "hunter2"));
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 91 */
RIG_TEST(a_bucket_of_aws_is_in_the_name_of_the_host, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        s.access_key = "AKTEST";
        s.secret_key = "hunter2hunter2";
        add_secret(r, LOGIN);
        add_bucket(r, "\"endpoint\":\"s3.example\",\"bucketName\":\"apps\",\"interval\":\"5m\","
                      "\"provider\":\"aws\",\"secretRef\":{\"name\":\"login\"}");
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        assert_true(text_equal(s.path, "/readme.txt") || text_starts_with(s.path, "/app/"));
        s.look_status = 400;
        s.region_told = "eu-west-1";
        look_again(r, BUCKET, "one");
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed",
                         "failed to confirm existence of 'apps' bucket: HEAD https://" STORE_OF_AWS
                         ": 400 Bad Request (the bucket is in region eu-west-1, spec.region is us-east-1)");
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 92 */
RIG_TEST(what_is_not_acted_on_stalls_and_is_named, {
        static const struct {
                const char *spec, *reason, *text;
        } cases[] = {
                { BUCKET_SPEC ",\"provider\":\"gcp\"", "InvalidProviderConfiguration",
                  "spec.provider 'gcp' is not acted on: it is to be generic, or aws with static keys" },
                { BUCKET_SPEC ",\"provider\":\"azure\"", "InvalidProviderConfiguration",
                  "spec.provider 'azure' is not acted on: it is to be generic, or aws with static keys" },
                { BUCKET_SPEC ",\"sts\":{\"provider\":\"ldap\",\"endpoint\":\"https://sts.example\"}",
                  "InvalidProviderConfiguration",
                  "spec.sts is not acted on: keys are those of spec.secretRef" },
                { BUCKET_SPEC ",\"provider\":\"aws\",\"serviceAccountName\":\"me\"",
                  "InvalidProviderConfiguration",
                  "spec.serviceAccountName is not acted on: keys are those of spec.secretRef" },
                { BUCKET_SPEC ",\"provider\":\"aws\"", "InvalidProviderConfiguration",
                  "spec.provider 'aws' without spec.secretRef is not acted on: identities of clouds are not "
                  "used; what everybody may read needs provider generic" },
                { "\"endpoint\":\"https://minio.example\",\"bucketName\":\"apps\",\"interval\":\"5m\"",
                  "URLInvalid",
                  "spec.endpoint is no host, nor one with a port: scheme, path and user do not belong "
                  "there" },
                { BUCKET_SPEC ",\"region\":\"eu:west\"", "URLInvalid",
                  "spec.region is no name of a region: letters, digits, '-', '.' and '_'" },
        };
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                add_bucket(r, cases[i].spec);
                assert_condition(r, BUCKET, "FetchFailed", "True", cases[i].reason, cases[i].text);
                assert_condition(r, BUCKET, "Stalled", "True", cases[i].reason, cases[i].text);
                assert_condition(r, BUCKET, "Ready", "False", cases[i].reason, cases[i].text);
                assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
                int passes = passes_of(&f, "bucket");
                pass_time(r, 60 * MINUTE_MS);
                assert_int_equal(passes_of(&f, "bucket"), passes);
                rig_delete(r, BUCKET);
                rig_settle(r);
        }
        assert_int_equal(s.looks, 0);
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 13, 91 */
RIG_TEST(what_an_object_store_fails_at_is_told_and_tried_again, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        s.look_status = 404;
        add_bucket(r, BUCKET_SPEC);
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed",
                         "bucket 'apps' not found");
        assert_condition(r, BUCKET, "Reconciling", "True", "ProgressingWithRetry", NULL);
        s.look_status = 0;
        s.wrong_list = "<html><body>Sign in";
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed",
                         "indexation of objects from bucket 'apps' failed: the answer is no XML: no element "
                         "found in line 1");
        s.wrong_list = NULL;
        keep_in(&s, "../out", "e", "x");
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed",
                         "indexation of objects from bucket 'apps' failed: key '../out' has a part '.' or "
                         "'..', which leads elsewhere");
        s.n--;
        s.get_status = 500;
        s.get_failures = -1;
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed", NULL);
        assert_non_null(strstr(part_of_condition(r, "FetchFailed", "message"),
                               "fetch from bucket 'apps' failed: failed to get 'app/"));
        assert_non_null(
                strstr(part_of_condition(r, "FetchFailed", "message"), ": 500 Internal Server Error"));
        assert_null(doc_get(r->answer, "status.artifact"));
        s.get_failures = 2; /* which one run overcomes */
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        s.hangs = true;
        merge(r, BUCKET, "{\"spec\":{\"timeout\":\"2s\"}}");
        pass_time(r, 3000);
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed", NULL);
        assert_non_null(strstr(part_of_condition(r, "FetchFailed", "message"), "before the deadline"));
        assert_non_null(doc_get(r->answer, "status.artifact"));
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 91 */
RIG_TEST(an_object_that_changes_between_list_and_fetch_fails_the_run_and_the_next_has_it, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        s.changing = "readme.txt";
        add_bucket(r, BUCKET_SPEC);
        assert_true(has_event(r, "Warning", "BucketOperationFailed",
                              "fetch from bucket 'apps' failed: failed to get 'readme.txt' object, which "
                              "changed since it was listed: GET https://" STORE
                              "/apps/readme.txt: 412 Precondition Failed"));
        s.changing = NULL;
        pass_time(r, 10000);
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        s.cut = 1;
        s.at[0].tag = "e9";
        look_again(r, BUCKET, "one");
        assert_condition(r, BUCKET, "FetchFailed", "True", "BucketOperationFailed", NULL);
        assert_non_null(strstr(part_of_condition(r, "FetchFailed", "message"), "bytes, and was listed with"));
        end_store(r, &f, &w);
})

static int full(void *ctx, enum volume_change what, const char *path)
{
        return what == VOLUME_APPEND ? ENOSPC : 0;
}

/* spec/helm-chart.md checklist 19, 24 */
RIG_TEST(a_full_disk_is_told_and_the_old_archive_stays, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        add_bucket(r, BUCKET_SPEC);
        rig_get(r, BUCKET);
        const char *path = arena_strdup(&r->arena, rig_string(r, "status.artifact.path"));
        volume_set_fault(w.options.volume, full, NULL);
        s.at[0].tag = "e9";
        look_again(r, BUCKET, "one");
        assert_condition(r, BUCKET, "StorageOperationFailed", "True", "StorageOperationFailed", NULL);
        assert_string_equal(condition_of(r, "Ready"), "False");
        assert_string_equal(rig_string(r, "status.artifact.path"), path);
        assert_true(is_kept(&w, path));
        volume_set_fault(w.options.volume, NULL, NULL);
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        const char *newer = arena_strdup(&r->arena, rig_string(r, "status.artifact.path"));
        assert_string_not_equal(newer, path);
        assert_int_equal(volume_remove(w.options.volume, newer, NULL), 0);
        look_again(r, BUCKET, "two");
        assert_true(is_kept(&w, newer));
        AUTO_FREE char *names = NULL;
        assert_int_equal(volume_list(w.options.volume, "bucket/apps/files", &names, NULL), 0);
        for (const char *name = names; *name; name += strlen(name) + 1)
                assert_false(text_starts_with(name, VOLUME_TEMPORARY));
        end_store(r, &f, &w);
})

/* spec/helm-chart.md checklist 9 */
RIG_TEST(what_is_suspended_is_left_alone, {
        struct fleet f;
        struct web w;
        struct object_store s;

        begin_store(r, &f, &w, &s);
        add_bucket(r, BUCKET_SPEC ",\"suspend\":true");
        look_again(r, BUCKET, "one");
        assert_int_equal(s.looks, 0);
        rig_get(r, BUCKET);
        assert_string_equal(rig_string(r, "status.lastHandledReconcileAt"), "one");
        merge_and_settle(r, BUCKET, "{\"spec\":{\"suspend\":false}}");
        assert_condition(r, BUCKET, "Ready", "True", "Succeeded", NULL);
        end_store(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_in_a_bucket_is_fetched_and_kept),
                cmocka_unit_test(events_tell_revision_and_digest_and_once_that_all_is_well_again),
                cmocka_unit_test(nothing_is_fetched_while_a_bucket_is_as_it_was),
                cmocka_unit_test(pages_prefixes_and_ignored_paths_make_the_index),
                cmocka_unit_test(requests_are_signed_with_the_keys_of_the_secret),
                cmocka_unit_test(authorities_and_proxies_come_from_secrets_that_say_what_they_lack),
                cmocka_unit_test(a_bucket_of_aws_is_in_the_name_of_the_host),
                cmocka_unit_test(what_is_not_acted_on_stalls_and_is_named),
                cmocka_unit_test(what_an_object_store_fails_at_is_told_and_tried_again),
                cmocka_unit_test(
                        an_object_that_changes_between_list_and_fetch_fails_the_run_and_the_next_has_it),
                cmocka_unit_test(a_full_disk_is_told_and_the_old_archive_stays),
                cmocka_unit_test(what_is_suspended_is_left_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
