/* Users of the hub at the page: their tokens and rights, message by message, as an API server with RBAC tells
 * them. */
#include "kubectl-fleet/page/journal.h"
#include "kubectl-fleet/page/session_test.h"

#define ACCOUNTS "/api/v1/namespaces/default/serviceaccounts"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/"
#define FAR 3600

/* ---- accounts and their rights ---- */

static void without_page_token(struct desk *d)
{
        d->core.gate.token = NULL;
}

/* A token of the account, which is made if it is not there; the rig's arena has it. */
static const char *token_of(struct desk *d, const char *name, int seconds)
{
        struct rig *r = d->u->rig;

        rig_post(r, ACCOUNTS, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"}}", name));
        assert_int_equal(rig_post(r, arena_printf(&r->arena, ACCOUNTS "/%s/token", name),
                                  arena_printf(&r->arena, "{\"spec\":{\"expirationSeconds\":%d}}", seconds)),
                         201);
        return arena_strdup(&r->arena, rig_string(r, "status.token"));
}

static void bind(struct desk *d, const char *where, const char *of, const char *name, const char *account,
                 const char *resources, const char *verbs)
{
        struct rig *r = d->u->rig;
        const char *what = text_equal(of, "ClusterRole") ? "clusterrole" : "role";

        assert_int_equal(
                rig_post(r, arena_printf(&r->arena, RBAC "%s%ss", where, what),
                         arena_printf(&r->arena,
                                      "{\"metadata\":{\"name\":\"%s\"},\"rules\":[{\"apiGroups\":[\"*\"],"
                                      "\"resources\":[%s],\"verbs\":[%s]}]}",
                                      name, resources, verbs)),
                201);
        assert_int_equal(
                rig_post(r, arena_printf(&r->arena, RBAC "%s%sbindings", where, what),
                         arena_printf(
                                 &r->arena,
                                 "{\"metadata\":{\"name\":\"%s\"},\"roleRef\":{\"apiGroup\":\"rbac."
                                 "authorization.k8s.io\",\"kind\":\"%s\",\"name\":\"%s\"},\"subjects\":[{"
                                 "\"kind\":\"ServiceAccount\",\"name\":\"%s\",\"namespace\":\"default\"}]}",
                                 name, of, name, account)),
                201);
}

static void allow(struct desk *d, const char *name, const char *account, const char *resources)
{
        bind(d, "", "ClusterRole", name, account, resources, "\"list\",\"watch\"");
}

static void take_away(struct desk *d, const char *name)
{
        char path[256];

        snprintf(path, sizeof(path), RBAC "clusterrolebindings/%s", name);
        assert_int_equal(rig_delete(d->u->rig, path), 200);
}

#define EVERYTHING "\"*\""

static void sign_in(struct desk *d, struct browser *b, const char *token)
{
        browser_come(d, b);
        b->line.socket.remote_address = "192.0.2.1";
        browser_say(b, "{'token': '%s'}", token);
        pass(d, 100);
}

static void look_at_fleet(struct desk *d, struct browser *b)
{
        browser_say(b, "{'open': 1, 'view': 'fleet'}");
        pass(d, 1000);
}

/* Why the kind is not shown in view 1; NULL = it is. */
static const char *why_hidden(const struct browser *b, const char *kind)
{
        size_t i;
        json_t *one;

        json_array_foreach(doc_get_array(b->views, "1.hidden"), i, one)
                if (text_equal(doc_get_string(one, "kind"), kind))
                        return doc_get_string(one, "why");
        return NULL;
}

/* ---- tokens ---- */

DESK_TEST(a_token_of_the_hub_is_greeted_by_its_owners_name, {
        struct browser b;

        without_page_token(d);
        sign_in(d, &b, token_of(d, "eve", FAR));
        assert_string_equal(doc_get_string(b.hello, "user"), "system:serviceaccount:default:eve");
        browser_go(&b);
})

