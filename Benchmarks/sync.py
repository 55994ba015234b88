#!/usr/bin/env python3
"""Measures `whorl sync` beside git itself, `pass git` and Debian's `gopass git`, over a bare repository in a folder.

    Benchmarks/sync.py [--items N] [--rounds N] [--programs DIR]

It runs in a temporary folder, with stores, a GnuPG home and git's settings of its own. Times are medians in milliseconds;
compare ratios of one run. Benchmarks/README.md says what is promised.
"""

import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PASSCODE = "correct horse battery staple"


class Peak(threading.Thread):
    """The largest memory that the programs of a folder have, in KiB."""

    def __init__(self, programs):
        super().__init__(daemon=True)
        self.programs, self.peaks, self.isOver = programs, {}, False

    def run(self):
        while not self.isOver:
            for entry in glob.glob("/proc/[0-9]*"):
                try:
                    name = os.path.basename(os.readlink(entry + "/exe"))
                    if name not in self.programs:
                        continue
                    with open(entry + "/status") as status:
                        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
                    self.peaks[name] = max(self.peaks.get(name, 0), peak)
                except (OSError, StopIteration):
                    pass
            time.sleep(0.05)


class Bench:
    def __init__(self, programs, work, items, rounds):
        self.programs, self.work, self.items, self.rounds = programs, work, items, rounds
        self.environment = dict(
            os.environ, HOME=work + "/home", GNUPGHOME=work + "/gnupg", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C.UTF-8",
            XDG_DATA_HOME=work + "/home/data", XDG_CONFIG_HOME=work + "/home/config",
            PASSWORD_STORE_DIR=work + "/pass-one", GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@localhost",
            GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@localhost")
        os.makedirs(work + "/home")
        os.makedirs(work + "/gnupg", mode=0o700)

    def run(self, *words, secrets=(), more=None, text=None):
        descriptors, environment = [], dict(self.environment, **(more or {}))
        words = list(words)
        for secret in secrets:
            read, write = os.pipe()
            os.write(write, (secret + "\n").encode())
            os.close(write)
            descriptors.append(read)
        words = [str(word).replace("{fd}", str(descriptors[0]) if descriptors else "") for word in words]
        done = subprocess.run(
            words, env=environment, pass_fds=descriptors, input=text, capture_output=True, text=text is None or isinstance(text, str))
        for descriptor in descriptors:
            os.close(descriptor)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def whorl(self, machine, *words, unlocked=False, text=None):
        options = ["--passcode-fd", "{fd}"] if unlocked else []
        return self.run(
            f"{self.programs}/whorl", *words, *options, "--store", f"{self.work}/{machine}",
            secrets=[PASSCODE] if unlocked else [], text=text)

    def timed(self, *calls):
        times = []
        for call in calls:
            start = time.monotonic()
            call()
            times.append(time.monotonic() - start)
        return sum(times) * 1000

    def machine(self, name):
        self.run(
            f"{self.programs}/whorl", "init", "--passcode-fd", "{fd}", "--recovery-fd", "1", "--store",
            f"{self.work}/{name}", secrets=[PASSCODE])

    def join(self, name):
        """Lets a machine in, and returns the milliseconds of the approval."""
        read, write = os.pipe()
        os.write(write, f"{PASSCODE}\n".encode() * 3)
        os.close(write)
        joining = subprocess.Popen(
            [f"{self.programs}/whorl", "sync", "join", self.work + "/remote", "--name", name, "--no-timer", "--yes",
             "--passcode-fd", str(read), "--store", f"{self.work}/{name}"],
            env=self.environment, pass_fds=[read], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read)
        words = []
        while not words:
            # It shows the words and ends, since nobody can be asked.
            subprocess.run(
                [f"{self.programs}/whorl", "sync", "approve", "--store", f"{self.work}/one"], env=self.environment,
                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            words = json.loads(self.whorl(name, "sync", "status", "--json"))["words"]
        approving = self.timed(
            lambda: self.whorl("one", "sync", "approve", "--words", " ".join(words), unlocked=True))
        if joining.wait():
            sys.exit(f"sync join: {joining.returncode}")
        return approving

    def fill(self):
        """Brings the items in, in an export that age has encrypted to the store's key."""
        lines = ['{"format":"whorl-items","version":1}\n']
        for number in range(self.items):
            secret = f"secret number {number:06}"
            attributes = {
                "acct": {"text": f"user{number}"}, "agrp": {"text": "whorl"}, "svce": {"text": f"site{number}"},
                "sync": {"number": 1}}
            item = {
                "access": [], "accessible": "when-unlocked", "attributes": attributes, "class": "genp",
                "secret": len(secret)}
            lines.append(json.dumps({"item": item}) + "\n" + secret + "\n")
        lines.append(json.dumps({"end": self.items}) + "\n")
        key = self.whorl("one", "key").strip().split()[-1]
        with open(self.work + "/items", "w") as file:
            file.writelines(lines)
        self.run("age", "-r", key, "-o", self.work + "/items.age", self.work + "/items")
        self.whorl("one", "import", self.work + "/items.age", "--yes", unlocked=True)

    def git(self, place, *words):
        return self.run("git", "-C", f"{self.work}/{place}", *words)

    def pairs(self):
        """What one change, and none, take with git alone and with pass."""
        for place in ["git-remote", "pass-remote"]:
            self.run("git", "init", "--quiet", "--bare", "-b", "main", f"{self.work}/{place}")
        self.run("git", "clone", "--quiet", f"{self.work}/git-remote", f"{self.work}/git-one")
        self.git("git-one", "checkout", "-q", "-b", "main")
        os.makedirs(f"{self.work}/git-one/items")
        for number in range(100):
            with open(f"{self.work}/git-one/items/{number}", "wb") as file:
                file.write(os.urandom(700))
        self.git("git-one", "add", ".")
        self.git("git-one", "commit", "-q", "-m", "first")
        self.git("git-one", "push", "-q", "-u", "origin", "main")
        self.run("git", "clone", "--quiet", f"{self.work}/git-remote", f"{self.work}/git-two")

    def pass_stores(self):
        self.run(
            "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "a@localhost", "default", "default",
            "never")
        self.run("pass", "init", "a@localhost")
        self.run("pass", "git", "init", "-b", "main")
        self.run("pass", "git", "remote", "add", "origin", f"{self.work}/pass-remote")
        for number in range(100):
            self.run("pass", "insert", "-m", f"site{number}", text=f"secret {number}\n")
        self.run("pass", "git", "push", "-q", "-u", "origin", "main")
        self.run("git", "clone", "--quiet", f"{self.work}/pass-remote", f"{self.work}/pass-two")

    def changes(self):
        managers = [name for name in ["pass", "gopass"] if shutil.which(name)]
        names = ["whorl", "git", "whorl, nothing", "git, nothing"] + managers + [f"{name}, nothing" for name in managers]
        results = {name: [] for name in names}
        two = {"PASSWORD_STORE_DIR": self.work + "/pass-two"}
        for number in range(self.rounds):
            self.whorl("one", "set", "changing", "--replace", "--access", "none", "--sync", text=f"value {number}")
            results["whorl"].append(
                self.timed(lambda: self.whorl("one", "sync", "now"), lambda: self.whorl("two", "sync", "now")))
            with open(f"{self.work}/git-one/items/0", "wb") as file:
                file.write(os.urandom(700))
            self.git("git-one", "commit", "-q", "-a", "-m", "change")
            results["git"].append(
                self.timed(
                    lambda: self.git("git-one", "fetch", "-q"), lambda: self.git("git-one", "push", "-q"),
                    lambda: self.git("git-two", "fetch", "-q")))
            for manager in managers:
                self.run("pass", "insert", "-m", "-f", "site0", text=f"value {number} of {manager}\n")
                results[manager].append(
                    self.timed(
                        lambda: self.run(manager, "git", "pull", "-q", "--rebase"),
                        lambda: self.run(manager, "git", "push", "-q"),
                        lambda: self.run(manager, "git", "pull", "-q", "--rebase", more=two)))
                results[f"{manager}, nothing"].append(
                    self.timed(lambda: self.run(manager, "git", "pull", "-q", "--rebase", more=two)))
            results["whorl, nothing"].append(self.timed(lambda: self.whorl("two", "sync", "now")))
            results["git, nothing"].append(self.timed(lambda: self.git("git-two", "fetch", "-q")))
        return {name: statistics.median(times) for name, times in results.items()}

    def tell(self, results, what, kind, plain, pull, promise):
        mine = results["whorl" + kind]
        print(f"{what:<34}{mine:10.0f} ms")
        for name in [name for name in ["git", "pass", "gopass"] if name + kind in results]:
            beside, end = (plain, f"  (promise: {promise})") if name == "git" else (f"{name} {pull}", "")
            print(f"  beside {beside:<25}{results[name + kind]:10.0f} ms  {mine / results[name + kind]:6.2f}{end}")

    def main(self):
        self.run("git", "init", "--quiet", "--bare", f"{self.work}/remote")
        for name in ["one", "two", "three"]:
            self.machine(name)
        self.whorl("one", "sync", "init", self.work + "/remote", "--name", "one", "--no-timer", unlocked=True)
        self.join("two")
        self.whorl("two", "sync", "now")
        self.pairs()
        self.pass_stores()
        changes = self.changes()
        self.fill()
        peak = Peak({"whorl", "whorld"})
        peak.start()
        publishing = self.timed(lambda: self.whorl("one", "sync", "now"))
        copying = self.timed(lambda: self.whorl("two", "sync", "now"))
        peak.isOver = True
        self.run("git", "-C", f"{self.work}/remote", "gc", "--quiet", "--prune=now")
        sizes = self.run("git", "-C", f"{self.work}/remote", "count-objects", "-v").splitlines()
        pack = next(int(line.split()[1]) for line in sizes if line.startswith("size-pack"))
        bytes_each = pack * 1024 / self.items - len("secret number 000000")
        approving = self.join("three")
        self.tell(changes, "one change to the other machine", "", "git fetch and push", "git pull and push", 2.7)
        self.tell(changes, "nothing changed", ", nothing", "git fetch", "git pull", 3.2)
        print(f"{self.items} items published                {publishing:8.0f} ms  {self.items / publishing * 1000:6.0f} a second")
        print(f"{self.items} items, first copy              {copying:8.0f} ms  {self.items / copying * 1000:6.0f} a second  (promise: 2000)")
        print(f"a new member of {self.items} items          {approving:8.0f} ms  (promise: 30000)")
        print(f"bytes of an item beside its secret   {bytes_each:8.0f}     (promise: 1024; the repository with two machines)")
        for name, kibibytes in sorted(peak.peaks.items()):
            print(f"largest memory of {name:<18} {kibibytes / 1024:8.1f} MiB  (promise: 64)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--programs", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.build/release"))
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="whorl-bench-sync-")
    try:
        Bench(options.programs, work, options.items, options.rounds).main()
    finally:
        subprocess.run(["gpgconf", "--homedir", work + "/gnupg", "--kill", "all"], capture_output=True)
        shutil.rmtree(work, ignore_errors=True)
