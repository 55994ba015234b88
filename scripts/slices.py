#!/usr/bin/env python3
"""Names the slices of the package: the test targets, and what `make check` builds for each.

    slices.py           every slice, with the number of targets that it builds, in order of that number
    slices.py FILE…     the slices that fit changed files, the best first

A slice fits a file if its tests use the target of that file, or start it as a program. The best is the one that is named
for the target (`KeysTests` for `Keys`); then come those that depend on it themselves, the smallest first. For a program
they are those with the most tests first.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOWN = 4


def package():
    """The targets by name with their paths and dependencies, and the programs that each target's tests start."""
    # A copy, because a running `swift test` has the package's folder locked.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "Package.swift", folder)
        dump = subprocess.run(
            ["swift", "package", "dump-package"], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
    targets = {}
    for target in json.loads(dump)["targets"]:
        names = {dependency["byName"][0] for dependency in target["dependencies"] if "byName" in dependency}
        targets[target["name"]] = (target["type"], target.get("path") or "", names)
    lines = (ROOT / "Package.swift").read_text().split("let started: ", 1)[1].split("\n]", 1)[0]
    started = {
        name: set(re.findall(r'"([\w-]+)"', programs))
        for name, programs in re.findall(r'"(\w+)": \[(.*?)\]', lines, re.DOTALL)
    }
    return targets, started


def built(name, targets, started):
    """Everything that the slice of this test target builds."""
    kept, waiting = set(), [name]
    while waiting:
        current = waiting.pop()
        if current in kept or current not in targets:
            continue
        kept.add(current)
        waiting += targets[current][2] | started.get(current, set())
    return kept


def fitting(file, targets, slices):
    """The slices for a file, the best first."""
    path = pathlib.Path(file).resolve()
    path = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    owner = next((name for name, (_, folder, _) in targets.items() if folder and path.is_relative_to(folder)), None)
    if owner is None:
        return []

    is_program = targets[owner][0] == "executable"

    def rank(name):
        files = len(list((ROOT / targets[name][1]).glob("*.swift")))
        size = -files if is_program else len(slices[name])
        # Most tests of the package look at scripts and documents.
        return (name not in (owner, f"{owner}Tests"), name == "PackageTests", owner not in targets[name][2], size)

    return sorted((name for name in slices if owner in slices[name]), key=rank)[:SHOWN]


def plural(count):
    return "target" if count == 1 else "targets"


def main():
    targets, started = package()
    slices = {
        name: built(name, targets, started) for name, (kind, _, _) in targets.items() if kind == "test"
    }
    if len(sys.argv) == 1:
        for name in sorted(slices, key=lambda name: (len(slices[name]), name)):
            print(f"  {name:26} {len(slices[name]):3} {plural(len(slices[name]))}")
        return
    for file in sys.argv[1:]:
        found = fitting(file, targets, slices)
        if not found:
            # Documents, scripts, units and manual pages.
            found = ["PackageTests"]
        for name in found:
            print(f"make check T={name:26} # {len(slices[name])} {plural(len(slices[name]))}")


if __name__ == "__main__":
    main()
