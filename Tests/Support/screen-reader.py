#!/usr/bin/python3
"""Reads and works a window as a screen reader does (AT-SPI), for WindowTests and the stories.

Steps come as lines of JSON arrays on standard input, and each gets a line of JSON on standard output. The first step that
cannot be done within its time ends the program with status 1, and standard error says what there was instead.

    ["see", NAME]               waits until something has that name or text
    ["gone", NAME]              waits until nothing has it
    ["unusable", NAME]          waits until a button has that name, and none that can be used
    ["press", NAME]             a button, or another control with an action
    ["click", NAME]             the middle of a label, by the pointer: rows of a list have no action
    ["page", NAME]              the same in the list of the window's pages
    ["key", KEYSYM]             a key of the keyboard, by its number in X
    ["type", NAME, TEXT]        into an entry, in place of what it contains
    ["texts"]                   all names and texts in the windows, also on pages that are not on top
    ["unnamed"]                 roles of controls without a name
    ["unreached"]               names of controls that can be used, and do not get the focus by Tab
    ["outside"]                 names of what reaches over the sides of its window
    ["wide"]                    the largest width of a window, in pixels
"""

import json
import os
import subprocess
import sys
import time
import warnings

import gi

# Newer versions of the library have other names for what Debian 12 has.
warnings.simplefilter("ignore")
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

# In milliseconds. Beside other work of the machine a window answers later than the library waits by itself.
Atspi.set_timeout(5_000, 15_000)
SECONDS = int(os.environ.get("PATIENCE", "20"))
TAB = 65289
BUTTONS = {"push button", "button", "toggle button", "check box", "switch", "menu item"}
ENTRIES = {"text", "entry", "password text", "spin button"}
CONTROLS = BUTTONS | ENTRIES | {"combo box", "list"}


def below(node):
    """The node and all below it, except what is hidden."""
    try:
        # The library keeps states and children of objects, of which GTK does not report every change.
        node.clear_cache()
        # GTK 4.8 reports windows alone as showing, and the pages of a stack that are not on top as visible.
        if not node.get_state_set().contains(Atspi.StateType.VISIBLE):
            return
        yield node
        for index in range(min(node.get_child_count(), 200)):
            child = node.get_child_at_index(index)
            if child is not None:
                yield from below(child)
    except gi.repository.GLib.Error:
        return  # The object went away meanwhile.


def above(node):
    """The same from the end: messages over a page come before it, and a page that was made later before an earlier one."""
    try:
        node.clear_cache()
        if not node.get_state_set().contains(Atspi.StateType.VISIBLE):
            return
        for index in reversed(range(min(node.get_child_count(), 200))):
            child = node.get_child_at_index(index)
            if child is not None:
                yield from above(child)
        yield node
    except gi.repository.GLib.Error:
        return  # The object went away meanwhile.


def windows():
    desktop = Atspi.get_desktop(0)
    for index in range(desktop.get_child_count()):
        application = desktop.get_child_at_index(index)
        for window in range(application.get_child_count() if application else 0):
            child = application.get_child_at_index(window)
            if child is not None:
                yield child


def everything():
    for window in windows():
        yield from below(window)


def text(node):
    interface = node.get_text_iface()
    return Atspi.Text.get_text(interface, 0, -1) if interface else ""


def named(node, name):
    """GTK 4.8 names a button with a mnemonic twice: "_Try Again Try Again"."""
    own = node.get_name()
    return name == own or own.replace("_", "", 1) == f"{name} {name}" or name == text(node)


def found(name, roles=None):
    """An object of these roles, or of any, that has this name and can be used. A dialog's comes before one of the window
    that it is over, and one of a page that was made later before that of an earlier one, which is not on top. What
    has not been on top has no width."""
    for window in reversed(list(windows())):
        for node in above(window):
            try:
                if roles and node.get_role_name() not in roles or not named(node, name):
                    continue
                if not roles:
                    return node
                if node.get_state_set().contains(Atspi.StateType.SENSITIVE) and place(node).width > 0:
                    return node
            except gi.repository.GLib.Error:
                continue
    return None


def place(node):
    return node.get_component_iface().get_extents(Atspi.CoordType.WINDOW)


def press(name):
    node = found(name, BUTTONS)
    return node is not None and Atspi.Action.do_action(node.get_action_iface(), 0)


def unusable(name):
    return found(name) is not None and found(name, BUTTONS) is None


