# The window in KDE Plasma, from the packages on: found by its name in KRunner, the first start with Plasma's dialog for
# administrators, a finger, prompts of the window and a copied secret. Plasma runs on Xvfb. Debian 13.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/x11.sh
. /usr/share/whorl-tests/plasma.sh
. /usr/share/whorl-tests/window.sh
shot() { :; }

# By the command of an entry in the menu: Plasma moves the places of the window's parts.
go_to() { in_desktop "whorl-gtk --page $(echo "$1" | tr '[:upper:]' '[:lower:]')"; }

# The person types its name into KRunner, and presses Return.
start() {
  in_desktop 'systemd-run --user --quiet --collect krunner whorl'
  wait_for "Whorl in KRunner" in_krunner Whorl
  sleep 1
  keys_return
}

# As the search of a desktop does.
open_secret() {
  search="busctl --user call org.whorl.Whorl /org/whorl/Whorl/SearchProvider org.gnome.Shell.SearchProvider2"
  id=$(in_desktop "$search GetInitialResultSet as 1 alice" | sed -n 's/^as 1 "\(.*\)"$/\1/p')
  in_desktop "$search ActivateResult sasu '$id' 0 0"
  work see Changed
}

put_in_packages
on_plasma

start
work see "Set Up"
begin_setup
as_login "make your store"
note_key
keep_key
attach_reader
enrol_in_window

# Prompts of the window, and a copied secret beside Plasma's history of the clipboard.
in_desktop 'printf "a secret of mine" | whorl set mail/alice --access presence'
shown_to_finger
lock_fingers_out
copied_and_closed
exit 0
