# shellcheck shell=sh
# Common functions of the stories about a desktop's wallets, after common.sh.

right="right-index:1"

# enrol NAME FINGER: enrols a finger of person 1 with fprintd.
enrol() {
  # shellcheck disable=SC2154 # common.sh names the socket
  sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 1; whorl-finger press "$2" --person 1 --socket "$1" || :; done' - \
    "$sensor" "$2" 2>/dev/null &
  presses=$!
  expect 0 "enroll-completed" at_seat "$1" "fprintd-enroll -f $2-finger"
  wait "$presses"
}

# log_in SERVICE NAME [PASSWORD]: logs in as a greeter does; without a password, a finger is pressed. The session stays
# until log_out.
log_in() {
  who=$2
  rm -f /tmp/typed
  : >/tmp/session
  mkfifo /tmp/typed
  systemd-run --quiet --pipe --wait --collect python3 /usr/share/whorl-tests/session.py "$1" "$2" </tmp/typed \
    >/tmp/session 2>&1 &
  session=$!
  exec 9>/tmp/typed
  echo "${3:-}" >&9
  tries=0
  until grep -qx open /tmp/session; do
    kill -0 "$session" 2>/dev/null || fail "no login of $2 by $1: $(cat /tmp/session)"
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || fail "no login of $2 by $1 within half a minute: $(cat /tmp/session)"
    # The reader is ready a moment after the prompt.
    [ $# = 3 ] || whorl-finger press "${right%:*}" --person "${right#*:}" --socket "$sensor" 2>/dev/null || :
    sleep 0.5
  done
}

# log_out: ends that session and the user's service manager.
log_out() {
  exec 9>&-
  wait "$session" || fail "the logout of $who: $(cat /tmp/session)"
  wait_for "the end of the service manager of $who" has_ended "user@$(id -u "$who").service"
}
has_ended() { ! systemctl is-active --quiet "$1"; }

# in_session NAME COMMAND: runs a shell command of that user with the session's bus, without a login of its own.
in_session() {
  runtime=/run/user/$(id -u "$1")
  systemd-run --quiet --pipe --wait --collect -p "User=$1" -p "WorkingDirectory=/home/$1" \
    -p "Environment=XDG_RUNTIME_DIR=$runtime DBUS_SESSION_BUS_ADDRESS=unix:path=$runtime/bus" sh -c "$2"
}

# desktop, end_of_desktop: start and stop the units that a desktop starts in the systemd user manager.
cat >/etc/systemd/user/story-desktop.service <<'END'
[Unit]
Wants=graphical-session-pre.target
After=graphical-session-pre.target
BindsTo=graphical-session.target
Before=graphical-session.target
[Service]
ExecStart=/bin/sleep infinity
END
desktop() {
  in_session "$who" 'systemctl --user start story-desktop.service'
  wait_for "the desktop" in_session "$who" 'systemctl --user is-active graphical-session.target'
}
end_of_desktop() {
  in_session "$who" 'systemctl --user stop story-desktop.service'
  wait_for "the end of the desktop" in_session "$who" '! systemctl --user is-active graphical-session.target'
}

restart() {
  systemctl reset-failed whorld.service
  systemctl restart whorld.service
}
