# The first hour on GNOME, from `apt install` to `apt purge`: logins by GDM's own PAM files, and pictures of GNOME Shell's
# prompts, which docs/first-hour.md shows. The transcript stays in .build/pictures.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/gnome.sh
sensor=/run/virtual-reader/socket
. /usr/share/whorl-tests/desktop.sh
. /usr/share/whorl-tests/server.sh
. /usr/share/whorl-tests/first-hour.sh
page=/var/lib/whorl-pictures/first-hour-gnome.md

# at_desk: GNOME Shell on a screen of its own, after a login.
at_desk() {
  desktop
  in_desktop 'rm -rf .cache/gnome-shell; mkdir -p .local/share/gnome-shell; touch .local/share/gnome-shell/lock-warning-shown
    systemd-run --user --quiet --collect --unit=shell --setenv=XDG_CURRENT_DESKTOP=GNOME --setenv=XDG_SESSION_TYPE=wayland \
      gnome-shell --headless --unsafe-mode --wayland --wayland-display=wayland-0 --virtual-monitor 1024x768'
  wait_for "the start of the shell" in_desktop 'busctl --user status org.freedesktop.Notifications'
  wait_for "the start of the shell" is '!Main.layoutManager._startingUp'
  js 'Main.overview.hide()' >/tmp/typed
  wait_for "the desktop behind the overview" is '!Main.overview.visible'
}
from_desk() {
  in_desktop 'systemctl --user stop shell.service' || :
  in_desktop 'rm -rf .local/share/gnome-shell .config/dconf .config/pulse' || :
  rm -f /home/alice/code.js
  end_of_desktop
  log_out
}

# in_window FINGERS ANSWERS: types as alice in a terminal of her desktop.
in_window() {
  status=0
  # shellcheck disable=SC2154 # display.sh names the folder
  FINGER=$1 SENSOR=$sensor python3 /usr/share/whorl-tests/conversing.py "$2" \
    runuser -u alice -- env "XDG_RUNTIME_DIR=$runtime" systemd-run --user --quiet --pipe --wait --collect \
    --working-directory=/home/alice --setenv=TERM=dumb script -qec 'stty cols 126; exec bash -l' /dev/null >"$hour/said" \
    2>&1 || status=$?
  output=$(cat "$hour/said")
  [ "$status" = 0 ] || fail "in a window: status $status: $output"
  printf '```\n%s\n```\n' "$(shortened <"$hour/said")" | write
  echo "  in a window"
}

# shot NAME WORDS: adds a picture of the screen to the page.
shot() {
  sleep 2
  in_desktop "busctl --user call org.gnome.Shell.Screenshot /org/gnome/Shell/Screenshot org.gnome.Shell.Screenshot \
    Screenshot bbs false false /home/alice/$1.png" >/dev/null
  mv "/home/alice/$1.png" "${page%/*}/first-hour-$1.png"
  echo "![$2](pictures/first-hour-$1.png)" | write
}

# shown_and_touched NAME WORDS TEXT COMMAND: a command of the desktop waits for a touch, which the shell asks for.
shown_and_touched() {
  begin "$4"
  wait_for "a notification" says "$3"
  shot "$1" "$2"
  press right-index:1
}
says() { shown | grep -q "$1"; }

if ! has_begun; then
  begin_hour "The first hour on GNOME"
  laptop
  # Replaces the desktop's own password window.
  own_password_is_typed
  echo 'polkit.addRule(function (action, subject) {
    if (action.id == "net.reactivated.fprint.device.enroll" && subject.user == "alice") return polkit.Result.YES;
  });' >/etc/polkit-1/rules.d/10-enrol.rules
  systemctl restart polkit
  gdm_files
  for _ in 1 2; do
    log_in gdm-password alice "$password"
    log_out
  done
  log_in gdm-password alice "$password"
  expect 0 "" in_session alice 'printf "mail-password-4711" | secret-tool store --label="Mail of alice" service mail user alice'
  log_out
  # Where there is one, the desktop starts it at some time, and from its first start on it has files.
  [ ! -e /usr/lib/systemd/system/colord.service ] || systemctl start colord.service
  remember_machine
  write <<'END'
The same in GNOME of {release}, on a virtual screen. [The page about the console](first-hour.md) explains each step; this page
shows what differs. Logins use GDM's own files in `/etc/pam.d`. A polkit rule replaces GNOME's dialog for the login password.

## 1. Install and set up

In a terminal window:
END
  log_in gdm-password alice "$password"
  at_desk
  in_window 'right-index:1' "\$=>sudo apt install ./Downloads/whorl_*.deb ./Downloads/libpam-whorl_*.deb
alice:=>$password
[Y/n]=>y
\$=>whorl setup
administrator's password. [Y/n]=>y
login password? [Y/n]=>y
New passcode:=>$password
again:=>$password
or the file:=>~/recovery-key
take others.) [Y/n]=>y
keyring's password. [y/N]=>y
are, too. [y/N]=>y
login on? [y/N]=>y
[y/N]=>y
[y/N]=>y
[y/N]=>y
\$=>exit"
  told "'whorl setup --undo' takes all of it back"
  from_desk
  restart_machine
fi

part() { [ ! -e "$hour/$1" ] && : >"$hour/$1"; }
if part restarted; then
  write <<'END'
## 2. After a restart

alice logs in with her password. Her mail program now gets its password from Whorl, without a prompt. She gates it:
END
  log_in gdm-password alice "$password"
  at_desk
  in_window '-' "\$=>mail
\$=>whorl secret-service gate 'Mail of alice'
[y/N]=>y
\$=>exit"
  told "password that ends in 4711"
  write <<'END'
From now on a program that wants it waits for a touch. GNOME shows which program asks, and for what:
END
  shown_and_touched mail "GNOME's notification: secret-tool wants to read “Mail of alice”" "Mail of alice" mail
  ended 0 "ends in 4711"
  install -d -m 700 -o work -g work /home/work/.ssh
  in_desktop 'whorl ssh public ssh' >/home/work/.ssh/authorized_keys
  chown work: /home/work/.ssh/authorized_keys
  write <<'END'
ssh with the key that `whorl setup` has made:
END
  shown_and_touched ssh "GNOME's notification: ssh wants to sign in to server.test as work" "sign in to server.test" \
    'ssh -o BatchMode=yes work@server.test echo signed in'
  ended 0 "signed in"
  from_desk
  write <<'END'
The next login is by finger, with GDM's PAM file for fingers. The mail program's secret stays gated; everything else in the
store and in GNOME's keyring is open.
END
  log_in gdm-fingerprint alice
  at_desk
  shown_and_touched finger "GNOME's notification after a login by finger" "Mail of alice" mail
  ended 0 "ends in 4711"

  write <<'END'
## 3. Undo and remove
END
  in_window 'right-index:1' "\$=>whorl setup --undo
[y/N]=>y
again:=>$password
keyring:=>$password
keeps it:=>delete
alice:=>$password
\$=>sudo fprintd-delete alice
\$=>sudo apt purge --autoremove whorl libpam-whorl
[Y/n]=>y
\$=>rm recovery-key
\$=>exit"
  told "Everything was undone"
  from_desk
  same_machine
  log_in gdm-password alice "$password"
  expect 0 "ends in 4711" in_session alice mail
  log_out
  write <<'END'
Packages, users, settings, services and files are those from before.
END
fi
