/* The scheduler's rules one field at a time: what differs alone makes the difference. */
#include "hub-agent/scheduler/framework.h"
#include "hub-agent/scheduler/scheduler_test.h"

/* ---- changes of a member ---- */

static struct member_cluster *parse_cluster(struct case_ *c, const char *spec, const char *status)
{
        char json[2048];

        snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"a\"}%s%s%s%s}", spec[0] ? ",\"spec\":" : "",
                 spec, status[0] ? ",\"status\":" : "", status);
        return (struct member_cluster *)parse(c, &member_cluster_kind, json);
}

#define TAINTED(key, value, effect)                                                                          \
        "{\"taints\":[{\"key\":\"" key "\",\"value\":\"" value "\",\"effect\":\"" effect "\"}]}"

/* A taint that is another one now is one that went. */
static void a_taint_is_its_key_its_value_and_its_effect(void **state)
{
        static const struct {
                const char *before, *after;
                unsigned changes;
        } rows[] = {
                { TAINTED("k", "v", "NoSchedule"), TAINTED("k", "v", "NoSchedule"), 0 },
                { TAINTED("k", "v", "NoSchedule"), TAINTED("l", "v", "NoSchedule"), CHANGED_CLUSTER },
                { TAINTED("k", "v", "NoSchedule"), TAINTED("k", "w", "NoSchedule"), CHANGED_CLUSTER },
                { TAINTED("k", "v", "NoSchedule"), TAINTED("k", "v", "NoExecute"), CHANGED_CLUSTER },
                { TAINTED("k", "", "NoSchedule"), "{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}",
                  0 },
                { TAINTED("k", "v", "NoSchedule"), "", CHANGED_CLUSTER },
                { "", TAINTED("k", "v", "NoSchedule"), 0 },
                { "", "", 0 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, "", NULL);
                assert_int_equal(cluster_changes(parse_cluster(&c, rows[i].before, ""),
                                                 parse_cluster(&c, rows[i].after, ""), false,
                                                 &(struct patience){ NOW }),
                                 rows[i].changes);
                end(&c);
        }
}

#define PROPERTIES(list) "{\"properties\":{" list "}}"
#define P(name, value, time) "\"" name "\":{\"value\":\"" value "\",\"observationTime\":\"" time "\"}"
#define USAGE(part, list) "{\"resourceUsage\":{\"" part "\":{" list "}}}"

