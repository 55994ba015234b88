# A sandboxed program of Flatpak, with a runtime and the real portal: libsecret encrypts its secrets in the sandbox with
# a key that the portal gets from Whorl: without a finger, and with one once the key is gated. Debian 13.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
user alice

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
printf 'reader = virtual-image:%s\nrequire-passcode-after-boot = no\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
at_seat alice 'umask 077; echo "open sesame, please" >passcode'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'

# systemd-nspawn hides parts of /proc or makes them read-only, which prevents sandboxes.
mkdir -p /run/whole-proc
mount -t proc proc /run/whole-proc
mount --bind /run/whole-proc/sys/user /proc/sys/user

# A runtime with secret-tool alone, and a program in it.
runtime=/home/alice/runtime
mkdir -p "$runtime/files/bin" "$runtime/files/lib" "$runtime/files/lib64"
for program in /usr/bin/dash /usr/bin/secret-tool /usr/bin/cat /usr/bin/ls /usr/sbin/ldconfig; do
  cp -L "$program" "$runtime/files/bin/"
  ldd "$program" 2>/dev/null | grep -o '/[^ ]*' | while IFS= read -r library; do
    place="$runtime/files/${library#/}"
    place=$(echo "$place" | sed 's,files/usr/,files/,')
    mkdir -p "$(dirname "$place")"
    cp -L "$library" "$place"
  done
done
mv "$runtime/files/bin/dash" "$runtime/files/bin/sh"
arch=$(flatpak --default-arch)
cat >"$runtime/metadata" <<END
[Runtime]
name=org.whorl.Platform
runtime=org.whorl.Platform/$arch/1
sdk=org.whorl.Platform/$arch/1
END
for name in Mail Chat; do
  program=/home/alice/$name
  mkdir -p "$program/files/bin" "$program/export"
  cat >"$program/files/bin/secrets" <<'END'
#!/bin/sh
case $1 in
  store) secret-tool store --label="$2" service "$2" ;;
  *) secret-tool lookup service "$2" ;;
esac
END
  chmod 755 "$program/files/bin/secrets"
  cat >"$program/metadata" <<END
[Application]
name=org.whorl.$name
runtime=org.whorl.Platform/$arch/1
sdk=org.whorl.Platform/$arch/1
command=secrets
END
done
chown -R alice: /home/alice
expect 0 "" at_seat alice 'flatpak build-export --files=files --runtime repository runtime 1'
for name in Mail Chat; do
  expect 0 "" at_seat alice "flatpak build-export repository $name stable"
done
expect 0 "" at_seat alice 'flatpak --user remote-add --no-gpg-verify local file:///home/alice/repository
  flatpak --user install -y --noninteractive local org.whorl.Mail org.whorl.Chat && flatpak list'

# The portal asks Whorl once the user has enabled it and named it, as enable says.
expect 0 "org.freedesktop.impl.portal.Secret=whorl" at_seat alice 'whorl secret-service enable --now'
at_seat alice 'mkdir -p .config/xdg-desktop-portal
  printf "[preferred]\norg.freedesktop.impl.portal.Secret=whorl\n" >.config/xdg-desktop-portal/portals.conf'

# Each program keeps its secrets in its own folder, encrypted with its own key.
expect 0 "hunter2" at_seat alice 'printf hunter2 | flatpak run org.whorl.Mail store mail
  flatpak run org.whorl.Mail lookup mail'
expect 1 "" at_seat alice 'flatpak run org.whorl.Chat lookup mail'
expect 0 "" at_seat alice 'ls .var/app/org.whorl.Mail/data/keyrings/*.keyring && ! grep -r hunter2 .var/app'
expect 0 "Secret of org.whorl.Mail" at_seat alice 'whorl secret-service list'

# pressing FINGER PERSON: presses a finger once the journal shows that the service asks for one.
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

# Once gated, the key takes a touch, which gives the program its secret. Another person's finger opens nothing.
expect 0 "" at_seat alice 'whorl secret-service gate --item "Secret of org.whorl.Mail" --access any-finger --yes'
pressing right-index 1
expect 0 "hunter2" at_seat alice 'flatpak run org.whorl.Mail lookup mail'
wait
expect 0 "read “Secret of org.whorl.Mail”, asked by org.whorl.Mail, says /usr/libexec/xdg-desktop-portal" \
  journalctl -q --no-pager -o cat _COMM=whorl-agent
# Another person's finger opens nothing, and the program says so.
pressing right-index 2
expect 1 "" at_seat alice 'sleep 11; flatpak run org.whorl.Mail lookup mail'
wait
case $output in *hunter2*) fail "given to another finger" ;; esac
# The other program's key has no rule.
expect 0 "swordfish" at_seat alice 'printf swordfish | flatpak run org.whorl.Chat store chat
  flatpak run org.whorl.Chat lookup chat'

# A program that may talk to the Secret Service itself, in a sandbox with the machine's own Python at its path. Flatpak's
# proxy is all that Whorl sees of it, so the prompt names no file of the sandbox.
python=$(readlink -f /usr/bin/python3)
for file in "$python" $(ldd "$python" | grep -o '/[^ ]*'); do
  place=$runtime/files/$(echo "${file#/}" | sed 's,^usr/,,')
  mkdir -p "$(dirname "$place")"
  cp -L "$file" "$place"
