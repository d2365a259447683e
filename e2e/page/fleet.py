"""Fleets of a test's own, in a private folder, on free ports. All of it ends with the test.

    with Hub() as hub:        a hub's API server alone, with the custom resources: bulk(hub, ...) fills it
    with Fleet(3) as fleet:   the demo's programs as users run them: hub-agent, members, their agents; fleet.hub is its hub
    with live_page(hub) as served:   `kubectl fleet page` on one of these: served.link, served.origin
"""
import collections
import os
import re
import subprocess
import threading

import devtools
from api import Api, collection, condition
from bulk import bulk
from devtools import Failure, Timeout

__all__ = ["Hub", "Fleet", "Program", "live_page", "Failure", "Timeout", "bulk", "collection", "condition"]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(ROOT, "build", "bin")


def run(command, text=None, timeout=900, **environment):
    """Runs a command in the project's folder; returns what it said. Failure tells its last lines."""
    try:
        done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **environment})
    except subprocess.TimeoutExpired as slow:
        said = ((slow.stdout or b"") + (slow.stderr or b"")).decode(errors="replace").strip()
        raise Timeout(f"waited {timeout:g} s for {' '.join(command)} to end; it said: {said[-500:]}") from None
    if done.returncode:
        raise Failure(f"{' '.join(command)} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-1000:]}")
    return done.stdout


class Program:
    """A program that says when it is there, by words that fit a pattern: `found` is the match. The kernel kills it when this
    program is gone."""

    def __init__(self, command, pattern, timeout=600):
        self.said = collections.deque(maxlen=1000)
        self.found = None
        self.pattern = re.compile(pattern)
        self.ready = threading.Event()
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], cwd=ROOT, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        threading.Thread(target=self._listen, daemon=True).start()
        self.ready.wait(timeout)
        if not self.found:
            self.close()
            how = "ended and" if self.ready.is_set() else f"runs for {timeout:g} s and"
            raise Failure(f"{' '.join(command)} {how} never said {pattern!r}; it said: {''.join(self.said).strip()}")

    def _listen(self):
        with self.process.stdout as lines:
            for line in lines:
                self.said.append(line)
                if not self.found and (found := self.pattern.search(line)):
                    self.found = found
                    self.ready.set()
        self.ready.set()

    def end(self, timeout=300):
        """Asks it to end; returns its exit code."""
        self.process.terminate()
        return self.process.wait(timeout)

    def close(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Server:
    """One API server of a kubeconfig: kubectl, and requests of one's own (`api`)."""

    def __init__(self, kubeconfig, context, folder):
        self.kubeconfig = kubeconfig
        self.context = context
        self.api = Api(kubeconfig, context, folder)

    def kubectl(self, *words, text=None, timeout=600):
        """Runs kubectl; returns what it said."""
        return run(["kubectl", "--kubeconfig", self.kubeconfig, "--context", self.context, *words], text, timeout)

    def apply(self, manifest):
        """Applies a manifest, a text."""
        return self.kubectl("apply", "--validate=false", "-f", "-", text=manifest)

    def fleet(self, *words, timeout=600):
        """Runs `kubectl fleet`, its program of this build."""
        return run([os.path.join(BIN, "kubectl-fleet"), *words, "--kubeconfig", self.kubeconfig, "--context", self.context],
                   timeout=timeout)

    def wait_condition(self, what, kind, status="True", timeout=600):
        """Waits for a condition of an object, as `crp/web`."""
        return self.kubectl("wait", f"--for=condition={kind}={status}", what, f"--timeout={timeout}s", timeout=timeout + 10)

    def wait_gone(self, what, timeout=600):
        return self.kubectl("wait", "--for=delete", what, f"--timeout={timeout}s", timeout=timeout + 10)

    def wait(self, kind, holds, what, timeout=600, namespace=None):
        """Waits by a watch until holds(objects by name) is true; `what` says for people what is waited for."""
        return self.api.wait(collection(kind, namespace), holds, what, timeout)


class Hub(Server):
    """A hub's API server alone: devcluster with the custom resources, nothing that acts on them."""

    def __init__(self):
        self.scratch = devtools.Scratch(devtools.fast_folder())
        self.program = None
        try:
            kubeconfig = os.path.join(self.scratch.path, "kubeconfig")
            self.program = Program([os.path.join(BIN, "devcluster"), "--no-sync", "--port", "0", "--data",
                                    os.path.join(self.scratch.path, "data"), "--kubeconfig", kubeconfig], "devcluster ready on ")
            super().__init__(kubeconfig, "hub", self.scratch.path)
            self.kubectl("create", "--validate=false", "-f", os.path.join(ROOT, "charts/hub-agent/files/crds"))
            self.api.wait("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                          lambda crds: all(condition(c, "Established") == "True" for c in crds.values()), "the custom resources")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.program:
            self.program.close()
        self.scratch.remove()


class Fleet:
    """The demo's fleet in a folder of its own: hub, members, agents, each under its keeper. With `acts`, the demo's
    applications, too, one of them after an update run. `hub` and on(member) are its servers."""

    def __init__(self, members=3, acts=False):
        devtools.end_on_signals()
        self.scratch = devtools.Scratch(devtools.fast_folder())
        self.folder = os.path.join(self.scratch.path, "demo")
        self.members = [f"member-{n + 1}" for n in range(members)]
        self.environment = {"DEMO_FOLDER": self.folder, "DEMO_MEMBERS": str(members), "DEMO_ACTS": "all" if acts else "none"}
        try:
            run(["e2e/demo/run"], timeout=1800, **self.environment)
            self.kubeconfig = os.path.join(self.folder, "kubeconfig")
            self.hub = self.on("hub")
        except BaseException:
            self.close()
            raise

    def on(self, context):
        """The API server of a member, or the hub's."""
        return Server(self.kubeconfig, context, self.scratch.path)

    def end(self, *names):
        """Ends programs of the fleet: hub-agent, member-1, devcluster."""
        run(["e2e/demo/down", "--quiet", *names], **self.environment)

    def go_on(self):
        """Starts again what does not run."""
        run(["e2e/demo/run"], **self.environment)

    def log(self, name):
        """What a program said."""
        with open(os.path.join(self.folder, f"{name}.log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        devtools.end_users(self.scratch.path)
        self.scratch.remove()


def live_page(server, *flags):
    """`kubectl fleet page` for a hub: a Program with `link`, which holds the token, and `origin`, which does not."""
    program = Program([os.path.join(BIN, "kubectl-fleet"), "page", *flags, "--kubeconfig", server.kubeconfig,
                       "--context", server.context], r"(https?://[^/\s]+)\S*")
    program.link, program.origin = program.found[0], program.found[1]
    return program
