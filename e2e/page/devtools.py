"""One headless Chromium as a process, and the conversation with it: JSON over two pipes, each message ended by NUL.

A browser dies with whoever started it: it ends when its pipe is closed, the kernel kills it when its starter is killed,
and what its folder held is removed by the next one that is started."""
import fcntl
import glob
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = ["/usr/lib/chromium/chromium", "chromium", "chromium-headless-shell", "google-chrome"]
MAX_MESSAGE = 256 << 20
STARTING = 300
ENDING = 120

# No first run, no traffic of its own, no name but this machine's.
FLAGS = """--headless=new --remote-debugging-pipe --disable-gpu --no-first-run --no-default-browser-check --no-pings
    --no-proxy-server --disable-background-networking --disable-breakpad --disable-client-side-phishing-detection
    --disable-component-update --disable-component-extensions-with-background-pages --disable-default-apps
    --disable-domain-reliability --disable-extensions --disable-sync --disable-dev-shm-usage --metrics-recording-only
    --password-store=basic --use-mock-keychain --mute-audio --hide-scrollbars --force-color-profile=srgb
    --disable-background-timer-throttling --disable-backgrounding-occluded-windows --disable-renderer-backgrounding
    --lang=en-US
    --disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication,CertificateTransparencyComponentUpdater,PaintHolding"""
NAMES = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"


class Failure(Exception):
    """What could not be done, as a sentence."""


class Timeout(Failure):
    """What was waited for did not come, and what was seen instead."""


def find_program():
    """The browser of this machine, or None. CHROMIUM in the environment names another."""
    for name in [os.environ.get("CHROMIUM") or "", *PROGRAMS]:
        found = name and shutil.which(name)
        if found:
            return found
    return None


def end_on_signals():
    """A signal that asks for the end becomes SystemExit, so that `with` and `finally` have their turn."""
    def leave(number, _):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, leave)


# ---- scratch folders: held by a lock, so that those whose owner was killed are known and removed ----

PREFIX = "argosy-page-"


def fast_folder():
    """Where fleets live: in memory, unless TMPDIR says where or there is little of it."""
    room = os.access("/dev/shm", os.W_OK) and not os.environ.get("TMPDIR") and os.statvfs("/dev/shm")
    return "/dev/shm" if room and room.f_bavail * room.f_frsize > 1 << 30 else tempfile.gettempdir()


def users_of(folder):
    """The processes that have a private folder in their command line: (id, time of birth), keepers of others first."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().decode(errors="replace")
        except OSError:
            continue
        if folder in words and int(pid) != os.getpid() and (seen := stat_of(int(pid))):
            found.append(("e2e/demo/keep" not in words, int(pid), seen[1]))
    return [(pid, born) for _, pid, born in sorted(found)]


def end_users(folder):
    """Kills the programs of a fleet that lives in a private folder: nothing of it is wanted any more."""
    deadline = time.monotonic() + ENDING
    while (users := users_of(folder)) and time.monotonic() < deadline:
        watched = [f for pid, _ in users if (f := descriptor_of(pid)) is not None]
        kill_all(users)
        for one in watched:
            select.select([one], [], [], max(0, deadline - time.monotonic()))
            os.close(one)


def sweep():
    """Removes folders that nobody holds any longer, and ends what still runs of their fleets."""
    for base in {tempfile.gettempdir(), fast_folder()}:
        for held in glob.glob(os.path.join(base, PREFIX + "*", "held")):
            folder = os.path.dirname(held)
            try:
                with open(held, "rb") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.stat(folder).st_uid == os.geteuid():
                        end_users(folder)
                        shutil.rmtree(folder, ignore_errors=True)
            except OSError:
                pass


class Scratch:
    """A folder of one's own below the temporary one. It is gone at the end, or by the next one after a kill."""

    def __init__(self, base=None):
        sweep()
        self.path = tempfile.mkdtemp(prefix=PREFIX, dir=base)
        part = os.path.join(self.path, "held.part")
        self.lock = open(part, "wb")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        os.rename(part, os.path.join(self.path, "held"))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()


# ---- processes ----

