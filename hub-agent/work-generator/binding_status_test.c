/* What Works and their members make of the status of a binding. */
#include <stdlib.h>

#include "common/base/limits.h"
#include "hub-agent/starve_test.h"
#include "hub-agent/work-generator/work_generator_test.h"

#define NOW INT64_C(1767225600000)

static const char *status_of(struct scene *s, const struct sync_result *r, const char *type)
{
        struct binding *wanted;
        const struct condition *c;
        bool settled;

        wanted = binding_with_status(&s->arena, s->b, &s->live, r, NULL, NOW, &settled);
        assert_non_null(wanted);
        c = condition_find(&wanted->status->conditions, type);
        assert_true(!c || !strstr(or_empty(c->message), "left out")); /* nothing here is too long */
        return c ? arena_printf(&s->arena, "%s %s", c->status, c->reason) : "absent";
}

static void the_worst_work_decides_the_bindings_conditions(void **state)
{
        static const struct {
                const char *applied[2], *available[2], *expected[2];
        } rows[] = {
                { { "True", "True" },
                  { "True", "True" },
                  { "True AllWorkHaveBeenApplied", "True AllWorkAreAvailable" } },
                { { "True", NULL }, { NULL, NULL }, { "False NotAllWorkHaveBeenApplied", "absent" } },
                { { "True", "False" }, { "True", NULL }, { "False NotAllWorkHaveBeenApplied", "absent" } },
                { { "True", "True" },
                  { "True", NULL },
                  { "True AllWorkHaveBeenApplied", "False NotAllWorkAreAvailable" } },
                { { "True", "True" },
                  { "True", "False" },
                  { "True AllWorkHaveBeenApplied", "False NotAllWorkAreAvailable" } },
        };
        static const struct sync_result in_sync;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin(&s, "ClientSideApply");
                add_work(&s, "w1", "3", rows[i].applied[0], rows[i].available[0], "");
                add_work(&s, "w2", "3", rows[i].applied[1], rows[i].available[1], "");
                assert_string_equal(status_of(&s, &in_sync, "Applied"), rows[i].expected[0]);
                assert_string_equal(status_of(&s, &in_sync, "Available"), rows[i].expected[1]);
                assert_string_equal(status_of(&s, &in_sync, "Overridden"), "True NoOverrideSpecified");
                assert_string_equal(status_of(&s, &in_sync, "WorkSynchronized"), "True AllWorkSynced");
                arena_free(&s.arena);
        }
}

/* One Work of which nothing or not all can be watched makes the binding's availability one that is assumed.
 */
static void what_cannot_be_tracked_is_told_for_the_whole_binding(void **state)
{
        static const struct {
                const char *reason, *expected;
        } rows[] = {
                { REASON_WORK_NOT_TRACKABLE, "True " REASON_BINDING_NOT_TRACKABLE },
                { REASON_WORK_SOME_NOT_TRACKABLE, "True " REASON_BINDING_NOT_TRACKABLE },
                { "WorkAvailable", "True AllWorkAreAvailable" },
        };
        static const struct sync_result in_sync;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct work *second;
                struct scene s;

                begin(&s, "ClientSideApply");
                add_work(&s, "w1", "3", "True", "True", "");
                add_work(&s, "w2", "3", "True", "True", "");
                second = (struct work *)(uintptr_t)s.works[1];
                second->status->conditions.at[1].reason = rows[i].reason;
                assert_string_equal(status_of(&s, &in_sync, "Available"), rows[i].expected);
                arena_free(&s.arena);
        }
}

static void failures_are_told_where_they_belong(void **state)
{
        static const struct sync_result override = { ERR_INVALID, "because", true, false },
                                        sync = { ERR_FORBIDDEN, "because", false, false },
                                        changed = { 0, NULL, false, true };
        struct scene s;

        begin(&s, "ClientSideApply");
        assert_string_equal(status_of(&s, &override, "Overridden"), "False OverriddenFailed");
        assert_string_equal(status_of(&s, &override, "WorkSynchronized"), "absent");
        assert_string_equal(status_of(&s, &sync, "WorkSynchronized"), "False SyncWorkFailed");
        assert_string_equal(status_of(&s, &sync, "Applied"), "absent");
        assert_string_equal(status_of(&s, &changed, "Applied"), "False ApplyInProgress");
        arena_free(&s.arena);
        begin(&s, "ReportDiff");
        assert_string_equal(status_of(&s, &changed, "DiffReported"), "False DiffReportInProgress");
        assert_string_equal(status_of(&s, &changed, "Applied"), "absent");
        arena_free(&s.arena);
}

