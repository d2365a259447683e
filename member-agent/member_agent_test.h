/* For tests of a whole member agent between two logical clusters, on a simulated loop: the test plays the hub
 * agent and users of the member cluster. Nothing waits in real time. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/devcluster/rig.h"
#include "member-agent/member_agent.h"
#include "proto/gen/kinds.h"

#define HUB "https://dev/clusters/hub"
#define MEMBER "https://dev/clusters/m1"
#define NS "/api/v1/namespaces"
#define WORKS "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/fleet-member-m1/works"
#define IMCS "/apis/cluster.kubernetes-fleet.io/v1beta1/namespaces/fleet-member-m1/internalmemberclusters"
#define APPLIED_WORKS "/apis/placement.kubernetes-fleet.io/v1beta1/appliedworks"

struct agent {
        struct rig *rig;
        struct world world;
        struct http_endpoint hub, member;
        struct member_agent_options options;
        struct fiber_group *group;
        struct log log;
        int result;
        struct error why; /* it ended */
};

/* ---- the two clusters ---- */

static inline void on(struct rig *r, const char *cluster)
{
        r->endpoint.base_url = (char *)(uintptr_t)cluster;
}

/* JSON with single quotes. */
static inline const char *json(struct rig *r, const char *text)
{
        char *copy = arena_strdup(&r->arena, text);

        for (char *c = copy; *c; c++)
                if (*c == '\'')
                        *c = '"';
        return copy;
}

static inline void post(struct rig *r, const char *cluster, const char *path, const char *text)
{
        on(r, cluster);
        if (rig_post(r, path, json(r, text)) != 201)
                fail_msg("POST %s: %d %s", path, r->status, r->text);
}

static inline void merge(struct rig *r, const char *cluster, const char *path, const char *text)
{
        on(r, cluster);
        if (rig_merge(r, path, json(r, text)) != 200)
                fail_msg("PATCH %s: %d %s", path, r->status, r->text);
}

static inline void delete (struct rig *r, const char *cluster, const char *path)
{
        on(r, cluster);
        rig_delete(r, path);
        if (r->status != 200 && r->status != 202)
                fail_msg("DELETE %s: %d %s", path, r->status, r->text);
}

static inline int get(struct rig *r, const char *cluster, const char *path)
{
        on(r, cluster);
        return rig_get(r, path);
}

/* Those that an agent asks for. */
static inline void install_definitions(struct rig *r)
{
        static const char path[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

        for (size_t i = 0; i < n_crd_texts; i++) {
                if (!text_starts_with(crd_texts[i].name, "works.") &&
                    !text_starts_with(crd_texts[i].name, "appliedworks.") &&
                    !text_starts_with(crd_texts[i].name, "clusterobjectsets.") &&
                    !text_starts_with(crd_texts[i].name, "internalmemberclusters."))
                        continue;
                on(r, crd_texts[i].member ? MEMBER : HUB);
                if ((crd_texts[i].hub || crd_texts[i].member) && rig_post(r, path, crd_texts[i].json) != 201)
                        fail_msg("%s: %s", crd_texts[i].name, r->text);
        }
}

/* ---- the agent ---- */

static inline void agent_fiber(void *ctx)
{
        struct agent *a = ctx;

        a->result = member_agent_run(&a->options, &a->why);
        if (a->result != ERR_CANCELLED)
                fprintf(stderr, "agent: %s\n", a->why.text);
}

static inline void start(struct agent *a, struct rig *r, const char *state_path)
{
        *a = (struct agent){ .rig = r };
        a->world = r->world;
        a->world.transport = loopback_transport(r->net, &a->world, NULL);
        a->hub.base_url = (char *)(uintptr_t)HUB;
        a->member.base_url = (char *)(uintptr_t)MEMBER;
        if (getenv("AGENT_LOG"))
                a->log.sink = log_sink_stderr(LOG_TEXT, LOG_DEBUG);
        a->options = (struct member_agent_options){ .world = &a->world,
                                                    .log = &a->log,
                                                    .member_name = "m1",
                                                    .hub = &a->hub,
                                                    .member = &a->member,
                                                    .state_path = state_path,
                                                    .metrics_port = -1,
                                                    .health_port = -1 };
        a->group = fiber_group_new(r->loop, NULL, "agent");
        assert_non_null(fiber_spawn(a->group, "agent", agent_fiber, a));
}

static inline void stop(struct agent *a)
{
        fiber_group_end(a->group);
        assert_int_equal(a->result, ERR_CANCELLED);
        assert_int_equal(a->why.code, ERR_CANCELLED);
        http_transport_free(a->world.transport);
}

/* From now on the agent's requests meet these. */
static inline void meet(struct agent *a, const struct loopback_faults *faults)
{
        http_transport_free(a->world.transport);
        a->world.transport = loopback_transport(a->rig->net, &a->world, faults);
}

/* Requests that take their time to the server: the ctx of faults whose delay is delay_slow. */
#define SLOW_MS 5000

struct slow {
        const char *method, *path; /* path: what theirs begins with */
        unsigned most, n;          /* so many; n have been sent */
};

static inline int64_t delay_slow(void *ctx, const struct http_request *rq, bool answer)
{
        struct slow *slow = ctx;

        if (answer || slow->n >= slow->most || !text_equal(rq->method, slow->method) ||
            !text_starts_with(rq->path, slow->path))
                return 0;
        slow->n++;
        return SLOW_MS;
}

static inline void wait_for_slow(struct rig *r, const struct slow *slow, unsigned n)
{
        for (int i = 0; i < 20000 && slow->n < n; i++)
                assert_int_equal(fiber_sleep(r->loop, 1), 0);
        assert_int_equal(slow->n, n);
}

static inline void prepare_clusters(struct rig *r)
{
        struct error err = { 0 };

        assert_int_equal(devcluster_create_cluster(r->devcluster, "m1", &err), 0);
        install_definitions(r);
        post(r, HUB, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'fleet-member-m1'}}");
}

