# shellcheck shell=sh
# Common functions of the stories of the window, after common.sh and display.sh: a laptop on which alice installs packages, and
# the window, which is read as a screen reader does (Tests/Support/screen-reader.py) and worked by keyboard and pointer.
# The story names in CLICKER what clicks on its display, and has keys, keys_return, keys_escape, dialog, clipboard and copy_elsewhere of x11.sh
# or gnome.sh. In GNOME it has go_to and open_secret of its own, since no program knows the places of its windows.

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

# without_service: starts the window while the part of Whorl that keeps the secrets does not run.
without_service() {
  systemctl stop whorld.socket whorld.service
  start
  work see "The part of Whorl that keeps your secrets does not run, or cannot be reached from here" \
    see "Start it with 'sudo systemctl start whorld.socket'; 'systemctl status whorld.socket' says why it ended."
  shot no-service
  systemctl start whorld.socket
  work press "Try Again" see "Set Up"
}

# begin_setup: from the first start until polkit asks for the login password.
begin_setup() {
  work press "Set Up" type Passcode "$passcode" type "Once more" "$passcode" press Continue
  wait_for "polkit's dialog" dialog_says "let Whorl make your store of secrets"
}

# keep_key: shows that the recovery key is on paper, and goes on.
keep_key() {
  work type "Its last part, from your paper" "${key##*-}" press Continue press "Show My Secrets" see "Can Be Turned On"
}

# attach_reader: a page without a reader, and one that is attached. The store is closed then, since the service was started
# anew.
attach_reader() {
  go_to Fingers
  work see "No Reader"
  shot no-reader
  plug_in_reader
  close
  start
  work see "Your Secrets Are Closed"
  shot closed
  keys_return
  work see "Passcode to open your secrets"
  keys mistyped
  keys_return
  work see "Wrong passcode. Passcode to open your secrets"
  keys "$passcode"
  keys_return
}

# enrol_in_window: the right index finger.
enrol_in_window() {
  work gone Confirm
  go_to Fingers
  work press "Right index finger, not enrolled"
  as_login "first finger"
  work type Passcode "$passcode" press Confirm see "Progress"
  for stage in 1 2 3 4; do
    # shellcheck disable=SC2154 # display.sh names the finger
    touch_reader "$right"
    work see "Stage $stage of 5: lift and touch again"
    [ "$stage" != 3 ] || shot enrolling
  done
  touch_reader "$right"
  work see "Stage 5 of 5"
  touch_reader "$right"
  work see "Right index finger, enrolled" see "The right index finger is enrolled"
  shot fingers
}

# small_disk: a disk for the stores that gets full.
small_disk() {
  mkdir -p /var/lib/whorl
  mount -t tmpfs -o size=6m,mode=755 none /var/lib/whorl
}

# store_on_full_disk: a secret, while the disk is full and afterwards.
store_on_full_disk() {
  dd if=/dev/zero of=/var/lib/whorl/filling bs=64k 2>/dev/null || :
  go_to Secrets
  work press "New Secret" type "Name, such as a site or a program" mail type "Account (may be empty)" alice \
    type Secret "a secret of mine" press Save \
    see "The disk is full: cannot write /var/lib/whorl/$(id -u alice)-alice/vault.db: make room on the disk, then try again."
  shot full-disk
  rm /var/lib/whorl/filling
  work press Save gone Save
}

# shown_to_finger: shows the secret after a wrong finger and the right one.
shown_to_finger() {
  open_secret
  work press Show see Confirm
  shot prompt
  touch_reader left-index:9
  work see "No match, 2 touches left"
  shot wrong-finger
  reads_not "a secret of mine"
  touch_reader "$right"
  work see "a secret of mine" gone Confirm
  shot secret
  work press Hide gone "a secret of mine"
}

# lock_fingers_out: five wrong touches in two requests, and the passcode in their place.
lock_fingers_out() {
  work press Show see Confirm
  for remaining in "2 touches" "1 touch"; do
    touch_reader left-index:9
    work see "No match, $remaining left"
  done
  touch_reader left-index:9
  work see "Three touches did not match an enrolled finger." press Cancel gone Confirm press Show see Confirm
  touch_reader left-index:9
  work see "No match, 1 touch left"
  touch_reader left-index:9
  work see "Fingers are locked out after five touches that matched nobody."
  shot lockout
  keys "$passcode"
  keys_return
  work see "a secret of mine" press Hide gone "a secret of mine"
}

# copied_and_closed: a copied secret, and the window closed: it is pasted for half a minute nevertheless, and nothing from then
# on. The program stays until something else is copied, since the desktop would put back what it has kept of the secret.
copied_and_closed() {
  touch_to_copy
  work press Close
  pastes "a secret of mine"
  sleep 31
  pastes ""
  ! no_window || fail "the window's program has ended, and its copy with it"
  copy_elsewhere
  wait_for "the end of the window" no_window
  pastes "from elsewhere"
}

