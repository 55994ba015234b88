#!/usr/bin/env python3
"""Measures how soon after its start `whorl-agent --passkeys` has its device, and how often it, its vault and its
reader's process wake while nobody asks for anything.

    sudo Benchmarks/security-key.py [--rounds N] [--seconds N] [--programs DIR]

It takes the place of whorl-fido, so it runs as root, on a machine on which Whorl is not installed. Its store is a
temporary one.
"""

import argparse
import glob
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SOCKET = "/run/whorl-fido/socket"


def waits(process):
    """How often the threads of a process have waited so far."""
    count = 0
    for path in glob.glob(f"/proc/{process}/task/*/status"):
        lines = [line.split() for line in text(path).splitlines()]
        count += sum(int(words[1]) for words in lines if words[0] == "voluntary_ctxt_switches:")
    return count


def family(process):
    """A process and its descendants, by their names."""
    found = {process: text(f"/proc/{process}/comm").strip()}
    for path in glob.glob(f"/proc/{process}/task/*/children"):
        for child in text(path).split():
            found.update(family(child))
    return found


def text(path):
    """The text of a file; none if it is a thread's that has ended."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def exchange(device, *words):
    device.send(bytes(words) + bytes(64 - len(words)))
    while (answer := device.recv(64))[4] == 0xBB:  # keep-alive
        pass
    return answer


def main(programs, rounds, seconds):
    if os.path.exists(os.path.dirname(SOCKET)):
        sys.exit(f"{SOCKET} may be whorl-fido's: run this where Whorl is not installed")
    work = tempfile.mkdtemp()
    environment = dict(os.environ, HOME=work, XDG_RUNTIME_DIR=work)
    os.mkdir(os.path.dirname(SOCKET), mode=0o700)
    try:
        read, write = os.pipe()
        os.write(write, b"correct horse battery staple\n")
        os.close(write)
        subprocess.run(
            [f"{programs}/whorl", "init", "--store", f"{work}/store", "--passcode-fd", str(read), "--recovery-fd", "2"],
            pass_fds=[read], env=environment, check=True, capture_output=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(SOCKET)
        listener.listen()
        listener.settimeout(30)
        times, agent = [], None
        for _ in range(rounds + 1):  # the first round warms up the caches, and is discarded
            if agent:
                agent.terminate()
                agent.wait()
            start = time.monotonic()
            agent = subprocess.Popen(
                [f"{programs}/whorl-agent", "--passkeys", "--store", f"{work}/store"], env=environment,
                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            device, _ = listener.accept()
            times.append((time.monotonic() - start) * 1000)
        print(f"from the start to the device: {statistics.median(times[1:]):.1f} ms (at most {max(times[1:]):.1f})")
        # getInfo starts the vault, which starts the reader's process.
        channel = exchange(device, *[0xFF] * 4, 0x86, 0, 8, *[1] * 8)[15:19]
        exchange(device, *channel, 0x90, 0, 1, 4)
        time.sleep(15)  # threads that have no more work end after five seconds
        programs = family(agent.pid)
        before = {process: waits(process) for process in programs}
        time.sleep(seconds)
        for process, name in programs.items():
            print(f"wakes of {name} in {seconds} s: {waits(process) - before[process]}")
        agent.terminate()
        agent.wait()
    finally:
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(os.path.dirname(SOCKET))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--programs", default=".build/release", metavar="DIR")
    options = parser.parse_args()
    main(os.path.abspath(options.programs), options.rounds, options.seconds)
