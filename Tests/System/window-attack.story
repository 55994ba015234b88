# Another program of alice attacks her window: by its calls on the session's bus, the search of the overview, what programs are
# told that read windows, its memory and its environment. It gets what the command line gives it, and never a secret.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/x11.sh
. /usr/share/whorl-tests/window.sh
CLICKER=/usr/share/whorl-tests/click-in-window.sh
secret="a secret of mine"

# call PATH INTERFACE ARGUMENTS...: a call of the window's program, with its answer. None lasts long.
call() {
  in_desktop "timeout 60 busctl --user --timeout=50 call org.whorl.Whorl $*" 2>&1
}
application() { call /org/whorl/Whorl org.freedesktop.Application "$@"; }
search() { call /org/whorl/Whorl/SearchProvider org.gnome.Shell.SearchProvider2 "$@"; }
krunner() { call /org/whorl/Whorl/SearchProvider org.kde.krunner1 "$@"; }

# lives: the window's program is the one from before, and shows no secret.
lives() {
  [ "$(pgrep -u alice -x whorl-gtk)" = "$window" ] || fail "the window's program is not the one from before"
  reads_not "$secret"
}

put_in_packages
on_display
start
begin_setup
as_login "make your store"
note_key
keep_key
attach_reader
enrol_in_window
work page Secrets press "New Secret" type "Name, such as a site or a program" mail type "Account (may be empty)" alice \
  type Secret "$secret" press Save gone Save
window=$(pgrep -u alice -x whorl-gtk)

# Its calls: pages that do not exist, long texts, files, and wrong arguments.
long=$(printf '%060000d' 0)
application ActivateAction "'sava{sv}'" no-such-page 0 0 >/tmp/answer || :
application ActivateAction "'sava{sv}'" "$long" 0 0 >/tmp/answer || :
application ActivateAction "'sava{sv}'" fingers 1 s /etc/passwd 0 >/tmp/answer || :
application Open "'asa{sv}'" 2 file:///etc/passwd "file:///$long" 0 >/tmp/answer || :
application Open "'asa{sv}'" 1 'smb://attacker/share' 0 >/tmp/answer || :
lives
# Leaving is shown, and not done.
application ActivateAction "'sava{sv}'" leave 0 0 >/tmp/answer
work see "Nothing Is Turned On"
expect 0 "mail/alice" in_desktop 'whorl ls'
work press "Back to Whorl"

# The search: names alone, as `whorl ls` gives them.
id=$(search GetInitialResultSet as 1 ali | sed -n 's/^as 1 "\(.*\)"$/\1/p')
[ -n "$id" ] || fail "the search finds nothing"
search GetResultMetas as 1 "$id" >/tmp/metas
grep -q 'mail/alice' /tmp/metas || fail "no name: $(cat /tmp/metas)"
! grep -q "$secret" /tmp/metas || fail "a secret in the search"
for terms in 'as 0' "as 1 ''" "as 1 '$secret'" "as 1 '%s%n'" "as 1 '*'" "as 1 $long"; do
  [ "$(search GetInitialResultSet "$terms")" = "as 0" ] || fail "found by $terms"
done
[ "$(search GetResultMetas as 4 "''" "../../$id" 'id:00000000000000000000000000000000' "$long")" = "aa{sv} 0" ] ||
  fail "metas of ids that do not exist"
for wrong in "GetInitialResultSet s x" "GetResultMetas au 1 5" "ActivateResult s x" "NoSuchMethod"; do
  ! search "$wrong" >/tmp/answer || fail "answered $wrong"
done
search ActivateResult sasu "'$long'" 0 0 >/tmp/answer
search ActivateResult sasu "'../../etc/passwd'" 1 "'$long'" 4294967295 >/tmp/answer
search LaunchSearch asu 2 "'<b>x</b>'" "'$long'" 0 >/tmp/answer
lives
search ActivateResult sasu "$id" 0 0 >/tmp/answer
work see Changed see Show
lives

# What KRunner asks: the same name and id, and nothing more.
work press Back
found="$(krunner Match s ali)"
[ "$found" = "a(sssida{sv}) 1 \"$id\" \"mail/alice\" \"dialog-password-symbolic\" 30 0.5 0" ] || fail "KRunner gets $found"
for query in "''" "' '" a "'$secret'" "'%s%n'" "'*'" "$long"; do
  [ "$(krunner Match s "$query")" = "a(sssida{sv}) 0" ] || fail "found by $query"
done
for wrong in "Match as 1 ali" "Run s x" "Config"; do
  ! krunner "$wrong" >/tmp/answer || fail "answered $wrong"
done
krunner Run ss "'$long'" "'$long'" >/tmp/answer
krunner Run ss "'../../etc/passwd'" "''" >/tmp/answer
lives
krunner Run ss "$id" "''" >/tmp/answer
work see Changed see Show
lives

# What programs are told that read windows, and what they can read.
work press Back
untold
lives

# Its memory and its environment, also while it shows the secret; and no core file.
work press Back click mail/alice press Show see Confirm
touch_reader "$right"
work see "$secret"
for file in mem environ maps auxv; do
  expect 1 "Permission denied" in_desktop "head -c 1 /proc/$window/$file"
done
expect 1 "Operation not permitted" in_desktop "python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, $window, 0, 0) == -1:
    sys.exit(os.strerror(ctypes.get_errno()))
'"
work press Hide gone "$secret"
mkdir -m 777 /tmp/cores
echo '/tmp/cores/%e' >/proc/sys/kernel/core_pattern 2>/dev/null || :
in_desktop "kill -ABRT $window"
wait_for "the end of the window" no_window
[ -z "$(ls /tmp/cores)" ] || fail "a core file: $(ls /tmp/cores)"

# The store is closed: names, as `whorl ls` gives them, and no secret.
restart_service
expect 0 "mail/alice" in_desktop 'whorl ls'
search GetInitialResultSet as 1 ali >/tmp/answer
grep -qF "$id" /tmp/answer || fail "the search of a closed store differs from 'whorl ls': $(cat /tmp/answer)"
search ActivateResult sasu "$id" 0 0 >/tmp/answer
work see "Your Secrets Are Closed"
window=$(pgrep -u alice -x whorl-gtk)
lives
work press Open see Confirm type Passcode "$passcode" press Confirm gone Confirm see Changed press Back
exit 0
