/* The controller frame: when a key is tried again, what overtakes what, and what its writes meet. */
#include "common/ctrl/controller_test.h"

#define NO_CODE 1 /* for fails_once */

static int64_t gap_ms(const struct bench *b, size_t i) /* between visit i and the next */
{
        return b->visits.at[i + 1].at_ms - b->visits.at[i].at_ms;
}

/* ---- retries ---- */

static struct outcome fails_once(struct bench *b, struct reconcile *rc)
{
        if (b->visits.n > 1)
                return done();
        if (b->code == 0)
                return again_after(b->after_ms);
        if (b->code == NO_CODE)
                return failed(rc->err);
        error_set(rc->err, b->code, "as the test wants it");
        rc->err->retry_after_ms = b->retry_after_ms;
        return failed(rc->err);
}

static void body_retries(struct rig *r)
{
        static const struct {
                int code;
                uint32_t retry_after_ms;
                int64_t after_ms, expected_ms;
        } rows[] = {
                { ERR_RETRY, 0, 0, 100 },
                { ERR_CONFLICT, 0, 0, 100 },
                { ERR_TIMEOUT, 0, 0, 100 },
                { ERR_NOT_FOUND, 0, 0, 100 },
                { ERR_NO_MEMORY, 0, 0, 100 },
                { ERR_TOO_MANY, 7000, 0, 7000 },
                { ERR_INVALID, 0, 0, BACKOFF_MAX_MS },
                { ERR_FORBIDDEN, 0, 0, BACKOFF_MAX_MS },
                { ERR_UNSUPPORTED, 0, 0, BACKOFF_MAX_MS },
                { 0, 0, 3000, 3000 },
                { 0, 0, 0, 1 }, /* now is a time, too */
                { 0, 0, -5, 1 },
                { NO_CODE, 0, 0, 100 }, /* failed, and no error says why */
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                size_t row = *(size_t *)r->ctx;
                struct bench b;

                if (i != row)
                        continue;
                open_bench(r, &b, false);
                b.reconcile = fails_once;
                b.code = rows[i].code;
                b.after_ms = rows[i].after_ms;
                b.retry_after_ms = rows[i].retry_after_ms;
                make(r, "a");
                run_manager(&b);
                wait_ms(&b, BACKOFF_MAX_MS + 1000);
                if (b.visits.n != 2 || gap_ms(&b, 0) != rows[i].expected_ms)
                        fail_msg("row %zu: %zu visits", i, b.visits.n);
                close_bench(&b);
        }
        ++*(size_t *)r->ctx;
        if (*(size_t *)r->ctx == ARRAY_LEN(rows))
                *(size_t *)r->ctx = SIZE_MAX;
}

static void each_class_of_error_has_its_own_delay(void **state)
{
        for (size_t row = 0; row != SIZE_MAX;)
                rig_run_for(body_retries, &row);
}

static void body_later(struct rig *r)
{
        int64_t begun;
        struct bench b;

        open_bench(r, &b, false);
        run_manager(&b);
        assert_int_equal(b.visits.n, 0);
        begun = loop_now_ms(r->loop);
        manager_enqueue_after(b.manager, &two_at_a_time, "late", 5000);
        wait_ms(&b, 4900);
        assert_int_equal(b.visits.n, 0);
        wait_ms(&b, 200);
        assert_int_equal(b.visits.n, 1);
        assert_string_equal(b.visits.at[0].key, "late");
        assert_int_equal(b.visits.at[0].at_ms - begun, 5000);
        close_bench(&b);
}

static void what_another_controller_asks_for_later_comes_then(void **state)
{
        rig_run(body_later);
}

static struct outcome fails_five_times(struct bench *b, struct reconcile *rc)
{
        if (b->visits.n > 5 && b->visits.n != 7)
                return done();
        error_set(rc->err, ERR_RETRY, "not yet");
        return failed(rc->err);
}

static void body_backoff(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = fails_five_times;
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 10000);
        assert_int_equal(b.visits.n, 6);
        for (size_t i = 0; i < 5; i++)
                assert_int_equal(gap_ms(&b, i), 100 << i);
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 8);
        assert_int_equal(gap_ms(&b, 6), 100); /* the success before reset it */
        close_bench(&b);
}

static void the_backoff_of_a_key_doubles_and_success_resets_it(void **state)
{
        rig_run(body_backoff);
}

