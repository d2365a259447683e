/* A manifest-generator whose way to the hub, or to the repository, is bad for a while. */
#include "hub-agent/manifest-generation/generation_rig_test.h"
#include "hub-agent/manifest-generation/request.h"

struct bad_way {
        struct loopback_faults faults;
        const char *path; /* of requests that meet their fate; NULL = none */
        const char *method;
        int fate;
        int64_t slow_ms;
        int skip;  /* that many before them go well */
        int times; /* so many; 0 = all */
};

/* The first of them takes its time. */
static int64_t slow_first(void *ctx, const struct http_request *rq, bool answer)
{
        struct bad_way *way = ctx;

        if (answer || !way->path || !strstr(rq->path, way->path) || !text_equal(rq->method, way->method))
                return 1;
        if (way->skip > 0) {
                way->skip--;
                return 1;
        }
        way->path = NULL;
        return way->slow_ms;
}

static int fate_of(void *ctx, const struct http_request *rq)
{
        struct bad_way *way = ctx;

        if (!way->path || !strstr(rq->path, way->path) ||
            (way->method && !text_equal(rq->method, way->method)))
                return 0;
        if (way->skip > 0) {
                way->skip--;
                return 0;
        }
        if (way->times > 0 && --way->times == 0)
                way->path = NULL;
        return way->fate;
}

static void begin(struct rig *r, struct generator *g, struct bad_way *way, const char *text)
{
        generator_make(r, g);
        *way = (struct bad_way){ .faults = { .ctx = way, .fate = fate_of } };
        g->world.transport = loopback_transport(r->net, &g->world, &way->faults);
        commit_file(&g->repository, "a.yaml", text);
        generator_start(g);
}

static void end(struct generator *g)
{
        generator_stop(g);
        http_transport_free(g->world.transport);
        generator_end(g);
}

RIG_TEST(while_the_hub_is_away_nothing_is_lost, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/";
        way.fate = ERR_RETRY;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: c}") "---\n" CONFIG_MAP("two", "{}"));
        pass(&g, 7 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "two"), 404);
        assert_string_equal(g.repository.tag.hex, fake_hash(0).hex);
        way.path = NULL;
        pass(&g, 90 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "c");
        assert_string_equal(g.repository.tag.hex, fake_hash(1).hex);
        end(&g);
})

RIG_TEST(an_apply_whose_answer_is_lost_is_found_done, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/configmaps/two";
        way.method = "PATCH";
        way.fate = ERR_CLOSED;
        way.times = 1;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: b}") "---\n" CONFIG_MAP("two", "{a: b}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        assert_string_equal(status_of(r, "failed"), "0");
        end(&g);
})

RIG_TEST(a_server_that_has_no_time_is_asked_again, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/configmaps/two";
        way.fate = 503;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: c}") "---\n" CONFIG_MAP("two", "{a: b}"));
        pass(&g, 5 * MINUTES + 10 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "c"); /* the other is not held up */
        way.path = NULL;
        pass(&g, 30 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "two"), 200);
        assert_string_equal(status_of(r, "failed"), "0");
        end(&g);
})

RIG_TEST(a_right_that_is_missing_is_told_of_each_object, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/secrets/";
        way.fate = 403;
        commit_file(&g.repository, "a.yaml",
                    CONFIG_MAP("one",
                               "{a: c}") "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: "
                                         "apps}\nstringData: {password: hush}\n");
        pass(&g, 6 * MINUTES);
        assert_string_equal(status_of(r, "failed"), "1");
        assert_non_null(strstr(status_of(r, "errors"), "object: apps:secret/s"));
        assert_null(strstr(status_of(r, "errors"), "hush"));
        assert_null(strstr(g.logged, "hush"));
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "c");
        end(&g);
})

/* A kind whose cache cannot be filled is synced all the same, by asking. */
RIG_TEST(where_lists_are_refused_objects_are_asked_for_one_by_one, {
        struct bad_way way;
        struct generator g;

        generator_make(r, &g);
        way = (struct bad_way){ .faults = { .ctx = &way, .fate = fate_of },
                                .path = "services?",
                                .fate = 403 };
        g.world.transport = loopback_transport(r->net, &g.world, &way.faults);
        commit_file(
                &g.repository, "a.yaml",
                "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: apps}\nspec: {ports: [{port: "
                "80}]}\n");
        generator_start(&g);
        pass(&g, 2 * SECONDS);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/apps/services/s"), 200);
        assert_string_equal(g.repository.tag.hex, fake_hash(0).hex);
        end(&g);
})

