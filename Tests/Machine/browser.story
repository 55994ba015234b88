# Passkeys in browsers as Debian ships them: Chromium and Firefox make passkeys and sign in with them, with alice's finger.
. "${here:?}/common.sh"
begins enrolled

for file in relying-party desktop; do
  machine run -i "$(cat "$here/browser/$file")" sh -c 'cat >"/usr/local/bin/$1" && chmod 755 "/usr/local/bin/$1"' sh "$file"
done
expect 0 "passkey disable" at_seat alice 'whorl passkey enable'

# browser COMMAND: opens the page of the relying party in alice's session at the seat, which takes a minute or two. On a
# slow machine Chromium may show an empty page instead: then the page is loaded again.
browser() {
  began=$(now)
  inside systemd-run --quiet --collect --unit relying-party --uid alice /usr/local/bin/relying-party serve
  wait_for "the site does not answer" inside grep -q ":1F90 00000000:0000 0A" /proc/net/tcp
  beside at_seat alice "desktop $1 http://localhost:8080/ 2>&1 | tail -n 20"
  page open 100 >/dev/null || {
    echo "  the page is not there after 100 s: loaded again"
    keys key F5
    expect 0 "open" page open 100
  }
  echo "  $(since "$began") s until the page is there"
}
# closed NAME: ends the browser and its screen.
closed() {
  inside pkill -u alice -f "$1" || :
  inside pkill -x Xvfb || :
  finished
  inside systemctl stop relying-party
  wait_for "the key stays without a session" inside sh -c '! ls /dev/hidraw* && [ ! -e /tmp/.X11-unix/X9 ]'
}
page() { inside timeout 400 relying-party "$@"; }
keys() { inside su alice -c "DISPLAY=:9 xdotool $*"; }
# signed_in: the number of sign-ins with a passkey so far.
signed_in() { inside sh -c 'journalctl -q -b -u whorld --no-pager | grep -c "assert-passkey .*: done" || :'; }
# choosing KEYS COMMAND...: runs a command, and sends keys or clicks to the list of accounts, which appears after the touch,
# until the command ends.
choosing() {
  choice=$1
  shift
  before=$(signed_in)
  {
    while [ "$(signed_in)" = "$before" ]; do sleep 1; done
    while sleep 4; do keys "$choice"; done
  } &
  chooser=$!
  status=0
  "$@" || status=$?
  kill "$chooser" 2>/dev/null || :
  return "$status"
}

# The steps for both browsers. A secret of a passkey (prf) is the same each time.
makes_and_uses() {
  expect 0 "made for alice" touching "right right" page create alice discoverable prf
  echo "  $output"
  case $output in *"flags 0xcd, discoverable True, prf True") ;; *) fail "$output" ;; esac
  expect 0 "discoverable True" touching "right right" page create bob discoverable
  expect 0 "discoverable False" touching "right right" page create carol
  expect 0 "localhost/alice" at_seat alice 'whorl log'
  expect 0 "signed in as carol, flags 0xd" touching "right right" page get carol
  expect 0 "signed in as alice, flags 0x8d, prf " touching "right right" page get alice prf
  secret=$output
  expect 0 "$secret" touching "right right" page get alice prf
}

browser "chromium --no-first-run --no-default-browser-check --password-store=basic --disable-gpu \
--disable-background-networking --user-data-dir=chromium"
makes_and_uses
expect 0 "signed in as bob" choosing "key Return" touching "right right" page get -
from_list() { sleep 8 && keys mousemove 200 205 click 1 && sleep 4 && keys key Down && sleep 1 && keys key Return; }
from_list &
expect 0 "signed in as bob" choosing "key Return" touching "right right" page get - conditional
# A wrong finger, fewer times than lead to a lockout: Chromium says that nobody was verified, and the person cancels.
{ sleep 45 && keys key Escape; } &
expect 1 "NotAllowedError" touching "thumb thumb thumb" page get carol
closed chromium

machine run -i 'user_pref("browser.aboutwelcome.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("termsofuse.bypassNotification", true);
user_pref("browser.startup.homepage_override.mstone", "ignore");
' sh -c 'mkdir -p /home/alice/firefox && cat >/home/alice/firefox/user.js && chown -R alice: /home/alice/firefox'
browser "firefox-esr --no-remote --profile firefox"
makes_and_uses
expect 0 "signed in as bob" choosing "mousemove 498 177 click 1" touching "right right" page get -
from_list &
expect 0 "signed in as bob" choosing "mousemove 498 177 click 1" touching "right right" page get - conditional
expect 1 "NotAllowedError" touching "thumb thumb thumb" page get carol
closed firefox
