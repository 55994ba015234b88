#!/usr/bin/python3
"""A program that says to be a browser: starts browser-whorl, and makes requests in the protocol of KeePassXC-Browser.

usage: browser-thief.py WORD...

  associate        asks to be connected
  as NAME          says to be connected under a name, with a key of its own
  logins ADDRESS   asks for the logins of a page

Each answer is printed as a line of JSON.
"""
import base64
import ctypes
import json
import os
import struct
import subprocess
import sys

sodium = ctypes.CDLL("libsodium.so.23")


def pair():
    public, private = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    sodium.crypto_box_keypair(public, private)
    return public.raw, private.raw


def encoded(data):
    return base64.b64encode(data).decode()


host = subprocess.Popen(["browser-whorl", "manifest", "keepassxc-browser@keepassxc.org"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
public, private = pair()
identity = encoded(pair()[0])


def exchange(message):
    text = json.dumps(message).encode()
    host.stdin.write(struct.pack("=I", len(text)) + text)
    host.stdin.flush()
    length, = struct.unpack("=I", host.stdout.read(4))
    return json.loads(host.stdout.read(length))


def ask(action, **fields):
    """Seals a request, and opens the answer."""
    text = json.dumps({"action": action, **fields}).encode()
    nonce, sealed = os.urandom(24), ctypes.create_string_buffer(len(text) + 16)
    sodium.crypto_box_easy(sealed, text, ctypes.c_ulonglong(len(text)), nonce, whorl, private)
    answer = exchange({"action": action, "message": encoded(sealed.raw), "nonce": encoded(nonce), "clientID": "thief"})
    if "message" in answer:
        sealed, nonce = base64.b64decode(answer["message"]), base64.b64decode(answer["nonce"])
        opened = ctypes.create_string_buffer(len(sealed) - 16)
        if sodium.crypto_box_open_easy(opened, sealed, ctypes.c_ulonglong(len(sealed)), nonce, whorl, private):
            sys.exit("the answer is not sealed for this program")
        answer = json.loads(opened.raw)
    print(json.dumps(answer, ensure_ascii=False), flush=True)


whorl = base64.b64decode(exchange({
    "action": "change-public-keys", "publicKey": encoded(public), "nonce": encoded(os.urandom(24)),
    "clientID": "thief"})["publicKey"])
words = iter(sys.argv[1:])
for word in words:
    if word == "associate":
        ask("associate", key=encoded(public), idKey=identity)
    elif word == "as":
        ask("test-associate", id=next(words), key=identity)
    else:
        address = next(words)
        ask("get-logins", url=address, submitUrl=address, keys=[])