DESK_TEST(a_token_that_the_hub_does_not_know_ends_the_session, {
        static const char *const bad[] = { "xyzzy", "eyJhbGciOiJub25lIn0.e30.", "" };

        without_page_token(d);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                struct browser b;

                sign_in(d, &b, bad[i]);
                assert_int_equal(b.line.code, 4001);
                assert_null(b.hello);
                if (*bad[i])
                        assert_null(strstr(b.line.reason, bad[i]));
                browser_go(&b);
        }
})

DESK_TEST(what_can_be_no_token_is_not_sent_to_the_hub, {
        static const char *const bad[] = { "a b", "a\\r\\nImpersonate-User: admin", "\\u00e4", "a;b" };

        without_page_token(d);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                struct browser b;
                size_t requests = d->u->requests;

                sign_in(d, &b, bad[i]);
                assert_int_equal(b.line.code, 4001);
                assert_int_equal(d->u->requests, requests);
                browser_go(&b);
        }
})

DESK_TEST(a_token_that_expires_ends_the_session_then, {
        struct browser b;

        without_page_token(d);
        sign_in(d, &b, token_of(d, "eve", 600));
        pass(d, 598 * 1000);
        assert_false(b.ended);
        pass(d, 3000);
        assert_int_equal(b.line.code, 4002);
        browser_go(&b);
})

DESK_TEST(a_token_that_is_taken_away_ends_the_session_within_a_minute, {
        struct browser b;

        without_page_token(d);
        sign_in(d, &b, token_of(d, "eve", FAR));
        pass(d, 200 * 1000);
        assert_false(b.ended);
        assert_int_equal(rig_delete(d->u->rig, ACCOUNTS "/eve"), 200);
        pass(d, 61 * 1000);
        assert_int_equal(b.line.code, 4002);
        browser_go(&b);
})

static int no_reviews(struct user *u, const struct http_request *rq)
{
        return strstr(rq->path, "/tokenreviews") ? 401 : 0;
}

DESK_TEST(whose_token_it_is_must_be_known_at_first_and_every_two_minutes, {
        struct browser b, other;

        without_page_token(d);
        sign_in(d, &b, token_of(d, "eve", FAR));
        d->u->fate = no_reviews; /* of the page's own account: says nothing about the token */
        sign_in(d, &other, token_of(d, "eve", FAR));
        assert_int_equal(other.line.code, 1013);
        assert_non_null(strstr(doc_get_string(other.fault, "text"), "cannot tell whose token this is"));
        pass(d, 100 * 1000);
        assert_false(b.ended);
        pass(d, 30 * 1000);
        assert_int_equal(b.line.code, 4002);
        browser_go(&other);
        browser_go(&b);
})

DESK_TEST(bad_tokens_do_not_flood_the_hub, {
        struct browser b;
        size_t before;

        without_page_token(d);
        before = d->u->requests;
        for (int i = 0; i < PAGE_TRIES_EACH; i++) {
                sign_in(d, &b, "bad");
                assert_int_equal(b.line.code, 4001);
                browser_go(&b);
        }
        assert_int_equal(d->u->requests, before + PAGE_TRIES_EACH);
        sign_in(d, &b, "bad");
        assert_int_equal(b.line.code, 1013);
        assert_non_null(strstr(doc_get_string(b.fault, "text"), "too many bad tokens"));
        browser_go(&b);
        assert_int_equal(d->u->requests, before + PAGE_TRIES_EACH);
        pass(d, PAGE_TRY_MS);
        sign_in(d, &b, token_of(d, "eve", FAR));
        assert_non_null(b.hello);
        browser_go(&b);
})

/* ---- what is shown ---- */

static void put_fleet(struct desk *d)
{
        put_cluster(d, "a");
        put_placement(d, "web");
}

