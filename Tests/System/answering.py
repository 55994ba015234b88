#!/usr/bin/python3
"""Runs a command at a terminal of its own, answers each prompt once, and prints the output.

usage: answering.py ANSWERS COMMAND...

ANSWERS are separated by commas, and each answers the next prompt: FINGER:PERSON presses that finger on the virtual
reader of $SENSOR, where a touch is wanted; interrupt is Ctrl-C there, nothing is nothing, command=LINE has a shell run
it; any other is typed, where a password is wanted. A prompt of the wrong kind, one without an answer and an answer
without a prompt end with status 98. Otherwise the status is the command's.
"""
import os
import pty
import re
import subprocess
import sys
import termios
import time

PROMPT = re.compile(rb"(?:Touch|Swipe) the fingerprint reader(?: again)?\.|Password: ?")
answers = [answer for answer in sys.argv[1].split(",") if answer]


def wrong(why):
    print(f"\nanswering.py: {why}", flush=True)
    os._exit(98)


def answer(prompt, terminal):
    if not answers:
        wrong(f"there is no answer to {prompt!r}")
    word = answers.pop(0)
    if prompt.startswith("Password"):
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
        heard = heard[found.end() :]
        answer(found.group().decode(), terminal)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
for press in presses:
    press.kill()
    press.wait()
if answers:
    wrong(f"nobody asked for {answers}")
sys.exit(status if status >= 0 else 128 - status)
