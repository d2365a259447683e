/* What becomes of a run at a registry when there is no memory for one thing in it: spec/helm-chart.md 3.
 * Agent, registry and API server are in one process, so that an allocation of any of them fails. */
#include "hub-agent/registry/registry_test.h"
#include "hub-agent/source/again_test.h"
#include "hub-agent/source/chart/chart_test.h"

#define CHART SOURCES "helmcharts/app"
#define STEP 5

struct scene {
        struct rig *rig;
        struct fleet fleet;
        struct web web;
        struct registry_sim sim;
};

static struct slice chart_of(struct scene *s, const char *name)
{
        const struct test_file files[] = {
                { "Chart.yaml",
                  arena_printf(&s->sim.arena, "apiVersion: v2\nname: %s\nversion: 1.0.0\n", name) },
                { NULL, NULL },
        };

        return archive_of(&s->sim.arena, name, files);
}

static void begin(struct rig *r, struct scene *s)
{
        *s = (struct scene){ .rig = r };
        begin_sources(r, &s->fleet, &s->web);
        sim_begin(&s->sim, r->net, "reg.example", "auth.example", NULL);
        s->sim.login = SIM_BEARER;
        s->sim.basic = "Basic YW5uOnB3";
        assert_int_equal(rig_post(r, "/api/v1/namespaces/apps/secrets",
                                  "{\"metadata\":{\"name\":\"login\"},\"stringData\":{\"username\":\"ann\","
                                  "\"password\":\"pw\"}}"),
                         201);
        add_repository(
                r, "\"type\":\"oci\",\"url\":\"oci://reg.example/libs\",\"secretRef\":{\"name\":\"login\"}");
}

static void end(struct scene *s)
{
        sim_end(&s->sim);
        end_sources(s->rig, &s->fleet, &s->web);
}

static void add_chart(struct scene *s, const char *kind, const char *name)
{
        AUTO_FREE char *body = mem_printf(
                "{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"HelmChart\",\"metadata\":{"
                "\"name\":\"app\"},\"spec\":{\"chart\":\"app\",\"interval\":\"10h\",\"sourceRef\":{"
                "\"kind\":\"%s\",\"name\":\"%s\"}}}",
                kind, name);

        if (rig_post(s->rig, SOURCES "helmcharts", body) != 201)
                fail_msg("%s", s->rig->text);
        rig_settle(s->rig);
}

/* Begins with a run that makes everything anew, with a token that has to be renewed. */
static bool run_without(struct scene *s, uint64_t n)
{
        bool fired;

        assert_int_equal(volume_remove_all(s->web.options.volume, "helmchart", NULL), 0);
        s->sim.tokens++;
        buf_clear(&s->sim.said);
        ask_for_run(s->rig, CHART, n);
        mem_fail_at(n, false);
        fiber_sleep(s->rig->loop, 100);
        fired = mem_fault_fired();
        mem_fail_at(0, false);
        wait_until_right(s->rig, CHART, n);
        return fired;
}

static void assert_right(struct scene *s, const char *reason)
{
        assert_condition(s->rig, CHART, "Ready", "True", reason, NULL);
        assert_true(is_kept(&s->web, "helmchart/apps/app/app-1.0.0.tgz"));
}

static void survives(struct scene *s, const char *reason)
{
        bool fired = true;

        for (uint64_t n = 1; fired; n += STEP) {
                fired = run_without(s, n);
                assert_right(s, reason);
        }
        pass_time(s->rig, LONGEST_PAUSE_MS);
        assert_right(s, reason);
}

/* spec/helm-chart.md checklist 97 */
RIG_TEST(a_run_at_a_registry_survives_each_allocation_that_fails, {
        struct scene s;

        begin(r, &s);
        sim_chart(&s.sim, "libs/app", "1.0.0", NULL, chart_of(&s, "app"));
        add_chart(&s, "HelmRepository", "podinfo");
        survives(&s, "ChartPullSucceeded");
        end(&s);
})

static void add_source(struct scene *s)
{
        static const struct test_file files[] = {
                { "app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n"
                                    "- {name: a, version: 1.x, repository: 'https://charts.example/stable'}\n"
                                    "- {name: b, version: 1.x, repository: 'oci://reg.example/libs'}\n" },
                { NULL, NULL },
        };
        struct slice archive = archive_of(&s->sim.arena, ".", files);
        struct volume_writer *w;

        assert_int_equal(volume_create(s->web.options.volume, "gitrepository/apps/src/a.tar.gz", &w, NULL),
                         0);
        assert_int_equal(volume_append(w, archive.data, archive.len, NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
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

/* spec/helm-chart.md checklist 97 */
RIG_TEST(fetching_dependencies_survives_each_allocation_that_fails, {
        struct scene s;

        begin(r, &s);
        sim_chart(&s.sim, "libs/b", "1.0.0", NULL, chart_of(&s, "b"));
        s.web.body = "apiVersion: v1\nentries:\n  a: [{name: a, version: 1.0.0, urls: [a.tgz]}]\n";
        s.web.files[0] = (struct web_file){ "/stable/a.tgz", chart_of(&s, "a") };
        add_source(&s);
        add_chart(&s, "GitRepository", "src");
        survives(&s, "ChartPackageSucceeded");
        end(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_at_a_registry_survives_each_allocation_that_fails),
                cmocka_unit_test(fetching_dependencies_survives_each_allocation_that_fails),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
