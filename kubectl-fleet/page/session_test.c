/* Sessions, message by message. */
#include "kubectl-fleet/page/session_test.h"

/* ---- the token ---- */

DESK_TEST(a_good_token_is_greeted, {
        struct browser b;

        browser_enter(d, &b);
        assert_string_equal(doc_get_string(b.hello, "hub"), "hub");
        assert_true(doc_get_int(b.hello, "now", 0) >= WALL);
        assert_int_equal(d->core.n_sessions, 1);
        browser_go(&b);
        assert_int_equal(d->core.n_sessions, 0);
})

DESK_TEST(a_bad_token_ends_the_session, {
        static const char *const bad[] = { "{'token': 'wrong'}",           "{'token': ''}", "{'token': 5}",
                                           "{'open': 1, 'view': 'fleet'}", "no json",       "[]" };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                struct browser b;

                browser_come(d, &b);
                browser_say(&b, "%s", bad[i]);
                browser_say(&b, "{'open': 1, 'view': 'fleet'}");
                pass(d, 100);
                assert_true(b.ended);
                assert_int_equal(b.line.code, 4001);
                assert_null(b.hello);
                assert_int_equal(b.messages, 0);
                browser_go(&b);
        }
})

/* As over a slow line: it is not the token's fault, and the browser comes again. */
DESK_TEST(who_says_no_token_in_time_is_told_so_and_may_come_again, {
        struct browser b;

        browser_come(d, &b);
        pass(d, 9900);
        assert_false(b.ended);
        pass(d, 200);
        assert_true(b.ended);
        assert_int_equal(b.line.code, 1013);
        assert_string_equal(b.line.reason,
                            "your browser's token did not come within 10 s, as over a slow line: it is "
                            "tried again");
        browser_go(&b);
})

DESK_TEST(a_token_may_be_said_again, {
        struct browser b;

        browser_enter(d, &b);
        browser_say(&b, "{'token': '" TOKEN "'}");
        pass(d, 10);
        assert_false(b.ended);
        browser_say(&b, "{'token': 'wrong'}");
        pass(d, 10);
        assert_int_equal(b.line.code, 4001);
        browser_go(&b);
})

/* ---- what is large goes packed ---- */

static size_t look_at_many(struct desk *d, const char *token)
{
        struct browser b;
        size_t packed;

        browser_come(d, &b);
        browser_say(&b, "%s", token);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_int_equal(browser_rows(&b, "clusters"), 100);
        packed = b.line.n_packed;
        change_cluster(d, "c7", "new");
        pass(d, 1000);
        assert_int_equal(b.line.n_packed, packed); /* that one is small */
        browser_go(&b);
        return packed;
}

DESK_TEST(what_is_large_goes_packed_to_who_can_unpack_it, {
        for (int i = 0; i < 100; i++) {
                char name[8];

                snprintf(name, sizeof(name), "c%d", i);
                put_cluster(d, name);
        }
        assert_int_equal(look_at_many(d, "{'token': '" TOKEN "'}"), 0);
        assert_int_equal(look_at_many(d, "{'token': '" TOKEN "', 'packed': 'deflate-raw'}"), 1);
        assert_int_equal(look_at_many(d, "{'token': '" TOKEN "', 'packed': 'zstd'}"), 0);
        assert_int_equal(look_at_many(d, "{'token': '" TOKEN "', 'packed': 5}"), 0);
})

/* ---- views ---- */

DESK_TEST(a_view_comes_whole_and_then_what_changes, {
        struct browser b;

        put_cluster(d, "a");
        put_cluster(d, "b");
        put_placement(d, "web");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_int_equal(doc_get_int(browser_head(&b), "clusters.total", 0), 2);
        assert_int_equal(browser_rows(&b, "clusters"), 2);
        assert_int_equal(browser_rows(&b, "placements"), 1);
        assert_int_equal(b.messages, 1);
        b.rows = 0;
        change_cluster(d, "b", "new");
        pass(d, 1000);
        assert_int_equal(b.messages, 2);
        assert_int_equal(b.rows, 1);
        assert_null(json_object_get(b.last, "head")); /* it is as before */
        assert_string_equal(doc_get_string(browser_row(&b, "clusters", "b"), "labels.x"), "new");
        assert_int_equal(rig_delete(d->u->rig, CLUSTERS "memberclusters/a"), 200);
        pass(d, 1000);
        assert_int_equal(b.messages, 3);
        assert_null(browser_row(&b, "clusters", "a"));
        assert_int_equal(doc_get_int(browser_head(&b), "clusters.total", 0), 1);
        browser_go(&b);
})

