# shellcheck shell=sh
# Common functions of the stories with GNOME Shell, after display.sh: they query the shell for what it shows.

# js CODE: the result of JavaScript in the shell, as JSON.
js() {
  printf '%s' "$1" >/home/alice/code.js
  # shellcheck disable=SC2016 # alice's shell fills it in
  in_desktop 'busctl --user --json=short call org.gnome.Shell /org/gnome/Shell org.gnome.Shell Eval s "$(cat code.js)"'
}

# is CODE: whether the JavaScript is true in the shell.
is() { [ "$(js "!!($1)")" = '{"type":"bs","data":[true,"true"]}' ]; }

# shown: the text of the notification on the display; fails where none is. 2: shown, and no longer moving. GNOME before 46 has
# another name for the text.
shown() {
  is 'Main.messageTray._notificationState === 2' &&
    js '(shown => shown.body || shown.bannerBodyText)(Main.messageTray._notification)'
}
