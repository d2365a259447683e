/* What becomes of an event whose request fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kube/connection.h"
#include "common/kube/event.h"
#include "e2e/devcluster/rig.h"
#include "proto/gen/kinds.h"

#define EVENTS "/api/v1/namespaces/default/events"

struct bench {
        struct rig *rig;
        struct world world;
        struct loopback_faults faults;
        struct log_sink sink;
        struct log log;
        struct buf said;
        struct fiber_group *group;
        struct kube_client kube;
        struct event_recorder *recorder;
        const int *fates; /* of the requests for events, one after the other; behind them all arrive */
        size_t n_fates, n_sent;
        int64_t sent_ms[16]; /* when */
};

static void take_line(void *ctx, const char *line, size_t n)
{
        assert_int_equal(buf_append(&((struct bench *)ctx)->said, line, n), 0);
}

static int64_t wall(void *ctx)
{
        return loop_wall_ms(((struct bench *)ctx)->rig->loop);
}

static int fate(void *ctx, const struct http_request *rq)
{
        struct bench *b = ctx;
        size_t i = b->n_sent;

        if (!strstr(rq->path, "/events"))
                return 0;
        assert_true(i < ARRAY_LEN(b->sent_ms));
        b->sent_ms[b->n_sent++] = loop_now_ms(b->rig->loop);
        return i < b->n_fates ? b->fates[i] : 0;
}

static void set_up(struct bench *b, struct rig *r, const int *fates, size_t n)
{
        *b = (struct bench){ .rig = r, .world = r->world, .fates = fates, .n_fates = n };
        buf_init(&b->said, 1 << 20);
        b->sink = (struct log_sink){ take_line, wall, b, LOG_TEXT, LOG_INFO };
        b->log.sink = &b->sink;
        b->faults = (struct loopback_faults){ .ctx = b, .fate = fate };
        b->world.transport = loopback_transport(r->net, &b->world, &b->faults);
        b->group = fiber_group_new(r->loop, NULL, "test");
        b->kube = (struct kube_client){ .world = &b->world, .endpoint = &r->endpoint, .log = &b->log };
        assert_true(b->world.transport && b->group);
        b->recorder = event_recorder_new(&b->kube, b->group, "test");
        assert_non_null(b->recorder);
}

static void tear_down(struct bench *b)
{
        event_recorder_free(b->recorder);
        fiber_group_end(b->group);
        http_transport_free(b->world.transport);
        buf_free(&b->said);
}

static void record(struct bench *b, const char *reason)
{
        const struct object about = { .kind = &resource_binding_kind,
                                      .meta = { .name = (char *)"thing", .ns = (char *)"default" } };

        event_record(b->recorder, &about, "Normal", reason, "it did");
}

static void wait_ms(struct bench *b, int64_t ms)
{
        assert_int_equal(fiber_sleep(b->rig->loop, ms), 0);
}

/* How often the server has it that this was said; 0 = it has no such event. */
static int64_t count_of(struct bench *b, const char *reason)
{
        size_t i;
        json_t *e;

        assert_int_equal(rig_get(b->rig, EVENTS), 200);
        json_array_foreach(json_object_get(b->rig->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason))
                        return json_integer_value(json_object_get(e, "count"));
        return 0;
}

static void assert_said(const struct bench *b, const char *what)
{
        if (!b->said.data || !strstr(b->said.data, what))
                fail_msg("\"%s\" is not in \"%.4000s\"", what, b->said.data ? b->said.data : "");
}

/* ---- tests ---- */

RIG_TEST(an_event_that_nobody_took_is_sent_again, {
        static const int fates[] = { ERR_RETRY, 503, 429, ERR_TIMEOUT };
        struct bench b;

        set_up(&b, r, fates, ARRAY_LEN(fates));
        record(&b, "First");
        record(&b, "Second");
        wait_ms(&b, 1000);
        assert_int_equal(b.n_sent, 1);
        assert_int_equal(count_of(&b, "First"), 0);
        wait_ms(&b, 5 * 60000);
        assert_int_equal(count_of(&b, "First"), 1);
        assert_int_equal(count_of(&b, "Second"), 1);
        assert_int_equal(b.n_sent, 6);
        assert_in_range(b.sent_ms[1] - b.sent_ms[0], 0, 10000); /* a part of a pause */
        assert_int_equal(b.sent_ms[2] - b.sent_ms[1], 10000);
        assert_int_equal(b.sent_ms[3] - b.sent_ms[2], 10000);
        assert_int_equal(b.sent_ms[5] - b.sent_ms[4], 0);
        assert_int_equal(b.said.len, 0);
        tear_down(&b);
})

