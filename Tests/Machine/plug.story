# A reader is plugged in: udev's rules, doctor, the lists, and enrolment by fprintd's own program and by Whorl.
. "${here:?}/common.sh"
begins alice

expect 69 "no fingerprint reader" at_seat alice 'whorl doctor'
own
plug own
seen c0ffee000001
node=$(inside sh -c "printf /dev/bus/usb/%03d/%03d \$(cat $usb/busnum $usb/devnum)")
# The reader belongs to libfprint's unit, and no user at the seat can open it.
expect 0 "root:whorl-reader 660" inside stat -c '%U:%G %a' "$node"
expect 1 "Permission denied" at_seat alice "cat $node"
expect 1 "" inside sh -c "udevadm info --query=property --property=CURRENT_TAGS $node | grep uaccess"
expect 0 "06cb:00bd" at_seat alice 'whorl reader list'
expect 0 "attached: Synaptics" at_seat alice 'whorl doctor'
expect 0 "" at_seat alice 'fprintd-list alice'

# Enrol with fprintd's own program, and through Whorl. A bad touch is repeated.
right="right right right right right right right right"
expect 0 "enroll-completed" touching "$right" at_seat alice 'fprintd-enroll -f right-index-finger'
expect 0 "right-index" at_seat alice 'whorl fingers'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice --access current-set'
expect 0 "gold" touching "right" at_seat alice 'whorl get bank/alice --timeout 60'
expect 0 "is enrolled" touching "left left left left left left left left left left" at_seat alice 'whorl enroll left-index --yes'
expect 0 "left-index" at_seat alice 'whorl fingers'
expect 0 "2" tell own prints
# The set of fingers has changed.
expect 77 "" at_seat alice 'whorl get bank/alice --timeout 20'
expect 0 "" at_seat alice 'printf platinum | whorl set vault/alice --access current-set'
for finger in right left; do
  expect 0 "platinum" touching "$finger" at_seat alice 'whorl get vault/alice --timeout 60'
done
# First a finger that was not enrolled, then an enrolled one.
expect 0 "platinum" touching "thumb left" at_seat alice 'whorl get vault/alice --timeout 60'
expect 77 "" touching "thumb thumb thumb" at_seat alice 'whorl get vault/alice --timeout 60'
expect 0 "verify-match" touching "right" at_seat alice 'fprintd-verify -f right-index-finger'
expect 0 "attached: Synaptics" at_seat alice 'whorl doctor'