#define MANIFEST(ordinal, name, status, more)                                                                \
        "{\"identifier\":{\"ordinal\":" ordinal                                                              \
        ",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"n\","                                    \
        "\"name\":\"" name "\"},\"conditions\":[{\"type\":\"Applied\",\"status\":\"" status                  \
        "\",\"reason\":\"R\",\"message\":\"\","                                                              \
        "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]" more "}"

#define KNOWN(n_)                                                                                            \
        {                                                                                                    \
                .version = "v1", .kind = "ConfigMap", .ns = "n", .name = (n_)                                \
        }
static struct resource_identifier known_manifests[] = { KNOWN("z"), KNOWN("b"), KNOWN("d") };
static const struct resource_identifier_list known[8] = { { known_manifests, 3, true },
                                                          { known_manifests, 3, true } };

static void failed_and_drifted_manifests_are_listed_in_the_order_of_the_work(void **state)
{
        static const struct sync_result in_sync = { .identities = known };
        struct binding *wanted;
        struct scene s;
        bool settled;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL,
                 MANIFEST("0", "z", "False", "") "," MANIFEST("1", "b", "False", "") "," MANIFEST(
                         "2", "d", "True",
                         ",\"driftDetails\":{\"observationTime\":\"2026-01-01T00:00:00Z\","
                         "\"firstDriftedObservedTime\":"
                         "\"2026-01-01T00:00:00Z\",\"observedInMemberClusterGeneration\":4}"));
        wanted = binding_with_status(&s.arena, s.b, &s.live, &in_sync, NULL, NOW, &settled);
        assert_true(settled);
        assert_int_equal(wanted->status->failed_placements->n, 2);
        assert_string_equal(wanted->status->failed_placements->at[0].id.name, "z");
        assert_string_equal(wanted->status->failed_placements->at[1].id.name, "b");
        assert_string_equal(wanted->status->failed_placements->at[0].condition->reason, "R");
        assert_int_equal(wanted->status->drifted_placements->n, 1);
        assert_int_equal(wanted->status->drifted_placements->at[0].target_cluster_observed_generation.value,
                         4);
        arena_free(&s.arena);
}

static struct binding *built(struct scene *s, const struct sync_result *r)
{
        bool settled;
        struct binding *b = binding_with_status(&s->arena, s->b, &s->live, r, NULL, NOW, &settled);

        assert_non_null(b);
        return b;
}

#define DRIFT                                                                                                \
        ",\"driftDetails\":{\"observationTime\":\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"      \
        "\"2026-01-01T00:00:00Z\",\"observedInMemberClusterGeneration\":4}"

#define DIFF                                                                                                 \
        ",\"diffDetails\":{\"observationTime\":\"2026-01-01T00:00:00Z\",\"firstDiffedObservedTime\":"        \
        "\"2026-01-01T00:00:00Z\",\"observedInMemberClusterGeneration\":4}"

static size_t n_listed(const struct binding *b)
{
        return LIST_OR_NONE(b->status->failed_placements).n + LIST_OR_NONE(b->status->drifted_placements).n +
               LIST_OR_NONE(b->status->diffed_placements).n;
}

/* spec/rollout-and-work.md checklist 48, 49 */
static void nothing_is_listed_while_a_work_is_under_way(void **state)
{
        static const struct sync_result in_sync = { .identities = known },
                                        changed = { .works_changed = true, .identities = known };
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL,
                 MANIFEST("0", "a", "False", "") "," MANIFEST("1", "b", "True", DRIFT));
        assert_int_equal(n_listed(built(&s, &in_sync)), 2);
        assert_int_equal(n_listed(built(&s, &changed)), 0);
        assert_string_equal(status_of(&s, &changed, "Applied"), "False ApplyInProgress");
        add_work(&s, "w2", "3", NULL, NULL, "");
        assert_int_equal(n_listed(built(&s, &in_sync)), 0);
        arena_free(&s.arena);
        begin(&s, "ReportDiff");
        add_work(&s, "w1", "3", NULL, NULL, MANIFEST("1", "b", "True", DRIFT));
        assert_int_equal(n_listed(built(&s, &changed)), 0);
        assert_string_equal(status_of(&s, &changed, "DiffReported"), "False DiffReportInProgress");
        arena_free(&s.arena);
}

