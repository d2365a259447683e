/* spec/cluster-object-set.md 11, 12.1, 14, 15, 18 */
#include "member-agent/object-set/judge.h"

#include "member-agent/object-set/testing.h"

#define CREATED_MS 1767225600000 /* 2026-01-01T00:00:00Z */
#define MINUTE_MS 60000
#define DEADLINE_MS (CREATED_MS + 10 * MINUTE_MS)

#define SET_LIKE(meta, spec, conditions)                                                                     \
        "{'metadata':{'name':'a','uid':'u','generation':4,'creationTimestamp':'2026-01-01T00:00:00Z'" meta   \
        "},'spec':{'revision':3,'collisionProtection':'None','phases':[{'name':'crds','objects':[]},{'name'" \
        ":"                                                                                                  \
        "'deploy','objects':[]}]," spec "},'status':{'conditions':[" conditions "]}}"
#define ACTIVE "'lifecycleState':'Active'"
#define ARCHIVED "'lifecycleState':'Archived'"
#define LIMITED ACTIVE ",'progressDeadlineMinutes':10"
#define SET(conditions) SET_LIKE("", ACTIVE, conditions)
#define CONDITION_AT(generation, type, status, reason, message)                                              \
        "{'type':'" type "','status':'" status "','reason':'" reason "','message':'" message                 \
        "','observedGeneration':" generation ",'lastTransitionTime':'2026-01-01T00:00:00Z'}"
#define CONDITION(type, status, reason, message) CONDITION_AT("4", type, status, reason, message)
#define WAS_ROLLING CONDITION("Progressing", "True", "RollingOut", "m")
#define WAS_RETRYING CONDITION("Progressing", "True", "Retrying", "why")
#define WAS_EXCEEDED                                                                                         \
        CONDITION("Progressing", "False", "ProgressDeadlineExceeded",                                        \
                  "Revision has not rolled out for 10 minute(s). Last status: why")
#define WAS_AVAILABLE CONDITION("Available", "True", "ProbesSucceeded", "fine")
#define WAS_UNAVAILABLE CONDITION("Available", "False", "ProbeFailure", "x")
#define HAD_SUCCEEDED CONDITION("Succeeded", "True", "Succeeded", "Revision succeeded rolling out.")
#define MIGRATED CONDITION("Available", "Unknown", "Migrated", "m")

struct judged {
        struct arena arena;
        struct cluster_object_set *set;
        struct judge_result r;
};
static void done(struct judged *j)
{
        arena_free(&j->arena);
}

static void judge(struct judged *j, const char *set, struct judge_input in)
{
        struct error err = { 0 };

        *j = (struct judged){ 0 };
        j->set = set_from(&j->arena, set);
        in.set = j->set;
        if (in.now_ms == 0)
                in.now_ms = CREATED_MS + MINUTE_MS;
        if (judge_set(&in, &j->arena, &j->r, &err) < 0)
                fail_msg("%s", err.text);
}

/* "Type Status/Reason message" a line. */
static const char *conditions_words(struct judged *j)
{
        const struct condition_list *l = &j->r.status->conditions;
        const char *words = "";

        for (uint32_t i = 0; i < l->n; i++)
                words = arena_printf(&j->arena, "%s%s%s %s/%s %s", words, i ? "\n" : "", l->at[i].type,
                                     l->at[i].status, l->at[i].reason, l->at[i].message);
        return words;
}

/* "Reason message" a line, warnings with '!' in front. */
static const char *events_words(struct judged *j)
{
        const char *words = "";

        for (size_t i = 0; i < j->r.n_events; i++)
                words = arena_printf(&j->arena, "%s%s%s%s %s", words, i ? "\n" : "",
                                     j->r.events[i].warning ? "!" : "", j->r.events[i].reason,
                                     j->r.events[i].message);
        return words;
}

#define ROLLED_OUT                                                                                           \
        "Progressing True/Succeeded Revision 3 has rolled out.\n"                                            \
        "Available True/ProbesSucceeded Objects are available and pass all probes."
