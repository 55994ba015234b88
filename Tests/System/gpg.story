# GnuPG with the installed service, in a session on a display and over ssh: gpg, git and pass get the passphrase of a key after
# a touch for a prompt that names the key's item. Where Whorl has none, gives none, or nobody is at the machine, the pinentry
# from before asks, and what a person types there is kept if they want that.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh

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

# Two keys, each with a passphrase of its own, and a configuration of alice's own. The agent remembers nothing.
cat >/home/alice/make-keys <<'END'
set -eu
mkdir -m 700 .gnupg
printf '# mine\npinentry-program /usr/bin/pinentry-gtk-2\ndefault-cache-ttl 0\nmax-cache-ttl 0\n' >.gnupg/gpg-agent.conf
cp .gnupg/gpg-agent.conf before.conf
for name in home work; do
  gpg --batch --quiet --pinentry-mode loopback --passphrase "words of $name" \
    --quick-gen-key "Alice <$name@server.test>" future-default default never
  echo "contents of $name" | gpg --batch --quiet --trust-model always --encrypt -r "$name@server.test" >"$name.gpg"
done
git config --global user.name Alice
git config --global user.email home@server.test
git config --global user.signingkey home@server.test
git init -q -b main tree
END
expect 0 "" in_desktop 'sh make-keys'
# grip NAME USAGE: the keygrip of the key for s (signatures) or e (encryption) of that address.
grip() {
  in_desktop "gpg --with-colons --with-keygrip -K $1@server.test" |
    awk -F : -v usage="$2" '/^(sec|ssb):/ { wanted = $12 ~ usage } /^grp:/ && wanted { print $10; exit }'
}
work_key=$(grip work e)

expect 0 "Wrote /home/alice/.gnupg/gpg-agent.conf" in_desktop 'whorl gpg enable'
expect 0 "yes, by /usr/bin/pinentry-whorl" in_desktop 'whorl gpg status'

# displayed NUMBER: whether this many notifications are on the display.
displayed() { [ "$(in_desktop 'dunstctl count displayed')" = "$1" ]; }
# said: the text of the last notification that was removed.
said() {
  in_desktop 'dunstctl history' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0][0]["body"]["data"])'
}
# pinentry_asks: whether a pinentry is on the display.
pinentry_asks() { pgrep -u alice -f '^(/usr/bin/)?pinentry-gtk-2' >/dev/null && in_desktop 'xdotool search --onlyvisible --class pinentry'; }
no_pinentry() { ! pgrep -u alice -f '^(/usr/bin/)?pinentry-gtk-2'; }
# keys ARGUMENT...: of xdotool.
keys() { in_desktop "xdotool $*"; }
# typed TEXT: types it into the pinentry on the display.
typed() {
  wait_for "the pinentry from before" pinentry_asks
  sleep 1
  keys "type --delay 60 '$1'"
  keys key Return
}
# kept YES-OR-NO: answers the question whether Whorl shall keep what was typed.
kept() {
  wait_for "the question whether to keep it" in_desktop 'xdotool search --onlyvisible --name "^Whorl$"'
  sleep 1
  if [ "$1" = yes ]; then keys key Tab && keys key Return; else keys key Escape; fi
}
# given TEXT NAME COMMAND: the command waits, a notification names the item NAME, and after the touch it ends with TEXT.
given() {
  begin "$3"
  wait_for "a notification" displayed 1
  [ ! -s /tmp/actual ] || fail "did not wait for the touch: $(cat /tmp/output)"
  press "$right"
  ended 0 "$1"
  wait_for "the end of the notification" displayed 0
  expect 0 "$2" said
  no_pinentry || fail "the pinentry from before asked as well"
}
open_work='gpg --quiet --decrypt work.gpg'
commit='cd tree; git commit -q -S --allow-empty -m change; git log --show-signature -1'

