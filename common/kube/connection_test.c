/* The state of the way to an API server: what is told of it, how often, and how often the server is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kube/connection.h"
#include "common/net/cert.h"
#include "e2e/devcluster/rig.h"

#define NAMESPACES "/api/v1/namespaces"
#define ACCOUNTS NAMESPACES "/default/serviceaccounts"

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };

struct bench {
        struct rig *rig;
        struct world world;
        struct world_files files;
        struct http_endpoint endpoint;
        struct log_sink sink;
        struct log log;
        struct buf said;
        struct fiber_group *group;
        struct kube_client kube;
        struct kube_connection *connection;
        struct kube_connection_change last;
        const char *token, *token_error; /* what the token file holds, or why it cannot be read */
        uint64_t stamp;
        unsigned changes, asked; /* requests that reached the stand-in */
};

static void take_line(void *ctx, const char *line, size_t n)
{
        if (buf_append(&((struct bench *)ctx)->said, line, n) < 0)
                assert_true(mem_fault_fired());
}

static int64_t wall(void *ctx)
{
        return loop_wall_ms(((struct bench *)ctx)->rig->loop);
}

static int read_token(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        struct bench *b = ctx;

        if (b->token_error)
                return error_set(err, b->stamp ? ERR_SYSTEM : ERR_NOT_FOUND, "read %s: %s", path,
                                 b->token_error);
        *ret_len = strlen(b->token);
        *ret = mem_strdup(b->token);
        return *ret ? 0 : error_no_memory(err);
}

static uint64_t token_stamp(void *ctx, const char *path)
{
        return ((struct bench *)ctx)->stamp;
}

static void changed(void *ctx, const struct kube_connection_change *change)
{
        struct bench *b = ctx;

        b->changes++;
        b->last = *change;
}

static void set_up(struct bench *b, struct rig *r, const char *url)
{
        *b = (struct bench){ .rig = r, .endpoint = { .base_url = (char *)url }, .token = "", .stamp = 1 };
        buf_init(&b->said, 1 << 20);
        b->sink = (struct log_sink){ take_line, wall, b, LOG_TEXT, LOG_INFO };
        b->log.sink = &b->sink;
        b->world = r->world;
        b->files = (struct world_files){ .read = read_token, .stamp = token_stamp };
        b->world.files = &b->files;
        b->world.ctx = b;
        b->world.transport = loopback_transport(r->net, &b->world, NULL);
        b->group = fiber_group_new(r->loop, NULL, "test");
        b->kube = (struct kube_client){ .world = &b->world, .endpoint = &b->endpoint, .log = &b->log };
        assert_true(b->world.transport && b->group);
}

static void begin(struct bench *b)
{
        const struct kube_connection_options o = { &b->kube, "hub", "the hub", changed, b };

        b->connection = kube_connection_new(b->group, &o);
        assert_non_null(b->connection);
}

static void tear_down(struct bench *b)
{
        kube_connection_free(b->connection);
        fiber_group_end(b->group);
        http_transport_free(b->world.transport);
        buf_free(&b->said);
}

static size_t times_said(const struct bench *b, const char *what)
{
        size_t n = 0;

        for (const char *at = b->said.data; at && (at = strstr(at, what)); at++)
                n++;
        return n;
}

static void assert_said_once(const struct bench *b, const char *what)
{
        if (times_said(b, what) != 1)
                fail_msg("said \"%s\" %zu times:\n%.4000s", what, times_said(b, what),
                         b->said.data ? b->said.data : "");
}

static void wait_ms(struct bench *b, int64_t ms)
{
        assert_int_equal(fiber_sleep(b->rig->loop, ms), 0);
}

static const char *problem(struct bench *b)
{
        struct buf text;
        const char *copy;

        buf_init(&text, 65536);
        kube_connection_print(b->connection, &text);
        copy = arena_strndup(&b->rig->arena, text.data ? text.data : "", text.len);
        buf_free(&text);
        return copy;
}

/* One call of somebody's, for a thing that is there or not. */
static int call(struct bench *b)
{
        AUTO_JSON json_t *items = NULL;
        struct error err = { 0 };

        return kube_doc_list(&b->kube, &config_maps, "default", NULL, &items, &err);
}

