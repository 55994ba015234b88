# The kit for readers through the service: an administrator allows a test, and a recorded reader is tested like any other.
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

# Looking is free, and needs no store; testing takes polkit's word, and a session at the seat.
expect 0 "virtual" at_seat alice 'whorl reader list'
expect 77 "org.whorl.manage" at_seat alice 'whorl reader test --steps enroll,delete'
cat >/etc/polkit-1/rules.d/12-test.rules <<'END'
polkit.addRule(function (action, subject) {
  if (action.id == "org.whorl.manage" && subject.active && subject.local) return polkit.Result.YES;
});
END
systemctl restart polkit
expect 77 "the login session does not allow it" elsewhere alice 'whorl reader test --steps enroll,delete'
expect 0 "verify    ok" touching "$right $right $right $right $right $right $stranger" \
  at_seat alice 'whorl reader test --steps enroll,verify,wrong,cancel'
expect 77 "does not lend its reader" at_seat alice 'whorl reader test --steps capture --image finger.png'
expect 77 "recorded by root alone" at_seat alice 'whorl reader record new'
[ ! -e /home/alice/new ] && [ ! -e /home/alice/new.partial ] || fail "a folder was left"

# The end of the program that tests gives the reader back.
at_seat alice 'umask 077; echo "open sesame, please" >passcode'
own_password_is_typed
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" at_seat alice \
  'timeout -s KILL 6 whorl reader test --steps enroll >kit 2>&1 & sleep 3
    whorl enroll right-index --passcode-fd 3 3<passcode'
case $output in *"has the reader"*) ;; *) fail "not told of the test: $output $(cat /home/alice/kit)" ;; esac

# A recorded reader, replayed under the service in the place of the machine's.
recording=/usr/share/whorl-recordings/elanmoc
if [ ! -d "$recording" ]; then
  echo "  skipped: there is no recording in $recording"
  exit 0
fi
echo "reader = replay:$recording" >/etc/whorl/whorld.conf.d/virtual.conf
systemctl restart whorld.service
expect 0 "elanmoc" at_seat alice 'whorl reader list'
expect 0 "delete    ok" at_seat alice 'whorl reader test'
exit 0