static inline void invite(struct rig *r)
{
        post(r, HUB, IMCS,
             "{'apiVersion':'cluster.kubernetes-fleet.io/"
             "v1beta1','kind':'InternalMemberCluster','metadata':{'name':'m1'},"
             "'spec':{'state':'Join','heartbeatPeriodSeconds':60}}");
}

/* Polls until the field of an object (path of doc_get, or "type=X" for a condition's reason) has the value.
 */
static inline const char *read_field(struct rig *r, const char *field)
{
        size_t i;
        json_t *c;

        if (!text_starts_with(field, "type="))
                return rig_string(r, field);
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), field + 5))
                        return doc_get_string(c, "reason");
        return "";
}

static inline int64_t wait_for(struct rig *r, const char *cluster, const char *path, const char *field,
                               const char *value)
{
        int64_t begin = loop_now_ms(r->loop);

        for (;;) {
                get(r, cluster, path);
                if (r->status == 200 && text_equal(read_field(r, field), value))
                        return loop_now_ms(r->loop) - begin;
                if (loop_now_ms(r->loop) - begin > 60000)
                        fail_msg("%s %s is \"%s\", not \"%s\": %d %s", path, field, read_field(r, field),
                                 value, r->status, r->text);
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        }
}

static inline void wait_until_gone(struct rig *r, const char *cluster, const char *path)
{
        for (int i = 0; i < 6000 && get(r, cluster, path) != 404; i++)
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        assert_int_equal(r->status, 404);
}

static inline void place(struct rig *r, const char *name, const char *strategy, const char *manifests)
{
        const char *text =
                arena_printf(&r->arena,
                             "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work','metadata':"
                             "{'name':'%s'},'spec':{%s'workload':{'manifests':[%s]}}}",
                             name, strategy, manifests);

        post(r, HUB, WORKS, text);
}

static inline void replace_manifests(struct rig *r, const char *name, const char *manifests)
{
        const char *path = arena_printf(&r->arena, WORKS "/%s", name);

        merge(r, HUB, path, arena_printf(&r->arena, "{'spec':{'workload':{'manifests':[%s]}}}", manifests));
}

/* What the Work's status says of one of its manifests. */
static inline const json_t *manifest_status(struct rig *r, const char *work, size_t i)
{
        get(r, HUB, arena_printf(&r->arena, WORKS "/%s", work));
        return json_array_get(doc_get_array(r->answer, "status.manifestConditions"), i);
}

/* The reason of one of that manifest's conditions; "" = it has none such. */
static inline const char *manifest_reason(struct rig *r, const char *work, size_t manifest, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(manifest_status(r, work, manifest), "conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return doc_get_string(c, "reason");
        return "";
}

static inline uint64_t requests(struct rig *r, const char *cluster, const char *verb, const char *resource)
{
        struct devcluster_request_count *at = NULL;
        size_t n = 0;
        uint64_t sum = 0;

        assert_int_equal(devcluster_requests(r->devcluster, cluster, &r->arena, &at, &n), 0);
        for (size_t i = 0; i < n; i++)
                if (text_equal(at[i].verb, verb) && text_equal(at[i].resource, resource))
                        sum += at[i].n;
        return sum;
}

#define CONFIG_MAP(name, value)                                                                              \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'" name                                    \
        "','namespace':'default'},'data':{'k':'" value "'}}"
#define CONFIG_MAP_PATH(name) "/api/v1/namespaces/default/configmaps/" name
#define DEPLOYMENT                                                                                           \
        "{'apiVersion':'apps/"                                                                               \
        "v1','kind':'Deployment','metadata':{'name':'site','namespace':'default'},'spec':{'replicas':1,"     \
        "'selector':{'matchLabels':{'app':'site'}},'template':{'metadata':{'labels':{'app':'site'}},'spec':" \
        "{'containers':"                                                                                     \
        "[{'name':'c','image':'i'}]}}}}"

/* Begins every test: both clusters, a joined agent. */
static inline void begin(struct agent *a, struct rig *r)
{
        prepare_clusters(r);
        invite(r);
        start(a, r, ":memory:");
}
