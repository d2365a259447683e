"""make mutants: plants small bugs, one at a time, and tells which of them no test notices. See docs/mutants.md."""
import argparse
import concurrent.futures
import dataclasses
import difflib
import hashlib
import math
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import flow
import places
import stand

ROOTS = ["hub-agent", "member-agent", "common/ctrl"]
JUDGED = "e2e/mutants/judged"
OTHER_COMPILERS = [["clang", "-O2"], ["gcc", "-O3", "-fno-schedule-insns", "-fno-schedule-insns2"]]


# ---- which mutants ----

def candidates(tree):
    """Product code below the roots; mains run only in processes of their own, which are not played here."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *(f"{r}/*.c" for r in ROOTS)],
                            cwd=tree, check=True, capture_output=True, text=True).stdout.split()
    return sorted(f for f in set(listed) if not f.endswith("_test.c") and "/gen/" not in f and
                  not os.path.basename(f).startswith("main_") and os.path.isfile(os.path.join(tree, f)))


def read(path):
    with open(path, encoding="latin-1", newline="") as f:
        return f.read()


def find_places(tree, cache, flags, file):
    """Kept by content: to read a file's syntax tree takes a second."""
    source = read(os.path.join(tree, file))
    how = [read(module.__file__) for module in (places, flow)]
    key = hashlib.sha256("\0".join([file, source, *how]).encode("latin-1")).hexdigest()
    kept = os.path.join(cache, key)
    try:
        with open(kept, "rb") as f:
            return pickle.load(f)
    except FileNotFoundError:
        pass
    found = places.places_of(file, source, flags, tree)
    os.makedirs(cache, exist_ok=True)
    part = f"{kept}.{os.getpid()}"
    with open(part, "wb") as f:
        pickle.dump(found, f)
    os.replace(part, kept)
    return found


def in_order(found, seed):
    """A weighted shuffle in which each place draws its own lot: what others come and go changes no lot."""
    def lot(p):
        digest = hashlib.sha256(f"{seed}|{p.id}".encode()).digest()
        return -math.log((int.from_bytes(digest[:8], "big") + 1) / (1 << 64)) / places.KINDS[p.kind]
    return sorted(found, key=lambda p: (lot(p), p.id))


# ---- which tests ----

def near_tests(tests, file):
    """Quick and near ones first: of the same file, of its folder, below it, up to the agent, then the whole fleet."""
    folder, stem = os.path.dirname(file), os.path.splitext(file)[0]

    def rank(t):
        if t.kind != "unit":
            return 4 if t.kind == "scenario" else 5
        if t.name == stem + "_test":
            return 0
        where = os.path.dirname(t.name)
        if where == folder:
            return 1
        if where.startswith(folder + "/"):
            return 2
        return 3 if folder.startswith(where + "/") else None

    ranked = [(rank(t), t) for t in tests]
    return [t for r, t in sorted((p for p in ranked if p[0] is not None), key=lambda p: (p[0], p[1].cpu, p[1].name))]


def nearest(tests, file):
    """Those of the same file and folder."""
    folder = os.path.dirname(file)
    return [t for t in near_tests(tests, file) if t.kind == "unit" and os.path.dirname(t.name) == folder]


def all_tests(tree, seeds):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *(f"{r}/*_test.c" for r in ROOTS)],
                            cwd=tree, check=True, capture_output=True, text=True).stdout.split()
    unit = [stand.Test(f[:-2], f + ".o", [], "unit") for f in sorted(set(listed))
            if os.path.isfile(os.path.join(tree, f))]
    return unit + [
        stand.Test("scenarios", "e2e/scenarios/main_fleet-scenarios.c.o", ["e2e/scenarios/cases"], "scenario"),
        stand.Test(f"seeds {seeds}", "e2e/simulation/main_fleet-sim.c.o", ["--seeds", seeds], "seed"),
    ]


# ---- the run ----

@dataclasses.dataclass
class Verdict:
    place: places.Place
    counts: bool = True
    caught_by: str = ""  # empty: it survived
    kind: str = ""
    said: str = ""
    seconds: float = 0


def sanitized(lane, place, source, near):
    """(test, what it said) of the first near test that fails in the build with sanitizers, or None."""
    lane.make(place, source)
    for test in near:
        result = lane.test_sanitized(test)
        if not result.passed:
            return test.name, result.said
    return None