static void figures_count_as_changed_when_one_of_them_has_another_value(void **state)
{
        static const struct {
                const char *before, *after;
                unsigned changes;
        } rows[] = {
                { PROPERTIES(P("a", "1", ALIVE)), PROPERTIES(P("a", "1", "2026-01-01T00:00:00Z")), 0 },
                { PROPERTIES(P("a", "1", ALIVE)), PROPERTIES(P("b", "1", ALIVE)), CHANGED_PROPERTIES },
                { PROPERTIES(P("a", "1", ALIVE)), PROPERTIES(P("a", "2", ALIVE)), CHANGED_PROPERTIES },
                { PROPERTIES(P("a", "1", ALIVE) "," P("b", "1", ALIVE)),
                  PROPERTIES(P("a", "1", ALIVE) "," P("b", "2", ALIVE)), CHANGED_PROPERTIES },
                { PROPERTIES(P("a", "1", ALIVE)), "", CHANGED_PROPERTIES },
                { "", PROPERTIES(P("a", "1", ALIVE)), CHANGED_PROPERTIES },
                { USAGE("capacity", "\"cpu\":\"1\""), USAGE("capacity", "\"cpu\":\"1000m\""), 0 },
                { USAGE("capacity", "\"cpu\":\"1\""), USAGE("capacity", "\"cpu\":\"2\""),
                  CHANGED_PROPERTIES },
                { USAGE("allocatable", "\"cpu\":\"1\""), USAGE("allocatable", "\"cpu\":\"2\""),
                  CHANGED_PROPERTIES },
                { USAGE("available", "\"cpu\":\"1\""), USAGE("available", "\"cpu\":\"2\""),
                  CHANGED_PROPERTIES },
                { USAGE("available", "\"cpu\":\"1\""), USAGE("available", "\"gpu\":\"1\""),
                  CHANGED_PROPERTIES },
                { USAGE("available", "\"cpu\":\"1\",\"memory\":\"1\""),
                  USAGE("available", "\"cpu\":\"1\",\"memory\":\"2\""), CHANGED_PROPERTIES },
                { USAGE("available", "\"cpu\":\"1\""), USAGE("available", "\"cpu\":\"1\",\"gpu\":\"1\""),
                  CHANGED_PROPERTIES },
                { USAGE("available", "\"cpu\":\"much\""), USAGE("available", "\"cpu\":\"much\""), 0 },
                { USAGE("available", "\"cpu\":\"much\""), USAGE("available", "\"cpu\":\"0\""),
                  CHANGED_PROPERTIES },
                { USAGE("available", "\"cpu\":\"0\""), USAGE("available", "\"cpu\":\"much\""),
                  CHANGED_PROPERTIES },
                { USAGE("available", "\"cpu\":\"1\""), "", CHANGED_PROPERTIES },
                { "{\"namespaces\":{\"app\":\"w\"}}", "{\"namespaces\":{\"app\":\"w\"}}", 0 },
                { "{\"namespaces\":{\"app\":\"w\"}}", "{\"namespaces\":{\"shop\":\"w\"}}",
                  CHANGED_NAMESPACES },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                unsigned changes;
                struct case_ c;

                begin(&c, "", NULL);
                changes = cluster_changes(parse_cluster(&c, "", rows[i].before),
                                          parse_cluster(&c, "", rows[i].after), false,
                                          &(struct patience){ NOW });
                if (changes != rows[i].changes)
                        fail_msg("row %zu: %u", i, changes);
                end(&c);
        }
}

static void one_that_comes_concerns_nobody_and_one_that_goes_everybody(void **state)
{
        struct member_cluster *a, *gone;
        struct case_ c;

        begin(&c, "", NULL);
        a = parse_cluster(&c, TAINTED("k", "v", "NoSchedule"), "");
        gone = parse_cluster(&c, "{}", "");
        gone->object.meta.deletion_ms = NOW;
        assert_int_equal(cluster_changes(NULL, a, false, &(struct patience){ NOW }), 0);
        assert_int_equal(cluster_changes(a, NULL, false, &(struct patience){ NOW }), CHANGED_GONE);
        assert_int_equal(cluster_changes(a, gone, false, &(struct patience){ NOW }), 0);
        end(&c);
}

/* ---- tolerations ---- */

