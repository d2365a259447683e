/* What the agent asks of both API servers, in which order, and how often. */
#include "member-agent/member_agent_test.h"

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

/* Every request of the agent as a line "hub PATCH /path body". */
struct record {
        struct buf said;
        const char *refused; /* what a line begins with that gets no further: a failure of the server */
};

static int note_request(void *ctx, const struct http_request *rq)
{
        struct record *record = ctx;
        const char *who = text_equal(rq->endpoint->base_url, HUB) ? "hub" : "m1";
        size_t at = record->said.len;

        buf_printf(&record->said, "%s %s %s %.*s\n", who, rq->method, rq->path, (int)rq->body.len,
                   rq->body.data ? rq->body.data : "");
        return record->refused && text_starts_with(record->said.data + at, record->refused) ? 500 : 0;
}

static const char *said(const struct record *record, const char *begins)
{
        return record->said.len ? strstr(record->said.data, begins) : NULL;
}

static void forget(struct record *record)
{
        buf_truncate(&record->said, 0);
}

/* As begin(), with every request written down. */
static void begin_recorded(struct agent *a, struct rig *r, struct record *record,
                           struct loopback_faults *faults)
{
        *record = (struct record){ 0 };
        buf_init(&record->said, 4 << 20);
        *faults = (struct loopback_faults){ .ctx = record, .fate = note_request };
        begin(a, r);
        meet(a, faults);
}

static void end_recorded(struct agent *a, struct record *record)
{
        stop(a);
        buf_free(&record->said);
}

static void wait_ms(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

/* spec/member-agent.md checklist 1 */
RIG_TEST(of_the_hub_only_the_own_namespace_is_asked_for, {
        static const char foreign[] =
                "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/fleet-member-m2/works";
        struct loopback_faults faults;
        struct record record;
        struct agent a;
        size_t lines = 0;

        begin_recorded(&a, r, &record, &faults);
        post(r, HUB, NS, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'fleet-member-m2'}}");
        post(r, HUB, foreign,
             "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work','metadata':{'name':'x'},"
             "'spec':{'workload':{'manifests':[" CONFIG_MAP("x", "1") "]}}}");
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        delete (r, HUB, WORKS "/w");
        wait_ms(r, 120000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("x")), 404);
        for (const char *at = record.said.data; (at = strstr(at, "hub ")); at = strchr(at, '\n')) {
                const char *end = strchr(at, '\n'), *own = strstr(at, "/namespaces/fleet-member-m1/");

                if ((!own || own > end) && !text_starts_with(at, "hub GET /version "))
                        fail_msg("%.*s", (int)(end - at), at);
                lines++;
        }
        assert_true(lines > 5);
        assert_non_null(said(&record, "hub GET " WORKS));
        assert_non_null(said(&record, "hub GET " IMCS));
        end_recorded(&a, &record);
})

/* ---- what calls for a pass ---- */

/* Passes of the applier so far; needs metrics. */
static double passes(const struct agent *a)
{
        static const char *const results[] = { "success", "requeue_after", "error" };
        double n = 0;

        for (size_t i = 0; i < ARRAY_LEN(results); i++)
                n += metric_value(a->options.metrics, METRIC_RECONCILES,
                                  (const char *[]){ "work-applier", results[i] });
        return n;
}

static void begin_counted(struct agent *a, struct rig *r)
{
        begin(a, r);
        a->options.metrics = metrics_new(METRIC_OF_MEMBER);
        assert_non_null(a->options.metrics);
}

static void end_counted(struct agent *a)
{
        stop(a);
        metrics_free(a->options.metrics);
}

/* spec/member-agent.md checklist 7 */
RIG_TEST(a_pass_is_called_for_by_a_new_generation_and_by_a_deletion_that_begins, {
        struct agent a;
        double before;

        begin_counted(&a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        wait_ms(r, 5000000); /* looks are rare by now: one has just been */
        for (before = passes(&a); passes(&a) <= before;)
                wait_ms(r, 1000);
        before = passes(&a);
        merge(r, HUB, WORKS "/w",
              "{'metadata':{'labels':{'a':'b'},'annotations':{'a':'b'},'finalizers':['kubernetes-fleet.io/"
              "work-cleanup','example.com/hold']}}");
        wait_ms(r, 20000);
        merge(r, HUB, WORKS "/w/status", "{'status':{'conditions':[],'manifestConditions':[]}}");
        wait_ms(r, 20000);
        assert_true(passes(&a) == before);
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'allowCoOwnership':true}}}");
        wait_ms(r, 2000);
        assert_true(passes(&a) > before);
        before = passes(&a);
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_ms(r, 1000);
        assert_true(passes(&a) > before);
        end_counted(&a);
})

