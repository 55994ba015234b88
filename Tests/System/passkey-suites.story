# The FIDO suites of other projects against the installed programs: the service holds the passkeys, alice's agent speaks
# CTAP, and her finger answers each prompt. A bridge stands in for /dev/uhid and whorl-fido, since a system in a folder has
# no device of the kernel.
. /usr/share/whorl-tests/common.sh

suites=/usr/share/whorl-fido-suites
run=/usr/src/whorl/Tests/Session/fido-suites
[ -d "$suites" ] || skip "no suites: WHORL_FIDO_SUITES names a folder in which Tests/Session/fido-suites/run has been run"
for name in current old; do
  "$suites/$name/bin/python" -c 'import fido2, pytest' 2>/dev/null || skip "the suites are for another version of Python"
done

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

# A reset asks for the passcode as well.
cat >/usr/local/bin/pinentry <<'END'
#!/bin/sh
echo OK
while read -r word rest; do
  [ "$word" != GETPIN ] || echo "D open sesame, please"
  echo OK
done
END
chmod 755 /usr/local/bin/pinentry

mkdir -p /run/whorl-fido
python3 "$run/bridge.py" /run/suites >/tmp/bridge 2>&1 &
bridge=$!
wait_for "the bridge does not listen" grep -q listening /tmp/bridge
at_seat alice 'exec whorl-agent --passkeys 2>&1' </dev/null 2>&1 | while IFS= read -r line; do
  printf '%s\n' "$line"
  case $line in
    *'. Touch '* | *'. Swipe '*) whorl-finger press right-index --person 1 --socket "$sensor" ;;
  esac
done >/tmp/agent &
wait_for "the agent offers no passkeys" grep -q 'offers passkeys' /tmp/agent

expect 0 "what fails is what failures.txt names" "$run/run" "$suites" /run/suites
printf '%s\n' "$output" | grep ' passed' | sed 's/^/    /'

# All of that came from one agent and one service.
[ "$(grep -c 'offers passkeys' /tmp/agent)" = 1 ] || fail "the agent was started again: $(tail -n 20 /tmp/agent)"
expect 0 "0" systemctl show --property NRestarts --value whorld.service
expect 0 "assert-passkey" at_seat alice 'whorl log'
prompts=$(grep -c '. Touch \|. Swipe ' /tmp/agent)
[ "$prompts" -gt 100 ] || fail "only $prompts prompts"
echo "    $prompts prompts"
kill "$bridge"
