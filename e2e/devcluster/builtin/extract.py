#!/usr/bin/env python3
"""Writes types.txt and resources.txt: the fields, list types, merge keys and defaults of the built-in kinds, and the
table of resources, as one Kubernetes minor version publishes them in its OpenAPI and discovery documents.

    extract.py API_FOLDER KUBERNETES_VERSION MODULES MODULE_VERSION

API_FOLDER is the folder `api` of the Go module k8s.io/kubernetes; MODULES the folder that has the modules
api@MODULE_VERSION, apimachinery@MODULE_VERSION and so on. Only facts are taken (names, types, markers);
the descriptions stay behind. Run by hand when the version moves; its output is checked in.
"""
import json
import os
import re
import sys

from go_presence import Presence

STABLE = re.compile(r"^v\d+$")
LEFT_OUT = {"resource.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io"}
SHORT = [
    ("io.k8s.apimachinery.pkg.", "m:"),
    ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.", "x:"),
    ("io.k8s.kube-aggregator.pkg.apis.apiregistration.", "r:"),
    ("io.k8s.api.", "a:"),
]


def short(name):
    for long_form, short_form in SHORT:
        if name.startswith(long_form):
            return short_form + name[len(long_form):]
    return name


def target(schema):
    """The name a $ref points to, directly or through the allOf that carries defaults."""
    ref = schema.get("$ref")
    if not ref and len(schema.get("allOf", [])) == 1:
        ref = schema["allOf"][0].get("$ref")
    return ref.rsplit("/", 1)[1] if ref else None


def expression(schema, used):
    name = target(schema)
    if name:
        used.add(name)
        return short(name)
    kind = schema.get("type")
    if kind == "array":
        return "[]" + expression(schema["items"], used)
    if kind == "object":
        values = schema.get("additionalProperties")
        return "{}" + expression(values, used) if isinstance(values, dict) else "object"
    if kind is None:
        return "int-or-string" if schema.get("format") == "int-or-string" or "oneOf" in schema else "any"
    kind = {"integer": "int", "boolean": "bool"}.get(kind, kind)
    return kind + (":" + schema["format"] if schema.get("format") else "")


def markers(schema):
    out = []
    list_type = schema.get("x-kubernetes-list-type")
    if list_type == "map":
        out.append("list=map(%s)" % ",".join(schema.get("x-kubernetes-list-map-keys", [])))
    elif list_type:
        out.append("list=" + list_type)
    if schema.get("x-kubernetes-map-type"):
        out.append("map=" + schema["x-kubernetes-map-type"])
    strategy = schema.get("x-kubernetes-patch-strategy")
    if strategy:
        key = schema.get("x-kubernetes-patch-merge-key")
        out.append("patch=%s%s" % (strategy, "(%s)" % key if key else ""))
    return out


def default(schema):
    value = schema.get("default")
    # {} and "" are Go's zero values, written by its generator for every field; they default nothing.
    return [] if value in (None, {}, "", 0, False) else ["default=" + json.dumps(value, separators=(",", ":"))]


def write_types(definitions, roots, presence, out):
    todo, written = sorted(roots), set()
    blocks = {}
    while todo:
        name = todo.pop()
        if name in written:
            continue
        written.add(name)
        d, used = definitions[name], set()
        written_always = presence.fields(name)
        lines = [" ".join(["type", short(name), expression({k: v for k, v in d.items() if k != "properties"}, used)] + markers(d))]
        for field in sorted(d.get("properties", {})):
            f = d["properties"][field]
            words = [" " + field, expression(f, used)]
            if field in d.get("required", []):
                words.append("!")
            if field in written_always and field not in ("apiVersion", "kind"):
                words.append(written_always[field])
            lines.append(" ".join(words + markers(f) + default(f)))
        blocks[short(name)] = "\n".join(lines)
        todo.extend(used - written)
    for name in sorted(blocks):
        out.write(blocks[name] + "\n")


def resource_lines(group, version, kinds, resources):
    for r in sorted(resources, key=lambda r: r["name"]):
        gvk = (r.get("group", group), r.get("version", version), r["kind"])
        words = [group or "core", version, r["name"], r["kind"], "namespaced" if r["namespaced"] else "cluster"]
        words.append("type=" + (short(kinds[gvk]) if gvk in kinds else "-"))
        for key, label in (("singularName", "singular"), ("shortNames", "short"), ("categories", "categories"), ("verbs", "verbs")):
            value = r.get(key)
            if value:
                words.append("%s=%s" % (label, value if isinstance(value, str) else ",".join(value)))
        if "/" in r["name"] and r.get("group") is not None:
            words.append("as=%s/%s" % (r.get("group", ""), r.get("version", "")))
        yield gvk, " ".join(words)


def main():
    folder, version, modules, module_version = sys.argv[1:5]
    here = os.path.dirname(os.path.abspath(__file__))
    definitions, kinds = {}, {}
    for name in sorted(os.listdir(os.path.join(folder, "openapi-spec", "v3"))):
        with open(os.path.join(folder, "openapi-spec", "v3", name)) as f:
            definitions.update(json.load(f).get("components", {}).get("schemas", {}))
    for name, d in definitions.items():
        gvks = d.get("x-kubernetes-group-version-kind", [])
        if len(gvks) == 1:
            kinds[(gvks[0]["group"], gvks[0]["version"], gvks[0]["kind"])] = name
    roots, lines = set(), []
    for name in sorted(os.listdir(os.path.join(folder, "discovery"))):
        with open(os.path.join(folder, "discovery", name)) as f:
            d = json.load(f)
        if d.get("kind") != "APIResourceList":
            continue
        group, _, v = d["groupVersion"].rpartition("/")
        if not STABLE.match(v) or group in LEFT_OUT:
            continue
        for gvk, line in resource_lines(group, v, kinds, d["resources"]):
            lines.append(line)
            if gvk in kinds:
                roots.add(kinds[gvk])
    for extra in ("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", "io.k8s.apimachinery.pkg.apis.meta.v1.Status"):
        roots.add(extra)
    with open(os.path.join(here, "resources.txt"), "w") as out:
        out.write("# group version resource kind scope ...; Kubernetes %s; written by extract.py\n" % version)
        out.write("\n".join(sorted(lines)) + "\n")
    with open(os.path.join(here, "types.txt"), "w") as out:
        out.write("# type NAME SHAPE MARKERS, then one indented line a field; ! = required; zero, null = Go always writes it, as its zero\n")
        out.write("# value or null; brief = not written when zero; Kubernetes %s; written by extract.py\n" % version)
        write_types(definitions, roots, Presence(modules, module_version), out)


main()
