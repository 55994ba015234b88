# The security key follows the session: it disappears at a logout, during sleep and while another user's session is in
# front, and comes back afterwards. A program at the seat can delete passkeys only with alice's finger.
. "${here:?}/common.sh"
begins enrolled

person bob
expect 0 "passkey disable" at_seat alice 'whorl passkey enable'
# The power key wakes the machine. Keep logind from acting on it.
inside sh -c 'mkdir -p /etc/systemd/logind.conf.d && printf "[Login]\nHandlePowerKey=ignore\n" >/etc/systemd/logind.conf.d/key.conf &&
  systemctl restart systemd-logind && echo s2idle >/sys/power/mem_sleep'
# Nothing of a user stays after the last logout.
inside loginctl disable-linger alice
inside loginctl disable-linger bob
expect 0 "" at_seat bob 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'

# logs_in, logs_out NAME TERMINAL: a session of that user on a virtual terminal of the seat, and its end.
logs_in() {
  inside systemd-run --quiet --collect --unit "login-$1" -p PAMName=login -p "User=$1" -p "WorkingDirectory=/home/$1" \
    -p "Environment=XDG_SEAT=seat0 XDG_VTNR=$2 XDG_SESSION_CLASS=user XDG_SESSION_TYPE=tty" sleep infinity
}
logs_out() { inside systemctl stop "login-$1"; }
# in_front NAME: switches to the terminal of that user's session.
# shellcheck disable=SC2016 # the guest's shell fills in
in_front() { inside sh -c 'loginctl activate "$(loginctl --no-legend list-sessions | awk -v name="$1" "\$3 == name { print \$1; exit }")"' sh "$1"; }
# has_key, no_key: waits until alice can use a security key, or until there is none.
has_key() { wait_for "no security key for alice" inside sh -c 'getfacl -p /dev/hidraw* | grep -q user:alice:rw-'; }
no_key() { wait_for "the security key is still there" inside sh -c '! ls /dev/hidraw*'; }
# with_key COMMAND: as alice, whose session is in front, with the key in $KEY.
with_key() { inside su alice -c 'cd && KEY=$(ls /dev/hidraw*) && '"$1"; }

# watch_keys: logs each added or removed security key, with the kernel's time, to /root/hidraw.
watch_keys() {
  inside systemd-run --quiet --collect --unit hidraw sh -c 'exec udevadm monitor --kernel --subsystem-match=hidraw >/root/hidraw'
  wait_for "no monitor" inside grep -q KERNEL /root/hidraw
}

# It appears at a login, disappears at the logout, and appears again at the next login.
logs_in alice 1
has_key
logs_out alice
no_key
wait_for "programs of alice's stay" inside sh -c '! pgrep -u alice'
watch_keys
logs_in alice 1
has_key
echo "  with alice's login, gone with her logout, and with the next login"
# The kernel's times of the key and of the login before it, and how long a program takes to start here.
# shellcheck disable=SC2016 # the guest's shell fills in
inside sh -c 'login=$(journalctl -b -q --no-pager -o short-monotonic -u systemd-logind | sed -n "s/^\[ *\([0-9.]*\)\].*New session .* of user alice.*/\1/p" | tail -n 1)
  key=$(sed -n "s/^KERNEL\[\([0-9.]*\)\] add.*/\1/p" /root/hidraw | tail -n 1)
  started=$(date +%s.%N)
  for _ in 1 2 3 4 5; do whorl --version >/dev/null; done
  echo "$login $key $started $(date +%s.%N)" | awk "{
    printf \"  the key is there %.1f s after the login; whorl --version takes %.2f s here\n\", \$2 - \$1, (\$4 - \$3) / 5 }"'
rests whorl-fido whorl-agent whorld
inside systemctl stop hidraw

# CTAP deletes a passkey only with her finger.
parameters='param() { head -c 32 /dev/urandom | base64; }; '
expect 0 "" touching "right" with_key "$parameters"'{ param; echo example.com; echo alice; echo YWxpY2U=; } >make
fido2-cred -M -r -i make "$KEY" >/dev/null'
expect 0 "" touching "right right" with_key 'fido2-token -L -k example.com "$KEY" | cut -d" " -f2 >passkey && test -s passkey'
expect 1 "" touching "thumb thumb thumb" with_key 'fido2-token -D -i "$(cat passkey)" "$KEY" </dev/null'
expect 0 "example.com" with_key 'whorl passkey list'
expect 0 "" touching "right right" with_key 'fido2-token -D -i "$(cat passkey)" "$KEY" </dev/null'
expect 0 "no passkeys yet" with_key 'whorl passkey list'

# Sleep: it is removed before the kernel sleeps, and added after the wake, by the kernel's times.
watch_keys
inside systemctl --no-block suspend
sleep 12
machine power-key
has_key
order=$(inside sh -c '{ sed -n "s/^KERNEL\[\([0-9.]*\)\] \([a-z]*\).*/\1 \2/p" /root/hidraw
  journalctl -b -k -q --no-pager -o short-monotonic | sed -n "s/^\[ *\([0-9.]*\)\].*PM: suspend \(entry\|exit\).*/\1 \2/p"; } |
  sort -n | cut -d" " -f2 | tr "\n" " "')
[ "$order" = "remove entry exit add " ] || fail "not gone while it slept: $order"
echo "  gone before the machine sleeps, there again afterwards"
expect 0 "alwaysUv" with_key 'fido2-token -I "$KEY"'

# Bob's session in front: neither alice nor bob has a security key, until she is in front again.
logs_in bob 2
in_front bob
no_key
expect 1 "" inside su bob -c 'fido2-token -L | grep .'
expect 1 "" inside su alice -c 'fido2-token -L | grep .'
in_front alice
has_key
# Bob can enable one of his own, which alice cannot use.
in_front bob
no_key
expect 0 "passkey disable" inside su bob -c 'XDG_RUNTIME_DIR=/run/user/$(id -u) whorl passkey enable'
wait_for "no security key for bob" inside sh -c 'getfacl -p /dev/hidraw* | grep -q user:bob:rw-'
expect 1 "" inside sh -c 'getfacl -p /dev/hidraw* | grep user:alice'
in_front alice
has_key
expect 1 "" inside sh -c 'getfacl -p /dev/hidraw* | grep user:bob'
logs_out bob
logs_out alice
no_key
echo "  only for whoever is in front of the screen"