DESK_TEST(a_quiet_view_shows_a_change_at_once_and_then_together, {
        struct browser b;

        put_cluster(d, "a");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 5000);
        b.messages = 0;
        change_cluster(d, "a", "1");
        pass(d, 5);
        assert_int_equal(b.messages, 1);
        for (int i = 0; i < 20; i++) {
                change_cluster(d, "a", i % 2 ? "2" : "3");
                pass(d, 10);
        }
        assert_true(b.messages <= 4);
        pass(d, 200);
        assert_string_equal(doc_get_string(browser_row(&b, "clusters", "a"), "labels.x"), "2");
        browser_go(&b);
})

static int need_nothing(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        return 0;
}

static int look_at_clock(const struct page_look *l, struct page_doc *d, struct error *err)
{
        return page_head(d, json_pack("{s:I}", "minutes", (json_int_t)((l->now_ms - WALL) / 60000)));
}

static const struct page_view clock_view = { .name = "clock", .need = need_nothing, .look = look_at_clock };
static const struct page_view *const clock_views[] = { &clock_view, NULL };

DESK_TEST(what_a_view_says_of_time_is_at_most_a_minute_old, {
        struct browser b;

        d->core.views = clock_views;
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'clock'}");
        pass(d, 1000);
        assert_int_equal(doc_get_int(browser_head(&b), "minutes", -1), 0);
        pass(d, 180000);
        assert_in_range(doc_get_int(browser_head(&b), "minutes", -1), 2, 3);
        assert_in_range(b.messages, 3, 4);
        browser_go(&b);
})

DESK_TEST(nothing_is_sent_while_nothing_changes, {
        struct browser b;
        size_t requests;

        put_cluster(d, "a");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 5000);
        b.messages = 0;
        requests = d->u->requests;
        pass(d, 100000);
        assert_int_equal(b.messages, 0);
        assert_int_equal(d->u->requests, requests);
        browser_go(&b);
})

DESK_TEST(a_closed_view_says_no_more_and_lets_go, {
        struct browser b;

        put_cluster(d, "a");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_int_equal(page_sources_count(d->core.sources), 5);
        b.messages = 0;
        browser_say(&b, "{'close': 1}");
        pass(d, 100);
        change_cluster(d, "a", "1");
        pass(d, PAGE_SOURCE_LINGER_MS - 1000);
        assert_int_equal(b.messages, 0);
        assert_int_equal(page_sources_count(d->core.sources), 5); /* people go back */
        pass(d, 2000);
        assert_int_equal(page_sources_count(d->core.sources), 0);
        browser_say(&b, "{'close': 1}"); /* once more is nothing */
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_int_equal(b.messages, 1);
        assert_null(b.fault);
        browser_go(&b);
})

DESK_TEST(two_who_look_share_what_is_read, {
        struct browser b[2];

        put_cluster(d, "a");
        for (int i = 0; i < 2; i++) {
                browser_enter(d, &b[i]);
                browser_say(&b[i], "{'open': 1, 'view': 'fleet'}");
                pass(d, 1000);
        }
        assert_int_equal(page_sources_count(d->core.sources), 5);
        change_cluster(d, "a", "1");
        pass(d, 1000);
        for (int i = 0; i < 2; i++) {
                assert_string_equal(doc_get_string(browser_row(&b[i], "clusters", "a"), "labels.x"), "1");
                browser_go(&b[i]);
        }
})

DESK_TEST(what_is_not_there_is_shown_when_it_comes, {
        struct browser b;

        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'cluster', 'args': {'name': 'a'}}");
        pass(d, 1000);
        assert_string_equal(doc_get_string(b.views, "1.error.code"), "not found");
        assert_int_equal(b.messages, 1);
        put_cluster(d, "b");
        pass(d, 1000);
        assert_int_equal(b.messages, 1); /* the same error is not said again */
        put_cluster(d, "a");
        pass(d, 1000);
        assert_null(doc_get(b.views, "1.error"));
        assert_string_equal(doc_get_string(browser_head(&b), "name"), "a");
        assert_int_equal(rig_delete(d->u->rig, CLUSTERS "memberclusters/a"), 200);
        pass(d, 1000);
        assert_string_equal(doc_get_string(b.views, "1.error.code"), "not found");
        put_cluster(d, "a");
        pass(d, 1000);
        assert_null(doc_get(b.views, "1.error"));
        browser_go(&b);
})

