"""Where mutants are built and tested: a copy of the tree and of what `make build tests` made of it, so that nobody's
work and no other lane is in the way. A mutated file is compiled alone and linked in front of the archives, which then
leave their own version of it out."""
import dataclasses
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

MEMORY_MAX = 8 << 30
OUTPUT_MAX = 64 << 20
SANITIZER = re.compile(r"(?:ERROR: |runtime error: )(?:\w+Sanitizer: )?(.{1,60})")
FAILED_UNIT = re.compile(r"^\[  FAILED  \] ([a-z_]\w*)", re.M)


@dataclasses.dataclass
class Test:
    name: str       # "hub-agent/rollout/rollout_test", "scenarios", "seeds 1-3"
    program: str    # of the build: the object of its main file, relative to the objects
    arguments: list
    kind: str       # "unit", "scenario", "seed"
    cpu: float = 0  # seconds, of the tree as it is
    wall: float = 0

    def entry(self):
        """How the linker finds main(): in the object of a unit test it has the name that the Makefile gives it."""
        name = "test_main_" + re.sub(r"\W", "_", self.name)
        return [f"-Wl,--defsym=main={name}"] if self.kind == "unit" else []


@dataclasses.dataclass
class Result:
    passed: bool
    said: str = ""  # what failed
    cpu: float = 0
    wall: float = 0


class Stopped(Exception):
    """The user, or who runs us, has had enough."""


class Stand:
    """The copy, shared by the lanes, which only read it."""

    stopped = False  # ends the lanes at once, with the programs that they run

    def __init__(self, tree, folder, compiler, flags, libraries, archives, objects, base=None):
        """With `base`, another build of the same copy."""
        self.tree, self.folder, self.compiler = tree, folder, compiler
        self.flags, self.libraries = flags, libraries
        self.objects = os.path.join(folder, "objects")
        self.archives = [os.path.join(folder, os.path.basename(a)) for a in archives]
        self.source = base.source if base else os.path.join(folder, "source")
        os.makedirs(folder, exist_ok=True)
        if not base:
            self.copy_source()
        for a, mine in zip(archives, self.archives):
            shutil.copy(os.path.join(tree, a), mine)
            subprocess.run(["strip", "--strip-debug", mine], check=True)
        self.object_root = os.path.join(tree, objects)

    def copy_source(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=self.tree, check=True,
                                capture_output=True, text=True).stdout.split("\0")
        for path in filter(None, listed):
            origin, copy = os.path.join(self.tree, path), os.path.join(self.source, path)
            if os.path.isfile(origin):
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copy(origin, copy)

    def object_of(self, program):
        """A main object, copied when it is first wanted."""
        copy = os.path.join(self.objects, program)
        if not os.path.exists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            part = f"{copy}.{os.getpid()}.{time.monotonic_ns()}"
            shutil.copy(os.path.join(self.object_root, program), part)
            os.replace(part, copy)
        return copy


