#!/usr/bin/env python3
"""Checks what the lists of a release say of its files: lists.py FOLDER VERSION PLATFORM... NAME...

krew's manifest names an archive for each platform, with its checksum and a program in it; the list of parts has every file, and each
program as it is in the archives; THIRD-PARTY.txt is the same everywhere.
"""
import hashlib
import json
import os
import re
import sys
import tarfile

PLATFORMS = ("amd64", "arm64")


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Release:
    def __init__(self, folder, version, words):
        self.folder, self.version = folder, version
        self.platforms = [w for w in words if w in PLATFORMS]
        self.names = [w for w in words if w not in PLATFORMS]
        assert self.platforms and self.names, words

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as stream:
            return stream.read()

    def members(self, archive):
        with tarfile.open(os.path.join(self.folder, archive)) as tar:
            return {m.name: (m.mode, tar.extractfile(m).read()) for m in tar}

    def archives(self, platform):
        """What the plugin's archive holds, and the agents'."""
        return [self.members(f"{kind}_{self.version}_linux_{platform}.tar.gz") for kind in ("kubectl-fleet", "argosy-agents")]

    def check_krew(self):
        blocks = self.read("fleet.yaml").decode().split("  - selector:\n")
        assert f"\n  version: {self.version}\n" in blocks[0], blocks[0]
        told = {}
        for block in blocks[1:]:
            field = lambda name: re.search(rf"(?m)^ +{name}: (\S+)$", block).group(1)
            archive = os.path.basename(field("uri"))
            assert field("os") == "linux" and field("uri").startswith("https://"), block
            assert field("sha256") == sha256(self.read(archive)), f"{archive}: another checksum than fleet.yaml's"
            mode, _ = self.members(archive)[field("bin")]
            assert mode & 0o111, f"{archive}: {field('bin')} cannot be run"
            told[field("arch")] = archive
        assert told == {p: f"kubectl-fleet_{self.version}_linux_{p}.tar.gz" for p in self.platforms}, told

    def check_parts(self):
        name = f"argosy_{self.version}.spdx.json"
        document = json.loads(self.read(name))
        told = {f["fileName"]: {c["algorithm"]: c["checksumValue"] for c in f["checksums"]}["SHA256"] for f in document["files"]}
        found = {f"./{n}": sha256(self.read(n)) for n in os.listdir(self.folder) if n not in (name, "SHA256SUMS")}
        for platform in self.platforms:
            plugin, agents = self.archives(platform)
            for program in self.names:
                held = plugin if program == "kubectl-fleet" else agents
                found[f"./programs/linux/{platform}/{program}"] = sha256(held[program][1])
        differ = sorted(n for n in told.keys() | found.keys() if told.get(n) != found.get(n))
        assert not differ, f"{name} says something else of {differ}"

    def check_notices(self):
        notices = self.read("THIRD-PARTY.txt")
        for platform in self.platforms:
            for archive in self.archives(platform):
                assert archive["THIRD-PARTY.txt"][1] == notices and "LICENSE" in archive, platform
        document = json.loads(self.read(f"argosy_{self.version}.spdx.json"))
        for package in document["packages"]:
            said = f"{package['name']} {package['versionInfo']}"
            assert package["name"] in ("argosy", "libgcc") or said in notices.decode(), f"THIRD-PARTY.txt has nothing of {said}"


if __name__ == "__main__":
    release = Release(sys.argv[1], sys.argv[2], sys.argv[3:])
    release.check_krew()
    release.check_parts()
    release.check_notices()
