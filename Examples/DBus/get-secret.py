#!/usr/bin/python3
"""Reads a secret from Whorl over D-Bus, in Python with jeepney (Debian: python3-jeepney).

usage: get-secret.py [--store FOLDER READER] SERVICE[/ACCOUNT]

Without --store it asks the system service. With --store it starts a vault of its own on a private store; WHORLD then
names the program whorld if it is in another place than /usr/libexec/whorl. The interface is described in
data/dbus/org.whorl.Vault1.xml, which is installed as /usr/share/dbus-1/interfaces/org.whorl.Vault1.xml.
"""

import array
import fcntl
import getpass
import os
import socket
import subprocess
import sys

from jeepney import DBusAddress, HeaderFields, MessageType, Parser, new_method_call
from jeepney.auth import BEGIN, Authenticator
from jeepney.fds import FileDescriptor, fds_buf_size

# jeepney requires the name of a service. There is no message bus between the two, so the name is not used.
VAULT = DBusAddress("/org/whorl/Vault", bus_name="org.whorl.Vault1", interface="org.whorl.Vault1")
# fcntl.h
F_ADD_SEALS, ALL_SEALS = 1033, 1 | 2 | 4 | 8


class Refused(Exception):
    """The vault has answered with an error."""


class Vault:
    """One connection to a vault."""

    def __init__(self, link):
        self.link = link
        self.parser = Parser()
        self.serial = 0
        self.calls = 0
        authentication = Authenticator(enable_fds=True)
        for line in authentication:
            link.sendall(line)
            authentication.feed(link.recv(1024))
        link.sendall(BEGIN)

    def send(self, method, signature, *arguments):
        """Sends a call. The first argument of every method is a number that is chosen here for this call alone."""
        self.serial += 1
        self.calls += 1
        message = new_method_call(VAULT, method, "t" + signature, (self.calls, *arguments))
        descriptors = array.array("i")
        data = message.serialise(serial=self.serial, fds=descriptors)
        sent = self.link.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)] if descriptors else [])
        self.link.sendall(data[sent:])
        return self.serial

    def receive(self):
        while (message := self.parser.get_next_message()) is None:
            data, ancillary, _, _ = self.link.recvmsg(self.parser.bytes_desired(), fds_buf_size())
            if not data:
                raise Refused("the vault has closed the connection")
            self.parser.add_data(data, FileDescriptor.from_ancdata(ancillary))
        return message

    def call(self, method, signature="", *arguments, on_event=None):
        """Calls a method and gives its results. Events that come before the answer go to `on_event`."""
        serial = self.send(method, signature, *arguments)
        while True:
            message = self.receive()
            fields = message.header.fields
            kind = message.header.message_type
            if kind is MessageType.signal and fields[HeaderFields.member] == "Event" and on_event:
                on_event(*message.body)
            elif fields.get(HeaderFields.reply_serial) == serial and kind is MessageType.error:
                name = fields[HeaderFields.error_name].rpartition(".")[2]
                raise Refused(f"{name}: {message.body[0] if message.body else ''}")
            elif fields.get(HeaderFields.reply_serial) == serial:
                return message.body


def connect(store):
    """The socket of the service, or of a vault of one's own."""
    if store is None:
        link = socket.socket(socket.AF_UNIX)
        link.connect("/run/whorl/bus")
        return link
    link, other = socket.socketpair(socket.AF_UNIX)
    subprocess.Popen([os.environ.get("WHORLD", "/usr/libexec/whorl/whorld"), "--private"], stdin=other)
    other.close()
    return link


def sealed(secret):
    """A file in memory that nobody can change any more; secrets cross in such files alone."""
    descriptor = os.memfd_create("secret", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(descriptor, secret)
    fcntl.fcntl(descriptor, F_ADD_SEALS, ALL_SEALS)
    return descriptor


def answer(vault, context, number, kind, details):
    """Does what an event asks for."""
    if kind == "touch-wanted":
        nature = details["reader"][1]["nature"][1]
        print("Touch the reader" + (f" ({nature} reader)" if nature != "physical" else ""), file=sys.stderr, flush=True)
        # The reader is armed once the prompt is shown.
        vault.send("Respond", "aysxah", context, "ready", number, [])
    elif kind == "no-match":
        print(f"No match, {details['remaining'][1]} tries left", file=sys.stderr, flush=True)
    elif kind == "secret-wanted" and details["secret"][1] == "passcode":
        descriptor = sealed(getpass.getpass("Passcode: ").encode())
        vault.send("Respond", "aysxah", context, "secret", number, [descriptor])
        os.close(descriptor)
    elif kind == "secret-wanted":
        vault.send("Respond", "aysxah", context, "decline", number, [])


def main():
    words = sys.argv[1:]
    store = None
    if words[:1] == ["--store"] and len(words) == 4:
        store, words = words[1:3], words[3:]
    if len(words) != 1:
        sys.exit(__doc__.split("\n\n")[1])
    service, _, account = words[0].partition("/")

    vault = Vault(connect(store))
    vault.call("Hello", "uas", 0, [])
    # No entry means the caller's own store in the service.
    place = {}
    if store is not None:
        place = {"directory": ("ay", os.fsencode(store[0])), "reader": ("ay", store[1].encode())}
    vault.call("Open", "a{sv}", place)

    options = {
        "interaction-not-allowed": ("b", False),
        "prefer-passcode": ("b", False),
        "passcode-supplied": ("b", False),
        "fallback": ("s", "at-once"),
        "keeps-evidence": ("b", False),
        "reuse": ("x", 0),
    }
    (context,) = vault.call("OpenContext", "a{sv}", options)
    names = {"names": ("a(ayay)", [(service.encode(), account.encode())])}
    asking = {"context": ("ay", context), "reason": ("ay", b"show a secret")}
    items, files = vault.call(
        "Secrets", "a{sv}a{sv}", names, asking, on_event=lambda *event: answer(vault, *event)
    )
    # One file has all secrets; each item says where its own is.
    descriptor = files[0].to_raw_fd()
    for _, offset, count in items:
        sys.stdout.buffer.write(os.pread(descriptor, count, offset))


if __name__ == "__main__":
    try:
        main()
    except (Refused, OSError) as problem:
        sys.exit(f"get-secret: {problem}")
