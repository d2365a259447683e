/* ClusterObjectSets that a Work carries to the member: spec/cluster-object-set.md 17. */
#include "member-agent/object_set_test.h"

#define MANIFEST(labels)                                                                                     \
        "{'apiVersion':'olm.operatorframework.io/v1','kind':'ClusterObjectSet','metadata':{'name':'app-1',"  \
        "'labels':{" labels "}},'spec':{'lifecycleState':'Active','revision':1,'collisionProtection':"       \
        "'Prevent','progressionProbes':[{'selector':{'type':'GroupKind','groupKind':{'group':'','kind':"     \
        "'ConfigMap'}},'assertions':[{'type':'FieldValue','fieldValue':{'fieldPath':'data.ready','value':"   \
        "'yes'}}]}],'phases':[" PHASE("one", INLINE(CONFIG_MAP("held", "1"))) "]}}"

struct way {
        const char *strategy, *applied; /* the reason of its condition */
        const char *told;               /* the condition's type */
};

static void archived_body(struct rig *r)
{
        const struct way *way = r->ctx;
        struct agent a;

        begin(&a, r);
        place(r, "w", "", MANIFEST("'a':'1'"));
        wait_for_set(r, "app-1", "Progressing", "True/RollingOut");
        settle(r, 20000);
        assert_string_equal(manifest_reason(r, "w", 0, "Available"), "ManifestNotAvailableYet");
        merge(r, MEMBER, CONFIG_MAP_PATH("held"), "{'data':{'ready':'yes'}}");
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_string_equal(manifest_reason(r, "w", 0, "Available"), "Available");

        merge(r, HUB, WORKS "/w", arena_printf(&r->arena, "{'spec':{'applyStrategy':{%s}}}", way->strategy));
        settle(r, 20000);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        settle(r, 20000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("held")), 404);
        assert_string_equal(manifest_reason(r, "w", 0, way->told), way->applied);
        assert_null(doc_get(manifest_status(r, "w", 0), "driftDetails"));
        assert_null(doc_get(manifest_status(r, "w", 0), "diffDetails"));
        get(r, MEMBER, SETS "/app-1");
        assert_string_equal(rig_string(r, "spec.lifecycleState"), "Archived");
        if (text_equal(way->told, "Applied")) {
                get(r, HUB, WORKS "/w");
                assert_string_equal(read_field(r, "type=Available"), "AllManifestsAvailable");
                replace_manifests(r, "w", MANIFEST("'a':'2'"));
                wait_for(r, MEMBER, SETS "/app-1", "metadata.labels.a", "2");
                assert_string_equal(rig_string(r, "spec.lifecycleState"), "Archived");
                settle(r, 20000);
                assert_string_equal(manifest_reason(r, "w", 0, way->told), way->applied);
        }
        stop(&a);
}

/* spec/cluster-object-set.md checklist 95, 96, 98 */
static void archived_on_the_member_is_as_good_as_active_on_the_hub(void **state)
{
        static const struct way ways[] = {
                { "'type':'ClientSideApply'", "Applied", "Applied" },
                { "'type':'ServerSideApply'", "Applied", "Applied" },
                { "'type':'ServerSideApply','serverSideApplyConfig':{'force':true}", "Applied", "Applied" },
                { "'comparisonOption':'FullComparison'", "Applied", "Applied" },
                { "'comparisonOption':'FullComparison','whenToApply':'IfNotDrifted'", "Applied", "Applied" },
                { "'whenToApply':'IfNotDrifted'", "Applied", "Applied" },
                { "'type':'ReportDiff'", "NoDiffFound", "DiffReported" },
                { "'type':'ReportDiff','comparisonOption':'FullComparison'", "NoDiffFound", "DiffReported" },
        };

        for (size_t i = 0; i < ARRAY_LEN(ways); i++)
                rig_run_for(archived_body, (void *)(uintptr_t)&ways[i]);
}

/* spec/cluster-object-set.md checklist 95 */
RIG_TEST(archiving_a_set_on_the_member_makes_the_applier_write_nothing, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", MANIFEST("'a':'1'"));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        wait_for_set(r, "app-1", "Progressing", "True/RollingOut");
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        settle(r, 20000);
        assert_int_equal(requests(r, "m1", "patch", "clusterobjectsets"), 3); /* ours, the finalizer twice */
        stop(&a);
})

static const char *available_message(struct rig *r)
{
        size_t i;
        json_t *c;

        json_array_foreach(doc_get_array(manifest_status(r, "w", 0), "conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Available"))
                        return doc_get_string(c, "message");
        return "";
}

RIG_TEST(what_is_in_the_way_of_a_set_stands_in_the_status_of_its_work, {
        static const char set[] = SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", REF("s", "k")));
        static const char wanted[] =
                "Manifest is not yet available; Fleet will check again later (Blocked: the following secrets "
                "are "
                "not immutable (referenced secrets must have immutable set to true): default/s)";
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, SECRETS, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'}}");
        place(r, "w", "", set);
        wait_for_set(r, "app-1", "Progressing", "False/Blocked");
        settle(r, 20000);
        assert_string_equal(available_message(r), wanted);
        replace_manifests(r, "w", arena_printf(&r->arena, "%s,%s", set, CONFIG_MAP("c", "1")));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        settle(r, 20000);
        assert_string_equal(available_message(r), wanted);
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(archived_on_the_member_is_as_good_as_active_on_the_hub),
                cmocka_unit_test(archiving_a_set_on_the_member_makes_the_applier_write_nothing),
                cmocka_unit_test(what_is_in_the_way_of_a_set_stands_in_the_status_of_its_work),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
