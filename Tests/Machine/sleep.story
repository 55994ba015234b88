# The machine sleeps and wakes while the reader is unused, while it is armed and a finger is put on it during sleep, with a
# finger that rests on it all the time, and in the middle of an enrolment: in s2idle at a port that keeps its power and at
# one that loses it, and in S3, where all of QEMU's ports lose it.
. "${here:?}/common.sh"

# prepared KIND [PORT]: loads the snapshot, with the reader in that port.
prepared() {
  kind=$1
  machine load enrolled
  cp "${begun:?}/chip" "${state:?}/chip"
  case ${2:-} in
    powered) own --high-speed && plug own powered ;;
    *) own && plug own ;;
  esac
  seen c0ffee000001
  # The power key wakes the machine. Keep logind from acting on it.
  inside sh -c 'mkdir -p /etc/systemd/logind.conf.d && printf "[Login]\nHandlePowerKey=ignore\n" >/etc/systemd/logind.conf.d/key.conf &&
    systemctl restart systemd-logind && echo "$1" >/sys/power/mem_sleep' sh "$kind"
  slept=0
}
# falls_asleep, wakes: only S3 is visible from outside.
falls_asleep() {
  inside systemctl --no-block suspend
  if [ "$kind" = deep ]; then
    wait_for "the machine does not sleep" sh -c '"$0" "$1" qmp query-status | grep suspended' "$here/vm.py" "$state"
  else
    sleep 10
  fi
}
wakes() {
  if [ "$kind" = deep ]; then machine wake; else machine power-key; fi
  slept=$((slept + 1))
  wait_for "the machine did not sleep" inside sh -c "test \$(journalctl -b -k -q --no-pager | grep -c 'PM: suspend exit') -ge $slept"
  seen c0ffee000001
}
sleeps() {
  falls_asleep
  wakes
}
number() { inside cat "$usb/devnum"; } # the kernel gives a reader another one when it lost power
gives() { expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'; }
# gives_at_last: the same, if need be after a restart of fprintd: fprintd (1.94.2) may keep a reader that was in use when
# the machine went to sleep claimed for a program that has ended. Then the error must say so.
gives_at_last() {
  status=0
  output=$(touching right at_seat alice 'whorl get bank/alice --timeout 30' 2>&1) || status=$?
  case $status:$output in
    0:*gold*) return ;;
    74:*"restart fprintd"* | 75:*"through fprintd"*) echo "  $kind: $(echo "$output" | tail -n 1)" ;;
    *) fail "after a sleep: status $status, $output" ;;
  esac
  inside systemctl restart fprintd.service
  gives
}

idle() {
  before=$(number)
  sleeps
  echo "  $kind: the number of the reader was $before, and is $(number)"
  gives
}
# A finger that is put on the reader during sleep does not answer the earlier request.
armed() {
  beside at_seat alice 'whorl get bank/alice --timeout 90'
  tell own wanted 60 >/dev/null
  falls_asleep
  tell own rest right >/dev/null
  wakes
  ended 77 "the machine goes to sleep"
  case $outcome in *gold*) fail "a finger on a sleeping machine: $outcome" ;; esac
  tell own lift >/dev/null
  gives_at_last
}
resting() {
  tell own rest right >/dev/null
  sleeps
  status=0
  output=$(at_seat alice 'whorl get bank/alice --timeout 30' 2>&1) || status=$?
  echo "  $kind, a finger rests: status $status, $(echo "$output" | head -n 1)"
  tell own lift >/dev/null
  gives_at_last
}
enrolling() {
  for command in 'fprintd-enroll -f left-index-finger' 'whorl enroll left-index --yes'; do
    # fprintd's own programs take its first reader, which may be the entry from before a sleep.
    inside systemctl restart fprintd.service
    beside at_seat alice "timeout 120 $command"
    for _ in 1 2 3; do tell own press left 60 >/dev/null; done
    sleeps
    # A driver that continues the enrolment would want the other touches now.
    for _ in 1 2 3 4 5 6; do tell own press left 3 >/dev/null; done
    finished
    echo "  $kind, $command: $(echo "$outcome" | tail -n 2 | tr '\n' ' ')"
    expect 0 "right-index" at_seat alice 'whorl fingers'
    whole=$(echo "$outcome" | grep -c "^status 0" || :)
    case $whole:$output in
      1:*left-index*) return ;; # and what needs the same set of fingers is closed
      1:* | 0:*left-index*) fail "a half enrolled finger: $output" ;;
    esac
    gives_at_last
    [ "$kind" = s2idle ] || break
  done
}
for port in powered usb; do
  prepared s2idle "$port"
  echo "  s2idle, port: $port"
  idle
  armed
  resting
  enrolling
  unplug own
done
# QEMU reports no second S3 in one boot.
for moment in idle armed resting enrolling; do
  prepared deep
  "$moment"
  unplug own
done
