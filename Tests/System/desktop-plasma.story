# KDE Plasma asks for a finger: its notification, each answer to it, and pinentry-qt. Then its dialog for administrators, with
# a finger and with the password. Plasma runs on Xvfb, and the story reads the display like a screen reader. Debian 13.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh

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

asks_passcode() { in_desktop 'xdotool search --onlyvisible --name "^Whorl$"'; }
keys() { in_desktop "xdotool type --delay 60 '$1'"; }
keys_return() { in_desktop 'xdotool key Return'; }
keys_escape() { in_desktop 'xdotool key Escape'; }

update-alternatives --set pinentry /usr/bin/pinentry-qt >/dev/null
installed_service
log_in x11 KDE <<'END'
export DISPLAY=:7 KDE_FULL_SESSION=true KDE_SESSION_VERSION=6 QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1
Xvfb :7 -screen 0 1024x768x24 -nolisten local &
while [ ! -S /tmp/.X11-unix/X7 ]; do sleep 0.1; done
dbus-update-activation-environment --systemd DISPLAY XDG_CURRENT_DESKTOP XDG_SESSION_TYPE KDE_FULL_SESSION \
  KDE_SESSION_VERSION
kwin_x11 &
/usr/lib/*/libexec/polkit-kde-authentication-agent-1 &
exec plasmashell
END
# shellcheck disable=SC2016 # alice's shell fills it in
wait_for "the session of alice" in_desktop 'busctl --user status org.freedesktop.Notifications && test "$DISPLAY" = :7'
in_desktop 'plasmashell --version; kwin_x11 --version'
set_up
tell_of_a_gate

dialog() { in_desktop 'python3 /usr/share/whorl-tests/dialog.py polkit'; }
ask_as_administrator 127
exit 0