DESK_TEST(each_kind_is_shown_to_those_alone_who_may_list_it, {
        struct browser all, some, none;

        without_page_token(d);
        put_fleet(d);
        allow(d, "all", "ada", EVERYTHING);
        allow(d, "some", "bob", "\"clusterresourceplacements\"");
        sign_in(d, &all, token_of(d, "ada", FAR));
        sign_in(d, &some, token_of(d, "bob", FAR));
        sign_in(d, &none, token_of(d, "eve", FAR));
        look_at_fleet(d, &all);
        look_at_fleet(d, &some);
        look_at_fleet(d, &none);
        assert_int_equal(browser_rows(&all, "clusters"), 1);
        assert_int_equal(browser_rows(&all, "placements"), 1);
        assert_int_equal(json_array_size(doc_get_array(all.views, "1.hidden")), 0);
        assert_int_equal(browser_rows(&some, "clusters"), 0);
        assert_int_equal(browser_rows(&some, "placements"), 1);
        assert_int_equal(doc_get_int(browser_head(&some), "clusters.total", 0), 0);
        assert_string_equal(why_hidden(&some, "MemberCluster"),
                            "system:serviceaccount:default:bob may not list "
                            "memberclusters.cluster.kubernetes-fleet.io");
        assert_null(why_hidden(&some, "ClusterResourcePlacement"));
        assert_string_equal(why_hidden(&some, "ResourcePlacement"),
                            "system:serviceaccount:default:bob may not list "
                            "resourceplacements.placement.kubernetes-fleet.io in all namespaces together");
        assert_int_equal(browser_rows(&none, "clusters") + browser_rows(&none, "placements"), 0);
        assert_int_equal(json_array_size(doc_get_array(none.views, "1.hidden")), 5);
        browser_go(&none);
        browser_go(&some);
        browser_go(&all);
})

DESK_TEST(who_may_list_but_not_watch_is_shown_nothing, {
        struct browser b;

        without_page_token(d);
        put_fleet(d);
        bind(d, "", "ClusterRole", "half", "eve", EVERYTHING, "\"list\"");
        sign_in(d, &b, token_of(d, "eve", FAR));
        look_at_fleet(d, &b);
        assert_int_equal(browser_rows(&b, "clusters"), 0);
        assert_non_null(strstr(why_hidden(&b, "MemberCluster"), "may not watch memberclusters"));
        browser_go(&b);
})

DESK_TEST(a_cluster_that_may_not_be_seen_is_not_called_absent, {
        struct browser b;

        without_page_token(d);
        put_fleet(d);
        allow(d, "some", "eve", "\"clusterresourceplacements\"");
        sign_in(d, &b, token_of(d, "eve", FAR));
        browser_say(&b, "{'open': 1, 'view': 'cluster', 'args': {'name': 'a'}}");
        browser_say(&b, "{'open': 2, 'view': 'cluster', 'args': {'name': 'none'}}");
        pass(d, 1000);
        assert_string_equal(doc_get_string(b.views, "1.error.text"), doc_get_string(b.views, "2.error.text"));
        assert_string_equal(doc_get_string(b.views, "1.error.code"), "forbidden");
        browser_go(&b);
})

DESK_TEST(rights_in_one_namespace_show_that_one, {
        struct browser b;

        without_page_token(d);
        assert_int_equal(rig_post(d->u->rig, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}"),
                         201);
        store(d->u, FLEET "namespaces/team/resourceplacements",
              "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ResourcePlacement','metadata':{"
              "'name':'mine'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':'ConfigMap',"
              "'name':'x'}]}}");
        bind(d, "namespaces/team/", "Role", "team", "eve", EVERYTHING, "\"list\",\"watch\"");
        sign_in(d, &b, token_of(d, "eve", FAR));
        browser_say(&b,
                    "{'open': 1, 'view': 'placement', 'args': {'kind': 'rp', 'ns': 'team', 'name': 'mine'}}");
        browser_say(
                &b,
                "{'open': 2, 'view': 'placement', 'args': {'kind': 'rp', 'ns': 'other', 'name': 'mine'}}");
        browser_say(&b, "{'open': 3, 'view': 'fleet'}");
        pass(d, 2000);
        assert_non_null(browser_head(&b));
        assert_null(doc_get(b.views, "1.error"));
        assert_non_null(strstr(doc_get_string(b.views, "2.error.text"), "in namespace \"other\""));
        assert_int_equal(json_object_size(doc_get_object(b.views, "3.parts")), 0);
        assert_int_equal(json_array_size(doc_get_array(b.views, "3.hidden")), 5);
        browser_go(&b);
})

