/* Shared by tests of the intake within a whole agent whose way to the server can be bad. */
#pragma once

#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define SNAPSHOTS FLEET "clusterresourcesnapshots"
#define POLICIES FLEET "clusterschedulingpolicysnapshots"
#define BINDINGS FLEET "clusterresourcebindings"

/* `rest`: of the placement's spec, begins with a comma unless it is empty. */
static inline void start_placed(struct rig *r, struct fleet *f, struct line *line, const char *rest)
{
        start(r, f);
        line_lay(f, line);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, rest);
        settle(f);
        settle(f);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
}

static inline void start_on(struct rig *r, struct fleet *f, struct line *line)
{
        start_placed(r, f, line, "");
}

static inline void close_all(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

static inline void find_binding(struct rig *r, char ret_path[256])
{
        rig_get(r, BINDINGS);
        snprintf(ret_path, 256, BINDINGS "/%s",
                 doc_get_string(json_array_get(json_object_get(r->answer, "items"), 0), "metadata.name"));
}

static inline bool is_there(struct rig *r, const char *snapshot)
{
        char path[256];

        snprintf(path, sizeof(path), SNAPSHOTS "/%s", snapshot);
        return rig_get(r, path) == 200;
}

static inline void change_content(struct rig *r, const char *value)
{
        char patch[64];

        snprintf(patch, sizeof(patch), "{\"data\":{\"a\":\"%s\"}}", value);
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", patch);
        assert_int_equal(r->status, 200);
}

static inline void wait_ms(struct rig *r, int64_t ms)
{
        fiber_sleep(r->loop, ms);
        rig_settle(r);
}

/* A group and a policy that another agent made, for what the caches do not show yet. */
#define MADE(kind, name, label, annotations, spec)                                                           \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"" kind                         \
        "\",\"metadata\":{\"name\":\"" name "\",\"labels\":{\"kubernetes-fleet.io/parent-CRP\":\"web\","     \
        "\"kubernetes-fleet.io/" label "\":\"1\",\"kubernetes-fleet.io/is-latest-snapshot\":\"true\"},"      \
        "\"annotations\":{" annotations "}},\"spec\":" spec "}"
static const char made_group[] = MADE("ClusterResourceSnapshot", "web-1-snapshot", "resource-index",
                                      "\"kubernetes-fleet.io/resource-hash\":\"x\","
                                      "\"kubernetes-fleet.io/number-of-resource-snapshots\":\"1\","
                                      "\"kubernetes-fleet.io/number-of-enveloped-object\":\"0\"",
                                      "{\"selectedResources\":[]}");
static const char made_policy[] =
        MADE("ClusterSchedulingPolicySnapshot", "web-1", "policy-index",
             "\"kubernetes-fleet.io/CRP-generation\":\"1\"", "{\"policyHash\":\"eA==\"}");
