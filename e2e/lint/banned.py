#!/usr/bin/env python3
"""Calls that belong to one layer are made only there (docs/principles.md). Tests and mains are exempt from the rules
on stdio and clocks by their names; nothing else is, except by a line in ALLOWED with its reason."""
import re
import sys

from tree import code_only, files, layer_of

# group: (calls, layers that may make them)
GROUPS = {
    "heap": ("malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf", {"common/base"}),
    "clock": ("clock_gettime gettimeofday time clock sleep usleep nanosleep", {"common/loop"}),
    "random": ("rand random srand srandom rand_r drand48 getrandom arc4random RAND_bytes", {"common/loop"}),
    "file": ("open openat creat fopen freopen opendir mkdir unlink rename tmpfile mkstemp", {"common/loop"}),
    "socket": ("socket connect bind listen accept accept4 getaddrinfo gethostbyname",
               {"common/loop", "common/net"}),
    "process": ("fork vfork system popen execve execv execvp execl execlp posix_spawn getenv signal sigaction "
                "prctl setrlimit",
                {"common/loop"}),
    "thread": ("pthread_create uv_queue_work", {"common/loop"}),
    "stack": ("alloca", set()),
    # jansson leaves out members for which there was no memory
    "copy in parts": ("json_copy json_deep_copy", set()),
    "static buffer": ("strtok strerror ctime asctime gmtime localtime inet_ntoa", set()),
}

# path prefix: (groups, reason)
ALLOWED = {
    "common/net/": ({"random"}, "keys and serial numbers come from OpenSSL"),
    "proto/generate/": ({"file", "heap", "copy in parts"},
                        "a build-time program: reads descriptions, frees what scandir gave"),
    "e2e/devcluster/": ({"file"}, "its store owns a database file"),
    "e2e/differential/": ({"file"}, "it looks through folders of scripts"),
    "e2e/connections/": ({"file", "socket"}, "it looks for free ports, and takes files away from agents"),
    "e2e/simulation/coverage.c": ({"file"}, "its counts go from process to process in a file"),
    "e2e/scenarios/process.c": ({"socket", "process"}, "it holds ports for the programs that it starts"),
    "e2e/": ({"process"}, "the rigs start programs"),
    "e2e/chart-runner/": ({"file", "socket", "thread", "process"}, "it makes containers: volumes, roots, networks"),
}
MAIN_MAY = {"file", "process"}
TEST_MAY = set(GROUPS) - {"stack", "static buffer"}

CALL = {group: re.compile(r"(?<![\w.>])(" + "|".join(names.split()) + r")\s*\(")
        for group, (names, _) in GROUPS.items()}
OWN = re.compile(r"^static\b[^;={}()]*?\b(\w+)\s*\(", re.M)
DECLARED = re.compile(r"^\s*(?:extern|static|#\s*define)\b|[\w\*]\s+\*?$")


def exempt(path, group):
    if layer_of(path) in GROUPS[group][1]:
        return True
    name = path.rsplit("/", 1)[-1]
    if name.endswith(("_test.c", "_test.h")) or name.startswith("test_"):
        return group in TEST_MAY
    if name.startswith("main_") and group in MAIN_MAY:
        return True
    return any(path.startswith(prefix) and group in groups for prefix, (groups, _) in ALLOWED.items())


def calls(path, text):
    code = code_only(text)
    for group, pattern in CALL.items():
        if exempt(path, group):
            continue
        own = set(OWN.findall(code))  # a static function of the same name is another matter
        for m in pattern.finditer(code):
            if m.group(1) in own:
                continue
            line_start = code.rfind("\n", 0, m.start()) + 1
            before = code[line_start:m.start()]
            # `int open(` declares a function of that name, `return open(` calls it
            if DECLARED.search(before) and not re.search(r"\b(return|else|do|case)\s+$|[=!&|?:,(]\s*$", before):
                continue
            yield code.count("\n", 0, m.start()) + 1, m.group(1), group


bad = 0
for path, text in files("*.c", "*.h"):
    if layer_of(path) is None or path == "common/base/banned.h":
        continue
    for line, name, group in calls(path, text):
        bad += 1
        print(f"{path}:{line}: {name}() is a call for {' or '.join(sorted(GROUPS[group][1])) or 'nobody'}")
sys.exit(1 if bad else 0)
