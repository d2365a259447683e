/* What a run has brought to a cluster, read from the hub's snapshots. */
#include "e2e/simulation/model_test.h"

#include "common/base/memory.h"

struct scene {
        struct wish wish;
        struct model_place place;
        json_t *placement, *binding, *snapshots;
};

static json_t *parse(const char *text)
{
        AUTO_FREE char *copy = mem_strdup(text);
        json_t *doc = NULL;
        struct error err;

        for (char *c = copy; *c; c++)
                if (*c == '\'')
                        *c = '"';
        if (doc_parse(slice_of(copy), &doc, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return doc;
}

#define OF_MAIN(index)                                                                                       \
        "'labels':{'kubernetes-fleet.io/parent-CRP':'app-0','kubernetes-fleet.io/resource-index':'" index "'}"

/* Snapshots 3 and 4 of placement app-0, of which 4 is in two pieces; a run brought 4 to member-1. */
static void open_scene(struct scene *s)
{
        *s = (struct scene){ 0 };
        s->wish.n_members = 1;
        s->wish.apps[0].placements[PLACE_MAIN].exists = true;
        s->placement =
                parse("{'metadata':{'name':'app-0'},'spec':{'strategy':{'applyStrategy':{'type':'X'}}}}");
        s->binding = parse("{'metadata':{'name':'b','generation':2},'spec':{'applyStrategy':{'type':'X'},"
                           "'resourceSnapshotName':'app-0-4-snapshot','targetCluster':'member-1'},'status':{"
                           "'conditions':[{'type':'RolloutStarted','status':'True','observedGeneration':2,"
                           "'message':'index: 4, updateRun: run-1'}]}}");
        s->snapshots = parse("[{'metadata':{" OF_MAIN(
                "3") "},'spec':{'selectedResources':[{'kind':'ConfigMap','metadata':{"
                     "'name':'extra-0'},'data':{'color':'6'}}]}},{'metadata':{" OF_MAIN(
                             "4") ",'annotations':{'kubernetes-fleet.io/number-of-resource-snapshots':'2'}"
                                  "},'spec':{"
                                  "'selectedResources':[{'kind':'Namespace','metadata':{'name':'app-0'}},{'"
                                  "kind':'ConfigMap',"
                                  "'metadata':{'name':'settings','labels':{'pick':'yes'}},'data':{'color':'7'"
                                  "}}]}},"
                                  "{'metadata':{" OF_MAIN("4") "},'spec':{'selectedResources':[{'kind':'"
                                                               "Deployment','metadata':{"
                                                               "'name':'web'},'spec':{'template':{'metadata':"
                                                               "{'annotations':{'color':'8'}}}}}]}}]");
        s->place = (struct model_place){ .doc = s->placement };
}

static void close_scene(struct scene *s)
{
        json_decref(s->placement);
        json_decref(s->binding);
        json_decref(s->snapshots);
}

static bool is_known(struct scene *s)
{
        struct model_held *held = model_held_new(&s->wish, &s->place, s->binding, s->snapshots);

        mem_free(held);
        return held;
}

static void what_a_cluster_holds_is_not_known_once_a_piece_is_deleted(void **state)
{
        for (size_t piece = 1; piece <= 2; piece++) {
                struct scene s;

                open_scene(&s);
                assert_int_equal(json_array_remove(s.snapshots, piece), 0);
                assert_false(is_known(&s));
                close_scene(&s);
        }
}

static void a_cluster_holds_all_pieces_of_its_snapshot(void **state)
{
        struct model_held *h;
        struct scene s;

        open_scene(&s);
        h = model_held_new(&s.wish, &s.place, s.binding, s.snapshots);
        assert_non_null(h);
        assert_string_equal(h->index, "4");
        assert_true(h->home);
        assert_true(h->objects[SLOT_SETTINGS].exists && h->objects[SLOT_SETTINGS].labelled);
        assert_int_equal(h->objects[SLOT_SETTINGS].color, 7);
        assert_int_equal(h->objects[SLOT_WEB].color, 8);
        assert_false(h->objects[SLOT_EXTRA].exists);
        mem_free(h);
        close_scene(&s);
}

static void it_is_known_only_if_a_run_alone_brought_it(void **state)
{
        static const struct {
                const char *path, *value;
        } spoils[] = {
                { "metadata.generation", "3" },
                { "spec.resourceOverrideSnapshots", "[{'name':'o-0'}]" },
                { "spec.clusterResourceOverrideSnapshots", "['o-0']" },
                { "spec.applyStrategy.type", "'Y'" },
                { "status.conditions", "[]" },
        };

        for (size_t i = 0; i < ARRAY_LEN(spoils); i++) {
                AUTO_JSON json_t *values = NULL;
                struct scene s;
                char text[128];

                open_scene(&s);
                assert_true(is_known(&s));
                snprintf(text, sizeof(text), "[%s]", spoils[i].value);
                values = parse(text);
                assert_int_equal(doc_set(s.binding, spoils[i].path, json_incref(json_array_get(values, 0))),
                                 0);
                assert_false(is_known(&s));
                close_scene(&s);
        }
}

static void what_others_place_too_is_not_known(void **state)
{
        struct scene s;

        open_scene(&s);
        s.wish.apps[0].placements[PLACE_TWIN].exists = true; /* of a role, which is not held */
        assert_true(is_known(&s));
        s.wish.apps[0].placements[PLACE_PART].leaving = true;
        assert_false(is_known(&s));
        close_scene(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_cluster_holds_all_pieces_of_its_snapshot),
                cmocka_unit_test(what_a_cluster_holds_is_not_known_once_a_piece_is_deleted),
                cmocka_unit_test(it_is_known_only_if_a_run_alone_brought_it),
                cmocka_unit_test(what_others_place_too_is_not_known),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
