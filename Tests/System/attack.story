# Programs that flood the installed service, or request other programs' data. Each part names its row in README.md.
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

# failures: prints the failure count of alice's store.
failures() { at_seat alice 'whorl status --json' | grep -o '"failures" *: *[0-9]*' | grep -o '[0-9]*$'; }

# A Python program of the user gets a secret after its touch.
expect 0 gold touching "$right" at_seat alice 'python3 /usr/share/whorl-tests/get-secret.py bank/alice'

# Row 2. A client sends 22,000 forged answers while the vault waits for a touch.
expect 0 "refused" at_seat alice "python3 $hostile answers bank/alice"
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted"

# Row 2. A touch counts only in its own context. Nobody else can use the handle: not another connection of the same
# user, not another user, and not even its own program after a restart of the service and another enrolment.
keep() {
  rm -f /tmp/hold
  touching "$1" at_seat alice "python3 $hostile hold bank/alice /home/alice/handle" >/tmp/hold 2>&1 &
  keeper=$!
  for _ in $(seq 100); do
    grep -q holding /tmp/hold 2>/dev/null && break
    sleep 0.1
  done
  grep -q holding /tmp/hold || fail "no touch was kept: $(cat /tmp/hold)"
  cp /home/alice/handle /tmp/handle
  chmod 644 /tmp/handle
}
keep "$right"
expect 0 "refused: 10000 " at_seat alice "python3 $hostile replay /tmp/handle 10000 bank/alice any/alice"
expect 0 "refused: 2000 " elsewhere bob "python3 $hostile replay /tmp/handle 2000 bank/alice note/bob"
# Row 28. Another user calls every method with that handle, and the methods of login programs, which only root may call.
expect 0 "after Hello" elsewhere bob "python3 $hostile everything /tmp/handle"
case $output in *gold* | *brass* | *silver* | *"alice"*) fail "bob got something of alice's: $output" ;; esac
# Other users may only ask to unlock their own screen; there is nothing to wait for before that.
expect 0 "refused: 4 AccessDenied, 1 InvalidRequest" elsewhere bob "python3 $hostile stranger"
expect 0 "refused: 4 AccessDenied, 1 InvalidRequest" at_seat alice "python3 $hostile stranger"
refusals=$(journalctl -q --no-pager -u whorld.service | grep -c "$(id -u bob).*Login1\|Login1.*$(id -u bob)") || :
[ "$refusals" -ge 4 ] || fail "bob's calls are not in the journal: $(journalctl -q --no-pager -u whorld.service | tail -n 20)"
for socket in /run/whorl-program-path/socket /run/whorl-reader/libfprint /run/whorl-reader/fprintd; do
  expect 1 "Permission denied" elsewhere bob "busctl --address=unix:path=$socket list 2>&1"
done
expect 0 silver at_seat alice 'whorl get note/alice'
rm /home/alice/handle
wait "$keeper" || fail "the touch did not serve its own context: $(cat /tmp/hold)"
expect 0 "refused: 1000 " at_seat alice "python3 $hostile replay /tmp/handle 1000 bank/alice any/alice"
systemctl restart whorld.service
expect 0 "refused: 1000 " at_seat alice "python3 $hostile replay /tmp/handle 1000 bank/alice any/alice"
expect 0 "is enrolled" touching "left-thumb:1 left-thumb:1 left-thumb:1 left-thumb:1 left-thumb:1 left-thumb:1" \
  at_seat alice 'whorl enroll left-thumb --yes --passcode-fd 3 3<passcode'
expect 0 "refused: 1000 " at_seat alice "python3 $hostile replay /tmp/handle 1000 bank/alice any/alice"
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted"

# Row 11. A thousand requests of one program: one prompt at a time, and each touch answers one of them.
expect 0 "5 released, at most 1 prompt" touching "$right $right $right $right $right" \
  at_seat alice "python3 $hostile crowd any/alice 1000 5"
