/* For tests of ClusterObjectSets with a whole member agent. */
#pragma once

#include "member-agent/member_agent_test.h"

#define SETS "/apis/olm.operatorframework.io/v1/clusterobjectsets"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"
#define SECRETS "/api/v1/namespaces/default/secrets"

/* Anew, where it was deleted. */
static inline void install_sets(struct rig *r)
{
        for (size_t i = 0; i < n_crd_texts; i++) {
                if (!text_starts_with(crd_texts[i].name, "clusterobjectsets."))
                        continue;
                on(r, MEMBER);
                if (rig_post(r, CRDS, crd_texts[i].json) != 201)
                        fail_msg("%s: %s", crd_texts[i].name, r->text);
        }
}

/* An agent that has not joined. */
static inline void begin_sets(struct agent *a, struct rig *r)
{
        prepare_clusters(r);
        start(a, r, ":memory:");
}

#define OWNED_BY(name) "'labels':{'olm.operatorframework.io/owner-name':'" name "'}"
#define PHASE(name, objects) "{'name':'" name "','objects':[" objects "]}"
#define INLINE(object) "{'object':" object "}"
#define REF(name, key) "{'ref':{'name':'" name "','namespace':'default','key':'" key "'}}"
#define SET(name, meta, revision, spec, phases)                                                              \
        "{'apiVersion':'olm.operatorframework.io/v1','kind':'ClusterObjectSet','metadata':{'name':'" name    \
        "'," meta "},'spec':{'lifecycleState':'Active','revision':" revision                                 \
        ",'collisionProtection':'Prevent'" spec ",'phases':[" phases "]}}"
#define ARCHIVED "{'spec':{'lifecycleState':'Archived'}}"

static inline const json_t *set_condition_doc(struct rig *r, const char *name, const char *type)
{
        size_t i;
        json_t *c;

        get(r, MEMBER, arena_printf(&r->arena, SETS "/%s", name));
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

/* "True/Succeeded message", "" without the condition. */
static inline const char *set_says(struct rig *r, const char *name, const char *type)
{
        const json_t *c = set_condition_doc(r, name, type);

        return !c ? ""
                  : arena_printf(&r->arena, "%s/%s %s", doc_get_string(c, "status"),
                                 doc_get_string(c, "reason"), or_empty(doc_get_string(c, "message")));
}

/* Until a condition begins so: "True/Succeeded". */
static inline void wait_for_set(struct rig *r, const char *name, const char *type, const char *beginning)
{
        for (int i = 0; i < 6000; i++) {
                if (text_starts_with(set_says(r, name, type), beginning))
                        return;
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        }
        fail_msg("%s %s is \"%s\", not \"%s\"", name, type, set_says(r, name, type), beginning);
}

static inline void assert_set(struct rig *r, const char *name, const char *type, const char *words)
{
        assert_string_equal(set_says(r, name, type), words);
}

static inline void settle(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

static inline uint64_t all_requests(struct rig *r, const char *cluster)
{
        struct devcluster_request_count *at = NULL;
        size_t n = 0;
        uint64_t sum = 0;

        assert_int_equal(devcluster_requests(r->devcluster, cluster, &r->arena, &at, &n), 0);
        for (size_t i = 0; i < n; i++)
                if (!text_equal(at[i].verb, "watch") &&
                    !text_equal(at[i].resource, "clusterobjectsets/status"))
                        sum += at[i].n;
        return sum;
}
