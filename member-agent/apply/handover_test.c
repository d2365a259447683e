/* Objects that move between Works, for each order in which Works may arrive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "member-agent/apply/handover.h"
#include "member-agent/apply/pass.h"

/* Sets of binding "b": before, after; of one, two or three Works. ANY: an agent that tells no size. */
#define OLD(n)                                                                                               \
        {                                                                                                    \
                "b", "1/x.y", n                                                                              \
        }
#define NEW(n)                                                                                               \
        {                                                                                                    \
                "b", "2/x.y", n                                                                              \
        }
#define ANY 0
#define STRANGER                                                                                             \
        {                                                                                                    \
                "c", "7/x.y", 1                                                                              \
        }
#define LONELY                                                                                               \
        {                                                                                                    \
                "", "", 0                                                                                    \
        }

struct step {
        const char *story;
        struct handover_work self, others[3];
        bool hub_away, catching_up;
        int64_t waited_ms;
        enum handover decision;
        bool at_once; /* else it waits first, for what follows at once */
        const char *to;
};

static const struct step steps[] = {
        /* It grows: the first Work is written, then the second is made. */
        { .story = "the heir is yet to come",
          .self = { "w-0", NEW(2), .known = true },
          .decision = HANDOVER_WAIT },
        { .story = "it is listed, but what it wants is not known",
          .self = { "w-0", NEW(2), .known = true },
          .others = { { "w-1", NEW(2) } },
          .decision = HANDOVER_WAIT },
        { .story = "it wants it",
          .self = { "w-0", NEW(2), .known = true },
          .others = { { "w-1", NEW(2), .known = true, .wants = true } },
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "w-1" },
        { .story = "all are there and nobody wants it",
          .self = { "w-0", NEW(2), .known = true },
          .others = { { "w-1", NEW(2), .known = true } },
          .decision = HANDOVER_REMOVE },
        /* The heir is written after us. */
        { .story = "the other Work is of the former set",
          .self = { "w-0", NEW(2), .known = true },
          .others = { { "w-1", OLD(2), .known = true } },
          .decision = HANDOVER_WAIT },
        { .story = "one of three is of the former set",
          .self = { "w-0", NEW(3), .known = true },
          .others = { { "w-1", NEW(3), .known = true }, { "w-2", OLD(2), .known = true } },
          .decision = HANDOVER_WAIT },
        { .story = "an heir of our own set is better than one of another",
          .self = { "w-0", NEW(2), .known = true },
          .others = { { "w-1", OLD(2), .known = true, .wants = true },
                      { "w-2", NEW(2), .known = true, .wants = true } },
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "w-2" },
        /* It shrinks: the first Work is written, then the second is deleted. */
        { .story = "the last part goes, the first took all",
          .self = { "w-1", OLD(2), .deleting = true, .known = true },
          .others = { { "w-0", NEW(1), .known = true, .wants = true } },
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "w-0" },
        { .story = "the last part goes, and the object with it",
          .self = { "w-1", OLD(2), .deleting = true, .known = true },
          .others = { { "w-0", NEW(1), .known = true } },
          .decision = HANDOVER_REMOVE },
        { .story = "a Work that is on its way out counts for nothing",
          .self = { "w-0", NEW(1), .known = true },
          .others = { { "w-1", OLD(2), .deleting = true, .known = true, .wants = true } },
          .decision = HANDOVER_REMOVE },
        /* A Work goes while its set is not complete: one of the same name may be to come. */
        { .story = "a sibling takes care of it",
          .self = { "w-1", OLD(2), .deleting = true, .known = true },
          .others = { { "w-0", NEW(2), .known = true } },
          .decision = HANDOVER_GIVE,
          .to = "w-0" },
        { .story = "also if nobody knows what that one wants",
          .self = { "w-1", OLD(2), .deleting = true },
          .others = { { "w-0", NEW(1) } },
          .decision = HANDOVER_GIVE,
          .to = "w-0" },
        /* The placement goes. */
        { .story = "all Works go",
          .self = { "w-0", NEW(2), .deleting = true, .known = true, .wants = true },
          .others = { { "w-1", NEW(2), .deleting = true, .known = true } },
          .decision = HANDOVER_REMOVE,
          .at_once = true },
        { .story = "the other Work of the set is yet to be deleted, or to be changed, or we are made again",
          .self = { "w-0", NEW(2), .deleting = true, .known = true, .wants = true },
          .others = { { "w-1", NEW(2), .known = true } },
          .decision = HANDOVER_GIVE,
          .to = "w-1" },
        { .story = "the first that stays takes care of it: no stranger, and none that goes too",
          .self = { "w-0", NEW(3), .deleting = true, .known = true, .wants = true },
          .others = { { "v", STRANGER, .known = true },
                      { "w-1", NEW(3), .deleting = true, .known = true },
                      { "w-2", NEW(3), .known = true } },
          .decision = HANDOVER_GIVE,
          .to = "w-2" },
        /* The ordinary case, and Works of no placement. */
        { .story = "a placement with one Work",
          .self = { "w", NEW(1), .known = true },
          .decision = HANDOVER_REMOVE },
        { .story = "a Work that somebody made by hand",
          .self = { "w", LONELY, .known = true },
          .decision = HANDOVER_REMOVE,
          .at_once = true },
        /* Works of an agent that tells no size. */
        { .story = "one that is yet to come is waited for",
          .self = { "w-0", NEW(ANY), .known = true },
          .waited_ms = HANDOVER_PATIENCE_MS - 1,
          .decision = HANDOVER_WAIT },
        { .story = "for some time",
          .self = { "w-0", NEW(ANY), .known = true },
          .waited_ms = HANDOVER_PATIENCE_MS,
          .decision = HANDOVER_REMOVE },
        { .story = "but one of another set as long as it takes",
          .self = { "w-0", NEW(ANY), .known = true },
          .others = { { "w-1", OLD(ANY), .known = true } },
          .waited_ms = 10 * HANDOVER_PATIENCE_MS,
          .decision = HANDOVER_WAIT },
        { .story = "the size may be told by any of the set",
          .self = { "w-0", NEW(ANY), .known = true },
          .others = { { "w-1", NEW(2), .known = true } },
          .decision = HANDOVER_REMOVE },
        { .story = "of another set, and its size not told: it may have more that are yet to come",
          .self = { "w-1", OLD(ANY), .deleting = true, .known = true },
          .others = { { "w-0", NEW(ANY), .known = true } },
          .waited_ms = HANDOVER_PATIENCE_MS - 1,
          .decision = HANDOVER_GIVE,
          .to = "w-0" },
        { .story = "which is given up in time",
          .self = { "w-1", OLD(ANY), .deleting = true, .known = true },
          .others = { { "w-0", NEW(ANY), .known = true } },
          .waited_ms = HANDOVER_PATIENCE_MS,
          .decision = HANDOVER_REMOVE },
        /* Other placements. */
        { .story = "another placement wants it",
          .self = { "w", NEW(1), .deleting = true, .known = true },
          .others = { { "z", STRANGER, .known = true, .wants = true } },
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "z" },
        { .story = "it has just changed, and wanted it until then",
          .self = { "w", NEW(1), .deleting = true, .known = true },
          .others = { { "z", STRANGER, .wants = true } },
          .decision = HANDOVER_WAIT },
        { .story = "one is known to want it",
          .self = { "w", NEW(1), .deleting = true, .known = true },
          .others = { { "y", STRANGER, .wants = true }, { "z", STRANGER, .known = true, .wants = true } },
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "z" },
        { .story = "a sibling comes before it",
          .self = { "w", NEW(2), .known = true },
          .others = { { "v", STRANGER, .known = true, .wants = true },
                      { "w-1", NEW(2), .known = true, .wants = true } },
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "w-1" },
        { .story = "a sibling may still come",
          .self = { "w", NEW(2), .known = true },
          .others = { { "z", STRANGER, .known = true, .wants = true } },
          .decision = HANDOVER_WAIT },
        { .story = "it only reports differences",
          .self = { "w", NEW(1), .known = true },
          .others = { { "z", STRANGER, .known = true, .wants = true, .reports = true } },
          .decision = HANDOVER_REMOVE },
        { .story = "a Work made by hand wants it too",
          .self = { "w", LONELY, .deleting = true, .known = true },
          .others = { { "z", LONELY, .known = true, .wants = true } },
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "z" },
        /* The state file was lost. */
        { .story = "what others want may not be known",
          .self = { "w", NEW(1), .deleting = true, .known = true },
          .catching_up = true,
          .waited_ms = HANDOVER_PATIENCE_MS - 1,
          .decision = HANDOVER_WAIT },
        { .story = "that is not waited for for ever",
          .self = { "w", NEW(1), .deleting = true, .known = true },
          .catching_up = true,
          .waited_ms = HANDOVER_PATIENCE_MS,
          .decision = HANDOVER_REMOVE },
        { .story = "one is known to want it meanwhile",
          .self = { "w", NEW(1), .deleting = true, .known = true },
          .others = { { "z", STRANGER, .known = true, .wants = true } },
          .catching_up = true,
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "z" },
        /* The hub is away. */
        { .story = "nothing is removed while it is",
          .self = { "w", NEW(1), .known = true },
          .hub_away = true,
          .decision = HANDOVER_WAIT },
        { .story = "who is known to want it may have it",
          .self = { "w-0", NEW(2), .known = true },
          .others = { { "w-1", NEW(2), .known = true, .wants = true } },
          .hub_away = true,
          .decision = HANDOVER_GIVE,
          .at_once = true,
          .to = "w-1" },
        /* The pass works on an older generation than the hub has shown. */
        { .story = "our own newest generation is not known",
          .self = { "w", NEW(1) },
          .decision = HANDOVER_WAIT },
        { .story = "our own newest generation wants it again",
          .self = { "w", NEW(1), .known = true, .wants = true },
          .decision = HANDOVER_WAIT },
};

