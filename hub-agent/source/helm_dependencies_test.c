/* Dependencies of charts' folders in repositories elsewhere, within a whole agent: spec/helm-chart.md 6.3. */
#include "hub-agent/registry/registry_test.h"
#include "hub-agent/source/chart/chart.h"
#include "hub-agent/source/chart/chart_test.h"
#include "hub-agent/source/source_test.h"

#define CHARTS SOURCES "helmcharts"
#define CHART CHARTS "/app"
#define STABLE "https://charts.example/stable"
#define KEPT "helmchart/apps/app/app-1.0.0.tgz"

struct scene {
        struct rig *rig;
        struct fleet fleet;
        struct web web;
        struct registry_sim sim;
};

static struct slice library(struct scene *s, const char *name, const char *version)
{
        const struct test_file files[] = {
                { "Chart.yaml",
                  arena_printf(&s->sim.arena, "apiVersion: v2\nname: %s\nversion: %s\n", name, version) },
                { NULL, NULL },
        };

        return archive_of(&s->sim.arena, name, files);
}

static void write_file(struct scene *s, const char *path, struct slice data)
{
        struct volume_writer *w;

        assert_int_equal(volume_create(s->web.options.volume, path, &w, NULL), 0);
        assert_int_equal(volume_append(w, data.data, data.len, NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
}

/* A source that nobody works on any more, and what it left: a folder app/ with these dependencies. */
static void add_source(struct scene *s, const char *dependencies, const char *lock)
{
        const struct test_file files[] = {
                { "app/Chart.yaml",
                  arena_printf(&s->sim.arena,
                               "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [%s]\n",
                               dependencies) },
                { "local/Chart.yaml", "apiVersion: v2\nname: local\nversion: 0.1.0\n" },
                { lock ? "app/Chart.lock" : NULL, lock },
                { NULL, NULL },
        };

        write_file(s, "gitrepository/apps/src/a.tar.gz", archive_of(&s->sim.arena, ".", files));
        rig_post(s->rig, SOURCES "gitrepositories",
                 "{\"apiVersion\":\"source.toolkit.fluxcd.io/"
                 "v1\",\"kind\":\"GitRepository\",\"metadata\":{\"name\":"
                 "\"src\"},\"spec\":{\"url\":\"https://git.example/"
                 "x\",\"interval\":\"1h\",\"suspend\":true}}");
        assert_int_equal(
                rig_merge(s->rig, SOURCES "gitrepositories/src/status",
                          "{\"status\":{\"artifact\":{\"path\":\"gitrepository/apps/src/"
                          "a.tar.gz\",\"url\":\"x\","
                          "\"digest\":\"sha256:0\",\"lastUpdateTime\":\"2026-01-01T00:00:00Z\",\"revision\":"
                          "\"main@sha1:4e5cbb7b97d0\"}}}"),
                200);
}

static void add_chart(struct scene *s)
{
        if (rig_post(s->rig, CHARTS,
                     "{\"apiVersion\":\"source.toolkit.fluxcd.io/"
                     "v1\",\"kind\":\"HelmChart\",\"metadata\":{\"name\":"
                     "\"app\"},\"spec\":{\"chart\":\"app\",\"interval\":\"5m\",\"sourceRef\":{\"kind\":"
                     "\"GitRepository\",\"name\":\"src\"}}}") != 201)
                fail_msg("%s", s->rig->text);
        rig_settle(s->rig);
}

static void begin(struct rig *r, struct scene *s)
{
        *s = (struct scene){ .rig = r };
        begin_sources(r, &s->fleet, &s->web);
        sim_begin(&s->sim, r->net, "reg.example", "auth.example", NULL);
        s->web.body = "apiVersion: v1\nentries:\n"
                      "  a: [{name: a, version: 1.4.0, urls: [a-1.4.0.tgz]}, {name: a, version: 2.0.0, urls: "
                      "[a-2.tgz]}]\n"
                      "  b: [{name: b, version: 3.0.0, urls: [b-3.0.0.tgz]}]\n";
        s->web.files[0] = (struct web_file){ "/stable/a-1.4.0.tgz", library(s, "a", "1.4.0") };
        s->web.files[1] = (struct web_file){ "/stable/b-3.0.0.tgz", library(s, "b", "3.0.0") };
}

static void end(struct scene *s)
{
        sim_end(&s->sim);
        end_sources(s->rig, &s->fleet, &s->web);
}

/* "a-1.4.0 b-3.0.0": what is in the chart that is kept. */
static const char *subcharts(struct scene *s)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        struct arena *arena = &s->rig->arena;
        char *bytes = arena_alloc(arena, 1 << 20);
        const char *all = "";
        struct chart c;
        size_t n;

        assert_int_equal(volume_open_file(s->web.options.volume, KEPT, &file, NULL), 0);
        assert_int_equal(volume_read(file, 0, bytes, 1 << 20, &n, NULL), 0);
        assert_int_equal(chart_of_archive(arena, (struct slice){ bytes, n }, 1 << 20, &c, NULL), 0);
        for (size_t i = 0; i < c.n_charts; i++)
                all = arena_printf(arena, "%s%s%s-%s", all, i ? " " : "", c.charts[i].metadata.name,
                                   c.charts[i].metadata.version);
        return all;
}

static void is_not_built(struct scene *s, const char *message)
{
        assert_condition(s->rig, CHART, "BuildFailed", "True", "DependencyBuildError", message);
        assert_condition(s->rig, CHART, "Ready", "False", "DependencyBuildError", message);
        assert_string_equal(part_of_condition(s->rig, "Stalled", "status"), "absent");
}

/* spec/helm-chart.md checklist 56, 57 */
RIG_TEST(dependencies_are_fetched_from_repositories_of_both_kinds, {
        struct scene s;

        begin(r, &s);
        sim_chart(&s.sim, "libs/c", "1.1.0", NULL, library(&s, "c", "1.1.0"));
        sim_chart(&s.sim, "libs/c", "1.0.0", NULL, library(&s, "c", "1.0.0"));
        add_source(&s,
                   "{name: a, version: 1.x, repository: '" STABLE
                   "'}, {name: b, version: '*', repository: '" STABLE
                   "/'}, {name: c, version: '>=1.0.0', repository: 'oci://reg.example/libs'}, "
                   "{name: local, version: 0.1.0, repository: 'file://../local'}",
                   NULL);
        add_chart(&s);
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded",
                         "packaged 'app' chart with version '1.0.0'");
        assert_string_equal(subcharts(&s), "a-1.4.0 b-3.0.0 c-1.1.0 local-0.1.0");
        assert_int_equal(s.web.served, 3); /* the index once */
        assert_true(has_event(r, "Normal", "ResolvedDependencies", "resolved 4 chart dependencies"));
        end(&s);
})

