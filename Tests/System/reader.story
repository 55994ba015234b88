# The machine's readers through the units of the service: fprintd's, with an enrolment set for each user, and libfprint's.
. /usr/share/whorl-tests/common.sh

right=right-index:1
stranger=right-index:2
bobs=right-index:3
user alice
user bob
virtual_reader
own_password_is_typed
fprintd-delete alice >/dev/null 2>&1 || :

# press FINGER:PERSON: presses a finger as soon as a scan waits for one.
press() { whorl-finger press "${1%:*}" --person "${1#*:}" --socket "$sensor"; }

# enrol NAME PERSON: the user enrols a finger with fprintd's own program.
enrol() {
  at_seat "$1" 'fprintd-enroll -f right-index-finger 2>&1' | while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in Enrolling* | *enroll-stage-passed* | *enroll-retry*) press "right-index:$2" || : ;; esac
  done
}

# beside COMMAND...: runs a command in the background. `finished` waits for it and leaves its output and status in $outcome.
beside() {
  {
    status=0
    "$@" 2>&1 || status=$?
    echo "status $status"
  } >/tmp/beside &
  beside=$!
}
finished() {
  wait "$beside" || :
  outcome=$(cat /tmp/beside)
}
# told TEXT: waits until the command in the background has printed the text.
told() {
  for _ in $(seq 100); do
    if grep -q "$1" /tmp/beside; then return 0; fi
    sleep 0.1
  done
  fail "no '$1' in: $(cat /tmp/beside)"
}

# runs UNIT: that unit must run. rests UNIT: waits until it has stopped, which may take 45 seconds.
state() { systemctl is-active "whorl-reader-$1.service" || :; }
runs() { [ "$(state "$1")" = active ] || fail "the unit of $1 is $(state "$1")"; }
rests() {
  for _ in $(seq 450); do
    if [ "$(state "$1")" = inactive ]; then return 0; fi
    sleep 0.1
  done
  fail "the unit of $1 is $(state "$1") after 45 seconds"
}

# Installed: the sockets listen, no unit runs, the readers are given to libfprint's unit.
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
for unit in libfprint fprintd; do
  expect 0 "active" systemctl is-active "whorl-reader-$unit.socket"
  rests "$unit"
  expect 0 "root:whorl 660" stat -c '%U:%G %a' "/run/whorl-reader/$unit"
  expect 0 "" systemd-analyze verify --man=no "whorl-reader-$unit.service" "whorl-reader-$unit.socket"
done
expect 0 "root:root 755" stat -c '%U:%G %a' /run/whorl-reader
expect 0 "" systemd-analyze security --offline=yes --threshold=18 \
  /usr/lib/systemd/system/whorl-reader-libfprint.service /usr/lib/systemd/system/whorl-reader-fprintd.service
rule=/etc/udev/rules.d/70-whorl-reader.rules
expect 0 "" grep -q 'GROUP="whorl-reader", MODE="0660", TAG-="uaccess"' "$rule"

# polkit reads a new rule a moment after it was written.
sleep 5
for name in alice bob; do
  at_seat "$name" 'umask 077; echo "open sesame, please" >passcode'
  expect 0 "" at_seat "$name" 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
done
expect 0 "fprintd" at_seat alice 'whorl status'
# Both units have answered, and end after that, since another user's vault may want the readers. Each has only the rights that it
# needs.
for unit in libfprint fprintd; do
  [ -n "$(systemctl show --value --property InactiveEnterTimestamp "whorl-reader-$unit.service")" ] ||
    fail "the unit of $unit was not asked"
  expect 0 "" systemctl start "whorl-reader-$unit.service"
  runs "$unit"
done
for pair in libfprint:0000000000000000 fprintd:0000000000000004; do
  pid=$(systemctl show --value --property MainPID "whorl-reader-${pair%:*}.service")
  expect 0 "${pair#*:}" grep CapEff "/proc/$pid/status"
done

# Neither a user's program nor a unit's own user can reach a unit.
for unit in libfprint fprintd; do
  expect 1 "Permission denied" at_seat alice "busctl --address=unix:path=/run/whorl-reader/$unit list 2>&1"
  expect 1 "Permission denied" runuser -u whorl-fprintd -- busctl --address=unix:path=/run/whorl-reader/$unit list
  expect 1 "Permission denied" at_seat alice "rm -f /run/whorl-reader/$unit 2>&1"
done

# Users enrol with fprintd itself. The service may not enrol, nor may a session without a seat.
expect 66 "" at_seat alice 'printf x | whorl set early/alice --access current-set'
expect 77 "sudo fprintd-enroll alice" elsewhere alice 'whorl enroll right-index'
expect 0 "is enrolled" touching "$right $right $right $right $right $right" at_seat alice 'whorl enroll right-index'
expect 0 "right-index-finger" fprintd-list alice
# A finger that another program enrols counts when the service first reads fprintd's list.
expect 0 "enroll-completed" enrol bob 3
expect 0 "right-index" at_seat bob 'whorl fingers'

# Each user has a set: one user's finger opens nothing of the other's.
for name in alice bob; do
  expect 0 "" at_seat "$name" "printf 'gold of $name' | whorl set bank/$name --access current-set"
