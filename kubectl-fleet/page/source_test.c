#include "kubectl-fleet/page/session_test.h"

struct watcher {
        struct page_use use;
        unsigned told;
};

static void tell(struct page_use *u)
{
        container_of(u, struct watcher, use)->told++;
}

static void begin(struct desk *d, struct watcher *w, struct fetch f)
{
        *w = (struct watcher){ .use = { .changed = tell } };
        assert_int_equal(page_use_begin(d->core.sources, &f, &w->use, NULL), 0);
        pass(d, 1000);
}

static size_t count(const struct watcher *w, struct page_need *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_int_equal(page_use_read(&w->use, &arena, ret), 0);
        return ret->fetch.result.n;
}

DESK_TEST(the_same_list_is_read_once, {
        struct watcher a, b, labelled;
        struct page_need n;

        put_cluster(d, "a");
        begin(d, &a, (struct fetch){ .kind = &member_cluster_kind });
        begin(d, &b, (struct fetch){ .kind = &member_cluster_kind });
        assert_int_equal(page_sources_count(d->core.sources), 1);
        begin(d, &labelled, (struct fetch){ .kind = &member_cluster_kind, .selector = "region=us" });
        assert_int_equal(page_sources_count(d->core.sources), 2);
        assert_int_equal(count(&a, &n), 1);
        assert_true(n.filled);
        assert_null(n.problem);
        assert_int_equal(count(&labelled, &n), 0);
        a.told = b.told = labelled.told = 0;
        put_cluster(d, "b");
        pass(d, 100);
        assert_int_equal(a.told, 1);
        assert_int_equal(b.told, 1);
        assert_int_equal(labelled.told, 0);
        page_use_end(&a.use);
        page_use_end(&b.use);
        page_use_end(&labelled.use);
})

DESK_TEST(one_object_is_taken_from_a_list_that_is_kept, {
        struct watcher all, one, none;
        struct page_need n;

        put_cluster(d, "a");
        put_cluster(d, "b");
        begin(d, &all, (struct fetch){ .kind = &member_cluster_kind });
        begin(d, &one, (struct fetch){ .kind = &member_cluster_kind, .name = "a" });
        begin(d, &none, (struct fetch){ .kind = &member_cluster_kind, .name = "c" });
        assert_int_equal(page_sources_count(d->core.sources), 1);
        assert_int_equal(count(&one, &n), 1);
        assert_int_equal(count(&none, &n), 0);
        one.told = none.told = 0;
        change_cluster(d, "b", "x");
        pass(d, 100);
        assert_int_equal(one.told, 0);
        change_cluster(d, "a", "x");
        pass(d, 100);
        assert_int_equal(one.told, 1);
        assert_int_equal(none.told, 0);
        page_use_end(&all.use);
        page_use_end(&one.use);
        page_use_end(&none.use);
})

DESK_TEST(one_placement_is_read_by_itself, {
        struct watcher all, one;
        struct page_need n;

        put_placement(d, "web");
        begin(d, &all, (struct fetch){ .kind = &cluster_resource_placement_kind });
        begin(d, &one, (struct fetch){ .kind = &cluster_resource_placement_kind, .name = "web" });
        assert_int_equal(page_sources_count(d->core.sources), 2); /* the list's is not whole */
        assert_int_equal(count(&one, &n), 1);
        page_use_end(&all.use);
        page_use_end(&one.use);
})

DESK_TEST(what_nobody_uses_lingers_and_is_stopped, {
        struct watcher w;

        begin(d, &w, (struct fetch){ .kind = &member_cluster_kind });
        page_use_end(&w.use);
        page_use_end(&w.use); /* none is fine */
        pass(d, PAGE_SOURCE_LINGER_MS - 2000);
        begin(d, &w, (struct fetch){ .kind = &member_cluster_kind });
        pass(d, 10 * PAGE_SOURCE_LINGER_MS);
        assert_int_equal(page_sources_count(d->core.sources), 1);
        page_use_end(&w.use);
        pass(d, PAGE_SOURCE_LINGER_MS + 1000);
        assert_int_equal(page_sources_count(d->core.sources), 0);
})

