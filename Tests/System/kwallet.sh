# shellcheck shell=sh disable=SC2154
# KWallet in a booted system: opened when a desktop starts, and undone. The stories set $daemon.

user alice
virtual_reader
own_password_is_typed
echo 'alice:open sesame, please' | chpasswd
gdm_files
enrol alice right-index
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
expect 0 "" env DEBIAN_FRONTEND=noninteractive pam-auth-update --enable whorl
at_seat alice 'umask 077; echo "open sesame, please" >passcode; echo "typed in KDE" >wallet-password'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'

# kwallet METHOD SIGNATURE ARGUMENT...: asks alice's daemon, which is not started for it.
kwallet() {
  in_session alice "busctl --user --auto-start=no call org.kde.$daemon /modules/$daemon org.kde.KWallet $*"
}
is_open() {
  expect 0 "b true" kwallet isOpen s kdewallet
  handle=$(kwallet open sxs kdewallet 0 story)
  expect 0 "in the wallet" kwallet readPassword isss "${handle#i }" folder site story
}
# plasma: a desktop without a screen.
plasma() {
  in_session alice 'systemctl --user set-environment QT_QPA_PLATFORM=offscreen'
  desktop
}

log_in gdm-password alice 'open sesame, please'
in_session alice "python3 /usr/share/whorl-tests/make-wallet.py $daemon 'typed in KDE'"
expect 0 "" in_session alice 'whorl passcode --first-unlock login --passcode-fd 3 3<passcode'
expect 77 "that is not the password of KWallet" in_session alice 'whorl login enable kwallet --password-fd 3 3<passcode'
expect 0 "Logins open KWallet" in_session alice 'whorl login enable kwallet --password-fd 3 3<wallet-password'
log_out

# After a start, by finger: the wallet opens when the desktop starts, not at the login, which has no screen.
systemctl restart whorld.service
log_in gdm-fingerprint alice
expect 1 "" in_session alice "pgrep -u alice $daemon"
plasma
is_open
# The daemon outlives the unit that started it, in its own scope. The key is visible nowhere.
expect 0 "session.slice" in_session alice "cat /proc/\$(pgrep -u alice $daemon)/cgroup"
expect 3 "" in_session alice 'systemctl --user is-active whorl-login.service'
expect 0 "--pam-login" in_session alice "tr '\\0' ' ' </proc/\$(pgrep -u alice $daemon)/cmdline"
expect 0 "Opened: kwallet kdewallet" in_session alice 'whorl login open'
log_out
# systemd 257 reports the end of a service manager shortly before its process has ended.
nothing_runs() { [ -z "$(pgrep -u alice || :)" ]; }
wait_for "the end of all that alice runs" nothing_runs

log_in gdm-password alice 'open sesame, please'
plasma
is_open
expect 0 "" in_session alice 'whorl login disable kwallet'
log_out
log_in gdm-fingerprint alice
plasma
expect 1 "" in_session alice "pgrep -u alice $daemon"
log_out
case $(journalctl -q --no-pager -t whorld -t whorl -t "$daemon") in *sesame* | *"in KDE"*) fail "a secret is in the journal" ;; esac
