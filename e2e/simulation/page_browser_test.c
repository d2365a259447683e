#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/gzip.h"
#include "e2e/simulation/page_browser.h"
#include "kubectl-fleet/page/session.h"

struct rig {
        struct loop *loop;
        struct page_browser b;
};

static void begin(struct rig *r)
{
        r->loop = loop_new_simulated(1, 0, NULL);
        page_browser_begin(&r->b, r->loop, "user", 1);
        page_browser_open(&r->b, "placement", json_object());
}

static void end(struct rig *r)
{
        page_browser_leave(&r->b);
        page_browser_clear(&r->b);
        loop_free(r->loop);
}

static void hear(struct rig *r, const char *text)
{
        assert_int_equal(websocket_send(&r->b.line.socket, slice_of(text)), 0);
        page_browser_read(&r->b);
}

static void assert_wrong(struct rig *r, const char *words)
{
        assert_int_equal(r->b.wrong.code, ERR_INVALID);
        assert_non_null(strstr(r->b.wrong.text, words));
        end(r);
}

static void a_document_is_kept_as_the_protocol_says(void **state)
{
        struct rig r;
        const struct page_sheet *s;

        begin(&r);
        hear(&r, "{\"view\":1,\"head\":{\"n\":1},\"rows\":{\"clusters\":{\"a\":{\"x\":1},\"b\":{}}},\"more\":"
                 "true}");
        hear(&r, "{\"view\":1,\"rows\":{\"clusters\":{\"a\":{\"x\":2}}},\"gone\":{\"clusters\":[\"b\"]}}");
        s = page_browser_sheet(&r.b, 1);
        assert_int_equal(r.b.wrong.code, 0);
        assert_false(s->more);
        assert_int_equal(doc_get_int(s->parts, "clusters.a.x", 0), 2);
        assert_int_equal(json_object_size(json_object_get(s->parts, "clusters")), 1);
        end(&r);
}

static void a_row_that_comes_twice_is_told(void **state)
{
        struct rig r;

        begin(&r);
        hear(&r, "{\"view\":1,\"head\":{},\"rows\":{\"clusters\":{\"a\":{\"x\":1}}}}");
        hear(&r, "{\"view\":1,\"rows\":{\"clusters\":{\"a\":{\"x\":1}}}}");
        assert_wrong(&r, "row a of clusters of view placement came again as it was");
}

static void a_row_is_gone_once(void **state)
{
        struct rig r;

        begin(&r);
        hear(&r, "{\"view\":1,\"head\":{},\"gone\":{\"clusters\":[\"a\"]}}");
        assert_wrong(&r, "is gone that never came");
}

static void the_fleet_s_head_counts_its_rows(void **state)
{
        struct rig r;

        begin(&r);
        page_browser_open(&r.b, "fleet", json_object());
        hear(&r, "{\"view\":2,\"head\":{\"clusters\":{\"total\":1}},\"rows\":{}}");
        assert_wrong(&r, "0 rows of clusters of the fleet are there, its head counts 1");
}

static void a_call_is_answered_once(void **state)
{
        struct rig r;

        begin(&r);
        page_browser_call(&r.b, "stop", json_object());
        hear(&r, "{\"call\":2,\"done\":{}}");
        assert_int_equal(r.b.wrong.code, 0);
        assert_int_equal(r.b.asked.n, 0);
        hear(&r, "{\"call\":2,\"done\":{}}");
        assert_wrong(&r, "or twice");
}

static void more_is_not_sent_than_may_wait(void **state)
{
        struct rig r;

        begin(&r);
        r.b.line.queued = PAGE_QUEUE_BYTES + 1;
        assert_int_equal(websocket_send(&r.b.line.socket, SLICE("{}")), 0);
        page_browser_read(&r.b);
        assert_wrong(&r, "more is queued");
}

