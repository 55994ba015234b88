# Logins through Debian's own PAM files: which items they open, and how long they take without a service.
. /usr/share/whorl-tests/common.sh

right=right-index:1
user alice
user bob
virtual_reader
own_password_is_typed
echo 'alice:open sesame, please' | chpasswd
echo 'bob:another password' | chpasswd

gdm_files
for service in sshd gdm-autologin; do cp /etc/pam.d/gdm-password "/etc/pam.d/$service"; done

# now: milliseconds.
now() { echo $(($(date +%s%N) / 1000000)); }

# typed SERVICE NAME PASSWORD [OPTION...]: logs in with a typed password and out again, as a greeter does. OPTIONs are
# pamtester's. Prints the result and the time in milliseconds.
typed() {
  service=$1
  name=$2
  password=$3
  shift 3
  began=$(now)
  result=0
  printf '%s\n' "$password" | systemd-run --quiet --pipe --wait --collect \
    pamtester -I tty=:0 -E XDG_SEAT=seat0 -E XDG_SESSION_TYPE=x11 -E XDG_SESSION_CLASS=user "$@" "$service" "$name" \
    authenticate acct_mgmt open_session close_session >/tmp/login 2>&1 || result=$?
  took=$(($(now) - began))
  [ "$result" = 0 ] || fail "login of $name by $service: $(cat /tmp/login)"
}

# fastest COMMAND...: the shortest time of three, since the machine may be busy.
fastest() {
  least=1000000
  for _ in 1 2 3; do
    "$@"
    [ "$took" -ge "$least" ] || least=$took
  done
  took=$least
}

# without_login NAME COMMAND: runs a shell command of that user without a login (at_seat and elsewhere log in).
without_login() {
  systemd-run --quiet --pipe --wait --collect -p "User=$1" -p "WorkingDirectory=/home/$1" sh -c "$2"
}

# is_open NAME, is_closed NAME: whether an item of after-first-unlock can be read without a prompt.
is_open() { expect 0 gold without_login "$1" 'whorl get wallet --no-prompt'; }
is_closed() { expect 77 "are closed" without_login "$1" 'whorl get wallet --no-prompt'; }
restart() {
  systemctl restart whorld.service
}

# within LIMIT WHAT: the last time measured exceeds that of a login without the module by at most LIMIT milliseconds.
within() {
  extra=$((took - usual))
  [ "$extra" -le "$1" ] || fail "$2: $took ms, where a login without the module takes $usual ms"
  echo "  $2: $extra ms more than without the module"
}

expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
expect 0 "pam_whorl.so" ls "/usr/lib/$(uname -m)-linux-gnu/security/pam_whorl.so"
for name in alice bob; do
  at_seat "$name" 'umask 077; echo "open sesame, please" >passcode'
  expect 0 "" at_seat "$name" 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
  expect 0 "" at_seat "$name" 'printf gold | whorl set wallet --access none --accessible after-first-unlock'
done

# The module is off after the installation.
grep -q pam_whorl /etc/pam.d/common-* && fail "the lines are there before they were enabled"
fastest typed gdm-password alice 'open sesame, please'
usual=$took
expect 0 "" env DEBIAN_FRONTEND=noninteractive pam-auth-update --enable whorl
for kind in auth session password; do
  grep -q "optional.*pam_whorl.so" "/etc/pam.d/common-$kind" || fail "no line in common-$kind"
done
grep -q pam_whorl /etc/pam.d/common-session-noninteractive && fail "a line for sessions that nobody sits in front of"
awk '/pam_systemd/ { systemd = NR } /pam_whorl/ { whorl = NR } END { exit !(systemd && whorl > systemd) }' \
  /etc/pam.d/common-session || fail "the line does not come after pam_systemd: $(cat /etc/pam.d/common-session)"

# Nothing is chosen: a login opens nothing, and takes almost no extra time.
restart
typed gdm-password alice 'open sesame, please'
is_closed alice

