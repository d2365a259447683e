/* What tests of whole hub agents share beside the agents: the fleet's kinds, an application, its placement.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "e2e/devcluster/rig_definitions.h"
#include "hub-agent/hub_agent.h"

#define FLEET "/apis/placement.kubernetes-fleet.io/v1beta1/"
#define CLUSTERS "/apis/cluster.kubernetes-fleet.io/v1beta1/"

static inline void install_kinds(struct rig *r)
{
        static struct rig_definitions kept;

        rig_define(r, &kept, hub_agent_crd);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"fleet-system\"}}");
        rig_settle(r);
}

static inline const char *part_of_condition(struct rig *r, const char *type, const char *part)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, part);
        return "absent";
}

static inline const char *condition_of(struct rig *r, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, "status");
        return "absent";
}

static inline size_t count(struct rig *r, const char *path)
{
        rig_get(r, path);
        return json_array_size(json_object_get(r->answer, "items"));
}

static inline void add_app(struct rig *r)
{
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"app\"}}"), 201);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/app/configmaps",
                                  "{\"metadata\":{\"name\":\"settings\"},\"data\":{\"a\":\"b\"}}"),
                         201);
        rig_settle(r);
}

#define SELECT_APP                                                                                           \
        "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"app\"}" \
        "]"
static inline void place(struct rig *r, const char *rest)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ClusterResourcePlacement\","
                 "\"metadata\":{\"name\":\"web\"},\"spec\":{" SELECT_APP "%s}}",
                 rest);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", body), 201);
}

/* Requests since the last reset, the test's own included. */
static inline uint64_t count_of(struct rig *r, const char *cluster, const char *verb, const char *resource)
{
        struct devcluster_request_count *c;
        uint64_t sum = 0;
        size_t n;

        assert_int_equal(devcluster_requests(r->devcluster, cluster, &r->arena, &c, &n), 0);
        for (size_t i = 0; i < n; i++)
                sum += text_equal(c[i].verb, verb) && text_equal(c[i].resource, resource) ? c[i].n : 0;
        return sum;
}
