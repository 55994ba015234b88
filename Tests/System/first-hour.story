# The first hour of a person who installs the packages, from `apt install` to `apt purge`: everything is typed at a console,
# after a login with the machine's own program. The transcript is a page for people, docs/first-hour.md, which this writes.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/desktop.sh
. /usr/share/whorl-tests/server.sh
. /usr/share/whorl-tests/first-hour.sh

if ! has_begun; then
  begin_hour "The first hour, at a console"
  laptop
  # The desktop's existing keyring, which the login password opens, with the password of a mail account.
  gdm_files
  for _ in 1 2; do
    log_in gdm-password alice "$password"
    log_out
  done
  log_in gdm-password alice "$password"
  expect 0 "" in_session alice 'printf "mail-password-4711" | secret-tool store --label="Mail of alice" service mail user alice'
  log_out
  remember_machine

  write <<'END'
What follows was typed on a machine with {release} that was started for this page, with a fingerprint
reader in software and synthetic fingers. The lines that alice types come after `$`. Passwords are not shown while they are
typed, and apt's lines about each package are replaced by three dots.

At the start the laptop is like many others: alice logs in with a password, the desktop keeps her mail program's password in
GNOME's keyring, and nothing uses the fingerprint reader yet.

## 1. Install

alice has two packages in the folder `Downloads`. The first is Whorl, and the second reports logins to Whorl.
END
  at_console '-' "laptop login:=>alice
Password:=>$password
\$=>cd Downloads
\$=>sudo apt install ./whorl_*.deb ./libpam-whorl_*.deb
alice:=>$password
[Y/n]=>y
\$=>sudo pam-auth-update --enable whorl
\$=>cd
\$=>whorl
\$=>exit"
  told "Setting up libpam-whorl"
  told "Store     none yet"
  write <<'END'
`whorl` without arguments shows in five lines what is set up, and the next step.

## 2. Set up

`whorl setup` asks one question at a time. Enter takes the answer in capitals.
END
  at_console 'right-index:1' "laptop login:=>alice
Password:=>$password
\$=>whorl setup
login password? [Y/n]=>y
New passcode:=>$password
again:=>$password
Password:=>$password
or the file:=>recovery-key
take others.) [Y/n]=>y
Password:=>$password
keyring's password. [y/N]=>y
are, too. [y/N]=>n
[y/N]=>y
[y/N]=>y
[y/N]=>y
\$=>exit"
  told "The store is made"
  told "> whorl ssh enable"
  told "'whorl setup --undo' takes all of it back"
  write <<'END'
What happened here:

- The lines with `ok` and `todo` are what `whorl setup` has found. Lines that begin with `>` are the commands that it ran.
  Each could be typed by hand.
- alice's **passcode** is the password that she logs in with, so that she has nothing new to remember.
- Between `AUTHENTICATING` and `COMPLETE` the system itself asks for the login password, before a store is made and before a
  finger is stored.
- The **recovery key** went into a file. It belongs on a stick or on paper, away from the laptop. GNOME's keyring was given it
  too: it opens the keyring if the store is ever lost.
- She touched the reader six times, so that it has images of several parts of the finger.
- She left her programs' passwords where they are, for now. The list below `On:` says what is on, and how each is taken back.
END
  restart_machine
fi

part() { [ ! -e "$hour/$1" ] && : >"$hour/$1"; }

if part restarted; then
  write <<'END'
## 3. Restart, and log in

The laptop was switched off and on. The first login is by password, because a finger cannot open the store after a start: alice does not
touch the reader, and types her password. The login opens the store, and the keyring with it, so that her mail program has its
password.
END
  at_console '-' "laptop login:=>alice
Password:=>$password
\$=>mail
\$=>exit"
  told "password that ends in 4711"
  write <<'END'
The next login is by finger. The keyring opens although no password was typed. Without Whorl it stays closed.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>mail
\$=>whorl
\$=>exit"
  told "password that ends in 4711"
  write <<'END'
