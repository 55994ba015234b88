internal import PromptTexts
import SecretModel
internal import SecretServiceItems
import SecureMemory
import Settings

/// A change of the rules of items, and of what a collection or a program stores from now on.
struct SecretServiceRuleChange {
  /// The most items of one call. One touch serves all calls.
  private static let itemsOfCall = 1_000
  /// The most items that are listed for people.
  private static let listed = 20

  private let access: AccessControl.Constraint
  private let grant: SecretServiceItem.Grant
  private let folder: SecretServiceFolder?
  /// The new rule of ``folder``; nil if it is unchanged.
  private var newFolder: FolderChange?
  /// The items whose rule changes.
  private var items: [SecretServiceItem] = []
  private var unchanged = 0

  private enum FolderChange {
    case kept(SecretServiceFolder)
    /// New items of a program get the rule of their collection again.
    case removed
  }

  /// - Parameter access: the new rule; nil removes the rule.
  init(
    _ named: SecretServiceNamed, to access: AccessControl.Constraint?, _ grant: SecretServiceItem.Grant
  ) {
    (self.access, self.grant) = (access ?? AccessControl.Constraint.none, grant)
    switch named {
    case .items(let items):
      folder = nil
      add(items)
    case .collection(let collection, let items):
      folder = collection
      add(items)
      change(collection, to: self.access)
    case .program(let program):
      folder = program
      if let access { change(program, to: access) } else if program.access != nil { newFolder = .removed }
    }
  }

  private mutating func add(_ items: [SecretServiceItem]) {
    let rule = AccessControl(access)
    self.items = items.filter { $0.access != rule || ($0.isGated && $0.grant != grant) }
    unchanged = items.count - self.items.count
  }

  private mutating func change(_ folder: SecretServiceFolder, to access: AccessControl.Constraint) {
    // A collection without a rule counts as having the rule `none`.
    let old = folder.kind == .collection ? folder.access ?? AccessControl.Constraint.none : folder.access
    guard old != access || (access != AccessControl.Constraint.none && folder.grant != grant) else { return }
    var new = folder
    (new.access, new.grant) = (access, grant)
    newFolder = .kept(new)
  }

  var isEmpty: Bool { items.isEmpty && newFolder == nil }

  /// Changes the rules, after asking for what the old rules of the items require.
  func carryOut(in store: any VaultService, _ session: Session) async throws(Failure) {
    if !items.isEmpty {
      var context = session.contextOptions
      context.keepsEvidence = true
      let change = SecretServiceItem.change(access: AccessControl(access), grant: grant)
      var rest = items.map(\.id)[...]
      var parts: [[ItemID]] = []
      while !rest.isEmpty {
        parts.append(Array(rest.prefix(Self.itemsOfCall)))
        rest = rest.dropFirst(Self.itemsOfCall)
      }
      let calls = parts
      try await session.asking(
        store, session.answers(), options: context,
        reason: "have \(PromptLabel.names(items.map(\.label))) need \(spoken)"
      ) { asking in
        for ids in calls { _ = try await store.update(.ids(ids), change, secret: nil, asking) }
      }
    }
    guard let newFolder, let folder else { return }
    if case .kept = newFolder { try await session.openIfWaiting(store, session.answers(), to: "keep the rule") }
    try await session.explained { () async throws(VaultError) in
      switch newFolder {
      case .kept(let new):
        _ = try await store.add(new.item, secret: SecretBytes(count: 0), replacing: true, .nobody)
      case .removed:
        _ = try await store.delete(.search(SecretServiceFolder.search(folder.kind, folder.name)))
      }
    }
  }

  private var spoken: String { SecretServiceRule(access: access.rawValue, grant: grant).spoken }

  /// Prints on standard error what changes, or has changed.
  func tell(isDone: Bool) {
    if isEmpty { return StandardError.line("Nothing to change.") }
    if !items.isEmpty {
      let count = Spoken.plural(items.count, "item")
      StandardError.line(
        isDone ? "\(count) \(items.count == 1 ? "needs" : "need") \(spoken) now." : "\(count) would need \(spoken):")
      if !isDone {
        for item in items.prefix(Self.listed) {
          let attributes = item.attributes.isEmpty ? "" : " (\(item.spokenAttributes))"
          StandardError.line("  \(Visible.text("\(item.label)\(attributes)")): now \(item.rule.spoken)")
        }
        if items.count > Self.listed { StandardError.line("  and \(items.count - Self.listed) more") }
      }
    }
    guard let newFolder, let folder else { return }
    let name = Visible.text(folder.name)
    let isCollection = folder.kind == .collection
    let whose = isCollection ? "New items of the collection \(name)" : "What \(name) stores from now on"
    let (need, get) =
      !isDone ? ("would need", "would get") : isCollection ? ("need", "get") : ("needs", "gets")
    switch newFolder {
    case .kept: StandardError.line("\(whose) \(need) \(spoken).")
    case .removed: StandardError.line("\(whose) \(get) the rule of its collection.")
    }
  }

  /// Prints where the items' originals may be, to which a rule of Whorl's does not apply.
  func tellOriginals() {
    guard access != AccessControl.Constraint.none else { return }
    for program in Set(items.compactMap(\.original)).sorted() {
      let names = PromptLabel.names(items.filter { $0.original == program }.prefix(PromptLabel.most).map(\.label))
      let count = items.count { $0.original == program }
      let more = count > PromptLabel.most ? " and \(count - PromptLabel.most) more" : ""
      StandardError.line(
        "Copied from \(Visible.text(program)): \(names)\(more). If the originals are still there, programs can read "
          + "them without a finger. To remove them: whorl secret-service import --remove-old")
    }
  }

  /// As JSON.
  func report(dryRun: Bool) -> Report {
    Report(
      dryRun: dryRun, access: access.rawValue, oncePerSession: grant == .session,
      items: items.map(SecretServiceItemRow.init), unchanged: unchanged,
      collection: newFolder != nil && folder?.kind == .collection ? folder?.name : nil,
      program: newFolder != nil && folder?.kind == .program ? folder?.name : nil)
  }

  struct Report: Encodable {
    var dryRun: Bool
    /// The new rule.
    var access: String
    var oncePerSession: Bool
    /// The items that are changed, as they were before.
    var items: [SecretServiceItemRow]
    /// How many of the named items have the rule already.
    var unchanged: Int
    /// The collection whose new items get the rule.
    var collection: String?
    /// The program whose new items get the rule.
    var program: String?
  }
}
