# The window, from the packages to their removal, by a person who opens no terminal: the first start, a finger, secrets, what
# Whorl does at logins and for programs, and what is shown where something is missing. It is read and worked as a screen
# reader does, and the pictures of the pages are those of docs/pictures.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh

pictures=/var/lib/whorl-pictures
packages=/usr/share/whorl-packages
passcode="quartz blanket river 47"
mkdir -p "$pictures" /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
chown alice "$pictures"
printf 'reader = virtual-image:%s\nrequire-passcode-after-boot = no\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
own_password_is_typed

# As the file manager's program for packages does.
export DEBIAN_FRONTEND=noninteractive
apt-get -q update >/dev/null
expect 0 "Setting up whorl-gtk" apt-get -q -y install "$packages"/whorl_*.deb "$packages"/libpam-whorl_*.deb \
  "$packages"/whorl-gtk_*.deb
dpkg-deb --extract "$packages"/whorl-tests_*.deb /tmp/tests
install -m 755 /tmp/tests/usr/bin/whorl-finger /usr/bin/whorl-finger

# Alice's session: a display without a window manager, so that windows are in its corner.
log_in x11 Story <<'END'
export DISPLAY=:7 GTK_A11Y=atspi GDK_BACKEND=x11 GSK_RENDERER=cairo
Xvfb :7 -screen 0 1000x760x24 -nolisten local &
while [ ! -S /tmp/.X11-unix/X7 ]; do sleep 0.1; done
dbus-update-activation-environment --systemd DISPLAY GTK_A11Y GDK_BACKEND GSK_RENDERER XDG_CURRENT_DESKTOP XDG_SESSION_TYPE
exec sleep infinity
END
# shellcheck disable=SC2016 # alice's shell fills in the variable
wait_for "the session of alice" in_desktop 'test "$DISPLAY" = :7'

# work WORDS...: does these steps in the window, a line each in the form of the screen reader of the tests.
work() {
  step=
  for word; do
    case $word in
      see | gone | unusable | press | click | key | type) [ -z "$step" ] || printf '%s]\n' "$step"; step="[\"$word\"" ;;
      *) step="$step, \"$word\"" ;;
    esac
  done >/tmp/steps
  printf '%s]\n' "$step" >>/tmp/steps
  expect 0 "" in_desktop "python3 /usr/share/whorl-tests/screen-reader.py </tmp/steps"
}
texts() { in_desktop 'echo "[\"texts\"]" | python3 /usr/share/whorl-tests/screen-reader.py'; }

# shot NAME: a picture of what is shown.
shot() {
  sleep 1
  in_desktop "maim '$pictures/window-$1.png'"
}

gone_from_display() { ! pgrep -u alice -x whorl-gtk; }

start() { in_desktop 'gio launch /usr/share/applications/org.whorl.Whorl.desktop'; }

# touch_reader FINGER: presses it, after the time that a person needs.
touch_reader() {
  sleep 1
  press "$1"
}

expect 0 "" desktop-file-validate /usr/share/applications/org.whorl.Whorl.desktop
expect 0 "" appstreamcli validate --no-net /usr/share/metainfo/org.whorl.Whorl.metainfo.xml

# The first start: closed in the middle, which makes no store, and begun again; a weak passcode; the recovery key.
start
work see "Set Up"
shot first-start
work press "Set Up" type abcd Passcode type abcd "Once more" press Continue \
  see "Somebody with a copy of your disk finds this passcode within a day. Take a longer one." press Close
wait_for "the end of the window" gone_from_display
expect 66 "" in_desktop 'whorl list'
start
work press "Set Up" type "$passcode" Passcode type "$passcode" "Once more" press Continue \
  see "Its last part, from your paper"
shot recovery-key
key=$(texts | tr -d '[]"' | tr ',' '\n' | grep -Eo '([0-9A-Z]{5}-){6}[0-9A-Z]{5}' | head -n 1)
work type "${key##*-}" "Its last part, from your paper" press Continue see "Whorl Is Ready" press "Show My Secrets" \
  see "Can Be Turned On"
shot set-up

# A finger, with a wrong one afterwards.
work press "Show Fingers" see "Right index finger, not enrolled" press "Right index finger, not enrolled" \
  type "$passcode" Passcode press Confirm see Progress
for _ in 1 2 3 4 5 6 7 8; do touch_reader "$right" || break; done 2>/dev/null
work see "Right index finger, enrolled"
shot fingers
work click Secrets press "New Secret" type mail "Name, such as a site or a program" \
  type alice "Account (may be empty)" type "a secret of mine" Secret press Save click "mail/alice" press Show see Confirm
touch_reader left-index:9
work see "No match, 2 touches left"
shot wrong-finger
touch_reader "$right"
work see "a secret of mine"
shot secrets
expect 0 "a secret of mine" touching "$right" in_desktop 'whorl get mail/alice'

# Each page.
for page in Passkeys Keys Computers Activity Protection; do
  work click "$page" see "$page"
  [ "$page" != Protection ] || work gone "Checking …"
  shot "$(echo "$page" | tr '[:upper:]' '[:lower:]')"
done

# Programs get their passwords from Whorl, and not any more.
work click Setup gone "Looking …" press "Turn on: git" press Continue see "Turn off: git"
expect 0 "whorl git-credential" in_desktop 'git config --global --get-all credential.helper'
work press "Turn off: git" press Continue see "Turn on: git"
expect 1 "" in_desktop 'git config --global --get-all credential.helper'

# The service stops, and comes back at the next request.
systemctl stop whorld.socket whorld.service
work click Secrets press "mail/alice" press Show see "Try Again"
shot no-service
systemctl start whorld.socket
work press "Try Again" see "mail/alice" press Close
wait_for "the end of the window" gone_from_display

expect 0 "Removing whorl-gtk" apt-get -q -y purge whorl-gtk
[ ! -e /usr/share/applications/org.whorl.Whorl.desktop ] || fail "the window is still in the menu"
