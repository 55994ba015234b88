# Programs that ask too much of the installed service, or what is not theirs. The numbers of the rows of README.md are
# named before each part.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
user alice
user bob
hostile=/usr/share/whorl-tests/hostile-client.py

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
printf 'reader = virtual-image:%s\nrequire-passcode-after-boot = no\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
for name in alice bob; do
  at_seat "$name" 'umask 077; echo "open sesame, please" >passcode'
  expect 0 "" at_seat "$name" 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
done
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
at_seat alice 'printf gold | whorl set bank/alice --access current-set
  printf brass | whorl set any/alice --access any-finger
  printf silver | whorl set note/alice --access none'
at_seat bob 'printf bronze | whorl set note/bob --access none'

# failures: how many failures alice's store has counted.
failures() { at_seat alice 'whorl status --json' | grep -o '"failures" *: *[0-9]*' | grep -o '[0-9]*$'; }

# Row 2. A client says in every way it can that a finger was there: 22,000 messages while a touch is waited for.
expect 0 "refused" at_seat alice "python3 $hostile answers bank/alice"
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted"

# Row 28. The calls of login programs are for root, and the other sockets for the service.
expect 0 "refused: 5 AccessDenied" elsewhere bob "python3 $hostile stranger"
expect 0 "refused: 5 AccessDenied" at_seat alice "python3 $hostile stranger"
for socket in /run/whorl-program-path/socket /run/whorl-reader/libfprint /run/whorl-reader/fprintd; do
  expect 1 "Permission denied" elsewhere bob "busctl --address=unix:path=$socket list 2>&1"
done
expect 0 silver at_seat alice 'whorl get note/alice'

# Row 28. A program that dies while its touch is waited for: the touch is no other program's, and the reader is free.
at_seat alice 'whorl get any/alice >/dev/null 2>told & sleep 2; kill -9 $!; sleep 1'
grep -q 'Touch\|Swipe' /home/alice/told || fail "no touch was asked for: $(cat /home/alice/told)"
timeout 5 whorl-finger press right-index --person 1 --socket "$sensor" >/dev/null 2>&1 || :
expect 77 "" at_seat alice 'whorl get any/alice --no-prompt'
expect 0 brass touching "$right" at_seat alice 'whorl get any/alice'
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted"

# Row 25. What does not say which items it means meets none.
expect 0 "items are there" at_seat alice "python3 $hostile little"
expect 64 "" at_seat alice 'whorl rm'
expect 64 "" at_seat alice "whorl rm ''"
expect 0 silver at_seat alice 'whorl get note/alice'
exit 0
