#!/usr/bin/env python3
"""Shows the inner structure of the Swift targets in Sources/: folders, circles and large types.

    scripts/house [--json | --quiet] [--uses FILE] [DIRECTORY]

It prints the targets with their files, lines and imports; for each target with folders, the folders and which of them
use which; circles of folders; circles of files; and the types of more than 400 lines.

- A file uses another file of its target when it names a type that the other one declares. Comments and the text of
  strings do not count, what a string interpolates does.
- A nested type is found by its full name (`Outer.Inner`), and by its own name inside its outer type.
- A file that only extends a type does not declare it: it uses the type.
- A type has the lines of its declaration and of all its extensions in the target, nested types included.

It ends with status 1 where it finds a circle or a large type that scripts/house-exceptions.txt does not list, or lists
as a smaller one, and where that file lists something that is no longer there. `--uses FILE` prints what the file uses and what uses it, and why.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys
from collections import defaultdict

LARGEST_TYPE = 400
LARGEST_FILE = 400
# The targets here are programs, not libraries.
PROGRAMS = "Programs/"
ROOT_FOLDER = "."
KEYWORDS = r"struct|class|enum|protocol|actor|typealias|extension"
IMPORT = re.compile(
    r"^[ \t]*(?:[\w@]+[ \t]+)*import[ \t]+(?:(?:struct|class|enum|protocol|typealias|func|let|var)[ \t]+)?(\w+)",
    re.MULTILINE,
)
TOKEN = re.compile(
    rf"(?P<declaration>(?<![.\w`])(?:{KEYWORDS})\s+(?!func\b|var\b|let\b|init\b|subscript\b)"
    r"(?P<name>`?[A-Za-z_]\w*`?(?:\s*\.\s*\w+)*))"
    r"|(?P<open>\{)|(?P<close>\})|(?P<word>(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)"
)


def code_only(source):
    """The source without comments and the text of strings, line for line; interpolated code stays."""
    result = []
    position = 0
    end = len(source)
    # What encloses the current position: each interpolated expression of a string, with its open parentheses.
    strings = []

    def blank(text):
        result.append("".join("\n" if character == "\n" else " " for character in text))

    def skip_text(position, hashes, quotes):
        """Skips the text of a string up to its end or to its next interpolation; says which it was."""
        closing, escape = quotes + hashes, "\\" + hashes
        begin = position
        while position < end:
            if source.startswith(closing, position):
                position += len(closing)
                blank(source[begin:position])
                return position, False
            if source.startswith(escape + "(", position):
                position += len(escape) + 1
                blank(source[begin:position])
                return position, True
            if source.startswith(escape, position):
                position += len(escape) + 1
            else:
                position += 1
        blank(source[begin:end])
        return end, False

    while position < end:
        character = source[position]
        if source.startswith("//", position):
            stop = source.find("\n", position)
            stop = end if stop < 0 else stop
            blank(source[position:stop])
            position = stop
            continue
        if source.startswith("/*", position):
            depth, stop = 1, position + 2
            while stop < end and depth:
                if source.startswith("/*", stop):
                    depth, stop = depth + 1, stop + 2
                elif source.startswith("*/", stop):
                    depth, stop = depth - 1, stop + 2
                else:
                    stop += 1
            blank(source[position:stop])
            position = stop
            continue
        quote = re.compile(r'(#*)("""|")').match(source, position)
        if quote:
            blank(quote.group())
            position, interpolates = skip_text(quote.end(), *quote.groups())
            if interpolates:
                strings.append([quote.groups(), 1])
            continue
        if strings and character in "()":
            strings[-1][1] += 1 if character == "(" else -1
            if strings[-1][1] == 0:
                kind, _ = strings.pop()
                result.append(" ")
                position, interpolates = skip_text(position + 1, *kind)
                if interpolates:
                    strings.append([kind, 1])
                continue
        result.append(character)
        position += 1
    return "".join(result)


