# A login by finger on the machine's own console, after a cold boot, opens GNOME Keyring.
. "${here:?}/common.sh"
begins enrolled

# types TEXT: types small letters on the machine's keyboard; a space is Return.
types() {
  # shellcheck disable=SC2001 # one letter a word
  for key in $(echo "$1" | sed 's/ /_/g; s/./& /g'); do
    [ "$key" != _ ] || key=ret
    machine qmp send-key '{"keys": [{"type": "qcode", "data": "'"$key"'"}]}' >/dev/null
    sleep 0.2
  done
}
# shows TEXT: waits until the console shows it.
shows() { wait_for "the console does not show '$1'" inside grep -q "$1" /dev/vcs1; }
# in_session COMMAND: runs alice's command with the bus of her session, without a login of its own.
in_session() {
  # shellcheck disable=SC2016 # the guest's shell fills in
  inside sh -c 'id=$(id -u alice) && cd /home/alice && exec setpriv --reuid=alice --regid=alice --init-groups env HOME=/home/alice \
    XDG_RUNTIME_DIR="/run/user/$id" DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$id/bus" sh -c "$1"' sh "$1"
}
locked() {
  in_session 'busctl --user --auto-start=no get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
    org.freedesktop.Secret.Collection Locked'
}
# has_shell: whether alice has a shell on the console.
has_shell() { inside pgrep -u alice -t tty1 -x bash; }
logs_out() {
  types 'exit '
  wait_for "something of alice's stays" inside sh -c '! pgrep -u alice'
}

# A console with GNOME's PAM lines for the keyring, like a greeter, and the lines of Whorl.
inside loginctl disable-linger alice
inside sh -c 'echo "alice:sesame" | chpasswd && systemctl unmask getty@tty1.service && systemctl start getty@tty1.service &&
  printf "auth optional pam_gnome_keyring.so\nsession optional pam_gnome_keyring.so auto_start\n" >>/etc/pam.d/login'

# The first login, by password, makes the keyring, which the daemon offers from the second one on.
for round in 1 2; do
  shows "login:"
  types 'alice '
  shows "Password:"
  types 'sesame '
  wait_for "no shell" has_shell
  [ "$round" = 2 ] || logs_out
done
expect 0 "" in_session 'printf "in the keyring" | secret-tool store --label=x --collection=login site a'
expect 0 "b false" locked
expect 0 "" inside env DEBIAN_FRONTEND=noninteractive pam-auth-update --enable whorl whorl-verify
in_session 'umask 077; printf sesame >keyring-password'
expect 0 "" in_session 'whorl passcode --first-unlock login --passcode-fd 3 3<passcode'
expect 0 "has a secret of its own" in_session \
  'whorl login enable gnome-keyring --password-fd 3 --recovery-fd 4 3<keyring-password 4<recovery'
logs_out

# off_and_on: a cold boot, after which nothing of Whorl's runs.
off_and_on() {
  machine end
  machine boot
  expect 3 "inactive" inside systemctl is-active whorld.service
  shows "login:"
}
# opens: the keyring of alice is looked at four times a second; nothing of hers runs before the login.
opens() {
  # shellcheck disable=SC2016 # the guest's shell fills in
  beside in_session 'until [ -S "$XDG_RUNTIME_DIR/bus" ] && busctl --user --auto-start=no get-property org.freedesktop.secrets \
    /org/freedesktop/secrets/collection/login org.freedesktop.Secret.Collection Locked 2>/dev/null | grep "b false"; do sleep 0.25; done'
  sleep 5
}

# By finger: the login starts the service and the reader.
unplug own
off_and_on
plug own
seen c0ffee000001
opens
types 'alice '
typed=$(now)
expect 0 "verify" tell own wanted 30
shows "ouch the fingerprint reader"
echo "  $(since "$typed") s from the name to the question for a finger"
touched=$(now)
expect 0 "match" tell own press right
wait_for "no shell" has_shell
echo "  $(since "$touched") s from the touch to the shell"
finished
echo "  $(since "$touched") s from the touch to the open keyring"
expect 0 "in the keyring" in_session 'timeout 10 secret-tool lookup site a'
expect 0 "verify-login" in_session 'whorl log -n 5'
logs_out

# Another finger opens nothing; then the password opens the keyring, with the same secret.
shows "login:"
types 'alice '
expect 0 "verify" tell own wanted 30
for _ in 1 2 3; do
  expect 0 "no match" tell own press thumb
done
shows "Password:"
expect 1 "" has_shell
types 'sesame '
wait_for "no shell" has_shell
expect 0 "in the keyring" in_session 'timeout 10 secret-tool lookup site a'
logs_out

# By password after a cold boot, without a reader.
unplug own
off_and_on
opens
types 'alice '
shows "Password:"
types 'sesame '
typed=$(now)
wait_for "no shell" has_shell
echo "  $(since "$typed") s from the password to the shell"
finished
echo "  $(since "$typed") s from the password to the open keyring"
expect 0 "in the keyring" in_session 'timeout 10 secret-tool lookup site a'