/* ---- stand-ins for the server ---- */

static void answer_html(void *ctx, struct http_exchange *x)
{
        ((struct bench *)ctx)->asked++;
        http_reply(x, 200, "text/html", SLICE("<html>Please log in</html>"), NULL);
}

static void answer_bad_gateway(void *ctx, struct http_exchange *x)
{
        ((struct bench *)ctx)->asked++;
        http_reply(x, 502, "text/html", SLICE("<html>Bad gateway</html>"), NULL);
}

static void answer_old(void *ctx, struct http_exchange *x)
{
        ((struct bench *)ctx)->asked++;
        http_reply(x, 200, "application/json", SLICE("{\"major\":\"1\",\"minor\":\"20+\"}"), NULL);
}

static void answer_text(void *ctx, struct http_exchange *x)
{
        ((struct bench *)ctx)->asked++;
        http_reply(x, 200, "text/plain", SLICE("hello"), NULL);
}

static void answer_elsewhere(void *ctx, struct http_exchange *x)
{
        ((struct bench *)ctx)->asked++;
        http_reply(x, 404, "text/plain", SLICE("404 page not found"), NULL);
}

static void answer_errors(void *ctx, struct http_exchange *x)
{
        ((struct bench *)ctx)->asked++;
        http_reply(x, 500, "application/json",
                   SLICE("{\"kind\":\"Status\",\"reason\":\"InternalError\",\"message\":\"etcd is away\"}"),
                   NULL);
}

static void answer_never(void *ctx, struct http_exchange *x)
{
        struct waitq nobody = { 0 };

        ((struct bench *)ctx)->asked++;
        while (x->ops->wait(x, &nobody, DEADLINE_NONE) == 0)
                ;
}

static void answer_unauthorized(void *ctx, struct http_exchange *x)
{
        ((struct bench *)ctx)->asked++;
        http_reply(x, 401, "application/json",
                   SLICE("{\"kind\":\"Status\",\"reason\":\"Unauthorized\",\"message\":\"Unauthorized\"}"),
                   NULL);
}

struct stand_in {
        const char *words, *reason;
        http_handler_fn answer; /* NULL = nobody listens */
};

static void serve(struct bench *b, http_handler_fn answer, void *ctx)
{
        loopback_listen(b->rig->net, "server", NULL, NULL);
        if (answer)
                assert_int_equal(loopback_listen(b->rig->net, "server", answer, ctx), 0);
}

/* Told once in ten minutes, asked more and more seldom, well within a minute of being mended. */
static void check_stand_in(struct rig *r, const struct stand_in *s)
{
        char line[256], shown[256];
        struct bench b;

        set_up(&b, r, "https://server/clusters/hub");
        serve(&b, s->answer, &b);
        begin(&b);
        wait_ms(&b, 10 * 60000);
        snprintf(line, sizeof(line), "WARN  the hub cannot be used: %s", s->words);
        snprintf(shown, sizeof(shown), "hub: %s\n", s->words);
        assert_said_once(&b, line);
        assert_int_equal(times_said(&b, "\n"), 1);
        assert_string_equal(problem(&b), shown);
        assert_int_equal(b.changes, 1);
        assert_string_equal(b.last.trouble->reason, s->reason);
        assert_false(kube_connection_good(b.connection));
        if (s->answer)
                assert_in_range(b.asked, 15, 45);

        serve(&b, devcluster_handle, r->devcluster);
        assert_int_equal(kube_connection_wait(b.connection, loop_now_ms(r->loop) + 45000), 0);
        assert_said_once(&b, "INFO  the hub can be used");
        assert_int_equal(times_said(&b, "\n"), 2);
        assert_string_equal(problem(&b), "");
        assert_true(b.changes == 2 && b.last.over && b.last.left == 0);
        tear_down(&b);
        serve(&b, NULL, NULL);
}

