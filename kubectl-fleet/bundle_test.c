/* kubectl fleet bundle, as who unpacks it sees it. */
#include "common/base/gzip.h"
#include "common/base/limits.h"
#include "common/net/loopback_call.h"
#include "kubectl-fleet/bundle.h"
#include "kubectl-fleet/fleet_test.h"

#define PODS "/api/v1/namespaces/fleet-system/pods"

/* ---- an archive ---- */

struct archive {
        struct buf plain, names; /* names: a line each */
};

static const char *entry(const struct archive *a, const char *name, size_t *ret_len)
{
        for (size_t at = 0; at + 512 <= a->plain.len && a->plain.data[at];) {
                size_t n = strtoul(a->plain.data + at + 124, NULL, 8);

                if (strncmp(a->plain.data + at, name, 100) == 0) {
                        *ret_len = n;
                        return a->plain.data + at + 512;
                }
                at += 512 + (n + 511) / 512 * 512;
        }
        return NULL;
}

static void list_names(struct archive *a)
{
        buf_init(&a->names, 1 << 20);
        for (size_t at = 0; at + 512 <= a->plain.len && a->plain.data[at];) {
                buf_printf(&a->names, "%.100s\n", a->plain.data + at);
                at += 512 + (strtoul(a->plain.data + at + 124, NULL, 8) + 511) / 512 * 512;
        }
}

/* What the last command wrote to standard output. */
static void unpack(struct user *u, struct archive *a)
{
        buf_init(&a->plain, 64 << 20);
        assert_int_equal(gzip_unpack((struct slice){ u->out.data, u->out.len }, &a->plain, NULL), 0);
        list_names(a);
}

static void archive_free(struct archive *a)
{
        buf_free(&a->plain);
        buf_free(&a->names);
}

static void expect_in(const struct archive *a, const char *name, const char *text)
{
        size_t n;
        const char *data = entry(a, name, &n);

        if (!data)
                fail_msg("no %s in\n%s", name, a->names.data);
        if (!memmem(data, n, text, strlen(text)))
                fail_msg("no %s in %.*s", text, (int)MIN(n, (size_t)4000), data);
}

static void expect_nowhere(const struct archive *a, const char *text)
{
        assert_null(memmem(a->plain.data, a->plain.len, text, strlen(text)));
}

/* ---- a hub with something to hide ---- */

static void fill(struct user *u)
{
        store(u, "/api/v1/namespaces", "{'metadata':{'name':'fleet-system'}}");
        store(u, "/api/v1/namespaces", "{'metadata':{'name':'fleet-member-east'}}");
        store(u, "/api/v1/namespaces/fleet-system/secrets",
              "{'metadata':{'name':'hub-token'},'stringData':{'token':'sesame'}}");
        store(u, CLUSTERS "memberclusters",
              "{'apiVersion':'cluster.kubernetes-fleet.io/"
              "v1beta1','kind':'MemberCluster','metadata':{'name':'east'},'spec':"
              "{'identity':{'kind':'User','name':'x'}},'status':{'conditions':[{'type':'Joined','status':'"
              "True','reason':"
              "'MemberClusterJoined','message':'m','lastTransitionTime':'2026-01-01T00:00:00Z'}]}}");
        store(u, FLEET "namespaces/fleet-member-east/works",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'Work','metadata':{'name':'web'},'spec':{'workload':"
              "{'manifests':[{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'web'},'"
              "stringData':{'k':"
              "'sesame'}}]}}}");
}

static void add_pod(struct user *u, int restarts)
{
        store(u, PODS,
              "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'hub-agent-0'},'spec':{'containers':[{'"
              "name':'hub-agent','image':"
              "'x:v1','ports':[{'name':'metrics','containerPort':8080},{'name':'healthz','containerPort':"
              "8081}]}]},'status':"
              "{'containerStatuses':[{'name':'hub-agent','restartCount':%d,'ready':true,'image':'x','imageID'"
              ":'x'}]}}",
              restarts);
}

/* The size that is told is the archive's. */
static void expect_told(struct user *u, size_t bytes)
{
        char size[TEXT_BYTES_SIZE], line[64];

        text_of_bytes(bytes, size);
        snprintf(line, sizeof(line), "standard output: %s, ", size);
        if (!strstr(u->err.data, line))
                fail_msg("no %s in %s", line, u->err.data);
}

USER_TEST(objects_are_in_the_bundle_and_their_secrets_are_not, {
        struct archive a;

        fill(u);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        expect_in(&a, "hub/version.json", "gitVersion");
        expect_in(&a, "hub/objects/memberclusters.cluster.kubernetes-fleet.io/0001.jsonl",
                  "MemberClusterJoined");
        expect_in(&a, "hub/objects/works.placement.kubernetes-fleet.io/0001.jsonl", "<hidden>");
        expect_in(&a, "hub/objects/secrets/0001.jsonl", "\"name\":\"hub-token\"");
        expect_in(&a, "problems.txt", "hub/pods: there are none in the namespace");
        expect_in(&a, "index.json",
                  "{\"path\":\"hub/objects/"
                  "memberclusters.cluster.kubernetes-fleet.io\",\"objects\":1,\"bytes\":");
        expect_nowhere(&a, "sesame");
        expect_nowhere(&a, "c2VzYW1l"); /* in base64 */
        expect_told(u, u->out.len);
        assert_non_null(strstr(u->err.data, "1 could not be read"));
        archive_free(&a);
})

USER_TEST(the_same_fleet_gives_the_same_parts_in_the_same_order, {
        struct archive a;
        struct archive b;

        fill(u);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &b);
        assert_string_equal(a.names.data, b.names.data);
        assert_true(text_ends_with(a.names.data, "\nproblems.txt\nindex.json\n"));
        archive_free(&a);
        archive_free(&b);
})

