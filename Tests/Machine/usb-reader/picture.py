"""A reader that sends images, of the family U.are.U 4000, for libfprint's driver `uru4000`: a finger is a PNG file in 8-bit grey,
with dark ridges on white at about 500 dpi.

The protocol is that of the driver's public source (libfprint 1.94, drivers/uru4000.c). The host reads and writes registers by
control transfers; an interrupt of 64 bytes says that the sensor has power, or that a finger was put on or lifted; an image is
a header of 64 bytes and lines of 384 pixels, light ridges on dark. It is not scrambled, which the driver recognizes by the
first two lines: they are uniform."""
import asyncio
import struct
import zlib

from usb import DONE, FULL_SPEED, Device, Pipe

VENDOR, PRODUCT = 0x05ba, 0x0007
INTERRUPTS, PICTURES = 0x81, 0x82
POWER, MODE, INFORMATION = 0x07, 0x4e, 0xf0  # registers
AWAIT_FINGER, AWAIT_LIFT, CAPTURE, OFF = 0x10, 0x12, 0x20, 0x70  # modes
POWERED, FINGER_ON, FINGER_OFF = 0x56aa, 0x0101, 0x0200  # interrupts
WIDTH, HEIGHT = 384, 289
LOW_POWER = 0x80


class PictureReader(Device):
    def __init__(self, serial):
        device = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0110, 255, 255, 255, 8, VENDOR, PRODUCT, 0x0100, 1, 2, 3, 1)
        configuration = bytes([9, 2, 32, 0, 1, 1, 0, 0xa0, 50, 9, 4, 0, 0, 2, 255, 255, 255, 0])
        for endpoint, kind, size, interval in ((INTERRUPTS, 3, 64, 10), (PICTURES, 2, 64, 0)):
            configuration += bytes([7, 5, endpoint, kind, size, 0, interval])
        super().__init__(device + configuration, {1: "-", 2: "a reader of pictures", 3: serial}, FULL_SPEED)
        self.finger = None  # the picture of the one that rests on the sensor
        self.interrupts, self.pictures = Pipe(), Pipe()
        self.wanted = asyncio.Event()
        self.reset()

    def reset(self):
        self.power, self.mode = LOW_POWER | 1, OFF
        self.wanted.clear()
        self.interrupts.clear()
        self.pictures.clear()

    def transfer(self, transfer):
        (self.interrupts if transfer.endpoint == INTERRUPTS else self.pictures).ask(transfer)

    def control(self, transfer):
        kind, _, register, _, length = struct.unpack("<BBHHH", transfer.setup)
        if kind & 0x80:
            transfer.end(DONE, bytes([self.power]) if register == POWER else bytes(length))
            return
        transfer.end(DONE)
        if register == POWER:
            woken = self.power & LOW_POWER and not transfer.data[0] & LOW_POWER
            self.power = transfer.data[0]
            if woken:
                self.interrupt(POWERED)
        elif register == MODE:
            self.enters(transfer.data[0])

    def enters(self, mode):
        self.mode = mode
        self.wanted.clear()
        if mode == AWAIT_FINGER:
            if self.finger is not None:
                self.interrupt(FINGER_ON)
            else:
                self.wanted.set()
        elif mode == CAPTURE and self.finger is not None:
            self.pictures.put(self.finger)
        elif mode == AWAIT_LIFT and self.finger is None:
            self.interrupt(FINGER_OFF)
        elif mode == OFF:
            self.interrupts.clear()
            self.pictures.clear()

    def interrupt(self, what):
        self.interrupts.put(struct.pack(">H", what).ljust(64, b"\0"))

    def lift(self):
        self.finger = None
        if self.mode == AWAIT_LIFT:
            self.interrupt(FINGER_OFF)

    async def order(self, word, rest):
        if word in ("press", "rest"):
            picture = sent(rest[0])
            if word == "press":
                try:
                    await asyncio.wait_for(self.wanted.wait(), float(rest[1]) if rest[1:] else 30)
                except asyncio.TimeoutError:
                    return "not wanted"
            self.finger = picture
            if self.wanted.is_set():
                self.wanted.clear()
                self.interrupt(FINGER_ON)
            if word == "rest":
                return "rests"
            for _ in range(100):  # until the host has the picture
                if self.mode in (AWAIT_LIFT, OFF):
                    break
                await asyncio.sleep(0.05)
            self.lift()
            return "pressed"
        if word == "lift":
            self.lift()
            return "lifted"
        if word == "wanted":
            try:
                await asyncio.wait_for(self.wanted.wait(), float(rest[0]) if rest else 30)
            except asyncio.TimeoutError:
                return "not wanted"
            return "wanted"
        return None


def sent(path):
    """The data for the image in a file: in the middle of the sensor, and upside down, as the sensor sees it."""
    with open(path, "rb") as file:
        width, lines = grey(file.read())
    blank = bytes(WIDTH)
    left, above = max(0, (WIDTH - width) // 2), max(2, (HEIGHT - len(lines)) // 2)
    rows = [blank] * above + [
        (bytes(left) + bytes(255 - pixel for pixel in line))[:WIDTH].ljust(WIDTH, b"\0") for line in lines]
    rows = (rows + [blank] * HEIGHT)[:HEIGHT]
    blocks = [20] * 14 + [9]  # lines, in blocks that are all there and not scrambled
    head = bytes(4) + struct.pack("<HB", HEIGHT, 0) + bytes(9) + b"".join(bytes([0, count]) for count in blocks)
    return head.ljust(64, b"\0") + b"".join(rows)


def grey(data):
    """The lines of a non-interlaced PNG file in 8-bit grey."""
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            if (depth, color, interlaced) != (8, 0, 0):
                raise ValueError("not a PNG file in 8-bit grey")
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    data, lines, before = zlib.decompress(packed), [], bytearray(width)
    for row in range(height):
        filter_, line = data[row * (width + 1)], bytearray(data[row * (width + 1) + 1:(row + 1) * (width + 1)])
        for i in range(width):
            left, up, corner = (line[i - 1], before[i], before[i - 1]) if i else (0, before[0], 0)
            line[i] = line[i] + (0, left, up, (left + up) // 2, nearest(left, up, corner))[filter_] & 255
        lines.append(bytes(line))
        before = line
    return width, lines


def nearest(left, up, corner):
    """The Paeth predictor of the PNG specification."""
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
