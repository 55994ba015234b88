# Three machines of one person, and a repository on a server that they reach by ssh: the same secrets on each, after a touch
# there; concurrent changes, a machine that is offline with a wrong clock, a repository that was put back, a machine that is
# removed, and the loss of all. The story runs on the server, and reaches the others as root (see scripts/system-test).
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/machines.sh

stranger='right-index:2'

# reads SECRET MACHINE...: whether the item bank has that secret on each of the machines, after a touch there.
reads() {
  secret=$1
  shift
  for name; do expect 0 "$secret" touched "$name" "$right" 'whorl get bank'; done
}

# away, back MACHINE: cuts off the repository, and connects it again.
away() { on "$1" ip route add unreachable 10.99.0.100; }
back() { on "$1" ip route del unreachable 10.99.0.100; }

repository /usr/bin/git-shell
for machine in desk laptop tower; do begins "$machine"; done
# Three systems, each with a service of its own.
for machine in desk laptop tower; do on "$machine" cat /etc/machine-id; done | sort -u | wc -l | grep -qx 3 ||
  fail "they are not three systems"

# A circle, and two machines that join.
expect 0 "“desk”, is the first that shares" alice desk "whorl sync init $remote --passcode-fd 3 3<passcode"

# Other words are refused, and nobody is in before both have said yes.
joins laptop desk
expect 77 "has other words: $six" alice desk "whorl sync approve --words 'one two three four five six'"
joins laptop desk
expect 77 "$six" asked desk 'same words? [y/N]=>n' 'whorl sync approve'
expect 77 "$six" asked laptop 'the same? [y/N]=>n' 'whorl sync confirm'
expect 0 "waiting for approval" alice laptop 'whorl sync'
expect 0 "$six" asked laptop 'the same? [y/N]=>y' 'whorl sync confirm'
expect 0 "“laptop” shares your secrets now" asked desk 'same words? [y/N]=>y' 'whorl sync approve'
now laptop
expect 0 "laptop (this one)" alice laptop 'whorl sync'
# The second one approves the third one, which the first one is told of by name.
joins tower laptop --no-timer
expect 0 "" asked tower 'the same? [y/N]=>y' 'whorl sync confirm'
expect 0 "“tower” shares your secrets now" asked laptop 'same words? [y/N]=>y' 'whorl sync approve'
now tower
expect 0 "desk" alice tower 'whorl sync'
expect 0 "“laptop” has let “tower” in" alice desk 'whorl sync now'
expect 0 "has let “tower” in" asked desk 'Was it you? [y/N]=>y' 'whorl sync confirm'

# Without a command: the unit on the desk publishes what was stored there, and the laptop fetches it at the next login.
expect 0 "" alice desk 'printf gold | whorl set bank --sync && printf mine | whorl set diary
  printf silver | whorl set note --sync --access none; sleep 8'
has_note() { alice laptop 'sleep 2; whorl get note' | grep -qx silver; }
wait_for "the note on the laptop" has_note
for machine in desk laptop; do
  expect 0 "" alice "$machine" 'systemctl --user disable --now whorl-sync.timer whorl-sync.service'
done
# From here on only the command syncs.
now tower

# The secret is there after a touch, and not without one.
for machine in laptop tower; do
  expect 77 "" alice "$machine" 'whorl get bank --no-prompt'
  expect 77 "" touched "$machine" "$stranger $stranger $stranger" 'whorl get bank'
  expect 77 "no finger is asked for" on "$machine" elsewhere alice 'whorl get bank'
  expect 66 "" alice "$machine" 'whorl get diary'
done
reads gold desk laptop tower
# One that is bound to the fingers of the desk waits for a touch.
expect 0 "" alice desk 'printf platinum | whorl set deed --sync --access current-set'
now desk laptop
expect 0 "Waiting for a touch on this machine before use: “deed”" alice laptop 'whorl sync'
expect 0 "" touched laptop "$right" 'whorl sync resolve deed'
expect 0 platinum touched laptop "$right" 'whorl get deed'
# The repository shows no name and no secret.
! git -c safe.directory='*' -C /home/git/secrets.git log -p --all --text | grep -qE 'bank|note|gold|silver|desk|laptop' ||
  fail "the repository has a word in clear"

