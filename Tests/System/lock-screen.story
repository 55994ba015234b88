# Lock screens that run as their user: Plasma's asks for a finger beside the password, swaylock after Enter without one. Then a
# program of the same user that asks as a lock screen does. Debian 13.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
stranger=right-index:2
password='open sesame'
answering=/usr/share/whorl-tests/answering.py
user alice
user bob
own_password_is_typed
echo "alice:$password" | chpasswd
usermod -aG sudo alice

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
systemctl daemon-reload
# The sensor belongs to the service.
install -m 4755 "$(command -v whorl-finger)" /usr/local/bin/whorl-finger

at_seat alice "umask 077; echo '$password' >passcode"
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'

# Off until an administrator turns it on. The files are as before when it is off again.
files() { find /etc/pam.d -type f -exec sha256sum {} + | sort -k 2; }
before=$(files)
expect 0 "whorl login enable screen" at_seat alice 'whorl setup </dev/null'
expect 0 "beside the password" whorl login enable screen
expect 0 "already" whorl login enable screen
expect 0 "screen    takes a finger or the password" at_seat alice 'whorl setup </dev/null'

# prove PLACE ANSWERS SERVICE: the stack of a lock screen, run by a program of alice.
prove() {
  "$1" alice "SENSOR=$sensor python3 $answering '$2' pamtester '$3' alice authenticate" </dev/null
}
# In the stack for fingers alone. pamtester says "Authentication failure" where nobody was let in.
expect 0 "successfully authenticated" prove at_seat "$right" kde-fingerprint
expect 0 "successfully authenticated" prove at_seat "$stranger,$right" kde-fingerprint
expect 1 "Authentication failure" prove elsewhere "" kde-fingerprint
expect 0 "unlock-screen" at_seat alice 'whorl log -n 20'

# A program of the same user that speaks to the service itself, and says of itself what it likes. It gets a yes for a touch, and
# the lock screen that runs beside it gets none for that touch.
call=/usr/share/whorl-tests/login-call.py
own=$(id -u alice)
expect 0 "no-finger" elsewhere alice "python3 $call $own unlock"
expect 1 "only root" at_seat alice "python3 $call $(id -u bob) unlock"
expect 1 "only root" at_seat alice "python3 $call $own c1"
expect 1 "only root" at_seat bob "python3 $call $own unlock"
cat >/home/alice/beside.sh <<END
python3 $call $own unlock >stolen &
until grep -q swipe stolen; do sleep 0.1; done
SENSOR=$sensor python3 $answering '' pamtester kde-fingerprint alice authenticate && exit 1
whorl-finger press right-index --person 1 --socket $sensor
wait
cat stolen
END
expect 0 "verified" at_seat alice "sh beside.sh"

# A locked session is served, and one in the background is not.
logind=org.freedesktop.login1
lock="busctl call $logind /org/freedesktop/login1/session/auto $logind.Session SetLockedHint b true"
expect 0 "successfully authenticated" at_seat alice \
  "$lock; SENSOR=$sensor python3 $answering '$right' pamtester kde-fingerprint alice authenticate"

# Plasma's lock screen itself. It ends with the word "Unlocked"; the finger and the password each open it.
cat >/home/alice/plasma.sh <<'END'
export DISPLAY=:9 QT_QUICK_BACKEND=software LIBGL_ALWAYS_SOFTWARE=1
Xvfb :9 -screen 0 1024x768x24 -nolisten local >/dev/null 2>&1 &
while [ ! -S /tmp/.X11-unix/X9 ]; do sleep 0.1; done
timeout 60 $(ls /usr/lib/*/libexec/kscreenlocker_greet) --testing --immediateLock >greeter 2>&1 &
locker=$!
sleep 5
xdotool mousemove 300 300 mousemove 320 320 key Shift
sleep 2
sh -c "$1"
wait $locker
kill %1
cat greeter
END
chmod 755 /home/alice/plasma.sh
press="SENSOR=$sensor whorl-finger press right-index --person 1 --socket $sensor"
expect 0 "Unlocked" at_seat alice "dbus-run-session sh plasma.sh '$press'"
expect 0 "Unlocked" at_seat alice "dbus-run-session sh plasma.sh 'xdotool type --delay 60 \"$password\"; xdotool key Return'"

# swaylock in a sway without a screen: Enter, then the finger; or the password.
cat >/home/alice/sway.sh <<'END'
export WLR_BACKENDS=headless WLR_LIBINPUT_NO_DEVICES=1 WLR_RENDERER=pixman XDG_RUNTIME_DIR=/run/user/$(id -u)
unset WAYLAND_DISPLAY
sway -c /dev/null >sway.log 2>&1 &
while ! ls "$XDG_RUNTIME_DIR"/wayland-* >/dev/null 2>&1; do sleep 0.1; done
export WAYLAND_DISPLAY=wayland-1
timeout 60 swaylock >swaylock.log 2>&1 &
locker=$!
sleep 3
sh -c "$1"
status=0
wait $locker || status=$?
kill %1
exit $status
END
chmod 755 /home/alice/sway.sh
# A virtual keyboard's first key may be lost, so the first one is Escape.
expect 0 "" at_seat alice "sh sway.sh 'wtype -k Escape -s 500 -k Return -s 300; $press'"
expect 0 "" at_seat alice "sh sway.sh 'wtype -k Escape -s 500 \"$password\" -k Return'"

# The service hangs, or is gone: the password is tried at once.
systemctl kill --kill-whom=main -s STOP whorld.service
expect 0 "" at_seat alice "sh sway.sh 'wtype -k Escape -s 500 \"$password\" -k Return'"
systemctl kill --kill-whom=main -s CONT whorld.service
systemctl stop whorld.socket whorld.service
expect 0 "" at_seat alice "sh sway.sh 'wtype -k Escape -s 500 \"$password\" -k Return'"
systemctl start whorld.socket
expect 0 "" at_seat alice "whorl status"

# A stack without a password is found, and what only the finger changed is taken back.
echo "auth sufficient pam_whorl.so verify services=i3lock" >/etc/pam.d/i3lock
expect 69 "i3lock asks for a finger and never for a password" at_seat alice 'whorl doctor'
rm /etc/pam.d/i3lock
expect 0 "Only the password" whorl login disable screen
[ "$(files)" = "$before" ] || fail "the PAM files are not as before: $(files)"
exit 0
