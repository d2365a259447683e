/* Agents against a hub that is not what it should be: a proxy that answers HTML, a token that ran out. They
 * say what is wrong, write nothing, and go on by themselves once it is mended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/devcluster/rig.h"
#include "hub-agent/hub_agent.h"
#include "member-agent/member_agent.h"
#include "proto/gen/kinds.h"
#include "proto/object.h"

#define HUB "https://dev/clusters/hub"
#define MEMBER "https://dev/clusters/m1"
#define NAMESPACES "/api/v1/namespaces"
#define ACCOUNTS NAMESPACES "/fleet-member-m1/serviceaccounts"
#define CLUSTERS "/apis/cluster.kubernetes-fleet.io/v1beta1/"
#define IMCS CLUSTERS "namespaces/fleet-member-m1/internalmemberclusters"

struct agent {
        struct rig *rig;
        struct world world;
        struct world_files files;
        struct http_endpoint hub, member;
        struct fiber_group *group;
        struct log_sink sink;
        struct log log;
        struct buf said;
        const char *token; /* what the token file holds */
        uint64_t stamp;
        bool is_hub_agent;
        int result;
};

static void take_line(void *ctx, const char *line, size_t n)
{
        struct agent *a = ctx;
        assert_int_equal(buf_append(&a->said, line, n), 0);
}

static int64_t wall(void *ctx)
{
        return loop_wall_ms(((struct agent *)ctx)->rig->loop);
}

static int read_token(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        struct agent *a = ctx;
        *ret_len = strlen(a->token);
        *ret = mem_strdup(a->token);
        return *ret ? 0 : error_no_memory(err);
}

static uint64_t token_stamp(void *ctx, const char *path)
{
        return ((struct agent *)ctx)->stamp;
}

/* 200 with a page, as login portals and proxies do; every other time a 502. */
static void answer_html(void *ctx, struct http_exchange *x)
{
        unsigned *n = ctx;
        http_reply(x, (*n)++ % 2 ? 502 : 200, "text/html", SLICE("<html><body>Please log in</body></html>"),
                   NULL);
}

static void on(struct rig *r, const char *cluster)
{
        r->endpoint.base_url = (char *)(uintptr_t)cluster;
}

static void post(struct rig *r, const char *path, const char *body)
{
        if (rig_post(r, path, body) != 201)
                fail_msg("POST %s: %d %s", path, r->status, r->text);
}

static void prepare(struct rig *r)
{
        struct error err = { 0 };
        assert_int_equal(devcluster_create_cluster(r->devcluster, "m1", &err), 0);
        for (size_t i = 0; i < n_crd_texts; i++) {
                on(r, crd_texts[i].member ? MEMBER : HUB);
                post(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd_texts[i].json);
        }
        on(r, HUB);
        post(r, NAMESPACES, "{\"metadata\":{\"name\":\"fleet-system\"}}");
}

static void run_agent(void *ctx)
{
        struct agent *a = ctx;
        struct error err = { 0 };
        struct hub_agent_options hub = {
                .world = &a->world, .log = &a->log, .hub = &a->hub, .metrics_port = -1, .health_port = -1
        };
        struct member_agent_options member = { .world = &a->world,
                                               .log = &a->log,
                                               .member_name = "m1",
                                               .hub = &a->hub,
                                               .member = &a->member,
                                               .state_path = ":memory:",
                                               .metrics_port = -1,
                                               .health_port = -1 };
        a->result = a->is_hub_agent ? hub_agent_run(&hub, &err) : member_agent_run(&member, &err);
}

static void start(struct agent *a, struct rig *r, const char *hub_url, bool is_hub_agent)
{
        *a = (struct agent){ .rig = r, .is_hub_agent = is_hub_agent, .token = "", .stamp = 1 };
        buf_init(&a->said, 64u << 20);
        a->sink = (struct log_sink){ take_line, wall, a, LOG_TEXT, LOG_INFO };
        a->log.sink = &a->sink;
        a->world = r->world;
        a->files = (struct world_files){ .read = read_token, .stamp = token_stamp };
        a->world.files = &a->files;
        a->world.ctx = a;
        a->world.transport = loopback_transport(r->net, &a->world, NULL);
        a->hub.base_url = (char *)(uintptr_t)hub_url;
        a->member.base_url = (char *)MEMBER;
        a->group = fiber_group_new(r->loop, NULL, "agent");
        assert_non_null(fiber_spawn(a->group, "agent", run_agent, a));
}

