# The window, from the packages to their removal, by a person who opens no terminal: the first start, a finger, secrets, what
# Whorl does for programs and at logins, copies, and what is shown where something is missing or refused. It is read as a screen
# reader does and worked by keyboard and pointer, on Xvfb with a window manager. Its pictures are those of docs/pictures.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/x11.sh
. /usr/share/whorl-tests/window.sh
CLICKER=/usr/share/whorl-tests/click-in-window.sh

small_disk
put_in_packages
expect 0 "" desktop-file-validate /usr/share/applications/org.whorl.Whorl.desktop
expect 0 "" appstreamcli validate --no-net /usr/share/metainfo/org.whorl.Whorl.metainfo.xml

on_display

# Without the service; then a weak passcode, and the window closed in the middle, which makes no store.
without_service
shot first-start
work press "Set Up" type Passcode abcd type "Once more" abcde see "The two are not the same." type "Once more" abcd \
  press Continue see "Somebody with a copy of your disk finds this passcode within a day. Take a longer one."
close
expect 66 "no store" in_desktop 'whorl status'

# The dialog closed, a wrong password in it, and the window closed while it shows the recovery key.
start
begin_setup
sleep 1
shot login-password
keys_escape
work see "The question for your login password was closed: run it again, and type the password." press Continue
wait_for "polkit's dialog" dialog_says "make your store"
sleep 1
typed_into_dialog mistyped
# The words of GNOME's dialog, and those of MATE's.
wait_for "the refusal" dialog_says 'Authentication Failure\|Your authentication attempt was unsuccessful'
typed_into_dialog "$password"
wait_for "the end of the dialog" no_dialog
note_key
not_kept=$key
close
expect 66 "no store" in_desktop 'whorl status'

# Now the recovery key is on paper.
start
begin_setup
as_login "make your store"
note_key
shot recovery-key
work type "Its last part, from your paper" "${not_kept##*-}" unusable Continue
keep_key

attach_reader
enrol_in_window
store_on_full_disk
shown_to_finger
expect 0 "a secret of mine" touching "$right" in_desktop 'whorl get mail/alice'
lock_fingers_out
copied_and_closed

# Removed and brought back, and removed.
start
work press "New Secret" type "Name, such as a site or a program" bank type Secret "another one" press Save gone Save \
  click bank press Remove press Undo gone Undo
expect 0 "bank" in_desktop 'whorl ls'
work click bank press Remove see Undo gone Undo
wait_for "the removal" not_listed bank

# Imported after a preview, taken out again, and imported.
printf '%s\n' 'name,url,username,password' 'a.test,https://a.test,alice,first' 'mail,https://m.test,alice,second' \
  'b.test,https://b.test,bob,third' >/home/alice/passwords.csv
chown alice /home/alice/passwords.csv
work press Import type File /home/alice/passwords.csv press "Look Into It" see "Coming: 2 Entries" see "b.test/bob"
shot import
not_listed a.test || fail "imported before it was agreed to"
work press Import see "2 Secrets Imported" press "Take Out Again" see "What was imported is taken out again"
not_listed a.test || fail "still there after it was taken out again"
work press Import type File /home/alice/passwords.csv press "Look Into It" see "Coming: 2 Entries" press Import \
  see "2 Secrets Imported" press Close see b.test/bob
shot secrets

# A key for SSH, and the other pages.
work page Keys press "New SSH Key" type "Name, such as this computer's" laptop press Save gone Save see laptop
shot keys
for page in Passkeys Computers Activity; do
  work page "$page"
  shot "$(echo "$page" | tr '[:upper:]' '[:lower:]')"
done

# A copy, and what it brings back.
work page Protection gone "Checking …"
shot protection
work press "Back Up All Secrets" type Folder /home/alice/copy press "Back Up" \
  see "All secrets are copied to /home/alice/copy"
expect 0 "" in_desktop 'whorl rm mail/alice --yes'
work press "Restore a Copy" type Folder /home/alice press Continue \
  see "/home/alice is not a backup: name what 'whorl backup' has made." \
  press "Restore a Copy" type Folder /home/alice/copy press Continue see "Replace All Secrets With These?"
shot restore
work press Restore type Passcode "$passcode" press Confirm gone Confirm
expect 0 "mail/alice" in_desktop 'whorl ls'

# What Whorl does for programs, and at logins: as an administrator, and not after the dialog was closed. The window asks with
# polkit's dialog, which takes a finger as soon as it is set up.
work page Setup press "Look Again" gone "Looking …"
shot setup
work press "Turn on: git" press Continue see "Turn off: git"
expect 0 "whorl git-credential" in_desktop 'git config --global --get-all credential.helper'
work press "Turn off: git" press Continue see "Turn on: git"
expect 1 "" in_desktop 'git config --global --get-all credential.helper'
work press "Turn on: Logins Open Your Secrets" press Continue
wait_for "polkit's dialog" dialog_says "pam-auth-update"
sleep 1
shot administrator
keys_escape
work gone "Looking …" see "Turn on: Logins Open Your Secrets" press "Turn on: Logins Open Your Secrets" press Continue
as_login "pam-auth-update"
work see "Turn off: Logins Open Your Secrets"
expect 0 "pam_whorl" cat /etc/pam.d/common-session
work press "Turn on: A Finger for Administrators" press Continue
as_login "finger-login"
work see "Turn off: A Finger for Administrators" press "Turn off: A Finger for Administrators" press Continue
wait_for "polkit's dialog" dialog_says "Swipe the fingerprint reader"
press "$right"
wait_for "the end of the dialog" no_dialog
work see "Turn on: A Finger for Administrators"

# One password for both: mistyped, and then the login password, which is not the passcode.
work press "Turn on: One Password for Login and Secrets" press Continue type "The login password" mistyped press Confirm \
  type "The login password" "$password" press Confirm see "Make your login password the passcode?" press Cancel
wait_for "the report" reads "your login password and the passcode are still different"
work press Close see "Turn on: One Password for Login and Secrets"
work press "Turn off: Logins Open Your Secrets" press Continue
as_login "pam-auth-update"
work see "Turn on: Logins Open Your Secrets"
! grep -q pam_whorl /etc/pam.d/common-session || fail "logins still go through Whorl"
close

# Gone from the menu, and the store stays.
expect 0 "Purging configuration files for whorl" apt-get -q -y purge whorl-gtk libpam-whorl whorl
for file in applications/org.whorl.Whorl.desktop dbus-1/services/org.whorl.Whorl.service metainfo/org.whorl.Whorl.metainfo.xml; do
  [ ! -e "/usr/share/$file" ] || fail "still there: $file"
done
expect 1 "" in_desktop 'gapplication launch org.whorl.Whorl'
[ -e "/var/lib/whorl/$(id -u alice)-alice/vault.db" ] || fail "the store is gone"
