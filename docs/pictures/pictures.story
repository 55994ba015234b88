# The pictures of the README, taken in the session of a booted system: notifications as xfce4-notifyd shows them, and a
# terminal. 'scripts/pictures' runs this.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh

installed_service
begin_session /usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd
pictures=/var/lib/whorl-pictures
mkdir -p "$pictures"
chown alice "$pictures"

python3 /usr/src/whorl/scripts/desktop-cast.py "$sensor" "$pictures" "$passcode" >/tmp/cast 2>&1 ||
  fail "the cast: $(cat /tmp/cast)"

# shot NAME COMMAND: a picture of the notification that the command shows, which a touch then takes away.
shot() {
  begin "$2"
  wait_for "a notification" in_desktop 'xdotool search --onlyvisible --class xfce4-notifyd'
  # The notification fades in.
  sleep 3
  in_desktop "maim --window=\$(xdotool search --onlyvisible --class xfce4-notifyd | head -n 1) '$pictures/$1.png'"
  press "$right"
  ended 0 ""
}
shot read 'secret-tool lookup service bank user alice'
mkdir -p /run/sshd
echo "127.0.0.7 server.test" >>/etc/hosts
echo "ListenAddress 127.0.0.7" >/etc/ssh/sshd_config.d/story.conf
systemctl restart ssh
in_desktop 'mkdir -p -m 700 .ssh; whorl ssh public ssh >.ssh/authorized_keys; chmod 600 .ssh/authorized_keys
  printf "server.test %s\n" "$(cut -d " " -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub)" >.ssh/known_hosts'
shot sign-in "SSH_AUTH_SOCK=$runtime/whorl-agent ssh -o BatchMode=yes -o HostKeyAlgorithms=ssh-ed25519 server.test true"
exit 0
