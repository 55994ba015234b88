#!/usr/bin/python3
"""Drives sudo, su, doas and login at a terminal, with pam_whorl.so and a service that this test steers.

usage: at-once.py ROOT ROUNDS [SEED]

ROOT is a folder with a Debian, in which scripts/test-at-once has put the module, the PAM files and the user alice. Each
program is started by a shell at a terminal of its own. ROUNDS rounds at random moments follow the named cases. Status 1: something was
wrong, which is printed.
"""
import contextlib
import os
import pty
import random
import re
import select
import signal
import statistics
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from login_service import LoginService  # noqa: E402

ROOT, ROUNDS = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "big")
PASSWORD = "pä\tß wört".encode()
ALICE = 1234
SHELL = b"SHELL> "
# What the program's own process has, as root sees it: descriptors, threads and blocked signals.
LOOK = (
    # sudo itself closes some descriptors only after it has started the command.
    "sleep 0.03; echo IN $(ls /proc/$PPID/fd | wc -l) $(sed -n 's/^Threads:.//p' /proc/$PPID/status) "
    "$(sed -n 's/^SigBlk:.//p' /proc/$PPID/status)")


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


def shows_nothing_typed(said):
    for secret in (PASSWORD, b"not it", "wört".encode()):
        check(secret not in said, f"typed text is shown: {said!r}")


service = LoginService(f"{ROOT}/run/whorl/bus")
SUDO = f"sudo -k; sudo sh -c \"{LOOK.replace('$', chr(92) + '$')}\"; echo status $?\n"


def begin(terminal, command=SUDO, prompt=b"Password, or touch the reader: "):
    terminal.type(command)
    # The end of the echo of the command.
    terminal.expect(b"\n")
    if prompt is not None:
        check(service.wait_until_armed(), f"the reader is not armed: {terminal.heard!r}")
        terminal.expect(prompt)
        check(terminal.echo_is_off(), "the echo is on")


def end(terminal, is_in, prompts=1):
    said = terminal.end_of_round()
    # What was typed may also come after the shell's prompt.
    terminal.type(b"\n")
    said += terminal.end_of_round()
    shows_nothing_typed(said)
    check((b"IN " in said) == is_in, f"in: {not is_in}: {said!r}")
    check(b"not found" not in said, f"the shell got something typed: {said!r}")
    check(service.wait_until_idle(), "the reader stays armed")
    if is_in:
        found = re.search(rb"IN (\d+) (\d+) ([0-9a-f]+)", said)
        if found:
            check(found.groups() == BASE["sudo"], f"descriptors, threads, signals: {found.groups()}, not {BASE['sudo']}")
    return said


BASE = {}
CASES = []


def case(function):
    CASES.append(function)
    return function


@case
def finger_first(terminal):
    begin(terminal)
    service.touch("verified")
    end(terminal, True)


@case
def password_first(terminal):
    begin(terminal)
    terminal.type(PASSWORD + b"\n")
    end(terminal, True)


@case
def letter_by_letter_with_corrections(terminal):
    begin(terminal)
    terminal.type(b"nonsense\x15")
    for place in range(len(PASSWORD)):
        terminal.type(PASSWORD[place : place + 1])
        time.sleep(0.01)
    # Two characters, one of two bytes, are taken back and typed again.
    terminal.type("öx\x7f\x7f\n")
    end(terminal, True)


@case
def word_taken_back(terminal):
    begin(terminal)
    terminal.type(PASSWORD + b" more  \x17\x7f\n")
    end(terminal, True)


@case
def wrong_password(terminal):
    begin(terminal)
    terminal.type(b"not it\n")
    end(terminal, False)


@case
def empty_password(terminal):
    begin(terminal)
    terminal.type(b"\n")
    end(terminal, False)


@case
def wrong_finger_then_password(terminal):
    begin(terminal)
    service.touch("other-finger")
    terminal.expect(b"\nNo match, touch again or type. ".replace(b"\n", b"\r\n\r"))
    terminal.type(PASSWORD + b"\n")
    end(terminal, True)


