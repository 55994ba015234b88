#!/usr/bin/python3
"""Listens on /run/whorl/bus in place of the service and behaves as its argument says, for tests of pam_whorl.so.

usage: fake-service.py MANNER [SEED [USER-ID]]

With a user id it listens as that user, at the path that root has made.

  silent      accepts, and says nothing
  deaf        does not even accept
  hangs-up    closes at once
  drips       sends a byte of a handshake every 100 ms
  random      sends random bytes in place of a handshake
  authless    completes the handshake, and says nothing
  noise       completes the handshake, and sends random bytes
  bent        answers with messages in which some bytes were changed
  flood       completes the handshake, and sends signals without end
  huge        announces an answer of 100 MiB
  wrong-type  answers with a number
  nonsense    answers with a word that is none
  error       answers with an error
  trying      says that it tries the password, and never comes to an end
  touch       has a touch asked for, and never comes to an end
  nags        has a touch asked for again and again
  verified    says that a finger was seen, at once
  unasked     the same where nobody was told to touch
  honest      has a touch asked for, and says that it was the user's finger
  swiped      the same on a reader that a finger is swiped over, once more after each that did not count
  open        answers as the service does: open
"""
import os
import random
import socket
import struct
import sys
import threading
import time

from dbus_wire import message, received

MANNER = sys.argv[1]
RANDOM = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
PATH = "/run/whorl/bus"
FINGER = {
    "touch": ["trying", "touch"],
    "nags": ["trying", "touch"],
    "verified": ["verified"],
    "unasked": ["trying", "verified"],
    "honest": ["trying", "touch", "verified"],
    "swiped": ["trying", "swipe", "retry-swipe", "other-finger-swipe", "verified"],
}


def reply(to, word, kind=2, signature="s"):
    if signature == "u":
        body = struct.pack("<I", 7)
    else:
        text = word.encode()
        body = struct.pack("<I", len(text)) + text + b"\0"
    fields = [(5, "u", to), (8, "g", signature)]
    if kind == 3:
        fields.insert(0, (4, "s", "org.whorl.Login1.Error.NoSuchLogin"))
    return message(kind, 1, fields, body)


SIGNAL = message(4, 9, [(1, "o", "/a"), (2, "s", "a.b"), (3, "s", "C")], b"")


def handshake(peer):
    """The server's side of EXTERNAL, with descriptors; gives what came after it."""
    data = b""
    while b"BEGIN\r\n" not in data:
        part = peer.recv(4096)
        if not part:
            raise OSError
        data += part
        lines = data.count(b"\r\n")
        while handshake.answered < lines and handshake.answered < 3:
            # Debian's sd-bus sends all of its lines at once, and reads three answers.
            peer.sendall([b"DATA\r\n", b"OK 0123456789abcdef0123456789abcdef\r\n", b"AGREE_UNIX_FD\r\n"][handshake.answered])
            handshake.answered += 1
    return data.split(b"BEGIN\r\n", 1)[1]


def serials(peer, data):
    """The serial numbers of the calls that come."""
    for header, _ in received(peer, data):
        yield struct.unpack("<I", header[8:12])[0]


def serve(peer):
    if MANNER == "hangs-up":
        return
    if MANNER == "silent":
        time.sleep(60)
    if MANNER == "drips":
        for byte in b"DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n":
            peer.sendall(bytes([byte]))
            time.sleep(0.1)
        time.sleep(60)
    if MANNER == "random":
        while True:
            peer.sendall(RANDOM.randbytes(RANDOM.randrange(1, 4096)))
    handshake.answered = 0
    calls = serials(peer, handshake(peer))
    if MANNER == "authless":
        time.sleep(60)
    if MANNER == "noise":
        while True:
            peer.sendall(RANDOM.randbytes(RANDOM.randrange(1, 4096)))
    if MANNER == "flood":
        while True:
            peer.sendall(SIGNAL * 64)
    for number, serial in enumerate(calls):
        if MANNER == "bent":
            answer = bytearray(reply(serial, RANDOM.choice(["open", "closed", "trying", "touch", "verified"])))
            for _ in range(RANDOM.randrange(1, 6)):
                answer[RANDOM.randrange(len(answer))] = RANDOM.randrange(256)
            peer.sendall(bytes(answer))
        elif MANNER == "huge":
            peer.sendall(struct.pack("<cBBBIII", b"l", 2, 0, 1, 100 << 20, 1, 16) + b"\0" * 65536)
        elif MANNER == "wrong-type":
            peer.sendall(reply(serial, "", signature="u"))
        elif MANNER == "nonsense":
            peer.sendall(reply(serial, "sesame"))
        elif MANNER == "error":
            peer.sendall(reply(serial, "no", kind=3))
        elif MANNER == "trying":
            if number == 0:
                peer.sendall(reply(serial, "trying"))
        elif MANNER == "open":
            peer.sendall(reply(serial, "open"))
        elif MANNER in FINGER:
            words = FINGER[MANNER]
            if number < len(words) or MANNER == "nags":
                peer.sendall(reply(serial, words[min(number, len(words) - 1)]))
    time.sleep(60)


def run(peer):
    try:
        serve(peer)
    except OSError:
        pass
    peer.close()


if os.path.exists(PATH):
    os.unlink(PATH)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(PATH)
os.chmod(PATH, 0o666)
if len(sys.argv) > 3:
    # The kernel stores the credentials of the process that calls listen.
    os.seteuid(int(sys.argv[3]))
listener.listen(0 if MANNER == "deaf" else 64)
print("listening", flush=True)
while MANNER == "deaf":
    time.sleep(60)
while True:
    threading.Thread(target=run, args=(listener.accept()[0],), daemon=True).start()
