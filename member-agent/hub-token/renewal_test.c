/* A member's token is renewed on a virtual clock: hub and member are two clusters of a devcluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "e2e/devcluster/rig.h"
#include "member-agent/hub-token/renewal.h"

#define HUB "https://dev/clusters/hub"
#define MEMBER "https://dev/clusters/m1"
#define AWAY "https://away/clusters/hub"
#define ACCOUNTS "/api/v1/namespaces/default/serviceaccounts"
#define SECRETS "/api/v1/namespaces/default/secrets"
#define ROLES "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
#define LIFE_S 1000

struct bench {
        struct rig *rig;
        struct world world;
        struct world_files files;
        struct log_sink sink;
        struct log log;
        struct buf said;
        struct http_endpoint hub, member;
        struct kube_client hub_client, member_client;
        struct token_renewal *renewal;
        struct metrics *metrics;
        struct fiber_group *group;
        char *file; /* NULL = there is none */
        uint64_t stamp;
        bool read_only;
        unsigned asked; /* requests to the hub */
};

/* ---- a disk of one file, and a log ---- */

static int disk_read(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        struct bench *b = ctx;

        if (!b->file)
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        *ret_len = strlen(b->file);
        *ret = mem_strdup(b->file);
        return *ret ? 0 : error_no_memory(err);
}

static int disk_write(void *ctx, const char *path, const void *data, size_t len, struct error *err)
{
        struct bench *b = ctx;

        if (b->read_only)
                return error_set(err, ERR_SYSTEM, "%s: read-only file system", path);
        mem_free(b->file);
        b->file = mem_strndup(data, len);
        b->stamp++;
        return 0;
}

static uint64_t disk_stamp(void *ctx, const char *path)
{
        struct bench *b = ctx;

        return b->file ? b->stamp : 0;
}

static void take_line(void *ctx, const char *line, size_t n)
{
        assert_int_equal(buf_append(&((struct bench *)ctx)->said, line, n), 0);
}

static int64_t wall(void *ctx)
{
        return loop_wall_ms(((struct bench *)ctx)->rig->loop);
}

static void count_request(void *ctx, const struct kube_counted *c)
{
        ((struct bench *)ctx)->asked++;
}

static size_t times_said(const struct bench *b, const char *what)
{
        size_t n = 0;

        for (const char *at = b->said.data; at && (at = strstr(at, what)); at++)
                n++;
        return n;
}

/* ---- clusters ---- */

static void on(struct rig *r, const char *cluster)
{
        r->endpoint.base_url = (char *)(uintptr_t)cluster;
}

static void post(struct rig *r, const char *path, const char *body)
{
        if (rig_post(r, path, body) != 201)
                fail_msg("POST %s: %d %s", path, r->status, r->text);
}

/* The right that the join script gives: to ask for the own account's tokens. */
static void allow_renewal(struct rig *r)
{
        post(r, ROLES "roles",
             "{\"metadata\":{\"name\":\"access\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":"
             "[\"serviceaccounts/token\"],\"resourceNames\":[\"m1-access\"],\"verbs\":[\"create\"]}]}");
        post(r, ROLES "rolebindings",
             "{\"metadata\":{\"name\":\"access\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
             "\"kind\":\"Role\",\"name\":\"access\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":"
             "\"m1-access\",\"namespace\":\"default\"}]}");
}

/* A fresh token, as an administrator asks for it. */
static char *new_token(struct rig *r)
{
        char body[64];

        on(r, HUB);
        snprintf(body, sizeof(body), "{\"spec\":{\"expirationSeconds\":%d}}", LIFE_S);
        post(r, ACCOUNTS "/m1-access/token", body);
        return mem_strdup(rig_string(r, "status.token"));
}

static void set_file(struct bench *b, char *token)
{
        mem_free(b->file);
        b->file = token;
        b->stamp++;
}

static void put_secret(struct bench *b, const char *token)
{
        char body[8192], encoded[4096];

        text_base64_encode(token, strlen(token), encoded);
        snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"hub\"},\"data\":{\"token\":\"%s\"}}",
                 encoded);
        on(b->rig, MEMBER);
        if (rig_get(b->rig, SECRETS "/hub") == 200)
                assert_int_equal(rig_merge(b->rig, SECRETS "/hub", body), 200);
        else
                post(b->rig, SECRETS, body);
        on(b->rig, HUB);
}

/* Whether the hub takes what the file holds. */
static bool hub_takes_file(struct bench *b)
{
        AUTO_FREE char *line = mem_printf("Bearer %s", b->file);

        on(b->rig, HUB);
        return rig_get_with(b->rig, "/version", "Authorization", line) == 200;
}

