/* Charts in registries, within a whole agent: spec/helm-chart.md 5, 9. */
#include "hub-agent/registry/registry_test.h"
#include "hub-agent/source/chart/chart_test.h"
#include "hub-agent/source/helm_chart.h"
#include "hub-agent/source/source_test.h"
#include "hub-agent/source/verify/sigstore_test.h"

#define CHARTS SOURCES "helmcharts"
#define CHART CHARTS "/podinfo"
#define FILE_OF(version) "helmchart/apps/podinfo/podinfo-" version ".tgz"
#define AT "oci://reg.example/charts/podinfo"
#define WHERE "charts/podinfo"

struct scene {
        struct rig *rig;
        struct fleet fleet;
        struct web web;
        struct registry_sim sim;
};

static struct slice chart_of(struct scene *s, const char *name, const char *version, const char *note)
{
        const struct test_file files[] = {
                { "Chart.yaml",
                  arena_printf(&s->sim.arena, "apiVersion: v2\nname: %s\nversion: %s\n", name, version) },
                { "values.yaml", note },
                { "values-prod.yaml", "replicas: 3\n" },
                { NULL, NULL },
        };

        return archive_of(&s->sim.arena, name, files);
}

static const char *push(struct scene *s, const char *version)
{
        char tag[64];

        snprintf(tag, sizeof(tag), "%s", version);
        for (char *plus = tag; (plus = strchr(plus, '+'));)
                *plus = '_';
        return sim_chart(&s->sim, WHERE, tag, NULL, chart_of(s, "podinfo", version, "replicas: 1\n"));
}

static void begin(struct rig *r, struct scene *s)
{
        *s = (struct scene){ .rig = r };
        begin_sources(r, &s->fleet, &s->web);
        sim_begin(&s->sim, r->net, "reg.example", "auth.example", NULL);
        add_repository(r, "\"type\":\"oci\",\"url\":\"oci://reg.example/charts\"");
}

static void end(struct scene *s)
{
        sim_end(&s->sim);
        end_sources(s->rig, &s->fleet, &s->web);
}

static void add_chart(struct scene *s, const char *spec)
{
        AUTO_FREE char *body = mem_printf(
                "{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"HelmChart\",\"metadata\":"
                "{\"name\":\"podinfo\"},\"spec\":{\"chart\":\"podinfo\",\"interval\":\"5m\","
                "\"sourceRef\":{\"kind\":\"HelmRepository\",\"name\":\"podinfo\"}%s}}",
                spec);

        if (rig_post(s->rig, CHARTS, body) != 201)
                fail_msg("%s", s->rig->text);
        rig_settle(s->rig);
}

static void add_secret(struct scene *s, const char *name, const char *type, const char *data)
{
        AUTO_FREE char *body = mem_printf(
                "{\"metadata\":{\"name\":\"%s\"},\"type\":\"%s\",\"stringData\":{%s}}", name, type, data);

        if (rig_post(s->rig, "/api/v1/namespaces/apps/secrets", body) != 201)
                fail_msg("%s", s->rig->text);
}

static void run_again(struct scene *s, const char *when)
{
        AUTO_FREE char *patch = mem_printf(
                "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"%s\"}}}", when);

        merge_and_settle(s->rig, CHART, patch);
}

static struct slice kept(struct scene *s, const char *path)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        char *bytes = arena_alloc(&s->rig->arena, 1 << 20);
        size_t n;

        assert_int_equal(volume_open_file(s->web.options.volume, path, &file, NULL), 0);
        assert_int_equal(volume_read(file, 0, bytes, 1 << 20, &n, NULL), 0);
        return (struct slice){ bytes, n };
}

static bool has_told(const struct scene *s, const char *words)
{
        return sim_times(&s->sim, words) > 0;
}

/* ---- which version ---- */

