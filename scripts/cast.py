#!/usr/bin/python3
"""Records a real session and makes docs/session.svg, the README's picture, from it.

usage: scripts/cast.py [FOLDER]

Runs the built programs of FOLDER (.build/release) on a terminal of their own, with a store in a temporary folder and
libfprint's virtual reader, pressed by synthetic fingers. Lines appear in the picture as fast as they came.
"""

import html
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Seconds from one letter of a command to the next, and of rest after a command.
TYPING, REST = 0.03, 0.9
PASSCODE = "correct horse battery"


class Session:
    """One session. `rows` are the lines of its terminal, each with its states: the time, and the text from then on."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.socket = folder + "/reader"
        self.rows = []
        self.now = 0.6
        os.makedirs(folder + "/config/whorl")
        settings = {
            "store": folder + "/store",
            "reader": "virtual-image:" + self.socket,
            "vaultProgram": programs + "/whorld",
            "readerProgram": programs + "/whorl-reader",
        }
        with open(folder + "/config/whorl/config.json", "w", encoding="utf-8") as file:
            json.dump(settings, file)
        self.environment = {
            "PATH": programs + ":/usr/bin:/bin",
            "HOME": folder,
            "XDG_CONFIG_HOME": folder + "/config",
            "TERM": "xterm",
            "LANG": "C.UTF-8",
        }

    def press(self, finger):
        name, person = finger.split(":")
        time.sleep(0.7)
        command = ["whorl-finger", "press", name, "--person", person, "--socket", self.socket]
        subprocess.run(command, env=self.environment, check=True)

    def run(self, command, fingers=(), typed=()):
        """Runs a shell command on a terminal. `typed` are pairs: what is shown before, and what is typed then, each once. The
        first pair that fits is taken."""
        fingers, typed = list(fingers), list(typed)
        self.start(command)
        process, terminal = pty.fork()
        if process == 0:
            words = self.words(command)
            os.execvpe(words[0], words, self.environment)
        first, shown, asked, answered = len(self.rows), "", 0, 0
        started = time.monotonic() - self.now
        while True:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    data = os.read(terminal, 4096)
                except OSError:
                    break
                shown += data.decode()
                self.now = time.monotonic() - started
                self.show(first, shown)
            if len(shown) > answered:
                pair = next((pair for pair in typed if plain(shown)[-1].endswith(pair[0])), None)
                if pair:
                    typed.remove(pair)
                    answered = len(shown)
                    os.write(terminal, (pair[1] + "\n").encode())
            asks = len(re.findall(r"the reader \(virtual reader\)|touch again|No match", shown))
            if fingers and asks > asked:
                asked = asks
                self.press(fingers.pop(0))
        _, status = os.waitpid(process, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit("cast: '" + command + "' has failed:\n" + shown)
        self.now += REST

    def words(self, command):
        """The program and the arguments that run a shell command."""
        return ["sh", "-c", command]

    def start(self, command):
        """Shows a command that is typed."""
        self.rows.append([(self.now, "$ " + command)])
        self.now += TYPING * len(command) + 0.3

    def show(self, first, shown):
        """Notes what the terminal shows now, from the row FIRST on."""
        for number, line in enumerate(plain(shown), first):
            if number == len(self.rows):
                self.rows.append([(self.now, "")])
            if line != self.rows[number][-1][1]:
                self.rows[number].append((self.now, line))


def plain(text):
    """The lines that a terminal shows of it: without colours, and of a line that was written anew the last state."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in text.split("\n")]


def recording(rows):
    """The rows as an asciicast (version 2): each state of a row is written to its place at its time."""
    rows = [states for states in rows if any(text for _, text in states)]
    width = max(len(text) for states in rows for _, text in states) + 1
    out = [json.dumps({"version": 2, "width": width, "height": len(rows) + 1})]
    # A row is empty before its first state.
    events = [
        (moment, number, text)
        for number, states in enumerate(rows)
        for place, (moment, text) in enumerate(states)
        if text or place
    ]
    for moment, number, text in sorted(events):
        out.append(json.dumps([round(moment, 2), "o", f"\x1b[{number + 1};1H\x1b[2K{text}"], ensure_ascii=False))
    return "\n".join(out) + "\n"


def picture(rows, length, width=960):
    """The rows as an SVG in which each state of a row appears at its time; the session starts again after its end."""
    rows = [states for states in rows if any(text for _, text in states)]
    height = 20 * len(rows) + 40
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'aria-label="A session with whorl">',
        "<style>text{font:14px/20px ui-monospace,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre;opacity:0;"
        f"animation-duration:{length:.1f}s;animation-iteration-count:infinite;animation-timing-function:step-end}}"
        ".c{fill:#a3be8c}",
    ]
    texts = [f'<rect width="{width}" height="{height}" rx="8" fill="#2e3440"/>']
    for number, states in enumerate(rows):
        ends = [moment for moment, _ in states[1:]] + [None]
        for (moment, line), end in zip(states, ends):
            if not line:
                continue
            key = f"k{len(texts)}"
            until = f"{100 * end / length:.2f}%{{opacity:0}}" if end else ""
            out.append(f"@keyframes {key}{{0%{{opacity:0}}{100 * moment / length:.2f}%{{opacity:1}}{until}}}")
            kind = ' class="c"' if line.startswith("$ ") else ""
            # Where nothing moves, the last state of each row is shown.
            still = "" if end else ";opacity:1"
            text = html.escape(line, quote=False)
            texts.append(f'<text x="20" y="{20 * number + 34}"{kind} style="animation-name:{key}{still}">{text}</text>')
    return "\n".join(out + ["</style>", *texts, "</svg>", ""])


def main():
    programs = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, ".build/release"))
    right, other = "right-index:1", "right-index:2"
    with tempfile.TemporaryDirectory(prefix="whorl-", dir="/tmp") as folder:
        session = Session(programs, folder)
        passcode = [("asscode:", PASSCODE), ("again:", PASSCODE)]
        session.run("whorl init", typed=passcode)
        session.run("whorl enroll right-index", fingers=[right] * 6, typed=[("asscode:", PASSCODE)])
        session.run("printf hunter2 | whorl set mail/me --access current-set")
        session.run("whorl get mail/me", fingers=[other, right])
        session.run("whorl run --env PASSWORD=mail/me -- sh -c 'echo sent with $PASSWORD'", fingers=[right])
    with open(os.path.join(ROOT, "docs", "session.svg"), "w", encoding="utf-8") as file:
        file.write(picture(session.rows, session.now + 4))
    for states in session.rows:
        print(" | ".join(text for _, text in states if text))


if __name__ == "__main__":
    main()
