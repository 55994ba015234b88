#!/usr/bin/python3
"""Starts polkit's helper as systemd does for an agent, with a socket that this process has made, and passes everything on
between it and the test.

usage: polkit-agent.py NAME COMMAND...

The kernel shows NAME as the name of this process. First it says "agent NUMBER." and waits for a line.
"""
import os
import select
import socket
import subprocess
import sys

with open("/proc/self/comm", "w", encoding="ascii") as name:
    name.write(sys.argv[1])
print(f"agent {os.getpid()}.", flush=True)
while os.read(0, 1) != b"\n":
    pass
end, other = socket.socketpair()
helper = subprocess.Popen(sys.argv[2:], stdin=other, stdout=other)
other.close()
sources = [0, end]
while end in sources:
    for source in select.select(sources, [], [])[0]:
        data = os.read(0, 4096) if source == 0 else end.recv(4096)
        if not data:
            sources.remove(source)
        elif source == 0:
            end.sendall(data)
        else:
            os.write(1, data)
sys.exit(helper.wait())
