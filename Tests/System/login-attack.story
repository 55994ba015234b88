# Programs that misuse pam_whorl.so: to raise prompts, to lock the owner's fingers out, to learn something, or to open a
# store by logins at the same time.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
password='open sesame, please'
user alice
user bob
own_password_is_typed
for name in alice bob; do echo "$name:$password" | chpasswd; done

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
expect 0 "" env DEBIAN_FRONTEND=noninteractive pam-auth-update --enable whorl
at_seat alice 'umask 077; echo "open sesame, please" >passcode'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'printf gold | whorl set wallet --access none --accessible after-first-unlock
  printf brass | whorl set any --access any-finger --accessible after-first-unlock'

# A program like sudo, which an administrator has allowed to ask for a finger.
install -m 4755 "$(command -v pamtester)" /usr/local/bin/as-root
cat >/etc/pam.d/sudo <<'END'
auth sufficient pam_whorl.so verify services=sudo
auth required pam_deny.so
END
# Alice's hostile program: begins logins in her session, and ends each at the prompt.
cat >/usr/local/bin/nag <<'END'
#!/usr/bin/python3
import os, pty, signal, sys, time
asked = 0
for number in range(int(sys.argv[2])):
    child, terminal = pty.fork()
    if child == 0:
        os.execvp("as-root", ["as-root", "sudo", sys.argv[1], "authenticate"])
    heard = b""
    try:
        while b"fingerprint reader." not in heard or b"Waiting" in heard[-60:]:
            part = os.read(terminal, 4096)
            if not part:
                break
            heard += part
    except OSError:
        pass
    if b"Swipe the" in heard or b"Touch the" in heard:
        asked += 1
        # Ctrl-C, closing its terminal, and both at once.
        if number % 3 != 1:
            os.write(terminal, b"\x03")
        if number % 3 != 0:
            os.close(terminal)
    else:
        print(heard.decode(errors="replace").strip().replace("\r\n", "; "))
    os.waitpid(child, 0)
print(f"asked {asked} times")
END
chmod 755 /usr/local/bin/nag
failures() { at_seat alice 'whorl status --json' | grep -o '"failures" *: *[0-9]*' | grep -o '[0-9]*$'; }

# Without root there is nothing to call: as itself, and as the root of a user namespace of its own, with PAM files of its own.
cat >/usr/local/bin/own-pam <<'END'
#!/bin/sh
mkdir -p pam.d
printf 'auth required pam_whorl.so verify\nsession required pam_whorl.so\nauth required pam_permit.so\n' >pam.d/login
mount --bind pam.d /etc/pam.d && exec pamtester login alice authenticate open_session
END
chmod 755 /usr/local/bin/own-pam
before=$(journalctl -q --no-pager -u whorld.service | grep -c "finger of user" || :)
at_seat alice 'unshare --user --map-root-user --mount own-pam' >/tmp/own 2>&1 && grep -q 'Swipe\|Touch' /tmp/own &&
  fail "a prompt for the root of a namespace: $(cat /tmp/own)"
at_seat bob 'unshare --user --map-root-user --mount own-pam' >/tmp/own 2>&1 && grep -q 'Swipe\|Touch' /tmp/own &&
  fail "a prompt for the root of bob's namespace: $(cat /tmp/own)"
[ "$(journalctl -q --no-pager -u whorld.service | grep -c "finger of user" || :)" = "$before" ] || fail "the service was asked"
echo "  own PAM files: $(tail -n 1 /tmp/own)"

# Prompts that are broken off cost no failure, and leave the reader free.
expect 0 "asked 30 times" at_seat alice 'nag alice 30'
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted"
expect 0 brass touching "$right" at_seat alice 'whorl get any'
# Killed in the middle, too.
at_seat alice 'nag alice 1000 >/dev/null 2>&1 & sleep 3; kill -9 $!; sleep 1'
expect 0 brass touching "$right" at_seat alice 'whorl get any'
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted after a kill"

