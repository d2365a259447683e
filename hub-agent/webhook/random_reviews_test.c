/* Whatever object comes to whatever path, there is an answer: random documents of the kinds, whole and
 * broken. */
#include "hub-agent/webhook/webhook_test.h"
#include "proto/test_documents.h"

#define REVIEWS 400

static const struct kind *const kinds[] = { &cluster_resource_placement_kind,
                                            &resource_placement_kind,
                                            &cluster_resource_override_kind,
                                            &resource_override_kind,
                                            &member_cluster_kind,
                                            &cluster_resource_placement_eviction_kind,
                                            &cluster_resource_placement_disruption_budget_kind,
                                            &work_kind };

/* Takes a random part of the document away or puts another type in its place. */
static void break_somewhere(struct dice *d, json_t *doc)
{
        json_t *at = doc;

        for (uint32_t depth = roll(d, 6); json_is_object(at) && json_object_size(at); depth--) {
                uint32_t skip = roll(d, (uint32_t)json_object_size(at));
                void *it = json_object_iter(at);

                for (; skip > 0; skip--)
                        it = json_object_iter_next(at, it);
                if (depth > 0 && json_is_object(json_object_iter_value(it))) {
                        at = json_object_iter_value(it);
                        continue;
                }
                json_object_iter_set_new(at, it, roll(d, 2) ? json_null() : json_integer(7));
                return;
        }
}

static const char *random_object(struct dice *d, const struct kind *kind, struct arena *arena)
{
        AUTO_JSON json_t *doc = random_document(d, kind);

        if (roll(d, 3) == 0)
                break_somewhere(d, doc);
        return text_of(arena, doc).data;
}

static void check_answer(const struct hub *h, const char *path)
{
        assert_string_equal(doc_get_string(h->answer, "response.uid"), "u-1");
        if (h->allowed) {
                assert_int_equal(h->code, 200);
                return;
        }
        if (h->code < 400 || !*h->message || h->patch)
                fail_msg("%s: code %d, message \"%s\"", path, (int)h->code, h->message);
}

static void every_review_is_answered(void **state)
{
        static const char *const operations[] = { "CREATE", "UPDATE", "DELETE", "CONNECT" };
        struct dice dice = { 23 };

        for (size_t i = 0; i < REVIEWS; i++)
                for (size_t w = 0; w < n_webhooks; w++) {
                        const struct kind *kind = kinds[roll(&dice, ARRAY_LEN(kinds))];
                        AUTO_HUB struct hub *h = hub_new();
                        struct question q = { .path = webhooks[w].path,
                                              .operation = operations[roll(&dice, ARRAY_LEN(operations))],
                                              .group = kind->group,
                                              .kind = kind->kind,
                                              .ns = roll(&dice, 2) ? "fleet-member-m1" : "" };

                        h->world.flags.networking_agents = roll(&dice, 2);
                        h->world.flags.fixed_member_labels = roll(&dice, 2);
                        if (roll(&dice, 8))
                                q.object = random_object(&dice, kind, &h->arena);
                        if (roll(&dice, 3))
                                q.old = roll(&dice, 2) ? q.object : random_object(&dice, kind, &h->arena);
                        h->exports_fail = "not asked for here";
                        ask(h, &q);
                        check_answer(h, q.path);
                }
}

/* The definitions refuse most of these; who comes by another way must not stop the agent. */
static void objects_without_content_are_answered(void **state)
{
        static const char *const objects[] = {
                "{}",
                "{\"metadata\":{}}",
                "{\"spec\":null}",
                "{\"spec\":{}}",
                "{\"spec\":{\"identity\":null,\"taints\":[{}],\"policy\":{},\"strategy\":{},"
                "\"resourceSelectors\":[{}]}}",
                "{\"spec\":{\"policy\":{\"placementType\":\"PickN\",\"affinity\":{\"clusterAffinity\":{"
                "\"preferredDuringSchedulingIgnoredDuringExecution\":[{}],"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":{}}},\"tolerations\":[{}],"
                "\"topologySpreadConstraints\":[{}]},\"strategy\":{\"rollingUpdate\":{},\"applyStrategy\":{}}"
                "}}",
                "{\"spec\":{\"clusterResourceSelectors\":[{}],\"policy\":{\"overrideRules\":[{},{"
                "\"overrideType\":"
                "\"JSONPatch\",\"clusterSelector\":{\"clusterSelectorTerms\":[{}]},\"jsonPatchOverrides\":[{}"
                "]}]}}}",
        };
        static const char *const operations[] = { "CREATE", "UPDATE", "DELETE" };

        for (size_t w = 0; w < n_webhooks; w++)
                for (size_t i = 0; i < ARRAY_LEN(objects); i++)
                        for (size_t k = 0; k < ARRAY_LEN(operations); k++) {
                                AUTO_HUB struct hub *h = hub_new();

                                h->members[0] = "{\"metadata\":{\"name\":\"m1\"}}";
                                h->overrides[0] = arena_strdup(&h->arena, "{\"metadata\":{\"name\":\"o\"}}");
                                h->placements[0] = "{\"metadata\":{\"name\":\"p\"}}";
                                ask(h, &(struct question){ webhooks[w].path, operations[k],
                                                           .group = "cluster.kubernetes-fleet.io",
                                                           .kind = w % 2 ? "InternalMemberCluster"
                                                                         : "MemberCluster",
                                                           .ns = "fleet-member-m1", .object = objects[i],
                                                           .old = objects[(i + k) % ARRAY_LEN(objects)] });
                                check_answer(h, webhooks[w].path);
                        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_review_is_answered),
                cmocka_unit_test(objects_without_content_are_answered),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
