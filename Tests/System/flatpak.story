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