static void open_bench(struct rig *r, struct bench *b, const char *hub_url, bool allowed)
{
        struct error err = { 0 };

        *b = (struct bench){ .rig = r };
        buf_init(&b->said, 1 << 20);
        b->sink = (struct log_sink){ take_line, wall, b, LOG_TEXT, LOG_INFO };
        b->log.sink = &b->sink;
        b->files = (struct world_files){ .read = disk_read, .write = disk_write, .stamp = disk_stamp };
        b->world = r->world;
        b->world.files = &b->files;
        b->world.ctx = b;
        b->world.transport = loopback_transport(r->net, &b->world, NULL);
        b->hub.base_url = (char *)(uintptr_t)hub_url;
        b->hub.bearer_token_file = (char *)"/token";
        b->member.base_url = (char *)MEMBER;
        b->hub_client = (struct kube_client){ .world = &b->world,
                                              .endpoint = &b->hub,
                                              .log = &b->log,
                                              .count = count_request,
                                              .count_ctx = b };
        b->member_client = (struct kube_client){ .world = &b->world, .endpoint = &b->member, .log = &b->log };
        b->group = fiber_group_new(r->loop, NULL, "bench");
        assert_int_equal(devcluster_create_cluster(r->devcluster, "m1", &err), 0);
        on(r, HUB);
        post(r, ACCOUNTS, "{\"metadata\":{\"name\":\"m1-access\"}}");
        if (allowed)
                allow_renewal(r);
        set_file(b, new_token(r));
}

static struct token_renewal_options options_of(struct bench *b, bool with_secret)
{
        return (struct token_renewal_options){ .hub = &b->hub_client,
                                               .member = &b->member_client,
                                               .metrics = b->metrics,
                                               .log = &b->log,
                                               .path = "/token",
                                               .secret_ns = with_secret ? "default" : NULL,
                                               .secret_name = with_secret ? "hub" : NULL };
}

static void start(struct bench *b, bool with_secret)
{
        const struct token_renewal_options o = options_of(b, with_secret);

        b->renewal = token_renewal_new(b->group, &o);
        assert_non_null(b->renewal);
}

static void close_bench(struct bench *b)
{
        b->renewal = token_renewal_free(b->renewal);
        fiber_group_end(b->group);
        http_transport_free(b->world.transport);
        mem_free(b->file);
        metrics_free(b->metrics);
        buf_free(&b->said);
}

static void pass(struct bench *b, int64_t seconds)
{
        assert_int_equal(fiber_sleep(b->rig->loop, seconds * 1000), 0);
}

/* ---- tests ---- */

static void renewed(struct rig *r)
{
        struct bench b;
        char *first;

        open_bench(r, &b, HUB, true);
        first = mem_strdup(b.file);
        start(&b, false);
        pass(&b, 740);
        assert_string_equal(b.file, first); /* not before three quarters of its life */
        pass(&b, 130);
        assert_string_not_equal(b.file, first);
        pass(&b, 20 * LIFE_S); /* and so on */
        assert_true(hub_takes_file(&b));
        assert_in_range(times_said(&b, "was renewed"), 23, 29);
        assert_string_equal(token_renewal_problem(b.renewal), "");
        mem_free(first);
        close_bench(&b);
}

static void into_secret(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, HUB, true);
        put_secret(&b, b.file);
        b.read_only = true; /* a sidecar brings the Secret's token into the file */
        start(&b, true);
        pass(&b, 870);
        on(r, MEMBER);
        assert_int_equal(rig_get(r, SECRETS "/hub"), 200);
        AUTO_FREE char *plain = mem_calloc(1, 8192);
        size_t n = 0;
        assert_int_equal(text_base64_decode(slice_of(rig_string(r, "data.token")), plain, 8191, &n, false),
                         0);
        assert_string_not_equal(plain, b.file);
        set_file(&b, mem_strdup(plain));
        pass(&b, 400); /* the first one has ended */
        assert_true(hub_takes_file(&b));
        assert_int_equal(times_said(&b, "was renewed"), 1);
        close_bench(&b);
}

/* The hub is away when the renewal is due, and comes back in time. */
static void hub_away(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, AWAY, true);
        start(&b, false);
        pass(&b, 900);
        assert_int_equal(times_said(&b, "cannot be renewed"), 1);
        assert_non_null(strstr(token_renewal_problem(b.renewal), "cannot be renewed"));
        assert_int_equal(loopback_listen(r->net, "away", devcluster_handle, r->devcluster), 0);
        pass(&b, 60);
        assert_int_equal(times_said(&b, "was renewed"), 1);
        assert_string_equal(token_renewal_problem(b.renewal), "");
        loopback_listen(r->net, "away", NULL, NULL);
        close_bench(&b);
}

