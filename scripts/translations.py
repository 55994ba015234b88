#!/usr/bin/env python3
"""Collects the sentences that a person reads, and keeps their translations in po/ complete.

    translations.py update             write po/whorl.pot anew, and bring each po/LANGUAGE.po to the same sentences
    translations.py check              fail unless the template is up to date and each translation is complete and valid
    translations.py compile FOLDER     write FOLDER/LANGUAGE/LC_MESSAGES/whorl.mo for each language
    translations.py merge FILE OUTPUT  write a desktop file, metainfo file or polkit's actions with their translations
    translations.py invent OUTPUT      write the .mo file of a made-up language, for tests

Debian's xgettext reads no Swift, so this finds the literals of `Text.of` and `Text.plural` itself, and those of the
interface files. xgettext reads the C sources, the desktop file and the XML. See docs/translating.md.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PO = ROOT / "po"
TEMPLATE = PO / "whorl.pot"
# Where msgfmt and xgettext find the rules for XML.
ENVIRONMENT = {**os.environ, "GETTEXTDATADIR": str(PO), "LC_ALL": "C.UTF-8"}
REVIEW = "Not reviewed by a native speaker."
HEADER = """\
# The sentences of Whorl.
# This file is distributed under the license of Whorl.
#
msgid ""
msgstr ""
"Project-Id-Version: whorl\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""
PLACE = re.compile(r"\{[a-z]+\}")
# A command to type, which is the same in every language.
COMMAND = r"'(?:whorl|sudo|systemctl|git|make) [^']+'"


def fail(words):
    sys.exit(f"translations: {words}")


def run(*words, **options):
    return subprocess.run(words, check=True, env=ENVIRONMENT, cwd=ROOT, **options)


class Sentence:
    """A sentence, its form for other numbers if it has one, and the files that have it."""

    def __init__(self, text, many=None, is_c_format=False):
        self.text, self.many, self.files = text, many, []
        self.is_c_format = is_c_format


# MARK: Swift


class Reader:
    """Reads Swift just well enough to skip comments and find literals."""

    ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0"}
    CALL = re.compile(r"\bText\s*\.\s*(of|plural)\(\s*")
    COMMA = re.compile(r"\s*,\s*")

    def __init__(self, path):
        self.path, self.source = path, path.read_text()

    def fail(self, index, words):
        line = self.source.count("\n", 0, index) + 1
        fail(f"{self.path.relative_to(ROOT)}:{line}: {words}")

    def literal(self, index):
        """The text of the literal at this index, and where it ends."""
        source = self.source
        if not source.startswith('"', index) or source.startswith('"""', index):
            self.fail(index, "a sentence is a literal on one line")
        text, index = [], index + 1
        while source[index] != '"':
            if source[index] == "\n":
                self.fail(index, "a sentence is a literal on one line")
            if source[index] != "\\":
                text.append(source[index])
                index += 1
            elif source[index + 1] in self.ESCAPES:
                text.append(self.ESCAPES[source[index + 1]])
                index += 2
            else:
                self.fail(index, "a sentence has places in braces, and no interpolation")
        return "".join(text), index + 1

    def skip_string(self, index):
        """The end of any literal. What its interpolations have is scanned, too."""
        source = self.source
        quote = '"""' if source.startswith('"""', index) else '"'
        index += len(quote)
        while not source.startswith(quote, index):
            if source.startswith("\\(", index):
                index = self.scan(index + 2, is_inside=True)
            else:
                index += 2 if source[index] == "\\" else 1
        return index + len(quote)

    def scan(self, index, is_inside=False):
        """Finds sentences up to the end, or that of an interpolation."""
        source, depth = self.source, 1
        while index < len(source) and depth:
            call = self.CALL.match(source, index)
            if source.startswith("//", index):
                index = source.find("\n", index) % (len(source) + 1)
            elif source[index] == '"':
                index = self.skip_string(index)
            elif call and not (source[index - 1].isalnum() or source[index - 1] in "_."):
                text, end = self.literal(call.end())
                many = None
                if call[1] == "plural":
                    comma = self.COMMA.match(source, end) or self.fail(end, "the form for other numbers is missing")
                    many, end = self.literal(comma.end())
                self.found.append(Sentence(text, many))
                depth += is_inside
                # What stands in the places may have sentences, too.
                index = end
            else:
                if is_inside:
                    depth += {"(": 1, ")": -1}.get(source[index], 0)
                index += 1
        return index

    def sentences(self):
        self.found = []
        self.scan(0)
        return self.found


