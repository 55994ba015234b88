#!/usr/bin/python3
"""Drives Firefox or Chromium as a person does: with clicks and keys that it cannot tell from theirs.

usage: browse.py firefox|chromium WORD...

  open ADDRESS        opens a page in the window
  fields              prints what is in the fields of the page, as JSON
  frame               the same for the page in the first frame
  choose NUMBER       opens the extension's list at the user's field, and takes the login of that number
  code                has the extension fill in a one-time code, by its icon in the field for it
  type FIELD TEXT     types a text into a field, in place of what is there
  send                presses the button of the form
  press SELECTOR      presses a button of the extension in the page, such as button#kpxc-banner-btn-new
  popup [BUTTON]      opens what a click on the extension's icon shows, presses a button there, and prints its words

Firefox listens for Marionette, and Chromium for DevTools.
"""
import base64
import http.client
import json
import os
import socket
import struct
import sys
import time

FIELDS = """return Object.fromEntries(Array.from(document.querySelectorAll("input[id]"), field => [field.id, field.value]))"""
PLACE = """const box = document.querySelector(arguments[0]).getBoundingClientRect()
return [box.x + box.width / 4, box.y + box.height / 2]"""
ICON = """const box = document.querySelector(arguments[0]).getBoundingClientRect()
return [box.right - 11, box.y + box.height / 2]"""
# What is shown, without the parts that are hidden.
WORDS = """return document.body.innerText.split(/\\s+/).join(" ")"""


class Firefox:
    """One tab, by Marionette."""

    POPUP = "moz-extension://%s/popups/popup.html"

    def __init__(self):
        self.link = socket.create_connection(("127.0.0.1", 2828))
        self.unread = b""
        self.number = 0
        self.answer()
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})

    def answer(self):
        while b":" not in self.unread:
            self.receive()
        length, rest = self.unread.split(b":", 1)
        while len(rest) < int(length):
            self.receive()
            rest = self.unread.split(b":", 1)[1]
        self.unread = rest[int(length):]
        return json.loads(rest[:int(length)])

    def receive(self):
        part = self.link.recv(65536)
        if not part:
            sys.exit("the browser has closed the connection")
        self.unread += part

    def call(self, name, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, name, parameters]).encode()
        self.link.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.answer()
        if error:
            sys.exit(f"{name}: {error['error']}: {error['message']}")
        return result

    def open(self, address):
        self.call("WebDriver:Navigate", url=address)

    def run(self, script, *arguments, sandbox="story"):
        return self.call("WebDriver:ExecuteScript", script=script, args=arguments, sandbox=sandbox)["value"]

    def in_frame(self):
        frame = self.call("WebDriver:FindElement", using="css selector", value="iframe")["value"]
        self.call("WebDriver:SwitchToFrame", element=next(iter(frame.values())))

    def click(self, x, y):
        self.act("pointer", [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}])

    def keys(self, *keys):
        named = {"Down": "\ue015", "Enter": "\ue007", "Escape": "\ue00c"}
        steps = []
        for key in keys:
            key = named.get(key, key)
            steps += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.act("key", steps)

    def act(self, kind, steps):
        self.call("WebDriver:PerformActions", actions=[{"type": kind, "id": kind, "actions": steps}])

    def place_of_button(self, selector):
        """Of a button in a closed shadow tree."""
        return self.run(
            """for (const element of document.querySelectorAll("*")) {
              const button = element.openOrClosedShadowRoot?.querySelector(arguments[0])
              if (!button) continue
              const box = button.getBoundingClientRect()
              if (box.width > 0) return [box.x + box.width / 2, box.y + box.height / 2]
            }
            return null""", selector, sandbox="system")

    def begin_popup(self):
        self.call("Marionette:SetContext", value="chrome")
        own = self.run("""return WebExtensionPolicy.getByID("keepassxc-browser@keepassxc.org").mozExtensionHostname""")
        self.call("Marionette:SetContext", value="content")
        self.page = self.call("WebDriver:GetWindowHandle")["value"]
        popup = self.call("WebDriver:NewWindow", type="tab")["handle"]
        self.call("WebDriver:SwitchToWindow", handle=popup)
        self.open(self.POPUP % own)

    def end_popup(self):
        handles = self.call("WebDriver:GetWindowHandles")
        if len(handles) > 1:
            self.call("WebDriver:CloseWindow")
        self.call("WebDriver:SwitchToWindow", handle=self.page)


class Target:
    """A page, a frame or a worker of Chromium, by the DevTools protocol over a WebSocket."""

    def __init__(self, address):
        host, path = address.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.link = socket.create_connection((name, int(port)))
        self.stream = self.link.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.link.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        while self.stream.readline() not in (b"\r\n", b""):
            pass
        self.number = 0

    def call(self, name, **parameters):
        self.number += 1
        text = json.dumps({"id": self.number, "method": name, "params": parameters}).encode()
        # One frame of text, whose mask is zero.
        self.link.sendall(b"\x81\xff" + struct.pack(">Q", len(text)) + bytes(4) + text)
        while True:
            answer = json.loads(self.message())
            if answer.get("id") != self.number:
                continue
            if "error" in answer:
                sys.exit(f"{name}: {answer['error']['message']}")
            return answer["result"]

    def message(self):
        whole = b""
        while True:
            head = self.stream.read(2)
            if len(head) < 2:
                sys.exit("the browser has closed the connection")
            length = head[1] & 0x7F
            if length == 126:
                length, = struct.unpack(">H", self.stream.read(2))
            elif length == 127:
                length, = struct.unpack(">Q", self.stream.read(8))
            part = self.stream.read(length)
            if head[0] & 0x0F in (0, 1):
                whole += part
            if head[0] & 0x80 and head[0] & 0x0F in (0, 1):
                return whole

    def run(self, script, *arguments):
        expression = f"(function() {{ {script} }})(...{json.dumps(arguments)})"
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"in the page: {result['exceptionDetails']}")
        return result["result"].get("value")


