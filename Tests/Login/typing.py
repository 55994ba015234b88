#!/usr/bin/python3
"""Runs a command and types without end: keys and lines of all kinds, but no signals.

usage: typing.py SEED terminal|socket COMMAND...

With `terminal` the command is at a terminal of its own, with `socket` its standard input is a socket, as that of polkit's
helper. Prints the command's output; the status is the command's.
"""
import os
import pty
import random
import select
import socket
import subprocess
import sys

from own_session import leave_terminal

rng = random.Random(sys.argv[1])
# All keys but those that send a signal or stop the output.
KEYS = [key for key in range(256) if key not in (3, 17, 19, 26, 28)]


def keys():
    kind = rng.random()
    if kind < 0.3:
        return b"\n"
    if kind < 0.5:
        return rng.choice([b"\x7f", b"\x15", b"\x17", b"\x16", b"\x04", b"\0", "ö".encode()])
    if kind < 0.52:
        return bytes(rng.choice(KEYS[11:]) for _ in range(rng.randrange(6000)))
    return bytes(rng.choice(KEYS) for _ in range(rng.randrange(1, 20)))


if sys.argv[2] == "terminal":
    child, end = pty.fork()
    if child == 0:
        os.execv(sys.argv[3], sys.argv[3:])
else:
    leave_terminal()
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(sys.argv[3:], stdin=theirs)
    child, end = process.pid, ours.detach()
    theirs.close()
os.set_blocking(end, False)
while True:
    try:
        if select.select([end], [], [], rng.random() * 0.02)[0]:
            heard = os.read(end, 65536)
            if not heard:
                break
            sys.stdout.buffer.write(heard)
        os.write(end, keys())
    except BlockingIOError:
        pass
    except OSError:
        break
status = process.wait() if sys.argv[2] == "socket" else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.flush()
sys.exit(status if status >= 0 else 128 - status)