static void stand_ins_body(struct rig *r)
{
        static const struct stand_in cases[] = {
                { "connection refused", "ConnectionRefused", NULL },
                { "no answer in time", "NoAnswer", answer_never },
                { "the answer is not an API server's", "NotKubernetes", answer_html },
                { "the answer is not an API server's", "NotKubernetes", answer_bad_gateway },
                { "the answer is not an API server's", "NotKubernetes", answer_text },
                { "the answer is not an API server's", "NotKubernetes", answer_elsewhere },
                { "its Kubernetes version is not supported", "VersionUnsupported", answer_old },
                { "the API server answers with errors", "ServerError", answer_errors },
                { "the agent has no credential", "NoCredential", answer_unauthorized },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                check_stand_in(r, &cases[i]);
}

/* ---- credentials ---- */

static const char *new_token(struct rig *r, const char *spec)
{
        char body[256];

        snprintf(body, sizeof(body), "{\"spec\":%s}", spec);
        if (rig_post(r, ACCOUNTS "/agent/token", body) != 201)
                fail_msg("token: %d %s", r->status, r->text);
        return arena_strdup(&r->arena, rig_string(r, "status.token"));
}

/* From a good start: the token becomes bad, somebody makes calls, one line; then a good one comes. */
static void check_credential(struct bench *b, const char *words, const char *detail, const char *good_token)
{
        char line[256];

        for (int i = 0; i < 20; i++) {
                call(b);
                wait_ms(b, 30000);
        }
        snprintf(line, sizeof(line), "WARN  the hub cannot be used: %s", words);
        assert_said_once(b, line);
        assert_said_once(b, detail);
        assert_int_equal(times_said(b, "\n"), 1);
        b->token = good_token;
        b->token_error = NULL;
        b->stamp += 2;
        assert_int_equal(kube_connection_wait(b->connection, loop_now_ms(b->rig->loop) + 45000), 0);
        assert_said_once(b, "INFO  the hub can be used");
        assert_null(strstr(b->said.data, good_token));
        tear_down(b);
}

static void begin_with_token(struct bench *b, struct rig *r, const char *token, const char *error)
{
        set_up(b, r, BASE);
        b->endpoint.bearer_token_file = (char *)"/token";
        b->token = token;
        b->token_error = error;
        begin(b);
}

static void tokens_body(struct rig *r)
{
        struct bench b;
        const char *good, *revoked;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        good = new_token(r, "{\"expirationSeconds\":86400}");
        begin_with_token(&b, r, new_token(r, "{\"audiences\":[\"vault\"],\"expirationSeconds\":86400}"),
                         NULL);
        check_credential(&b, "the agent's token is for another audience",
                         "the token is of system:serviceaccount:default:agent, for vault, good until", good);
        begin_with_token(&b, r, "not-a-jwt", NULL);
        check_credential(&b, "the agent's token is refused", "it is from /token", good);
        begin_with_token(&b, r, "  \n", NULL);
        check_credential(&b, "the token file holds no token", "token file /token: it holds no token", good);
        begin_with_token(&b, r, "", "Permission denied");
        check_credential(&b, "the token file cannot be read", "read /token: Permission denied", good);
        begin_with_token(&b, r, "", "no such file");
        b.stamp = 0;
        check_credential(&b, "the token file does not exist", "read /token: no such file", good);

        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":600}"), NULL);
        assert_int_equal(kube_connection_wait(b.connection, loop_now_ms(r->loop) + 1000), 0);
        wait_ms(&b, 11 * 60000);
        check_credential(&b, "the agent's token has expired", ", ended at 20", good);

        revoked = good;
        begin_with_token(&b, r, revoked, NULL);
        assert_int_equal(kube_connection_wait(b.connection, loop_now_ms(r->loop) + 1000), 0);
        assert_int_equal(rig_delete(r, ACCOUNTS "/agent"), 200);
        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        b.stamp = 0; /* and its file went, too */
        b.token_error = "no such file";
        check_credential(&b, "the agent's token is refused", "its file /token cannot be read any more",
                         new_token(r, "{\"expirationSeconds\":86400}"));
}

