#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kube/client.h"
#include "e2e/devcluster/rig.h"
#include "e2e/simulation/wish.h"
#include "proto/gen/kinds.h"

static void fill(struct wish *w)
{
        for (unsigned app = 0; app < WISH_APPS; app++) {
                w->apps[app].exists = true;
                for (unsigned slot = 0; slot < WISH_SLOTS; slot++)
                        w->apps[app].objects[slot] =
                                (struct wish_object){ true, (slot + app) % 2, 100 * app + slot };
        }
}

/* ---- objects ---- */

static void every_object_shows_its_color(void **state)
{
        struct wish w = { 0 };

        fill(&w);
        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                        AUTO_JSON json_t *hub = wish_manifest(&w, app, slot);
                        AUTO_JSON json_t *placed = wish_placed(&w, app, slot);
                        unsigned color = 0;

                        assert_true(wish_color(slot, hub, &color));
                        assert_int_equal(color, 100 * app + slot);
                        color = 0;
                        assert_true(wish_color(slot, placed, &color));
                        assert_int_equal(color, 100 * app + slot);
                }
}

static void what_somebody_else_wrote_has_no_color(void **state)
{
        AUTO_JSON json_t *doc = json_pack("{s:s, s:{s:s}}", "kind", "ConfigMap", "data", "color", "meddled");
        unsigned color;

        for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                assert_false(wish_color(slot, doc, &color));
                assert_false(wish_color(slot, NULL, &color));
        }
}

static void objects_have_the_names_they_are_asked_for_by(void **state)
{
        struct wish w = { 0 };

        fill(&w);
        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                        AUTO_JSON json_t *hub = wish_manifest(&w, app, slot);
                        AUTO_JSON json_t *placed = wish_placed(&w, app, slot);
                        char name[64], placed_name[64];

                        wish_object_name(app, slot, name);
                        wish_placed_name(app, slot, placed_name);
                        assert_string_equal(doc_get_string(hub, "metadata.name"), name);
                        assert_string_equal(doc_get_string(placed, "metadata.name"), placed_name);
                        assert_string_equal(doc_get_string(hub, "kind"), wish_resource(app, slot)->kind);
                        assert_string_equal(doc_get_string(placed, "kind"),
                                            wish_placed_resource(app, slot)->kind);
                        assert_int_equal(wish_resource(app, slot)->namespaced, wish_slots[slot].in_namespace);
                        assert_int_equal(wish_slots[slot].in_namespace, slot < SLOT_NAMESPACED);
                        assert_int_equal(doc_get(hub, "metadata.labels.pick") != NULL, (slot + app) % 2);
                }
}

/* ---- selection ---- */

#define BIT(slot) (UINT32_C(1) << (slot))
#define NAMESPACED (BIT(SLOT_NAMESPACED) - 1)

static struct wish_app *one_app(struct wish *w, enum wish_place place, enum wish_selection selection)
{
        struct wish_app *a = &w->apps[1];

        fill(w);
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++)
                a->objects[slot].labelled = slot == SLOT_EXTRA + 1 || slot == SLOT_WEB;
        a->placements[place] = (struct wish_placement){ .exists = true, .selection = selection };
        return a;
}

