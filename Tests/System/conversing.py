#!/usr/bin/python3
"""Runs a command, answers its questions as a person does, and prints the output.

usage: conversing.py ANSWERS COMMAND...

ANSWERS has lines of PROMPT=>ANSWER: where what was said ends with the prompt, the answer is typed. Each is used once, the
first that fits; some may be left over. An answer <FILE is the first line of that file. FINGER in the environment has words
FINGER:PERSON, which are pressed on the virtual reader of $SENSOR, one each time a touch is asked for, and the last from then
on; the word - is a touch that does not come. A question without an answer ends with status 98 after a minute. Otherwise
the status is the command's.
"""
import os
import re
import select
import subprocess
import sys
import time

TOUCH = re.compile(
    r"(?:Touch|Swipe) the |lift and touch again|touch again, a little longer|(?:finger|thumb) (?:on|across) the |No match, ")


def plain(text):
    """What a terminal shows of it: without escape sequences, and of a line that was written anew the last state."""
    text = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()].)", "", text)
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


answers = [tuple(line.split("=>", 1)) for line in sys.argv[1].split("\n") if line]
fingers = os.environ.get("FINGER", "").split()
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
said, answered, touched = "", 0, 0
while True:
    if not select.select([process.stdout], [], [], 60)[0]:
        print(plain(said) + "\nconversing.py: no answer to that", flush=True)
        process.kill()
        sys.exit(98)
    part = os.read(process.stdout.fileno(), 4096)
    if not part:
        break
    said += part.decode(errors="replace")
    end = plain(said[-2000:]).rstrip(" ")
    pair = next((pair for pair in answers if end.endswith(pair[0])), None)
    if pair and len(said) > answered:
        answers.remove(pair)
        answered = len(said)
        time.sleep(0.5)
        answer = open(pair[1][1:], encoding="utf-8").readline().strip() if pair[1].startswith("<") else pair[1]
        process.stdin.write(answer.encode() + b"\n")
        process.stdin.flush()
    touches = len(TOUCH.findall(said))
    if touches > touched and fingers:
        touched = touches
        finger, _, person = (fingers.pop(0) if len(fingers) > 1 else fingers[0]).partition(":")
        if person:
            # The reader is ready a moment after the prompt.
            time.sleep(1)
            press = ["whorl-finger", "press", finger, "--person", person, "--socket", os.environ["SENSOR"]]
            subprocess.run(press, check=False)
print(plain(said), flush=True)
sys.exit(process.wait())