done
mkdir -p "$runtime/files/lib/python3/dist-packages"
cp -R "/usr/lib/${python##*/}" "$runtime/files/lib/"
cp -R /usr/lib/python3/dist-packages/jeepney "$runtime/files/lib/python3/dist-packages/"
# Reads an item by the attribute service, over one connection. It waits for the touch in GetSecret, as simple clients do.
cat >/home/alice/look.py <<'END'
import sys
from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection
bus = open_dbus_connection()
def call(path, interface, member, signature, *arguments):
    address = DBusAddress(path, "org.freedesktop.secrets", "org.freedesktop.Secret." + interface)
    answer = bus.send_and_get_reply(new_method_call(address, member, signature, arguments), timeout=30)
    if answer.header.message_type.name == "error":
        sys.exit(f"{member}: {answer.header.fields} {answer.body}")
    return answer.body
root = "/org/freedesktop/secrets"
session = call(root, "Service", "OpenSession", "sv", "plain", ("s", ""))[1]
found = sum(call(root, "Service", "SearchItems", "a{ss}", {"service": sys.argv[1]}), [])
if not found:
    sys.exit("nothing found")
print(call(found[0], "Item", "GetSecret", "o", session)[0][2].decode())
END
chown -R alice: "$runtime" /home/alice/look.py
expect 0 "" at_seat alice 'flatpak build-export --files=files --runtime repository runtime 1 &&
  flatpak --user update -y --noninteractive org.whorl.Platform'
expect 0 "" at_seat alice 'printf sesame | secret-tool store --label=bank service bank'
for name in Near Far; do
  program=/home/alice/$name
  mkdir -p "$program/files/bin" "$program/export"
  cp /home/alice/look.py "$program/files/bin/look.py"
  printf '#!/bin/sh\nexec %s /app/bin/look.py "$1"\n' "$python" >"$program/files/bin/look"
  chmod 755 "$program/files/bin/look"
  cat >"$program/metadata" <<END
[Application]
name=org.whorl.$name
runtime=org.whorl.Platform/$arch/1
sdk=org.whorl.Platform/$arch/1
command=look

[Session Bus Policy]
org.freedesktop.secrets=talk
END
  chown -R alice: "$program"
  expect 0 "" at_seat alice "flatpak build-export repository $name stable &&
    flatpak --user install -y --noninteractive local org.whorl.$name"
done
# Without the permission there is no way to the Secret Service, and an item without a rule is read with it, as by any
# program of the user.
expect 1 "" at_seat alice 'flatpak run --no-talk-name=org.freedesktop.secrets org.whorl.Near bank'
case $output in *sesame*) fail "read without the permission" ;; esac
expect 0 "sesame" at_seat alice 'flatpak run org.whorl.Near bank'

# asked: how often the service has asked for a touch.
asked() { journalctl -q --no-pager -o cat _COMM=whorl-agent | grep -c 'wants to read “bank”' || :; }
# looked HOW NAME COMMAND: reads the item, for which a touch is asked (touch) or not (kept). The prompt has NAME.
looked() {
  before=$(asked)
  [ "$1" = kept ] || pressing right-index 1
  expect 0 "sesame" at_seat alice "$3"
  wait
  after=$(asked)
  [ "$after" -eq "$((before + $([ "$1" = kept ] && echo 0 || echo 1)))" ] || fail "asked $((after - before)) times: $3"
  [ "$1" = kept ] || journalctl -q --no-pager -o cat _COMM=whorl-agent | grep 'wants to read “bank”' | tail -n 1 |
    grep -qF "$2" || fail "no '$2' in: $(journalctl -q --no-pager -o cat _COMM=whorl-agent | tail -n 5)"
}
outside="$python look.py bank"
rule='whorl secret-service gate --item bank --access any-finger --yes'
expect 0 "" at_seat alice "$rule"
looked touch "$python" "$outside"
# The touch of the machine's own Python is not for the sandbox's, nor one sandbox's for another or for outside.
for keeping in "" --once-per-session; do
  [ -z "$keeping" ] || expect 0 "" touching "$right" at_seat alice "$rule $keeping"
  looked touch "$python" "$outside"
  looked touch "a sandboxed program behind" 'flatpak run org.whorl.Near bank'
  looked touch "a sandboxed program behind" 'flatpak run org.whorl.Far bank'
  looked touch "a sandboxed program behind" 'flatpak run org.whorl.Near bank'
done
# Only the program that root has installed keeps its touch until the service ends.
looked kept "" "$outside"
if journalctl -q --no-pager -o cat _COMM=whorl-agent | grep 'a sandboxed program behind' | grep -E '/app/bin|/usr/bin'; then
  fail "a prompt names a file of a sandbox"
fi

# Behind the proxy may be any program. So once one program has a rule, a touch is asked for what a sandbox reads itself.
expect 0 "" at_seat alice 'printf lark | secret-tool store --label=note service note'
expect 0 "lark" at_seat alice 'flatpak run org.whorl.Near note'
expect 0 "" at_seat alice 'whorl secret-service gate --program /usr/bin/secret-tool --access any-finger --yes'
sleep 3
pressing right-index 2
expect 1 "" at_seat alice 'flatpak run org.whorl.Near note'
wait
case $output in *lark*) fail "given to another finger" ;; esac
pressing right-index 1
expect 0 "lark" at_seat alice 'flatpak run org.whorl.Near note'
wait
