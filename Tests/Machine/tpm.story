# A store sealed in the machine's TPM: over a reboot, and sealed to PCR 7 on request.
. "${here:?}/common.sh"
begins alice

opens() {
  expect 0 "silver" at_seat alice 'whorl get note/alice'
  expect 0 "iron" at_seat alice "whorl get deep/alice --passcode-fd 3 3<passcode"
}
expect 0 "TPM" at_seat alice 'whorl status'
expect 0 "0x1" inside tpm2_getcap handles-nv-index
opens
machine reboot
expect 77 "are closed" at_seat alice 'whorl get note/alice'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
opens
expect 0 "" at_seat alice 'whorl reseal --pcr 7 --recovery-fd 4 --passcode-fd 3 4<recovery 3<passcode'
expect 0 "register 7" at_seat alice 'whorl status'