/* ---- what is in the way ---- */

static int refuse_placements(struct user *u, const struct http_request *rq)
{
        return strstr(rq->path, "/clusterresourceplacements") ? 403 : 0;
}

DESK_TEST(a_kind_without_rights_is_named_and_the_rest_is_shown, {
        struct browser b;

        put_cluster(d, "a");
        put_placement(d, "web");
        d->u->fate = refuse_placements;
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        assert_int_equal(browser_rows(&b, "placements"), 0);
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 1);
        assert_string_equal(doc_get_string(json_array_get(doc_get_array(b.views, "1.hidden"), 0), "kind"),
                            "ClusterResourcePlacement");
        d->u->fate = NULL; /* the right is granted */
        pass(d, 15000);
        assert_int_equal(browser_rows(&b, "placements"), 1);
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 0);
        browser_go(&b);
})

static int refuse_clusters(struct user *u, const struct http_request *rq)
{
        return strstr(rq->path, "/memberclusters") ? 403 : 0;
}

DESK_TEST(what_may_not_be_read_is_not_called_absent, {
        struct browser b;

        put_cluster(d, "a");
        d->u->fate = refuse_clusters;
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'cluster', 'args': {'name': 'a'}}");
        pass(d, 1000);
        assert_string_equal(doc_get_string(b.views, "1.error.code"), "forbidden");
        d->u->fate = NULL;
        loopback_listen(d->u->rig->net, "dev", NULL, NULL);
        browser_say(&b, "{'open': 2, 'view': 'cluster', 'args': {'name': 'b'}}");
        pass(d, 1000);
        assert_string_equal(doc_get_string(b.views, "2.error.code"), "retry");
        browser_go(&b);
})

DESK_TEST(a_kind_that_the_hub_lacks_is_no_error, {
        struct browser b;

        assert_int_equal(rig_delete(d->u->rig, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                                               "stagedupdateruns.placement.kubernetes-fleet.io"),
                         200);
        put_cluster(d, "a");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 0);
        assert_string_equal(json_string_value(json_array_get(doc_get_array(browser_head(&b), "lacks"), 0)),
                            "StagedUpdateRun");
        browser_go(&b);
})

DESK_TEST(a_hub_that_goes_away_and_comes_back_is_told, {
        struct browser b;
        struct rig *r = d->u->rig;

        put_cluster(d, "a");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 5000);
        loopback_listen(r->net, "dev", NULL, NULL);
        pass(d, 20000);
        assert_int_equal(browser_rows(&b, "clusters"), 1); /* what was read stays */
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 5);
        assert_non_null(strstr(doc_get_string(json_array_get(doc_get_array(b.views, "1.hidden"), 0), "why"),
                               "the hub cannot be read: connection refused"));
        assert_int_equal(loopback_listen(r->net, "dev", devcluster_handle, r->devcluster), 0);
        change_cluster(d, "a", "after");
        pass(d, 10000);
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 0);
        assert_string_equal(doc_get_string(browser_row(&b, "clusters", "a"), "labels.x"), "after");
        browser_go(&b);
})

/* Works are not told. */
static void answer_but_for_works(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;

        if (strstr(x->path, "/works"))
                (void)fiber_sleep(r->loop, 3600000);
        else
                devcluster_handle(r->devcluster, x);
}

/* Works, as long as there is a cluster. */
static int need_works(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        const struct page_need *clusters = page_need_of(l, &member_cluster_kind, 0);

        TRY(page_needs_add(ret, (struct fetch){ .kind = &member_cluster_kind }, err));
        return clusters && clusters->fetch.result.n
                       ? page_needs_add(ret, (struct fetch){ .kind = &work_kind, .metadata_only = true }, err)
                       : 0;
}

static int look_at_number(const struct page_look *l, struct page_doc *d, struct error *err)
{
        return page_head(d, json_pack("{s:I}", "clusters",
                                      (json_int_t)page_need_of(l, &member_cluster_kind, 0)->fetch.result.n));
}

static const struct page_view works_view = { .name = "works", .need = need_works, .look = look_at_number };
static const struct page_view *const works_views[] = { &works_view, NULL };

