/* Lists of an earlier state: pages of one snapshot, exact versions, and what is too old for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CM "/api/v1/namespaces/default/configmaps"

static void make(struct rig *r, const char *name)
{
        assert_int_equal(
                rig_post(r, CM,
                         arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"t\":\"1\"}}}",
                                      name)),
                201);
}

static const char *kept(struct rig *r, const char *path)
{
        return arena_strdup(&r->arena, rig_string(r, path));
}

/* The names of a list's items, each with what data.v says. */
static const char *items(struct rig *r)
{
        const char *text = "";
        size_t i;
        json_t *item;
        json_array_foreach(doc_get_array(r->answer, "items"), i, item) {
                const char *v = doc_get_string(item, "data.v");
                text = arena_printf(&r->arena, "%s%s%s%s", text, i ? " " : "",
                                    doc_get_string(item, "metadata.name"), v ? v : "");
        }
        return text;
}

RIG_TEST(all_pages_show_the_state_of_the_first_one, {
        for (const char *c = "bdfhj"; *c; c++)
                make(r, arena_printf(&r->arena, "%c", *c));
        assert_int_equal(rig_get(r, CM "?labelSelector=t&limit=2"), 200);
        assert_string_equal(items(r), "b d");
        const char *version = kept(r, "metadata.resourceVersion");
        const char *token = kept(r, "metadata.continue");

        make(r,
             "e"); /* since the first page: one came, one changed twice, one went, one went and came back */
        assert_int_equal(rig_merge(r, CM "/f", "{\"data\":{\"v\":\"1\"}}"), 200);
        assert_int_equal(rig_merge(r, CM "/f", "{\"data\":{\"v\":\"2\"}}"), 200);
        assert_int_equal(rig_delete(r, CM "/h"), 200);
        assert_int_equal(rig_delete(r, CM "/j"), 200);
        make(r, "j");
        assert_int_equal(rig_merge(r, CM "/j", "{\"data\":{\"v\":\"new\"}}"), 200);
        make(r, "k");

        assert_int_equal(
                rig_get(r, arena_printf(&r->arena, CM "?labelSelector=t&limit=2&continue=%s", token)), 200);
        assert_string_equal(items(r), "f h");
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        token = kept(r, "metadata.continue");
        assert_int_equal(
                rig_get(r, arena_printf(&r->arena, CM "?labelSelector=t&limit=2&continue=%s", token)), 200);
        assert_string_equal(items(r), "j");
        assert_string_equal(rig_string(r, "metadata.continue"), "");

        assert_int_equal(
                rig_get(r, arena_printf(&r->arena,
                                        CM "?labelSelector=t&resourceVersionMatch=Exact&resourceVersion=%s",
                                        version)),
                200);
        assert_string_equal(items(r), "b d f h j");
        assert_int_equal(rig_get(r, CM "?labelSelector=t"), 200);
        assert_string_equal(items(r), "b d e f2 jnew k");
})

RIG_TEST(any_state_is_given_whole_and_none_of_the_future, {
        make(r, "a");
        make(r, "b");
        assert_int_equal(rig_get(r, CM "?labelSelector=t&limit=1&resourceVersion=0"), 200);
        assert_string_equal(items(r), "a b");
        assert_string_equal(rig_string(r, "metadata.continue"), "");
        assert_int_equal(rig_get(r, CM "?resourceVersion=99999999"), 504);
        assert_int_equal(rig_get(r, CM "/a?resourceVersion=99999999"), 504);
        assert_int_equal(rig_call(r, "HEAD", CM, "application/json", ""), 405);
})

RIG_TEST(remaining_items_are_those_of_the_snapshot, {
        make(r, "a");
        make(r, "b");
        make(r, "c");
        assert_int_equal(rig_get(r, CM "?limit=1"), 200);
        assert_int_equal(doc_get_int(r->answer, "metadata.remainingItemCount", 0), 3); /* and the root's CA */
        const char *token = kept(r, "metadata.continue");
        make(r, "d");
        assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "?limit=1&continue=%s", token)), 200);
        assert_int_equal(doc_get_int(r->answer, "metadata.remainingItemCount", 0), 2);
})

RIG_TEST(an_old_token_comes_back_with_one_that_goes_on, {
        make(r, "a");
        make(r, "c");
        assert_int_equal(rig_get(r, CM "?labelSelector=t&limit=1"), 200);
        const char *path = arena_printf(&r->arena, CM "?labelSelector=t&limit=1&continue=%s",
                                        kept(r, "metadata.continue"));
        devcluster_cut_watches(r->devcluster, "hub", true);
        make(r, "b");
        assert_int_equal(rig_get(r, path), 410);
        assert_string_equal(rig_string(r, "reason"), "Expired");
        assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "?labelSelector=t&limit=2&continue=%s",
                                                 kept(r, "metadata.continue"))),
                         200);
        assert_string_equal(items(r), "b c");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(all_pages_show_the_state_of_the_first_one),
                cmocka_unit_test(any_state_is_given_whole_and_none_of_the_future),
                cmocka_unit_test(remaining_items_are_those_of_the_snapshot),
                cmocka_unit_test(an_old_token_comes_back_with_one_that_goes_on),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
