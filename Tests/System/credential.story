# A store whose keys are sealed under a credential of systemd: the unit with and without one, the move from a key file,
# a renewal, a lost, changed or damaged credential, and the recovery.
. /usr/share/whorl-tests/common.sh

user alice
mkdir -p /etc/whorl/whorld.conf.d
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
printf 'require-passcode-after-boot = no\n' >/etc/whorl/whorld.conf.d/credential.conf
store=/var/lib/whorl/$(id -u alice)-alice
credentials=/etc/credstore.encrypted

# restart: restarts the service with the current credentials.
restart() {
  systemctl stop whorld.service 2>/dev/null || :
  # systemd refuses a service that starts five times in ten seconds.
  systemctl reset-failed whorld.service whorld.socket 2>/dev/null || :
  systemctl start whorld.socket
}
# make NAME: makes a credential, with the command of docs/administration.md.
make() { head -c 32 /dev/urandom | systemd-creds encrypt --name="$1" - "$credentials/$1"; }
# opens PASSCODES: alice's items open without and with the passcode.
opens() {
  expect 0 "silver" elsewhere alice 'whorl get note/mine'
  expect 0 "gold" elsewhere alice "whorl get deep/mine --passcode-fd 3 3<$1"
}

# Without a credential the unit starts, and the store has a key file.
restart
elsewhere alice 'umask 077; echo "open sesame, please" >passcode; echo "sesame, open again" >next'
expect 0 "" elsewhere alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
elsewhere alice 'printf silver | whorl set note/mine --access none
  printf gold | whorl set deep/mine --access passcode'
expect 0 "key file (system service)" elsewhere alice 'whorl status'
expect 69 "this store keeps its keys in a file, and no security chip (TPM) is there" elsewhere alice 'whorl reseal --passcode-fd 3 3<passcode'

# With a credential the store moves to it. The credential's key is on the same disk, as the status says.
install -d -m 700 "$credentials"
make whorl-key
restart
expect 0 "key file (system service)" elsewhere alice 'whorl status'
expect 0 "systemd credential" elsewhere alice 'whorl reseal --passcode-fd 3 3<passcode'
[ ! -e "$store/device.key" ] || fail "the key file is still there"
expect 0 "no more than a key file" elsewhere alice 'whorl status'
expect 0 "systemd credential" elsewhere alice 'whorl status --json'
restart
opens passcode

# The file that shows the credential's kind exists, too: it begins with systemd's id of a key on this disk, in Base64.
# There is none for an earlier credential.
given=/run/credentials/whorld.service
[ "$(head -c 6 "$given/whorl-key-encrypted")" = Whxqht ] || fail "the service cannot tell the kind of its credential"
[ "$(cat "$given/whorl-key-earlier-encrypted")" = none ] || fail "there is an earlier credential"

# No user can read it.
! elsewhere alice 'cat /run/credentials/whorld.service/whorl-key' 2>/dev/null || fail "a user reads the credential"

# The renewal: the earlier one opens the store until it is resealed.
cd "$credentials" || exit
systemd-creds decrypt whorl-key - | systemd-creds encrypt --name=whorl-key-earlier - whorl-key-earlier
make whorl-key
restart
opens passcode
expect 0 "systemd credential" elsewhere alice 'whorl reseal --passcode-fd 3 3<passcode'
rm whorl-key-earlier
restart
opens passcode

# The credential is lost: the store does not open, not even with the recovery key, until there is a new credential.
mv whorl-key /root/whorl-key
restart
expect 69 "systemd credential" elsewhere alice 'whorl get note/mine'
expect 69 "is not there" elsewhere alice 'whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<next'
make whorl-key
restart
expect 65 "another one" elsewhere alice 'whorl get note/mine'
expect 0 "" elsewhere alice 'whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<next'
expect 0 "systemd credential" elsewhere alice 'whorl status'
restart
opens next
expect 77 "wrong passcode" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<passcode'

# If systemd cannot decrypt the credential, the service does not start, and does not fall back to a lower tier.
cp whorl-key /root/good
printf 'damaged' >whorl-key
restart
expect 69 "" elsewhere alice 'whorl get note/mine'
expect 0 "243" systemctl show -P ExecMainStatus whorld.service
cp /root/good whorl-key
restart
opens next

# Without a credential, and if an administrator allows it, the recovery key moves the store to a key file.
rm whorl-key
printf 'require-passcode-after-boot = no\ncredential = no\n' >/etc/whorl/whorld.conf.d/credential.conf
restart
expect 69 "the settings exclude it" elsewhere alice 'whorl get note/mine --verbose'
expect 0 "" elsewhere alice 'whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<passcode'
expect 0 "key file (system service)" elsewhere alice 'whorl status'
opens passcode

# If the settings require a credential, no store is made without one.
printf 'credential = yes\n' >/etc/whorl/whorld.conf.d/credential.conf
restart
user bob
expect 69 "systemd credential" elsewhere bob 'echo "open sesame, please" | whorl init --passcode-fd 0 --recovery-fd 4 4>recovery'
exit 0
