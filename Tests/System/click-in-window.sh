#!/bin/sh
# Clicks in a window of an X display that has a window manager, for screen-reader.py.
#
# usage: click-in-window.sh TITLE X Y
set -eu
window=$(xdotool search --onlyvisible --name "^$1\$" | tail -n 1)
eval "$(xdotool getwindowgeometry --shell "$window" | sed 's/^/at_/')"
# shellcheck disable=SC2154 # xdotool has printed them
xdotool mousemove $((at_X + $2)) $((at_Y + $3)) sleep 0.2 click 1
