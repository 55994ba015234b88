# An upgrade from the packages of each commit in packaging/debian/earlier.txt by the README's line, while alice's login keyring
# opens only with Whorl: no package is removed, her logins open the keyring as before, and her secrets are there.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/desktop.sh

packages=/usr/share/whorl-packages
export DEBIAN_FRONTEND=noninteractive
apt() { apt-get -q -y -o DPkg::Lock::Timeout=60 "$@"; }
password='open sesame, please'

# The program that presses the fingers comes with a package of tests, which is not upgraded here.
dpkg-deb --extract "$packages"/whorl-tests_*.deb /tmp/tests
install -m 755 /tmp/tests/usr/bin/whorl-finger /usr/bin/whorl-finger
user alice
virtual_reader
own_password_is_typed
echo "alice:$password" | chpasswd
gdm_files
apt update >/dev/null

locked() {
  in_session "$who" 'busctl --user get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
    org.freedesktop.Secret.Collection Locked'
}
# opens: whether the keyring is open, and has what it had.
opens() {
  expect 0 "b false" locked
  expect 0 "in the keyring" in_session "$who" 'timeout 10 secret-tool lookup site a'
}
# version_in FILE, version_of PACKAGE: of a package's file, and of what is installed; nothing if that is not whole.
version_in() { dpkg-deb --field "$1" Version; }
version_of() { dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p'; }
# is_upgraded: whether both packages are those of the sources at hand, the service listens and logins are still reported to it.
is_upgraded() {
  for package in whorl libpam-whorl; do
    [ "$(version_of $package)" = "$(version_in "$packages/$package"_*.deb)" ] || fail "$package is $(version_of $package)"
  done
  is_whole
}
is_whole() {
  expect 0 "" dpkg --verify whorl libpam-whorl
  [ -z "$(dpkg --audit)" ] || fail "half installed: $(dpkg --audit)"
  expect 0 "active" systemctl is-active whorld.socket
  expect 0 "pam_whorl.so" grep pam_whorl.so /etc/pam.d/common-session
}

# Without Whorl, the first login makes the keyring, and the second one opens it.
log_in gdm-password alice "$password"
log_out
log_in gdm-password alice "$password"
expect 0 "" in_session alice 'printf "in the keyring" | secret-tool store --label=x --collection=login site a'
opens
log_out
enrol alice right-index
at_seat alice "umask 077; echo '$password' >passcode; echo '$password' >keyring-password"

for earlier in "$packages"/earlier/*; do
  echo "  from the packages of $(basename "$earlier")"
  expect 0 "Setting up libpam-whorl" apt install "$earlier"/whorl_*.deb "$earlier"/libpam-whorl_*.deb
  expect 0 "" pam-auth-update --enable whorl
  expect 0 "" at_seat alice 'rm -f recovery && whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
  log_in gdm-password alice "$password"
  expect 0 "" in_session alice 'whorl passcode --first-unlock login --passcode-fd 3 3<passcode'
  expect 0 "has a secret of its own" in_session alice \
    'whorl login enable gnome-keyring --password-fd 3 --recovery-fd 4 3<keyring-password 4<recovery'
  expect 0 "" in_session alice 'printf silver | whorl set note/me --access none'
  log_out
  log_in gdm-fingerprint alice
  opens
  log_out

  # Who still has the old README types a line without libpam-whorl. Where that would remove the module, its package refuses,
  # since only Whorl opens the keyring. Whatever it did, the module is there, and the line of today sets it right.
  apt install "$packages"/whorl_*.deb >/tmp/alone 2>&1 || tail -n 3 /tmp/alone
  [ -n "$(version_of libpam-whorl)" ] || fail "the line without it has removed libpam-whorl: $(cat /tmp/alone)"
  expect 0 "pam_whorl.so" grep pam_whorl.so /etc/pam.d/common-session

  # The README's line.
  expect 0 "Setting up libpam-whorl" apt install "$packages"/whorl_*.deb "$packages"/libpam-whorl_*.deb
  case $output in *REMOVED*) fail "a package was removed: $output" ;; esac
  is_upgraded
  log_in gdm-password alice "$password"
  opens
  log_out
  log_in gdm-fingerprint alice
  opens
  expect 0 silver in_session alice 'whorl get note/me'
  log_out

  # From now on a later whorl alone takes no package away.
  rm -rf /tmp/next
  dpkg-deb --raw-extract "$packages"/whorl_*.deb /tmp/next
  sed -i 's/^Version: .*/&+next/' /tmp/next/DEBIAN/control
  dpkg-deb -Znone --root-owner-group --build /tmp/next /tmp/next.deb >/dev/null
  expect 0 "Setting up whorl" apt install /tmp/next.deb
  [ "$(version_of whorl)" = "$(version_in /tmp/next.deb)" ] || fail "whorl is $(version_of whorl)"
  [ -n "$(version_of libpam-whorl)" ] || fail "libpam-whorl was removed: $output"
  is_whole
  log_in gdm-fingerprint alice
  opens
  # The next packages begin anew.
  expect 0 "has its new password" in_session alice \
    'whorl login disable gnome-keyring --password-fd 3 3<keyring-password'
  log_out
  expect 0 "kept, since it exists nowhere else" apt purge whorl libpam-whorl
  rm -rf /var/lib/whorl
  userdel whorl || :
done
exit 0
