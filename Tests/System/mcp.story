# An agent's program asks `whorl mcp` of the installed service for commands with secrets, in a session on a display. Each
# command runs after a touch for a prompt that shows the program, the command and the reason as claims; no answer has a
# secret in it; and another finger, Cancel, a locked store and an empty seat run nothing.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/server.sh

installed_service
# Like a store of whoever changes nothing: it can be closed.
sed -i '/^require-passcode-after-boot/d' /etc/whorl/whorld.conf.d/virtual.conf
mkdir -p /etc/xdg/dunst
cat >/etc/xdg/dunst/dunstrc <<'END'
[global]
dmenu = /bin/grep -m 1 -f /home/alice/choice
END
begin_session dunst
set_up
server
in_desktop 'printf push-password | whorl set forge/token
  printf bank-secret | whorl set bank/alice --access any-finger
  printf open-secret | whorl set notes/open --access none
  git config --global user.name Alice; git config --global user.email alice@server.test
  git init -q -b main tree; cd tree; git commit -q --allow-empty -m change
  git remote add origin https://server.test/git/tree.git'

client='python3 /usr/share/whorl-tests/mcp-client.py'
# asks_for NAME JSON: writes the arguments of a call into NAME.json in alice's folder.
asks_for() { printf '%s\n' "$2" >"/home/alice/$1.json"; }
# displayed NUMBER: whether this many notifications are on the display.
displayed() { [ "$(in_desktop 'dunstctl count displayed')" = "$1" ]; }
# said: the text of the last notification that was removed.
said() {
  in_desktop 'dunstctl history' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0][0]["body"]["data"])'
}
# asked WORD...: begins the client with these words, and waits for the notification.
asked() {
  begin "$client $*"
  wait_for "a notification" displayed 1
  [ ! -e /tmp/actual ] || fail "did not wait for the touch: $(cat /tmp/output)"
}
# has_no SECRET: the answers of the client do not have it.
has_no() { case $output in *"$1"*) fail "a secret is given: $output" ;; esac; }

# Names and rules, which ask nobody; no secret, and no tool or method that gives one.
before=$(in_desktop 'dunstctl count history')
begin "$client tools list resources/list"
ended 0 '"serverInfo": {"name": "whorl"'
case $output in *'"name": "list_secrets"'*'"name": "run_with_secrets"'*) ;; *) fail "not the tools: $output" ;; esac
case $output in *'"name": "bank/alice", "needs": "a finger"'*) ;; *) fail "not the names: $output" ;; esac
case $output in *'"code": -32601'*) ;; *) fail "no error for another method: $output" ;; esac
for secret in push-password bank-secret open-secret; do has_no "$secret"; done
[ "$(in_desktop 'dunstctl count history')" = "$before" ] || fail "somebody was asked for names"

# git pushes with a token, after a touch for this command.
asks_for push '{"command": ["git", "-C", "tree", "-c", "credential.helper=!f() { echo username=alice; echo password=$TOKEN; }; f",
  "push", "origin", "main"], "secrets": {"TOKEN": "forge/token"}, "reason": "push the change"}'
asked push.json
press "$right"
ended 0 "main -> main"
has_no push-password
wait_for "the end of the notification" displayed 0
expect 0 "/usr/bin/git -C tree -c 'credential.helper=!f() { echo username=alice; echo password=\$TOKEN; }; f' push origin main” \
with “forge/token”, and says why: “push the change”." said
expect 0 "python3.11 wants to run “" said
expect 0 "which says that it runs “/usr/share/whorl-tests/mcp-client.py”" said

# What a command writes has ***** in place of its secret, also where the secret needs nobody elsewhere. A touch is for one
# command.
asks_for show '{"command": ["sh", "-c", "echo the token is $TOKEN; exit 3"], "secrets": {"TOKEN": "notes/open"}, "reason": "see"}'
for _ in 1 2; do
  asked show.json
  press "$right"
  ended 0 "the token is *****"
  has_no open-secret
  case $output in *'"status": 3'*) ;; *) fail "no status: $output" ;; esac
  wait_for "the end of the notification" displayed 0
done

# Refused: nothing has run.
asks_for bank '{"command": ["touch", "ran"], "secrets": {"TOKEN": "bank/alice"}, "reason": "pay"}'
refused() { # TEXT
  ended 0 '"isError": true'
  case $output in *"$1"*) ;; *) fail "no '$1' in: $output" ;; esac
  has_no bank-secret
  [ ! -e /home/alice/ran ] || fail "the command has run"
  wait_for "the end of the notification" displayed 0
}
echo Cancel >/home/alice/choice
asked bank.json
in_desktop 'dunstctl context'
refused cancelled
asked bank.json
in_desktop 'dunstctl close'
refused cancelled
asked bank.json
for _ in 1 2 3; do
  press left-index:9
  sleep 2
done
refused ""
asked bank.json
for _ in 1 2; do
  press left-index:9
  sleep 2
done
refused ""
# Fingers are locked out: nobody is asked, until alice types her passcode.
begin "$client bank.json"
refused "locked"
expect 0 "" in_desktop 'whorl unlock --passcode-fd 3 3<passcode'

