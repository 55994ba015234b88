# The speed of the installed service beside GNOME Keyring, in one session of one machine.
. /usr/share/whorl-tests/common.sh

# In its short form, which CI runs, it shows that everything can be measured.
starts=10
options='--rounds 40'
[ -z "$SHORT" ] || starts=1 options='--rounds 2 --items 1000'
user alice
own_password_is_typed
# No passcode is needed after a start of the service, so that a start can be measured without scrypt.
mkdir -p /etc/whorl/whorld.conf.d
echo "require-passcode-after-boot = no" >/etc/whorl/whorld.conf.d/speed.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
expect 0 "" at_seat alice 'umask 077; echo "open sesame, please" >passcode
  whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'

# The whole table. The keyring daemon lives as long as the session.
at_seat alice "
  export DBUS_SESSION_BUS_ADDRESS=unix:path=\$XDG_RUNTIME_DIR/bus
  eval \"\$(printf bench | gnome-keyring-daemon --unlock --components=secrets)\"
  whorl-bench service $options" || fail "whorl-bench service"

echo "whorld with all items, proportional: $(awk '/^Pss:/ { print $2 / 1024 " MiB" }' \
  "/proc/$(vault_of alice)/smaps_rollup") (at most 25)"

tries=0
while [ "$tries" -lt "$starts" ]; do
  systemctl stop whorld.service
  systemctl reset-failed whorld.service 2>/dev/null || :
  at_seat alice 'whorl-bench first-answer' || fail "whorl-bench first-answer"
  tries=$((tries + 1))
done >/tmp/first-answers
echo "activation to first answer, median of $starts: $(sort -n /tmp/first-answers | sed -n "$(((starts + 1) / 2))p") ms (at most 40)"