RIG_TEST(an_event_whose_answer_was_lost_is_there_once, {
        static const int fates[] = { ERR_CLOSED };
        struct bench b;

        set_up(&b, r, fates, ARRAY_LEN(fates));
        record(&b, "First");
        wait_ms(&b, 60000);
        assert_int_equal(count_of(&b, "First"), 1);
        assert_int_equal(b.n_sent, 3); /* it is made, it is there already, it is counted */
        tear_down(&b);
})

RIG_TEST(what_is_said_again_meanwhile_is_counted, {
        static const int fates[] = { ERR_RETRY, ERR_RETRY };
        struct bench b;

        set_up(&b, r, fates, ARRAY_LEN(fates));
        for (int i = 0; i < 3; i++) {
                record(&b, "First");
                wait_ms(&b, 100);
        }
        wait_ms(&b, 60000);
        assert_int_equal(count_of(&b, "First"), 3);
        tear_down(&b);
})

RIG_TEST(a_refused_event_is_dropped_at_once, {
        static const int fates[] = { 403, 422, 401 };
        struct bench b;

        set_up(&b, r, fates, ARRAY_LEN(fates));
        record(&b, "First");
        record(&b, "Second");
        record(&b, "Third");
        record(&b, "Fourth");
        wait_ms(&b, 1000);
        assert_int_equal(b.n_sent, 4);
        assert_int_equal(count_of(&b, "First") + count_of(&b, "Second") + count_of(&b, "Third"), 0);
        assert_int_equal(count_of(&b, "Fourth"), 1);
        assert_said(&b, "event not recorded");
        tear_down(&b);
})

RIG_TEST(an_event_that_fails_twelve_times_is_given_up, {
        static const int fates[] = { 500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 500 };
        struct bench b;

        set_up(&b, r, fates, ARRAY_LEN(fates));
        record(&b, "First");
        record(&b, "Second");
        wait_ms(&b, 100 * 1000);
        assert_int_equal(b.said.len, 0);
        wait_ms(&b, 30 * 1000);
        assert_int_equal(b.n_sent, 13);
        assert_int_equal(count_of(&b, "First"), 0);
        assert_int_equal(count_of(&b, "Second"), 1);
        assert_said(&b, "event not recorded");
        tear_down(&b);
})

RIG_TEST(an_event_outlasts_an_outage, {
        struct kube_connection_options o = { .name = "hub", .title = "the hub" };
        struct kube_connection *connection;
        struct bench b;

        set_up(&b, r, NULL, 0);
        o.kube = &b.kube;
        connection = kube_connection_new(b.group, &o);
        assert_non_null(connection);
        assert_int_equal(kube_connection_wait(connection, DEADLINE_NONE), 0);
        loopback_listen(r->net, "dev", NULL, NULL);
        record(&b, "First");
        wait_ms(&b, 60 * 60000);
        assert_in_range(b.n_sent, 1, 2);
        assert_int_equal(loopback_listen(r->net, "dev", devcluster_handle, r->devcluster), 0);
        wait_ms(&b, 45000);
        assert_int_equal(count_of(&b, "First"), 1);
        kube_connection_free(connection);
        tear_down(&b);
})

RIG_TEST(who_waits_to_send_can_be_ended, {
        static const int fates[] = { ERR_RETRY };
        struct bench b;

        set_up(&b, r, fates, ARRAY_LEN(fates));
        record(&b, "First");
        record(&b, "Second");
        wait_ms(&b, 1);
        tear_down(&b);
        assert_int_equal(b.n_sent, 1);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_event_that_nobody_took_is_sent_again),
                cmocka_unit_test(an_event_whose_answer_was_lost_is_there_once),
                cmocka_unit_test(what_is_said_again_meanwhile_is_counted),
                cmocka_unit_test(a_refused_event_is_dropped_at_once),
                cmocka_unit_test(an_event_that_fails_twelve_times_is_given_up),
                cmocka_unit_test(an_event_outlasts_an_outage),
                cmocka_unit_test(who_waits_to_send_can_be_ended),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