static void a_client_certificate_that_ended_is_named(struct rig *r)
{
        static const struct cert_subject subject = { .common_name = "agent" };
        char *ca = NULL, *ca_key = NULL, *cert = NULL, *key = NULL;
        int64_t wall_ms = loop_wall_ms(r->loop);
        struct bench b;

        assert_int_equal(cert_self_signed_ca("ca", wall_ms, 30, &ca, &ca_key, NULL), 0);
        for (int i = 0; i < 3; i++) {
                static const char *const words[] = { "has expired", "is not yet valid", "is refused" };
                static const int days[] = { -10, 10, 0 };
                char line[128];

                assert_int_equal(cert_issue(ca, ca_key, &subject, false,
                                            wall_ms + days[i] * INT64_C(86400000), 3, &cert, &key, NULL),
                                 0);
                set_up(&b, r, "https://server");
                b.endpoint.client_cert_pem = cert;
                b.endpoint.client_key_pem = key;
                serve(&b, answer_unauthorized, &b);
                begin(&b);
                wait_ms(&b, 60000);
                snprintf(line, sizeof(line), "the hub cannot be used: the agent's client certificate %s",
                         words[i]);
                assert_said_once(&b, line);
                tear_down(&b);
                mem_free(cert);
                mem_free(key);
        }
        mem_free(ca);
        mem_free(ca_key);
        loopback_listen(r->net, "server", NULL, NULL);
}

/* ---- rights ---- */

static void allow(struct rig *r)
{
        assert_int_equal(rig_post(r, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                                  "{\"metadata\":{\"name\":\"agent\"},\"roleRef\":{\"apiGroup\":"
                                  "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"view\"},"
                                  "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"agent\","
                                  "\"namespace\":\"default\"}]}"),
                         201);
}

/* Requests that failed once and that nobody makes again. */
static void granted_body(struct rig *r)
{
        AUTO_JSON json_t *nothing = NULL;
        int64_t begun_ms;
        struct bench b;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":86400}"), NULL);
        assert_int_equal(call(&b), ERR_FORBIDDEN);
        assert_int_equal(kube_doc_get(&b.kube, &config_maps, "default", "nothing", &nothing, NULL),
                         ERR_FORBIDDEN);
        wait_ms(&b, 60000);
        assert_int_equal(b.last.left, 2);
        begun_ms = loop_now_ms(r->loop);
        allow(r);
        assert_int_equal(kube_connection_pause(&b.kube, 60000), 0);
        assert_in_range(loop_now_ms(r->loop) - begun_ms, 0, 6000);
        wait_ms(&b, 6000);
        assert_int_equal(times_said(&b, "INFO  the hub: the right is there"), 2);
        assert_string_equal(problem(&b), "");
        assert_true(b.last.left == 0 && b.last.over);
        assert_int_equal(call(&b), 0);
        assert_int_equal(times_said(&b, "\n"), 4);
        tear_down(&b);
}

static void late_right_body(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":86400}"), NULL);
        assert_int_equal(call(&b), ERR_FORBIDDEN);
        wait_ms(&b, 1000);
        assert_int_equal(call(&b), ERR_FORBIDDEN);
        assert_string_equal(problem(&b), "");
        allow(r);
        wait_ms(&b, 1000);
        assert_int_equal(call(&b), 0);
        wait_ms(&b, 10000);
        assert_int_equal(times_said(&b, "right"), 0);
        tear_down(&b);
}

/* Refused while the right was away, and not tried again since: whether it is still away is asked before it is
 * told. */
static void right_meanwhile_body(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":86400}"), NULL);
        assert_int_equal(call(&b), ERR_FORBIDDEN);
        wait_ms(&b, 2000);
        allow(r);
        wait_ms(&b, 10000);
        assert_int_equal(times_said(&b, "right"), 0);
        assert_string_equal(problem(&b), "");
        tear_down(&b);
}

