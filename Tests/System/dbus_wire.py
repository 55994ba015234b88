"""The few D-Bus messages, in little-endian order, that the tests of pam_whorl.so speak."""
import struct


def aligned(data, size):
    return data + b"\0" * (-len(data) % size)


def field(code, kind, value):
    if kind == "g":
        text = value.encode()
        return struct.pack("<B", code) + b"\1g\0" + bytes([len(text)]) + text + b"\0"
    if kind == "u":
        return struct.pack("<B", code) + b"\1u\0" + struct.pack("<I", value)
    text = value.encode()
    return struct.pack("<B", code) + b"\1" + kind.encode() + b"\0" + struct.pack("<I", len(text)) + text + b"\0"


def message(kind, serial, fields, body):
    packed = b""
    for each in fields:
        packed = aligned(packed, 8) + field(*each)
    header = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(packed)) + packed
    return aligned(header, 8) + body


def received(peer, data=b""):
    """The messages that come, as header and body; DATA was received before."""
    while True:
        while len(data) < 16:
            part = peer.recv(4096)
            if not part:
                return
            data += part
        body, _, fields = struct.unpack("<III", data[4:16])
        start = 16 + fields + (-fields % 8)
        while len(data) < start + body:
            part = peer.recv(4096)
            if not part:
                return
            data += part
        yield data[:start], data[start : start + body]
        data = data[start + body :]
