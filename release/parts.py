#!/usr/bin/env python3
"""Says what a release is made of.

  parts.py spdx OUT WORK PLATFORMS VERSION COMMIT FILE...   SPDX 2.3 in JSON: our files, and the packages in them
  parts.py notices OUT WORK PLATFORMS   the copyright files of all these packages, word by word, and the licences that they point
                                        to on a Debian system

PLATFORMS are separated by commas. WORK/PLATFORM has the sysroot, and linked/PROGRAM.map, the linker's word on what each program took from which library. Packages and
versions are those of packages.lock. A licence is named where Debian's copyright file says it in a form for machines ("Files: *").
"""
import datetime
import hashlib
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Debian's short names that SPDX writes otherwise, and those that are the same.
LICENCES = {
    "Expat": "MIT", "MIT": "MIT", "Apache-2.0": "Apache-2.0", "Zlib": "Zlib", "curl": "curl", "ISC": "ISC",
    "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSD-3-Clause": "BSD-3-Clause", "BSD3": "BSD-3-Clause",
    "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3+": "GPL-3.0-or-later", "LGPL-2.1+": "LGPL-2.1-or-later",
    "GPL-2+ or LGPL-3+": "GPL-2.0-or-later OR LGPL-3.0-or-later",
}
COMMON = "/usr/share/common-licenses/"
# gzip's copyright file points to one that never was, below words that speak of version 1.3.
MISNAMED = {"GFDL-3": "GFDL-1.3"}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read()


class Package:
    """One line of packages.lock."""

    def __init__(self, words):
        self.kind, self.platform, self.use, self.name, self.version, what, self.sha256 = words
        self.source, self.source_version = what.split("=", 1) if self.kind == "deb" else (self.name, self.version)

    def identity(self):
        return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{self.kind}-{self.name}-{self.platform}")


def locked():
    lines = [line.split() for line in read(os.path.join(HERE, "packages.lock")).splitlines() if not line.startswith("#")]
    packages = [Package(words) for words in lines if words[0] in ("deb", "source")]
    compilers = {words[1]: words[4] for words in lines if words[0] == "compiler"}
    return packages, compilers


def linked_archives(path):
    """Names of the libraries that a program has members of."""
    text = read(path).split("Discarded input sections")[0]
    return sorted({os.path.basename(found) for found in re.findall(r"(?m)^(\S+\.a)\(\S+\)", text)})


class Parts:
    def __init__(self, work, platforms):
        self.work = work
        self.packages, self.compilers = locked()
        self.platforms = sorted(platforms.split(","))
        self.used = {}  # package: programs
        self.compiler_used = {}
        for platform in self.platforms:
            self.look(platform)

    def look(self, platform):
        linked = os.path.join(self.work, platform, "linked")
        owners = self.owners(platform)
        for name in sorted(os.listdir(linked)):
            if not name.endswith(".map"):
                continue
            program = f"./programs/linux/{platform}/{name[:-4]}"
            for archive in linked_archives(os.path.join(linked, name)):
                if archive == "libargosy.a":
                    continue
                if archive in ("libgcc.a", "libgcc_eh.a"):
                    self.compiler_used.setdefault(platform, []).append(program)
                    continue
                if archive not in owners:
                    sys.exit(f"release: {program} has parts of {archive}, which is of no package in packages.lock")
                self.used.setdefault(owners[archive], []).append(program)
        for package in self.packages:
            if package.platform in (platform, "all") and package.use in ("tools", "data"):
                self.used.setdefault(package, [])

    def owners(self, platform):
        """The package of each static library, by its file's name."""
        owners = {f"lib{p.name.removeprefix('lib')}.a": p for p in self.packages if p.kind == "source"}
        for package in self.packages:
            listing = os.path.join(self.work, platform, "sysroot/.archives", package.name)
            if package.platform == platform and package.kind == "deb" and os.path.exists(listing):
                for archive in read(listing).split():
                    owners.setdefault(archive, package)
        return owners

    def copyright_file(self, package):
        platform = self.platforms[0] if package.platform == "all" else package.platform
        if package.kind == "source":
            return os.path.join(self.work, self.platforms[0], "libraries/lib", package.name + ".copyright")
        return os.path.join(self.work, platform, "sysroot/usr/share/doc", package.name, "copyright")

    def common_licences(self, package):
        """Names of Debian's common licences that its copyright file points to; all, where it points to their folder."""
        folder = os.path.join(self.work, self.platforms[0], "sysroot" + COMMON)
        names = set()
        for name in re.findall(COMMON + r"((?:[A-Za-z0-9]+(?:[.+-]+[A-Za-z0-9]+)*)?)", read(self.copyright_file(package))):
            names.update([MISNAMED.get(name, name)] if name else os.listdir(folder))
        for name in sorted(names):
            if not os.path.exists(os.path.join(folder, name)):
                sys.exit(f"release: {package.name}: its copyright file points to {COMMON}{name}, which the sysroot does not have")
        return {COMMON + name: read(os.path.join(folder, name)) for name in sorted(names)}

    def used_packages(self):
        """In a fixed order, each package of sources once."""
        return sorted(self.used, key=lambda p: (p.name, p.platform))