# go_to PAGE: shows a page. open_secret: shows the details of the secret that the stories store.
go_to() { work page "$1"; }
open_secret() { work click mail/alice; }

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

# on_display: alice's session on Xvfb, with a window manager and a dialog for administrators. The window is as large as the
# display, and has the font that GNOME has.
on_display() {
  mkdir -p /home/alice/.config/gtk-4.0
  printf '[Settings]\ngtk-font-name=Cantarell 11\n' >/home/alice/.config/gtk-4.0/settings.ini
  chown -R alice /home/alice/.config
  log_in x11 Story <<'END'
export DISPLAY=:77 GTK_A11Y=atspi GDK_BACKEND=x11 GSK_RENDERER=cairo
Xvfb :77 -screen 0 860x640x24 -nolisten local &
while [ ! -S /tmp/.X11-unix/X77 ]; do sleep 0.1; done
dbus-update-activation-environment --systemd DISPLAY GTK_A11Y GDK_BACKEND GSK_RENDERER XDG_CURRENT_DESKTOP XDG_SESSION_TYPE
openbox &
# Debian 13 has that of MATE alone.
for agent in /usr/lib/policykit-1-gnome/polkit-gnome-authentication-agent-1 /usr/libexec/polkit-mate-authentication-agent-1; do
  [ ! -x "$agent" ] || "$agent" &
done
exec sleep infinity
END
  # shellcheck disable=SC2016 # alice's shell fills in the variable
  wait_for "the session of alice" in_desktop 'test "$DISPLAY" = :77'
}

# touch_to_copy: has the window copy the secret that it shows, after a touch.
touch_to_copy() {
  work press Copy see Confirm
  # shellcheck disable=SC2154 # display.sh names the finger
  touch_reader "$right"
  work see "Copied; the clipboard is emptied in 30 seconds"
}

# pastes TEXT: checks what a program that pastes gets.
pastes() {
  clipboard >/tmp/clipboard
  [ "$(cat /tmp/clipboard)" = "$1" ] || fail "pasted instead of '$1': $(cat /tmp/clipboard)"
  echo "  pasted: '$1'"
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

# untold: types words into password entries, of which programs that read windows are told nothing. What is typed into the search
# they are told, so they listen.
untold() {
  in_desktop 'timeout 90 python3 /usr/share/whorl-tests/text-listener.py' >/tmp/told 2>/tmp/told-problem &
  sleep 4
  work type Search ali press "New Secret" type Secret "correct battery" press Cancel type Search ""
  open_secret
  # shellcheck disable=SC1111 # as the prompt has it
  work press Show see Confirm type Passcode mistyped press Confirm \
    see "Wrong passcode. Passcode to show “mail/alice”" press Cancel gone Confirm
  sleep 2
  grep -q ali /tmp/told || fail "the listener was told nothing: $(cat /tmp/told /tmp/told-problem)"
  ! grep -qF -e "correct battery" -e mistyped /tmp/told || fail "programs are told what is typed: $(cat /tmp/told)"
  echo "  told to nobody: what is typed where a password is asked for"
}

not_listed() { ! in_desktop 'whorl ls' | grep -q "$1"; }

# turn_on_as_administrator TITLE TEXT: turns a step of the page Setup on, for which polkit's dialog, with the text, asks.
turn_on_as_administrator() {
  work press "Turn on: $1" press Continue
  as_login "$2"
  work see "Turn off: $1"
}

# one_password: makes the login password the passcode, which the window asks for.
one_password() {
  title="One Password for Login and Secrets"
  work press "Turn on: $title" press Continue type "The login password" "$password" press Confirm \
    see "Make your login password the passcode?" press Continue type Passcode "$passcode" press Confirm
  wait_for "the report" reads "The passcode is your login password now"
  work press Close see "Turn off: $title"
  expect 0 "" in_desktop "umask 077; printf '%s' '$password' >password; whorl unlock --passcode-fd 3 3<password"
  work press "Turn off: $title" press Continue see "Turn on: $title"
}

# leave_whorl: takes back what is on, and has the store of the service removed by an administrator.
leave_whorl() {
  go_to Setup
  work gone "Looking …" press "Show how to leave Whorl" see "Nothing Is Changed Yet" press "Take Everything Back"
  as_login "pam-auth-update"
  work see "Everything Is Back" press "Remove My Secrets" type "To delete it, type delete" delete press Delete
  wait_for "polkit's dialog" dialog_says "admin remove"
  sleep 1
  keys_escape
  wait_for "the end of the dialog" no_dialog
  work see "Your Secrets Stay"
  expect 0 "mail/alice" in_desktop 'whorl ls'
  work press "Remove My Secrets" type "To delete it, type delete" delete press Delete
  as_login "admin remove"
  work see "You Have Left Whorl"
  expect 66 "no store" in_desktop 'whorl status'
  [ ! -e "/var/lib/whorl/$(id -u alice)-alice" ] || fail "the store is still there"
  work press "Back to Whorl" see "Set Up"
}
