#!/usr/bin/env python3
"""A limit of a test that runs on a real clock is so large that only a hang meets it, or says `passes` in a comment on its
line: it is to pass, and a machine of any speed lets it. C: what is added to loop_now_ms() in tests of a real loop, and
alarms. Scripts of tests and the guides: options and calls named timeout, and what is added to SECONDS."""
import re
import sys

from tree import files

LEAST_MS = 60_000
LEAST_S = 300
REAL = re.compile(r"\bloop_new_real\(")
INCLUDES = re.compile(r'^#include "([^"]+_test\.h)"', re.M)
ADDED = re.compile(r"\bloop_now_ms\([^()]*(?:\([^()]*\))?[^()]*\)\s*\+\s*(\d+)\b")
ALARM = re.compile(r"\balarm\((\d+)\)")
SCRIPT = re.compile(r"(?:--timeout[= ]|\btimeout=|\btimeout |\bsettimeout\(|\bSECONDS \+ )(\d+)([sm]?)\b")
NO_TESTS = ("e2e/bench/", "e2e/kube/measure", "e2e/kube/go", "e2e/kube/build", "e2e/fuzz/", "e2e/differential/", "e2e/lint/")


def in_tests(text):
    for number, line in enumerate(text.split("\n"), 1):
        for found, unit in [(m, 1) for m in ADDED.finditer(line)] + [(m, 1000) for m in ALARM.finditer(line)]:
            if int(found.group(1)) * unit < LEAST_MS and "passes" not in line:
                yield number, found.group(0)


def in_script(text):
    for number, line in enumerate(text.split("\n"), 1):
        for found in SCRIPT.finditer(line):
            if int(found.group(1)) * (60 if found.group(2) == "m" else 1) < LEAST_S and "passes" not in line:
                yield number, found.group(0)


def of_a_real_loop(tests):
    """Those that make one, and those that include a header that does."""
    real = {path for path, text in tests.items() if REAL.search(text)}
    while more := {path for path, text in tests.items() if path not in real and real.intersection(INCLUDES.findall(text))}:
        real |= more
    return real


def is_script(path, text):
    return path.startswith("docs/guide/") or (path.startswith("e2e/") and not path.startswith(NO_TESTS) and
                                              (text.startswith("#!") or path.endswith((".sh", ".py"))))


def check_itself():
    assert list(in_tests("        f(loop_now_ms(r->loop) + 20000);\n")) and list(in_tests("        alarm(20);\n"))
    assert not list(in_tests("        f(loop_now_ms(r->loop) + 20); /* passes */\n        f(loop_now_ms(of(s)->loop) + 60000);"))
    assert [n for n, _ in in_script("wait --timeout=60s x\ns.settimeout(60)\ntimeout 60 program\nuntil=$((SECONDS + 60))\nf(timeout=4m)")] == [1, 2, 3, 4, 5]
    assert not list(in_script("join --timeout 2s # passes\nkubectl wait --timeout=5m"))
    assert of_a_real_loop({"a_test.h": "loop_new_real(e)", "b_test.c": '#include "a_test.h"\n', "c_test.c": ""}) == {"a_test.h", "b_test.c"}


def main():
    bad = 0
    check_itself()
    tests = dict(files("*_test.c", "*_test.h"))
    finds = [(path, find) for path in sorted(of_a_real_loop(tests)) for find in in_tests(tests[path])]
    finds += [(path, find) for path, text in files("e2e", "docs/guide/*.md") if is_script(path, text) for find in in_script(text)]
    for path, (number, words) in finds:
        print(f"{path}:{number}: '{words}' may be too short on a busy machine; one that is to pass says `passes`")
        bad += 1
    return 1 if bad else 0


sys.exit(main())
