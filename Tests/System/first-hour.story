# The first hour of a person who installs the packages, from `apt install` to `apt purge`, typed at a console after a login by
# login(1). The story writes the transcript: docs/first-hour.md.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/desktop.sh
. /usr/share/whorl-tests/server.sh
. /usr/share/whorl-tests/first-hour.sh

if ! has_begun; then
  begin_hour "The first hour"
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

  # The pictures are those of the story window.
  write <<'END'
## In the window

Whoever does not like terminals installs three packages in the file manager: Whorl, the PAM module that reports logins to it, and
the window, `whorl-gtk`. Then **Whorl** is in the menu. [The page about the window](window.md) describes all that it does.

At the first start the window asks for a passcode, twice, and the desktop for the login password, so that no other program makes
the store. The recovery key is shown once, and the window goes on when its last part was typed from the paper:

![The window at the first start](pictures/window-first-start.png)
![The window shows the recovery key, and asks for its last part](pictures/window-recovery-key.png)

*Setup* comes next. It lists what Whorl can do on this computer, and each switch turns off again what it has turned on. What belongs
to the computer is asked for in the desktop's own dialog:

![The page Setup with what can be turned on](pictures/window-setup.png)
![The desktop's dialog asks for an administrator](pictures/window-administrator.png)

A finger is enrolled on the page *Fingers*, where alice chooses it and touches the reader until the bar is full:

![The reader is touched five times](pictures/window-enrolling.png)
![Both hands, the enrolled finger lit](pictures/window-fingers.png)

*Secrets* has what she keeps, or imports from a browser or another password manager after a preview. Showing or copying one needs
the finger or the passcode, whichever comes first; another finger is refused:

![The list of secrets](pictures/window-secrets.png)
![The preview of an import](pictures/window-import.png)
![The prompt after a wrong finger](pictures/window-wrong-finger.png)
![A secret, shown for half a minute](pictures/window-secret.png)

*Protection* says what needs attention, and makes and restores copies:

![The page Protection](pictures/window-protection.png)

## At a console

This is the transcript of a session on a fresh machine with {release}, a virtual fingerprint reader and synthetic
fingers. alice types what comes after `$`, and passwords, which are not shown. Three dots replace apt's lines about each package.

At the start alice logs in with a password, the desktop keeps her mail program's password in GNOME's keyring, and nothing
uses the fingerprint reader yet.

## 1. Install

alice has downloaded two packages: Whorl, and the PAM module that reports logins to it.
END
  at_console '-' "laptop login:=>alice
Password:=>$password
\$=>cd Downloads
\$=>sudo apt install ./whorl_*.deb ./libpam-whorl_*.deb
alice:=>$password
[Y/n]=>y
\$=>cd
\$=>whorl
\$=>exit"
  told "Setting up libpam-whorl"
  told "Store     none yet"
  write <<'END'
`whorl` without arguments shows what is set up, and the next step.

## 2. Set up

`whorl setup` asks one question at a time. Enter gives the answer in capitals.
END
  at_console 'right-index:1' "laptop login:=>alice
Password:=>$password
\$=>whorl setup
administrator's password. [Y/n]=>y
alice:=>$password
login password? [Y/n]=>y
New passcode:=>$password
again:=>$password
Password:=>$password
or the file:=>~/recovery-key
take others.) [Y/n]=>y
Password:=>$password
keyring's password. [y/N]=>y
are, too. [y/N]=>n
[y/N]=>y
[y/N]=>y
[y/N]=>y
\$=>exit"
  told "> sudo pam-auth-update --enable whorl"
  told "The store is made"
  told "> whorl ssh enable"
  told "'whorl setup --undo' takes all of it back"
  write <<'END'
What happened here:

- The lines with `ok` and `todo` are what `whorl setup` has found. Lines with `>` are commands that it ran; you could type
  them yourself.
- The first command makes her **logins** tell Whorl that she is there. It changes the machine, so `sudo` asks for a password.
- alice's **passcode** is her login password, so that she has nothing new to remember.
- Between `AUTHENTICATING` and `COMPLETE` the system asks for the login password, before a store is made and before a finger
  is enrolled.
- The **recovery key** went into a file. Keep it on a stick or on paper, away from the laptop. If the store is ever lost, it
  also opens GNOME's keyring.
- She touched the reader six times, so that it has images of several parts of the finger.
- She left her programs' passwords in GNOME's keyring for now. The list below `On:` says what is on, and how to undo it.
END
  restart_machine
fi

part() { [ ! -e "$hour/$1" ] && : >"$hour/$1"; }

if part restarted; then
  write <<'END'
## 3. Restart, and log in

The laptop was switched off and on. After a start a finger cannot open the store, so alice does not touch the reader, and types
her password. The login opens the store and the keyring, and her mail program gets its password.
END
  at_console '-' "laptop login:=>alice
Password:=>$password
\$=>mail
\$=>exit"
  told "password that ends in 4711"
  write <<'END'
The next login is by finger. The keyring opens although no password was typed. Without Whorl it would stay closed.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>mail
\$=>whorl
\$=>exit"
  told "password that ends in 4711"
  write <<'END'
## 4. Passwords behind a touch

`whorl setup` continues with what was left. Now alice has her programs keep their passwords in Whorl.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>whorl setup
are, too. [y/N]=>y
next login on? [y/N]=>y
\$=>exit"
  told "Whorl takes over at your next login"
  wait_for "the end of what the login has started" has_ended "user@$(id -u alice).service"
  write <<'END'
From the next login on (ten seconds after the logout, when the services of the last one have ended) her mail program gets its
password from Whorl. alice gates it: from then on it needs a touch. The first touch after that is a stranger's.
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
Now alice is asked whenever a program wants the password, and the prompt names the program. On a desktop it is a notification.
These are prompts for the mail program's password and for ssh, in GNOME of Debian 12:

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

The private key that `whorl setup` has made never leaves Whorl. Its public half goes to the server.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>whorl ssh public ssh
\$=>exit"
  install -d -m 700 -o work -g work /home/work/.ssh
  grep -o 'ssh-ed25519 .*' "$hour/said" >/home/work/.ssh/authorized_keys
  chown work: /home/work/.ssh/authorized_keys
  write <<'END'
That line was put into `~/.ssh/authorized_keys` of the account `work` on the server. On a desktop ssh finds the key by itself; on
a console it needs the `export` here.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>export SSH_AUTH_SOCK=\$XDG_RUNTIME_DIR/whorl-agent
\$=>ssh work@server.test uptime --pretty
\$=>exit"
  told "wants to sign in to server.test as work"
  write <<'END'
git asks for the password of its server once. From then on it gets the password from Whorl, each time after a touch.
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
`whorl log` shows each request, the program that made it, and the result.

## 6. Undo

`whorl setup --undo` undoes the steps, each after those that it needs: GNOME's keyring has the login password and the programs'
passwords again. It names what exists only in the store, which is removed after the word was typed.
END
  at_console 'right-index:1' "laptop login:=>alice
\$=>whorl setup --undo
[y/N]=>y
again:=>$password
keyring:=>$password
keeps it:=>delete
\$=>sudo fprintd-delete alice
\$=>exit"
  told "Everything was undone"
  write <<'END'
The last command deletes the finger, which fprintd keeps, and not Whorl.

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
The laptop is as it was: packages, users, settings, services and files were compared with those from before. Only some empty
folders are left in alice's home. The desktop's login opens the keyring by password, and the mail program gets its password.
END
fi
