#!/usr/bin/python3
"""Makes the wallet kdewallet in the user's session, as a login with KWallet's own PAM module does: make-wallet.py DAEMON PASSWORD

Stores "in the wallet" under site, and ends the daemon that it has started.
"""
import hashlib
import os
import pathlib
import socket
import subprocess
import sys
import time

name, password = sys.argv[1:]
folder = pathlib.Path.home() / ".local/share/kwalletd"
folder.mkdir(parents=True, exist_ok=True)
salt = os.urandom(56)
(folder / "kdewallet.salt").write_bytes(salt)
key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 50000, 56)

path = os.environ["XDG_RUNTIME_DIR"] + "/make-wallet"
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(1)
reading, writing = os.pipe()
os.write(writing, key)
daemon = subprocess.Popen(
    ["/usr/bin/" + name, "--pam-login", str(reading), str(listener.fileno())],
    env=os.environ | {"PAM_KWALLET5_LOGIN": path, "QT_QPA_PLATFORM": "offscreen"},
    pass_fds=(reading, listener.fileno()))
waiting = socket.socket(socket.AF_UNIX)
waiting.connect(path)
waiting.close()


def call(method, *arguments):
    return subprocess.run(
        ["busctl", "--user", "--auto-start=no", "call", "org.kde." + name, "/modules/" + name, "org.kde.KWallet",
         method, *arguments], capture_output=True, text=True)


while call("isOpen", "s", "kdewallet").stdout != "b true\n":
    if daemon.poll() is not None:
        raise SystemExit(name + " does not start")
    time.sleep(0.1)
handle = call("open", "sxs", "kdewallet", "0", "story").stdout.split()[1]
call("writePassword", "issss", handle, "folder", "site", "in the wallet", "story")
call("sync", "is", handle, "story")
daemon.terminate()
daemon.wait()
os.unlink(path)
