/* Objects that others own too, when differences were first seen, and the order in which a member is written.
 */
#include "member-agent/member_agent_test.h"

#define SHARED CONFIG_MAP_PATH("shared")
#define CO_OWNED "'applyStrategy':{'allowCoOwnership':true},"

/* ---- shared with others ---- */

/* The references on the object: ours is of an AppliedWork. */
static void expect_owners(struct rig *r, size_t ours, size_t others)
{
        const json_t *owners, *o;
        size_t i;

        assert_int_equal(get(r, MEMBER, SHARED), 200);
        owners = doc_get_array(r->answer, "metadata.ownerReferences");
        json_array_foreach(owners, i, o)
                *(text_equal(doc_get_string(o, "kind"), "AppliedWork") ? &ours : &others) -= 1;
        assert_true(ours == 0 && others == 0);
}

/* A user's object that belongs to another of the user's. */
static void make_owned(struct rig *r)
{
        const char *uid;

        post(r, MEMBER, NS "/default/configmaps", CONFIG_MAP("boss", "1"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        post(r, MEMBER, NS "/default/configmaps",
             arena_printf(&r->arena,
                          "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'shared','namespace':"
                          "'default','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'boss',"
                          "'uid':'%s'}]},'data':{'k':'theirs'}}",
                          uid));
}

/* Such an object, applied by a Work that may share. */
static void share(struct rig *r)
{
        make_owned(r);
        place(r, "w", CO_OWNED, CONFIG_MAP("shared", "1") "," CONFIG_MAP("own", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        wait_for(r, MEMBER, SHARED, "data.k", "1");
        expect_owners(r, 1, 1);
}

static void leaves_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        share(r);
        replace_manifests(r, "w", CONFIG_MAP("new", "1"));
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("own"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("new"), "data.k", "1");
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        expect_owners(r, 0, 1);
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        expect_owners(r, 0, 1);
        stop(&a);
}

/* spec/member-agent.md 2.4: of an object with other owners only our reference goes. */
static void what_others_own_too_stays_when_it_leaves_the_work(void **state)
{
        rig_run(leaves_body);
}

static void ends_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        share(r);
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("own"));
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        expect_owners(r, 0, 1);
        stop(&a);
}

static void what_others_own_too_stays_when_the_work_goes(void **state)
{
        rig_run(ends_body);
}

static void refused_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        make_owned(r);
        place(r, "w", "", CONFIG_MAP("shared", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        expect_owners(r, 0, 1);
        assert_string_equal(rig_string(r, "data.k"), "theirs");
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'allowCoOwnership':true}}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        expect_owners(r, 1, 1);
        stop(&a);
}

/* spec/member-agent.md 2.7 */
static void what_others_own_is_taken_over_only_where_sharing_is_allowed(void **state)
{
        rig_run(refused_body);
}

static const char *version_of_shared(struct rig *r)
{
        assert_int_equal(get(r, MEMBER, SHARED), 200);
        return arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
}

/* Whoever owns it, or nobody: it is not even written. */
static void never_body(struct rig *r, bool owned, const char *strategy)
{
        const char *version;
        struct agent a;

        begin(&a, r);
        if (owned)
                make_owned(r);
        else
                post(r, MEMBER, NS "/default/configmaps", CONFIG_MAP("shared", "theirs"));
        version = version_of_shared(r);
        place(r, "w", strategy, CONFIG_MAP("shared", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "NotTakenOver");
        assert_null(doc_get(manifest_status(r, "w", 0), "diffDetails"));
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        replace_manifests(r, "w", CONFIG_MAP("shared", "2"));
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "NotTakenOver");
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_string_equal(version_of_shared(r), version);
        stop(&a);
}

#define NEVER_TAKE "'whenToTakeOver':'Never'"

/* spec/member-agent.md checklist 21 */
RIG_TEST(what_nobody_owns_is_not_touched_where_taking_over_is_forbidden,
         { never_body(r, false, "'applyStrategy':{" NEVER_TAKE "},"); })