/* spec/helm-chart.md checklist 77 */
RIG_TEST(a_version_in_three_parts_is_not_looked_for, {
        struct scene s;

        begin(r, &s);
        const char *digest = push(&s, "1.0.0");

        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '1.0.0'");
        assert_false(has_told(&s, "/tags/list"));
        assert_true(
                slice_equal(kept(&s, FILE_OF("1.0.0")), chart_of(&s, "podinfo", "1.0.0", "replicas: 1\n")));
        assert_string_equal(
                json_string_value(json_object_get(doc_get_object(r->answer, "status.artifact.metadata"),
                                                  METADATA_MANIFEST)),
                digest);
        assert_null(doc_get(r->answer, "status.observedSourceArtifactRevision"));
        end(&s);
})

/* spec/helm-chart.md checklist 76, 77 */
RIG_TEST(a_range_takes_the_highest_tag, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        push(&s, "1.2.0+b1");
        sim_tag(&s.sim, WHERE, "v1.9.0", "sha256:0");
        sim_tag(&s.sim, WHERE, "1.9", "sha256:0");
        sim_tag(&s.sim, WHERE, "latest", "sha256:0");
        sim_tag(&s.sim, WHERE, "1.3.0-rc.1", "sha256:0");
        sim_tag(&s.sim, WHERE, "2.0.0", "sha256:0");
        s.sim.page = 2;
        add_chart(&s, ",\"version\":\"1.x\"");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '1.2.0+b1'");
        assert_true(has_told(&s, "HEAD reg.example/v2/charts/podinfo/manifests/1.2.0_b1\n"));
        end(&s);
})

/* spec/helm-chart.md checklist 77 */
RIG_TEST(a_range_that_nothing_matches_is_tried_at_the_interval, {
        static const char text[] =
                "chart pull error: failed to get chart version for remote reference: could not "
                "locate a version matching provided version string 9.x";
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        add_chart(&s, ",\"version\":\"9.x\"");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError", text);
        assert_condition(r, CHART, "Ready", "False", "ChartPullError", text);
        assert_string_equal(part_of_condition(r, "Stalled", "status"), "absent");
        pass_time(r, 4 * MINUTE_MS);
        assert_int_equal(sim_times(&s.sim, "/tags/list"), 1);
        push(&s, "9.1.0");
        pass_time(r, 2 * MINUTE_MS);
        assert_int_equal(sim_times(&s.sim, "/tags/list"), 2);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_string_equal(part_of_condition(r, "FetchFailed", "status"), "absent");
        end(&s);
})

/* spec/helm-chart.md checklist 77 */
RIG_TEST(a_repository_without_versions_is_told, {
        struct scene s;

        begin(r, &s);
        sim_tag(&s.sim, WHERE, "latest", "sha256:0");
        add_chart(&s, "");
        assert_condition(
                r, CHART, "FetchFailed", "True", "ChartPullError",
                "chart pull error: failed to get chart version for remote reference: unable to locate "
                "any tags in provided repository: reg.example/charts/podinfo");
        merge_and_settle(r, CHART, "{\"spec\":{\"chart\":\"none\"}}");
        assert_condition(
                r, CHART, "FetchFailed", "True", "ChartPullError",
                "chart pull error: failed to get chart version for remote reference: could not get tags "
                "for \"none\": could not fetch tags for \"reg.example/charts/none\": GET "
                "\"https://reg.example/v2/charts/none/tags/list\": response status code 404: name "
                "unknown: repository name not known to registry");
        merge_and_settle(r, CHART, "{\"spec\":{\"chart\":\"podinfo\",\"version\":\"1.0.0\"}}");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError",
                         "chart pull error: failed to download chart for remote reference: failed to get '" AT
                         ":1.0.0': GET \"https://reg.example/v2/charts/podinfo/manifests/1.0.0\": response "
                         "status code 404: manifest unknown: manifest unknown");
        end(&s);
})

/* ---- what is pulled ---- */

