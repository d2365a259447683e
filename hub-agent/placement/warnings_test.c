/* What an operator is told of a placement that does not go well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/placement/warnings.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01 */
#define TIME "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\""

struct scene {
        struct arena arena;
        struct error err;
        struct status_warnings w;
        struct told_list told;
};

static struct placement *placement(struct scene *s, const char *scheduled, const char *clusters)
{
        struct object *o;
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        buf_printf(
                &b,
                "{\"metadata\":{\"name\":\"web\",\"generation\":1},\"spec\":{},\"status\":{\"conditions\":[{"
                "\"type\":\"ClusterResourcePlacementScheduled\",\"status\":\"%s\",\"reason\":\"R\","
                "\"message\":\"scheduled %s\"," TIME "}],\"placementStatuses\":[%s]}}",
                scheduled, scheduled, clusters);
        if (object_decode_arena(&cluster_resource_placement_kind, (struct slice){ b.data, b.len }, &s->arena,
                                &o, &s->err) < 0)
                fail_msg("%s", s->err.text);
        return (struct placement *)o;
}

#define CONDITION(type, status, message)                                                                     \
        "{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"R\",\"message\":\"" message           \
        "\"," TIME "}"
#define CLUSTER(name, lists, condition)                                                                      \
        "{\"clusterName\":\"" name "\"," lists "\"conditions\":[" condition "]}"
#define FAILED(name, type, message)                                                                          \
        "{\"version\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"n\",\"name\":\"" name                    \
        "\",\"condition\":" CONDITION(type, "False", message) "}"
#define APPLY_FAILED(name, entries)                                                                          \
        CLUSTER(name, "\"failedPlacements\":[" entries "],", CONDITION("Applied", "False", "failed"))
#define DRIFTED(name, resource)                                                                              \
        CLUSTER(name,                                                                                        \
                "\"driftedPlacements\":[{\"version\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"n\","     \
                "\"name\":\"" resource "\",\"observationTime\":\"2026-01-01T00:00:00Z\","                    \
                "\"firstDriftedObservedTime\":\"2026-01-01T00:00:00Z\",\"targetClusterObservedGeneration\":" \
                "1,"                                                                                         \
                "\"observedDrifts\":[{\"path\":\"/data/a\"}]}],",                                            \
                CONDITION("Applied", "True", "ok") "," CONDITION("Available", "True", "ok"))

struct row {
        const char *before_scheduled, *before, *after_scheduled, *after;
        const char *reason, *text; /* of the one warning; NULL = none */
};

static const struct row rows[] = {
        { "True", "", "True", APPLY_FAILED("c1", FAILED("a", "Applied", "no")), "PlacementApplyFailed",
          "Resources could not be applied on c1: ConfigMap n/a: no" },
        { "True", APPLY_FAILED("c1", FAILED("a", "Applied", "no")), "True",
          APPLY_FAILED("c1", FAILED("a", "Applied", "still no")), NULL, NULL },
        { "True", APPLY_FAILED("c1", FAILED("a", "Applied", "no")), "True",
          APPLY_FAILED("c1", FAILED("a", "Applied", "no") "," FAILED("b", "Applied", "nor this")),
          "PlacementApplyFailed", "Resources could not be applied on c1: ConfigMap n/b: nor this" },
        { "True", "", "True", APPLY_FAILED("c1", FAILED("a", "Available", "not yet")), NULL, NULL },
        { "True", "", "True",
          APPLY_FAILED("c1", FAILED("a", "Applied", "no")) "," APPLY_FAILED(
                  "c2",
                  FAILED("a", "Applied",
                         "no")) "," APPLY_FAILED("c3",
                                                 FAILED("a", "Applied",
                                                        "no")) "," APPLY_FAILED("c4",
                                                                                FAILED("a", "Applied", "no")),
          "PlacementApplyFailed",
          "Resources could not be applied on c1: ConfigMap n/a: no; c2: ConfigMap n/a: no; c3: ConfigMap "
          "n/a: no; and 1 "
          "more cluster(s)" },
        { "True", "", "True", DRIFTED("c1", "a"), "PlacementDrifted",
          "Resources were changed on c1: ConfigMap n/a: /data/a" },
        { "True", DRIFTED("c1", "a"), "True", DRIFTED("c1", "a"), NULL, NULL },
        { "True", "", "True", CLUSTER("c1", "", CONDITION("Overridden", "False", "bad path")),
          "PlacementOverrideFailed", "Overrides failed on c1: bad path" },
        { "True", "", "True", CLUSTER("c1", "", CONDITION("WorkSynchronized", "False", "too large")),
          "PlacementWorkFailed", "Works could not be written for c1: too large" },
        { "Unknown", "", "False", "", "PlacementNotScheduled", "scheduled False" },
        { "False", "", "False", "", NULL, NULL },
        { "True", "", "True", CLUSTER("c1", "", CONDITION("Applied", "False", "in progress")), NULL, NULL },
};

