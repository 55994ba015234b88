internal import Primitives
internal import Prompts
internal import SDBus
internal import SecretModel
internal import Whorl

/// A request of a client to unlock collections and items.
struct UnlockRequest {
  let call: CallContext
  /// The paths that are unlocked already.
  private(set) var unlocked: [ObjectPath] = []
  private var collections: [SecretServiceFolder] = []
  private var items: [SecretServiceItem] = []
  /// The locked collections that contain these items. They are unlocked together with the items.
  private var enclosing: [SecretServiceFolder] = []

  init(call: CallContext) { self.call = call }

  /// Adds the object at a path. Ignores a path without an object.
  mutating func add(_ path: String) async throws(ServiceError) {
    do throws(ServiceError) {
      switch ObjectPath(path) {
      case .collection(let name)?: add(try await call.keeper.collection(name), at: .collection(name))
      case .alias(let alias)?: add(try await call.collection(at: .alias(alias)), at: .alias(alias))
      case .item(let collection, let name)?:
        let item = try await call.keeper.item(name, in: collection)
        try await add(item)
      default: break
      }
    } catch .noSuchObject {
      return
    }
  }

  private mutating func add(_ item: SecretServiceItem) async throws(ServiceError) {
    guard try await call.gate().isLocked(item) else { return unlocked.append(item.path) }
    items.append(item)
    guard call.locks.isLocked(collection: item.collection), !enclosing.contains(where: { $0.name == item.collection })
    else { return }
    enclosing.append(try await call.keeper.collection(item.collection))
  }

  private mutating func add(_ collection: SecretServiceFolder, at path: ObjectPath) {
    if call.locks.isLocked(collection: collection.name) {
      collections.append(collection)
    } else {
      unlocked.append(path)
    }
  }

  /// Asks the person at once, and unlocks what is locked.
  func perform() async throws(VaultError) {
    if try await call.keeper.store.awaitsFirstUnlock() { try await Self.unlockVault(call) }
    guard !collections.isEmpty || !items.isEmpty else { return }
    try await Self.unlock(collections + enclosing, items, call)
  }

  /// The prompt that unlocks what is locked; nil if nothing is.
  mutating func prompt() async throws(ServiceError) -> ServicePrompt? {
    let vaultIsLocked = try await call.keeper.isLocked()
    // While the vault is locked, nothing counts as unlocked.
    let waiting = vaultIsLocked ? unlocked : []
    if vaultIsLocked { unlocked = [] }
    let paths = waiting + collections.map(\.path) + items.map(\.path)
    guard !paths.isEmpty else { return nil }
    let (call, collections, items) = (call, collections + enclosing, items)
    let prompt = ServicePrompt(
      named: "p" + SecretServiceItem.newName(), dismissed: .paths([])
    ) {
      do throws(VaultError) {
        if vaultIsLocked { try await Self.unlockVault(call) }
        try await Self.unlock(collections, items, call)
        return .paths(paths)
      } catch {
        // If the vault has ended, nothing is unlocked, and the prompt does not count as dismissed.
        let hasEnded = [.vaultEnded, .outcomeUnknown].contains(ServiceError(error)) && !Task.isCancelled
        return hasEnded ? .paths([]) : nil
      }
    } completed: { prompt, dismissed, result in
      call.client.remove(prompt)
      call.signals.completed(prompt, of: call.client.name, dismissed: dismissed, result)
    }
    try call.client.add(prompt)
    return prompt
  }

  /// Unlocks the vault itself, after asking the person.
  private static func unlockVault(_ call: CallContext) async throws(VaultError) {
    try await call.client.reads.show(Text.of("unlock the store")) { context, reason throws(VaultError) in
      try await call.keeper.store.unlock(reason: reason, using: context)
    }
    // Announced before the end of the prompt.
    await call.vaultLock.tell(isLocked: false, call.signals)
  }

  /// Unlocks everything after as many prompts as are needed to name it.
  private static func unlock(
    _ collections: [SecretServiceFolder], _ items: [SecretServiceItem], _ call: CallContext
  ) async throws(VaultError) {
    let rule = try await call.client.rule.current()
    func needsRule(_ item: SecretServiceItem) -> Bool { item.isGated || rule != nil }
    var namedCollections = Set<String>()
    let lockedCollections = collections.filter {
      call.locks.isLocked(collection: $0.name) && namedCollections.insert($0.name).inserted
    }
    // An item's collection is unlocked together with it.
    func isLockedAlone(_ item: SecretServiceItem) -> Bool {
      call.locks.isLocked(item) && !call.locks.isLocked(collection: item.collection)
    }
    var named = Set<ItemID>()
    let targets =
      items.filter { needsRule($0) && named.insert($0.id).inserted }
      .map { Target(label: $0.label, item: $0, isLocked: isLockedAlone($0)) }
      + lockedCollections.map { Target(label: $0.label, item: nil, isLocked: true) }
      + items.filter { !needsRule($0) && isLockedAlone($0) && named.insert($0.id).inserted }
      .map { Target(label: $0.label, item: nil, isLocked: true) }
    for start in stride(from: 0, to: targets.count, by: PromptLabel.most) {
      try await ask(for: Array(targets[start..<min(start + PromptLabel.most, targets.count)]), call)
    }
    for collection in collections {
      call.locks.unlock(collection: collection.name)
      await call.signals.changed(collection, isLocked: false, call.locks)
    }
    for item in items {
      call.locks.unlock(item)
      call.signals.changed(item: item, ["Locked": .boolean(false)])
    }
  }

  /// Something that a prompt has to name.
  private struct Target {
    let label: String
    /// The item that is read under its own or the program's rule; nil if it is only unlocked.
    let item: SecretServiceItem?
    let isLocked: Bool
  }

  /// Asks once, for at most as many targets as a prompt can name. Locks of programs are opened by any enrolled finger
  /// or the passcode, but not by an earlier touch.
  private static func ask(for targets: [Target], _ call: CallContext) async throws(VaultError) {
    let hasAsked = try await call.client.reads.ask(
      for: targets.compactMap(\.item), unlocking: targets.filter { $0.item == nil }.map(\.label))
    let locked = targets.filter(\.isLocked).map(\.label)
    if !locked.isEmpty, !hasAsked {
      try await call.client.reads.show(
        Text.of("unlock {names}", ["names": PromptLabel.names(locked)]), Self.showPresence)
    }
  }

  /// Asks for an enrolled finger or the passcode. Does nothing in a store without either.
  @Sendable private static func showPresence(
    _ context: AuthenticationContext, _ reason: String
  ) async throws(VaultError) {
    do throws(VaultError) {
      try await context.evaluate(.deviceOwner, reason: reason)
    } catch .passcodeNotSet {
      do throws(VaultError) {
        try await context.evaluate(.biometrics, reason: reason)
      } catch .notEnrolled {}
    }
  }
}