/* spec/helm-chart.md checklist 82 */
RIG_TEST(a_tag_that_moved_is_noticed, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        run_again(&s, "one");
        assert_int_equal(sim_times(&s.sim, "/blobs/"), 1);
        assert_true(has_event(r, "Normal", "ArtifactUpToDate", "remote revision: '1.0.0'"));
        struct slice other = chart_of(&s, "podinfo", "1.0.0", "replicas: 7\n");
        const char *digest = sim_chart(&s.sim, WHERE, "1.0.0", NULL, other);

        run_again(&s, "two");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_true(slice_equal(kept(&s, FILE_OF("1.0.0")), other));
        assert_string_equal(
                json_string_value(json_object_get(doc_get_object(r->answer, "status.artifact.metadata"),
                                                  METADATA_MANIFEST)),
                digest);
        end(&s);
})

static void move_tag(struct registry_sim *sim, const char *asks)
{
        if (text_starts_with(asks, "HEAD "))
                return;
        sim_tag(sim, WHERE, "1.0.0", sim->ctx);
}

/* spec/helm-chart.md checklist 82 */
RIG_TEST(what_the_tag_led_to_is_pulled_wherever_it_leads_then, {
        struct scene s;

        begin(r, &s);
        const char *digest = push(&s, "1.0.0");

        s.sim.ctx = (void *)(uintptr_t)sim_chart(&s.sim, WHERE, NULL, NULL,
                                                 chart_of(&s, "podinfo", "1.0.0", "evil: true\n"));
        s.sim.asked = move_tag;
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_string_equal(
                json_string_value(json_object_get(doc_get_object(r->answer, "status.artifact.metadata"),
                                                  METADATA_MANIFEST)),
                digest);
        assert_true(
                slice_equal(kept(&s, FILE_OF("1.0.0")), chart_of(&s, "podinfo", "1.0.0", "replicas: 1\n")));
        end(&s);
})

/* spec/helm-chart.md checklist 79 */
RIG_TEST(other_media_types_are_told, {
        static const char prefix[] =
                "chart pull error: failed to download chart for remote reference: failed to get "
                "'" AT ":1.0.0': ";
        struct scene s;

        begin(r, &s);
        sim_chart(&s.sim, WHERE, "1.0.0", "application/x", chart_of(&s, "podinfo", "1.0.0", ""));
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError",
                         arena_printf(&r->arena,
                                      "%smanifest does not contain a layer with mediatype "
                                      "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                                      prefix));
        sim_manifest(
                &s.sim, WHERE, "1.0.0", SIM_OCI_MANIFEST,
                "{\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\"},\"layers\":[]}");
        run_again(&s, "one");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError",
                         arena_printf(&r->arena,
                                      "%scould not load config with mediatype "
                                      "application/vnd.cncf.helm.config.v1+json",
                                      prefix));
        sim_chart(&s.sim, WHERE, "1.0.0", "application/tar+gzip", chart_of(&s, "podinfo", "1.0.0", ""));
        run_again(&s, "two");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        end(&s);
})

/* spec/helm-chart.md checklist 78 */
RIG_TEST(bytes_of_another_digest_are_not_kept, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        s.sim.swaps_bytes = true;
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError", NULL);
        assert_non_null(
                strstr(part_of_condition(r, "FetchFailed", "message"), "the manifest has digest sha256:"));
        assert_false(is_kept(&s.web, FILE_OF("1.0.0")));
        end(&s);
})

/* spec/helm-chart.md checklist 79 */
RIG_TEST(the_archive_is_of_the_chart_that_was_asked_for, {
        struct scene s;

        begin(r, &s);
        sim_chart(&s.sim, WHERE, "1.0.0", NULL, chart_of(&s, "podinfo", "1.0.1", ""));
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(
                r, CHART, "FetchFailed", "True", "ChartPullError",
                "chart pull error: the archive holds chart 'podinfo' with version '1.0.1', asked for was "
                "'podinfo' with version '1.0.0'");
        sim_chart(&s.sim, WHERE, "1.0.0", NULL, chart_of(&s, "other", "1.0.0", ""));
        run_again(&s, "one");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError", NULL);
        s.web.options.chart_bytes = 10;
        push(&s, "1.0.0");
        run_again(&s, "two");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError",
                         "chart pull error: failed to download chart for remote reference: failed to get '" AT
                         ":1.0.0': size of chart 'podinfo' exceeds '10' bytes limit");
        end(&s);
})

