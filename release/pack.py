#!/usr/bin/env python3
"""Packs the files of a release. The same files give the same bytes, whatever umask, owner, time or order of a folder.

  pack.py archive OUT.tar.gz FOLDER           what is in FOLDER, without its name
  pack.py tar OUT.tar FOLDER                  the same, as it is
  pack.py chart OUT.tgz CHART                 as `helm package` lays it out
  pack.py krew OUT.yaml VERSION ADDRESS PLATFORM=ARCHIVE...
  pack.py sums OUT FOLDER                     SHA256SUMS of the folder's other files
  pack.py version VERSION ROOT                fails unless sources and charts of ROOT say it

Times are SOURCE_DATE_EPOCH's (0 without it).
"""
import fnmatch
import gzip
import hashlib
import os
import re
import sys
import tarfile

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))


def fail(words):
    sys.exit(f"release: {words}")


def files_below(folder):
    """Paths relative to the folder, sorted by their bytes; links to elsewhere are nothing to pack."""
    found = []
    for at, folders, names in os.walk(folder):
        for name in names + [f for f in folders if os.path.islink(os.path.join(at, f))]:
            path = os.path.join(at, name)
            if os.path.islink(path) or not os.path.isfile(path):
                fail(f"{path}: is no regular file")
            found.append(os.path.relpath(path, folder))
    return sorted(found, key=os.fsencode)


def member(name, path):
    info = tarfile.TarInfo(name)
    info.size = os.path.getsize(path)
    info.mode = 0o755 if os.stat(path).st_mode & 0o100 else 0o644
    info.mtime = EPOCH
    return info


def write_tar(stream, members):
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, path in members:
            with open(path, "rb") as content:
                tar.addfile(member(name, path), content)


def write_gzip(out, members):
    with open(out, "wb") as raw, gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=0) as stream:
        write_tar(stream, members)


def archive(out, folder):
    write_gzip(out, [(name, os.path.join(folder, name)) for name in files_below(folder)])


def tar(out, folder):
    with open(out, "wb") as stream:
        write_tar(stream, [(name, os.path.join(folder, name)) for name in files_below(folder)])


def ignored_patterns(chart):
    """Of .helmignore: names and folders alone. Another kind of pattern is refused rather than misread."""
    path = os.path.join(chart, ".helmignore")
    lines = open(path, encoding="utf-8").read().split("\n") if os.path.exists(path) else []
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for pattern in patterns:
        if pattern.startswith("!") or "/" in pattern.rstrip("/"):
            fail(f"{path}: the pattern {pattern} is not understood: only names and folders are")
    return patterns


def is_ignored(name, patterns):
    parts = name.split("/")
    for pattern in patterns:
        among = parts[:-1] if pattern.endswith("/") else parts
        if any(fnmatch.fnmatchcase(part, pattern.rstrip("/")) for part in among):
            return True
    return False


def chart_field(chart, field):
    text = open(os.path.join(chart, "Chart.yaml"), encoding="utf-8").read()
    found = re.search(rf"(?m)^{field}: *\"?([^\"\n]*)\"?$", text)
    if not found:
        fail(f"{chart}/Chart.yaml: no {field}")
    return found.group(1)


def chart(out, folder):
    name = chart_field(folder, "name")
    patterns = ignored_patterns(folder)
    names = [n for n in files_below(folder) if not is_ignored(n, patterns)]
    first = ["Chart.yaml", "Chart.lock", "values.yaml", "values.schema.json"]
    ordered = [n for n in first if n in names]
    ordered += [n for n in names if n.startswith("templates/")]
    ordered += [n for n in names if n not in ordered]
    write_gzip(out, [(f"{name}/{n}", os.path.join(folder, n)) for n in ordered])


def sha256(path):
    with open(path, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def krew(out, version, address, *archives):
    if not re.fullmatch(r"https://[^\s\"']+", address):
        fail(f"the address of downloads must be an https:// URL, is {address!r}")
    platforms = ""
    for word in archives:
        platform, path = word.split("=", 1)
        platforms += f"""  - selector:
      matchLabels:
        os: linux
        arch: {platform}
    uri: {address.rstrip('/')}/{os.path.basename(path)}
    sha256: {sha256(path)}
    bin: kubectl-fleet
"""
    text = f"""apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: fleet
spec:
  version: {version}
  homepage: {address.rstrip('/')}
  shortDescription: See and steer a fleet of clusters from its hub
  description: |
    Shows where placements are, why, and what is wrong, and leads changes through a
    fleet stage by stage. It speaks to the API server of the fleet's hub with the
    rights of your kubeconfig; the hub may run Argosy or KubeFleet.
  platforms:
"""
    with open(out, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text + platforms)


def sums(out, folder):
    names = [n for n in files_below(folder) if os.path.join(folder, n) != out]
    text = "".join(f"{sha256(os.path.join(folder, n))}  {n}\n" for n in names)
    with open(out, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)


def version(wanted, root):
    header = open(os.path.join(root, "common/base/version.h"), encoding="utf-8").read()
    ours = re.search(r'#define ARGOSY_VERSION "(.*)"', header).group(1)
    if not re.fullmatch(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", ours):
        fail(f"common/base/version.h: ARGOSY_VERSION must be like v1.2.3, is {ours}")
    if wanted != ours:
        fail(f"VERSION={wanted}: common/base/version.h says {ours}")
    for name in ("hub-agent", "member-agent"):
        folder = os.path.join(root, "charts", name)
        for field, value in (("appVersion", ours), ("version", ours[1:])):
            if chart_field(folder, field) != value:
                fail(f"VERSION={wanted}: charts/{name}/Chart.yaml has {field} {chart_field(folder, field)}, not {value}")


COMMANDS = {f.__name__: f for f in (archive, tar, chart, krew, sums, version)}

if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
