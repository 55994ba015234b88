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

# key CODES: presses these keys, one after another.
key() {
  js "for (const code of [$1])
    for (const pressed of [1, 0]) global.keyboard.notify_keyval(imports.gi.GLib.get_monotonic_time(), code, pressed)" >/tmp/typed
}
keys() { key "$(printf '%s' "$1" | od -An -v -tu1 | tr -s ' \n' ',' | sed 's/^,//; s/,$//')"; }
keys_return() { key 0xff0d; }
keys_escape() { key 0xff1b; }

installed_service
# Without GDM the shell says at the first login that the screen cannot be locked, before it shows any other notification.
runuser -u alice -- mkdir -p /home/alice/.local/share/gnome-shell
runuser -u alice -- touch /home/alice/.local/share/gnome-shell/lock-warning-shown
log_in wayland GNOME <<'END'
dbus-update-activation-environment --systemd XDG_CURRENT_DESKTOP XDG_SESSION_TYPE WAYLAND_DISPLAY=wayland-0
exec gnome-shell --headless --unsafe-mode --wayland --wayland-display=wayland-0 --virtual-monitor 1024x768
END
wait_for "the session of alice" in_desktop 'busctl --user status org.freedesktop.Notifications'
in_desktop 'gnome-shell --version'
wait_for "the start of the shell" is '!Main.layoutManager._startingUp'
js '(function () {
  const { Clutter } = imports.gi;
  const seat = Clutter.get_default_backend().get_default_seat();
  global.pointer = seat.create_virtual_device(Clutter.InputDeviceType.POINTER_DEVICE);
  global.keyboard = seat.create_virtual_device(Clutter.InputDeviceType.KEYBOARD_DEVICE);
  Main.overview.hide();
})()' >/tmp/typed
wait_for "the desktop behind the overview" is '!Main.overview.visible'
set_up
tell_of_a_gate

# The dialog of polkit's agent, which is a part of the shell. It shows the prompt in the empty field.
dialog() {
  is 'Main.componentManager._allComponents.polkitAgent._currentDialog' || return 1
  js '(function texts(actor) {
    const own = actor.hint_text || actor.text || "";
    return [own, ...actor.get_children().filter(child => child.visible).map(texts)].join(" ");
  })(Main.componentManager._allComponents.polkitAgent._currentDialog)'
}
ask_as_administrator
exit 0
