"""A USB device in software: its descriptors, and the standard requests. How it is connected does not matter here."""
import collections
import struct

DONE, STALLED, CANCELLED = "done", "stalled", "cancelled"
FULL_SPEED, HIGH_SPEED = 1, 2


class Transfer:
    """A transfer that the host has requested. The endpoint's highest bit is set if data goes to the host. `setup` is the
    eight bytes of a control transfer. It is answered once."""

    def __init__(self, endpoint, length, data=b"", setup=None, answer=None):
        self.endpoint, self.length, self.data, self.setup = endpoint, length, data, setup
        self.answer, self.open = answer, True

    def end(self, status, data=b""):
        if self.open:
            self.open = False
            self.answer(status, data[:self.length])


class Device:
    """A device with one configuration. `transfer` handles its own endpoints."""

    def __init__(self, descriptors, strings, speed):
        self.descriptor, self.configuration = descriptors[:18], descriptors[18:]
        self.strings, self.speed, self.configured = strings, speed, 0
        self.interfaces, self.endpoints = [], {}  # endpoints: address -> kind, packet size, interval
        at = 0
        while at < len(self.configuration):
            length, kind = self.configuration[at:at + 2]
            if kind == 4 and self.configuration[at + 3] == 0:
                self.interfaces.append(tuple(self.configuration[at + 5:at + 8]))
            elif kind == 5:
                address, attributes, size, interval = struct.unpack_from("<BBHB", self.configuration, at + 2)
                self.endpoints[address] = (attributes & 3, size, interval)
            at += length

    def transfer(self, transfer):
        raise NotImplementedError

    def control(self, transfer):
        """A vendor-specific control transfer."""
        transfer.end(STALLED)

    def cancel(self, transfer):
        """The host cancels a transfer."""
        transfer.end(CANCELLED)

    def reset(self):
        """The host has reset the port, or the device was plugged in."""

    def submit(self, transfer):
        if transfer.setup is None:
            self.transfer(transfer)
            return
        kind, request, value, _, _ = struct.unpack("<BBHHH", transfer.setup)
        if kind & 0x60:
            self.control(transfer)
            return
        answer = self.standard(kind, request, value)
        if answer is None:
            transfer.end(STALLED)
        else:
            transfer.end(DONE, answer)

    def standard(self, kind, request, value):
        """The answer to a standard request (chapter 9 of the USB specification), or nothing if the device stalls."""
        if request == 6 and kind == 0x80:  # a descriptor
            which, number = value >> 8, value & 0xff
            if which == 1:
                return self.descriptor
            if which == 2 and number == 0:
                return self.configuration
            if which == 3 and number == 0:
                return b"\4\3\x09\4"  # the strings are in English
            if which == 3 and number in self.strings:
                text = self.strings[number].encode("utf-16-le")
                return bytes([len(text) + 2, 3]) + text
            return None
        if request == 9:
            self.configured = value
            return b""
        if request == 8:
            return bytes([self.configured])
        return {0: b"\0\0", 1: b"", 3: b"", 10: b"\0", 11: b""}.get(request)  # status, features, alternate settings


class Pipe:
    """The queue of an endpoint towards the host: messages of the device, and transfers of the host that wait for them."""

    def __init__(self):
        self.data, self.waiting = collections.deque(), collections.deque()

    def put(self, data):
        self.data.append(data)
        self.meet()

    def ask(self, transfer):
        self.waiting.append(transfer)
        self.meet()

    def meet(self):
        while self.data and self.waiting:
            transfer = self.waiting.popleft()
            if transfer.open:
                transfer.end(DONE, self.data.popleft())

    def clear(self):
        self.data.clear()
