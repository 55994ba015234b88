# The packages: installed with one line, used as on the first page, upgraded, removed, purged and installed again.
. /usr/share/whorl-tests/common.sh

packages=/usr/share/whorl-packages
export DEBIAN_FRONTEND=noninteractive
apt() { apt-get -q -y -o DPkg::Lock::Timeout=60 "$@"; }

# The files of the machine, except logs, caches and lists of packages, which change by themselves.
files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /home -o -path /var/lib/dpkg \
    -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /var/tmp -o -path /var/lib/systemd \
    -o -path /var/lib/whorl -o -path /root \) -prune -o -print | sort
}
# named: the files with Whorl's name, except the folders of the stories.
named() { files | grep whorl | grep -v '^/usr/share/whorl-\(tests\|packages\)' || :; }

# One line installs it with its dependencies, and one line removes it while there is no store.
apt update >/dev/null
expect 2 "" getent passwd whorl
expect 0 "Setting up whorl" apt install "$packages"/whorl_*.deb
expect 0 "Setting up whorl-tests" apt install "$packages"/whorl-tests_*.deb
expect 0 "Purging" apt purge whorl whorl-tests
[ ! -e /var/lib/whorl ] || fail "an empty folder of stores is left"
for user in whorl whorl-reader whorl-fprintd whorl-program-path whorl-fido; do expect 2 "" getent passwd "$user"; done
[ -z "$(named)" ] || fail "left behind: $(named)"
# From here on the files of the other packages exist.
files >/tmp/before

expect 0 "Setting up whorl" apt install "$packages"/whorl_*.deb
# shellcheck source=/dev/null # the system's own description of itself
release=$(. /etc/os-release && echo "${VERSION_ID:+~$ID$VERSION_ID}")
expect 0 "-1$release." sh -c "dpkg-query --show --showformat='\${Version}.' whorl"
expect 0 "active" systemctl is-active whorld.socket whorl-reader-libfprint.socket whorl-reader-fprintd.socket \
  whorl-program-path.socket
expect 0 "enabled" systemctl is-enabled whorld.socket
# The SSH agent is each user's choice.
expect 1 "disabled" systemctl --global is-enabled whorl-agent.socket
expect 0 "" systemd-analyze verify --man=no whorld.service whorld.socket
expect 0 " /etc/X11/Xsession.d/80whorl-agent " dpkg-query --show --showformat='${Conffiles}' whorl
expect 0 "Setting up whorl-tests" apt install "$packages"/whorl-tests_*.deb
expect 0 "ok 2 - virtual reader, storage" whorl-tests --virtual

# The symbols of the programs are in a package of their own, where debuggers look for them by the programs' build-ids.
expect 0 "Setting up whorl-dbgsym" apt install "$packages"/whorl-dbgsym_*.deb
for program in /usr/bin/whorl /usr/bin/whorl-agent /usr/libexec/whorl/whorld /usr/libexec/whorl/whorl-reader \
  /usr/libexec/whorl/whorl-program-path /usr/libexec/whorl/whorl-fido; do
  found=
  for id in $(dpkg-deb --field "$packages"/whorl-dbgsym_*.deb Build-Ids); do
    perl -0777 -ne "exit(index(\$_, pack('H*', '$id')) < 0)" "$program" || continue
    [ -s "/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug" ] && found=yes
  done
  [ -n "$found" ] || fail "no symbols of $program"
done
expect 0 "Removing whorl-dbgsym" apt purge whorl-dbgsym

sh /usr/share/whorl/tests/first-page.sh
expect 0 "uint32" at_seat alice 'sh /usr/share/whorl-tests/version.sh'

# Alice's own private store, whose vault waits for a passcode that never comes.
at_seat alice 'mkfifo never
  whorl init --store $PWD/private --passcode-fd 3 --recovery-fd 4 3<passcode 4>again
  printf x | whorl set waits/me --access passcode --store $PWD/private' >/dev/null 2>&1
# waiting_vault: starts such a vault, and sets $vault to its process.
waiting_vault() {
  at_seat alice 'whorl get waits/me --store $PWD/private --passcode-fd 3 3<>never' >/tmp/waiting 2>&1 </dev/null &
  tries=0
  until vault=$(pgrep -u alice -x whorld); do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "no private vault: $(cat /tmp/waiting)"
    sleep 0.1
  done
}
waiting_vault

