/* Update runs within a whole agent: a run from end to end, and what happens between the controllers. */
#include "hub-agent/hub_agent_test.h"

#define RUNS FLEET "clusterstagedupdateruns"
#define STRATEGIES FLEET "clusterstagedupdatestrategies"
#define REQUESTS FLEET "clusterapprovalrequests"
#define BINDINGS FLEET "clusterresourcebindings"

static void post(struct rig *r, const char *path, const char *kind, const char *name, const char *spec)
{
        char body[4096];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"%s\",\"metadata\":{"
                 "\"name\":\"%s\"},\"spec\":{%s}}",
                 kind, name, spec);
        if (rig_post(r, path, body) != 201)
                fail_msg("%s: %s", name, r->text);
}

#define STAGE(name, more)                                                                                    \
        "{\"name\":\"" name "\",\"labelSelector\":{\"matchLabels\":{\"stage\":\"" name "\"}}" more "}"

static void post_strategy(struct rig *r, const char *stages)
{
        char spec[2048];

        snprintf(spec, sizeof(spec), "\"stages\":[%s]", stages);
        post(r, STRATEGIES, "ClusterStagedUpdateStrategy", "slow", spec);
}

static void post_run(struct rig *r, const char *name, const char *index, const char *more)
{
        char spec[1024];

        snprintf(spec, sizeof(spec),
                 "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"slow\",\"resourceSnapshotIndex\":"
                 "\"%s\"%s",
                 index, more);
        post(r, RUNS, "ClusterStagedUpdateRun", name, spec);
}

/* "True UpdateRunSucceeded" of the run that was read last. */
static const char *said(struct rig *r, const char *type, char ret[256])
{
        json_t *c;
        size_t i;

        snprintf(ret, 256, "absent");
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        snprintf(ret, 256, "%s %s", doc_get_string(c, "status"), doc_get_string(c, "reason"));
        return ret;
}

static void assert_run(struct rig *r, const char *name, const char *type, const char *expected)
{
        char path[256], got[256];

        snprintf(path, sizeof(path), RUNS "/%s", name);
        assert_int_equal(rig_get(r, path), 200);
        if (!text_equal(said(r, type, got), expected))
                fail_msg("%s of %s: wanted %s, got %s in %s", type, name, expected, got, r->text);
}

static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "\"stage\":\"canary\"");
        add_member(f, "member-2", "\"stage\":\"prod\"");
        add_member(f, "member-3", "\"stage\":\"prod\"");
        add_app(r);
        place(r, ",\"strategy\":{\"type\":\"External\"}");
        rig_settle(r);
}

static void runs(struct rig *r)
{
        struct fleet f;

        begin(r, &f);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        assert_int_equal(count(r, FLEET "works"), 0);
        post_strategy(r, STAGE("canary", "") "," STAGE("prod", ""));
        post_run(r, "first", "0", "");
        for (int i = 0; i < 6; i++)
                settle(&f);
        assert_run(r, "first", "Succeeded", "True UpdateRunSucceeded");
        assert_int_equal(count(r, FLEET "works"), 3);
        stop(&f);
}
static void a_run_without_a_state_brings_its_snapshot_to_all_stages(void **state)
{
        rig_run(runs);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_without_a_state_brings_its_snapshot_to_all_stages),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