#define REQUESTS "/api/v1/namespaces/fleet-system/configmaps"

static void ask(struct rig *r, const char *name, const char *data)
{
        AUTO_FREE char *body =
                mem_printf("{\"metadata\":{\"name\":\"%s\",\"labels\":{\"fluxcd.io/request\":\"true\"}},"
                           "\"data\":{%s}}",
                           name, data);

        assert_int_equal(rig_post(r, REQUESTS, body), 201);
}

static const char *answer_of(struct rig *r, const char *name, const char *annotation)
{
        AUTO_FREE char *path = mem_printf(REQUESTS "/%s", name);

        assert_int_equal(rig_get(r, path), 200);
        return or_empty(sync_annotation(r->answer, annotation));
}

RIG_TEST(an_answer_that_does_not_arrive_is_given_again, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/configmaps/job";
        way.method = "PATCH";
        way.fate = ERR_RETRY;
        way.times = 5;
        ask(r, "job", "\"type\":\"sync\"");
        pass(&g, MINUTES);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_SUCCEEDED);
        end(&g);
})

RIG_TEST(a_repository_that_is_away_is_tried_until_it_is_back, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        g.repository.fetch_failure = (struct error){ .code = ERR_RETRY, .text = "away" };
        pass(&g, 6 * MINUTES);
        assert_string_equal(status_of(r, "repository"), "new");
        assert_int_equal(times_logged(&g, "the repository is not ready"), 1);
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: c}"));
        g.repository.fetch_failure = (struct error){ 0 };
        pass(&g, 12 * SECONDS);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "c");
        end(&g);
})

RIG_TEST(a_tag_that_cannot_be_pushed_fails_the_sync_and_is_pushed_later, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        g.repository.refuses_writes = true;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: c}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "c");
        assert_true(events_of(r, "fleet-system", "SyncFailed", "recording the sync: the remote refuses") > 0);
        g.repository.refuses_writes = false;
        pass(&g, 6 * MINUTES);
        assert_string_equal(g.repository.tag.hex, fake_hash(1).hex);
        end(&g);
})

/* spec/flux-yaml.md checklist 42: there are a hundred kinds */
RIG_TEST(a_list_that_fails_once_is_asked_for_again_and_ends_no_collection, {
        struct bad_way way;
        struct generator g;

        generator_make(r, &g);
        way = (struct bad_way){ .faults = { .ctx = &way, .fate = fate_of } };
        g.world.transport = loopback_transport(r->net, &g.world, &way.faults);
        g.options.collect = true;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}") "---\n" CONFIG_MAP("two", "{}"));
        generator_start(&g);
        way.path = "labelSelector=fluxcd.io%2Fsync-gc-mark";
        way.fate = 503;
        way.times = 2;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        pass(&g, 5 * MINUTES + 10 * SECONDS);
        assert_null(way.path);
        assert_int_equal(rig_get(r, CONFIGS "two"), 404);
        assert_string_equal(g.repository.tag.hex, fake_hash(1).hex);
        assert_int_equal(events_of(r, "fleet-system", "SyncFailed", ""), 0);
        end(&g);
})

/* A namespace takes what is in it along, so it waits for what goes before it. */
RIG_TEST(what_goes_later_waits_for_a_deletion_that_may_yet_come_about, {
        struct bad_way way;
        struct generator g;

        generator_make(r, &g);
        way = (struct bad_way){ .faults = { .ctx = &way, .fate = fate_of } };
        g.world.transport = loopback_transport(r->net, &g.world, &way.faults);
        g.options.collect = true;
        commit_file(
                &g.repository, "a.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n---\n"
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: in, namespace: fresh}\n---\n" CONFIG_MAP(
                        "one", "{}"));
        generator_start(&g);
        way.path = "/namespaces/fresh/configmaps/in";
        way.method = "DELETE";
        way.fate = 503;
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{}"));
        pass(&g, 5 * MINUTES + 10 * SECONDS);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/fresh"), 200);
        assert_null(strstr(g.logged, "deleting  dry-run=false resource=<cluster>:namespace/fresh"));
        assert_string_equal(status_of(r, "failed"), "1");
        way.path = NULL;
        pass(&g, 5 * MINUTES + 10 * SECONDS);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/fresh"), 404);
        assert_string_equal(status_of(r, "failed"), "0");
        end(&g);
})

