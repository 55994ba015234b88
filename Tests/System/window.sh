# shellcheck shell=sh
# Common functions of the stories of the window, after common.sh and display.sh: a laptop on which alice installs packages, and
# the window, which is read as a screen reader does (Tests/Support/screen-reader.py) and worked by keyboard and pointer.
# The story names in CLICKER what clicks on its display.

# shellcheck disable=SC2034 # the stories use them
pictures=/var/lib/whorl-pictures
packages=/usr/share/whorl-packages
passcode="quartz blanket river 47"
password="open sesame"
mkdir -p "$pictures"
chown alice "$pictures"
echo "alice:$password" | chpasswd
usermod -aG sudo alice

# put_in_packages: as the file manager's program for packages does.
put_in_packages() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q update >/dev/null
  expect 0 "Setting up whorl-gtk" apt-get -q -y install "$packages"/whorl_*.deb "$packages"/libpam-whorl_*.deb \
    "$packages"/whorl-gtk_*.deb
  # The program that presses the fingers is no part of the laptop.
  dpkg-deb --extract "$packages"/whorl-tests_*.deb /tmp/tests
  install -m 755 /tmp/tests/usr/bin/whorl-finger /usr/bin/whorl-finger
}

# plug_in_reader: the reader of the story, which the laptop has not had before.
plug_in_reader() {
  mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
  # shellcheck disable=SC2154 # display.sh names the socket
  echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
  printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
    >/etc/systemd/system/whorld.service.d/virtual.conf
  systemctl daemon-reload
  restart_service
}

restart_service() {
  systemctl reset-failed whorld.service 2>/dev/null || :
  systemctl restart whorld.service
}

# start: as the menu of a desktop starts it, which the message bus does.
start() { in_desktop 'gapplication launch org.whorl.Whorl'; }

no_window() { ! pgrep -u alice -x whorl-gtk >/dev/null; }

# close: closes the window, and waits for the end of its program.
close() {
  work press Close
  wait_for "the end of the window" no_window
}

# work WORDS...: does these steps in the window: each begins with a verb of the screen reader.
work() {
  step=
  for word; do
    case $word in
      see | gone | unusable | press | click | page | key | type) [ -z "$step" ] || printf '%s]\n' "$step"; step="[\"$word\"" ;;
      *) step="$step, \"$word\"" ;;
    esac
  done >/tmp/steps
  printf '%s]\n' "$step" >>/tmp/steps
  chmod 644 /tmp/steps
  output=$(in_desktop "PATIENCE=60 CLICKER=${CLICKER:-} python3 /usr/share/whorl-tests/screen-reader.py </tmp/steps" 2>&1) ||
    fail "$*: $output"
  echo "  in the window: $(echo "$*" | cut -c 1-110)"
}

# texts: all that the windows of the session show, as JSON.
texts() { in_desktop 'echo "[\"texts\"]" | python3 /usr/share/whorl-tests/screen-reader.py'; }

# reads TEXT: whether something that the windows have contains the text.
reads() { texts | grep -qF "$1"; }

# reads_not TEXT: nothing that the windows have contains the text.
reads_not() {
  texts >/tmp/texts
  ! grep -qF "$1" /tmp/texts || fail "a screen reader reads '$1'"
  echo "  not to be read: $1"
}

keys() { in_desktop "xdotool type --delay 60 '$1'"; }
keys_return() { in_desktop 'xdotool key Return'; }
keys_escape() { in_desktop 'xdotool key Escape'; }
dialog() { in_desktop 'python3 /usr/share/whorl-tests/dialog.py polkit'; }

# as_login: types the login password into polkit's dialog, which says TEXT.
as_login() {
  wait_for "polkit's dialog" dialog_says "$1"
  # Until the dialog has the keyboard.
  sleep 1
  typed_into_dialog "$password"
  wait_for "the end of the dialog" no_dialog
}

# note_key: writes down the recovery key that the window shows, in $key.
note_key() {
  wait_for "the recovery key" shows_key
  key=$(cat /tmp/key)
}
shows_key() { texts | grep -Eo '([0-9A-Z]{5}-){6}[0-9A-Z]{5}' >/tmp/key; }

# on_display: alice's session on Xvfb, with a window manager and XFCE's dialog for administrators. The window is as large as the
# display, and has the font that GNOME has.
on_display() {
  mkdir -p /home/alice/.config/gtk-4.0
  printf '[Settings]\ngtk-font-name=Cantarell 11\n' >/home/alice/.config/gtk-4.0/settings.ini
  chown -R alice /home/alice/.config
  log_in x11 Story <<'END'
export DISPLAY=:7 GTK_A11Y=atspi GDK_BACKEND=x11 GSK_RENDERER=cairo
Xvfb :7 -screen 0 860x640x24 -nolisten local &
while [ ! -S /tmp/.X11-unix/X7 ]; do sleep 0.1; done
dbus-update-activation-environment --systemd DISPLAY GTK_A11Y GDK_BACKEND GSK_RENDERER XDG_CURRENT_DESKTOP XDG_SESSION_TYPE
openbox &
/usr/lib/policykit-1-gnome/polkit-gnome-authentication-agent-1 &
exec sleep infinity
END
  # shellcheck disable=SC2016 # alice's shell fills in the variable
  wait_for "the session of alice" in_desktop 'test "$DISPLAY" = :7'
}

# touch_to_copy: has the window copy the secret that it shows, after a touch.
touch_to_copy() {
  work press Copy see Confirm
  # shellcheck disable=SC2154 # display.sh names the finger
  touch_reader "$right"
  work see "Copied; the clipboard is emptied in 30 seconds"
}

# empties_clipboard: checks that nothing is in the clipboard after half a minute.
empties_clipboard() {
  sleep 31
  in_desktop 'xclip -selection clipboard -out' >/tmp/clipboard 2>/dev/null || :
  [ ! -s /tmp/clipboard ] || fail "in the clipboard after half a minute: $(cat /tmp/clipboard)"
  echo "  nothing in the clipboard"
}

# shot NAME: a picture of what is shown, with few colours.
shot() {
  sleep 1
  in_desktop "maim --hidecursor '$pictures/window-$1.png'"
  in_desktop "pngquant --force --ext .png 32 '$pictures/window-$1.png'"
  echo "  a picture: $1"
}

# touch_reader FINGER: presses it, after the time that a person needs.
touch_reader() {
  sleep 1
  press "$1"
}