/* What page.c does: the journal hears of all that the page keeps. */
struct witness {
        struct page_use use;
        struct page_journal *journal;
};

static void hear(struct page_use *u, const struct informer_event *e)
{
        page_journal_take(container_of(u, struct witness, use)->journal, e, WALL);
}

static void hear_nothing(struct page_use *u)
{
}

static void follow(struct desk *d, struct witness *w, const struct kind *kind, struct page_journal *j)
{
        const struct fetch f = { .kind = kind };

        *w = (struct witness){ .use = { .changed = hear_nothing, .event = hear }, .journal = j };
        assert_int_equal(page_use_begin(d->core.sources, &f, &w->use, NULL), 0);
}

DESK_TEST(the_timeline_tells_of_the_kinds_that_one_may_list, {
        struct page_journal *j = page_journal_new(WALL, 0, 0);
        struct witness clusters, placements;
        struct browser b;

        d->core.journal = j;
        follow(d, &clusters, &member_cluster_kind, j);
        follow(d, &placements, &cluster_resource_placement_kind, j);
        put_fleet(d);
        without_page_token(d);
        allow(d, "some", "bob", "\"clusterresourceplacements\"");
        allow(d, "more", "bob", "\"memberclusters\"");
        sign_in(d, &b, token_of(d, "bob", FAR));
        browser_say(&b, "{'open': 1, 'view': 'timeline'}");
        pass(d, 1000);
        assert_non_null(browser_row(&b, "subjects", "cluster/a"));
        assert_non_null(browser_row(&b, "subjects", "crp/web"));
        take_away(d, "more");
        pass(d, 60 * 1000);
        assert_null(browser_row(&b, "subjects", "cluster/a"));
        assert_non_null(browser_row(&b, "subjects", "crp/web"));
        assert_non_null(why_hidden(&b, "MemberCluster"));
        browser_go(&b);
        page_use_end(&clusters.use);
        page_use_end(&placements.use);
        page_journal_free(j);
})

/* ---- rights come and go ---- */

DESK_TEST(a_right_that_is_taken_away_takes_its_rows_within_a_minute, {
        struct browser b;

        without_page_token(d);
        put_fleet(d);
        allow(d, "some", "eve", "\"clusterresourceplacements\"");
        allow(d, "more", "eve", "\"memberclusters\"");
        sign_in(d, &b, token_of(d, "eve", FAR));
        look_at_fleet(d, &b);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        take_away(d, "more");
        pass(d, 60 * 1000);
        assert_int_equal(browser_rows(&b, "clusters"), 0);
        assert_int_equal(browser_rows(&b, "placements"), 1);
        assert_int_equal(doc_get_int(browser_head(&b), "clusters.total", 0), 0);
        assert_non_null(strstr(why_hidden(&b, "MemberCluster"), "may not list memberclusters"));
        browser_go(&b);
})

DESK_TEST(a_right_that_is_granted_shows_its_rows_within_a_minute, {
        struct browser b;

        without_page_token(d);
        put_fleet(d);
        sign_in(d, &b, token_of(d, "eve", FAR));
        look_at_fleet(d, &b);
        allow(d, "some", "eve", EVERYTHING);
        pass(d, 60 * 1000);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 0);
        browser_go(&b);
})

