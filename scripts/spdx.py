#!/usr/bin/env python3
"""Prints the list of what is in a release, as SPDX 2.3 in JSON: the archive, the packages, what they contain, and the system
libraries that they are linked with, by their Debian names.

    spdx.py VERSION FOLDER      FOLDER has the archive and the Debian packages

The same files give the same list: its time is SOURCE_DATE_EPOCH, and its name has the checksum of the archive.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What is in the programs besides Whorl's own sources. Versions of the Swift packages are those of the build's checkouts.
SWIFT_PACKAGES = {"GRDB.swift": "MIT", "swift-argument-parser": "Apache-2.0 WITH Swift-exception"}
# Linked statically by scripts/build.
RUNTIMES = [
    ("Swift runtime and Foundation", "Apache-2.0 WITH Swift-exception", "https://www.swift.org"),
    ("ICU", "Unicode-3.0", "https://icu.unicode.org"),
    ("libstdc++ and libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name)


def package(name, version=None, licence="NOASSERTION", place="NOASSERTION", file=None, purl=None):
    entry = {
        "SPDXID": identifier(f"{name}-{version}" if version else name),
        "name": name,
        "downloadLocation": place,
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }
    if version:
        entry["versionInfo"] = version
    if file:
        entry["packageFileName"] = file.name
        entry["checksums"] = [
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}
        ]
    if purl:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        ]
    return entry


def own_dependencies():
    """The packages that packaging/debian/control names itself: programs. All others come from the linked libraries."""
    control = (ROOT / "packaging/debian/control").read_text()
    lines = re.findall(r"^(?:Pre-)?Depends: (.*)$", control, re.MULTILINE)
    return {re.split(r"[ (]", part.strip())[0] for line in lines for part in line.split(",")}


def fields(deb):
    text = output("dpkg-deb", "--field", str(deb))
    return dict(re.findall(r"^([A-Za-z-]+): (.*)$", text, re.MULTILINE))


def main(version, folder):
    archive = folder / f"whorl-{version}.tar.gz"
    address = dict(
        line.split(None, 1) for line in (ROOT / "packaging/project.txt").read_text().splitlines() if line[0] != "#"
    )["address"]
    source = package("whorl", version, "MIT", address, archive)
    source["primaryPackagePurpose"] = "SOURCE"
    packages, relations = [source], [("SPDXRef-DOCUMENT", "DESCRIBES", source["SPDXID"])]

    inside = []
    for checkout in sorted((ROOT / ".build/checkouts").iterdir()):
        place = output("git", "-C", str(checkout), "config", "--get", "remote.origin.url")
        # In a release the archive is built from the address in the manifest; here it may be a mirror of it.
        named = re.search(rf'\.package\(url: "([^"]+/{re.escape(checkout.name)})"', (ROOT / "Package.swift").read_text())
        entry = package(
            checkout.name,
            output("git", "-C", str(checkout), "describe", "--tags", "--always"),
            SWIFT_PACKAGES[checkout.name],
            f"git+{named[1] if named else place}@{output('git', '-C', str(checkout), 'rev-parse', 'HEAD')}",
        )
        inside.append(entry)
        relations.append((source["SPDXID"], "CONTAINS", entry["SPDXID"]))
    linked = inside + [package(name, None, licence, place) for name, licence, place in RUNTIMES]
    packages += linked

    own, known = own_dependencies(), {entry["SPDXID"] for entry in packages}
    for deb in sorted(folder.glob("*.deb")):
        about = fields(deb)
        entry = package(about["Package"], about["Version"], "MIT", "NOASSERTION", deb)
        packages.append(entry)
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", entry["SPDXID"]))
        relations.append((entry["SPDXID"], "GENERATED_FROM", source["SPDXID"]))
        if about["Package"].endswith("-dbgsym"):
            continue
        relations += [(entry["SPDXID"], "STATIC_LINK", other["SPDXID"]) for other in linked]
        for dependency in filter(None, about.get("Depends", "").split(", ")):
            # The first of alternatives, which is what the library's own package asks for.
            found = re.match(r"([a-z0-9][a-z0-9+.-]*)(?::\w+)?(?: \(([^)]*)\))?", dependency)
            name = found[1]
            if name.startswith("whorl"):
                continue
            other = package(name, None, purl=f"pkg:deb/debian/{name}")
            if other["SPDXID"] not in known:
                known.add(other["SPDXID"])
                packages.append(other)
            kind = "DYNAMIC_LINK" if name.startswith("lib") and name not in own else "DEPENDS_ON"
            relations.append((entry["SPDXID"], kind, other["SPDXID"]))

    moment = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", str(ROOT), "log", "-1", "--format=%ct"))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"whorl-{version}",
        "documentNamespace": f"{address}/spdx/whorl-{version}-{source['checksums'][0]['checksumValue']}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)),
            "creators": [f"Tool: whorl-spdx.py-{version}", "Organization: Whorl maintainers"],
        },
        "packages": packages,
        "relationships": [
            {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}
            for first, kind, second in relations
        ],
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
