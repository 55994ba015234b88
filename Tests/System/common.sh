# shellcheck shell=sh
# The stories' common functions. They run as root in the booted system.
set -eu

# fprintd drives libfprint's virtual image reader, which synthetic fingers press through this socket.
sensor=/run/virtual-reader/socket

fail() {
  echo "  FAILED: $*" >&2
  exit 1
}

# skip WHY: ends a story that cannot be told here. It counts as skipped, not as passed.
skip() {
  echo "  skipped: $*"
  echo "$*" >/var/lib/whorl-skipped
  exit 0
}

# skip_part WHY: the same for a part of a story, which goes on after it.
skip_part() {
  echo "  skipped: $*"
  echo "$*" >/var/lib/whorl-skipped-part
}

# user NAME: makes the user if it does not exist.
user() { id "$1" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$1"; }

# at_seat NAME COMMAND: runs a shell command in an active session of that user at the machine's own seat.
at_seat() {
  elsewhere "$1" "$2" -p Environment=XDG_SEAT=seat0
}

# elsewhere NAME COMMAND: the same in a session that has no seat.
elsewhere() {
  user=$1
  command=$2
  shift 2
  # Without a terminal or a display logind treats a session as a background job.
  systemd-run --quiet --pipe --wait --collect -p PAMName=login -p "User=$user" -p "WorkingDirectory=/home/$user" \
    -p "Environment=XDG_SESSION_CLASS=user XDG_SESSION_TYPE=tty" "$@" sh -c "$command"
}

# touching FINGERS COMMAND...: runs a command and presses the next of FINGERS (words such as right-index:1, finger and
# person) each time the command asks for a touch. Gives the command's output and status.
touching() {
  fingers=$1
  shift
  {
    status=0
    "$@" 2>&1 || status=$?
    echo "$status" >/tmp/status
  } | while IFS= read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line"
    case $line in
      Touch* | Swipe* | *'. Touch '* | *'. Swipe '* | *'agent: Touch '* | *'agent: Swipe '* | Stage*'touch again')
        finger=${fingers%% *}
        if [ "$finger" = "$fingers" ]; then fingers=; else fingers=${fingers#* }; fi
        [ -z "$finger" ] || whorl-finger press "${finger%:*}" --person "${finger#*:}" --socket "$sensor"
        ;;
    esac
  done
  return "$(cat /tmp/status)"
}

# expect STATUS TEXT COMMAND...: runs a command. Its status must be STATUS, and its output must contain TEXT.
expect() {
  expected=$1
  text=$2
  shift 2
  actual=0
  output=$("$@" 2>&1) || actual=$?
  [ "$actual" = "$expected" ] || fail "status $actual instead of $expected: $output"
  case $output in *"$text"*) ;; *) fail "no '$text' in: $output" ;; esac
  echo "  $expected: $(echo "$*" | tr '\n' ' ' | cut -c 1-90)"
}

# virtual_reader: makes fprintd drive the virtual reader.
virtual_reader() {
  mkdir -p /etc/systemd/system/fprintd.service.d /etc/polkit-1/rules.d
  cat >/etc/systemd/system/fprintd.service.d/virtual.conf <<END
[Service]
Environment=FP_VIRTUAL_IMAGE=$sensor FP_DRIVERS_WHITELIST=virtual_image
RuntimeDirectory=virtual-reader
RuntimeDirectoryPreserve=yes
ExecStart=
ExecStart=/usr/libexec/fprintd -t
END
  # Replaces the desktop's polkit agent, which would ask for the user's own password.
  cat >/etc/polkit-1/rules.d/10-enrol.rules <<'END'
polkit.addRule(function (action, subject) {
  if (action.id == "net.reactivated.fprint.device.enroll" && subject.active && subject.local && subject.seat)
    return polkit.Result.YES;
});
END
  systemctl daemon-reload
  systemctl stop fprintd 2>/dev/null || :
  systemctl restart polkit
}

# own_password_is_typed: replaces the desktop's polkit agent, as if every user typed their password for org.whorl.own.
own_password_is_typed() {
  mkdir -p /etc/polkit-1/rules.d
  cat >/etc/polkit-1/rules.d/11-own.rules <<'END'
polkit.addRule(function (action, subject) {
  if (action.id == "org.whorl.own") return polkit.Result.YES;
});
END
  systemctl restart polkit
}

# typing PASSWORDS NAME COMMAND: runs a shell command of a user at a terminal, where the passwords, one per line, are
# typed with pauses.
typing() {
  { printf '%s\n' "$1" | while read -r line; do sleep 5 && echo "$line"; done && sleep 5; } | at_seat "$2" "script -qec \"$3\" /dev/null"
}

# gdm_files: GDM's own PAM files for passwords and for fingers, as gdm3 of Debian has them.
gdm_files() {
  cat >/etc/pam.d/gdm-password <<'END'
auth    requisite       pam_nologin.so
auth    required        pam_succeed_if.so user != root quiet_success
@include common-auth
auth    optional        pam_gnome_keyring.so
@include common-account
session [success=ok ignore=ignore module_unknown=ignore default=bad] pam_selinux.so close
session required        pam_loginuid.so
session [success=ok ignore=ignore module_unknown=ignore default=bad] pam_selinux.so open
session optional        pam_keyinit.so force revoke
session required        pam_limits.so
session required        pam_env.so readenv=1
@include common-session
session optional        pam_gnome_keyring.so auto_start
@include common-password
END
  sed -e 's/^@include common-auth/auth    required        pam_fprintd.so/' -e '/common-password/d' \
    /etc/pam.d/gdm-password >/etc/pam.d/gdm-fingerprint
}

# wait_for WHAT COMMAND...: until the command succeeds; fails after half a minute.
wait_for() {
  what=$1
  shift
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || fail "$what: not within half a minute: $(cat /tmp/session 2>/dev/null)"
    sleep 0.2
  done
}

# vault_of USER: the process that has this user's store open in the system service.
vault_of() { pgrep -f "^whorld --of $(id -u "$1") "; }

# waits_of NAME...: how often the threads of these programs have waited so far.
waits_of() {
  for name; do
    for process in $(pgrep -x "$name"); do
      cat "/proc/$process"/task/*/status 2>/dev/null || :
    done
  done | awk '$1 == "voluntary_ctxt_switches:" { sum += $2 } END { print sum + 0 }'
}
# rests NAME...: checks that these programs run and do not wake for three seconds.
rests() {
  for name; do pgrep -x "$name" >/dev/null || fail "$name does not run"; done
  for _ in 1 2 3 4 5 6 7 8; do
    before=$(waits_of "$@")
    sleep 3
    [ "$(waits_of "$@")" != "$before" ] || { echo "  at rest: $*" && return; }
  done
  fail "one of $* wakes again and again"
}
