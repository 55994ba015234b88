#!/usr/bin/python3
"""Asks polkit for an action, answers its questions as the agent of a desktop does, and prints them.

usage: polkit-agent.py ACTION ANSWERS

ANSWERS are separated by commas, and each answers the next prompt: FINGER:PERSON presses that finger on the virtual reader of
$SENSOR, any other is typed. The status is 0 if polkit has allowed the action.
"""
import os
import pwd
import socket
import subprocess
import sys

from jeepney import DBusAddress, MessageType, new_method_call, new_method_return
from jeepney.io.blocking import open_dbus_connection

HELPER, SOCKET = "/usr/lib/polkit-1/polkit-agent-helper-1", "/run/polkit/agent-helper.socket"
AUTHORITY = DBusAddress(
    "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1", "org.freedesktop.PolicyKit1.Authority")
action, answers = sys.argv[1], sys.argv[2].split(",")
presses = []


def start_helper(user, cookie):
    """The helper's input and output, as polkit's library starts it: by systemd's socket where there is one."""
    if os.path.exists(SOCKET):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(SOCKET)
        peer.sendall(f"{user}\n{cookie}\n".encode())
        return peer.makefile("wb", 0), peer.makefile("rb")
    helper = subprocess.Popen([HELPER, user], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    helper.stdin.write(f"{cookie}\n".encode())
    return helper.stdin, helper.stdout


def answer(typed):
    word = answers.pop(0) if answers else sys.exit("polkit-agent.py: there is no answer")
    if ":" in word:
        finger, person = word.split(":")
        press = ["whorl-finger", "press", finger, "--person", person, "--socket", os.environ["SENSOR"]]
        presses.append(subprocess.Popen(press))
    else:
        typed.write(word.encode() + b"\n")


def authenticate(user, cookie):
    typed, said = start_helper(user, cookie)
    for line in said:
        print(line.decode().rstrip(), flush=True)
        if line.startswith((b"SUCCESS", b"FAILURE")):
            return
        if line.startswith(b"PAM_PROMPT") or b"No match, " in line:
            answer(typed)


with open("/proc/self/stat", encoding="ascii") as file:
    started = int(file.read().rpartition(")")[2].split()[19])
subject = ("unix-process", {"pid": ("u", os.getpid()), "start-time": ("t", started)})
bus = open_dbus_connection(bus="SYSTEM")
register = new_method_call(
    AUTHORITY, "RegisterAuthenticationAgent", "(sa{sv})ss", (subject, "C", "/org/whorl/tests/Agent"))
reply = bus.send_and_get_reply(register)
if reply.header.message_type == MessageType.error:
    sys.exit(f"polkit-agent.py: {reply.body}")
check = subprocess.Popen(
    ["pkcheck", "--allow-user-interaction", "--process", str(os.getpid()), "--action-id", action])
while check.poll() is None:
    try:
        message = bus.receive(timeout=0.2)
    except TimeoutError:
        continue
    if message.header.message_type != MessageType.method_call:
        continue
    # The fields have numbers in jeepney: 3 is the member.
    if message.header.fields.get(3) == "BeginAuthentication":
        cookie, identities = message.body[4], message.body[5]
        users = [details["uid"][1] for kind, details in identities if kind == "unix-user"]
        authenticate(pwd.getpwuid(users[0]).pw_name, cookie)
    bus.send(new_method_return(message))
for press in presses:
    press.kill()
    press.wait()
sys.exit(check.returncode)
