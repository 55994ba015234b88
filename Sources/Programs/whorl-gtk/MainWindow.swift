internal import CAdwaita
internal import PromptTexts
internal import SecretList
internal import SecretModel
internal import SecureMemory
internal import Whorl

/// The window: one of its states (opening, a problem, the first start, closed, open), and in an open store its pages.
final class MainWindow {
  /// The pages of an open store, by the names of `--page`.
  enum PageName: String, CaseIterable {
    case secrets, passkeys, keys
  }

  private let interface = Interface(PackageResources.window_ui)
  private var pages: [(name: PageName, page: SecretsPage)] = []
  private var firstStart: FirstStartPage?
  private let shown: ShownStore

  init(in application: Widget, _ place: ShownStore.Place) {
    shown = ShownStore(at: place, in: interface["window"], toasts: interface["toasts"], of: application)
    gtk_window_set_application(root.typed(), application.typed())
    interface["retry"].on("clicked") { [self] in open() }
    interface["unlock"].on("clicked") { [self] in unlock() }
    addPages()
    shown.listChanged = { [self] in for (_, page) in pages { page.refresh() } }
    shown.failed = { [self] in show(problem: $0) }
    root.onAnswered("close-request") { [self] in
      firstStart?.leave()
      shown.finishRemovals()
      return false
    }
    // Another program may have changed the store.
    root.on("notify::is-active") { [self] in if root.bool("is-active") { shown.reload() } }
  }

  var root: Widget { interface["window"] }

  func present() { gtk_window_present(root.typed()) }

  /// Opens the store, or shows why that is not possible, or the first start if there is none.
  func open() {
    interface["states"].show("opening")
    Task {
      switch await shown.open() {
      case .open:
        interface["states"].show("open")
        interface["pages"].focus()
      case .closed:
        interface["states"].show("closed")
        interface["unlock"].focus()
      case .missing: showFirstStart()
      case .problem(let error): show(problem: error)
      }
    }
  }

  private func show(problem error: VaultError) {
    let what = error.explanation.what
    interface["problem"].set("title", "\(what.prefix(1).uppercased())\(what.dropFirst())")
    interface["problem"].set("description", error.explanation.advice)
    interface["states"].show("problem")
    interface["retry"].focus()
  }

  private func showFirstStart() {
    let page = firstStart ?? makeFirstStart()
    if firstStart == nil { gtk_stack_add_named(interface["states"].opaque, page.root.typed(), "first-start") }
    firstStart = page
    interface["states"].show("first-start")
  }

  private func makeFirstStart() -> FirstStartPage {
    let place = shown.place
    return FirstStartPage { passcode, allowsGuessable, show in
      try await SecretStore.create(
        at: place.directory, passcode: passcode.copy(), allowsGuessable: allowsGuessable,
        configuration: place.configuration
      ) { key in
        let shared = SharedSecret(key.copy())
        try await show(shared)
      }
    } finished: { [self] in
      open()
    }
  }

  private func unlock() {
    Task { if await shown.unlock() { open() } }
  }

  // MARK: Pages

  private func addPages() {
    let described: [(PageName, SecretEntry.Kind, String, SecretsPage.Words)] = [
      (
        .secrets, .secret, Text.of("Secrets"),
        .init(
          icon: "dialog-password-symbolic", emptyTitle: Text.of("No Secrets Yet"),
          emptyDescription: Text.of("Add one with the plus sign, or let programs keep their passwords here."))
      ),
      (
        .passkeys, .passkey, Text.of("Passkeys"),
        .init(
          icon: "avatar-default-symbolic", emptyTitle: Text.of("No Passkeys Yet"),
          emptyDescription: Text.of("Websites make them when you sign up with a passkey."))
      ),
      (
        .keys, .key, Text.of("Keys"),
        .init(
          icon: "network-server-symbolic", emptyTitle: Text.of("No Keys Yet"),
          emptyDescription: Text.of("Keys for SSH and certificates are listed here."))
      ),
    ]
    for (name, kind, title, words) in described {
      let page = SecretsPage(kind, words, of: shown) { [self] in showPages() }
      pages.append((name, page))
      gtk_stack_add_named(interface["content"].opaque, page.root.typed(), name.rawValue)
      let row = Interface(PackageResources.row_ui)
      row["icon"].set("icon-name", words.icon)
      row["title"].set("label", title)
      row["subtitle"].isVisible = false
      row["mark"].isVisible = false
      gtk_list_box_append(interface["pages"].opaque, row["row"].typed())
    }
    let list = interface["pages"]
    list.setSpokenName(Text.of("Pages"))
    list.onArgument("row-activated") { [self] row in
      if let row { show(PageName.allCases[Int(gtk_list_box_row_get_index(row.typed()))]) }
    }
    let leaflet = interface["leaflet"]
    leaflet.on("notify::folded") { [self] in
      for (_, page) in pages { page.setNarrow(leaflet.bool("folded")) }
    }
    show(.secrets)
  }

  func show(_ page: PageName) {
    guard let index = PageName.allCases.firstIndex(of: page) else { return }
    gtk_list_box_select_row(
      interface["pages"].opaque, gtk_list_box_get_row_at_index(interface["pages"].opaque, Int32(index)))
    interface["content"].show(page.rawValue)
    interface["leaflet"].show("content")
  }

  /// In a narrow window: the list of pages in place of the page.
  private func showPages() { interface["leaflet"].show("sidebar") }
}
