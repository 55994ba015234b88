internal import SDBus
internal import SecretModel
internal import Whorl

/// A client's call, with everything that is needed to answer it.
struct CallContext: Sendable {
  let keeper: ItemKeeper
  let desk: PromptDesk
  let locks: Locks
  let vaultLock: VaultLockWatch
  let signals: ServiceSignals
  var client: BusClient
  let member: String
  /// The D-Bus signature of the arguments.
  let signature: String
  let arguments: [BusValue]

  /// The call with its signature, such as `Unlock(ao)`.
  var form: String { "\(member)(\(signature))" }

  /// The error for a call that the object does not support.
  var unknown: ServiceError { .unknownMethod(form) }

  func text(_ place: Int) -> String { arguments[place].asString ?? arguments[place].asObjectPath ?? "" }

  func texts(_ place: Int) -> [String: String] {
    // An empty dictionary has a type, too.
    arguments[place].asTexts ?? [:]
  }

  /// The paths of an argument of type `ao`.
  func paths(_ place: Int) -> [String] { arguments[place].asArray?.compactMap(\.asObjectPath) ?? [] }

  /// The collection of a path, which may be an alias.
  func collection(at path: ObjectPath) async throws(ServiceError) -> SecretServiceFolder {
    switch path {
    case .collection(let name): return try await keeper.collection(name)
    case .alias(let alias):
      guard let name = try await keeper.collection(ofAlias: alias) else { throw .noSuchObject }
      return try await keeper.collection(name)
    default: throw .noSuchObject
    }
  }

  /// Gives a collection another label.
  func relabel(_ collection: SecretServiceFolder, _ label: String) async throws(ServiceError) {
    var collection = collection
    collection.label = label
    try await keeper.keep(collection)
    signals.changed(collection.path, ["Label": .string(label)])
  }

  /// What this client has to prove now before it may read items.
  func gate() async throws(ServiceError) -> Gate {
    do throws(VaultError) {
      return Gate(locks: locks, reads: client.reads, rule: try await client.rule.current())
    } catch {
      throw ServiceError(error)
    }
  }

  /// Calls the vault with this client's earlier touch for the item. If there is none, or it has expired, asks the
  /// person.
  ///
  /// - Parameters:
  ///   - waits: if false, throws `interactionNotAllowed` instead of asking.
  ///   - body: gets the item as well if the touch has just released it.
  func touched<Value>(
    _ item: SecretServiceItem, waits: Bool,
    _ body: (AuthenticationContext, ReleasedItem?) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    let earlier = try await client.reads.reuse(item) { context throws(VaultError) in try await body(context, nil) }
    if let earlier { return earlier }
    guard waits else { throw .interactionNotAllowed }
    let allowed = try await client.reads.ask(for: item)
    return try await body(allowed.context, allowed.released[item.id])
  }
}
