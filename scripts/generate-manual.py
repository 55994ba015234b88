#!/usr/bin/python3
"""Writes the manual pages of a program from its own definition of commands and options (--experimental-dump-help).

usage: scripts/generate-manual.py PROGRAM FOLDER

PROGRAM is the built program. A page with sections of its own has a source data/man/NAME.1.in, in which @COMMANDS@ and
@OPTIONS@ stand for the lists; each command then has a page NAME-COMMAND.1. Without such a source there is one page for
the whole program. The date is that of SOURCE_DATE_EPOCH, else that of the program's file.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
import time

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "man")


def escaped(text):
    """A line of text as roff shows it unchanged."""
    text = text.replace("\\", "\\e").replace("--", "\\-\\-").replace("…", "...")
    return "\\&" + text if text[:1] in (".", "'") else text


def sentences(text):
    """Each sentence from a new line on, as manual pages are written, in lines that are not too long for mandoc."""
    lines = []
    for sentence in re.split(r"(?<=[.:;!?]) +(?=[A-Z'\"])", " ".join(text.split())):
        lines += textwrap.wrap(sentence, 72, break_long_words=False, break_on_hyphens=False)
    return [escaped(line) for line in lines]


def body(text):
    """Paragraphs of help as mdoc. Indented lines are shown unchanged; a line of text before them introduces them."""
    lines = []
    for number, paragraph in enumerate((text or "").strip("\n").split("\n\n")):
        # A display begins with an empty line of its own.
        if number and not paragraph.startswith("  "):
            lines.append(".Pp")
        words, shown = [], []
        for line in paragraph.split("\n") + [""]:
            if line.startswith("  "):
                if words:
                    lines += sentences(" ".join(words))
                    words = []
                shown.append(line)
                continue
            if shown:
                lines += [".Bd -literal -offset indent", *[escaped(each[2:]) for each in shown], ".Ed"]
                shown = []
            words.append(line)
        lines += sentences(" ".join(words))
    return lines


def flags(argument):
    """The names of an option, with its value, as mdoc macros."""
    names = []
    for name in argument["names"]:
        names.append("Fl " + ("-" if name["kind"] == "long" else "") + name["name"])
    names.sort(key=lambda each: each.startswith("Fl -"))
    value = " Ar " + argument["valueName"] if argument["kind"] == "option" else ""
    return " , ".join(each + value for each in names)


def synopsis(argument):
    """One argument in a synopsis."""
    if argument["kind"] == "positional":
        text = "Ar " + argument["valueName"] + (" ..." if argument["isRepeating"] else "")
    else:
        preferred = argument["preferredName"]
        text = "Fl " + ("-" if preferred["kind"] == "long" else "") + preferred["name"]
        if argument["kind"] == "option":
            text += " Ar " + argument["valueName"]
    return "." + ("Op " + text if argument["isOptional"] else text)


def described(arguments):
    """A list of arguments with their descriptions."""
    lines = [".Bl -tag -width Ds"]
    for argument in arguments:
        if argument["kind"] == "positional":
            lines.append(".It Ar " + argument["valueName"])
        else:
            lines.append(".It " + flags(argument))
        lines += sentences(argument.get("abstract", ""))
        if argument.get("discussion"):
            lines += body(argument["discussion"])
        values = argument.get("allValues") or []
        abstract = argument.get("abstract", "")
        if values and not all(value in abstract for value in values):
            lines += sentences("One of " + ", ".join(values) + ".")
        if argument.get("defaultValue"):
            lines += sentences("Default: " + argument["defaultValue"] + ".")
    return lines + [".El"]


def visible(command):
    return [each for each in command.get("arguments", []) if each.get("shouldDisplay", True)]


def commands(command):
    return [
        each
        for each in command.get("subcommands", [])
        if each.get("shouldDisplay", True) and each["commandName"] != "help"
    ]


def leaves(command):
    below = commands(command)
    return [leaf for each in below for leaf in leaves(each)] if below else [command]


def identity(argument):
    return json.dumps([argument["kind"], argument.get("names"), argument.get("abstract")], sort_keys=True)


def common_arguments(root):
    """The options that every command takes; they are described once."""
    everywhere = None
    for leaf in leaves(root):
        here = {identity(each) for each in visible(leaf) if each["kind"] != "positional"}
        everywhere = here if everywhere is None else everywhere & here
    first = leaves(root)[0]
    return [each for each in visible(first) if identity(each) in everywhere]


def one_command(words, command, common):
    """The synopsis and the text of a command without subcommands: both as lines."""
    own = [each for each in visible(command) if identity(each) not in common]
    head = [".Nm " + words[0]] + [".Cm " + word for word in words[1:]] + [".Op Ar options"] * bool(common)
    head += [synopsis(each) for each in sorted(own, key=lambda each: each["kind"] == "positional")]
    text = body(command.get("discussion")) if command.get("discussion") else sentences(command["abstract"])
    options = described(own) if own else []
    return head, text, options


def title(name, date, summary):
    return [
        ".Dd " + date,
        ".Dt " + name.upper() + " 1",
        ".Os",
        ".Sh NAME",
        ".Nm " + name,
        ".Nd " + summary[:1].lower() + summary[1:].rstrip("."),
        ".Sh SYNOPSIS",
    ]


def page_of_command(program, command, date, common):
    """The page of one command of a program, with its subcommands as sections."""
    name = program + "-" + command["commandName"]
    lines = title(name, date, command["abstract"])
    parts = commands(command) or [command]
    texts = []
    for part in parts:
        words = [program, command["commandName"]] + ([part["commandName"]] if part is not command else [])
        head, text, options = one_command(words, part, common)
        lines += head
        if part is not command:
            texts.append(".Ss " + " ".join(words))
        texts += text
        if options:
            texts += [".Sh OPTIONS"] * (part is command) + options
    lines += [".Sh DESCRIPTION"]
    if parts != [command]:
        lines += body(command.get("discussion")) if command.get("discussion") else sentences(command["abstract"])
    lines += texts
    lines += [".Pp"] if parts != [command] or ".Sh OPTIONS" in texts else [".Sh OPTIONS"]
    lines += ["The options that every command takes are described in", ".Xr " + program + " 1 ."]
    lines += [".Sh EXIT STATUS", "See", ".Xr " + program + " 1 .", ".Sh SEE ALSO", ".Xr " + program + " 1"]
    return name + ".1", lines


def page_of_program(root, date):
    """One page for a small program and all its commands."""
    name = root["commandName"]
    lines = title(name, date, root["abstract"])
    texts = body(root.get("discussion"))
    if not commands(root):
        head, texts, options = one_command([name], root, set())
        lines += head
        texts += [".Sh OPTIONS", *options]
    for command in commands(root):
        head, text, options = one_command([name, command["commandName"]], command, set())
        lines += head
        texts += [".Ss " + name + " " + command["commandName"], *text, *options]
    return name + ".1", lines + [".Sh DESCRIPTION", *texts, ".Sh SEE ALSO", ".Xr whorl 1"]


def pages(root, date):
    name = root["commandName"]
    source = os.path.join(SOURCES, name + ".1.in")
    if not os.path.exists(source):
        return [page_of_program(root, date)]
    common = common_arguments(root)
    known = {identity(each) for each in common}
    listed = [".Bl -tag -width Ds"]
    for command in commands(root):
        listed += [".It Xr " + name + "-" + command["commandName"] + " 1", *sentences(command["abstract"])]
    with open(source, encoding="utf-8") as file:
        text = file.read().rstrip("\n")
    lists = {"@DATE@": date, "@COMMANDS@": "\n".join(listed + [".El"]), "@OPTIONS@": "\n".join(described(common))}
    for mark, lines in lists.items():
        if mark not in text:
            sys.exit("generate-manual: " + source + " has no " + mark)
        text = text.replace(mark, lines)
    return [(name + ".1", text.split("\n"))] + [page_of_command(name, each, date, known) for each in commands(root)]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: scripts/generate-manual.py PROGRAM FOLDER")
    program, folder = sys.argv[1:]
    dump = subprocess.run([program, "--experimental-dump-help"], stdout=subprocess.PIPE, check=True).stdout
    moment = int(os.environ.get("SOURCE_DATE_EPOCH") or os.path.getmtime(program))
    day = time.gmtime(moment)
    date = time.strftime("%B ", day) + str(day.tm_mday) + time.strftime(", %Y", day)
    os.makedirs(folder, exist_ok=True)
    for name, lines in pages(json.loads(dump)["command"], date):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write('.\\" Written by scripts/generate-manual.py from the program\'s own definitions.\n')
            file.write("\n".join(lines) + "\n")


main()