expect 0 "asked for the passcode again" apt install --reinstall "$packages"/whorl_*.deb
[ ! -d "/proc/$vault" ] || sleep 2
[ ! -d "/proc/$vault" ] || fail "a vault of the version before still runs"
expect 0 "active" systemctl is-active whorld.socket
expect 77 "are closed" at_seat alice 'whorl get note/me'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 silver at_seat alice 'whorl get note/me'
pkill -u alice -x whorl || :
wait

# While a user's login keyring opens only with Whorl, neither package can be removed, and everything works as before.
keyrings=/home/alice/.local/share/keyrings
at_seat alice "mkdir -p $keyrings && : >$keyrings/login.keyring.whorl"
expect 0 "Setting up libpam-whorl" apt install "$packages"/libpam-whorl_*.deb
for command in remove purge; do
  for package in libpam-whorl whorl; do expect 100 "login keyring of: alice" apt "$command" "$package"; done
done
expect 0 "login disable gnome-keyring" sh -c '/usr/libexec/whorl/may-remove 2>&1 || :'
expect 0 "" dpkg --verify whorl libpam-whorl
expect 0 "active" systemctl is-active whorld.socket
expect 0 silver at_seat alice 'whorl get note/me'
touch /etc/whorl/remove-anyway
expect 0 "although it has the secret" apt remove libpam-whorl
rm /etc/whorl/remove-anyway
expect 100 "login keyring of: alice" apt remove whorl
touch /etc/whorl/remove-anyway

# While a user's files make Whorl the Secret Service, it cannot be removed either, but the PAM module can.
rm "$keyrings/login.keyring.whorl" /etc/whorl/remove-anyway
expect 0 "Whorl takes over" at_seat alice 'whorl secret-service enable 2>&1'
expect 100 "the Secret Service of: alice" apt remove whorl
expect 0 "whorl secret-service disable" sh -c '/usr/libexec/whorl/may-remove 2>&1 || :'
expect 0 "" /usr/libexec/whorl/may-remove login
expect 0 "Removed /home/alice" at_seat alice 'whorl secret-service disable 2>&1'
expect 0 "" /usr/libexec/whorl/may-remove
at_seat alice 'whorl secret-service enable' >/dev/null 2>&1
touch /etc/whorl/remove-anyway
bus_file=/home/alice/.local/share/dbus-1/services/org.freedesktop.secrets.service

waiting_vault
expect 0 "  $bus_file" apt remove whorl whorl-tests
[ ! -e /etc/whorl/remove-anyway ] || fail "the word to remove it anyway holds for a second time"
[ -e "$bus_file" ] || fail "the package took a file out of a home"
rm "$bus_file"
sleep 1
if pgrep -l -x 'whorld|whorl-reader|whorl-program-.*'; then fail "still runs"; fi
for gone in /run/whorl /run/whorl-reader /run/whorl-program-path /run/whorl-fido /etc/whorl/system /usr/libexec/whorl; do
  [ ! -e "$gone" ] || fail "$gone is still there: $(ls -l "$gone")"
done
if systemctl --quiet is-active whorld.socket; then fail "the socket of the service is still there"; fi
[ -d "/var/lib/whorl/$(id -u alice)-alice" ] || fail "removing took a store away"
pkill -u alice -x whorl || :
wait

expect 0 "kept, since it exists nowhere else" apt purge whorl whorl-tests
[ -d "/var/lib/whorl/$(id -u alice)-alice" ] || fail "purging took a store away"
expect 0 "whorl:whorl 700" stat -c '%U:%G %a' /var/lib/whorl
expect 2 "" getent passwd whorl-reader
expect 2 "" getent passwd whorl-program-path
rm -rf /etc/systemd/system/whorld.service.d /etc/polkit-1/rules.d/11-own.rules
files >/tmp/after
comm -13 /tmp/before /tmp/after | grep -v -e '^/etc/[a-z]*-$' -e '^/etc/sub[ug]id' -e '^/etc/.*\.lock$' >/tmp/left || :
[ ! -s /tmp/left ] || fail "left behind: $(head -n 20 /tmp/left)"
[ -z "$(named)" ] || fail "left behind: $(named)"

# With the package installed again, the store can be used again.
expect 0 "Setting up whorl" apt install "$packages"/whorl_*.deb
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 silver at_seat alice 'whorl get note/me'