RIG_TEST(a_chart_may_be_in_a_folder_of_its_repository, {
        struct scene s;

        begin(r, &s);
        sim_chart(&s.sim, "charts/team/podinfo", "1.0.0", NULL, chart_of(&s, "podinfo", "1.0.0", ""));
        add_chart(&s, ",\"version\":\"1.0.0\"");
        merge_and_settle(r, CHART, "{\"spec\":{\"chart\":\"team/podinfo\"}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '1.0.0'");
        run_again(&s, "one");
        assert_int_equal(sim_times(&s.sim, "/blobs/"), 1);
        end(&s);
})

RIG_TEST(values_files_are_merged_into_what_was_pulled, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        add_chart(&s, ",\"version\":\"1.0.0\",\"valuesFiles\":[\"values-prod.yaml\"]");
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded",
                         "packaged 'podinfo' chart with version '1.0.0+1' and merged values files "
                         "[values-prod.yaml]");
        run_again(&s, "one");
        assert_int_equal(sim_times(&s.sim, "/blobs/"), 1);
        end(&s);
})

static void put_signature(struct scene *s, EVP_PKEY *key, const char *digest)
{
        struct arena *arena = &s->sim.arena;
        struct signature what = signed_by(arena, key, digest);
        const char *tag = arena_printf(arena, "sha256-%s.sig", digest + strlen("sha256:"));

        sim_manifest(&s->sim, WHERE, tag, SIM_OCI_MANIFEST,
                     arena_printf(arena,
                                  "{\"config\":{},\"layers\":[{\"mediaType\":\"" SIGNATURE_LAYER_TYPE
                                  "\",\"digest\":\"%s\",\"size\":%zu,\"annotations\":{"
                                  "\"dev.cosignproject.cosign/signature\":\"%s\"}}]}",
                                  sim_blob(&s->sim, WHERE, what.payload), what.payload.len, what.value));
}

/* spec/helm-chart.md checklist 82, 83, 84, 85 */
RIG_TEST(only_what_is_signed_is_pulled, {
        struct scene s;

        begin(r, &s);
        const char *digest = push(&s, "1.0.0");
        EVP_PKEY *key = kept_key(&s.sim.arena, EVP_EC_gen("P-256"));
        AUTO_JSON json_t *keys =
                secret_with((const char *[]){ "cosign.pub", pem_of_key(&s.sim.arena, key), NULL });

        put_signature(&s, key, digest);
        json_object_set_new(keys, "metadata", json_pack("{s:s}", "name", "keys"));
        AUTO_BUF struct buf body;

        buf_init(&body, 1 << 16);
        doc_write(keys, &body);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/apps/secrets", body.data), 201);
        add_chart(&s, ",\"version\":\"1.0.0\",\"verify\":{\"provider\":\"cosign\",\"secretRef\":{\"name\":"
                      "\"keys\"}}");
        assert_condition(r, CHART, "SourceVerified", "True", "Succeeded",
                         "verified signature of version 1.0.0");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        struct slice other = chart_of(&s, "podinfo", "1.0.0", "evil: true\n");

        sim_chart(&s.sim, WHERE, "1.0.0", NULL, other);
        run_again(&s, "one");
        assert_condition(r, CHART, "SourceVerified", "False", "VerificationError",
                         "chart verification error: failed to verify reg.example/charts/podinfo:1.0.0: no "
                         "signatures found");
        assert_condition(r, CHART, "BuildFailed", "True", "ChartVerificationError", NULL);
        assert_condition(r, CHART, "Ready", "False", "VerificationError", NULL);
        assert_false(slice_equal(kept(&s, FILE_OF("1.0.0")), other));
        merge_and_settle(r, CHART, "{\"spec\":{\"verify\":null}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_string_equal(part_of_condition(r, "SourceVerified", "status"), "absent");
        assert_true(slice_equal(kept(&s, FILE_OF("1.0.0")), other));
        end(&s);
})

/* ---- who asks ---- */

#define DOCKER_CONFIG(host)                                                                                  \
        "\".dockerconfigjson\":\"{\\\"auths\\\":{\\\"" host                                                  \
        "\\\":{\\\"username\\\":\\\"ann\\\",\\\"password\\\":\\\"pw\\\"}}}\""

/* spec/helm-chart.md checklist 70, 73 */
RIG_TEST(a_wrong_password_is_told_and_a_mended_one_is_taken, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        s.sim.login = SIM_BEARER;
        s.sim.basic = "Basic YW5uOnB3";
        add_secret(&s, "login", "Opaque", "\"username\":\"ann\",\"password\":\"wrong-one\"");
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"secretRef\":{\"name\":\"login\"}}}");
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(
                r, CHART, "FetchFailed", "True", "AuthenticationFailed",
                "failed to authenticate with the Helm repository: failed to get '" AT
                ":1.0.0': GET \"https://auth.example/token\": response status code 401: unauthorized: "
                "incorrect username or password");
        assert_null(strstr(r->text, "wrong-one"));
        merge(r, "/api/v1/namespaces/apps/secrets/login", "{\"stringData\":{\"password\":\"pw\"}}");
        pass_time(r, 2 * MINUTE_MS);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        end(&s);
})

