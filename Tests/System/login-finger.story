# Logins by finger with pam_whorl.so: who can log in, where no finger is asked for, and when the password is asked for.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
stranger=right-index:2
password='open sesame'
answering=/usr/share/whorl-tests/answering.py
user alice
user bob
user greeter
own_password_is_typed
echo "alice:$password" | chpasswd
usermod -aG sudo alice

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install

# A greeter at the seat. On a seat without virtual consoles, the newest session is in the foreground.
cat >/etc/systemd/system/greeter.service <<'END'
[Service]
PAMName=login
User=greeter
Environment=XDG_SEAT=seat0 XDG_SESSION_CLASS=greeter XDG_SESSION_TYPE=x11
ExecStart=/bin/sh -c 'touch /tmp/greeting; exec sleep infinity'
END
systemctl daemon-reload
greet() {
  rm -f /tmp/greeting
  # systemd refuses a service that starts more than five times in ten seconds.
  systemctl reset-failed greeter.service 2>/dev/null || :
  systemctl restart greeter.service
  for _ in $(seq 100); do
    [ ! -e /tmp/greeting ] || return 0
    sleep 0.1
  done
  fail "no greeter: $(systemctl status greeter.service)"
}

# GDM's PAM file for fingers, with Whorl's line in place of fprintd's.
cat >/etc/pam.d/gdm-fingerprint <<'END'
auth    requisite       pam_nologin.so
auth    required        pam_succeed_if.so user != root quiet_success
auth    required        pam_whorl.so verify
@include common-account
session required        pam_loginuid.so
@include common-session
END
cat >/etc/pam.d/lightdm <<'END'
@include common-auth
@include common-account
@include common-session
END
printf '@include common-auth\n@include common-account\n' >/etc/pam.d/sudo
cp /etc/pam.d/sudo /etc/pam.d/cron
# Here the password comes first.
printf 'auth optional pam_unix.so\nauth required pam_whorl.so verify\n@include common-account\n' >/etc/pam.d/greetd
# Like sudo, a setuid program that alice starts. The sensor belongs to the service.
install -m 4755 "$(command -v pamtester)" /usr/local/bin/as-root
install -m 4755 "$(command -v whorl-finger)" /usr/local/bin/whorl-finger

# enter ANSWERS SERVICE [OPTION...]: alice logs in by that service and out again, as a greeter does, with these answers
# to the prompts (answering.py). OPTIONs are pamtester's. The output is in /tmp/login.
enter() {
  answers=$1
  service=$2
  shift 2
  greet
  systemd-run --quiet --pipe --wait --collect -E "SENSOR=$sensor" python3 "$answering" "$answers" \
    pamtester -I tty=:0 -E XDG_SEAT=seat0 -E XDG_SESSION_TYPE=x11 -E XDG_SESSION_CLASS=user "$@" "$service" alice \
    authenticate "setcred(PAM_ESTABLISH_CRED)" acct_mgmt open_session close_session </dev/null >/tmp/login 2>&1
}
# entered, kept_out WHAT ANSWERS SERVICE [OPTION...]
entered() {
  what=$1
  shift
  enter "$@" || fail "$what: $(cat /tmp/login)"
  echo "  entered: $what"
}
kept_out() {
  what=$1
  shift
  result=0
  enter "$@" || result=$?
  [ "$result" = 1 ] || fail "$what: status $result: $(cat /tmp/login)"
  echo "  kept out: $what"
}
# prove PLACE NAME ANSWERS SERVICE: a setuid program, started by that user, authenticates alice, as sudo does. PLACE is
# at_seat or elsewhere.
prove() {
  "$1" "$2" "SENSOR=$sensor python3 $answering '$3' as-root $4 alice 'authenticate(PAM_SILENT)'" </dev/null
}
# asked_at TERMINAL SERVICE ANSWERS: a login program without a greeter at the seat.
asked_at() {
  systemd-run --quiet --pipe --wait --collect -E "SENSOR=$sensor" python3 "$answering" "$3" \
    pamtester -I "tty=$1" "$2" alice authenticate </dev/null
}
without_login() {
  systemd-run --quiet --pipe --wait --collect -p "User=$1" -p "WorkingDirectory=/home/$1" sh -c "$2"
}
state() { without_login alice "whorl status --json"; }