echo "    $(printf '%s\n' "$output" | tail -n 1)"
# The requests end with their program, and the next request is served.
expect 0 brass touching "$right" at_seat alice 'whorl get any/alice'

# Row 28. A program is killed while it waits for its touch: the touch counts for no other program, and the reader is free.
at_seat alice 'whorl get any/alice >/dev/null 2>told & sleep 2; kill -9 $!; sleep 1'
grep -q 'Touch\|Swipe' /home/alice/told || fail "no touch was asked for: $(cat /home/alice/told)"
timeout 5 whorl-finger press right-index --person 1 --socket "$sensor" >/dev/null 2>&1 || :
expect 77 "" at_seat alice 'whorl get any/alice --no-prompt'
expect 0 brass touching "$right" at_seat alice 'whorl get any/alice'
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted"

# Row 4. Five touches without a match, over two programs and a restart, lock fingers out until the passcode.
wrong=left-index:9
expect 77 "" touching "$wrong $wrong $wrong" at_seat alice 'whorl get any/alice'
[ "$(failures)" = 3 ] || fail "$(failures) failures were counted instead of 3"
systemctl restart whorld.service
expect 77 "fingers are locked out" touching "$wrong $wrong $right" at_seat alice 'whorl run --env SECRET=any/alice -- true'
expect 77 "fingers are locked out" touching "$right" at_seat alice 'whorl get any/alice'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 brass touching "$right" at_seat alice 'whorl get any/alice'

# Row 25. Calls without a target affect no item.
expect 0 "items are there" at_seat alice "python3 $hostile little"
expect 64 "" at_seat alice 'whorl rm'
expect 64 "" at_seat alice "whorl rm ''"
expect 0 silver at_seat alice 'whorl get note/alice'

# A crash of the service, ten times in a row: it comes back each time, without root, and waits longer each time. Other
# users' stores are closed and nothing more.
main_process() { systemctl show --value --property MainPID whorld.service; }
for crash in $(seq 10); do
  crashed=$(main_process)
  # Process 0 would be the story and all that runs it.
  [ "$crashed" -gt 1 ] || fail "the service has no process"
  kill -SEGV "$crashed"
  state=
  for _ in $(seq 150); do
    state=$(systemctl is-active whorld.service) || :
    case $(main_process) in 0 | "$crashed") ;; *) [ "$state" != active ] || break ;; esac
    sleep 0.2
  done
  [ "$state" = active ] || fail "after crash $crash: $(systemctl status whorld.service whorld.socket)"
done
expect 0 "" elsewhere bob 'whorl status'
expect 0 bronze elsewhere bob 'whorl get note/bob'
expect 0 silver at_seat alice 'whorl get note/alice'
expect 0 active systemctl is-active whorld.socket whorld.service whorl-program-path.socket
journalctl -q --no-pager -u whorld.service | grep -q "serves in 10 s" || fail "the service did not wait"
# A client that comes during such a wait is served after it.
crashed=$(main_process)
kill -SEGV "$crashed"
sleep 1
expect 0 bronze elsewhere bob 'whorl get note/bob'
# One that is stopped in order does not wait at its next start.
systemctl stop whorld.service
expect 0 bronze elsewhere bob 'timeout 5 whorl get note/bob'
# The vault of one user crashes again and again. It waits longer each time, and nobody else does.
for crash in $(seq 6); do
  at_seat alice 'whorl get note/alice' >/dev/null || fail "alice is not served after crash $crash of her vault"
  kill -SEGV "$(vault_of alice)"
  expect 0 bronze elsewhere bob 'timeout 5 whorl get note/bob'
done
expect 0 active systemctl is-active whorld.socket whorld.service
# The same for the unit that reads the paths of programs, which has no rights over anything else.
for _ in $(seq 10); do
  systemctl kill --signal=SEGV whorl-program-path.service 2>/dev/null || :
  elsewhere bob 'whorl get note/bob' >/dev/null || fail "the service needs the paths of programs"
done
expect 0 active systemctl is-active whorl-program-path.socket whorld.service
exit 0