done
expect 0 "gold of alice" touching "$right" at_seat alice 'whorl get bank/alice'
expect 0 "gold of bob" touching "$bobs" at_seat bob 'whorl get bank/bob'
expect 0 "gold of alice" touching "$stranger $right" at_seat alice 'whorl get bank/alice'
expect 77 "" touching "$right $right $right" at_seat bob 'whorl get bank/bob'
expect 0 "gold of bob" touching "$bobs" at_seat bob 'whorl get bank/bob'
expect 77 "no finger is asked for" elsewhere alice 'whorl get bank/alice'
expect 0 "right-index" at_seat alice 'whorl fingers'

# The unit serves one request after the other, however quickly they come.
expect 0 "" at_seat alice 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  printf x | whorl set "many$i/alice" --access current-set || exit 1; done'

# The service waits while another program has fprintd's reader.
echo 'auth required pam_fprintd.so timeout=20' >/etc/pam.d/finger
for other in 'fprintd-verify -f right-index-finger alice' 'pamtester finger alice authenticate'; do
  # The service gives the reader back a moment after its answer.
  sleep 1
  beside at_seat alice "$other"
  sleep 2
  { sleep 2 && press "$right"; } &
  expect 0 "gold of alice" touching "$right" at_seat alice 'whorl get bank/alice'
  finished
  case $outcome in
    *laimed*) fail "$other: $outcome" ;;
    *"status 0"*) echo "  0: $other" ;;
    *) fail "$other: $outcome" ;;
  esac
done
# After a scan of the service the reader is free for others, such as the screen locker.
beside at_seat alice 'whorl get bank/alice & get=$!
  sleep 4
  busctl call org.freedesktop.login1 /org/freedesktop/login1/session/auto org.freedesktop.login1.Session \
    SetLockedHint b true
  sleep 1
  fprintd-verify -f right-index-finger; echo "verified: $?"
  wait $get; echo "get: $?"'
told "Verif"
press "$right"
finished
case $outcome in
  *laimed*) fail "beside a lock: $outcome" ;;
  *"locked"*"verified: 0"*"get: 77"*) echo "  0: a locker beside an armed scan" ;;
  *) fail "beside a lock: $outcome" ;;
esac

# The unit is killed during a scan: the request ends, and the next is served. The unit cannot see root's files.
mkdir -p /var/lib/other /etc/credstore
for secret in /var/lib/other/key /etc/ssh/key /etc/credstore/key; do echo secret >"$secret"; done
beside at_seat alice 'whorl get bank/alice'
told "to use"
sleep 1
process=$(systemctl show --value --property MainPID whorl-reader-fprintd.service)
expect 0 "alice" nsenter --mount --target "$process" ls /var/lib/fprint
for secret in /var/lib/other/key /etc/ssh/key /etc/credstore/key; do
  expect 1 "No such file" nsenter --mount --target "$process" cat "$secret"
done
[ -z "$(nsenter --mount --target "$process" cat /etc/shadow 2>/dev/null)" ] || fail "it may read /etc/shadow"
kill -9 "$process"
finished
case $outcome in *"the program that drives the reader ended"*"status 69"*) ;; *) fail "unit killed: $outcome" ;; esac
expect 0 "gold of alice" touching "$right" at_seat alice 'whorl get bank/alice'
# fprintd is killed during a scan.
beside at_seat alice 'whorl get bank/alice'
told "to use"
sleep 1
kill -9 "$(pgrep -x fprintd)"
finished
case $outcome in *"status 69"*) ;; *) fail "fprintd killed: $outcome" ;; esac
rm -f "$sensor"
expect 0 "gold of alice" touching "$right" at_seat alice 'whorl get bank/alice'

# The error names a unit whose socket is gone, and the passcode still works.
systemctl stop whorl-reader-fprintd.socket whorl-reader-fprintd.service
expect 69 "/run/whorl-reader/fprintd" at_seat alice 'whorl get bank/alice'
expect 0 "" at_seat alice 'printf silver | whorl set note/alice'
expect 0 silver at_seat alice 'whorl get note/alice --passcode-fd 3 3<passcode'
systemctl start whorl-reader-fprintd.socket
expect 0 "gold of alice" touching "$right" at_seat alice 'whorl get bank/alice'

# Units that nobody uses end.
expect 0 "" at_seat alice 'whorl status'
rests fprintd
rests libfprint
expect 0 "active" systemctl is-active whorl-reader-fprintd.socket

# Enrolling a finger again destroys that user's items bound to the earlier one, and no other user's.
expect 0 "" at_seat alice 'fprintd-delete alice'
expect 0 "enroll-completed" enrol alice 2
expect 77 "" touching "$stranger" at_seat alice 'whorl get bank/alice'
expect 0 "gold of bob" touching "$bobs" at_seat bob 'whorl get bank/bob'

# The units refuse no thread its priority (EPERM).
if journalctl -q --no-pager -u whorl-reader-libfprint.service -u whorl-reader-fprintd.service |
  grep 'thread priority.*errno=1$'; then fail "refused"; fi

# Uninstalled: the rule and the units are gone.
expect 0 "/etc/whorl/system" env PREFIX=/usr /usr/src/whorl/scripts/uninstall
[ ! -e "$rule" ] || fail "the udev rule is still there"
[ ! -e /run/whorl-reader/fprintd ] || fail "the socket of fprintd's unit is still there"
# Clean up for the next story.
rm -rf /var/lib/whorl/* /etc/polkit-1/rules.d/11-own.rules /etc/pam.d/finger
systemctl restart polkit
exit 0
