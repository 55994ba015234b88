# KDE Plasma asks for a finger: its notification, each answer to it, and pinentry-qt. Then its dialog for administrators, with
# a finger and with the password. Plasma runs on Xvfb, and the story reads the display like a screen reader. Debian 13.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/x11.sh
. /usr/share/whorl-tests/plasma.sh

asks_passcode() { in_desktop 'xdotool search --onlyvisible --name "^Whorl$"'; }

update-alternatives --set pinentry /usr/bin/pinentry-qt >/dev/null
installed_service
on_plasma
set_up
tell_of_a_gate
ask_as_administrator 127
exit 0
