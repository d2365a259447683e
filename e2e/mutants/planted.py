"""make mutants PLANTED=1: plants the bugs of e2e/mutants/planted, which somebody wrote down, one at a time, and plays the
seed of the simulation that has to catch each. See docs/mutants.md."""
import argparse
import dataclasses
import os
import re
import shlex
import shutil
import sys
import tempfile

import stand

PLANTED = "e2e/mutants/planted"
SIMULATION = "e2e/simulation/main_fleet-sim.c.o"


@dataclasses.dataclass
class Bug:
    """As a place is: a file, and its text with the bug in it."""
    name: str
    file: str
    seed: int
    words: str
    old: str = ""
    new: str = ""

    def planted(self, source):
        return source.replace(self.old, self.new)


def read_planted(text):
    """Bugs of a head line `name file seed N: words`, and below it lines of `-` (as the file has them) and `+` (what takes
    their place). RuntimeError names the line."""
    bugs = []
    for number, line in enumerate(text.splitlines(), 1):
        head = re.fullmatch(r"([a-z0-9-]+) (\S+\.c) seed (\d+): (\S.*)", line)
        if head:
            if any(b.name == head.group(1) for b in bugs):
                raise RuntimeError(f"{PLANTED}:{number}: {head.group(1)} is there twice")
            bugs.append(Bug(head.group(1), head.group(2), int(head.group(3)), head.group(4)))
        elif line[:1] in ("-", "+") and bugs:
            if line[0] == "-":
                bugs[-1].old += line[1:] + "\n"
            else:
                bugs[-1].new += line[1:] + "\n"
        elif line and not line.startswith("#"):
            raise RuntimeError(f"{PLANTED}:{number}: not `name file seed N: words`, nor a line of - or +")
    return bugs


def check(bug, source):
    """A bug whose place is not there any more tells nothing."""
    found = source.count(bug.old) if bug.old else 0
    if found != 1:
        raise RuntimeError(f"{PLANTED}: {bug.name}: its lines are {found} times in {bug.file}, not once")


def read(path):
    with open(path, encoding="latin-1", newline="") as f:
        return f.read()


def play(lane, bug, source, seeds):
    """(seed, what was said) of the first seed that fails, or None."""
    why_not = lane.plant(bug, source)
    if why_not:
        raise RuntimeError(f"{bug.name}: {why_not}")
    for seed in seeds:
        test = stand.Test(f"seed {seed}", SIMULATION, ["--seed", str(seed)], "seed", cpu=60, wall=60)
        result = lane.test(test)
        if not result.passed:
            return seed, result.said
    return None


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="how the names of those that are played begin")
    parser.add_argument("--find", default="", help="A-B: the first of these seeds that catches each, in place of its own")
    parser.add_argument("--every", default="1", help="of those, each N-th")
    parser.add_argument("--compiler", default="gcc", help="with its options of optimisation")
    parser.add_argument("--flags", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--archives", required=True)
    parser.add_argument("--objects", required=True, help="folder of the objects of the build")
    return parser.parse_args()


def seeds_of(o, bug):
    if not o.find:
        return [bug.seed]
    first, last = o.find.split("-")
    return range(int(first), int(last) + 1, int(o.every))


def main():
    o = options()
    tree = os.getcwd()
    caught = survived = 0
    folder = tempfile.mkdtemp(prefix="argosy-planted-")
    try:
        bugs = [b for b in read_planted(read(os.path.join(tree, PLANTED))) if b.name.startswith(o.only)]
        sources = {b.file: read(os.path.join(tree, b.file)) for b in bugs}
        for bug in bugs:
            check(bug, sources[bug.file])
        ground = stand.Stand(tree, folder, shlex.split(o.compiler), [f for f in shlex.split(o.flags) if f not in ("-I.", "-g")],
                             shlex.split(o.libraries), shlex.split(o.archives), o.objects)
        lane = stand.Lane(ground, 0)
        os.makedirs(lane.folder, exist_ok=True)
        for bug in bugs:
            found = play(lane, bug, sources[bug.file], seeds_of(o, bug))
            caught, survived = caught + bool(found), survived + (not found)
            print(f"caught    {bug.name}: {found[1]}" if found else f"SURVIVED  {bug.name}: {bug.words}", flush=True)
    except RuntimeError as e:
        print(e, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{caught + survived} planted, {caught} caught, {survived} survived")
    return survived > 0


if __name__ == "__main__":
    sys.exit(main())
