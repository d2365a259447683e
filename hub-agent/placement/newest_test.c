/* Which of the resource snapshots there are counts, and what is refused because none can. */
#include "hub-agent/placement/snapshots_test.h"

/* `index`: NULL for none; `part`: the place in its group of one that is no head. */
struct snapshot {
        const char *name, *index, *part;
        bool latest, going;
};

static void add_snapshot(struct scene *s, const struct snapshot *is)
{
        const char *index =
                is->index ? arena_printf(&s->arena, ",\"" LABEL_RESOURCE_INDEX "\":\"%s\"", is->index) : "";
        const char *place =
                is->part ? arena_printf(&s->arena, "\"" ANNOTATION_RESOURCE_SUBINDEX "\":\"%s\"", is->part)
                         : "\"" ANNOTATION_RESOURCE_HASH "\":\"h\"";

        s->existing[s->list.n++] = parse(
                s, &cluster_resource_snapshot_kind,
                arena_printf(&s->arena,
                             "{\"metadata\":{\"name\":\"%s\"%s,\"labels\":{\"" LABEL_IS_LATEST_SNAPSHOT
                             "\":\"%s\"%s},\"annotations\":{%s}},\"spec\":{}}",
                             is->name, is->going ? ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"" : "",
                             is->latest ? "true" : "false", index, place));
}

static const char *name_of(const struct resource_snapshot *s)
{
        return s ? s->object.meta.name : "";
}

/* Only heads that stay and have an index; of several the highest, as a number. */
static void the_newest_head_that_stays_counts(void **state)
{
        static const struct {
                struct snapshot at[3];
                const char *newest, *latest;
        } rows[] = {
                { { { "a", "0" } }, "a", "" },
                { { { "a", "0", .latest = true } }, "a", "a" },
                { { { "a", "0", .latest = true }, { "b", "1" } }, "b", "a" },
                { { { "a", "9", .latest = true }, { "b", "10", .latest = true } }, "b", "b" },
                { { { "b", "10", .latest = true }, { "a", "9", .latest = true } }, "b", "b" },
                { { { "a", "0", .latest = true }, { "b", "1", .latest = true, .going = true } }, "a", "a" },
                { { { "a", "0", .latest = true }, { "b", "1", "0", .latest = true } }, "a", "a" },
                { { { "a", NULL, .latest = true } }, "", "" },
                { { { "a", "x", .latest = true }, { "b", "0", .latest = true } }, "b", "b" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct scene s;

                begin(&s, "");
                for (size_t k = 0; k < 3 && rows[i].at[k].name; k++)
                        add_snapshot(&s, &rows[i].at[k]);
                if (!text_equal(name_of(newest_resource_snapshot(&s.list)), rows[i].newest) ||
                    !text_equal(name_of(latest_resource_snapshot(&s.list)), rows[i].latest))
                        fail_msg("row %zu: newest \"%s\", latest \"%s\"", i,
                                 name_of(newest_resource_snapshot(&s.list)),
                                 name_of(latest_resource_snapshot(&s.list)));
                arena_free(&s.arena);
        }
}

/* spec/placement.md 9.3: but for the newest, and for those that go anyway. */
static void of_several_that_are_marked_latest_one_stays_so(void **state)
{
        static const struct snapshot marked[] = { { "a", "0", .latest = true },
                                                  { "b", "1" },
                                                  { "c", "2", .latest = true },
                                                  { "d", "3", .latest = true, .going = true },
                                                  { "e", "4", .latest = true } };
        static const struct {
                int64_t limit;
                const char *unmarked, *removed;
        } rows[] = {
                { 10, "a c ", "" },
                { 4, "c ", "a b " },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *unmarked = "", *removed = "";
                struct resource_snapshot_plan plan;
                struct selection selected;
                struct scene s;

                begin(&s, "");
                s.p->spec->revision_history_limit = OPT_INT(rows[i].limit);
                selected = select_sizes(&s, (const size_t[]){ 1 }, 1);
                for (size_t k = 0; k < ARRAY_LEN(marked); k++)
                        add_snapshot(&s, &marked[k]);
                assert_false(one_resource_snapshot_is_latest(&s.list));
                plan_resources(&s, &selected, &at_once, &plan);
                for (size_t k = 0; k < plan.n_unmark; k++) {
                        unmarked = arena_printf(&s.arena, "%s%s ", unmarked, plan.unmark[k].now->meta.name);
                        assert_string_equal(label_of(plan.unmark[k].wanted, LABEL_IS_LATEST_SNAPSHOT),
                                            "false");
                }
                for (size_t k = 0; k < plan.n_remove; k++)
                        removed = arena_printf(&s.arena, "%s%s ", removed, plan.remove[k]->meta.name);
                assert_string_equal(unmarked, rows[i].unmarked);
                assert_string_equal(removed, rows[i].removed);
                assert_string_equal(plan.update.now->meta.name, "e");
                arena_free(&s.arena);
        }
}

/* Whoever made them by hand: which of the two is meant cannot be told, so both are named. */
static void two_snapshots_in_one_place_are_refused_by_name(void **state)
{
        static const struct {
                struct snapshot at[2];
                const char *words;
        } rows[] = {
                { { { "a", "1" }, { "b", "1" } }, "resource snapshots \"a\" and \"b\" hold the same place" },
                { { { "a", "1", "0" }, { "b", "1", "0" } },
                  "resource snapshots \"a\" and \"b\" hold the same place" },
                { { { "a", "1", "0" }, { "b", "1", "1" } }, NULL },
                { { { "a", "1" }, { "b", "1", "0" } }, NULL },
                { { { "a", "1", "0" }, { "b", "2", "0" } }, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct resource_snapshot_plan plan;
                struct selection selected;
                struct scene s;

                begin(&s, "");
                selected = select_sizes(&s, (const size_t[]){ 1 }, 1);
                for (size_t k = 0; k < 2; k++)
                        add_snapshot(&s, &rows[i].at[k]);
                assert_int_equal(plan_resource_snapshots(&s.arena, s.p, &selected, &s.list, NO_INDEXES,
                                                         &s.in_use, &at_once, &plan, &s.err),
                                 rows[i].words ? ERR_INVALID : 0);
                if (rows[i].words)
                        assert_string_equal(s.err.text, rows[i].words);
                arena_free(&s.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_newest_head_that_stays_counts),
                cmocka_unit_test(of_several_that_are_marked_latest_one_stays_so),
                cmocka_unit_test(two_snapshots_in_one_place_are_refused_by_name),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
