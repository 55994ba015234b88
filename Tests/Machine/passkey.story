# Passkeys: the security key of alice's session is used by libfido2's own programs and by ssh, with her finger.
. "${here:?}/common.sh"
begins enrolled

person bob
# key COMMAND: runs a command at alice's seat once the security key exists, with its device file in $KEY.
key() {
  at_seat alice 'tries=0
until KEY=$(fido2-token -L | grep vendor=0x1209 | cut -d: -f1) && [ -n "$KEY" ]; do
  tries=$((tries + 1)) && [ "$tries" -lt 100 ] || exit 99
  sleep 0.1
done
export KEY
'"$1"
}

# Off until alice turns it on.
expect 0 "active" inside systemctl is-active whorl-fido.socket
expect 3 "inactive" inside systemctl is-active whorl-fido.service
expect 0 "root:whorl-fido 660" inside stat -c '%U:%G %a' /dev/uhid
expect 2 "" inside sh -c 'ls /dev/hidraw* 2>/dev/null'
expect 0 "passkey disable" at_seat alice 'whorl passkey enable'

# The key exists while her session is active, only for her.
expect 0 "vendor=0x1209" key 'fido2-token -L'
expect 0 "user:alice:rw-" key 'getfacl -p "$KEY"'
expect 0 "alwaysUv" key 'fido2-token -I "$KEY"'
echo "  whorl-fido: $(key 'ps -C whorl-fido -o rss=') KiB"
wait_for "the key stays without a session" inside sh -c '! ls /dev/hidraw*'
expect 2 "" elsewhere alice 'ls /dev/hidraw* 2>/dev/null'

# A passkey is made and used, each with a finger.
parameters='param() { head -c 32 /dev/urandom | base64; }; '
expect 0 "" touching "right right" key "$parameters"'{ param; echo example.com; echo alice; echo YWxpY2U=; } >make
fido2-cred -M -r -i make "$KEY" >made && fido2-cred -V -i made -o verified es256'
expect 0 "example.com" at_seat alice 'whorl passkey list'
expect 0 "alice" at_seat alice 'whorl passkey list --json'
expect 0 "" touching "right right" key "$parameters"'{ param; echo example.com; head -n 1 verified; } >use
tail -n +2 verified >public.pem
fido2-assert -G -i use "$KEY" >used && fido2-assert -V -i used public.pem es256'
# With another finger nothing is signed.
expect 1 "" touching "thumb thumb thumb" key 'fido2-assert -G -i use "$KEY"'
expect 0 "assert-passkey" at_seat alice 'whorl log'

# ssh makes a key on it, and signs in with it.
inside systemctl start ssh
expect 0 "" touching "right right right" key 'ssh-keygen -q -t ecdsa-sk -O resident -O application=ssh:story -N "" -f work </dev/null &&
mkdir -p -m 700 .ssh && cp work.pub .ssh/authorized_keys'
expect 0 "signed in" touching "right right" key 'ssh -o StrictHostKeyChecking=no -o BatchMode=yes -i work alice@127.0.0.1 echo signed in'
expect 0 "" touching "right right right" key 'ssh-keygen -q -t ed25519-sk -N "" -f other </dev/null && cp other.pub .ssh/authorized_keys'
expect 0 "signed in" touching "right right" key 'ssh -o StrictHostKeyChecking=no -o BatchMode=yes -i other alice@127.0.0.1 echo signed in'
# Keys that need no touch are asked for one all the same, and a resident key is not lost to another of its name.
expect 0 'Good "file" signature' touching "right right right" key 'ssh-keygen -q -t ecdsa-sk -O no-touch-required -N "" -f silent </dev/null &&
ssh-keygen -q -Y sign -f silent -n file work.pub && echo "alice $(cat silent.pub)" >allowed &&
ssh-keygen -Y verify -f allowed -I alice -n file -s work.pub.sig <work.pub'
expect 255 "already exists" touching "right right" key \
  'ssh-keygen -q -t ecdsa-sk -O resident -O application=ssh:story -N "" -f again </dev/null'
expect 0 "ssh:story" touching "right right" key 'fido2-token -L -r "$KEY"'

# PAM asks for it. pamu2fcfg before 1.1.1 (Debian 12 has 1.1.0) takes no self attestation, so fido2-cred makes the file.
inside sh -c 'printf "auth required pam_u2f.so authfile=/home/alice/u2f userverification=1\naccount required pam_permit.so\n" >/etc/pam.d/story'
line='import base64, sys
credential, *pem = open(sys.argv[1]).read().split("\n", 1)
key = base64.b64decode("".join(pem[0].split("\n")[1:-2]))
print("alice:%s,%s,es256,+presence+verification" % (credential, base64.b64encode(key[-64:]).decode()))'
machine run -i "$line" sh -c 'cat >/usr/local/bin/authfile.py'
expect 0 "" touching "right right" key "$parameters"'{ param; echo pam://whorl-machine; echo alice; echo YWxpY2U=; } >make
fido2-cred -M -i make "$KEY" | fido2-cred -V -o pam es256 && python3 /usr/local/bin/authfile.py pam >u2f'
expect 0 "successfully authenticated" touching "right right" key 'pamtester story alice authenticate'

# A disk that opens with a finger.
inside sh -c 'truncate -s 32M /root/disk && printf pass >/root/pass &&
  cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /root/disk /root/pass'
beside at_seat alice 'sleep 60'
wait_for "no key" inside sh -c 'ls /dev/hidraw*'
expect 0 "" touching "right right right" inside sh -c 'PASSWORD=pass systemd-cryptenroll --fido2-device=auto --fido2-with-client-pin=no \
  --fido2-with-user-presence=yes --fido2-with-user-verification=no /root/disk'
expect 0 "" touching "right right" inside /lib/systemd/systemd-cryptsetup attach story /root/disk - fido2-device=auto,headless=yes
expect 0 "" inside test -b /dev/mapper/story
inside /lib/systemd/systemd-cryptsetup detach story
finished

# It is removed when the session is locked, and comes back when it is unlocked.
expect 0 "gone, back" key 'path=/org/freedesktop/login1/session/self
busctl call org.freedesktop.login1 "$path" org.freedesktop.login1.Session SetLockedHint b true
sleep 1; ls /dev/hidraw* 2>/dev/null || printf "gone, "
busctl call org.freedesktop.login1 "$path" org.freedesktop.login1.Session SetLockedHint b false
tries=0; until ls /dev/hidraw* >/dev/null 2>&1; do tries=$((tries + 1)); [ $tries -lt 100 ] || exit 98; sleep 0.1; done; echo back'

# A user who is not in front of the screen gets no device, and a report of another length ends the connection.
client='import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("/run/whorl-fido/socket")
size = int(sys.argv[1])
time.sleep(1)  # the agent, whose place this took, is back after two seconds
if size: s.send(b"x" * size)
s.settimeout(3)
try: print("closed" if s.recv(64) == b"" else "answered")
except TimeoutError: print("silent")'
machine run -i "$client" sh -c 'cat >/usr/local/bin/client.py'
expect 0 "silent" elsewhere bob 'python3 /usr/local/bin/client.py 0'
expect 2 "" inside sh -c 'ls /dev/hidraw* 2>/dev/null'
for size in 63 65; do
  expect 0 "closed" key "python3 /usr/local/bin/client.py $size"
done

expect 0 "no longer a security key" at_seat alice 'whorl passkey disable'
expect 0 "1" at_seat alice 'whorl passkey list --json | grep -c example.com'