DESK_TEST(a_view_does_not_wait_for_what_it_needs_no_more, {
        struct browser b;
        struct rig *r = d->u->rig;

        put_cluster(d, "a");
        loopback_listen(r->net, "dev", NULL, NULL);
        assert_int_equal(loopback_listen(r->net, "dev", answer_but_for_works, r), 0);
        d->core.views = works_views;
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'works'}");
        pass(d, 1000);
        assert_null(browser_head(&b));
        assert_int_equal(rig_delete(r, CLUSTERS "memberclusters/a"), 200);
        pass(d, 1000);
        assert_int_equal(doc_get_int(browser_head(&b), "clusters", -1), 0);
        browser_go(&b);
})

/* ---- bad input ---- */

DESK_TEST(what_is_not_understood_is_a_fault_and_the_session_goes_on, {
        static const char *const bad[] = {
                "nonsense",
                "[1]",
                "{}",
                "{'open': 'x', 'view': 'fleet'}",
                "{'open': -1, 'view': 'fleet'}",
                "{'open': 1.5, 'view': 'fleet'}",
                "{'open': 9007199254740993, 'view': 'fleet'}",
                "{'open': 1, 'view': 'fleet', 'args': []}",
                "{'close': null}",
                "{'call': 0, 'do': 'x'}",
        };
        struct browser b;

        browser_enter(d, &b);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                browser_say(&b, "%s", bad[i]);
                pass(d, 10);
                assert_non_null(b.fault);
                json_decref(b.fault);
                b.fault = NULL;
        }
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_non_null(browser_head(&b));
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 10);
        assert_non_null(b.fault);
        assert_false(b.ended);
        browser_go(&b);
})

DESK_TEST(unknown_views_and_bad_arguments_are_told_in_the_views_place, {
        static const struct {
                const char *open, *text;
        } bad[] = {
                { "'view': 'nothing'", "there is no view \"nothing\"" },
                { "'view': 5", "there is no view \"\"" },
                { "'view': 'cluster'", "name: is needed" },
                { "'view': 'cluster', 'args': {'name': ''}", "name: must not be empty" },
                { "'view': 'cluster', 'args': {'name': ['a']}", "name: must be a string" },
                { "'view': 'cluster', 'args': {'name': '../x'}", "no MemberCluster can have that name" },
                { "'view': 'cluster', 'args': {'name': 'a,metadata.name=b'}", "can have that name" },
        };
        struct browser b;

        browser_enter(d, &b);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                json_decref(b.last);
                b.last = NULL;
                browser_say(&b, "{'open': %zu, %s}", i + 1, bad[i].open);
                pass(d, 100);
                assert_non_null(b.last);
                assert_int_equal(doc_get_int(b.last, "view", 0), i + 1);
                assert_non_null(strstr(doc_get_string(b.last, "error.text"), bad[i].text));
                browser_say(&b, "{'close': %zu}", i + 1);
        }
        browser_go(&b);
})

DESK_TEST(more_views_than_are_allowed_end_the_session, {
        struct browser b;

        browser_enter(d, &b);
        for (int i = 1; i <= PAGE_VIEWS_MAX; i++)
                browser_say(&b, "{'open': %d, 'view': 'fleet'}", i);
        pass(d, 1000);
        assert_int_equal(json_object_size(b.views), PAGE_VIEWS_MAX);
        assert_false(b.ended);
        browser_say(&b, "{'open': 100, 'view': 'fleet'}");
        pass(d, 100);
        assert_true(b.ended);
        assert_int_equal(b.line.code, 1008);
        browser_go(&b);
})

DESK_TEST(a_message_that_is_too_long_ends_the_session, {
        struct browser b;
        char *text = mem_alloc(PAGE_INBOUND_BYTES + 2);

        memset(text, ' ', PAGE_INBOUND_BYTES + 1);
        text[PAGE_INBOUND_BYTES + 1] = '\0';
        browser_enter(d, &b);
        assert_int_equal(vec_push(&b.line.said, text), 0);
        waitq_wake_all(&b.line.in);
        pass(d, 10);
        assert_int_equal(b.line.code, 1009);
        browser_go(&b);
})

DESK_TEST(more_sessions_than_are_allowed_are_sent_away, {
        static struct browser b[PAGE_SESSIONS_MAX + 1];

        for (size_t i = 0; i < PAGE_SESSIONS_MAX; i++)
                browser_enter(d, &b[i]);
        browser_come(d, &b[PAGE_SESSIONS_MAX]);
        browser_say(&b[PAGE_SESSIONS_MAX], "{'token': '" TOKEN "'}");
        pass(d, 10);
        assert_int_equal(b[PAGE_SESSIONS_MAX].line.code, 1013);
        for (size_t i = 0; i <= PAGE_SESSIONS_MAX; i++)
                browser_go(&b[i]);
})

