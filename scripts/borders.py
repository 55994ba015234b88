#!/usr/bin/env python3
"""Finds numbers from outside that are used without a check, in the source files that read them.

    scripts/borders.py [DIRECTORY]

Whoever sends a number over a bus, in a file or in a message may be an enemy, and arithmetic that overflows, or a conversion
of a number that does not fit, ends the process. So the files below make numbers only of an OutsideNumber, which asks for
a range (docs/decisions/0162). What this script refuses there:

- a conversion that traps: `Int(x)`, `UInt32(x)`. Those with a label do not (`exactly:`, `clamping:`, `bigEndian:`),
  and those of a constant are harmless (`Int32(MSG_NOSIGNAL)`);
- a number made of bytes by hand: `<<` of anything but two literals;
- a number of a message without a range: `asUInt32`, `case .uint32(let number)`.

Everywhere it refuses the conversion of a time that may have been written by another machine: `Int64(item.modified)`.

It prints each finding, and ends with status 1 if there is one.
"""

import importlib.util
import pathlib
import re
import sys

BORDERS = [
    # buses
    "Sources/Vault/VaultBus/Calls",
    "Sources/Vault/VaultBus/Server",
    "Sources/Vault/VaultBus/Values",
    "Sources/Vault/VaultBus/Wire",
    "Sources/Common/SDBus/BusCodable.swift",
    "Sources/Common/SDBus/BusFields.swift",
    "Sources/Common/Primitives/CanonicalEncoding.swift",
    "Sources/Reader/ReaderBus",
    "Sources/Common/SDBus/IncomingDeadline.swift",
    # the repository of sync, and encrypted files (VaultSync)
    "Sources/Client/Moving/SyncRepository",
    "Sources/Vault/VaultSync",
    "Sources/Vault/VaultItems/Arrival.swift",
    "Sources/Vault/VaultItems/SyncReceiver.swift",
    # seeds of one-time codes, as sites and programs write them
    "Sources/Vault/SecretModel/OneTimeCode.swift",
    "Sources/Vault/VaultItems/CodeSeed.swift",
    # readers
    "Sources/Common/Primitives/Fingerprint",
    "Sources/Reader/ReaderService/Fprintd/FprintdDescription.swift",
    # security keys
    "Sources/Common/CBOR",
    "Sources/Session/Passkeys/Protocol",
    "Sources/Session/Passkeys/Transport",
    # browsers
    "Sources/Session/BrowserLogins/NativeFrame.swift",
    "Sources/Session/BrowserLogins/BrowserRequest.swift",
    "Sources/Session/BrowserLogins/SiteAddress.swift",
    # ssh
    "Sources/Common/Primitives/KeySchemes",
    "Sources/Session/SSHAgent/Protocol",
    "Sources/Session/SSHAgent/Server/AgentSocket.swift",
    "Sources/Vault/SecretModel/SSHKey.swift",
]

CONVERSION = re.compile(
    r"(?<![\w.`])(?:U?Int(?:8|16|32|64|128)?|pid_t|time_t|off_t)\("
    r"(?!\)|(?:exactly|clamping|truncatingIfNeeded|bitPattern|bigEndian|bus|ascii):|[A-Z][\w.]*(?: \| [A-Z][\w.]*)*\))"
)
SHIFT = re.compile(r"(?<![\w.])(?!\d+ <<=? \d+\b)[\w.$\])]+ <<=? ")
RAW = re.compile(r"\.as(?:U?Int(?:16|32|64))\b|\bcase \.(?:byte|u?int(?:16|32|64))\(let\b")
TIME = re.compile(r"(?<![\w.])(?:U?Int(?:32|64)?|time_t)\([\w.$]*(?:created|modified|written)\)")


def code_of(path):
    return house.code_only(path.read_text(encoding="utf-8")).split("\n")


def load_house():
    place = pathlib.Path(__file__).resolve().parent / "house.py"
    spec = importlib.util.spec_from_file_location("house", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


house = load_house()


def findings(root):
    border = set()
    for name in BORDERS:
        place = root / name
        if not place.exists():
            yield f"{name}: it is gone; remove it from scripts/borders.py, or name its new place"
            continue
        border |= set(place.rglob("*.swift")) if place.is_dir() else {place}
    for path in sorted((root / "Sources").rglob("*.swift")):
        for number, line in enumerate(code_of(path), 1):
            where = f"{path.relative_to(root)}:{number}"
            if TIME.search(line):
                yield f"{where}: a time of another machine: convert it with clamping:"
            if path not in border:
                continue
            if CONVERSION.search(line):
                yield f"{where}: a conversion that traps: take the number from an OutsideNumber"
            if SHIFT.search(line):
                yield f"{where}: a number made by hand: use OutsideNumber(bigEndian:)"
            if RAW.search(line):
                yield f"{where}: a number of a message without a range: use number(in:)"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(findings(root))
    for finding in found:
        print(f"lint: {finding}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