class Chromium:
    """One tab, by DevTools."""

    # The extension has this ID wherever it comes from, by the key in its manifest.
    POPUP = "chrome-extension://oboonakemofpalcgghocfoadofidjkkk/popups/popup.html"

    def __init__(self):
        self.target = self.connected("page", "http")

    def targets(self, path="/json/list", method="GET"):
        link = http.client.HTTPConnection("127.0.0.1", 9222)
        link.request(method, path)
        return json.loads(link.getresponse().read())

    def connected(self, kind, beginning):
        """To the first target of this kind whose address begins so; to a blank page where there is none."""
        found = [target for target in self.targets() if target["type"] == kind]
        found.sort(key=lambda target: not target["url"].startswith(beginning))
        if not found:
            sys.exit(f"the browser has no {kind}")
        return Target(found[0]["webSocketDebuggerUrl"])

    def open(self, address):
        # The extension takes a page that is opened once more for the same one, for which it does not ask again.
        self.go("about:blank")
        self.go(address)

    def go(self, address):
        result = self.target.call("Page.navigate", url=address)
        if "errorText" in result:
            sys.exit(f"{address}: {result['errorText']}")
        for _ in range(150):
            if self.target.run("return document.readyState") == "complete":
                return
            time.sleep(0.2)
        sys.exit(f"{address} is not there after half a minute")

    def run(self, script, *arguments):
        return self.target.run(script, *arguments)

    def in_frame(self):
        self.target = self.connected("iframe", "http")

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            pressed = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.target.call("Input.dispatchMouseEvent", type=kind, x=round(x), y=round(y), **pressed)

    def keys(self, *keys):
        named = {"Down": ("ArrowDown", 40, ""), "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, "")}
        for key in keys:
            name, code, text = named.get(key, (key, 0, key))
            what = {"key": name, "code": name if key in named else "", "windowsVirtualKeyCode": code}
            self.target.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **what)
            self.target.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def place_of_button(self, selector):
        """Of a button in a closed shadow tree."""
        whole = self.target.call("DOM.getDocument", depth=-1, pierce=True)["root"]
        nodes = [whole]
        while nodes:
            node = nodes.pop()
            nodes += node.get("children", []) + node.get("shadowRoots", [])
            for root in node.get("shadowRoots", []):
                found = self.target.call("DOM.querySelector", nodeId=root["nodeId"], selector=selector)["nodeId"]
                if not found:
                    continue
                shown = self.target.call("DOM.resolveNode", nodeId=found)["object"]["objectId"]
                box = self.target.call(
                    "Runtime.callFunctionOn", objectId=shown, returnByValue=True,
                    functionDeclaration="""function() {
                      const box = this.getBoundingClientRect()
                      return [box.x + box.width / 2, box.y + box.height / 2, box.width]
                    }""")["result"]["value"]
                if box[2] > 0:
                    return box[:2]
        return None

    def begin_popup(self):
        self.page = self.target
        self.tab = self.targets(f"/json/new?{self.POPUP}", "PUT")
        self.target = Target(self.tab["webSocketDebuggerUrl"])

    def end_popup(self):
        link = http.client.HTTPConnection("127.0.0.1", 9222)
        link.request("GET", f"/json/close/{self.tab['id']}")
        link.getresponse().read()
        self.target = self.page


name, word, *rest = sys.argv[1:]
browser = {"firefox": Firefox, "chromium": Chromium}[name]()
if word == "open":
    browser.open(*rest)
elif word == "fields":
    print(json.dumps(browser.run(FIELDS)))
elif word == "frame":
    browser.in_frame()
    print(json.dumps(browser.run(FIELDS)))
elif word == "choose":
    browser.click(*browser.run(PLACE, "#user"))
    time.sleep(1)
    browser.keys(*["Down"] * int(rest[0]), "Enter")
    time.sleep(1)
    print(json.dumps(browser.run(FIELDS)))
elif word == "code":
    browser.click(*browser.run(ICON, "#code"))
elif word == "type":
    browser.run("document.querySelector('#' + arguments[0]).value = ''", rest[0])
    browser.click(*browser.run(PLACE, f"#{rest[0]}"))
    # The extension's list would cover other fields.
    browser.keys(*rest[1], "Escape")
elif word == "send":
    browser.click(*browser.run(PLACE, "#send"))
    # Until the site has it.
    time.sleep(2)
elif word == "press":
    tries = 0
    while not (place := browser.place_of_button(rest[0])):
        tries += 1
        if tries > 50:
            sys.exit(f"the page has no button {rest[0]} of the extension")
        time.sleep(0.2)
    browser.click(*place)
elif word == "popup":
    browser.begin_popup()
    for _ in range(8):
        time.sleep(1)
        words = browser.run(WORDS)
        if words and "Checking status" not in words:
            break
    print(words)
    if rest:
        browser.click(*browser.run(PLACE, f"#{rest[0]}"))
        time.sleep(1)
    browser.end_popup()
