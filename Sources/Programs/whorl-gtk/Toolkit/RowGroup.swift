internal import CAdwaita

/// A group of rows (AdwPreferencesGroup) that is filled anew, and hidden while it has none.
final class RowGroup {
  private let group: Widget
  private var rows: [Widget] = []

  init(_ group: Widget) { self.group = group }

  /// A button at the end of a row.
  struct Button {
    var label: String
    /// A picture in place of the label, which then is what the pointer is told.
    var icon: String?
    /// What a screen reader says, since several rows have the same button.
    var spoken: String
    var isDestructive = false
    var clicked: () -> Void
  }

  /// A row of the group.
  struct Row {
    var title: String
    var subtitle = ""
    /// A picture before the text, and what a screen reader says for it.
    var mark: (icon: String, spoken: String)?
    var buttons: [Button] = []
  }

  func show(_ shown: [Row]) {
    for row in rows { adw_preferences_group_remove(group.typed(), row.typed()) }
    rows = shown.map(make)
    for row in rows { adw_preferences_group_add(group.typed(), row.typed()) }
    group.isVisible = !rows.isEmpty
  }

  private func make(_ row: Row) -> Widget {
    // adw_action_row_new: floating, and the group takes it over. Its texts are names of others, and not markup.
    let made = Widget(UnsafeMutableRawPointer(adw_action_row_new()))
    made.set("use-markup", false)
    made.set("title", row.title)
    made.set("subtitle", row.subtitle)
    if let mark = row.mark {
      // gtk_image_new_from_icon_name: floating, and the row takes it over.
      let image = Widget(UnsafeMutableRawPointer(gtk_image_new_from_icon_name(mark.icon)))
      image.setSpokenName(mark.spoken)
      adw_action_row_add_prefix(made.typed(), image.typed())
    }
    for button in row.buttons {
      // gtk_button_new_with_label, gtk_button_new_from_icon_name: floating, and the row takes it over.
      let widget =
        if let icon = button.icon {
          Widget(UnsafeMutableRawPointer(gtk_button_new_from_icon_name(icon)))
        } else {
          Widget(UnsafeMutableRawPointer(gtk_button_new_with_label(button.label)))
        }
      if button.icon != nil { widget.set("tooltip-text", button.label) }
      gtk_widget_set_valign(widget.typed(), GTK_ALIGN_CENTER)
      if button.isDestructive { gtk_widget_add_css_class(widget.typed(), "destructive-action") }
      widget.setSpokenName(button.spoken)
      widget.on("clicked", button.clicked)
      adw_action_row_add_suffix(made.typed(), widget.typed())
    }
    return made
  }
}
