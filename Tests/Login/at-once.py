#!/usr/bin/python3
"""Drives sudo, su, doas and login at a terminal, with pam_whorl.so and a service that this test steers.

usage: at-once.py ROOT ROUNDS [SEED]

ROOT is a folder with a Debian, in which scripts/test-at-once has put the module, the PAM files and the user alice. Each
program is started by a shell at a terminal of its own. ROUNDS rounds at random moments follow the named cases. Status 1: something was
wrong, which is printed.
"""
import os
import random
import re
import statistics
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from at_once_cases import BASE, CASES, SUDO, begin, service  # noqa: E402
from shell_terminal import PASSWORD, ROOT, SHELL, Raw, Terminal, Wrong, check  # noqa: E402

ROUNDS = int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "big")


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
