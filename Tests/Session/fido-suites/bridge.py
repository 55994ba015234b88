#!/usr/bin/python3
"""Stands in for the kernel and whorl-fido where there is no /dev/uhid: carries reports between the agent and the suites.

usage: bridge.py SUITES [AGENT]

SUITES and AGENT (/run/whorl-fido/socket) are paths of sockets that it makes. A program that connects to SUITES uses the
security key of the next agent until one of the two leaves. Then both are disconnected, as where a security key is taken
out: the agent connects again for the next program.
"""

import os
import select
import socket
import sys

REPORT = 64


def listening(path, kind):
    listener = socket.socket(socket.AF_UNIX, kind)
    if os.path.exists(path):
        os.unlink(path)
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen(16)
    return listener


def received(connection, flags=0):
    """A report; empty at the end."""
    try:
        return connection.recv(REPORT, flags)
    except OSError:
        return b""


def carry(agent, program):
    """Carries reports both ways until one side leaves."""
    while True:
        ready, _, _ = select.select([agent, program], [], [])
        for source, target in ((agent, program), (program, agent)):
            if source not in ready:
                continue
            report = received(source, socket.MSG_WAITALL)
            if len(report) != REPORT:
                return
            try:
                target.sendall(report)
            except OSError:
                return


def next_program(programs, agent):
    """The next program; nothing if the agent leaves before."""
    ready, _, _ = select.select([programs, agent], [], [])
    # An agent without a request sends nothing.
    return None if agent in ready else programs.accept()[0]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n\n")[1])
    agents = listening(sys.argv[2] if len(sys.argv) == 3 else "/run/whorl-fido/socket", socket.SOCK_SEQPACKET)
    programs = listening(sys.argv[1], socket.SOCK_STREAM)
    print("listening", flush=True)
    while True:
        with agents.accept()[0] as agent:
            program = next_program(programs, agent)
            if program:
                with program:
                    carry(agent, program)


main()