/* ---- pages ---- */

static void add_works(struct user *u, int first, int n, size_t label_bytes)
{
        AUTO_FREE char *long_text = mem_calloc(1, label_bytes + 1);

        memset(long_text, 'x', label_bytes);
        for (int i = first; i < first + n; i++)
                store(u, FLEET "namespaces/fleet-member-east/works",
                      "{'apiVersion':'placement.kubernetes-fleet.io/"
                      "v1beta1','kind':'Work','metadata':{'name':'w%04d','annotations':"
                      "{'a':'%s'}},'spec':{'workload':{'manifests':[]}}}",
                      i, long_text);
}

USER_TEST(lists_are_read_in_pages_each_a_file_and_cut_where_told, {
        struct archive a;

        fill(u);
        add_works(u, 0, 450, 0);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        expect_in(&a, "hub/objects/works.placement.kubernetes-fleet.io/0001.jsonl", "\"name\":\"w0000\"");
        expect_in(&a, "hub/objects/works.placement.kubernetes-fleet.io/0003.jsonl", "\"name\":\"w0449\"");
        expect_in(&a, "index.json", "works.placement.kubernetes-fleet.io\",\"objects\":451,");
        archive_free(&a);

        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-", "--most-objects", "0"), 0);
        unpack(u, &a);
        expect_in(&a, "index.json", "works.placement.kubernetes-fleet.io\",\"objects\":451,");
        expect_nowhere(&a, "--most-objects");
        archive_free(&a);

        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-", "--most-objects", "250"), 0);
        unpack(u, &a);
        expect_in(&a, "index.json", "works.placement.kubernetes-fleet.io\",\"objects\":250,");
        expect_in(&a, "index.json", "\"cut\":\"201 more are not here (--most-objects)\"");
        archive_free(&a);
})

USER_TEST(pages_shrink_where_objects_are_large, {
        struct archive a;

        fill(u);
        add_works(u, 0, 180, 12000); /* 2 MiB in one page of 200 */
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        expect_in(&a, "index.json", "works.placement.kubernetes-fleet.io\",\"objects\":181,");
        expect_in(&a, "hub/objects/works.placement.kubernetes-fleet.io/0004.jsonl", "\"name\":\"w0179\"");
        archive_free(&a);
})

USER_TEST(pages_grow_again_behind_large_objects, {
        struct archive a;

        fill(u);
        add_works(u, 0, 90, 12000);
        add_works(u, 90, 500, 0);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        expect_in(&a, "index.json", "works.placement.kubernetes-fleet.io\",\"objects\":591,");
        /* 50, 100, 200, 200, 41; without growing it would be 50 each */
        expect_in(&a, "hub/objects/works.placement.kubernetes-fleet.io/0005.jsonl", "\"name\":\"w0589\"");
        archive_free(&a);
})

/* ---- logs and metrics ---- */