# Another user without the seat raises no prompt for alice, and no answer tells whether her fingers are locked out.
elsewhere bob 'nag alice 3' >/tmp/open
grep -q "asked 0 times" /tmp/open || fail "a prompt from a session without a seat: $(cat /tmp/open)"
elsewhere bob 'nag bob 1' >/tmp/without
wrong=left-index:9
expect 77 "" touching "$wrong $wrong $wrong" at_seat alice 'whorl get any'
expect 77 "fingers are locked out" touching "$wrong $wrong" at_seat alice 'whorl get any'
elsewhere bob 'nag alice 3' >/tmp/locked
cmp -s /tmp/open /tmp/locked || fail "it can be told: $(cat /tmp/open) and: $(cat /tmp/locked)"
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
# With root's help no more than the module's answer: a login over ssh, by the module's own look at it.
expect 1 "" pamtester -I rhost=192.0.2.1 sudo alice authenticate
[ "$(failures)" = 0 ] || fail "$(failures) failures were counted for bob"

# The login password is the passcode. Many logins at once, of which some end in the middle, open the store, and count nothing.
cat >/etc/pam.d/lightdm <<'END'
@include common-auth
@include common-account
@include common-session
END
expect 0 "" at_seat alice 'whorl passcode --first-unlock passcode --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'python3 /usr/share/whorl-tests/choose-passcode.py'
# login PASSWORD: alice logs in and out again.
login() {
  printf '%s\n' "$1" | systemd-run --quiet --pipe --wait --collect pamtester -I tty=:0 -E XDG_SEAT=seat0 \
    -E XDG_SESSION_TYPE=x11 -E XDG_SESSION_CLASS=user lightdm alice authenticate acct_mgmt open_session close_session
}
without_login() {
  systemd-run --quiet --pipe --wait --collect -p "User=$1" -p "WorkingDirectory=/home/$1" sh -c "$2"
}
for round in 1 2 3; do
  systemctl restart whorld.service
  expect 77 "are closed" without_login alice 'whorl get wallet --no-prompt'
  logins=
  for _ in 1 2 3 4 5 6; do
    login "$password" >"/tmp/login-$round" 2>&1 &
    logins="$logins $!"
  done
  # Meanwhile one login ends in the middle, another user's does not matter, and the vault is killed once.
  login "$password" >/dev/null 2>&1 &
  broken=$!
  sleep "0.$round"
  kill -9 "$broken" 2>/dev/null || :
  [ "$round" != 3 ] || pkill -9 -f "^whorld --of $(id -u alice) " || :
  for login in $logins; do wait "$login" || fail "a login failed: $(cat "/tmp/login-$round")"; done
  wait
  # A login after the kill opens it, if none of these did.
  [ "$round" != 3 ] || expect 0 "" login "$password"
  expect 0 gold without_login alice 'whorl get wallet --no-prompt'
  expect 0 '"passcodeDelay":0' without_login alice 'whorl status --json'
done

# Logins and logouts in every order while the service is killed again and again: the next login is as the first.
for _ in 1 2 3 4 5 6 7 8; do
  login "$password" >/dev/null 2>&1 &
  sleep 0.2
  systemctl kill --kill-whom=main -s KILL whorld.service 2>/dev/null || :
done
wait
sleep 1
expect 0 "" login "$password"
tries=0
until [ "$(without_login alice 'whorl get wallet --no-prompt' 2>&1)" = gold ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 20 ] || fail "a login opens nothing any more: $(without_login alice 'whorl status')"
  sleep 1
  login "$password" >/dev/null 2>&1
done
expect 0 '"passcodeDelay":0' without_login alice 'whorl status --json'

# Wrong passwords of many logins at once use up the tries of logins, and none of the owner's.
echo 'alice:set by root' | chpasswd
systemctl restart whorld.service
for _ in 1 2 3 4 5 6 7 8 9 10; do login 'set by root' >/dev/null 2>&1 & done
wait
expect 77 "are closed" without_login alice 'whorl get wallet --no-prompt'
expect 0 '"passcodeDelay":0' without_login alice 'whorl status --json'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 gold without_login alice 'whorl get wallet --no-prompt'
case $(journalctl -q --no-pager -t whorld -t whorl -t pamtester) in *sesame* | *gold*) fail "a secret is in the journal" ;; esac
exit 0