# MARK: Other files


def of_interface(path):
    for element in xml.etree.ElementTree.parse(path).iter():
        if element.get("translatable") == "yes":
            yield Sentence(element.text or "")


def of_xgettext(path, *options):
    output = run(
        "xgettext", "--from-code=UTF-8", "--output=-", "--omit-header", "--no-location", *options,
        str(path.relative_to(ROOT)), stdout=subprocess.PIPE, text=True,
    ).stdout
    for block in blocks(output):
        yield Sentence(block["msgid"], block.get("msgid_plural"), "c-format" in block["flags"])


def sources():
    """All files with sentences, in the order of the template."""
    def below(folder, pattern):
        return sorted((ROOT / folder).rglob(pattern))

    for path in below("Sources/Programs/whorl-gtk/ui", "*.ui"):
        yield path, of_interface(path)
    for path in below("Sources", "*.swift"):
        if "Translation" not in path.parts:
            yield path, Reader(path).sentences()
    for path in below("Sources/Login", "*.c"):
        yield path, of_xgettext(path, "--language=C", "--keyword", "--keyword=whorl_text")
    for path in below("data/polkit", "*.policy"):
        yield path, of_xgettext(path)
    for path in below("data/window", "*.desktop"):
        yield path, of_xgettext(path, "--language=Desktop")
    for path in below("data/window", "*.metainfo.xml"):
        yield path, of_xgettext(path)


# MARK: Templates and translations


def unquoted(text):
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def blocks(text):
    """The entries of a file of gettext's, as dictionaries."""
    for chunk in re.split(r"\n\s*\n", text):
        block, key = {"flags": [], "comments": []}, None
        for line in chunk.splitlines():
            match = re.match(r'(msg\w+(?:\[\d+\])?) "(.*)"$', line) or re.match(r'()"(.*)"$', line)
            if line.startswith("#,"):
                block["flags"] += [flag.strip() for flag in line[2:].split(",")]
            elif line.startswith("#"):
                block["comments"].append(line)
            elif match:
                key = match[1] or key
                block[key] = block.get(key, "") + unquoted(match[2])
        if "msgid" in block:
            yield block


def template():
    sentences = {}
    for path, found in sources():
        for sentence in found:
            if not sentence.text:
                fail(f"{path.relative_to(ROOT)}: an empty sentence")
            known = sentences.setdefault(sentence.text, sentence)
            if known.many != sentence.many and sentence.many and known.many:
                fail(f"{path.relative_to(ROOT)}: two forms for other numbers of: {sentence.text}")
            known.many = known.many or sentence.many
            name = str(path.relative_to(ROOT))
            if name not in known.files:
                known.files.append(name)
    lines = [HEADER]
    for sentence in sentences.values():
        lines += [f"#: {name}\n" for name in sentence.files]
        if sentence.is_c_format:
            lines.append("#, c-format\n")
        elif PLACE.search(sentence.text + (sentence.many or "")):
            lines.append("#, python-brace-format\n")
        lines.append(f"msgid {quoted(sentence.text)}\n")
        if sentence.many:
            lines.append(f'msgid_plural {quoted(sentence.many)}\nmsgstr[0] ""\nmsgstr[1] ""\n\n')
        else:
            lines.append('msgstr ""\n\n')
    return lines[0] + "\n" + "".join(lines[1:]).rstrip("\n") + "\n"


