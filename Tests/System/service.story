# The system service: installed from sources, used by two users, and attacked by another program of one of them.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
stranger=right-index:2
user alice
user bob

# A virtual reader, which the administrator alone can choose.
mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf

expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
expect 0 "active" systemctl is-active whorld.socket
expect 3 "inactive" systemctl is-active whorld.service
expect 0 "" systemd-analyze verify --man=no whorld.service whorld.socket
# No function is looked up while secrets are in the registers (scripts/build).
for program in whorl whorld whorl-agent whorl-reader whorl-program-path; do
  expect 0 "BIND_NOW" readelf --dynamic "/usr/src/whorl/bin/$program"
done

at_seat alice 'umask 077; echo "open sesame, please" >passcode'
at_seat bob 'umask 077; echo "a passcode, too" >passcode'

# A store, a finger, a secret.
expect 66 "whorl init" at_seat alice 'whorl ls'
expect 64 "passcode" at_seat alice 'whorl init --no-passcode --recovery-fd 4 4>/dev/null'
# Making a store takes alice's login password, which nobody can type here. A program that knows the passcode gets no
# further either.
expect 77 "this takes your login password, and nobody can be asked for it here" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
[ -z "$(find /var/lib/whorl -type f)" ] || fail "a store was made: $(find /var/lib/whorl)"
# At a terminal whorl starts polkit's own agent.
echo 'alice:own password' | chpasswd
expect 77 "your login password was wrong" typing "wrong password
wrong password
wrong password" alice \
  'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
[ -z "$(find /var/lib/whorl -type f)" ] || fail "a store was made: $(find /var/lib/whorl)"
# After a typing error the login password is asked for again, but not the passcode.
expect 0 "in the system service" typing "wrong password
own password" alice \
  'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 77 "this takes your login password" at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
own_password_is_typed
expect 0 "active" systemctl is-active whorld.service
expect 73 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>again'
expect 0 "key file (system service)" at_seat alice 'whorl status'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice --access current-set'
expect 0 "" at_seat alice 'printf silver | whorl set note/alice --access none'
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'
expect 0 gold touching "$stranger $right" at_seat alice 'whorl get bank/alice'
# Away from the seat the reader is not armed, and items without a finger are available.
expect 77 "no finger is asked for" elsewhere alice 'whorl get bank/alice'
expect 0 silver elsewhere alice 'whorl get note/alice'
expect 77 "" touching "$stranger $stranger $stranger" at_seat alice 'whorl get bank/alice'
expect 0 silver at_seat alice 'whorl get note/alice'

# Another user has a store of their own, at the same time.
expect 0 "" at_seat bob 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 66 "" at_seat bob 'whorl get note/alice'
expect 0 "" at_seat bob 'printf bronze | whorl set note/alice --access none'
at_seat alice 'for i in 1 2 3 4 5 6 7 8 9 10; do whorl get note/alice || exit 1; done' >/tmp/alice 2>&1 &
alice=$!
expect 0 bronze at_seat bob 'for i in 1 2 3 4 5 6 7 8 9 10; do whorl get note/alice || exit 1; done'
wait "$alice" || fail "alice's reads beside bob's: $(cat /tmp/alice)"
case $(cat /tmp/alice) in *bronze*) fail "alice got bob's secret" ;; esac

# Another program of alice's gets no secret without a touch.
expect 77 "" at_seat alice 'whorl get bank/alice --no-prompt'
expect 1 "Permission denied" at_seat alice 'ls /var/lib/whorl 2>&1; cat /var/lib/whorl/*/device.key 2>&1'
# The service, her own vault and bob's.
[ "$(pgrep -x whorld | wc -l)" = 3 ] || fail "the processes of the service: $(pgrep -ax whorld)"
for process in $(pgrep -x whorld); do
  expect 1 "Permission denied" at_seat alice "cat /proc/$process/environ /proc/$process/maps 2>&1"
  expect 1 "Permission denied" at_seat alice "head -c 1 /proc/$process/mem 2>&1"
  expect 1 "not permitted" at_seat alice "kill -9 $process 2>&1"
  expect 2 "Permission denied" at_seat alice "ls /proc/$process/fd 2>&1"
done
expect 1 "Permission denied" at_seat alice 'ln -s /tmp/mine /run/whorl/other 2>&1'
expect 1 "Permission denied" at_seat alice 'rm -f /run/whorl/bus 2>&1'
expect 64 "started by systemd" at_seat alice '/usr/libexec/whorl/whorld --system'
expect 1 "Permission denied" at_seat alice 'echo "reader = virtual-image:/tmp/mine" >>/etc/whorl/whorld.conf || exit 1'
# Neither the environment nor a configuration selects another store.
at_seat alice 'mkdir -p forged/whorl mine; umask 077
  echo "{\"store\":\"/home/alice/mine\",\"vaultProgram\":\"/bin/false\",\"reader\":\"virtual-image:/tmp/mine\"}" \
    >forged/whorl/config.json'