static void expired(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, AWAY, true);
        put_secret(&b, b.file);
        start(&b, true);
        pass(&b, 5 * LIFE_S); /* a long outage */
        assert_int_equal(times_said(&b, "has expired"), 1);
        assert_in_range(times_said(&b, "cannot be renewed"), 1, 2);
        assert_int_equal(loopback_listen(r->net, "away", devcluster_handle, r->devcluster), 0);
        char *next = new_token(r);
        put_secret(&b, next); /* somebody brings a new one */
        pass(&b, 90);
        assert_string_equal(b.file, next);
        assert_true(hub_takes_file(&b));
        assert_string_equal(token_renewal_problem(b.renewal), "");
        mem_free(next);
        pass(&b, LIFE_S);
        assert_int_equal(times_said(&b, "was renewed"), 1); /* and the agent goes on by itself */
        loopback_listen(r->net, "away", NULL, NULL);
        close_bench(&b);
}

static void forbidden(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, HUB, false);
        start(&b, false);
        pass(&b, 740);
        b.asked = 0;
        pass(&b, LIFE_S);
        assert_int_equal(times_said(&b, "is forbidden"), 1);
        assert_in_range(b.asked, 5, 60); /* no storm */
        set_file(&b, new_token(r));
        pass(&b, 30);
        assert_string_equal(token_renewal_problem(b.renewal), "");
        close_bench(&b);
}

static void foreign(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, HUB, true);
        set_file(&b, mem_strdup("of-another-provider"));
        start(&b, false);
        b.asked = 0;
        pass(&b, 10 * LIFE_S);
        assert_int_equal(b.asked, 0);
        assert_string_equal(b.file, "of-another-provider");
        assert_string_equal(token_renewal_problem(b.renewal), "");
        close_bench(&b);
}

/* Seconds from now on; what is absent counts as 0 since 1970. */
static double seconds_to(struct bench *b, enum metric_id which)
{
        return metric_value(b->metrics, which, NULL) - (double)wall(b) / 1000;
}

static void told_in_metrics(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, HUB, false);
        b.metrics = metrics_new(METRIC_OF_MEMBER);
        start(&b, false);
        pass(&b, 1);
        assert_in_range(seconds_to(&b, METRIC_TOKEN_EXPIRY), LIFE_S - 5, LIFE_S);
        assert_in_range(seconds_to(&b, METRIC_TOKEN_RENEWAL), LIFE_S * 7 / 10, LIFE_S * 9 / 10);
        pass(&b, LIFE_S + 60); /* nobody renews it: both lie in the past */
        assert_true(seconds_to(&b, METRIC_TOKEN_EXPIRY) < 0 &&
                    metric_value(b.metrics, METRIC_TOKEN_EXPIRY, NULL) > 0);
        assert_true(seconds_to(&b, METRIC_TOKEN_RENEWAL) < seconds_to(&b, METRIC_TOKEN_EXPIRY));
        set_file(&b, new_token(r));
        pass(&b, 90);
        assert_true(seconds_to(&b, METRIC_TOKEN_EXPIRY) > 0 && seconds_to(&b, METRIC_TOKEN_RENEWAL) > 0);
        set_file(&b, mem_strdup("of-another-provider"));
        pass(&b, 90);
        assert_true(metric_value(b.metrics, METRIC_TOKEN_EXPIRY, NULL) == 0);
        assert_true(metric_value(b.metrics, METRIC_TOKEN_RENEWAL, NULL) == 0);
        close_bench(&b);
}

static void nowhere_to_store(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, HUB, true);
        b.read_only = true;
        start(&b, false);
        pass(&b, 900);
        assert_int_equal(times_said(&b, "read-only file system"), 1);
        b.read_only = false;
        pass(&b, 90);
        close_bench(&b);
}

static void file_gone(struct rig *r)
{
        struct bench b;
        char *next;

        open_bench(r, &b, HUB, true);
        start(&b, true);
        pass(&b, 60);
        next = new_token(r);
        put_secret(&b, next);
        set_file(&b, NULL);
        pass(&b, 30);
        assert_non_null(b.file);
        assert_string_equal(b.file, next);
        mem_free(next);
        close_bench(&b);
}

static void fetched_at_start(struct rig *r)
{
        struct bench b;
        struct error err = { 0 };

        open_bench(r, &b, HUB, true);
        const struct token_renewal_options o = options_of(&b, true);
        char *token = TAKE_PTR(b.file);
        assert_int_equal(token_fetch(&o, &err), ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, "hub"));
        put_secret(&b, token);
        assert_int_equal(token_fetch(&o, &err), 0);
        assert_string_equal(b.file, token);
        mem_free(token);
        close_bench(&b);
}

/* What somebody else wrote into the Secret. */
static void make_secret(struct bench *b, const char *data)
{
        AUTO_BUF struct buf body;

        buf_init(&body, 1 << 20);
        assert_int_equal(buf_printf(&body, "{\"metadata\":{\"name\":\"hub\"},\"data\":{%s}}", data), 0);
        on(b->rig, MEMBER);
        if (rig_get(b->rig, SECRETS "/hub") == 200)
                assert_int_equal(rig_delete(b->rig, SECRETS "/hub"), 200);
        post(b->rig, SECRETS, body.data);
        on(b->rig, HUB);
}

