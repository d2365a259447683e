/* A ResourceSet that is at rest with what it made, and its provider; one thing spoiled at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/model_parts.h"
#include "proto/names.h"

#define TABLE 0

struct room {
        struct wish_desk wish;
        struct model_desk live;
        json_t *placements, *members_maps;
        struct error err;
};

static json_t *conditions(const char *status, const char *reason, const char *message)
{
        return json_pack("[{s:s, s:s, s:s, s:s, s:i}]", "type", "Ready", "status", status, "reason", reason,
                         "message", message, "observedGeneration", 1);
}

static json_t *table(struct room *r)
{
        return json_array_get(r->live.tables, 0);
}

static json_t *source(struct room *r)
{
        return json_array_get(r->live.sources, 0);
}

static void say(json_t *doc, const char *status, const char *reason, const char *message)
{
        doc_set(doc, "status.conditions", conditions(status, reason, message));
}

static json_t *made(const char *ns, const char *name)
{
        return json_pack("{s:{s:s*, s:s, s:{s:s, s:s}}}", "metadata", "namespace", ns, "name", name, "labels",
                         LABEL_SET_NAME, "table-0", LABEL_SET_NAMESPACE, WISH_DESK);
}

/* One tenant of table-0, with a color, and its three objects. */
static void put_tenant(struct room *r, unsigned tenant, const char *color)
{
        json_t *entries = doc_get_array(table(r), "status.inventory.entries"), *settings, *placement;
        char name[WISH_TABLE_NAME], id[128];

        wish_made_name(TABLE, tenant, name);
        settings = made(name, "settings");
        placement = made(NULL, name);
        doc_set_string(settings, "data.color", color);
        doc_set(placement, "spec.policy.tolerations", json_array());
        json_array_append_new(r->live.config_maps, settings);
        json_array_append_new(r->live.namespaces, made(NULL, name));
        json_array_append_new(r->placements, placement);
        for (unsigned part = 0; part < WISH_PARTS; part++) {
                wish_part_id(TABLE, tenant, part, id);
                json_array_append_new(entries, json_pack("{s:s}", "id", id));
        }
}

/* It has a=1 itself, and b=5 of source-0. */
static void open_room(struct room *r)
{
        json_t *doc;

        *r = (struct room){ .placements = json_array(), .members_maps = json_array() };
        r->live = (struct model_desk){ json_array(), json_array(),  json_array(),
                                       json_array(), r->placements, false };
        r->wish.there = true;
        r->wish.tables[TABLE] = (struct wish_table){ .exists = true, .own = { { 1 } }, .named = 1 };
        r->wish.sources[0].exists = true;
        r->wish.sources[0].inputs = (struct wish_inputs){ { 0, 5 } };
        doc = wish_table_doc(&r->wish, TABLE);
        doc_set_int(doc, "metadata.generation", 1);
        doc_set_string(doc, "status.lastAppliedRevision", "sha256:12");
        doc_set(doc, "status.inventory.entries", json_array());
        say(doc, "True", "ReconciliationSucceeded", "Reconciliation finished in 1s");
        json_array_append_new(r->live.tables, doc);
        doc = wish_source_doc(&r->wish, 0);
        doc_set_int(doc, "metadata.generation", 1);
        doc_set_string(doc, "metadata.uid", "6.0.4"); /* spec/resource-set.md 3.2 */
        doc_set_string(doc, "status.lastExportedRevision", "sha256:1");
        doc_set(doc, "status.exportedInputs",
                json_pack("[{s:s, s:s, s:s}]", "id", "48955639", "tenant", "b", "color", "5"));
        say(doc, "True", "ReconciliationSucceeded", "Reconciliation finished in 1s");
        json_array_append_new(r->live.sources, doc);
        put_tenant(r, 0, "c1");
        put_tenant(r, 1, "c5");
}

static void close_room(struct room *r)
{
        json_decref(r->live.tables);
        json_decref(r->live.sources);
        json_decref(r->live.config_maps);
        json_decref(r->live.namespaces);
        json_decref(r->placements);
        json_decref(r->members_maps);
        for (unsigned i = 0; i < WISH_SOURCES; i++)
                vec_free(&r->wish.sources[i].given);
}

static int judge(struct room *r)
{
        TRY(model_judge_source(&r->wish, 0, &r->live, &r->err));
        return model_judge_table(&r->wish, TABLE, &r->live, &r->err);
}

