# shellcheck shell=sh
# The story of the first page, with the installed service and a virtual reader: a store, a finger, a secret. For the
# story of the packages, and for testing an installation (as root, in a throw-away system).
# shellcheck disable=SC1091 # it lies beside this file
. "$(dirname "$0")/common.sh"

sensor=/run/service-reader/socket
right='right-index:1'
stranger='right-index:2'
user alice

# A virtual reader, which the administrator alone can choose.
mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
systemctl daemon-reload
own_password_is_typed

# at_terminal COMMAND LINE...: runs alice's command at a terminal, where the lines are typed one after the other.
at_terminal() {
  command=$1
  shift
  { for line; do sleep 3 && echo "$line"; done && sleep 5; } | at_seat alice "script -qec '$command' /dev/null"
}

passcode='open sesame, please'
at_seat alice "umask 077; echo '$passcode' >passcode"
expect 0 "recovery key" at_terminal 'whorl init' "$passcode" "$passcode"
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "Stored mail/me" at_terminal 'whorl set mail/me' gold gold
expect 0 gold touching "$right" at_seat alice 'whorl get mail/me'
expect 77 "" touching "$stranger $stranger $stranger" at_seat alice 'whorl get mail/me'
expect 0 "" at_seat alice 'printf silver | whorl set note/me --access none'
expect 0 silver at_seat alice 'whorl get note/me'
