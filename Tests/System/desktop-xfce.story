# The dialog for administrators that XFCE has in Debian 12 (policykit-1-gnome), with a finger and with the password. It runs on
# Xvfb, and the story reads the display like a screen reader.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh

keys() { in_desktop "xdotool type --delay 60 '$1'"; }
keys_return() { in_desktop 'xdotool key Return'; }
keys_escape() { in_desktop 'xdotool key Escape'; }
dialog() { in_desktop 'python3 /usr/share/whorl-tests/dialog.py polkit'; }

installed_service
cat >/usr/local/bin/story-programs <<'END'
#!/bin/sh
/usr/lib/policykit-1-gnome/polkit-gnome-authentication-agent-1 &
exec dunst
END
chmod 755 /usr/local/bin/story-programs
begin_session /usr/local/bin/story-programs
set_up
ask_as_administrator
exit 0