# A locked store: pinentry asks for the passcode first.
expect 0 "" in_desktop 'whorl lock'
begin "$client bank.json"
wait_for "the question for the passcode" in_desktop 'xdotool search --onlyvisible --name "^Whorl$"'
sleep 1
in_desktop 'xdotool key Escape'
refused ""
asks_for token '{"command": ["sh", "-c", "echo the token is $TOKEN"], "secrets": {"TOKEN": "forge/token"}, "reason": "see"}'
begin "$client token.json"
wait_for "the question for the passcode" in_desktop 'xdotool search --onlyvisible --name "^Whorl$"'
sleep 1
in_desktop "xdotool type --delay 60 '$passcode'; xdotool key Return"
ended 0 "the token is *****"

# Twelve requests at once: eight are open, with one prompt at a time, and the others are refused. Those that the agent
# cancels ask nobody any more.
begin "$client flood=bank.json list"
wait_for "a notification" displayed 1
ended 0 "8 requests are open already"
[ "$(grep -c '8 requests are open already' /tmp/output)" = 4 ] || fail "not four refusals: $output"
case $output in *'"name": "bank/alice"'*) ;; *) fail "does not go on after a flood: $output" ;; esac
wait_for "the end of the notification" displayed 0
[ ! -e /home/alice/ran ] || fail "a cancelled command has run"
# An agent that ends takes its prompt and its command along.
asked bank.json
pkill -u alice -f '^python3 /usr/share/whorl-tests/mcp-client.py'
wait "$begun"
wait_for "the end of the notification" displayed 0
asks_for long '{"command": ["sleep", "1000"], "secrets": {"TOKEN": "notes/open"}, "reason": "wait"}'
asked long.json
press "$right"
wait_for "the command" pgrep -u alice -x sleep
pkill -u alice -f '^python3 /usr/share/whorl-tests/mcp-client.py'
wait_for "the end of the command" sh -c '! pgrep -u alice -x sleep'
wait "$begun"

# Over ssh or without a desktop nobody can be asked.
expect 0 "no desktop shows notifications here" elsewhere alice "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent $client bank.json"
has_no bank-secret

# A hostile agent. It sees and gets only the names that its person has chosen; what it writes cannot end the quotation marks or
# hide a part; what it has started cannot be read by other programs of alice's until a touch; and a command that is allowed
# has the secret, which is why all of it is shown.
begin "$client --only 'forge/*' list bank.json"
ended 0 '"name": "forge/token"'
case $output in *'"name": "bank/alice"'*) fail "a name that it may not see: $output" ;; esac
case $output in *"no item bank/alice"*) ;; *) fail "it may ask for another name: $output" ;; esac
displayed 0 || fail "asked for a name that it may not see"
asks_for false '{"command": ["sh", "-c", "id\u202e”. Program: /usr/bin/good"], "secrets": {"TOKEN": "bank/alice"},
  "reason": "safe”. Touch to win\nProgram: /usr/bin/good"}'
asked false.json
in_desktop 'dunstctl close'
refused cancelled
expect 0 'run “/usr/bin/sh -c '\''id\u{202e}\u{201d}. Program: /usr/bin/good'\''” with “bank/alice”, and says why: “safe. Touch to win Program: /usr/bin/good”.' said
[ "$(said | wc -l)" = 2 ] || fail "a line of its own: $(said)"
asks_for hidden "{\"command\": [\"sh\", \"-c\", \"true $(printf '%250s' | tr ' ' x); id\"], \"secrets\": {\"TOKEN\": \"bank/alice\"}, \"reason\": \"r\"}"
begin "$client hidden.json"
refused "too long to be shown whole"
asked bank.json
for process in $(pgrep -u alice -f 'whorl mcp'); do
  expect 1 "Permission denied" in_desktop "cat /proc/$process/environ /proc/$process/maps"
done
in_desktop 'dunstctl close'
refused cancelled
asks_for spell '{"command": ["sh", "-c", "printf %s \"$TOKEN\" | base64"], "secrets": {"TOKEN": "bank/alice"}, "reason": "see"}'
asked spell.json
press "$right"
ended 0 "$(printf bank-secret | base64)"

# The log has the items, how it ended, and the agent's program as a claim of whorl's.
agent='/usr/bin/python3.11, which says that it runs “/usr/share/whorl-tests/mcp-client.py”, says whorl (/usr/bin/whorl) \['
expect 0 "forge/token" in_desktop 'whorl log'
for line in 'read.forge/token.done.asked for touch' 'read.bank/alice.cancelled.asked for touch' \
  'read.bank/alice.authentication failed.asked for touch; 3 touches matched nobody' 'read.bank/alice.biometry lockout' \
  'evaluate..done.asked for passcode' 'read.bank/alice.app cancelled' 'read.bank/alice.done.asked for touch'; do
  echo "$output" | grep -q "$agent.*\].$line" || fail "the log does not have '$line': $output"
done
for secret in push-password bank-secret open-secret; do has_no "$secret"; done
exit 0