# Off until an administrator turns it on. Then the finger is asked for before the password, and the module is ignored in
# other programs.
grep -q pam_whorl /etc/pam.d/common-* && fail "the lines are there before they were enabled"
expect 0 "" env DEBIAN_FRONTEND=noninteractive pam-auth-update --enable whorl whorl-verify
grep -qE '^auth.*\[success=2 default=ignore\].*pam_whorl.so verify' /etc/pam.d/common-auth ||
  fail "no line: $(cat /etc/pam.d/common-auth)"

# Without a store, and without a finger, nobody is asked for one.
entered "no store" "$password" lightdm
at_seat alice "umask 077; echo '$password' >passcode"
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "" at_seat alice 'printf gold | whorl set wallet --access none --accessible after-first-unlock'
entered "no finger" "$password" lightdm
kept_out "no finger, and no password to type" "" gdm-fingerprint
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'

# The finger logs in, and the login opens its items.
expect 0 "A login at this machine" at_seat alice 'whorl passcode --first-unlock login --passcode-fd 3 3<passcode'
systemctl restart whorld.service
expect 77 "are closed" without_login alice 'whorl get wallet --no-prompt'
entered "by finger" "$right" gdm-fingerprint
expect 0 gold without_login alice 'whorl get wallet --no-prompt'
entered "by finger before the password" "$right" lightdm
greet
expect 0 "" asked_at tty2 greetd "$password"
entered "the second touch" "$stranger,$right" gdm-fingerprint
expect 0 "verify-login" without_login alice 'whorl log -n 20'

# Without a reader, the password is asked for at once.
mv /etc/whorl/whorld.conf.d/virtual.conf /etc/whorl/virtual.conf
systemctl restart whorld.service
entered "no reader" "$password" lightdm
kept_out "no reader, and no password to type" "" gdm-fingerprint
mv /etc/whorl/virtual.conf /etc/whorl/whorld.conf.d/virtual.conf
systemctl restart whorld.service
entered "the reader again" "$right" gdm-fingerprint

# After the boot of a slow machine the service is started by the login, which waits for it, and for not much
# longer than five seconds.
# starts_after SECONDS: delays the start of the service.
starts_after() {
  mkdir -p /run/systemd/system/whorld.service.d
  printf '[Service]\nExecStart=\nExecStart=/bin/sh -c "sleep %s; exec /usr/libexec/whorl/whorld --system"\n' "$1" \
    >/run/systemd/system/whorld.service.d/slow.conf
  systemctl daemon-reload
  systemctl stop whorld.service
  systemctl reset-failed whorld.service 2>/dev/null || :
}
# The greeter's own login starts the service, too.
greet
starts_after 2
expect 0 "Waiting for the fingerprint reader." asked_at tty2 lightdm "$right"
starts_after 60
began=$(date +%s)
expect 0 "" asked_at tty2 lightdm "$password"
[ $(($(date +%s) - began)) -le 7 ] || fail "the password came after $(($(date +%s) - began)) seconds"
rm /run/systemd/system/whorld.service.d/slow.conf
systemctl daemon-reload
systemctl stop whorld.service
entered "the service starts as before" "$right" lightdm

# A wrong finger does not log in, and the password does.
kept_out "a stranger" "$stranger,$stranger,$stranger" gdm-fingerprint
grep -q "The fingerprint does not match" /tmp/login || fail "not told: $(cat /tmp/login)"
entered "the password in place of a touch that does not come" "nothing,$password" lightdm
entered "the password after Ctrl-C" "interrupt,$password" lightdm
kept_out "a wrong password after Ctrl-C" "interrupt,not the password" lightdm

