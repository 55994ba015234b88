# GNOME Keyring in a booted system: opening it at a login, within a session and after it, and undoing that.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/desktop.sh

user alice
user bob
virtual_reader
own_password_is_typed
echo 'alice:open sesame, please' | chpasswd
echo 'bob:another password' | chpasswd
gdm_files

# is_open, is_locked: the state of the login keyring. An open one answers without a prompt, which nobody here could
# answer.
locked() {
  in_session "$who" 'busctl --user get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
    org.freedesktop.Secret.Collection Locked'
}
is_open() {
  expect 0 "b false" locked
  expect 0 "in the keyring" in_session "$who" 'timeout 10 secret-tool lookup site a'
}
is_locked() { expect 0 "b true" locked; }

expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
expect 0 "" env DEBIAN_FRONTEND=noninteractive pam-auth-update --enable whorl

# Without Whorl: the first login makes the keyring, a typed password opens it, and a finger leaves it locked.
for name in alice bob; do
  password=$([ "$name" = alice ] && echo 'open sesame, please' || echo 'another password')
  log_in gdm-password "$name" "$password"
  log_out
  log_in gdm-password "$name" "$password"
  expect 0 "" in_session "$name" 'printf "in the keyring" | secret-tool store --label=x --collection=login site a'
  is_open
  log_out
done
enrol alice right-index
log_in gdm-fingerprint alice
is_locked
log_out

# Enabling it, which is refused while the first login after a start would also ask for the passcode.
at_seat alice 'umask 077; echo "open sesame, please" >passcode; echo "open sesame, please" >keyring-password'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "" at_seat bob 'umask 077; echo "open sesame, please" >passcode
  whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
install -o alice -m 600 /home/bob/recovery /home/alice/other-recovery
log_in gdm-password alice 'open sesame, please'
expect 77 "the first login would" in_session alice 'whorl login enable gnome-keyring --password-fd 3 3<keyring-password'
expect 0 "" in_session alice 'whorl passcode --first-unlock login --passcode-fd 3 3<passcode'
# The recovery key is tested first: without it the keyring is not changed.
expect 77 "--recovery-fd" in_session alice 'whorl login enable gnome-keyring --password-fd 3 3<keyring-password'
expect 77 "not the recovery key" in_session alice \
  'whorl login enable gnome-keyring --password-fd 3 --recovery-fd 4 3<keyring-password 4<other-recovery'
is_open
expect 0 "has a secret of its own" in_session alice \
  'whorl login enable gnome-keyring --password-fd 3 --recovery-fd 4 3<keyring-password 4<recovery'
is_open
expect 0 "tells Whorl, takes a finger" in_session alice 'whorl login status'
expect 1 "login keyring of: alice" env PREFIX=/usr /usr/src/whorl/scripts/uninstall
log_out

# After a start of the machine, by finger.
restart
log_in gdm-fingerprint alice
is_open
[ ! -e /home/alice/.local/share/keyrings/login.keyring.before-whorl ] || fail "the file from before is still there"
desktop
is_open
# A daemon that is killed in the session, and one that ends by itself.
for signal in KILL TERM; do
  daemon=$(pgrep -u alice -f gnome-keyring-daemon)
  in_session alice "systemctl --user kill --signal=$signal gnome-keyring-daemon.service"
  wait_for "the end of the daemon" test ! -e "/proc/$daemon"
  in_session alice 'systemctl --user start gnome-keyring-daemon.service'
  is_open
done
log_out
[ -z "$(pgrep -u alice || :)" ] || fail "something of alice's runs after the last logout: $(pgrep -a -u alice)"

# By password: the password from GNOME's own module opens nothing, and the keyring keeps its secret when an item is
# stored in it.
log_in gdm-password alice 'open sesame, please'
desktop
is_open
expect 0 "" in_session alice 'printf more | secret-tool store --label=y --collection=login site b'
log_out
log_in gdm-fingerprint alice
expect 0 more in_session alice 'timeout 10 secret-tool lookup site b'

# A variable for programs that the user's service manager starts.
expect 0 "" in_session alice 'printf "for the session" | whorl set token --access none --accessible after-first-unlock'
expect 0 "Each login delivers token" in_session alice 'whorl login add token --to env:STORY_TOKEN'
log_out
log_in gdm-password alice 'open sesame, please'
expect 0 "for the session" in_session alice 'systemctl --user show-environment | grep ^STORY_TOKEN='
expect 0 "for the session" in_session alice 'systemd-run --user --quiet --pipe --wait sh -c "echo \$STORY_TOKEN"'
expect 0 "" in_session alice 'whorl login rm env:STORY_TOKEN'
expect 1 "" in_session alice 'systemctl --user show-environment | grep ^STORY_TOKEN='
log_out