/* The server does not answer for long, and when it does it says that somebody else was faster. */
static struct outcome fails_and_meets_another(struct bench *b, struct reconcile *rc)
{
        if (b->visits.n > 10)
                return done();
        error_set(rc->err, b->visits.n < 8 ? ERR_RETRY : ERR_CONFLICT, "not yet");
        return failed(rc->err);
}

static void body_late_conflict(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = fails_and_meets_another;
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 60000);
        assert_int_equal(b.visits.n, 11);
        assert_int_equal(gap_ms(&b, 6), 6400);
        for (size_t i = 7; i < 10; i++)
                assert_int_equal(gap_ms(&b, i), 1000);
        close_bench(&b);
}

static void a_conflict_after_many_failures_does_not_wait_as_long_as_they(void **state)
{
        rig_run(body_late_conflict);
}

static struct outcome hangs_once(struct bench *b, struct reconcile *rc)
{
        if (b->visits.n > 1)
                return done();
        while (waitq_wait(b->rig->loop, &b->gate, DEADLINE_NONE) == 0)
                ;
        error_set(rc->err, ERR_CANCELLED, "cancelled");
        return failed(rc->err);
}

static void body_deadline(struct rig *r)
{
        static const char *const labels[] = { "test", "timeout" };
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = hangs_once;
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, DEADLINE_MS + 1000);
        assert_int_equal(b.visits.n, 2);
        assert_int_equal(gap_ms(&b, 0), DEADLINE_MS + 100);
        assert_true(metric_value(b.metrics, METRIC_FAILURES, labels) == 1);
        close_bench(&b);
}

static void a_reconcile_past_its_deadline_is_cancelled_and_tried_again(void **state)
{
        rig_run(body_deadline);
}

static struct outcome takes_its_time(struct bench *b, struct reconcile *rc)
{
        fiber_mask_cancel(b->rig->loop);
        fiber_sleep(b->rig->loop, DEADLINE_MS + 1000);
        fiber_unmask_cancel(b->rig->loop);
        return done();
}

static double attempts(const struct bench *b, const char *result)
{
        return metric_value(b->metrics, METRIC_RECONCILES, (const char *const[]){ "test", result });
}

static void body_late_success(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = takes_its_time;
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 3 * DEADLINE_MS);
        assert_int_equal(b.visits.n, 1);
        assert_true(attempts(&b, "success") == 1 && attempts(&b, "error") == 0);
        close_bench(&b);
}

static void who_comes_to_its_end_behind_its_deadline_has_done_it_all_the_same(void **state)
{
        rig_run(body_late_success);
}

static void body_counts(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = fails_once;
        b.code = ERR_RETRY;
        make(r, "a");
        run_manager(&b);
        assert_true(attempts(&b, "error") == 1 && attempts(&b, "success") == 1);
        b.visits.n = 0;
        b.code = 0;
        b.after_ms = 1000;
        manager_enqueue(b.manager, &two_at_a_time, "a", QUEUE_NORMAL);
        wait_ms(&b, 5000);
        assert_true(attempts(&b, "requeue_after") == 1 && attempts(&b, "success") == 2);
        assert_true(attempts(&b, "error") == 1);
        close_bench(&b);
}

static void attempts_are_counted_by_what_they_came_to(void **state)
{
        rig_run(body_counts);
}

/* ---- what is told of failures ---- */

static void count_line(void *ctx, const char *line, size_t n)
{
        ++*(size_t *)ctx;
}
static int64_t no_time(void *ctx)
{
        return 0;
}

static struct outcome fails_for_a_time(struct bench *b, struct reconcile *rc)
{
        if (loop_now_ms(b->rig->loop) >= b->after_ms)
                return done();
        error_set(rc->err, b->code, "as the test wants it");
        return failed(rc->err);
}

static void find_deadline(void *ctx, const char *line, size_t n)
{
        *(size_t *)ctx += strstr(line, "did not end within its deadline") != NULL;
}

static struct outcome always_hangs(struct bench *b, struct reconcile *rc)
{
        while (waitq_wait(b->rig->loop, &b->gate, DEADLINE_NONE) == 0)
                ;
        error_set(rc->err, ERR_CANCELLED, "cancelled");
        return failed(rc->err);
}

static void body_told_deadline(struct rig *r)
{
        size_t n = 0;
        struct log_sink sink = { find_deadline, no_time, &n, LOG_TEXT, LOG_WARN };
        struct bench b;

        open_bench_with(r, &b, false, &two_at_a_time, &sink);
        b.reconcile = always_hangs;
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 5 * DEADLINE_MS);
        close_bench(&b);
        assert_int_equal(n, 1);
}

