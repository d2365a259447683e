#!/usr/bin/env python3
"""Compares what the list of parts says is in programs with the functions that are: linked.py SPDX WORK PLATFORM FOLDER

FOLDER has a platform's programs and, below debug, what debuggers want of them; WORK the libraries of which they were linked. A library
is in a program if a function is that only this library has. Asked of symbols alone, not of the linker's map as the list itself is.
"""
import glob
import json
import os
import re
import subprocess
import sys

TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}


def functions(triplet, *words):
    """Defined ones, with the file's name before them if it is an archive."""
    said = subprocess.run([f"{triplet}-nm", "--defined-only", "--format=posix", *words], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?m)^(\S+) [TtWi] ", said)


def debug_file(triplet, folder, name):
    notes = subprocess.run([f"{triplet}-readelf", "--wide", "--notes", os.path.join(folder, name)], capture_output=True, text=True, check=True).stdout
    identity = re.search(r"Build ID: (\w+)", notes).group(1)
    return os.path.join(folder, "debug/.build-id", identity[:2], identity[2:] + ".debug")


def packages_of_libraries(work, triplet):
    """Path of each library: its package."""
    found = {path: os.path.basename(path)[3:-2] for path in glob.glob(f"{work}/libraries/lib/*.a")}
    found = {path: {"websockets": "libwebsockets"}.get(name, name) for path, name in found.items()}
    for listing in glob.glob(f"{work}/sysroot/.archives/*"):
        for name in open(listing, encoding="utf-8").read().split():
            path = f"{work}/sysroot/usr/lib/{triplet}/{name}"
            if os.path.isfile(path) and open(path, "rb").read(8) == b"!<arch>\n":  # not a script of the linker's
                found[path] = os.path.basename(listing)
    for name in ("libgcc.a", "libgcc_eh.a"):
        path = subprocess.run([f"{triplet}-gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        found[path] = "libgcc"
    return found


def packages_by_function(work, triplet):
    """Functions of whose name one package alone has any, and this tree has none."""
    owners = {name: {"argosy"} for name in functions(triplet, f"{work}/objects/libargosy.a")}
    for path, package in packages_of_libraries(work, triplet).items():
        for name in functions(triplet, path):
            owners.setdefault(name, set()).add(package)
    return {name: next(iter(by)) for name, by in owners.items() if len(by) == 1}


def told(document, platform):
    """Name of each program: packages that it has in it."""
    names = {p["SPDXID"]: p["name"] for p in document["packages"]}
    files = {f["SPDXID"]: f["fileName"] for f in document["files"]}
    found = {}
    for relation in document["relationships"]:
        file = files.get(relation["spdxElementId"], "")
        if relation["relationshipType"] == "STATIC_LINK" and file.startswith(f"./programs/linux/{platform}/"):
            found.setdefault(os.path.basename(file), set()).add(names[relation["relatedSpdxElement"]])
    return found


def main(spdx, work, platform, folder):
    triplet = TRIPLETS[platform]
    owners = packages_by_function(work, triplet)
    wrong = 0
    for name, said in sorted(told(json.load(open(spdx, encoding="utf-8")), platform).items()):
        found = {}
        for function in functions(triplet, debug_file(triplet, folder, name)):
            if owners.get(function, "argosy") != "argosy":
                found.setdefault(owners[function], []).append(function)
        for package in sorted(said ^ set(found)):
            print(f"{name}: {package} is {'told, but no function of it is there' if package in said else 'not told, but has ' + found[package][0]}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
