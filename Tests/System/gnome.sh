# shellcheck shell=sh
# Common functions of the stories with GNOME Shell, after display.sh: they query the shell for what it shows.

# js CODE: the result of JavaScript in the shell, as JSON.
js() {
  printf '%s' "$1" >/home/alice/code.js
  # shellcheck disable=SC2016 # alice's shell fills it in
  in_desktop 'busctl --user --json=short call org.gnome.Shell /org/gnome/Shell org.gnome.Shell Eval s "$(cat code.js)"'
}

# is CODE: whether the JavaScript is true in the shell.
is() { [ "$(js "!!($1)")" = '{"type":"bs","data":[true,"true"]}' ]; }

# shown: the text of the notification on the display; fails where none is. 2: shown, and no longer moving. GNOME before 46 has
# another name for the text.
shown() {
  is 'Main.messageTray._notificationState === 2' &&
    js '(shown => shown.body || shown.bannerBodyText)(Main.messageTray._notification)'
}

# on_gnome: alice's session with GNOME Shell, which has no screen, and a pointer and a keyboard of the shell.
on_gnome() {
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
}

# key CODES: presses these keys, one after another.
key() {
  js "for (const code of [$1])
    for (const pressed of [1, 0]) global.keyboard.notify_keyval(imports.gi.GLib.get_monotonic_time(), code, pressed)" >/tmp/typed
}
keys() { key "$(printf '%s' "$1" | od -An -v -tu1 | tr -s ' \n' ',' | sed 's/^,//; s/,$//')"; }
keys_return() { key 0xff0d; }
keys_escape() { key 0xff1b; }

# The dialog of polkit's agent, which is a part of the shell. It shows the prompt in the empty field.
dialog() {
  is 'Main.componentManager._allComponents.polkitAgent._currentDialog' || return 1
  js '(function texts(actor) {
    const own = actor.hint_text || actor.text || "";
    return [own, ...actor.get_children().filter(child => child.visible).map(texts)].join(" ");
  })(Main.componentManager._allComponents.polkitAgent._currentDialog)'
}

# in_overview WORDS: opens the overview, and types these words into its search.
in_overview() {
  js 'Main.overview.show()' >/tmp/typed
  wait_for "the overview" is 'Main.overview.visible && !Main.overview.animationInProgress'
  keys "$1"
}

# overview_says TEXT: whether the overview shows a text.
overview_says() {
  js '(function texts(actor) {
    return [actor.text || "", ...actor.get_children().filter(child => child.visible).map(texts)].join(" ");
  })(Main.layoutManager.overviewGroup)' | grep -qF "$1"
}

# clipboard: what a program gets that pastes. copy_elsewhere: another program, the shell, copies a text.
clipboard() {
  js 'global.pasted = null;
    imports.gi.St.Clipboard.get_default().get_text(imports.gi.St.ClipboardType.CLIPBOARD,
      (_, text) => { global.pasted = text || ""; })' >/tmp/typed
  wait_for "what is in the clipboard" is 'global.pasted !== null'
  js 'global.pasted' | python3 -c 'import json, sys; print(json.loads(json.load(sys.stdin)["data"][1]), end="")'
}
copy_elsewhere() {
  js 'imports.gi.St.Clipboard.get_default().set_text(imports.gi.St.ClipboardType.CLIPBOARD, "from elsewhere")' >/tmp/typed
}

# window TITLE: the window with that title, in JavaScript. keyboard_to TITLE: gives it the keyboard, as the shell does when the
# person chooses the window.
window() { echo "global.get_window_actors().map(actor => actor.meta_window).find(window => window.title === '$1')"; }
keyboard_to() {
  wait_for "the window $1" is "$(window "$1")"
  js "Main.activateWindow($(window "$1"))" >/tmp/typed
  wait_for "the keyboard of $1" is "global.display.focus_window.title === '$1'"
}

# in_another_window: opens a window of another program, which gets the keyboard. It has no button to close it: the screen reader
# presses the one of Whorl.
in_another_window() {
  cat >/home/alice/another.js <<'END'
imports.gi.versions.Gtk = '4.0';
const { GLib, Gtk } = imports.gi;
Gtk.init();
new Gtk.Window({ title: 'Another', decorated: false }).present();
new GLib.MainLoop(null, false).run();
END
  in_desktop 'systemd-run --user --quiet --working-directory=/home/alice gjs another.js'
  keyboard_to Another
}