DESK_TEST(open_views_go_over_to_the_rights_of_a_new_token, {
        struct browser b;

        without_page_token(d);
        put_fleet(d);
        allow(d, "all", "ada", EVERYTHING);
        sign_in(d, &b, token_of(d, "ada", FAR));
        look_at_fleet(d, &b);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        browser_say(&b, "{'token': '%s'}", token_of(d, "eve", FAR));
        pass(d, 1000);
        assert_string_equal(doc_get_string(b.hello, "user"), "system:serviceaccount:default:eve");
        assert_int_equal(browser_rows(&b, "clusters"), 0);
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 5);
        browser_go(&b);
})

DESK_TEST(rights_are_asked_for_once_a_minute, {
        struct browser b;
        size_t before;

        without_page_token(d);
        put_fleet(d);
        allow(d, "all", "ada", EVERYTHING);
        sign_in(d, &b, token_of(d, "ada", FAR));
        look_at_fleet(d, &b);
        b.messages = 0;
        before = d->u->requests;
        pass(d, 10 * 60 * 1000);
        assert_int_equal(b.messages, 0);
        /* a TokenReview and two questions for each of five kinds, which are asked anew after it */
        assert_true(d->u->requests - before <= 10 * (1 + 2 * 2 * 5) + 60);
        browser_go(&b);
})

/* ---- the hub does not answer ---- */

static int no_access_reviews(struct user *u, const struct http_request *rq)
{
        return strstr(rq->path, "/subjectaccessreviews") ? 403 : 0;
}

DESK_TEST(what_may_be_shown_must_be_known, {
        struct browser b;

        without_page_token(d);
        put_fleet(d);
        allow(d, "all", "ada", EVERYTHING);
        d->u->fate = no_access_reviews;
        sign_in(d, &b, token_of(d, "ada", FAR));
        look_at_fleet(d, &b);
        assert_int_equal(browser_rows(&b, "clusters"), 0);
        assert_non_null(
                strstr(why_hidden(&b, "MemberCluster"), "the hub cannot tell whether you may see it"));
        d->u->fate = NULL;
        pass(d, 10 * 1000);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        assert_int_equal(json_array_size(doc_get_array(b.views, "1.hidden")), 0);
        browser_go(&b);
})

DESK_TEST(while_the_hub_is_away_what_was_shown_goes_and_comes_back, {
        struct browser b;
        struct rig *r = d->u->rig;

        without_page_token(d);
        put_fleet(d);
        allow(d, "all", "ada", EVERYTHING);
        sign_in(d, &b, token_of(d, "ada", FAR));
        look_at_fleet(d, &b);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        loopback_listen(r->net, "dev", NULL, NULL);
        pass(d, 60 * 1000);
        assert_false(b.ended);
        assert_int_equal(browser_rows(&b, "clusters"), 0);
        assert_non_null(why_hidden(&b, "MemberCluster"));
        assert_int_equal(loopback_listen(r->net, "dev", devcluster_handle, r->devcluster), 0);
        pass(d, 30 * 1000);
        assert_int_equal(browser_rows(&b, "clusters"), 1);
        assert_false(b.ended);
        browser_go(&b);
})

/* ---- what is done ---- */

static void put_request(struct desk *d)
{
        store(d->u, FLEET "clusterapprovalrequests",
              "{'apiVersion':'placement.kubernetes-fleet.io/"
              "v1beta1','kind':'ClusterApprovalRequest','metadata':"
              "{'name':'gate'},'spec':{'parentStageRollout':'run','targetStage':'canary'}}");
}

