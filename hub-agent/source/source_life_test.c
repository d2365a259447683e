/* What starts runs, which objects are worked on, and what another leader finds: spec/helm-chart.md 1, 3, 4.3,
 * 10, 14, 15. */
#include "common/kube/selector.h"
#include "hub-agent/source/chart/chart_test.h"
#include "hub-agent/source/source_test.h"

#define CHART SOURCES "helmcharts/podinfo"
#define SECRETS "/api/v1/namespaces/apps/secrets"
#define FILE_OF_CHART "helmchart/apps/podinfo/podinfo-4.0.6.tgz"
#define SPEC "\"url\":\"https://charts.example/stable\",\"interval\":\"10h\""
#define CHART_SPEC                                                                                           \
        "\"spec\":{\"chart\":\"podinfo\",\"interval\":\"10h\",\"sourceRef\":{\"kind\":\"HelmRepository\","   \
        "\"name\":\"podinfo\"}}"

static const struct test_file podinfo[] = {
        { "Chart.yaml", "apiVersion: v2\nname: podinfo\nversion: 4.0.6\n" },
        { "values.yaml", "replicas: 1\n" },
        { NULL, NULL },
};

static void begin(struct rig *r, struct fleet *f, struct web *w)
{
        begin_sources(r, f, w);
        w->body = "apiVersion: v1\nentries:\n  podinfo:\n  - {name: podinfo, version: 4.0.6, urls: "
                  "[podinfo.tgz]}\n";
        w->files[0] = (struct web_file){ "/stable/podinfo.tgz", archive_of(&r->arena, "podinfo", podinfo) };
}

