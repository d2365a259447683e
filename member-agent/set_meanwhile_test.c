/* What happens to a set between two of its own requests, or while nobody looks:
 * spec/cluster-object-set.md 4.3, 9, 12, 13, 21. */
#include "member-agent/disk_test.h"
#include "member-agent/object_set_test.h"

#define A(value) INLINE(CONFIG_MAP("a", value))
#define B(value) INLINE(CONFIG_MAP("b", value))
#define OPEN_SET(name, meta, phases)                                                                         \
        "{'apiVersion':'olm.operatorframework.io/v1','kind':'ClusterObjectSet','metadata':{'name':'" name    \
        "'," meta "},'spec':{'lifecycleState':'Active','revision':1,'collisionProtection':'IfNoController'," \
        "'phases':[" phases "]}}"

/* Once, when such a request is under way that is no trial, somebody does this. */
struct meanwhile {
        struct rig *r;
        const char *method, *path; /* the end of the path */
        void (*act)(struct rig *r);
};

static bool is_met(const struct meanwhile *m, const struct http_request *rq)
{
        const char *end = strchr(rq->path, '?');
        size_t len = end ? (size_t)(end - rq->path) : strlen(rq->path), n = strlen(m->path);

        return m->act && text_equal(rq->method, m->method) && !strstr(rq->path, "dryRun") && len >= n &&
               strncmp(rq->path + len - n, m->path, n) == 0;
}

static int fate(void *ctx, const struct http_request *rq)
{
        struct meanwhile *m = ctx;
        void (*act)(struct rig * r) = m->act;

        if (!is_met(m, rq))
                return 0;
        m->act = NULL;
        act(m->r);
        return 0;
}

/* ---- who is on its way out takes nobody along ---- */

#define SECOND                                                                                               \
        SET("app-2", OWNED_BY("app"), "2", "",                                                               \
            PHASE("one", A("2")) "," PHASE("two", INLINE(CONFIG_MAP("c", "2"))))

static void begin_first(struct agent *a, struct rig *r, const struct loopback_faults *faults)
{
        begin_sets(a, r);
        meet(a, faults);
        post(r, MEMBER, SETS, SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", A("1") "," B("1"))));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
}

static void assert_first_is_back(struct rig *r)
{
        wait_for(r, MEMBER, CONFIG_MAP_PATH("a"), "data.k", "1");
        get(r, MEMBER, SETS "/app-1");
        assert_string_equal(rig_string(r, "spec.lifecycleState"), "Active");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("b"), "data.k", "1");
}

static void delete_second(struct rig *r)
{
        delete (r, MEMBER, SETS "/app-2");
        settle(r, 200);
}

RIG_TEST(a_revision_that_is_deleted_in_its_last_phase_archives_nobody, {
        struct meanwhile m = { .r = r, .method = "PATCH", .path = "/configmaps/c" };
        struct loopback_faults faults = { .ctx = &m, .fate = fate };
        struct agent a;

        begin_first(&a, r, &faults);
        m.act = delete_second;
        post(r, MEMBER, SETS, SECOND);
        wait_until_gone(r, MEMBER, SETS "/app-2");
        settle(r, 5000);
        assert_first_is_back(r);
        stop(&a);
})

static void archive_second(struct rig *r)
{
        merge(r, MEMBER, SETS "/app-2", ARCHIVED);
        settle(r, 200);
}

RIG_TEST(a_revision_that_is_archived_in_its_last_phase_archives_nobody, {
        struct meanwhile m = { .r = r, .method = "PATCH", .path = "/configmaps/c" };
        struct loopback_faults faults = { .ctx = &m, .fate = fate };
        struct agent a;

        begin_first(&a, r, &faults);
        m.act = archive_second;
        post(r, MEMBER, SETS, SECOND);
        wait_for_set(r, "app-2", "Progressing", "False/Archived");
        settle(r, 5000);
        assert_first_is_back(r);
        stop(&a);
})

static void part_first(struct rig *r)
{
        merge(r, MEMBER, SETS "/app-1",
              "{'metadata':{'labels':{'olm.operatorframework.io/owner-name':'other'}}}");
}

/* Archiving cannot be taken back. */
RIG_TEST(who_is_no_sibling_any_more_is_not_archived, {
        struct meanwhile m = { .r = r, .method = "PATCH", .path = "/clusterobjectsets/app-1" };
        struct loopback_faults faults = { .ctx = &m, .fate = fate };
        struct agent a;

        begin_first(&a, r, &faults);
        m.act = part_first;
        post(r, MEMBER, SETS, SECOND);
        wait_for_set(r, "app-2", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        assert_null(m.act);
        get(r, MEMBER, SETS "/app-1");
        assert_string_equal(rig_string(r, "spec.lifecycleState"), "Active");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("b")), 200);
        stop(&a);
})

/* ---- who was not known when a pass began ---- */

#define ANYHOW(object) "{'object':" object ",'collisionProtection':'None'}"
#define NEVER_READY                                                                                          \
        ",'progressionProbes':[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':'ConfigMap'}}" \
        ",'assertions':[{'type':'FieldValue','fieldValue':{'fieldPath':'data.ready','value':'yes'}}]}]"

static const char *version_of_a(struct rig *r)
{
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 200);
        return arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
}

static const char *version_when_taken;