/* Passes and writes of the status in half an hour of no change. */
static void count_writes(struct rig *r, const char *spec, const char *edit, bool each)
{
        uint64_t writes;
        struct agent a;
        double looks;

        begin_counted(&a, r);
        place(r, "w", spec, DEPLOYMENT);
        wait_ms(r, 20000);
        if (edit)
                merge(r, MEMBER, "/apis/apps/v1/namespaces/default/deployments/site", edit);
        wait_ms(r, 20000);
        writes = requests(r, "hub", "patch", "works/status");
        looks = passes(&a);
        wait_ms(r, 1800000);
        writes = requests(r, "hub", "patch", "works/status") - writes;
        looks = passes(&a) - looks;
        assert_true(looks > 5);
        assert_int_equal(writes, each ? (uint64_t)looks : 0);
        end_counted(&a);
}

#define REPLICAS "{'spec':{'replicas':3}}"

/* spec/member-agent.md checklist 47 */
RIG_TEST(what_is_as_it_should_be_is_not_told_again, { count_writes(r, "", REPLICAS, false); })
/* spec/member-agent.md checklist 47 */
RIG_TEST(a_drift_is_told_in_each_pass,
         { count_writes(r, "'applyStrategy':{'whenToApply':'IfNotDrifted'},", REPLICAS, true); })
/* spec/member-agent.md checklist 47 */
RIG_TEST(a_difference_is_told_in_each_pass,
         { count_writes(r, "'applyStrategy':{'type':'ReportDiff'},", NULL, true); })
/* spec/member-agent.md checklist 47 */
RIG_TEST(a_mirrored_status_is_told_in_each_pass, {
        count_writes(r, "'reportBackStrategy':{'type':'Mirror','destination':'OriginalResource'},", NULL,
                     true);
})

/* ---- in which order ---- */

/* spec/member-agent.md checklist 9 */
RIG_TEST(nothing_is_applied_before_the_finalizer_and_the_applied_work_are_there, {
        struct loopback_faults faults;
        struct record record;
        struct agent a;

        begin_recorded(&a, r, &record, &faults);
        record.refused = "hub PATCH " WORKS "/w";
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_ms(r, 20000);
        assert_null(said(&record, "m1 POST " APPLIED_WORKS));
        assert_null(said(&record, "m1 POST " CONFIG_MAPS));
        record.refused = "m1 POST " APPLIED_WORKS;
        wait_ms(r, 60000);
        get(r, HUB, WORKS "/w");
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "metadata.finalizers"), 0)),
                "kubernetes-fleet.io/work-cleanup");
        assert_null(said(&record, "m1 POST " CONFIG_MAPS));
        record.refused = NULL;
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 200);
        assert_true(said(&record, "m1 POST " APPLIED_WORKS) < said(&record, "m1 POST " CONFIG_MAPS));
        end_recorded(&a, &record);
})

static const char *uid_of(struct rig *r, const char *path)
{
        assert_int_equal(get(r, MEMBER, path), 200);
        return arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
}

static void assert_owner(struct rig *r, const char *path, const char *uid)
{
        const json_t *owners;

        assert_int_equal(get(r, MEMBER, path), 200);
        owners = doc_get_array(r->answer, "metadata.ownerReferences");
        assert_int_equal(json_array_size(owners), 1);
        assert_string_equal(doc_get_string(json_array_get(owners, 0), "uid"), uid);
}

/* spec/member-agent.md checklist 10: as after leaving and joining again. */
RIG_TEST(the_applied_work_of_a_work_without_a_finalizer_is_used_on, {
        struct loopback_faults faults;
        struct record record;
        const char *uid, *object;
        struct agent a;

        begin_recorded(&a, r, &record, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        uid = uid_of(r, APPLIED_WORKS "/w");
        object = uid_of(r, CONFIG_MAP_PATH("c"));
        stop(&a);
        merge(r, HUB, WORKS "/w", "{'metadata':{'finalizers':null}}");
        /* another agent's, of a Work that this one has never seen */
        post(r, MEMBER, APPLIED_WORKS,
             "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','metadata':{'name':"
             "'v'},'spec':{'workName':'v','workNamespace':'fleet-member-m1'}}");
        place(r, "v", "", CONFIG_MAP("d", "1"));
        forget(&record);
        start(&a, r, ":memory:");
        meet(&a, &faults);
        wait_for(r, HUB, WORKS "/v", "type=Available", "AllManifestsAvailable");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        get(r, HUB, WORKS "/w");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 1);
        assert_string_equal(uid_of(r, CONFIG_MAP_PATH("c")), object);
        assert_owner(r, CONFIG_MAP_PATH("c"), uid);
        assert_owner(r, CONFIG_MAP_PATH("d"), uid_of(r, APPLIED_WORKS "/v"));
        assert_null(said(&record, "m1 POST " APPLIED_WORKS));
        end_recorded(&a, &record);
})

