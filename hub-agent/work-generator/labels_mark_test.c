/* Works tell what was taken from the labels of their cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/work-generator/work_generator.h"

struct scene {
        struct arena arena;
        struct error err;
        const struct binding *b;
        struct wanted_works wanted;
        const struct object *work;
        struct object_list live;
};

static void *parse(struct scene *s, const struct kind *kind, const char *json)
{
        struct object *o;

        assert_int_equal(object_decode_arena(kind, slice_of(json), &s->arena, &o, &s->err), 0);
        return o;
}

static struct wanted_work *want(struct scene *s, const char *index)
{
        struct wanted_work *w = ARENA_NEW(&s->arena, struct wanted_work);

        *w = (struct wanted_work){ .name = "web-work", .snapshot_index = index };
        s->wanted = (struct wanted_works){ w, 1 };
        return w;
}

static void begin(struct scene *s)
{
        *s = (struct scene){ .live = { &s->work, 0 } };
        s->b = parse(s, &cluster_resource_binding_kind,
                     "{\"metadata\":{\"name\":\"b1\"},\"spec\":{\"state\":\"Bound\",\"targetCluster\":\"c1\","
                     "\"resourceSnapshotName\":\"web-3-snapshot\",\"schedulingPolicySnapshotName\":\"p\"}}");
        want(s, "3");
}

/* Plans, and takes over what is to be written. */
static size_t write_works(struct scene *s, const char *labels)
{
        struct work_plan plan;

        assert_int_equal(plan_works(&s->arena, s->b, &s->wanted, &s->live, labels, &plan, &s->err), 0);
        if (plan.n) {
                s->work = &plan.at[0].wanted->object;
                s->live.n = 1;
        }
        return plan.n;
}

static const char *mark_of(const struct scene *s)
{
        return string_map_get(&s->work->meta.annotations, ANNOTATION_CLUSTER_LABELS_HASH);
}

static bool in_sync(struct scene *s, const char *index, const char *labels)
{
        return works_in_sync(&s->arena, s->b, &s->live, index, 1, labels);
}

static void works_follow_the_labels_they_were_rendered_from(void **state)
{
        struct scene s;

        begin(&s);
        assert_int_equal(write_works(&s, "north"), 1);
        assert_true(in_sync(&s, "3", "north"));
        assert_false(in_sync(&s, "3", "south"));
        assert_true(in_sync(&s, "3", NULL));
        assert_int_equal(write_works(&s, "north"), 0);
        assert_int_equal(write_works(&s, "south"), 1);
        assert_true(in_sync(&s, "3", "south"));
        arena_free(&s.arena);
}

static void works_that_took_nothing_have_no_mark(void **state)
{
        struct scene s;

        begin(&s);
        assert_int_equal(write_works(&s, ""), 1);
        assert_null(mark_of(&s));
        assert_true(in_sync(&s, "3", ""));
        assert_false(in_sync(&s, "3", "north"));
        assert_int_equal(write_works(&s, "north"), 1);
        assert_non_null(mark_of(&s));
        want(&s, "4");
        assert_int_equal(write_works(&s, ""), 1);
        assert_null(mark_of(&s));
        arena_free(&s.arena);
}

/* An agent that does not know the mark renders other content, with the labels of its time, and leaves it. */
static void a_mark_speaks_for_its_own_content_only(void **state)
{
        struct object *other;
        struct scene s;

        begin(&s);
        assert_int_equal(write_works(&s, "north"), 1);
        other = object_copy(s.work, &s.arena);
        assert_int_equal(
                string_map_put(&other->meta.labels, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX, "4", &s.arena), 0);
        string_map_remove(&other->meta.annotations, ANNOTATION_WORK_SET);
        s.work = other;
        assert_false(in_sync(&s, "4", "north"));
        assert_true(in_sync(&s, "4", ""));
        arena_free(&s.arena);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(works_follow_the_labels_they_were_rendered_from),
                cmocka_unit_test(works_that_took_nothing_have_no_mark),
                cmocka_unit_test(a_mark_speaks_for_its_own_content_only),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