static void rights_body(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":86400}"), NULL);
        for (int i = 0; i < 5; i++) {
                assert_int_equal(call(&b), ERR_FORBIDDEN);
                wait_ms(&b, 1000);
        }
        assert_said_once(&b, "WARN  the hub: a right is missing");
        assert_int_equal(times_said(&b, "\n"), 1);
        assert_string_equal(problem(&b), "hub: a right is missing\n");
        assert_int_equal(times_said(&b, "cannot list resource"), 1);
        assert_true(kube_connection_good(b.connection)); /* the server itself is fine */
        assert_true(b.last.left == 1 && !b.last.over);
        AUTO_JSON json_t *nothing = NULL;
        assert_int_equal(kube_doc_get(&b.kube, &config_maps, "default", "nothing", &nothing, NULL),
                         ERR_FORBIDDEN);
        assert_int_equal(b.last.left, 1);
        wait_ms(&b, 3000);
        for (int i = 0; i < 100 && b.last.left < 2; i++)
                wait_ms(&b, 1);
        assert_int_equal(b.last.left, 2);
        allow(r);
        assert_int_equal(kube_doc_get(&b.kube, &config_maps, "default", "nothing", &nothing, NULL),
                         ERR_NOT_FOUND);
        assert_int_equal(b.last.left, 1); /* also an answer */
        assert_int_equal(call(&b), 0);
        assert_int_equal(times_said(&b, "INFO  the hub: the right is there"), 2);
        assert_int_equal(times_said(&b, "was=\"cannot list resource"), 1);
        assert_string_equal(problem(&b), "");
        assert_true(b.last.left == 0 && b.last.over);
        tear_down(&b);
}

static void ask_for_many(struct bench *b, const char *in, int n)
{
        for (int i = 0; i < n; i++) {
                AUTO_JSON json_t *nothing = NULL;
                char ns[32];

                snprintf(ns, sizeof(ns), "%s-%d", in, i);
                (void)kube_doc_get(&b->kube, &config_maps, ns, "nothing", &nothing, NULL);
        }
}

/* Those of an agent that may do nothing at all, and once more when it uses others; none is left out. */
static void many_rights_body(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":86400}"), NULL);
        ask_for_many(&b, "first", 300);
        wait_ms(&b, 10000);
        assert_int_equal(times_said(&b, "WARN  the hub: a right is missing"), 300);
        allow(r);
        wait_ms(&b, 60000);
        assert_string_equal(problem(&b), "");
        assert_int_equal(times_said(&b, "INFO  the hub: the right is there"), 300);
        assert_int_equal(rig_delete(r, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/agent"), 200);
        ask_for_many(&b, "second", 300);
        wait_ms(&b, 10000);
        assert_int_equal(times_said(&b, "WARN  the hub: a right is missing"), 600);
        ask_for_many(&b, "third", 300);
        wait_ms(&b, 10000);
        assert_int_equal(times_said(&b, "WARN  the hub: a right is missing"), 812);
        assert_int_equal(times_said(&b, "WARN  more rights are missing than are kept in mind"), 88);
        tear_down(&b);
}

/* Without memory the server cannot be asked whether the right is there by now: it is told, once. */
static void right_without_memory_body(struct rig *r)
{
        struct bench b;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":86400}"), NULL);
        assert_int_equal(call(&b), ERR_FORBIDDEN);
        wait_ms(&b, 2900);
        mem_fail_at(1, true);
        wait_ms(&b, 200);
        mem_fail_at(0, false);
        assert_string_equal(problem(&b), "hub: a right is missing\n");
        assert_int_equal(b.changes, 2); /* the first was that the connection is good */
        assert_int_equal(b.last.left, 1);
        allow(r);
        wait_ms(&b, 6000);
        assert_said_once(&b, "INFO  the hub: the right is there");
        assert_string_equal(problem(&b), "");
        tear_down(&b);
}

/* Nobody knows whether it is still missing; what says that it is must not stay for ever. */
static void unused_right_body(struct rig *r)
{
        AUTO_JSON json_t *nothing = NULL;
        struct bench b;

        assert_int_equal(rig_post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"agent\"}}"), 201);
        begin_with_token(&b, r, new_token(r, "{\"expirationSeconds\":86400}"), NULL);
        assert_int_equal(call(&b), ERR_FORBIDDEN);
        wait_ms(&b, 31 * 60000);
        assert_int_equal(b.last.left, 1);
        assert_int_equal(kube_doc_get(&b.kube, &config_maps, "default", "nothing", &nothing, NULL),
                         ERR_FORBIDDEN);
        assert_true(b.last.over && b.last.unused && b.last.left == 0);
        assert_said_once(&b, "INFO  the hub: the right is not used any more");
        assert_said_once(&b, "was=\"cannot list resource");
        assert_string_equal(problem(&b), "");
        wait_ms(&b, 4000);
        assert_true(!b.last.over && b.last.left == 1); /* the other one */
        tear_down(&b);
}

/* ---- what is not worth a line ---- */

