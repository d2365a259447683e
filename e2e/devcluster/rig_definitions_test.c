#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig_definitions.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS "/apis/example.com/v1/namespaces/default/widgets"

#define DEFINITION(kind, plural)                                                                             \
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":"    \
        "{\"name\":\"" plural                                                                                \
        ".example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\","                      \
        "\"names\":{\"plural\":\"" plural "\",\"kind\":\"" kind "\"},\"versions\":[{\"name\":\"v1\","        \
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","             \
        "\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","         \
        "\"default\":7}}}}}}}]}}"

static const char *text(size_t i)
{
        /* Not in the order of their names. */
        static const char *const all[] = { DEFINITION("Widget", "widgets"), DEFINITION("Gadget", "gadgets"),
                                           NULL };
        return all[i];
}

struct seen {
        struct rig_definitions kept;
        char *first; /* what a list of the definitions said */
        uint64_t posts;
        int64_t late_ms;
};

static uint64_t posts_of(struct rig *r)
{
        struct devcluster_request_count *c;
        uint64_t sum = 0;
        size_t n;

        assert_int_equal(devcluster_requests(r->devcluster, "hub", &r->arena, &c, &n), 0);
        for (size_t i = 0; i < n; i++)
                sum += strcmp(c[i].verb, "create") == 0 ? c[i].n : 0;
        return sum;
}

static void check_that_it_is_served(struct rig *r)
{
        assert_int_equal(rig_post(r, WIDGETS,
                                  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":"
                                  "{\"name\":\"w\"},\"spec\":{}}"),
                         201);
        assert_int_equal(doc_get_int(r->answer, "spec.n", 0), 7);
        assert_int_equal(rig_post(r, WIDGETS,
                                  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":"
                                  "{\"name\":\"x\"},\"spec\":{\"n\":\"seven\"}}"),
                         422);
}

static void define(struct rig *r)
{
        struct seen *seen = r->ctx;

        if (seen->late_ms)
                (void)fiber_sleep(r->loop, seen->late_ms);
        rig_define(r, &seen->kept, text);
        seen->posts = posts_of(r);
        assert_int_equal(rig_get(r, CRDS), 200);
        if (!seen->first) {
                seen->first = mem_strdup(r->text);
                assert_non_null(seen->first);
        } else if (!seen->late_ms) {
                assert_string_equal(r->text, seen->first);
        }
        check_that_it_is_served(r);
}

static void free_kept(struct seen *seen)
{
        mem_free(seen->first);
}

static void a_second_rig_has_the_same_definitions_without_a_request(void **state)
{
        static struct seen seen; /* what is kept is never given back */

        rig_run_for(define, &seen);
        assert_int_equal(seen.posts, 2);
        rig_run_for(define, &seen);
        assert_int_equal(seen.posts, 0);
        free_kept(&seen);
}

static void at_another_moment_they_are_posted(void **state)
{
        static struct seen seen;

        rig_run_for(define, &seen);
        seen.late_ms = 5000;
        rig_run_for(define, &seen);
        assert_int_equal(seen.posts, 2);
        free_kept(&seen);
}

static void change_and_delete(struct rig *r)
{
        struct seen *seen = r->ctx;

        rig_define(r, &seen->kept, text);
        assert_int_equal(
                rig_merge(r, CRDS "/widgets.example.com", "{\"spec\":{\"names\":{\"shortNames\":[\"wi\"]}}}"),
                200);
        check_that_it_is_served(r);
        assert_int_equal(
                rig_merge(r, CRDS "/widgets.example.com", "{\"spec\":{\"names\":{\"shortNames\":null}}}"),
                200);
        assert_int_equal(rig_delete(r, CRDS "/gadgets.example.com"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, "/apis/example.com/v1/namespaces/default/gadgets"), 404);
}

static void what_one_rig_changes_is_whole_in_the_next(void **state)
{
        static struct seen seen;

        rig_run_for(define, &seen);
        rig_run_for(change_and_delete, &seen);
        rig_run_for(define, &seen);
        assert_int_equal(seen.posts, 0);
        free_kept(&seen);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_second_rig_has_the_same_definitions_without_a_request),
                cmocka_unit_test(at_another_moment_they_are_posted),
                cmocka_unit_test(what_one_rig_changes_is_whole_in_the_next),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
