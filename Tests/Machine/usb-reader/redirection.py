"""Connects a device in software to a virtual machine of QEMU, by the protocol usb-redir (usbredir 0.7): QEMU is the guest side,
and this is the host side, with the device. When QEMU closes the connection, the device is unplugged."""
import asyncio
import struct

from usb import CANCELLED, DONE, STALLED, Transfer

HELLO, CONNECT, RESET, INTERFACES, ENDPOINTS = 0, 1, 3, 4, 5
SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION = 6, 7, 8
SET_ALTERNATE, GET_ALTERNATE, ALTERNATE = 9, 10, 11
START_INTERRUPTS, STOP_INTERRUPTS, INTERRUPTS, CANCEL = 15, 16, 17, 21
CONTROL, BULK, INTERRUPT = 100, 101, 103
STATUS = {DONE: 0, CANCELLED: 1, STALLED: 4}
# Capabilities: a version in CONNECT, sizes of packets in ENDPOINTS, numbers of 64 bits, bulk lengths of 32 bits.
CAPABILITIES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6


async def serve(device, path, log):
    """Listens for QEMU on a socket."""
    async def connected(reader, writer):
        plug = Plug(device, writer, log)
        log("plugged in")
        try:
            await plug.run(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            log("pulled out")
        plug.pulled()
    return await asyncio.start_unix_server(connected, path)


class Plug:
    def __init__(self, device, writer, log):
        self.device, self.writer, self.log = device, writer, log
        self.open, self.listening = {}, {}

    def send(self, kind, number, head, data=b""):
        if not self.writer.is_closing():
            self.writer.write(struct.pack("<IIQ", kind, len(head) + len(data), number) + head + data)

    async def run(self, reader):
        # Numbers have 32 bits until both sides have sent their capabilities.
        hello = b"a reader in software".ljust(64, b"\0") + struct.pack("<I", CAPABILITIES)
        self.writer.write(struct.pack("<III", HELLO, len(hello), 0) + hello)
        _, length, _ = struct.unpack("<III", await reader.readexactly(12))
        await reader.readexactly(length)
        self.device.reset()
        self.announce()
        while True:
            kind, length, number = struct.unpack("<IIQ", await reader.readexactly(16))
            self.packet(kind, number, await reader.readexactly(length))

    def announce(self):
        device = self.device
        column = lambda values: bytes(values).ljust(32, b"\0")
        interfaces = device.interfaces
        self.send(INTERFACES, 0, struct.pack("<I", len(interfaces)) + column(range(len(interfaces))) +
                  b"".join(column(interface[part] for interface in interfaces) for part in range(3)))
        kinds, intervals, sizes = [255] * 32, [0] * 32, [0] * 32
        for endpoint, (kind, size, interval) in {0: (0, device.descriptor[7], 0), 0x80: (0, device.descriptor[7], 0),
                                                 **device.endpoints}.items():
            slot = (endpoint & 0x80) >> 3 | endpoint & 15
            kinds[slot], sizes[slot], intervals[slot] = kind, size, interval
        self.send(ENDPOINTS, 0, bytes(kinds) + bytes(intervals) + bytes(32) + struct.pack("<32H", *sizes))
        vendor, product, version = struct.unpack_from("<HHH", device.descriptor, 8)
        self.send(CONNECT, 0, struct.pack("<BBBBHHH", device.speed, *device.descriptor[4:7], vendor, product, version))

    def packet(self, kind, number, body):
        device = self.device
        if kind == CONTROL:
            endpoint, request, what, _, value, index, length = struct.unpack_from("<BBBBHHH", body)
            setup = struct.pack("<BBHHH", what, request, value, index, length)
            def answer(status, data):
                sent = len(data) if endpoint & 0x80 else length
                self.send(CONTROL, number, struct.pack("<BBBBHHH", endpoint, request, what, STATUS[status], value, index, sent),
                          data if endpoint & 0x80 else b"")
            self.begin(number, Transfer(what & 0x80, length, body[10:], setup, answer))
        elif kind == BULK:
            endpoint, _, low, stream, high = struct.unpack_from("<BBHIH", body)
            length = low | high << 16
            def answer(status, data):
                sent = len(data) if endpoint & 0x80 else length
                self.send(BULK, number, struct.pack("<BBHIH", endpoint, STATUS[status], sent & 0xffff, stream, sent >> 16),
                          data if endpoint & 0x80 else b"")
            self.begin(number, Transfer(endpoint, length, body[10:], None, answer))
        elif kind == INTERRUPT:
            endpoint, _, length = struct.unpack_from("<BBH", body)
            answer = lambda status, _: self.send(INTERRUPT, number, struct.pack("<BBH", endpoint, STATUS[status], length))
            self.begin(number, Transfer(endpoint, length, body[4:], None, answer))
        elif kind == START_INTERRUPTS:
            self.send(INTERRUPTS, number, bytes([0, body[0]]))
            self.listen(body[0])
        elif kind == STOP_INTERRUPTS:
            if transfer := self.listening.pop(body[0], None):
                device.cancel(transfer)
            self.send(INTERRUPTS, number, bytes([0, body[0]]))
        elif kind == CANCEL:
            if transfer := self.open.get(number):
                device.cancel(transfer)
        elif kind == SET_CONFIGURATION:
            device.configured = body[0]
            self.send(CONFIGURATION, number, bytes([0, body[0]]))
        elif kind == GET_CONFIGURATION:
            self.send(CONFIGURATION, number, bytes([0, device.configured]))
        elif kind == SET_ALTERNATE:
            self.send(ALTERNATE, number, bytes([0, body[0], body[1]]))
        elif kind == GET_ALTERNATE:
            self.send(ALTERNATE, number, bytes([0, body[0], 0]))
        elif kind == RESET:
            device.reset()
        else:
            self.log(f"a packet of kind {kind} is not known")

    def begin(self, number, transfer):
        told = transfer.answer
        def answer(status, data):
            self.open.pop(number, None)
            told(status, data)
        transfer.answer = answer
        self.open[number] = transfer
        self.device.submit(transfer)

    def listen(self, endpoint):
        """QEMU reads an interrupt endpoint before the guest does, one packet after the other."""
        def answer(status, data):
            if self.listening.get(endpoint) is not transfer:
                return
            self.send(INTERRUPT, 0, struct.pack("<BBH", endpoint, STATUS[status], len(data)), data)
            if status == DONE:
                asyncio.get_running_loop().call_soon(self.listen, endpoint)
        transfer = Transfer(endpoint, self.device.endpoints[endpoint][1], b"", None, answer)
        self.listening[endpoint] = transfer
        self.device.submit(transfer)

    def pulled(self):
        for transfer in [*self.open.values(), *self.listening.values()]:
            transfer.open = False
        self.writer.close()
