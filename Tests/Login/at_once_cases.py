"""The named cases of at-once.py: what a person does at a prompt, and what must come of it."""
import os
import re
import subprocess
import time

from login_service import LoginService
from shell_terminal import PASSWORD, ROOT, Terminal, Wrong, check

# What the program's own process has, as root sees it: descriptors, threads and blocked signals.
LOOK = (
    # sudo itself closes some descriptors only after it has started the command.
    "sleep 0.03; echo IN $(ls /proc/$PPID/fd | wc -l) $(sed -n 's/^Threads:.//p' /proc/$PPID/status) "
    "$(sed -n 's/^SigBlk:.//p' /proc/$PPID/status)")


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
