"""Tests of the mutants: `python3 e2e/mutants/mutants_test.py` ends in `N passed, N failed`."""
import dataclasses
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import branches
import mutants
import places
import planted
import stand

HEADER = """#pragma once
#include <stdbool.h>
#include <stddef.h>
struct error { int code; };
struct account { int balance, moves; bool open; const char *name; };
#define TRY(call) do { int try_result_ = (call); if (try_result_ < 0) return try_result_; } while (0)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define RIGHT_READ 1
#define RIGHT_WRITE 2
void log_info(const char *said, int number);
int error_no_memory(struct error *err);
void *arena_alloc(size_t size);
int pay(struct account *from, struct account *to, int sum);
int spare(const struct account *a);
bool may(unsigned rights, bool admin);
int halves(int n);
extern int n_noted;
"""

SOURCE = """#include "bank/bank.h"

#define FEE_MAX 3
#define WAIT_MS 500

static const unsigned default_rights = RIGHT_READ | RIGHT_WRITE;
int n_noted;

static int check(const struct account *a, int sum)
{
        if (!a->open || sum < 0)
                return -1;
        return a->balance >= sum && a->name ? 0 : -2;
}

static void note(struct account *a, int move)
{
        log_info("moved 7 of them", 7);
        a->balance += move;
        n_noted++;
        a->moves++;
}

static void receive(struct account *to, int sum)
{
        note(to, sum);
}

int pay(struct account *from, struct account *to, int sum)
{
        char *copy = arena_alloc(16);

        if (!copy)
                return error_no_memory(NULL);
        TRY(check(from, sum));
        TRY(check(to, 0));
        note(from, -sum);
        receive(to, sum);
        return 0;
}

int spare(const struct account *a)
{
        return MAX(a->balance - FEE_MAX, 0);
}

bool may(unsigned rights, bool admin)
{
        unsigned all = rights ? rights : default_rights;

        if (admin)
                return true;
        return (all & RIGHT_WRITE) != 0;
}

int halves(int n)
{
        int steps = 0;

        while (n > 0) {
                n /= 2;
                steps++;
        }
        return steps;
}
"""

TEST = """#include <stddef.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include "bank/bank.h"
static void money_moves(void **state)
{
        struct account a = { 5, 0, true, "a" }, b = { 0, 0, true, "b" };
        (void)state;
        assert_int_equal(pay(&a, &b, 5), 0);
        assert_int_equal(b.balance, 5);
        assert_true(pay(&a, &b, 1) < 0);
        a.open = false;
        assert_true(pay(&b, &a, 1) < 0);
}
static void numbers_have_halves(void **state)
{
        (void)state;
        assert_int_equal(halves(8), 4);
}
int test_main_bank_bank_test(void);
int test_main_bank_bank_test(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(money_moves), cmocka_unit_test(numbers_have_halves) };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
"""

REST = """#include <stdlib.h>
#include "bank/bank.h"
void log_info(const char *said, int number) { (void)said, (void)number; }
int error_no_memory(struct error *err) { (void)err; return -11; }
void *arena_alloc(size_t size) { static char room[64]; return size <= sizeof(room) ? room : NULL; }
"""