static void good(struct room *r)
{
        if (judge(r) < 0)
                fail_msg("%s", r->err.text);
}

static void bad(struct room *r, const char *words)
{
        assert_int_equal(judge(r), ERR_INVALID);
        if (!strstr(r->err.text, words))
                fail_msg("\"%s\" does not say \"%s\"", r->err.text, words);
        error_clear(&r->err);
}

static json_t *settings(struct room *r, unsigned tenant)
{
        return json_array_get(r->live.config_maps, tenant);
}

static void objects_are_what_the_inputs_say(void **state)
{
        struct room r;

        open_room(&r);
        good(&r);
        doc_set_string(settings(&r, 1), "data.color", "c4");
        bad(&r, "t0-b_settings__ConfigMap: it holds \"c4\", should hold \"c5\"");
        doc_set_string(settings(&r, 1), "data.color", "c5");
        r.wish.tables[TABLE].mark = 3;
        bad(&r, "its mark is \"\", should be \"m3\"");
        r.wish.tables[TABLE].mark = 0;
        r.wish.tables[TABLE].sealed = r.wish.tables[TABLE].forced = true;
        bad(&r, "it is not immutable");
        r.wish.tables[TABLE].sealed = false;
        json_array_remove(r.live.namespaces, 1);
        bad(&r, "_t0-b__Namespace: it is not there");
        close_room(&r);
}

static void nothing_is_left_of_inputs_that_went(void **state)
{
        struct room r;

        open_room(&r);
        r.wish.tables[TABLE].own.color[0] = 0;
        bad(&r, "t0-a_settings__ConfigMap: it is there, nothing wants it");
        r.wish.tables[TABLE].may_stay = 1;
        bad(&r, "its inventory lists t0-a_settings__ConfigMap");
        r.wish.tables[TABLE].own.color[0] = 1;
        r.wish.tables[TABLE].may_stay = 0;
        json_array_remove(doc_get_array(table(&r), "status.inventory.entries"), 0);
        bad(&r, "t0-a_settings__ConfigMap is there, and its inventory does not list it");
        close_room(&r);
}

static void what_was_a_users_own_may_stay_while_it_is_no_sets(void **state)
{
        struct room r;

        open_room(&r);
        json_array_append_new(r.live.namespaces, json_pack("{s:{s:s}}", "metadata", "name", "t0-c"));
        bad(&r, "_t0-c__Namespace: it is there, and nobody's");
        r.wish.foreign[TABLE] = 1u << 2;
        good(&r);
        r.wish.neighbours[TABLE].plain = true;
        bad(&r, "t0-x is not as its user left it");
        json_array_append_new(r.live.config_maps, wish_neighbour_doc(TABLE, false));
        good(&r);
        close_room(&r);
}

static void the_status_says_how_it_is(void **state)
{
        struct room r;

        open_room(&r);
        say(table(&r), "False", "ReconciliationFailed", "reconciliation failed: x");
        bad(&r, "Ready is False ReconciliationFailed");
        say(table(&r), "True", "ReconciliationSucceeded", "Reconciliation finished in 1s");
        doc_set_int(table(&r), "metadata.generation", 2);
        bad(&r, "Ready is of another generation");
        doc_set_int(table(&r), "metadata.generation", 1);
        r.wish.tables[TABLE].requests = 4;
        bad(&r, "it handled request \"\", should be \"4\"");
        r.wish.tables[TABLE].requests = 0;
        r.wish.tables[TABLE].spoiled = true;
        bad(&r, "it is not stalled");
        r.wish.tables[TABLE].spoiled = false;
        doc_set_string(table(&r), "status.lastAppliedRevision", "sha256:0");
        bad(&r, "it does not say what it applied");
        r.wish.tables[TABLE].exists = false;
        bad(&r, "it is there");
        close_room(&r);
}

