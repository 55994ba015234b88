# ssh, ssh-keygen and git with keys of the installed service: each signature waits for a touch, and its prompt shows the
# purpose.
. /usr/share/whorl-tests/common.sh

sensor=/run/service-reader/socket
right=right-index:1
user alice

mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
printf 'reader = virtual-image:%s\n' "$sensor" >/etc/whorl/whorld.conf.d/virtual.conf
printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
  >/etc/systemd/system/whorld.service.d/virtual.conf
expect 0 "/etc/whorl/system" env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
own_password_is_typed
at_seat alice 'umask 077; echo "open sesame, please" >passcode'
expect 0 "" at_seat alice 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
expect 0 "is enrolled" touching "$right $right $right $right $right $right $right $right" \
  at_seat alice 'whorl enroll right-index --passcode-fd 3 3<passcode'
mkdir -p /run/sshd
echo "127.0.0.1 localhost" >/etc/hosts
systemctl restart ssh

# with_agent COMMAND: runs a command of alice at her seat with an agent that prints its prompts on standard error.
with_agent() {
  at_seat alice "whorl-agent --socket \$XDG_RUNTIME_DIR/own -- sh -c '$1' 2>&1"
}
expect 0 "ssh-ed25519" at_seat alice 'whorl ssh add work; mkdir -p -m 700 .ssh
  whorl ssh public work >.ssh/work.pub; cp .ssh/work.pub .ssh/authorized_keys; chmod 600 .ssh/authorized_keys
  printf "localhost %s\n" "$(cut -d " " -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub)" >.ssh/known_hosts'
options='-o BatchMode=yes -o StrictHostKeyChecking=yes -o HostKeyAlgorithms=ssh-ed25519'

# Signing in: the prompt names host and user, and another finger does not sign.
expect 0 "sign in to localhost as alice" touching "$right" with_agent "ssh $options localhost echo in"
case $output in *in*) ;; *) fail "not signed in: $output" ;; esac
expect 255 "sign in to localhost as alice" touching "left-index:9 left-index:9 left-index:9" \
  with_agent "ssh $options localhost echo in"
# Over ssh there is nobody at the seat: refused without a prompt.
expect 255 "" elsewhere alice "whorl-agent --socket \$XDG_RUNTIME_DIR/own -- ssh $options localhost echo in"
case $output in *Touch* | *Swipe*) fail "asked for a touch where nobody is: $output" ;; esac

# After a start of the machine the store waits for the passcode: it is asked for, and then the finger.
cat >/usr/local/bin/pinentry <<'END'
#!/bin/sh
echo OK
while read -r word rest; do
  case $word in
    SETDESC) echo "$rest" >>/home/alice/asked ;;
    GETPIN) if [ -e /home/alice/answer ]; then echo "D open sesame, please"; else echo "ERR 83886179 cancelled"; continue; fi ;;
  esac
  echo OK
done
END
chmod 755 /usr/local/bin/pinentry
expect 0 "" at_seat alice 'whorl lock'
expect 255 "refused to sign in to localhost as alice" with_agent "ssh $options localhost echo in"
at_seat alice 'touch answer'
expect 0 "sign in to localhost as alice" touching "$right" with_agent "ssh $options localhost echo in"
case $output in *in*) ;; *) fail "not signed in: $output" ;; esac
expect 0 "to unlock the store, and then sign in to localhost as alice" cat /home/alice/asked
expect 0 "" at_seat alice 'whorl lock'
expect 0 "password=hunter2" at_seat alice 'printf "protocol=https\nhost=git.test\nusername=alice\npassword=hunter2\n\n" >git
  whorl unlock --passcode-fd 3 3<passcode && whorl git-credential store --access none <git && whorl lock
  head -n 2 git | DISPLAY=:9 whorl git-credential get'

# git signs commits, and verifies them.
expect 0 "Good \"git\" signature" touching "$right" with_agent "git init -q tree; cd tree
  git config user.name Alice; git config user.email alice@localhost; git config gpg.format ssh
  git config user.signingkey /home/alice/.ssh/work.pub
  git config gpg.ssh.allowedSignersFile /home/alice/signers
  echo alice@localhost \$(cat /home/alice/.ssh/work.pub) >/home/alice/signers
  git commit -q -S --allow-empty -m signed; git log --show-signature -1"

# The unit of the user's session. Without a desktop its prompts are in the journal.
(
  for _ in $(seq 200); do
    journalctl -q --no-pager -o cat _COMM=whorl-agent | grep -q 'Touch\|Swipe' && break
    sleep 0.1
  done
  whorl-finger press right-index --person 1 --socket "$sensor"
) >/tmp/pressed 2>&1 &
expect 0 "'whorl ssh disable' takes it back." at_seat alice "whorl ssh enable --other-agent /nonexistent"
expect 0 "in" at_seat alice "SSH_AUTH_SOCK=\$XDG_RUNTIME_DIR/whorl-agent ssh $options localhost echo in"
# A login over the network of the same user is asked at the seat, and the prompt says where the request comes from. A touch
# that is kept for ssh at the seat does not count for ssh there.
expect 0 "ssh-ed25519" at_seat alice 'whorl ssh add kept --minutes 10
  whorl ssh public kept >.ssh/kept.pub; cat .ssh/kept.pub >>.ssh/authorized_keys'
kept="ssh $options -o IdentitiesOnly=yes -i .ssh/kept.pub localhost"
asked_in_journal() { journalctl -q --no-pager -o cat _COMM=whorl-agent | grep -c 'reader). (program: ' || :; }
before=$(asked_in_journal)
(
  for wanted in 1 2; do
    for _ in $(seq 200); do
      [ "$(asked_in_journal)" -lt $((before + wanted)) ] || break
      sleep 0.1
    done
    whorl-finger press right-index --person 1 --socket "$sensor"
  done
) >/tmp/pressed 2>&1 &
expect 0 "here" at_seat alice "SSH_AUTH_SOCK=\$XDG_RUNTIME_DIR/whorl-agent $kept echo here"
expect 0 "far away" at_seat alice "SSH_AUTH_SOCK=\$XDG_RUNTIME_DIR/whorl-agent $kept '
  SSH_AUTH_SOCK=\$XDG_RUNTIME_DIR/whorl-agent $kept echo far away'"
expect 0 "(program: /usr/bin/ssh in a login over the network from " journalctl -q --no-pager -o cat _COMM=whorl-agent
[ "$(asked_in_journal)" = $((before + 2)) ] || fail "asked $(asked_in_journal) times, and $before before"
# Programs of a desktop get the variable from the service manager.
expect 0 "SSH_AUTH_SOCK=/run/user/" at_seat alice "systemctl --user show-environment"
expect 0 "enabled" at_seat alice "systemctl --user is-enabled whorl-agent.socket"
expect 0 "Removed" at_seat alice "whorl ssh disable"
expect 1 "" at_seat alice "test -e \$XDG_RUNTIME_DIR/whorl-agent"
exit 0
