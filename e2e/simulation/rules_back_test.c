/* The rule of statuses that come back can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "e2e/simulation/rules_test.h"

#define MIRROR(to) "'reportBackStrategy':{'type':'Mirror','destination':'" to "'}"
#define REPORTS(ready)                                                                                       \
        ",'backReportedStatus':{'observationTime':'t','observedStatus':{'apiVersion':'apps/"                 \
        "v1','kind':'Deployment',"                                                                           \
        "'status':{'readyReplicas':" ready "}}}"
#define WORK(spec, reports)                                                                                  \
        "{'kind':'Work','metadata':{'name':'app-0-work','namespace':'fleet-member-member-1'," OF_APP         \
        ",'kubernetes-fleet.io/parent-resource-binding':'b'}},'spec':{" spec                                 \
        "},'status':{'conditions':[{'type':'Applied','status':'True'}],'manifestConditions':[{'identifier':" \
        "{'group':'apps','version':'v1',"                                                                    \
        "'kind':'Deployment','namespace':'app-0','name':'web'},'conditions':[{'type':'Applied','status':'"   \
        "True'}]" reports "}]}}"
#define BINDING_SAYS(is, observed)                                                                           \
        "{'metadata':{'name':'b','generation':2},'spec':{'state':'" is "'},'status':{'conditions':[{'type':" \
        "'RolloutStarted','status':'True','observedGeneration':" observed "}]}}"
#define PLACEMENT(selected) "{'metadata':{'name':'app-0'},'status':{'selectedResources':[" selected "]}}"
#define SELECTS_WEB PLACEMENT("{'kind':'Deployment','namespace':'app-0','name':'web'}")
#define WEB(status) "{'metadata':{'name':'web','namespace':'app-0'},'status':{" status "}}"

static void statuses_come_back_as_they_are_asked_for(void **state)
{
        static const struct {
                enum wish_back back;
                const char *work, *hub, *words;
        } rows[] = {
                { BACK_NOT, WORK("", ""), WEB(""), "" },
                { BACK_NOT, WORK(MIRROR("WorkAPI"), ""), WEB(""), "does not say that statuses go to \"\"" },
                { BACK_NOT, WORK("", REPORTS("1")), WEB(""),
                  "status of Deployment web, which nobody asked for" },
                { BACK_TO_WORK, WORK("", ""), WEB(""), "does not say that statuses go to \"WorkAPI\"" },
                { BACK_TO_WORK, WORK(MIRROR("OriginalResource"), REPORTS("1")), WEB(""),
                  "go to \"WorkAPI\"" },
                { BACK_TO_WORK, WORK(MIRROR("WorkAPI"), REPORTS("1")), WEB(""), "" },
                { BACK_TO_WORK, WORK(MIRROR("WorkAPI"), REPORTS("2")), WEB(""),
                  "does not report the status that Deployment app-0/web has" },
                { BACK_TO_WORK, WORK(MIRROR("WorkAPI"), ""), WEB(""), "does not report the status" },
                { BACK_TO_ORIGINAL, WORK(MIRROR("OriginalResource"), REPORTS("1")), WEB("'readyReplicas':1"),
                  "" },
                { BACK_TO_ORIGINAL, WORK(MIRROR("OriginalResource"), REPORTS("1")), WEB(""),
                  "Deployment app-0/web of the hub has not the status that Work" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct watch w;

                open_watch(&w, &rule_back);
                w.wish.apps[0].placements[PLACE_MAIN].strategy.back = rows[i].back;
                put(&w, "player", "hub", RES_PLACEMENTS, SELECTS_WEB);
                put(&w, "player", "hub", "apps/deployments", rows[i].hub);
                put(&w, "server", "member-1", "apps/deployments", WEB("'readyReplicas':1"));
                w.now += 1000;
                put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING_SAYS("Bound", "2"));
                put(&w, "hub-agent", "hub", RES_WORKS, rows[i].work);
                rest(&w);
                if (!*rows[i].words)
                        FINE(&w);
                BROKEN(&w, rows[i].words);
                close_watch(&w);
        }
}

static void what_is_to_leave_or_waits_for_a_run_says_what_it_said(void **state)
{
        static const char *const bindings[] = { BINDING_SAYS("Unscheduled", "2"),
                                                BINDING_SAYS("Bound", "1") };

        for (size_t i = 0; i < ARRAY_LEN(bindings); i++) {
                struct watch w;

                open_watch(&w, &rule_back);
                w.wish.apps[0].placements[PLACE_MAIN].strategy.back = BACK_TO_WORK;
                put(&w, "hub-agent", "hub", RES_BINDINGS, bindings[i]);
                put(&w, "hub-agent", "hub", RES_WORKS, WORK("", ""));
                rest(&w);
                FINE(&w);
                close_watch(&w);
        }
}

/* From several clusters none comes, and who makes the object anew waits for the next report. */
static void the_original_may_have_another_one(void **state)
{
        static const struct {
                unsigned clusters;
                bool anew;
                const char *placement;
        } rows[] = { { 2, false, SELECTS_WEB }, { 1, true, SELECTS_WEB }, { 1, false, PLACEMENT("") } };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct watch w;

                open_watch(&w, &rule_back);
                w.wish.apps[0].placements[PLACE_MAIN].strategy.back = BACK_TO_ORIGINAL;
                w.wish.apps[0].placements[PLACE_MAIN].policy.n = rows[i].clusters;
                put(&w, "player", "hub", RES_PLACEMENTS, rows[i].placement);
                put(&w, "player", "hub", "apps/deployments", WEB(""));
                if (rows[i].anew) {
                        take(&w, "player", "hub", "apps/deployments", "app-0", "web");
                        put(&w, "player", "hub", "apps/deployments", WEB(""));
                }
                put(&w, "server", "member-1", "apps/deployments", WEB("'readyReplicas':1"));
                w.now += RULE_LAG_MS / 2;
                put(&w, "hub-agent", "hub", RES_BINDINGS, BINDING_SAYS("Bound", "2"));
                put(&w, "hub-agent", "hub", RES_WORKS, WORK(MIRROR("OriginalResource"), REPORTS("1")));
                rest(&w);
                FINE(&w);
                close_watch(&w);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(statuses_come_back_as_they_are_asked_for),
                cmocka_unit_test(what_is_to_leave_or_waits_for_a_run_says_what_it_said),
                cmocka_unit_test(the_original_may_have_another_one),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
