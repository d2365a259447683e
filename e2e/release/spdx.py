#!/usr/bin/env python3
"""Checks a document against what SPDX 2.3 requires of its JSON form: spdx.py FILE

Mandatory fields of document, packages, files and relationships, the form of identifiers, dates and checksums, licence expressions of
identifiers that SPDX has, and that every identifier that is named exists.
"""
import hashlib
import json
import re
import sys

IDENTIFIERS = {"MIT", "Apache-2.0", "Zlib", "curl", "ISC", "BSD-2-Clause", "BSD-3-Clause", "GPL-2.0-only", "GPL-2.0-or-later",
               "GPL-3.0-or-later", "LGPL-2.1-or-later", "LGPL-3.0-or-later", "GCC-exception-3.1", "OR", "AND", "WITH"}
LENGTHS = {"SHA1": 40, "SHA256": 64}


def has(what, *fields):
    for field in fields:
        assert what.get(field) not in (None, ""), f"{what.get('SPDXID', 'document')}: no {field}"


def licence(text):
    assert text in ("NOASSERTION", "NONE") or set(text.split()) <= IDENTIFIERS, text


def identifier(text):
    assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", text), text
    return text


def sums(what):
    for checksum in what.get("checksums", []):
        assert re.fullmatch(rf"[0-9a-f]{{{LENGTHS[checksum['algorithm']]}}}", checksum["checksumValue"]), checksum


def check_package(package, files):
    has(package, "SPDXID", "name", "versionInfo", "downloadLocation", "licenseDeclared", "licenseConcluded", "copyrightText")
    licence(package["licenseDeclared"])
    sums(package)
    for reference in package.get("externalRefs", []):
        assert re.fullmatch(r"pkg:deb/debian/[a-z0-9.+-]+@[A-Za-z0-9.%~+-]+\?arch=\w+", reference["referenceLocator"]), reference
    if package["filesAnalyzed"]:
        sha1s = sorted(c["checksumValue"] for f in files for c in f["checksums"] if c["algorithm"] == "SHA1")
        wanted = hashlib.sha1("".join(sha1s).encode()).hexdigest()
        assert package["packageVerificationCode"]["packageVerificationCodeValue"] == wanted, "packageVerificationCode"


def check_file(described):
    has(described, "SPDXID", "fileName", "licenseConcluded", "copyrightText")
    assert described["fileName"].startswith("./"), described
    assert "SHA1" in [c["algorithm"] for c in described["checksums"]], described
    sums(described)


def check(document):
    has(document, "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "files", "relationships")
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0" and document["SPDXID"] == "SPDXRef-DOCUMENT"
    assert re.fullmatch(r"[a-z]+:[^#\s]+", document["documentNamespace"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"])
    assert all(re.match(r"(Tool|Person|Organization): ?\S", c) for c in document["creationInfo"]["creators"])
    elements = document["packages"] + document["files"]
    known = [identifier(e["SPDXID"]) for e in elements] + ["SPDXRef-DOCUMENT"]
    assert len(known) == len(set(known)), "an identifier twice"
    for package in document["packages"]:
        check_package(package, document["files"])
    for described in document["files"]:
        check_file(described)
    for relation in document["relationships"]:
        assert relation["spdxElementId"] in known and relation["relatedSpdxElement"] in known, relation
        assert relation["relationshipType"] in ("DESCRIBES", "CONTAINS", "STATIC_LINK"), relation
    assert any(r["relationshipType"] == "DESCRIBES" for r in document["relationships"])


if __name__ == "__main__":
    check(json.load(open(sys.argv[1])))
