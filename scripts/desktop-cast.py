#!/usr/bin/python3
"""Records a terminal in a session of a desktop: whorl setup, a gate, and a program that reads the gated secret. Runs as root in
the booted system of docs/pictures/pictures.story.

usage: scripts/desktop-cast.py SENSOR FOLDER PASSCODE

SENSOR is the socket of the virtual reader. Writes FOLDER/setup.cast (asciicast v2) and FOLDER/setup.svg.
"""

import json
import os
import pwd
import subprocess
import sys
import time

import cast

USER = "alice"


class DesktopSession(cast.Session):
    """A session whose commands run as the user, and whose fingers are pressed by root."""

    def __init__(self, sensor):
        self.socket = sensor
        self.rows = []
        self.now = 0.6
        runtime = f"/run/user/{pwd.getpwnam(USER).pw_uid}"
        self.environment = {
            "PATH": "/usr/bin:/usr/sbin:/bin",
            "HOME": f"/home/{USER}",
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "DISPLAY": ":77",
            "XDG_RUNTIME_DIR": runtime,
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus",
        }
        os.chdir(f"/home/{USER}")

    def words(self, command, pipe="--pty"):
        """As desktops start programs: under the service manager of the user."""
        home = "--working-directory=" + self.environment["HOME"]
        run = ["systemd-run", "--user", "--quiet", pipe, "--wait", "--collect", home, "sh", "-c", command]
        return ["runuser", "-u", USER, "--", *run]

    def said_by_agent(self):
        """The requests for a touch in the journal, which the notifications show."""
        words = ["journalctl", "-q", "--no-pager", "-o", "cat", "_COMM=whorl-agent"]
        lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
        return [line for line in lines if "the reader (virtual reader). (program: " in line]

    def run_with_notification(self, command):
        """Runs a command whose prompt is a notification; what the notification says is a line of the picture."""
        before = len(self.said_by_agent())
        self.start(command)
        process = subprocess.Popen(self.words(command, "--pipe"), env=self.environment, stdout=subprocess.PIPE, text=True)
        started = time.monotonic() - self.now
        while len(self.said_by_agent()) == before:
            if process.poll() is not None:
                sys.exit("cast: '" + command + "' asked for no touch")
            time.sleep(0.1)
        self.now = time.monotonic() - started
        said = self.said_by_agent()[-1].removeprefix("whorl-agent: ")
        self.rows.append([(self.now, "  [notification] " + said)])
        self.press("right-index:1")
        output, _ = process.communicate(timeout=60)
        self.now = max(self.now + 1.5, time.monotonic() - started)
        self.rows += [[(self.now, line)] for line in output.splitlines()]
        self.now += cast.REST


def main():
    sensor, folder, passcode = sys.argv[1:]
    session = DesktopSession(sensor)
    again = [("asscode:", passcode), ("again:", passcode)]
    # The answers to 'whorl setup': the passcode, the recovery key, a finger, and yes to secrets (first an import, if another
    # program may have some), a key for ssh, the SSH agent, and git. Answers that are not asked for are not used.
    no = [("login password? [Y/n]", "n"), ("opens the store? [y/N]", "n"), ("keyring's password. [y/N]", "n")]
    answers = [*no, *again, ("or the file:", "~/recovery-key"), ("[Y/n]", "y")] + [("[y/N]", "y")] * 5
    session.run("whorl setup", fingers=["right-index:1"] * 6, typed=answers)
    # Replaces the next login.
    subprocess.run(session.words("whorl secret-service enable --now", "--pipe"), env=session.environment, check=True)
    session.run("printf 1234 | secret-tool store --label=Bank service bank user alice")
    session.run("whorl secret-service gate --item Bank --access presence --yes")
    session.run_with_notification("secret-tool lookup service bank user alice")
    with open(os.path.join(folder, "setup.cast"), "w", encoding="utf-8") as file:
        file.write(cast.recording(session.rows))
    with open(os.path.join(folder, "setup.svg"), "w", encoding="utf-8") as file:
        file.write(cast.picture(session.rows, session.now + 4, width=1130))


main()
