"""A reader that matches on its chip, of the Prometheus family, with named fingers: it answers libfprint's driver `synaptics`.

The protocol is that of the driver's public source (libfprint 1.94, drivers/synaptics). A command is A7 and a message; an answer
is two bytes of status and a message; a message is FE, a sequence number, its type, its length, and its data. An interrupt
(bit 2) says that the reader has a message, and the driver fetches it with A8. Events have the sequence number 0."""
import asyncio
import collections
import json
import os
import random

from usb import DONE, FULL_SPEED, HIGH_SPEED, Device, Pipe

VENDOR, PRODUCT = 0x06cb, 0x00bd
COMMANDS, ANSWERS, INTERRUPTS = 0x01, 0x81, 0x83
# Errors of the chip, in two bytes, the higher first.
DENIED, UNKNOWN, BAD_TOUCH, NO_MATCH, FULL, NO_RECORD = (
    number.to_bytes(2, "big") for number in (103, 112, 213, 404, 501, 504))
ROOM = 10  # fingers
TOUCHES = 8  # in an enrolment


class MatchOnChipReader(Device):
    def __init__(self, serial, chip=None, speed=FULL_SPEED):
        vendor, product = VENDOR.to_bytes(2, "little"), PRODUCT.to_bytes(2, "little")
        device = bytes([18, 1, 0, 2, 0xff, 0x10, 0xff, 8]) + vendor + product + bytes([0, 0, 0, 0, 1, 1])
        configuration = bytes([9, 2, 39, 0, 1, 1, 0, 0xa0, 50, 9, 4, 0, 0, 3, 0xff, 0, 0, 0])
        bulk = 512 if speed == HIGH_SPEED else 64
        for endpoint, kind, size, interval in ((COMMANDS, 2, bulk, 0), (ANSWERS, 2, bulk, 0), (INTERRUPTS, 3, 8, 4)):
            configuration += bytes([7, 5, endpoint, kind]) + size.to_bytes(2, "little") + bytes([interval])
        super().__init__(device + configuration, {1: serial}, speed)
        self.chip, self.prints = chip, {}  # what the host calls a print -> the finger
        if chip and os.path.exists(chip):
            with open(chip, encoding="utf-8") as file:
                self.prints = {name.encode("latin-1"): finger for name, finger in json.load(file).items()}
        self.finger = None  # the one that rests on the sensor
        self.mute, self.garbage, self.delay = False, None, 0.02
        self.wanted = asyncio.Event()
        self.answers, self.interrupts = Pipe(), Pipe()
        self.power_up()

    def power_up(self):
        self.initialized, self.messages, self.scan = False, collections.deque(), None
        self.told = False  # the host has an interrupt for the first message
        self.wanted.clear()
        self.answers.clear()
        self.interrupts.clear()

    reset = power_up

    # Requests of the host

    def transfer(self, transfer):
        if transfer.endpoint == ANSWERS:
            self.answers.ask(transfer)
        elif transfer.endpoint == INTERRUPTS:
            self.interrupts.ask(transfer)
            self.interrupt()
        else:
            transfer.end(DONE)
            if not self.mute:
                self.command(transfer.data)

    def command(self, data):
        self.answers.clear()  # nobody fetches what was said before
        if data[:1] == b"\x01":  # version: builds, 10.1, a target, a product, the chip, a serial number, an interface
            self.say(bytes(2) + bytes.fromhex("47512a5f27f231000a01014101c100007d7f780c62120fa10000000001000000000000"))
        elif data[:1] == b"\xa8":
            self.message(*(self.messages.popleft() if self.messages else (0, 0x91, bytes([self.finger is not None]))))
            self.told = False
            self.interrupt()
        elif data[:2] == b"\xa7\xfe" and len(data) >= 5:
            number, what, length = data[2:5]
            self.asked(number, what, data[5:5 + length])

    def asked(self, number, what, rest):
        if what == 0x11:  # begin
            self.message(number, 0x12, DENIED) if self.initialized else self.message(number, 0x13, bytes(1))
            self.initialized = True
        elif what == 0xa1:  # the host is about to close the reader
            self.initialized = False
            self.message(number, 0xa2)
        elif what == 0x41:  # cancel
            self.end_scan()
            self.messages.clear()
            self.told = False
            self.message(number, 0x42)
        elif what == 0x51:  # enrol: an option, the number of a finger, the name of the print
            if len(self.prints) >= ROOM:
                self.message(number, 0x58, FULL)
            else:
                self.begin_scan("enrol", number, [rest[2:]], 0x54)
        elif what == 0x65:  # verify
            if rest in self.prints:
                self.begin_scan("verify", number, [rest], 0x66)
            else:
                self.message(number, 0x67, NO_RECORD)
        elif what == 0xe1:  # identify: how many names there are in all; how many follow, and these
            self.names, self.total = self.names_of(rest[1:]), rest[0]
            self.identify(number)
        elif what == 0xe3 and self.names is not None:  # more of them
            self.names += self.names_of(rest)
            self.identify(number)
        elif what == 0x81:  # delete: the number of a finger, the name of the print
            known = self.prints.pop(rest[1:], None)
            self.keep()
            self.message(number, 0x83) if known else self.message(number, 0x82, NO_RECORD)
        elif what == 0x84:  # delete all
            self.prints.clear()
            self.keep()
            self.message(number, 0x86)
        else:
            self.message(0, 0xc1, UNKNOWN)

    names = None

    @staticmethod
    def names_of(data):
        names, at = [], 1
        for _ in range(data[0]):
            names.append(data[at + 1:at + 1 + data[at]])
            at += 1 + data[at]
        return names

    def identify(self, number):
        if len(self.names) < self.total:
            self.message(number, 0xe2)  # the next, please
        elif not any(name in self.prints for name in self.names):
            self.message(number, 0x63, NO_RECORD)
        else:
            self.begin_scan("identify", number, self.names, 0x62)

    def keep(self):
        """Writes the chip's memory to its file."""
        if self.chip:
            with open(self.chip, "w", encoding="utf-8") as file:
                json.dump({name.decode("latin-1"): finger for name, finger in self.prints.items()}, file)

    # Messages of the reader

    def say(self, data):
        if self.mute:
            return
        if self.garbage:
            data = self.garbage(data)
        self.answers.put(data)

    def message(self, number, what, rest=b""):
        self.say(bytes(2) + bytes([0xfe, number, what, len(rest)]) + rest)

    def tell(self, number, what, rest=b""):
        """A message that is not the direct answer to a transfer."""
        self.messages.append((number, what, rest))
        self.interrupt()

    def interrupt(self):
        """Sends an interrupt for each message, and again if the host did not fetch it."""
        if self.messages and not self.told and not self.mute:
            self.told = True
            self.interrupts.put(bytes([4, 0, 0, 0, 0, 0, 0]))

    def cancel(self, transfer):
        if transfer.endpoint == INTERRUPTS:
            self.told = False
        super().cancel(transfer)

    # Scans

    def begin_scan(self, kind, number, names, ready):
        self.scan = Scan(kind, number, names)
        self.message(number, ready)
        self.wanted.set()
        if self.finger is not None:  # a finger rests on the sensor already
            asyncio.get_running_loop().create_task(self.look(self.finger, poor=False))

    def end_scan(self):
        self.scan = None
        self.wanted.clear()

    async def look(self, finger, poor):
        """Scans a finger once, and returns the result."""
        scan = self.scan
        if scan is None:
            return "cancelled"
        self.finger = finger
        self.tell(0, 0x91, b"\1")
        self.tell(scan.number, 0x60)  # it has its picture
        await asyncio.sleep(self.delay)
        if scan is not self.scan:
            return "cancelled"
        if scan.kind == "enrol":
            if not poor:
                scan.touches += 1
            progress = scan.touches * 100 // TOUCHES
            self.tell(scan.number, 0x55, bytes([progress]))
            if progress == 100:
                self.prints[scan.names[0]] = finger
                self.keep()
                self.tell(scan.number, 0x59, b"\1" + scan.names[0])
                self.end_scan()
            return f"enrolled {progress}"
        matched, failed = (0x68, 0x67) if scan.kind == "verify" else (0x64, 0x63)
        self.end_scan()
        if poor:
            self.tell(scan.number, failed, BAD_TOUCH)
            return "poor"
        for name in scan.names:
            if self.prints.get(name) == finger:
                self.tell(scan.number, matched, bytes([61, 80, 1]) + name)
                return "match"
        self.tell(scan.number, failed, NO_MATCH)
        return "no match"

    def lift(self):
        if self.finger is not None:
            self.finger = None
            self.tell(0, 0x91, b"\0")

    # Orders

    async def order(self, word, rest):
        if word in ("press", "poor", "rest"):
            finger, within = rest[0] if rest else "right-index", float(rest[1]) if rest[1:] else 30
            if word == "rest" and not self.wanted.is_set():
                self.finger = finger
                return "rests"
            try:
                await asyncio.wait_for(self.wanted.wait(), within)
            except asyncio.TimeoutError:
                return "not wanted"
            said = await self.look(finger, poor=word == "poor")
            if word != "rest":
                await asyncio.sleep(0.1)
                self.lift()
            return said
        if word == "wanted":
            try:
                await asyncio.wait_for(self.wanted.wait(), float(rest[0]) if rest else 30)
            except asyncio.TimeoutError:
                return "not wanted"
            return self.scan.kind if self.scan else "not wanted"
        if word == "lift":
            self.lift()
            return "lifted"
        if word == "mute":
            self.mute = True
            return "mute"
        if word == "delay":  # seconds between the picture of a finger and the answer
            self.delay = float(rest[0])
            return f"delay {self.delay}"
        if word == "garbage":
            self.garbage = GARBAGE[rest[0]](random.Random(int(rest[1]) if rest[1:] else 0))
            return "garbage"
        if word == "well":
            self.mute, self.garbage, self.delay = False, None, 0.02
            self.power_up()
            return "well"
        if word == "prints":
            return str(len(self.prints))
        if word == "forget":  # another reader has an empty chip
            self.prints.clear()
            self.keep()
            return "forgotten"
        return None


class Scan:
    def __init__(self, kind, number, names):
        self.kind, self.number, self.names, self.touches = kind, number, names, 0


# Invalid answers.
GARBAGE = {
    "random": lambda dice: lambda data: dice.randbytes(dice.randint(1, 64)),
    "short": lambda dice: lambda data: data[:dice.randint(0, len(data) - 1)],
    "length": lambda dice: lambda data: data[:5] + bytes([dice.randint(0, 255)]) + data[6:],
    "bits": lambda dice: lambda data: flipped(data, dice),
}


def flipped(data, dice):
    data = bytearray(data)
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data)
