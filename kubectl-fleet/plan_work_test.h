/* For tests of `kubectl fleet plan work/NAME`: a hub, the member m1 beside it, and its agent where one is to
 * run. */
#pragma once

#include "kubectl-fleet/fleet_test.h"
#include "member-agent/member_agent_test.h"

#define MEMBER_KUBECONFIG                                                                                    \
        "clusters: [{name: c, cluster: {server: '" MEMBER "'}}, {name: h, cluster: {server: '" HUB "'}}]\n"  \
        "users: []\n"                                                                                        \
        "contexts: [{name: m1, context: {cluster: c}}, {name: wrong, context: {cluster: h}}]\n"              \
        "current-context: m1\n"
/* Words behind `plan work/NAME`. */
#define ON_M1 "-n", "fleet-member-m1", "--member-context", "m1", "--member-kubeconfig", "/edge"
#define AT_HOME(kind, name, rest)                                                                            \
        "{'apiVersion':'v1','kind':'" kind "','metadata':{'name':'" name "','namespace':'default'}" rest "}"
#define NAMED(kind, name) "{'apiVersion':'v1','kind':'" kind "','metadata':{'name':'" name "'}}"

/* The member without an agent; commands find its context in /edge. */
static inline void add_member(struct user *u)
{
        struct rig *r = u->rig;
        struct error err = { 0 };

        assert_int_equal(devcluster_create_cluster(r->devcluster, "m1", &err), 0);
        for (size_t i = 0; i < n_crd_texts; i++)
                if (crd_texts[i].member) {
                        on(r, MEMBER);
                        assert_int_equal(rig_post(r,
                                                  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                                  crd_texts[i].json),
                                         201);
                }
        post(r, HUB, NS, NAMED("Namespace", "fleet-member-m1"));
        u->file = MEMBER_KUBECONFIG;
}

/* Runs the agent until it has told of the Work as it is now. */
static inline void let_agent_work(struct user *u, const char *work)
{
        struct rig *r = u->rig;
        const char *path = arena_printf(&r->arena, WORKS "/%s", work);
        const char *generation;
        struct agent a;

        get(r, HUB, path);
        generation =
                arena_printf(&r->arena, "%lld", (long long)doc_get_int(r->answer, "metadata.generation", 0));
        start(&a, r, ":memory:");
        for (int i = 0;; i++) {
                const json_t *c = json_array_get(doc_get_array(r->answer, "status.conditions"), 0);

                if (doc_get_int(c, "observedGeneration", 0) ==
                    doc_get_int(r->answer, "metadata.generation", 0))
                        break;
                if (i > 6000)
                        fail_msg("generation %s was not told of: %s", generation, r->text);
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
                get(r, HUB, path);
        }
        stop(&a);
        on(r, HUB);
}

/* An object that another one of the member owns. */
static inline void add_owned(struct user *u, const char *name)
{
        struct rig *r = u->rig;

        post(r, MEMBER, NS "/default/configmaps", AT_HOME("ConfigMap", "parent", ""));
        post(r, MEMBER, NS "/default/configmaps",
             arena_printf(
                     &r->arena,
                     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','namespace':'default',"
                     "'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'parent','uid':'%s'}]}"
                     ",'data':{'k':'1'}}",
                     name, rig_string(r, "metadata.uid")));
}