# Not kept, then kept; from then on a touch is enough. Each key has an item of its own.
begin "$open_work"
typed 'words of work'
kept no
ended 0 "contents of work"
expect 0 "" in_desktop 'whorl ls gpg'
[ -z "$output" ] || fail "kept without being wanted: $output"
begin "$open_work"
typed 'words of work'
kept yes
ended 0 "contents of work"
displayed 0 || fail "a notification for a passphrase that is not kept"
expect 0 "gpg/$work_key" in_desktop 'whorl ls gpg'
given "contents of work" "use “gpg/$work_key”, for: GnuPG: Alice work@server.test" "$open_work"
begin "$commit"
typed 'words of home'
kept yes
ended 0 "Good signature"
given "Good signature" "“gpg/$(grip home s)”, for: GnuPG: Alice home@server.test" "$commit"

# A passphrase that GnuPG finds wrong is given once. The right one, which alice types, takes its place without a question.
refill='whorl rm "gpg/$1" --yes; printf mistyped | whorl set "gpg/$1"'
expect 0 "" in_desktop "set -- $work_key; $refill"
begin "$open_work"
wait_for "a notification" displayed 1
press "$right"
typed 'words of work'
ended 0 "contents of work"
given "contents of work" "“gpg/$work_key”" "$open_work"
# Where she does not type it, the wrong one is forgotten.
expect 0 "" in_desktop "set -- $work_key; $refill"
begin "$open_work"
wait_for "a notification" displayed 1
press "$right"
wait_for "the pinentry from before" pinentry_asks
sleep 1
keys key Escape
ended 2 ""
case $output in *contents*) fail "decrypted without the passphrase" ;; esac
case $(in_desktop 'whorl ls gpg') in *"$work_key"*) fail "the wrong passphrase is kept" ;; esac
expect 0 "" in_desktop "printf 'words of work' | whorl set gpg/$work_key"

# Another finger: with the rule that a new passphrase has, the passcode takes its place. Where the rule wants a finger, the
# pinentry from before asks, and what is typed there is not offered to be kept. After five touches of another finger the
# fingers are locked out, and it asks at once.
presses_another() { # TIMES
  begin "$open_work"
  wait_for "a notification" displayed 1
  for _ in $(seq "$1"); do
    press left-index:9
    sleep 2
  done
}
passcode_typed() {
  wait_for "the question for the passcode" in_desktop 'xdotool search --onlyvisible --name "^Whorl$"'
  sleep 1
  keys "type --delay 60 '$passcode'"
  keys key Return
}
presses_another 3
passcode_typed
ended 0 "contents of work"
expect 0 "" in_desktop "whorl rm gpg/$work_key --yes; printf 'words of work' | whorl set gpg/$work_key --access any-finger"
presses_another 3
typed 'words of work'
ended 0 "contents of work"
presses_another 2
wait_for "the pinentry from before" pinentry_asks
keys key Escape
ended 2 ""
begin "$open_work"
typed 'words of work'
ended 0 "contents of work"
expect 0 "" in_desktop "whorl unlock --passcode-fd 3 3<passcode
  whorl rm gpg/$work_key --yes; printf 'words of work' | whorl set gpg/$work_key"

# Cancel, and a notification that is closed: GnuPG's command is cancelled, and nobody else asks.
for answer in context close; do
  echo Cancel >/home/alice/choice
  begin "$open_work"
  wait_for "a notification" displayed 1
  in_desktop "dunstctl $answer"
  ended 2 ""
  case $output in *contents*) fail "decrypted after $answer" ;; esac
  no_pinentry || fail "the pinentry from before asks after $answer"
done

# The passcode in place of the finger, and for a store that is closed.
echo Passcode >/home/alice/choice
begin "$open_work"
wait_for "a notification" displayed 1
in_desktop 'dunstctl context'
passcode_typed
ended 0 "contents of work"
expect 0 "" in_desktop 'whorl lock'
begin "$open_work"
passcode_typed
ended 0 "contents of work"
displayed 0 || fail "asked for a finger as well"