# A login is enough, by the user's choice.
expect 0 "A login at this machine" at_seat alice 'whorl passcode --first-unlock login --passcode-fd 3 3<passcode'
restart
is_closed alice
typed gdm-password alice 'open sesame, please'
is_open alice
is_closed bob
typed gdm-password bob 'another password'
is_closed bob
restart
typed login alice 'open sesame, please'
is_open alice
typed gdm-password alice 'open sesame, please'
within 300 "a later login"
expect 0 "login" at_seat alice 'whorl status --json'

# By finger.
sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 1; whorl-finger press right-index --person 1 --socket "$1" || :; done' - "$sensor" &
expect 0 "enroll-completed" at_seat alice 'fprintd-enroll -f right-index-finger'
wait
# by_finger FINGER NAME: a login by GDM's PAM file for fingers.
by_finger() {
  (
    # The reader is ready a moment after the prompt.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      sleep 0.5
      whorl-finger press "${1%:*}" --person "${1#*:}" --socket "$sensor" 2>/dev/null || :
    done
  ) &
  presses=$!
  result=0
  systemd-run --quiet --pipe --wait --collect pamtester -I tty=:0 -E XDG_SEAT=seat0 -E XDG_SESSION_TYPE=x11 \
    -E XDG_SESSION_CLASS=user gdm-fingerprint "$2" authenticate acct_mgmt open_session close_session \
    </dev/null >/tmp/login 2>&1 || result=$?
  kill "$presses" 2>/dev/null || :
  wait "$presses" 2>/dev/null || :
  return "$result"
}
restart
by_finger right-index:2 alice && fail "a stranger's finger logged alice in"
is_closed alice
by_finger "$right" alice || fail "no login by finger: $(cat /tmp/login)"
is_open alice

