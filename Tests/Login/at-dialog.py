#!/usr/bin/python3
"""Drives polkit's helper as an agent does, with pam_whorl.so and a service that this test steers.

usage: at-dialog.py ROOT ROUNDS [SEED]

ROOT is the folder of at-once.py. The PAM file of polkit-1 runs /mark after the auth phase has succeeded, which writes what
the helper has then: its descriptors and threads. Status 1: something was wrong, which is printed.
"""
import os
import random
import select
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from login_service import LoginService  # noqa: E402
from own_session import leave_terminal  # noqa: E402

ROOT, ROUNDS = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "big")
PASSWORD = "pä\tß wört".encode()
MARK = f"{ROOT}/run/mark"


class Wrong(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Wrong(what)


class Helper:
    """polkit's helper, with a socket as its input and output, as systemd starts it."""

    def __init__(self):
        if os.path.exists(MARK):
            os.unlink(MARK)
        self.end, other = socket.socketpair()
        self.heard = b""
        self.process = subprocess.Popen(
            ["chroot", ROOT, "/usr/lib/polkit-1/polkit-agent-helper-1", "alice"], stdin=other, stdout=other,
            stderr=subprocess.DEVNULL)
        other.close()
        self.end.sendall(b"cookie\n")

    def expect(self, text, seconds=5.0):
        end = time.monotonic() + seconds
        while text not in self.heard:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.end], [], [], left)[0]:
                raise Wrong(f"{text!r} did not come, but {self.heard!r}")
            part = self.end.recv(65536)
            if not part:
                raise Wrong(f"{text!r} did not come before the end, but {self.heard!r}")
            self.heard += part
        self.heard = self.heard.split(text, 1)[1]

    def send(self, text):
        try:
            self.end.sendall(text)
        except OSError:
            pass

    def wait(self, seconds=10.0):
        """Whether the auth phase succeeded, and what the helper had then."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Wrong("the helper hangs") from None
        finally:
            self.end.close()
        check(service.wait_until_idle(), "the reader stays armed")
        if not os.path.exists(MARK):
            return None
        with open(MARK) as file:
            return file.read()


leave_terminal()
service = LoginService(f"{ROOT}/run/whorl/bus")
PROMPT = b"PAM_PROMPT_ECHO_OFF Password, or touch the reader: "
BASE = {}


def finish(helper, is_in):
    found = helper.wait()
    check((found is not None) == is_in, f"in: {not is_in}")
    if found is not None and BASE:
        check(found == BASE["mark"], f"{found!r}, not {BASE['mark']!r}")
    return found


def asked():
    helper = Helper()
    check(service.wait_until_armed(), "not armed")
    helper.expect(PROMPT)
    return helper


def finger_first():
    helper = asked()
    service.touch("verified")
    finish(helper, True)


def password_first():
    helper = asked()
    helper.send(PASSWORD + b"\n")
    finish(helper, True)


def wrong_password():
    helper = asked()
    helper.send(b"not it\n")
    finish(helper, False)


def empty_line():
    helper = asked()
    helper.send(b"\n")
    finish(helper, False)


def wrong_finger_then_password():
    helper = asked()
    service.touch("other-finger")
    helper.expect(b"PAM_TEXT_INFO No match, touch again or type.")
    check(service.wait_until_armed(), "not armed")
    helper.send(PASSWORD + b"\n")
    finish(helper, True)


def wrong_finger_then_finger():
    helper = asked()
    service.touch("other-finger")
    check(service.wait_until_armed(), "not armed")
    service.touch("verified")
    finish(helper, True)


def half_a_line_and_a_finger():
    helper = asked()
    helper.send(b"half of")
    time.sleep(0.05)
    service.touch("verified")
    finish(helper, True)


def no_finger_any_more():
    helper = asked()
    service.touch("no-finger")
    time.sleep(0.1)
    helper.send(PASSWORD + b"\n")
    finish(helper, True)


def lockout():
    helper = asked()
    service.touch("locked-out")
    helper.expect(b"PAM_TEXT_INFO Fingers are locked")
    helper.send(b"not it\n")
    finish(helper, False)


def an_agent_that_goes():
    helper = asked()
    helper.end.close()
    finish(helper, False)


def a_flood_without_an_end():
    helper = asked()
    helper.end.settimeout(1)
    helper.send(b"x" * 300000)
    finish(helper, False)


def no_service():
    os.rename(f"{ROOT}/run/whorl/bus", f"{ROOT}/run/whorl/gone")
    try:
        helper = Helper()
        helper.expect(b"PAM_PROMPT_ECHO_OFF Password: ")
        helper.send(PASSWORD + b"\n")
        return finish(helper, True)
    finally:
        os.rename(f"{ROOT}/run/whorl/gone", f"{ROOT}/run/whorl/bus")


def a_slow_reader():
    service.ready_after = 1.0
    try:
        began = time.monotonic()
        helper = Helper()
        helper.expect(b"PAM_PROMPT_ECHO_OFF Password: ")
        check(time.monotonic() - began < 0.8, "the person has waited for the reader")
        helper.expect(b"PAM_TEXT_INFO Or touch the reader.")
        check(service.wait_until_armed(), "not armed")
        service.touch("verified")
        finish(helper, True)
    finally:
        service.ready_after = 0


def no_finger_at_all():
    service.outcome = "no-finger"
    try:
        helper = Helper()
        helper.expect(b"PAM_PROMPT_ECHO_OFF Password: ")
        helper.send(PASSWORD + b"\n")
        finish(helper, True)
    finally:
        service.outcome = "touch"


def random_round(rng):
    helper = Helper()
    typed = rng.choice([None, PASSWORD, PASSWORD, b"not it"])
    touch = rng.choice([None, "verified", "verified", "other-finger"])
    if typed is None and touch != "verified":
        typed = b"not it"
    steps = []
    if typed is not None:
        steps.append((rng.random() * 0.1, typed + b"\n"))
    if touch is not None:
        steps.append((rng.random() * 0.1, touch))
    helper.expect(b"PAM_PROMPT_ECHO_OFF Password")
    began, touched = time.monotonic(), False
    for moment, what in sorted(steps, key=lambda step: step[0]):
        time.sleep(max(0, moment - (time.monotonic() - began)))
        if isinstance(what, bytes):
            helper.send(what)
        elif service.wait_until_armed(1 if typed is None else 0):
            touched = service.touch(what)
    found = helper.wait()
    may = typed == PASSWORD or (touch == "verified" and touched)
    must = (typed == PASSWORD or typed is None) and touch != "other-finger"
    check(found is None or may, f"accepted: {steps}")
    check(found is not None or not must, f"refused: {steps}")
    check(found is None or found == BASE["mark"], f"{found!r}, not {BASE['mark']!r}")
    return found is not None


def main():
    problems = 0
    BASE["mark"] = no_service()
    print(f"at-dialog: the helper without Whorl's service: {BASE['mark']!r}")
    cases = [
        finger_first, password_first, wrong_password, empty_line, wrong_finger_then_password, wrong_finger_then_finger,
        half_a_line_and_a_finger, no_finger_any_more, lockout, an_agent_that_goes, a_flood_without_an_end, no_service,
        a_slow_reader, no_finger_at_all]
    for function in cases:
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"  {name}", flush=True)
        except (Wrong, OSError) as problem:
            problems += 1
            print(f"  WRONG: {name}: {problem}", flush=True)
    rng = random.Random(SEED)
    print(f"at-dialog: {ROUNDS} rounds with seed {SEED}")
    counts = {True: 0, False: 0}
    for number in range(ROUNDS):
        try:
            counts[random_round(rng)] += 1
        except (Wrong, OSError) as problem:
            problems += 1
            print(f"  WRONG: round {number}: {problem}", flush=True)
    print(f"at-dialog: {counts[True]} let in, {counts[False]} refused")
    sys.exit(1 if problems else 0)


main()
