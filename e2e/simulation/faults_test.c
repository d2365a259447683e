#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/faults.h"

struct bench {
        struct loop *loop;
        struct log log;
        struct coverage *coverage;
        struct faults *faults;
        struct http_endpoint hub;
};

static void open_bench(struct bench *b, uint64_t seed, const uint64_t *only, size_t n_only)
{
        struct faults_options o;

        *b = (struct bench){ .loop = loop_new_simulated(1, 1767225600000, NULL),
                             .coverage = coverage_new(),
                             .hub = { .base_url = (char *)"https://fleet.test/clusters/hub",
                                      .user_agent = (char *)"simulation/member-1" } };
        o = (struct faults_options){ .loop = b->loop,
                                     .log = &b->log,
                                     .coverage = b->coverage,
                                     .seed = seed,
                                     .only = only,
                                     .n_only = n_only };
        b->faults = faults_new(&o);
        assert_non_null(b->faults);
        faults_set(b->faults, true);
}

static void close_bench(struct bench *b)
{
        faults_free(b->faults);
        coverage_free(b->coverage);
        loop_free(b->loop);
}

/* Sends it as the network does; returns its fate. */
static int send_one(struct bench *b, const char *agent, const char *method, const char *path,
                    int64_t *ret_delay)
{
        const struct loopback_faults *t = faults_table(b->faults);
        char user_agent[64];
        struct http_request rq = { .endpoint = &b->hub, .method = method, .path = path };
        int fate;

        snprintf(user_agent, sizeof(user_agent), "simulation/%s", agent);
        b->hub.user_agent = user_agent;
        fate = t->fate(t->ctx, &rq);
        if (fate == 0 && t->duplicate(t->ctx, &rq))
                (void)t->delay(t->ctx, &rq, false);
        *ret_delay = fate == 0 || fate == ERR_CLOSED ? t->delay(t->ctx, &rq, false) : 0;
        return fate;
}

#define WRITE_PATH "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/n/works/w/status"
#define READ_PATH "/api/v1/namespaces/n/configmaps/c"
#define KIND "member-agent>hub update works/status.placement.kubernetes-fleet.io"

static void send_many(struct bench *b, unsigned n)
{
        int64_t delay;

        for (unsigned i = 0; i < n; i++) {
                send_one(b, "member-1", "PUT", WRITE_PATH, &delay);
                send_one(b, "member-2", "GET", READ_PATH, &delay);
        }
}

static void within_a_hundred_seeds_every_fault_hits_every_kind_of_write(void **state)
{
        uint64_t hits[FAULT_WRITES] = { 0 };

        for (uint64_t seed = 1; seed <= 100; seed++) {
                struct bench b;

                open_bench(&b, seed, NULL, 0);
                send_many(&b, 3); /* as rare as can be */
                for (unsigned k = 0; k < FAULT_WRITES; k++)
                        hits[k] += coverage_hits(b.coverage, KIND, fault_name(k));
                close_bench(&b);
        }
        for (unsigned k = 0; k < FAULT_WRITES; k++)
                assert_true(hits[k] > 0);
}

static void what_each_of_a_hundred_seeds_writes_once_meets_every_fault_wherever_they_begin(void **state)
{
        static const uint64_t firsts[] = { 1, 4701, 123456, 999901 };
        static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE" };
        static const char *const kinds[] = { "member-agent>hub create", "member-agent>hub update",
                                             "member-agent>hub patch", "member-agent>hub delete" };
        uint64_t hits[ARRAY_LEN(kinds)][FAULT_WRITES];
        char kind[96];
        int64_t delay;

        for (size_t i = 0; i < ARRAY_LEN(firsts); i++) {
                memset(hits, 0, sizeof(hits));
                for (uint64_t seed = firsts[i]; seed < firsts[i] + 100; seed++) {
                        struct bench b;

                        open_bench(&b, seed, NULL, 0);
                        for (size_t m = 0; m < ARRAY_LEN(methods); m++) {
                                send_one(&b, seed % 2 ? "member-1" : "member-2", methods[m], READ_PATH,
                                         &delay);
                                snprintf(kind, sizeof(kind), "%s configmaps", kinds[m]);
                                for (unsigned k = 0; k < FAULT_WRITES; k++)
                                        hits[m][k] += coverage_hits(b.coverage, kind, fault_name(k));
                        }
                        close_bench(&b);
                }
                for (size_t m = 0; m < ARRAY_LEN(methods); m++)
                        for (unsigned k = 0; k < FAULT_WRITES; k++)
                                if (hits[m][k] < 4)
                                        fail_msg("%s never hit %s from seed %llu on", fault_name(k), kinds[m],
                                                 (unsigned long long)firsts[i]);
        }
}

