# An export moves items to another user's store and another machine id; a backup restores a store of the service.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
theirs=left-index:2
user alice
user bob

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
echo "reader = virtual-image:$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed

at_seat alice 'umask 077; echo "open sesame, please" >passcode; echo "a passphrase for the file" >passphrase'
at_seat bob 'umask 077; echo "a passcode, too" >passcode; echo "a passphrase for the file" >passphrase'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice --access current-set'
expect 0 "" at_seat alice 'printf silver | whorl set note/alice --access none'
expect 0 "" at_seat alice 'printf iron | whorl set gate/alice'

# The backup is a folder of alice's own, which the service never opens.
expect 0 "3 items are in copy" at_seat alice 'whorl backup copy'
expect 0 "alice:alice 700" stat -c '%U:%G %a' /home/alice/copy
expect 0 "alice:alice 600" stat -c '%U:%G %a' /home/alice/copy/store.whorl-backup
expect 0 "" at_seat alice 'whorl rm note/alice'
expect 77 "" at_seat alice 'whorl restore copy --yes --passcode-fd 3 3</home/alice/passphrase'
expect 66 "" at_seat alice 'whorl get note/alice'
expect 0 "Restored 3 items." at_seat alice 'whorl restore copy --yes --passcode-fd 3 3<passcode'
expect 0 silver at_seat alice 'whorl get note/alice'
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'
chmod 755 /home/alice && cp -r /home/alice/copy /home/bob/copy && chown -R bob: /home/bob/copy

# The export: one touch releases all.
expect 0 "Exported 3 items" touching "$right" at_seat alice 'whorl export moving.age --passphrase-fd 4 4<passphrase'
cp /home/alice/moving.age /home/bob/moving.age && chown bob: /home/bob/moving.age

# Another machine: a new machine id, a restarted service, and another person with another finger.
systemctl stop whorld.service whorld.socket
rm -f /etc/machine-id && systemd-machine-id-setup >/dev/null
systemctl start whorld.socket
expect 0 "" at_seat bob 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 77 "the copy of another store" at_seat bob 'whorl restore copy --yes --passcode-fd 3 3<passcode'
expect 0 "Brought in 2 items" at_seat bob 'whorl import moving.age --yes --skip-bound --passphrase-fd 4 4<passphrase'
expect 0 silver at_seat bob 'whorl get note/alice'
expect 0 "is enrolled" touching "$theirs $theirs $theirs $theirs $theirs $theirs $theirs $theirs" \
  at_seat bob 'whorl enroll left-index --passcode-fd 3 3<passcode'
# One touch binds the item to the finger that is enrolled here.
expect 0 "Brought in 1 item" touching "$theirs" \
  at_seat bob 'whorl import moving.age --yes --passphrase-fd 4 4<passphrase'
expect 77 "" touching "$right $right $right" at_seat bob 'whorl get bank/alice'
expect 0 gold touching "$theirs" at_seat bob 'whorl get bank/alice'
expect 0 "Brought in 0 items" at_seat bob 'whorl import moving.age --yes --passphrase-fd 4 4<passphrase'

# Alice's store is lost with its disk: the recovery key restores it from the copy.
systemctl stop whorld.service
rm -r "/var/lib/whorl/$(id -u alice)-alice"
expect 77 "" at_seat alice 'whorl restore copy --yes --recovery-fd 4 4</home/alice/passphrase'
expect 0 "Restored 3 items." at_seat alice 'whorl restore copy --yes --recovery-fd 4 4<recovery'
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 silver at_seat alice 'whorl get note/alice'
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'
expect 0 "whorl:whorl 700" stat -c '%U:%G %a' "/var/lib/whorl/$(id -u alice)-alice"
