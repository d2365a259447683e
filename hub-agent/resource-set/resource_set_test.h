/* For tests of ResourceSets within a whole agent: the set "tenants" in namespace default. */
#pragma once

#include "hub-agent/hub_agent_test.h"
#include "hub-agent/resource-set/testing.h"

#define SETS "/apis/fluxcd.controlplane.io/v1/namespaces/default/resourcesets"
#define SET SETS "/tenants"
#define PROVIDERS "/apis/fluxcd.controlplane.io/v1/namespaces/default/resourcesetinputproviders"
#define MAPS(ns) "/api/v1/namespaces/" ns "/configmaps"
#define HEAD(annotations)                                                                                    \
        "{\"apiVersion\":\"fluxcd.controlplane.io/v1\",\"kind\":\"ResourceSet\",\"metadata\":{\"name\":"     \
        "\"tenants\",\"annotations\":{" annotations "}},\"spec\":{"
#define TENANT(name) "{\"id\":\"" name "\",\"tenant\":\"" name "\"}"
#define NAMESPACE                                                                                            \
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"<< inputs.tenant >>\"}}"
#define CONFIG(data)                                                                                         \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"settings\",\"namespace\":"   \
        "\"<< inputs.tenant >>\"},\"data\":{" data "}}"
#define OBJECTS NAMESPACE "," CONFIG("\"of\":\"<< inputs.tenant >>\"")
#define PLAIN(annotations, inputs, objects)                                                                  \
        HEAD(annotations) "\"inputs\":[" inputs "],\"resources\":[" objects "]}}"

static inline void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        f->resource_sets = true;
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"default\"}}");
        start_again(r, f);
}

static inline void create(struct rig *r, const char *body)
{
        if (rig_post(r, SETS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

/* "Ready/Reason: message" of the set. */
static inline void assert_ready(struct rig *r, const char *status, const char *reason, const char *message)
{
        size_t i;
        json_t *c;

        assert_int_equal(rig_get(r, SET), 200);
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c) {
                if (!text_equal(doc_get_string(c, "type"), "Ready"))
                        continue;
                if (text_equal(doc_get_string(c, "status"), status) &&
                    text_equal(doc_get_string(c, "reason"), reason) &&
                    strstr(doc_get_string(c, "message"), message))
                        return;
        }
        fail_msg("wanted %s/%s %s: %s", status, reason, message,
                 json_of(&r->arena, doc_get(r->answer, "status.conditions")));
}

static inline void assert_inventory(struct rig *r, size_t n)
{
        assert_int_equal(rig_get(r, SET), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.inventory.entries")), n);
}

static inline bool was_told(struct rig *r, const char *reason, const char *words)
{
        size_t i;
        json_t *e;

        rig_get(r, "/api/v1/namespaces/default/events");
        json_array_foreach(json_object_get(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    strstr(doc_get_string(e, "message"), words))
                        return true;
        return false;
}

/* There is no member to pick. */
#define SLOW                                                                                                 \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/"                                                   \
        "v1\",\"kind\":\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"slow\"},"                       \
        "\"spec\":{\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":1},\"resourceSelectors\":[{" \
        "\"group\":\"\",\"version\":\"v1\","                                                                 \
        "\"kind\":\"Namespace\",\"name\":\"app\"}]}}"

/* What providers say is up to the tests. */
#define LEFT_ALONE "\"annotations\":{\"fluxcd.controlplane.io/reconcile\":\"disabled\"}"

static inline void add_provider(struct rig *r, const char *name, const char *inputs, const char *revision)
{
        AUTO_FREE char *path = mem_printf(PROVIDERS "/%s/status", name);
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"fluxcd.controlplane.io/v1\",\"kind\":"
                           "\"ResourceSetInputProvider\",\"metadata\":{\"name\":\"%s\"," LEFT_ALONE "},"
                           "\"spec\":{\"type\":\"Static\"}}",
                           name);
        AUTO_FREE char *status = mem_printf(
                "{\"status\":{\"exportedInputs\":[%s],\"lastExportedRevision\":\"%s\"}}", inputs, revision);

        rig_post(r, PROVIDERS, body);
        rig_settle(r);
        if (revision)
                merge_and_settle(r, path, status);
}
