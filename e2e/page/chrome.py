"""Headless Chromium for tests: `with Browser() as browser: page = browser.page(); page.goto(url)`.

Waits are for events: what is waited for is looked at when the page changes. A wait that ends in vain says what it was for
and what the page showed. Everything a page does wrong is collected as it happens: `page.faults()`."""
import base64
import collections
import contextlib
import json
import os
import re
import time

import devtools
from devtools import Failure, Timeout

__all__ = ["Browser", "Page", "Failure", "Timeout", "find_program"]

find_program = devtools.find_program
HERE = os.path.dirname(os.path.abspath(__file__))
WORLD = "rig"  # where rig.js lives in each document: beside the page's own scripts, unseen by them
LONG_TASK = 100  # ms
PATIENCE = 300  # s: only what hangs meets it, on a busy machine too

# Resolves with [whether it held, last value, ms since navigation]. Looks when something changes, and each 100 ms for what
# changes without an event, such as a variable of a script.
WAIT = """new Promise(resolve => {
  const look = () => { try { return (EXPRESSION) } catch (e) { return { error: String(e) } } }
  const plain = v => { if (v instanceof Node) return v.outerHTML?.slice(0, 200) ?? String(v)
    try { return JSON.parse(JSON.stringify(v ?? null)) } catch { return String(v) } }
  const events = ['input', 'change', 'focusin', 'focusout', 'hashchange', 'popstate', 'load', 'readystatechange',
    'transitionend', 'animationend', 'scroll', 'resize', 'toggle', 'close']
  const end = (held, v) => {
    watcher.disconnect(); clearInterval(net); clearTimeout(limit)
    for (const e of events) removeEventListener(e, check, true)
    resolve([held, plain(v), performance.now()])
  }
  const holds = v => v && !v.error
  const check = () => { const v = look(); if (holds(v)) end(true, v) }
  const watcher = new MutationObserver(check)
  watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  const net = setInterval(check, 100), limit = setTimeout(() => end(false, look()), MILLISECONDS)
  for (const e of events) addEventListener(e, check, true)
  check()
})"""

KEYS = {  # name: (key, code, number, text)
    "Enter": ("Enter", "Enter", 13, "\r"), "Tab": ("Tab", "Tab", 9, None), "Escape": ("Escape", "Escape", 27, None),
    "Backspace": ("Backspace", "Backspace", 8, None), "Delete": ("Delete", "Delete", 46, None),
    "Space": (" ", "Space", 32, " "), "Home": ("Home", "Home", 36, None), "End": ("End", "End", 35, None),
    "PageUp": ("PageUp", "PageUp", 33, None), "PageDown": ("PageDown", "PageDown", 34, None),
    "ArrowLeft": ("ArrowLeft", "ArrowLeft", 37, None), "ArrowUp": ("ArrowUp", "ArrowUp", 38, None),
    "ArrowRight": ("ArrowRight", "ArrowRight", 39, None), "ArrowDown": ("ArrowDown", "ArrowDown", 40, None),
}
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


class Browser:
    """A browser of its own. More flags may be given. `with` or close() ends it and all its processes."""

    def __init__(self, *more):
        program = find_program()
        if not program:
            raise Failure("there is no chromium on this machine")
        devtools.end_on_signals()
        self.process = devtools.Process(program, more)
        try:
            self.connection = devtools.Connection(self.process)
            self.connection.listener = self._event
            self.pages = {}  # by session
            self.version = self.connection.call("Browser.getVersion", timeout=devtools.STARTING)["product"]
        except BaseException:
            self.process.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.end()

    def page(self, width=1280, height=800):
        """A new page with nothing stored: no cookies, no cache, nothing of pages before."""
        call = self.connection.call
        context = call("Target.createBrowserContext", {"disposeOnDetach": True})["browserContextId"]
        target = call("Target.createTarget", {"url": "about:blank", "browserContextId": context})["targetId"]
        session = call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session, target, context)
        page.start(width, height)
        return page

    def open_pages(self):
        return list(dict.fromkeys(self.pages.values()))

    def _event(self, session, method, parameters):
        if session in self.pages:
            self.pages[session].event(session, method, parameters)