static void a_fault_is_remembered_and_counted_by_its_message(void **state)
{
        const struct fault *f;
        uint64_t counted = 0;
        struct bench b;
        size_t n;

        open_bench(&b, 7, NULL, 0);
        send_many(&b, 300);
        f = faults_happened(b.faults, &n);
        assert_true(n > 3);
        for (size_t i = 0; i < n; i++) {
                counted += text_starts_with(f[i].what, "member-1: " KIND " (");
                for (size_t k = 0; k < i; k++)
                        assert_true(f[i].key != f[k].key);
        }
        for (unsigned k = 0; k < FAULT_WRITES; k++)
                counted -= coverage_hits(b.coverage, KIND, fault_name(k));
        assert_int_equal(counted, 0);
        close_bench(&b);
}

static void without_one_fault_the_others_stay_where_they_are(void **state)
{
        const struct fault *all, *some;
        uint64_t keys[64];
        struct bench a, b;
        size_t n, m, kept = 0;

        open_bench(&a, 7, NULL, 0);
        send_many(&a, 300);
        all = faults_happened(a.faults, &n);
        assert_true(n > 3 && n < ARRAY_LEN(keys));
        for (size_t i = 0; i < n; i++)
                if (i != 1)
                        keys[kept++] = all[i].key;
        open_bench(&b, 7, keys, kept);
        send_many(&b, 300);
        some = faults_happened(b.faults, &m);
        assert_int_equal(m, kept);
        for (size_t i = 0; i < m; i++) {
                assert_true(some[i].key == keys[i]);
                assert_int_equal(some[i].kind, all[i + (i >= 1)].kind);
        }
        close_bench(&a);
        close_bench(&b);
        open_bench(&b, 7, keys, 0); /* none at all */
        send_many(&b, 300);
        faults_happened(b.faults, &m);
        assert_int_equal(m, 0);
        close_bench(&b);
}

static void reads_meet_only_what_can_happen_to_reads(void **state)
{
        struct bench b;
        int64_t delay;

        open_bench(&b, 3, NULL, 0);
        for (unsigned i = 0; i < 3000; i++) {
                int fate = send_one(&b, "member-1", "GET", READ_PATH, &delay);

                assert_true(fate != 409 && fate != 410);
                assert_true(delay <= 10000);
        }
        assert_int_equal(coverage_hits(b.coverage, "member-agent>hub get configmaps", "duplicate"), 0);
        assert_true(coverage_hits(b.coverage, "member-agent>hub get configmaps", "lost") > 0);
        assert_true(coverage_hits(b.coverage, "member-agent>hub get configmaps", "slow") > 0);
        close_bench(&b);
}

static void watches_stall_and_break_and_end(void **state)
{
        struct http_request rq = { .method = "GET", .path = "/api/v1/configmaps?watch=true" };
        const struct loopback_faults *t;
        unsigned stalled = 0, cut = 0;
        struct bench b;
        int64_t delay;

        open_bench(&b, 3, NULL, 0);
        t = faults_table(b.faults);
        for (unsigned i = 0; i < 1000; i++)
                send_one(&b, "member-1", "GET", rq.path, &delay);
        assert_true(coverage_hits(b.coverage, "member-agent>hub watch configmaps", "gone") > 0);
        b.hub.user_agent = (char *)"simulation/member-1";
        rq.endpoint = &b.hub;
        for (unsigned i = 0; i < 1000; i++) {
                stalled += t->delay(t->ctx, &rq, true) == 40000;
                cut += t->cut_stream(t->ctx, &rq);
        }
        assert_int_equal(coverage_hits(b.coverage, "member-agent>hub watch configmaps", "stall"), stalled);
        assert_int_equal(coverage_hits(b.coverage, "member-agent>hub watch configmaps", "cut"), cut);
        assert_true(stalled > 0 && cut > 0);
        close_bench(&b);
}

static void in_peace_nothing_happens(void **state)
{
        struct bench b;
        int64_t delay;
        size_t n;

        open_bench(&b, 7, NULL, 0);
        faults_set(b.faults, false);
        for (unsigned i = 0; i < 1000; i++) {
                assert_int_equal(send_one(&b, "member-1", "PUT", WRITE_PATH, &delay), 0);
                assert_int_equal(delay, 1);
        }
        faults_happened(b.faults, &n);
        assert_int_equal(n, 0);
        close_bench(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(within_a_hundred_seeds_every_fault_hits_every_kind_of_write),
                cmocka_unit_test(
                        what_each_of_a_hundred_seeds_writes_once_meets_every_fault_wherever_they_begin),
                cmocka_unit_test(a_fault_is_remembered_and_counted_by_its_message),
                cmocka_unit_test(without_one_fault_the_others_stay_where_they_are),
                cmocka_unit_test(reads_meet_only_what_can_happen_to_reads),
                cmocka_unit_test(watches_stall_and_break_and_end),
                cmocka_unit_test(in_peace_nothing_happens),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