/* ---- what leaves ---- */

/* Puts another owner, which exists, beside the agent's. */
static void add_owner(struct rig *r, const char *path)
{
        const char *uid;

        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("boss", "1"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        merge(r, MEMBER, path,
              arena_printf(&r->arena,
                           "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':"
                           "'boss','uid':'%s'},{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':"
                           "'AppliedWork','name':'w','uid':'%s','blockOwnerDeletion':true}]}}",
                           uid, uid_of(r, APPLIED_WORKS "/w")));
}

/* spec/member-agent.md checklist 16 */
RIG_TEST(what_leaves_is_deleted_by_its_uid_or_only_let_go_of, {
        struct loopback_faults faults;
        struct record record;
        const char *line, *uid;
        struct agent a;

        begin_recorded(&a, r, &record, &faults);
        place(r, "w", "'applyStrategy':{'allowCoOwnership':true},",
              CONFIG_MAP("c", "1") "," CONFIG_MAP("both", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        add_owner(r, CONFIG_MAP_PATH("both"));
        uid = uid_of(r, CONFIG_MAP_PATH("c"));
        replace_manifests(r, "w", CONFIG_MAP("d", "1"));
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_ms(r, 10000);
        assert_owner(r, CONFIG_MAP_PATH("both"), uid_of(r, CONFIG_MAP_PATH("boss")));
        assert_null(said(&record, "m1 DELETE " CONFIG_MAP_PATH("both")));
        line = said(&record, "m1 DELETE " CONFIG_MAP_PATH("c"));
        assert_non_null(line);
        line = arena_strndup(&r->arena, line, (size_t)(strchr(line, '\n') - line));
        assert_non_null(strstr(line, arena_printf(&r->arena, "\"uid\":\"%s\"", uid)));
        assert_non_null(strstr(line, "\"preconditions\""));
        end_recorded(&a, &record);
})

static const char *applied_resource(struct rig *r, size_t i)
{
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 200);
        return doc_get_string(json_array_get(doc_get_array(r->answer, "status.appliedResources"), i), "name");
}

/* spec/member-agent.md checklist 18 */
RIG_TEST(another_order_of_manifests_changes_the_order_of_what_is_listed_alone, {
        struct loopback_faults faults;
        struct record record;
        const char *uids[2];
        struct agent a;

        begin_recorded(&a, r, &record, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        wait_ms(r, 1000);
        assert_string_equal(applied_resource(r, 0), "c");
        uids[0] = uid_of(r, CONFIG_MAP_PATH("c"));
        uids[1] = uid_of(r, CONFIG_MAP_PATH("d"));
        replace_manifests(r, "w", CONFIG_MAP("d", "1") "," CONFIG_MAP("c", "1"));
        wait_ms(r, 10000);
        assert_string_equal(applied_resource(r, 0), "d");
        assert_string_equal(applied_resource(r, 1), "c");
        assert_string_equal(doc_get_string(manifest_status(r, "w", 0), "identifier.name"), "d");
        assert_string_equal(uid_of(r, CONFIG_MAP_PATH("c")), uids[0]);
        assert_string_equal(uid_of(r, CONFIG_MAP_PATH("d")), uids[1]);
        assert_null(said(&record, "m1 DELETE "));
        end_recorded(&a, &record);
})

/* spec/member-agent.md checklist 51 */
RIG_TEST(a_work_that_goes_waits_for_the_end_of_its_applied_work, {
        struct loopback_faults faults;
        struct record record;
        const char *line;
        struct agent a;

        begin_recorded(&a, r, &record, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'metadata':{'finalizers':['example.com/hold']}}");
        delete (r, HUB, WORKS "/w");
        wait_ms(r, 200000);
        line = said(&record, "m1 DELETE " APPLIED_WORKS "/w");
        assert_non_null(line);
        line = arena_strndup(&r->arena, line, (size_t)(strchr(line, '\n') - line));
        assert_non_null(strstr(line, "\"propagationPolicy\":\"Foreground\""));
        assert_null(said(&record, "m1 DELETE " CONFIG_MAPS)); /* garbage collection does that */
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 200);
        get(r, HUB, WORKS "/w");
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "metadata.finalizers"), 0)),
                "kubernetes-fleet.io/work-cleanup");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'metadata':{'finalizers':null}}");
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 404);
        end_recorded(&a, &record);
})

#define ADMISSION "/apis/admissionregistration.k8s.io/v1"

/* spec/member-agent.md checklist 52: garbage collection cannot take our reference off, so the object blocks
 * the AppliedWork's end. */
