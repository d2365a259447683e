#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "member-agent/apply/work_set.h"
#include "proto/names.h"

#define HASH "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"

struct marks {
        const char *binding, *ns, *index, *set;
};

static struct work_set set_of(struct arena *arena, const struct marks *m)
{
        struct object *work = object_new(&work_kind, "fleet-member-m1", "w", arena);
        struct string_map *labels = &work->meta.labels, *annotations = &work->meta.annotations;
        struct work_set set;

        if (m->binding)
                assert_int_equal(string_map_put(labels, LABEL_PARENT_BINDING, m->binding, arena), 0);
        if (m->ns)
                assert_int_equal(string_map_put(labels, LABEL_PARENT_PLACEMENT_NAMESPACE, m->ns, arena), 0);
        if (m->index)
                assert_int_equal(
                        string_map_put(labels, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX, m->index, arena), 0);
        assert_int_equal(string_map_put(annotations, ANNOTATION_OVERRIDE_SNAPSHOT_HASH, HASH, arena), 0);
        assert_int_equal(string_map_put(annotations, ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH, HASH, arena),
                         0);
        if (m->set)
                assert_int_equal(string_map_put(annotations, ANNOTATION_WORK_SET, m->set, arena), 0);
        assert_int_equal(work_set_of(work, arena, &set), 0);
        return set;
}

static void a_set_is_read_from_labels_and_annotations(void **state)
{
        static const struct {
                struct marks marks;
                const char *binding, *content;
                int64_t size;
        } cases[] = {
                { { "b", NULL, "3", "3/74234e98afe7498f.74234e98afe7498f/2" },
                  "b",
                  "3/74234e98afe7498f.74234e98afe7498f",
                  2 },
                { { "b", "team-a", "3", NULL }, "team-a/b", "3/74234e98afe7498f.74234e98afe7498f", 0 },
                /* left behind by an agent that knows nothing of sets */
                { { "b", NULL, "4", "3/74234e98afe7498f.74234e98afe7498f/2" },
                  "b",
                  "4/74234e98afe7498f.74234e98afe7498f",
                  0 },
                { { "b", NULL, "3", "3/74234e98afe7498f.74234e98afe7498f/0" },
                  "b",
                  "3/74234e98afe7498f.74234e98afe7498f",
                  0 },
                { { "b", NULL, "3", "3/74234e98afe7498f.74234e98afe7498f/two" },
                  "b",
                  "3/74234e98afe7498f.74234e98afe7498f",
                  0 },
                { { "b", NULL, "3", "3/74234e98afe7498f.74234e98afe7498f/-1" },
                  "b",
                  "3/74234e98afe7498f.74234e98afe7498f",
                  0 },
                { { "b", NULL, "3", "3/74234e98afe7498f.74234e98afe7498f/1" },
                  "b",
                  "3/74234e98afe7498f.74234e98afe7498f",
                  1 },
                { { "b", NULL, "3", "3/74234e98afe7498f.74234e98afe7498f.2" },
                  "b",
                  "3/74234e98afe7498f.74234e98afe7498f",
                  0 },
                { { "b", NULL, "3", "3/74234e98afe7498f.74234e98afe7498f" },
                  "b",
                  "3/74234e98afe7498f.74234e98afe7498f",
                  0 },
                { { "b", NULL, NULL, NULL }, "b", "", 0 },
                { { NULL, NULL, "3", NULL }, "", "", 0 },
        };
        struct arena arena AUTO_ARENA = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct work_set set = set_of(&arena, &cases[i].marks);

                assert_string_equal(set.binding, cases[i].binding);
                assert_string_equal(set.content, cases[i].content);
                assert_int_equal(set.size, cases[i].size);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(a_set_is_read_from_labels_and_annotations) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