# With lingering, the user manager and its keyring daemon stay; the end of the desktop locks the keyring, and the next
# login opens it.
loginctl enable-linger alice
log_in gdm-fingerprint alice
desktop
is_open
end_of_desktop
is_locked
exec 9>&-
wait "$session"
is_locked
log_in gdm-fingerprint alice
is_open
loginctl disable-linger alice
log_out

# Another set of fingers, and a password set by root, change nothing: the store is open, and opens the keyring.
enrol alice left-index
echo 'alice:set by root' | chpasswd
log_in gdm-password alice 'set by root'
is_open
log_out
echo 'alice:open sesame, please' | chpasswd

# The passcode alone opens the store after a start: the login password is the passcode, and a finger is not enough.
expect 0 "" at_seat alice 'whorl passcode --first-unlock passcode --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'whorl login enable passcode --passcode-fd 3 3<passcode'
wait_for "the end of the service manager of alice" has_ended "user@$(id -u alice).service"
restart
log_in gdm-fingerprint alice
is_locked
# With a command and the passcode.
expect 0 "Opened: gnome-keyring login" in_session alice 'whorl login open --passcode-fd 3 3<passcode'
is_open
log_out
restart
log_in gdm-password alice 'open sesame, please'
is_open
expect 0 "your login password is the passcode" in_session alice 'whorl login status'
expect 77 "no login would open it then" in_session alice 'whorl login disable passcode'

# Root sets another password: both commands that look at logins say at once that the two differ, and a login opens nothing.
echo 'alice:set by root' | chpasswd
at_seat alice 'umask 077; echo "set by root" >login-password'
expect 0 "two different passwords" in_session alice 'whorl login status'
expect 0 "two different passwords" in_session alice 'whorl doctor || :'
expect 0 "Next      your login password and the passcode are two different passwords" in_session alice \
  'script -qec whorl /dev/null'
expect 0 "warn  login     your login password and the passcode" in_session alice 'whorl setup'
log_out
restart
log_in gdm-password alice 'set by root'
is_locked
expect 0 "two different passwords" in_session alice 'whorl login status'
# Typed at a terminal, the login password is no wrong passcode, however often: the passcode can be typed after it.
for _ in 1 2 3 4 5 6; do
  expect 77 "still different" typing 'set by root
n' alice 'whorl login enable passcode'
done
expect 0 '"passcodeDelay":0' in_session alice 'whorl status --json'
# The store's passcode does not work as the login password.
expect 77 "that is the passcode of your secrets, and not your login password" in_session alice \
  'whorl login enable passcode --password-fd 3 3<passcode'
expect 77 "--change-passcode" in_session alice 'whorl login enable passcode --password-fd 3 3<login-password'
expect 0 "The passcode is your login password now" in_session alice \
  'whorl login enable passcode --password-fd 3 --change-passcode --passcode-fd 4 3<login-password 4<passcode'
expect 0 "your login password is the passcode" in_session alice 'whorl login status'
log_out
restart
log_in gdm-password alice 'set by root'
is_open
# Once they are the same again, passwd changes both.
log_out
{
  for word in 'set by root' 'open sesame, please' 'open sesame, please'; do
    sleep 2
    echo "$word"
  done
  sleep 3
} | at_seat alice 'script -qec passwd /dev/null' >/tmp/passwd 2>&1 || fail "passwd: $(cat /tmp/passwd)"
restart
log_in gdm-password alice 'open sesame, please'
is_open
expect 0 "your login password is the passcode" in_session alice 'whorl login status'

# Undone: GNOME's own module opens the keyring again, and a finger does not.
expect 0 "has its new password" in_session alice 'whorl login disable gnome-keyring --password-fd 3 3<keyring-password'
is_open
log_out
for left in /home/alice/.local/share/keyrings/*whorl*; do [ ! -e "$left" ] || fail "left behind: $left"; done
log_in gdm-fingerprint alice
is_locked
log_out
log_in gdm-password alice 'open sesame, please'
is_open
desktop
is_open
end_of_desktop
is_open
log_out

# For a user who has chosen nothing, nothing changes.
log_in gdm-password bob 'another password'
desktop
is_open
end_of_desktop
is_open
log_out

expect 0 "/etc/whorl/system" env PREFIX=/usr /usr/src/whorl/scripts/uninstall
case $(journalctl -q --no-pager -t whorld -t whorl -t python3) in
  *sesame* | *"in the keyring"* | *"for the session"*) fail "a secret is in the journal" ;;
esac
exit 0