RIG_TEST(what_others_own_too_blocks_the_end_for_five_minutes_and_survives, {
        const json_t *ours;
        struct agent a;

        begin(&a, r);
        place(r, "w", "'applyStrategy':{'allowCoOwnership':true},",
              CONFIG_MAP("both", "1") "," CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        add_owner(r, CONFIG_MAP_PATH("both"));
        post(r, MEMBER, ADMISSION "/validatingadmissionpolicies",
             "{'apiVersion':'admissionregistration.k8s.io/v1','kind':'ValidatingAdmissionPolicy','metadata':{"
             "'name':'keep'},'spec':{'matchConstraints':{'resourceRules':[{'apiGroups':[''],'apiVersions':['"
             "v1'],'operations':['UPDATE'],'resources':['configmaps']}]},'validations':[{'expression':"
             "'object.metadata.name != \\'both\\' || size(object.metadata.ownerReferences) == 2'}]}}");
        post(r, MEMBER, ADMISSION "/validatingadmissionpolicybindings",
             "{'apiVersion':'admissionregistration.k8s.io/v1','kind':'ValidatingAdmissionPolicyBinding',"
             "'metadata':{'name':'keep'},'spec':{'policyName':'keep','validationActions':['Deny']}}");
        wait_ms(r, 2000);
        delete (r, HUB, WORKS "/w");
        wait_ms(r, 290000);
        assert_int_equal(get(r, HUB, WORKS "/w"), 200);
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 200);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        get(r, MEMBER, CONFIG_MAP_PATH("both"));
        ours = json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 1);
        assert_true(json_is_true(json_object_get(ours, "blockOwnerDeletion")));
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("both")), 200);
        ours = json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 1);
        assert_true(json_is_false(json_object_get(ours, "blockOwnerDeletion")));
        assert_string_equal(rig_string(r, "data.k"), "1");
        stop(&a);
})

/* ---- whose writes they are ---- */

static void named_body(struct rig *r)
{
        struct loopback_faults faults;
        struct record record;
        struct agent a;
        size_t writes = 0;

        begin_recorded(&a, r, &record, &faults);
        place(r, "w", *(const char *const *)r->ctx, CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        merge(r, MEMBER, CONFIG_MAP_PATH("c") "?fieldManager=user", "{'data':{'mine':'x'}}");
        wait_ms(r, 20000);
        for (const char *at = record.said.data; (at = strstr(at, "m1 P")); at = strchr(at, '\n')) {
                const char *end = strchr(at, '\n'), *name = strstr(at, "fieldManager=work-api-agent");
                const char *path = strchr(at + strlen("m1 "), ' ') + 1;

                if (!text_starts_with(path, CONFIG_MAPS))
                        continue;
                if (!name || name > end)
                        fail_msg("%.*s", (int)(end - at), at);
                writes++;
        }
        assert_true(writes >= 2);
        end_recorded(&a, &record);
}

/* spec/member-agent.md checklist 29: on both ways of applying, and of comparing. */
static void each_write_of_a_manifest_carries_the_appliers_name(void **state)
{
        static const char *const strategies[] = { "", "'applyStrategy':{'whenToApply':'IfNotDrifted'},",
                                                  "'applyStrategy':{'comparisonOption':'FullComparison'},",
                                                  "'applyStrategy':{'type':'ServerSideApply'}," };

        for (size_t i = 0; i < ARRAY_LEN(strategies); i++)
                rig_run_for(named_body, (void *)(uintptr_t)&strategies[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(of_the_hub_only_the_own_namespace_is_asked_for),
                cmocka_unit_test(a_pass_is_called_for_by_a_new_generation_and_by_a_deletion_that_begins),
                cmocka_unit_test(what_is_as_it_should_be_is_not_told_again),
                cmocka_unit_test(a_drift_is_told_in_each_pass),
                cmocka_unit_test(a_difference_is_told_in_each_pass),
                cmocka_unit_test(a_mirrored_status_is_told_in_each_pass),
                cmocka_unit_test(nothing_is_applied_before_the_finalizer_and_the_applied_work_are_there),
                cmocka_unit_test(the_applied_work_of_a_work_without_a_finalizer_is_used_on),
                cmocka_unit_test(what_leaves_is_deleted_by_its_uid_or_only_let_go_of),
                cmocka_unit_test(another_order_of_manifests_changes_the_order_of_what_is_listed_alone),
                cmocka_unit_test(a_work_that_goes_waits_for_the_end_of_its_applied_work),
                cmocka_unit_test(what_others_own_too_blocks_the_end_for_five_minutes_and_survives),
                cmocka_unit_test(each_write_of_a_manifest_carries_the_appliers_name),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
