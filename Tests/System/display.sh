# shellcheck shell=sh
# Common functions of the stories with a session on a display, after common.sh: alice sits at Xvfb, with a window
# manager and a program that shows notifications. Her programs run as desktops start them, under the
# systemd user manager.

# shellcheck disable=SC2034 # the stories use them
sensor=/run/service-reader/socket right="right-index:1" passcode="open sesame, please" password="open sesame"
user alice
runtime=/run/user/$(id -u alice)

# installed_service: the system service, with a virtual reader.
installed_service() {
  mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
  printf 'reader = virtual-image:%s\nrequire-passcode-after-boot = no\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
  printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
    >/etc/systemd/system/whorld.service.d/virtual.conf
  expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
  own_password_is_typed
}

# begin_session NOTIFICATIONS: alice logs in at the display :77, where NOTIFICATIONS shows notifications. The session stays.
# The socket of the X server is no abstract one, since the system shares its network with other systems. Clients look for an
# abstract one first, so the number is one that the X servers of other tests do not get.
begin_session() {
  log_in x11 Story <<END
export DISPLAY=:77
Xvfb :77 -screen 0 1000x600x24 -nolisten local &
while [ ! -S /tmp/.X11-unix/X77 ]; do sleep 0.1; done
dbus-update-activation-environment --systemd DISPLAY XDG_CURRENT_DESKTOP XDG_SESSION_TYPE
openbox &
exec $1
END
  # shellcheck disable=SC2016 # alice's shell fills in the variable
  wait_for "the session of alice" in_desktop \
    'busctl --user status org.freedesktop.Notifications && test "$DISPLAY" = :77'
}

# log_in TYPE DESKTOP: alice logs in at the seat. Her session is of that type and runs the commands of standard input.
log_in() {
  {
    printf '#!/bin/sh\nexport XDG_CURRENT_DESKTOP=%s\n' "$2"
    cat
  } >/usr/local/bin/story-session
  chmod 755 /usr/local/bin/story-session
  elsewhere alice /usr/local/bin/story-session -p Environment=XDG_SEAT=seat0 -p Environment=XDG_SESSION_TYPE="$1" \
    >/tmp/session 2>&1 &
}

# in_desktop COMMAND: runs a shell command of alice in her session, without a terminal.
in_desktop() {
  runuser -u alice -- env "XDG_RUNTIME_DIR=$runtime" systemd-run --user --quiet --pipe --wait --collect \
    --working-directory=/home/alice sh -c "$1"
}

# begin COMMAND: begins a shell command of alice's session, which `ended` waits for.
begin() {
  rm -f /tmp/actual
  {
    actual=0
    in_desktop "$1" </dev/null >/tmp/output 2>&1 || actual=$?
    echo "$actual" >/tmp/actual
  } &
  begun=$!
  begun_command=$1
}

# ended STATUS TEXT: the end of that command. Its status must be STATUS, and its output must contain TEXT.
ended() {
  wait "$begun"
  output=$(cat /tmp/output)
  [ "$(cat /tmp/actual)" = "$1" ] || fail "status $(cat /tmp/actual) instead of $1: $output"
  case $output in *"$2"*) ;; *) fail "no '$2' in: $output" ;; esac
  echo "  $1: $(echo "$begun_command" | tr '\n' ' ' | cut -c 1-90)"
}

# press FINGER: presses it once.
press() {
  whorl-finger press "${1%:*}" --person "${1#*:}" --socket "$sensor"
}

# set_up: sets up alice's store, her finger, and Whorl's Secret Service.
set_up() {
  in_desktop "umask 077; echo '$passcode' >passcode"
  expect 0 "" in_desktop 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
  expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
    in_desktop 'whorl enroll right-index --passcode-fd 3 3<passcode'
  expect 0 "" in_desktop 'whorl secret-service enable --now'
}

