# A session on a display with programs that ask for secrets: secret-tool, Python's keyring, git over https, ssh and git's
# signatures, each without a gate and with one. The story reads the prompts from the notification program, and chooses
# their actions there.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/server.sh

installed_service

# The notifications: dunst, whose menu of actions is answered with the line that /home/alice/choice names.
mkdir -p /etc/xdg/dunst
cat >/etc/xdg/dunst/dunstrc <<'END'
[global]
dmenu = /bin/grep -m 1 -f /home/alice/choice
END
begin_session dunst

# displayed NUMBER: whether this many notifications are on the display.
displayed() { [ "$(in_desktop 'dunstctl count displayed')" = "$1" ]; }

# said: the text of the last notification that was removed.
said() {
  in_desktop 'dunstctl history' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0][0]["body"]["data"])'
}

# was_asked TEXT: no notification is displayed any more, and the last one said TEXT.
was_asked() {
  wait_for "the end of the notification" displayed 0
  expect 0 "$1" said
}

# gated STATUS OUTPUT TEXT COMMAND: the command waits, a notification says TEXT, and after the touch it ends with STATUS
# and OUTPUT.
gated() {
  begin "$4"
  wait_for "a notification" displayed 1
  [ ! -s /tmp/actual ] || fail "did not wait for the touch: $(cat /tmp/output)"
  press "$right"
  ended "$1" "$2"
  was_asked "$3"
}

# free STATUS OUTPUT COMMAND: the command works at once, and nothing is displayed.
free() {
  asked=$(in_desktop 'dunstctl count history')
  begin "$3"
  ended "$1" "$2"
  displayed 0 || fail "a notification is displayed"
  [ "$(in_desktop 'dunstctl count history')" = "$asked" ] || fail "somebody was asked: $(said)"
}

set_up
expect 0 "'whorl ssh disable' takes it back." in_desktop 'whorl ssh enable'
expect 0 "/whorl-agent" in_desktop 'echo "$SSH_AUTH_SOCK"'

# secret-tool and a program of Python's keyring.
cat >/home/alice/mail.py <<'END'
#!/usr/bin/python3
import sys

import keyring

if len(sys.argv) > 1:
    keyring.set_password("calendar", "alice", sys.argv[1])
print(keyring.get_password("calendar", "alice"))
END
chmod 755 /home/alice/mail.py
free 0 "bank-secret" 'printf bank-secret | secret-tool store --label=Bank service bank user alice
  secret-tool lookup service bank user alice'
free 0 "meetings" './mail.py meetings'
free 0 "meetings" './mail.py'
expect 0 "" in_desktop 'whorl secret-service gate --item Bank --access presence --yes
  whorl secret-service gate --attribute service=calendar --access any-finger --yes'
gated 0 "bank-secret" "secret-tool wants to read “Bank”. Swipe the reader (virtual reader)." \
  'secret-tool lookup service bank user alice'
gated 0 "meetings" "Program: /usr/bin/python3.11, which says that it runs “./mail.py”" './mail.py'

# Cancelling with the notification's action, closing the notification, and another finger: each refuses.
echo Cancel >/home/alice/choice
begin 'secret-tool lookup service bank user alice'
wait_for "a notification" displayed 1
in_desktop 'dunstctl context'
ended 1 ""
case $output in *bank-secret*) fail "given although it was cancelled" ;; esac
was_asked "read “Bank”"
begin 'secret-tool lookup service bank user alice'
wait_for "a notification" displayed 1
in_desktop 'dunstctl close'
ended 1 ""
case $output in *bank-secret*) fail "given although the notification was closed" ;; esac
was_asked "read “Bank”"
begin './mail.py'
wait_for "a notification" displayed 1
for _ in 1 2 3; do
  press left-index:9
  sleep 2
done
ended 1 ""
case $output in *meetings*) fail "given to another finger" ;; esac
was_asked "Program: /usr/bin/python3.11"

