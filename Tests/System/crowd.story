# Many users and many connections at the installed service (row 18 of README.md).
. /usr/share/whorl-tests/common.sh

hostile=/usr/share/whorl-tests/hostile-client.py
mkdir -p /etc/whorl/whorld.conf.d
echo "require-passcode-after-boot = no" >/etc/whorl/whorld.conf.d/crowd.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
numbers="1 2 3 4 5 6 7 8 9 10"
for number in $numbers; do
  user "user$number"
  elsewhere "user$number" "umask 077; echo 'open sesame, please' >passcode
    whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery >/dev/null
    printf 'secret of $number' | whorl set note/mine --access none" || fail "the store of user$number"
done

# used: the descriptors and the private memory (KiB) of a user's vault.
used() {
  service=$(vault_of user1)
  echo "$(find "/proc/$service/fd" -mindepth 1 | wc -l) $(awk '/^Pss_Anon:/ { print $2 }' "/proc/$service/smaps_rollup")"
}

# Ten users with fifty clients each, in two processes, at once, each of which gets its own user's secret.
for number in $numbers; do
  for half in 1 2; do
    elsewhere "user$number" "python3 $hostile sessions 250 25 note/mine 'secret of $number'" \
      >"/tmp/crowd-$number-$half" 2>&1 &
  done
done
wait
for number in $numbers; do
  for half in 1 2; do
    grep -qx "250 sessions" "/tmp/crowd-$number-$half" || fail "user$number: $(cat "/tmp/crowd-$number-$half")"
  done
done
echo "  ten users with fifty clients each: none lost"

[ "$(pgrep -x whorld | wc -l)" = 11 ] || fail "the processes of the service: $(pgrep -ax whorld)"

# A connection over a process's limit is refused, and no other.
expect 0 "the next: Busy" elsewhere user1 "python3 $hostile connections note/mine 'secret of 1'"
case $output in *"one in the place of another"*) ;; *) fail "no place became free: $output" ;; esac
elsewhere user1 "python3 $hostile connections note/mine 'secret of 1'" >/tmp/crowd-1 2>&1 &
expect 0 "50 sessions" elsewhere user2 "python3 $hostile sessions 50 10 note/mine 'secret of 2'"
wait $! || fail "user1: $(cat /tmp/crowd-1)"

# Ten thousand sessions leave nothing behind. They are compared with the memory after the many users above.
expect 0 "500 sessions" elsewhere user1 "python3 $hostile sessions 500 10 note/mine 'secret of 1'"
before=$(used)
expect 0 "10000 sessions" elsewhere user1 "python3 $hostile sessions 10000 10 note/mine 'secret of 1'"
# The last connections may still be closing.
sleep 2
after=$(used)
echo "  descriptors and KiB before 10,000 sessions: $before, and after: $after"
[ "${after% *}" -le $((${before% *} + 4)) ] || fail "descriptors: $before, then $after"
[ "${after#* }" -le $((${before#* } + 4096)) ] || fail "memory: $before, then $after"

# The limit of the unit (MemoryMax=2G) is far above all this. Each user has a process, which share their code.
peak=$(for process in $(pgrep -x whorld); do awk '/^VmHWM:/ { print $2 }' "/proc/$process/status"; done |
  sort -n | tail -n 1)
own=$(for process in $(pgrep -x whorld); do awk '/^Pss:/ { print $2 }' "/proc/$process/smaps_rollup"; done |
  awk '{ sum += $1 } END { print sum }')
echo "  the most memory that one process has taken: $peak KiB; all of them now: $own KiB"
[ "$peak" -lt $((512 << 10)) ] || fail "memory: $peak"
[ "$own" -lt $((512 << 10)) ] || fail "memory of all: $own"
exit 0