static void what_holds_a_set_up_is_told(void **state)
{
        struct room r;

        open_room(&r);
        r.wish.tables[TABLE].after = 2;
        good(&r); /* it was ready before table-1 went */
        say(table(&r), "False", "ReconciliationFailed", "x");
        bad(&r, "should be False DependencyNotReady");
        say(table(&r), "False", "BuildFailed", "build failed: x");
        bad(&r, "should be False DependencyNotReady");
        r.wish.tables[TABLE].spoiled = true;
        good(&r);
        r.wish.tables[TABLE].spoiled = false;
        say(table(&r), "True", "ReconciliationSucceeded", "Reconciliation finished in 1s");
        r.wish.tables[TABLE].after = 0;
        r.wish.tables[TABLE].named = 3;
        bad(&r, "should be False ReconciliationFailed (failed to get provider)");
        say(table(&r), "False", "ReconciliationFailed", "failed to get provider desk/source-1: not found");
        good(&r);
        r.wish.tables[TABLE].after = 2;
        good(&r); /* that failed before table-1 went */
        r.wish.tables[TABLE].after = 0;
        say(table(&r), "True", "ReconciliationSucceeded", "Reconciliation finished in 1s");
        r.wish.tables[TABLE].named = 1;
        r.wish.tables[TABLE].copies = true;
        bad(&r, "should be False ReconciliationFailed (failed to copy data)");
        r.wish.original = 8;
        bad(&r, "it holds \"c1\", should hold \"o8\"");
        r.wish.tables[TABLE].copies = false;
        r.wish.sources[0].service = SERVICE_FAILS; /* which says nothing of a static one */
        good(&r);
        json_object_set_new(settings(&r, 0), "immutable", json_true()); /* for ever */
        doc_set_string(settings(&r, 0), "data.color", "c0");
        bad(&r, "should be False ReconciliationFailed (immutable)");
        close_room(&r);
}

static void a_provider_exports_what_it_is_given(void **state)
{
        struct room r;
        const struct wish_inputs former = { { 0, 5 } };

        open_room(&r);
        r.wish.sources[0].inputs.color[1] = 6;
        bad(&r, "provider source-0: it exports other inputs than it is given");
        r.wish.sources[0].inputs.color[1] = 5;
        doc_set_string(source(&r), "metadata.uid", "main");
        bad(&r, "input 0 has id \"48955639\"");
        doc_set_string(source(&r), "metadata.uid", "6.0.4");
        say(source(&r), "False", "ReconciliationFailed", "no");
        bad(&r, "provider source-0: Ready is False ReconciliationFailed (no)");
        r.wish.sources[0].suspended = true;
        good(&r);

        /* A service that fails leaves what it gave before. */
        doc_set_string(source(&r), "metadata.name", "source-2");
        doc_set_string(json_array_get(doc_get_array(source(&r), "status.exportedInputs"), 0), "id", "b");
        r.wish.sources[2] = (struct wish_source){ .exists = true, .service = SERVICE_HANGS };
        assert_int_equal(model_judge_source(&r.wish, 2, &r.live, &r.err), ERR_INVALID);
        assert_non_null(strstr(r.err.text, "it exports what its service never said"));
        assert_int_equal(vec_push(&r.wish.sources[2].given, former), 0);
        assert_int_equal(model_judge_source(&r.wish, 2, &r.live, &r.err), 0);
        close_room(&r);
}

static void members_have_what_placed_tables_made(void **state)
{
        struct room r;

        open_room(&r);
        assert_int_equal(model_judge_tenants(&r.wish, &r.live, r.members_maps, false, &r.err), ERR_INVALID);
        assert_non_null(strstr(r.err.text, "t0-a/settings is not there"));
        json_array_extend(r.members_maps, r.live.config_maps);
        assert_int_equal(model_judge_tenants(&r.wish, &r.live, r.members_maps, false, &r.err), 0);
        json_array_remove(r.placements, 0);
        assert_int_equal(model_judge_tenants(&r.wish, &r.live, r.members_maps, false, &r.err), ERR_INVALID);
        assert_non_null(strstr(r.err.text, "t0-a/settings is there, should be gone"));
        assert_int_equal(model_judge_tenants(&r.wish, &r.live, r.members_maps, true, &r.err), 0);
        close_room(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(objects_are_what_the_inputs_say),
                cmocka_unit_test(nothing_is_left_of_inputs_that_went),
                cmocka_unit_test(what_was_a_users_own_may_stay_while_it_is_no_sets),
                cmocka_unit_test(the_status_says_how_it_is),
                cmocka_unit_test(what_holds_a_set_up_is_told),
                cmocka_unit_test(a_provider_exports_what_it_is_given),
                cmocka_unit_test(members_have_what_placed_tables_made),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
