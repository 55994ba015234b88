#!/usr/bin/python3
"""Listens at /run/whorl/bus in the place of the service, and answers each connection with something wrong.

usage: hostile-service.py SEED

A connection goes well for some steps, then comes something that no service says: wrong types, lengths, serial numbers and
descriptors, changed bytes, half messages, floods, or an end at any byte. That a finger was seen ("verified") is said as
well, in every way but the right one, so that whoever lets somebody in has made a mistake. Connection N does what SEED and
N say: the same two numbers do the same again.
"""
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../System")
from dbus_wire import message, received  # noqa: E402

PATH = "/run/whorl/bus"
WORDS = [
    "trying", "open", "closed", "no-store", "password", "any", "changed", "not-chosen", "kept", "unfit", "touch", "retry",
    "other-finger", "swipe", "retry-swipe", "other-finger-swipe", "no-match", "locked-out", "no-finger", "not-passcode", "",
    "Touch",
    "a" * 300, "b" * 70000]
PROMPTS = ["touch", "retry", "other-finger", "swipe", "retry-swipe", "other-finger-swipe"]
# Signatures of answers with another type than a string, or with several values.
VALUES = {
    "u": struct.pack("<I", 7),
    "b": struct.pack("<I", 2),
    "ay": struct.pack("<I", 9) + b"verified\0",
    "as": struct.pack("<I", 13) + struct.pack("<I", 8) + b"verified\0",
    "o": struct.pack("<I", 9) + b"/verified\0",
    "g": b"\1s\0",
    "v": b"\1s\0\0" + struct.pack("<I", 8) + b"verified\0",
    "ss": (struct.pack("<I", 8) + b"verified\0\0\0\0") * 2,
    "(s)": struct.pack("<I", 8) + b"verified\0",
    "h": struct.pack("<I", 0),
    "a{sv}": struct.pack("<I", 0),
    "": b"",
}


def text(word):
    data = word.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def reply(serial, word):
    return message(2, 1, [(5, "u", serial), (8, "g", "s")], text(word))


def wrong_word(rng, serial):
    return reply(serial, rng.choice(["verifiedd", "verifie", "Verified", " verified", "verified\n"]))


def too_early(_, serial):
    """What nobody has touched anything for."""
    return reply(serial, "verified")


def wrong_type(rng, serial):
    signature = rng.choice(list(VALUES))
    fields = [(5, "u", serial)] + ([(8, "g", signature)] if signature else [])
    return message(2, 1, fields, VALUES[signature])


def wrong_kind(rng, serial):
    """An error, a call, a signal or none of these, whose text is that a finger was seen."""
    kind = rng.choice([1, 3, 4, 5, 200])
    fields = [(5, "u", serial), (8, "g", "s")]
    if kind == 3:
        fields.insert(0, (4, "s", "org.whorl.Login1.Error.NoSuchLogin"))
    if kind in (1, 4):
        fields = [(1, "o", "/org/whorl/Login"), (2, "s", "org.whorl.Login1"), (3, "s", "Await"), (8, "g", "s")]
    return message(kind, 1, fields, text("verified"))


def wrong_serial(rng, serial):
    # Not the next serial number, which would make it an answer to the next call.
    return reply(rng.choice([0, serial - 1, serial + 1000, 0xFFFFFFFF]), "verified")


def wrong_length(rng, serial):
    answer = bytearray(reply(serial, rng.choice(WORDS)))
    # The length of the body, of the header, or of the string.
    place = rng.choice([4, 12, len(answer) - 1 - answer[::-1].find(b"\0") if rng.random() < 0.3 else 4])
    place = min(place, len(answer) - 4)
    struct.pack_into("<I", answer, place, rng.choice([0, 1, 2, 255, 65536, 1 << 26, 1 << 27, 0x7FFFFFFF, 0xFFFFFFFF]))
    return bytes(answer)


def bad_text(rng, serial):
    """A string that is none: without its end, with a NUL in it, or not UTF-8."""
    data = rng.choice([b"verif\0ied\0", b"verified", b"\xff\xfe\xfd\0", b"\xc0\x80\0", b"\xed\xa0\x80\0"])
    return message(2, 1, [(5, "u", serial), (8, "g", "s")], struct.pack("<I", max(len(data) - 1, 0)) + data)


def bad_signature(rng, serial):
    signature = rng.choice(["((((((((s))))))))", "a" * 40 + "s", "s" * 250, "(", "{sv}", "a", "z", "a{vs}", "()"])
    return message(2, 1, [(5, "u", serial), (8, "g", signature)], text("verified") + bytes(range(256)))


def bent(rng, serial):
    """A message in which some bytes were changed, put in or left out."""
    answer = bytearray(reply(serial, rng.choice(WORDS[:-1])))
    for _ in range(rng.randrange(1, 8)):
        place = rng.randrange(len(answer))
        change = rng.randrange(4)
        if change == 0:
            answer[place] ^= 1 << rng.randrange(8)
        elif change == 1:
            answer[place] = rng.randrange(256)
        elif change == 2:
            answer[place:place] = rng.randbytes(rng.randrange(1, 16))
        elif len(answer) > 8:
            del answer[place : place + rng.randrange(1, 4)]
    # Do not give the right answer by chance.
    return bytes(answer).replace(b"verified", b"verifies")


def byte_order(rng, serial):
    answer = bytearray(reply(serial, "verified"))
    answer[0] = rng.choice([0, ord("B"), ord("x"), 255])
    return bytes(answer)


def noise(rng, _):
    return rng.randbytes(rng.randrange(1, 5000))