RIG_TEST(nor_what_others_own, { never_body(r, true, "'applyStrategy':{" NEVER_TAKE "},"); })
RIG_TEST(nor_where_sharing_is_allowed,
         { never_body(r, true, "'applyStrategy':{" NEVER_TAKE ",'allowCoOwnership':true},"); })
RIG_TEST(nor_by_an_apply_that_forces_its_fields, {
        never_body(r, true,
                   "'applyStrategy':{" NEVER_TAKE
                   ",'type':'ServerSideApply','serverSideApplyConfig':{'force':true}},");
})

/* spec/member-agent.md checklist 26: what was ours alone, and somebody else owns too by now. */
RIG_TEST(what_others_came_to_own_is_changed_only_where_sharing_is_allowed, {
        const char *uid;
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, NS "/default/configmaps", CONFIG_MAP("boss", "1"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        place(r, "w", "", CONFIG_MAP("shared", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(get(r, MEMBER, SHARED), 200);
        merge(r, MEMBER, SHARED,
              arena_printf(
                      &r->arena,
                      "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'boss',"
                      "'uid':'%s'},{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':"
                      "'AppliedWork','name':'w','uid':'%s','blockOwnerDeletion':true}]}}",
                      uid,
                      doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0),
                                     "uid")));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "ManifestApplyFailed");
        replace_manifests(r, "w", CONFIG_MAP("shared", "2"));
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "ManifestApplyFailed");
        expect_owners(r, 1, 1);
        assert_string_equal(rig_string(r, "data.k"), "1");
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'allowCoOwnership':true}}}");
        wait_for(r, MEMBER, SHARED, "data.k", "2");
        expect_owners(r, 1, 1);
        stop(&a);
})

/* ---- when a difference was first seen ---- */

static const char *detail(struct rig *r, const char *field)
{
        const json_t *entry;

        get(r, HUB, WORKS "/w");
        entry = json_array_get(doc_get_array(r->answer, "status.manifestConditions"), 0);
        return arena_printf(&r->arena, "%s",
                            doc_get_string(entry, field) ? doc_get_string(entry, field) : "");
}

static void stay_first_seen(struct rig *r, struct agent *a, const char *path, const char *details)
{
        const char *first_field =
                text_equal(details, "driftDetails") ? "firstDriftedObservedTime" : "firstDiffedObservedTime";
        const char *field = arena_printf(&r->arena, "%s.%s", details, first_field), *first = detail(r, field);

        assert_string_not_equal(first, "");
        assert_int_equal(fiber_sleep(r->loop, 300000), 0);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed again'}}"); /* the same place */
        assert_int_equal(fiber_sleep(r->loop, 30000), 0);
        assert_string_equal(detail(r, field), first);
        stop(a);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        start(a, r, path);
        assert_int_equal(fiber_sleep(r->loop, 1000000), 0);
        assert_string_equal(detail(r, field), first);
        merge(r, HUB, WORKS "/w/status",
              "{'status':{'conditions':[],'manifestConditions':[]}}"); /* the hub forgot it */
        assert_int_equal(fiber_sleep(r->loop, 1000000), 0);
        assert_string_equal(detail(r, field), first);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'1'}}");
        assert_int_equal(fiber_sleep(r->loop, 1000000), 0);
        assert_string_equal(detail(r, field), "");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed'}}");
        assert_int_equal(fiber_sleep(r->loop, 1000000), 0);
        assert_string_not_equal(detail(r, field), "");
        assert_string_not_equal(detail(r, field), first);
}

