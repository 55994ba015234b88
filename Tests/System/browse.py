#!/usr/bin/python3
"""Drives Firefox as a person does: with clicks and keys that it cannot tell from theirs.

usage: browse.py WORD...

  open ADDRESS        opens a page in the window
  fields              prints what is in the fields of the page, as JSON
  frame               the same for the page in the first frame
  choose NUMBER       opens the extension's list at the user's field, and takes the login of that number
  code                has the extension fill in a one-time code, by its icon in the field for it
  type FIELD TEXT     types a text into a field, in place of what is there
  send                presses the button of the form
  press SELECTOR      presses a button of the extension in the page, such as button#kpxc-banner-btn-new
  popup [BUTTON]      opens what a click on the extension's icon shows, presses a button there, and prints its words

Firefox listens for Marionette.
"""
import json
import socket
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


browser = Firefox()
word, *rest = sys.argv[1:]
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
