# Programs in sandboxes: what they need to reach the service, and their names.
. /usr/share/whorl-tests/common.sh

user alice
user bob
own_password_is_typed
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
sleep 5
for name in alice bob; do
  at_seat "$name" 'umask 077; echo "open sesame, please" >passcode'
  expect 0 "" at_seat "$name" 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
done
expect 0 "" at_seat alice 'printf silver | whorl set note/alice --access none'

# boxed NAME FOLDERS COMMAND: runs a command of a user in a sandbox with only these folders of /etc, /run, /home and
# /var.
boxed() {
  systemd-run --quiet --pipe --wait --collect -p "User=$1" --unit="app-flatpak-org.example.Mail@$$.service" \
    -p "TemporaryFileSystem=/etc:ro /run:ro /home:ro /var:ro" -p "BindReadOnlyPaths=$2" sh -c "$3"
}
names="/etc/passwd /etc/nsswitch.conf -/etc/ld.so.cache"

# A user has to be at the seat, since a sandbox has no session of its own.
expect 77 "are closed" boxed alice "$names /run/whorl /etc/whorl" 'whorl get note/alice'
at_seat alice 'sleep 60' &
sitting=$!
sleep 3
expect 0 silver boxed alice "$names /run/whorl /etc/whorl" 'whorl get note/alice'
expect 66 "" boxed bob "$names /run/whorl /etc/whorl" 'whorl get note/alice'
expect 2 "" boxed alice "$names /run/whorl /etc/whorl" 'ls /var/lib/whorl /run/whorl-reader /home/alice'
expect 0 "whorl (org.example.Mail) (/usr/bin/whorl)" at_seat alice 'whorl log -n 5'

# Without the service's socket or marker, no other store is used.
expect 69 "does not run" boxed alice "$names /etc/whorl" 'whorl get note/alice'
expect 66 "whorl init" boxed alice "$names /run/whorl" 'whorl get note/alice'

# In a user namespace without root's id, the owner of the socket is unknown.
if at_seat alice 'unshare --user true' 2>/dev/null; then
  expect 69 "user 65534 owns" at_seat alice 'unshare --user --map-user="$(id -u)" whorl get note/alice'
else
  skip_part "this machine lets no user make a user namespace"
fi
kill "$sitting" 2>/dev/null || :
wait "$sitting" 2>/dev/null || :
exit 0
