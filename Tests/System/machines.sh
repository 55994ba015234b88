# shellcheck shell=sh
# Common functions of the stories with several machines, after common.sh: the story runs on the server, which has the
# repository, and reaches the others as root (see scripts/system-test).

sensor=/run/service-reader/socket
right='right-index:1'
remote=secrets:secrets.git

# on MACHINE COMMAND...: a command, or a function of common.sh, as root on another machine.
on() {
  place=$1
  shift
  words=
  for word; do words="$words '$(printf '%s' "$word" | sed "s/'/'\\\\''/g")'"; done
  ssh -n -o ControlMaster=auto -o ControlPath=/run/control-%h -o ControlPersist=yes "$place" \
    ". /usr/share/whorl-tests/common.sh; sensor=$sensor; $words"
}

# alice MACHINE COMMAND: at her seat there.
alice() { on "$1" at_seat alice "$2"; }

# touched MACHINE FINGERS COMMAND: the same, with a finger for each touch.
touched() { on "$1" touching "$2" at_seat alice "$3"; }

# asked MACHINE ANSWERS COMMAND: the same at a terminal, where questions are answered (conversing.py).
asked() {
  on "$1" env FINGER="$right" SENSOR="$sensor" python3 /usr/share/whorl-tests/conversing.py "$2" \
    sh -c ". /usr/share/whorl-tests/common.sh; at_seat alice \"script -qec '$3' /dev/null\""
}

# now MACHINE...: runs `whorl sync now` on one after the other.
now() { for name; do expect 0 "" alice "$name" 'whorl sync now'; done; }

# repository SHELL: an empty one of the user git, which the machines reach with the keys of `begins`.
repository() {
  useradd --create-home --shell "$1" git
  install -d -m 700 -o git -g git /home/git/.ssh
  install -m 600 -o git -g git /dev/null /home/git/.ssh/authorized_keys
  runuser -u git -- git init --quiet --bare /home/git/secrets.git
  ip address add 10.99.0.100/24 dev host0
}

# begins MACHINE [OPTIONS]: Whorl is installed, alice has a store and a finger there, and a key that reaches the repository,
# which has these options on the server.
begins() {
  on "$1" user alice
  on "$1" sh -c "mkdir -p /etc/whorl/whorld.conf.d /etc/systemd/system/whorld.service.d
    echo 'reader = virtual-image:$sensor' >/etc/whorl/whorld.conf.d/virtual.conf
    printf '[Service]\nRuntimeDirectory=service-reader\nRuntimeDirectoryPreserve=yes\n' \
      >/etc/systemd/system/whorld.service.d/virtual.conf
    echo '10.99.0.100 git.test' >>/etc/hosts
    install -m 755 /usr/src/whorl/bin/whorl-finger /usr/bin/"
  expect 0 "/etc/whorl/system" on "$1" \
    env SYSTEM=1 PREFIX=/usr BIN=/usr/src/whorl/bin /usr/src/whorl/scripts/install
  on "$1" own_password_is_typed
  alice "$1" "umask 077; echo 'the passcode of $1' >passcode"
  expect 0 "" alice "$1" 'whorl init --passcode-fd 3 --recovery-fd 4 3<passcode 4>recovery'
  expect 0 "is enrolled" touched "$1" "$right $right $right $right $right $right $right $right" \
    'whorl enroll right-index --passcode-fd 3 3<passcode'
  # As docs/sync.md says.
  alice "$1" 'mkdir -m 700 .ssh; ssh-keygen -q -t ed25519 -N "" -f .ssh/secrets
    printf "Host secrets\nHostName git.test\nUser git\nIdentityFile ~/.ssh/secrets\nIdentitiesOnly yes\nIdentityAgent none\n" \
      >.ssh/config'
  key=$(on "$1" cat /home/alice/.ssh/secrets.pub)
  echo "${2:+$2 }$key" >>/home/git/.ssh/authorized_keys
}

# shows_words MACHINE: whether it has the six words, once it has synced.
shows_words() { alice "$1" 'whorl sync now; whorl sync; sleep 1' 2>&1 | grep -q '^words'; }

# joins MACHINE BY OPTION...: MACHINE asks, BY answers it, and both show the same six words, which are in $six then.
joins() {
  asking=$1
  member=$2
  shift 2
  expect 0 "Now run 'whorl sync approve'" alice "$asking" "whorl sync join $remote --no-wait $* --passcode-fd 3 3<passcode"
  # Without a terminal it shows the words and ends.
  alice "$member" 'whorl sync approve </dev/null' >/tmp/approving 2>&1 &
  wait_for "the words on $asking" shows_words "$asking"
  wait "$!" && fail "approved without a person"
  grep -q "nobody can be asked" /tmp/approving || fail "$(cat /tmp/approving)"
  six=$(sed -n 's/^  \([a-z]* [a-z]* [a-z]* [a-z]* [a-z]* [a-z]*\)$/\1/p' /tmp/approving)
  [ -n "$six" ] || fail "no six words: $(cat /tmp/approving)"
  expect 0 "$six" alice "$asking" 'whorl sync'
}
