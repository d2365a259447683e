/* What is told while this cluster's API server refuses a part of what a look asks for, and that it is made
 * good as soon as it does not. */
#include "member-agent/apply/clean.h"
#include "member-agent/member_agent_test.h"

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

/* An object that is there before its Work, and one kind of request about it that is refused. */
struct refusal {
        const char *method, *part; /* part: of the path */
        int status;
        const char *strategy, *found; /* found: data.k of the object */
        const char *type, *reason, *later;
        bool active;
};

static int refuse(void *ctx, const struct http_request *rq)
{
        const struct refusal *f = ctx;

        return f->active && text_equal(rq->endpoint->base_url, MEMBER) && text_equal(rq->method, f->method) &&
                               strstr(rq->path, f->part)
                       ? f->status
                       : 0;
}

static void refused_body(struct rig *r)
{
        struct refusal *f = r->ctx;
        struct loopback_faults faults = { .ctx = f, .fate = refuse };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("c", "1"));
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), arena_printf(&r->arena, "{'data':{'k':'%s'}}", f->found));
        f->active = true;
        place(r, "w", arena_printf(&r->arena, "'applyStrategy':{%s},", f->strategy), CONFIG_MAP("c", "1"));
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        if (!text_equal(manifest_reason(r, "w", 0, f->type), f->reason))
                fail_msg("%s %s: %s is %s, not %s", f->method, f->part, f->type,
                         manifest_reason(r, "w", 0, f->type), f->reason);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), f->found);
        assert_null(clean_annotation(r->answer, "kubernetes-fleet.io/spec-hash"));
        f->active = false;
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        if (!text_equal(manifest_reason(r, "w", 0, f->type), f->later))
                fail_msg("%s %s: later %s is %s, not %s", f->method, f->part, f->type,
                         manifest_reason(r, "w", 0, f->type), f->later);
        stop(&a);
}

#define NAMED "configmaps/c?"
#define IF_NO_DIFF "'whenToTakeOver':'IfNoDiff'"
#define REPORT "'type':'ReportDiff'"

/* spec/member-agent.md 2.7, 2.8: each step has words of its own, and applies nothing. */
static void what_is_refused_is_told_and_made_good(void **state)
{
        static const struct refusal rows[] = {
                { "GET", "configmaps/c", 403, "", "1", "Applied", "FailedToFindObjInMemberCluster",
                  "Applied" },
                { "PATCH", "dryRun", 403, IF_NO_DIFF, "1", "Applied", "FailedToTakeOver", "Applied" },
                { "PATCH", "dryRun", 503, IF_NO_DIFF, "1", "Applied", "FailedToTakeOver", "Applied" },
                { "PATCH", NAMED, 403, "", "1", "Applied", "FailedToTakeOver", "Applied" },
                { "PATCH", "dryRun", 403, REPORT, "2", "DiffReported", "FailedToReportDiff", "FoundDiff" },
                { "PATCH", "dryRun", 403, REPORT, "1", "DiffReported", "FailedToReportDiff", "NoDiffFound" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct refusal f = rows[i];

                rig_run_for(refused_body, &f);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_refused_is_told_and_made_good),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
