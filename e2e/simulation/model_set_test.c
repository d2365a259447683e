/* A ship with two revisions on a member that is at rest, and one thing spoiled at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/model_parts.h"

struct bay {
        struct wish_ship ship;
        struct model_sets live;
        struct error err;
};

static json_t *condition(const char *type, const char *status, const char *reason, const char *message)
{
        return json_pack("{s:s, s:s, s:s, s:s, s:i}", "type", type, "status", status, "reason", reason,
                         "message", message, "observedGeneration", 1);
}

/* What the server has of a set, as its user made it. */
static json_t *put_set(struct bay *b, unsigned revision, bool active)
{
        struct wish_set *s = &b->ship.sets[revision];
        json_t *doc = wish_set_doc(s, 0, revision);
        char uid[16];

        snprintf(uid, sizeof(uid), "u%u", revision);
        assert_int_equal(doc_set_string(doc, "metadata.uid", uid), 0);
        assert_int_equal(doc_set_int(doc, "metadata.generation", 1), 0);
        if (active)
                doc_set(doc, "metadata.finalizers", json_pack("[s]", "olm.operatorframework.io/teardown"));
        else
                doc_set_string(doc, "spec.lifecycleState", "Archived");
        json_array_append_new(b->live.sets, doc);
        s->made = s->exists = true;
        return doc;
}

static void say(json_t *set, json_t *progressing, json_t *available, bool succeeded)
{
        json_t *list = json_pack("[o, o]", progressing, available);

        if (succeeded)
                json_array_append_new(list, condition("Succeeded", "True", "Succeeded", ""));
        doc_set(set, "status.conditions", list);
}

static void say_complete(json_t *set)
{
        say(set, condition("Progressing", "True", "Succeeded", ""),
            condition("Available", "True", "ProbesSucceeded", ""), true);
}

static json_t *put_cargo(struct bay *b, unsigned revision, unsigned cargo)
{
        json_t *doc = wish_cargo_doc(&b->ship.sets[revision], 0, cargo);
        char uid[16], number[16];

        snprintf(uid, sizeof(uid), "u%u", revision);
        snprintf(number, sizeof(number), "%u", revision + 1);
        doc_set(doc, "metadata.ownerReferences", json_pack("[{s:s, s:b}]", "uid", uid, "controller", 1));
        json_object_set_new(json_object_get(json_object_get(doc, "metadata"), "labels"),
                            "olm.operatorframework.io/owner-name", json_string("ship-0"));
        doc_set(doc, "metadata.annotations", json_pack("{s:s}", "olm.operatorframework.io/revision", number));
        json_array_append_new(b->live.config_maps, doc);
        return doc;
}

/* Revision 1 was followed by revision 2, which has a in phase 0 and b in phase 1. */
static void open_bay(struct bay *b)
{
        *b = (struct bay){ .live = { json_array(), json_array(), json_array(), json_array() } };
        for (unsigned i = 0; i < 2; i++) {
                struct wish_set *s = &b->ship.sets[i];

                s->protection = PROTECT_PREVENT;
                s->items[CARGO_ASKED] = (struct wish_item){ .wanted = true, .color = 10 + i };
                s->items[CARGO_PLAIN] = (struct wish_item){ .wanted = true, .color = 20 + i, .phase = 1 };
        }
        b->ship.sets[0].outlived = true;
        say(put_set(b, 0, false), condition("Progressing", "False", "Archived", ""),
            condition("Available", "Unknown", "Archived", ""), true);
        say_complete(put_set(b, 1, true));
        put_cargo(b, 1, CARGO_ASKED);
        put_cargo(b, 1, CARGO_PLAIN);
}

static void close_bay(struct bay *b)
{
        json_decref(b->live.sets);
        json_decref(b->live.config_maps);
        json_decref(b->live.deployments);
        json_decref(b->live.roles);
}

static void good(struct bay *b)
{
        if (model_judge_ship(&b->ship, 0, &b->live, &b->err) < 0)
                fail_msg("%s", b->err.text);
}

static void bad(struct bay *b, const char *words)
{
        assert_int_equal(model_judge_ship(&b->ship, 0, &b->live, &b->err), ERR_INVALID);
        if (!strstr(b->err.text, words))
                fail_msg("\"%s\" does not say \"%s\"", b->err.text, words);
        error_clear(&b->err);
}

static json_t *set(struct bay *b, unsigned revision)
{
        return json_array_get(b->live.sets, revision);
}

static json_t *cargo(struct bay *b, unsigned i)
{
        return json_array_get(b->live.config_maps, i);
}

static void a_handover_that_is_over_is_right(void **state)
{
        struct bay b;

        open_bay(&b);
        good(&b);
        b.ship.sets[0].outlived = false;
        bad(&b, "ship-0-r1: it is archived, nobody asked for that");
        b.ship.sets[0].archived = true;
        good(&b);
        b.ship.sets[1].archived = true;
        bad(&b, "ship-0-r2: it is active, should be archived");
        close_bay(&b);
}

/* Archived by its user, of whose Secret and state file nothing is left. */
static void open_waiting(struct bay *b)
{
        open_bay(b);
        b->ship.disk_failed = true;
        b->ship.sets[1].archived = true;
        b->ship.sets[1].secret = SECRET_GONE;
        doc_set_string(set(b, 1), "spec.lifecycleState", "Archived");
        say(set(b, 1),
            condition("Progressing", "True", "Retrying",
                      "error archiving revision: getting Secret a/b: not found"),
            condition("Available", "True", "ProbesSucceeded", ""), true);
}

