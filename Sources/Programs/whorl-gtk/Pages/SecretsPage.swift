internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Whorl

/// A page with the items of one kind: a list with a search, and the details of one item.
final class SecretsPage: WindowPage {
  let kind: SecretEntry.Kind
  private let interface = Interface(PackageResources.secrets_ui)
  private let store: ShownStore
  private let icon: String
  private var rows: RowList?
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
    empty.setIconWhenShown(icon)
    empty.set("title", emptyTitle)
    empty.set("description", emptyDescription)
    interface["search"].setSpokenName(Text.of("Search"))
    interface["search"].on("search-changed") { [weak self] in
      self?.update()
      self?.rows?.scrollToStart()
    }
    let add = interface["add"]
    add.isVisible = kind != .passkey
    if kind == .key {
      add.set("tooltip-text", Text.of("New SSH Key"))
      add.setSpokenName(Text.of("New SSH Key"))
    }
    if kind == .secret { offerImport() }
    add.on("clicked") { SecretEditor(kind, of: store).present() }
    interface["back"].on("clicked") { [weak self] in self?.showList() }
    interface["back-to-pages"].on("clicked") { goBack() }
    rows = RowList(
      in: interface["list"], named: Text.of("Secrets"),
      fill: { [weak self] position, row in self?.fill(row, position) },
      activate: { [weak self] position in self?.open(position) })
  }

  var root: Widget { interface["page"] }

  /// Shows the items of another state of the store.
  func refresh() {
    update()
    guard let entry = details.entry else { return }
    // The item may be gone, or have changed.
    guard let now = store.list.entries.first(where: { $0.id == entry.id }) else { return showList() }
    if now != entry { details.show(now) }
  }

  /// Whether the page has a button that leads back to the list of pages, in a narrow window.
  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  /// By a button, and by dragging a file onto the page.
  private func offerImport() {
    let button = interface["import"]
    button.isVisible = true
    button.on("clicked") { [store] in ImportWindow(of: store).present() }
    root.onDrop { [store] path in ImportWindow(of: store).present(path) }
  }

  private func showList() {
    details.leave()
    root.show("list")
  }

  private func open(_ position: Int) {
    if shown.indices.contains(position) { show(shown[position]) }
  }

  /// Shows the details of an entry.
  func show(_ entry: SecretEntry) {
    details.show(entry)
    root.show("details")
  }

  /// Shows what a search finds.
  func search(_ text: String) {
    showList()
    interface["search"].text = text
  }

  private func fill(_ row: Interface, _ position: Int) {
    guard shown.indices.contains(position) else { return }
    let entry = shown[position]
    row["icon"].set("icon-name", icon)
    row["title"].set("label", entry.title)
    let isWaiting = store.isWaiting(entry)
    row["subtitle"].set("label", entry.summary(isWaiting: isWaiting))
    let mark =
      !entry.isReadable
      ? "dialog-warning-symbolic"
      : isWaiting ? "content-loading-symbolic" : entry.isShared ? "emblem-synchronizing-symbolic" : nil
    row["mark"].set("icon-name", mark ?? "")
    row["mark"].isVisible = mark != nil
  }

  private func update() {
    let search = interface["search"].text
    let entries = store.list.entries(of: kind, matching: search)
    let hasAny = !entries.isEmpty || store.list.entries.contains { $0.kind == kind }
    interface["states"].show(!hasAny ? "empty" : entries.isEmpty ? "none-found" : "entries")
    guard entries != shown else { return }
    shown = entries
    rows?.show(count: entries.count)
  }
}

extension SecretEntry {
  /// The second line of the entry: what it needs, or why it cannot be read, and whether it is on other computers.
  ///
  /// - Parameter isWaiting: whether a version of it has come from another computer and cannot be stored yet.
  func summary(isWaiting: Bool) -> String {
    if let lost = item.state.spoken { return lost }
    let need = Text.of("needs {rule}", ["rule": item.access.spoken])
    let remark =
      isWaiting
      ? Text.of("a version from another computer waits")
      : isShared ? Text.of("also on your other computers") : nil
    return [need, remark].compactMap { $0 }.joined(separator: " · ")
  }
}
