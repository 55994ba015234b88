internal import CAdwaita
internal import Moving
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Settings
internal import Whorl

/// Imports the secrets of another program: chooses it, shows what would come and what would stay and why, and stores
/// nothing before the person says so. What came can be taken out again until the window closes.
final class ImportWindow {
  /// How many names a list shows.
  private static let limit = 100

  private let interface = Interface(PackageResources.import_ui)
  private let shown: ShownStore
  private let lists: [String: RowGroup]
  private var preview: ImportPreview?
  private var outcome: ImportOutcome?

  init(of shown: ShownStore) {
    self.shown = shown
    lists = ["staying", "duplicates", "there", "coming", "programs"].reduce(into: [:]) { [interface] lists, name in
      lists[name] = RowGroup(interface[name])
    }
    interface["spinner"].spinWhileShown()
  }

  /// - Parameter path: of a file to look into at once.
  func present(_ path: String? = nil) {
    let entry = interface["path"]
    entry.on("changed") { [self] in interface["look"].isSensitive = !entry.isEmpty }
    entry.on("entry-activated") { [self] in if !entry.isEmpty { look(intoFile: entry.text) } }
    interface["choose"].on("clicked") { [self] in
      FileDialog.choose(.file, over: interface["window"]) { [self] in interface["path"].text = $0 }
    }
    interface["look"].on("clicked") { [self] in look(intoFile: entry.text) }
    interface["bring"].on("clicked") { [self] in bring() }
    interface["undo"].on("clicked") { [self] in takeOut() }
    listPrograms()
    interface.present(over: shown.window)
    guard let path else { return }
    entry.text = path
    look(intoFile: path)
  }

  private func listPrograms() {
    func row(_ title: String, _ subtitle: String, _ program: OtherProgram) -> RowGroup.Row {
      RowGroup.Row(
        title: title, subtitle: subtitle,
        buttons: [
          .init(label: Text.of("Look"), spoken: Text.of("Look into {program}", ["program": title])) {
            [self] in look(into: program, at: nil)
          }
        ])
    }
    lists["programs"]?.show([
      row(
        Text.of("The Desktop's Keyring"), Text.of("GNOME Keyring, KWallet or KeePassXC, while it is open"),
        .secretService),
      row(Text.of("pass"), Text.of("Its folder, which your GnuPG decrypts"), .pass),
    ])
  }

  // MARK: The preview

  /// A file is read as that of KeePassXC, which is CSV or XML, if its name does not say that it is JSON.
  private func look(intoFile path: String) {
    look(into: path.lowercased().hasSuffix(".json") ? .json : .keepassxc, at: path)
  }

  private func look(into program: OtherProgram, at path: String?) {
    guard let store = shown.store else { return }
    let place = shown.place
    work(Text.of("Reading"))
    MainLoop.begin {
      do throws(Failure) {
        let preview = try await VaultWork.runAside { () async throws(Failure) in
          let access = try WindowSettings(place, store).configuration.access ?? .presence
          return try await ImportPreview(of: program, at: path, into: store, access: AccessControl(access))
        }
        guard !interface.isClosed else { return }
        self.preview = preview
        show(preview.plan)
      } catch {
        interface["problem"].set("label", error.shown)
        interface["problem"].isVisible = true
        interface["states"].show("sources")
      }
    }
  }

  private func show(_ plan: ImportPlan) {
    let count = plan.coming.count
    show(
      Text.of("Nothing is stored yet. The other program keeps what it has."), plan.coming.map(\.name),
      plan.alreadyThere, plan.duplicates, plan.unusable, plan.leftOut)
    interface["coming"].set("title", Text.plural("Coming: {count} Entry", "Coming: {count} Entries", count))
    interface["bring"].isVisible = count > 0
    interface["bring"].focus()
  }

  private func show(
    _ summary: String, _ coming: [ItemName], _ there: [ItemName], _ duplicates: [ItemName], _ unusable: [UnusableEntry],
    _ leftOut: [String]
  ) {
    let left =
      leftOut.isEmpty ? "" : Text.of("Left out: {what}.", ["what": leftOut.joined(separator: "; ")])
    interface["summary"].set("description", Visible.text(left.isEmpty ? summary : "\(summary) \(left)"))
    lists["coming"]?.show(Self.rows(coming))
    lists["there"]?.show(Self.rows(there))
    lists["duplicates"]?.show(Self.rows(duplicates))
    lists["staying"]?.show(
      Self.limited(unusable) { entry in
        let field =
          if case .field(let name, _) = entry.reason { "Its \(name)" } else {
            "It"
          }
        return RowGroup.Row(
          title: Visible.text(entry.called), subtitle: Visible.text("\(field) \(entry.reason.words)."))
      })
    interface["states"].show("report")
  }

  private static func rows(_ names: [ItemName]) -> [RowGroup.Row] {
    limited(names) { RowGroup.Row(title: Visible.text($0.description)) }
  }

  private static func limited<Value>(_ values: [Value], _ row: (Value) -> RowGroup.Row) -> [RowGroup.Row] {
    let more = values.count - limit
    guard more > 0 else { return values.map(row) }
    return values.prefix(limit).map(row) + [
      RowGroup.Row(title: Text.plural("and {count} more", "and {count} more", more))
    ]
  }

  // MARK: The import

  private func bring() {
    guard let preview else { return }
    work(Text.of("Importing"))
    // What is being stored is all stored.
    interface["cancel"].isSensitive = false
    MainLoop.begin {
      do throws(Failure) {
        let outcome = try await VaultWork.runAside { () async throws(Failure) in try await preview.bring() }
        self.outcome = outcome
        show(
          Text.of("The other program keeps what it has. A file with passwords in it is best deleted now."),
          outcome.brought, outcome.alreadyThere, outcome.duplicates, outcome.unusable, outcome.leftOut)
        interface["coming"].set(
          "title",
          Text.plural("{count} Secret Imported", "{count} Secrets Imported", outcome.brought.count))
        interface["undo"].isVisible = !outcome.items.isEmpty
        interface["cancel"].set("label", Text.of("_Close"))
        interface["cancel"].isSensitive = true
      } catch {
        interface.close()
        shown.say(error)
      }
      shown.reload()
    }
  }

  /// Removes what this import has stored, and nothing else.
  private func takeOut() {
    guard let outcome, let store = shown.store else { return }
    interface["undo"].isSensitive = false
    MainLoop.begin {
      do throws(VaultError) {
        try await VaultWork.run { () async throws(VaultError) in try await store.delete(outcome.items) }
        shown.say(Text.of("What was imported is taken out again"))
      } catch {
        shown.say(error)
      }
      interface.close()
      shown.reload()
    }
  }

  private func work(_ title: String) {
    interface["bring"].isVisible = false
    interface["working"].set("title", title)
    interface["states"].show("working")
  }
}
