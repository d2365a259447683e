/* What the tests of selections within a whole agent share. */
#pragma once

#include "hub-agent/hub_agent_test.h"

#define PLACEMENT FLEET "clusterresourceplacements/web"
#define SNAPSHOTS FLEET "clusterresourcesnapshots"

static inline void post(struct rig *r, const char *path, const char *body)
{
        if (rig_post(r, path, body) != 201)
                fail_msg("%s: %s", path, r->text);
}

static inline void place_selecting(struct rig *r, const char *selectors, const char *more)
{
        char body[2048];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                 "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"web\"},\"spec\":{"
                 "\"resourceSelectors\":[%s]%s}}",
                 selectors, more);
        post(r, FLEET "clusterresourceplacements", body);
        rig_settle(r);
}

static inline void place_in_namespace(struct rig *r, const char *selector)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourcePlacement\","
                 "\"metadata\":{\"name\":\"own\"},\"spec\":{\"resourceSelectors\":[%s]}}",
                 selector);
        post(r, FLEET "namespaces/app/resourceplacements", body);
        rig_settle(r);
}

#define SELECT(group, kind, name)                                                                            \
        "{\"group\":\"" group "\",\"version\":\"v1\",\"kind\":\"" kind "\",\"name\":\"" name "\"}"
#define RBAC "rbac.authorization.k8s.io"

static inline void add_role(struct rig *r, const char *name)
{
        char body[256];

        snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"},\"rules\":[]}", name);
        post(r, "/apis/" RBAC "/v1/clusterroles", body);
}

static inline void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
}
