# The lid is closed and opened, the machine sleeps deeply (S3), and a finger rests on the reader while the machine sleeps.
. "${here:?}/common.sh"
begins enrolled

# QEMU has no lid. logind reads one that the kernel shows as an input device, as that of a laptop.
lid='import fcntl, os, struct, time
device = os.open("/dev/uinput", os.O_WRONLY)
for request, value in ((0x40045564, 5), (0x4004556d, 0)):  # EV_SW, SW_LID
    fcntl.ioctl(device, request, value)
fcntl.ioctl(device, 0x405c5503, struct.pack("HHHH80sI", 0x19, 0, 5, 1, b"Lid Switch", 0))
fcntl.ioctl(device, 0x5501)
while True:
    with open("/run/lid") as orders:
        for closed in orders:
            for kind, value in ((5, int(closed)), (0, 0)):
                os.write(device, struct.pack("qqHHi", 0, 0, kind, 0, value))'
machine run -i "$lid" sh -c 'cat >/usr/local/bin/lid.py && mkfifo /run/lid && modprobe uinput &&
  systemd-run --quiet --unit lid python3 /usr/local/bin/lid.py && udevadm settle'
# The power key wakes the machine. Keep logind from acting on it, and let it act on the lid soon after waking.
inside sh -c 'mkdir -p /etc/systemd/logind.conf.d && printf "[Login]\nHandlePowerKey=ignore\nHoldoffTimeoutSec=1s\n" \
  >/etc/systemd/logind.conf.d/key.conf && systemctl restart systemd-logind'
wait_for "logind does not see the lid" inside sh -c 'journalctl -b -q -u systemd-logind | grep "Watching system buttons.*Lid Switch"'

slept=0
# sleeps KIND: as the kernel calls it, until somebody wakes the machine 12 s later.
sleeps() {
  inside sh -c "echo $1 >/sys/power/mem_sleep"
  inside systemctl --no-block suspend
  wakes "$1"
}
wakes() {
  sleep 12
  if [ "$1" = deep ]; then machine wake; else machine power-key; fi
  slept=$((slept + 1))
  expect 0 "" inside sh -c "sleep 2; test \$(journalctl -b -k -q --no-pager | grep -c 'PM: suspend exit') -ge $slept"
}
works() { expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'; }

# The lid, while nobody uses the reader, and while it is armed.
works
inside sh -c 'echo s2idle >/sys/power/mem_sleep; echo 1 >/run/lid'
wakes s2idle
inside sh -c 'echo 0 >/run/lid'
works
beside at_seat alice 'whorl get bank/alice --timeout 90'
tell own wanted 60 >/dev/null
inside sh -c 'echo 1 >/run/lid'
wakes s2idle
inside sh -c 'echo 0 >/run/lid'
ended 77 "the machine goes to sleep"
works

# S3.
sleeps deep
works
beside at_seat alice 'whorl get bank/alice --timeout 90'
tell own wanted 60 >/dev/null
sleeps deep
ended 77 "the machine goes to sleep"
works

# A finger rests on the reader while the machine sleeps, and is lifted afterwards.
for kind in s2idle deep; do
  tell own rest right >/dev/null
  sleeps "$kind"
  status=0
  at_seat alice 'whorl get bank/alice --timeout 20' || status=$?
  echo "  $kind, a finger rests: status $status"
  tell own lift >/dev/null
  works
done