# Both change it concurrently: neither version is lost.
for machine in desk laptop; do
  away "$machine"
  expect 0 "" touched "$machine" "$right" "printf 'gold of the $machine' | whorl set bank --replace"
  expect 0 "" alice "$machine" "printf 'silver of the $machine' | whorl set note --replace --access none"
  expect 0 "" alice "$machine" "printf 'only here until now' | whorl set 'new on the $machine' --sync --access none"
  expect 69 "cannot be reached" alice "$machine" 'whorl sync now'
  back "$machine"
done
now desk laptop desk tower
for machine in desk laptop tower; do
  expect 0 "kept" alice "$machine" 'whorl sync status'
  case $output in *"Changed on two machines at once; both versions are kept: "*"“bank”"*) ;; *) fail "$output" ;; esac
  for other in desk laptop; do expect 0 "only here" alice "$machine" "whorl get 'new on the $other'"; done
done
expect 0 "gold of the" touched desk "$right" 'whorl get bank'
current=$output
case $current in *desk*) other="gold of the laptop" ;; *) other="gold of the desk" ;; esac
reads "$(echo "$current" | grep -o 'gold of the [a-z]*')" laptop tower
expect 77 "" touched tower "$stranger $stranger $stranger" 'whorl sync resolve bank --use'
expect 0 "" touched tower "$right" 'whorl sync resolve bank --use'
now desk laptop
reads "$other" desk laptop tower
expect 0 "silver of the" alice laptop 'whorl get note'
note=$output
expect 0 "" alice laptop 'whorl sync resolve note --drop'
now tower desk
for machine in desk laptop tower; do
  expect 0 "unpublished" alice "$machine" 'whorl sync status'
  case $output in *kept*) fail "still kept: $output" ;; esac
  expect 0 "$note" alice "$machine" 'whorl get note'
done
reads "$other" desk laptop tower

# The tower is offline for a while, with a clock that is 400 days ahead (wrong-clock.c).
away tower
on tower sh -c 'echo /usr/lib/wrong-clock.so >/etc/ld.so.preload
  systemctl stop "user@$(id -u alice).service"
  systemctl restart whorld.service'
wrong=$(alice tower 'date +%s')
[ "$((wrong - $(date +%s)))" -gt 34000000 ] || fail "the tower's clock is right"
expect 0 "wrong-clock.so" on tower sh -c 'cat "/proc/$(pgrep -xo whorld)/maps"'
expect 0 "" alice tower 'whorl unlock --passcode-fd 3 3<passcode'
expect 0 "" alice tower 'printf "silver of the tower" | whorl set note --replace --access none'
expect 0 "" alice tower 'printf tin | whorl set "from the future" --sync --access none'
expect 69 "cannot be reached" alice tower 'whorl sync now'
expect 0 "" touched desk "$right" "printf 'gold of today' | whorl set bank --replace"
expect 0 "" alice desk 'whorl rm "new on the laptop" --yes'
away laptop
now desk
back tower
now tower desk
reads "gold of today" tower desk
expect 0 "silver of the tower" alice desk 'whorl get note'
expect 0 tin alice desk 'whorl get "from the future"'
expect 66 "" alice tower 'whorl get "new on the laptop"'
# A later change counts, whatever the clocks say, and a removed item stays removed on a machine that syncs last.
expect 0 "" alice desk 'printf "silver of today" | whorl set note --replace --access none'
now desk tower
back laptop
now laptop tower desk
for machine in desk laptop tower; do
  expect 0 "silver of today" alice "$machine" 'whorl get note'
  expect 66 "" alice "$machine" 'whorl get "new on the laptop"'
  expect 0 "unpublished" alice "$machine" 'whorl sync status'
  case $output in *kept*) fail "kept: $output" ;; esac
