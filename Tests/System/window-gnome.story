# The window in GNOME, from the packages on: found in the overview by its name, the first start, a finger, secrets, and what is
# shown where something is missing or refused. The overview finds secrets by their names, and shows none of them. The shell runs
# without a screen; the window is read as a screen reader does, and worked by the shell's keyboard.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/gnome.sh
. /usr/share/whorl-tests/window.sh

# By the actions that the entries of the menu name, and by the search of the overview.
go_to() { in_desktop "gapplication action org.whorl.Whorl $(echo "$1" | tr '[:upper:]' '[:lower:]')"; }
open_secret() {
  in_overview alice
  wait_for "the secret's name in the overview" overview_says mail/alice
  keys_return
  work see Changed
}

# As the shell does, so that the window gets the keyboard.
start() {
  js "imports.gi.Shell.AppSystem.get_default().lookup_app('org.whorl.Whorl.desktop').activate()" >/tmp/started
}

# shot NAME: a picture of the screen.
shot() {
  sleep 1
  in_desktop "busctl --user call org.gnome.Shell.Screenshot /org/gnome/Shell/Screenshot org.gnome.Shell.Screenshot \
    Screenshot bbs false false '$pictures/window-gnome-$1.png'" >/dev/null
  echo "  a picture: $1"
}

small_disk
put_in_packages
on_gnome

# The person types its name, and presses Return.
systemctl stop whorld.socket whorld.service
in_overview whorl
wait_for "Whorl in the overview" overview_says Whorl
shot overview
keys_return
work see "The part of Whorl that keeps your secrets does not run, or cannot be reached from here"
close
systemctl start whorld.socket
without_service
shot first-start

# The first start, with the shell's dialog for the login password: closed, and then answered.
begin_setup
sleep 1
shot login-password
keys_escape
work see "The question for your login password was closed: run it again, and type the password." press Continue
as_login "make your store"
note_key
shot recovery-key
keep_key

attach_reader
enrol_in_window
store_on_full_disk
shown_to_finger
lock_fingers_out

# Copied secrets, and the keyboard with another program: it gets the secret for half a minute, and nothing from then on.
touch_to_copy
in_another_window
pastes "a secret of mine"
sleep 31
pastes ""

# Confirmed while the other program has the keyboard: it is copied when the window has it again, and cannot be pasted before.
keyboard_to Whorl
work press Copy see Confirm
keyboard_to Another
copy_elsewhere
touch_reader "$right"
work gone Confirm
pastes "from elsewhere"
keyboard_to Whorl
work see "Copied; the clipboard is emptied in 30 seconds"
pastes "a secret of mine"
sleep 31
pastes ""
copied_and_closed
exit 0