## 4. Passwords behind a touch

`whorl setup` goes on with what was left. Now alice has her programs keep their passwords in Whorl.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>whorl setup
are, too. [y/N]=>y
next login on? [y/N]=>y
\$=>exit"
  told "Whorl takes over at your next login"
  wait_for "the end of what the login has started" has_ended "user@$(id -u alice).service"
  write <<'END'
The services of a login end ten seconds after the logout. From the next login on her mail program gets its password from Whorl.
alice puts a gate before it: from then on it needs a touch. The first touch after that is a stranger's.
END
  at_console 'right-index:1 left-index:9 right-index:1' "laptop login:=>alice
\$=>mail
\$=>whorl secret-service gate 'Mail of alice'
[y/N]=>y
\$=>mail
\$=>exit"
  told "wants to read “Mail of alice”"
  told "password that ends in 4711"
  write <<'END'
Now alice is asked whenever a program wants the password, and the question names the program. On a desktop it is a
notification. This is GNOME of Debian 12, with the question for the mail program's password, and with that of ssh:

![GNOME's notification: secret-tool wants to read “Mail of alice”](pictures/first-hour-mail.png)
![GNOME's notification: ssh wants to sign in to server.test as work](pictures/first-hour-ssh.png)

A secret of her own works in the same way:
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>whorl set bank
of bank:=>blue door 25
again:=>blue door 25
\$=>whorl get bank
\$=>exit"
  told "blue door 25"

  write <<'END'
## 5. ssh and git

The key that `whorl setup` has made never leaves Whorl. Its public half is a line that goes to the server.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>whorl ssh public ssh
\$=>exit"
  install -d -m 700 -o work -g work /home/work/.ssh
  grep -o 'ssh-ed25519 .*' "$hour/said" >/home/work/.ssh/authorized_keys
  chown work: /home/work/.ssh/authorized_keys
  write <<'END'
Whoever runs the server has put that line into `~/.ssh/authorized_keys` of the account `work`. On a desktop ssh finds the key by
itself; on a console it needs the second line here.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>export SSH_AUTH_SOCK=\$XDG_RUNTIME_DIR/whorl-agent
\$=>ssh work@server.test uptime --pretty
\$=>exit"
  told "wants to sign in to server.test as work"
  write <<'END'
git asks for the password of its server once. From then on Whorl gives it, each time after a touch.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>git clone https://server.test/git/tree.git
server.test':=>alice
server.test':=>push-password
\$=>cd tree
\$=>git commit --allow-empty --message 'A first note'
\$=>git push
\$=>whorl log -n 6
\$=>exit"
  told "git: sign in to https://server.test"
  told "-> master"

  write <<'END'
`whorl log` shows what was asked for, by which program, and the result.

## 6. Undo

`whorl setup --undo` undoes the steps, the last one first: programs get their passwords back, the keyring has the login
password again, and the store is removed with everything in it.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>whorl setup --undo
[y/N]=>y
again:=>$password
keyring:=>$password
for good? [y/N]=>y
for good? [y/N]=>y
\$=>sudo fprintd-delete alice
\$=>exit"
  told "Everything was undone"
  write <<'END'
The last line deletes the finger, which is the system's and not Whorl's.

## 7. Remove
END
  at_console '-' "laptop login:=>alice
Password:=>$password
\$=>sudo apt purge --autoremove whorl libpam-whorl
alice:=>$password
[Y/n]=>y
\$=>rm -rf tree recovery-key
\$=>exit"
  same_machine
  log_in gdm-password alice "$password"
  expect 0 "ends in 4711" in_session alice mail
  log_out
  write <<'END'
The laptop is as it was: packages, users, settings, services and files were compared with those from before. In alice's
home some empty folders are left. The desktop's login opens the keyring by password, and the mail program has its
password.
END
fi