def stat_of(pid):
    """Parent and time of birth of a process, or None where it is gone. The latter tells it from a later one of its id."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
            words = f.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else (int(words[1]), words[19])


def family(root):
    """A process and all that came of it: a list of (id, time of birth)."""
    seen = {int(p): s for p in os.listdir("/proc") if p.isdigit() and (s := stat_of(p))}
    found = [root] if root in seen else []
    for pid in found:
        found.extend(p for p, (parent, _) in seen.items() if parent == pid)
    return [(p, seen[p][1]) for p in found]


def descriptor_of(pid):
    """A descriptor that becomes readable when the process ends, or None where it has ended."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def kill_all(processes):
    """Kills what is still there of them, by id."""
    for pid, born in processes:
        now = stat_of(pid)
        if now and now[1] == born:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Process:
    """The browser's processes and its folder."""

    def __init__(self, program, more=()):
        self.scratch = Scratch()
        self.log = os.path.join(self.scratch.path, "log")
        try:
            self._start(program, more)
        except BaseException:
            self.scratch.remove()
            raise

    def _start(self, program, more):
        theirs_in, self.to = high_pipe()
        self.of, theirs_out = high_pipe()
        self.home = os.path.join(self.scratch.path, "home")
        os.mkdir(self.home)
        flags = [*FLAGS.split(), NAMES, f"--user-data-dir={self.scratch.path}/profile", *more, "about:blank"]
        if os.geteuid() == 0:
            flags.insert(0, "--no-sandbox")
        # setpriv: the kernel ends it when this process is gone. bash: the pipes become descriptors 3 and 4.
        command = ["setpriv", "--pdeathsig", "KILL", "bash", "-c",
                   f'exec "$0" "$@" 3<&{theirs_in}- 4>&{theirs_out}-', program, *flags]
        environment = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR")}
        environment.update(HOME=self.home, TMPDIR=self.scratch.path, TZ="UTC")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=environment, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)

    def said(self):
        """The last lines of its log, for messages."""
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return "".join(f.readlines()[-5:]).strip()
        except OSError:
            return ""

    def end(self):
        """Ends all of it; the pipe's end asks, and who has not gone then is killed."""
        if self.process is None:
            return
        process, self.process = self.process, None
        all_of_it = family(process.pid)
        watched = [f for pid, _ in all_of_it if (f := descriptor_of(pid)) is not None]
        os.close(self.to)
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            pass
        finally:
            kill_all(all_of_it)
            process.kill()
            process.wait()
            for one in watched:  # who still ends might write into the folder while it is removed
                select.select([one], [], [], ENDING)
                os.close(one)
            os.close(self.of)
            self.scratch.remove()


def high_pipe():
    """A pipe whose ends are not among the descriptors that the browser expects."""
    ends = os.pipe()
    high = [fcntl.fcntl(e, fcntl.F_DUPFD_CLOEXEC, 10) for e in ends]
    for e in ends:
        os.close(e)
    return high


# ---- the conversation ----

class Connection:
    """Calls and events. Events come to their listener while a call is waited for, in the order they were sent."""

    def __init__(self, process):
        self.process = process
        self.listener = None  # of (session, method, parameters)
        self.answers = {}
        self.waiting = set()
        self.last = 0
        self.part = bytearray()

    def send(self, method, parameters=None, session=None):
        """Sends a call without waiting for its answer; returns its number."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        rest = memoryview(json.dumps(message).encode() + b"\0")
        try:
            while rest:
                rest = rest[os.write(self.process.to, rest):]
        except BrokenPipeError:
            raise Failure(f"the browser has ended: {self.process.said()}") from None
        return self.last

    def call(self, method, parameters=None, session=None, timeout=300):
        """Sends a call and returns its answer."""
        number = self.send(method, parameters, session)
        self.waiting.add(number)
        try:
            self.pump(lambda: number in self.answers, timeout, f"the answer to {method}")
            answer = self.answers.pop(number)
        finally:
            self.waiting.discard(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error'].get('message', answer['error'])}")
        return answer["result"]

    def pump(self, done, timeout, what):
        """Takes messages in until done() holds."""
        deadline = time.monotonic() + timeout
        while not done():
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.of], [], [], left)[0]:
                raise Timeout(f"waited {timeout:g} s for {what}; it did not come. The browser's log: {self.process.said()}")
            self._read()

    def _read(self):
        data = os.read(self.process.of, 1 << 20)
        if not data:
            raise Failure(f"the browser has ended: {self.process.said()}")
        *whole, rest = data.split(b"\0")
        for one in whole:
            message = bytes(self.part) + one
            self.part.clear()
            self._take(json.loads(message))
        self.part += rest
        if len(self.part) > MAX_MESSAGE:
            raise Failure(f"a message of the browser is longer than {MAX_MESSAGE} bytes")

    def _take(self, message):
        if "id" in message:
            if message["id"] in self.waiting:
                self.answers[message["id"]] = message
        elif self.listener:
            self.listener(message.get("sessionId"), message["method"], message["params"])
