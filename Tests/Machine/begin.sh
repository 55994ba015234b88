# shellcheck shell=sh
# Makes the snapshots from which most stories start: see `begins` in common.sh.
: "${here:?}" "${state:?}" "${begun:?}"
# shellcheck source=/dev/null
. "$here/common.sh"

person alice
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "" at_seat alice 'printf silver | whorl set note/alice --access none && printf iron | whorl set deep/alice --access passcode'
machine save alice

rm -f "$state/chip"
own
plug own
expect 0 "enroll-completed" touching "right right right right right right right right" \
  at_seat alice 'fprintd-enroll -f right-index-finger'
expect 0 "right-index" at_seat alice 'whorl fingers'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice --access current-set'
unplug own
cp "$state/chip" "$begun/chip"
machine save enrolled
