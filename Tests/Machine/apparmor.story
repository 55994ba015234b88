# All AppArmor profiles are enforced, also that of whorl-agent, which is installed in complain mode. What a person does with
# Whorl works; scripts/machine-test fails if anything was refused, as after each story. A program in the vault's place can
# read no file of other users, and start no program.
. "${here:?}/common.sh"
begins installed

# mode PROFILE FILTER: loads the profile after a change by sed.
mode() { inside sh -c 'sed "$2" "/etc/apparmor.d/$1" | apparmor_parser --replace' sh "$1" "$2"; }
for profile in whorld whorl-reader-fprintd whorl-reader-libfprint whorl-program-path whorl-fido whorl-agent; do
  mode "$profile" 's/,complain//'
  expect 0 "$profile (enforce)" inside grep "^$profile " /sys/kernel/security/apparmor/profiles
done
# confined UNIT PROFILE: checks that the running service has the profile.
confined() {
  # shellcheck disable=SC2016 # the guest's shell fills in
  expect 0 "$2 (enforce)" inside sh -c 'cat "/proc/$(systemctl show --value -p MainPID "$1")/attr/current"' sh "$1"
}

# A store with a passcode, sealed by the TPM, and a finger on a reader that matches on its chip.
person alice
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "TPM" at_seat alice 'whorl status'
confined whorld.service whorld
own
plug own
seen c0ffee000001
expect 0 "is enrolled" touching "right right right right right right right right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice --access current-set'
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
expect 77 "" touching "thumb thumb thumb" at_seat alice 'whorl get bank/alice --timeout 60'
beside at_seat alice 'whorl get bank/alice --timeout 60'
tell own wanted 60 >/dev/null
confined whorl-reader-fprintd.service whorl-reader-fprintd
tell own press right >/dev/null
ended 0 "gold"
expect 0 "reader" at_seat alice 'whorl doctor || :'
expect 0 "bank/alice" at_seat alice 'whorl log -n 20'

# Keys for ssh, and the desktop's secrets.
inside sh -c 'grep -q localhost /etc/hosts 2>/dev/null || echo "127.0.0.1 localhost" >>/etc/hosts
  systemctl unmask ssh 2>/dev/null; mkdir -p /run/sshd && systemctl start ssh'
expect 0 "ssh-ed25519" at_seat alice 'whorl ssh add work; mkdir -p -m 700 .ssh
  whorl ssh public work >.ssh/work.pub; cp .ssh/work.pub .ssh/authorized_keys; chmod 600 .ssh/authorized_keys
  printf "localhost %s\n" "$(cut -d " " -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub)" >.ssh/known_hosts'
expect 0 "takes it back" at_seat alice 'whorl ssh enable --other-agent /nonexistent'
signs_in="SSH_AUTH_SOCK=\$XDG_RUNTIME_DIR/whorl-agent script -qec 'ssh -o BatchMode=yes -o StrictHostKeyChecking=yes \
  -o HostKeyAlgorithms=ssh-ed25519 localhost echo in' /dev/null"
expect 0 "sign in to localhost as alice" touching right at_seat alice "$signs_in"
expect 0 "whorl-agent (enforce)" inside sh -c 'cat /proc/$(pidof whorl-agent)/attr/current'
# The agent asks for the passcode in a program of its own.
machine run -i '#!/bin/sh
echo OK
while read -r word rest; do
  [ "$word" != GETPIN ] || echo "D open sesame, please"
  echo OK
done' sh -c 'cat >/usr/local/bin/pinentry && chmod 755 /usr/local/bin/pinentry'
expect 0 "" at_seat alice 'whorl lock'
expect 0 "sign in to localhost as alice" touching right at_seat alice "$signs_in"
confined whorl-program-path.service whorl-program-path
expect 0 "" at_seat alice 'whorl secret-service enable --now'
expect 0 "" at_seat alice 'printf bank-secret | secret-tool store --label=Bank service bank user alice'
expect 0 "" at_seat alice 'whorl secret-service gate --item Bank --access any-finger --yes'
# fprintd has ended since, and its start is slow here.
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
expect 0 "bank-secret" touching right at_seat alice 'secret-tool lookup service bank user alice'

