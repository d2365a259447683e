#!/usr/bin/env python3
"""A buffer that is freed at the end of its scope is set up before anything can leave that scope: what lies in it
until then is not zero."""
import re
import sys

from tree import code_only, files

DECLARED = re.compile(r"^\s+AUTO_BUF struct buf ([\w, ]+);")
LEAVES = re.compile(r"\breturn\b|\bTRY\(|\bgoto\b")


def violations(text):
    waiting = {}
    for number, line in enumerate(code_only(text).split("\n"), 1):
        if line.startswith("}"):
            waiting = {}
        declared = DECLARED.match(line)
        if declared:
            waiting.update({name.strip(): number for name in declared.group(1).split(",")})
            continue
        for name in [n for n in waiting if re.search(rf"&{n}\b", line)]:
            del waiting[name]
        if LEAVES.search(line):
            for name, since in waiting.items():
                yield number, name, since
            waiting = {}


def check_itself():
    body = "int f(void)\n{\n        AUTO_BUF struct buf a, b;\n\n        buf_init(&a, 1);\n%s        buf_init(&b, 1);\n}\n"
    assert not list(violations(body % ""))
    assert [v[1] for v in violations(body % "        TRY(g());\n")] == ["b"]


def main():
    bad = 0
    check_itself()
    for path, text in files("*.c", "*.h"):
        for number, name, since in violations(text):
            print(f"{path}:{number}: leaves before {name} of line {since} is set up, which is freed all the same")
            bad += 1
    return 1 if bad else 0


sys.exit(main())
