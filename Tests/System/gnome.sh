# shellcheck shell=sh
# What the stories with GNOME Shell share, after display.sh: the shell is asked what it shows.

# js CODE: what the shell says to it, as JSON.
js() {
  printf '%s' "$1" >/home/alice/code.js
  # shellcheck disable=SC2016 # alice's shell fills it in
  in_desktop 'busctl --user --json=short call org.gnome.Shell /org/gnome/Shell org.gnome.Shell Eval s "$(cat code.js)"'
}

# is CODE: whether the shell says that this is true.
is() { [ "$(js "!!($1)")" = '{"type":"bs","data":[true,"true"]}' ]; }

# shown: the text of the notification on the display; fails where none is. 2: shown, and no longer moving. GNOME before 46 has
# another name for the text.
shown() {
  is 'Main.messageTray._notificationState === 2' &&
    js '(shown => shown.body || shown.bannerBodyText)(Main.messageTray._notification)'
}
