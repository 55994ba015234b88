# A reader that does not answer, and one with invalid answers (SEED): definite errors in time, and memory that does not
# grow.
. "${here:?}/common.sh"
begins enrolled

memory() { # in KiB, of the service and of what drives readers
  inside sh -c 'for name in whorld whorl-reader fprintd; do for pid in $(pgrep -x $name); do
    sed -n "s/^VmRSS:[^0-9]*\([0-9]*\).*/$name \1/p" /proc/$pid/status; done; done' | tr '\n' ' '
}
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
echo "  memory: $(memory)"

# silent WHAT SECONDS COMMAND: the command must fail within the seconds, which include the time of the emulation.
silent() {
  what=$1
  limit=$2
  began=$(now)
  actual=0
  output=$(at_seat alice "$3" 2>&1) || actual=$?
  [ "$actual" != 0 ] || fail "$what: $output"
  case $output in *gold*) fail "$what: $output" ;; esac
  within "$limit" "$began" "$what: $actual: $(echo "$output" | tail -n 1 | cut -c 1-90)"
}
# well: makes the reader answer again, and waits until fprintd ends, half a minute after its last client: if its driver has
# failed while opening the reader, fprintd takes the reader for open until then (libfprint 1.94.5).
well() {
  tell own well >/dev/null
  for _ in $(seq 45); do
    case $(inside systemctl is-active fprintd.service) in inactive | failed) return ;; esac
    sleep 2
  done
  fail "fprintd does not end"
}
# fresh: makes the reader answer again, and ends fprintd at once.
fresh() {
  tell own well >/dev/null
  inside systemctl stop fprintd.service
}
# A reader has 30 seconds to be opened, and the request sets the wait for a touch.
tell own mute >/dev/null
silent "silent from the start" 75 'whorl get bank/alice --timeout 20'
well
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
beside at_seat alice 'whorl get bank/alice --timeout 20'
tell own wanted 60 >/dev/null
tell own mute >/dev/null
began=$(now)
finished
case $outcome in *"status 0") fail "$outcome" ;; esac
within 60 "$began" "silent in a scan: $(echo "$outcome" | tail -n 2 | tr '\n' ' ')"
fresh
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'

# fprintd starts while the reader does not answer, so it has no reader until it is restarted.
tell own mute >/dev/null
inside systemctl stop fprintd.service
expect 69 "does not use the reader that is attached (06cb:00bd)" at_seat alice 'whorl get bank/alice --timeout 20'
expect 69 "does not use the reader that is attached (06cb:00bd)" at_seat alice 'whorl doctor'
fresh
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'

seed=${SEED:-$(date +%s)}
echo "  seed $seed"
for kind in random short length bits; do
  for number in 1 2; do
    tell own garbage "$kind" "$seed$number" >/dev/null
    pressing right
    began=$(now)
    actual=0
    output=$(at_seat alice 'whorl get bank/alice --timeout 20' 2>&1) || actual=$?
    pressed
    case $actual:$touch in 0:match | [1-9]*) ;; *) fail "$kind: a secret without a match: $output" ;; esac
    within 75 "$began" "$kind $number: $actual: $(echo "$output" | tail -n 1 | cut -c 1-90)"
    fresh
  done
done
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
echo "  memory: $(memory)"
