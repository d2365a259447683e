/* spec/cluster-object-set.md 4.3, 16.3 */
#include "member-agent/object-set/succession.h"

#include "member-agent/object-set/testing.h"

#define MOST 16

struct family {
        struct arena arena;
        const struct cluster_object_set *at[MOST];
        struct set_list all;
};
static void end(struct family *f)
{
        arena_free(&f->arena);
}

#define SUCCEEDED "{'type':'Succeeded','status':'True','reason':'Succeeded','message':''}"
#define TAKEN_DOWN "{'type':'Progressing','status':'False','reason':'Archived','message':''}"

static const struct cluster_object_set *add(struct family *f, int revision, const char *owner,
                                            const char *state, const char *meta, const char *conditions)
{
        const char *text = arena_printf(
                &f->arena,
                "{'metadata':{'name':'%s-%d','uid':'u'%s,'labels':{'olm.operatorframework.io/"
                "owner-name':'%s'}},"
                "'spec':{'revision':%d,'collisionProtection':'None','lifecycleState':'%s'},'status':{"
                "'conditions':[%s]}}",
                owner, revision, meta, owner, revision, state, conditions);

        assert_true(f->all.n < MOST);
        f->all.at = f->at;
        return f->at[f->all.n++] = set_from(&f->arena, text);
}

/* "a-1 a-2" */
static void assert_names(struct family *f, const struct set_list *l, const char *names)
{
        const char *words = "";

        for (size_t i = 0; i < l->n; i++)
                words = arena_printf(&f->arena, "%s%s%s", words, i ? " " : "", l->at[i]->object.meta.name);
        assert_string_equal(words, names);
}

/* spec/cluster-object-set.md checklist 71 */
static void a_set_that_comes_after_its_successor_has_succeeded_is_over(void **state)
{
        struct family f CLEANUP(end) = { 0 };
        const struct cluster_object_set *first = add(&f, 1, "a", "Active", "", ""),
                                        *second = add(&f, 2, "a", "Active", "", SUCCEEDED),
                                        *third = add(&f, 3, "a", "Active", "", "");

        add(&f, 9, "b", "Active", "", SUCCEEDED);
        add(&f, 8, "a", "Archived", "", SUCCEEDED);
        assert_ptr_equal(succession_successor(first, &f.all), second);
        assert_null(succession_successor(second, &f.all));
        assert_null(succession_successor(third, &f.all));
}

/* spec/cluster-object-set.md checklist 67, 69 */
static void a_complete_set_replaces_its_earlier_siblings(void **state)
{
        struct family f CLEANUP(end) = { 0 };
        const struct cluster_object_set *third;
        struct set_list replaced;

        add(&f, 1, "a", "Active", "", "");
        add(&f, 2, "a", "Active", "", SUCCEEDED);
        third = add(&f, 3, "a", "Active", "", "");
        add(&f, 4, "a", "Active", "", "");
        add(&f, 1, "b", "Active", "", "");
        add(&f, 0, "a", "Archived", "", "");
        assert_int_equal(succession_replaced(third, &f.all, &f.arena, &replaced, NULL), 0);
        assert_names(&f, &replaced, "a-1 a-2");
}

/* spec/cluster-object-set.md checklist 93 */
static void the_newest_five_records_are_kept_and_whatever_still_does_something(void **state)
{
        struct family f CLEANUP(end) = { 0 };
        const struct cluster_object_set *latest = add(&f, 20, "a", "Active", "", SUCCEEDED);
        struct set_list forgotten;

        for (int i = 1; i <= 6; i++)
                add(&f, i, "a", "Archived", "", TAKEN_DOWN);
        assert_int_equal(succession_forgotten(latest, &f.all, &f.arena, &forgotten, NULL), 0);
        assert_names(&f, &forgotten, "a-1");

        add(&f, 7, "a", "Archived", ",'finalizers':['olm.operatorframework.io/teardown']", TAKEN_DOWN);
        add(&f, 8, "b", "Archived", "", TAKEN_DOWN);
        add(&f, 9, "a", "Active", "", TAKEN_DOWN);
        assert_int_equal(succession_forgotten(latest, &f.all, &f.arena, &forgotten, NULL), 0);
        assert_names(&f, &forgotten, "a-2 a-1");
}

/* spec/cluster-object-set.md checklist 93 */
static void records_that_are_placed_or_not_taken_down_stay(void **state)
{
        static const struct {
                const char *meta, *conditions;
                bool goes;
        } lines[] = {
                { "", TAKEN_DOWN, true },
                { "", SUCCEEDED, false },
                { ",'finalizers':['olm.operatorframework.io/teardown']", TAKEN_DOWN, false },
                { ",'finalizers':['else/where']", TAKEN_DOWN, true },
                { ",'deletionTimestamp':'2026-01-01T00:00:00Z'", TAKEN_DOWN, false },
                { ",'ownerReferences':[{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':"
                  "'AppliedWork','name':'w','uid':'w'}]",
                  TAKEN_DOWN, false },
                { ",'ownerReferences':[{'apiVersion':'v1','kind':'Namespace','name':'n','uid':'n'}]",
                  TAKEN_DOWN, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct family f CLEANUP(end) = { 0 };
                const struct cluster_object_set *oldest =
                        add(&f, 1, "a", "Archived", lines[i].meta, lines[i].conditions);
                struct set_list forgotten;

                for (int n = 2; n <= 6; n++)
                        add(&f, n, "a", "Archived", "", TAKEN_DOWN);
                assert_int_equal(succession_forgotten(oldest, &f.all, &f.arena, &forgotten, NULL), 0);
                assert_names(&f, &forgotten, lines[i].goes ? "a-1" : "");
        }
}

static void sets_of_no_owner_have_no_records(void **state)
{
        struct family f CLEANUP(end) = { 0 };
        const struct cluster_object_set *alone = set_from(&f.arena, "{'metadata':{'name':'x'}}");
        struct set_list forgotten;

        for (int n = 1; n <= 6; n++) {
                struct cluster_object_set *s =
                        (struct cluster_object_set *)(uintptr_t)add(&f, n, "a", "Archived", "", TAKEN_DOWN);

                s->object.meta.labels.n = 0;
        }
        assert_int_equal(succession_forgotten(alone, &f.all, &f.arena, &forgotten, NULL), 0);
        assert_names(&f, &forgotten, "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_set_that_comes_after_its_successor_has_succeeded_is_over),
                cmocka_unit_test(a_complete_set_replaces_its_earlier_siblings),
                cmocka_unit_test(the_newest_five_records_are_kept_and_whatever_still_does_something),
                cmocka_unit_test(records_that_are_placed_or_not_taken_down_stay),
                cmocka_unit_test(sets_of_no_owner_have_no_records),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