static void a_placement_selects_what_its_kind_of_selection_says(void **state)
{
        static const struct {
                enum wish_place place;
                enum wish_selection selection;
                uint32_t slots;
                bool namespace;
        } cases[] = {
                { PLACE_MAIN, SELECT_NAMESPACE, NAMESPACED, true },
                { PLACE_MAIN, SELECT_NAMESPACE_ONLY, 0, true },
                { PLACE_MAIN, SELECT_LABELLED, BIT(SLOT_EXTRA + 1), true },
                { PLACE_MAIN, SELECT_ROLE, BIT(SLOT_ROLE), false },
                { PLACE_TWIN, SELECT_ROLE, BIT(SLOT_ROLE), false },
                { PLACE_PART, SELECT_CONFIG_MAPS, BIT(SLOT_EXTRA + 1), false },
                { PLACE_PART, SELECT_SETTINGS, BIT(SLOT_SETTINGS), false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct wish w = { 0 };

                one_app(&w, cases[i].place, cases[i].selection);
                assert_int_equal(wish_selected(&w, 1, cases[i].place), cases[i].slots);
                assert_int_equal(wish_selects_namespace(&w, 1, cases[i].place), cases[i].namespace);
        }
}

static void cluster_scoped_objects_are_selected_by_name(void **state)
{
        struct wish w = { 0 };
        struct wish_app *a = one_app(&w, PLACE_MAIN, SELECT_NAMESPACE_ONLY);

        a->placements[PLACE_MAIN].with_role = true;
        a->placements[PLACE_MAIN].with_bundle = true;
        assert_int_equal(wish_selected(&w, 1, PLACE_MAIN), BIT(SLOT_ROLE) | BIT(SLOT_CLUSTER_BUNDLE));
        a->placements[PLACE_MAIN].with_definition = true;
        a->objects[SLOT_ROLE].exists = false;
        assert_int_equal(wish_selected(&w, 1, PLACE_MAIN), BIT(SLOT_DEFINITION) | BIT(SLOT_CLUSTER_BUNDLE));
}

static void of_a_namespace_on_its_way_out_nothing_is_selected(void **state)
{
        struct wish w = { 0 };
        struct wish_app *a = one_app(&w, PLACE_MAIN, SELECT_NAMESPACE);

        a->placements[PLACE_MAIN].with_role = true;
        a->leaving = true;
        assert_int_equal(wish_selected(&w, 1, PLACE_MAIN), BIT(SLOT_ROLE));
        assert_false(wish_selects_namespace(&w, 1, PLACE_MAIN));
        a->placements[PLACE_MAIN].exists = false;
        assert_int_equal(wish_selected(&w, 1, PLACE_MAIN), 0);
}

/* ---- clusters ---- */

static void a_cluster_fits_by_its_labels_and_taints(void **state)
{
        static const struct {
                struct wish_policy policy;
                struct wish_member_state state;
                bool fits;
        } cases[] = {
                { { POLICY_PICK_ALL }, { .in = true }, true },
                { { POLICY_PICK_ALL }, { .in = false }, false },
                { { POLICY_PICK_ALL, .tier = TIER_GOLD }, { .in = true }, false },
                { { POLICY_PICK_ALL, .tier = TIER_GOLD }, { .in = true, .tier = TIER_SILVER }, false },
                { { POLICY_PICK_N, .tier = TIER_GOLD }, { .in = true, .tier = TIER_GOLD }, true },
                { { POLICY_PICK_N, .prefers = TIER_GOLD }, { .in = true }, true },
                { { POLICY_PICK_N }, { .in = true, .tainted = true }, false },
                { { POLICY_PICK_N, .tolerates = true }, { .in = true, .tainted = true }, true },
                { { POLICY_PICK_FIXED }, { .in = true, .tainted = true }, true },
                { { POLICY_PICK_FIXED }, { .in = false }, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                assert_int_equal(wish_fits(&cases[i].policy, &cases[i].state), cases[i].fits);
}

static void what_a_cluster_was_is_remembered(void **state)
{
        struct wish w = { 0 };
        struct wish_member_state in = { .in = true }, gold = { .in = true, .tier = TIER_GOLD };

        assert_int_equal(wish_member_set(&w, 3, &in, 1000), 0);
        assert_int_equal(wish_member_set(&w, 3, &gold, 2000), 0);
        assert_int_equal(w.members[3].now.tier, TIER_GOLD);
        assert_int_equal(w.members[3].before.n, 2);
        assert_false(w.members[3].before.at[0].state.in);
        assert_int_equal(w.members[3].before.at[1].until_ms, 2000);
        assert_int_equal(w.members[3].before.at[1].state.tier, TIER_NONE);
        wish_clear(&w);
        assert_int_equal(w.members[3].before.n, 0);
}

static void labels_that_a_cluster_lacks_are_null(void **state)
{
        AUTO_JSON json_t *labels = wish_member_labels(&(struct wish_member_state){ .zone = 2 });

        assert_true(json_is_null(doc_get(labels, "tier")));
        assert_string_equal(doc_get_string(labels, "zone"), "zone-2");
}

/* ---- the server takes all of it ---- */

struct bench {
        struct rig *rig;
        struct kube_client kube;
        struct http_endpoint endpoint;
};

static void apply(struct bench *b, const struct kube_resource *r, const char *ns, json_t *doc, json_t **ret)
{
        struct kube_write how = { .field_manager = "player", .force = true };
        struct error err = { 0 };

        assert_non_null(doc);
        if (kube_doc_patch(&b->kube, r, ns, doc_get_string(doc, "metadata.name"), KUBE_PATCH_APPLY, doc, &how,
                           ret, &err) < 0)
                fail_msg("%s %s: %s", r->kind, doc_get_string(doc, "metadata.name"), err.text);
        json_decref(doc);
}

static void open_bench(struct bench *b, struct rig *r)
{
        static const struct kube_resource crds = { "apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                                   "CustomResourceDefinition", false };
        static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

        b->rig = r;
        b->endpoint = (struct http_endpoint){ .base_url = (char *)BASE };
        r->world.transport = r->client;
        b->kube = (struct kube_client){ .world = &r->world, .endpoint = &b->endpoint, .log = &r->log };
        for (size_t i = 0; i < n_crd_texts; i++) {
                json_t *doc = NULL;

                if (!crd_texts[i].hub)
                        continue;
                assert_int_equal(doc_parse(slice_of(crd_texts[i].json), &doc, NULL), 0);
                apply(b, &crds, NULL, doc, NULL);
        }
        apply(b, &namespaces, NULL,
              json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata", "name",
                        "app-2"),
              NULL);
        rig_settle(r);
}

static void put(struct bench *b, const struct wish *w, unsigned slot)
{
        AUTO_JSON json_t *stored = NULL;
        unsigned color = 0;

        apply(b, wish_resource(2, slot), wish_slots[slot].in_namespace ? "app-2" : NULL,
              wish_manifest(w, 2, slot), &stored);
        assert_true(wish_color(slot, stored, &color));
        assert_int_equal(color, w->apps[2].objects[slot].color);
}

RIG_TEST(a_server_takes_every_object_and_every_change_of_it, {
        struct bench b;
        struct wish w = { 0 };

        open_bench(&b, r);
        fill(&w);
        put(&b, &w, SLOT_DEFINITION); /* widgets are served once it is there */
        rig_settle(r);
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++)
                put(&b, &w, slot);
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                struct wish_object *o = &w.apps[2].objects[slot];

                o->labelled = !o->labelled;
                if (wish_slots[slot].can_change)
                        o->color += 7;
                put(&b, &w, slot);
        }
})

static void put_placement(struct bench *b, struct wish *w, enum wish_place place, enum wish_selection sel)
{
        struct wish_placement *p = &w->apps[2].placements[place];
        char name[64];

        for (unsigned i = 0; i < 36; i++) {
                *p = (struct wish_placement){ .exists = true, .selection = sel, .history_limit = i % 4 };
                p->with_role = i % 2 && place == PLACE_MAIN && sel != SELECT_ROLE;
                p->with_bundle = p->with_definition = i % 5 == 1 && place == PLACE_MAIN;
                p->policy = (struct wish_policy){
                        .type = i % 3, .n = i % 4, .fixed = i * 3, .tier = i % 2, .prefers = i % 3
                };
                p->policy.tolerates = p->policy.spread = i % 4 == 1;
                p->strategy = (struct wish_strategy){ .apply = i % 3,
                                                      .compare = i % 2,
                                                      .when = i / 2 % 2,
                                                      .take_over = i / 3 % 3,
                                                      .co_own = i % 5 == 0,
                                                      .max_unavailable = i * 2,
                                                      .max_surge = 100 - i,
                                                      .unavailable_period_s = i };
                apply(b, wish_placement_resource(place), place == PLACE_PART ? "app-2" : NULL,
                      wish_placement_doc(w, 2, place), NULL);
                wish_placement_name(2, place, name);
                assert_int_equal(kube_doc_delete(&b->kube, wish_placement_resource(place),
                                                 place == PLACE_PART ? "app-2" : NULL, name, NULL, NULL,
                                                 NULL),
                                 0);
        }
}

RIG_TEST(a_server_takes_every_placement, {
        struct bench b;
        struct wish w = { 0 };

        open_bench(&b, r);
        for (enum wish_selection s = SELECT_NAMESPACE; s <= SELECT_ROLE; s++)
                put_placement(&b, &w, PLACE_MAIN, s);
        put_placement(&b, &w, PLACE_TWIN, SELECT_ROLE);
        put_placement(&b, &w, PLACE_PART, SELECT_CONFIG_MAPS);
        put_placement(&b, &w, PLACE_PART, SELECT_SETTINGS);
})

RIG_TEST(a_server_takes_every_override, {
        struct bench b;
        struct wish w = { 0 };

        open_bench(&b, r);
        for (unsigned i = 0; i < 16; i++) {
                enum wish_override_what what = i % 2 ? OVERRIDE_ROLE : OVERRIDE_SETTINGS;

                w.apps[2].overrides[what] = (struct wish_override){ .exists = true,
                                                                    .tier = i / 2 % 3,
                                                                    .deletes = i / 4 % 2,
                                                                    .uses_label = i / 8 % 2,
                                                                    .value = i };
                apply(&b, wish_override_resource(what), what == OVERRIDE_SETTINGS ? "app-2" : NULL,
                      wish_override_doc(&w, 2, what), NULL);
        }
})

static struct wish_stages some_stages(unsigned i)
{
        struct wish_stages s = { .exists = true, .n = 1 + i % WISH_STAGES, .goes_on = i % 2 };

        if (s.n > 1)
                s.split = 1 + i % 2;
        s.flaw = s.n > 1 ? i % 3 : FLAW_NONE;
        for (unsigned k = 0; k < s.n; k++)
                s.stage[k] = (struct wish_stage){ .max = (i + k) % 4,
                                                  .percent = (i + k) % 4 && i % 2,
                                                  .sorted = i % 5 == 0,
                                                  .before = i % 2,
                                                  .after = i % 3,
                                                  .plan = i % 4 == 1,
                                                  .wait_s = i % 3 * 20,
                                                  .timeout_s = i % 4 * 10,
                                                  .failures = k };
        return s;
}

RIG_TEST(a_server_takes_every_strategy_with_its_runs_and_requests, {
        struct bench b;
        struct wish w = { 0 };

        open_bench(&b, r);
        for (unsigned i = 0; i < 24; i++) {
                enum wish_place place = i % 2 ? PLACE_PART : PLACE_MAIN;
                const char *ns = place == PLACE_PART ? "app-2" : NULL;
                unsigned run = i % WISH_RUNS;

                w.apps[2].stages[place] = some_stages(i);
                apply(&b, wish_stages_resource(place), ns, wish_stages_doc(&w, 2, place), NULL);
                if (i >= WISH_RUNS)
                        continue;
                w.runs[run] = (struct wish_run){ .exists = true,
                                                 .app = 2,
                                                 .place = place,
                                                 .state = i % 3,
                                                 .index = (int)i % 4 - 1,
                                                 .retry_of = i % 4 ? -1 : 1 };
                apply(&b, wish_run_resource(place), ns, wish_run_doc(&w, run), NULL);
                apply(&b, wish_approval_resource(place), ns, wish_approval_doc(&w, run, i % 3, i % 2), NULL);
        }
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_object_shows_its_color),
                cmocka_unit_test(what_somebody_else_wrote_has_no_color),
                cmocka_unit_test(objects_have_the_names_they_are_asked_for_by),
                cmocka_unit_test(a_placement_selects_what_its_kind_of_selection_says),
                cmocka_unit_test(cluster_scoped_objects_are_selected_by_name),
                cmocka_unit_test(of_a_namespace_on_its_way_out_nothing_is_selected),
                cmocka_unit_test(a_cluster_fits_by_its_labels_and_taints),
                cmocka_unit_test(what_a_cluster_was_is_remembered),
                cmocka_unit_test(labels_that_a_cluster_lacks_are_null),
                cmocka_unit_test(a_server_takes_every_object_and_every_change_of_it),
                cmocka_unit_test(a_server_takes_every_placement),
                cmocka_unit_test(a_server_takes_every_override),
                cmocka_unit_test(a_server_takes_every_strategy_with_its_runs_and_requests),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
