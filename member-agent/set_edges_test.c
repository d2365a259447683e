/* Sets at the edges of what they may be. */
#include "common/base/gzip.h"
#include "member-agent/object_set_test.h"
#include "proto/names.h"

#define MINUTE INT64_C(60000)
#define CM(name, value) INLINE(CONFIG_MAP(name, value))
#define DEADLINE ",'progressDeadlineMinutes':10"

static void make_packed(struct rig *r, const char *name, struct slice manifest)
{
        AUTO_BUF struct buf small;
        AUTO_JSON json_t *data = NULL;
        struct error err = { 0 };

        buf_init(&small, 1u << 20);
        if (gzip_pack(manifest, &small, &err) < 0)
                fail_msg("%s", err.text);
        data = doc_base64((struct slice){ small.data, small.len });
        post(r, MEMBER, SECRETS,
             arena_printf(&r->arena, "{'metadata':{'name':'%s'},'immutable':true,'data':{'k':'%s'}}", name,
                          json_string_value(data)));
}

/* spec/cluster-object-set.md checklist 20, 21 */
RIG_TEST(gzipped_manifests_are_unpacked_up_to_a_limit, {
        size_t n = SET_MANIFEST_MAX_BYTES + 1;
        AUTO_FREE char *big = mem_alloc(n);
        struct agent a;

        begin_sets(&a, r);
        memset(big, ' ', n);
        make_packed(r, "bomb", (struct slice){ big, n });
        make_packed(r, "small", slice_of(json(r, CONFIG_MAP("a", "1"))));
        post(r, MEMBER, SETS, SET("s", OWNED_BY("a"), "1", "", PHASE("p", REF("small", "k"))));
        post(r, MEMBER, SETS, SET("t", OWNED_BY("b"), "1", "", PHASE("p", REF("bomb", "k"))));
        wait_for_set(r, "s", "Progressing", "True/Succeeded");
        wait_for_set(r, "t", "Progressing", "False/Blocked");
        assert_set(r, "t", "Progressing",
                   "False/Blocked resolving ref in phase \"p\": decompressed data for key \"k\" in Secret "
                   "default/bomb exceeds "
                   "maximum size (10485760 bytes)");
        stop(&a);
})

/* ---- the example of the user page ---- */

#define PAGE_DEFINITION                                                                                      \
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{'name':"      \
        "'widgets.example.com'},'spec':{'group':'example.com','names':{'kind':'Widget','plural':'widgets'}," \
        "'scope':'Namespaced','versions':[{'name':'v1','served':true,'storage':true,'schema':{"              \
        "'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object'}}}}}]}}"
#define PAGE_ACCOUNT                                                                                         \
        "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'my-app-controller','namespace':"     \
        "'my-app-system'}}"
#define PAGE_ROLE                                                                                            \
        "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{'name':"              \
        "'my-app-manager-role'},'rules':[{'apiGroups':['example.com'],'resources':['widgets'],'verbs':["     \
        "'get','list','watch','create','update','delete']}]}"
#define PAGE_DEPLOYMENT                                                                                      \
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'my-app-controller','namespace':"    \
        "'my-app-system'},'spec':{'replicas':1,'selector':{'matchLabels':{'app':'my-app-controller'}},"      \
        "'template':{'metadata':{'labels':{'app':'my-app-controller'}},'spec':{'serviceAccountName':"        \
        "'my-app-controller','containers':[{'name':'manager','image':"                                       \
        "'example.com/my-app-controller:v1.0.0'}]}}}}"
#define PAGE_REF(secret, key)                                                                                \
        "{'ref':{'name':'my-app-rev1-" secret "','namespace':'olmv1-system','key':'" key "'}}"

static const char *entry(struct rig *r, const char *key, const char *manifest)
{
        AUTO_JSON json_t *base64 = doc_base64(slice_of(json(r, manifest)));

        return arena_printf(&r->arena, "'%s':'%s'", key, json_string_value(base64));
}

static void make_page_secret(struct rig *r, const char *name, const char *data)
{
        post(r, MEMBER, NS "/olmv1-system/secrets",
             arena_printf(&r->arena, "{'metadata':{'name':'%s'},'immutable':true,'data':{%s}}", name, data));
}

/* spec/cluster-object-set.md checklist 13: filled with data; one of its keys has a character more than
 * packing gives. */