static void a_toleration_covers_a_taint_by_key_value_and_effect(void **state)
{
        static const struct {
                const char *toleration;
                bool covers;
        } rows[] = {
                { "\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\",\"effect\":\"NoSchedule\"", true },
                { "\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\"", true },
                { "\"key\":\"l\",\"operator\":\"Equal\",\"value\":\"v\"", false },
                { "\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"w\"", false },
                { "\"key\":\"k\",\"operator\":\"Equal\"", false },
                { "\"operator\":\"Equal\",\"value\":\"v\"", false },
                { "\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\",\"effect\":\"NoExecute\"", false },
                { "\"key\":\"k\",\"operator\":\"Exists\"", true },
                { "\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"", true },
                { "\"key\":\"l\",\"operator\":\"Exists\"", false },
                { "\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"", false },
                { "\"operator\":\"Exists\",\"effect\":\"NoSchedule\"", true },
                { "\"operator\":\"Exists\",\"effect\":\"NoExecute\"", false },
                { "\"key\":\"k\",\"operator\":\"Like\",\"value\":\"v\"", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char policy[512];
                struct case_ c;

                snprintf(policy, sizeof(policy),
                         "\"policy\":{\"placementType\":\"PickAll\",\"tolerations\":[{%s}]}",
                         rows[i].toleration);
                begin(&c, policy, NULL);
                add_cluster(&c, "a", "", ALIVE, "",
                            "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}],");
                run(&c);
                if (c.plan.n_create != rows[i].covers)
                        fail_msg("row %zu", i);
                end(&c);
        }
}

/* ---- properties ---- */

/* A resource's figures are those of the usage: one reported under its name as a plain property is none. */
static void figures_of_resources_come_from_the_usage_alone(void **state)
{
        static const struct {
                const char *name, *expected;
        } rows[] = {
                { "resources.kubernetes-fleet.io/total-cpu", "3" },
                { "resources.kubernetes-fleet.io/allocatable-cpu", "2" },
                { "resources.kubernetes-fleet.io/available-cpu", "1" },
                { "resources.kubernetes-fleet.io/available-memory", NULL },
                { "resources.kubernetes-fleet.io/-cpu", NULL },
                { "resources.kubernetes-fleet.io/total-", NULL },
                { "resources.kubernetes-fleet.io/used-cpu", NULL },
                { "plain", "9" },
                { "other", NULL },
        };
        struct member_cluster *c, *reports_plainly, *silent;
        struct case_ k;

        begin(&k, "", NULL);
        c = parse_cluster(&k, "",
                          "{\"resourceUsage\":{\"capacity\":{\"cpu\":\"3\"},\"allocatable\":{\"cpu\":\"2\"},"
                          "\"available\":{\"cpu\":\"1\"}},\"properties\":{" P("plain", "9", ALIVE) "}}");
        reports_plainly =
                parse_cluster(&k, "",
                              PROPERTIES(P("resources.kubernetes-fleet.io/total-cpu", "3",
                                           ALIVE) "," P("resources.kubernetes-fleet.io/-cpu", "3", ALIVE)));
        silent = parse_cluster(&k, "", "");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *got = cluster_property_text(c, rows[i].name);

                if (!text_equal(got, rows[i].expected))
                        fail_msg("%s: %s", rows[i].name, or_empty(got));
                assert_null(cluster_property_text(reports_plainly, rows[i].name));
                assert_null(cluster_property_text(silent, rows[i].name));
        }
        end(&k);
}

/* spec/membership-webhooks-charts.md 5.2: a first segment may be a DNS subdomain, which may be longer than a
 * name. */
static void names_of_properties_are_checked_segment_by_segment(void **state)
{
#define LONG "a123456789.b123456789.c123456789.d123456789.e123456789.f123456789.g123456789"
        static const struct {
                const char *name;
                bool valid;
        } rows[] = {
                { "plain", true },   { "a_b.C-d", true }, { "a.b/c", true },    { "a/b/c", true },
                { LONG "/c", true }, { LONG, false },     { "a/" LONG, false }, { "a/" LONG "/c", false },
                { "-a", false },     { "a//b", false },   { "a/", false },      { "A_b." LONG "/c", false },
                { "a b/c", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                char policy[1024];
                struct case_ c;

                snprintf(policy, sizeof(policy),
                         "\"policy\":{\"placementType\":\"PickAll\",\"affinity\":{\"clusterAffinity\":{"
                         "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{"
                         "\"propertySelector\":{\"matchExpressions\":[{\"name\":\"%s\",\"operator\":\"Eq\","
                         "\"values\":[\"1\"]}]}}]}}}}",
                         rows[i].name);
                begin(&c, policy, NULL);
                run(&c);
                if (text_equal(c.plan.scheduled.reason, "SchedulingPolicyInvalid") == rows[i].valid)
                        fail_msg("%s: %s", rows[i].name, c.plan.scheduled.message);
                end(&c);
        }
}

/* ---- what is written ---- */

static struct policy_snapshot *as_reported(struct case_ *c)
{
        struct policy_snapshot *s = (struct policy_snapshot *)object_copy(&c->in.snapshot->object, &c->arena);

        s->status = arena_zalloc(&c->arena, sizeof(*s->status));
        s->status->observed_crp_generation = OPT_INT(c->plan.observed_generation);
        s->status->target_clusters = (struct cluster_decision_list){
                arena_memdup(&c->arena, c->plan.decisions, c->plan.n_decisions * sizeof(*c->plan.decisions)),
                (uint32_t)c->plan.n_decisions, true
        };
        assert_true(condition_set(&s->status->conditions, &c->plan.scheduled, NOW, &c->arena) >= 0);
        c->in.snapshot = s;
        return s;
}

static struct condition *reported_condition(struct policy_snapshot *s)
{
        return &s->status->conditions.at[0];
}
static struct cluster_decision *reported_on(struct policy_snapshot *s, const char *cluster)
{
        for (uint32_t i = 0; i < s->status->target_clusters.n; i++)
                if (text_equal(s->status->target_clusters.at[i].cluster_name, cluster))
                        return &s->status->target_clusters.at[i];
        fail_msg("nothing on %s", cluster);
        return NULL;
}

static void nothing(struct case_ *c, struct policy_snapshot *s)
{
}
static void order(struct case_ *c, struct policy_snapshot *s)
{
        struct cluster_decision *at = s->status->target_clusters.at, first = at[0];

        at[0] = at[1];
        at[1] = first;
}
static void a_later_generation(struct case_ *c, struct policy_snapshot *s)
{
        reported_condition(s)->observed_generation.value = 2;
}
static void an_earlier_generation(struct case_ *c, struct policy_snapshot *s)
{
        reported_condition(s)->observed_generation.value = 0;
}
static void status_of_condition(struct case_ *c, struct policy_snapshot *s)
{
        reported_condition(s)->status = "Unknown";
}
static void reason_of_condition(struct case_ *c, struct policy_snapshot *s)
{
        reported_condition(s)->reason = "Other";
}
static void message_of_condition(struct case_ *c, struct policy_snapshot *s)
{
        reported_condition(s)->message = "other";
}
static void no_condition(struct case_ *c, struct policy_snapshot *s)
{
        s->status->conditions.n = 0;
}
static void generation(struct case_ *c, struct policy_snapshot *s)
{
        s->status->observed_crp_generation.value--;
}
static void no_generation(struct case_ *c, struct policy_snapshot *s)
{
        s->status->observed_crp_generation.set = false;
}
static void number_of_decisions(struct case_ *c, struct policy_snapshot *s)
{
        s->status->target_clusters.n--;
}
static void cluster_of_decision(struct case_ *c, struct policy_snapshot *s)
{
        reported_on(s, "b")->cluster_name = "z";
}
static void selection(struct case_ *c, struct policy_snapshot *s)
{
        reported_on(s, "b")->selected = OPT_BOOL(!reported_on(s, "b")->selected.value);
}
static void reason_of_decision(struct case_ *c, struct policy_snapshot *s)
{
        reported_on(s, "b")->reason = "other";
}
static void longer_reason(struct case_ *c, struct policy_snapshot *s)
{
        struct cluster_decision *d = reported_on(s, "quiet");

        d->reason = arena_printf(&c->arena, "%s, they say", d->reason);
}
static void shorter_reason(struct case_ *c, struct policy_snapshot *s)
{
        struct cluster_decision *d = reported_on(s, "quiet");

        d->reason = arena_strndup(&c->arena, d->reason, strlen(d->reason) - 1);
}
static void minutes(struct case_ *c, struct policy_snapshot *s)
{
        struct cluster_decision *d = reported_on(s, "quiet");

        d->reason = arena_strdup(&c->arena, d->reason);
        *strchr(d->reason, '2') = '3';
}
static void affinity(struct case_ *c, struct policy_snapshot *s)
{
        struct cluster_score *score =
                arena_memdup(&c->arena, reported_on(s, "a")->cluster_score, sizeof(*score));

        score->affinity_score.value++;
        reported_on(s, "a")->cluster_score = score;
}
static void topology(struct case_ *c, struct policy_snapshot *s)
{
        struct cluster_score *score =
                arena_memdup(&c->arena, reported_on(s, "a")->cluster_score, sizeof(*score));

        score->priority_score.value++;
        reported_on(s, "a")->cluster_score = score;
}
static void no_score(struct case_ *c, struct policy_snapshot *s)
{
        reported_on(s, "a")->cluster_score = NULL;
}

static void a_status_is_written_when_something_it_says_is_otherwise(void **state)
{
        static const struct {
                void (*change)(struct case_ *c, struct policy_snapshot *s);
                bool write;
        } rows[] = {
                { nothing, false },
                { order, false },
                { a_later_generation, false },
                { minutes, false },
                { an_earlier_generation, true },
                { status_of_condition, true },
                { reason_of_condition, true },
                { message_of_condition, true },
                { no_condition, true },
                { generation, true },
                { no_generation, true },
                { number_of_decisions, true },
                { cluster_of_decision, true },
                { selection, true },
                { reason_of_decision, true },
                { longer_reason, true },
                { shorter_reason, true },
                { affinity, true },
                { topology, true },
                { no_score, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, PICK_N "}", "1");
                add_plain(&c, "a");
                add_plain(&c, "b");
                add_cluster(&c, "quiet", "", "2025-12-31T23:48:00Z", "", "");
                run(&c);
                assert_int_equal(c.plan.n_decisions, 3);
                assert_true(c.plan.write_status);
                rows[i].change(&c, as_reported(&c));
                run(&c);
                if (c.plan.write_status != rows[i].write)
                        fail_msg("row %zu", i);
                end(&c);
        }
}

static void what_was_said_of_a_cluster_that_is_selected_now_is_not_said_again(void **state)
{
        struct cluster_decision told[] = { { "a", OPT_BOOL(false), NULL, "said of a" } };
        struct policy_snapshot *s;
        struct case_ c;

        begin(&c, PICK_N "}", "1");
        add_plain(&c, "a");
        add_binding(&c, "on-a", "a", "Bound", "web-1", 0, 0, "");
        s = (struct policy_snapshot *)object_copy(&c.in.snapshot->object, &c.arena);
        s->status = arena_zalloc(&c.arena, sizeof(*s->status));
        s->status->target_clusters = (struct cluster_decision_list){ told, 1, true };
        c.in.snapshot = s;
        run(&c);
        assert_int_equal(c.plan.n_decisions, 1);
        assert_true(c.plan.decisions[0].selected.value);
        end(&c);
}

/* ---- which cluster ---- */

/* No score, lower topology, lower affinity, smaller name: spec/scheduler.md 10. */
static void who_goes_first_is_decided_by_score_and_then_by_name(void **state)
{
        static const struct {
                int affinity[2], topology[2];
                bool unscored[2];
                const char *goes;
        } rows[] = {
                { { 1, 2 }, { 5, 5 }, { false, false }, "on-a" },
                { { 2, 1 }, { 5, 5 }, { false, false }, "on-b" },
                { { 1, 9 }, { 6, 5 }, { false, false }, "on-b" },
                { { 9, 1 }, { 5, 6 }, { false, false }, "on-a" },
                { { 1, 1 }, { 5, 5 }, { false, false }, "on-a" },
                { { 9, 1 }, { 9, 5 }, { true, false }, "on-a" },
                { { 1, 9 }, { 5, 9 }, { false, true }, "on-b" },
                { { 1, 9 }, { 5, 9 }, { true, true }, "on-a" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct case_ c;

                begin(&c, PICK_N "}", "1");
                for (int k = 0; k < 2; k++) {
                        const char *cluster = k ? "b" : "a";
                        struct binding *b;

                        add_plain(&c, cluster);
                        add_binding(&c, k ? "on-b" : "on-a", cluster, "Bound", "web-1", rows[i].affinity[k],
                                    rows[i].topology[k], "");
                        b = (struct binding *)c.bindings[k];
                        if (rows[i].unscored[k])
                                b->spec->cluster_decision->cluster_score = NULL;
                }
                run(&c);
                if (!text_equal(unscheduled(&c), rows[i].goes))
                        fail_msg("row %zu: %s", i, unscheduled(&c));
                end(&c);
        }
}

static void a_cluster_that_is_named_twice_is_picked_and_told_once(void **state)
{
        struct case_ c;

        begin(&c,
              "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\",\"b\",\"a\",\"nowhere\","
              "\"nowhere\"]}",
              NULL);
        add_plain(&c, "a");
        add_plain(&c, "b");
        run(&c);
        assert_string_equal(created(&c), "a b");
        assert_int_equal(c.plan.n_decisions, 3);
        end(&c);
}

/* ---- verdicts ---- */

static const struct schedule_verdict *verdict_on(struct case_ *c, const char *cluster)
{
        for (size_t i = 0; i < c->in.clusters.n; i++)
                if (text_equal(c->plan.verdicts[i].cluster->object.meta.name, cluster))
                        return &c->plan.verdicts[i];
        fail_msg("no verdict on %s", cluster);
        return NULL;
}

static void of_a_fixed_policy_it_is_told_who_is_not_named_and_who_cannot_be_used(void **state)
{
        struct case_ c;

        begin(&c, "\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"a\",\"quiet\"]}", NULL);
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_cluster(&c, "quiet", "", "2025-12-31T23:48:00Z", "", "");
        run(&c);
        assert_null(c.plan.verdicts);
        c.in.tell_all = true;
        run(&c);
        assert_true(verdict_on(&c, "a")->picked);
        assert_null(verdict_on(&c, "a")->filtered);
        assert_false(verdict_on(&c, "b")->picked);
        assert_string_equal(verdict_on(&c, "b")->filtered, "the policy does not name the cluster");
        assert_false(verdict_on(&c, "quiet")->picked);
        assert_non_null(strstr(verdict_on(&c, "quiet")->filtered, "no recent heartbeat signals"));
        end(&c);
}

static void of_other_policies_each_cluster_has_its_scores_or_what_speaks_against_it(void **state)
{
        struct case_ c;

        begin(&c, PICK_N "," PREFERRED("{\"labelSelector\":{\"matchLabels\":{\"x\":\"y\"}}}") "}", "1");
        add_cluster(&c, "a", "\"x\":\"y\"", ALIVE, "", "");
        add_plain(&c, "b");
        add_cluster(&c, "c", "", ALIVE, "", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],");
        c.in.tell_all = true;
        run(&c);
        assert_true(verdict_on(&c, "a")->picked);
        assert_null(verdict_on(&c, "a")->filtered);
        assert_int_equal(verdict_on(&c, "a")->affinity, 1);
        assert_false(verdict_on(&c, "b")->picked);
        assert_null(verdict_on(&c, "b")->filtered);
        assert_int_equal(verdict_on(&c, "b")->affinity, 0);
        assert_non_null(strstr(verdict_on(&c, "c")->filtered, "cannot be tolerated"));
        end(&c);
}

/* What who asks why is told of one requirement. */
static void a_requirement_is_met_missed_or_none(void **state)
{
        static const struct {
                const char *operator, * value;
                int expected;
        } rows[] = {
                { "Eq", "4", 1 },
                { "Eq", "5", 0 },
                { "Ne", "5", 1 },
                { "Ne", "4", 0 },
                { "Gt", "3", 1 },
                { "Gt", "4", 0 },
                { "Ge", "4", 1 },
                { "Ge", "5", 0 },
                { "Lt", "5", 1 },
                { "Lt", "4", 0 },
                { "Le", "4", 1 },
                { "Le", "3", 0 },
                { "Like", "4", ERR_INVALID },
                { "Eq", "many", ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *values[] = { rows[i].value };
                struct property_requirement r = {
                        .name = NODE_COUNT, .operator= rows[i].operator, .values = { values, 1, true } };
                struct case_ c;

                begin(&c, "", NULL);
                assert_int_equal(cluster_meets(&r,
                                               parse_cluster(&c, "", PROPERTIES(P(NODE_COUNT, "4", ALIVE))),
                                               &c.err),
                                 rows[i].expected);
                assert_int_equal(cluster_meets(&r, parse_cluster(&c, "", ""), &c.err), 0);
                end(&c);
        }
}

/* The definition lets none pass, but a cache holds what an older one let pass. */
static void a_policy_of_an_unknown_type_picks_and_takes_away_nothing(void **state)
{
        struct case_ c;

        begin(&c, "\"policy\":{\"placementType\":\"Nearest\"}", NULL);
        add_plain(&c, "a");
        add_plain(&c, "b");
        add_binding(&c, "on-a", "a", "Bound", "web-1", 0, 0, "");
        if (schedule_cycle(&c.arena, &c.in, &c.plan, &c.err) == 0) {
                assert_int_equal(c.plan.n_create + c.plan.unschedule.n, 0);
                assert_string_equal(c.plan.scheduled.status, "False");
        }
        end(&c);
}

/* Where silence is told, nobody is silent by a clock alone: the view of heartbeats may be late. Unless it
 * would be told later than the scheduler waits. */
static void a_cluster_whose_silence_is_told_is_not_silent_before(void **state)
{
#define OLD "2025-12-31T23:54:59Z"
        static const struct {
                const char *heartbeat, *spec, *reason;
                struct patience patience;
                bool eligible;
        } rows[] = {
                { OLD, "", "X", { NOW }, false },
                { OLD, "", "X", { NOW, .told = true }, true },
                { OLD, "", "MemberAgentHeartbeatLost", { NOW, .told = true }, false },
                { ALIVE, "", "MemberAgentHeartbeatLost", { NOW, .told = true }, true },
                { OLD, "", "X", { NOW, .told = true, .grace_ms = 300000 }, true },
                { OLD, "", "X", { NOW, .told = true, .grace_ms = 300001 }, false },
                { OLD, "\"heartbeatPeriodSeconds\":147,", "X", { NOW, .told = true }, true },
                { OLD, "\"heartbeatPeriodSeconds\":148,", "X", { NOW, .told = true }, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct member_cluster *m;
                struct ineligibility why;
                struct condition *healthy;
                struct case_ c;

                begin(&c, "", NULL);
                add_cluster(&c, "a", "", rows[i].heartbeat, "", rows[i].spec);
                m = (struct member_cluster *)(uintptr_t)c.clusters[0];
                healthy = (struct condition *)(uintptr_t)condition_find(
                        &m->status->agent_status.at[0].conditions, CONDITION_HEALTHY);
                healthy->reason = rows[i].reason;
                healthy->last_transition_ms = NOW - 1000;
                if (cluster_is_eligible(m, &rows[i].patience, &c.arena, &why) != rows[i].eligible)
                        fail_msg("row %zu", i);
                if (!rows[i].eligible)
                        assert_true(why.silence && why.counts_time);
                end(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_cluster_whose_silence_is_told_is_not_silent_before),
                cmocka_unit_test(a_taint_is_its_key_its_value_and_its_effect),
                cmocka_unit_test(figures_count_as_changed_when_one_of_them_has_another_value),
                cmocka_unit_test(one_that_comes_concerns_nobody_and_one_that_goes_everybody),
                cmocka_unit_test(a_toleration_covers_a_taint_by_key_value_and_effect),
                cmocka_unit_test(figures_of_resources_come_from_the_usage_alone),
                cmocka_unit_test(names_of_properties_are_checked_segment_by_segment),
                cmocka_unit_test(a_status_is_written_when_something_it_says_is_otherwise),
                cmocka_unit_test(what_was_said_of_a_cluster_that_is_selected_now_is_not_said_again),
                cmocka_unit_test(who_goes_first_is_decided_by_score_and_then_by_name),
                cmocka_unit_test(a_cluster_that_is_named_twice_is_picked_and_told_once),
                cmocka_unit_test(of_a_fixed_policy_it_is_told_who_is_not_named_and_who_cannot_be_used),
                cmocka_unit_test(of_other_policies_each_cluster_has_its_scores_or_what_speaks_against_it),
                cmocka_unit_test(a_requirement_is_met_missed_or_none),
                cmocka_unit_test(a_policy_of_an_unknown_type_picks_and_takes_away_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