class SourceFile:
    """A file: its imports, its type declarations with their lines, and the names it mentions, each in its scope."""

    def __init__(self, path, target_directory):
        source = path.read_text(encoding="utf-8")
        self.name = path.relative_to(target_directory).as_posix()
        self.folder = path.parent.relative_to(target_directory).as_posix()
        self.lines = source.count("\n")
        # Whether the comment at its top says what the target is: `// NAME: …`.
        self.introduces = f"\n// {target_directory.name}: " in "\n" + source[:400]
        code = code_only(source)
        self.imports = set(IMPORT.findall(code))
        self.declares = set()
        self.mentions = set()
        self.type_lines = defaultdict(int)
        self.scan(code)

    def scan(self, code):
        scopes = []  # (full name, first line) of an open type, or None for another brace
        pending = None
        for token in TOKEN.finditer(code):
            scope = next((open_scope[0] for open_scope in reversed(scopes) if open_scope), "")
            if token["declaration"]:
                keyword = token["declaration"].split()[0]
                name = re.sub(r"[\s`]", "", token["name"])
                line = code.count("\n", 0, token.start())
                if keyword == "extension":
                    self.mentions.add(("", name))
                    pending = (name, line)
                    continue
                full_name = f"{scope}.{name}" if scope else name
                # A type inside a function is known only there.
                if not scopes or scopes[-1]:
                    self.declares.add(full_name)
                pending = None if keyword == "typealias" else (full_name, line)
            elif token["open"]:
                scopes.append(pending)
                pending = None
            elif token["close"]:
                closed = scopes.pop() if scopes else None
                if closed:
                    self.type_lines[closed[0]] += code.count("\n", 0, token.start()) - closed[1] + 1
            else:
                # What stands between the name of a type and its brace is outside the type.
                self.mentions.add((scope, re.sub(r"\s", "", token["word"])))


class Target:
    def __init__(self, directory, sources):
        self.name = directory.relative_to(sources).as_posix()
        paths = sorted(directory.rglob("*.swift"))
        self.files = [SourceFile(path, directory) for path in paths]
        self.declared = defaultdict(set)
        for file in self.files:
            for name in file.declares:
                self.declared[name].add(file.name)
        # For each file, the files it uses, with the names that say so.
        self.uses = {file.name: self.used_by(file) for file in self.files}

    def used_by(self, file):
        used = defaultdict(set)
        for scope, chain in file.mentions:
            for name in self.resolve(scope, chain.split(".")):
                if name in file.declares:
                    continue
                for other in self.declared[name]:
                    used[other].add(name)
        return used

    def resolve(self, scope, words):
        """The declared types that a chain of names mentions: the first found from inside out, then its nested ones."""
        outer = scope.split(".") if scope else []
        for depth in range(len(outer), -1, -1):
            name = ".".join(outer[:depth] + words[:1])
            if name in self.declared:
                yield name
                for word in words[1:]:
                    name += "." + word
                    if name not in self.declared:
                        return
                    yield name
                return

    def file_circles(self):
        return circles({name: set(used) for name, used in self.uses.items()})

    def folders(self):
        folder_of = {file.name: file.folder for file in self.files}
        used = {folder: set() for folder in sorted(set(folder_of.values()))}
        for name, others in self.uses.items():
            used[folder_of[name]] |= {folder_of[other] for other in others} - {folder_of[name]}
        return used

    def large_types(self):
        lines = defaultdict(int)
        for file in self.files:
            for name, count in file.type_lines.items():
                lines[name] += count
        return {name: count for name, count in sorted(lines.items()) if count > LARGEST_TYPE}

    def report(self):
        return {
            "target": self.name,
            "files": len(self.files),
            "lines": sum(file.lines for file in self.files),
            "imports": sorted(set().union(*(file.imports for file in self.files))),
            "folders": {folder: sorted(used) for folder, used in self.folders().items()},
            "folder circles": circles(self.folders()),
            "file circles": self.file_circles(),
            "large types": self.large_types(),
        }