static void each_trouble_is_told_once(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct row *r = &rows[i];
                struct scene s = { 0 };

                assert_int_equal(plan_warnings(&s.arena, placement(&s, r->before_scheduled, r->before),
                                               placement(&s, r->after_scheduled, r->after), &s.told, &s.w,
                                               &s.err),
                                 0);
                if (s.w.n != (r->reason ? 1 : 0))
                        fail_msg("row %zu: %zu warnings", i, s.w.n);
                if (r->reason) {
                        assert_string_equal(s.w.at[0].reason, r->reason);
                        assert_string_equal(s.w.at[0].message, r->text);
                }
                told_free(&s.told);
                arena_free(&s.arena);
        }
}

/* The states that a placement goes through when it changes while the trouble stays, and when that ends. */
struct step {
        const char *scheduled, *cluster;
        size_t n_warnings; /* told by then, in all */
};

#define UNDER_WAY CLUSTER("c1", "", CONDITION("RolloutStarted", "Unknown", "deciding"))
#define STARTED CLUSTER("c1", "", CONDITION("Applied", "False", "being applied"))
#define FINE                                                                                                 \
        CLUSTER("c1", "",                                                                                    \
                CONDITION("Overridden", "True", "ok") "," CONDITION(                                         \
                        "WorkSynchronized", "True", "ok") "," CONDITION("Applied", "True", "ok"))
#define NOT_APPLIED APPLY_FAILED("c1", FAILED("a", "Applied", "no"))
#define NOT_OVERRIDDEN CLUSTER("c1", "", CONDITION("Overridden", "False", "bad path"))
#define NOT_WRITTEN CLUSTER("c1", "", CONDITION("WorkSynchronized", "False", "too large"))

static void follow(const struct step *steps, size_t n)
{
        struct scene s = { 0 };
        struct placement *before = placement(&s, "True", "");
        size_t told = 0;

        for (size_t i = 0; i < n; i++) {
                struct placement *after = placement(&s, steps[i].scheduled, steps[i].cluster);

                s.w.n = 0;
                assert_int_equal(plan_warnings(&s.arena, before, after, &s.told, &s.w, &s.err), 0);
                told += s.w.n;
                if (told != steps[i].n_warnings)
                        fail_msg("step %zu: %zu warnings", i, told);
                before = after;
        }
        told_free(&s.told);
        arena_free(&s.arena);
}

static void trouble_that_stays_is_not_told_again_with_each_change_of_the_placement(void **state)
{
        static const struct step applied[] = { { "True", NOT_APPLIED, 1 }, { "Unknown", NOT_APPLIED, 1 },
                                               { "True", UNDER_WAY, 1 },   { "True", STARTED, 1 },
                                               { "True", NOT_APPLIED, 1 }, { "True", FINE, 1 },
                                               { "True", NOT_APPLIED, 2 } },
                                 overridden[] = { { "True", NOT_OVERRIDDEN, 1 },
                                                  { "True", UNDER_WAY, 1 },
                                                  { "True", NOT_OVERRIDDEN, 1 },
                                                  { "True", FINE, 1 },
                                                  { "True", NOT_OVERRIDDEN, 2 } },
                                 written[] = { { "True", NOT_WRITTEN, 1 },
                                               { "True", UNDER_WAY, 1 },
                                               { "True", NOT_WRITTEN, 1 },
                                               { "True", FINE, 1 },
                                               { "True", NOT_WRITTEN, 2 } },
                                 scheduled[] = { { "False", "", 1 },
                                                 { "Unknown", "", 1 },
                                                 { "False", "", 1 },
                                                 { "True", "", 1 },
                                                 { "False", "", 2 } },
                                 drifted[] = { { "True", DRIFTED("c1", "a"), 1 },
                                               { "True", STARTED, 1 },
                                               { "True", DRIFTED("c1", "a"), 1 },
                                               { "True", FINE, 1 },
                                               { "True", DRIFTED("c1", "a"), 2 } },
                                 gone[] = { { "True", NOT_APPLIED, 1 },
                                            { "True", "", 1 },
                                            { "True", NOT_APPLIED, 2 } };

        follow(applied, ARRAY_LEN(applied));
        follow(overridden, ARRAY_LEN(overridden));
        follow(written, ARRAY_LEN(written));
        follow(scheduled, ARRAY_LEN(scheduled));
        follow(drifted, ARRAY_LEN(drifted));
        follow(gone, ARRAY_LEN(gone));
}

