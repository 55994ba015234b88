# The reader is unplugged at each stage, and plugged in again: the request ends with a definite error, the next one is
# served at once, no unfinished touch counts, and no item is lost. Then at random moments (ROUNDS of them, 10 by
# default; SEED).
. "${here:?}/common.sh"
begins enrolled

# Measure the normal time until a request has armed the reader. The machine is emulated and shares its processors, so
# compare only the additional time after the reader was unplugged.
armed() { # until the reader wants a finger, in seconds since $began; then a touch must give the secret
  beside at_seat alice 'whorl get bank/alice --timeout 60'
  case $(tell own wanted 60) in verify | identify) ;; *) finished && fail "never armed: $outcome" ;; esac
  took=$(since "$began")
  tell own press right >/dev/null
  ended 0 "gold"
}
began=$(now)
armed
began=$(now)
armed
usual=$took
echo "  $usual s from a request to an armed reader"

# back WHAT: plugs the reader in again; it must be detected within 5 seconds.
back() {
  plug own
  began=$(now)
  armed
  echo "  $took s from the plug to an armed reader ($usual s without): $1"
  echo "$took $usual" | awk '{ exit !($1 <= $2 + 5) }' || fail "$took s after $1"
  expect 0 "silver" at_seat alice 'whorl get note/alice'
}

# Nobody uses it.
unplug own
expect 69 "" at_seat alice 'whorl get bank/alice --timeout 20'
back "nobody used it"
# It is being listed; then a scan waits.
beside at_seat alice 'whorl reader list'
sleep 2
unplug own
finished
echo "  list: $outcome" | tail -n 1
back "it was listed"
beside at_seat alice 'whorl get bank/alice --timeout 60'
tell own wanted 60 >/dev/null
moment=$(now)
unplug own
ended 69 "unplugged"
within "$(echo "$usual" | awk '{ print $1 + 5 }')" "$moment" "from pulling it out to the error"
back "a scan waited"
# The finger was scanned, and the result is delayed.
tell own delay 3
beside at_seat alice 'whorl get bank/alice --timeout 60'
pressing right
tell own wanted 60 >/dev/null
sleep 1
unplug own
finished
pressed
case $outcome in *gold*) fail "a match that never came: $outcome" ;; *"status 69") ;; *) fail "$outcome" ;; esac
tell own well
back "a match was on its way"
# Enrolments by fprintd's program and by Whorl end, and leave no half-enrolled finger.
for command in 'fprintd-enroll -f left-index-finger' 'whorl enroll left-index --yes'; do
  beside at_seat alice "$command"
  for _ in 1 2 3; do tell own press left 60 >/dev/null; done
  unplug own
  finished
  case $outcome in *"status 0") fail "enrolled without a reader: $outcome" ;; esac
  echo "  $command: $(echo "$outcome" | tail -n 2 | tr '\n' ' ')"
  plug own
  expect 0 "right-index" at_seat alice 'whorl fingers'
  case $output in *left-index*) fail "a half enrolled finger: $output" ;; esac
  unplug own
  back "an enrolment"
done

seed=${SEED:-$(date +%s)}
echo "  seed $seed"
moments=$(awk -v seed="$seed" -v n="${ROUNDS:-10}" -v most="$usual" 'BEGIN { srand(seed); while (n--) print rand() * (most + 3) }')
for moment in $moments; do
  beside at_seat alice 'whorl get bank/alice --timeout 60'
  pressing right
  sleep "$moment"
  unplug own
  finished
  pressed
  case $touch:$outcome in
    match:*"status 0" | *"status 69") ;;
    *) fail "pulled out after $moment s: $touch $outcome" ;;
  esac
  echo "  after $moment s: $(echo "$outcome" | tail -n 1)"
  plug own
done
# No touch remains valid, and all items exist.
expect 77 "" at_seat alice 'whorl get bank/alice --no-prompt'
began=$(now)
armed
expect 0 "silver" at_seat alice 'whorl get note/alice'
expect 0 "iron" at_seat alice 'whorl get deep/alice --passcode-fd 3 3<passcode'
expect 0 "whole" at_seat alice 'whorl doctor'