struct front {
        struct user *user;
        const char *log; /* NULL: the devcluster's own */
        size_t lines;
        const char *refuses; /* metrics, with this message; NULL = it does not */
        int last_tail;
};

static int tail_of(const char *query)
{
        const char *at = strstr(or_empty(query), "tailLines=");

        return at ? (int)strtol(at + strlen("tailLines="), NULL, 10) : 0;
}

/* The pods' ends that a devcluster has none of. */
static void stand_in_front(void *ctx, struct http_exchange *x)
{
        struct front *f = ctx;
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_RESPONSE_BYTES);
        if (strstr(x->path, "/proxy/metrics") && f->refuses) {
                buf_printf(&b, "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":500,\"message\":\"%s\"}",
                           f->refuses);
                http_reply(x, 500, "application/json", (struct slice){ b.data, b.len }, NULL);
                return;
        }
        if (strstr(x->path, "/proxy/metrics")) {
                http_reply(x, 200, "text/plain", SLICE("up 1\n"), NULL);
                return;
        }
        if (!f->log || !text_ends_with(x->path, "/log")) {
                devcluster_handle(f->user->rig->devcluster, x);
                return;
        }
        f->last_tail = tail_of(x->query);
        for (size_t i = 0; i < MIN(f->lines, (size_t)f->last_tail); i++)
                buf_printf(&b, "%s\n", f->log);
        http_reply(x, 200, "text/plain", (struct slice){ b.data, b.len }, NULL);
}

USER_TEST(pods_give_their_logs_those_before_a_restart_and_their_metrics, {
        struct front f = { .user = u, .log = "token=sesame user=me", .lines = 3 };
        struct archive a;

        fill(u);
        add_pod(u, 2);
        assert_int_equal(loopback_listen(u->rig->net, "dev", stand_in_front, &f), 0);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        expect_in(&a, "hub/pods/fleet-system/hub-agent-0/hub-agent.log", "token=<hidden> user=me\n");
        expect_in(&a, "hub/pods/fleet-system/hub-agent-0/hub-agent.previous.log", "user=me");
        expect_in(&a, "hub/pods/fleet-system/hub-agent-0/metrics.metrics", "up 1\n");
        assert_null(strstr(a.names.data, "healthz"));
        expect_nowhere(&a, "sesame");
        assert_null(strstr(u->err.data, "could not be read"));
        archive_free(&a);
})

USER_TEST(of_a_long_log_the_newest_lines_are_there_and_the_index_says_so, {
        static char line[1001];
        struct front f = { .user = u, .log = line, .lines = 100000 };
        struct archive a;

        memset(line, 'y', 1000);
        fill(u);
        add_pod(u, 0);
        assert_int_equal(loopback_listen(u->rig->net, "dev", stand_in_front, &f), 0);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        assert_int_equal(f.last_tail, 1024);
        expect_in(&a, "index.json", "\"cut\":\"the last 1024 lines\"");
        assert_null(strstr(a.names.data, ".previous"));
        archive_free(&a);
})

/* ---- what cannot be read ---- */

static int only_version(struct user *u, const struct http_request *rq)
{
        return strstr(rq->path, "/version") ? 0 : ERR_RETRY;
}

USER_TEST(what_cannot_be_read_is_told_and_the_rest_is_there, {
        struct archive a;

        fill(u);
        u->fate = only_version;
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-", "--member-context", "nobody"), 0);
        unpack(u, &a);
        expect_in(&a, "problems.txt", "hub/objects/memberclusters.cluster.kubernetes-fleet.io: ");
        expect_in(&a, "problems.txt", "hub/pods: ");
        expect_in(&a, "problems.txt",
                  "members/nobody/version.json: failed to create member cluster client: ");
        expect_in(&a, "index.json", "\"cut\":\"the rest could not be read: see problems.txt\"");
        archive_free(&a);
})

USER_TEST(what_servers_say_is_hidden_as_any_text_is, {
        struct front f = { .user = u, .log = "well", .lines = 1, .refuses = "bad password=sesame for me" };
        struct archive a;

        fill(u);
        add_pod(u, 0);
        assert_int_equal(loopback_listen(u->rig->net, "dev", stand_in_front, &f), 0);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        unpack(u, &a);
        expect_in(&a, "problems.txt", "hub/pods/fleet-system/hub-agent-0/metrics.metrics: ");
        expect_in(&a, "problems.txt", "bad password=<hidden> for me");
        expect_nowhere(&a, "sesame");
        archive_free(&a);
})

