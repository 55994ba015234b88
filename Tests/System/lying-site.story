# A hosting site that lies to three machines of one person: it serves another circle, an older state, a branch of it, and two
# at once; and a machine that lies. Each lie is told, and nothing is encrypted to anybody whom no person has confirmed. The
# site reads with age whatever the recovery keys of those open that it has on its side.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/machines.sh

lost="has lost records that this machine has seen"
forked="There are two different lists of your computers"

# serves STATE MACHINE...: what the site has for these machines from now on: a repository in the home of git.
serves() {
  state=$1
  shift
  for name; do echo "$state.git" >"/home/git/for-$name"; done
}

# keeps STATE: the site keeps a copy of its repository.
keeps() { cp -a /home/git/secrets.git "/home/git/$1.git"; }

# tip STATE: the newest commit there, which changes with every publication.
tip() { git -C "/home/git/$1.git" rev-parse main; }

# shares MACHINE SECRET: it stores a new item without a rule, and shares it.
shares() { expect 0 "" alice "$1" "printf '$2' | whorl set '$2' --sync --access none"; }

# silent STATE MACHINE [STATUS TEXT]: the machine publishes nothing there, neither by itself nor if it is told to put things
# back, and says why.
silent() {
  before=$(tip "$1")
  expect "${3:-65}" "${4:-$lost}" alice "$2" 'whorl sync now'
  [ "$(tip "$1")" = "$before" ] || fail "$2 has published something in $1"
}

# knows MACHINE STATE: for sight, what the recovery key of that machine's store opens, which is in the circle of STATE.
knows() {
  install -d -m 700 /root/keys
  rm -rf /srv/known
  git clone -q --branch main "/home/git/$2.git" /srv/known
  tar -C /srv/known -c circle | ssh "$1" 'rm -rf /home/alice/known; mkdir /home/alice/known; tar -x -C /home/alice/known;
    chown -R alice /home/alice/known'
  (umask 077 && alice "$1" 'whorl sync identity known --recovery-fd 3 3<recovery' >"/root/keys/$1")
}