/* ---- members that lie, or write much ---- */

/* The object is the one that the hub put at that place of the Work, whatever the member calls it. */
static void a_member_names_a_manifest_by_its_place_alone(void **state)
{
        static const struct sync_result in_sync = { .identities = known }, unknown = { 0 };
        const struct binding *b;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL,
                 MANIFEST("1", "of-another", "False", DRIFT) "," MANIFEST(
                         "3", "beyond", "False", DRIFT) "," MANIFEST("-1", "before", "False", DRIFT));
        b = built(&s, &in_sync);
        assert_int_equal(n_listed(b), 2);
        assert_string_equal(b->status->failed_placements->at[0].id.name, "b");
        assert_string_equal(b->status->drifted_placements->at[0].id.name, "b");
        assert_string_equal(status_of(&s, &unknown, "Applied"), "False NotAllWorkHaveBeenApplied");
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md 6.8: lists are of manifests. The condition tells; the Work itself, who it was. */
static void a_work_that_failed_without_naming_what_lists_nothing(void **state)
{
        static const struct sync_result in_sync = { .identities = known }, unknown = { 0 };
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "True", "");
        add_work(&s, "w2", "3", "False", NULL, MANIFEST("3", "beyond", "False", DRIFT));
        assert_int_equal(n_listed(built(&s, &in_sync)), 0);
        assert_int_equal(n_listed(built(&s, &unknown)), 0);
        assert_string_equal(status_of(&s, &in_sync, "Applied"), "False NotAllWorkHaveBeenApplied");
        assert_true(works_have_failed(&s.live));
        arena_free(&s.arena);
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "False", "");
        assert_int_equal(n_listed(built(&s, &in_sync)), 0);
        assert_string_equal(status_of(&s, &in_sync, "Available"), "False NotAllWorkAreAvailable");
        assert_true(works_have_failed(&s.live));
        arena_free(&s.arena);
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "False", "");
        add_work(&s, "w2", "3", NULL, NULL, "");
        assert_false(works_have_failed(&s.live)); /* one has still to report */
        arena_free(&s.arena);
}

enum { HOSTILE_MANIFESTS = 150, HOSTILE_DETAILS = 40, HOSTILE_TEXT = 3000 };

static void print_hostile(struct buf *b, int ordinal, const char *text)
{
        if (ordinal)
                buf_printf(b, ",");
        buf_printf(b,
                   "{\"identifier\":{\"ordinal\":%d,\"version\":\"v1\",\"kind\":\"%s\",\"name\":\"x\"},"
                   "\"conditions\":[{\"type\":\"Applied\",\"status\":\"False\",\"reason\":\"R\",\"message\":"
                   "\"%s\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],\"driftDetails\":{"
                   "\"observationTime\":\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"
                   "\"2026-01-01T00:00:00Z\",\"observedInMemberClusterGeneration\":4,\"observedDrifts\":[",
                   ordinal, text, text);
        for (int i = 0; i < HOSTILE_DETAILS; i++)
                buf_printf(b, "%s{\"path\":\"/%d\",\"valueInMember\":\"%s\"}", i ? "," : "", i, text);
        buf_printf(b, "]}}");
}

static size_t encoded_bytes(const struct object *o)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 64u << 20);
        assert_int_equal(object_encode(o, &b), 0);
        return b.len;
}