def labels(name, nodes):
    return (node for node in nodes if node.get_role_name() == "label" and named(node, name))


def click(name):
    # The first one: a row of a list comes before the details that it opens, which have the same name.
    return click_on(next(labels(name, everything()), None))


def page(name):
    pages = next((node for node in everything() if node.get_role_name() == "list" and named(node, "Pages")), None)
    return click_on(next(labels(name, below(pages)), None)) if pages else False


def click_on(node):
    if node is None:
        return False
    # A page that still moves takes no click.
    area = place(node)
    time.sleep(0.5)
    rests = (area.x, area.y) == (place(node).x, place(node).y)
    return rests and area.width > 0 and click_at(node, area.x + area.width // 2, area.y + area.height // 2)


def click_at(node, x, y):
    program = os.environ.get("CLICKER")
    if not program:
        return Atspi.generate_mouse_event(x, y, "b1c")
    while node.get_parent() is not None and node.get_parent().get_role_name() != "application":
        node = node.get_parent()
    return subprocess.run([program, node.get_name(), str(x), str(y)], stdout=subprocess.DEVNULL).returncode == 0


def type_into(name, words):
    # A dialog's comes before one of the window that it is over.
    for node in (node for window in reversed(list(windows())) for node in below(window)):
        if node.get_role_name() not in ENTRIES:
            continue
        parent = node.get_parent()
        editable = node.get_editable_text_iface()
        if editable is not None and name in (node.get_name(), parent.get_name() if parent else ""):
            return Atspi.EditableText.set_text_contents(editable, words)
    return False


DEEDS = {
    "see": lambda name: found(name) is not None,
    "gone": lambda name: found(name) is None,
    "unusable": unusable,
    "press": press,
    "click": click,
    "page": page,
    "key": lambda key: Atspi.generate_keyboard_event(int(key), None, Atspi.KeySynthType.SYM),
    "type": type_into,
}


def texts():
    return [name for name in (node.get_name() or text(node) for node in everything()) if name]


def focused_by_tab():
    """The names of what gets the focus by Tab, until all of it comes again."""
    names = []

    def note(event):
        if event.detail1:
            parent = event.source.get_parent()
            names.extend([event.source.get_name(), parent.get_name() if parent else ""])

    listener = Atspi.EventListener.new(note)
    listener.register("object:state-changed:focused")
    quiet = 0
    while quiet < 20:
        before = len(set(names))
        Atspi.generate_keyboard_event(TAB, None, Atspi.KeySynthType.SYM)
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            gi.repository.GLib.MainContext.default().iteration(False)
            time.sleep(0.005)
        quiet = 0 if len(set(names)) > before else quiet + 1
    listener.deregister("object:state-changed:focused")
    return names


def outside():
    # What was not on top has no width.
    return [
        node.get_name() or text(node)
        for window in windows()
        for node in below(window)
        if node.get_role_name() in CONTROLS | {"label"}
        and (area := place(node)).width > 0
        and (area.x < 0 or area.x + area.width > place(window).width)
    ]


def do(verb, *rest):
    if verb == "texts":
        return texts()
    if verb == "unnamed":
        return [
            node.get_role_name()
            for node in everything()
            if node.get_role_name() in CONTROLS and not node.get_name() and not text(node)
        ]
    if verb == "unreached":
        wanted = {
            node.get_name()
            for node in everything()
            if node.get_role_name() in BUTTONS | ENTRIES
            and node.get_name() not in ("Minimize", "Maximize", "Close")  # The window manager has keys for these.
            and node.get_state_set().contains(Atspi.StateType.SENSITIVE)
            and place(node).width > 0
        }
        return sorted(wanted - set(focused_by_tab()))
    if verb == "outside":
        end = time.monotonic() + SECONDS
        # A page may still move.
        while (found := outside()) and time.monotonic() < end:
            time.sleep(0.5)
        return found
    if verb == "wide":
        return [str(max(place(window).width for window in windows()))]
    end = time.monotonic() + SECONDS
    while True:
        try:
            if DEEDS[verb](*rest):
                return []
        except gi.repository.GLib.Error:
            pass  # The object went away meanwhile.
        if time.monotonic() > end:
            there = [text for text in dict.fromkeys(texts()) if not text.startswith(("Gtk", "Adw"))]
            sys.exit(f"cannot {verb} {' '.join(rest)}; there is {there}")
        time.sleep(0.05)


for line in sys.stdin:
    print(json.dumps(do(*json.loads(line))), flush=True)