@case
def half_a_password_over_a_wrong_finger(terminal):
    begin(terminal)
    terminal.type(PASSWORD[:5])
    service.touch("other-finger")
    terminal.expect(b"No match, touch again or type. ")
    terminal.type(PASSWORD[5:] + b"\n")
    end(terminal, True)


@case
def unreadable_touch_then_finger(terminal):
    begin(terminal)
    service.touch("retry")
    terminal.expect(b"The touch could not be read, touch again or type. ")
    check(service.wait_until_armed(), "not armed")
    service.touch("verified")
    end(terminal, True)


@case
def wrong_password_then_finger(terminal):
    begin(terminal, "sudo -k; sudo -u bob echo IN twice; echo status $?\n")
    terminal.type(b"not it\n")
    terminal.expect(b"try again")
    check(service.wait_until_armed(), "not armed")
    service.touch("verified")
    end(terminal, True)


@case
def both_at_once(terminal):
    begin(terminal)
    terminal.type(PASSWORD + b"\n")
    service.touch("verified")
    end(terminal, True)


@case
def half_typed_when_the_finger_matches(terminal):
    begin(terminal)
    terminal.type(PASSWORD[:4])
    time.sleep(0.02)
    service.touch("verified")
    # The person types on before they notice.
    for place in range(4, len(PASSWORD)):
        time.sleep(0.05)
        terminal.type(PASSWORD[place : place + 1])
    terminal.type(b"\n")
    end(terminal, True)


@case
def no_finger_any_more(terminal):
    begin(terminal)
    service.touch("no-finger")
    terminal.expect(b"[sudo] password for alice: ")
    terminal.wait_for_silence()
    time.sleep(0.1)
    terminal.type(PASSWORD + b"\n")
    end(terminal, True)


@case
def no_finger_while_somebody_types(terminal):
    begin(terminal)
    terminal.type(PASSWORD[:4])
    time.sleep(0.05)
    service.touch("no-finger")
    time.sleep(0.1)
    terminal.type(PASSWORD[4:] + b"\n")
    end(terminal, True)


@case
def lockout(terminal):
    begin(terminal)
    service.touch("locked-out")
    terminal.expect(b"Type your password.")
    terminal.expect(b"[sudo] password for alice: ")
    terminal.wait_for_silence()
    time.sleep(0.1)
    terminal.type(b"not it\n")
    end(terminal, False)


@case
def three_wrong_fingers(terminal):
    begin(terminal)
    for _ in range(2):
        service.touch("other-finger")
        check(service.wait_until_armed(), "not armed")
    service.touch("no-match")
    terminal.expect(b"The fingerprint does not match.")
    terminal.expect(b"[sudo] password for alice: ")
    terminal.wait_for_silence()
    time.sleep(0.1)
    terminal.type(b"not it\n")
    end(terminal, False)


@case
def interrupt(terminal):
    begin(terminal)
    terminal.type(PASSWORD[:3] + b"\x03")
    end(terminal, False)


@case
def quit(terminal):
    begin(terminal)
    terminal.type(b"\x1c")
    end(terminal, False)


@case
def stop_and_go_on(terminal):
    begin(terminal)
    terminal.type(PASSWORD[:3] + b"\x1a")
    said = terminal.end_of_round()
    shows_nothing_typed(said)
    check(service.wait_until_idle(), "armed while it is stopped")
    check(not service.touch("verified"), "a touch counts while it is stopped")
    terminal.type(b"fg\n")
    check(service.wait_until_armed(), "not armed again")
    terminal.expect(b"Password, or touch the reader: ")
    terminal.type(PASSWORD + b"\n")
    end(terminal, True)


@case
def stop_and_go_on_with_a_finger(terminal):
    begin(terminal)
    terminal.type(b"\x1a")
    terminal.end_of_round()
    terminal.type(b"fg\n")
    check(service.wait_until_armed(), "not armed again")
    service.touch("verified")
    end(terminal, True)


