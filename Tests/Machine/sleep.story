# The machine sleeps (s2idle) and wakes while nobody uses the reader, and while it is armed. QEMU's ports lose power
# during sleep, so the kernel detects the reader again.
. "${here:?}/common.sh"
begins enrolled
# The power key wakes the machine. Keep logind from acting on it.
inside sh -c 'mkdir -p /etc/systemd/logind.conf.d && printf "[Login]\nHandlePowerKey=ignore\n" >/etc/systemd/logind.conf.d/key.conf &&
  systemctl restart systemd-logind && echo s2idle >/sys/power/mem_sleep'

slept=0
sleeps() { # for some seconds
  inside systemctl --no-block suspend
  sleep 12
  machine power-key
  slept=$((slept + 1))
  expect 0 "" inside sh -c "sleep 2; test \$(journalctl -b -k -q --no-pager | grep -c 'PM: suspend exit') -ge $slept"
}

sleeps
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
beside at_seat alice 'whorl get bank/alice --timeout 90'
tell own wanted 60 >/dev/null
sleeps
ended 77 "the machine goes to sleep"
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
