"""Tests as sentences. `with Checks() as check: check("the sentence", function, arguments...)` prints a line for each and
ends in `N passed, N failed`.

A check fails when its function raises or gives False. Then what the pages said is printed, and a picture of each is saved
below build/page/."""
import contextlib
import os
import re
import sys
import time
import traceback

import chrome

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PICTURES = os.path.join(ROOT, "build", "page")


class Checks:
    """The account of a test program."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.browsers = []

    def __enter__(self):
        return self

    def __exit__(self, kind, raised, _):
        """Prints the sum and ends the program. What stops it in between is a failure, too."""
        if raised is not None and not isinstance(raised, Exception):
            return
        if raised is not None:
            self._tell("what comes between the checks", raised)
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed else 0)

    def __call__(self, sentence, function, *arguments, **named):
        """Runs one check; returns what the function returned, or None where it failed."""
        began = time.monotonic()
        try:
            value = function(*arguments, **named)
            if value is False:
                raise AssertionError("it is not so")
        except Exception as failure:  # whatever it is, the next check is to have its turn
            self._tell(sentence, failure)
            return None
        self.passed += 1
        print(f"ok {sentence} ({time.monotonic() - began:.1f} s)", flush=True)
        return value

    def browser(self, *more):
        """A browser whose pages are told of when a check fails. Ended with the program's end, or as `with`."""
        browser = chrome.Browser(*more)
        self.browsers.append(browser)
        return contextlib.closing(browser)

    def _tell(self, sentence, failure):
        self.failed += 1
        print(f"FAILED {sentence}")
        print(f"    {type(failure).__name__}: {failure}")
        place = traceback.extract_tb(failure.__traceback__)[-1]
        print(f"    at {os.path.relpath(place.filename, ROOT)}:{place.lineno}")
        for number, page in enumerate(page for browser in self.browsers for page in browser.open_pages()):
            self._show(page, f"failed-{slug(sentence)}{'-' + str(number) if number else ''}.png")
        sys.stdout.flush()

    def _show(self, page, name):
        """Says what a page said and saves its picture. A page that is gone has none."""
        for wrong in [*page.errors, *page.violations, *page.traffic.failed][-20:]:
            print(f"    {wrong}")
        path = os.path.join(PICTURES, name)
        try:
            page.screenshot(path)
            print(f"    picture: {os.path.relpath(path, ROOT)}")
        except (chrome.Failure, OSError) as why:
            print(f"    no picture: {why}")


def slug(sentence):
    return re.sub(r"[^a-z0-9]+", "-", sentence.lower()).strip("-")[:80]


def need_browser():
    """Ends the program, saying so, where there is no browser."""
    if not chrome.find_program():
        print("skipped: there is no chromium on this machine, so no page can be looked at")
        print("0 passed, 0 failed")
        sys.exit(0)


# ---- what is expected; each says what it found instead ----

def equal(found, wanted, what="it"):
    if found != wanted:
        raise AssertionError(f"{what} is {found!r}, expected {wanted!r}")


def has(found, part, what="it"):
    """A text has a part, or a list one such text."""
    if part not in found and not any(isinstance(f, str) and part in f for f in found):
        raise AssertionError(f"{what} has no {part!r}: {found!r}")


def empty(found, what="it"):
    if found:
        raise AssertionError(f"{what}: {'; '.join(map(str, found)) if isinstance(found, list) else found!r}")


def at_most(found, limit, what="it"):
    if found is None or found > limit:
        raise AssertionError(f"{what} is {found}, at most {limit} is allowed")


def raises(part, function, *arguments, **named):
    """The function fails, and its sentence has this part."""
    try:
        value = function(*arguments, **named)
    except chrome.Failure as failure:
        return has(str(failure), part, "the failure's sentence")
    raise AssertionError(f"it did not fail, and gave {value!r}")
