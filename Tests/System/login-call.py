#!/usr/bin/python3
"""Reports a login to the service, as pam_whorl.so does, and prints its answer or the text of its error (status 1).

usage: login-call.py USER-ID SESSION
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
body = struct.pack("<I", int(sys.argv[1]))
for each in sys.argv[2], "login":
    body += b"\0" * (-len(body) % 4) + text(each)
# No password: an empty array.
body += b"\0" * (-len(body) % 4) + struct.pack("<I", 0)
peer.sendall(
    message(
        1,
        1,
        [(1, "o", "/org/whorl/Login"), (2, "s", "org.whorl.Login1"), (3, "s", "OpenSession"), (8, "g", "ussah")],
        body,
    )
)
for header, body in received(peer):
    length = struct.unpack("<I", body[:4])[0]
    print(body[4 : 4 + length].decode())
    sys.exit(0 if header[1] == 2 else 1)
sys.exit("the service has closed the connection")
