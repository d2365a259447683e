/* What the tests of update runs within a whole agent share: a placement that only runs roll out on three
 * members, of stages canary and prod, and what a user does. */
#pragma once

#include "hub-agent/hub_agent_test.h"

#define RUNS FLEET "clusterstagedupdateruns"
#define STRATEGIES FLEET "clusterstagedupdatestrategies"
#define REQUESTS FLEET "clusterapprovalrequests"
#define BINDINGS FLEET "clusterresourcebindings"

static inline void post(struct rig *r, const char *path, const char *kind, const char *name, const char *spec)
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

static inline void post_strategy(struct rig *r, const char *stages)
{
        char spec[2048];

        snprintf(spec, sizeof(spec), "\"stages\":[%s]", stages);
        post(r, STRATEGIES, "ClusterStagedUpdateStrategy", "slow", spec);
}

static inline void post_run(struct rig *r, const char *name, const char *index, const char *more)
{
        char spec[1024];

        snprintf(spec, sizeof(spec),
                 "\"placementName\":\"web\",\"stagedRolloutStrategyName\":\"slow\",\"resourceSnapshotIndex\":"
                 "\"%s\"%s",
                 index, more);
        post(r, RUNS, "ClusterStagedUpdateRun", name, spec);
}

/* "True UpdateRunSucceeded" of the run that was read last. */
static inline const char *said(struct rig *r, const char *type, char ret[256])
{
        json_t *c;
        size_t i;

        snprintf(ret, 256, "absent");
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        snprintf(ret, 256, "%s %s", doc_get_string(c, "status"), doc_get_string(c, "reason"));
        return ret;
}

static inline void assert_run(struct rig *r, const char *name, const char *type, const char *expected)
{
        char path[256], got[256];

        snprintf(path, sizeof(path), RUNS "/%s", name);
        assert_int_equal(rig_get(r, path), 200);
        if (!text_equal(said(r, type, got), expected))
                fail_msg("%s of %s: wanted %s, got %s in %s", type, name, expected, got, r->text);
}

/* `more`: of the placement's spec. */
static inline void begin_with(struct rig *r, struct fleet *f, const char *more)
{
        char rest[512];

        snprintf(rest, sizeof(rest), "%s,\"strategy\":{\"type\":\"External\"}", more);
        start(r, f);
        add_member(f, "member-1", "\"stage\":\"canary\"");
        add_member(f, "member-2", "\"stage\":\"prod\"");
        add_member(f, "member-3", "\"stage\":\"prod\"");
        add_app(r);
        place(r, rest);
        rig_settle(r);
}

static inline void begin(struct rig *r, struct fleet *f)
{
        begin_with(r, f, "");
}

#define PICK_FIXED(names) ",\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[" names "]}"

static inline const json_t *condition_at(const json_t *o, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(o, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

static inline const json_t *binding_on(struct rig *r, const char *cluster)
{
        json_t *b;
        size_t i;

        rig_get(r, BINDINGS);
        json_array_foreach(json_object_get(r->answer, "items"), i, b)
                if (text_equal(doc_get_string(b, "spec.targetCluster"), cluster))
                        return b;
        fail_msg("no binding on %s", cluster);
        return NULL;
}

static inline const char *path_of_binding(struct rig *r, const char *cluster, const char *rest, char ret[256])
{
        snprintf(ret, 256, BINDINGS "/%s%s", doc_get_string(binding_on(r, cluster), "metadata.name"), rest);
        return ret;
}

static inline void change_app(struct rig *r, const char *value)
{
        char patch[64];

        snprintf(patch, sizeof(patch), "{\"data\":{\"a\":\"%s\"}}", value);
        assert_int_equal(rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", patch), 200);
        rig_settle(r);
}

static inline void settle_often(struct fleet *f, int n)
{
        for (int i = 0; i < n; i++)
                settle(f);
}

/* As the member's agent, when what was placed is gone. */
static inline void let_go(struct rig *r, const char *cluster)
{
        char path[256];

        snprintf(path, sizeof(path), FLEET "namespaces/fleet-member-%s/works/web-work", cluster);
        merge(r, path, "{\"metadata\":{\"finalizers\":null}}");
}

static inline void approve(struct rig *r, const char *request)
{
        char path[256], body[512], now[RFC3339_SIZE];

        time_format_rfc3339(loop_wall_ms(r->loop), now);
        snprintf(path, sizeof(path), REQUESTS "/%s/status", request);
        snprintf(
                body, sizeof(body),
                "{\"status\":{\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\",\"reason\":\"lgtm\","
                "\"message\":\"lgtm\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":1}]}}",
                now);
        assert_int_equal(rig_merge(r, path, body), 200);
}

#define APPROVAL(when) ",\"" when "StageTasks\":[{\"type\":\"Approval\"}]"

static inline int64_t at_once(void *ctx, const struct http_request *rq, bool answer)
{
        return 0;
}

/* ---- in a namespace ---- */

#define OWN FLEET "namespaces/app/"

/* A placement of one ConfigMap and a strategy of one stage. */
static inline void begin_in_namespace(struct rig *r, struct fleet *f, const char *more)
{
        char stages[256];

        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        post(r, OWN "resourceplacements", "ResourcePlacement", "own",
             "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
             "\"settings\"}],\"strategy\":{\"type\":\"External\"}");
        snprintf(stages, sizeof(stages), "\"stages\":[{\"name\":\"all\",\"labelSelector\":{}%s}]", more);
        post(r, OWN "stagedupdatestrategies", "StagedUpdateStrategy", "slow", stages);
        rig_settle(r);
}

static inline void post_run_in_namespace(struct rig *r, const char *more)
{
        char spec[256];

        snprintf(spec, sizeof(spec), "\"placementName\":\"own\",\"stagedRolloutStrategyName\":\"slow\"%s",
                 more);
        post(r, OWN "stagedupdateruns", "StagedUpdateRun", "first", spec);
}
