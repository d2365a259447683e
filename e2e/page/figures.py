"""The figures of the live page, measured on a hub that is filled: by e2e/bench/page at full size, by figures-test at a small one.

What a wall clock tells is an upper bound on a machine that others use, too; CPU time, counts and bytes hardly change."""
import collections
import concurrent.futures
import re
import threading
import time

import bulk
import chrome

Size = collections.namedtuple("Size", "clusters placements each")
First = collections.namedtuple("First", "ms tasks files data requests")  # until it is drawn; files, data: bytes
MEMBERS = "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters"
BINDINGS = f"/apis/{bulk.API}/clusterresourcebindings"
PAUSE = 150  # ms between two changes: a view that is drawn again and again is told each 100 ms

# Notes when so many tiles are there and drawn: after the frame that has them.
DRAWN = """(() => {
  const look = new MutationObserver(() => {
    if (document.getElementsByClassName('tile').length < COUNT) return
    look.disconnect()
    requestAnimationFrame(() => setTimeout(() => { window.drawnAt = performance.now() }))
  })
  look.observe(document, { subtree: true, childList: true })
})()"""

# Notes when the text of an element is another than it is now, after the frame that shows it: wall time.
CHANGES = """(() => {
  const text = () => document.querySelector(SELECTOR)?.innerText, before = text()
  window.seenAt = 0
  const look = new MutationObserver(() => {
    if (text() === before) return
    look.disconnect()
    requestAnimationFrame(() => setTimeout(() => { window.seenAt = performance.timeOrigin + performance.now() }))
  })
  look.observe(document, { subtree: true, childList: true, characterData: true })
})()"""


