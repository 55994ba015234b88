# GNOME Shell asks for a finger: its notification, each answer to it, and pinentry-gnome3, whose dialog belongs to the
# shell. Then the shell's dialog for administrators, with a finger and with the password. The shell runs without a screen: the story queries what it shows, and answers with the shell's virtual pointer
# and keyboard. Debian 13.
. /usr/share/whorl-tests/common.sh
. /usr/share/whorl-tests/display.sh
. /usr/share/whorl-tests/gnome.sh

# click BUTTON: clicks the button for which the JavaScript is true.
click() {
  js "(function place(actor) {
    for (const c of actor.get_children()) {
      if (c.mapped && c.reactive && ($1)) {
        const [x, y] = c.get_transformed_position();
        const [width, height] = c.get_transformed_size();
        global.pointer.notify_absolute_motion(imports.gi.GLib.get_monotonic_time(), x + width / 2, y + height / 2);
        return true;
      }
      if (place(c)) return true;
    }
    return false;
  })(Main.messageTray._banner)" >/tmp/clicked
  grep -q '\[true,"true"\]' /tmp/clicked || fail "nothing to click: $1: $(cat /tmp/clicked)"
  for pressed in 1 0; do
    sleep 0.5
    js "global.pointer.notify_button(imports.gi.GLib.get_monotonic_time(), 1, $pressed)" >/tmp/clicked
  done
  sleep 0.5
  js 'global.pointer.notify_absolute_motion(imports.gi.GLib.get_monotonic_time(), 500, 700)' >/tmp/clicked
}

choose() {
  case $1 in
    Close) click 'c.has_style_class_name("message-close-button")' ;;
    *) click "c.label === '$1'" ;;
  esac
}

asks_passcode() { is 'global.stage.key_focus instanceof imports.gi.Clutter.Text'; }

installed_service
on_gnome
set_up
tell_of_a_gate
ask_as_administrator
exit 0
