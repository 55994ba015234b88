# The dialog for administrators that XFCE has in Debian 12 (policykit-1-gnome): it asks for the finger, and then for the password,
# since it would not notice a match while it asks for a password. It runs on Xvfb, and the story reads the display like a screen
# reader.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh

keys() { in_desktop "xdotool type --delay 60 '$1'"; }
keys_return() { in_desktop 'xdotool key Return'; }
keys_escape() { in_desktop 'xdotool key Escape'; }
dialog() { in_desktop 'python3 /usr/share/whorl-tests/dialog.py polkit'; }

installed_service
cat >/usr/local/bin/story-programs <<'END'
#!/bin/sh
/usr/lib/policykit-1-gnome/polkit-gnome-authentication-agent-1 &
exec dunst
END
chmod 755 /usr/local/bin/story-programs
begin_session /usr/local/bin/story-programs
set_up
usermod -aG sudo alice
echo "alice:$password" | chpasswd
expect 0 "beside the password" whorl login enable polkit

# asked_for WORDS: begins a command that needs an administrator, and waits for the words in the dialog.
asked_for() {
  begin 'pkexec id -un'
  wait_for "polkit's dialog" dialog_says "$1"
}
asked_for "Swipe the fingerprint reader"
press "$right"
ended 0 "root"
wait_for "the end of the dialog" no_dialog

# Another finger, which the dialog tells, and then the right one.
asked_for "Swipe the fingerprint reader"
press left-index:9
wait_for "the answer to another finger" dialog_says "No match[.] Swipe the fingerprint reader again"
[ ! -s /tmp/actual ] || fail "let in after another finger: $(cat /tmp/output)"
press "$right"
ended 0 "root"

# Nobody touches: ten seconds later the password is asked for.
asked_for "Swipe the fingerprint reader"
wait_for "the question for the password" dialog_says "Password: "
typed_into_dialog "$password"
ended 0 "root"

# Cancelled while the finger is waited for, and the reader is free for the next.
asked_for "Swipe the fingerprint reader"
sleep 1
keys_escape
ended 126 ""
asked_for "Swipe the fingerprint reader"
press "$right"
ended 0 "root"
expect 0 "Only the password" whorl login disable polkit
exit 0
