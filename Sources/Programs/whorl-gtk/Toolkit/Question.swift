internal import CAdwaita
internal import Primitives

/// A question with two answers, over a window.
enum Question {
  /// Asks, and calls `agreed` if the person agrees.
  ///
  /// - Parameters:
  ///   - answer: the button that agrees, such as "Remove".
  ///   - isDestructive: whether something is lost then.
  static func ask(
    _ heading: String, _ body: String, answer: String, isDestructive: Bool, over window: Widget,
    agreed: @escaping () -> Void
  ) {
    present(heading, body, answer: answer, isDestructive: isDestructive, over: window) { if $0 { agreed() } }
  }

  /// The same for what destroys something: the button that agrees can be pressed only after the person has ticked a box.
  ///
  /// - Parameter consent: the words of the box.
  static func ask(
    _ heading: String, _ body: String, consent: String, answer: String, over window: Widget,
    agreed: @escaping () -> Void
  ) {
    let dialog = present(heading, body, answer: answer, isDestructive: true, over: window) { if $0 { agreed() } }
    // gtk_check_button_new_with_label: floating, and the dialog takes it over.
    let box = Widget(UnsafeMutableRawPointer(gtk_check_button_new_with_label(consent)))
    adw_message_dialog_set_extra_child(dialog.typed(), box.typed())
    adw_message_dialog_set_response_enabled(dialog.typed(), "yes", 0)
    box.on("toggled") { adw_message_dialog_set_response_enabled(dialog.typed(), "yes", box.bool("active") ? 1 : 0) }
  }

  /// Asks, and returns whether the person agrees.
  static func isAgreed(_ heading: String, _ body: String, over window: Widget) async -> Bool {
    await withCheckedContinuation { continuation in
      present(heading, body, answer: Text.of("_Continue"), isDestructive: false, over: window) {
        continuation.resume(returning: $0)
      }
    }
  }

  /// Asks for a word before something is deleted for good, and returns whether it was typed.
  static func isWordTyped(_ word: String, _ body: String, over window: Widget) async -> Bool {
    await withCheckedContinuation { continuation in
      let dialog = present(
        Text.of("Delete This For Good?"), body, answer: Text.of("_Delete"), isDestructive: true, over: window
      ) { continuation.resume(returning: $0) }
      let words = Text.of("To delete it, type {word}", ["word": word])
      // gtk_entry_new: floating, and the dialog takes it over.
      let entry = Widget(UnsafeMutableRawPointer(gtk_entry_new()))
      entry.set("placeholder-text", words)
      entry.setSpokenName(words)
      adw_message_dialog_set_extra_child(dialog.typed(), entry.typed())
      adw_message_dialog_set_response_enabled(dialog.typed(), "yes", 0)
      entry.on("changed") {
        adw_message_dialog_set_response_enabled(dialog.typed(), "yes", entry.text == word ? 1 : 0)
      }
    }
  }

  @discardableResult private static func present(
    _ heading: String, _ body: String, answer: String, isDestructive: Bool, over window: Widget,
    answered: @escaping (Bool) -> Void
  ) -> Widget {
    let dialog = makeDialog(heading, body, over: window)
    adw_message_dialog_add_response(dialog.typed(), "no", Text.of("_Cancel"))
    adw_message_dialog_add_response(dialog.typed(), "yes", answer)
    adw_message_dialog_set_response_appearance(
      dialog.typed(), "yes", isDestructive ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED)
    adw_message_dialog_set_close_response(dialog.typed(), "no")
    // The argument is the name of the response (transfer none).
    dialog.onArgument("response") { name in
      answered(name.map { strcmp($0.typed() as UnsafeMutablePointer<CChar>, "yes") == 0 } ?? false)
    }
    gtk_window_present(dialog.typed())
    return dialog
  }

  /// Tells something that only has to be read.
  static func tell(_ heading: String, _ body: String, over window: Widget) {
    let dialog = makeDialog(heading, body, over: window)
    adw_message_dialog_add_response(dialog.typed(), "close", Text.of("_Close"))
    gtk_window_present(dialog.typed())
  }

  private static func makeDialog(_ heading: String, _ body: String, over window: Widget) -> Widget {
    // adw_message_dialog_new: floating, and owned by GTK as every window.
    let dialog = Widget(UnsafeMutableRawPointer(adw_message_dialog_new(window.typed(), heading, nil)))
    dialog.set("body", body)
    return dialog
  }
}
