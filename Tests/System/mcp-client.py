#!/usr/bin/python3
"""A coding agent's program: starts `whorl mcp`, makes requests, and prints each answer as a line of JSON.

usage: mcp-client.py [--only PATTERN] WORD...

The words are requests, each made after the answer to the one before: `tools` lists the tools; `list` calls list_secrets;
FILE.json calls run_with_secrets with the arguments in the file; flood=FILE.json makes that call twelve times at once, and
cancels those that have no answer after three seconds; any other is the name of a method.
"""
import json
import select
import subprocess
import sys
import time

words = sys.argv[1:]
patterns = []
while words[0] == "--only":
    patterns.append(words[1])
    words = words[2:]
server = subprocess.Popen(["whorl", "mcp", *patterns], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
last = 0
unread = b""


def send(method, parameters, is_request=True):
    global last
    message = {"jsonrpc": "2.0", "method": method, "params": parameters}
    if is_request:
        last += 1
        message["id"] = last
    server.stdin.write(json.dumps(message).encode() + b"\n")


def answer(seconds=None):
    """The next answer, or None after that time."""
    global unread
    while b"\n" not in unread:
        if not select.select([server.stdout], [], [], seconds)[0]:
            return None
        part = server.stdout.read(65536)
        if not part:
            sys.exit("whorl mcp has ended")
        unread += part
    line, unread = unread.split(b"\n", 1)
    message = json.loads(line)
    print(json.dumps(message.get("result", message.get("error")), ensure_ascii=False), flush=True)
    return message


def call(file):
    with open(file, encoding="utf-8") as arguments:
        send("tools/call", {"name": "run_with_secrets", "arguments": json.load(arguments)})


send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "story", "version": "1"}})
answer()
send("notifications/initialized", {}, is_request=False)
for word in words:
    if word.startswith("flood="):
        first = last + 1
        for _ in range(12):
            call(word.removeprefix("flood="))
        waiting = set(range(first, last + 1))
        while message := answer(3):
            waiting.remove(message["id"])
        for number in waiting:
            send("notifications/cancelled", {"requestId": number}, is_request=False)
        time.sleep(2)
        continue
    if word.endswith(".json"):
        call(word)
    elif word == "list":
        send("tools/call", {"name": "list_secrets"})
    else:
        send({"tools": "tools/list"}.get(word, word), {})
    answer()
server.stdin.close()
sys.exit(server.wait())