static void a_member_that_writes_much_fills_no_more_than_its_share(void **state)
{
        struct resource_identifier ids[HOSTILE_MANIFESTS];
        const struct resource_identifier_list list[8] = { { ids, HOSTILE_MANIFESTS, true } };
        const struct sync_result in_sync = { .identities = list };
        char text[HOSTILE_TEXT + 1];
        const struct condition *c;
        const struct binding *b;
        AUTO_BUF struct buf json;
        struct scene s;

        memset(text, 'x', HOSTILE_TEXT);
        text[HOSTILE_TEXT] = 0;
        buf_init(&json, 64u << 20);
        for (int i = 0; i < HOSTILE_MANIFESTS; i++) {
                ids[i] = known_manifests[0];
                print_hostile(&json, i, text);
        }
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL, json.data);
        b = built(&s, &in_sync);
        assert_in_range(encoded_bytes(&b->object), LIMIT_BINDING_ENTRIES_BYTES / 2,
                        LIMIT_BINDING_ENTRIES_BYTES * 5 / 4);
        assert_int_equal(strlen(b->status->failed_placements->at[0].condition->message),
                         LIMIT_STATUS_TEXT_BYTES);
        c = condition_find(&b->status->conditions, "Applied");
        assert_string_equal(c->reason, "NotAllWorkHaveBeenApplied");
        assert_non_null(strstr(c->message, "left out"));
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md checklist 50 */
static void available_follows_applied_and_neither_is_said_of_reports_of_differences(void **state)
{
        static const char *const applied[] = { NULL, "False", "Unknown" };
        static const struct sync_result in_sync;
        struct scene s;

        for (size_t i = 0; i < ARRAY_LEN(applied); i++) {
                begin(&s, "ClientSideApply");
                add_work(&s, "w1", "3", applied[i], "True", "");
                assert_string_equal(status_of(&s, &in_sync, "Available"), "absent");
                arena_free(&s.arena);
        }
        begin(&s, "ReportDiff");
        add_work(&s, "w1", "3", "True", "True", "");
        assert_string_equal(status_of(&s, &in_sync, "Applied"), "absent");
        assert_string_equal(status_of(&s, &in_sync, "Available"), "absent");
        arena_free(&s.arena);
}

static int64_t available_since(struct scene *s, const struct sync_result *r)
{
        const struct condition *c = condition_find(&built(s, r)->status->conditions, "Available");

        assert_non_null(c);
        return c->last_transition_ms;
}

/* spec/rollout-and-work.md 2.5, 6.7: the time of Available paces rollouts. */
static void available_begins_anew_when_works_changed_and_only_then(void **state)
{
        static const struct sync_result in_sync, anew = { .available_anew = true };
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "True", "True", "");
        ((struct binding *)s.b)->status = built(&s, &in_sync)->status;
        for (uint32_t i = 0; i < s.b->status->conditions.n; i++)
                s.b->status->conditions.at[i].last_transition_ms = NOW - 90000;
        assert_int_equal(available_since(&s, &in_sync), NOW - 90000);
        assert_int_equal(available_since(&s, &anew), NOW);
        ((struct object *)&s.b->object)->meta.generation++;
        assert_int_equal(available_since(&s, &in_sync), NOW - 90000);
        arena_free(&s.arena);
}

static void cut_at_a_hundred(const char *details)
{
        struct resource_identifier ids[150];
        const struct resource_identifier_list list[8] = { { ids, 150, true } };
        const struct sync_result in_sync = { .identities = list };
        char names[150][8];
        AUTO_BUF struct buf manifests;
        const struct binding *b;
        struct scene s;

        buf_init(&manifests, 1 << 16);
        for (int i = 149; i >= 0; i--) {
                snprintf(names[i], sizeof(names[i]), "m%03d", i);
                ids[i] = (struct resource_identifier)KNOWN(names[i]);
                buf_printf(&manifests,
                           "%s{\"identifier\":{\"ordinal\":%d,\"version\":\"v1\",\"kind\":\"ConfigMap\","
                           "\"namespace\":\"n\",\"name\":\"m%03d\"},\"conditions\":[{\"type\":\"Applied\","
                           "\"status\":\"False\",\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":"
                           "\"2026-01-01T00:00:00Z\"}]%s}",
                           i < 149 ? "," : "", i, i, details);
        }
        assert_false(manifests.failed);
        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL, manifests.data);
        b = built(&s, &in_sync);
        assert_int_equal(b->status->failed_placements->n, 100);
        assert_string_equal(b->status->failed_placements->at[99].id.name, "m050");
        assert_int_equal(n_listed(b), 200);
        if (b->status->drifted_placements) {
                assert_string_equal(b->status->drifted_placements->at[0].id.name, "m000");
                assert_string_equal(b->status->drifted_placements->at[99].id.name, "m099");
        } else {
                assert_string_equal(b->status->diffed_placements->at[0].id.name, "m000");
                assert_string_equal(b->status->diffed_placements->at[99].id.name, "m099");
        }
        arena_free(&s.arena);
}