# A lockout, which the login password clears if it is the passcode.
entered "two more strangers, and the password" "$stranger,$stranger,$password" lightdm
grep -q "Fingers are locked" /tmp/login || fail "not told: $(cat /tmp/login)"
expect 0 '"lockedOut":true' state
kept_out "locked" "" gdm-fingerprint
grep -q "locked after too many wrong touches. Type your password." /tmp/login || fail "not told: $(cat /tmp/login)"
expect 0 '"lockedOut":true' state
expect 0 "" at_seat alice 'python3 /usr/share/whorl-tests/choose-passcode.py'
entered "locked, with the password that is the passcode" "$password" lightdm
until state | grep -q '"lockedOut":false'; do sleep 0.2; done
entered "unlocked" "$right" gdm-fingerprint

# While a finger would leave the store closed, only the password is asked for.
expect 0 "" at_seat alice 'whorl passcode --first-unlock passcode --passcode-fd 3 3<passcode'
systemctl restart whorld.service
kept_out "the first login after a start, by finger" "" gdm-fingerprint
entered "the first login after a start" "$password" lightdm
expect 0 gold without_login alice 'whorl get wallet --no-prompt'
entered "the second" "$right" lightdm

# No finger is asked for in a session without the seat, or while another user's session is in front.
entered "from another machine" "$password" lightdm -I rhost=192.0.2.1
kept_out "from another machine, by finger" "" gdm-fingerprint -I rhost=192.0.2.1
kept_out "at another seat" "" gdm-fingerprint -E XDG_SEAT=seat1
systemctl stop greeter.service
expect 0 "Swipe the fingerprint reader." asked_at tty2 login "$right"
expect 0 "" asked_at ttyS0 login "$password"
at_seat bob 'touch /tmp/bobs; sleep 20' &
until [ -e /tmp/bobs ]; do sleep 0.1; done
expect 1 "" asked_at :0 gdm-fingerprint ""
expect 0 "" asked_at tty2 login "$password"
wait

# sudo: off by default; if enabled, only at the seat.
expect 0 "" prove at_seat alice "$password" sudo
sed -i '1i auth sufficient pam_whorl.so verify services=sudo' /etc/pam.d/sudo
expect 0 "Swipe the fingerprint reader." prove at_seat alice "$right" sudo
expect 0 "" prove at_seat alice "$stranger,interrupt,$password" sudo
# A program that ignores Ctrl-C, as login does.
expect 0 "" at_seat alice \
  "trap '' INT; SENSOR=$sensor python3 $answering 'interrupt,$password' as-root sudo alice authenticate"
expect 0 "" prove elsewhere alice "$password" sudo
expect 0 "" prove at_seat alice "$password" cron
# Without a session, like polkit's helper when the system starts it.
greet
expect 0 "" asked_at tty2 sudo "$password"
# The session is locked during the wait for a touch.
logind=org.freedesktop.login1
lock="command=busctl call $logind /org/freedesktop/login1/session/auto $logind.Session SetLockedHint b true"
expect 0 "" prove at_seat alice "$lock,$password" sudo
expect 0 "" prove at_seat alice "$right" sudo

# polkit's own helper, at the seat and elsewhere.
cp /usr/lib/pam.d/polkit-1 /etc/pam.d/polkit-1
sed -i '1i auth sufficient pam_whorl.so verify services=polkit-1' /etc/pam.d/polkit-1
cat >/usr/local/bin/ask-polkit <<'END'
#!/bin/sh
pkcheck --enable-internal-agent --allow-user-interaction --process $$ --action-id org.freedesktop.policykit.exec
END
chmod 755 /usr/local/bin/ask-polkit
expect 0 "COMPLETE" at_seat alice "SENSOR=$sensor python3 $answering '$right' ask-polkit"
expect 0 "COMPLETE" elsewhere alice "SENSOR=$sensor python3 $answering '$password' ask-polkit"