# Passkeys.
expect 0 "" at_seat alice 'whorl passkey enable'
# The security key exists while her session does.
beside at_seat alice 'until KEY=$(fido2-token -L | grep vendor=0x1209 | cut -d : -f 1) && [ -n "$KEY" ]; do sleep 0.2; done
  fido2-token -I "$KEY" && sleep 10'
wait_for "no security key" inside systemctl is-active whorl-fido.service
confined whorl-fido.service whorl-fido
ended 0 "alwaysUv"

# A change of the passcode, and a restart.
expect 0 "" at_seat alice 'cat passcode next >both && whorl passcode --passcode-fd 3 3<both'
inside systemctl restart whorld.service
expect 0 "" at_seat alice 'whorl unlock --passcode-fd 3 3<next'
expect 0 "gold" touching right at_seat alice 'whorl get bank/alice --timeout 60'
unplug own

# A backup, whose file the user's program opens and passes to the service.
expect 0 "" at_seat alice 'whorl backup copy'

# A reader that sends images, through fprintd.
for impression in 0 1 2 3 4 5 6 7 8; do
  inside sh -c "whorl-finger image right-index --impression $impression --output /tmp/finger.png && base64 /tmp/finger.png" |
    base64 -d >"$state/right-$impression.png"
done
reader own picture --serial c0ffee000004
plug own
seen c0ffee000004
touches=
for impression in 0 1 2 3 4 5 6; do touches="$touches $state/right-$impression.png"; done
expect 0 "enroll-completed" touching "$touches" at_seat alice 'fprintd-enroll -f right-index-finger'
expect 0 "" at_seat alice 'printf silver | whorl set bank/picture --access any-finger'
expect 0 "silver" touching "$state/right-7.png" at_seat alice 'whorl get bank/picture --timeout 60'
unplug own

# A program in the vault's place, as root and without the restrictions of the unit: only the profile stops it. The profile
# has another name here, so that its refusals are not taken for the vault's.
mode whorld 's/^profile whorld/profile intruder/'
cat >"$state/intruder.py" <<'END'
import os
for path in ("/etc/shadow", "/home/alice/passcode", "/var/lib/fprint", "/root", "/dev/vda", "/proc/kcore", "/etc/fstab"):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
        print("read", path, flush=True)
    except OSError as error:
        print(error.strerror, path, flush=True)
for path in ("/tmp/intruder", "/etc/whorl/intruder", "/home/alice/intruder", "/usr/bin/intruder"):
    try:
        open(path, "w")
        print("wrote", path, flush=True)
    except OSError as error:
        print(error.strerror, path, flush=True)
for program in ("/usr/bin/whorl", "/usr/libexec/whorl/whorl-reader", "/usr/bin/python3", "/bin/sh"):
    try:
        os.execv(program, [program, "--version"])
    except OSError as error:
        print(error.strerror, program)
END
# shellcheck disable=SC2016 # the guest's shell fills in
machine run -i "$(cat "$state/intruder.py")" sh -c 'cat >/usr/lib/intruder.py && cp "$(readlink -f /usr/bin/python3)" /usr/local/bin/intruder &&
  mount --bind /usr/local/bin/intruder /usr/libexec/whorl/whorld'
expect 0 "Permission denied" inside systemd-run --quiet --pipe --wait --collect -p AppArmorProfile=intruder \
  /usr/libexec/whorl/whorld -S /usr/lib/intruder.py
[ "$(echo "$output" | grep -c "Permission denied")" = 15 ] || fail "not all 15 were refused: $output"
# Without the profile it can read, and start the first program.
expect 0 "read /etc/shadow" inside systemd-run --quiet --pipe --wait --collect /usr/libexec/whorl/whorld -S /usr/lib/intruder.py
