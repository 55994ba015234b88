#!/usr/bin/env python3
"""A disk that simulates a loss of power: an NBD server that discards unflushed writes on order.

usage: disk.py SOCKET ORDERS MEGABYTES

Writes are permanent only after a flush. A line `cut N SECONDS SEED` on the socket ORDERS simulates a loss of power after N more
writes, or after so many seconds: each sector that was written since the last flush is kept or lost at random, independent of
the order of the writes. The answer says how many were lost. The disk is then off and accepts no client until the line `power`."""
import asyncio
import random
import struct
import sys

SECTOR = 4096  # what a disk writes whole, as file systems expect
READ, WRITE, END, FLUSH, TRIM = range(5)
# The export's flags: HAS_FLAGS, SEND_FLUSH and SEND_FUA.
FLAGS = 1 | 4 | 8


class Disk:
    def __init__(self, size):
        self.kept, self.cache = bytearray(size), {}
        self.writes, self.dead = None, asyncio.Event()  # writes until the cut, where one is ordered

    def read(self, offset, length):
        data = bytearray(self.kept[offset:offset + length])
        for sector in range(offset // SECTOR, -(-(offset + length) // SECTOR)):
            if sector in self.cache:
                data[sector * SECTOR - offset:(sector + 1) * SECTOR - offset] = self.cache[sector]
        return data

    def write(self, offset, data):
        for at in range(0, len(data), SECTOR):
            self.cache[(offset + at) // SECTOR] = data[at:at + SECTOR]
        if self.writes is not None:
            self.writes -= 1
            if self.writes == 0:
                self.dead.set()

    def flush(self):
        for sector, data in self.cache.items():
            self.kept[sector * SECTOR:(sector + 1) * SECTOR] = data
        self.cache.clear()

    async def cut(self, writes, seconds, seed):
        self.writes = writes
        try:
            await asyncio.wait_for(self.dead.wait(), seconds)
        except asyncio.TimeoutError:
            self.dead.set()
        self.writes = None
        dice = random.Random(seed)
        written = len(self.cache)
        for sector in [sector for sector in self.cache if dice.random() < 0.5]:
            del self.cache[sector]
        lost = written - len(self.cache)
        self.flush()
        return f"{lost} of {written} sectors lost"


async def negotiate(reader, writer, size):
    """The fixed new style of the NBD protocol, with one export and no structured replies."""
    writer.write(b"NBDMAGICIHAVEOPT" + struct.pack(">H", 3))
    await reader.readexactly(4)
    while True:
        _, option, length = struct.unpack(">QII", await reader.readexactly(16))
        await reader.readexactly(length)
        answer = lambda kind, data=b"": writer.write(struct.pack(">QIII", 0x3e889045565a9, option, kind, len(data)) + data)
        if option == 2:  # the client gives up
            answer(1)
            return False
        if option in (6, 7):  # what there is, and to go
            answer(3, struct.pack(">HQH", 0, size, FLAGS))
            answer(3, struct.pack(">HIII", 3, SECTOR, 4096, 1 << 25))
            answer(1)
            if option == 7:
                return True
        else:
            answer(0x80000001)


async def serve(disk, reader, writer):
    # QEMU connects again by itself.
    if disk.dead.is_set() or not await negotiate(reader, writer, len(disk.kept)):
        return
    while True:
        _, flags, kind, cookie, offset, length = struct.unpack(">IHHQQI", await reader.readexactly(28))
        data = b""
        if kind == END:
            return
        if kind == READ:
            data = disk.read(offset, length)
        elif kind == WRITE:
            disk.write(offset, await reader.readexactly(length))
        if disk.dead.is_set():
            return
        if kind == FLUSH or flags & 1:
            disk.flush()
        writer.write(struct.pack(">IIQ", 0x67446698, 0, cookie) + data)
        await writer.drain()


async def main(path, orders, megabytes):
    disk = Disk(int(megabytes) << 20)

    async def client(reader, writer):
        try:
            await serve(disk, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    async def order(reader, writer):
        word, *numbers = (await reader.readline()).split()
        if word == b"cut":
            writes, seconds, seed = numbers
            writer.write((await disk.cut(int(writes), float(seconds), int(seed))).encode() + b"\n")
        else:
            disk.dead.clear()
            writer.write(b"on\n")
        writer.close()

    await asyncio.start_unix_server(client, path)
    await asyncio.start_unix_server(order, orders)
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