# While another program has the reader, the password is asked for at once.
expect 0 "" at_seat alice 'printf silver | whorl set bank --access any-finger'
# Both run in one session, since a second session would take the seat.
cat >/usr/local/bin/beside <<END
#!/bin/sh
whorl get bank --timeout 60 >waiting 2>&1 </dev/null &
for _ in \$(seq 100); do grep -qE 'Touch|Swipe' waiting && break; sleep 0.1; done
SENSOR=$sensor python3 $answering '$password' as-root sudo alice authenticate || exit
whorl-finger press right-index --person 1 --socket $sensor
wait
cat waiting
END
chmod 755 /usr/local/bin/beside
expect 0 "silver" at_seat alice beside </dev/null

# Only root can ask for a finger for a login, and if the service does not answer, the password is asked for.
expect 1 "only root" without_login alice 'python3 /usr/share/whorl-tests/login-call.py 1000 c1'
systemctl kill --kill-whom=main -s STOP whorld.service
entered "a service that hangs" "$password" lightdm
systemctl kill --kill-whom=main -s CONT whorld.service
systemctl stop whorld.socket whorld.service
entered "no service" "$password" lightdm

# A false service: only one exact answer logs in. The module has no invalid access, no leak and no open descriptor.
mkdir -p /run/whorl
printf 'auth required pam_whorl.so verify\n' >/etc/pam.d/sddm
# faced STATUS MANNER [SEED]: alice logs in with a false service.
faced() {
  expected=$1
  shift
  : >/tmp/listening
  python3 /usr/share/whorl-tests/fake-service.py "$@" >/tmp/listening &
  false_service=$!
  until grep -q listening /tmp/listening; do sleep 0.05; done
  result=0
  pamtester sddm alice authenticate >/tmp/login 2>&1 || result=$?
  [ "$expected" = any ] || [ "$result" = "$expected" ] || fail "a service that is $1: status $result: $(cat /tmp/login)"
  # Valgrind is slow, so the module may give up before the answer.
  result=0
  valgrind --quiet --leak-check=full --track-fds=yes --error-exitcode=99 \
    --errors-for-leak-kinds=definite,indirect,possible pamtester sddm alice authenticate >/tmp/login 2>&1 || result=$?
  [ "$result" != 99 ] || fail "valgrind at a service that is $1: $(cat /tmp/login)"
  # One is syslog's own.
  [ "$(grep -c 'Open AF_UNIX' /tmp/login)" -le 1 ] || fail "a socket was left: $(cat /tmp/login)"
  kill "$false_service"
  wait "$false_service" 2>/dev/null || :
}
faced 0 honest
faced 0 swiped
for line in 'Swipe the fingerprint reader.' 'The swipe could not be read. Swipe the fingerprint reader again.' \
  'No match. Swipe the fingerprint reader again.'; do
  grep -qF "$line" /tmp/login || fail "not told '$line': $(cat /tmp/login)"
done
for manner in silent deaf hangs-up drips random authless noise flood huge wrong-type nonsense error trying open \
  verified unasked nags; do
  faced 1 "$manner"
done
seed=1
while [ "$seed" -le 10 ]; do
  faced any bent "$seed"
  seed=$((seed + 1))
done
# A service that is not root's is not called.
python3 /usr/share/whorl-tests/fake-service.py honest >/tmp/listening &
false_service=$!
until grep -q listening /tmp/listening; do sleep 0.05; done
expect 0 "" pamtester sddm alice authenticate
for change in 'chown alice /run/whorl' 'chmod 777 /run/whorl' 'chown alice /run/whorl/bus'; do
  $change
  expect 1 "" pamtester sddm alice authenticate
  chown root /run/whorl /run/whorl/bus
  chmod 755 /run/whorl
done
kill "$false_service"
wait "$false_service" 2>/dev/null || :
rm /run/whorl/bus
systemctl start whorld.socket

case $(journalctl -q --no-pager -t whorld -t whorl -t pamtester) in
  *sesame* | *gold*) fail "a secret is in the journal" ;;
esac
expect 0 "/etc/whorl/system" env PREFIX=/usr /usr/src/whorl/scripts/uninstall
grep -q pam_whorl /etc/pam.d/common-* && fail "uninstall left lines that name the module"
exit 0