/* spec/flux-yaml.md checklist 50 */
RIG_TEST(a_request_is_answered_though_the_first_answers_are_lost, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/configmaps/job";
        way.method = "PATCH";
        way.fate = 429;
        way.skip = 2; /* queued, running */
        way.times = 3;
        ask(r, "job", "\"type\":\"sync\"");
        pass(&g, MINUTES);
        assert_null(way.path);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_SUCCEEDED);
        assert_string_equal(answer_of(r, "job", REQUEST_COMMIT), fake_hash(0).hex);
        assert_non_null(strstr(answer_of(r, "job", REQUEST_RESULT), "1 objects"));
        assert_int_equal(g.repository.checkouts, 2); /* at the start, and once for it */
        end(&g);
})

/* Asks for a sync; the word about it after `skip` others takes so long to the hub. */
static void ask_slowly(struct rig *r, struct generator *g, struct bad_way *way, int skip, int64_t slow_ms)
{
        begin(r, g, way, CONFIG_MAP("one", "{a: b}"));
        way->faults.fate = NULL;
        way->faults.delay = slow_first;
        way->path = "/configmaps/job";
        way->method = "PATCH";
        way->skip = skip;
        way->slow_ms = slow_ms;
        ask(r, "job", "\"type\":\"sync\"");
}

/* `nth` state that a request is told arrives late. */
static void tell_late(struct rig *r, int nth, int64_t slow_ms)
{
        struct bad_way way;
        struct generator g;

        ask_slowly(r, &g, &way, nth, slow_ms);
        pass(&g, 2 * MINUTES);
        assert_null(way.path);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_SUCCEEDED);
        end(&g);
}

RIG_TEST(that_a_request_is_queued_takes_the_place_of_no_later_word, { tell_late(r, 0, 3 * SECONDS); })

/* It arrives when the request was begun anew since, and is done. */
RIG_TEST(that_a_request_is_running_takes_the_place_of_no_answer, { tell_late(r, 1, 45 * SECONDS); })

/* It is on its way when its process ends, and the next one answers. */
RIG_TEST(an_answer_takes_the_place_of_no_other, {
        struct bad_way way;
        struct generator g;

        ask_slowly(r, &g, &way, 2 /* queued, running */, 20 * SECONDS);
        pass(&g, SECONDS);
        assert_null(way.path);
        generator_stop(&g);
        assert_int_equal(
                rig_merge(r, REQUESTS "/job",
                          "{\"metadata\":{\"annotations\":{\"fluxcd.io/request-status\":\"failed\"}}}"),
                200);
        pass(&g, MINUTES);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_FAILED);
        end(&g);
})

RIG_TEST(an_answer_is_given_though_somebody_changes_the_request_meanwhile, {
        struct bad_way way;
        struct generator g;

        ask_slowly(r, &g, &way, 2 /* queued, running */, 5 * SECONDS);
        pass(&g, SECONDS);
        assert_int_equal(rig_merge(r, REQUESTS "/job", "{\"metadata\":{\"labels\":{\"of\":\"ann\"}}}"), 200);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_RUNNING);
        pass(&g, 20 * SECONDS);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_SUCCEEDED);
        end(&g);
})

RIG_TEST(a_request_that_takes_no_word_holds_up_nobody, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/configmaps/job";
        way.method = "PATCH";
        way.fate = 503;
        way.skip = 1; /* queued */
        ask(r, "job", "\"type\":\"sync\"");
        pass(&g, SECONDS);
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: c}"));
        ask(r, "other", "\"type\":\"sync\"");
        pass(&g, 5 * SECONDS);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_QUEUED);
        assert_string_equal(answer_of(r, "other", REQUEST_STATUS), REQUEST_SUCCEEDED);
        commit_file(&g.repository, "a.yaml", CONFIG_MAP("one", "{a: d}"));
        pass(&g, 6 * MINUTES);
        assert_int_equal(rig_get(r, CONFIGS "one"), 200);
        assert_string_equal(rig_string(r, "data.a"), "d");
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_QUEUED);
        way.path = NULL;
        pass(&g, 6 * MINUTES);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_SUCCEEDED);
        end(&g);
})