/* spec/helm-chart.md checklist 57 */
RIG_TEST(a_lock_says_which_versions_are_wanted, {
        struct scene s;

        begin(r, &s);
        add_source(&s, "{name: a, version: '*', repository: '" STABLE "', alias: other}",
                   "dependencies: [{name: a, version: 1.4.0, repository: '" STABLE "'}]\n");
        add_chart(&s);
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
        assert_string_equal(subcharts(&s), "a-1.4.0");
        end(&s);
})

/* spec/helm-chart.md checklist 56 */
RIG_TEST(a_repository_of_the_namespace_lends_its_secret_and_index, {
        struct scene s;

        begin(r, &s);
        s.web.authorized = "Basic YW5uOnB3";
        s.web.files[0].path = "/open/none.tgz"; /* so that the chart too wants who is authorized */
        s.web.files[1].path = "/stable/b-3.0.0.tgz";
        assert_int_equal(rig_post(r, "/api/v1/namespaces/apps/secrets",
                                  "{\"metadata\":{\"name\":\"login\"},\"stringData\":{\"username\":\"ann\","
                                  "\"password\":\"pw\"}}"),
                         201);
        add_source(&s, "{name: b, version: 3.0.0, repository: '" STABLE "'}", NULL);
        add_chart(&s);
        is_not_built(&s,
                     "dependency build error: failed to add remote dependency 'b': failed to get chart 'b' "
                     "version '3.0.0' from '" STABLE "': failed to fetch " STABLE "/index.yaml : 401 "
                     "Unauthorized");
        add_repository(r, "\"url\":\"" STABLE "/\",\"interval\":\"5m\",\"secretRef\":{\"name\":\"login\"}");
        assert_condition(r, REPOSITORY, "Ready", "True", NULL, NULL);
        s.web.served = 0;
        pass_time(r, 2 * MINUTE_MS);
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
        assert_int_equal(s.web.served, 1);
        assert_string_equal(s.web.said, "/stable/b-3.0.0.tgz Basic YW5uOnB3");
        end(&s);
})