/* spec/helm-chart.md checklist 72 */
RIG_TEST(docker_configs_lend_the_credentials_of_their_host, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        s.sim.login = SIM_BASIC;
        s.sim.basic = "Basic YW5uOnB3";
        add_secret(&s, "login", "kubernetes.io/dockerconfigjson", DOCKER_CONFIG("reg.example"));
        add_secret(&s, "other", "kubernetes.io/dockerconfigjson", DOCKER_CONFIG("other.example"));
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"secretRef\":{\"name\":\"other\"}}}");
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(r, CHART, "FetchFailed", "True", "AuthenticationFailed",
                         "no auth config for 'reg.example' in the docker-registry Secret 'apps/other'");
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"secretRef\":{\"name\":\"login\"}}}");
        run_again(&s, "one");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        end(&s);
})

/* spec/helm-chart.md checklist 74 */
RIG_TEST(a_repository_of_type_oci_keeps_nothing, {
        struct scene s;

        begin(r, &s);
        assert_int_equal(rig_get(r, REPOSITORY), 200);
        assert_null(doc_get(r->answer, "metadata.finalizers"));
        assert_null(doc_get(r->answer, "status.conditions"));
        push(&s, "1.0.0");
        add_chart(&s, ",\"version\":\"1.0.0\"");
        int passes = passes_of(&s.fleet, "helmchart");

        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"timeout\":\"10s\"}}");
        assert_int_equal(passes_of(&s.fleet, "helmchart"), passes);
        assert_int_equal(rig_get(r, REPOSITORY), 200);
        assert_null(doc_get(r->answer, "status.conditions"));
        end(&s);
})

RIG_TEST(what_is_no_registry_stalls, {
        struct scene s;

        begin(r, &s);
        add_chart(&s, ",\"version\":\"1.0.0\"");
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"url\":\"https://reg.example/charts\"}}");
        run_again(&s, "one");
        assert_condition(
                r, CHART, "Stalled", "True", "Failed",
                "failed to construct Helm client: invalid OCI registry URL: https://reg.example/charts");
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"url\":\"oci://reg.example/a b\"}}");
        run_again(&s, "two");
        assert_condition(
                r, CHART, "Stalled", "True", "URLInvalid",
                "invalid Helm repository URL: not an URL such as oci://host/path: 'oci://reg.example/a "
                "b/podinfo'");
        merge_and_settle(r, REPOSITORY,
                         "{\"spec\":{\"url\":\"oci://reg.example/charts/\",\"provider\":\"aws\"}}");
        run_again(&s, "three");
        assert_condition(r, CHART, "Stalled", "True", "InvalidProviderConfiguration",
                         "HelmRepository 'podinfo': spec.provider 'aws' is not acted on: use generic, with "
                         "spec.secretRef");
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"provider\":\"generic\"}}");
        push(&s, "1.0.0");
        run_again(&s, "four");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        merge_and_settle(r, CHART, "{\"spec\":{\"chart\":\"Podinfo\"}}");
        assert_condition(r, CHART, "Stalled", "True", "InvalidChartReference", NULL);
        end(&s);
})