# The passcode in place of the finger: the action opens pinentry.
echo Passcode >/home/alice/choice
begin 'secret-tool lookup service bank user alice'
wait_for "a notification" displayed 1
in_desktop 'dunstctl context'
wait_for "pinentry" in_desktop 'xdotool search --onlyvisible --name "^Whorl$"'
in_desktop "xdotool type --delay 60 '$passcode'; xdotool key Return"
ended 0 "bank-secret"
was_asked "read “Bank”"

# git over https, with a server whose certificate is signed by a CA of this machine.
server
in_desktop 'git init -q -b main tree; cd tree
  git config --global user.name Alice; git config --global user.email alice@server.test
  git remote add origin https://server.test/git/tree.git'
commit_and_push='cd tree; git commit -q --allow-empty -m change; git push origin main'
# The password typed at the first push.
cat >/home/alice/typed <<'END'
#!/bin/sh
case $1 in Username*) echo alice ;; *) echo push-password ;; esac
END
chmod 755 /home/alice/typed
in_desktop 'git config --global credential.helper "whorl --access none"'
free 0 "main -> main" "export GIT_ASKPASS=/home/alice/typed; $commit_and_push"
free 0 "main -> main" "$commit_and_push"
in_desktop 'git config --global credential.helper whorl
  printf "protocol=https\nhost=server.test\n" | git credential reject'
free 0 "main -> main" "export GIT_ASKPASS=/home/alice/typed; $commit_and_push"
gated 0 "main -> main" "git: sign in to https://server.test" "$commit_and_push"
# In a terminal, the prompt appears only there.
begin "script -qec '$commit_and_push' /dev/null"
wait_for "the prompt" grep -q 'git: sign in to https://server.test' /tmp/output
displayed 0 || fail "a notification is displayed for a command with a terminal"
press "$right"
ended 0 "main -> main"

# ssh, and git's signatures, with a key that needs no finger and one that does.
in_desktop 'mkdir -p -m 700 .ssh; whorl ssh add open --access none; whorl ssh add work
  whorl ssh public open >.ssh/open.pub; whorl ssh public work >.ssh/work.pub
  cat .ssh/open.pub .ssh/work.pub >.ssh/authorized_keys; chmod 600 .ssh/authorized_keys
  printf "server.test %s\n" "$(cut -d " " -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub)" >.ssh/known_hosts
  for key in open work; do echo "alice@server.test $(cat .ssh/$key.pub)"; done >signers
  git config --global gpg.format ssh; git config --global gpg.ssh.allowedSignersFile /home/alice/signers'
options='-o BatchMode=yes -o StrictHostKeyChecking=yes -o HostKeyAlgorithms=ssh-ed25519 -o IdentitiesOnly=yes'
free 0 "in" "ssh $options -i .ssh/open.pub server.test echo in"
gated 0 "in" "ssh wants to sign in to server.test as alice with the SSH key work. Swipe the reader (virtual reader)." \
  "ssh $options -i .ssh/work.pub server.test echo in"
signed='git commit -q -S --allow-empty -m signed; git log --show-signature -1'
free 0 "Good \"git\" signature" "cd tree; git config user.signingkey /home/alice/.ssh/open.pub; $signed"
gated 0 "Good \"git\" signature" "ssh-keygen wants to sign for git with the SSH key work. Swipe the reader (virtual reader)." \
  "cd tree; git config user.signingkey /home/alice/.ssh/work.pub; $signed"

# The log has the items' labels, and the program that asked whorl-agent.
expect 0 "/usr/bin/secret-tool, says whorl-agent" in_desktop 'whorl log'
case $output in *"	Bank	"*) ;; *) fail "the log does not name the item: $output" ;; esac

# Ungated with a finger: the same program works without one.
gated 0 "" "have “Bank” need nothing" 'whorl secret-service ungate --item Bank --yes'
free 0 "bank-secret" 'secret-tool lookup service bank user alice'
exit 0