# These open nothing: other programs, a remote login, an automatic one, root's su, a session without a person.
restart
for service in sshd su gdm-autologin; do typed "$service" alice 'open sesame, please'; done
is_closed alice
typed gdm-password alice 'open sesame, please' -I rhost=192.0.2.1
is_closed alice
typed gdm-password alice 'open sesame, please' -E XDG_SESSION_CLASS=background
is_closed alice
expect 0 alice su - alice -c whoami
is_closed alice
# A cron job, with Debian's own PAM file, and with the line added to it.
echo '* * * * * alice whorl get wallet --no-prompt >/tmp/job 2>&1; echo done >/tmp/by-cron' >/etc/cron.d/story
for line in '' 'session optional pam_whorl.so' 'session optional pam_whorl.so services=cron'; do
  sed -i '/pam_whorl/d' /etc/pam.d/cron
  echo "$line" >>/etc/pam.d/cron
  rm -f /tmp/by-cron
  tries=0
  until [ -e /tmp/by-cron ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "no job of cron within 100 seconds: $(systemctl status cron)"
    sleep 1
  done
  grep -q "are closed" /tmp/job || fail "a job of cron with '$line': $(cat /tmp/job)"
  is_closed alice
done
rm /etc/cron.d/story
journalctl -q --no-pager -t whorld | grep -q "login of user $(id -u alice) by gdm-password: logind has no such local session" ||
  fail "the refusal of a remote login is not in the journal"
# An administrator can change the list of services, and logind is still checked.
sed -i 's/pam_whorl.so/pam_whorl.so services=sshd/' /etc/pam.d/common-session
typed sshd alice 'open sesame, please' -I rhost=192.0.2.1
is_closed alice
typed sshd alice 'open sesame, please'
is_open alice
sed -i 's/pam_whorl.so services=sshd/pam_whorl.so/' /etc/pam.d/common-session

# The helper program has the user's ids, three variables and no descriptor of the login program. If it hangs, it is
# ended with its children.
restart
mv /usr/bin/whorl /usr/bin/whorl.real
cat >/usr/bin/whorl <<'END'
#!/bin/sh
{ id; env; ls -l /proc/$$/fd; echo "$@"; } >/tmp/child
sleep 4711
END
chmod 755 /usr/bin/whorl
typed gdm-password alice 'open sesame, please'
within 2600 "a program that hangs"
pgrep -f "sleep 4711" >/dev/null && fail "what the program has started still runs"
mv /usr/bin/whorl.real /usr/bin/whorl
grep -qxF "$(id alice)" /tmp/child || fail "other ids: $(cat /tmp/child)"
grep -qxF "login open --at-login" /tmp/child || fail "other arguments: $(cat /tmp/child)"
# The shell adds PWD, and has its script open.
[ "$(grep -cE '^[A-Z_]+=' /tmp/child)" -le 4 ] || fail "more variables: $(cat /tmp/child)"
grep ' -> ' /tmp/child | grep -vE ' -> (/dev/null|/tmp/child|/usr/bin/whorl)$' && fail "a descriptor was left"
is_open alice

# Only root can report logins.
restart
expect 1 "only root" without_login alice "python3 /usr/share/whorl-tests/login-call.py $(id -u alice) c1"
is_closed alice
journalctl -q --no-pager -t whorld | grep -q "user $(id -u alice), process .* refused" || fail "the refusal is not in the journal"
# A session of another user, or none, is not a login.
for session in c1 nonsense ''; do
  expect 1 "no local login" python3 /usr/share/whorl-tests/login-call.py "$(id -u alice)" "$session"
done
at_seat bob 'echo "$XDG_SESSION_ID"; sleep 5' >/tmp/session &
until [ -s /tmp/session ]; do sleep 0.1; done
expect 1 "no local login" python3 /usr/share/whorl-tests/login-call.py "$(id -u alice)" "$(cat /tmp/session)"
expect 0 "closed" python3 /usr/share/whorl-tests/login-call.py "$(id -u bob)" "$(cat /tmp/session)"
wait
is_closed alice

# The login password is the passcode.
expect 0 "" at_seat alice 'whorl passcode --first-unlock passcode --passcode-fd 3 3<passcode'
restart
typed gdm-password alice 'open sesame, please'
is_closed alice
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'python3 /usr/share/whorl-tests/choose-passcode.py'
restart
by_finger "$right" alice || fail "no login by finger: $(cat /tmp/login)"
is_closed alice
# A login at a console says that its password is no longer the passcode; a greeter's does not.
echo 'alice:set by root' | chpasswd
for service in gdm-password login; do
  typed "$service" alice 'set by root'
  is_closed alice
  if [ "$service" = login ]; then
    grep -q "'whorl login enable passcode'" /tmp/login || fail "nothing was said at a console: $(cat /tmp/login)"
  elif grep -q Whorl /tmp/login; then
    fail "said at a greeter: $(cat /tmp/login)"
  fi
  expect 0 "two different passwords" without_login alice 'whorl login status'
done
echo 'alice:open sesame, please' | chpasswd
expect 0 "" at_seat alice 'whorl login enable passcode --passcode-fd 3 3<passcode'
expect 0 "your login password is the passcode" without_login alice 'whorl login status'
first_login() {
  restart
  typed gdm-password alice 'open sesame, please'
}
fastest first_login
within 1500 "the first login, with scrypt"
is_open alice
by_finger "$right" alice || fail "no login by finger: $(cat /tmp/login)"
is_open alice

# While a finger would leave it closed, the line before pam_fprintd prevents that from asking for one.
restart
sed -i '/pam_fprintd/i auth [authinfo_unavail=die default=ignore] pam_whorl.so first-password' /etc/pam.d/gdm-fingerprint
by_finger "$right" alice && fail "a finger was asked for that opens nothing"
grep -q finger /tmp/login && fail "a finger was asked for: $(cat /tmp/login)"
by_finger "$right" bob && fail "bob has no finger"
grep -q "pamtester" /tmp/login || fail "bob: $(cat /tmp/login)"
typed gdm-password alice 'open sesame, please'
by_finger "$right" alice || fail "no login by finger: $(cat /tmp/login)"
is_open alice
systemctl kill --kill-whom=main -s STOP whorld.service
by_finger "$right" alice || fail "no login by finger beside a service that hangs: $(cat /tmp/login)"
systemctl kill --kill-whom=main -s CONT whorld.service

# passwd also changes the passcode; a reset by root does not, and a login with the new password counts as a try.
# new_password OLD NEW: alice changes her password at a terminal.
new_password() {
  { sleep 3 && echo "$1" && sleep 2 && echo "$2" && sleep 2 && echo "$2" && sleep 4; } |
    at_seat alice 'script -qec passwd /dev/null'
}
expect 0 "passcode of Whorl, too" new_password 'open sesame, please' 'a newer word'
restart
typed gdm-password alice 'a newer word'
is_open alice
# A change that fails leaves the passcode: pam_unix cannot put another file in the place of one that is a mount point.
mount --bind /etc/shadow /etc/shadow
new_password 'a newer word' 'never in force' >/tmp/failed || :
umount /etc/shadow
case $(cat /tmp/failed) in *"of Whorl, too"*) fail "told of a change that failed: $(cat /tmp/failed)" ;; esac
restart
typed gdm-password alice 'a newer word'
is_open alice
echo 'alice:set by root' | chpasswd
restart
for _ in 1 2 3 4; do typed gdm-password alice 'set by root'; done
is_closed alice
expect 0 '"passcodeDelay":0' at_seat alice 'whorl status --json'
at_seat alice 'umask 077; echo "a newer word" >passcode'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
is_open alice
echo 'alice:a newer word' | chpasswd

