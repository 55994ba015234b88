#!/usr/bin/python3
"""Prints what programs tell a screen reader (AT-SPI) about texts that are typed and removed, a line each, until it is ended."""

import warnings

import gi

# Newer versions of the library have other names for what Debian 12 has.
warnings.simplefilter("ignore")
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

listener = Atspi.EventListener.new(lambda event: print(event.any_data, flush=True))
listener.register("object:text-changed")
Atspi.event_main()
