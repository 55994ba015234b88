# A machine with a kernel of its own boots, and the packages of Whorl are installed in it.
. "${here:?}/common.sh"

expect 0 "running" inside systemctl is-system-running
expect 0 "" inside sh -c 'test -e /dev/tpmrm0 && test -e /sys/kernel/security/apparmor && test -d /sys/bus/usb/devices/usb1'
expect 0 "landlock" inside cat /sys/kernel/security/lsm

# After the installation the sockets listen, nothing runs, and doctor says what is missing.
for unit in whorld.socket whorl-reader-libfprint.socket whorl-reader-fprintd.socket; do
  expect 0 "active" inside systemctl is-active "$unit"
done
expect 3 "inactive" inside systemctl is-active whorld.service
expect 0 "tss:tss 660" inside stat -c '%U:%G %a' /dev/tpmrm0
person alice
expect 66 "no store" at_seat alice 'whorl doctor'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "TPM" at_seat alice 'whorl status'
expect 0 "" at_seat alice 'printf silver | whorl set note/alice --access none'
expect 0 "silver" at_seat alice 'whorl get note/alice'