DESK_TEST(there_are_so_many_at_once_and_one_that_lingers_makes_room, {
        struct page_sources *few = page_sources_new(&d->hub, d->group, 2);
        const struct fetch kinds[] = { { .kind = &member_cluster_kind },
                                       { .kind = &cluster_resource_placement_kind },
                                       { .kind = &work_kind } };
        struct watcher w[3];
        struct error err;

        for (int i = 0; i < 3; i++)
                w[i] = (struct watcher){ .use = { .changed = tell } };
        assert_int_equal(page_use_begin(few, &kinds[0], &w[0].use, NULL), 0);
        assert_int_equal(page_use_begin(few, &kinds[1], &w[1].use, NULL), 0);
        assert_int_equal(page_use_begin(few, &kinds[2], &w[2].use, &err), ERR_LIMIT);
        assert_non_null(strstr(err.text, "2 lists"));
        page_use_end(&w[0].use);
        assert_int_equal(page_use_begin(few, &kinds[2], &w[2].use, &err), 0);
        page_use_end(&w[1].use);
        page_use_end(&w[2].use);
        page_sources_free(few);
})

DESK_TEST(names_that_nothing_can_have_are_refused, {
        static const struct {
                const char *ns, *name;
        } bad[] = { { NULL, "" },    { NULL, "a,b" }, { NULL, "../x" }, { NULL, "A" },
                    { "a/b", NULL }, { "", NULL },    { "x", "a b" },   { NULL, "a=b" } };
        struct error err;

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                const struct fetch f = { .kind = &work_kind, .ns = bad[i].ns, .name = bad[i].name };
                struct watcher w = { .use = { .changed = tell } };

                assert_int_equal(page_use_begin(d->core.sources, &f, &w.use, &err), ERR_INVALID);
                assert_non_null(strstr(err.text, "can have that name"));
        }
        assert_int_equal(page_sources_count(d->core.sources), 0);
})

DESK_TEST(a_use_that_is_refused_reads_nothing_and_says_why, {
        const struct fetch f = { .kind = &work_kind, .ns = "x" };
        struct page_need n;
        struct page_use u = { 0 };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_int_equal(page_use_refuse(&f, "not for you", &u), 0);
        assert_true(page_use_settled(&u));
        assert_int_equal(page_use_read(&u, &arena, &n), 0);
        assert_string_equal(n.problem, "not for you");
        assert_false(n.filled);
        assert_string_equal(n.fetch.ns, "x");
        page_use_end(&u);
})

static int refuse_all(struct user *u, const struct http_request *rq)
{
        return strstr(rq->path, "/memberclusters") ? 403 : 0;
}

DESK_TEST(what_is_in_the_way_is_told_and_when_it_is_over, {
        struct watcher w;
        struct page_need n;

        put_cluster(d, "a");
        d->u->fate = refuse_all;
        begin(d, &w, (struct fetch){ .kind = &member_cluster_kind });
        assert_true(page_use_settled(&w.use));
        assert_int_equal(count(&w, &n), 0);
        assert_false(n.filled);
        d->u->fate = NULL;
        w.told = 0;
        pass(d, 15000);
        assert_true(w.told > 0);
        assert_int_equal(count(&w, &n), 1);
        assert_null(n.problem);
        page_use_end(&w.use);
})

static int lose_all(struct user *u, const struct http_request *rq)
{
        return ERR_RETRY;
}

static int break_all_down(struct user *u, const struct http_request *rq)
{
        return 500;
}