expect 0 silver at_seat alice 'XDG_CONFIG_HOME=$PWD/forged XDG_DATA_HOME=$PWD/forged HOME=$PWD/forged \
  DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/mine whorl get note/alice'
expect 0 silver at_seat alice 'whorl get note/alice --config forged/whorl/config.json'
expect 78 "system service has a reader of its own" at_seat alice 'whorl get bank/alice --reader virtual-image:/tmp/mine'
# A private store can still be used by name.
expect 0 "/home/alice/private" at_seat alice \
  'whorl init --store $PWD/private --passcode-fd 3 --recovery-fd 4 3<passcode 4>again'
expect 0 "key file (private)" at_seat alice 'whorl status --store $PWD/private'

# Connections over the limit are refused, and other users are not affected.
expect 0 "" at_seat alice 'printf iron | whorl set iron/alice --access none'

# Unlocked items can be locked.
expect 0 "" at_seat alice 'whorl lock'
expect 77 "are closed" at_seat alice 'whorl get note/alice'
expect 0 bronze at_seat bob 'whorl get note/alice'
# Unlocking within a command: with the passcode on a descriptor, and at a terminal.
expect 0 silver at_seat alice 'whorl get note/alice --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'whorl lock'
expect 0 "Passcode to unlock the store" typing 'open sesame, please' alice 'whorl get note/alice'
expect 0 silver at_seat alice 'whorl get note/alice'

# After all this the service does not wake.
rests whorld

# Her vault is ended: the next call works, nothing is lost, and her unlocked items are closed. Bob notices nothing.
bobs=$(vault_of bob)
for signal in KILL ILL SEGV; do
  kill -s "$signal" "$(vault_of alice)"
  expect 0 bronze at_seat bob 'whorl get note/alice'
  expect 77 "are closed" at_seat alice 'whorl get note/alice'
  expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
  expect 0 silver at_seat alice 'whorl get note/alice'
done
[ "$(vault_of bob)" = "$bobs" ] || fail "bob has another vault process"
journalctl -q --no-pager -u whorld.service | grep -q "the vault of user $(id -u alice) has ended: killed by signal 9" ||
  fail "the end of her vault is not in the journal"
# The service itself is ended: all stores are closed, and it comes back.
kill -9 "$(systemctl show --value --property MainPID whorld.service)"
expect 77 "are closed" at_seat alice 'whorl get note/alice'
expect 77 "are closed" at_seat bob 'whorl get note/alice'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 "" at_seat bob 'whorl unlock --passcode-fd 3 3<passcode'
(sleep 2 && kill -9 "$(vault_of alice)") &
expect 75 "" at_seat alice 'whorl get bank/alice --timeout 20'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'

# Without requests, no process of it wakes.
rests whorld

# An upgrade restarts the service and says what that means.
expect 0 "asked for the passcode again" \
  env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
expect 77 "are closed" at_seat alice 'whorl get bank/alice'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 "" at_seat bob 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'
expect 0 bronze at_seat bob 'whorl get note/alice'
expect 0 "active" systemctl is-active whorld.service

# A user id that is reused for somebody else opens nothing.
uid=$(id -u bob)
# Force it: bob's session, which has just ended, may still exist.
userdel --force bob
useradd --create-home --shell /bin/bash --uid "$uid" carol 2>/dev/null || useradd --shell /bin/bash --uid "$uid" carol
mkdir -p /home/carol && chown carol /home/carol
expect 78 "another name" at_seat carol 'whorl get note/alice'

# The files are the service's alone, and its journal has no secret.
expect 0 "whorl:whorl 700" stat -c '%U:%G %a' /var/lib/whorl
case $(journalctl -q --no-pager -u whorld) in *gold* | *silver* | *sesame*) fail "a secret is in the journal" ;; esac
expect 0 "root:root 755" stat -c '%U:%G %a' /run/whorl

# The unit refuses no thread its priority (EPERM). A machine whose systemd may not raise limits refuses a higher one.
if journalctl -q --no-pager -u whorld.service | grep 'thread priority.*errno=1$'; then fail "refused"; fi

# A service that does not listen is an error, and no other store is used in its place.
systemctl stop whorld.socket whorld.service
expect 69 "systemctl start whorld.socket" at_seat alice 'whorl get note/alice'
systemctl start whorld.socket
expect 77 "are closed" at_seat alice 'whorl get note/alice'

expect 0 "/etc/whorl/system" env PREFIX=/usr /usr/src/whorl/scripts/uninstall
[ -d "/var/lib/whorl/$(id -u alice)-alice" ] || fail "uninstall took a store away"
systemctl is-active whorld.service >/dev/null && fail "whorld still runs"
exit 0