# tell_of_a_gate: tests a desktop's prompt for a gated secret, with every answer. The story defines these functions:
#   shown           prints the text of the notification on the display, and fails if there is none
#   choose ACTION   chooses the action of that name, or Close, as a person does
#   asks_passcode   whether pinentry has the keyboard
#   keys TEXT       types the text; keys_return and keys_escape press these keys
tell_of_a_gate() {
  in_desktop 'printf bank-secret | secret-tool store --label=Bank service bank user alice'
  expect 0 "" in_desktop 'whorl secret-service gate --item Bank --access presence --yes'
  lookup='secret-tool lookup service bank user alice'

  # The notification stays longer than others, and is removed by the touch.
  asked "$lookup"
  sleep 12
  expect 0 "secret-tool wants to " shown
  case $output in *'wants to read “Bank”. '*'Program: /usr/bin/secret-tool'*) ;; *) fail "does not name the item: $output" ;; esac
  [ ! -s /tmp/actual ] || fail "did not wait for the touch"
  press "$right"
  ended 0 "bank-secret"
  wait_for "the end of the notification" not_shown

  # Another finger opens nothing, and the notification stays.
  asked "$lookup"
  press left-index:9
  wait_for "the answer to another finger" says "No match, 2 touches left[.] .*secret-tool wants to"
  [ ! -s /tmp/actual ] || fail "answered after another finger: $(cat /tmp/output)"
  press "$right"
  ended 0 "bank-secret"
  wait_for "the end of the notification" not_shown

  # Cancelled, and closed.
  for answer in Cancel Close; do
    asked "$lookup"
    choose "$answer"
    ended 1 ""
    [ ! -s /tmp/output ] || fail "after $answer: $(cat /tmp/output)"
    wait_for "the end of the notification" not_shown
  done

  # The passcode: typed, mistyped and then typed, and not given.
  passcode_wanted
  not_shown || fail "the notification is there beside pinentry"
  keys "$passcode"
  keys_return
  ended 0 "bank-secret"
  passcode_wanted
  first=$(pgrep -o -f '^/usr/bin/pinentry')
  keys "mistyped"
  keys_return
  wait_for "the end of the first pinentry" gone "$first"
  wait_for "the second pinentry" asks_passcode
  keys "$passcode"
  keys_return
  ended 0 "bank-secret"
  passcode_wanted
  keys_escape
  ended 1 ""
  [ ! -s /tmp/output ] || fail "without the passcode: $(cat /tmp/output)"
}

# ask_as_administrator: tests polkit's dialog in a desktop, with a finger and with the password. The story defines, beside keys,
# keys_return and keys_escape:
#   dialog    prints the text of polkit's dialog on the display, and fails if there is none
# The argument is pkexec's status after Escape.
ask_as_administrator() {
  usermod -aG sudo alice
  echo "alice:$password" | chpasswd
  expect 0 "beside the password" whorl login enable polkit

  dialog_asked
  press "$right"
  ended 0 "root"
  wait_for "the end of the dialog" no_dialog

  dialog_asked
  typed_into_dialog "$password"
  ended 0 "root"

  # A wrong finger, which the dialog tells, and then either.
  for way in finger password; do
    dialog_asked
    press left-index:9
    wait_for "the answer to another finger" dialog_says "No match, swipe again or type[.]"
    [ ! -s /tmp/actual ] || fail "let in after another finger: $(cat /tmp/output)"
    if [ "$way" = finger ]; then press "$right"; else typed_into_dialog "$password"; fi
    ended 0 "root"
  done

  # A wrong password: the dialog asks again, for both.
  dialog_asked
  typed_into_dialog "mistyped"
  sleep 5
  wait_for "the next prompt" dialog_says "swipe the reader"
  [ ! -s /tmp/actual ] || fail "let in by a wrong password: $(cat /tmp/output)"
  press "$right"
  ended 0 "root"

  # Cancelled, and the reader is free for the next. pkexec says 126 if the agent reports the cancel, and else 127.
  dialog_asked
  keys_escape
  ended "${1:-126}" ""
  wait_for "the end of the dialog" no_dialog
  dialog_asked
  press "$right"
  ended 0 "root"

  expect 0 "Only the password" whorl login disable polkit
  begin 'pkexec id -un'
  wait_for "polkit's dialog" dialog_says "assword"
  ! dialog_says "swipe" || fail "asked for a finger: $(dialog)"
  typed_into_dialog "$password"
  ended 0 "root"
}

# dialog_asked: begins a command that needs an administrator, and waits for the dialog that asks for both.
dialog_asked() {
  begin 'pkexec id -un'
  wait_for "polkit's dialog" dialog_says "swipe the reader"
  # Until the dialog has the keyboard.
  sleep 1
}

typed_into_dialog() {
  keys "$1"
  keys_return
}

dialog_says() { dialog | grep -q "$1"; }
no_dialog() { ! dialog >/dev/null; }

# passcode_wanted: begins the lookup, and chooses the passcode in the notification.
passcode_wanted() {
  asked "$lookup"
  choose Passcode
  wait_for "pinentry" asks_passcode
}

# asked COMMAND: begins a command, and waits for its notification.
asked() {
  begin "$1"
  wait_for "a notification" says "secret-tool wants to"
}

# says TEXT: whether a notification on the display has the text.
says() { shown | grep -q "$1"; }

not_shown() { ! shown; }

gone() { [ ! -d "/proc/$1" ]; }
