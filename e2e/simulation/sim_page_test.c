#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/rules.h"
#include "e2e/simulation/sim_page_internal.h"
#include "proto/gen/types.h"

/* ---- what the page writes ---- */

static void begin(struct sim_page *p, struct wish *w)
{
        *p = (struct sim_page){ .options = { .wish = w } };
        map_init(&p->called, MAP_OWN_KEYS, NULL);
        map_init(&p->secrets, MAP_OWN_KEYS, NULL);
}

static void end(struct sim_page *p)
{
        map_free(&p->called);
        map_free(&p->secrets);
}

static json_t *parsed(const char *text)
{
        char copy[2048];
        json_t *doc = NULL;

        snprintf(copy, sizeof(copy), "%s", text);
        for (char *c = copy; *c; c++)
                *c = *c == '\'' ? '"' : *c;
        assert_int_equal(doc_parse(slice_of(copy), &doc, NULL), 0);
        return doc;
}

#define APPROVED "{'status':{'conditions':[{'type':'Approved','status':'True'}]}}"

static void what_the_page_writes_somebody_asked_for(void **state)
{
        static const struct {
                const char *who, *resource, *after, *called, *says;
        } cases[] = {
                { "page", RES_APPROVALS, APPROVED, "approve", NULL },
                { "page", RES_APPROVALS, APPROVED, NULL, "which nobody asked for" },
                { "page", RES_APPROVALS, "{}", "approve", "which nobody asked for" },
                { "page", RES_RUNS, "{'spec':{'state':'Stop'}}", "stop", NULL },
                { "page", RES_RUNS, "{'spec':{'state':'Run'}}", "stop", "wrote state Run of run run-1" },
                { "page", RES_MEMBERS, "{}", NULL, "wrote cluster.kubernetes-fleet.io/memberclusters" },
                { "hub-agent", RES_MEMBERS, "{}", NULL, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *before = json_object(), *after = parsed(cases[i].after);
                struct change c = { .cluster = "hub",
                                    .who = cases[i].who,
                                    .resource = cases[i].resource,
                                    .ns = "",
                                    .name = "run-1",
                                    .before = before,
                                    .after = after };
                static struct wish w;
                struct error err = { 0 };
                struct sim_page p;

                begin(&p, &w);
                if (cases[i].called)
                        page_note_call(&p, cases[i].called, NULL, "run-1");
                sim_page_changed(&p, &c);
                assert_int_equal(sim_page_verdict(&p, &err), cases[i].says ? ERR_INVALID : 0);
                if (cases[i].says && !strstr(err.text, cases[i].says))
                        fail_msg("case %zu: %s", i, err.text);
                end(&p);
        }
}

static void a_stopped_run_is_so_in_the_wish(void **state)
{
        AUTO_JSON json_t *before = json_object(), *after = parsed("{'spec':{'state':'Stop'}}");
        struct change c = { .cluster = "hub",
                            .who = "page",
                            .resource = RES_RUNS,
                            .ns = "",
                            .name = "run-2",
                            .before = before,
                            .after = after };
        static struct wish w;
        struct sim_page p;

        begin(&p, &w);
        page_note_call(&p, "stop", NULL, "run-2");
        w.runs[2].state = RUN_GOES;
        sim_page_changed(&p, &c);
        assert_int_equal(w.runs[2].state, RUN_STOPPED);
        assert_true(p.wrote[2]);
        end(&p);
}

static void no_message_holds_a_value_of_a_secret(void **state)
{
        AUTO_JSON json_t *secret = parsed("{'data':{'key':'c2VjcmV0LXdvcmRz','short':'YWI='}}");
        struct change c = { .cluster = "member-1", .who = "user", .resource = "/secrets", .after = secret };
        struct sim_page p;

        begin(&p, NULL);
        sim_page_changed(&p, &c);
        page_hear(&p, "{\"view\":1,\"head\":{\"a\":\"ab\"}}"); /* too short to tell */
        assert_int_equal(p.wrong.code, 0);
        page_hear(&p, "{\"view\":1,\"head\":{\"a\":\"secret-words\"}}");
        assert_non_null(strstr(p.wrong.text, "a value of a Secret is in a message"));
        end(&p);
        begin(&p, NULL);
        page_hear(&p, "{\"hello\":\"" PAGE_TOKEN "\"}");
        assert_non_null(strstr(p.wrong.text, "its token is in a message"));
        end(&p);
}

/* ---- what users see to do ---- */

static void a_gate_that_can_be_approved_is_by_the_hash_that_it_shows(void **state)
{
        struct page_sheet run = { .view = "run" };
        json_t *args;

        run.args = parsed("{'kind':'sur','ns':'app-1','name':'run-1'}");
        run.parts = parsed("{'stages':{'0':{'before':[{'can':false,'request':'a'}],"
                           "'after':[{'can':true,'request':'b','hash':'h'}]}}}");
        args = page_user_open_gate(&run);
        assert_string_equal(doc_get_string(args, "kind"), "areq");
        assert_string_equal(doc_get_string(args, "ns"), "app-1");
        assert_string_equal(doc_get_string(args, "name"), "b");
        assert_string_equal(doc_get_string(args, "planHash"), "h");
        json_decref(args);
        json_object_del(doc_get(run.parts, "stages.0"), "after");
        assert_null(page_user_open_gate(&run));
        json_decref(run.args);
        json_decref(run.parts);
}

static void a_run_that_waits_is_found_in_the_fleet(void **state)
{
        struct page_sheet fleet = { .view = "fleet" };
        json_t *args;

        fleet.parts = parsed("{'runs':{'csur/run-1':{'approvals':[]},'sur/app-2/run-3':{'approvals':[{}]}}}");
        args = page_user_waiting_run(&fleet);
        assert_string_equal(doc_get_string(args, "kind"), "sur");
        assert_string_equal(doc_get_string(args, "ns"), "app-2");
        assert_string_equal(doc_get_string(args, "name"), "run-3");
        json_decref(args);
        json_object_del(json_object_get(fleet.parts, "runs"), "sur/app-2/run-3");
        assert_null(page_user_waiting_run(&fleet));
        json_decref(fleet.parts);
}

/* ---- what may be said ---- */

static void only_what_holds_of_this_generation_is_done(void **state)
{
        static const struct {
                const char *type, *status;
                int64_t observed;
                bool done;
        } cases[] = {
                { "Available", "True", 3, true },  { "DiffReported", "True", 3, true },
                { "Available", "True", 2, false }, { "Available", "False", 3, false },
                { "Applied", "True", 3, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct condition c = { .type = cases[i].type,
                                       .status = cases[i].status,
                                       .observed_generation = OPT_INT(cases[i].observed) };
                struct condition_list l = { .at = &c, .n = 1 };

                assert_int_equal(page_model_is_done(&l, 3), cases[i].done);
        }
}

static void a_cluster_is_done_when_its_binding_says_so(void **state)
{
        struct condition c = { .type = "Available", .status = "True", .observed_generation = OPT_INT(1) };
        struct binding_status status = { .conditions = { .at = &c, .n = 1 } };
        struct binding_spec spec = { .target_cluster = "a" };
        struct binding b = { .spec = &spec, .status = &status };
        const struct object *one = &b.object;
        struct object_list bindings = { .at = &one, .n = 1 };
        struct page_sheet s = { .view = "placement" };
        struct error err = { 0 };

        b.object.meta.generation = 1;
        s.args = parsed("{'name':'web'}");
        s.parts = parsed("{'clusters':{'a':{'cluster':'a','standing':'done'}}}");
        assert_int_equal(page_model_check_done(&s, &bindings, &err), 0);
        b.object.meta.generation = 2;
        assert_int_equal(page_model_check_done(&s, &bindings, &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "web is said to be done on a, its binding does not"));
        b.object.meta.generation = 1;
        spec.target_cluster = "b";
        assert_int_equal(page_model_check_done(&s, &bindings, &err), ERR_INVALID);
        json_decref(s.args);
        json_decref(s.parts);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_the_page_writes_somebody_asked_for),
                cmocka_unit_test(a_stopped_run_is_so_in_the_wish),
                cmocka_unit_test(no_message_holds_a_value_of_a_secret),
                cmocka_unit_test(a_gate_that_can_be_approved_is_by_the_hash_that_it_shows),
                cmocka_unit_test(a_run_that_waits_is_found_in_the_fleet),
                cmocka_unit_test(only_what_holds_of_this_generation_is_done),
                cmocka_unit_test(a_cluster_is_done_when_its_binding_says_so),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