RIG_TEST(the_example_of_the_page_rolls_out, {
        static const char definition[] = "K8sTl2xQa0vNpR7mW4dYcJfHbE9gUiAoZX1sDj6wFCy";
        static const char account[] = "Pm5tRqLwXv8sCj3kFdNhYe7bUiA0oZG1x2W9acDfHJy";
        static const char role[] = "Vn4mTsLwXp8rCk3jFdNhYe7bUiA0oZG1x2W9acDfHQy";
        static const char deployment[] = "Bq9nRtLxYw2sDk4lGePhZf8cVjB1pUiA0oZH3x5WaCdy";
        struct agent a;

        assert_int_equal(strlen(deployment), 44);
        begin_sets(&a, r);
        post(r, MEMBER, NS, "{'metadata':{'name':'my-app-system'}}");
        post(r, MEMBER, NS, "{'metadata':{'name':'olmv1-system'}}");
        make_page_secret(r, "my-app-rev1-3a7f1b9c0e2d4f68", entry(r, definition, PAGE_DEFINITION));
        make_page_secret(r, "my-app-rev1-8b2e4a6c1d3f5097",
                         arena_printf(&r->arena, "%s,%s,%s", entry(r, account, PAGE_ACCOUNT),
                                      entry(r, role, PAGE_ROLE), entry(r, deployment, PAGE_DEPLOYMENT)));
        post(r, MEMBER, SETS,
             "{'apiVersion':'olm.operatorframework.io/"
             "v1','kind':'ClusterObjectSet','metadata':{'name':'my-app-rev1'},"
             "'spec':{'revision':1,'lifecycleState':'Active','collisionProtection':'Prevent','phases'"
             ":[" PHASE(
                     "crds",
                     PAGE_REF("3a7f1b9c0e2d4f68",
                              "K8sTl2xQa0vNpR7mW4dYcJfHbE9gUiAoZX1sDj6"
                              "wFCy")) "," PHASE("rbac",
                                                 PAGE_REF(
                                                         "8b2e4a6c1d3f5097",
                                                         "Pm5tRqLwXv8sCj3kFdNhYe7bUiA0oZG1x2W9acDfHJ"
                                                         "y") "," PAGE_REF("8b2e4a6c1d3f5097",
                                                                           "Vn4mTsLwXp8rCk3jFdNhYe7bUiA0oZG1x"
                                                                           "2W9acDfHQ"
                                                                           "y")) "," PHASE("deploy",
                                                                                           PAGE_REF(
                                                                                                   "8b2e4a6c1"
                                                                                                   "d3f5097",
                                                                                                   "Bq9nRtLxY"
                                                                                                   "w2sDk4lGe"
                                                                                                   "PhZf8cVjB"
                                                                                                   "1pUiA0oZH"
                                                                                                   "3x5WaCd"
                                                                                                   "y")) "]}"
                                                                                                         "}");
        wait_for_set(r, "my-app-rev1", "Progressing", "True/Succeeded");
        assert_int_equal(get(r, MEMBER, CRDS "/widgets.example.com"), 200);
        assert_int_equal(get(r, MEMBER, NS "/my-app-system/serviceaccounts/my-app-controller"), 200);
        assert_int_equal(
                get(r, MEMBER, "/apis/apps/v1/namespaces/my-app-system/deployments/my-app-controller"), 200);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 63 */
RIG_TEST(what_waits_for_a_person_says_that_whatever_time_has_passed, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SECRETS, "{'metadata':{'name':'loose'},'data':{'k':'e30='}}");
        post(r, MEMBER, SETS, SET("s", OWNED_BY("a"), "1", DEADLINE, PHASE("p", REF("loose", "k"))));
        wait_for_set(r, "s", "Progressing", "False/Blocked");
        settle(r, 20 * MINUTE);
        wait_for_set(r, "s", "Progressing", "False/Blocked");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 60: also while something is wrong. */
RIG_TEST(a_set_that_hangs_says_so_in_time_whatever_it_hangs_on, {
        static const char *const names[] = { "collides", "fails", "refused" };
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("a", "mine"));
        post(r, MEMBER, SETS, SET("collides", OWNED_BY("a"), "1", DEADLINE, PHASE("p", CM("a", "1"))));
        post(r, MEMBER, SETS, SET("fails", OWNED_BY("b"), "1", DEADLINE, PHASE("p", REF("missing", "k"))));
        post(r, MEMBER, SETS,
             SET("refused", OWNED_BY("c"), "1", DEADLINE, PHASE("p", CM("x", "1") "," CM("x", "2"))));
        settle(r, 10 * MINUTE - 2000);
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                assert_true(text_starts_with(set_says(r, names[i], "Progressing"), "True/Retrying"));
        settle(r, 3000);
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                assert_true(text_starts_with(
                        set_says(r, names[i], "Progressing"),
                        "False/ProgressDeadlineExceeded Revision has not rolled out for 10 minute(s). "
                        "Last status: "));
        stop(&a);
})

/* spec/cluster-object-set.md checklist 90 */
RIG_TEST(fifty_collisions_fit_into_a_status, {
        AUTO_BUF struct buf objects;
        struct agent a;
        char name[512];

        buf_init(&objects, 1 << 20);
        begin_sets(&a, r);
        for (int i = 0; i < 50; i++) {
                snprintf(name, sizeof(name), "c%0240d", i);
                post(r, MEMBER, CONFIG_MAPS, arena_printf(&r->arena, "{'metadata':{'name':'%s'}}", name));
                buf_printf(&objects,
                           "%s{'object':{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','"
                           "namespace':'default'}}}",
                           i ? "," : "", name);
        }
        post(r, MEMBER, SETS,
             arena_printf(&r->arena, SET("s", OWNED_BY("a"), "1", "", PHASE("p", "%s")), objects.data));
        wait_for_set(r, "s", "Progressing", "True/Retrying revision object collisions in phase 0\n");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 88 */
RIG_TEST(a_status_is_written_when_something_differs, {
        const char *version;
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("a", "mine"));
        post(r, MEMBER, SETS, SET("s", OWNED_BY("a"), "1", "", PHASE("p", CM("a", "1"))));
        wait_for_set(r, "s", "Progressing", "True/Retrying");
        settle(r, 30000);
        get(r, MEMBER, SETS "/s");
        version = arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
        settle(r, 5 * MINUTE); /* thirty passes */
        get(r, MEMBER, SETS "/s");
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        stop(&a);
})

/* spec/cluster-object-set.md 7.2, 21: a set is not held up by what only a later phase needs. */
RIG_TEST(a_kind_that_is_missing_is_told_while_early_phases_roll_out, {
        static const char widget[] = "{'apiVersion':'example.com/"
                                     "v1','kind':'Widget','metadata':{'name':'w','namespace':'default'}}";
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             arena_printf(&r->arena,
                          SET("s", OWNED_BY("a"), "1", "",
                              PHASE("first", CM("a", "1")) "," PHASE("second", INLINE("%s"))),
                          widget));
        wait_for_set(r, "s", "Progressing", "True/Retrying phase 1 validation error: phase \"second\": ");
        assert_non_null(strstr(set_says(r, "s", "Progressing"),
                               "no matches for kind \"Widget\" in version \"example.com/v1\""));
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 200);
        post(r, MEMBER, CRDS,
             "{'apiVersion':'apiextensions.k8s.io/"
             "v1','kind':'CustomResourceDefinition','metadata':{'name':'widgets.example.com'},"
             "'spec':{'group':'example.com','scope':'Namespaced','names':{'kind':'Widget','plural':'widgets'}"
             ",'versions':[{"
             "'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
             "'x-kubernetes-preserve-unknown-fields':true}}}]}}");
        wait_for_set(r, "s", "Progressing", "True/Succeeded");
        delete (r, MEMBER, "/apis/example.com/v1/namespaces/default/widgets/w");
        wait_for(r, MEMBER, "/apis/example.com/v1/namespaces/default/widgets/w", "metadata.name", "w");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_example_of_the_page_rolls_out),
                cmocka_unit_test(gzipped_manifests_are_unpacked_up_to_a_limit),
                cmocka_unit_test(what_waits_for_a_person_says_that_whatever_time_has_passed),
                cmocka_unit_test(a_set_that_hangs_says_so_in_time_whatever_it_hangs_on),
                cmocka_unit_test(fifty_collisions_fit_into_a_status),
                cmocka_unit_test(a_status_is_written_when_something_differs),
                cmocka_unit_test(a_kind_that_is_missing_is_told_while_early_phases_roll_out),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