static void what_never_ends_within_its_deadline_is_told(void **state)
{
        rig_run(body_told_deadline);
}

static size_t warnings_of(struct rig *r, int code, int64_t fails_for_ms)
{
        size_t n = 0;
        struct log_sink sink = { count_line, no_time, &n, LOG_TEXT, LOG_WARN };
        struct bench b;

        open_bench_with(r, &b, false, &two_at_a_time, &sink);
        make(r, "a");
        run_manager(&b);
        n = 0;
        b.reconcile = fails_for_a_time;
        b.code = code;
        b.after_ms = loop_now_ms(r->loop) + fails_for_ms;
        manager_enqueue(b.manager, &two_at_a_time, "a", QUEUE_NORMAL);
        wait_ms(&b, fails_for_ms + BACKOFF_MAX_MS + 1000);
        close_bench(&b);
        assert_int_equal(rig_delete(r, GROUP "/a"), 200);
        return n;
}

static void body_warnings(struct rig *r)
{
        assert_int_equal(warnings_of(r, ERR_RETRY, 5000), 0);
        assert_int_equal(warnings_of(r, ERR_RETRY, 200000), 1);
        assert_int_equal(warnings_of(r, ERR_CONFLICT, 200000), 0);
        assert_int_equal(warnings_of(r, ERR_INVALID, 200000), 1);
}

static void a_failure_is_told_once_and_not_before_it_had_time_to_pass(void **state)
{
        rig_run(body_warnings);
}

/* ---- keys and fibers ---- */

static struct outcome waits_at_the_gate(struct bench *b, struct reconcile *rc)
{
        while (!b->open)
                if (waitq_wait(b->rig->loop, &b->gate, DEADLINE_NONE) < 0)
                        break;
        return done();
}

static void open_gate(struct bench *b)
{
        b->open = true;
        waitq_wake_all(&b->gate);
        wait_ms(b, 500);
}

static void body_one_fiber(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = waits_at_the_gate;
        make(r, "a");
        run_manager(&b);
        assert_int_equal(b.running, 1);
        for (int i = 1; i <= 10; i++) {
                char patch[64];

                snprintf(patch, sizeof(patch), "{\"spec\":{\"heartbeatPeriodSeconds\":%d}}", i);
                edit(&b, "a", patch);
                wait_ms(&b, 100);
        }
        assert_int_equal(b.running, 1);
        open_gate(&b);
        assert_int_equal(b.visits.n, 2); /* ten changes, one more look, at the last of them */
        assert_int_equal(b.visits.at[1].heartbeat, 10);
        close_bench(&b);
}

/* spec/scheduler.md checklist 1 */
static void changes_during_a_reconcile_give_one_more_and_never_two_at_once(void **state)
{
        rig_run(body_one_fiber);
}

static void body_concurrency(struct rig *r)
{
        struct bench b;

        install_crds(r);
        for (char name[2] = "a"; name[0] <= 'f'; name[0]++)
                make(r, name);
        open_bench(r, &b, false);
        b.reconcile = waits_at_the_gate;
        run_manager(&b);
        assert_int_equal(b.running, 2);
        assert_int_equal(manager_queued(b.manager), 6);
        open_gate(&b);
        assert_int_equal(b.visits.n, 6);
        assert_int_equal(b.most_running, 2);
        assert_int_equal(manager_queued(b.manager), 0);
        close_bench(&b);
}

static void no_more_keys_run_at_once_than_the_controller_allows(void **state)
{
        rig_run(body_concurrency);
}