RIG_TEST(a_request_is_queued_at_last_though_the_hub_refuses_that_for_long, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way, CONFIG_MAP("one", "{a: b}"));
        way.path = "/configmaps/job";
        way.method = "PATCH";
        way.fate = 403;
        ask(r, "job", "\"type\":\"sync\"");
        pass(&g, 4 * MINUTES);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), "");
        assert_int_equal(g.repository.checkouts, 1); /* nothing is done that cannot be told */
        way.path = NULL;
        pass(&g, 20 * MINUTES);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_SUCCEEDED);
        end(&g);
})

RIG_TEST(a_request_that_was_begun_before_a_crash_is_not_done_again_for_a_word_that_is_lost, {
        struct bad_way way;
        struct generator g;

        begin(r, &g, &way,
              "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: apps}\nspec:\n"
              "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n"
              "      containers:\n      - name: c\n        image: nginx:1.25\n");
        ask(r, "job", "\"type\":\"policy\",\"workloads\":\"apps:deployment/web\",\"add\":\"locked=true\"");
        pass(&g, SECONDS);
        assert_string_equal(answer_of(r, "job", REQUEST_COMMIT), fake_hash(1).hex);
        generator_stop(&g);
        assert_int_equal(rig_merge(r, REQUESTS "/job",
                                   "{\"metadata\":{\"annotations\":{\"fluxcd.io/request-status\":\"running\","
                                   "\"fluxcd.io/request-commit\":null}}}"),
                         200);
        commit_file(&g.repository, "b.yaml", "# somebody else's\n");
        way.path = "/configmaps/job";
        way.method = "PATCH";
        way.fate = 503;
        way.times = 3;
        generator_start(&g);
        pass(&g, 2 * MINUTES);
        assert_null(way.path);
        assert_string_equal(answer_of(r, "job", REQUEST_STATUS), REQUEST_SUCCEEDED);
        assert_string_equal(answer_of(r, "job", REQUEST_COMMIT), fake_hash(1).hex);
        assert_int_equal(g.repository.pushes, 1);
        end(&g);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(while_the_hub_is_away_nothing_is_lost),
                cmocka_unit_test(an_apply_whose_answer_is_lost_is_found_done),
                cmocka_unit_test(a_server_that_has_no_time_is_asked_again),
                cmocka_unit_test(a_right_that_is_missing_is_told_of_each_object),
                cmocka_unit_test(where_lists_are_refused_objects_are_asked_for_one_by_one),
                cmocka_unit_test(an_answer_that_does_not_arrive_is_given_again),
                cmocka_unit_test(a_repository_that_is_away_is_tried_until_it_is_back),
                cmocka_unit_test(a_tag_that_cannot_be_pushed_fails_the_sync_and_is_pushed_later),
                cmocka_unit_test(that_a_request_is_queued_takes_the_place_of_no_later_word),
                cmocka_unit_test(that_a_request_is_running_takes_the_place_of_no_answer),
                cmocka_unit_test(an_answer_takes_the_place_of_no_other),
                cmocka_unit_test(an_answer_is_given_though_somebody_changes_the_request_meanwhile),
                cmocka_unit_test(a_request_that_takes_no_word_holds_up_nobody),
                cmocka_unit_test(a_request_is_queued_at_last_though_the_hub_refuses_that_for_long),
                cmocka_unit_test(
                        a_request_that_was_begun_before_a_crash_is_not_done_again_for_a_word_that_is_lost),
                cmocka_unit_test(a_list_that_fails_once_is_asked_for_again_and_ends_no_collection),
                cmocka_unit_test(what_goes_later_waits_for_a_deletion_that_may_yet_come_about),
                cmocka_unit_test(a_request_is_answered_though_the_first_answers_are_lost),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
