"""python-fido2 over the socket of Whorl's authenticator, as a plugin of pytest: `-p whorl_socket`.

The suites look for a device of the kernel. With this they find one whose reports go through the socket that
WHORL_CTAP_SOCKET names. Version 0.8 of python-fido2 is for the older suite, 2 for the others.
"""

import itertools
import os
import socket
import sys
import types

import fido2


class Reports:
    """A connection that carries reports of 64 bytes. The authenticator serves one client: a forgotten one goes."""

    last = None
    # Whether the suite waits for a report.
    waits = False

    def __init__(self):
        if Reports.last:
            Reports.last.close()
        Reports.last = self
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(os.environ["WHORL_CTAP_SOCKET"])
        self.socket.settimeout(10)

    def read(self):
        report = b""
        self.waits = True
        try:
            while len(report) < 64:
                part = self.socket.recv(64 - len(report))
                if not part:
                    raise OSError("the authenticator has gone")
                report += part
        finally:
            self.waits = False
        return report

    def write(self, report):
        self.socket.sendall(report)

    def close(self):
        self.socket.close()


def use_current_library():
    import fido2.hid
    from fido2.hid.base import CtapHidConnection, HidDescriptor

    class Connection(CtapHidConnection):
        def __init__(self, descriptor):
            self.reports = Reports()

        def read_packet(self):
            return self.reports.read()

        def write_packet(self, data):
            self.reports.write(data)

        def close(self):
            self.reports.close()

    def descriptor(path=None):
        return HidDescriptor(path or "whorl", 0x1209, 1, 64, 64, "Whorl passkeys", "1")

    looks = itertools.count()

    def list_descriptors():
        # A suite that asks a person to take the key out and to plug it in finds it gone at every other look, but not while
        # it waits for the key's answer, such as for a touch.
        if not os.environ.get("WHORL_CTAP_REPLUGS") or Reports.last and Reports.last.waits:
            return [descriptor()]
        return [] if next(looks) % 2 else [descriptor()]

    from fido2.ctap2.pin import ClientPin

    # Where a suite sets a PIN and asks for a token with it, a finger is asked for: Whorl has no PIN. A token without a site
    # is for the management of passkeys alone.
    def token(self, pin, permissions=None, site=None):
        management = ClientPin.PERMISSION.CREDENTIAL_MGMT
        alone = not site and (permissions is None or permissions & management)
        return self.get_uv_token(management if alone else permissions, site)

    ClientPin.is_supported = staticmethod(lambda info: True)
    ClientPin.set_pin = lambda self, pin: None
    ClientPin.get_pin_token = token

    fido2.hid.list_descriptors = list_descriptors
    fido2.hid.get_descriptor = descriptor
    fido2.hid.open_connection = Connection


def use_old_library():
    import fido2._pyu2f
    import fido2._pyu2f.base

    restart = b"\xac\x10\x52\xca\x95\xe5\x69\xde"  # with which the suite restarts the device that it simulates

    class Device(fido2._pyu2f.base.HidDevice):
        @staticmethod
        def Enumerate():
            return [{"vendor_id": 0x1209, "product_id": 1, "product_string": "Whorl passkeys", "serial_number": "1",
                     "usage": 1, "usage_page": 0xF1D0, "path": "whorl"}]

        def __init__(self, path):
            self.channels = 0
            self.reports = Reports()

        def GetInReportDataLength(self):
            return 64

        def GetOutReportDataLength(self):
            return 64

        def Read(self):
            return list(self.reports.read())

        def Write(self, packet):
            packet = bytes(bytearray(packet))
            if packet.startswith(restart):
                self.reports = Reports()
                for _ in range(self.channels):
                    self.reports.write(b"\xff\xff\xff\xff\x86\x00\x08" + bytes(57))
                    self.reports.read()
                return
            self.channels += packet[:5] == b"\xff\xff\xff\xff\x86"
            self.reports.write(packet)

    def switch(name, *arguments):
        return Device(*arguments) if name == "__init__" else getattr(Device, name)(*arguments)

    # The suite takes its simulation from a package of Solo's.
    sys.modules["solo"] = types.ModuleType("solo")
    sys.modules["solo.fido2"] = types.ModuleType("solo.fido2")
    sys.modules["solo.fido2"].force_udp_backend = lambda: setattr(fido2._pyu2f, "InternalPlatformSwitch", switch)


def leave_out_smart_cards():
    """One suite does not start without a library for smart cards, which its tests of FIDO do not use."""
    for name, members in {
        "": [], ".CardType": ["AnyCardType"], ".CardRequest": ["CardRequest"],
        ".Exceptions": ["CardRequestTimeoutException", "CardConnectionException"],
    }.items():
        module = types.ModuleType("smartcard" + name)
        for member in members:
            setattr(module, member, type(member, (Exception,), {}))
        sys.modules.setdefault("smartcard" + name, module)


leave_out_smart_cards()
use_old_library() if hasattr(fido2, "__version__") else use_current_library()