static void body_priority(struct rig *r)
{
        struct bench b;

        install_crds(r);
        for (char name[2] = "a"; name[0] <= 'f'; name[0]++)
                make(r, name);
        open_bench(r, &b, false);
        b.reconcile = waits_at_the_gate;
        run_manager(&b); /* two run, four of the first list wait */
        edit(&b, "f", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        wait_ms(&b, 100);
        open_gate(&b);
        assert_string_equal(b.visits.at[2].key, "f");
        close_bench(&b);
}

static void what_a_user_edits_overtakes_the_backlog(void **state)
{
        rig_run(body_priority);
}

static bool wants_half_a_minute(const struct object *o)
{
        const struct member_cluster *c = (const struct member_cluster *)o;

        return c->spec && c->spec->heartbeat_period_seconds.value == 30;
}

static void body_pressing(struct rig *r)
{
        const struct watch watch = { &member_cluster_kind, ON_SPEC, NULL, .pressing = wants_half_a_minute };
        struct controller c = two_at_a_time;
        struct bench b;

        c.watches = &watch;
        c.n_watches = c.concurrency = 1;
        install_crds(r);
        for (char name[2] = "a"; name[0] <= 'f'; name[0]++)
                make(r, name);
        assert_int_equal(rig_merge(r, GROUP "/f", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}"), 200);
        open_bench_with(r, &b, false, &c, NULL);
        b.reconcile = waits_at_the_gate;
        run_manager(&b);
        open_gate(&b);
        assert_int_equal(b.visits.n, 6);
        assert_string_equal(b.visits.at[0].key, "f");
        assert_string_equal(b.visits.at[1].key, "a");
        close_bench(&b);
}

/* An edit while the agent was away, or before its first list was there. */
static void what_was_asked_for_before_the_first_list_is_no_backlog(void **state)
{
        rig_run(body_pressing);
}

/* ---- classes ---- */

static void map_other(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (e->type == INFORMER_UPDATED)
                emit(to, "parent");
}

static const struct watch of_each_class[] = {
        { &member_cluster_kind, ON_SPEC | ON_DELETION, NULL },
        { &member_cluster_kind, ON_STATUS, map_other },
        { &internal_member_cluster_kind, ON_SPEC | ON_DELETION, NULL, true },
};
static const struct controller one_at_a_time = {
        .name = "test",
        .watches = of_each_class,
        .n_watches = ARRAY_LEN(of_each_class),
        .reconcile = reconcile,
        .concurrency = 1,
};

static void make_derived(struct rig *r, const char *name)
{
        char body[256];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"cluster.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"InternalMemberCluster\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
                 "\"state\":\"Join\",\"heartbeatPeriodSeconds\":60}"
                 "}",
                 name);
        assert_int_equal(rig_post(r,
                                  "/apis/cluster.kubernetes-fleet.io/v1beta1/namespaces/default/"
                                  "internalmemberclusters",
                                  body),
                         201);
}

static void body_classes(struct rig *r)
{
        static const char *const order[] = { "first", "parent", "edited", "default/derived", "retried" };
        struct bench b;

        open_bench_with(r, &b, false, &one_at_a_time, NULL);
        run_manager(&b);
        b.reconcile = waits_at_the_gate;
        make(r, "first");
        wait_ms(&b, 100);
        make_derived(r, "derived");
        wait_ms(&b, 100);
        manager_enqueue(b.manager, &one_at_a_time, "retried", QUEUE_NORMAL);
        make(r, "edited");
        wait_ms(&b, 100);
        assert_int_equal(rig_merge(r, GROUP "/first/status", "{\"status\":{\"agentStatus\":[]}}"), 200);
        wait_ms(&b, 100);
        open_gate(&b);
        assert_int_equal(b.visits.n, ARRAY_LEN(order));
        for (size_t i = 0; i < ARRAY_LEN(order); i++)
                assert_string_equal(b.visits.at[i].key, order[i]);
        close_bench(&b);
}

static void what_is_under_way_comes_first_then_edits_then_what_agents_wrote(void **state)
{
        rig_run(body_classes);
}

static void body_filters(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        make(r, "a");
        run_manager(&b);
        assert_int_equal(b.visits.n, 1);
        edit(&b, "a", "{\"metadata\":{\"labels\":{\"color\":\"blue\"}}}");
        edit(&b, "a/status", "{\"status\":{\"resourceUsage\":{}}}");
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 1);
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}");
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 2);
        assert_int_equal(rig_delete(r, GROUP "/a"), 200);
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 3);
        assert_int_equal(b.visits.at[2].heartbeat, -1);
        close_bench(&b);
}

static void only_what_a_watch_asks_for_makes_a_key(void **state)
{
        rig_run(body_filters);
}

/* ---- writes ---- */

static struct outcome adds_one(struct bench *b, struct reconcile *rc)
{
        struct member_cluster *wanted;
        const struct object *now;

        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, rc->name, &now), 0);
        if (!now || heartbeat_of(now) > 100)
                return done();
        wanted = (struct member_cluster *)object_copy(now, rc->arena);
        assert_non_null(wanted);
        wanted->spec->heartbeat_period_seconds = OPT_INT(heartbeat_of(now) + 100);
        if (rc_patch_diff(rc, now, &wanted->object, OBJECT_META_SPEC, NULL) < 0)
                return failed(rc->err);
        return again_after(10);
}