FLAGS = ["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="latin-1") as f:
        f.write(text)


class Bank:
    """A small project of one file with a test that leaves much unproved."""

    def __init__(self, folder):
        self.tree = os.path.join(folder, "tree")
        for name, text in (("bank.h", HEADER), ("bank.c", SOURCE), ("bank_test.c", TEST), ("rest.c", REST)):
            write(os.path.join(self.tree, "bank", name), text)

        def run(*command):
            subprocess.run(command, cwd=self.tree, check=True)

        run("git", "init", "-q")
        os.makedirs(os.path.join(self.tree, "build", "bank"))
        for name in ("bank", "bank_test", "rest"):
            run("gcc", *FLAGS, "-I.", "-O2", "-c", "-o", f"build/bank/{name}.c.o", f"bank/{name}.c")
        run("ar", "rcs", "build/libbank.a", "build/bank/bank.c.o", "build/bank/rest.c.o")
        self.places = places.places_of("bank/bank.c", SOURCE, [*FLAGS, "-I."], self.tree)
        self.stand = stand.Stand(self.tree, os.path.join(folder, "stand"), ["gcc", "-O2"], FLAGS, ["-lcmocka"],
                                 ["build/libbank.a"], "build")
        self.lane = stand.Lane(self.stand, 0)
        self.sanitizing = self.sanitized_lane(folder, run)
        self.test = stand.Test("bank/bank_test", "bank/bank_test.c.o", [], "unit")
        self.lane.measure(self.test)

    def sanitized_lane(self, folder, run):
        compiler = ["gcc", "-O1", "-fsanitize=address"]
        os.makedirs(os.path.join(self.tree, "build", "sanitized", "bank"))
        for name in ("bank", "bank_test", "rest"):
            run(*compiler, *FLAGS, "-I.", "-c", "-o", f"build/sanitized/bank/{name}.c.o", f"bank/{name}.c")
        run("ar", "rcs", "build/sanitized/libbank.a", "build/sanitized/bank/bank.c.o", "build/sanitized/bank/rest.c.o")
        return stand.Lane(stand.Stand(self.tree, os.path.join(folder, "sanitized"), compiler, FLAGS, ["-lcmocka"],
                                      ["build/sanitized/libbank.a"], "build/sanitized", self.stand), 0)

    def one(self, kind, before, after):
        """The one place of a kind at which this text becomes that."""
        found = [p for p in self.places if p.kind == kind and SOURCE[p.start:p.end] == before and p.text == after]
        assert len(found) == 1, (kind, before, after, found)
        return found[0]

    def judge(self, place):
        return mutants.judge(self.lane, place, SOURCE, [self.test])


class MutantsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.bank = Bank(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_kind_finds_places_and_its_code_compiles(self):
        for kind in places.KINDS:
            found = [p for p in self.bank.places if p.kind == kind]
            self.assertTrue(found, kind)
            for p in found:
                path = os.path.join(self.folder.name, "one.c")
                write(path, p.planted(SOURCE))
                done = subprocess.run(["gcc", "-std=gnu17", "-w", "-fsyntax-only", f"-I{self.bank.tree}", path],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{p}\n{done.stderr}")

    def test_of_a_condition_the_ways_are_told_that_no_test_takes_but_for_want_of_memory(self):
        for text, count, ways, said in (("if (a && b)", 3, [3, 0, 1, 2], ".X.."), ("if (a && b)", 3, [3, 1, 1, 2], ""),
                                        ("if (a)", 0, [0, 0], "XX"), ("return 1;", 0, [], "never"), ("return 1;", 2, [], ""),
                                        ("}", 0, [], ""), ("TRY(read(a));", 3, [0, 3], ""), ("TRY(read(a));", 0, [0, 0], "XX"),
                                        ("if (!p) return error_no_memory(err);", 1, [1, 0], ""),
                                        ("if (vec_push(&v, a) < 0)", 1, [0, 1], "")):
            self.assertEqual(branches.finding(text, count, ways), said, text)

    def test_what_stands_behind_a_mutant_keeps_its_line(self):
        for p in self.bank.places:
            self.assertEqual(p.planted(SOURCE).count("\n"), SOURCE.count("\n"), p)

    def test_code_that_is_never_reached_does_not_count_though_assertions_follow_it(self):
        source = "int f(int), at(int);\nint f(int x)\n{\n        switch (x) {\n        case 1:\n                x = at(2);\n" \
                 "                break;\n        default:\n                break;\n        }\n        return at(__LINE__) + x;\n}\n"
        write(os.path.join(self.bank.stand.source, "bank", "dead.c"), source)
        found = places.places_of("bank/dead.c", source, FLAGS, self.bank.stand.source)
        dead = [p for p in found if p.kind == "early return" and source[p.start:].startswith("default")]
        self.assertEqual([self.bank.lane.plant(p, source) for p in dead], ["the same program"])

    def test_a_bug_is_caught_by_the_test_that_it_breaks(self):
        verdict = self.bank.judge(self.bank.one("call left out", "note(from, -sum);", "{ }"))
        self.assertEqual((verdict.counts, verdict.kind, verdict.caught_by, verdict.said),
                         (True, "unit", "bank/bank_test", "money_moves"))

    def test_a_bug_that_no_test_asks_for_survives_with_its_diff(self):
        place = self.bank.one("condition dropped", "!a->open || sum < 0", "!a->open")
        verdict = self.bank.judge(place)
        self.assertEqual((verdict.counts, verdict.caught_by), (True, ""))
        said = mutants.summary([verdict], lambda file: SOURCE)
        self.assertIn("-        if (!a->open || sum < 0)\n+        if (!a->open)\n", said)
        self.assertTrue(said.endswith("1 planted, 0 caught, 1 survived"), said)

    def test_what_changes_nothing_that_can_be_seen_survives(self):
        swapped = [p for p in self.bank.places if p.kind == "statements swapped" and p.text.startswith("receive(to")]
        verdict = self.bank.judge(swapped[0])
        self.assertEqual((verdict.counts, verdict.caught_by), (True, ""))
        self.assertIn("+        receive(to, sum);\n         note(from, -sum);\n-        receive(to, sum);\n",
                      mutants.summary([verdict], lambda file: SOURCE))

    def test_steps_of_a_chain_are_swapped(self):
        source = "int a(int), b(int), c(int), f(int);\nint f(int x)\n{\n        " \
                 "if (a(x) < 0 || b(x) < 0 || c(x) < 0 || x)\n                return -1;\n        return 0;\n}\n"
        path = os.path.join(self.folder.name, "steps.c")
        write(path, source)
        found = places.places_of(path, source, FLAGS)
        self.assertEqual({p.planted(source).split("if (")[1].split(")\n")[0]
                          for p in found if p.kind == "statements swapped"},
                         {"b(x) < 0 || a(x) < 0 || c(x) < 0 || x", "a(x) < 0 || c(x) < 0 || b(x) < 0 || x"})

    def test_two_calls_of_one_function_are_not_swapped(self):
        self.assertFalse([p for p in self.bank.places if p.kind == "statements swapped" and "TRY(check" in p.text and
                          "note" not in p.text])

    def test_what_calls_nothing_or_binds_parameters_is_not_swapped(self):
        found = self.found_in("""struct s { struct s *x, *y; };
int sqlite3_bind_int(void *st, int i, int n), sqlite3_bind_double(void *st, int i, double n), look(struct s *s);
void f(struct s *s, void *st);
void f(struct s *s, void *st)
{
        s->x = (struct s *)st;
        s->y = (s + 1);
        sqlite3_bind_int(st, 1, 2);
        sqlite3_bind_double(st, 2, 3);
        look(s);
}
""")
        self.assertEqual([p.line for p in found if p.kind == "statements swapped"], [9])

    def test_the_same_program_is_no_mutant(self):
        place = self.bank.one("comparison moved", ">", ">=")
        verdict = self.bank.judge(dataclasses.replace(place, text="> 1 - 1 +"))
        self.assertEqual((verdict.counts, verdict.said), (False, "the same program"))

    def test_what_the_build_refuses_is_no_mutant(self):
        place = self.bank.one("call left out", "TRY(check(to, 0));", "{ }")
        self.assertEqual(self.bank.judge(dataclasses.replace(place, text="check(")).said, "does not compile")

    def test_a_mutant_that_never_ends_is_caught_as_that(self):
        verdict = self.bank.judge(self.bank.one("comparison moved", ">", ">="))
        self.assertEqual((verdict.kind, verdict.said), ("hang", "hang"))

    def test_memory_that_runs_out_and_what_is_only_said_are_no_places(self):
        for p in self.bank.places:
            old = SOURCE[p.start:p.end]
            self.assertNotIn("!copy", old)
            self.assertFalse(p.kind != "early return" and "log_info" in old, p)
            self.assertNotEqual((p.kind, old), ("constant off by one", "7"))
            self.assertNotEqual((p.kind, old), ("constant off by one", "500"))

    def test_constants_of_macros_and_arguments_of_macros_are_places(self):
        self.bank.one("constant off by one", "3", "4")
        self.assertEqual([p.function for p in self.bank.places if p.kind == "flag dropped"], ["default_rights"] * 2)

    def test_a_chain_loses_one_link_at_a_time(self):
        source = "#include <stdbool.h>\nbool f(int a, int b, int c)\n{\n        return a && b && c;\n}\n"
        path = os.path.join(self.folder.name, "chain.c")
        write(path, source)
        found = places.places_of(path, source, FLAGS)
        self.assertEqual({p.planted(source).split("return ")[1].split(";")[0]
                          for p in found if p.kind == "condition dropped"}, {"a && b", "a && c", "b && c"})

    def test_the_same_seed_plants_the_same_whatever_happens_elsewhere(self):
        order = mutants.in_order(self.bank.places, "5")
        self.assertEqual(order, mutants.in_order(list(reversed(self.bank.places)), "5"))
        self.assertNotEqual(order, mutants.in_order(self.bank.places, "6"))
        changed = SOURCE.replace("int halves(", "int more(void);\nint more(void) { return 4; }\n\nint halves(")
        write(os.path.join(self.folder.name, "bank/bank.h"), HEADER)
        write(os.path.join(self.folder.name, "bank/bank.c"), changed)
        moved = places.places_of("bank/bank.c", changed, [*FLAGS, "-I."], self.folder.name)
        self.assertEqual([p.id for p in order], [p.id for p in mutants.in_order(moved, "5") if p.function != "more"])

    def test_which_mutants_count_depends_on_no_timing(self):
        def begun(seed):
            uneven = random.Random(seed)

            class Lane:
                def plant(self, place, source):
                    time.sleep(uneven.random() / 300)
                    return "does not compile" if int(place.id, 16) % 3 == 0 else None

                def is_same_to(self, *_):
                    return False

            lanes = [Lane(), Lane(), Lane()]
            order = mutants.in_order(self.bank.places, "1")
            return [v.place.id for v in mutants.Round(order, 9, lambda v: None).run(lanes, lambda f: SOURCE, [])
                    if v.counts]

        self.assertEqual(len(begun(1)), 9)
        self.assertEqual(begun(1), begun(2))

    def found_in(self, source):
        path = os.path.join(self.folder.name, "one.c")
        write(path, source)
        return places.places_of(path, source, FLAGS)

    def test_where_two_are_equal_it_matters_not_which_is_taken(self):
        found = self.found_in("int by_size(int a, int b, int c);\nint by_size(int a, int b, int c)\n{\n        if (a != b)\n"
                              "                return a < b ? -1 : 1;\n        c = c < a ? c : a;\n        return c < b ? -1 : c;\n}\n")
        self.assertEqual([(p.line, p.text) for p in found if p.kind == "comparison moved"], [(4, "=="), (7, "<=")])

    def test_of_two_refusals_it_matters_not_which_is_told_unless_the_second_needs_the_first(self):
        head = """enum { ERR_ONE = -1, ERR_OTHER = -2 };
struct error;
int error_set(struct error *e, int code, const char *said);
int check(int *a, int b, int c, struct error *e);
int check(int *a, int b, int c, struct error *e)
{
"""
        swapped = []
        for first in ("b > 3", "!a"):
            found = self.found_in(head + f"""        if ({first})
                return error_set(e, ERR_ONE, "first");
        if (*a > c)
                return error_set(e, ERR_ONE, "second");
        if (c > 9)
                return error_set(e, ERR_OTHER, "third");
        return 0;
}}
""")
            swapped.append([p.line for p in found if p.kind == "statements swapped"])
        self.assertEqual(swapped, [[9], [7, 9]])

    def swapped_in(self, body, head=""):
        """Which neighbours change places, as the lines of the first."""
        source = """struct error;
struct part { int a, b; };
struct whole { struct part part; int count; const char *name; struct whole *next; };
int known(const struct whole *w), act(struct whole *w), tell(struct part *p), text_equal(const char *a, const char *b);
int plain(int x);
extern int n_all;
""" + head + "int f(struct whole *w, int x, struct error *err);\nint f(struct whole *w, int x, struct error *err)\n{\n" \
            "int y = 0; struct part mine = { 0 };\n" + body + "\n(void)err;\nreturn x + y + mine.a;\n}\n"
        first = source[:source.index(body)].count("\n") + 1
        return [p.line - first for p in self.found_in(source) if p.kind == "statements swapped"]

    def test_steps_that_have_nothing_in_common_are_not_swapped(self):
        self.assertEqual(self.swapped_in("x = known(w);\ny = (text_equal(w->name, 0) + 1);"), [])
        self.assertEqual(self.swapped_in("x = known(w);\ny = (text_equal(w->name, 0) + x);"), [0])
        self.assertEqual(self.swapped_in("w->count = known(w);\nw->name = (text_equal(w->name, 0) ? 0 : 0);"), [0])
        self.assertEqual(self.swapped_in("w->count = text_equal(w->name, 0);\nw->part.a = known(0) + x;"), [0])
        self.assertEqual(self.swapped_in("w->count = text_equal(w->name, 0);\nw->part.a = (text_equal(0, 0) + x);"), [])

    def test_what_may_act_on_the_world_is_swapped_with_what_may(self):
        self.assertEqual(self.swapped_in("act(w);\ntell(&w->part);"), [0])
        self.assertEqual(self.swapped_in("act(w);\nx = (plain(x) + x);"), [])
        self.assertEqual(self.swapped_in("tell(&w->part);\nx = known(w);"), [0])
        self.assertEqual(self.swapped_in("tell(&w->part);\nw->count = (w->part.a + text_equal(0, 0));"), [0])

    def test_a_function_of_the_same_file_counts_with_what_it_does(self):
        head = """static void count(struct whole *w) { w->count++; }
static void part(struct whole *w) { w->part.a = 1; }
static void both(struct whole *w) { part(w); count(w); }
static void out(int *ret) { *ret = 1; }
"""
        self.assertEqual(self.swapped_in("count(w);\npart(w);", head), [])
        self.assertEqual(self.swapped_in("count(w);\nboth(w);", head), [0])
        self.assertEqual(self.swapped_in("out(&x);\ny = (text_equal(0, 0) + x);", head), [0])
        self.assertEqual(self.swapped_in("out(&x);\ny = (text_equal(0, 0) + w->count);", head), [])

    def test_two_that_leave_are_swapped_when_they_leave_with_different_results(self):
        self.assertEqual(self.swapped_in("if (known(w))\nreturn 1;\nif (x > 3)\nreturn 1;"), [])
        self.assertEqual(self.swapped_in("if (known(w))\nreturn 1;\nif (x > 3)\nreturn 2;"), [0])
        self.assertEqual(self.swapped_in("if (!w->next)\nreturn 1;\nif (w->next->count)\nreturn 1;"), [0])

    def test_what_leaves_is_swapped_with_what_is_seen_afterwards(self):
        self.assertEqual(self.swapped_in("if (x > 3)\nreturn 1;\nw->count = known(0);"), [0])
        self.assertEqual(self.swapped_in("if (x > 3)\nreturn 1;\ny = known(w);"), [])
        self.assertEqual(self.swapped_in("if (x > 3)\nreturn 1;\nmine.a = known(w);"), [])
        self.assertEqual(self.swapped_in("if (x > 3)\nreturn 1;\nw->part.a = known(0);"), [0])
        self.assertEqual(self.swapped_in("if (!w->next)\nreturn 1;\ny = known(w->next);"), [0])
        self.assertEqual(self.swapped_in("if (x > 3)\nreturn 1;\nn_all = known(w);"), [0])
        self.assertEqual(self.swapped_in("while (1) {\nif (x > 3)\nbreak;\ny = known(w);\n}"), [1])

    def test_of_two_things_that_one_value_cannot_both_be_the_order_is_nothing(self):
        two = "if (text_equal(w->name, {}))\nreturn 1;\nif (text_equal(w->name, {}) || text_equal(w->name, \"c\"))\nreturn 2;"
        self.assertEqual(self.swapped_in(two.format('"a"', '"b"')), [])
        self.assertEqual(self.swapped_in(two.format('"c"', '"b"')), [0])

    def test_the_order_of_sentences_in_one_refusal_is_wording(self):
        def swapped(last):
            return [p.line for p in self.found_in("""struct buf { char *data; };
int error_set(void *e, int code, const char *said);
void buf_append_str(struct buf *b, const char *said);
int use(const char *said);
int f(int x, void *err);
int f(int x, void *err)
{
        struct buf b = { 0 };
        if (x > 3)
                buf_append_str(&b, "one");
        if (x < 9)
                buf_append_str(&b, "other");
        return """ + last + """;
}
""") if p.kind == "statements swapped"]
        self.assertEqual(swapped("error_set(err, -1, b.data)"), [])
        self.assertEqual(swapped("use(b.data)"), [9])

    def test_the_order_of_faults_in_one_list_is_wording(self):
        def swapped(condition, last):
            return [p.line for p in self.found_in("""struct faults { int n; };
void fault_add(struct faults *f, const char *said);
void name_faults(int x, struct faults *f);
void f(int x, struct faults *f, struct faults *other);
void f(int x, struct faults *f, struct faults *other)
{
        name_faults(x, f);
        if (""" + condition + """)
                fault_add(""" + last + """, "one");
}
""") if p.kind == "statements swapped"]
        self.assertEqual(swapped("x > 3", "f"), [])
        self.assertEqual(swapped("x > 3", "other"), [7])
        self.assertEqual(swapped("f->n > 3", "f"), [7])

    def test_how_much_smaller_is_no_place(self):
        source = "int by_size(const void *a, const void *b);\nint by_size(const void *a, const void *b)\n{\n        " \
                 "return a < b ? -1 : a > b ? 1 : 0;\n}\n"
        found = [(source[p.start:p.end], p.text) for p in self.found_in(source) if p.kind == "constant off by one"]
        self.assertEqual(found, [("1", "0"), ("1", "0"), ("0", "1")])

    def test_room_is_no_place(self):
        found = self.found_in("#include <stddef.h>\nvoid *arena_alloc(size_t n);\nvoid *f(size_t n);\nvoid *f(size_t n)\n{\n"
                              "        return arena_alloc(n + 1);\n}\n")
        self.assertEqual([p for p in found if p.kind == "constant off by one"], [])

    def test_what_only_lets_others_run_is_no_place(self):
        found = self.found_in(HEADER + "int yield(void);\nint f(int i);\nint f(int i)\n{\n        if (i % 8 == 7)\n"
                              "                TRY(yield());\n        return halves(i);\n}\n")
        self.assertEqual([p for p in found if p.kind != "early return"], [])

    def test_how_a_map_keeps_its_keys_and_values_is_no_place(self):
        found = self.found_in("struct map { int n; };\nvoid map_init(struct map *m, int f, void *d), map_clear(struct map *m);\n"
                              "void f(struct map *m);\nvoid f(struct map *m) { map_clear(m); map_init(m, 0, 0); }\n")
        self.assertFalse([p for p in found if p.kind == "call left out"])

    def test_what_another_compiler_makes_one_program_of_does_not_count(self):
        clang = ["clang", "-O2"]
        swapped = next(p for p in self.bank.places if p.kind == "statements swapped" and p.text.startswith("receive("))
        self.assertFalse(self.bank.lane.is_same_to(clang, swapped, SOURCE))
        unchanged = dataclasses.replace(swapped, text=SOURCE[swapped.start:swapped.end])
        self.assertTrue(self.bank.lane.is_same_to(clang, unchanged, SOURCE))

    def test_what_was_judged_is_read_and_must_still_be_there(self):
        path = os.path.join(self.folder.name, "judged")
        place = self.bank.places[0]
        write(path, f"# why\n\n{place.id} {place.file} {place.function}: equivalent: the list has an end\n")
        judged = mutants.read_judged(path)
        self.assertEqual(judged, {place.id: (place.file, place.function, "equivalent: the list has an end")})
        mutants.check_judged(judged, self.bank.places, {place.file})
        mutants.check_judged(judged, [], set())  # the file was not looked at
        with self.assertRaisesRegex(RuntimeError, f"no longer there:\n  {place.id} {place.file} {place.function}"):
            mutants.check_judged(judged, self.bank.places[1:], {place.file})
        for broken in ("0123456789 a.c f: it seems so\n", "01234 a.c f: cost: a request\n"):
            write(path, broken)
            with self.assertRaisesRegex(RuntimeError, "judged:1: not"):
                mutants.read_judged(path)

    def test_planted_bugs_are_read_and_name_what_is_wrong(self):
        bugs = planted.read_planted("# words\n\na-bug a/b.c seed 7: it is wrong\n-        old;\n-\n+        new;\n+\n")
        self.assertEqual([(b.name, b.file, b.seed, b.words) for b in bugs], [("a-bug", "a/b.c", 7, "it is wrong")])
        self.assertEqual(bugs[0].planted("x\n        old;\n\ny\n"), "x\n        new;\n\ny\n")
        for text, words in [("a-bug a/b.c: it is wrong", ":1: not `name file seed N"), ("-old", ":1: not"),
                            ("a a.c seed 1: b\na a.c seed 1: b", ":2: a is there twice")]:
            with self.assertRaises(RuntimeError) as caught:
                planted.read_planted(text)
            self.assertIn(words, str(caught.exception))

    def test_the_place_of_a_planted_bug_is_there_once(self):
        tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        bugs = planted.read_planted(planted.read(os.path.join(tree, planted.PLANTED)))
        self.assertGreaterEqual(len(bugs), 8)
        for bug in bugs:
            planted.check(bug, planted.read(os.path.join(tree, bug.file)))
        for source in ("nothing of it", bugs[0].old * 2):
            with self.assertRaises(RuntimeError):
                planted.check(bugs[0], source)

    def test_what_survives_is_looked_at_by_sanitizers(self):
        place = self.bank.one("condition dropped", "!a->open || sum < 0", "!a->open")
        behind = dataclasses.replace(place, text="!a->open || sum < 0 || (&a->balance)[6] == 77")
        verdict = self.bank.judge(behind)
        self.assertEqual((verdict.counts, verdict.caught_by), (True, ""))
        verdict = mutants.judge(self.bank.lane, behind, SOURCE, [self.bank.test], self.bank.sanitizing)
        self.assertEqual((verdict.kind, verdict.caught_by), ("sanitizer", "bank/bank_test"))
        self.assertIn("stack-buffer-overflow", verdict.said)
        verdict = mutants.judge(self.bank.lane, place, SOURCE, [self.bank.test], self.bank.sanitizing)
        self.assertEqual((verdict.counts, verdict.caught_by), (True, ""))

    def test_a_test_that_sanitizers_end_without_a_mutant_tells_nothing(self):
        class Lane(stand.Lane):
            def link(self, test, with_mutant=True):
                return "/bin/false"
        self.assertTrue(Lane(self.bank.sanitizing.stand, 7).test_sanitized(self.bank.test).passed)

    def test_near_and_quick_tests_come_first(self):
        def unit(name, cpu):
            return stand.Test(name, "", [], "unit", cpu)
        tests = [stand.Test("seeds 1-3", "", [], "seed"), stand.Test("scenarios", "", [], "scenario"),
                 unit("agent/agent_test", 1), unit("agent/a/slow_test", 9), unit("agent/a/x_test", 10),
                 unit("agent/a/quick_test", 1), unit("agent/b/other_test", 1)]
        self.assertEqual([t.name for t in mutants.near_tests(tests, "agent/a/x.c")],
                         ["agent/a/x_test", "agent/a/quick_test", "agent/a/slow_test", "agent/agent_test", "scenarios",
                          "seeds 1-3"])

    def test_who_is_stopped_ends_what_it_runs(self):
        place = self.bank.one("comparison moved", ">", ">=")
        timer = threading.Timer(0.3, lambda: setattr(self.bank.stand, "stopped", True))
        timer.start()
        try:
            with self.assertRaises(stand.Stopped):
                self.bank.judge(place)
        finally:
            timer.join()
            self.bank.stand.stopped = False


def main():
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(MutantsTest))
    failed = len(result.failures) + len(result.errors)
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
