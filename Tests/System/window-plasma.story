# The window in KDE Plasma, from the packages on: found by its name in KRunner, the first start with Plasma's dialog for
# administrators, a finger, a secret found in KRunner, prompts of the window and a copied secret. Plasma runs on Xvfb. Debian 13.
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

# The person types words of its name into KRunner, and presses Return. Nothing else that KRunner finds has both words, and what is
# typed is not the name that is waited for.
open_secret() {
  in_desktop 'systemd-run --user --quiet --collect krunner "mail ali"'
  wait_for "the secret's name in KRunner" in_krunner mail/alice
  sleep 1
  keys_return
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