@case
def paste_of_two_lines(terminal):
    begin(terminal)
    terminal.type(PASSWORD + b"\necho PAS''TED\n")
    check(b"PAS" not in end(terminal, True), "the second line was passed on")


@case
def end_of_input(terminal):
    begin(terminal)
    terminal.type(b"\x04")
    terminal.expect(b"[sudo] password for alice: ")
    terminal.wait_for_silence()
    time.sleep(0.1)
    terminal.type(b"\x04")
    end(terminal, False)


@case
def prompt_of_the_persons_own(terminal):
    begin(terminal, SUDO.replace("sudo sh", "sudo -p 'key of %p at %h: ' sh"), None)
    check(service.wait_until_armed(), "not armed")
    terminal.expect(b"Touch the reader, or type.")
    terminal.expect(b"key of alice at ")
    terminal.type(PASSWORD + b"\n")
    end(terminal, True)


@case
def standard_input_stays_the_programs(terminal):
    begin(terminal, "sudo -k; (sleep 0.2; echo IN of the pipe) | sudo cat; echo status $?\n")
    terminal.type(PASSWORD + b"\n")
    check(b"IN of the pipe" in end(terminal, True), "the pipe was not read")


def asks_serially(terminal, command, text):
    terminal.type(command)
    terminal.expect(b"\n")
    terminal.expect(text)


@case
def by_standard_input_it_is_serial(terminal):
    asks_serially(terminal, "sudo -k; (sleep 2) | sudo -S id; echo status $?\n", b"Touch the fingerprint reader.")
    service.wait_until_armed()
    service.touch("verified")
    check(b"uid=0" in terminal.end_of_round(), "not in")


@case
def never_asked_it_is_serial(terminal):
    asks_serially(terminal, "sudo -k; sudo -n id; echo status $?\n", b"password is required")
    terminal.end_of_round()


@case
def a_service_that_is_gone(terminal):
    os.rename(f"{ROOT}/run/whorl/bus", f"{ROOT}/run/whorl/gone")
    try:
        begin(terminal, prompt=None)
        terminal.expect(b"[sudo] password for alice: ")
        terminal.wait_for_silence()
        time.sleep(0.05)
        terminal.type(PASSWORD + b"\n")
        end(terminal, True)
    finally:
        os.rename(f"{ROOT}/run/whorl/gone", f"{ROOT}/run/whorl/bus")


@case
def a_reader_that_is_slow(terminal):
    service.ready_after = 3
    try:
        began = time.monotonic()
        begin(terminal, prompt=None)
        terminal.expect(b"[sudo] password for alice: ")
        terminal.type(PASSWORD + b"\n")
        end(terminal, True)
        check(time.monotonic() - began < 2, "the person has waited for the reader")
    finally:
        service.ready_after = 0


@case
def a_terminal_that_goes_away(_):
    terminal = Terminal()
    begin(terminal)
    program = subprocess.run(["pgrep", "-n", "-x", "sudo"], capture_output=True, text=True).stdout.strip()
    terminal.close()
    check(service.wait_until_idle(), "armed without a terminal")
    end_by = time.monotonic() + 5
    while program and os.path.exists(f"/proc/{program}"):
        check(time.monotonic() < end_by, "the program stays")
        time.sleep(0.01)


@case
def su(terminal):
    for how in ("password", "finger"):
        begin(terminal, "su bob -c 'echo IN $(id -un)'; echo status $?\n")
        if how == "finger":
            service.touch("verified")
        else:
            terminal.type(PASSWORD + b"\n")
        check(b"IN bob" in terminal.end_of_round(), f"su by {how}")
    begin(terminal, "su bob -c 'echo IN $(id -un)'; echo status $?\n")
    terminal.type(b"\x03")
    check(b"IN bob" not in terminal.end_of_round(), "su after Ctrl-C")


@case
def doas(terminal):
    for how in ("password", "finger"):
        begin(terminal, "doas echo IN; echo status $?\n")
        if how == "finger":
            service.touch("verified")
        else:
            terminal.type(PASSWORD + b"\n")
        check(b"IN" in terminal.end_of_round(), f"doas by {how}")


