"""make branches: conditions of which unit tests take one way only, where a mutant is sure to survive. See docs/mutants.md."""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

import mutants
import places


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="folder or file")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--flags", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--archives", required=True)
    parser.add_argument("--objects", required=True, help="folder of the objects of the build")
    return parser.parse_args()


def build(o, folder, files):
    """The files' objects, which count what they do."""
    made = []
    for file in files:
        made.append(os.path.join(folder, file + ".o"))
        os.makedirs(os.path.dirname(made[-1]), exist_ok=True)
        subprocess.run([o.compiler, *shlex.split(o.flags), "-O1", "-w", "--coverage", "-c", "-o", made[-1], file], check=True,
                       env={**os.environ, "CCACHE_DISABLE": "1"})
    return made


def run(o, folder, made, tests):
    """Plays the tests. Those that fail are told, and count as far as they came."""
    program = os.path.join(folder, "program")
    for test in tests:
        subprocess.run([o.compiler, "-fuse-ld=gold", "--coverage", *test.entry(), "-o", program, os.path.join(o.objects, test.program), *made,
                        *shlex.split(o.archives), *shlex.split(o.libraries)], check=True)
        done = subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=1200, check=False)
        if done.returncode != 0:
            print(f"{test.name} fails", file=sys.stderr)


def lines_of(folder, file):
    """What gcov counted: [(line, times run, [times each way of its branches was taken])]."""
    counted = os.path.join(folder, file + ".gcda")
    if not os.path.exists(counted):
        return []
    said = subprocess.run(["gcov", "-b", "-c", "-t", "--json-format", "-o", os.path.dirname(counted), counted], check=True,
                          capture_output=True).stdout
    return [(line["line_number"], line["count"], [b["count"] for b in line["branches"] if not b["throw"]])
            for f in json.loads(said)["files"] if f["file"].endswith(file) for line in f["lines"]]


def finding(text, count, ways):
    """`never` for what is not run, a point for each way that is taken and an X for each that is not; "" of what is fine,
    or has to do with memory that runs out."""
    if places.NO_MEMORY.search(text) or places.ALLOCATES.search(text) or text in ("", "}"):
        return ""
    if not ways:
        return "" if count else "never"
    if 0 not in ways or (text.startswith("TRY(") and ways.count(0) == 1):
        return ""
    return "".join("." if w else "X" for w in ways)


def main():
    o, tree = options(), os.getcwd()
    files = [f for f in mutants.candidates(tree) if not o.only or f == o.only or f.startswith(o.only.rstrip("/") + "/")]
    units = [t for t in mutants.all_tests(tree, "1") if t.kind == "unit"]
    tests = {t.name: t for f in files for t in mutants.near_tests(units, f)}
    n = 0
    with tempfile.TemporaryDirectory(prefix="argosy-branches-") as folder:
        run(o, folder, build(o, folder, files), tests.values())
        for file in files:
            text = mutants.read(os.path.join(tree, file)).split("\n")
            for line, count, ways in lines_of(folder, file):
                found = finding(text[line - 1].strip(), count, ways)
                n += bool(found)
                if found:
                    print(f"{file}:{line}: {found} {text[line - 1].strip()}")
    print(f"{n} lines in {len(files)} files, by {len(tests)} tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
