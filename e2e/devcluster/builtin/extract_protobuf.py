#!/usr/bin/env python3
"""Writes protobuf.txt: field numbers and shapes of the built-in kinds' protobuf encoding, as the struct tags of the Go
modules k8s.io/api and k8s.io/apimachinery publish them.

    extract_protobuf.py API_MODULE_FOLDER APIMACHINERY_MODULE_FOLDER VERSION

Only facts are taken (names, numbers, shapes). Run by hand when the version moves; its output is checked in.
"""
import os
import re
import sys

GROUPS = ["admissionregistration", "apps", "authentication", "authorization", "autoscaling", "batch", "certificates",
          "coordination", "core", "discovery", "events", "networking", "node", "policy", "rbac", "scheduling", "storage"]
SPECIAL = {"intstr.IntOrString": "int-or-string", "resource.Quantity": "quantity", "metav1.Time": "time", "Time": "time",
           "metav1.MicroTime": "micro-time", "MicroTime": "micro-time", "runtime.RawExtension": "raw", "FieldsV1": "fields",
           "metav1.FieldsV1": "fields", "metav1.Duration": "duration"}
SCALARS = {"string": "string", "bool": "bool", "int": "int", "int8": "int", "int16": "int", "int32": "int", "int64": "int",
           "uint32": "int", "float64": "double", "byte": "byte"}


class Package:
    def __init__(self, name, folder):
        self.name, self.imports, self.structs, self.aliases = name, {}, {}, {}
        for file in sorted(os.listdir(folder)):
            if file.startswith("types") and file.endswith(".go") and "swagger" not in file:
                self.read(os.path.join(folder, file))

    def read(self, path):
        current = None
        for line in open(path):
            m = re.match(r'^\s*(\w+)?\s*"(k8s\.io/[\w./]+)"', line)
            if m:
                self.imports[m.group(1) or m.group(2).rsplit("/", 1)[1]] = m.group(2)
            m = re.match(r"^(?:type )?\s?(\w+) struct {", line)
            if m and line.startswith("type "):
                current = self.structs.setdefault(m.group(1), [])
                continue
            if line.startswith("}"):
                current = None
            m = re.match(r"^type (\w+) ([\w\[\]\.\*]+)\s*$", line)
            if m and m.group(2) != "struct":
                self.aliases[m.group(1)] = m.group(2)
            if current is not None:
                self.field(current, line)

    def field(self, out, line):
        m = re.match(r"^\s+(?:(\w+)\s+)?([\w\.\*\[\]]+)\s+`(.*)`", line)
        if not m:
            return
        json = re.search(r'json:"([^"]*)"', m.group(3))
        proto = re.search(r'protobuf:"\w+,(\d+)', m.group(3))
        if not json or not proto:
            return
        name = json.group(1).split(",")[0]
        out.append((int(proto.group(1)), name or "-", m.group(2)))


def package_of(path, packages):
    m = re.match(r"k8s\.io/api/(\w+)/(v\w+)$", path)
    if m:
        return packages.get("%s.%s" % m.groups())
    return packages["meta.v1"] if path.endswith("/apis/meta/v1") else None


def shape(package, text, packages, used):
    if text.startswith("*"):
        return "*" + shape(package, text[1:], packages, used)
    if text == "[]byte":
        return "bytes"
    if text.startswith("[]"):
        return "[]" + shape(package, text[2:], packages, used)
    m = re.match(r"map\[[\w.]+\](.*)", text)
    if m:
        return "{}" + shape(package, m.group(1), packages, used)
    if text in SPECIAL:
        return SPECIAL[text]
    if text in SCALARS:
        return SCALARS[text]
    if "." in text:
        alias, name = text.split(".")
        if package.imports.get(alias, "").endswith("/types"):
            return "string"
        other = package_of(package.imports.get(alias, ""), packages)
        return shape(other, name, packages, used) if other else "unknown"
    if text in package.aliases:
        target = package.aliases[text]
        if target.startswith("[]"):
            used.add((package.name, text))
            return "items:" + shape(package, target[2:], packages, used)
        return shape(package, target, packages, used)
    if text in package.structs:
        return "@%s.%s" % (package.name, text)
    return "unknown"


def main():
    api, machinery, version = sys.argv[1:4]
    packages = {"meta.v1": Package("meta.v1", os.path.join(machinery, "pkg/apis/meta/v1"))}
    for group in GROUPS:
        for v in ("v1", "v2"):
            folder = os.path.join(api, group, v)
            if os.path.isdir(folder):
                name = "%s.%s" % (group, v)
                packages[name] = Package(name, folder)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "protobuf.txt"), "w") as out:
        out.write("# message GROUP.VERSION.TYPE, then one line a field: number, JSON name (- = fields appear in the parent),\n"
                  "# shape; * = absent and zero differ; Kubernetes %s; written by extract_protobuf.py\n" % version)
        for name in sorted(packages):
            for struct in sorted(packages[name].structs):
                fields = packages[name].structs[struct]
                if not fields:
                    continue
                out.write("message %s.%s\n" % (name, struct))
                for number, field, text in sorted(fields):
                    out.write(" %d %s %s\n" % (number, field, shape(packages[name], text, packages, set())))


main()
