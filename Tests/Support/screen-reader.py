#!/usr/bin/python3
"""Reads and works a window as a screen reader does (AT-SPI), for WindowTests.

Commands come as lines of JSON arrays on standard input, and each gets one line of JSON: true, a list, or an error.

    ["wait", ROLE, NAME]        until a control of that role with that name is shown
    ["gone", ROLE, NAME]        until there is none
    ["press", ROLE, NAME]       a button
    ["click", NAME]             the middle of a label, by the pointer: rows of a list have no action
    ["type", NAME, TEXT]        into an entry, in place of what it contains
    ["texts"]                   all that is shown
    ["unnamed"]                 roles of shown controls without a name
"""

import json
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

SECONDS = 25
CONTROLS = {"push button", "button", "toggle button", "entry", "text", "password text", "check box", "combo box", "list"}


def shown(node):
    """The node and all below it that are on the screen."""
    try:
        # Libatspi keeps the states and children of objects, of which GTK does not report every change.
        node.clear_cache()
        states = node.get_state_set()
        # GTK 4.8 reports windows alone as showing, and the pages of a stack that are not on top as visible.
        if not states.contains(Atspi.StateType.VISIBLE):
            return
        yield node
        for index in range(min(node.get_child_count(), 400)):
            child = node.get_child_at_index(index)
            if child is not None:
                yield from shown(child)
    except Exception:  # The object went away meanwhile.
        return


def everything():
    desktop = Atspi.get_desktop(0)
    for index in range(desktop.get_child_count()):
        application = desktop.get_child_at_index(index)
        if application is None:
            continue
        for window in range(application.get_child_count()):
            child = application.get_child_at_index(window)
            if child is not None:
                yield from shown(child)


def text(node):
    try:
        interface = node.get_text_iface()
        return Atspi.Text.get_text(interface, 0, -1) if interface else ""
    except Exception:
        return ""


def named(node, name):
    """GTK 4.8 names a button with a mnemonic twice: "_Try Again Try Again"."""
    return name in (node.get_name(), text(node)) or node.get_name().endswith(f" {name}")


def found(role, name, sensitive=False):
    for node in everything():
        try:
            if role and node.get_role_name() != role or not named(node, name):
                continue
            if not sensitive or node.get_state_set().contains(Atspi.StateType.SENSITIVE):
                return node
        except Exception:
            continue
    return None


def until(condition):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    return None


def press(role, name):
    def attempt():
        node = found(role, name, sensitive=True)
        if node is None:
            return None
        action = node.get_action_iface()
        return action is not None and Atspi.Action.do_action(action, 0)

    return until(attempt)


def type_into(name, words):
    def attempt():
        for node in everything():
            if node.get_role_name() not in ("text", "entry", "password text"):
                continue
            names = [node.get_name(), (node.get_parent().get_name() if node.get_parent() else "")]
            if name not in names:
                continue
            editable = node.get_editable_text_iface()
            if editable is not None and Atspi.EditableText.set_text_contents(editable, words):
                return True
        return None

    return until(attempt)


def click(name):
    def attempt():
        node = found("label", name)
        place = node and node.get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        if not place or place.width <= 0:
            return None
        # The window is in the corner of a display without a window manager.
        return Atspi.generate_mouse_event(place.x + place.width // 2, place.y + place.height // 2, "b1c")

    return until(attempt)


def answer(command):
    verb, *rest = command
    if verb == "wait":
        return bool(until(lambda: found(*rest)))
    if verb == "gone":
        return bool(until(lambda: found(*rest) is None))
    if verb == "press":
        return bool(press(*rest))
    if verb == "click":
        return bool(click(*rest))
    if verb == "type":
        return bool(type_into(*rest))
    if verb == "texts":
        return [[node.get_role_name(), node.get_name() or text(node)] for node in everything()]
    if verb == "unnamed":
        return [
            node.get_role_name()
            for node in everything()
            if node.get_role_name() in CONTROLS and not node.get_name() and not text(node)
        ]
    raise ValueError(f"unknown command {verb}")


for line in sys.stdin:
    try:
        result = answer(json.loads(line))
    except Exception as error:
        result = {"error": str(error)}
    print(json.dumps(result), flush=True)