static void body_own_write(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        make(r, "a");
        run_manager(&b);
        b.stalled = true; /* the watch will not tell */
        b.reconcile = adds_one;
        manager_enqueue(b.manager, &two_at_a_time, "a", QUEUE_HIGH);
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 3);
        assert_int_equal(b.visits.at[1].heartbeat, 60);
        assert_int_equal(b.visits.at[2].heartbeat, 160);
        close_bench(&b);
}

static void the_next_reconcile_sees_its_own_write_before_the_watch_tells(void **state)
{
        rig_run(body_own_write);
}

static struct outcome creates_b(struct bench *b, struct reconcile *rc)
{
        struct member_cluster *wanted;
        const struct object *a, *there, *stored = NULL;

        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, "a", &a), 0);
        wanted = (struct member_cluster *)object_new(&member_cluster_kind, NULL, "b", rc->arena);
        assert_non_null(wanted);
        wanted->spec = ((const struct member_cluster *)a)->spec;
        if (rc_create(rc, &wanted->object, &stored) < 0)
                return failed(rc->err);
        assert_non_null(stored);
        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, "b", &there), 0);
        assert_ptr_equal(there, stored);
        b->open = true;
        return done();
}

static void body_own_creation(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        make(r, "a");
        run_manager(&b);
        b.stalled = true;
        b.reconcile = creates_b;
        manager_enqueue(b.manager, &two_at_a_time, "a", QUEUE_HIGH);
        wait_ms(&b, 1000);
        assert_true(b.open);
        close_bench(&b);
}

static void what_was_created_is_in_the_cache_at_once(void **state)
{
        rig_run(body_own_creation);
}

static void body_conflict(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        make(r, "a");
        run_manager(&b);
        b.stalled = true;
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}"); /* the cache does not learn of it */
        wait_ms(&b, 1000);
        b.reconcile = adds_one;
        manager_enqueue(b.manager, &two_at_a_time, "a", QUEUE_HIGH);
        wait_ms(&b, 1000);
        assert_int_equal(b.visits.n, 4);
        assert_int_equal(b.visits.at[1].heartbeat, 60); /* conflict */
        assert_int_equal(b.visits.at[2].heartbeat, 30);
        assert_true(gap_ms(&b, 1) <= 100);
        assert_int_equal(rig_get(r, GROUP "/a"), 200);
        assert_int_equal(doc_get_int(r->answer, "spec.heartbeatPeriodSeconds", 0), 130);
        close_bench(&b);
}

static void after_a_conflict_the_retry_computes_from_what_the_server_has(void **state)
{
        rig_run(body_conflict);
}

/* The label "color" is to be blue at the first look, and not to be there from then on. */
static struct outcome paints_once(struct bench *b, struct reconcile *rc)
{
        const char *color = b->visits.n == 2 ? "blue" : NULL;
        const struct object *now;
        struct object *wanted;

        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, rc->name, &now), 0);
        if (!now || !(wanted = object_copy(now, rc->arena)))
                return done();
        if (color)
                assert_int_equal(string_map_put(&wanted->meta.labels, "color", color, rc->arena), 0);
        else
                string_map_remove(&wanted->meta.labels, "color");
        return rc_patch_diff(rc, now, wanted, OBJECT_META_SPEC, NULL) < 0 ? failed(rc->err) : done();
}

static int lose_answers(void *ctx, const struct http_request *rq)
{
        return text_equal(rq->method, "PATCH") ? ERR_CLOSED : 0;
}

static int64_t late_watch(void *ctx, const struct http_request *rq, bool answer)
{
        return answer && rq->priority == HTTP_WATCH ? 500 : 0;
}

static void body_unanswered(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        make(r, "a");
        run_manager(&b);
        b.reconcile = paints_once;
        b.faults.fate = lose_answers;
        b.faults.delay = late_watch;
        manager_enqueue(b.manager, &two_at_a_time, "a", QUEUE_HIGH);
        wait_ms(&b, 400);
        assert_int_equal(b.visits.n, 3); /* the second look found in the cache what it wanted */
        assert_int_equal(rig_get(r, GROUP "/a"), 200);
        assert_string_equal(doc_get_string(r->answer, "metadata.labels.color"), "blue");
        b.faults.fate = NULL;
        wait_ms(&b, 1000);
        assert_int_equal(rig_get(r, GROUP "/a"), 200);
        assert_null(doc_get_string(r->answer, "metadata.labels.color"));
        assert_int_equal(b.visits.n, 4);
        close_bench(&b);
}

