#!/usr/bin/python3
"""Runs a command at a terminal of its own, answers each prompt once, and prints the output.

usage: answering.py ANSWERS COMMAND...

ANSWERS are separated by commas, and each answers the next prompt: FINGER:PERSON presses that finger on the virtual
reader of $SENSOR, where a touch is wanted; interrupt is Ctrl-C there, nothing is nothing, command=LINE has a shell run
it; any other is typed, where a password is wanted. A prompt that takes both, a finger and a password, is answered by either.
A prompt of the wrong kind, one without an answer and an answer without a prompt end with status 98. Otherwise the status is
the command's.
"""
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time

PROMPT = re.compile(
    rb"(?:Touch|Swipe) the fingerprint reader(?: again)?\.|Password, or (?:touch|swipe) the reader: "
    rb"|No match, (?:touch|swipe) again or type\."
    rb"|(?:Password|\[sudo\] password for \w+|doas \([^)]*\) password): ?")
# How long a prompt for the password alone may stay until the module puts another one in its place.
REPLACED_AFTER = 0.7
answers = [answer for answer in sys.argv[1].split(",") if answer]


def wrong(why):
    print(f"\nanswering.py: {why}", flush=True)
    os._exit(98)


def answer(prompt, terminal):
    if not answers:
        wrong(f"there is no answer to {prompt!r}")
    word = answers.pop(0)
    takes_both = prompt.startswith(("Password, or", "No match, touch again or", "No match, swipe again or"))
    is_typed = ":" not in word and word not in ("interrupt", "nothing") and not word.startswith("command=")
    if (takes_both and is_typed) or (not takes_both and "assword" in prompt):
        if ":" in word or word in ("interrupt", "nothing"):
            wrong(f"{word} is no answer to {prompt!r}")
        # Wait until the program has turned off echo, which discards earlier input.
        while termios.tcgetattr(terminal)[3] & termios.ECHO:
            time.sleep(0.02)
        os.write(terminal, word.encode() + b"\n")
    elif word == "interrupt":
        os.write(terminal, b"\x03")
    elif word.startswith("command="):
        subprocess.run(word[8:], shell=True, check=True)
    elif ":" in word:
        finger, person = word.split(":")
        press = ["whorl-finger", "press", finger, "--person", person, "--socket", os.environ["SENSOR"]]
        # The process waits until the reader is armed; meanwhile continue with the module.
        presses.append(subprocess.Popen(press))
    elif word != "nothing":
        wrong(f"{word} is no answer to {prompt!r}")


presses = []
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
heard = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    sys.stdout.buffer.write(part)
    sys.stdout.flush()
    heard += part
    while found := PROMPT.search(heard):
        if found.group().rstrip().endswith(b":") and b"reader" not in found.group():
            if found.end() == len(heard) and select.select([terminal], [], [], REPLACED_AFTER)[0]:
                break
            if heard[found.end() :].startswith(b"\r") and not heard[found.end() :].startswith(b"\r\n"):
                heard = heard[found.end() :]
                continue
        heard = heard[found.end() :]
        answer(found.group().decode(), terminal)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
for press in presses:
    press.kill()
    press.wait()
if answers:
    wrong(f"nobody asked for {answers}")
sys.exit(status if status >= 0 else 128 - status)
