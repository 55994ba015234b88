# A user's own store with the machine's fprintd, and another user.
. /usr/share/whorl-tests/common.sh

right=right-index:1
stranger=right-index:2
user alice
user bob
virtual_reader
at_seat alice 'umask 077; echo "open sesame, please" >passcode'

expect 0 "whorl enroll" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "" at_seat alice 'printf hunter2 | whorl set mail/alice --access none'
expect 0 hunter2 at_seat alice 'whorl get mail/alice'

# Enrolling goes through fprintd; polkit checks that the user is at the seat.
expect 77 "may not enrol a finger" elsewhere bob \
  'umask 077; echo "a passcode, too" >passcode
   whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery && whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "right-index-finger" fprintd-list alice
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice'
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'
expect 0 gold touching "$stranger $right" at_seat alice 'whorl get bank/alice'
expect 77 "" touching "$stranger $stranger $stranger" at_seat alice 'whorl get bank/alice'

# A user may not read fprintd's template files, so nothing can be bound to its current set here.
expect 77 "template files cannot be read" at_seat alice 'printf x | whorl set bound/alice --access current-set'

# The programs of another user reach neither the store nor the fingers.
expect 74 "Permission denied" at_seat bob 'whorl get bank/alice --store /home/alice/.local/share/whorl'
expect 66 "" at_seat bob 'whorl get bank/alice'

# The store survives a restart of fprintd and a new session.
systemctl stop fprintd
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'
