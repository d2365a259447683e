"""Which fields Go writes into every object, which only when they are set: read from the json tags of struct types.

Used by extract.py. Only facts are taken (names, tags, whether a type is a struct, a list or a scalar).
"""
import os
import re

FOLDERS = [
    ("io.k8s.apimachinery.pkg.", "apimachinery", "pkg"),
    ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.", "apiextensions-apiserver", "pkg/apis/apiextensions"),
    ("io.k8s.kube-aggregator.pkg.apis.apiregistration.", "kube-aggregator", "pkg/apis/apiregistration"),
    ("io.k8s.api.", "api", ""),
]
SCALARS = {"string", "bool", "int", "int8", "int16", "int32", "int64", "uint32", "float64", "byte"}
# Struct types with a JSON form of their own: how their zero value is written.
SPECIAL = {"Time": "null", "MicroTime": "null", "RawExtension": "null", "FieldsV1": "null", "JSON": "null",
           "IntOrString": "", "Quantity": "", "Duration": ""}


class Package:
    def __init__(self, folder):
        self.structs, self.kinds, self.imports = {}, {}, {}
        for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if file.endswith(".go") and not file.endswith("_test.go") and not file.startswith("zz_"):
                self.read(os.path.join(folder, file))

    def read(self, path):
        current = None
        for line in open(path):
            m = re.match(r'^\s*(?:import\s+)?(\w+)?\s*"k8s\.io/([\w./-]+)"', line)
            if m:
                self.imports[m.group(1) or m.group(2).rsplit("/", 1)[1]] = m.group(2)
            m = re.match(r"^type (\w+) (struct \{|\S+)", line)
            if m:
                self.kinds[m.group(1)] = "struct" if m.group(2).startswith("struct") else m.group(2)
                current = self.structs.setdefault(m.group(1), []) if m.group(2).startswith("struct") else None
            elif line.startswith("}"):
                current = None
            m = re.match(r'^\s+(?:(\w+)\s+)?([*\[\]\w.]+(?:\[\w*\][*\w.]+)?)\s+`.*?json:"([^"]*)"', line)
            if m and current is not None:
                current.append((m.group(2), m.group(3)))


class Presence:
    def __init__(self, modules, version):
        self.modules, self.version, self.packages = modules, version, {}

    def package(self, path):
        """k8s.io/PATH, e.g. api/core/v1."""
        if path not in self.packages:
            module, _, rest = path.partition("/")
            self.packages[path] = Package(os.path.join(self.modules, "%s@%s" % (module, self.version), rest))
        return self.packages[path]

    def locate(self, definition):
        for prefix, module, folder in FOLDERS:
            if definition.startswith(prefix):
                parts = definition[len(prefix):].split(".")
                return self.package("/".join(p for p in [module, folder] + parts[:-1] if p)), parts[-1]
        return None, None

    def kind(self, package, name):
        """struct, list, scalar or a special type's zero."""
        if "." in name:
            alias, name = name.split(".")
            package = self.package(package.imports[alias]) if alias in package.imports else Package("")
        if name in SPECIAL:
            return SPECIAL[name]
        if name in SCALARS:
            return "scalar"
        if name.startswith("[]") or name.startswith("map["):
            return "list"
        kind = package.kinds.get(name)
        return kind if kind in (None, "struct") else self.kind(package, kind)

    def fields(self, definition):
        """{field: "zero", "null" or "brief"}; fields that are written just when they are set are not in it."""
        package, name = self.locate(definition)
        out = {}
        for go_type, tag in package.structs.get(name, []) if package else []:
            field, _, options = tag.partition(",")
            if not field:
                if "inline" in options and "." not in go_type:
                    out.update(self.fields(definition.rsplit(".", 1)[0] + "." + go_type.lstrip("*")))
                continue
            short = "omitempty" in options or "omitzero" in options
            if go_type.startswith("*"):
                word = None if short else "null"
            else:
                kind = self.kind(package, go_type)
                word = {"struct": None if "omitzero" in options else "zero", "list": None if short else "null",
                        "scalar": "brief" if short else "zero", "null": None if "omitzero" in options else "null"}.get(kind)
            if word:
                out[field] = word
        return out