/* spec/helm-chart.md checklist 67 */
RIG_TEST(an_index_may_lead_to_a_registry, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        s.web.body = "apiVersion: v1\nentries:\n  podinfo:\n  - {name: podinfo, version: 1.0.0, urls: ['" AT
                     ":1.0.0']}\n";
        merge_and_settle(r, REPOSITORY,
                         "{\"spec\":{\"type\":\"default\",\"url\":\"https://charts.example/stable\"}}");
        add_chart(&s, "");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '1.0.0'");
        assert_true(has_told(&s, "GET reg.example/v2/charts/podinfo/blobs/sha256:"));
        end(&s);
})

/* spec/helm-chart.md checklist 69 */
RIG_TEST(an_index_that_leads_to_a_registry_lends_credentials_only_where_that_is_said, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        s.sim.login = SIM_BASIC;
        s.sim.basic = s.web.authorized = "Basic YW5uOnB3";
        s.web.body = "apiVersion: v1\nentries:\n  podinfo:\n  - {name: podinfo, version: 1.0.0, urls: ['" AT
                     "']}\n";
        add_secret(&s, "login", "Opaque", "\"username\":\"ann\",\"password\":\"pw\"");
        merge_and_settle(r, REPOSITORY,
                         "{\"spec\":{\"type\":\"default\",\"url\":\"https://charts.example/stable\","
                         "\"secretRef\":{\"name\":\"login\"}}}");
        add_chart(&s, "");
        assert_condition(r, CHART, "FetchFailed", "True", "AuthenticationFailed", NULL);
        assert_false(has_told(&s, "Basic"));
        merge_and_settle(r, REPOSITORY, "{\"spec\":{\"passCredentials\":true}}");
        run_again(&s, "one");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        end(&s);
})

/* spec/helm-chart.md checklist 81 */
RIG_TEST(a_registry_that_wants_more_time_than_there_is_gets_it_before_the_next_run, {
        struct scene s;

        begin(r, &s);
        push(&s, "1.0.0");
        s.sim.failures = 1;
        s.sim.failure_status = 429;
        s.sim.retry_after = "120";
        add_chart(&s, ",\"version\":\"1.0.0\"");
        assert_condition(r, CHART, "FetchFailed", "True", "ChartPullError", NULL);
        pass_time(r, MINUTE_MS + 55000);
        assert_int_equal(sim_times(&s.sim, "HEAD "), 1);
        pass_time(r, 10000);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        end(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_version_in_three_parts_is_not_looked_for),
                cmocka_unit_test(a_range_takes_the_highest_tag),
                cmocka_unit_test(a_range_that_nothing_matches_is_tried_at_the_interval),
                cmocka_unit_test(a_repository_without_versions_is_told),
                cmocka_unit_test(a_tag_that_moved_is_noticed),
                cmocka_unit_test(what_the_tag_led_to_is_pulled_wherever_it_leads_then),
                cmocka_unit_test(other_media_types_are_told),
                cmocka_unit_test(bytes_of_another_digest_are_not_kept),
                cmocka_unit_test(the_archive_is_of_the_chart_that_was_asked_for),
                cmocka_unit_test(a_chart_may_be_in_a_folder_of_its_repository),
                cmocka_unit_test(values_files_are_merged_into_what_was_pulled),
                cmocka_unit_test(only_what_is_signed_is_pulled),
                cmocka_unit_test(a_wrong_password_is_told_and_a_mended_one_is_taken),
                cmocka_unit_test(docker_configs_lend_the_credentials_of_their_host),
                cmocka_unit_test(a_repository_of_type_oci_keeps_nothing),
                cmocka_unit_test(what_is_no_registry_stalls),
                cmocka_unit_test(an_index_may_lead_to_a_registry),
                cmocka_unit_test(an_index_that_leads_to_a_registry_lends_credentials_only_where_that_is_said),
                cmocka_unit_test(a_registry_that_wants_more_time_than_there_is_gets_it_before_the_next_run),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
