internal import CAdwaita
internal import PromptTexts
internal import SecretList
internal import SecretModel
internal import Whorl

/// A page with the items of one kind: a list with a search, and the details of one item.
final class SecretsPage: WindowPage {
  let kind: SecretEntry.Kind
  private let interface = Interface(PackageResources.secrets_ui)
  private let store: ShownStore
  private let icon: String
  private let model = Widget(gtk_string_list_new(nil))
  /// The rows that the list shows now, each by its GtkListItem.
  private var rows: [UnsafeMutableRawPointer: Interface] = [:]
  private var shown: [SecretEntry] = []
  private let details: SecretDetails

  /// - Parameters:
  ///   - emptyTitle, emptyDescription: what the page shows where there is no item yet.
  ///   - goBack: shows the list of pages, in a narrow window.
  init(
    _ kind: SecretEntry.Kind, icon: String, emptyTitle: String, emptyDescription: String, of store: ShownStore,
    goBack: @escaping () -> Void
  ) {
    (self.kind, self.store, self.icon) = (kind, store, icon)
    details = SecretDetails(interface, store)
    let empty = interface["empty"]
    empty.set("icon-name", icon)
    empty.set("title", emptyTitle)
    empty.set("description", emptyDescription)
    interface["search"].setSpokenName(Text.of("Search"))
    interface["search"].on("search-changed") { [weak self] in self?.update() }
    interface["add"].isVisible = kind == .secret
    interface["add"].on("clicked") { NewSecretWindow(of: store).present() }
    interface["back"].on("clicked") { [weak self] in self?.showList() }
    interface["back-to-pages"].on("clicked") { goBack() }
    makeList()
  }

  var root: Widget { interface["page"] }

  /// Shows the items of another state of the store.
  func refresh() {
    update()
    // The item may be gone, or another one.
    if let entry = details.entry, !store.list.entries.contains(entry) { showList() }
  }

  /// Whether the page has a button that leads back to the list of pages, in a narrow window.
  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  private func showList() {
    details.leave()
    root.show("list")
  }

  private func makeList() {
    // gtk_signal_list_item_factory_new: transfer full, and the list takes it over.
    let factory = Widget(gtk_signal_list_item_factory_new())
    factory.onArgument("setup") { [weak self] item in
      guard let self, let item else { return }
      let row = Interface(PackageResources.row_ui)
      rows[item.pointer] = row
      gtk_list_item_set_child(item.opaque, row["row"].typed())
    }
    factory.onArgument("bind") { [weak self] item in self?.bind(item) }
    factory.onArgument("teardown") { [weak self] item in
      if let item { self?.rows[item.pointer] = nil }
    }
    let list = interface["list"]
    list.set("factory", factory)
    list.set("model", Widget(gtk_no_selection_new(model.opaque)))
    list.setSpokenName(Text.of("Secrets"))
    list.onNumber("activate") { [weak self] position in
      guard let self, shown.indices.contains(position) else { return }
      details.show(shown[position])
      root.show("details")
    }
  }

  private func bind(_ item: Widget?) {
    guard let item, let row = rows[item.pointer] else { return }
    let position = Int(gtk_list_item_get_position(item.opaque))
    guard shown.indices.contains(position) else { return }
    let entry = shown[position]
    row["icon"].set("icon-name", icon)
    row["title"].set("label", entry.title)
    row["subtitle"].set("label", entry.summary)
    row["mark"].set("icon-name", entry.isReadable ? "" : "dialog-warning-symbolic")
    row["mark"].isVisible = !entry.isReadable
  }

  private func update() {
    let search = interface["search"].text
    let entries = store.list.entries(of: kind, matching: search)
    let hasAny = search.isEmpty ? !entries.isEmpty : !store.list.entries(of: kind, matching: "").isEmpty
    interface["states"].show(!hasAny ? "empty" : entries.isEmpty ? "none-found" : "entries")
    guard entries != shown else { return }
    shown = entries
    // The rows take their texts from `shown`; the model only counts them. Borrows the text for the call.
    "".withCString { empty in
      var additions = [UnsafePointer<CChar>?](repeating: empty, count: entries.count)
      additions.append(nil)
      gtk_string_list_splice(model.opaque, 0, g_list_model_get_n_items(model.opaque), &additions)
    }
  }
}

extension SecretEntry {
  /// The second line of the entry: what it needs, or why it cannot be read.
  var summary: String {
    if let lost = item.state.spoken { return lost }
    return String(format: Text.of("needs {rule}"), ["rule": item.access.spoken])
  }
}

extension String {
  /// A translated text with its named places filled.
  init(format: String, _ values: [String: String]) {
    self = values.reduce(format) { $0.replacing("{\($1.key)}", with: $1.value) }
  }
}