static void with_disk(struct rig *r, const char *strategy, const char *details)
{
        char directory[] = "/tmp/member-agent-test-XXXXXX", path[128];
        struct world disk;
        struct agent a;

        assert_non_null(mkdtemp(directory));
        world_init_real(&disk, r->loop, NULL);
        r->world.files = disk.files;
        r->world.ctx = disk.ctx;
        snprintf(path, sizeof(path), "%s/state.db", directory);
        prepare_clusters(r);
        invite(r);
        start(&a, r, path);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, HUB, WORKS "/w", arena_printf(&r->arena, "{'spec':{%s}}", strategy));
        assert_int_equal(fiber_sleep(r->loop, 30000), 0);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'changed'}}");
        assert_int_equal(fiber_sleep(r->loop, 1000000), 0);
        stay_first_seen(r, &a, path, details);
        stop(&a);
        for (size_t i = 0; i < 4; i++) {
                static const char *const suffixes[] = { "", "-wal", "-shm", ".key" };

                snprintf(path, sizeof(path), "%s/state.db%s", directory, suffixes[i]);
                remove(path);
        }
        remove(directory);
}

static void drift_body(struct rig *r)
{
        with_disk(r, "'applyStrategy':{'whenToApply':'IfNotDrifted'}", "driftDetails");
}

/* spec/member-agent.md checklist 39 */
static void a_drift_was_first_seen_once_over_looks_changes_and_restarts(void **state)
{
        rig_run(drift_body);
}

static void diff_body(struct rig *r)
{
        with_disk(r, "'applyStrategy':{'type':'ReportDiff'}", "diffDetails");
}

static void a_difference_of_an_owned_object_is_reported_and_was_first_seen_once(void **state)
{
        rig_run(diff_body);
}

/* ---- waves ---- */

struct recorder {
        const char *const *names; /* in the order of their waves */
        size_t n, seen;
        bool out_of_order;
};

static int record(void *ctx, const struct http_request *rq)
{
        struct recorder *w = ctx;
        bool writes = text_equal(rq->method, "POST") || text_equal(rq->method, "PATCH");

        for (size_t i = 0; writes && i < w->n; i++)
                if (strstr(rq->path, w->names[i])) {
                        w->out_of_order = w->out_of_order || i < w->seen;
                        w->seen = MAX(w->seen, i);
                }
        return 0;
}

static void waves_body(struct rig *r)
{
        /* As the manifests below stand, last wave first. */
        static const char *const order[] = { "/namespaces/fresh?", "/configmaps", "/roles", "/rolebindings",
                                             "/services" };
        static const char *const manifests =
                "{'apiVersion':'v1','kind':'Service','metadata':{'name':'s','namespace':'fresh'},'spec':{"
                "'ports':[{'port':80}]}},"
                "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'RoleBinding','metadata':{'name':'b',"
                "'namespace':'fresh'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':"
                "'x'}},"
                "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'Role','metadata':{'name':'x',"
                "'namespace':'fresh'},'rules':[]},"
                "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'fresh'}},"
                "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'fresh'}}";
        struct recorder recorder = { .names = order, .n = ARRAY_LEN(order) };
        struct loopback_faults faults = { .ctx = &recorder, .fate = record };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "", manifests);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        assert_int_equal(recorder.seen, ARRAY_LEN(order) - 1);
        assert_false(recorder.out_of_order);
        stop(&a);
}

/* spec/member-agent.md 2.5 */
static void waves_are_written_one_after_another(void **state)
{
        rig_run(waves_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_others_own_too_stays_when_it_leaves_the_work),
                cmocka_unit_test(what_others_own_too_stays_when_the_work_goes),
                cmocka_unit_test(what_others_own_is_taken_over_only_where_sharing_is_allowed),
                cmocka_unit_test(what_nobody_owns_is_not_touched_where_taking_over_is_forbidden),
                cmocka_unit_test(nor_what_others_own),
                cmocka_unit_test(nor_where_sharing_is_allowed),
                cmocka_unit_test(nor_by_an_apply_that_forces_its_fields),
                cmocka_unit_test(what_others_came_to_own_is_changed_only_where_sharing_is_allowed),
                cmocka_unit_test(a_drift_was_first_seen_once_over_looks_changes_and_restarts),
                cmocka_unit_test(a_difference_of_an_owned_object_is_reported_and_was_first_seen_once),
                cmocka_unit_test(waves_are_written_one_after_another),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