Frame = collections.namedtuple("Frame", "sent size text")  # text: of a binary one, base64


Task = collections.namedtuple("Task", "wall cpu")  # milliseconds
TIMELINE = {"includedCategories": ["disabled-by-default-devtools.timeline", "__metadata"], "excludedCategories": ["*"]}


class Traffic:
    """What a page asked of the network. Bytes are those on the wire, headers included where the browser counts them."""

    def __init__(self):
        self.requests = []  # URLs, those of WebSockets too
        self.failed = []  # sentences
        self.bytes = 0  # of answers
        self.frames = []  # of WebSockets
        self.urls = {}  # by request

    @property
    def frame_bytes(self):
        return sum(f.size for f in self.frames)

    @property
    def total(self):
        return self.bytes + self.frame_bytes

    def ask(self, request, url):
        self.urls[request] = url
        if not url.startswith(("data:", "blob:", "about:")):
            self.requests.append(url)

    def fail(self, request, why):
        self.failed.append(f"{self.urls.get(request, request)}: {why}")

    def outside(self, origin):
        """Requests that went elsewhere than to this origin."""
        host = re.sub(r"^\w+://", "", origin).split("/")[0]
        return [u for u in self.requests if re.sub(r"^\w+://", "", u).split("/")[0] != host]

    def event(self, method, p):
        if method == "requestWillBeSent":
            self.ask(p["requestId"], p["request"]["url"])
        elif method == "webSocketCreated":
            self.ask(p["requestId"], p["url"])
        elif method == "responseReceived" and p["response"]["status"] >= 400:
            self.fail(p["requestId"], f"status {p['response']['status']}")
        elif method == "loadingFinished":
            self.bytes += max(0, p["encodedDataLength"])
        elif method == "loadingFailed" and not p.get("canceled"):
            self.fail(p["requestId"], p.get("blockedReason") or p.get("errorText") or "failed")
        elif method == "webSocketFrameError":
            self.fail(p["requestId"], p["errorMessage"])
        elif method in ("webSocketFrameReceived", "webSocketFrameSent"):
            data = p["response"]["payloadData"]
            size = len(data) * 3 // 4 if p["response"]["opcode"] == 2 else len(data.encode())
            self.frames.append(Frame(method.endswith("Sent"), size, data))


