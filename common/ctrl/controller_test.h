/* What the tests of the controller frame share: against devcluster on a virtual clock, one controller of
 * member clusters whose reconcile does what a test says. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/intern.h"
#include "common/base/vec.h"
#include "common/ctrl/controller.h"
#include "e2e/devcluster/rig.h"
#include "proto/gen/kinds.h"

#define GROUP "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters"
#define BACKOFF_MAX_MS 40000
#define DEADLINE_MS 20000

struct visit {
        char key[32];
        int64_t at_ms;
        int64_t heartbeat; /* of the object in the cache; -1 = it is not there */
};

struct bench {
        struct rig *rig;
        struct world world;
        struct loopback_faults faults;
        struct kube_client kube;
        struct log log;
        struct metrics *metrics;
        struct intern_table *interns;
        struct fiber_group *group;
        struct manager *manager;
        int run_code;
        struct error run_err;
        VEC(struct visit) visits;
        size_t running, most_running, twice; /* twice: two reconciles of one key at once */
        struct map active;
        bool stalled; /* watches say nothing more */
        bool away;    /* no request gets through */
        bool slow;    /* writes of objects take 2 s to arrive */
        struct outcome (*reconcile)(struct bench *b, struct reconcile *rc);
        int code; /* for fails_once */
        int64_t after_ms;
        uint32_t retry_after_ms;
        struct waitq gate;
        bool open; /* waiting reconciles may go on */
};

/* ---- the controller ---- */

static inline int64_t heartbeat_of(const struct object *o)
{
        return o ? ((const struct member_cluster *)o)->spec->heartbeat_period_seconds.value : -1;
}

static inline struct outcome reconcile(struct reconcile *rc)
{
        struct bench *b = rc->agent;
        struct visit v = { .at_ms = loop_now_ms(b->rig->loop) };
        struct outcome result;
        const struct object *o;

        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, rc->name, &o), 0);
        v.heartbeat = heartbeat_of(o);
        snprintf(v.key, sizeof(v.key), "%s", rc->key);
        assert_int_equal(vec_push(&b->visits, v), 0);
        b->twice += map_has(&b->active, rc->key);
        assert_int_equal(map_put(&b->active, rc->key, b), 0);
        b->running++;
        b->most_running = MAX(b->most_running, b->running);
        result = b->reconcile ? b->reconcile(b, rc) : done();
        b->running--;
        map_remove(&b->active, rc->key);
        return result;
}

static const struct watch member_watches[] = {
        { &member_cluster_kind, ON_SPEC | ON_DELETION, NULL },
};

static const struct controller two_at_a_time = {
        .name = "test",
        .watches = member_watches,
        .n_watches = ARRAY_LEN(member_watches),
        .reconcile = reconcile,
        .concurrency = 2,
        .reconcile_deadline_ms = DEADLINE_MS,
        .backoff_base_ms = 100,
        .backoff_max_ms = BACKOFF_MAX_MS,
};

/* ---- the bench ---- */

static inline int64_t delay(void *ctx, const struct http_request *rq, bool answer)
{
        struct bench *b = ctx;

        if (!answer && b->slow && text_equal(rq->method, "PATCH") && !strstr(rq->path, "/leases"))
                return 2000;
        return answer && rq->priority == HTTP_WATCH && b->stalled ? 3600000 : 0;
}

static inline void install_crds(struct rig *r)
{
        static const char *const names[] = { "memberclusters.cluster.kubernetes-fleet.io",
                                             "internalmemberclusters.cluster.kubernetes-fleet.io" };

        if (rig_get(r, GROUP) == 200)
                return;
        for (size_t i = 0; i < n_crd_texts; i++)
                if (text_in(crd_texts[i].name, names, ARRAY_LEN(names)))
                        assert_int_equal(rig_post(r,
                                                  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                                  crd_texts[i].json),
                                         201);
        rig_settle(r);
}

static inline void make(struct rig *r, const char *name)
{
        char body[256];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"MemberCluster\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"x\"}}}",
                 name);
        assert_int_equal(rig_post(r, GROUP, body), 201);
}

static inline void edit(struct bench *b, const char *name, const char *patch)
{
        char path[128];

        snprintf(path, sizeof(path), GROUP "/%s", name);
        assert_int_equal(rig_merge(b->rig, path, patch), 200);
}

static inline void wait_ms(struct bench *b, int64_t ms)
{
        assert_int_equal(fiber_sleep(b->rig->loop, ms), 0);
}

static inline void open_bench_led(struct rig *r, struct bench *b, struct manager_options o,
                                  const struct controller *c, const struct log_sink *sink)
{
        *b = (struct bench){ .rig = r, .world = r->world, .run_code = 1, .log = { .sink = sink } };
        b->faults = (struct loopback_faults){ .ctx = b, .delay = delay };
        b->world.transport = loopback_transport(r->net, &b->world, &b->faults);
        b->kube = (struct kube_client){
                .world = &b->world, .endpoint = &r->endpoint, .log = &b->log, .field_manager = "test"
        };
        b->metrics = metrics_new(METRIC_OF_BOTH);
        b->interns = intern_table_new();
        b->group = fiber_group_new(r->loop, NULL, "bench");
        map_init(&b->active, MAP_OWN_KEYS, NULL);
        install_crds(r);
        o.component = "test";
        o.world = &b->world;
        o.log = &b->log;
        o.kube = &b->kube;
        o.agent = b;
        o.metrics = b->metrics;
        o.interns = b->interns;
        b->manager = manager_new(&o, b->group, &b->run_err);
        assert_non_null(b->manager);
        assert_int_equal(manager_add_controller(b->manager, c), 0);
}

static inline void open_bench_with(struct rig *r, struct bench *b, bool elect, const struct controller *c,
                                   const struct log_sink *sink)
{
        const struct manager_options o = { .lease_namespace = elect ? "default" : NULL,
                                           .lease_name = elect ? "test" : NULL };

        open_bench_led(r, b, o, c, sink);
}

static inline void open_bench(struct rig *r, struct bench *b, bool elect)
{
        open_bench_with(r, b, elect, &two_at_a_time, NULL);
}

static inline void manager_fiber(void *ctx)
{
        struct bench *b = ctx;

        b->run_code = manager_run(b->manager, &b->run_err);
}

static inline struct fiber *run_manager(struct bench *b)
{
        struct fiber *f = fiber_spawn(b->group, "manager", manager_fiber, b);

        assert_non_null(f);
        wait_ms(b, 500);
        return f;
}

static inline void close_bench(struct bench *b)
{
        if (b->group)
                fiber_group_cancel(b->group);
        wait_ms(b, 1000);
        assert_int_equal(b->twice, 0);
        manager_free(b->manager);
        fiber_group_end(b->group);
        http_transport_free(b->world.transport);
        metrics_free(b->metrics);
        intern_table_free(b->interns);
        map_free(&b->active);
        vec_free(&b->visits);
}