static void a_set_waits_for_its_secret_only_when_nothing_else_tells_what_it_has(void **state)
{
        struct bay b;

        open_waiting(&b);
        good(&b);
        b.ship.disk_failed = false;
        bad(&b, "ship-0-r2: it is archived and has its finalizer");
        b.ship.disk_failed = true;
        b.ship.sets[1].secret = SECRET_THERE;
        bad(&b, "ship-0-r2: it is archived and has its finalizer");
        b.ship.sets[1].secret = SECRET_GONE;
        say(set(&b, 1), condition("Progressing", "True", "Retrying", "error archiving revision: no reason"),
            condition("Available", "True", "ProbesSucceeded", ""), true);
        bad(&b, "ship-0-r2: it is archived and has its finalizer");
        close_bay(&b);
}

static void objects_are_those_of_the_revision(void **state)
{
        struct bay b;

        open_bay(&b);
        doc_set_string(cargo(&b, 1), "data.color", "5");
        bad(&b, "ship-0-b: it holds 5, revision 2 wants 21");
        doc_set_string(cargo(&b, 1), "data.color", "21");
        doc_set_string(cargo(&b, 1), "data.more", "yes");
        bad(&b, "its field more is there");
        doc_remove(cargo(&b, 1), "data.more");
        good(&b);
        json_array_remove(b.live.config_maps, 1);
        bad(&b, "ship-0-r2: Progressing is True Succeeded (), should be True RollingOut");
        close_bay(&b);
}

static void nothing_is_left_of_who_is_archived(void **state)
{
        struct bay b;

        open_bay(&b);
        b.ship.sets[1].items[CARGO_PLAIN].wanted = false;
        doc_set_string(json_array_get(doc_get_array(cargo(&b, 1), "metadata.ownerReferences"), 0), "uid",
                       "u0");
        bad(&b, "ship-0-b: revision 1 controls it, which should not");
        doc_remove(cargo(&b, 1), "metadata.ownerReferences");
        bad(&b, "ship-0-b: it is there, should be gone");
        b.ship.strays[CARGO_PLAIN].left = true;
        good(&b);
        doc_set(set(&b, 0), "metadata.finalizers", json_pack("[s]", "olm.operatorframework.io/teardown"));
        bad(&b, "it is archived and has its finalizer");
        close_bay(&b);
}

static void a_users_own_is_taken_only_where_it_may_be(void **state)
{
        struct bay b;

        open_bay(&b);
        b.ship.strays[CARGO_PLAIN] = (struct wish_stray){ .there = true, .color = 21 };
        bad(&b, "ship-0-b: revision 2 took a user's own");
        b.ship.strays[CARGO_PLAIN].maybe = true;
        good(&b);
        doc_remove(cargo(&b, 1), "metadata.ownerReferences");
        bad(&b, "ship-0-r2: Progressing is True Succeeded (), should be True Retrying");
        say(set(&b, 1), condition("Progressing", "True", "Retrying", "revision object collisions in phase 1"),
            condition("Available", "Unknown", "Reconciling", ""), false);
        good(&b);
        b.ship.sets[1].items[CARGO_PLAIN].protection = PROTECT_IF_NO_CONTROLLER;
        bad(&b, "ship-0-b: revision 2 should have adopted it");
        close_bay(&b);
}

static void a_set_waits_for_what_its_probes_ask(void **state)
{
        struct bay b;

        open_bay(&b);
        b.ship.sets[1].asks = b.ship.sets[1].wants_yes = true;
        bad(&b, "should be True RollingOut");
        say(set(&b, 1), condition("Progressing", "True", "RollingOut", ""),
            condition("Available", "False", "ProbeFailure", ""), false);
        json_array_remove(b.live.config_maps, 1);
        good(&b);
        json_array_remove(b.live.config_maps, 0);
        bad(&b, "ship-0-a: it is not there, revision 2 wants it");
        close_bay(&b);
}

static void a_set_says_what_is_wrong_with_its_secret(void **state)
{
        struct bay b;

        open_bay(&b);
        b.ship.sets[1].secret = SECRET_MUTABLE;
        bad(&b, "should be False Blocked");
        say(set(&b, 1), condition("Progressing", "False", "Blocked", ""),
            condition("Available", "Unknown", "", ""), false);
        bad(&b, "ship-0-a: revision 2 has it, and cannot know of it");
        json_array_clear(b.live.config_maps);
        good(&b);
        b.ship.sets[1].secret = SECRET_MISSING;
        bad(&b, "should be True Retrying");
        b.ship.sets[1].secret = SECRET_GONE; /* after it was read: there is a copy, or not */
        bad(&b, "should be True RollingOut");
        say(set(&b, 1), condition("Progressing", "True", "Retrying", "getting Secret x"),
            condition("Available", "Unknown", "", ""), false);
        good(&b);
        close_bay(&b);
}

static void sets_are_there_until_they_are_deleted(void **state)
{
        struct bay b;

        open_bay(&b);
        b.ship.sets[1].exists = false;
        bad(&b, "ship-0-r2: it is there, should be gone");
        b.ship.sets[1].exists = true;
        json_array_remove(b.live.sets, 0);
        bad(&b, "ship-0-r1: it is not there");
        for (unsigned i = 1; i < 6; i++)
                b.ship.sets[i].made = true; /* so many records are kept */
        good(&b);
        close_bay(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_handover_that_is_over_is_right),
                cmocka_unit_test(a_set_waits_for_its_secret_only_when_nothing_else_tells_what_it_has),
                cmocka_unit_test(objects_are_those_of_the_revision),
                cmocka_unit_test(nothing_is_left_of_who_is_archived),
                cmocka_unit_test(a_users_own_is_taken_only_where_it_may_be),
                cmocka_unit_test(a_set_waits_for_what_its_probes_ask),
                cmocka_unit_test(a_set_says_what_is_wrong_with_its_secret),
                cmocka_unit_test(sets_are_there_until_they_are_deleted),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