# A login waits for a service that is being started.
mkdir -p /run/systemd/system/whorld.service.d
printf '[Service]\nExecStart=\nExecStart=/bin/sh -c "sleep 2; exec /usr/libexec/whorl/whorld --system"\n' \
  >/run/systemd/system/whorld.service.d/slow.conf
systemctl daemon-reload
systemctl stop whorld.service
typed gdm-password alice 'a newer word'
[ "$took" -ge 2000 ] || fail "the service was started in $took ms"
is_open alice
rm /run/systemd/system/whorld.service.d/slow.conf
systemctl daemon-reload

# Without the service, or if it fails or was stopped, the login continues within a second.
systemctl kill --kill-whom=main -s STOP whorld.service
fastest typed gdm-password alice 'a newer word'
within 1000 "a service that hangs"
systemctl kill --kill-whom=main -s CONT whorld.service
systemctl stop whorld.socket whorld.service
fastest typed gdm-password alice 'a newer word'
within 1000 "no service"
mkdir -p /run/systemd/system/whorld.service.d
printf '[Service]\nExecStart=\nExecStart=/bin/false\n' >/run/systemd/system/whorld.service.d/fails.conf
systemctl daemon-reload
systemctl start whorld.socket
fastest typed gdm-password alice 'a newer word'
within 1000 "a service that does not start"
rm /run/systemd/system/whorld.service.d/fails.conf
systemctl daemon-reload
systemctl stop whorld.service whorld.socket
systemctl reset-failed whorld.service whorld.socket
systemctl start whorld.socket
systemctl mask --runtime whorld.service
fastest typed gdm-password alice 'a newer word'
within 1000 "a masked service"
systemctl unmask --runtime whorld.service
systemctl stop whorld.socket
systemctl reset-failed whorld.service whorld.socket