static void stop(struct agent *a)
{
        fiber_group_end(a->group);
        assert_int_equal(a->result, ERR_CANCELLED);
        http_transport_free(a->world.transport);
        buf_free(&a->said);
}

static size_t times_said(const struct agent *a, const char *what)
{
        size_t n = 0;
        for (const char *at = a->said.data; at && (at = strstr(at, what)); at++)
                n++;
        return n;
}

/* True once an object is there and the field of it has that value; polls for two virtual minutes. */
static bool comes(struct rig *r, const char *path, const char *field, const char *value)
{
        for (int i = 0; i < 1200; i++) {
                if (rig_get(r, path) == 200 && text_equal(rig_string(r, field), value))
                        return true;
                assert_int_equal(fiber_sleep(r->loop, 100), 0);
        }
        return false;
}

/* True once the member agent has written its status on the hub. */
static bool reports(struct rig *r)
{
        for (int i = 0; i < 1200; i++) {
                if (rig_get(r, IMCS "/m1") == 200 && doc_get(r->answer, "status.agentStatus"))
                        return true;
                assert_int_equal(fiber_sleep(r->loop, 100), 0);
        }
        return false;
}

/* Starts an agent at a hub of HTML pages, sees it say so and back off; then the real hub stands there. */
static void begin_with_html(struct rig *r, struct agent *a, bool is_hub_agent)
{
        unsigned answers = 0;
        assert_int_equal(loopback_listen(r->net, "html", answer_html, &answers), 0);
        start(a, r, "https://html/clusters/hub", is_hub_agent);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_true(answers > 2);
        answers = 0;
        assert_int_equal(fiber_sleep(r->loop, 10 * 60000), 0);
        /* Each cache asks about every half minute, and so does the connection itself. */
        assert_in_range(answers, 20, is_hub_agent ? 1000 : 100);
        assert_int_equal(times_said(a, "cannot be used: the answer is not an API server's"), 1);
        assert_int_equal(times_said(a, "WARN"), 1);
        loopback_listen(r->net, "html", NULL, NULL);
        assert_int_equal(loopback_listen(r->net, "html", devcluster_handle, r->devcluster), 0);
}

static void invite(struct rig *r)
{
        post(r, NAMESPACES, "{\"metadata\":{\"name\":\"fleet-member-m1\"}}");
        post(r, IMCS,
             "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"InternalMemberCluster\","
             "\"metadata\":{\"name\":\"m1\"},\"spec\":{\"state\":\"Join\",\"heartbeatPeriodSeconds\":60}}");
}

static void member_html(struct rig *r)
{
        struct agent a;
        prepare(r);
        invite(r);
        begin_with_html(r, &a, false);
        rig_get(r, IMCS "/m1");
        assert_null(doc_get(r->answer, "status.agentStatus"));
        assert_true(reports(r));
        stop(&a);
        loopback_listen(r->net, "html", NULL, NULL);
}

static void hub_html(struct rig *r)
{
        struct agent a;
        prepare(r);
        begin_with_html(r, &a, true);
        post(r, CLUSTERS "memberclusters",
             "{\"apiVersion\":\"cluster.kubernetes-fleet.io/"
             "v1beta1\",\"kind\":\"MemberCluster\",\"metadata\":"
             "{\"name\":\"m1\"},\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"u\"}}}");
        assert_true(comes(r, IMCS "/m1", "spec.state", "Join"));
        stop(&a);
        loopback_listen(r->net, "html", NULL, NULL);
}

/* ---- an API server that is too old ---- */

static void answer_old(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        if (text_ends_with(x->path, "/version"))
                http_reply(x, 200, "application/json",
                           SLICE("{\"major\":\"1\",\"minor\":\"20+\",\"gitVersion\":\"v1.20.15\"}"), NULL);
        else
                devcluster_handle(r->devcluster, x);
}