static void unusable(struct rig *r)
{
        static const struct {
                const char *data, *words;
        } lines[] = { { "", "Secret default/hub has no key \"token\"" },
                      { "\"other\":\"YQ==\"", "Secret default/hub has no key \"token\"" },
                      { "\"token\":\"\"", "Secret default/hub: its key \"token\" is empty" },
                      { "\"token\":\"IAo=\"", "Secret default/hub: its key \"token\" is empty" } };
        struct bench b;

        open_bench(r, &b, HUB, true);
        const struct token_renewal_options o = options_of(&b, true);
        set_file(&b, NULL);
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct error err = { 0 };

                make_secret(&b, lines[i].data);
                assert_int_equal(token_fetch(&o, &err), ERR_INVALID);
                assert_string_equal(err.text, lines[i].words);
                assert_null(b.file);
        }
        close_bench(&b);
}

/* A token is no longer than LIMIT_TOKEN_BYTES, nor is base64 of one than twice that. */
static void too_long(struct rig *r)
{
        size_t n = 2 * LIMIT_TOKEN_BYTES + 4;
        AUTO_FREE char *data = mem_calloc(1, n + 16);
        struct error err = { 0 };
        struct bench b;

        memcpy(data, "\"token\":\"", 9);
        memset(data + 9, 'Y', n);
        data[9 + n] = '"';
        open_bench(r, &b, HUB, true);
        const struct token_renewal_options o = options_of(&b, true);
        set_file(&b, NULL);
        make_secret(&b, data);
        assert_int_equal(token_fetch(&o, &err), ERR_LIMIT);
        assert_string_equal(err.text, "Secret default/hub: the token is too long");
        assert_null(b.file);
        close_bench(&b);
}

static void blank_file(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, HUB, true);
        set_file(&b, mem_strdup(" \n"));
        start(&b, false);
        pass(&b, 60);
        assert_string_equal(token_renewal_problem(b.renewal),
                            "the token for the hub cannot be read: token file /token is empty");
        assert_int_equal(b.asked, 0);
        close_bench(&b);
}

#define TEST(name, body)                                                                                     \
        static void name(void **state)                                                                       \
        {                                                                                                    \
                rig_run(body);                                                                               \
        }

TEST(a_token_is_renewed_before_it_ends_again_and_again, renewed)
TEST(the_new_token_goes_into_the_secret_even_if_the_file_is_somebody_elses, into_secret)
TEST(a_hub_that_is_away_is_asked_again_and_told_of_once, hub_away)
TEST(a_token_that_ended_during_an_outage_is_told_of_once_and_the_secrets_next_one_is_taken, expired)
TEST(a_hub_that_forbids_renewal_is_told_of_once_and_not_stormed, forbidden)
TEST(a_token_of_another_provider_is_left_alone, foreign)
TEST(when_the_token_ends_is_told_in_metrics, told_in_metrics)
TEST(a_token_that_cannot_be_stored_is_told_of_once, nowhere_to_store)
TEST(a_file_that_is_lost_is_made_of_the_secrets_token, file_gone)
TEST(an_agent_without_a_file_takes_the_secrets_token, fetched_at_start)
TEST(a_secret_without_a_token_is_told_by_what_it_lacks_and_writes_no_file, unusable)
TEST(a_token_that_is_too_long_is_none, too_long)
TEST(an_empty_file_is_no_token, blank_file)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_token_is_renewed_before_it_ends_again_and_again),
                cmocka_unit_test(the_new_token_goes_into_the_secret_even_if_the_file_is_somebody_elses),
                cmocka_unit_test(a_hub_that_is_away_is_asked_again_and_told_of_once),
                cmocka_unit_test(
                        a_token_that_ended_during_an_outage_is_told_of_once_and_the_secrets_next_one_is_taken),
                cmocka_unit_test(a_hub_that_forbids_renewal_is_told_of_once_and_not_stormed),
                cmocka_unit_test(a_token_of_another_provider_is_left_alone),
                cmocka_unit_test(when_the_token_ends_is_told_in_metrics),
                cmocka_unit_test(a_token_that_cannot_be_stored_is_told_of_once),
                cmocka_unit_test(a_file_that_is_lost_is_made_of_the_secrets_token),
                cmocka_unit_test(an_agent_without_a_file_takes_the_secrets_token),
                cmocka_unit_test(a_secret_without_a_token_is_told_by_what_it_lacks_and_writes_no_file),
                cmocka_unit_test(a_token_that_is_too_long_is_none),
                cmocka_unit_test(an_empty_file_is_no_token),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
