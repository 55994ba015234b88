# shellcheck shell=sh
# Common functions of the stories, which run on the host, as root; `inside`, and functions that use it, run commands in the
# guest. Functions with names from Tests/System do the same here.
set -eu
: "${here:?}" "${state:?}" "${begun:?}"
readers=
pid=
press=
trap 'for pid in $readers; do kill "$pid" 2>/dev/null || :; done' EXIT
trap 'exit 77' HUP INT TERM

fail() {
  echo "  FAILED: $*" >&2
  exit 1
}

# machine ORDER...: sends an order to the virtual machine; vm.py lists them.
machine() { "$here/vm.py" "$state" "$@"; }

# inside COMMAND...: runs a command in the guest, as root.
inside() { machine run "$@"; }

# at_seat NAME COMMAND: runs a shell command in an active session of that user at the machine's own seat.
at_seat() {
  # On a seat with virtual terminals, a session is on one of them.
  elsewhere "$1" "$2" -p "Environment=XDG_SEAT=seat0 XDG_VTNR=1"
}

# elsewhere NAME COMMAND: the same in a session that has no seat.
elsewhere() {
  user=$1
  command=$2
  shift 2
  inside systemd-run --quiet --pipe --wait --collect -p PAMName=login -p "User=$user" -p "WorkingDirectory=/home/$user" \
    -p "Environment=XDG_SESSION_CLASS=user XDG_SESSION_TYPE=tty" "$@" sh -c "$command"
}

# expect STATUS TEXT COMMAND...: runs a command. Its status must be STATUS, and its output must contain TEXT.
expect() {
  expected=$1
  text=$2
  shift 2
  actual=0
  output=$("$@" 2>&1) || actual=$?
  [ "$actual" = "$expected" ] || fail "status $actual instead of $expected for '$*': $output"
  case $output in *"$text"*) ;; *) fail "no '$text' in: $output" ;; esac
  echo "  $expected: $(echo "$*" | tr '\n' ' ' | cut -c 1-110)"
}

# wait_for WHAT COMMAND...: until the command succeeds; fails after half a minute.
wait_for() {
  what=$1
  shift
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || fail "$what: not within half a minute"
    sleep 0.2
  done
}

