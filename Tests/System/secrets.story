# The Secret Service of the installed service, on the real bus of a session: turned on, used by secret-tool and Python's
# keyring without a finger, gated, read only after a touch, and turned off.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
user alice

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
printf 'reader = virtual-image:%s\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
at_seat alice 'umask 077; echo "open sesame, please" >passcode'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'

# pressing FINGER: presses a finger once the journal shows that the service asks for one.
pressing() {
  asked=$(journalctl -q --no-pager -o cat _COMM=whorl-agent | grep -c 'Touch\|Swipe' || :)
  (
    for _ in $(seq 200); do
      now=$(journalctl -q --no-pager -o cat _COMM=whorl-agent | grep -c 'Touch\|Swipe' || :)
      [ "$now" -le "$asked" ] || break
      sleep 0.1
    done
    whorl-finger press "$1" --person "$2" --socket "$sensor"
  ) >/tmp/pressed 2>&1 &
}

# Turned on: the bus starts it at the first call, and programs need no finger for items without a rule.
expect 0 "" at_seat alice 'whorl secret-service enable --now'
expect 0 "hunter2" at_seat alice 'printf hunter2 | secret-tool store --label=Mail service mail user alice
  printf bank-secret | secret-tool store --label=Bank service bank user alice
  secret-tool lookup service mail user alice'
expect 0 "Whorl" at_seat alice 'whorl secret-service status'

# Gated: a lookup waits for the touch, the prompt says why, and another finger gets nothing.
expect 0 "" at_seat alice 'whorl secret-service gate --item Bank --access any-finger --yes'
pressing right-index 1
expect 0 "bank-secret" at_seat alice 'secret-tool lookup service bank user alice'
wait
expect 0 "read “Bank”, asked by /usr/bin/secret-tool" journalctl -q --no-pager -o cat _COMM=whorl-agent
# Over ssh nobody is at the seat: there is no prompt, and no secret.
expect 1 "" elsewhere alice 'secret-tool lookup service bank user alice'
case $output in *bank-secret*) fail "given without a touch" ;; esac
expect 0 "hunter2" at_seat alice 'secret-tool lookup service mail user alice'

# The vault is locked: items are listed as locked, Unlock asks for the passcode, and a sandboxed program is asked at once.
# It has no secret yet, and none can be made before that.
cat >/usr/local/bin/pinentry <<'END'
#!/bin/sh
echo OK
while read -r word rest; do
  case $word in
    SETDESC) echo "$rest" >>/home/alice/asked ;;
    GETPIN) if [ -e /home/alice/answer ]; then echo "D open sesame, please"; else echo "ERR 83886179 cancelled"; continue; fi ;;
  esac
  echo OK
done
END
chmod 755 /usr/local/bin/pinentry
cat >/home/alice/portal.py <<'END'
import os
from jeepney import DBusAddress, new_method_call, message_bus
from jeepney.io.blocking import open_dbus_connection

bus = open_dbus_connection(enable_fds=True)
bus.send_and_get_reply(message_bus.RequestName("org.freedesktop.portal.Desktop"))
portal = DBusAddress("/org/freedesktop/portal/desktop", "org.freedesktop.secrets", "org.freedesktop.impl.portal.Secret")
reader, writer = os.pipe()
call = new_method_call(portal, "RetrieveSecret", "osha{sv}", ("/request", "org.example.Notes", writer, {}))
answer = bus.send_and_get_reply(call, timeout=60).body
os.close(writer)
print("response", answer[0], "with", len(os.read(reader, 100)), "bytes")
END
# Programs that cache the property get a signal.
expect 0 'STRING "Locked"' at_seat alice 'timeout 5 busctl --user monitor org.freedesktop.secrets >signals &
  sleep 1; whorl lock; wait; cat signals'
expect 0 "b true" at_seat alice 'service="busctl --user call org.freedesktop.secrets"
  item=$($service /org/freedesktop/secrets org.freedesktop.Secret.Service SearchItems "a{ss}" 1 service mail |
    grep -o "/org/freedesktop/secrets/collection/[^\"]*")
  busctl --user get-property org.freedesktop.secrets $item org.freedesktop.Secret.Item Locked'
expect 0 "response 1 with 0 bytes" at_seat alice 'python3 portal.py'
at_seat alice 'touch answer'
expect 0 "response 0 with 64 bytes" at_seat alice 'python3 portal.py'
expect 0 "Program: org.example.Notes, says " cat /home/alice/asked
expect 0 "response 0 with 64 bytes" at_seat alice 'python3 portal.py'
expect 0 "" at_seat alice 'whorl lock'
expect 0 "hunter2" at_seat alice 'secret-tool lookup service mail user alice'
expect 0 "secret-tool wants to unlock the store. Enter your Whorl passcode." cat /home/alice/asked

# Other programs of the user cannot read or trace its process.
expect 1 "" at_seat alice 'cat /proc/$(pgrep -u alice -x whorl-agent | head -n 1)/environ >/dev/null'

# Without requests, neither the service of the session nor the vault wakes.
rests whorl-agent whorld

# Off again: GNOME Keyring takes over at once. It has no keyring here, and nobody can type the password of a new one, so
# the stored items are listed, and stay in Whorl.
expect 0 "Would remove /home/alice" at_seat alice 'whorl secret-service disable --dry-run 2>&1'
expect 79 "Mail: it has no collection there" at_seat alice \
  'whorl secret-service disable --passcode-fd 3 3<passcode 2>&1'
expect 0 "" at_seat alice 'test ! -e .local/share/dbus-1/services/org.freedesktop.secrets.service'
expect 0 "GNOME Keyring" at_seat alice 'whorl secret-service status'
expect 0 "Mail" at_seat alice 'whorl secret-service list'
exit 0