def circles(graph):
    """The strongly connected parts of more than one node, each sorted, the smallest first (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while True:
                part.append(stack.pop())
                if part[-1] == node:
                    break
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(max(1000, 10 * len(graph)))
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda part: (len(part), part))


class Fault:
    """A circle or a large type, and how the file of exceptions names it."""

    FORM = re.compile(r"(?P<place>\S+: (?:circle of files|circle of folders|large type) at \S+): at most (?P<size>\d+)")

    def __init__(self, target, kind, first, size, members=()):
        self.place = f"{target}: {kind} at {first}"
        self.size = size
        self.members = members

    def line(self):
        return f"{self.place}: at most {self.size}"


def faults(report):
    for key, kind in (("folder circles", "circle of folders"), ("file circles", "circle of files")):
        for circle in report[key]:
            yield Fault(report["target"], kind, circle[0], len(circle), circle)
    for name, lines in report["large types"].items():
        yield Fault(report["target"], "large type", name, lines)


def exceptions(path):
    """The sizes of the known faults, by their place. The comment before a line is its reason."""
    known, has_reason = {}, False
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line.startswith("#"):
            has_reason = True
        elif not line.strip():
            has_reason = False
        else:
            exception = Fault.FORM.fullmatch(line.strip())
            if not exception or not has_reason:
                sys.exit(f"{path}: {'no reason before' if exception else 'not in the form of an exception:'} {line}")
            known[exception["place"]] = int(exception["size"])
    return known


def numbers(targets, reports):
    """The sizes of the whole."""
    lines = [file.lines for target in targets for file in target.files]
    libraries = [target for target in targets if not target.name.startswith(PROGRAMS)]
    return {
        "lines": sum(lines),
        "files": len(lines),
        "median": statistics.median_low(lines) if lines else 0,
        "long files": sum(count > LARGEST_FILE for count in lines),
        "libraries": len(libraries),
        "introduced": sum(any(file.introduces for file in target.files) for target in libraries),
        "circles": sum(len(report["file circles"]) + len(report["folder circles"]) for report in reports),
    }


def show_numbers(count):
    print(
        f"{count['lines']:,} lines in {count['files']:,} files of a median of {count['median']} lines, "
        f"{count['long files']} of more than {LARGEST_FILE}; {count['libraries']} libraries, "
        f"{count['introduced']} with a comment that says where to begin; {count['circles']} circles"
    )


def show(report):
    print(f"{report['target']}: {report['files']} files, {report['lines']} lines")
    if report["imports"]:
        print(f"  imports {' '.join(report['imports'])}")
    if list(report["folders"]) != [ROOT_FOLDER]:
        for folder, used in report["folders"].items():
            print(f"  {folder}/ uses {', '.join(used) or 'no other'}")
    for circle in report["folder circles"]:
        print(f"  circle of {len(circle)} folders: {' '.join(circle)}")
    for circle in report["file circles"]:
        print(f"  circle of {len(circle)} files: {' '.join(circle)}")
    for name, lines in report["large types"].items():
        print(f"  {name} has {lines} lines")


def show_uses(targets, wanted):
    for target in targets:
        for name, used in target.uses.items():
            for other, types in sorted(used.items()):
                if wanted in (name, pathlib.PurePosixPath(name).name):
                    print(f"{target.name}: {name} uses {other} ({', '.join(sorted(types))})")
                if wanted in (other, pathlib.PurePosixPath(other).name):
                    print(f"{target.name}: {other} is used by {name} ({', '.join(sorted(types))})")


def main():
    scripts = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", nargs="?", type=pathlib.Path, default=scripts.parent / "Sources")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--quiet", action="store_true", help="print only what is new or no longer there")
    parser.add_argument("--uses", metavar="FILE", help="what this file uses, and what uses it, and the names of why")
    options = parser.parse_args()
    directories = sorted(path for path in options.directory.glob("*/*") if any(path.rglob("*.swift")))
    targets = [Target(directory, options.directory) for directory in directories]
    if options.uses:
        show_uses(targets, options.uses)
        return 0
    reports = [target.report() for target in targets]
    known = exceptions(scripts / "house-exceptions.txt")
    found = [fault for report in reports for fault in faults(report)]
    new = [fault for fault in found if fault.size > known.get(fault.place, 0)]
    places = {fault.place for fault in found}
    gone = [place for place in known if place not in places]
    smaller = [fault for fault in found if fault.members and fault.size < known.get(fault.place, 0)]
    if options.json:
        lines = {"new": [fault.line() for fault in new], "gone": gone, "smaller": [fault.line() for fault in smaller]}
        print(json.dumps({"targets": reports, "numbers": numbers(targets, reports), **lines}, indent=2))
    elif not options.quiet:
        for report in reports:
            show(report)
        show_numbers(numbers(targets, reports))
    for fault in new:
        print(f"new: {fault.line()}" + (f" ({' '.join(fault.members)})" if fault.members else ""), file=sys.stderr)
    for place in gone:
        print(f"no longer there, take it out of scripts/house-exceptions.txt: {place}", file=sys.stderr)
    for fault in smaller:
        print(f"smaller now, lower it in scripts/house-exceptions.txt: {fault.line()}", file=sys.stderr)
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main())
