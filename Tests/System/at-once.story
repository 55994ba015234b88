# A finger or the password, whichever comes first, with the installed service: at sudo, su and doas, and in polkit's dialogs.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
stranger=right-index:2
password='open sesame'
answering=/usr/share/whorl-tests/answering.py
user alice
own_password_is_typed
echo "alice:$password" | chpasswd
usermod -aG sudo alice
echo 'alice ALL=(ALL) ALL' >/etc/sudoers.d/alice
echo 'Defaults !lecture, passwd_tries=1' >>/etc/sudoers.d/alice
echo 'permit alice as root' >/etc/doas.conf

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
systemctl daemon-reload
# The sensor belongs to the service.
install -m 4755 "$(command -v whorl-finger)" /usr/local/bin/whorl-finger

# prove PLACE ANSWERS COMMAND: alice answers the command's prompts. PLACE is at_seat or elsewhere.
prove() {
  "$1" alice "SENSOR=$sensor python3 $answering '$2' $3" </dev/null
}

# Off until an administrator turns it on. The files are as before when it is off again.
before=$(sha256sum /etc/pam.d/sudo)
expect 0 "" prove at_seat "$password" "sudo -k true"
expect 0 "beside the password" whorl login enable sudo
expect 0 "beside the password" whorl login enable polkit
for service in su doas; do
  sed -i "1i auth sufficient pam_whorl.so verify services=$service" "/etc/pam.d/$service"
done

# Without a store and without a finger, the password alone.
expect 0 "" prove at_seat "$password" "sudo -k true"
at_seat alice "umask 077; echo '$password' >passcode"
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'

# The finger first, the password first, a wrong finger and then either.
for program in "sudo -k" "su alice -c" doas; do
  expect 0 "Password, or swipe the reader: " prove at_seat "$right" "$program true"
  expect 0 "Password, or swipe the reader: " prove at_seat "$password" "$program true"
  expect 0 "No match, swipe again or type." prove at_seat "$stranger,$password" "$program true"
  expect 0 "No match, swipe again or type." prove at_seat "$stranger,$right" "$program true"
  expect 1 "" prove at_seat "not the password" "$program true"
done
expect 0 "verify-login" at_seat alice 'whorl log -n 20'

# polkit's helper, which systemd starts where polkit has a socket for it.
cat >/usr/local/bin/ask-polkit <<'END'
#!/bin/sh
pkcheck --enable-internal-agent --allow-user-interaction --process $$ --action-id org.freedesktop.policykit.exec
END
chmod 755 /usr/local/bin/ask-polkit
if [ -e /usr/lib/systemd/system/polkit-agent-helper.socket ]; then
  expect 0 "" systemctl start polkit-agent-helper.socket
fi
# polkit's agent at a terminal would notice a match only after Enter, so it is asked one after the other.
expect 0 "Swipe the fingerprint reader." prove at_seat "$right" ask-polkit
expect 0 "No match. Swipe the fingerprint reader again." prove at_seat "$stranger,$right" ask-polkit
# An agent without a terminal, as desktops have.
ask="python3 /usr/share/whorl-tests/polkit-agent.py org.freedesktop.policykit.exec"
for answers in "$right" "$password" "$stranger,$right" "$stranger,$password"; do
  expect 0 "Password, or swipe the reader:" at_seat alice "SENSOR=$sensor $ask '$answers'"
done
expect 1 "" at_seat alice "SENSOR=$sensor $ask 'not the password'"
expect 0 "" elsewhere alice "SENSOR=$sensor $ask '$password'"

# Nobody is asked for a finger where the session is not at the seat, or is locked.
for program in "sudo -k true" "su alice -c true" "doas true" ask-polkit; do
  expect 0 "" prove elsewhere "$password" "$program"
done
logind=org.freedesktop.login1
lock="command=busctl call $logind /org/freedesktop/login1/session/auto $logind.Session SetLockedHint b true"
expect 0 "" prove at_seat "$lock,$password" "sudo -k true"
expect 1 "" prove at_seat "" "sudo -k -n true"

# The service hangs, or is gone.
systemctl kill --kill-whom=main -s STOP whorld.service
expect 0 "" prove at_seat "$password" "sudo -k true"
systemctl kill --kill-whom=main -s CONT whorld.service
systemctl stop whorld.socket whorld.service
expect 0 "" prove at_seat "$password" "sudo -k true"
systemctl start whorld.socket
expect 0 "" at_seat alice "whorl status"
expect 0 "" prove at_seat "$right" "sudo -k true"

# Five wrong touches in a row, over two programs, and then the plain prompt in all of them.
expect 0 "The fingerprint does not match." prove at_seat "$stranger,$stranger,$stranger,$password" "sudo -k true"
expect 0 "Fingers are locked" prove at_seat "$stranger,$stranger,$password" "doas true"
expect 0 "Fingers are locked after too many wrong touches. Type your password." prove at_seat "$password" "sudo -k true"
expect 0 "Fingers are locked" prove at_seat "$password" ask-polkit
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 "Password, or swipe the reader: " prove at_seat "$right" "sudo -k true"

expect 0 "Only the password" whorl login disable sudo
expect 0 "Only the password" whorl login disable polkit
[ "$(sha256sum /etc/pam.d/sudo)" = "$before" ] || fail "sudo's file is not as before: $(cat /etc/pam.d/sudo)"
[ ! -e /etc/pam.d/polkit-1 ] || [ ! -e /usr/lib/pam.d/polkit-1 ] || fail "the copy of polkit's file is left"
expect 0 "" prove at_seat "$password" "sudo -k true"

case $(journalctl -q --no-pager -t whorld -t whorl -t sudo) in
  *sesame*) fail "a password is in the journal" ;;
esac
exit 0
