# Set-up by a person at a terminal, with the service and the reader that fprintd has: a finger is enrolled by the
# person's own session, is used at once, and everything is undone.
. /usr/share/whorl-tests/common.sh

user alice
user bob
virtual_reader
own_password_is_typed
fprintd-delete alice >/dev/null 2>&1 || :
fprintd-delete bob >/dev/null 2>&1 || :
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
# polkit reads a new rule a moment after it was written.
sleep 5

# conversing ANSWERS NAME COMMAND: a user's command at a terminal, for which a finger is pressed and questions are answered.
conversing() {
  FINGER=right-index:1 SENSOR=$sensor python3 "$(dirname "$0")/conversing.py" "$1" \
    sh -c ". '$(dirname "$0")/common.sh'; at_seat $2 \"script -qec '$3' /dev/null\""
}

passcode='open sesame, please'
no='[y/N]=>n
[y/N]=>n
[y/N]=>n
[y/N]=>n
[y/N]=>n'
make="login password? [Y/n]=>n
New passcode:=>$passcode
again:=>$passcode
or the file:=>key
or the file:=>~/recovery-key
take others.) [Y/n]=>y
$no"
expect 0 "fingers   1 enrolled" conversing "$make" alice 'whorl setup'
expect 0 "right-index-finger" fprintd-list alice
expect 0 "alice 600" stat -c '%U %a' /home/alice/recovery-key
[ ! -e /home/alice/key ] || fail "an answer was taken for the name of a file"
expect 0 "right-index" at_seat alice 'whorl fingers'
expect 0 "" at_seat alice 'printf gold | whorl set bank/alice'
expect 0 gold touching "right-index:1" at_seat alice 'whorl get bank/alice'
# Setup does not ask again about finished steps.
expect 0 "fingers   1 enrolled" conversing "$no" alice 'whorl setup'
# In a session that may not enrol with fprintd, the message says where enrolling works.
expect 0 "this session may not enrol one" elsewhere bob 'umask 077; echo "a passcode, too" >passcode
  whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery && whorl setup'
# A wrong login password is told as what it is.
rm /etc/polkit-1/rules.d/10-enrol.rules
systemctl restart polkit
echo 'bob:his own words' | chpasswd
expect 77 "the system was not given your login password" conversing "Password:=>wrong" bob 'whorl enroll left-thumb'
virtual_reader
# Only the store is set up here, and kept if the user says so.
expect 0 "sudo whorl admin remove alice" conversing 'keeps it:=>n' alice 'whorl setup --undo'
expect 0 gold touching "right-index:1" at_seat alice 'whorl get bank/alice'
expect 77 "bank/alice" whorl admin remove alice --yes
expect 0 "Removed" whorl admin remove alice --yes --delete-only-copies
expect 0 "Store     none yet" conversing "" alice whorl

# No login reaches Whorl yet. There is no sudo on this machine, so setup and doctor say what root does. Then they say that
# it is done.
expect 0 "have root run 'pam-auth-update --enable whorl'" at_seat alice 'whorl setup'
expect 0 "warn  login: logins do not reach Whorl" at_seat alice 'whorl doctor || :'
expect 0 "" env DEBIAN_FRONTEND=noninteractive pam-auth-update --enable whorl
expect 0 "ok    login: logins reach Whorl" at_seat alice 'whorl doctor || :'
expect 0 "ok    service   installed: other programs" at_seat alice 'whorl setup'

# fprintd, switched off: no reader is seen, and setup and doctor say why, and the command that switches it on.
systemctl mask --now fprintd.service
expect 0 "sudo systemctl unmask fprintd" at_seat bob 'whorl setup'
expect 0 "sudo systemctl unmask fprintd" at_seat bob 'whorl doctor || :'
systemctl unmask fprintd.service
