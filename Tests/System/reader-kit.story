# `whorl reader` with the service: an administrator allows a test, and a recorded reader is tested like any other.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
stranger=right-index:2
user alice

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install

# Listing needs no permission and no store; testing needs polkit's permission, and a session at the seat.
expect 0 "virtual" at_seat alice 'whorl reader list'
expect 77 "this takes an administrator's password" at_seat alice 'whorl-reader-kit test --steps enroll,delete'
cat >/etc/polkit-1/rules.d/12-test.rules <<'END'
polkit.addRule(function (action, subject) {
  // Also away from the seat, where the service itself refuses.
  if (action.id == "org.whorl.manage" && subject.user == "alice") return polkit.Result.YES;
});
END
systemctl restart polkit
expect 77 "does not lend its reader: you are not logged in at this machine" elsewhere alice 'whorl-reader-kit test --steps enroll,delete'
expect 0 "verify    ok" touching "$right $right $right $right $right $right $stranger" \
  at_seat alice 'whorl-reader-kit test --steps enroll,verify,wrong,cancel'
expect 77 "does not lend its reader" at_seat alice 'whorl-reader-kit test --steps capture --image finger.png'
expect 77 "recorded by root alone" at_seat alice 'whorl-reader-kit record new'
[ ! -e /home/alice/new ] && [ ! -e /home/alice/new.partial ] || fail "a folder was left"

# When the testing program ends, the reader is given back.
at_seat alice 'umask 077; echo "open sesame, please" >passcode'
own_password_is_typed
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" at_seat alice \
  'timeout -s KILL 6 whorl-reader-kit test --steps enroll >kit 2>&1 & sleep 3
    whorl enroll right-index --passcode-fd 3 3<passcode'
case $output in *"has the reader"*) ;; *) fail "not told of the test: $output $(cat /home/alice/kit)" ;; esac

# A recorded reader, replayed by the unit for libfprint instead of the machine's readers.
recording=/usr/share/whorl-recordings/elanmoc
if [ ! -d "$recording" ]; then
  skip_part "there is no recording in $recording"
  exit 0
fi
unit=whorl-reader-libfprint.service
# If only the settings name it, there is no replayed reader: the unit drives the machine's own.
echo "reader = replay:$recording" >/etc/whorl/whorld.conf.d/virtual.conf
systemctl restart whorld.service
expect 0 "No reader is attached" at_seat alice 'whorl reader list'
# If only the unit is configured, there is none, either: the service uses a replayed reader only if the settings name it.
mkdir -p "/etc/systemd/system/$unit.d"
cat >"/etc/systemd/system/$unit.d/replay.conf" <<END
[Service]
StandardInput=socket
StandardOutput=journal
StandardError=journal
ExecStart=
ExecStart=/usr/bin/umockdev-run -d $recording/device \\
  -p /sys$(sed -n '1s/^P: //p' "$recording/device")=$recording/custom.pcapng -- /bin/sh -c 'exec 3<&0 0</dev/null; \\
  LISTEN_FDS=1 LISTEN_PID=\$\$\$\$ exec /usr/libexec/whorl/whorl-reader --reader replay:$recording --unit-for whorl'
END
systemctl daemon-reload
systemctl stop "$unit"
echo "reader = libfprint" >/etc/whorl/whorld.conf.d/virtual.conf
systemctl restart whorld.service
expect 0 "No reader is attached" at_seat alice 'whorl reader list'
# With both, the reader exists, and is labelled as replayed.
echo "reader = replay:$recording" >/etc/whorl/whorld.conf.d/virtual.conf
systemctl restart whorld.service
expect 0 "elanmoc" at_seat alice 'whorl reader list'
case $output in *replayed*) ;; *) fail "not called a replayed reader: $output" ;; esac
expect 0 "delete    ok" at_seat alice 'whorl-reader-kit test'
# A second start of the unit replays it from the beginning. The unit is as confined as with a real reader.
at_seat alice 'whorl-reader-kit test' >/tmp/kit 2>&1 &
test=$!
process=
for _ in $(seq 100); do
  process=$(pgrep -x -u whorl-reader whorl-reader) && break
  sleep 0.1
done
[ -n "$process" ] || fail "no process in the unit: $(cat /tmp/kit)"
sleep 0.2
expect 0 "$unit" cat "/proc/$process/cgroup"
expect 0 "CapBnd:	0000000000000000" cat "/proc/$process/status"
case $output in *"NoNewPrivs:	1"*"Seccomp:	2"*) ;; *) fail "not confined: $output" ;; esac
expect 0 "InaccessiblePaths=-/var/lib/whorl" systemctl show --property InaccessiblePaths "$unit"
wait "$test" || fail "the second test: $(cat /tmp/kit)"
case $(cat /tmp/kit) in *"delete    ok"*) ;; *) fail "the second test: $(cat /tmp/kit)" ;; esac
# The caller has no influence: even if alice runs whorl under umockdev with a recording of her own, she sees the
# service's reader.
mkdir -p /tmp/empty
expect 0 "elanmoc" at_seat alice 'UMOCKDEV_DIR=/tmp/empty FP_DEVICE_EMULATION=1 FP_VIRTUAL_IMAGE=/tmp/mine whorl reader list'
exit 0