static void what_is_not_available_for_minutes_is_told_once(void **state)
{
        struct scene s = { 0 };
        struct placement *p =
                placement(&s, "True", CLUSTER("c1", "", CONDITION("Available", "False", "waits")));
        int64_t told = 0, next;

        assert_int_equal(plan_unavailable_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(s.w.n, 0);
        assert_int_equal(next, NOT_AVAILABLE_MS - 60000);
        assert_int_equal(
                plan_unavailable_warning(&s.arena, p, NOW + NOT_AVAILABLE_MS, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(next, 0);
        assert_int_equal(s.w.n, 1);
        assert_string_equal(s.w.at[0].reason, "PlacementNotAvailable");
        assert_string_equal(s.w.at[0].message, "Resources have not been available for minutes on c1: waits");
        assert_int_equal(
                plan_unavailable_warning(&s.arena, p, NOW + 2 * NOT_AVAILABLE_MS, &told, &s.w, &next, &s.err),
                0);
        assert_int_equal(s.w.n, 1);
        assert_int_equal(next, 0);
        arena_free(&s.arena);
}

static void what_a_member_says_nothing_of_is_told_once(void **state)
{
        struct scene s = { 0 };
        struct placement *p = placement(
                &s, "True",
                CLUSTER("c1", "", CONDITION("Applied", "False", "not yet completed")) "," APPLY_FAILED(
                        "c2", FAILED("a", "Applied", "no")) "," CLUSTER("c3", "",
                                                                        CONDITION("Applied", "True", "ok")));
        int64_t told = 0, next;

        for (int i = 0; i < 2; i++)
                assert_int_equal(plan_unavailable_warning(&s.arena, p, NOW + NOT_AVAILABLE_MS, &told, &s.w,
                                                          &next, &s.err),
                                 0);
        assert_int_equal(s.w.n, 1);
        assert_string_equal(s.w.at[0].message,
                            "Resources have not been available for minutes on c1: not yet completed");
        arena_free(&s.arena);
}

static void differences_that_are_not_reported_for_minutes_are_told_once(void **state)
{
        struct scene s = { 0 };
        struct placement *p =
                placement(&s, "True", CLUSTER("c1", "", CONDITION("DiffReported", "False", "has failed")));
        int64_t told = 0, next;

        for (int i = 0; i < 2; i++)
                assert_int_equal(plan_unavailable_warning(&s.arena, p, NOW + NOT_AVAILABLE_MS, &told, &s.w,
                                                          &next, &s.err),
                                 0);
        assert_int_equal(s.w.n, 1);
        assert_string_equal(s.w.at[0].reason, "PlacementDiffNotReported");
        assert_string_equal(s.w.at[0].message,
                            "Differences have not been reported for minutes on c1: has failed");
        arena_free(&s.arena);
}

static void a_rollout_that_stands_still_is_told_once(void **state)
{
        struct scene s = { 0 };
        struct placement *p =
                placement(&s, "True",
                          CLUSTER("c1", "", CONDITION("RolloutStarted", "False", "blocked")) "," CLUSTER(
                                  "c2", "", CONDITION("RolloutStarted", "True", "ok")));
        int64_t told = 0, next;

        assert_int_equal(plan_stalled_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(s.w.n, 0);
        assert_int_equal(next, NOT_AVAILABLE_MS - 60000);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(
                        plan_stalled_warning(&s.arena, p, NOW + NOT_AVAILABLE_MS, &told, &s.w, &next, &s.err),
                        0);
                assert_int_equal(next, 0);
        }
        assert_int_equal(s.w.n, 1);
        assert_string_equal(s.w.at[0].reason, "PlacementNotRolledOut");
        assert_string_equal(
                s.w.at[0].message,
                "Nothing has moved for minutes, and the latest resources do not get to c1: blocked");
        arena_free(&s.arena);
}

static void a_name_that_selects_nothing_is_told_once(void **state)
{
        static struct resource_selector terms[] = {
                { .group = "", .version = "v1", .kind = "Namespace", .name = (char *)"web" },
                { .group = "", .version = "v1", .kind = "Namespace", .name = (char *)"wbe" },
                { .group = "", .version = "v1", .kind = "Namespace" },
        };
        static struct resource_identifier found[] = {
                { .group = "", .version = "v1", .kind = "Namespace", .name = (char *)"web" },
                { .group = "", .version = "v1", .kind = "Namespace", .name = (char *)"wbe" },
        };
        struct resource_identifier_list one = { found, 1, true }, both = { found, 2, true };
        struct scene s = { 0 };
        struct placement *p = placement(&s, "True", "");
        struct not_found_told told = { 0 };
        int64_t next;

        p->spec->resource_selectors = (struct resource_selector_list){ terms, 3, true };
        assert_int_equal(plan_not_found_warning(&s.arena, p, &one, NOW, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(s.w.n, 0);
        assert_int_equal(next, NOT_FOUND_MS);
        for (int i = 0; i < 2; i++)
                assert_int_equal(plan_not_found_warning(&s.arena, p, &one, NOW + NOT_FOUND_MS, &told, &s.w,
                                                        &next, &s.err),
                                 0);
        assert_int_equal(s.w.n, 1);
        assert_string_equal(s.w.at[0].reason, "PlacementResourceNotFound");
        assert_string_equal(s.w.at[0].message, "Nothing is selected by name of Namespace wbe: it is not "
                                               "there, or may not be selected");
        /* It comes and goes: news again. */
        assert_int_equal(plan_not_found_warning(&s.arena, p, &both, NOW + 60000, &told, &s.w, &next, &s.err),
                         0);
        assert_int_equal(next, 0);
        assert_int_equal(plan_not_found_warning(&s.arena, p, &one, NOW + 60000, &told, &s.w, &next, &s.err),
                         0);
        assert_int_equal(next, NOT_FOUND_MS);
        assert_int_equal(s.w.n, 1);
        arena_free(&s.arena);
}

static void a_long_text_keeps_its_reason(void **state)
{
        struct scene s = { 0 };
        char text[1500], condition[2000];

        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        snprintf(condition, sizeof(condition),
                 CLUSTER("c1", "", CONDITION("Overridden", "False", "%s: field is immutable")), text);
        assert_int_equal(plan_warnings(&s.arena, placement(&s, "True", ""), placement(&s, "True", condition),
                                       &s.told, &s.w, &s.err),
                         0);
        assert_int_equal(s.w.n, 1);
        assert_non_null(strstr(s.w.at[0].message, "Overrides failed on c1: xxx"));
        assert_non_null(strstr(s.w.at[0].message, " ... "));
        assert_non_null(strstr(s.w.at[0].message, "xxx: field is immutable"));
        told_free(&s.told);
        arena_free(&s.arena);
}

static void a_selection_that_nobody_rolls_out_is_told_once(void **state)
{
        static const char json[] = "{\"metadata\":{\"name\":\"web-0-snapshot\",\"labels\":{"
                                   "\"kubernetes-fleet.io/resource-index\":\"0\"},\"annotations\":{"
                                   "\"kubernetes-fleet.io/resource-hash\":\"same\"}}}";
        struct scene s = { 0 };
        struct placement *p = placement(&s, "True", "");
        const struct object *snapshot;
        struct object *o;
        struct object_list snapshots = { &snapshot, 1 };
        char told[65] = "", changed[65] = "changed";

        assert_int_equal(
                object_decode_arena(&cluster_resource_snapshot_kind, slice_of(json), &s.arena, &o, &s.err),
                0);
        snapshot = o;
        p->status->observed_resource_index = "0";
        assert_int_equal(plan_external_warning(&s.arena, p, &snapshots, NULL, told, &s.w, &s.err), 0);
        assert_int_equal(plan_external_warning(&s.arena, p, &snapshots, "", told, &s.w, &s.err), 0);
        assert_int_equal(plan_external_warning(&s.arena, p, &snapshots, "same", told, &s.w, &s.err), 0);
        assert_int_equal(s.w.n, 0);
        for (int i = 0; i < 2; i++)
                assert_int_equal(plan_external_warning(&s.arena, p, &snapshots, changed, told, &s.w, &s.err),
                                 0);
        assert_int_equal(s.w.n, 1);
        assert_non_null(strstr(s.w.at[0].message, "resource index 0"));
        arena_free(&s.arena);
}

/* ---- field by field ---- */

#define ENTRY(group, kind, ns, name, type, reason)                                                           \
        APPLY_FAILED("c1",                                                                                   \
                     "{\"group\":\"" group "\",\"version\":\"v1\",\"kind\":\"" kind "\",\"namespace\":\"" ns \
                     "\",\"name\":\"" name "\",\"condition\":{\"type\":\"" type                              \
                     "\",\"status\":\"False\",\"reason\":\"" reason "\",\"message\":\"no\"," TIME "}}")
#define ENTRY_DRIFTED(group, kind, ns, name)                                                                 \
        CLUSTER("c1",                                                                                        \
                "\"driftedPlacements\":[{\"group\":\"" group "\",\"version\":\"v1\",\"kind\":\"" kind        \
                "\",\"namespace\":\"" ns "\",\"name\":\"" name                                               \
                "\",\"observationTime\":\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"              \
                "\"2026-01-01T00:00:00Z\",\"targetClusterObservedGeneration\":1,\"observedDrifts\":[]}],",   \
                CONDITION("Applied", "True", "ok"))

/* The same trouble is that of the same resource for the same reason. */
static void trouble_of_another_resource_or_reason_is_news(void **state)
{
        static const char before[] = ENTRY("g", "K", "n", "a", "Applied", "R");
        static const struct {
                const char *before, *after;
                bool news;
        } cases[] = {
                { before, before, false },
                { before, ENTRY("h", "K", "n", "a", "Applied", "R"), true },
                { before, ENTRY("g", "L", "n", "a", "Applied", "R"), true },
                { before, ENTRY("g", "K", "m", "a", "Applied", "R"), true },
                { before, ENTRY("g", "K", "n", "b", "Applied", "R"), true },
                { before, ENTRY("g", "K", "n", "a", "Applied", "S"), true },
                { ENTRY("g", "K", "n", "a", "Available", "R"), before, true },
                { ENTRY_DRIFTED("g", "K", "n", "a"), ENTRY_DRIFTED("g", "K", "n", "a"), false },
                { ENTRY_DRIFTED("g", "K", "n", "a"), ENTRY_DRIFTED("h", "K", "n", "a"), true },
                { ENTRY_DRIFTED("g", "K", "n", "a"), ENTRY_DRIFTED("g", "L", "n", "a"), true },
                { ENTRY_DRIFTED("g", "K", "n", "a"), ENTRY_DRIFTED("g", "K", "m", "a"), true },
                { ENTRY_DRIFTED("g", "K", "n", "a"), ENTRY_DRIFTED("g", "K", "n", "b"), true },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct scene s = { 0 };

                assert_int_equal(plan_warnings(&s.arena, placement(&s, "True", cases[i].before),
                                               placement(&s, "True", cases[i].after), &s.told, &s.w, &s.err),
                                 0);
                if (s.w.n != cases[i].news)
                        fail_msg("row %zu: %zu warnings", i, s.w.n);
                told_free(&s.told);
                arena_free(&s.arena);
        }
}

static void three_clusters_are_named_before_the_rest_is_counted(void **state)
{
        struct scene s = { 0 };

        assert_int_equal(
                plan_warnings(
                        &s.arena, placement(&s, "True", ""),
                        placement(&s, "True",
                                  CLUSTER("c1", "", CONDITION("Overridden", "False", "x")) "," CLUSTER(
                                          "c2", "",
                                          CONDITION("Overridden", "False",
                                                    "y")) "," CLUSTER("c3", "",
                                                                      CONDITION("Overridden", "False", "z"))),
                        &s.told, &s.w, &s.err),
                0);
        assert_int_equal(s.w.n, 1);
        assert_string_equal(s.w.at[0].message, "Overrides failed on c1: x; c2: y; c3: z");
        told_free(&s.told);
        arena_free(&s.arena);
}

#define SINCE(time, type, status)                                                                            \
        "{\"type\":\"" type "\",\"status\":\"" status                                                        \
        "\",\"reason\":\"R\",\"message\":\"waits\",\"lastTransitionTime\":\"2026-01-01T00:" time "Z\"}"

/* Each for its own time; the sooner of those that are not due yet is looked at next. */
static void of_several_that_wait_the_first_is_looked_at_next(void **state)
{
        static const char *const orders[] = {
                CLUSTER("c1", "", SINCE("01:00", "Available", "False")) "," CLUSTER(
                        "c2", "",
                        SINCE("02:00", "Available",
                              "False")) "," CLUSTER("c3", "", SINCE("00:00", "Available", "True")),
                CLUSTER("c2", "", SINCE("02:00", "Available", "False")) "," CLUSTER(
                        "c1", "", SINCE("01:00", "Available", "False")),
        };

        for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
                struct scene s = { 0 };
                struct placement *p = placement(&s, "True", orders[i]);
                int64_t told = 0, next;

                assert_int_equal(
                        plan_unavailable_warning(&s.arena, p, NOW + 120000, &told, &s.w, &next, &s.err), 0);
                assert_int_equal(next, NOT_AVAILABLE_MS - 60000);
                assert_int_equal(plan_unavailable_warning(&s.arena, p, NOW + 60000 + NOT_AVAILABLE_MS, &told,
                                                          &s.w, &next, &s.err),
                                 0);
                assert_int_equal(s.w.n, 1);
                assert_int_equal(told, NOW + 60000);
                assert_int_equal(next, 60000);
                assert_int_equal(plan_unavailable_warning(&s.arena, p, NOW + 120000 + NOT_AVAILABLE_MS, &told,
                                                          &s.w, &next, &s.err),
                                 0);
                assert_int_equal(s.w.n, 2);
                assert_string_equal(s.w.at[1].message,
                                    "Resources have not been available for minutes on c2: waits");
                assert_int_equal(next, 0);
                arena_free(&s.arena);
        }
}

static void what_is_not_available_is_named_where_an_entry_names_it(void **state)
{
        struct scene s = { 0 };
        struct placement *p = placement(
                &s, "True",
                CLUSTER("c1", "\"failedPlacements\":[" FAILED("a", "Available", "no pods") "],",
                        CONDITION("Applied", "True", "ok") "," CONDITION("Available", "False", "waits")));
        int64_t told = 0, next;

        assert_int_equal(
                plan_unavailable_warning(&s.arena, p, NOW + NOT_AVAILABLE_MS, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(s.w.n, 1);
        assert_string_equal(s.w.at[0].message,
                            "Resources have not been available for minutes on c1: ConfigMap n/a: no pods");
        p->status->placement_statuses.at[0].failed_placements.at[0].condition = NULL;
        told = 0;
        assert_int_equal(
                plan_unavailable_warning(&s.arena, p, NOW + NOT_AVAILABLE_MS, &told, &s.w, &next, &s.err), 0);
        assert_string_equal(s.w.at[1].message,
                            "Resources have not been available for minutes on c1: ConfigMap n/a: ");
        arena_free(&s.arena);
}

/* A period that unavailable clusters are waited for belongs to the patience, and the last change of any
 * condition counts. */
static void a_rollout_has_the_time_that_its_strategy_gives_it(void **state)
{
        struct rolling_update u = { .unavailable_period_seconds = OPT_INT(60) };
        struct rollout_strategy strategy = { .rolling_update = &u };
        struct scene s = { 0 };
        struct placement *p = placement(
                &s, "True",
                CLUSTER("c1", "", SINCE("00:00", "RolloutStarted", "False")) "," CLUSTER(
                        "c2", "",
                        SINCE("01:00", "RolloutStarted", "True") "," SINCE("00:30", "Applied", "True")));
        int64_t told = 0, next;

        p->spec->strategy = &strategy;
        assert_int_equal(plan_stalled_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(next, NOT_AVAILABLE_MS + 60000);
        u.unavailable_period_seconds.set = false;
        assert_int_equal(plan_stalled_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(next, NOT_AVAILABLE_MS);
        strategy.rolling_update = NULL;
        assert_int_equal(plan_stalled_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(next, NOT_AVAILABLE_MS);
        assert_int_equal(s.w.n, 0);
        p->status = NULL;
        assert_int_equal(plan_stalled_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(plan_unavailable_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(next, 0);
        arena_free(&s.arena);
}

/* Where all is rolled out nothing is told, and nothing is waited for. */
static void a_rollout_that_is_through_does_not_stand_still(void **state)
{
        struct scene s = { 0 };
        struct placement *p =
                placement(&s, "True",
                          CLUSTER("c1", "",
                                  CONDITION("RolloutStarted", "True",
                                            "ok")) ","
                                                   "{\"conditions\":[" CONDITION("RolloutStarted", "False",
                                                                                 "not scheduled") "]}");
        int64_t told = 0, next;

        assert_int_equal(plan_stalled_warning(&s.arena, p, NOW + 60000, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(next, 0);
        assert_int_equal(
                plan_stalled_warning(&s.arena, p, NOW + NOT_AVAILABLE_MS, &told, &s.w, &next, &s.err), 0);
        assert_int_equal(s.w.n, 0);
        assert_int_equal(told, 0);
        arena_free(&s.arena);
}

static void a_name_is_found_by_group_and_kind(void **state)
{
        static const struct {
                const char *group, *kind, *name;
                bool found;
        } cases[] = { { "g", "K", "web", true },
                      { "h", "K", "web", false },
                      { "g", "L", "web", false },
                      { "g", "K", "shop", false } };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct resource_selector term = {
                        .group = "g", .version = "v1", .kind = "K", .name = (char *)"web"
                };
                struct resource_identifier one = { .group = cases[i].group,
                                                   .version = "v2",
                                                   .kind = cases[i].kind,
                                                   .name = (char *)cases[i].name };
                struct resource_identifier_list selected = { &one, 1, true };
                struct scene s = { 0 };
                struct placement *p = placement(&s, "True", "");
                struct not_found_told told = { 0 };
                int64_t next;

                p->spec->resource_selectors = (struct resource_selector_list){ &term, 1, true };
                assert_int_equal(
                        plan_not_found_warning(&s.arena, p, &selected, NOW, &told, &s.w, &next, &s.err), 0);
                assert_int_equal(next, cases[i].found ? 0 : NOT_FOUND_MS);
                arena_free(&s.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_trouble_is_told_once),
                cmocka_unit_test(trouble_that_stays_is_not_told_again_with_each_change_of_the_placement),
                cmocka_unit_test(what_is_not_available_for_minutes_is_told_once),
                cmocka_unit_test(what_a_member_says_nothing_of_is_told_once),
                cmocka_unit_test(differences_that_are_not_reported_for_minutes_are_told_once),
                cmocka_unit_test(a_rollout_that_stands_still_is_told_once),
                cmocka_unit_test(a_name_that_selects_nothing_is_told_once),
                cmocka_unit_test(a_long_text_keeps_its_reason),
                cmocka_unit_test(a_selection_that_nobody_rolls_out_is_told_once),
                cmocka_unit_test(trouble_of_another_resource_or_reason_is_news),
                cmocka_unit_test(three_clusters_are_named_before_the_rest_is_counted),
                cmocka_unit_test(of_several_that_wait_the_first_is_looked_at_next),
                cmocka_unit_test(what_is_not_available_is_named_where_an_entry_names_it),
                cmocka_unit_test(a_rollout_has_the_time_that_its_strategy_gives_it),
                cmocka_unit_test(a_rollout_that_is_through_does_not_stand_still),
                cmocka_unit_test(a_name_is_found_by_group_and_kind),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