DESK_TEST(what_is_done_is_done_with_the_users_own_token, {
        struct browser b;

        without_page_token(d);
        put_request(d);
        allow(d, "all", "eve", EVERYTHING);
        sign_in(d, &b, token_of(d, "eve", FAR));
        browser_say(
                &b,
                "{'call': 1, 'do': 'approve', 'args': {'kind': 'careq', 'name': 'gate', 'planHash': ''}}");
        pass(d, 1000);
        assert_int_equal(doc_get_int(b.calls, "1.error.status", 0), 403);
        assert_non_null(strstr(doc_get_string(b.calls, "1.error.text"), "system:serviceaccount:default:eve"));
        bind(d, "", "ClusterRole", "approver", "eve",
             "\"clusterapprovalrequests\",\"clusterapprovalrequests/status\"",
             "\"get\",\"patch\",\"update\"");
        browser_say(
                &b,
                "{'call': 2, 'do': 'approve', 'args': {'kind': 'careq', 'name': 'gate', 'planHash': ''}}");
        pass(d, 1000);
        assert_true(doc_get_bool(b.calls, "2.done.changed", false));
        browser_go(&b);
})

/* ---- no memory ---- */

static bool enter_once(struct desk *d, const char *token, uint64_t fail_at)
{
        struct browser b;
        bool fired;

        browser_come(d, &b);
        b.line.socket.remote_address = "192.0.2.1";
        browser_say(&b, "{'token': '%s'}", token);
        browser_say(&b, "{'open': 1, 'view': 'fleet'}");
        mem_fail_at(fail_at, false);
        fiber_sleep(b.loop, 20);
        fired = mem_fault_fired();
        mem_fail_at(0, false);
        pass(d, PAGE_AGAIN_MS + 2000);
        assert_int_equal(browser_rows(&b, "clusters"), 0);
        if (!b.ended && b.hello && !doc_get(b.views, "1.error")) {
                assert_int_equal(browser_rows(&b, "placements"), 1);
                assert_non_null(why_hidden(&b, "MemberCluster"));
        }
        browser_go(&b);
        pass(d, PAGE_TRY_MS);
        return fired;
}

DESK_TEST(any_allocation_may_fail_and_nothing_is_shown_for_it, {
        const char *token;
        uint64_t n = 1;

        without_page_token(d);
        put_fleet(d);
        allow(d, "some", "bob", "\"clusterresourceplacements\"");
        token = token_of(d, "bob", 100 * FAR);
        while (enter_once(d, token, n))
                n++;
        assert_true(n > 100);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_token_of_the_hub_is_greeted_by_its_owners_name),
                cmocka_unit_test(a_token_that_the_hub_does_not_know_ends_the_session),
                cmocka_unit_test(what_can_be_no_token_is_not_sent_to_the_hub),
                cmocka_unit_test(a_token_that_expires_ends_the_session_then),
                cmocka_unit_test(a_token_that_is_taken_away_ends_the_session_within_a_minute),
                cmocka_unit_test(whose_token_it_is_must_be_known_at_first_and_every_two_minutes),
                cmocka_unit_test(bad_tokens_do_not_flood_the_hub),
                cmocka_unit_test(each_kind_is_shown_to_those_alone_who_may_list_it),
                cmocka_unit_test(who_may_list_but_not_watch_is_shown_nothing),
                cmocka_unit_test(a_cluster_that_may_not_be_seen_is_not_called_absent),
                cmocka_unit_test(rights_in_one_namespace_show_that_one),
                cmocka_unit_test(the_timeline_tells_of_the_kinds_that_one_may_list),
                cmocka_unit_test(a_right_that_is_taken_away_takes_its_rows_within_a_minute),
                cmocka_unit_test(a_right_that_is_granted_shows_its_rows_within_a_minute),
                cmocka_unit_test(open_views_go_over_to_the_rights_of_a_new_token),
                cmocka_unit_test(rights_are_asked_for_once_a_minute),
                cmocka_unit_test(what_may_be_shown_must_be_known),
                cmocka_unit_test(while_the_hub_is_away_what_was_shown_goes_and_comes_back),
                cmocka_unit_test(what_is_done_is_done_with_the_users_own_token),
                cmocka_unit_test(any_allocation_may_fail_and_nothing_is_shown_for_it),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