# rests NAME...: checks that these programs run in the guest and do not wake for half a minute.
rests() {
  for name; do inside pgrep -x "$name" >/dev/null || fail "$name does not run"; done
  for _ in 1 2 3 4; do
    before=$(waits_of "$@")
    inside sleep 30
    [ "$(waits_of "$@")" != "$before" ] || { echo "  at rest for 30 s: $*" && return; }
  done
  fail "one of $* wakes again and again: $before, then $(waits_of "$@")"
}
# waits_of NAME...: how often each thread of these programs has waited so far.
# shellcheck disable=SC2016 # the guest's shell fills in
waits_of() {
  inside sh -c 'for name; do for process in $(pgrep -x "$name"); do
    awk -v name="$name" "/^Pid|^voluntary/ { printf \"%s \", \$2 } /^nonvol/ { print name }" "/proc/$process"/task/*/status
  done; done' sh "$@"
}

# beside COMMAND...: runs a command in the background. `finished` waits for it and leaves its output and status in $outcome.
beside() {
  {
    status=0
    "$@" 2>&1 || status=$?
    echo "status $status"
  } >"$state/beside" &
  beside=$!
}
finished() {
  wait "$beside" || :
  outcome=$(cat "$state/beside")
}
# ended STATUS TEXT: the command in the background must end with that status, and its output must contain the text.
ended() {
  finished
  case $outcome in *"status $1") ;; *) fail "not status $1: $outcome" ;; esac
  case $outcome in *"$2"*) ;; *) fail "no '$2' in: $outcome" ;; esac
  echo "  $1: beside: $(echo "$outcome" | head -n 1 | cut -c 1-100)"
}

# now: the time in seconds.
now() { date +%s.%N; }
# since MOMENT: the seconds since MOMENT, with one decimal.
since() { echo "$(now) $1" | awk '{ printf "%.1f", $1 - $2 }'; }
# within SECONDS MOMENT WHAT: fails if MOMENT is more than SECONDS ago.
within() {
  took=$(since "$2")
  echo "$took $1" | awk '{ exit !($1 <= $2) }' || fail "$3 took $took s, more than $1 s"
  echo "  $took s: $3"
}

# person NAME: makes a user with two passcodes in files. Polkit rules replace the desktop's polkit agent: users at the seat may
# enrol, and org.whorl.own is allowed as if the password was typed. The systemd user manager always runs, as for a user who is
# logged in.
person() {
  # shellcheck disable=SC2016 # the guest's shell fills in
  machine run -i "$rules" sh -c 'id "$1" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$1"
    cat >/etc/polkit-1/rules.d/10-story.rules && systemctl restart polkit && loginctl enable-linger "$1"
    cd "/home/$1" && umask 077 && echo "open sesame, please" >passcode && echo "sesame, open again" >next &&
    chown "$1:" passcode next' sh "$1"
}
rules='polkit.addRule(function (action, subject) {
  if (action.id == "net.reactivated.fprint.device.enroll" && subject.active && subject.local && subject.seat)
    return polkit.Result.YES;
  if (action.id == "org.whorl.own") return polkit.Result.YES;
});'

# begins SNAPSHOT: loads a snapshot of begin.sh: `installed`, `alice` (who has a store and no finger yet) or `enrolled` (with
# her right index finger on the reader `own`, which is plugged in then).
begins() {
  machine load "$1"
  if [ "$1" = enrolled ]; then
    cp "$begun/chip" "$state/chip"
    # shellcheck disable=SC2119 # no option
    own
    plug own
  fi
}
# own [OPTION...]: starts alice's reader.
# shellcheck disable=SC2120 # the stories have options
own() { reader own match-on-chip --serial c0ffee000001 --chip "$state/chip" "$@"; }

# reader NAME KIND [OPTION...]: a reader in software, which is not plugged in yet; usb-reader/reader lists the kinds.
reader() {
  name=$1
  shift
  rm -f "$state/$name.log"
  "$here/usb-reader/reader" "$@" --usb-redir "$state/$name.usb" --orders "$state/$name.orders" >"$state/$name.log" 2>&1 &
  readers="$readers $!"
  wait_for "the reader $name did not start" grep -q ready "$state/$name.log"
}
# tell NAME ORDER...: sends an order to that reader.
tell() {
  name=$1
  shift
  "$here/usb-reader/reader" tell "$state/$name.orders" "$@"
}
plug() { machine plug "$@"; }
unplug() { machine unplug "$1"; }
# seen SERIAL: waits until the kernel and udev know the reader, and sets $usb to its device in /sys.
seen() {
  wait_for "the kernel does not see the reader" inside sh -c "grep -l '$1' /sys/bus/usb/devices/*/serial && udevadm settle"
  # shellcheck disable=SC2034 # the stories look at it
  usb=$(inside sh -c "dirname \$(grep -l '$1' /sys/bus/usb/devices/*/serial)")
}

# pressing FINGER: presses it on the reader `own` in the background, as soon as a scan wants one. `pressed` ends this,
# and sets $touch to the result.
pressing() {
  "$here/usb-reader/reader" tell "$state/own.orders" press "$1" 600 >"$state/touch" &
  press=$!
}
pressed() {
  kill "$press" 2>/dev/null || :
  wait "$press" 2>/dev/null || :
  # shellcheck disable=SC2034 # the stories look at it
  touch=$(cat "$state/touch")
}

# touching FINGERS COMMAND...: runs a command, and presses the next of FINGERS on the reader `own` each time it wants one.
touching() {
  fingers=$1
  shift
  {
    trap 'kill "$press"; exit' TERM
    for finger in $fingers; do
      pressing "$finger"
      wait "$press" || :
    done
  } &
  touches=$!
  status=0
  "$@" || status=$?
  kill "$touches" 2>/dev/null || :
  wait "$touches" 2>/dev/null || :
  return "$status"
}
