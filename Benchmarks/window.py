#!/usr/bin/env python3
"""Measures the window beside an empty window of libadwaita: the first frame, memory, search, and how often it wakes.

    Benchmarks/window.py [--rounds N] [--seconds N] [--programs DIR]

It runs on a display of its own (xvfb, dbus-x11 or dbus-daemon, cc, libadwaita-1-dev), with stores in a temporary folder.
Times are medians in milliseconds; compare those of one run. Benchmarks/README.md says what is promised.
"""

import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PASSCODE = "correct horse battery staple"
HERE = os.path.dirname(os.path.abspath(__file__))


def waits(process):
    """How often the threads of a process have waited so far."""
    count = 0
    for path in glob.glob(f"/proc/{process}/task/*/status"):
        with open(path) as status:
            count += sum(int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt_switches:"))
    return count


class Bench:
    def __init__(self, programs, work, rounds, seconds):
        self.programs, self.work, self.rounds, self.seconds = programs, work, rounds, seconds
        self.environment = dict(
            os.environ, HOME=work, XDG_RUNTIME_DIR=work, XDG_DATA_HOME=work, XDG_CONFIG_HOME=work, LC_ALL="C.UTF-8",
            GDK_BACKEND="x11", GSK_RENDERER="cairo", GTK_A11Y="none")
        # A bus without any service: no portal answers for the settings of a desktop.
        with open(work + "/bus.conf", "w") as file:
            file.write(
                "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>"
                '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>')

    def run(self, *words, secret=None):
        """Runs a command, with a secret on the descriptor for which {fd} stands."""
        read, write = os.pipe()
        os.write(write, ((secret or "") + "\n").encode())
        os.close(write)
        done = subprocess.run(
            [word.replace("{fd}", str(read)) for word in words], env=self.environment, pass_fds=[read], capture_output=True,
            text=True)
        os.close(read)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def store(self, items):
        """A store with this many items."""
        store = f"{self.work}/store-{items}"
        whorl = self.programs + "/whorl"
        self.run(whorl, "init", "--passcode-fd", "{fd}", "--recovery-fd", "1", "--store", store, secret=PASSCODE)
        with open(self.work + "/items.csv", "w") as file:
            file.write("name,url,username,password\n")
            for number in range(items):
                file.write(f"site{number},https://site{number}.test,user{number},secret {number:06}\n")
        self.run(whorl, "import", "--from", "csv", self.work + "/items.csv", "--yes", "--store", store)
        return store

    def timed(self, last, *words):
        """The lines that window/times.c prints in a run, by their names."""
        start = f"{time.monotonic() * 1000:.3f}"
        environment = dict(self.environment, LD_PRELOAD=self.work + "/times.so", START=start, LAST=last)
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=20)
        lines = {}
        for line in done.stdout.splitlines():
            name, value = line.split()
            lines.setdefault(name, []).append(float(value))
        if last not in lines or "memory" not in lines:
            sys.exit(f"{' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}")
        return lines

    def window(self, store):
        return [self.programs + "/whorl-gtk", "--store", store]

    def begin(self):
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "libadwaita-1"], text=True).split()
        for source, target, more in [("empty.c", "empty", []), ("times.c", "times.so", ["-shared", "-fPIC"])]:
            subprocess.check_call(
                ["cc", "-O2", "-Wall", "-Werror", *more, "-o", f"{self.work}/{target}", f"{HERE}/window/{source}", *flags])
        read, write = os.pipe()
        self.display = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1200x900x24", "-nolisten", "tcp"], pass_fds=[write],
            stderr=subprocess.DEVNULL)
        os.close(write)
        self.environment["DISPLAY"] = ":" + os.read(read, 10).decode().strip()
        self.bus = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self.work}/bus.conf", "--nofork", "--print-address"],
            stdout=subprocess.PIPE, text=True)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().strip()

    def end(self):
        for process in [self.bus, self.display]:
            process.terminate()
            process.wait()

    def frames(self, store):
        empty, full = [], []
        for _ in range(self.rounds):
            empty.append(self.timed("first", self.work + "/empty"))
            full.append(self.timed("list", *self.window(store)))
        middle = lambda runs, name: statistics.median(run[name][0] for run in runs)
        for what, name in [("first frame", "first"), ("list of 1,000 items", "list")]:
            limit = "  (limit: 100)" if name == "first" else ""
            for clock, words in [("", ""), ("-cpu", ", processor time")]:
                floor, value = middle(empty, "first" + clock), middle(full, name + clock)
                print(f"{what + words:<44}{value:8.1f} ms, {value - floor:6.1f} after that of an empty window{limit if not clock else ''}")
        less, more = middle(empty, "memory") / 1024, middle(full, "memory") / 1024
        print(f"memory of an empty window, proportional     {less:8.1f} MiB")
        print(f"memory with 1,000 items                     {more:8.1f} MiB, {more - less:6.1f} more  (limit: 25)")

    def searches(self, store):
        runs = [self.timed("list", *self.window(store)) for _ in range(max(self.rounds // 4, 3))]
        for what, name in [
            ("a search in 10,000 items", "search"), ("the same, processor time", "search-cpu"),
            ("the same, until it is drawn", "frame")]:
            values = [value for run in runs for value in run.get(name, [])]
            limit = "  (limit: 16)" if name == "search" else ""
            print(f"{what:<44}{statistics.median(values):8.1f} ms, at most {max(values):6.1f}{limit}")

    def wakes(self, store):
        """Of the window, after it has come to rest."""
        window = subprocess.Popen(self.window(store), env=self.environment, stderr=subprocess.DEVNULL)
        time.sleep(20)
        before = waits(window.pid)
        time.sleep(self.seconds)
        count = waits(window.pid) - before
        window.terminate()
        window.wait()
        print(f"wakes of the window in {self.seconds} seconds              {count:8d}     (limit: 0)")

    def main(self):
        self.begin()
        try:
            few, many = self.store(1_000), self.store(10_000)
            self.frames(few)
            self.searches(many)
            self.wakes(few)
        finally:
            self.end()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--programs", default=os.path.join(HERE, "../.build/release"))
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="whorl-bench-window-")
    try:
        Bench(os.path.abspath(options.programs), folder, options.rounds, options.seconds).main()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
