# shellcheck shell=sh
# Common functions of the stories with a session on an X display, after display.sh: its keyboard, what is shown in the dialog of
# polkit's agent, and the clipboard.

keys() { in_desktop "xdotool type --delay 60 '$1'"; }
keys_return() { in_desktop 'xdotool key Return'; }
keys_escape() { in_desktop 'xdotool key Escape'; }
dialog() { in_desktop 'python3 /usr/share/whorl-tests/dialog.py polkit'; }

# clipboard: what a program gets that pastes. copy_elsewhere: another program copies a text.
clipboard() { in_desktop 'xclip -selection clipboard -out' 2>/dev/null || :; }
copy_elsewhere() {
  in_desktop "systemd-run --user --quiet sh -c 'printf %s \"from elsewhere\" | xclip -quiet -selection clipboard -in'"
  sleep 1
}