static void hub_old(struct rig *r)
{
        struct agent a;
        prepare(r);
        assert_int_equal(loopback_listen(r->net, "old", answer_old, r), 0);
        start(&a, r, "https://old/clusters/hub", true);
        assert_int_equal(fiber_sleep(r->loop, 300000), 0);
        assert_int_equal(times_said(&a, "is Kubernetes 1.20, older than 1.25"), 1);
        loopback_listen(r->net, "old", NULL, NULL);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(times_said(&a, "cannot be used: connection refused"), 1);
        assert_int_equal(times_said(&a, "WARN"), 2); /* too old, then away: a line each */
        assert_int_equal(loopback_listen(r->net, "old", devcluster_handle, r->devcluster), 0);
        assert_int_equal(fiber_sleep(r->loop, 31000), 0);
        assert_int_equal(times_said(&a, "the hub's API server can be used"), 1);
        stop(&a);
        loopback_listen(r->net, "old", NULL, NULL);
}

/* ---- a token that runs out ---- */

static const char *new_token(struct rig *r)
{
        post(r, ACCOUNTS "/agent/token", "{\"spec\":{\"expirationSeconds\":600}}");
        return arena_strdup(&r->arena, rig_string(r, "status.token"));
}

static const char *heartbeat(struct rig *r)
{
        assert_int_equal(rig_get(r, IMCS "/m1"), 200);
        json_t *one = json_array_get(doc_get_array(r->answer, "status.agentStatus"), 0);
        const char *at = doc_get_string(one, "lastReceivedHeartbeat");
        return arena_strdup(&r->arena, at ? at : "");
}

static void member_token(struct rig *r)
{
        struct agent a;
        prepare(r);
        invite(r);
        post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}");
        post(r, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
             "{\"metadata\":{\"name\":\"agent\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
             "\"kind\":"
             "\"ClusterRole\",\"name\":\"cluster-admin\"},\"subjects\":[{\"kind\":\"ServiceAccount\","
             "\"name\":"
             "\"agent\",\"namespace\":\"fleet-member-m1\"}]}");
        start(&a, r, HUB, false);
        a.hub.bearer_token_file = (char *)"/token";
        a.token = new_token(r);
        assert_true(reports(r));

        assert_int_equal(fiber_sleep(r->loop, 15 * 60000), 0);
        const char *last = heartbeat(r);
        assert_int_equal(fiber_sleep(r->loop, 5 * 60000), 0);
        assert_string_equal(heartbeat(r), last); /* it cannot write any more, and says why */
        assert_int_equal(times_said(&a, "the hub cannot be used: the agent's token has expired"), 1);
        assert_int_equal(times_said(&a, "WARN"), 1);

        a.token = new_token(r);
        a.stamp++;
        assert_int_equal(fiber_sleep(r->loop, 3 * 60000), 0);
        assert_string_not_equal(heartbeat(r), last);
        stop(&a);
}

#define TEST(name, body)                                                                                     \
        static void name(void **state)                                                                       \
        {                                                                                                    \
                rig_run(body);                                                                               \
        }

TEST(a_member_agent_names_a_hub_of_html_pages_and_joins_when_it_is_mended, member_html)
TEST(a_hub_agent_names_a_server_that_is_too_old_once_and_works_when_it_is_not, hub_old)
TEST(a_hub_agent_names_a_hub_of_html_pages_and_works_when_it_is_mended, hub_html)
/* spec/member-agent.md checklist 6 */
TEST(a_member_agent_whose_token_expired_goes_on_with_the_next_one, member_token)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_member_agent_names_a_hub_of_html_pages_and_joins_when_it_is_mended),
                cmocka_unit_test(a_hub_agent_names_a_hub_of_html_pages_and_works_when_it_is_mended),
                cmocka_unit_test(a_hub_agent_names_a_server_that_is_too_old_once_and_works_when_it_is_not),
                cmocka_unit_test(a_member_agent_whose_token_expired_goes_on_with_the_next_one),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
