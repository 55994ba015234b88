# shellcheck shell=sh
# Common functions of the first-hour stories, after common.sh: a laptop, its console, the page for people, and the
# comparison of the machine before and after.

hour=/var/lib/first-hour
home=/home/alice
password='open sesame, please'
page=/var/lib/whorl-pictures/first-hour.md

# has_begun: whether an earlier part of the story ran before a restart of the machine.
has_begun() {
  [ -d "$hour" ] || return 1
  hostname laptop
}

# begin_hour TITLE: begins the page.
begin_hour() {
  mkdir -p "$hour" "$(dirname "$page")"
  # shellcheck source=/dev/null # the system's own description of itself
  (. /etc/os-release && echo "$PRETTY_NAME") | sed 's/^Debian GNU.Linux/Debian/' >"$hour/release"
  printf '# %s\n' "$1" >"$page"
}

# write: adds standard input to the page.
write() {
  echo >>"$page"
  sed "s/{release}/$(sed 's,/,\\/,g' "$hour/release")/g" >>"$page"
}

# laptop: prepares alice's laptop, with a reader and the downloaded packages.
laptop() {
  echo laptop >/etc/hostname
  hostname laptop
  user alice
  echo "alice:$password" | chpasswd
  usermod -aG sudo alice
  user work
  virtual_reader
  # Without the tests' polkit rule: the person types the password.
  rm /etc/polkit-1/rules.d/10-enrol.rules
  systemctl restart polkit
  DEBIAN_FRONTEND=noninteractive pam-auth-update --enable fprintd
  server
  sed -i 's/^127.0.0.1 localhost/& laptop/' /etc/hosts
  printf 'server.test %s\n' "$(cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub)" >/etc/ssh/ssh_known_hosts
  apt-get -q update >/dev/null
  # The program that presses the fingers is not part of the laptop.
  dpkg-deb --extract /usr/share/whorl-packages/whorl-tests_*.deb /tmp/tests
  install -m 755 /tmp/tests/usr/bin/whorl-finger /usr/bin/whorl-finger
  mkdir "$home/Downloads"
  cp /usr/share/whorl-packages/whorl_*.deb /usr/share/whorl-packages/libpam-whorl_*.deb "$home/Downloads/"
  cat >/usr/local/bin/mail <<'END'
#!/bin/sh
# A mail program that reads its password from the desktop's Secret Service.
password=$(secret-tool lookup service mail user alice) || { echo "mail: no password"; exit 1; }
echo "mail: signed in as alice, with the password that ends in ${password#"${password%????}"}. Two new messages."
END
  chmod 755 /usr/local/bin/mail
  printf '[user]\n\tname = Alice\n\temail = alice@server.test\n' >"$home/.gitconfig"
  # Only prompts and messages on the console.
  touch "$home/.hushlogin"
  echo 'debconf debconf/frontend select Noninteractive' | debconf-set-selections
  printf 'export PAGER=cat\n' >>"$home/.profile"
  chown -R alice: "$home"
}

# at_console FINGERS ANSWERS: alice at the laptop's console, from the login to the logout (see conversing.py). The
# dialogue is added to the page, and is in $output.
at_console() {
  status=0
  # shellcheck disable=SC2154 # common.sh names the socket
  FINGER=$1 SENSOR=$sensor TERM=dumb python3 /usr/share/whorl-tests/conversing.py "$2" \
    systemd-run --quiet --pipe --wait --collect -p Environment='XDG_SEAT=seat0 TERM=dumb' \
    script -qec 'stty cols 126; exec login -p' /dev/null >"$hour/said" 2>&1 || status=$?
  output=$(cat "$hour/said")
  [ "$status" = 0 ] || fail "at the console: status $status: $output"
  # shellcheck disable=SC2016 # the marks around a block
  printf '```\n%s\n```\n' "$(shortened <"$hour/said")" | write
  echo "  at the console"
}

# shortened: replaces apt's lines about each package with three dots.
shortened() {
  words='Get:|Selecting prev|Preparing to|Unpacking|Setting up|Processing trig|\(Reading data|Creat|Reading|Building|Note, sel'
  awk -v words="^($words|Purging|Removing|dpkg: warning: while removing)" \
    '$0 ~ words { if (!dots) print "..."; dots = 1; next } { dots = 0; print }'
}

# told TEXT: checks that the last output contains the text.
told() {
  case $output in *"$1"*) echo "  told: $1" ;; *) fail "no '$1' in: $output" ;; esac
}

# machine: describes the machine, one line for each package, file, user, setting and unit.
machine() {
  dpkg-query --show --showformat='package ${Package} ${Version} ${db:Status-Abbrev}\n'
  for database in passwd group shadow gshadow; do getent "$database" | sed "s/^/$database /"; done
  find /etc -xdev -type f ! -name '*-' ! -name '*.lock' -exec sha256sum {} + | sed 's/^/file /'
  find /etc -xdev -type l -printf 'link %p %l\n'
  systemctl list-unit-files --no-legend --no-pager | sed 's/^/unit /'
  find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /home -o -path /root -o -path /srv \
    -o -path /var/cache -o -path /var/log -o -path /var/tmp -o -path /var/lib/apt -o -path /var/lib/dpkg \
    -o -path /var/lib/systemd -o -path /var/lib/sudo -o -path "$hour" -o -path "${page%/*}" \) -prune \
    -o -printf 'path %M %u:%g %p\n'
  # Except the records of the shell, of sudo and of GNOME's migrations, caches, and empty folders.
  find "$home" \( -name .cache -o -name user-session-migration \) -prune -o ! -type d ! -name .bash_history \
    ! -name .sudo_as_admin_successful -printf 'path %M %u:%g %p\n'
}

# remember_machine: stores the current description. same_machine: checks that the machine has that description again.
remember_machine() { machine | sort >"$hour/before"; }
same_machine() {
  machine | sort >"$hour/after"
  diff "$hour/before" "$hour/after" >"$hour/different" || fail "the machine is another one: $(cat "$hour/different")"
  echo "  the machine is as it was: $(wc -l <"$hour/before") packages, files, users and units were compared"
}

# restart_machine: ends this part of the story, which continues after the machine has restarted.
restart_machine() {
  touch /var/lib/whorl-restart
  exit 0
}
