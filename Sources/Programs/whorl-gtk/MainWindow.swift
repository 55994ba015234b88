internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Whorl

/// The window: one of its states (opening, a problem, the first start, closed, open), and in an open store its pages.
final class MainWindow {
  private let interface = Interface(PackageResources.window_ui)
  private var pages: [PageName: any WindowPage] = [:]
  private var firstStart: FirstStartPage?
  private var leaving: LeavePage?
  /// An item that is to be shown when the list has it.
  private var wanted: ItemID?
  private let shown: ShownStore

  init(in application: Widget, _ place: ShownStore.Place) {
    shown = ShownStore(at: place, in: interface["window"], toasts: interface["toasts"], of: application)
    gtk_window_set_application(root.typed(), application.typed())
    addStyle()
    interface["spinner"].spinWhileShown()
    interface["retry"].on("clicked") { [self] in open() }
    interface["unlock"].on("clicked") { [self] in unlock() }
    listPages()
    shown.listChanged = { [self] in
      for page in pages.values { page.refresh() }
      showWanted()
    }
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

  private func addStyle() {
    // gtk_css_provider_new: transfer full, and released below, since the display keeps it. The data is borrowed.
    let style = Widget(UnsafeMutableRawPointer(gtk_css_provider_new()))
    PackageResources.window_css.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        gtk_css_provider_load_from_data(style.typed(), $0.baseAddress, gssize($0.count))
      }
    }
    gtk_style_context_add_provider_for_display(
      gtk_widget_get_display(root.typed()), style.opaque, guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
    g_object_unref(style.pointer)
  }

  func present() { gtk_window_present(root.typed()) }

  /// Opens the store, or shows why that is not possible, or the first start if there is none.
  func open() {
    interface["states"].show("opening")
    MainLoop.begin {
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
    interface["problem"].set("title", error.explanation.what.capitalizedStart)
    interface["problem"].set("description", "\(error.explanation.advice.capitalizedStart).")
    interface["states"].show("problem")
    interface["retry"].focus()
  }

  private func showFirstStart() {
    let page = firstStart ?? makeFirstStart()
    if firstStart == nil { gtk_stack_add_named(interface["states"].opaque, page.root.typed(), "first-start") }
    firstStart = page
    interface["states"].show("first-start")
    page.focus()
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
      show(.setup)
      open()
    }
  }

  /// Shows what leaving Whorl means, over all pages.
  func leaveWhorl() {
    guard shown.store != nil else { return }
    let page = leaving ?? LeavePage(of: shown) { [self] in open() }
    if leaving == nil { gtk_stack_add_named(interface["states"].opaque, page.root.typed(), "leave") }
    leaving = page
    interface["states"].show("leave")
    page.look()
  }

  private func unlock() {
    MainLoop.begin { if await shown.unlock() { open() } }
  }

  // MARK: Pages

  private func listPages() {
    for name in PageName.allCases {
      let row = Interface(PackageResources.row_ui)
      row["icon"].set("icon-name", name.icon)
      row["title"].set("label", name.title)
      row["row"].setSpokenName(name.title)
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
      for page in pages.values { page.setNarrow(leaflet.bool("folded")) }
    }
    show(.secrets)
  }

  /// Shows a page, which is made when it is first shown.
  func show(_ name: PageName) {
    wanted = nil
    guard let index = PageName.allCases.firstIndex(of: name) else { return }
    let page = pages[name] ?? make(name)
    gtk_list_box_select_row(
      interface["pages"].opaque, gtk_list_box_get_row_at_index(interface["pages"].opaque, Int32(index)))
    interface["content"].show(name.rawValue)
    interface["leaflet"].show("content")
    page.refresh()
  }

  /// Shows what was chosen in a search of the desktop.
  func show(_ choice: SearchProvider.Choice) {
    switch choice {
    case .search(let text):
      show(.secrets)
      (pages[.secrets] as? SecretsPage)?.search(text)
    case .item(let id):
      wanted = id
      showWanted()
      // It may be new.
      if wanted != nil { shown.reload() }
    }
  }

  private func showWanted() {
    guard let entry = shown.list.entries.first(where: { $0.id == wanted }) else { return }
    let name = PageName(entry.kind)
    show(name)
    (pages[name] as? SecretsPage)?.show(entry)
  }

  private func make(_ name: PageName) -> any WindowPage {
    // In a narrow window: the list of pages in place of the page.
    let goBack = { [self] in interface["leaflet"].show("sidebar") }
    let page: any WindowPage =
      switch name {
      case .secrets:
        SecretsPage(
          .secret, icon: name.icon, emptyTitle: Text.of("No Secrets Yet"),
          emptyDescription: Text.of("Add one with the plus sign, or let programs keep their passwords here."),
          of: shown,
          goBack: goBack)
      case .passkeys:
        SecretsPage(
          .passkey, icon: name.icon, emptyTitle: Text.of("No Passkeys Yet"),
          emptyDescription: Text.of("Websites make them when you sign up with a passkey."), of: shown, goBack: goBack)
      case .keys:
        SecretsPage(
          .key, icon: name.icon, emptyTitle: Text.of("No Keys Yet"),
          emptyDescription: Text.of("Keys for SSH and certificates are listed here."), of: shown, goBack: goBack)
      case .fingers: FingersPage(of: shown, goBack: goBack)
      case .computers: ComputersPage(of: shown, goBack: goBack)
      case .activity: ActivityPage(of: shown, goBack: goBack)
      case .protection: ProtectionPage(of: shown, goTo: { [self] in show($0) }, goBack: goBack)
      case .setup:
        SetupPage(
          of: shown, goTo: { [self] in show($0) }, leave: { [self] in leaveWhorl() }, goBack: goBack)
      }
    page.setNarrow(interface["leaflet"].bool("folded"))
    pages[name] = page
    gtk_stack_add_named(interface["content"].opaque, page.root.typed(), name.rawValue)
    return page
  }
}
