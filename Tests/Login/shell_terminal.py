"""A terminal with a shell of alice, for at-once.py."""
import contextlib
import os
import pty
import re
import select
import signal
import sys
import termios
import time

ROOT = sys.argv[1]
PASSWORD = "pä\tß wört".encode()
ALICE = 1234
SHELL = b"SHELL> "


class Wrong(Exception):
    pass


class Raw(Exception):
    pass


class Terminal:
    """A shell of alice at a terminal. The shell edits no lines, so that the terminal's settings are always the same."""

    def __init__(self, user=ALICE, command=("/bin/dash", "-i")):
        self.heard = b""
        self.child, self.master = pty.fork()
        if self.child == 0:
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            settings = termios.tcgetattr(0)
            # As terminal programs set it in a UTF-8 locale: Backspace takes a whole character (IUTF8).
            settings[0] |= 0o40000
            termios.tcsetattr(0, termios.TCSANOW, settings)
            os.chroot(ROOT)
            os.chdir("/")
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PS1": SHELL.decode(), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
            os.execve(command[0], list(command), environment)
        if command[0] == "/bin/dash":
            self.expect(SHELL)
        self.settings = termios.tcgetattr(self.master)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                part = os.read(self.master, 65536)
            except OSError:
                part = b""
            self.heard += part
            return bool(part)
        return False

    def expect(self, text, seconds=8.0):
        """What was written up to and with this text, or before this text if it is a bytes pattern."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(re.escape(text) if isinstance(text, bytes) else text, self.heard)
            if found:
                said = self.heard[: found.end()]
                self.heard = self.heard[found.end() :]
                return said
            left = end - time.monotonic()
            if left <= 0 or (not self.read(left) and end - time.monotonic() <= 0):
                raise Wrong(f"{text!r} did not come, but {self.heard!r}")

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def echo_is_off(self):
        return not termios.tcgetattr(self.master)[3] & termios.ECHO

    def wait_for_silence(self):
        end = time.monotonic() + 5
        while not self.echo_is_off():
            if time.monotonic() > end:
                self.read(0.1)
                raise Wrong(f"the echo stays on: {self.heard!r}")
            time.sleep(0.001)

    def end_of_round(self):
        """The shell's prompt has come back, with the terminal as it was."""
        said = self.expect(SHELL)
        now = termios.tcgetattr(self.master)
        if now != self.settings:
            raise Wrong(f"the terminal has other settings: {now} instead of {self.settings}")
        return said

    def close(self):
        os.close(self.master)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def check(condition, what):
    if not condition:
        raise Wrong(what)
