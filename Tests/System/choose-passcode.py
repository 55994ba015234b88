#!/usr/bin/python3
"""Sets for the user that the login password is the passcode, by adding that entry of the login to the user's store."""
import array
import fcntl
import os
import socket

from jeepney import DBusAddress, MessageType, Parser, new_method_call
from jeepney.auth import BEGIN, Authenticator

# fcntl.h
F_ADD_SEALS, ALL_SEALS = 1033, 1 | 2 | 4 | 8
VAULT = DBusAddress("/org/whorl/Vault", bus_name="org.whorl.Vault1", interface="org.whorl.Vault1")

link = socket.socket(socket.AF_UNIX)
link.connect("/run/whorl/bus")
authentication = Authenticator(enable_fds=True)
for line in authentication:
    link.sendall(line)
    authentication.feed(link.recv(1024))
link.sendall(BEGIN)
parser = Parser()


def call(number, method, signature, *arguments):
    fds = array.array("i")
    message = new_method_call(VAULT, method, "t" + signature, (number, *arguments))
    data = message.serialise(serial=number, fds=fds)
    socket.send_fds(link, [data], list(fds))
    while (answer := parser.get_next_message()) is None:
        parser.add_data(link.recv(4096), [])
    if answer.header.message_type is MessageType.error:
        raise SystemExit(str(answer.body))


def text(word):
    return ("text", ("ay", word))


empty = os.memfd_create("secret", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
fcntl.fcntl(empty, F_ADD_SEALS, ALL_SEALS)
item = {
    "class": ("s", "genp"),
    "attributes": ("a(ay(sv))", [(b"agrp", text(b"org.whorl.login")), (b"svce", text(b"passcode"))]),
    "access": ("t", 0),
    "accessible": ("s", "after-first-unlock"),
}
call(1, "Hello", "uas", 0, [])
call(2, "Open", "a{sv}", {})
call(3, "Add", "a{sv}hba{sv}", item, empty, False, {})