@case
def login(_):
    for how in ("password", "finger", "wrong"):
        terminal = Terminal(0, ("/bin/login", "-p", "alice"))
        try:
            check(service.wait_until_armed(), f"not armed: {terminal.heard!r}")
            terminal.expect(b"Password, or touch the reader: ")
            if how == "finger":
                service.touch("verified")
            else:
                terminal.type((PASSWORD if how == "password" else b"not it") + b"\n")
            if how == "wrong":
                terminal.expect(b"incorrect")
                continue
            terminal.expect(re.compile(rb"[$] $|SHELL> "))
            terminal.type("id -un\n")
            terminal.expect(b"alice\r\n")
        finally:
            terminal.close()


@case
def sudo_rs(terminal):
    if not os.path.exists(f"{ROOT}/usr/lib/cargo/bin/sudo"):
        return
    command = "/usr/lib/cargo/bin/sudo -k; /usr/lib/cargo/bin/sudo echo IN; echo status $?\n"
    for how in ("password", "finger", "wrong"):
        begin(terminal, command)
        if how == "finger":
            service.touch("verified")
        else:
            terminal.type((PASSWORD if how == "password" else b"not it") + b"\n")
        said = terminal.end_of_round()
        check((b"IN" in said) == (how != "wrong"), f"sudo-rs by {how}: {said!r}")
    begin(terminal, command)
    terminal.type(b"\x03")
    check(b"IN" not in terminal.end_of_round(), "sudo-rs after Ctrl-C")


def base(terminal):
    """sudo without the module."""
    os.rename(f"{ROOT}/etc/pam.d/sudo", f"{ROOT}/etc/pam.d/sudo.whorl")
    os.rename(f"{ROOT}/etc/pam.d/sudo.plain", f"{ROOT}/etc/pam.d/sudo")
    try:
        terminal.type(SUDO)
        terminal.expect(b"[sudo] password for alice: ")
        terminal.wait_for_silence()
        time.sleep(0.05)
        terminal.type(PASSWORD + b"\n")
        began = time.monotonic()
        said = terminal.expect(re.compile(rb"IN (\d+) (\d+) ([0-9a-f]+)"))
        took = time.monotonic() - began
        BASE["sudo"] = re.search(rb"IN (\d+) (\d+) ([0-9a-f]+)", said).groups()
        terminal.end_of_round()
        return took
    finally:
        os.rename(f"{ROOT}/etc/pam.d/sudo", f"{ROOT}/etc/pam.d/sudo.plain")
        os.rename(f"{ROOT}/etc/pam.d/sudo.whorl", f"{ROOT}/etc/pam.d/sudo")


def with_module(terminal):
    begin(terminal)
    time.sleep(0.05)
    terminal.type(PASSWORD + b"\n")
    began = time.monotonic()
    terminal.expect(re.compile(rb"IN (\d+) (\d+) ([0-9a-f]+)"))
    took = time.monotonic() - began
    terminal.end_of_round()
    return took


