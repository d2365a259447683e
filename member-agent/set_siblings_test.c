/* Revisions of one owner among each other, each rule where no other one could stand in for it:
 * spec/cluster-object-set.md 4.2, 4.3, 8.4. */
#include "member-agent/object_set_test.h"

#define A(value) INLINE(CONFIG_MAP("a", value))
#define B(value) INLINE(CONFIG_MAP("b", value))
#define FIRST(objects) SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", objects))
#define SECOND(spec, objects) SET("app-2", OWNED_BY("app"), "2", spec, PHASE("one", objects))
#define NEVER_READY                                                                                          \
        ",'progressionProbes':[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':'ConfigMap'}}" \
        ",'assertions':[{'type':'FieldValue','fieldValue':{'fieldPath':'data.ready','value':'yes'}}]}]"
#define OWNER_NAME "olm.operatorframework.io/owner-name"
#define OWNER_KIND "olm.operatorframework.io/owner-kind"

/* Requests of the agent that are answered with 500: those of a method, to a path, with this in the body. */
struct closed {
        const char *method, *path, *text;
};

static int fate(void *ctx, const struct http_request *rq)
{
        const struct closed *c = ctx;

        return c->method && text_equal(rq->method, c->method) && strstr(rq->path, c->path) &&
                               (!c->text || memmem(rq->body.data, rq->body.len, c->text, strlen(c->text)))
                       ? 500
                       : 0;
}

/* Its status is refused, so nothing else could tell the earlier revision that it is replaced. */
RIG_TEST(who_is_complete_archives_earlier_revisions_before_it_says_so, {
        struct closed closed = { "PATCH", "/clusterobjectsets/app-2/status", "has rolled out" };
        struct loopback_faults faults = { .ctx = &closed, .fate = fate };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, FIRST(A("1") "," B("1")));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        post(r, MEMBER, SETS, SECOND("", A("2")));
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_set(r, "app-2", "Succeeded", "");
        closed.method = NULL;
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        stop(&a);
})

/* The later one cannot be read, so it archives nobody. */
RIG_TEST(a_revision_that_comes_late_archives_itself_before_anything_is_made, {
        struct closed closed = { .path = "/clusterobjectsets/app-2" };
        struct loopback_faults faults = { .ctx = &closed, .fate = fate };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, SECOND("", A("2")));
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        closed.method = "GET";
        post(r, MEMBER, SETS, FIRST(B("1")));
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(requests(r, "m1", "patch", "configmaps"), 2); /* tried, and done */
        stop(&a);
})

/* It cannot be read itself; who is complete catches up with those that it missed. */
RIG_TEST(who_is_complete_archives_what_comes_late, {
        struct closed closed = { "GET", "/clusterobjectsets/app-1", NULL };
        struct loopback_faults faults = { .ctx = &closed, .fate = fate };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, SECOND("", A("2")));
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        post(r, MEMBER, SETS, FIRST(B("1")));
        settle(r, 5000);
        get(r, MEMBER, SETS "/app-1");
        assert_string_equal(rig_string(r, "spec.lifecycleState"), "Archived");
        closed.method = NULL;
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        stop(&a);
})

static const char *label_of(struct rig *r, const char *path, const char *label)
{
        get(r, MEMBER, path);
        return or_empty(json_string_value(json_object_get(doc_get(r->answer, "metadata.labels"), label)));
}

/* No generation tells of it, and nobody else touched the objects. */
RIG_TEST(a_set_that_gets_another_owner_marks_its_objects_so, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, FIRST(A("1") "," B("1")));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        merge(r, MEMBER, SETS "/app-1", "{'metadata':{'labels':{'" OWNER_NAME "':'shop'}}}");
        settle(r, 5000);
        assert_string_equal(label_of(r, CONFIG_MAP_PATH("a"), OWNER_NAME), "shop");
        assert_string_equal(label_of(r, CONFIG_MAP_PATH("b"), OWNER_NAME), "shop");
        stop(&a);
})

/* What the later one took over belongs to a stranger when it has another kind of owner, though neither the
 * earlier one nor the object changed; and to a sibling again when that was a mistake. */