def share(values, part):
    """The value that so many of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def received(page):
    """Bytes that the socket brought, so far."""
    page.settle()
    return sum(f.size for f in page.traffic.frames if not f.sent)


class Usage:
    """What a process takes: memory of its own, sampled for its peak, and CPU time."""

    def __init__(self, pid):
        self.pid = pid
        self.peak_mb = 0.0
        self.over = threading.Event()
        self.sampler = threading.Thread(target=self._sample, daemon=True)
        self.sampler.start()

    def private_mb(self):
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="ascii") as f:
            return sum(int(kb) for kb in re.findall(r"Private_(?:Clean|Dirty): *(\d+) kB", f.read())) / 1024

    def cpu_ms(self):
        with open(f"/proc/{self.pid}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0]) / 1e6

    def _sample(self):
        while not self.over.wait(0.05):
            try:
                self.peak_mb = max(self.peak_mb, self.private_mb())
            except OSError:  # it has ended
                return

    def end(self):
        self.over.set()
        self.sampler.join()


class Large:
    """A filled hub: so many placements on `each` clusters, and the last on all of them, with its bindings."""

    def __init__(self, hub, size, seed=5):
        self.hub = hub
        self.size = size
        self.numbers = bulk.Numbers(seed, time.time())
        bulk.bulk(hub, size.clusters, size.placements - 1, size.each, seed=seed, now=self.numbers.now)
        self.everywhere = bulk.Placement(self.numbers, size.placements - 1, size.clusters, size.clusters)
        hub.api.put("clusterresourceplacements", self.everywhere.document())
        hub.api.put("clusterschedulingpolicysnapshots", self.everywhere.policy_snapshot())
        hub.api.put("clusterresourcesnapshots", self.everywhere.resource_snapshot())
        hub.api.put_all("clusterresourcebindings", (self.everywhere.binding(*s) for s in self.everywhere.standings.items()))

    def healthy(self):
        """A MemberCluster that is."""
        return next(m for m in self.hub.api.get(MEMBERS)["items"] if any(
            c["type"] == "Healthy" and c["status"] == "True" for a in m["status"].get("agentStatus", []) for c in a["conditions"]))

    def turn_member(self, member, well):
        agents = [{**a, "conditions": [{**c, "status": "True" if well else "False"} if c["type"] == "Healthy" else c for c in a["conditions"]]}
                  for a in member["status"]["agentStatus"]]
        self.hub.api.patch(f"{MEMBERS}/{member['metadata']['name']}/status", {"status": {"agentStatus": agents}})

    def turn_binding(self, cluster, standing):
        made = self.everywhere.binding(cluster, standing)
        none = {"failedPlacements": None, "driftedPlacements": None, "diffedPlacements": None}
        self.hub.api.patch(f"{BINDINGS}/{made['metadata']['name']}/status", {"status": {**none, **made["status"]}})


class Figures:
    """What is measured, by name: (value, unit), in the order in which it was."""

    def __init__(self, large, served, browser):
        self.large = large
        self.served = served
        self.browser = browser
        self.usage = Usage(served.process.pid)
        self.told = {}

    def tell(self, name, value, unit):
        self.told[name] = (value, unit)
        print(f"bench {name} {value:.{0 if unit in ('bytes', 'tasks', 'changes', 'requests') else 2}f} {unit}", flush=True)

    # ---- the first view ----

    def _fresh(self):
        page = self.browser.page(1400, 900)
        page.before(DRAWN.replace("COUNT", str(self.large.size.clusters)))
        return page

    def _first(self, traced=False):
        """One first view, nothing of it in a cache."""
        page, tasks = self._fresh(), []
        try:
            if traced:
                with page.tasks() as tasks:
                    page.goto(self.served.link)
                    page.wait_for("window.drawnAt")
            else:
                page.goto(self.served.link)
            at = page.wait_for("window.drawnAt")
            page.settle()
            return First(at, tasks, page.traffic.bytes, received(page), len(page.traffic.requests))
        finally:
            page.close()

    def first_view(self, times):
        before = self.usage.cpu_ms()
        self.tell("page_first_view_cold_ms", self._first().ms, "ms")  # the server has yet to read the hub
        self.tell("page_first_view_cold_server_cpu_ms", self.usage.cpu_ms() - before, "ms")
        before = self.usage.cpu_ms()
        found = [self._first() for _ in range(times)]
        self.tell("page_first_view_server_cpu_ms", (self.usage.cpu_ms() - before) / times, "ms")
        self.tell("page_first_view_ms", share([f.ms for f in found], 0.5), "ms")
        self.tell("page_first_view_p90_ms", share([f.ms for f in found], 0.9), "ms")
        self.tell("page_first_view_least_ms", min(f.ms for f in found), "ms")
        self.tell("page_first_view_requests", max(f.requests for f in found), "requests")
        self.tell("page_bytes", max(f.files for f in found), "bytes")
        self.tell("page_first_view_data_bytes", max(f.data for f in found), "bytes")
        traced = [self._first(traced=True).tasks for _ in range(max(1, times // 4))]
        self.tell("page_first_view_browser_cpu_ms", share([sum(t.cpu for t in tasks) for tasks in traced], 0.5), "ms")
        self.tell("page_first_view_longest_task_ms", share([max(t.cpu for t in tasks) for tasks in traced], 0.5), "ms")

    # ---- from a write to the screen ----

    def _update(self, page, selector, write):
        page.evaluate(f"new Promise(r => setTimeout(r, {PAUSE}))")
        page.evaluate(CHANGES.replace("SELECTOR", repr(selector)))
        began = time.time() * 1000
        write()
        return page.wait_for("window.seenAt") - began

    def _updates(self, name, page, selector, write, times):
        page.forget()
        before = self.usage.cpu_ms()
        took = [self._update(page, selector, lambda n=n: write(n % 2 == 1)) for n in range(times)]
        self.tell(f"page_{name}server_cpu_ms", (self.usage.cpu_ms() - before) / times, "ms")
        self.tell(f"page_{name}bytes", received(page) / times, "bytes")
        self.tell(f"page_{name}p50_ms", share(took, 0.5), "ms")
        self.tell(f"page_{name}p90_ms", share(took, 0.9), "ms")

    def fleet_updates(self, times):
        """A member falls ill and recovers: the sentence on the landing page says so."""
        page, member = self._fresh(), self.large.healthy()
        try:
            page.goto(self.served.link)
            page.wait_for("window.drawnAt")
            self._updates("update_", page, ".sentence", lambda well: self.large.turn_member(member, well), times)
        finally:
            page.close()

    def _open_placement(self, page, query=""):
        page.goto(self.served.link)
        page.wait_for("document.querySelector('.tile')")
        page.goto(f"{self.served.origin}/#/placement/crp/{self.large.everywhere.name}{query}")
        page.wait_for("document.querySelector('main > .view-placement .way-state')")

    def placement_updates(self, times):
        """One binding of the placement that is everywhere: the cluster's row says so."""
        page = self.browser.page(1400, 900)
        cluster = next(c for c, s in self.large.everywhere.standings.items() if s == "available")
        try:
            self._open_placement(page, f"?q={cluster}")
            self._updates("placement_update_", page, ".way-state",
                          lambda well: self.large.turn_binding(cluster, "available" if well else "applying"), times)
        finally:
            page.close()

    # ---- many changes ----

    def _turn_all(self, seconds):
        """Each binding once, evenly in so many seconds where the hub keeps up."""
        began = time.monotonic()
        items = list(self.large.everywhere.standings.items())

        def turn(n):
            time.sleep(max(0.0, began + n * seconds / len(items) - time.monotonic()))
            self.large.turn_binding(items[n][0], "applying" if items[n][1] == "available" else "available")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(turn, range(len(items))))
        return time.monotonic() - began

    def many_changes(self, seconds):
        page = self.browser.page(1400, 900)
        try:
            self._open_placement(page)
            page.forget()
            before = self.usage.cpu_ms()
            with page.tasks() as tasks, concurrent.futures.ThreadPoolExecutor(1) as pool:
                turning = pool.submit(self._turn_all, seconds)
                while not turning.done():  # what the browser tells is read meanwhile
                    page.evaluate("new Promise(r => setTimeout(r, 500))")
                page.evaluate("new Promise(r => setTimeout(r, 500))")
            n = self.large.size.clusters
            self.tell("page_changes", n, "changes")
            self.tell("page_changes_s", turning.result(), "s")
            self.tell("page_longest_task_ms", max(t.cpu for t in tasks), "ms")
            self.tell("page_longest_task_wall_ms", max(t.wall for t in tasks), "ms")
            self.tell("page_tasks_over_100_ms", sum(1 for t in tasks if t.cpu > chrome.LONG_TASK), "tasks")
            self.tell("page_changes_browser_cpu_ms", sum(t.cpu for t in tasks) / n, "ms")
            self.tell("page_changes_server_cpu_ms", (self.usage.cpu_ms() - before) / n, "ms")
            self.tell("page_changes_bytes", received(page) / n, "bytes")
        finally:
            page.close()

    def memory(self):
        self.tell("page_server_private_mb", self.usage.private_mb(), "MiB")
        self.tell("page_server_peak_private_mb", self.usage.peak_mb, "MiB")

    def all(self, times, seconds):
        self.first_view(times)
        self.tell("page_server_first_private_mb", self.usage.private_mb(), "MiB")
        self.fleet_updates(2 * times)
        self.placement_updates(2 * times)
        self.many_changes(seconds)
        self.memory()
        self.usage.end()
        return {name: value for name, (value, _) in self.told.items()}
