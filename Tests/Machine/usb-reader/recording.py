"""The recording of a real reader, replayed as a device: a folder with `device` (umockdev's description, which has the
descriptors) and the packets of usbmon, `custom.pcapng` or `capture.pcapng`.

A transfer of the host gets the first unused recorded one of its endpoint; if it sends data, the first that sent the same data.
The answer is sent once all requests before it in the recording have been made. Only one thing always differs: libfprint makes a
random text for each print. If a text of the same length replaces a recorded one, the answers contain it, too."""
import os
import re
import struct

from usb import CANCELLED, DONE, FULL_SPEED, HIGH_SPEED, STALLED, Device

CONTROL = 2
UNLINKED = (-2, -104)  # the host took it back, in the recording


class Recorded:
    """A transfer of the recording. `begun` is its place in the order of all, `ended` the number of those begun before its
    answer came."""

    def __init__(self, endpoint, setup, sent, begun):
        self.endpoint, self.setup, self.sent, self.begun = endpoint, setup, sent, begun
        self.ended, self.status, self.answer, self.taken = None, None, b"", None


class Recording(Device):
    def __init__(self, folder):
        with open(f"{folder}/device", encoding="utf-8") as file:
            text = file.read().split("\n\n")[0]
        descriptors = bytes.fromhex(re.search(r"^H: descriptors=(\w+)", text, re.M).group(1))
        values = dict(re.findall(r"^A: (\w+)=(.*?)(?:\\n)?$", text, re.M))
        strings = {number: values.get(key, "-") for number, key in
                   zip(descriptors[14:17], ("manufacturer", "product", "serial")) if number}
        super().__init__(descriptors, strings, HIGH_SPEED if values.get("speed") == "480" else FULL_SPEED)
        self.texts, self.strange = {}, 0
        self.all = read(next(path for path in (f"{folder}/custom.pcapng", f"{folder}/capture.pcapng")
                             if os.path.exists(path)))

    def transfer(self, transfer):
        recorded = self.next(transfer)
        if recorded:
            recorded.taken = transfer
        else:
            self.strange += 1
        self.answer()

    control = transfer

    def next(self, transfer):
        control = transfer.setup is not None
        for recorded in self.all:
            if recorded.taken or control != (recorded.setup is not None):
                continue
            if control and recorded.setup != transfer.setup or not control and recorded.endpoint != transfer.endpoint:
                continue
            if transfer.endpoint & 0x80 or self.same(recorded.sent, transfer.data):
                return recorded
        return None

    def same(self, recorded, sent):
        if self.translated(recorded) == sent:
            return True
        if len(recorded) != len(sent):
            return False
        others = {}
        for found in re.finditer(rb"[ -~]{8,}", recorded):
            other = sent[slice(*found.span())]
            if other != found.group() and all(32 <= byte < 127 for byte in other):
                others[found.group()] = other
        before, self.texts = self.texts, {**self.texts, **others}
        if self.translated(recorded) == sent:
            return True
        self.texts = before
        return False

    def translated(self, data):
        for recorded, other in self.texts.items():
            data = data.replace(recorded, other)
        return data

    def answer(self):
        begun = next((recorded.begun for recorded in self.all if not recorded.taken), len(self.all))
        for recorded in self.all:
            transfer = recorded.taken
            if not transfer or not transfer.open or recorded.status is None or recorded.status in UNLINKED:
                continue
            if recorded.ended <= begun:
                status = {0: DONE, -121: DONE, -32: STALLED}.get(recorded.status, CANCELLED)
                transfer.end(status, self.translated(recorded.answer))

    async def order(self, word, rest):
        if word == "left":
            return f"{sum(not recorded.taken for recorded in self.all)} of {len(self.all)}, {self.strange} were strange"
        return None


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    every, open_, at = [], {}, 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:  # a packet
            size = struct.unpack_from("<I", data, at + 20)[0]
            packet = data[at + 28:at + 28 + size]
            number, event, transfer, endpoint = struct.unpack_from("<QBBB", packet)
            status, _, got = struct.unpack_from("<iII", packet, 28)
            setup, payload = packet[40:48] if transfer == CONTROL else None, packet[64:64 + got]
            if event == ord("S"):
                open_[number] = recorded = Recorded(endpoint, setup, payload, len(every))
                # Answer the kernel's own requests from the descriptors.
                if setup is None or setup[0] & 0x60:
                    every.append(recorded)
            elif recorded := open_.pop(number, None):
                recorded.ended, recorded.status, recorded.answer = len(every), status, payload
        at += length
    return every