class Lane:
    """One mutant after another."""

    def __init__(self, stand, number):
        self.stand = stand
        self.folder = os.path.join(stand.folder, f"lane{number}")
        self.mutated = os.path.join(self.folder, "source")
        self.temporary = os.path.join(self.folder, "tmp")
        self.originals = {}

    def make(self, place, source):
        """The mutant's object of this build, of a place that can be tested."""
        os.makedirs(self.folder, exist_ok=True)
        if self.compile(place.file, place.planted(source)) is None:
            raise RuntimeError(f"{place.file}: this build refuses what the other one took")

    def compile(self, file, text, compiler=None):
        """The object of a file with this text as bytes, or None when the build refuses it."""
        path, made = os.path.join(self.mutated, file), os.path.join(self.folder, "other.o" if compiler else "mutant.o")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="latin-1", newline="") as f:
            f.write(text)
        # Paths as in the tree, since assertions name them; no debugger's lines, so that equal code is equal bytes.
        command = [*(compiler or self.stand.compiler), *self.stand.flags, "-g0", "-I.", f"-I{self.stand.source}", "-c", "-o", made, file]
        code = subprocess.run(command, cwd=self.mutated, capture_output=True,
                              env={**os.environ, "CCACHE_DISABLE": "1"}).returncode
        os.unlink(path)
        if code != 0:
            return None
        with open(made, "rb") as f:
            return f.read()

    def plant(self, place, source):
        """None when it can be tested; else why it does not count."""
        if place.file not in self.originals:
            self.originals[place.file] = self.compile(place.file, source)
            if self.originals[place.file] is None:
                raise RuntimeError(f"{place.file} does not compile as it is")
        made = self.compile(place.file, place.planted(source))
        if made is None:
            return "does not compile"
        return "the same program" if made == self.originals[place.file] else None

    def is_same_to(self, compiler, place, source):
        """Another compiler, which sees other things, makes one program of both."""
        made = self.compile(place.file, place.planted(source), compiler)
        return made is not None and made == self.compile(place.file, source, compiler)

    def link(self, test, with_mutant=True):
        program = os.path.join(self.folder, "program")
        mutant = [os.path.join(self.folder, "mutant.o")] if with_mutant else []
        subprocess.run([*self.stand.compiler, "-Wl,-S", *test.entry(), "-o", program, self.stand.object_of(test.program), *mutant,
                        *self.stand.archives, *self.stand.libraries], check=True, capture_output=True)
        return program

    def measure(self, test):
        """Runs it on the tree as it is, where it must pass: how long it may take is derived from that."""
        os.makedirs(self.folder, exist_ok=True)
        result = self.run_program(self.link(test, with_mutant=False), test, 600, 1200)
        if not result.passed:
            raise RuntimeError(f"{test.name} fails without any mutant: {result.said}")
        test.cpu, test.wall = result.cpu, result.wall

    def test(self, test):
        """Of a test that nobody has played yet it is measured first what it takes."""
        if not test.wall:
            self.measure(test)
        return self.run_program(self.link(test), test, 3 * test.cpu + 3, 20 * test.wall + 60)

    def test_sanitized(self, test):
        """In a build with sanitizers, which is slower and maps much more than it uses. Who fails without a mutant too
        tells nothing."""
        result = self.run_program(self.link(test), test, 12 * test.cpu + 12, 40 * test.wall + 120, None)
        if result.passed or self.run_program(self.link(test, with_mutant=False), test, 600, 1200, None).passed:
            return result
        return Result(True)

    def run_program(self, program, test, cpu_limit, wall_limit, memory_max=MEMORY_MAX):
        """Machines are noisy: the limit that counts is of CPU time. The other ends what waits for ever."""
        shutil.rmtree(self.temporary, ignore_errors=True)
        os.makedirs(self.temporary)
        seconds = math.ceil(cpu_limit)
        limits = ["prlimit", f"--cpu={seconds}:{seconds + 2}", f"--fsize={OUTPUT_MAX}", "--core=0",
                  *([f"--as={memory_max}"] if memory_max else [])]
        began = time.monotonic()
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen([*limits, program, *test.arguments], cwd=self.stand.source, stdout=out,
                                     stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True,
                                     env={**os.environ, "TMPDIR": self.temporary})
            failed, usage = self.wait(child, out, test, began + wall_limit)
            if self.stand.stopped:
                raise Stopped()
            said = os.pread(out.fileno(), OUTPUT_MAX, 0).decode("utf-8", "replace")
        cpu, wall = usage.ru_utime + usage.ru_stime, time.monotonic() - began
        if child.returncode == 0 and not failed:
            return Result(True, cpu=cpu, wall=wall)
        return Result(False, why(test, said, child.returncode, wall >= wall_limit), cpu, wall)

    def wait(self, child, out, test, deadline):
        """Scenarios and seeds go on after a failure: they are ended at the first."""
        failed = False
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                return failed, usage
            if test.kind != "unit":
                failed = b"\nFAILED " in b"\n" + os.pread(out.fileno(), 1 << 20, 0)
            if failed or self.stand.stopped or time.monotonic() > deadline:
                os.killpg(child.pid, signal.SIGKILL)
            time.sleep(0.05 if test.cpu > 1 else 0.005)


def why(test, said, status, too_long):
    if too_long or status in (-signal.SIGXCPU,):
        return "hang"
    if test.kind == "unit":
        failed = SANITIZER.search(said) or FAILED_UNIT.search(said)
        if failed:
            return failed.group(1)
    else:
        failed = re.search(r"^FAILED (.*)", said, re.M)
        if failed:
            return failed.group(1)
    return f"signal {-status}" if status < 0 else f"exit code {status}"
