# A store whose keys the machine's TPM has sealed: a restart, another machine, a lost TPM and an earlier copy, and the
# recovery from each (rows 5 and 15 of README.md). swtpm replaces the TPM.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/software-tpm.sh

user alice
# uses_tpm PLACE: sets the TPM in whorld.conf.
uses_tpm() {
  printf 'tpm = %s\nrequire-passcode-after-boot = no\n' "$1" >/etc/whorl/whorld.conf.d/tpm.conf
  systemctl stop whorld.service 2>/dev/null || :
}
# opens: alice's items open without and with the passcode.
opens() {
  expect 0 "silver" elsewhere alice 'whorl get note/mine'
  expect 0 "gold" elsewhere alice "whorl get deep/mine --passcode-fd 3 3<$1"
}

mkdir -p /etc/whorl/whorld.conf.d
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
uses_tpm "swtpm:$tpm"
power_on
elsewhere alice 'umask 077; echo "open sesame, please" >passcode; echo "sesame, open again" >next'
expect 0 "" elsewhere alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
elsewhere alice 'printf silver | whorl set note/mine --access none
  printf gold | whorl set deep/mine --access passcode'
expect 0 "TPM" elsewhere alice 'whorl status'
store=/var/lib/whorl/$(id -u alice)-alice
[ ! -e "$store/device.key" ] || fail "there is a key file beside the TPM"
opens passcode

# The machine is turned off and on.
power_on
opens passcode

# A thief's machine, with the disk and another TPM or none. The passcode opens nothing there.
power_off
cp -a /var/lib/software-tpm /root/tpm
find /var/lib/software-tpm -mindepth 1 -delete
power_on
expect 65 "(TPM) was cleared or replaced" elsewhere alice 'whorl get note/mine'
expect 65 "whorl recover" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<passcode'
power_off
expect 69 "cannot be used" elsewhere alice 'whorl get note/mine'
# The machine's own again.
systemctl stop whorld.service
find /var/lib/software-tpm -mindepth 1 -delete
cp -a /root/tpm/. /var/lib/software-tpm/
power_on
opens passcode

# The TPM is cleared, or the mainboard replaced: the recovery key brings everything back, under the new one.
power_off
find /var/lib/software-tpm -mindepth 1 -delete
power_on
expect 0 "" elsewhere alice 'whorl recover --accept-restore --recovery-fd 4 --passcode-fd 3 4<recovery 3<next'
expect 0 "TPM" elsewhere alice 'whorl status'
opens next
power_on
opens next
expect 77 "wrong passcode" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<passcode'

# Without a TPM: an administrator allows it, and the recovery key moves the store to a key file. And back.
power_off
uses_tpm no
expect 69 "" elsewhere alice 'whorl get note/mine'
expect 0 "" elsewhere alice 'whorl recover --accept-restore --recovery-fd 4 --passcode-fd 3 4<recovery 3<passcode'
[ -e "$store/device.key" ] || fail "there is no key file"
opens passcode
uses_tpm "swtpm:$tpm"
power_on
opens passcode
expect 0 "" elsewhere alice 'whorl reseal --passcode-fd 3 3<passcode'
[ ! -e "$store/device.key" ] || fail "the key file is still there"
opens passcode
power_on
opens passcode

# On request the keys are sealed to registers, which the status shows, until they are sealed again.
expect 0 "" elsewhere alice 'whorl reseal --pcr 7 --recovery-fd 4 --passcode-fd 3 4<recovery 3<passcode'
expect 0 "register 7 (PCR)" elsewhere alice 'whorl status'
expect 0 '"registers":[7]' elsewhere alice 'whorl status --json'
power_on
opens passcode
expect 0 "" elsewhere alice 'whorl reseal --passcode-fd 3 3<passcode'
expect 0 '"registers":[]' elsewhere alice 'whorl status --json'

# The folder of all stores is restored: detected by the counters of the TPM. The earlier passcode opens nothing.
power_off
cp -a /var/lib/whorl /root/earlier
power_on
elsewhere alice '{ cat passcode next; } >both'
expect 0 "" elsewhere alice 'whorl passcode --passcode-fd 3 3<both'
opens next
power_off
find /var/lib/whorl -mindepth 1 -delete
cp -a /root/earlier/. /var/lib/whorl/
power_on
expect 65 "an earlier copy" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<passcode'
expect 65 "an earlier copy" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<next'
exit 0