/* Contexts that there are not: a line each, of this name and a little more. */
#define N_NOBODIES FLAG_STRINGS_MAX
#define LONG_NAME 100000

USER_TEST(more_problems_than_have_room_are_counted, {
        static char names[N_NOBODIES][LONG_NAME + 1];
        const char *argv[3 + 2 * N_NOBODIES] = { "bundle", "-o", "-" };
        struct archive a;

        for (size_t i = 0; i < N_NOBODIES; i++) {
                memset(names[i], 'n', LONG_NAME);
                argv[3 + 2 * i] = "--member-context";
                argv[4 + 2 * i] = names[i];
        }
        fill(u);
        assert_int_equal(fleet_command(u, (int)ARRAY_LEN(argv), argv), 0);
        unpack(u, &a);
        expect_in(&a, "problems.txt", "hub/pods: there are none");
        expect_in(&a, "problems.txt", "\n6 more are not here\n");
        expect_in(&a, "index.json", "\"problems\":17,");
        archive_free(&a);
})

USER_TEST(a_full_disk_behind_standard_output_is_a_failure, {
        size_t whole;

        fill(u);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 0);
        whole = u->out.len;
        for (size_t room = 0; room < whole; room += whole - 1) {
                u->room = room;
                u->is_full = true;
                assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 1);
                assert_non_null(strstr(u->err.data, "Error: standard output: No space left on device"));
        }
})

static int nothing(struct user *u, const struct http_request *rq)
{
        return ERR_RETRY;
}

USER_TEST(without_a_hub_there_is_no_bundle, {
        u->fate = nothing;
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 1);
        assert_int_equal(u->out.len, 0);
        assert_non_null(strstr(u->err.data, "Error: "));
})

USER_TEST(a_member_is_a_side_of_its_own, {
        struct archive a;

        fill(u);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-", "--member-context", "hub"), 0);
        unpack(u, &a);
        expect_in(&a, "members/hub/version.json", "gitVersion");
        expect_in(&a, "problems.txt", "members/hub/objects/");
        archive_free(&a);
})

USER_TEST(bad_words_are_refused_before_anything_is_asked, {
        static const struct {
                const char *flag, *value, *says;
        } rows[] = {
                { "-n", "Bad", "--namespace: \"Bad\" is no name of a namespace" },
                { "--most-objects", "-1", "most-objects" },
                { "-o", "/nowhere/at/all/x.tar.gz", "--output: /nowhere/at/all/x.tar.gz" },
                { "-o", "folder/", "--output: \"folder/\" names a folder" },
                { "-o", "Makefile", "--output: Makefile is there already, and is not written over" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_int_equal(FLEET_RUN(u, "bundle", rows[i].flag, rows[i].value), 1);
                if (!strstr(u->err.data, rows[i].says))
                        fail_msg("%s %s: %s", rows[i].flag, rows[i].value, u->err.data);
                assert_int_equal(u->requests, 0);
        }
        user_gets_terminal(u, 80, 24);
        assert_int_equal(FLEET_RUN(u, "bundle", "-o", "-"), 1);
        assert_non_null(strstr(u->err.data, "an archive is nothing for a terminal"));
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(objects_are_in_the_bundle_and_their_secrets_are_not),
                cmocka_unit_test(the_same_fleet_gives_the_same_parts_in_the_same_order),
                cmocka_unit_test(lists_are_read_in_pages_each_a_file_and_cut_where_told),
                cmocka_unit_test(pages_shrink_where_objects_are_large),
                cmocka_unit_test(pages_grow_again_behind_large_objects),
                cmocka_unit_test(pods_give_their_logs_those_before_a_restart_and_their_metrics),
                cmocka_unit_test(of_a_long_log_the_newest_lines_are_there_and_the_index_says_so),
                cmocka_unit_test(what_cannot_be_read_is_told_and_the_rest_is_there),
                cmocka_unit_test(what_servers_say_is_hidden_as_any_text_is),
                cmocka_unit_test(more_problems_than_have_room_are_counted),
                cmocka_unit_test(a_full_disk_behind_standard_output_is_a_failure),
                cmocka_unit_test(without_a_hub_there_is_no_bundle),
                cmocka_unit_test(a_member_is_a_side_of_its_own),
                cmocka_unit_test(bad_words_are_refused_before_anything_is_asked),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