def languages():
    lines = (PO / "LINGUAS").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def update():
    TEMPLATE.write_text(template())
    for language in languages():
        run(
            "msgmerge", "--quiet", "--update", "--backup=none", "--no-fuzzy-matching", "--no-wrap",
            f"po/{language}.po", "po/whorl.pot",
        )


def check():
    problems = []
    if not TEMPLATE.exists() or TEMPLATE.read_text() != template():
        problems.append("po/whorl.pot is not up to date: run 'scripts/translations.py update'")
    wanted = {block["msgid"] for block in blocks(TEMPLATE.read_text())}
    for language in languages():
        path = PO / f"{language}.po"
        text = path.read_text()
        if REVIEW not in text.split("msgid", 1)[0] and "Reviewed by" not in text.split("msgid", 1)[0]:
            problems.append(f"po/{language}.po does not say whether a native speaker has reviewed it")
        made = subprocess.run(
            ["msgfmt", "--check", "--output-file=/dev/null", str(path)], env=ENVIRONMENT, capture_output=True, text=True
        )
        if made.returncode:
            problems.append(made.stderr.strip())
        found = {}
        for block in blocks(text):
            found[block["msgid"]] = block
        for missing in wanted - set(found):
            problems.append(f"po/{language}.po lacks: {missing}")
        for block in found.values():
            forms = [value for key, value in block.items() if key.startswith("msgstr")]
            if not all(forms) or "fuzzy" in block["flags"]:
                problems.append(f"po/{language}.po does not translate: {block['msgid']}")
            commands = re.findall(COMMAND, block["msgid"])
            for form in forms:
                for command in commands:
                    if command not in form:
                        problems.append(f"po/{language}.po changes the command {command} in: {form}")
    if problems:
        fail("\n".join(problems))


def compile_all(folder):
    for language in languages():
        target = pathlib.Path(folder) / language / "LC_MESSAGES"
        target.mkdir(parents=True, exist_ok=True)
        run("msgfmt", "--check", f"--output-file={(target / 'whorl.mo').resolve()}", f"po/{language}.po")


def merge(file, output):
    kind = "--desktop" if file.endswith(".desktop") else "--xml"
    run("msgfmt", kind, f"--template={file}", "-d", "po", f"--output-file={pathlib.Path(output).resolve()}")


# MARK: The made-up language

LETTERS = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "ɐƀɔđɘƒǥħıɉʞłɯƞøƥǫɹşŧʉʌʍжʎƶȺɃȻĐɆƑǤĦƗɈӃŁƜȠØƤƢɌŞŦɄɅϢЖɎƵ"
)


def invented(text):
    """Each letter as another one, and each word a third longer. Places and commands stay."""
    pieces = re.split(rf"(\{{[a-z]+\}}|{COMMAND}|%p)", text)
    pieces[::2] = [
        re.sub(r"[A-Za-z]+", lambda word: word[0].translate(LETTERS) + "ɘ" * ((len(word[0]) + 1) // 3), piece)
        for piece in pieces[::2]
    ]
    return "".join(pieces)


def invent(output):
    lines = ['msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
             '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n']
    for block in blocks(TEMPLATE.read_text()):
        text, many = block["msgid"], block.get("msgid_plural")
        if not text:
            continue
        lines.append(f"msgid {quoted(text)}\n")
        if many:
            lines.append(f"msgid_plural {quoted(many)}\nmsgstr[0] {quoted(invented(text))}\n")
            lines.append(f"msgstr[1] {quoted(invented(many))}\n\n")
        else:
            lines.append(f"msgstr {quoted(invented(text))}\n\n")
    with tempfile.NamedTemporaryFile("w", suffix=".po") as file:
        file.write("".join(lines))
        file.flush()
        run("msgfmt", f"--output-file={pathlib.Path(output).resolve()}", file.name)


def main():
    match sys.argv[1:]:
        case ["update"]:
            update()
        case ["check"]:
            check()
        case ["compile", folder]:
            compile_all(folder)
        case ["merge", file, output]:
            merge(file, output)
        case ["invent", output]:
            invent(output)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
