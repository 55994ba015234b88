internal import CAdwaita
internal import Moving
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Whorl

/// The details of one item: its secret on request, and its removal.
final class SecretDetails {
  private static let hidden = "••••••••"
  /// How long a secret is shown, and how long it stays in the clipboard.
  private static let seconds = 30

  private(set) var entry: SecretEntry?
  private let interface: Interface
  private let shown: ShownStore
  private var hiding: MainLoop.Timer?
  private let code: CodeRow

  init(_ interface: Interface, _ shown: ShownStore) {
    (self.interface, self.shown) = (interface, shown)
    code = CodeRow(interface, shown)
    interface["reveal"].on("clicked") { [weak self] in self?.toggle() }
    interface["copy"].on("clicked") { [weak self] in self?.copy() }
    interface["copy-public"].on("clicked") { [weak self] in self?.copyPublicHalf() }
    interface["edit"].on("clicked") { [weak self] in self?.edit() }
    interface["share"].on("clicked") { [weak self] in self?.share() }
    interface["remove"].on("clicked") { [weak self] in self?.remove() }
  }

  func show(_ entry: SecretEntry) {
    hide()
    self.entry = entry
    let item = entry.item
    interface["details-title"].set("title", entry.title)
    interface["secret-group"].isVisible = entry.isReadable && entry.kind == .secret
    code.show(codesOf: entry)
    let key = SSHKey(item)
    interface["ssh-group"].isVisible = key != nil
    interface["public"].set("subtitle", key?.type ?? "")
    let hosts = key?.hosts.map { Visible.text($0.text) } ?? []
    interface["hosts"].set("subtitle", hosts.isEmpty ? Text.of("Every host") : hosts.joined(separator: ", "))
    interface["name"].set("subtitle", entry.title)
    interface["group"].set("subtitle", entry.group)
    interface["group"].isVisible = !entry.group.isEmpty
    interface["needs"].set("subtitle", item.state.spoken ?? item.access.spoken)
    interface["shared"].set(
      "subtitle", entry.isShared ? Text.of("Also on your other computers") : Text.of("On this computer only"))
    let share = interface["share"]
    share.isVisible = entry.isReadable && shown.sharing?.standing == .member
    share.set("label", entry.isShared ? Text.of("Stop Sharing") : Text.of("Share"))
    share.isSensitive = true
    interface["edit"].isVisible = entry.isReadable && entry.kind == .secret
    interface["changed"].set("subtitle", Spoken.time(Int64(clamping: item.modified)))
    interface["changed"].isVisible = item.state != .damaged
  }

  /// The page shows something else.
  func leave() {
    // Programs that read the window aloud also see pages that are not on top.
    interface["details-title"].set("title", "")
    hide()
    code.show(codesOf: nil)
    entry = nil
  }

  // MARK: The secret

  private func toggle() {
    if hiding != nil { return hide() }
    release(for: { Text.of("show “{name}”", $0) }) { [self] released in
      let label = interface["secret"]
      label.show(released.secret, as: .label)
      label.set("selectable", true)
      setReveal("view-conceal-symbolic", Text.of("Hide"))
      hiding?.cancel()
      hiding = MainLoop.after(seconds: Self.seconds) { [weak self] in
        self?.hiding = nil
        self?.conceal()
      }
    }
  }

  private func hide() {
    hiding?.cancel()
    hiding = nil
    conceal()
  }

  private func conceal() {
    interface["secret"].set("label", Self.hidden)
    interface["secret"].set("selectable", false)
    setReveal("view-reveal-symbolic", Text.of("Show"))
  }

  private func setReveal(_ icon: String, _ name: String) {
    interface["reveal"].set("icon-name", icon)
    interface["reveal"].set("tooltip-text", name)
    interface["reveal"].setSpokenName(name)
  }

  private func copy() {
    release(for: { Text.of("copy “{name}”", $0) }) { [self] released in
      shown.copy(released.secret, forSeconds: Self.seconds)
    }
  }

  private func copyPublicHalf() {
    if let key = entry.flatMap({ SSHKey($0.item) }) { shown.copy(key.line, saying: Text.of("Public half copied")) }
  }

  /// Has the vault release the secret, after the prompt, and passes it on if the page still shows its item.
  private func release(for reason: ([String: String]) -> String, _ use: @escaping (ReleasedItem) -> Void) {
    guard let entry, let store = shown.store else { return }
    let reason = reason(["name": PromptLabel.text(entry.title)])
    let prompt = shown.prompt
    setBusy(true)
    MainLoop.begin {
      do throws(VaultError) {
        let released = try await VaultWork.run { () async throws(VaultError) in
          let context = store.makeContext(prompt: prompt)
          context.options.offersFallbackAtOnce = true
          defer { context.invalidate() }
          return try await store.secrets(of: [entry.id], reason: reason, using: context)
        }
        if let secret = released.first, self.entry == entry { use(secret) }
      } catch {
        shown.say(error)
      }
      setBusy(false)
    }
  }

  private func setBusy(_ isBusy: Bool) {
    interface["reveal"].isSensitive = !isBusy
    interface["copy"].isSensitive = !isBusy
  }

  // MARK: Changes

  private func edit() {
    if let entry { SecretEditor(entry.kind, editing: entry, of: shown).present() }
  }

  /// Shares the item with the other computers, or stops that, and tells them.
  private func share() {
    guard let entry, let store = shown.store, let sharing = shown.sharing else { return }
    let kept = OnlyCopies(unsharing: [entry.item], sharing)
    guard !entry.isShared || kept.isEmpty else {
      return shown.say(
        Text.of("Another version of it would be lost. Choose one of the two on the page “Computers” first."),
        isUrgent: true)
    }
    let isShared = !entry.isShared
    let name = ["name": PromptLabel.text(entry.title)]
    let reason = isShared ? Text.of("share “{name}”", name) : Text.of("share “{name}” no longer", name)
    let place = shown.place
    interface["share"].isSensitive = false
    MainLoop.begin {
      do throws(VaultError) {
        let change = ItemChange(attributes: [.synchronizable: isShared ? AttributeValue.number(1) : nil])
        try await shown.ask(for: reason) {
          service, asking throws(VaultError) in
          _ = try await service.update(.ids([entry.id]), change, secret: nil, asking)
        }
        shown.say(isShared ? Text.of("Shared with your computers") : Text.of("Kept on this computer only"))
        // Where the repository is out of reach, the change waits for the next exchange.
        _ = await Exchange.run(store, at: place)
      } catch {
        shown.say(error)
      }
      interface["share"].isSensitive = true
      shown.reload()
    }
  }

  // MARK: Removal

  private func remove() {
    guard let entry else { return }
    shown.remove(entry)
  }
}
