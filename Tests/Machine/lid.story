# The lid is closed and opened, and the machine sleeps deeply (S3).
. "${here:?}/common.sh"
begins enrolled

# QEMU has no lid. This program makes one as an input device, like that of a laptop, which logind reads. Each line of
# /run/lid closes it, and it is opened as soon as the machine is awake again, as if that had woken it.
lid='import fcntl, os, struct, time
device = os.open("/dev/uinput", os.O_WRONLY)
for request, value in ((0x40045564, 5), (0x4004556d, 0)):  # EV_SW, SW_LID
    fcntl.ioctl(device, request, value)
fcntl.ioctl(device, 0x405c5503, struct.pack("HHHH80sI", 0x19, 0, 5, 1, b"Lid Switch", 0))
fcntl.ioctl(device, 0x5501)
def set(closed):
    for kind, value in ((5, closed), (0, 0)):
        os.write(device, struct.pack("qqHHi", 0, 0, kind, 0, value))
slept = lambda: open("/sys/power/suspend_stats/success").read()
while open("/run/lid").read():
    before = slept()
    time.sleep(1)
    set(1)
    while slept() == before: time.sleep(0.1)
    set(0)'
machine run -i "$lid" sh -c 'cat >/usr/local/bin/lid.py && mkfifo /run/lid && modprobe uinput &&
  systemd-run --quiet --unit lid python3 /usr/local/bin/lid.py && udevadm settle'
# The power key wakes the machine. Keep logind from acting on it, and let it act on the lid soon after waking.
inside sh -c 'mkdir -p /etc/systemd/logind.conf.d && printf "[Login]\nHandlePowerKey=ignore\nHoldoffTimeoutSec=1s\n" \
  >/etc/systemd/logind.conf.d/key.conf && systemctl restart systemd-logind'
wait_for "logind does not see the lid" inside sh -c 'journalctl -b -q -u systemd-logind | grep "Watching system buttons.*Lid Switch"'

slept=0
# sleeps KIND: puts the machine to sleep (the kernel's name for the kind), and wakes it. Only S3 is visible from outside.
sleeps() {
  inside sh -c "echo $1 >/sys/power/mem_sleep"
  inside systemctl --no-block suspend
  wakes "$1"
}
wakes() {
  if [ "$1" = deep ]; then
    wait_for "the machine does not sleep" sh -c '"$0" "$1" qmp query-status | grep suspended' "$here/vm.py" "${state:?}"
    machine wake
  else
    sleep 12
    machine power-key
  fi
  slept=$((slept + 1))
  expect 0 "" inside sh -c "sleep 2; test \$(journalctl -b -k -q --no-pager | grep -c 'PM: suspend exit') -ge $slept"
}
works() { expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'; }

# The lid is closed while the reader is unused, and while it is armed.
works
inside sh -c 'echo s2idle >/sys/power/mem_sleep; echo close >/run/lid'
wakes s2idle
works
beside at_seat alice 'whorl get bank/alice --timeout 90'
tell own wanted 60 >/dev/null
inside sh -c 'echo close >/run/lid'
wakes s2idle
ended 77 "the machine goes to sleep"
works

# S3.
sleeps deep
works