static void the_event_of_a_write_without_an_answer_makes_its_key_again(void **state)
{
        rig_run(body_unanswered);
}

static struct outcome removes_slow_ones(struct bench *b, struct reconcile *rc)
{
        const struct object *now;

        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, rc->name, &now), 0);
        if (!now || heartbeat_of(now) < 60)
                return done();
        return rc_delete(rc, now) < 0 ? failed(rc->err) : done();
}

static void body_conditional_delete(struct rig *r)
{
        struct bench b;

        open_bench(r, &b, false);
        make(r, "a");
        make(r, "b");
        run_manager(&b);
        b.stalled = true;
        edit(&b, "a", "{\"spec\":{\"heartbeatPeriodSeconds\":30}}"); /* no longer to be deleted */
        wait_ms(&b, 1000);
        b.reconcile = removes_slow_ones;
        manager_enqueue(b.manager, &two_at_a_time, "a", QUEUE_HIGH);
        manager_enqueue(b.manager, &two_at_a_time, "b", QUEUE_NORMAL);
        wait_ms(&b, 1000);
        assert_int_equal(rig_get(r, GROUP "/a"), 200);
        assert_int_equal(rig_get(r, GROUP "/b"), 404);
        assert_int_equal(b.visits.at[b.visits.n - 1].heartbeat, 30);
        close_bench(&b);
}

static void what_changed_since_it_was_read_is_not_deleted(void **state)
{
        rig_run(body_conditional_delete);
}

static struct outcome tells(struct bench *b, struct reconcile *rc)
{
        const struct object *o;

        assert_int_equal(cache_get(rc, &member_cluster_kind, NULL, rc->name, &o), 0);
        rc_event(rc, o, "Warning", "Seen", "the %s of %s, %d times", "name", rc->name, 12);
        return done();
}

static void body_event(struct rig *r)
{
        const json_t *event;
        struct bench b;

        open_bench(r, &b, false);
        b.reconcile = tells;
        make(r, "a");
        run_manager(&b);
        wait_ms(&b, 5000);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/events"), 200);
        event = json_array_get(doc_get_array(r->answer, "items"), 0);
        assert_string_equal(doc_get_string(event, "message"), "the name of a, 12 times");
        assert_string_equal(doc_get_string(event, "reason"), "Seen");
        assert_string_equal(doc_get_string(event, "type"), "Warning");
        assert_string_equal(doc_get_string(event, "involvedObject.name"), "a");
        close_bench(&b);
}

static void the_words_of_an_event_are_about_the_object_and_reach_the_server(void **state)
{
        rig_run(body_event);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_class_of_error_has_its_own_delay),
                cmocka_unit_test(what_another_controller_asks_for_later_comes_then),
                cmocka_unit_test(the_backoff_of_a_key_doubles_and_success_resets_it),
                cmocka_unit_test(a_conflict_after_many_failures_does_not_wait_as_long_as_they),
                cmocka_unit_test(a_reconcile_past_its_deadline_is_cancelled_and_tried_again),
                cmocka_unit_test(who_comes_to_its_end_behind_its_deadline_has_done_it_all_the_same),
                cmocka_unit_test(attempts_are_counted_by_what_they_came_to),
                cmocka_unit_test(what_never_ends_within_its_deadline_is_told),
                cmocka_unit_test(what_was_created_is_in_the_cache_at_once),
                cmocka_unit_test(a_failure_is_told_once_and_not_before_it_had_time_to_pass),
                cmocka_unit_test(changes_during_a_reconcile_give_one_more_and_never_two_at_once),
                cmocka_unit_test(no_more_keys_run_at_once_than_the_controller_allows),
                cmocka_unit_test(what_a_user_edits_overtakes_the_backlog),
                cmocka_unit_test(what_was_asked_for_before_the_first_list_is_no_backlog),
                cmocka_unit_test(what_is_under_way_comes_first_then_edits_then_what_agents_wrote),
                cmocka_unit_test(only_what_a_watch_asks_for_makes_a_key),
                cmocka_unit_test(the_next_reconcile_sees_its_own_write_before_the_watch_tells),
                cmocka_unit_test(after_a_conflict_the_retry_computes_from_what_the_server_has),
                cmocka_unit_test(the_event_of_a_write_without_an_answer_makes_its_key_again),
                cmocka_unit_test(what_changed_since_it_was_read_is_not_deleted),
                cmocka_unit_test(the_words_of_an_event_are_about_the_object_and_reach_the_server),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