static void check(const struct step *s, struct handover_question *q, enum handover wanted, const char *when)
{
        const struct handover_work *to = NULL;
        enum handover decision = handover_decide(q, &to);

        if (decision != wanted)
                fail_msg("%s, %s: %d, not %d", s->story, when, (int)decision, (int)wanted);
        if (decision == HANDOVER_GIVE && !text_equal(to->name, s->to))
                fail_msg("%s, %s: to %s, not %s", s->story, when, to->name, s->to);
}

static void an_object_stays_while_anybody_may_want_it(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
                const struct step *s = &steps[i];
                struct handover_question q = { .self = s->self,
                                               .others = s->others,
                                               .hub_heard = true,
                                               .hub_present = !s->hub_away,
                                               .catching_up = s->catching_up };

                while (q.n < ARRAY_LEN(s->others) && s->others[q.n].name)
                        q.n++;
                check(s, &q, s->at_once ? s->decision : HANDOVER_WAIT, "at once");
                q.waited_ms = s->waited_ms ? s->waited_ms : HANDOVER_SETTLE_MS;
                check(s, &q, s->decision, "after a while");
                q.hub_heard = false;
                check(s, &q, HANDOVER_WAIT, "before the hub was heard");
        }
}

static void only_what_a_sibling_lets_go_of_is_taken(void **state)
{
        static const struct {
                const char *story;
                struct handover_work self, holder;
                enum handover_claim claim;
        } cases[] = {
                { "it was written before us",
                  { "w-1", NEW(2), .known = true },
                  { "w-0", NEW(2), .known = true },
                  CLAIM_TAKE },
                { "it goes",
                  { "w-0", NEW(1), .known = true },
                  { "w-1", OLD(2), .deleting = true, .known = true, .wants = true },
                  CLAIM_TAKE },
                { "it is written after us",
                  { "w-0", NEW(2), .known = true },
                  { "w-1", OLD(2), .known = true, .wants = true },
                  CLAIM_WAIT },
                { "what it wants is not known",
                  { "w-0", NEW(2), .known = true },
                  { "w-1", NEW(2) },
                  CLAIM_WAIT },
                { "both list it",
                  { "w-0", NEW(2), .known = true },
                  { "w-1", NEW(2), .known = true, .wants = true },
                  CLAIM_NONE },
                { "it goes, whatever it holds",
                  { "w-0", NEW(2), .known = true },
                  { "w-1", NEW(2), .deleting = true, .known = true, .wants = true },
                  CLAIM_TAKE },
                { "another placement's that goes",
                  { "w-0", NEW(2), .known = true },
                  { "z", STRANGER, .deleting = true, .known = true },
                  CLAIM_NONE },
                { "another placement's",
                  { "w-0", NEW(2), .known = true },
                  { "z", STRANGER, .known = true },
                  CLAIM_NONE },
                { "two that were made by hand",
                  { "w", LONELY, .known = true },
                  { "v", LONELY, .deleting = true, .known = true },
                  CLAIM_NONE },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                if (handover_claim(&cases[i].self, &cases[i].holder) != cases[i].claim)
                        fail_msg("%s", cases[i].story);
}

/* A wait is that of one generation, from when it began; who does not wait has not waited. */
static void a_wait_is_counted_from_its_beginning(void **state)
{
        struct work_memory m = { 0 };

        assert_int_equal(handover_waited(&m, 0, 5000), 0);
        handover_note_wait(&m, true, 1, 1000);
        assert_int_equal(handover_waited(&m, 1, 5000), 4000);
        assert_int_equal(handover_waited(&m, 2, 5000), 0);
        handover_note_wait(&m, true, 1, 3000);
        assert_int_equal(handover_waited(&m, 1, 5000), 4000);
        handover_note_wait(&m, true, 2, 6000);
        assert_int_equal(handover_waited(&m, 2, 7000), 1000);
        handover_note_wait(&m, false, 2, 8000);
        assert_int_equal(handover_waited(&m, 2, 9000), 0);
        handover_note_wait(&m, true, 2, 9000);
        assert_int_equal(handover_waited(&m, 2, 9500), 500);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_stays_while_anybody_may_want_it),
                cmocka_unit_test(only_what_a_sibling_lets_go_of_is_taken),
                cmocka_unit_test(a_wait_is_counted_from_its_beginning),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