def judge(lane, place, source, tests, sanitizing=None):
    """`sanitizing`: the lane of the other build, or None."""
    began = time.monotonic()
    verdict = Verdict(place)
    verdict.said = lane.plant(place, source) or ""
    verdict.counts = not verdict.said
    for test in near_tests(tests, place.file) if verdict.counts else []:
        result = lane.test(test)
        if not result.passed:
            verdict.caught_by, verdict.said = test.name, result.said
            verdict.kind = "hang" if result.said == "hang" else test.kind
            break
    if verdict.counts and not verdict.caught_by and any(lane.is_same_to(c, place, source) for c in OTHER_COMPILERS):
        verdict.counts, verdict.said = False, "the same program"
    if sanitizing and verdict.counts and not verdict.caught_by:
        caught = sanitized(sanitizing, place, source, nearest(tests, place.file))
        if caught:
            verdict.kind, (verdict.caught_by, verdict.said) = "sanitizer", caught
    verdict.seconds = time.monotonic() - began
    return verdict


# ---- places that were judged ----

def read_judged(path):
    """{id: (file, function, reason)} of lines `id file function: reason`."""
    judged = {}
    for number, line in enumerate(read(path).splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        found = re.fullmatch(r"([0-9a-f]{10}) (\S+) (\w+): ((?:equivalent|cost|wording|memory): \S.*)", line)
        if not found or found.group(1) in judged:
            raise RuntimeError(f"{path}:{number}: not `id file function: equivalent|cost|wording|memory: why`, or twice")
        judged[found.group(1)] = found.groups()[1:]
    return judged


def check_judged(judged, found, files):
    """What was judged must still be there, or who reads the list is told what is not so: RuntimeError. `files`: those
    looked at."""
    here = {p.id: (p.file, p.function) for p in found}
    gone = [f"{i} {file} {function}" for i, (file, function, _) in judged.items()
            if file in files and here.get(i) != (file, function)]
    if gone:
        raise RuntimeError("e2e/mutants/judged names what is no longer there:\n  " + "\n  ".join(gone))


class Round:
    """Takes places in order until as many as wished have counted. Which ones these are depends on no timing: another
    is begun only when those that count and those under way are too few."""

    def __init__(self, ordered, wished, tell):
        self.ordered, self.wished, self.tell = ordered, wished, tell
        self.verdicts, self.next, self.under_way, self.failure = {}, 0, 0, None
        self.changed = threading.Condition()

    def take(self):
        with self.changed:
            while True:
                counted = sum(v.counts for v in self.verdicts.values())
                if self.failure or counted >= self.wished or \
                        (self.next >= len(self.ordered) and not self.under_way):
                    return None
                if counted + self.under_way < self.wished and self.next < len(self.ordered):
                    self.next += 1
                    self.under_way += 1
                    return self.next - 1
                self.changed.wait()

    def give(self, i, verdict):
        with self.changed:
            self.under_way -= 1
            self.verdicts[i] = verdict
            self.tell(verdict)
            self.changed.notify_all()

    def fail(self, failure):
        with self.changed:
            self.failure = self.failure or failure
            self.changed.notify_all()

    def work(self, lane, sources, tests):
        try:
            while (i := self.take()) is not None:
                place = self.ordered[i]
                self.give(i, judge(lane, place, sources(place.file), tests, getattr(lane, "sanitizing", None)))
        except Exception as e:  # pylint: disable=broad-except # told by the main thread
            self.fail(e)

    def run(self, lanes, sources, tests):
        threads = [threading.Thread(target=self.work, args=(lane, sources, tests)) for lane in lanes]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if self.failure:
            raise self.failure
        return [self.verdicts[i] for i in sorted(self.verdicts)]


# ---- what is said ----

def title(p):
    return f"{p.id} {p.file}:{p.line} {p.function}: {p.kind}"


def line_of(v):
    if not v.counts:
        return f"  --  {title(v.place)}: not counted, {v.said}"
    if v.caught_by:
        return f"caught    {title(v.place)}: {v.caught_by}: {v.said} ({v.seconds:.1f} s)"
    return f"SURVIVED  {title(v.place)} ({v.seconds:.1f} s)"


def diff_of(place, source):
    return "".join(difflib.unified_diff(source.splitlines(True), place.planted(source).splitlines(True),
                                        "a/" + place.file, "b/" + place.file, n=3))


def summary(verdicts, sources, n_judged=0):
    counted = [v for v in verdicts if v.counts]
    survivors = [v for v in counted if not v.caught_by]
    lines = [f"\n{title(v.place)}\n{diff_of(v.place, sources(v.place.file))}" for v in survivors]
    by = {k: sum(v.kind == k for v in counted) for k in ("unit", "scenario", "seed", "hang", "sanitizer")}
    replaced = len(verdicts) - len(counted)
    lines.append(f"caught by unit tests {by['unit']}, by scenarios {by['scenario']}, by seeds {by['seed']}, as they hung "
                 f"{by['hang']}, by sanitizers {by['sanitizer']}; replaced, as they did not compile or were the same program: {replaced}; "
                 f"judged ({JUDGED}), not planted: {n_judged}")
    lines.append(f"{len(counted)} planted, {len(counted) - len(survivors)} caught, {len(survivors)} survived")
    return "\n".join(lines)


# ---- main ----

def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=60, help="mutants that count")
    parser.add_argument("--seed", default="1", help="which ones; the same seed plants the same in the same code")
    parser.add_argument("--only", default="", help="folder or file to stay in")
    parser.add_argument("--pick", default="", help="ids of single mutants, to try these again")
    parser.add_argument("--lanes", type=int, default=min(2, os.cpu_count() or 1), help="mutants at once")
    parser.add_argument("--sim-seeds", default="1-20", help="seeds of the simulation that each mutant is played with")
    parser.add_argument("--quick", action="store_true", help="unit tests alone: where these have holes")
    parser.add_argument("--compiler", default="gcc", help="with its options of optimisation")
    parser.add_argument("--flags", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--archives", required=True)
    parser.add_argument("--objects", required=True, help="folder of the objects of the build")
    parser.add_argument("--sanitized-compiler", default="", help="the build with sanitizers, which looks at survivors")
    parser.add_argument("--sanitized-archives", default="")
    parser.add_argument("--sanitized-objects", default="")
    return parser.parse_args()


def chosen(o, tree, flags):
    """(places in order, how many there are, in how many files, how many of them are judged)"""
    everywhere = candidates(tree)
    files = [f for f in everywhere if not o.only or f == o.only or f.startswith(o.only.rstrip("/") + "/")]
    cache = os.path.join(tree, "build", "mutants", "places")
    clang_flags = [f for f in flags if f[:2] in ("-I", "-D", "-s", "-f") and f not in ("-fno-strict-aliasing",)]
    with concurrent.futures.ProcessPoolExecutor(o.lanes) as pool:
        found = [p for ps in pool.map(find_places, *zip(*((tree, cache, clang_flags, f) for f in files))) for p in ps]
    judged = read_judged(os.path.join(tree, JUDGED))
    check_judged(judged, found, {*files, *(f for f, _, _ in judged.values() if f not in everywhere)})
    if o.pick:
        wanted = o.pick.replace(",", " ").split()
        return [p for p in found if any(p.id.startswith(w) for w in wanted)], len(found), len(files), len(judged)
    return in_order([p for p in found if p.id not in judged], o.seed), len(found), len(files), len(judged)


def main():
    o = options()
    tree = os.getcwd()
    flags = shlex.split(o.flags)
    try:
        ordered, n_places, n_files, n_judged = chosen(o, tree, flags)
    except RuntimeError as e:
        print(e, file=sys.stderr)
        return 1
    number = len(ordered) if o.pick else o.number
    print(f"{n_places} places in {n_files} files; {number} mutants of seed {o.seed}, {o.lanes} lanes", flush=True)
    folder = tempfile.mkdtemp(prefix="argosy-mutants-")
    try:
        ground = stand.Stand(tree, folder, shlex.split(o.compiler), [f for f in flags if f not in ("-I.", "-g")],
                             shlex.split(o.libraries), shlex.split(o.archives), o.objects)

        def stop(*_):
            stand.Stand.stopped = True

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        lanes = [stand.Lane(ground, i) for i in range(o.lanes)]
        if o.sanitized_objects:
            other = stand.Stand(tree, os.path.join(folder, "sanitized"), shlex.split(o.sanitized_compiler), ground.flags,
                                ground.libraries, shlex.split(o.sanitized_archives), o.sanitized_objects, ground)
            for i, lane in enumerate(lanes):
                lane.sanitizing = stand.Lane(other, i)
        tests = [t for t in all_tests(tree, o.sim_seeds) if t.kind == "unit" or not o.quick]
        for test in {t.program: t for p in ordered for t in near_tests(tests, p.file)}.values():
            ground.object_of(test.program)

        def sources(file):
            return read(os.path.join(ground.source, file))

        verdicts = Round(ordered, number, lambda v: print(line_of(v), flush=True)).run(lanes, sources, tests)
        print(summary(verdicts, sources, n_judged))
    except (stand.Stopped, RuntimeError) as e:
        print(f"stopped: {e}" if str(e) else "stopped", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
