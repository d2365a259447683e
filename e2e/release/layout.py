#!/usr/bin/env python3
"""Checks an OCI layout of several platforms: layout.py FOLDER PLATFORM... NAME...

Every name stands for an index with an image for each platform; digests, sizes and configurations agree; no blob is left over.
"""
import gzip
import hashlib
import json
import os
import sys

PLATFORMS = ("amd64", "arm64")


class Layout:
    def __init__(self, folder):
        self.folder = folder
        self.seen = set()

    def blob(self, descriptor):
        content = open(os.path.join(self.folder, "blobs/sha256", descriptor["digest"].removeprefix("sha256:")), "rb").read()
        assert hashlib.sha256(content).hexdigest() == descriptor["digest"].removeprefix("sha256:"), descriptor
        assert len(content) == descriptor["size"], descriptor
        self.seen.add(descriptor["digest"].removeprefix("sha256:"))
        return content

    def image(self, name, descriptor):
        manifest = json.loads(self.blob(descriptor))
        config = json.loads(self.blob(manifest["config"]))
        layers = [self.blob(layer) for layer in manifest["layers"]]
        assert config["architecture"] == descriptor["platform"]["architecture"] and config["os"] == "linux", config
        assert config["config"]["Entrypoint"] == ["/" + name] and config["config"]["User"] == "65532:65532", config
        digests = ["sha256:" + hashlib.sha256(gzip.decompress(layer)).hexdigest() for layer in layers]
        assert digests == config["rootfs"]["diff_ids"], name

    def check(self, platforms, names):
        index = json.load(open(os.path.join(self.folder, "index.json")))
        assert json.load(open(os.path.join(self.folder, "oci-layout"))) == {"imageLayoutVersion": "1.0.0"}
        told = [m["annotations"]["org.opencontainers.image.ref.name"] for m in index["manifests"]]
        assert told == sorted(names), told
        for name, entry in zip(told, index["manifests"]):
            assert entry["mediaType"] == "application/vnd.oci.image.index.v1+json", entry
            images = json.loads(self.blob(entry))["manifests"]
            assert [i["platform"] for i in images] == [{"architecture": p, "os": "linux"} for p in platforms], images
            for descriptor in images:
                self.image(name, descriptor)
        assert self.seen == set(os.listdir(os.path.join(self.folder, "blobs/sha256"))), "a blob that nothing names"


if __name__ == "__main__":
    Layout(sys.argv[1]).check([w for w in sys.argv[2:] if w in PLATFORMS], [w for w in sys.argv[2:] if w not in PLATFORMS])