# sight MACHINE: all that the machine reads in whatever was ever sent to the site: the lines about items, and the secrets.
sight() {
  opens() { age --decrypt --identity "/root/keys/$1" "$2" 2>/dev/null; }
  for place in /home/git/*.git; do
    git -C "$place" cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' |
      sed -n "s|^blob \\(.*\\)|\\1 $place|p"
  done | sort -u -k 1,1 | while read -r name place; do
    git -C "$place" cat-file blob "$name" >/tmp/file
    head -n 1 /tmp/file | grep -qax age-encryption.org/v1 || continue
    opens "$1" /tmp/file >/tmp/record || continue
    head -n 1 /tmp/record
    tail -n +3 /tmp/record >/tmp/secret
    # Behind 32 random bytes.
    opens "$1" /tmp/secret | tail -c +33
    echo
  done
}

# reads, cannot_read MACHINE SECRET...: whether it reads these secrets there.
reads() {
  who=$1
  shift
  sight "$who" >/tmp/sight
  for secret; do grep -aq "$secret" /tmp/sight || fail "$who does not read '$secret'"; done
}
cannot_read() {
  who=$1
  shift
  sight "$who" >/tmp/sight
  for secret; do ! grep -aq "$secret" /tmp/sight || fail "$who reads '$secret'"; done
}

# anew: the machines and the site go back to where the three machines share, for the next lie.
anew() {
  for name in desk laptop tower; do
    on "$name" sh -c 'systemctl stop whorld.socket whorld.service
      rm -rf /var/lib/whorl/* /home/alice/.local/share/whorl
      cp -a /root/store/. /var/lib/whorl/
      cp -a /root/copy /home/alice/.local/share/whorl
      systemctl start whorld.socket'
    expect 0 "" alice "$name" 'whorl unlock --passcode-fd 3 3<passcode'
  done
  rm -rf /home/git/*.git
  cp -a /srv/kept/*.git /home/git/
  serves secrets desk laptop tower thief
}

# The site: git's side of a connection of each machine works on the repository that it has for that one.
cat >/usr/local/bin/site <<'SITE'
#!/bin/sh
place=/home/git/$(cat "/home/git/for-$1")
case $SSH_ORIGINAL_COMMAND in
  git-upload-pack*) exec git upload-pack "$place" ;;
  git-receive-pack*) exec git receive-pack "$place" ;;
esac
exit 1
SITE
chmod 755 /usr/local/bin/site
repository /bin/sh
git config --system --add safe.directory '*'
for machine in desk laptop tower thief; do begins "$machine" "restrict,command=\"/usr/local/bin/site $machine\""; done

# The site has a machine of its own, which shares with nobody.
runuser -u git -- git init --quiet --bare /home/git/theirs.git
serves theirs thief
expect 0 "is the first that shares" alice thief "whorl sync init $remote --name desk --no-timer --passcode-fd 3 3<passcode"
expect 0 "" alice thief 'printf iron | whorl set bait --sync --access none'
now thief
knows thief theirs
reads thief bait iron

# Another circle, for a machine that joins: the desk's person sees no words, and the tower's says no.
serves secrets desk laptop
expect 0 "is the first that shares" alice desk "whorl sync init $remote --no-timer --passcode-fd 3 3<passcode"
serves theirs tower
expect 0 "" alice tower 'printf "only the tower" | whorl set "own secret" --sync --access none'
joins tower thief --no-timer
expect 66 "no computer is waiting to join" alice desk 'whorl sync approve'
expect 77 "nothing is shared" asked tower 'the same? [y/N]=>n' 'whorl sync confirm'
expect 0 "waiting for approval" alice tower 'whorl sync now; whorl sync'
expect 66 "" alice tower 'whorl get bait'
cannot_read thief "own secret" "only the tower" tower
! git -C /home/git/theirs.git ls-tree -r --name-only main | grep -q consents/ ||
  fail "the tower has told its name"
expect 0 "" alice tower 'whorl rm "own secret" --yes'

# The three machines share.
serves secrets tower
for machine in laptop tower; do
  joins "$machine" desk --no-timer
  expect 0 "" asked "$machine" 'the same? [y/N]=>y' 'whorl sync confirm'
  expect 0 "“$machine” shares your secrets now" asked desk 'same words? [y/N]=>y' 'whorl sync approve'
  now "$machine"
done
expect 0 "“desk” has let “tower” in" alice laptop 'whorl sync now'
expect 0 "" asked laptop 'Was it you? [y/N]=>y' 'whorl sync confirm'
shares desk silver
now desk laptop tower
knows tower secrets
for machine in desk laptop tower; do
  expect 0 silver alice "$machine" 'whorl get silver'
  on "$machine" sh -c 'systemctl stop whorld.socket whorld.service
    cp -a /var/lib/whorl /root/store
    cp -a /home/alice/.local/share/whorl /root/copy'
done
mkdir /srv/kept
cp -a /home/git/*.git /srv/kept/
reads tower silver
cannot_read thief silver

# Another circle, for machines that share: each says so, and takes and publishes nothing.
anew
serves theirs desk laptop tower
for machine in desk laptop tower; do
  shares "$machine" "gold of the $machine"
  silent theirs "$machine"
  expect 66 "" alice "$machine" 'whorl get bait'
done
# Put back there, what they share is still for them alone.
alice desk 'whorl sync now --put-back' >/tmp/put-back 2>&1 || :
alice thief 'whorl sync now' >/tmp/taken 2>&1 || :
[ "$(tip theirs)" != "$(git -C /srv/kept/theirs.git rev-parse main)" ] || fail "$(cat /tmp/put-back)"
cannot_read thief gold silver
expect 66 "" alice thief 'whorl get "gold of the desk"'
# The right repository again, with all that was stored meanwhile.
serves secrets desk laptop tower
for machine in desk laptop tower; do alice "$machine" 'whorl sync now --put-back' >/dev/null 2>&1 || :; done
now desk laptop tower
for machine in desk laptop tower; do expect 0 gold alice "$machine" 'whorl get "gold of the tower"'; done

# An older state, in which a machine that was removed is one of them still.
anew
keeps older
expect 0 "receives no more changes" alice desk 'whorl sync remove tower --yes --passcode-fd 3 3<passcode'
expect 0 "“desk” has removed “tower”" alice laptop 'whorl sync now'
expect 0 "" asked laptop 'Was it you? [y/N]=>y' 'whorl sync confirm'
serves older desk laptop tower
now tower
for machine in desk laptop; do
  shares "$machine" "gold of the $machine"
  silent older "$machine"
  expect 0 "lost" alice "$machine" 'whorl sync'
done
expect 0 "" alice desk 'whorl sync now --put-back'
expect 0 "" alice laptop 'whorl sync now --put-back'
now desk
expect 0 gold alice desk 'whorl get "gold of the laptop"'
expect 0 gold alice laptop 'whorl get "gold of the desk"'
alice tower 'whorl sync now' >/dev/null 2>&1 || :
expect 0 "removed by another of your computers" alice tower 'whorl sync'
expect 66 "" alice tower 'whorl get "gold of the desk"'
cannot_read tower gold
cannot_read thief gold silver

# A branch: the machine that was removed goes on from before that, and removes the one that removed it. A machine that slept
# sees the branch alone.
anew
keeps branch
expect 0 "receives no more changes" alice desk 'whorl sync remove tower --yes --passcode-fd 3 3<passcode'
serves branch tower laptop
expect 0 "receives no more changes" alice tower 'whorl sync remove desk --yes --passcode-fd 3 3<passcode'
shares laptop "gold of the laptop"
silent branch laptop 0 "“tower” has removed “desk”"
silent branch laptop 0 "nothing of this computer is published"
expect 77 "it was not confirmed" asked laptop 'Was it you? [y/N]=>n' 'whorl sync confirm'
serves branch desk
shares desk "gold of the desk"
silent branch desk 65 "$forked"
before=$(tip branch)
alice desk 'whorl sync now --put-back' >/dev/null 2>&1 || :
[ "$(tip branch)" = "$before" ] || fail "the desk has published something"
now tower
cannot_read tower gold
cannot_read thief gold silver
expect 0 "Change these secrets" alice laptop 'whorl sync confirm --reject'
case $output in *silver*) ;; *) fail "the secrets to change are not named: $output" ;; esac
silent branch laptop 0 "so this one shares nothing"

# Two states at once: the desk's person removes the tower, and, since the laptop does not hear of it, the laptop's too. Each
# list is shown to one of them alone.
anew
keeps to-desk
keeps to-laptop
serves to-desk desk
serves to-laptop laptop
for machine in desk laptop; do
  expect 0 "receives no more changes" alice "$machine" 'whorl sync remove tower --yes --passcode-fd 3 3<passcode'
done
# The tower gets the desk's head, which names the desk's list, and not that list.
runuser -u git -- sh -c 'cd /home/git/secrets.git && export GIT_INDEX_FILE=/home/git/index &&
  git fetch -q /home/git/to-desk.git main && git read-tree main &&
  git ls-tree -r FETCH_HEAD heads | git update-index --index-info &&
  git -c user.name=site -c user.email=site@example.com commit-tree -p main -m mixed "$(git write-tree)" >/home/git/mixed &&
  git update-ref refs/heads/main "$(cat /home/git/mixed)"'
expect 0 "has files that do not fit together" alice tower 'whorl sync now'
# Each of the others sees what was shown to the other one.
serves to-laptop desk
serves to-desk laptop
for machine in desk laptop; do
  case $machine in desk) state=to-laptop ;; *) state=to-desk ;; esac
  shares "$machine" "gold of the $machine"
  silent "$state" "$machine" 65 "$forked"
  before=$(tip "$state")
  alice "$machine" 'whorl sync now --put-back' >/dev/null 2>&1 || :
  [ "$(tip "$state")" = "$before" ] || fail "the $machine has published something"
done
cannot_read tower gold
cannot_read thief gold silver

# A machine that lies: it lets the thief's in under the name of another one, and removes a third.
anew
expect 0 "" alice thief 'whorl sync leave --this-computer --yes --passcode-fd 3 3<passcode'
joins thief tower --name desk --no-timer
expect 0 "" asked thief 'the same? [y/N]=>y' 'whorl sync confirm'
expect 0 "“desk (2)” shares your secrets now" asked tower 'same words? [y/N]=>y
old entry goes. [y/N]=>n' 'whorl sync approve'
expect 0 "receives no more changes" alice tower 'whorl sync remove laptop --yes --passcode-fd 3 3<passcode'
now thief
# What the machine itself reads, it can pass on.
expect 0 silver alice thief 'whorl get silver'
shares desk "gold of the desk"
silent secrets desk 0 "“tower” has let “desk (2)” in"
silent secrets desk 0 "“tower” has removed “laptop”"
shares laptop "gold of the laptop"
expect 77 "another of your computers has removed this one" alice laptop 'whorl sync now; whorl sync now'
cannot_read thief gold
expect 77 "it was not confirmed" asked desk 'Was it you? [y/N]=>n' 'whorl sync confirm'
expect 0 "Change these secrets" alice desk 'whorl sync confirm --reject'
silent secrets desk 0 "so this one shares nothing"
now thief
for secret in desk laptop; do expect 66 "" alice thief "whorl get 'gold of the $secret'"; done
cannot_read thief gold