RIG_TEST(who_is_no_sibling_any_more_is_a_stranger_at_once, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, FIRST(A("1") "," B("1")));
        merge(r, MEMBER, SETS "/app-1", "{'metadata':{'labels':{'" OWNER_KIND "':'ClusterExtension'}}}");
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        post(r, MEMBER, SETS, SECOND(NEVER_READY, A("2")));
        wait_for_set(r, "app-2", "Progressing", "True/RollingOut");
        settle(r, 30000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        merge(r, MEMBER, SETS "/app-2", "{'metadata':{'labels':{'" OWNER_KIND "':'Another'}}}");
        settle(r, 3000);
        assert_true(text_starts_with(set_says(r, "app-1", "Progressing"),
                                     "True/Retrying revision object collisions in phase 0\n"));
        settle(r, 8000); /* it has just looked when it is woken */
        merge(r, MEMBER, SETS "/app-2", "{'metadata':{'labels':{'" OWNER_KIND "':null}}}");
        settle(r, 1000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

static uint64_t patches(struct rig *r)
{
        return requests(r, "m1", "patch", "configmaps");
}

static int count_looks(void *ctx, const struct http_request *rq)
{
        size_t *n = ctx;

        *n += text_equal(rq->method, "GET") && strstr(rq->path, "/configmaps/a");
        return 0;
}

/* Whose siblings come and go keeps what it has, and knows that without a look. */
RIG_TEST(siblings_that_come_and_go_cost_no_look_at_what_is_ours, {
        size_t looks = 0, before;
        struct loopback_faults faults = { .ctx = &looks, .fate = count_looks };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, FIRST(A("1") "," B("1")));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        assert_int_equal(looks, 0); /* that it could be created was enough */
        assert_int_equal(requests(r, "m1", "patch", "configmaps"), 4);
        post(r, MEMBER, SETS, SECOND(NEVER_READY, A("2")));
        wait_for_set(r, "app-2", "Progressing", "True/RollingOut");
        settle(r, 30000);
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'ready':'yes'}}");
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        settle(r, 30000);
        before = looks;
        post(r, MEMBER, SETS, SET("app-3", OWNED_BY("app"), "3", NEVER_READY, PHASE("one", B("3"))));
        wait_for_set(r, "app-3", "Progressing", "True/RollingOut");
        settle(r, 30000);
        assert_int_equal(looks, before);
        stop(&a);
})

/* Somebody holds it by a finalizer, and edits it on its way: our own edits are the test's alone. */
RIG_TEST(what_goes_is_left_alone_and_made_again_when_it_is_gone, {
        const char *uid;
        struct agent a;
        uint64_t before;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, FIRST(A("1") "," B("1")));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'metadata':{'finalizers':['example.com/held']}}");
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        settle(r, 5000);
        delete (r, MEMBER, CONFIG_MAP_PATH("a"));
        before = patches(r);
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'theirs'}}");
        settle(r, 30000);
        assert_int_equal(patches(r), before + 1); /* the one above */
        assert_set(r, "app-1", "Progressing",
                   "True/RollingOut Revision 1 is rolling out. Phase \"one\" (1/1).");
        assert_set(r, "app-1", "Available", "False/RollingOut Revision 1 is rolling out.");
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'metadata':{'finalizers':null}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("a"), "data.k", "1");
        assert_string_not_equal(rig_string(r, "metadata.uid"), uid);
        wait_for_set(r, "app-1", "Progressing", "True/Succeeded");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_is_complete_archives_earlier_revisions_before_it_says_so),
                cmocka_unit_test(a_revision_that_comes_late_archives_itself_before_anything_is_made),
                cmocka_unit_test(who_is_complete_archives_what_comes_late),
                cmocka_unit_test(a_set_that_gets_another_owner_marks_its_objects_so),
                cmocka_unit_test(who_is_no_sibling_any_more_is_a_stranger_at_once),
                cmocka_unit_test(siblings_that_come_and_go_cost_no_look_at_what_is_ours),
                cmocka_unit_test(what_goes_is_left_alone_and_made_again_when_it_is_gone),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