static void hand_over(struct rig *r)
{
        post(r, MEMBER, SETS, SET("app-2", OWNED_BY("app"), "2", NEVER_READY, PHASE("one", A("2"))));
        wait_for_set(r, "app-2", "Progressing", "True/RollingOut");
        version_when_taken = version_of_a(r);
}

/* It may take objects from strangers, and who came meanwhile is none. */
RIG_TEST(what_a_later_revision_takes_over_under_a_pass_stays_its_own, {
        struct meanwhile m = { .r = r, .method = "GET", .path = "/configmaps/a" };
        struct loopback_faults faults = { .ctx = &m, .fate = fate };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", ANYHOW(CONFIG_MAP("a", "1")))));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        m.act = hand_over;
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'theirs'}}");
        settle(r, 5000);
        assert_null(m.act);
        assert_string_equal(version_of_a(r), version_when_taken);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

/* ---- orphans ---- */

static void orphan_first(struct rig *r)
{
        delete (r, MEMBER, SETS "/app-1?propagationPolicy=Orphan");
        settle(r, 3000);
}

/* spec/cluster-object-set.md checklist 81: an apply after that would bring a reference back, by which the
 * object goes with the set. */
RIG_TEST(what_is_orphaned_under_a_write_is_not_taken_back, {
        struct meanwhile m = { .r = r, .method = "PATCH", .path = "/configmaps/a" };
        struct loopback_faults faults = { .ctx = &m, .fate = fate };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, OPEN_SET("app-1", OWNED_BY("app"), PHASE("one", A("1"))));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        m.act = orphan_first;
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'theirs'}}");
        wait_until_gone(r, MEMBER, SETS "/app-1");
        settle(r, 10000);
        assert_null(m.act);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 200);
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
        stop(&a);
})

/* ---- the marks of others ---- */

#define FOREIGN_ORPHAN                                                                                       \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','labels':{"                            \
        "'app.kubernetes.io/managed-by':'olm.operatorframework.io','olm.operatorframework.io/owner-name':"   \
        "'other'},'annotations':{'olm.operatorframework.io/revision':'1'}}}"

static void collide_and_leave(struct rig *r, const char *how)
{
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CONFIG_MAPS, FOREIGN_ORPHAN);
        post(r, MEMBER, SETS, SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", A("1"))));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying revision object collisions");
        on(r, MEMBER);
        delete (r, MEMBER, arena_printf(&r->arena, SETS "/app-1%s", how));
        wait_until_gone(r, MEMBER, SETS "/app-1");
        get(r, MEMBER, CONFIG_MAP_PATH("a"));
        assert_int_equal(json_object_size(doc_get(r->answer, "metadata.labels")), 2);
        assert_int_equal(json_object_size(doc_get(r->answer, "metadata.annotations")), 1);
        stop(&a);
}

RIG_TEST(a_deleted_set_leaves_the_marks_of_others, { collide_and_leave(r, ""); })
RIG_TEST(an_orphaning_set_leaves_the_marks_of_others, { collide_and_leave(r, "?propagationPolicy=Orphan"); })

/* ---- what waits, costs little ---- */

/* Once each five seconds what is waited for is looked at, and nothing else. */
RIG_TEST(what_went_is_not_asked_for_again_while_something_waits, {
        struct agent a;
        uint64_t before;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 PHASE("one", A("1")) "," PHASE(
                         "two", B("1") "," INLINE(CONFIG_MAP("c", "1")) "," INLINE(CONFIG_MAP("d", "1")))));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'metadata':{'finalizers':['example.com/held']}}");
        settle(r, 5000);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "True/Retrying removing");
        settle(r, 1000);
        before = requests(r, "m1", "get", "configmaps");
        settle(r, 60000);
        assert_in_range(requests(r, "m1", "get", "configmaps") - before, 11, 14);
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'metadata':{'finalizers':null}}");
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        stop(&a);
})

/* ---- phases that come later ---- */

/* spec/cluster-object-set.md checklist 4, 14: a set without phases has rolled out nothing yet. */
RIG_TEST(phases_filled_in_later_begin_one_after_the_other, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1",
                 ",'progressionProbes':[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':"
                 "'ConfigMap'}},'assertions':[{'type':'FieldValue','fieldValue':{'fieldPath':'data.ready',"
                 "'value':'yes'}}]}]",
                 ""));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        merge(r, MEMBER, SETS "/app-1",
              "{'spec':{'phases':[" PHASE("one", A("1")) "," PHASE("two", B("1")) "]}}");
        wait_for_set(r, "app-1", "Available", "False/ProbeFailure");
        settle(r, 5000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("b")), 404);
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'ready':'yes'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("b"), "data.k", "1");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_revision_that_is_deleted_in_its_last_phase_archives_nobody),
                cmocka_unit_test(a_revision_that_is_archived_in_its_last_phase_archives_nobody),
                cmocka_unit_test(who_is_no_sibling_any_more_is_not_archived),
                cmocka_unit_test(what_a_later_revision_takes_over_under_a_pass_stays_its_own),
                cmocka_unit_test(what_is_orphaned_under_a_write_is_not_taken_back),
                cmocka_unit_test(a_deleted_set_leaves_the_marks_of_others),
                cmocka_unit_test(an_orphaning_set_leaves_the_marks_of_others),
                cmocka_unit_test(what_went_is_not_asked_for_again_while_something_waits),
                cmocka_unit_test(phases_filled_in_later_begin_one_after_the_other),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
