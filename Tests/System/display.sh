# shellcheck shell=sh
# What the stories of a session on a display share, after common.sh: alice sits at Xvfb, with a window manager and a program
# that shows notifications. Her programs run as desktops start them, under the service manager of the user.

# shellcheck disable=SC2034 # the stories use them
sensor=/run/service-reader/socket right="right-index:1" passcode="open sesame, please"
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

# begin_session NOTIFICATIONS: alice logs in at the display :7, where NOTIFICATIONS shows notifications. The session stays.
# The socket of the X server is no abstract one, since the system shares its network with other systems.
begin_session() {
  cat >/usr/local/bin/story-session <<END
#!/bin/sh
export DISPLAY=:7 XDG_CURRENT_DESKTOP=Story
Xvfb :7 -screen 0 1000x600x24 -nolisten local &
while [ ! -S /tmp/.X11-unix/X7 ]; do sleep 0.1; done
dbus-update-activation-environment --systemd DISPLAY XDG_CURRENT_DESKTOP XDG_SESSION_TYPE
openbox &
exec $1
END
  chmod 755 /usr/local/bin/story-session
  elsewhere alice /usr/local/bin/story-session -p Environment=XDG_SEAT=seat0 -p Environment=XDG_SESSION_TYPE=x11 \
    >/tmp/session 2>&1 &
  # shellcheck disable=SC2016 # alice's shell fills in the variable
  wait_for "the session of alice" in_desktop \
    'busctl --user status org.freedesktop.Notifications && test "$DISPLAY" = :7'
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

press() {
  whorl-finger press "${1%:*}" --person "${1#*:}" --socket "$sensor"
}
