# The log of the service, a rejected request, the migration of a private store into the service, and an administrator's
# settings.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
user alice
user bob
mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
printf 'reader = virtual-image:%s\npasscode-length = 9\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf

# A private store from before.
at_seat alice 'umask 077; echo "open sesame, please" >passcode; echo "sesame!" >short'
expect 0 "/home/alice/old" at_seat alice 'whorl init --store $PWD/old --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
at_seat alice 'for i in 1 2 3; do printf "copper $i" | whorl set --store $PWD/old note/$i --access none; done
  printf tin | whorl set --store $PWD/old deep/alice --access passcode'

expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed

# The administrator's minimum length of a passcode applies.
expect 64 "shorter than 9 characters" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<short 4>again'
expect 0 "in the system service" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>again'
expect 64 "shorter than 9 characters" at_seat alice 'cat passcode short | whorl passcode --passcode-fd 0'

# The private store is migrated, once, with one passcode.
expect 0 "Would copy 4 items" at_seat alice 'whorl migrate --from $PWD/old --dry-run'
expect 0 "Copied 4 items" at_seat alice 'whorl migrate --from $PWD/old --after-first-unlock --passcode-fd 3 3<passcode'
expect 0 "Copied 0 items; 4 items of it are there" at_seat alice 'whorl migrate --from $PWD/old'
expect 0 "copper 2" at_seat alice 'whorl get note/2'
expect 0 "tin" at_seat alice 'whorl get deep/alice --passcode-fd 3 3<passcode'
at_seat alice 'printf lead | whorl set --store $PWD/old late/alice --access none'
expect 77 "late/alice" at_seat alice 'whorl migrate --from $PWD/old --remove-old'
expect 0 "Copied 1 item" at_seat alice 'whorl migrate --from $PWD/old'
at_seat alice 'printf zinc | whorl set --store $PWD/old late/alice --access none --replace'
expect 77 "late/alice" at_seat alice 'whorl migrate --from $PWD/old --remove-old --yes'
at_seat alice 'whorl rm late/alice'
expect 0 "Copied 1 item" at_seat alice 'whorl migrate --from $PWD/old'
expect 0 zinc at_seat alice 'whorl get late/alice'
expect 77 "confirm it with --yes" at_seat alice 'whorl migrate --from $PWD/old --remove-old </dev/null'
# A store in a circle has the local copy of the circle's repository in its folder.
at_seat alice 'mkdir -p $PWD/old/sync/repository && touch $PWD/old/sync/repository/HEAD'
expect 0 "Removed /home/alice/old" at_seat alice 'whorl migrate --from $PWD/old --remove-old --yes'
expect 66 "" at_seat alice 'whorl ls --store $PWD/old'
at_seat alice 'test ! -e $PWD/old'

# The log has the events with the names of the programs, and none of another user.
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice --access current-set'
expect 0 gold touching "$right" at_seat alice 'whorl get bank/alice'
expect 77 "" at_seat alice 'echo wrong | whorl unlock --passcode-fd 0'
expect 0 "1 wrong passcode" at_seat alice 'whorl log -n 1'
expect 0 "the enrolled fingers were changed" at_seat alice 'whorl log'
expect 0 "make-store" at_seat alice 'whorl log --since 1h'
line=$(at_seat alice 'whorl log' | grep "bank/alice.*touch")
case $line in *"whorl (/usr/bin/whorl)"*read*done*) ;; *) fail "no entry of the read: $line" ;; esac
# The path comes from its own unit, which nobody else can call.
expect 0 "root:whorl 660" stat -c '%U:%G %a' /run/whorl-program-path/socket
expect 0 "root:root 755" stat -c '%U:%G %a' /run/whorl-program-path
expect 0 "" systemd-analyze verify --man=no whorl-program-path.service whorl-program-path.socket
expect 1 "Permission denied" at_seat alice "python3 -c 'import socket
socket.socket(socket.AF_UNIX).connect(\"/run/whorl-program-path/socket\")' 2>&1"
expect 64 "only the system service keeps a log" at_seat alice \
  'whorl init --store $PWD/p --passcode-fd 3 --recovery-fd 4 3<passcode 4>again; whorl log --store $PWD/p'
at_seat bob 'umask 077; echo "a passcode, too" >passcode'
expect 0 "" at_seat bob 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
case $(at_seat bob 'whorl log --json') in *alice* | *enroll*) fail "bob's log tells of alice" ;; *make-store*) ;; *) fail "bob has no log" ;; esac
expect 1 "Permission denied" at_seat alice 'cat /var/lib/whorl/*/log 2>&1'
journal=$(journalctl -q --no-pager -o export WHORL_REQUEST=read WHORL_UID="$(id -u alice)")
case $journal in *WHORL_PROMPT=touch*) ;; *) fail "no touch in the journal: $journal" ;; esac
case $journal in *gold* | *sesame* | *bank*) fail "the journal has a secret or a name" ;; esac
case $(at_seat bob 'journalctl -q --no-pager WHORL_REQUEST=read 2>&1') in *WHORL* | *"read by"*) fail "bob reads the journal" ;; esac

# A waiting program shows the one ahead, and rejects it with Ctrl-R. Both run in one session, since a second session
# would take the seat.
{ sleep 6 && printf '\022' && sleep 3 && whorl-finger press right-index --person 1 --socket "$sensor" && sleep 3; } |
  at_seat alice 'whorl get bank/alice --timeout 60 >ahead 2>&1 </dev/null & sleep 3
    script -qec "whorl get bank/alice --timeout 30" /dev/null; wait $!; echo "ahead: $?"' >/tmp/waiting 2>&1
grep -q "whorl has the reader for “bank/alice”.*Ctrl-R" /tmp/waiting || fail "not told: $(cat /tmp/waiting)"
grep -q gold /tmp/waiting || fail "not released: $(cat /tmp/waiting)"
grep -q "ahead: 77" /tmp/waiting || fail "the rejected request: $(cat /tmp/waiting)"
grep -q "has rejected this request" /home/alice/ahead || fail "not told who rejected: $(cat /home/alice/ahead)"
expect 0 "rejected by another program" at_seat alice 'whorl log -n 3'

# An administrator lists stores and removes one.
expect 77 "only root" at_seat alice 'whorl admin list'
expect 0 "alice" whorl admin list
expect 66 "has no store" whorl admin remove nobody --yes
expect 0 "Removed the store of bob" whorl admin remove bob --yes --delete-only-copies
stores=$(cd /var/lib/whorl && ls -d -- */vault.db)
[ "$stores" = "$(id -u alice)-alice/vault.db" ] || fail "stores: $stores"
systemctl restart whorld
expect 66 "whorl init" at_seat bob 'whorl ls'
expect 77 "are closed" at_seat alice 'whorl get note/2'
exit 0