/* spec/rollout-and-work.md checklist 51: those that failed are cut as they come, the others once they are
 * sorted. */
static void lists_end_at_a_hundred_cut_in_sorted_order(void **state)
{
        cut_at_a_hundred(DRIFT);
        cut_at_a_hundred(DIFF);
}

static const char *message_of(const struct binding *b, const char *type)
{
        const struct condition *c = condition_find(&b->status->conditions, type);

        return c ? c->message : "absent";
}

/* Of several that are alike the first one is named; what is settled is not held back. */
static void who_holds_up_is_named_and_what_is_settled_is_told_at_once(void **state)
{
        static const struct {
                const char *strategy, *type, *first, *second, *named; /* status of both Works; NULL = none */
                bool settled;
        } rows[] = {
                { "ClientSideApply", "Applied", "False", "False", "Work object w1 has failed to apply",
                  true },
                { "ClientSideApply", "Applied", "True", "False", "Work object w2 has failed to apply", true },
                { "ClientSideApply", "Applied", NULL, "False",
                  "Work object w1 has not yet completed the apply op", false },
                { "ClientSideApply", "Available", "False", "False", "Work object w1 is not yet available",
                  false },
                { "ClientSideApply", "Available", "True", NULL,
                  "Work object w2 has not yet completed availability check", false },
                { "ClientSideApply", "Available", "True", "True",
                  "All corresponding work objects are available", true },
                { "ReportDiff", "DiffReported", "True", "True",
                  "All corresponding work objects have reported diff", true },
                { "ReportDiff", "DiffReported", "False", "False", "Work object w1 has failed to report diff",
                  true },
                { "ReportDiff", "DiffReported", "True", NULL,
                  "Work object w2 has not yet completed diff reporting", false },
        };
        static const struct sync_result in_sync;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *given[] = { rows[i].first, rows[i].second };
                bool is_available = text_equal(rows[i].type, "Available"), settled;
                struct scene s;
                struct binding *b;

                begin(&s, rows[i].strategy);
                for (size_t k = 0; k < 2; k++) {
                        struct work *w;

                        add_work(&s, k ? "w2" : "w1", "3", is_available ? "True" : given[k],
                                 is_available ? given[k] : NULL, "");
                        w = (struct work *)(uintptr_t)s.works[k];
                        if (text_equal(rows[i].type, "DiffReported") && given[k])
                                w->status->conditions.at[0].type = "DiffReported";
                }
                b = binding_with_status(&s.arena, s.b, &s.live, &in_sync, NULL, NOW, &settled);
                assert_string_equal(message_of(b, rows[i].type), rows[i].named);
                assert_int_equal(settled, rows[i].settled);
                arena_free(&s.arena);
        }
}

#define DETAILS(of, first, seen)                                                                             \
        ",\"" of "Details\":{\"observationTime\":\"2026-01-01T00:00:03Z\",\"" first                          \
        "\":\"2026-01-01T00:00:02Z\",\"observedInMemberClusterGeneration\":4,\"" seen                        \
        "\":[{\"path\":\"/a\",\"valueInMember\":\"m\",\"valueInHub\":\"h\"}]}"

