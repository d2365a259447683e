/* All views that are open say why something cannot be read as ones do that are opened now. */
#include "kubectl-fleet/page/journal.h"
#include "kubectl-fleet/page/session_test.h"

/* What each view says is in the way, also where it shows an error: new. */
static json_t *what_is_in_the_way(const struct browser *b, size_t view)
{
        const json_t *v;
        char number[16];

        snprintf(number, sizeof(number), "%zu", view);
        v = json_object_get(b->views, number);
        assert_non_null(v);
        return json_pack("{s:O*, s:O*}", "hidden", json_object_get(v, "hidden"), "error",
                         json_object_get(v, "error"));
}

static const char *const looks[] = {
        "'fleet'",
        "'cluster', 'args': {'name': 'a'}",
        "'placement', 'args': {'kind': 'crp', 'name': 'web'}",
        "'object', 'args': {'kind': 'Namespace', 'name': 'x'}",
        "'overrides', 'args': {'kind': 'crp', 'name': 'web'}",
        "'scheduling', 'args': {'kind': 'crp', 'name': 'web'}",
        "'timeline'",
};

static void open_looks(struct browser *b, size_t first)
{
        for (size_t i = 0; i < ARRAY_LEN(looks); i++)
                browser_say(b, "{'open': %zu, 'view': %s}", first + i, looks[i]);
}

/* Those that are open say what ones say that are opened now. */
static void expect_why(struct desk *d, struct browser *b, size_t first, const char *why)
{
        open_looks(b, first);
        pass(d, 1000);
        for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
                AUTO_JSON json_t *open = what_is_in_the_way(b, 1 + i);
                AUTO_JSON json_t *fresh = what_is_in_the_way(b, first + i);
                AUTO_BUF struct buf text;

                buf_init(&text, 65536);
                assert_int_equal(doc_write(open, &text), 0);
                assert_non_null(strstr(text.data, why));
                assert_true(json_equal(open, fresh));
                browser_say(b, "{'close': %zu}", first + i);
        }
        pass(d, 10);
}

static int lose(struct user *u, const struct http_request *rq)
{
        return ERR_RETRY;
}

static int break_down(struct user *u, const struct http_request *rq)
{
        return 500;
}

DESK_TEST(another_reason_is_told_by_all_views_and_the_same_one_once, {
        struct browser b;
        struct rig *r = d->u->rig;
        struct page_journal *journal = page_journal_new(loop_wall_ms(r->loop), 0, 0);
        size_t messages;

        d->core.journal = journal;
        put_cluster(d, "a");
        put_placement(d, "web");
        assert_int_equal(rig_merge(d->u->rig, FLEET "clusterresourceplacements/web/status",
                                   "{\"status\":{\"selectedResources\":[{\"version\":\"v1\",\"kind\":"
                                   "\"Namespace\",\"name\":\"x\"}]}}"),
                         200);
        browser_enter(d, &b);
        open_looks(&b, 1);
        pass(d, 5000);
        loopback_listen(r->net, "dev", NULL, NULL);
        pass(d, 20000);
        expect_why(d, &b, 100, "the hub cannot be read: connection refused");
        assert_int_equal(loopback_listen(r->net, "dev", devcluster_handle, r->devcluster), 0);
        d->u->fate = lose;
        pass(d, 20000);
        expect_why(d, &b, 200, "the hub cannot be read: the request was lost");
        d->u->fate = break_down;
        pass(d, 20000);
        expect_why(d, &b, 300, "the hub cannot be read: watch: injected fault");
        messages = b.messages;
        pass(d, 50000);
        assert_int_equal(b.messages, messages);
        browser_go(&b);
        page_journal_free(journal);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(another_reason_is_told_by_all_views_and_the_same_one_once),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
