internal import CAdwaita

/// A list whose rows are made as they come into sight (GtkListView), each from `ui/row.ui`.
final class RowList {
  private let list: Widget
  private let model = Widget(gtk_string_list_new(nil))
  private let fill: (Int, Interface) -> Void
  /// The rows that the list shows now, each by its GtkListItem.
  private var rows: [UnsafeMutableRawPointer: Interface] = [:]

  /// - Parameters:
  ///   - fill: puts the texts of the entry at a position into a row.
  ///   - activate: the person has chosen the entry at a position.
  init(
    in list: Widget, named name: String, fill: @escaping (Int, Interface) -> Void, activate: @escaping (Int) -> Void
  ) {
    (self.list, self.fill) = (list, fill)
    // gtk_signal_list_item_factory_new: transfer full, and the list takes it over.
    let factory = Widget(gtk_signal_list_item_factory_new())
    factory.onArgument("setup") { [weak self] item in
      guard let self, let item else { return }
      let row = Interface(PackageResources.row_ui)
      rows[item.pointer] = row
      gtk_list_item_set_child(item.opaque, row["row"].typed())
    }
    factory.onArgument("bind") { [weak self] item in
      guard let self, let item, let row = rows[item.pointer] else { return }
      self.fill(Int(gtk_list_item_get_position(item.opaque)), row)
    }
    factory.onArgument("teardown") { [weak self] item in
      if let item { self?.rows[item.pointer] = nil }
    }
    list.set("factory", factory)
    list.set("model", Widget(gtk_no_selection_new(model.opaque)))
    list.setSpokenName(name)
    list.onNumber("activate") { activate($0) }
  }

  /// Shows other entries. Rows in sight stay, with other texts: making them anew takes longer than a frame.
  func show(count: Int) {
    // The rows take their texts from `fill`; the model only counts them.
    let before = Int(g_list_model_get_n_items(model.opaque))
    // Borrows the text for the call.
    "".withCString { empty in
      var additions = [UnsafePointer<CChar>?](repeating: empty, count: max(count - before, 0))
      additions.append(nil)
      gtk_string_list_splice(model.opaque, guint(min(count, before)), guint(max(before - count, 0)), &additions)
    }
    for (item, row) in rows {
      // One that is kept for later has no position (GTK_INVALID_LIST_POSITION).
      let position = Int(gtk_list_item_get_position(Widget(item).opaque))
      if position < count { fill(position, row) }
    }
  }

  /// Shows the first entry, as after a search.
  func scrollToStart() {
    // The floating variant is taken over.
    gtk_widget_activate_action_variant(list.typed(), "list.scroll-to-item", g_variant_new_uint32(0))
  }
}