def random_round(terminal, rng):
    """A password and touches at random moments. What may be accepted follows from what was given, whatever came first."""
    terminal.type(SUDO)
    terminal.expect(b"\n")
    plan = []
    typed = rng.choice([None, PASSWORD, PASSWORD, b"not it"])
    touch = rng.choice([None, "verified", "verified", "other-finger"])
    if typed is None and touch in (None, "other-finger"):
        typed = b"not it"
    if typed is not None:
        moment = rng.random() * 0.12
        if rng.random() < 0.5:
            plan.append((moment, "type", typed + b"\n"))
        else:
            for place in range(len(typed)):
                plan.append((moment, "type", typed[place : place + 1]))
                moment += rng.random() * 0.01
            plan.append((moment, "type", b"\n"))
    if touch is not None:
        plan.append((rng.random() * 0.15, "touch", touch))
    if rng.random() < 0.08:
        plan.append((rng.random() * 0.15, "type", b"\x03"))
    interrupted = any(step[2] == b"\x03" for step in plan)
    terminal.wait_for_silence()
    began = time.monotonic()
    touched = False
    for moment, kind, what in sorted(plan, key=lambda step: step[0]):
        while time.monotonic() - began < moment:
            terminal.read(max(0, moment - (time.monotonic() - began)))
        # The program has ended: what is typed now is the shell's.
        if SHELL in terminal.heard or b"IN " in terminal.heard or b"status" in terminal.heard:
            break
        if kind == "type":
            # Typed after the end it would be the shell's: whether it was shows the end of the round.
            terminal.type(what)
        else:
            if service.wait_until_armed(0.3 if typed is None else 0):
                touched = (service.touch(what) and time.monotonic()) or touched
    # After Ctrl-C the shell leaves out the rest of its line.
    said = terminal.expect(re.compile(rb"SHELL> " if interrupted else rb"status \d+"))
    is_in = b"IN " in said
    may = (typed == PASSWORD) or (touch == "verified" and touched)
    must = (typed == PASSWORD or typed is None) and touch != "other-finger" and (typed or touched) and not interrupted
    check(not is_in or may, f"accepted: {plan} {said!r}")
    check(is_in or not must, f"refused: {plan} {said!r}")
    found = re.search(rb"IN (\d+) (\d+) ([0-9a-f]+)", said)
    if found:
        check(found.groups() == BASE["sudo"], f"descriptors, threads, signals: {found.groups()}, not {BASE['sudo']}")
    rest = b"" if interrupted else terminal.end_of_round()
    settings = termios.tcgetattr(terminal.master)
    if interrupted and settings != terminal.settings and not settings[1] & termios.OPOST:
        # sudo itself leaves its relay's settings if Ctrl-C comes while it starts the command, without the module as well.
        raise Raw
    check(service.wait_until_idle(), "armed")
    check(settings == terminal.settings, f"the terminal has other settings: {settings}")
    # Ctrl-C may have reached the shell itself, which shows its prompt once more then.
    terminal.type("\necho SY''NC\n")
    after = terminal.expect(b"SYNC\r\n") + terminal.end_of_round()
    shown = any(secret in said + rest + after for secret in (PASSWORD, b"not it", b"not found"))
    # Nobody begins to type that long after a match or Ctrl-C has ended the prompt: those keys are the command's.
    begins = [step[0] for step in plan if step[1] == "type"]
    is_late = touched and begins and min(begins) > touched - began + 0.1
    check(not shown or is_late or interrupted, f"typed text is shown: {plan} {said + rest + after!r}")
    return is_in, shown


def main():
    problems = 0
    terminal = Terminal()
    base(terminal)
    for function in CASES:
        if len(sys.argv) > 4 and function.__name__ not in sys.argv[4:]:
            continue
        name = function.__name__.replace("_", " ")
        try:
            function(terminal)
            print(f"  {name}", flush=True)
        except (Wrong, OSError) as problem:
            problems += 1
            print(f"  WRONG: {name}: {problem}", flush=True)
            terminal.close()
            service.armed = None
            terminal = Terminal()
    rng = random.Random(SEED)
    print(f"at-once: {ROUNDS} rounds with seed {SEED}")
    counts = {True: 0, False: 0}
    late = raw = 0
    for number in range(ROUNDS):
        try:
            is_in, shown = random_round(terminal, rng)
            counts[is_in] += 1
            late += bool(shown)
        except Raw:
            raw += 1
            terminal.close()
            terminal = Terminal()
        except (Wrong, OSError) as problem:
            problems += 1
            print(f"  WRONG: round {number}: {problem}", flush=True)
            terminal.close()
            terminal = Terminal()
            if problems > 10:
                break
    print(f"at-once: {counts[True]} let in, {counts[False]} refused, {late} typed into the command after a match, {raw} interrupted in sudo's relay")
    without = statistics.median(base(terminal) for _ in range(20)) * 1000
    beside = statistics.median(with_module(terminal) for _ in range(20)) * 1000
    print(f"at-once: from the last key to the command: {without:.1f} ms without the module, {beside:.1f} ms with it")
    sys.exit(1 if problems else 0)


main()