/* `metadata`: members beside the name, each behind a comma. */
static void add_chart(struct rig *r, const char *metadata)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"HelmChart\","
                           "\"metadata\":{\"name\":\"podinfo\"%s}," CHART_SPEC "}",
                           metadata);

        if (rig_post(r, SOURCES "helmcharts", body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static void assert_untouched(struct rig *r, const char *path)
{
        assert_int_equal(rig_get(r, path), 200);
        assert_null(doc_get_array(r->answer, "metadata.finalizers"));
        if (doc_get_int(r->answer, "status.observedGeneration", 0) != -1)
                fail_msg("%s", r->text);
        assert_null(doc_get_array(r->answer, "status.conditions"));
}

/* spec/helm-chart.md checklist 70 */
RIG_TEST(a_changed_secret_starts_what_names_it_at_once, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        w.authorized = "Basic dTpnb29k"; /* u:good */
        assert_int_equal(rig_post(r, SECRETS,
                                  "{\"metadata\":{\"name\":\"login\"},\"stringData\":{\"username\":\"u\","
                                  "\"password\":\"bad\"}}"),
                         201);
        assert_int_equal(rig_post(r, SECRETS,
                                  "{\"metadata\":{\"name\":\"other\"},\"stringData\":{\"username\":\"u\"}}"),
                         201);
        add_repository(r, SPEC ",\"secretRef\":{\"name\":\"login\"}");
        assert_condition(r, REPOSITORY, "FetchFailed", "True", "AuthenticationFailed", NULL);
        pass_time(r, 60 * MINUTE_MS); /* the next try is a quarter of an hour away by now */
        int asked = w.served;
        merge_and_settle(r, SECRETS "/other", "{\"stringData\":{\"password\":\"x\"}}");
        assert_int_equal(w.served, asked);
        merge_and_settle(r, SECRETS "/login", "{\"stringData\":{\"password\":\"good\"}}");
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        asked = w.served;
        merge_and_settle(r, SECRETS "/login", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        assert_int_equal(w.served, asked + 1); /* its metadata tells no more */
        rig_delete(r, SECRETS "/login");
        rig_settle(r);
        assert_condition(r, REPOSITORY, "FetchFailed", "True", "AuthenticationFailed",
                         "failed to get authentication secret 'apps/login': secrets \"login\" not found");
        end_sources(r, &f, &w);
})

RIG_TEST(a_changed_secret_starts_sources_of_other_kinds_too, {
        static const char *const controllers[] = { "gitrepository", "bucket" };
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        assert_int_equal(rig_post(r, SECRETS, "{\"metadata\":{\"name\":\"login\"}}"), 201);
        assert_int_equal(
                rig_post(r, SOURCES "gitrepositories",
                         "{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"GitRepository\","
                         "\"metadata\":{\"name\":\"x\"},\"spec\":{\"url\":\"https://none.example/x\","
                         "\"interval\":\"10h\",\"secretRef\":{\"name\":\"login\"}}}"),
                201);
        assert_int_equal(rig_post(r, SOURCES "buckets",
                                  "{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"Bucket\","
                                  "\"metadata\":{\"name\":\"x\"},\"spec\":{\"endpoint\":\"none.example\","
                                  "\"bucketName\":\"x\",\"interval\":\"10h\",\"certSecretRef\":{\"name\":"
                                  "\"login\"}}}"),
                         201);
        pass_time(r, 60 * MINUTE_MS);
        for (size_t i = 0; i < ARRAY_LEN(controllers); i++) {
                int before = passes_of(&f, controllers[i]);
                AUTO_FREE char *patch = mem_printf("{\"stringData\":{\"a\":\"%zu\"}}", i);

                merge_and_settle(r, SECRETS "/login", patch);
                assert_true(passes_of(&f, controllers[i]) > before);
        }
        end_sources(r, &f, &w);
})

RIG_TEST(objects_of_other_namespaces_are_left_alone_where_one_is_watched, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        stop(&f);
        w.options.ns = "fleet-system";
        start_again(r, &f);
        add_repository(r, SPEC);
        add_chart(r, "");
        pass_time(r, 60 * MINUTE_MS);
        assert_untouched(r, REPOSITORY);
        assert_untouched(r, CHART);
        assert_int_equal(w.served, 0);
        end_sources(r, &f, &w);
})

RIG_TEST(labels_may_say_which_objects_are_worked_on, {
        struct fleet f;
        struct web w;
        struct label_query *mine;

        begin(r, &f, &w);
        stop(&f);
        assert_int_equal(label_query_parse(&r->arena, "shard=mine", &mine, NULL), 0);
        w.options.labels = mine;
        start_again(r, &f);
        add_repository(r, SPEC);
        add_chart(r, ",\"labels\":{\"shard\":\"mine\"}");
        assert_untouched(r, REPOSITORY);
        assert_condition(
                r, CHART, "FetchFailed", "True", "SourceUnavailable",
                "failed to get source: helmrepositories.source.toolkit.fluxcd.io \"podinfo\" not found");
        merge_and_settle(r, REPOSITORY, "{\"metadata\":{\"labels\":{\"shard\":\"mine\"}}}");
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        merge_and_settle(r, CHART, "{\"metadata\":{\"labels\":{\"shard\":\"theirs\"}}}");
        merge_and_settle(r, CHART, "{\"spec\":{\"version\":\"9.x\"}}");
        assert_int_equal(rig_get(r, CHART), 200);
        assert_int_equal(doc_get_int(r->answer, "status.observedGeneration", 0), 1);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 23 */
RIG_TEST(what_nobody_has_any_more_is_swept_at_the_start, {
        static const char *const left[] = { "helmchart/apps/podinfo/" VOLUME_TEMPORARY "1",
                                            "helmchart/apps/gone/gone-1.0.0.tgz",
                                            "helmrepository/apps/gone/index-1.yaml" };
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_repository(r, SPEC);
        add_chart(r, "");
        stop(&f);
        for (size_t i = 0; i < ARRAY_LEN(left); i++) {
                struct volume_writer *file;

                assert_int_equal(volume_create(w.options.volume, left[i], &file, NULL), 0);
                assert_int_equal(volume_append(file, "x", 1, NULL), 0);
                assert_int_equal(volume_commit(file, NULL), 0);
        }
        start_again(r, &f);
        rig_settle(r);
        for (size_t i = 0; i < ARRAY_LEN(left); i++)
                assert_false(is_kept(&w, left[i]));
        assert_true(is_kept(&w, FILE_OF_CHART));
        end_sources(r, &f, &w);
})

RIG_TEST(folders_are_swept_where_no_object_is_left, {
        struct fleet f;
        struct web w;
        struct volume_writer *file;

        begin(r, &f, &w);
        stop(&f);
        assert_int_equal(volume_create(w.options.volume, "helmchart/apps/gone/gone-1.0.0.tgz", &file, NULL),
                         0);
        assert_int_equal(volume_commit(file, NULL), 0);
        start_again(r, &f);
        rig_settle(r);
        assert_false(is_kept(&w, "helmchart/apps"));
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 19; 15: a new leader rebuilds only what its disk lacks */
RIG_TEST(another_leader_makes_only_what_its_disk_lacks, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_repository(r, SPEC);
        add_chart(r, "");
        assert_int_equal(rig_get(r, CHART), 200);
        AUTO_FREE char *version = mem_strdup(rig_string(r, "metadata.resourceVersion"));
        stop(&f);
        start_again(r, &f);
        rig_settle(r);
        assert_int_equal(w.downloads, 1);
        assert_int_equal(rig_get(r, CHART), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        stop(&f);
        assert_int_equal(volume_remove(w.options.volume, FILE_OF_CHART, NULL), 0);
        start_again(r, &f);
        rig_settle(r);
        assert_int_equal(w.downloads, 2);
        assert_true(is_kept(&w, FILE_OF_CHART));
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        stop(&f);
        assert_int_equal(volume_remove_all(w.options.volume, "helmchart", NULL), 0);
        assert_int_equal(volume_remove_all(w.options.volume, "helmrepository", NULL), 0);
        start_again(r, &f);
        pass_time(r, 20 * MINUTE_MS);
        assert_int_equal(w.downloads, 3);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 98 */
RIG_TEST(a_chart_that_another_controller_made_keeps_its_metadata, {
        static const char *const fields[] = { "metadata.labels", "metadata.annotations",
                                              "metadata.ownerReferences" };
        char *before[ARRAY_LEN(fields)];
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_repository(r, SPEC);
        add_chart(r, ",\"labels\":{\"helm.toolkit.fluxcd.io/name\":\"web\",\"helm.toolkit.fluxcd.io/"
                     "namespace\":\"apps\"},\"annotations\":{\"a.example/x\":\"y\"},\"finalizers\":[\"a."
                     "example/keep\"],\"ownerReferences\":[{\"apiVersion\":\"helm.toolkit.fluxcd.io/v2\","
                     "\"kind\":\"HelmRelease\",\"name\":\"web\",\"uid\":\"1-2-3\"}]");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
                before[i] = json_dumps(doc_get(r->answer, fields[i]), JSON_SORT_KEYS);
        merge_and_settle(r, CHART, "{\"spec\":{\"version\":\"4.x\"}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
                AUTO_FREE char *now = json_dumps(doc_get(r->answer, fields[i]), JSON_SORT_KEYS);

                assert_string_equal(now, before[i]);
                mem_free(before[i]);
        }
        assert_non_null(strstr(r->text, "a.example/x"));
        assert_non_null(strstr(r->text, "HelmRelease"));
        rig_delete(r, CHART);
        rig_settle(r);
        assert_int_equal(rig_get(r, CHART), 200); /* the other's finalizer stays */
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "metadata.finalizers"), 0)),
                "a.example/keep");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 1);
        assert_false(is_kept(&w, FILE_OF_CHART));
        end_sources(r, &f, &w);
})

/* How many events of that reason there are about the object; the annotation of the last in *ret. */
static int events_of(struct rig *r, const char *kind, const char *reason, const char **ret_revision,
                     const char **ret_digest)
{
        json_t *e;
        size_t i;
        int n = 0;

        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/apps/events"), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, e) {
                const json_t *notes = doc_get(e, "metadata.annotations");

                if (!text_equal(doc_get_string(e, "involvedObject.kind"), kind) ||
                    !text_equal(doc_get_string(e, "reason"), reason) ||
                    !text_equal(doc_get_string(e, "type"), "Normal"))
                        continue;
                n += (int)doc_get_int(e, "count", 0);
                *ret_revision =
                        json_string_value(json_object_get(notes, "source.toolkit.fluxcd.io/revision"));
                *ret_digest = json_string_value(json_object_get(notes, "source.toolkit.fluxcd.io/digest"));
        }
        return n;
}

/* spec/helm-chart.md checklist 95 */
RIG_TEST(events_name_the_artifact_and_a_recovery_is_told_once, {
        const char *revision = NULL;
        const char *digest = NULL;
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_repository(r, "\"url\":\"https://charts.example/stable\",\"interval\":\"5m\"");
        add_chart(r, "");
        assert_int_equal(rig_get(r, CHART), 200);
        AUTO_FREE char *want = mem_strdup(rig_string(r, "status.artifact.digest"));
        assert_int_equal(events_of(r, "HelmChart", "ChartPullSucceeded", &revision, &digest), 1);
        assert_string_equal(revision, "4.0.6");
        assert_string_equal(digest, want);
        assert_int_equal(events_of(r, "HelmRepository", "NewArtifact", &revision, &digest), 1);
        assert_int_equal(rig_get(r, REPOSITORY), 200);
        AUTO_FREE char *of_index = mem_strdup(rig_string(r, "status.artifact.revision"));
        w.status = 503;
        pass_time(r, 20 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "Ready", "False", "Failed", NULL);
        assert_int_equal(events_of(r, "HelmRepository", "Succeeded", &revision, &digest), 0);
        w.status = 200;
        pass_time(r, 60 * MINUTE_MS);
        assert_condition(r, REPOSITORY, "Ready", "True", "Succeeded", NULL);
        assert_int_equal(events_of(r, "HelmRepository", "Succeeded", &revision, &digest), 1);
        assert_string_equal(revision, of_index);
        end_sources(r, &f, &w);
})

/* Tried again for ever, it says so by events alone. */
RIG_TEST(a_failure_like_the_one_before_writes_no_status, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_repository(r, SPEC);
        add_chart(r, "");
        rig_delete(r, REPOSITORY);
        merge_and_settle(r, CHART,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"one\"}}}");
        assert_condition(r, CHART, "FetchFailed", "True", "SourceUnavailable", NULL);
        AUTO_FREE char *version = mem_strdup(rig_string(r, "metadata.resourceVersion"));
        int passes = passes_of(&f, "helmchart");
        pass_time(r, 60 * MINUTE_MS);
        assert_true(passes_of(&f, "helmchart") > passes + 5);
        assert_int_equal(rig_get(r, CHART), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        end_sources(r, &f, &w);
})

/* ---- answers that are lost ---- */

struct deaf {
        int left; /* so many requests for the chart's status are answered before one is not; then all are */
        struct rig *rig;
        bool given_up; /* a chart that had an artifact was shown without one */
        bool had;
};

static int lose_one(void *ctx, const struct http_request *rq)
{
        struct deaf *d = ctx;

        return strstr(rq->path, "helmcharts/podinfo/status") && d->left-- == 0 ? ERR_CLOSED : 0;
}

/* What watches tell comes after the next try, and each write takes so long that it can be seen. */
static int64_t be_late(void *ctx, const struct http_request *rq, bool answer)
{
        if (answer && strstr(rq->path, "/helmcharts?") && strstr(rq->path, "watch=true"))
                return 3000;
        return !answer && strstr(rq->path, "helmcharts/podinfo/status") ? 200 : 0;
}

/* The run after the one whose end nobody heard begins from what the cache has, which may be older. */
RIG_TEST(an_artifact_whose_news_were_lost_is_not_taken_away, {
        struct fleet f;
        struct web w;

        begin(r, &f, &w);
        add_repository(r, SPEC);
        for (int left = 0; left < 4; left++) {
                struct deaf d = { .left = left, .rig = r };
                struct line line;

                line_lay(&f, &line);
                line.faults = (struct loopback_faults){ .ctx = &d, .fate = lose_one, .delay = be_late };
                start_again(r, &f);
                add_chart(r, "");
                for (int i = 0; i < 200; i++) {
                        fiber_sleep(r->loop, 50);
                        if (rig_get(r, CHART) != 200)
                                continue;
                        bool has = doc_get_object(r->answer, "status.artifact") != NULL;

                        d.given_up = d.given_up || (d.had && !has);
                        d.had = has;
                }
                assert_true(d.had);
                assert_false(d.given_up);
                rig_delete(r, CHART);
                rig_settle(r);
                stop(&f);
                http_transport_free(f.world.transport);
                f.world.transport = r->client;
                start_again(r, &f);
        }
        end_sources(r, &f, &w);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_changed_secret_starts_what_names_it_at_once),
                cmocka_unit_test(a_changed_secret_starts_sources_of_other_kinds_too),
                cmocka_unit_test(objects_of_other_namespaces_are_left_alone_where_one_is_watched),
                cmocka_unit_test(labels_may_say_which_objects_are_worked_on),
                cmocka_unit_test(what_nobody_has_any_more_is_swept_at_the_start),
                cmocka_unit_test(folders_are_swept_where_no_object_is_left),
                cmocka_unit_test(another_leader_makes_only_what_its_disk_lacks),
                cmocka_unit_test(a_chart_that_another_controller_made_keeps_its_metadata),
                cmocka_unit_test(an_artifact_whose_news_were_lost_is_not_taken_away),
                cmocka_unit_test(a_failure_like_the_one_before_writes_no_status),
                cmocka_unit_test(events_name_the_artifact_and_a_recovery_is_told_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