done
on tower sh -c 'rm /etc/ld.so.preload
  systemctl stop "user@$(id -u alice).service"
  systemctl restart whorld.service'
[ "$(alice tower 'date +%s')" -lt "$wrong" ] || fail "the tower's clock is still wrong"
expect 0 "" alice tower 'whorl unlock --passcode-fd 3 3<passcode'
now tower

# The server restores an old backup: each machine says so, and continues to work.
cp -a /home/git/secrets.git /home/git/backup.git
expect 0 "" touched desk "$right" "printf 'gold of the evening' | whorl set bank --replace"
now desk laptop tower
rm -rf /home/git/secrets.git
mv /home/git/backup.git /home/git/secrets.git
for machine in desk laptop tower; do
  expect 65 "has lost records that this machine has seen" alice "$machine" 'whorl sync now'
  expect 0 "lost" alice "$machine" 'whorl sync status'
  reads "gold of the evening" "$machine"
done
expect 0 "" alice desk 'whorl sync now --put-back'
now laptop tower desk
expect 0 "Nothing to do" alice laptop 'whorl sync now'
reads "gold of the evening" desk laptop tower

# The tower was sold without being wiped.
expect 0 "receives no more changes" asked desk 'no more changes. [y/N]=>y' 'whorl sync remove tower'
case $output in *bank*note* | *note*bank*) ;; *) fail "the secrets to change are not named: $output" ;; esac
expect 0 "" alice desk 'printf copper | whorl set "after the tower" --sync --access none'
expect 0 "" touched desk "$right" "printf 'gold after the tower' | whorl set bank --replace"
now desk laptop
expect 77 "another of your computers has removed this one" alice tower 'whorl sync now; whorl sync now'
expect 66 "" alice tower 'whorl get "after the tower"'
reads "gold of the evening" tower
expect 0 "removed by another of your computers" alice tower 'whorl sync'
reads "gold after the tower" desk laptop
expect 0 "“desk” has removed “tower”" asked laptop 'Was it you? [y/N]=>y' 'whorl sync confirm'
# Its key still reaches the server: what it puts back there is noticed, and not followed.
expect 0 "" alice tower 'git clone -q --branch main secrets:secrets.git copy && cd copy &&
  git checkout -q HEAD~3 -- heads items &&
  git -c user.name=tower -c user.email=tower@example.com commit -qm back && git push -q'
expect 65 "has lost records that this machine has seen" alice desk 'whorl sync now'
reads "gold after the tower" desk
expect 0 "" alice desk 'whorl sync now --put-back'
now laptop desk
reads "gold after the tower" desk laptop
expect 66 "" alice tower 'whorl get "after the tower"'

# All machines are lost; a new one recovers the items with the repository and the desk's recovery key.
paper=$(on desk cat /home/alice/recovery)
for machine in desk tower; do
  # The connection may end first.
  on "$machine" systemctl --no-block poweroff || :
  ssh -O exit -o "ControlPath=/run/control-$machine" "$machine" 2>/dev/null || :
done
begins new
expect 77 "" alice new "whorl sync recover $remote --no-timer --passcode-fd 3 --lost-key-fd 4 3<passcode 4<recovery"
expect 0 "came back. This machine, “new”, is the only one" asked new "lost store:=>$paper
Passcode:=>the passcode of new" "whorl sync recover $remote"
expect 0 copper alice new 'whorl get "after the tower"'
expect 77 "" alice new 'whorl get bank --no-prompt'
reads "gold after the tower" new
expect 66 "" alice new 'whorl get diary'
expect 0 "Waiting for a touch on this machine before use: “deed”" alice new 'whorl sync'
expect 0 "" touched new "$right" 'whorl sync resolve deed'
expect 0 platinum touched new "$right" 'whorl get deed'
# The lost laptop gets nothing new: it accepts no members that it does not know.
expect 0 "" alice new 'printf iron | whorl set "after all" --sync --access none; whorl sync now'
expect 65 "has lost records that this machine has seen" alice laptop 'whorl sync now'
expect 66 "" alice laptop 'whorl get "after all"'
