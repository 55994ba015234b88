#!/usr/bin/python3
"""Runs a command, answers its questions as a person does, and prints what it says.

usage: conversing.py ANSWERS COMMAND...

ANSWERS has lines of PROMPT=>ANSWER: where what was said ends with the prompt, the answer is typed. Each is used once, the
first that fits; some may be left over. FINGER:PERSON in the variable FINGER is pressed on the virtual reader of $SENSOR
each time a touch is asked for. A question without an answer ends with status 98 after a minute. Otherwise the status is
the command's.
"""
import os
import re
import select
import subprocess
import sys
import time

TOUCH = re.compile(r"the reader \(|lift and touch again|touch again, a little longer")
answers = [tuple(line.split("=>", 1)) for line in sys.argv[1].split("\n") if line]
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
said, answered, touched = "", 0, 0
while True:
    if not select.select([process.stdout], [], [], 60)[0]:
        print(said + "\nconversing.py: no answer to that", flush=True)
        process.kill()
        sys.exit(98)
    part = os.read(process.stdout.fileno(), 4096)
    if not part:
        break
    said += part.decode(errors="replace").replace("\r", "")
    pair = next((pair for pair in answers if said.rstrip(" ").endswith(pair[0])), None)
    if pair and len(said) > answered:
        answers.remove(pair)
        answered = len(said)
        time.sleep(0.5)
        process.stdin.write(pair[1].encode() + b"\n")
        process.stdin.flush()
    touches = len(TOUCH.findall(said))
    if touches > touched and "FINGER" in os.environ:
        touched = touches
        finger, person = os.environ["FINGER"].split(":")
        subprocess.run(["whorl-finger", "press", finger, "--person", person, "--socket", os.environ["SENSOR"]], check=False)
print(said, flush=True)
sys.exit(process.wait())