def flood(rng, _):
    signal = message(4, 9, [(1, "o", "/a"), (2, "s", "a.b"), (3, "s", "C")], b"")
    call = message(1, 9, [(1, "o", "/"), (2, "s", "org.freedesktop.DBus.Peer"), (3, "s", "Ping")], b"")
    return rng.choice([signal, call]) * rng.randrange(1, 3000)


def huge(rng, _):
    return struct.pack("<cBBBIII", b"l", 2, 0, 1, rng.choice([1 << 20, 100 << 20, (1 << 27) - 64]), 1, 16) + b"\0" * 65536


def many_fields(rng, serial):
    fields = [(rng.randrange(0, 256), rng.choice("sou"), "x") for _ in range(rng.randrange(1, 60))]
    fields = [(code, kind, 1 if kind == "u" else "/x") for code, kind, _ in fields if code != 5]
    return message(2, 1, [(8, "g", "s")] + fields, text("verified"))


WRONG = [
    wrong_word, wrong_type, wrong_kind, wrong_serial, wrong_length, bad_text, bad_signature, bent, bent, bent, byte_order, noise, flood,
    huge, many_fields]


def takes_descriptors():
    """Whether a message may come with descriptors that nobody wants. sd-bus loses those of one that it cannot read, so that
    only a kernel by which the module refuses them (Linux 6.16, SO_PASSRIGHTS) keeps it from having more and more."""
    ends = socket.socketpair()
    try:
        ends[0].setsockopt(socket.SOL_SOCKET, 83, 0)
        return True
    except OSError:
        return False
    finally:
        for end in ends:
            end.close()


def send(rng, peer, data):
    """Sends the bytes at once, in pieces, or not to the end, and some of them with descriptors."""
    if rng.random() < 0.25:
        data = data[: rng.randrange(len(data) + 1)]
    if rng.random() < 0.2 and data and TAKES_DESCRIPTORS:
        data = data[send_with_descriptors(peer, data[:64], rng.choice([1, 2, 16, 200])) :]
    step = rng.choice([len(data) or 1, len(data) or 1, 1, 7])
    if len(data) / step > 2000:
        step = len(data)
    for place in range(0, len(data), step):
        peer.sendall(data[place : place + step])


def send_with_descriptors(peer, data, count):
    """Sends bytes with copies of one descriptor, or without any where the other side takes none; gives how many bytes."""
    ends = os.pipe()
    try:
        return socket.send_fds(peer, [data], [ends[0]] * count)
    except PermissionError:
        return peer.send(data)
    finally:
        for end in ends:
            os.close(end)


def with_descriptors(rng, peer, serial):
    """An answer that names a descriptor and brings more, fewer or none."""
    fields = [(5, "u", serial), (8, "g", "h"), (9, "u", rng.choice([0, 1, 2, 100]))]
    data = message(2, 1, fields, struct.pack("<I", rng.choice([0, 1, 0xFFFFFFFF])))
    send_with_descriptors(peer, data, rng.choice([1, 2, 3, 100]))


def handshake(rng, peer):
    """The server's side of EXTERNAL, sometimes wrong; gives what came after it."""
    lines = [b"DATA\r\n", b"OK 0123456789abcdef0123456789abcdef\r\n", b"AGREE_UNIX_FD\r\n"]
    if rng.random() < 0.2:
        number = rng.randrange(3)
        lines[number] = rng.choice(
            [b"", b"\r\n", b"REJECTED EXTERNAL\r\n", b"ERROR\r\n", b"OK\r\n", b"OK zz\r\n", b"OK " + b"0" * 31 + b"\r\n",
             b"OK " + b"0" * 40000 + b"\r\n", b"\0\0\0\0\r\n", b"DATA " + b"41" * 30000 + b"\r\n", rng.randbytes(200)])
        for line in lines:
            send(rng, peer, line)
        raise OSError
    data = b""
    answered = 0
    while b"BEGIN\r\n" not in data:
        part = peer.recv(4096)
        if not part:
            raise OSError
        data += part
        while answered < min(data.count(b"\r\n"), 3):
            peer.sendall(lines[answered])
            answered += 1
    return data.split(b"BEGIN\r\n", 1)[1]


def serve(rng, peer):
    calls = received(peer, handshake(rng, peer))
    steps = ["trying"] + [rng.choice(PROMPTS) for _ in range(rng.randrange(0, 5))]
    steps = steps[: rng.randrange(0, len(steps) + 1)]
    wrong = WRONG if len(steps) > 1 else WRONG + [too_early]
    for header, _ in calls:
        serial = struct.unpack("<I", header[8:12])[0]
        if steps:
            peer.sendall(reply(serial, steps.pop(0)))
            continue
        if rng.random() < 0.08 and TAKES_DESCRIPTORS:
            with_descriptors(rng, peer, serial)
        else:
            for _ in range(rng.choice([1, 1, 1, 2, 5])):
                send(rng, peer, rng.choice(wrong)(rng, serial))
        # Rarely: the module waits its whole time for the missing bytes.
        if rng.random() < 0.01:
            time.sleep(60)
        # The peer reads the sent bytes before it sees the end of the connection.
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(65536):
            pass
        return


TAKES_DESCRIPTORS = takes_descriptors()


def run(number, peer):
    try:
        serve(random.Random(f"{sys.argv[1]} {number}"), peer)
    except OSError:
        pass
    peer.close()


if os.path.exists(PATH):
    os.unlink(PATH)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(PATH)
listener.listen(64)
print("listening", flush=True)
number = 0
while True:
    threading.Thread(target=run, args=(number, listener.accept()[0]), daemon=True).start()
    number += 1
