internal import Primitives
internal import Prompts
package import SecretModel

/// A collection, a program or items in the store.
package enum SecretServiceNamed: Sendable {
  case items([SecretServiceItem])
  case collection(SecretServiceFolder, [SecretServiceItem])
  case program(SecretServiceFolder)
}

/// A change of the rules of items, and of what a collection or a program stores from now on: which programs ask.
package struct SecretServiceRuleChange: Sendable {
  /// The most items of one call. One touch serves all calls.
  private static let itemsOfCall = 1_000

  package let access: AccessControl.Constraint
  package let grant: SecretServiceItem.Grant
  private let folder: SecretServiceFolder?
  /// The new rule of ``folder``; nil if it is unchanged.
  private var newFolder: FolderChange?
  /// The items whose rule changes, as they are before.
  package private(set) var items: [SecretServiceItem] = []
  /// How many of the named items have the rule already.
  package private(set) var unchanged = 0

  private enum FolderChange {
    case kept(SecretServiceFolder)
    /// New items of a program get the rule of their collection again.
    case removed
  }

  /// - Parameter access: the new rule; nil removes the rule.
  package init(
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

  package var isEmpty: Bool { items.isEmpty && newFolder == nil }

  /// The collection or the program that changes.
  package var changedFolder: SecretServiceFolder? { newFolder == nil ? nil : folder }

  /// Changes the rules, after asking for what the old rules of the items require.
  package func carryOut(_ dialogue: any ChangeDialogue) async throws(Failure) {
    let context = dialogue.context
    if !items.isEmpty {
      var manner = ChangeAsking("have \(PromptLabel.names(items.map(\.label))) need \(spoken)")
      manner.keepsEvidence = true
      let change = SecretServiceItem.change(access: AccessControl(access), grant: grant)
      var rest = items.map(\.id)[...]
      var parts: [[ItemID]] = []
      while !rest.isEmpty {
        parts.append(Array(rest.prefix(Self.itemsOfCall)))
        rest = rest.dropFirst(Self.itemsOfCall)
      }
      let calls = parts
      try await dialogue.asking(manner) { vault, asking in
        for ids in calls { _ = try await vault.update(.ids(ids), change, secret: nil, asking) }
      }
    }
    guard let newFolder, let folder else { return }
    if case .kept = newFolder { try await dialogue.openIfWaiting(to: "keep the rule") }
    try await context.request { vault in
      switch newFolder {
      case .kept(let new):
        _ = try await vault.add(new.item, secret: SecretBytes(count: 0), replacing: true, .nobody)
      case .removed:
        _ = try await vault.delete(.search(SecretServiceFolder.search(folder.kind, folder.name)))
      }
    }
  }

  private var spoken: String { SecretServiceRule(access: access.rawValue, grant: grant).spoken }

  /// What changes, or has changed, for people.
  package func progress(isDone: Bool) -> [ChangeProgress] {
    if isEmpty { return [.done("Nothing to change.")] }
    var said: [ChangeProgress] = []
    if !items.isEmpty {
      let count = Spoken.plural(items.count, "item")
      said.append(
        isDone
          ? .done("\(count) \(items.count == 1 ? "needs" : "need") \(spoken) now.")
          : .done(
            "\(count) would need \(spoken):",
            items.map { item in
              let attributes = item.attributes.isEmpty ? "" : " (\(item.spokenAttributes))"
              return "\(item.label)\(attributes): now \(item.rule.spoken)"
            }))
    }
    guard let newFolder, let folder else { return said }
    let isCollection = folder.kind == .collection
    let whose =
      isCollection ? "New items of the collection \(folder.name)" : "What \(folder.name) stores from now on"
    let (need, get) = !isDone ? ("would need", "would get") : isCollection ? ("need", "get") : ("needs", "gets")
    switch newFolder {
    case .kept: said.append(.done("\(whose) \(need) \(spoken)."))
    case .removed: said.append(.done("\(whose) \(get) the rule of its collection."))
    }
    return said
  }

  /// Where the items' originals may be, to which a rule of Whorl's does not apply.
  package var progressOfOriginals: [ChangeProgress] {
    guard access != AccessControl.Constraint.none else { return [] }
    return Set(items.compactMap(\.original)).sorted().map { program in
      let copied = items.filter { $0.original == program }.map(\.label)
      let more = copied.count > PromptLabel.most ? " and \(copied.count - PromptLabel.most) more" : ""
      return .hint(
        "Copied from \(program): \(PromptLabel.names(Array(copied.prefix(PromptLabel.most))))\(more). If the originals are "
          + "still there, programs can read them without a finger. To remove them: whorl secret-service import --remove-old"
      )
    }
  }
}