/* Each try asks for another path. */
DESK_TEST(who_reads_is_told_of_each_reason_and_not_of_each_try, {
        struct watcher w;
        struct page_need n;

        begin(d, &w, (struct fetch){ .kind = &member_cluster_kind });
        w.told = 0;
        d->u->fate = lose_all;
        loopback_listen(d->u->rig->net, "dev", NULL, NULL); /* ends the watch */
        assert_int_equal(loopback_listen(d->u->rig->net, "dev", devcluster_handle, d->u->rig->devcluster), 0);
        pass(d, 60000);
        assert_int_equal(w.told, 1);
        (void)count(&w, &n);
        assert_int_equal(n.code, ERR_RETRY);
        d->u->fate = break_all_down;
        pass(d, 60000);
        assert_int_equal(w.told, 2);
        (void)count(&w, &n);
        assert_int_equal(n.code, ERR_RETRY);
        d->u->fate = NULL;
        pass(d, 15000);
        assert_int_equal(w.told, 3);
        page_use_end(&w.use);
})

DESK_TEST(a_kind_that_the_hub_lacks_is_a_problem_where_it_is_needed, {
        struct watcher needed, wanted;
        struct page_need n;

        assert_int_equal(rig_delete(d->u->rig, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                                               "works.placement.kubernetes-fleet.io"),
                         200);
        begin(d, &needed, (struct fetch){ .kind = &work_kind });
        begin(d, &wanted, (struct fetch){ .kind = &work_kind, .may_lack = true });
        assert_int_equal(page_sources_count(d->core.sources), 1);
        (void)count(&needed, &n);
        assert_false(n.fetch.kind_missing);
        (void)count(&wanted, &n);
        assert_true(n.fetch.kind_missing);
        assert_true(n.filled);
        assert_null(n.problem);
        page_use_end(&needed.use);
        page_use_end(&wanted.use);
})

DESK_TEST(a_beginning_that_fails_for_memory_leaves_nothing, {
        const struct fetch f = { .kind = &work_kind, .ns = "x", .name = "y", .selector = "a=b" };
        int code = ERR_NO_MEMORY;

        for (uint64_t n = 1; code == ERR_NO_MEMORY; n++) {
                struct watcher w = { .use = { .changed = tell } };

                mem_fail_at(n, false);
                code = page_use_begin(d->core.sources, &f, &w.use, NULL);
                mem_fail_at(0, false);
                page_use_end(&w.use);
                pass(d, PAGE_SOURCE_LINGER_MS + 1000);
                assert_int_equal(page_sources_count(d->core.sources), 0);
        }
        assert_int_equal(code, 0);
})

DESK_TEST(what_is_read_already_is_found_or_fails_for_memory, {
        const struct fetch f = { .kind = &work_kind };
        struct watcher first;
        int code = ERR_NO_MEMORY;

        begin(d, &first, f);
        for (uint64_t n = 1; code == ERR_NO_MEMORY; n++) {
                struct watcher w = { .use = { .changed = tell } };

                mem_fail_at(n, false);
                code = page_use_begin(d->core.sources, &f, &w.use, NULL);
                mem_fail_at(0, false);
                assert_int_equal(page_sources_count(d->core.sources), 1);
                page_use_end(&w.use);
        }
        assert_int_equal(code, 0);
        page_use_end(&first.use);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_same_list_is_read_once),
                cmocka_unit_test(one_object_is_taken_from_a_list_that_is_kept),
                cmocka_unit_test(one_placement_is_read_by_itself),
                cmocka_unit_test(what_nobody_uses_lingers_and_is_stopped),
                cmocka_unit_test(there_are_so_many_at_once_and_one_that_lingers_makes_room),
                cmocka_unit_test(names_that_nothing_can_have_are_refused),
                cmocka_unit_test(a_use_that_is_refused_reads_nothing_and_says_why),
                cmocka_unit_test(what_is_in_the_way_is_told_and_when_it_is_over),
                cmocka_unit_test(who_reads_is_told_of_each_reason_and_not_of_each_try),
                cmocka_unit_test(a_kind_that_the_hub_lacks_is_a_problem_where_it_is_needed),
                cmocka_unit_test(what_is_read_already_is_found_or_fails_for_memory),
                cmocka_unit_test(a_beginning_that_fails_for_memory_leaves_nothing),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