DESK_TEST(who_says_no_token_keeps_nobody_out, {
        static struct browser b[PAGE_STRANGERS_MAX + 1];
        struct browser late;

        for (size_t i = 0; i <= PAGE_STRANGERS_MAX; i++) {
                browser_come(d, &b[i]);
                pass(d, 10);
        }
        assert_true(b[0].ended);
        assert_int_equal(b[0].line.code, 1013);
        assert_false(b[1].ended);
        browser_enter(d, &late);
        for (size_t i = 0; i <= PAGE_STRANGERS_MAX; i++)
                browser_go(&b[i]);
        assert_int_equal(d->core.n_strangers, 0);
        assert_int_equal(d->core.n_sessions, 1);
        browser_go(&late);
})

DESK_TEST(markup_and_long_texts_go_through_as_data, {
        AUTO_BUF struct buf patch;
        struct browser b;

        put_placement(d, "web");
        buf_init(&patch, 1u << 20);
        buf_append_str(&patch, "{\"status\":{\"conditions\":[{\"type\":"
                               "\"ClusterResourcePlacementScheduled\","
                               "\"status\":\"False\",\"reason\":\"x\",\"lastTransitionTime\":\"2026-01-"
                               "01T00:00:00Z\","
                               "\"observedGeneration\":1,\"message\":\"<script>alert(1)</script>");
        for (int i = 0; i < 30000; i++)
                buf_append_char(&patch, 'x');
        buf_append_str(&patch, "\"}]}}");
        if (rig_merge(d->u->rig, FLEET "clusterresourceplacements/web/status", patch.data) != 200)
                fail_msg("%s", d->u->rig->text);
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        assert_true(text_starts_with(doc_get_string(browser_row(&b, "placements", "crp/web"), "message"),
                                     "<script>alert(1)</script>xxx"));
        assert_int_equal(doc_get_int(browser_row(&b, "placements", "crp/web"), "messageBytes", 0), 30025);
        browser_go(&b);
})

/* ---- slow ---- */

DESK_TEST(who_reads_nothing_is_cut_after_a_while, {
        struct browser b;

        put_cluster(d, "a");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        b.line.queued = PAGE_QUEUE_BYTES + 1;
        change_cluster(d, "a", "1");
        pass(d, PAGE_READ_MS - 1000);
        assert_false(b.ended);
        pass(d, 2000);
        assert_true(b.ended);
        assert_int_equal(b.line.code, 1008);
        browser_go(&b);
})

DESK_TEST(who_reads_slowly_gets_the_newest_once, {
        struct browser b;

        put_cluster(d, "a");
        browser_enter(d, &b);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
        b.messages = 0;
        b.line.queued = PAGE_QUEUE_BYTES + 1;
        for (int i = 0; i < 10; i++) {
                change_cluster(d, "a", i % 2 ? "1" : "0");
                pass(d, 1000);
        }
        assert_int_equal(b.messages, 0);
        b.line.queued = 0;
        waitq_wake_all(&b.line.out);
        pass(d, 1000);
        assert_int_equal(b.messages, 2); /* what was under way, and the rest */
        assert_string_equal(doc_get_string(browser_row(&b, "clusters", "a"), "labels.x"), "1");
        browser_go(&b);
})

/* ---- calls ---- */

static int do_slowly(const struct page_user *u, const json_t *args, struct arena *arena, json_t **ret,
                     struct error *err)
{
        TRY(fiber_sleep(u->world->loop, 1000));
        if (json_object_get(args, "fail")) {
                error_set(err, ERR_FORBIDDEN, "that is not for you");
                err->http_status = 403;
                return ERR_FORBIDDEN;
        }
        *ret = json_pack("{s:s}", "ok", "yes");
        return 0;
}

static const struct page_action slow_action = { .name = "slow", .run = do_slowly };
static const struct page_action *const slow_actions[] = { &slow_action, NULL };

DESK_TEST(a_call_is_answered_once, {
        struct browser b;

        d->core.actions = slow_actions;
        browser_enter(d, &b);
        browser_say(&b, "{'call': 7, 'do': 'slow'}");
        browser_say(&b, "{'call': 8, 'do': 'slow', 'args': {'fail': 'x'}}");
        browser_say(&b, "{'call': 9, 'do': 'else'}");
        pass(d, 2000);
        assert_string_equal(doc_get_string(b.calls, "7.done.ok"), "yes");
        assert_string_equal(doc_get_string(b.calls, "8.error.code"), "forbidden");
        assert_int_equal(doc_get_int(b.calls, "8.error.status", 0), 403);
        assert_string_equal(doc_get_string(b.calls, "8.error.text"), "that is not for you");
        assert_non_null(doc_get_string(b.calls, "9.error.text"));
        browser_go(&b);
})

