#!/usr/bin/python3
"""Reports a login to the service, as pam_whorl.so does, and prints its answer or the text of its error (status 1). With
`unlock` asks for a finger instead, as a lock screen does, and prints all answers; the reader is armed at the first prompt.

usage: login-call.py USER-ID SESSION|unlock
"""
import os
import socket
import struct
import sys

from dbus_wire import message, received


def text(word):
    data = word.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
# The user of whom it tells: the service passes the connection to that user's vault.
peer.bind(f"\0whorl-login/{sys.argv[1]}/{os.urandom(8).hex()}")
peer.connect("/run/whorl/bus")
peer.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
peer.recv(4096)
peer.sendall(b"NEGOTIATE_UNIX_FD\r\n")
peer.recv(4096)
peer.sendall(b"BEGIN\r\n")
unlocks = sys.argv[2] == "unlock"
body = struct.pack("<I", int(sys.argv[1]))
if unlocks:
    # No greeter.
    body += struct.pack("<I", 0)
for each in ("swaylock", "seat0", "tty1") if unlocks else (sys.argv[2], "login"):
    body += b"\0" * (-len(body) % 4) + text(each)
# No password, or no agent: an empty array.
body += b"\0" * (-len(body) % 4) + struct.pack("<I", 0)
peer.sendall(
    message(
        1,
        1,
        [(1, "o", "/org/whorl/Login"), (2, "s", "org.whorl.Login1"), (3, "s", "Verify" if unlocks else "OpenSession"),
         (8, "g", "ubsssah" if unlocks else "ussah")],
        body,
    )
)
serial = 1
for header, body in received(peer):
    length = struct.unpack("<I", body[:4])[0]
    word = body[4 : 4 + length].decode()
    print(word, flush=True)
    if not unlocks or header[1] != 2 or word in ("verified", "no-match", "locked-out", "no-finger", "no-store"):
        sys.exit(0 if header[1] == 2 else 1)
    serial += 1
    peer.sendall(
        message(1, serial, [(1, "o", "/org/whorl/Login"), (2, "s", "org.whorl.Login1"), (3, "s", "Await")], b""))
sys.exit("the service has closed the connection")
