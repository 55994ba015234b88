# shellcheck shell=sh
# Common functions of the stories with KDE Plasma on Xvfb, after display.sh and x11.sh: its session, its
# notifications, and KRunner.

cat >/home/alice/notification.py <<'END'
"""Prints the text of the notification on the display, or with the name of a button where to click it."""
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi


def parts(part):
    yield part
    for index in range(part.get_child_count()):
        child = part.get_child_at_index(index)
        if child is not None:
            yield from parts(child)


def showing(part):
    return part.get_state_set().contains(Atspi.StateType.SHOWING)


for notification in parts(Atspi.get_desktop(0)):
    if notification.get_role_name() == "notification" and showing(notification):
        if len(sys.argv) < 2:
            print(notification.get_description())
            sys.exit(0)
        for part in parts(notification.get_parent()):
            if part.get_name() == sys.argv[1] and part.get_role_name() == "button" and showing(part):
                place = part.get_extents(Atspi.CoordType.SCREEN)
                print(place.x + place.width // 2, place.y + place.height // 2)
                sys.exit(0)
sys.exit("no such thing is on the display")
END

shown() { in_desktop 'python3 notification.py'; }

# Move the pointer away, since a notification under it stays open.
choose() {
  place=$(in_desktop "python3 notification.py $1") || fail "nothing to click: $1"
  in_desktop "xdotool mousemove $place; sleep 0.3; xdotool click 1; sleep 0.3; xdotool mousemove 200 200"
}

# on_plasma: alice's session. Without the prefix of its menu Plasma finds no programs.
on_plasma() {
  log_in x11 KDE <<'END'
export DISPLAY=:77 KDE_FULL_SESSION=true KDE_SESSION_VERSION=6 QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1 XDG_MENU_PREFIX=plasma-
export GTK_A11Y=atspi GDK_BACKEND=x11 GSK_RENDERER=cairo
Xvfb :77 -screen 0 1024x768x24 -nolisten local &
while [ ! -S /tmp/.X11-unix/X77 ]; do sleep 0.1; done
dbus-update-activation-environment --systemd DISPLAY XDG_CURRENT_DESKTOP XDG_SESSION_TYPE KDE_FULL_SESSION \
  KDE_SESSION_VERSION XDG_MENU_PREFIX QT_LINUX_ACCESSIBILITY_ALWAYS_ON GTK_A11Y GDK_BACKEND GSK_RENDERER
kwin_x11 &
/usr/lib/*/libexec/polkit-kde-authentication-agent-1 &
exec plasmashell
END
  # shellcheck disable=SC2016 # alice's shell fills it in
  wait_for "the session of alice" in_desktop 'busctl --user status org.freedesktop.Notifications && test "$DISPLAY" = :77'
  in_desktop 'plasmashell --version; kwin_x11 --version'
}

# in_krunner TEXT: whether KRunner shows it.
in_krunner() { in_desktop 'python3 /usr/share/whorl-tests/dialog.py krunner' | grep -qw "$1"; }