#define SUCCEEDED "Succeeded True/Succeeded Revision succeeded rolling out."

/* spec/cluster-object-set.md checklist 84, 85, 86, 87 */
static void each_finding_has_its_conditions_and_its_next_look(void **state)
{
        static const struct {
                const char *set;
                enum finding finding;
                const char *words;
                const char *conditions;
                int64_t after_ms;
                bool backoff;
        } lines[] = {
                { SET(""), FOUND_INCOMPLETE, "Object A.v1 /a: no",
                  "Progressing True/RollingOut Revision 3 is rolling out. Phase \"deploy\" (2/2).\n"
                  "Available False/ProbeFailure Object A.v1 /a: no",
                  0, false },
                { SET(""), FOUND_INCOMPLETE, "",
                  "Progressing True/RollingOut Revision 3 is rolling out. Phase \"deploy\" (2/2).\n"
                  "Available False/RollingOut Revision 3 is rolling out.",
                  0, false },
                { SET(WAS_ROLLING "," WAS_UNAVAILABLE), FOUND_COMPLETE, "", ROLLED_OUT "\n" SUCCEEDED, 0,
                  false },
                { SET(""), FOUND_ERROR, "why", "Progressing True/Retrying why", 0, true },
                { SET(WAS_AVAILABLE), FOUND_ERROR, "why",
                  "Available Unknown/Reconciling why\nProgressing True/Retrying why", 0, true },
                { SET(WAS_UNAVAILABLE "," HAD_SUCCEEDED), FOUND_REFUSED, "why",
                  "Available Unknown/Reconciling why\n" SUCCEEDED "\nProgressing True/Retrying why", 10000,
                  false },
                { SET(""), FOUND_COLLISION, "why", "Progressing True/Retrying why", 10000, false },
                { SET(WAS_AVAILABLE), FOUND_BLOCKED, "why",
                  "Available True/ProbesSucceeded fine\nProgressing False/Blocked why", 0, false },
                { SET(""), FOUND_BLOCKED, "why", "Progressing False/Blocked why", 0, false },
                { SET(MIGRATED), FOUND_INCOMPLETE, "x",
                  "Available False/ProbeFailure x\n"
                  "Progressing True/RollingOut Revision 3 is rolling out. Phase \"deploy\" (2/2).",
                  0, false },
                { SET_LIKE("", ARCHIVED, WAS_AVAILABLE), FOUND_TEARING_DOWN, "",
                  "Available Unknown/Reconciling removing revision resources that are not owned by another "
                  "revision\n"
                  "Progressing True/Retrying removing revision resources that are not owned by another "
                  "revision",
                  5000, false },
                { SET_LIKE("", ARCHIVED, ""), FOUND_TEARING_DOWN, "waiting for x",
                  "Progressing True/Retrying removing revision resources that are not owned by another "
                  "revision: waiting for x",
                  5000, false },
                { SET_LIKE("", ARCHIVED, ""), FOUND_ERROR, "error archiving revision: why",
                  "Progressing True/Retrying error archiving revision: why", 0, true },
                { SET_LIKE("", ARCHIVED, HAD_SUCCEEDED), FOUND_ARCHIVED, "",
                  SUCCEEDED "\nProgressing False/Archived revision is archived\n"
                            "Available Unknown/Archived revision is archived",
                  0, false },
                { SET(CONDITION("Mine", "True", "Because", "kept")), FOUND_COMPLETE, "",
                  "Mine True/Because kept\n" ROLLED_OUT "\n" SUCCEEDED, 0, false },
                { SET(WAS_AVAILABLE), FOUND_RESOLVED, "", "Available True/ProbesSucceeded fine", 0, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct judged j CLEANUP(done);

                judge(&j, lines[i].set,
                      (struct judge_input){
                              .finding = lines[i].finding, .words = lines[i].words, .phase = 1 });
                assert_string_equal(conditions_words(&j), lines[i].conditions);
                assert_int_equal(j.r.after_ms, lines[i].after_ms);
                assert_int_equal(j.r.backoff, lines[i].backoff);
        }
}

/* spec/cluster-object-set.md checklist 84, 88 */
static void a_condition_carries_the_generation_and_moves_with_its_status_only(void **state)
{
        struct judged j CLEANUP(done);
        const struct condition_list *l;

        judge(&j, SET(CONDITION_AT("3", "Progressing", "True", "Retrying", "x") "," WAS_UNAVAILABLE),
              (struct judge_input){ .finding = FOUND_COMPLETE });
        l = &j.r.status->conditions;
        for (uint32_t i = 0; i < l->n; i++)
                assert_int_equal(l->at[i].observed_generation.value, 4);
        assert_int_equal(condition_find(l, "Progressing")->last_transition_ms, CREATED_MS);
        assert_int_equal(condition_find(l, "Available")->last_transition_ms, CREATED_MS + MINUTE_MS);
}

/* spec/cluster-object-set.md checklist 88 */
static void a_second_look_at_the_same_finds_no_difference(void **state)
{
        static const struct {
                enum finding finding;
                const char *words;
        } lines[] = {
                { FOUND_COMPLETE, "" },     { FOUND_INCOMPLETE, "x" }, { FOUND_ERROR, "x" },
                { FOUND_REFUSED, "x" },     { FOUND_COLLISION, "x" },  { FOUND_BLOCKED, "x" },
                { FOUND_TEARING_DOWN, "" }, { FOUND_ARCHIVED, "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct judged j CLEANUP(done);
                struct judge_input in = { .finding = lines[i].finding,
                                          .words = lines[i].words,
                                          .phase_before = JUDGE_NO_PHASE,
                                          .now_ms = CREATED_MS + MINUTE_MS };
                struct judge_result again;

                judge(&j, SET(""), in);
                assert_true(j.r.differs);
                j.set->status = j.r.status;
                in.set = j.set;
                in.now_ms += MINUTE_MS;
                assert_int_equal(judge_set(&in, &j.arena, &again, NULL), 0);
                assert_false(again.differs);
                assert_int_equal(again.n_events, 0);
        }
}

static void the_set_that_was_read_is_left_alone(void **state)
{
        struct judged j CLEANUP(done);

        judge(&j, SET(WAS_ROLLING), (struct judge_input){ .finding = FOUND_ERROR, .words = "why" });
        assert_string_equal(j.set->status->conditions.at[0].message, "m");
}

/* spec/cluster-object-set.md checklist 89 */
static void messages_name_the_bundles_version(void **state)
{
        struct judged j CLEANUP(done);

        judge(&j, SET_LIKE(",'labels':{'olm.operatorframework.io/bundle-version':'1.2.3'}", ACTIVE, ""),
              (struct judge_input){ .finding = FOUND_INCOMPLETE, .words = "", .phase = 0 });
        assert_string_equal(
                conditions_words(&j),
                "Progressing True/RollingOut Revision 1.2.3 is rolling out. Phase \"crds\" (1/2).\n"
                "Available False/RollingOut Revision 1.2.3 is rolling out.");
}

static void a_set_without_a_spec_is_survived(void **state)
{
        struct judged j CLEANUP(done);

        judge(&j, "{'metadata':{'name':'a'}}",
              (struct judge_input){ .finding = FOUND_INCOMPLETE, .words = "x", .phase = 0 });
        assert_int_equal(j.r.status->conditions.n, 2);
        done(&j);
        judge(&j, "{'metadata':{'name':'a'}}", (struct judge_input){ .finding = FOUND_COMPLETE });
        assert_int_equal(j.r.status->conditions.n, 3);
}

/* ---- the deadline ---- */

/* spec/cluster-object-set.md checklist 7, 62, 64 */
static void a_deadline_counts_until_the_set_has_succeeded_or_is_not_wanted(void **state)
{
        static const struct {
                const char *set;
                int64_t left_ms; /* a minute after creation */
        } lines[] = {
                { SET_LIKE("", LIMITED, ""), 9 * MINUTE_MS },
                { SET_LIKE("", ACTIVE ",'progressDeadlineMinutes':720", ""), 719 * MINUTE_MS },
                { SET_LIKE("", ACTIVE, ""), INT64_MAX },
                { SET_LIKE("", LIMITED, HAD_SUCCEEDED), INT64_MAX },
                { SET_LIKE("", LIMITED, CONDITION("Succeeded", "False", "x", "")), 9 * MINUTE_MS },
                { SET_LIKE("", ARCHIVED ",'progressDeadlineMinutes':10", ""), INT64_MAX },
                { SET_LIKE(",'deletionTimestamp':'2026-01-01T00:00:01Z'", LIMITED, ""), INT64_MAX },
                { "{'metadata':{'name':'a'}}", INT64_MAX },
        };
        struct arena arena AUTO_ARENA = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                assert_int_equal(judge_deadline_ms(set_from(&arena, lines[i].set), CREATED_MS + MINUTE_MS),
                                 lines[i].left_ms);
}

#define EXCEEDED(last)                                                                                       \
        "Progressing False/ProgressDeadlineExceeded Revision has not rolled out for 10 minute(s). Last "     \
        "status: " last

/* spec/cluster-object-set.md checklist 60, 61, 63 */
static void at_the_deadline_what_is_under_way_has_exceeded_it(void **state)
{
        static const struct {
                enum finding finding;
                const char *before, *after; /* Progressing, a second before and at the deadline */
                int64_t before_ms, after_ms;
        } lines[] = {
                { FOUND_INCOMPLETE,
                  "Progressing True/RollingOut Revision 3 is rolling out. Phase \"crds\" (1/2).",
                  EXCEEDED("Revision 3 is rolling out. Phase \"crds\" (1/2)."), 1000, 0 },
                { FOUND_ERROR, "Progressing True/Retrying why", EXCEEDED("why"), 1000, 1 },
                { FOUND_REFUSED, "Progressing True/Retrying why", EXCEEDED("why"), 1000, 10000 },
                { FOUND_COLLISION, "Progressing True/Retrying why", EXCEEDED("why"), 1000, 10000 },
                { FOUND_BLOCKED, "Progressing False/Blocked why", "Progressing False/Blocked why", 0, 0 },
                { FOUND_COMPLETE, "Progressing True/Succeeded Revision 3 has rolled out.",
                  "Progressing True/Succeeded Revision 3 has rolled out.", 0, 0 },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct judge_input in = { .finding = lines[i].finding, .words = "why" };
                struct judged before CLEANUP(done), after CLEANUP(done);

                in.now_ms = DEADLINE_MS - 1000;
                judge(&before, SET_LIKE("", LIMITED, ""), in);
                in.now_ms = DEADLINE_MS;
                judge(&after, SET_LIKE("", LIMITED, ""), in);
                assert_true(text_starts_with(conditions_words(&before), lines[i].before));
                assert_true(text_starts_with(conditions_words(&after), lines[i].after));
                assert_int_equal(before.r.after_ms, lines[i].before_ms);
                assert_int_equal(after.r.after_ms, lines[i].after_ms);
                assert_int_equal(after.r.backoff, lines[i].finding == FOUND_ERROR);
        }
}

static void past_the_deadline_retries_are_as_ever(void **state)
{
        struct judged j CLEANUP(done);

        judge(&j, SET_LIKE("", LIMITED, WAS_EXCEEDED),
              (struct judge_input){ .finding = FOUND_ERROR, .words = "why", .now_ms = DEADLINE_MS + 1 });
        assert_int_equal(j.r.after_ms, 0);
        assert_true(j.r.backoff);
        assert_false(j.r.differs);
        done(&j);
        judge(&j, SET_LIKE("", LIMITED, ""),
              (struct judge_input){ .finding = FOUND_COLLISION, .words = "why", .now_ms = CREATED_MS });
        assert_int_equal(j.r.after_ms, 10000);
        done(&j);
        judge(&j, SET_LIKE("", LIMITED, WAS_EXCEEDED "," WAS_UNAVAILABLE),
              (struct judge_input){ .finding = FOUND_INCOMPLETE, .words = "x", .now_ms = DEADLINE_MS + 1 });
        assert_int_equal(condition_find(&j.r.status->conditions, "Available")->last_transition_ms,
                         CREATED_MS);
}

/* ---- what does not fit ---- */

static size_t characters(const char *s)
{
        size_t n = 0;

        for (; *s; s++)
                n += ((unsigned char)*s & 0xc0) != 0x80;
        return n;
}

/* spec/cluster-object-set.md checklist 90 */
static void a_message_is_cut_between_characters_and_says_so(void **state)
{
        static const size_t sizes[] = { 32768, 32769, 100000 };

        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
                struct judged j CLEANUP(done);
                AUTO_FREE char *words = mem_alloc(2 * sizes[i] + 1);
                const char *message, *rest;

                for (size_t n = 0; n < sizes[i]; n++)
                        memcpy(words + 2 * n, "é", 2);
                words[2 * sizes[i]] = '\0';
                judge(&j, SET(WAS_AVAILABLE), (struct judge_input){ .finding = FOUND_ERROR, .words = words });
                message = condition_find(&j.r.status->conditions, "Progressing")->message;
                assert_true(characters(message) <= 32768);
                assert_true(text_is_utf8(message, strlen(message)));
                rest = strstr(message, "… (");
                assert_int_equal(rest != NULL, sizes[i] > 32768);
                if (!rest)
                        continue;
                assert_true(text_ends_with(message, " more characters)"));
                assert_int_equal(strtoul(rest + strlen("… ("), NULL, 10),
                                 sizes[i] - (size_t)(rest - message) / 2);
        }
}

/* ---- digests ---- */

/* spec/cluster-object-set.md checklist 28 */
static void what_the_phases_hold_is_noted_once(void **state)
{
        struct set_phase at[] = { { .name = "crds", .digest = "sha256:ab" },
                                  { .name = "deploy", .digest = "sha256:cd" } };
        const struct set_phases now = { at, ARRAY_LEN(at) };
        struct judged j CLEANUP(done);
        struct judge_result again;
        struct judge_input in = { .finding = FOUND_RESOLVED, .now = &now };

        judge(&j, SET(""), in);
        assert_true(j.r.differs);
        assert_int_equal(j.r.status->conditions.n, 0);
        assert_int_equal(j.r.status->observed_phases.n, 2);
        assert_string_equal(j.r.status->observed_phases.at[1].name, "deploy");
        assert_string_equal(j.r.status->observed_phases.at[1].digest, "sha256:cd");
        j.set->status = j.r.status;
        in.set = j.set;
        at[1] = (struct set_phase){ .name = "deploy", .digest = "sha256:ef" };
        assert_int_equal(judge_set(&in, &j.arena, &again, NULL), 0);
        assert_false(again.differs);
        assert_int_equal(again.status->observed_phases.n, 2);
}

/* ---- events ---- */

#define NOWHERE JUDGE_NO_PHASE

/* spec/cluster-object-set.md checklist 100 */
static void a_change_is_told_once(void **state)
{
        static const struct {
                const char *set;
                enum finding finding;
                size_t before, phase;
                const char *events;
        } lines[] = {
                { SET(""), FOUND_INCOMPLETE, 0, 0, "" },
                { SET(WAS_ROLLING), FOUND_INCOMPLETE, 0, 1, "PhaseCompleted \"crds\" is complete (1/2)" },
                { SET(WAS_ROLLING), FOUND_ERROR, 0, 1, "PhaseCompleted \"crds\" is complete (1/2)" },
                { SET(WAS_ROLLING), FOUND_ERROR, 0, NOWHERE, "" },
                { SET(WAS_ROLLING), FOUND_INCOMPLETE, NOWHERE, 1, "" },
                { SET(WAS_ROLLING), FOUND_INCOMPLETE, 1, 0, "" },
                { SET(WAS_ROLLING), FOUND_COMPLETE, 0, NOWHERE,
                  "PhaseCompleted \"crds\", \"deploy\" are complete (2/2)\n"
                  "RolledOut Revision 3 has rolled out." },
                { SET(WAS_ROLLING), FOUND_COMPLETE, NOWHERE, NOWHERE,
                  "RolledOut Revision 3 has rolled out." },
                { SET(HAD_SUCCEEDED), FOUND_COMPLETE, 0, NOWHERE, "" },
                { SET(WAS_ROLLING), FOUND_COLLISION, 1, 1, "!Collision why" },
                { SET(WAS_RETRYING), FOUND_COLLISION, 1, 1, "" },
                { SET(WAS_ROLLING), FOUND_REFUSED, 1, 1, "!PreflightFailed why" },
                { SET(WAS_RETRYING), FOUND_REFUSED, 1, 1, "" },
                { SET(WAS_ROLLING), FOUND_BLOCKED, 1, 1, "!Blocked why" },
                { SET(CONDITION("Progressing", "False", "Blocked", "why")), FOUND_BLOCKED, 1, 1, "" },
                { SET_LIKE("", ARCHIVED, WAS_RETRYING), FOUND_ARCHIVED, NOWHERE, NOWHERE,
                  "Archived revision is archived" },
                { SET_LIKE("", ARCHIVED, WAS_RETRYING), FOUND_TEARING_DOWN, NOWHERE, NOWHERE, "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct judged j CLEANUP(done);

                judge(&j, lines[i].set,
                      (struct judge_input){ .finding = lines[i].finding,
                                            .words = "why",
                                            .phase = lines[i].phase,
                                            .phase_before = lines[i].before });
                assert_string_equal(events_words(&j), lines[i].events);
        }
}

/* spec/cluster-object-set.md checklist 60, 100 */
static void a_deadline_is_told_once_and_no_collision_again_with_it(void **state)
{
        static const struct {
                const char *set, *words, *events;
        } lines[] = {
                { SET_LIKE("", LIMITED, WAS_RETRYING), "why",
                  "!ProgressDeadlineExceeded Revision has not rolled out for 10 minute(s). Last status: "
                  "why" },
                { SET_LIKE("", LIMITED, WAS_EXCEEDED), "why", "" },
                { SET_LIKE("", LIMITED, WAS_EXCEEDED), "another", "!Collision another" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct judged j CLEANUP(done);

                judge(&j, lines[i].set,
                      (struct judge_input){ .finding = FOUND_COLLISION,
                                            .words = lines[i].words,
                                            .phase_before = JUDGE_NO_PHASE,
                                            .now_ms = DEADLINE_MS });
                assert_string_equal(events_words(&j), lines[i].events);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_finding_has_its_conditions_and_its_next_look),
                cmocka_unit_test(a_condition_carries_the_generation_and_moves_with_its_status_only),
                cmocka_unit_test(a_second_look_at_the_same_finds_no_difference),
                cmocka_unit_test(the_set_that_was_read_is_left_alone),
                cmocka_unit_test(messages_name_the_bundles_version),
                cmocka_unit_test(a_set_without_a_spec_is_survived),
                cmocka_unit_test(a_deadline_counts_until_the_set_has_succeeded_or_is_not_wanted),
                cmocka_unit_test(at_the_deadline_what_is_under_way_has_exceeded_it),
                cmocka_unit_test(past_the_deadline_retries_are_as_ever),
                cmocka_unit_test(a_message_is_cut_between_characters_and_says_so),
                cmocka_unit_test(what_the_phases_hold_is_noted_once),
                cmocka_unit_test(a_change_is_told_once),
                cmocka_unit_test(a_deadline_is_told_once_and_no_collision_again_with_it),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