static void two_documents_differ_by_a_row_a_head_or_what_is_hidden(void **state)
{
        struct rig r, fresh;
        struct error err = { 0 };

        begin(&r);
        begin(&fresh);
        hear(&r, "{\"view\":1,\"head\":{\"n\":1},\"rows\":{\"clusters\":{\"a\":{\"x\":1}}}}");
        hear(&fresh, "{\"view\":1,\"head\":{\"n\":1}}");
        assert_true(page_sheet_compare(&r.b.sheets.at[0], &fresh.b.sheets.at[0], &err) < 0);
        assert_non_null(strstr(err.text, "clusters a is {\"x\":1}, a fresh look says nothing"));
        assert_true(page_sheet_compare(&fresh.b.sheets.at[0], &r.b.sheets.at[0], &err) < 0);
        assert_non_null(strstr(err.text, "clusters a is not there, a fresh look says {\"x\":1}"));
        hear(&r, "{\"view\":1,\"gone\":{\"clusters\":[\"a\"]}}");
        assert_int_equal(page_sheet_compare(&r.b.sheets.at[0], &fresh.b.sheets.at[0], &err), 0);
        hear(&r, "{\"view\":1,\"hidden\":[{\"kind\":\"Work\",\"why\":\"no\"}]}");
        assert_true(page_sheet_compare(&r.b.sheets.at[0], &fresh.b.sheets.at[0], &err) < 0);
        hear(&r, "{\"view\":1,\"hidden\":[]}");
        hear(&r, "{\"view\":1,\"head\":{\"n\":2}}");
        assert_true(page_sheet_compare(&r.b.sheets.at[0], &fresh.b.sheets.at[0], &err) < 0);
        end(&r);
        end(&fresh);
}

static void a_packed_message_is_unpacked(void **state)
{
        static const char text[] = "{\"view\":1,\"head\":{\"n\":7}}";
        AUTO_BUF struct buf packed;
        struct rig r;

        begin(&r);
        buf_init(&packed, 4096);
        assert_int_equal(deflate_pack(slice_of(text), &packed, NULL), 0);
        assert_int_equal(websocket_send_binary(&r.b.line.socket, (struct slice){ packed.data, packed.len }),
                         0);
        page_browser_read(&r.b);
        assert_int_equal(doc_get_int(r.b.sheets.at[0].head, "n", 0), 7);
        assert_int_equal(r.b.told.packed, 1);
        assert_int_equal(websocket_send_binary(&r.b.line.socket, SLICE("nothing that was packed")), 0);
        page_browser_read(&r.b);
        assert_wrong(&r, "a packed message cannot be unpacked");
}

static void what_is_told_is_counted(void **state)
{
        struct rig r;

        begin(&r);
        hear(&r, "{\"view\":1,\"head\":{},\"rows\":{\"p\":{\"a\":{},\"b\":{}}}}");
        hear(&r, "{\"view\":1,\"rows\":{\"p\":{\"a\":{\"x\":1}}},\"gone\":{\"p\":[\"b\"]}}");
        hear(&r, "{\"view\":1,\"error\":{\"code\":\"not found\"}}");
        page_browser_call(&r.b, "stop", json_object());
        hear(&r, "{\"call\":2,\"error\":{}}");
        assert_int_equal(r.b.told.rows, 2);
        assert_int_equal(r.b.told.changed, 1);
        assert_int_equal(r.b.told.gone, 1);
        assert_int_equal(r.b.told.heads, 1);
        assert_int_equal(r.b.told.errors, 1);
        assert_int_equal(r.b.told.done, 0);
        assert_int_equal(r.b.told.refused, 1);
        assert_int_equal(r.b.wrong.code, 0);
        end(&r);
}

static void an_error_of_the_page_s_own_is_told(void **state)
{
        struct rig r;

        begin(&r);
        hear(&r, "{\"view\":1,\"error\":{\"code\":\"internal\",\"text\":\"twice\"}}");
        assert_wrong(&r, "view placement says: twice");
}

static void who_does_not_read_has_what_waits_counted_by_weight(void **state)
{
        struct rig r;

        begin(&r);
        r.b.line.weight = 10;
        assert_int_equal(websocket_send(&r.b.line.socket, SLICE("{}")), 0);
        assert_int_equal(websocket_queued(&r.b.line.socket), 20);
        page_browser_read(&r.b);
        assert_int_equal(websocket_queued(&r.b.line.socket), 0);
        page_browser_leave(&r.b);
        assert_int_equal(websocket_send(&r.b.line.socket, SLICE("{}")), ERR_CLOSED);
        end(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_document_is_kept_as_the_protocol_says),
                cmocka_unit_test(a_row_that_comes_twice_is_told),
                cmocka_unit_test(a_row_is_gone_once),
                cmocka_unit_test(the_fleet_s_head_counts_its_rows),
                cmocka_unit_test(a_call_is_answered_once),
                cmocka_unit_test(more_is_not_sent_than_may_wait),
                cmocka_unit_test(a_packed_message_is_unpacked),
                cmocka_unit_test(what_is_told_is_counted),
                cmocka_unit_test(an_error_of_the_page_s_own_is_told),
                cmocka_unit_test(who_does_not_read_has_what_waits_counted_by_weight),
                cmocka_unit_test(two_documents_differ_by_a_row_a_head_or_what_is_hidden),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
