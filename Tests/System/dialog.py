#!/usr/bin/python3
"""Prints what the windows of a program show, as a screen reader finds it; fails where it shows none.

usage: dialog.py WORD

WORD is a part of the program's name.
"""
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi


def showing(part):
    """The part and those in it that can be seen."""
    if not part.get_state_set().contains(Atspi.StateType.SHOWING):
        return
    yield part
    for index in range(part.get_child_count()):
        child = part.get_child_at_index(index)
        if child is not None:
            yield from showing(child)


desktop = Atspi.get_desktop(0)
texts = []
for place in range(desktop.get_child_count()):
    program = desktop.get_child_at_index(place)
    if program is None or sys.argv[1] not in (program.get_name() or ""):
        continue
    for number in range(program.get_child_count()):
        window = program.get_child_at_index(number)
        if window is not None:
            texts += [part.get_name() for part in showing(window)]
print(*filter(None, texts))
sys.exit(0 if texts else 1)