static void hiccups_body(struct rig *r)
{
        struct bench b;

        set_up(&b, r, "https://server/clusters/hub");
        serve(&b, devcluster_handle, r->devcluster);
        begin(&b);
        assert_int_equal(kube_connection_wait(b.connection, DEADLINE_NONE), 0);
        for (int i = 0; i < 10; i++) {
                serve(&b, NULL, NULL);
                assert_int_equal(call(&b), ERR_RETRY);
                serve(&b, devcluster_handle, r->devcluster);
                wait_ms(&b, 60000);
        }
        assert_int_equal(b.said.len, 0);
        tear_down(&b);
        serve(&b, NULL, NULL);
}

/* A proxy that lets the question for the version through, and little else. */
static void answer_by_halves(void *ctx, struct http_exchange *x)
{
        struct bench *b = ctx;

        if (text_ends_with(x->path, "/version"))
                devcluster_handle(b->rig->devcluster, x);
        else
                answer_html(ctx, x);
}

static void halves_body(struct rig *r)
{
        struct bench b;

        set_up(&b, r, "https://server/clusters/hub");
        serve(&b, answer_by_halves, &b);
        begin(&b);
        for (int i = 0; i < 3600; i++) {
                call(&b);
                wait_ms(&b, 1000);
        }
        assert_true(times_said(&b, "\n") < 30); /* in an hour */
        tear_down(&b);
        serve(&b, NULL, NULL);
}

/* What fails while the server as such is fine is tried again when its pause is over, and not at once. */
static void halves_pause_body(struct rig *r)
{
        struct bench b;
        int64_t end_ms;
        int tries = 0;

        set_up(&b, r, "https://server/clusters/hub");
        serve(&b, answer_by_halves, &b);
        begin(&b);
        end_ms = loop_now_ms(r->loop) + 600000;
        while (loop_now_ms(r->loop) < end_ms && tries < 1000) {
                call(&b);
                assert_int_equal(kube_connection_pause(&b.kube, 10000), 0);
                tries++;
        }
        assert_in_range(tries, 60, 90);
        tear_down(&b);
        serve(&b, NULL, NULL);
}

/* Who sleeps until the next try is woken by the end of the trouble. */
static void pause_body(struct rig *r)
{
        int64_t begun_ms;
        struct bench b;

        set_up(&b, r, "https://server/clusters/hub");
        begin(&b);
        wait_ms(&b, 5000);
        begun_ms = loop_now_ms(r->loop);
        serve(&b, devcluster_handle, r->devcluster);
        assert_int_equal(kube_connection_pause(&b.kube, 3600000), 0);
        assert_true(loop_now_ms(r->loop) - begun_ms < 31000);
        begun_ms = loop_now_ms(r->loop);
        assert_int_equal(kube_connection_pause(&b.kube, 1000), 0);
        assert_int_equal(loop_now_ms(r->loop) - begun_ms, 1000);
        tear_down(&b);
        serve(&b, NULL, NULL);
}

/* A server that comes and goes: what is not told any more ends a pause all the same. */
static void comes_and_goes_body(struct rig *r)
{
        struct bench b;
        size_t told = 0;

        set_up(&b, r, "https://server/clusters/hub");
        serve(&b, devcluster_handle, r->devcluster);
        begin(&b);
        assert_int_equal(kube_connection_wait(b.connection, DEADLINE_NONE), 0);
        for (int i = 0; i < 6; i++) {
                int64_t begun_ms;

                serve(&b, NULL, NULL);
                for (int k = 0; k < 12; k++) {
                        assert_int_equal(call(&b), ERR_RETRY);
                        wait_ms(&b, 500);
                }
                told = times_said(&b, "cannot be used");
                serve(&b, devcluster_handle, r->devcluster);
                begun_ms = loop_now_ms(r->loop);
                assert_int_equal(kube_connection_pause(&b.kube, 45000), 0);
                assert_in_range(loop_now_ms(r->loop) - begun_ms, 0, 10000);
                assert_int_equal(kube_connection_outages(&b.kube), i + 2);
        }
        assert_in_range(told, 1, 4); /* of six */
        tear_down(&b);
        serve(&b, NULL, NULL);
}