class Page:
    """One page. What it did wrong is in errors, violations and traffic.failed, all of it in faults()."""

    def __init__(self, browser, session, target, context):
        self.browser = browser
        self.session = session
        self.target = target
        self.context = context
        self.traffic = Traffic()
        self.errors = []  # console errors and exceptions that nobody caught
        self.violations = []  # of the content security policy
        self.measures = []  # entries of the browser's performance timeline
        self.dialogs = []
        self.loaded = set()  # loaders whose document has loaded
        self.trace = []  # events of the tracing that is on
        self.traced = False
        self.world = None  # the context of rig.js in the document that is shown
        self.crashed = False

    # ---- what the browser says ----

    def start(self, width, height):
        self._enable(self.session)
        for domain in ("Page", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", {"enabled": True})
        self.call("Runtime.addBinding", {"name": "tellRig", "executionContextName": WORLD})
        with open(os.path.join(HERE, "rig.js"), encoding="utf-8") as f:
            self.call("Page.addScriptToEvaluateOnNewDocument",
                      {"source": f.read(), "worldName": WORLD, "runImmediately": True})
        self.set_viewport(width, height)
        self.call("Target.activateTarget", {"targetId": self.target}, session=None)

    def _enable(self, session):
        """What tells of errors and requests; of workers and frames of other origins, too."""
        for domain in ("Network", "Runtime", "Log", "Audits"):
            self.browser.connection.send(f"{domain}.enable", session=session)
        self.browser.connection.send("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True,
                                                              "flatten": True}, session)
        self.browser.connection.send("Runtime.runIfWaitingForDebugger", session=session)

    def event(self, session, method, p):
        domain, name = method.split(".")
        if domain == "Network":
            self.traffic.event(name, p)
        elif domain == "Tracing":
            self.trace += p.get("value", [])
            self.traced = self.traced or name == "tracingComplete"
        elif method == "Target.attachedToTarget":
            self.browser.pages[p["sessionId"]] = self
            self._enable(p["sessionId"])
        elif domain in ("Runtime", "Log", "Audits"):
            self._complaint(method, p)
            if session == self.session:
                self._context(method, p)
        elif session == self.session:
            self._page_event(method, p)

    def _complaint(self, method, p):
        if method == "Runtime.consoleAPICalled" and p["type"] in ("error", "assert"):
            self.errors.append("console: " + " ".join(shown(a) for a in p["args"]))
        elif method == "Runtime.exceptionThrown":
            self.errors.append("exception: " + exception(p["exceptionDetails"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] == "error" and p["entry"]["source"] != "network":
            self.errors.append(f"{p['entry']['source']}: {p['entry']['text']}")
        elif method == "Audits.issueAdded" and p["issue"]["code"] == "ContentSecurityPolicyIssue":
            details = p["issue"]["details"]["contentSecurityPolicyIssueDetails"]
            what = details.get("blockedURL") or details.get("contentSecurityPolicyViolationType")
            self.violations.append(f"{details['violatedDirective']} forbids {what}")

    def _context(self, method, p):
        if method == "Runtime.executionContextCreated":
            auxiliary = p["context"].get("auxData", {})
            if p["context"]["name"] == WORLD and auxiliary.get("frameId") == self.target:
                self.world = p["context"]["uniqueId"]
        elif method == "Runtime.bindingCalled" and p["name"] == "tellRig":
            self.measures.append(json.loads(p["payload"]))

    def _page_event(self, method, p):
        if method == "Page.lifecycleEvent" and p["name"] == "load":
            self.loaded.add(p["loaderId"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(p["message"])
            self.browser.connection.send("Page.handleJavaScriptDialog", {"accept": True}, self.session)
        elif method == "Inspector.targetCrashed":
            self.crashed = True
            self.errors.append("the page's process crashed")

    def faults(self):
        """All that went wrong so far, as sentences."""
        self.settle()
        return [*self.errors, *self.violations, *(f"failed request: {f}" for f in self.traffic.failed)]

    def forget(self):
        """Begins the account anew: errors, traffic, measures."""
        self.settle()
        self.errors, self.violations, self.measures, self.dialogs = [], [], [], []
        urls, self.traffic = self.traffic.urls, Traffic()
        self.traffic.urls = urls

    # ---- calls ----

    def call(self, method, parameters=None, timeout=PATIENCE, **more):
        if self.crashed:
            raise Failure("the page's process crashed")
        return self.browser.connection.call(method, parameters, more.get("session", self.session), timeout)

    def evaluate(self, script, world=None, timeout=PATIENCE):
        """The value of an expression; a promise's value. Exceptions of the page become failures."""
        parameters = {"expression": script, "awaitPromise": True, "returnByValue": True, "userGesture": True}
        if world:
            parameters["uniqueContextId"] = world
        answer = self.call("Runtime.evaluate", parameters, timeout)
        if "exceptionDetails" in answer:
            raise Failure(f"{short(script)}: {exception(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def rig(self, function, *arguments):
        """Calls a function of rig.js in the document that is shown."""
        called = ", ".join(json.dumps(a) for a in arguments)
        return self.evaluate(f"rig.{function}({called})", self.world)

    def settle(self):
        """Until the page has drawn what it has, and what it said of that has come."""
        if not self.crashed:
            self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r))))")

    def before(self, script):
        """A script that runs in each document from now on, before the page's own."""
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    # ---- going and waiting ----

    def goto(self, url, timeout=PATIENCE):
        """Opens an address and waits for its load event; of the same document's hash, for nothing."""
        answer = self.call("Page.navigate", {"url": url}, timeout)
        if answer.get("errorText"):
            raise Failure(f"{url}: {answer['errorText']}")
        loader = answer.get("loaderId")
        if loader:
            self.browser.connection.pump(lambda: loader in self.loaded or self.crashed, timeout, f"{url} to load")

    def reload(self, timeout=PATIENCE):
        before = len(self.loaded)
        self.call("Page.reload")
        self.browser.connection.pump(lambda: len(self.loaded) > before, timeout, "the page to load again")

    def wait_for(self, expression, timeout=PATIENCE):
        """Waits until an expression holds; returns its value. An exception in it counts as not yet."""
        return self._wait(expression, timeout)[0]

    def time_of(self, expression, timeout=PATIENCE):
        """Milliseconds from the navigation to when the expression held."""
        return self._wait(expression, timeout)[1]

    def _wait(self, expression, timeout):
        deadline = time.monotonic() + timeout
        while True:
            left = max(0.0, deadline - time.monotonic())
            script = WAIT.replace("EXPRESSION", expression).replace("MILLISECONDS", str(int(left * 1000)))
            try:
                held, value, at = self.evaluate(script, timeout=left + 10)
            except Failure as failure:
                if left and re.search("navigated or closed|context was destroyed|Cannot find .*context", str(failure)):
                    continue  # another document has come: look there
                raise
            if held:
                return value, at
            raise Timeout(f"waited {timeout:g} s for {short(expression)}; it was {value!r} at the end. {self.seen()}")

    def seen(self):
        """What the page shows, in short."""
        try:
            where, text = self.evaluate("[location.href, document.body?.innerText.slice(0, 400) ?? '']", timeout=PATIENCE)
        except Failure as failure:
            return f"The page does not answer: {failure}"
        wrong = "; ".join([*self.errors, *self.violations, *self.traffic.failed][:5])
        return f"{where} shows: {' '.join(text.split())!r}" + (f"; wrong so far: {wrong}" if wrong else "")

    # ---- acting as a user does ----

    def place(self, selector, timeout=PATIENCE):
        """Where to click: the middle of the element that a selector finds, scrolled into view, at rest, not covered."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.wait_for(f"{found}?.getClientRects().length", timeout)
        answer = self.rig("placeOf", selector)
        if "fault" in answer:
            raise Failure(f"{selector} cannot be clicked: {answer['fault']}")
        return answer["x"], answer["y"]

    def hover(self, selector):
        self._mouse("mouseMoved", *self.place(selector))

    def click(self, selector, timeout=PATIENCE, count=1):
        """Clicks the middle of the first element that a CSS selector finds, once it is there and at rest."""
        x, y = self.place(selector, timeout)
        self._mouse("mouseMoved", x, y)
        for number in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self._mouse(kind, x, y, button="left", clickCount=number)

    def wheel(self, selector, down):
        """Turns the wheel over an element."""
        x, y = self.place(selector)
        self._mouse("mouseWheel", x, y, deltaX=0, deltaY=down)

    def _mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def press(self, keys):
        """Presses a key, with modifiers: "Enter", "a", "Shift+Tab", "Control+k"."""
        *held, name = keys.split("+") if len(keys) > 1 else [keys]
        modifiers = sum(MODIFIERS[h] for h in held)
        key, code, number, text = KEYS.get(name) or letter(name)
        event = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        with_text = {"text": text} if text and not modifiers & 7 else {}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown" if with_text else "rawKeyDown", **event, **with_text})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def type(self, text):
        """Types a text into what has the focus, key by key."""
        for one in text:
            self.press("Space" if one == " " else "Enter" if one == "\n" else one)

    def fill(self, selector, text):
        """Clicks a field and types in the place of what it held."""
        self.click(selector)
        self.press("Control+a")
        self.press("Backspace")
        self.type(text)

    # ---- looking ----

    def text(self, selector="body"):
        """What a person reads there."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def texts(self, selector):
        """The texts of all elements that a selector finds."""
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.innerText)")

    def count(self, selector):
        return self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def visible(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.checkVisibility({{ visibilityProperty: true }}) ?? false")

    def set_viewport(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})

    def emulate(self, scheme=None, motion=None, **features):
        """scheme: dark or light; motion: reduce; other media features by their names with _ for -."""
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion,
                  **{k.replace("_", "-"): v for k, v in features.items()}}
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": k, "value": v} for k, v in wanted.items() if v]})

    def screenshot(self, path, whole=False):
        """Saves a picture of what is seen, or of the whole page, once it is drawn with its fonts."""
        self.evaluate("document.fonts.ready.then(() => true)")
        self.settle()
        parameters = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {**size, "scale": 1}
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", parameters)["data"]))

    # ---- measuring ----

    def _measured(self):
        """Until all has come that the browser measured up to now."""
        self.settle()
        self.rig("tellAll")

    def long_tasks(self, over=LONG_TASK):
        """Milliseconds of the tasks that kept the page from answering for longer than that. The browser misses some in a
        document's first moments; tasks() misses none."""
        self._measured()
        return [m["duration"] for m in self.measures if m["type"] == "longtask" and m["duration"] > over]

    @contextlib.contextmanager
    def tasks(self):
        """The tasks of the page's main thread during the `with`: a list that is filled at its end. Their CPU time says how much
        there was to do, however busy the machine is; long_tasks() says what a user waited for on this one."""
        found, self.trace, self.traced = [], [], False
        self.call("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": TIMELINE})
        try:
            yield found
            self.settle()
        finally:
            self.call("Tracing.end")
            self.browser.connection.pump(lambda: self.traced, PATIENCE, "the end of the tracing")
        mains = {(e["pid"], e["tid"]) for e in self.trace if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"}
        found += [Task(e["dur"] / 1000, e.get("tdur", e["dur"]) / 1000) for e in self.trace
                  if e["name"] == "RunTask" and (e["pid"], e["tid"]) in mains and "dur" in e]

    def first_paint(self):
        """Milliseconds from the navigation to the first drawn content of the document that is shown."""
        document = self.evaluate("performance.timeOrigin")

        def painted():
            return [m["start"] for m in self.measures if m["name"] == "first-contentful-paint" and m["document"] == document]
        self.browser.connection.pump(painted, PATIENCE, "something to be drawn")
        return painted()[0]

    def layout_shift(self):
        """How much moved without a user's doing, as the browser sums it up."""
        self._measured()
        return sum(m["value"] for m in self.measures if m["type"] == "layout-shift")

    def heap(self):
        """Bytes of the page's scripts, after a collection."""
        self.call("HeapProfiler.collectGarbage")
        return self.call("Runtime.getHeapUsage")["usedSize"]

    def close(self):
        self.browser.connection.call("Target.disposeBrowserContext", {"browserContextId": self.context})
        self.browser.pages = {s: p for s, p in self.browser.pages.items() if p is not self}


def letter(name):
    """Key, code, number and text of a character."""
    if len(name) != 1:
        raise Failure(f"no key is called {name!r}; there are characters and {', '.join(KEYS)}")
    upper = name.upper()
    code = f"Key{upper}" if upper.isascii() and upper.isalpha() else f"Digit{name}" if name.isdigit() else ""
    return name, code, ord(upper) if code else 0, name


def shown(argument):
    """An argument of console.error as text."""
    return str(argument.get("value", argument.get("description", argument.get("type"))))


def exception(details):
    thrown = details.get("exception", {})
    return (thrown.get("description") or str(thrown.get("value", details["text"]))).split("\n    at ")[0]


def short(script):
    script = " ".join(script.split())
    return script if len(script) <= 160 else script[:157] + "..."