/* spec/helm-chart.md checklist 56, 72 */
RIG_TEST(a_registry_is_asked_with_the_secret_of_its_repository, {
        struct scene s;

        begin(r, &s);
        sim_chart(&s.sim, "libs/c", "1.1.0", NULL, library(&s, "c", "1.1.0"));
        s.sim.login = SIM_BEARER;
        s.sim.basic = "Basic YW5uOnB3";
        add_repository(
                r, "\"type\":\"oci\",\"url\":\"oci://reg.example/libs/\",\"secretRef\":{\"name\":\"login\"}");
        add_source(&s, "{name: c, version: 1.1.0, repository: 'oci://reg.example/libs'}", NULL);
        add_chart(&s);
        is_not_built(&s,
                     "dependency build error: failed to add remote dependency 'c': failed to get chart 'c' "
                     "version '1.1.0' from 'oci://reg.example/libs': failed to get authentication secret "
                     "'apps/login': secrets \"login\" not found");
        assert_int_equal(rig_post(r, "/api/v1/namespaces/apps/secrets",
                                  "{\"metadata\":{\"name\":\"login\"},\"stringData\":{\"username\":\"ann\","
                                  "\"password\":\"pw\"}}"),
                         201);
        pass_time(r, 2 * MINUTE_MS);
        assert_condition(r, CHART, "Ready", "True", "ChartPackageSucceeded", NULL);
        assert_string_equal(subcharts(&s), "c-1.1.0");
        end(&s);
})

/* spec/helm-chart.md checklist 56, 57 */
RIG_TEST(what_cannot_be_got_is_told, {
        static const struct {
                const char *dependency, *message;
        } cases[] = {
                { "{name: a, version: 1.x, repository: '@stable'}",
                  "failed to add remote dependency 'a': aliased repository dependency is not supported: "
                  "@stable" },
                { "{name: a, version: 1.x, repository: 's3://x'}",
                  "failed to add remote dependency 'a': invalid dependency repository URL: s3://x" },
                { "{name: a, version: 9.x, repository: '" STABLE "'}",
                  "failed to add remote dependency 'a': failed to get chart 'a' version '9.x' from '" STABLE
                  "': no 'a' chart with version matching '9.x' found" },
                { "{name: none, version: 9.x, repository: '" STABLE "'}",
                  "failed to add remote dependency 'none': failed to get chart 'none' version '9.x' from "
                  "'" STABLE "': no chart name found" },
                { "{name: c, version: 1.x, repository: 'oci://reg.example/libs'}",
                  "failed to add remote dependency 'c': failed to get chart 'c' version '1.x' from "
                  "'oci://reg.example/libs': could not get tags for \"c\": could not fetch tags for "
                  "\"reg.example/libs/c\": GET \"https://reg.example/v2/libs/c/tags/list\": response status "
                  "code "
                  "404: name unknown: repository name not known to registry" },
        };

        struct scene s;

        begin(r, &s);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                add_source(&s, cases[i].dependency, NULL);
                add_chart(&s);
                is_not_built(&s, arena_printf(&r->arena, "dependency build error: %s", cases[i].message));
                rig_delete(r, CHART);
                rig_settle(r);
        }
        end(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(dependencies_are_fetched_from_repositories_of_both_kinds),
                cmocka_unit_test(a_lock_says_which_versions_are_wanted),
                cmocka_unit_test(a_repository_of_the_namespace_lends_its_secret_and_index),
                cmocka_unit_test(a_registry_is_asked_with_the_secret_of_its_repository),
                cmocka_unit_test(what_cannot_be_got_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
