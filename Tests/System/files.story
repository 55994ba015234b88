# Wrong files of the installed service: files of other users, or that others can write (row 17 of README.md), damaged and
# foreign databases (row 20), earlier ones (row 5). The store is refused with advice, the others are served, and after a
# repair it works again.
. /usr/share/whorl-tests/common.sh

user alice
user bob
mkdir -p /etc/whorl/whorld.conf.d
echo "require-passcode-after-boot = no" >/etc/whorl/whorld.conf.d/files.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
for name in alice bob; do
  elsewhere "$name" "umask 077; echo 'open sesame, please' >passcode
    whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery >/dev/null
    printf 'note of $name' | whorl set note/mine --access none
    printf 'deep of $name' | whorl set deep/mine --access passcode" || fail "the store of $name"
done
stores=/var/lib/whorl
store=$stores/$(id -u alice)-alice
other=$stores/$(id -u bob)-bob
systemctl stop whorld.service
cp -a "$stores" /root/stores

# refuses STATUS TEXT: alice's store is refused with these words, and bob's is served.
refuses() {
  expect "$1" "$2" elsewhere alice 'whorl get note/mine'
  expect 0 "note of bob" elsewhere bob 'whorl get note/mine'
  systemctl stop whorld.service
}
# again: restores all files.
again() {
  systemctl stop whorld.service
  systemctl reset-failed whorld.service whorld.socket 2>/dev/null || :
  systemctl restart whorld.socket
  find "$stores" -mindepth 1 -delete
  cp -a /root/stores/. "$stores/"
}

# The folder of all stores: systemd gives it back to the service, or the unit does not start.
chown alice "$stores"
chmod 777 "$stores"
expect 0 "note of alice" elsewhere alice 'whorl get note/mine'
expect 0 "whorl:whorl 700" stat -c '%U:%G %a' "$stores"
systemctl stop whorld.service
chmod 777 /var/lib
refused=$(elsewhere alice 'whorl get note/mine' 2>&1) && fail "served under a folder that all may write: $refused"
case $refused in *"/var/lib is writable by others"*"chmod o-w"*) ;; *) fail "not told what to do: $refused" ;; esac
chmod 755 /var/lib
chown :bob /var/lib
chmod 775 /var/lib
refused=$(elsewhere alice 'whorl get note/mine' 2>&1) && fail "served under a folder that a group may write: $refused"
case $refused in *"/var/lib is writable by group"*"chmod g-w"*) ;; *) fail "not told what to do: $refused" ;; esac
chown :root /var/lib
chmod 755 /var/lib
systemctl stop whorld.service
mv "$stores" /home/alice/stores
ln -s /home/alice/stores "$stores"
chmod 755 /home/alice
refused=$(elsewhere alice 'whorl get note/mine' 2>&1) && fail "served from a folder of alice's: $refused"
echo "  a link in the place of $stores: $refused"
rm "$stores"
mv /home/alice/stores "$stores"
again

# One store.
chmod 750 "$store"
refuses 78 "chmod 700"
again
chown alice "$store"
refuses 78 "chown it"
again
chmod 640 "$store/device.key"
refuses 78 "chmod 600"
again
mv "$store" "$stores/real"
ln -s "$stores/real" "$store"
refuses 78 "symbolic link"
rm "$store"
again
mv "$store/vault.db" /root/vault.db
ln -s /root/vault.db "$store/vault.db"
refuses 78 "not a private file"
again

# The settings.
echo "require-passcode-after-boot = no" >>/etc/whorl/whorld.conf.d/files.conf
chown alice /etc/whorl/whorld.conf.d/files.conf
refused=$(elsewhere alice 'whorl get note/mine' 2>&1) && fail "settings of alice's were taken: $refused"
journalctl -q --no-pager -u whorld.service | grep -q "files.conf" || fail "the journal does not name the file"
chown root /etc/whorl/whorld.conf.d/files.conf
# Root mends the file and does nothing else.
for _ in $(seq 60); do
  elsewhere alice 'whorl get note/mine' >/dev/null 2>&1 && break
  sleep 0.5
done
expect 0 "note of alice" elsewhere alice 'whorl get note/mine'
systemctl stop whorld.service

# Databases: each is refused, or its edited part is. No other store is affected.
head -c 100000 /dev/urandom >"$store/vault.db"
refuses 65 "put it back from a backup"
again
truncate -s 5000 "$store/vault.db"
refuses 65 "backup"
again
: >"$store/vault.db"
refuses 65 "backup"
again
# Another user's database, without and with its other files.
cp -a "$other/vault.db" "$store/vault.db"
refuses 65 "whorl recover"
again
# The store opens completely, but alice gets no items, since these have another owner.
cp -a "$other/." "$store/"
refuses 66 "no item"
again
cp -a "$other/device.key" "$store/device.key"
refuses 65 "whorl recover"
again
rm "$store/device.key"
refuses 65 "whorl recover"
again
# A database of another program, and of another version.
edit() { python3 -c "import sqlite3; file = sqlite3.connect('$store/vault.db'); file.executescript('''$1'''); file.close()"; }
edit "PRAGMA user_version = 1000"
refuses 65 "update whorl"
again
rm "$store/vault.db"
edit "CREATE TABLE places (url TEXT)"
chown whorl:whorl "$store/vault.db"
chmod 600 "$store/vault.db"
refuses 65 "backup"
again
# Row 5. An earlier database with the current records.
elsewhere alice 'umask 077; { cat passcode; echo "sesame, open again"; } >both'
expect 0 "" elsewhere alice 'whorl passcode --passcode-fd 3 3<both'
systemctl stop whorld.service
cp -a "/root/stores/$(basename "$store")/vault.db" "$store/vault.db"
rm -f "$store"/vault.db-*
# Items without a rule can be read, nothing else opens, and failure counts do not decrease.
expect 65 "an earlier copy" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<passcode'
expect 65 "an earlier copy" elsewhere alice 'head -n 2 both | tail -n 1 | whorl get deep/mine --passcode-fd 0'
expect 0 "an earlier copy was put back" elsewhere alice 'whorl status'
again
# Triggers and views that replace the vault's tables.
edit "CREATE TRIGGER planted AFTER INSERT ON item BEGIN DELETE FROM item; END"
refuses 65 "CREATE TRIGGER planted"
again
edit "ALTER TABLE item RENAME TO kept; CREATE VIEW item AS SELECT * FROM kept"
refuses 65 "something Whorl did not put there"
again
expect 0 "note of alice" elsewhere alice 'whorl get note/mine'
expect 0 "deep of alice" elsewhere alice 'whorl get deep/mine --passcode-fd 3 3<passcode'
exit 0
