# Stores sealed by the TPM: after a reboot, after a boot with another value of PCR 7, with a cleared TPM, and without one.
. "${here:?}/common.sh"
begins alice

rebooted() {
  machine reboot
  expect 77 "are closed" at_seat alice 'whorl get note/alice'
  expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
}
opens() {
  expect 0 "silver" at_seat alice 'whorl get note/alice'
  expect 0 "iron" at_seat alice "whorl get deep/alice --passcode-fd 3 3<$1"
}
expect 0 "TPM" at_seat alice 'whorl status'
expect 0 "0x1" inside tpm2_getcap handles-nv-index
opens passcode
rebooted
opens passcode

# Sealed to PCR 7, in which firmware measures the keys of Secure Boot.
expect 0 "" at_seat alice 'whorl reseal --pcr 7 --recovery-fd 4 --passcode-fd 3 4<recovery 3<passcode'
expect 0 "register 7" at_seat alice 'whorl status'
opens passcode
# PCR 7 changes.
inside systemctl stop whorld.service
inside tpm2_pcrextend 7:sha256=0000000000000000000000000000000000000000000000000000000000000001
at_seat alice 'whorl get note/alice; whorl unlock --passcode-fd 3 3<passcode' || echo "  status $?"
expect 0 "" at_seat alice 'whorl recover --recovery-fd 4 --passcode-fd 3 4<recovery 3<next'
opens next

# The TPM is cleared, as by the firmware, or as on another mainboard.
machine end
machine clear-tpm
machine boot
expect 65 "(TPM) was cleared or replaced" at_seat alice 'whorl get note/alice'
expect 0 "" at_seat alice 'whorl recover --accept-restore --recovery-fd 4 --passcode-fd 3 4<recovery 3<passcode'
opens passcode

# Without a TPM.
machine end
machine boot no-tpm
expect 1 "" inside test -e /dev/tpmrm0
expect 69 "cannot be used" at_seat alice 'whorl get note/alice'
at_seat alice 'whorl doctor' || :
machine end
machine boot
expect 77 "are closed" at_seat alice 'whorl get note/alice'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
opens passcode