static void what_differs_is_told_as_the_member_told_it(void **state)
{
        static const struct sync_result in_sync = { .identities = known };
        const struct drifted_placement *drifted;
        const struct diffed_placement *diffed;
        const struct binding *b;
        struct scene s;

        begin(&s, "ClientSideApply");
        add_work(&s, "w1", "3", "False", NULL,
                 MANIFEST("0", "z", "True",
                          DETAILS("drift", "firstDriftedObservedTime",
                                  "observedDrifts")) "," MANIFEST("1", "b", "False",
                                                                  DETAILS("diff", "firstDiffedObservedTime",
                                                                          "observedDiffs")));
        b = built(&s, &in_sync);
        assert_int_equal(LIST_OR_NONE(b->status->drifted_placements).n, 1);
        assert_int_equal(LIST_OR_NONE(b->status->diffed_placements).n, 1);
        drifted = &b->status->drifted_placements->at[0];
        diffed = &b->status->diffed_placements->at[0];
        assert_string_equal(drifted->id.name, "z");
        assert_int_equal(drifted->observation_time, NOW + 3000);
        assert_int_equal(drifted->first_drifted_observed_time, NOW + 2000);
        assert_int_equal(drifted->target_cluster_observed_generation.value, 4);
        assert_string_equal(drifted->observed_drifts.at[0].path, "/a");
        assert_string_equal(diffed->id.name, "b");
        assert_int_equal(diffed->observation_time, NOW + 3000);
        assert_int_equal(diffed->first_diffed_observed_time, NOW + 2000);
        assert_int_equal(diffed->target_cluster_observed_generation.value, 4);
        assert_string_equal(diffed->observed_diffs.at[0].value_in_member, "m");
        arena_free(&s.arena);
}

/* A member speaks only of manifests that its Work holds, by their place in it. */
static void what_is_not_in_the_work_is_not_listed(void **state)
{
        static const struct sync_result in_sync = { .identities = known }, unknown = { .identities = NULL };
        static const struct {
                const char *ordinal;
                size_t listed;
        } rows[] = { { "0", 1 }, { "2", 1 }, { "3", 0 }, { "-1", 0 } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char manifest[512];
                struct scene s;

                begin(&s, "ClientSideApply");
                snprintf(manifest, sizeof(manifest), MANIFEST("%s", "x", "False", ""), rows[i].ordinal);
                add_work(&s, "w1", "3", "False", NULL, manifest);
                assert_int_equal(n_listed(built(&s, &in_sync)), rows[i].listed);
                assert_int_equal(n_listed(built(&s, &unknown)), 0);
                ((struct work *)(uintptr_t)s.works[0])
                        ->status->manifest_conditions.at[0]
                        .identifier->ordinal.set = false;
                assert_int_equal(n_listed(built(&s, &in_sync)), 0);
                arena_free(&s.arena);
        }
}

static int decide_without_memory(void *ctx, struct arena *arena)
{
        static const struct sync_result in_sync;
        struct scene *s = ctx;
        bool settled;

        return binding_with_status(arena, s->b, &s->live, &in_sync, NULL, NOW, &settled) ? 0 : ERR_NO_MEMORY;
}

static void without_memory_nothing_is_told_of_a_binding(void **state)
{
        static const char *const words[][2] = { { "True", "True" }, { "False", NULL }, { "True", "False" } };

        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
                struct scene s;

                begin(&s, "ClientSideApply");
                add_work(&s, "w1", "3", words[i][0], words[i][1], MANIFEST("0", "a", "False", ""));
                add_work(&s, "w2", "3", "True", "True", "");
                each_allocation_fails(decide_without_memory, &s);
                arena_free(&s.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_worst_work_decides_the_bindings_conditions),
                cmocka_unit_test(what_cannot_be_tracked_is_told_for_the_whole_binding),
                cmocka_unit_test(failures_are_told_where_they_belong),
                cmocka_unit_test(failed_and_drifted_manifests_are_listed_in_the_order_of_the_work),
                cmocka_unit_test(nothing_is_listed_while_a_work_is_under_way),
                cmocka_unit_test(a_member_names_a_manifest_by_its_place_alone),
                cmocka_unit_test(a_work_that_failed_without_naming_what_lists_nothing),
                cmocka_unit_test(a_member_that_writes_much_fills_no_more_than_its_share),
                cmocka_unit_test(available_follows_applied_and_neither_is_said_of_reports_of_differences),
                cmocka_unit_test(available_begins_anew_when_works_changed_and_only_then),
                cmocka_unit_test(lists_end_at_a_hundred_cut_in_sorted_order),
                cmocka_unit_test(without_memory_nothing_is_told_of_a_binding),
                cmocka_unit_test(who_holds_up_is_named_and_what_is_settled_is_told_at_once),
                cmocka_unit_test(what_differs_is_told_as_the_member_told_it),
                cmocka_unit_test(what_is_not_in_the_work_is_not_listed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