# pass, whose key is that for home: the passphrase of the key for encryption is not kept yet.
expect 0 "" in_desktop 'pass init home@server.test && echo mail-password | pass insert --echo mail/alice'
begin 'pass show mail/alice'
typed 'words of home'
kept yes
ended 0 "mail-password"
given "mail-password" "“gpg/$(grip home e)”" 'pass show mail/alice'

# A program of alice's that says to be GnuPG's agent is named, as is the item, and gets nothing without a touch. A touch gives
# that one passphrase.
cat >/home/alice/hostile <<'END'
for key; do printf 'SETKEYINFO n/%s\nSETDESC Unlock "a key of no worth"\nGETPIN\n' "$key"; done | pinentry-whorl
END
for refusal in close left-index:9; do
  begin "sh hostile $work_key"
  wait_for "a notification" displayed 1
  if [ "$refusal" = close ]; then in_desktop 'dunstctl close'; else press "$refusal"; fi
  [ "$refusal" = close ] || { sleep 2 && in_desktop 'dunstctl close'; }
  ended 0 "ERR 83886179"
  case $output in *"words of"*) fail "a passphrase without a touch: $output" ;; esac
  expect 0 "dash wants to use “gpg/$work_key”, for: GnuPG: a key of no worth" said
done
begin "sh hostile $work_key $(grip home s)"
wait_for "a notification" displayed 1
press "$right"
wait_for "the second notification" in_desktop '[ "$(dunstctl count displayed)" = 1 ] && dunstctl history | grep -q "gpg/'"$work_key"'"'
in_desktop 'dunstctl close'
ended 0 "D words of work"
case $output in *"words of home"*) fail "one touch gave two passphrases: $output" ;; esac

# A login over the network while alice is at the machine: the prompt is at the machine, and says where gpg runs.
mkdir -p /run/sshd
echo "127.0.0.1 localhost
127.0.0.7 server.test" >/etc/hosts
echo "ListenAddress 127.0.0.7" >/etc/ssh/sshd_config.d/story.conf
systemctl restart ssh
ssh-keygen -q -t ed25519 -N '' -f /root/key
in_desktop "mkdir -p -m 700 .ssh && echo '$(cat /root/key.pub)' >.ssh/authorized_keys"
remote="ssh -tt -q -i /root/key -o StrictHostKeyChecking=no alice@server.test"
$remote "$open_work" </dev/null >/tmp/remote 2>&1 &
asked=$!
wait_for "a notification" displayed 1
press "$right"
wait "$asked" || fail "over ssh: $(cat /tmp/remote)"
grep -q "contents of work" /tmp/remote || fail "not decrypted over ssh: $(cat /tmp/remote)"
expect 0 "(in a login over the network from 127.0.0." said

# Taken back: GnuPG's file is what it was, the pinentry from before asks, and the passphrases stay until they are removed.
expect 0 "GnuPG asks with /usr/bin/pinentry-gtk-2 again" in_desktop 'whorl gpg disable'
expect 0 "" in_desktop 'cmp .gnupg/gpg-agent.conf before.conf'
begin "$open_work"
typed 'words of work'
ended 0 "contents of work"
displayed 0 || fail "Whorl asks after it was disabled"
expect 0 "gpg/$work_key" in_desktop 'whorl ls gpg'

# Over ssh with nobody at the machine: the pinentry from before asks at gpg's terminal, and no prompt of Whorl's is there.
expect 0 "" in_desktop "sed -i 's,pinentry-gtk-2,pinentry-tty,' .gnupg/gpg-agent.conf; whorl gpg enable"
loginctl terminate-user alice
wait_for "the end of alice's session" sh -c "! systemctl is-active user@$(id -u alice).service"
expect 0 "contents of work" python3 /usr/share/whorl-tests/conversing.py "Passphrase:=>words of work" $remote "$open_work"
case $output in *Touch* | *Swipe*) fail "asked for a touch where nobody is: $output" ;; esac
exit 0