/* Somebody else's answer ends it, too: the question for the version may come much later. */
static void answer_ends_body(struct rig *r)
{
        struct bench b;

        set_up(&b, r, "https://server/clusters/hub");
        serve(&b, devcluster_handle, r->devcluster);
        begin(&b);
        assert_int_equal(kube_connection_wait(b.connection, DEADLINE_NONE), 0);
        for (int i = 0; i < 5; i++) {
                serve(&b, NULL, NULL);
                for (int k = 0; k < 12; k++) {
                        assert_int_equal(call(&b), ERR_RETRY);
                        wait_ms(&b, 500);
                }
                serve(&b, devcluster_handle, r->devcluster);
                if (i < 4)
                        wait_ms(&b, 30000);
        }
        assert_int_equal(kube_connection_outages(&b.kube), 5);
        assert_true(kube_connection_good(b.connection)); /* it was not told */
        assert_int_equal(call(&b), 0);
        assert_int_equal(kube_connection_outages(&b.kube), 6);
        assert_int_equal(call(&b), 0);
        wait_ms(&b, 60000);
        assert_int_equal(kube_connection_outages(&b.kube), 6); /* it was one */
        tear_down(&b);
        serve(&b, NULL, NULL);
}

#define TEST(name, body)                                                                                     \
        static void name(void **state)                                                                       \
        {                                                                                                    \
                rig_run(body);                                                                               \
        }

TEST(whatever_is_in_the_servers_place_is_told_once_and_its_end_too, stand_ins_body)
TEST(a_refused_token_is_explained_and_its_successor_ends_that, tokens_body)
TEST(a_refused_client_certificate_is_explained, a_client_certificate_that_ended_is_named)
TEST(a_right_that_comes_a_moment_after_the_start_is_not_told_of, late_right_body)
TEST(a_right_that_came_meanwhile_is_not_told_of_as_missing, right_meanwhile_body)
TEST(a_right_that_is_there_again_is_found_without_another_try, granted_body)
TEST(a_missing_right_is_told_once_and_does_not_make_the_server_bad, rights_body)
TEST(every_missing_right_is_told_of_however_many, many_rights_body)
TEST(a_missing_right_is_told_of_without_memory_too, right_without_memory_body)
TEST(a_right_that_nobody_uses_any_more_is_told_of_as_such, unused_right_body)
TEST(hiccups_are_not_told, hiccups_body)
TEST(a_proxy_that_answers_by_halves_does_not_fill_the_log, halves_body)
TEST(a_proxy_that_answers_by_halves_does_not_end_a_pause, halves_pause_body)
TEST(a_pause_ends_when_the_server_is_back, pause_body)
TEST(a_pause_ends_after_an_outage_that_was_not_told, comes_and_goes_body)
TEST(an_outage_that_was_not_told_ends_with_any_answer, answer_ends_body)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(whatever_is_in_the_servers_place_is_told_once_and_its_end_too),
                cmocka_unit_test(a_refused_token_is_explained_and_its_successor_ends_that),
                cmocka_unit_test(a_refused_client_certificate_is_explained),
                cmocka_unit_test(a_right_that_comes_a_moment_after_the_start_is_not_told_of),
                cmocka_unit_test(a_right_that_came_meanwhile_is_not_told_of_as_missing),
                cmocka_unit_test(a_right_that_is_there_again_is_found_without_another_try),
                cmocka_unit_test(a_missing_right_is_told_once_and_does_not_make_the_server_bad),
                cmocka_unit_test(every_missing_right_is_told_of_however_many),
                cmocka_unit_test(a_missing_right_is_told_of_without_memory_too),
                cmocka_unit_test(a_right_that_nobody_uses_any_more_is_told_of_as_such),
                cmocka_unit_test(hiccups_are_not_told),
                cmocka_unit_test(a_proxy_that_answers_by_halves_does_not_fill_the_log),
                cmocka_unit_test(a_proxy_that_answers_by_halves_does_not_end_a_pause),
                cmocka_unit_test(a_pause_ends_when_the_server_is_back),
                cmocka_unit_test(a_pause_ends_after_an_outage_that_was_not_told),
                cmocka_unit_test(an_outage_that_was_not_told_ends_with_any_answer),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