DESK_TEST(a_few_calls_go_on_at_once_and_end_with_the_session, {
        struct browser b;

        d->core.actions = slow_actions;
        browser_enter(d, &b);
        for (int i = 1; i <= PAGE_CALLS_MAX + 1; i++)
                browser_say(&b, "{'call': %d, 'do': 'slow'}", i);
        pass(d, 100);
        assert_int_equal(json_object_size(b.calls), 1);
        assert_string_equal(doc_get_string(b.calls, "5.error.code"), "too many");
        browser_go(&b);
})

/* ---- no memory ---- */

static bool use_once(struct desk *d, uint64_t fail_at)
{
        struct browser b;
        bool fired;

        browser_come(d, &b);
        browser_say(&b, "{'token': '" TOKEN "'}");
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        browser_say(&b, "{'open': 2, 'view': 'cluster', 'args': {'name': 'a'}}");
        browser_say(&b, "{'call': 1, 'do': 'slow'}");
        browser_say(&b, "{'close': 2}");
        mem_fail_at(fail_at, false);
        fiber_sleep(b.loop, 20);
        fired = mem_fault_fired();
        mem_fail_at(0, false);
        pass(d, 3000);
        if (!b.ended && b.hello && !doc_get(b.views, "1.error"))
                assert_int_equal(browser_rows(&b, "clusters"), 1);
        browser_go(&b);
        return fired;
}

DESK_TEST(any_allocation_may_fail, {
        struct browser b;
        uint64_t n = 1;

        d->core.actions = slow_actions;
        put_cluster(d, "a");
        browser_enter(d, &b); /* keeps the sources */
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        browser_say(&b, "{'open': 2, 'view': 'cluster', 'args': {'name': 'a'}}");
        pass(d, 1000);
        while (use_once(d, n))
                n++;
        assert_true(n > 100);
        assert_false(b.ended);
        browser_go(&b);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_good_token_is_greeted),
                cmocka_unit_test(a_bad_token_ends_the_session),
                cmocka_unit_test(who_says_no_token_in_time_is_told_so_and_may_come_again),
                cmocka_unit_test(a_token_may_be_said_again),
                cmocka_unit_test(what_is_large_goes_packed_to_who_can_unpack_it),
                cmocka_unit_test(a_view_comes_whole_and_then_what_changes),
                cmocka_unit_test(a_quiet_view_shows_a_change_at_once_and_then_together),
                cmocka_unit_test(what_a_view_says_of_time_is_at_most_a_minute_old),
                cmocka_unit_test(nothing_is_sent_while_nothing_changes),
                cmocka_unit_test(a_closed_view_says_no_more_and_lets_go),
                cmocka_unit_test(two_who_look_share_what_is_read),
                cmocka_unit_test(what_is_not_there_is_shown_when_it_comes),
                cmocka_unit_test(a_kind_without_rights_is_named_and_the_rest_is_shown),
                cmocka_unit_test(what_may_not_be_read_is_not_called_absent),
                cmocka_unit_test(a_kind_that_the_hub_lacks_is_no_error),
                cmocka_unit_test(a_hub_that_goes_away_and_comes_back_is_told),
                cmocka_unit_test(a_view_does_not_wait_for_what_it_needs_no_more),
                cmocka_unit_test(what_is_not_understood_is_a_fault_and_the_session_goes_on),
                cmocka_unit_test(unknown_views_and_bad_arguments_are_told_in_the_views_place),
                cmocka_unit_test(more_views_than_are_allowed_end_the_session),
                cmocka_unit_test(a_message_that_is_too_long_ends_the_session),
                cmocka_unit_test(more_sessions_than_are_allowed_are_sent_away),
                cmocka_unit_test(who_says_no_token_keeps_nobody_out),
                cmocka_unit_test(markup_and_long_texts_go_through_as_data),
                cmocka_unit_test(who_reads_nothing_is_cut_after_a_while),
                cmocka_unit_test(who_reads_slowly_gets_the_newest_once),
                cmocka_unit_test(a_call_is_answered_once),
                cmocka_unit_test(a_few_calls_go_on_at_once_and_end_with_the_session),
                cmocka_unit_test(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
