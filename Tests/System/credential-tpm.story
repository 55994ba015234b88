# A store whose keys are sealed under a credential that systemd has sealed in the machine's TPM: a restart, another
# machine, a lost TPM, and the recovery from each. swtpm replaces the TPM, which systemd uses directly.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/software-tpm.sh

# systemd uses the same TPM for the credentials of units.
mkdir -p /etc/systemd/system.conf.d /etc/whorl/whorld.conf.d
printf '[Manager]\nManagerEnvironment=SYSTEMD_TPM2_DEVICE=swtpm:path=%s\n' "$tpm" >/etc/systemd/system.conf.d/tpm.conf
systemctl daemon-reexec
# systemd 252 cannot open a credential that it sealed to no register. This register stays empty unless a program uses
# it.
version=$(systemctl --version | head -n 1)
case $version in "systemd 252 "*) register=23 ;; *) register= ;; esac
echo "  $version, register '$register'"

user alice
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
printf 'require-passcode-after-boot = no\n' >/etc/whorl/whorld.conf.d/credential.conf
store=/var/lib/whorl/$(id -u alice)-alice
credentials=/etc/credstore.encrypted
install -d -m 700 "$credentials"

# make KEY: makes a credential sealed with that kind of key, with the command of docs/administration.md.
make() {
  head -c 32 /dev/urandom | systemd-creds encrypt --with-key="$1" --tpm2-pcrs=$register --tpm2-device="swtpm:path=$tpm" \
    --name=whorl-key - "$credentials/whorl-key"
}
# opens PASSCODES: alice's items open without and with the passcode.
opens() {
  expect 0 "silver" elsewhere alice 'whorl get note/mine'
  expect 0 "gold" elsewhere alice "whorl get deep/mine --passcode-fd 3 3<$1"
}
# refused: systemd cannot open the credential, so the service does not start, and does not fall back to a lower tier.
refused() {
  expect 69 "" elsewhere alice 'whorl get note/mine'
  expect 0 "243" systemctl show -P ExecMainStatus whorld.service
}
# another_tpm: replaces the machine's TPM with an empty one.
another_tpm() {
  power_off
  find /var/lib/software-tpm -mindepth 1 -delete
  power_on
}

power_on
make tpm2
elsewhere alice 'umask 077; echo "open sesame, please" >passcode; echo "sesame, open again" >next'
expect 0 "" elsewhere alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
elsewhere alice 'printf silver | whorl set note/mine --access none
  printf gold | whorl set deep/mine --access passcode'
expect 0 "systemd credential sealed by the TPM" elsewhere alice 'whorl status'
[ ! -e "$store/device.key" ] || fail "there is a key file beside the credential"
opens passcode

# The machine is turned off and on.
power_on
opens passcode

# A thief's machine, with the disk and no TPM or another one.
power_off
cp -a /var/lib/software-tpm /root/tpm
refused
another_tpm
refused
# The machine's own again.
power_off
find /var/lib/software-tpm -mindepth 1 -delete
cp -a /root/tpm/. /var/lib/software-tpm/
power_on
opens passcode

# The TPM is cleared: a new credential and the recovery key bring everything back. This one needs the disk as well.
another_tpm
refused
make host+tpm2
end_service
expect 65 "another one" elsewhere alice 'whorl get note/mine'
expect 0 "" elsewhere alice 'whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<next'
expect 0 "systemd credential sealed by the TPM" elsewhere alice 'whorl status'
opens next
power_on
opens next
expect 77 "wrong passcode" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<passcode'
exit 0