def licence_of(package, text):
    """SPDX's expression, and what to say of it."""
    if package.name == "curl":
        return "curl", "of the file COPYING"
    if package.name == "libwebsockets":
        return "MIT", "of the file LICENSE"
    stanza = re.search(r"(?ms)^Files: *\*.*?^License: *([^\n]+)", text)
    if not stanza:
        return "NOASSERTION", "Debian's copyright file is not in a form for machines; its words are in THIRD-PARTY.txt"
    said = stanza.group(1).strip()
    return LICENCES.get(said, "NOASSERTION"), f"Debian's copyright file says {said} of most files; the rest is in THIRD-PARTY.txt"


def checksums(path):
    content = open(path, "rb").read()
    return [{"algorithm": name, "checksumValue": hashlib.new(name.lower(), content).hexdigest()} for name in ("SHA1", "SHA256")]


def describe_package(package, text):
    licence, comment = licence_of(package, text)
    arch = "source" if package.kind == "source" else package.platform
    version = package.version.replace(":", "%3A").replace("+", "%2B")
    described = {
        "SPDXID": package.identity(), "name": package.name, "versionInfo": package.version, "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
        "licenseComments": comment, "copyrightText": "NOASSERTION",
        "sourceInfo": f"built from Debian's source package {package.source} {package.source_version}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{package.name}@{version}?arch={arch}"}]}
    if package.kind == "deb":
        described["checksums"] = [{"algorithm": "SHA256", "checksumValue": package.sha256}]
    return described


def describe_compiler(platform, version):
    return {"SPDXID": f"SPDXRef-gcc-{platform}", "name": "libgcc", "versionInfo": version, "supplier": "Organization: Debian",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "GPL-3.0-or-later WITH GCC-exception-3.1", "copyrightText": "NOASSERTION",
            "sourceInfo": f"of the compiler, for {platform}"}


def describe_file(name, path):
    return {"SPDXID": "SPDXRef-file-" + re.sub(r"[^A-Za-z0-9.-]", "-", name.removeprefix("./")), "fileName": name, "checksums": checksums(path),
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def relate(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def our_files(parts, paths):
    named = {f"./{os.path.basename(path)}": path for path in paths}
    for platform in parts.platforms:
        folder = os.path.join(parts.work, platform, "bin")
        named.update({f"./programs/linux/{platform}/{name}": os.path.join(folder, name) for name in os.listdir(folder)})
    return [describe_file(name, named[name]) for name in sorted(named)]


def spdx(out, work, platforms, version, commit, *paths):
    parts = Parts(work, platforms)
    files = our_files(parts, paths)
    by_name = {f["fileName"]: f["SPDXID"] for f in files}
    sha1s = sorted(f["checksums"][0]["checksumValue"] for f in files)
    ours = {"SPDXID": "SPDXRef-argosy", "name": "argosy", "versionInfo": version, "supplier": "NOASSERTION", "downloadLocation": "NOASSERTION",
            "filesAnalyzed": True, "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1("".join(sha1s).encode()).hexdigest()},
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION", "sourceInfo": f"commit {commit}"}
    packages, relations = [ours], [relate("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-argosy")]
    relations += [relate("SPDXRef-argosy", "CONTAINS", f["SPDXID"]) for f in files]
    for package in parts.used_packages():
        packages.append(describe_package(package, read(parts.copyright_file(package))))
        linked = [relate(by_name[p], "STATIC_LINK", package.identity()) for p in parts.used[package]]
        relations += linked or [relate("SPDXRef-argosy", "CONTAINS", package.identity())]
    for platform, programs in sorted(parts.compiler_used.items()):
        packages.append(describe_compiler(platform, parts.compilers[platform]))
        relations += [relate(by_name[p], "STATIC_LINK", f"SPDXRef-gcc-{platform}") for p in sorted(set(programs))]
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    name = f"argosy-{version}"
    digest = hashlib.sha256("".join(sha1s).encode()).hexdigest()
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
                "documentNamespace": f"urn:argosy:{version}:{digest}",
                "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: argosy-release-parts"]},
                "packages": packages, "files": files, "relationships": relations}
    with open(out, "w", encoding="utf-8", newline="\n") as stream:
        json.dump(document, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def notices(out, work, platforms):
    parts = Parts(work, platforms)
    told, common = {}, {}  # told: text: names
    for package in parts.used_packages():
        told.setdefault(read(parts.copyright_file(package)), []).append(f"{package.name} {package.version}")
        common.update(parts.common_licences(package))
    for name, text in sorted(common.items()):
        told.setdefault(text, []).append(name)
    with open(out, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("What programs and images of this release have of others. Sources: Debian's, of the versions named here.\n"
                     f"Texts that are said to be in {COMMON} on a Debian system stand at the end.\n")
        for text, names in told.items():
            stream.write("\n" + "=" * 100 + "\n" + ", ".join(dict.fromkeys(names)) + "\n" + "=" * 100 + "\n" + text.rstrip("\n") + "\n")


if __name__ == "__main__":
    commands = {"spdx": spdx, "notices": notices}
    if len(sys.argv) < 5 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