# A false service, with all kinds of wrong answers: the module has no invalid access, no leak and no open descriptor.
mkdir -p /run/whorl
printf 'session required pam_permit.so\nsession optional pam_whorl.so\n' >/etc/pam.d/sddm
cat >/etc/pam.d/lightdm <<'END'
auth [authinfo_unavail=1 default=ignore] pam_whorl.so first-password
auth optional pam_permit.so
auth required pam_unix.so
auth optional pam_whorl.so
session required pam_permit.so
session optional pam_whorl.so
END
sessions=0
# under_valgrind COMMAND...: types alice's password to a command, twice, and checks valgrind's report.
under_valgrind() {
  printf 'a newer word\na newer word\n' | valgrind --quiet --leak-check=full --track-fds=yes --error-exitcode=99 \
    --errors-for-leak-kinds=definite,indirect,possible "$@" >/tmp/valgrind 2>&1 || fail "valgrind: $(cat /tmp/valgrind)"
  # One is syslog's own.
  [ "$(grep -c 'Open AF_UNIX' /tmp/valgrind)" -le 1 ] || fail "a socket was left: $(cat /tmp/valgrind)"
}
# asked MANNER: a login with the running false service.
asked() {
  began=$(now)
  pamtester -E XDG_SESSION_ID=c1 sddm alice open_session >/tmp/login 2>&1 || fail "before $1: $(cat /tmp/login)"
  took=$(($(now) - began))
}
# faced MANNER [SEED]: starts a false service, and logs in.
faced() {
  : >/tmp/listening
  python3 /usr/share/whorl-tests/fake-service.py "$@" >/tmp/listening &
  false_service=$!
  until grep -q listening /tmp/listening; do sleep 0.05; done
  asked "$1"
  [ "$took" -le 1000 ] || fastest asked "$1"
  [ "$took" -le 1000 ] || fail "before a service that is $1 the login took $took ms"
  if [ -n "$checked" ]; then
    under_valgrind pamtester -E XDG_SESSION_ID=c1 lightdm alice authenticate open_session
    under_valgrind pamtester passwd alice chauthtok
  fi
  kill "$false_service"
  wait "$false_service" 2>/dev/null || :
  sessions=$((sessions + 1))
}
checked=yes
for manner in silent deaf hangs-up drips random authless noise bent flood huge wrong-type nonsense error trying open; do
  faced "$manner"
done
checked=
seed=1
while [ "$seed" -le 40 ]; do
  for manner in random noise bent; do faced "$manner" "$seed"; done
  seed=$((seed + 1))
done
echo "  $sessions logins before a false service, none longer than a second"
# A service that is not root's is not called.
python3 /usr/share/whorl-tests/fake-service.py open >/tmp/listening &
false_service=$!
until grep -q listening /tmp/listening; do sleep 0.05; done
for change in 'chown alice /run/whorl' 'chmod 777 /run/whorl' 'chown alice /run/whorl/bus'; do
  $change
  pamtester -E XDG_SESSION_ID=c1 sddm alice open_session >/tmp/login 2>&1 || fail "$change: $(cat /tmp/login)"
  journalctl -q --no-pager -n 3 | grep -q "not told of the login: Operation not permitted" || fail "$change: it was asked"
  chown root /run/whorl /run/whorl/bus
  chmod 755 /run/whorl
done
kill "$false_service"
wait "$false_service" 2>/dev/null || :
# A listener that is not root, at root's own path.
: >/tmp/listening
python3 /usr/share/whorl-tests/fake-service.py open 0 "$(id -u alice)" >/tmp/listening &
false_service=$!
until grep -q listening /tmp/listening; do sleep 0.05; done
pamtester -E XDG_SESSION_ID=c1 sddm alice open_session >/tmp/login 2>&1 || fail "another's listener: $(cat /tmp/login)"
journalctl -q --no-pager -n 3 | grep -q "not told of the login: Operation not permitted" || fail "another's listener was asked"
kill "$false_service"
wait "$false_service" 2>/dev/null || :
rm /run/whorl/bus
systemctl start whorld.socket

# Module and service write no secret to the journal (systemd writes the commands of this story there), and removing the
# module removes everything.
case $(journalctl -q --no-pager -t whorld -t whorl -t pamtester) in *sesame* | *"newer word"* | *gold*) fail "a secret is in the journal" ;; esac
expect 0 "/etc/whorl/system" env PREFIX=/usr /usr/src/whorl/scripts/uninstall
grep -q pam_whorl /etc/pam.d/common-* && fail "uninstall left lines that name the module"
typed gdm-password alice 'a newer word'
exit 0
