internal import Primitives
internal import SDBus
internal import SecretModel

/// The calls of `org.freedesktop.Secret.Service`.
struct ServiceCalls {
  /// The property with the label of a new collection. Rust's `secret-service` crate sends an item's label instead, the
  /// second name.
  private static let labelProperties = ["\(ServiceName.collection).Label", "\(ServiceName.item).Label"]

  let call: CallContext

  func answer() async throws(ServiceError) -> [BusValue] {
    switch call.form {
    case "OpenSession(sv)": return try openSession()
    case "CreateCollection(a{sv}s)": return try await createCollection()
    case "SearchItems(a{ss})": return try await search()
    case "Unlock(ao)": return try await unlock()
    case "Lock(ao)": return try await lock()
    case "GetSecrets(aoo)": return try await secrets()
    case "ReadAlias(s)":
      let name = try await call.keeper.collection(ofAlias: call.text(0))
      return [.objectPath(name.map { ObjectPath.collection($0).text } ?? ObjectPath.none)]
    case "SetAlias(so)": return try await setAlias()
    default: throw call.unknown
    }
  }

  private func openSession() throws(ServiceError) -> [BusValue] {
    guard let input = call.arguments[1].asVariant else { throw call.unknown }
    let (session, output) = try TransferSession.open(call.text(0), input)
    let name = "s" + SecretServiceItem.newName()
    call.client.add(session, named: name)
    return [.variant(output), .objectPath(ObjectPath.session(name).text)]
  }

  private func createCollection() async throws(ServiceError) -> [BusValue] {
    let properties = call.arguments[0].asDictionary ?? [:]
    let label = Self.labelProperties.lazy.compactMap { properties[$0]?.asString }.first
    let alias = call.text(1)
    // If a collection has the alias already, its properties are set and it is returned.
    if !alias.isEmpty, let name = try await call.keeper.collection(ofAlias: alias) {
      let collection = try await call.keeper.collection(name)
      if let label, label != collection.label { try await call.relabel(collection, label) }
      return [.objectPath(ObjectPath.collection(name).text), .objectPath(ObjectPath.none)]
    }
    let checked = alias.isEmpty ? nil : try checked(alias)
    let made = try await call.keeper.newCollection(label: label ?? "")
    if let checked { try await call.keeper.setAlias(checked, to: made.name) }
    call.signals.created(made.path)
    call.signals.changed(collections: try await call.keeper.collections())
    return [.objectPath(made.path.text), .objectPath(ObjectPath.none)]
  }

  private func search() async throws(ServiceError) -> [BusValue] {
    var (unlocked, locked): ([ObjectPath], [ObjectPath]) = ([], [])
    let gate = try await call.gate()
    let vaultIsLocked = try await call.keeper.found(call.texts(0)) { item in
      if gate.isLocked(item) { locked.append(item.path) } else { unlocked.append(item.path) }
    }
    // In a locked vault nothing is open.
    if vaultIsLocked { (unlocked, locked) = ([], unlocked + locked) }
    return [.paths(unlocked), .paths(locked)]
  }

  private func unlock() async throws(ServiceError) -> [BusValue] {
    var request = UnlockRequest(call: call)
    for path in call.paths(0) { try await request.add(path) }
    let prompt = try await request.prompt()
    return [
      .paths(request.unlocked),
      .objectPath(prompt.map { ObjectPath.prompt($0.name).text } ?? ObjectPath.none),
    ]
  }

  private func lock() async throws(ServiceError) -> [BusValue] {
    var locked: [ObjectPath] = []
    for path in call.paths(0).compactMap(ObjectPath.init) {
      do throws(ServiceError) {
        if try await lock(path) { locked.append(path) }
      } catch .noSuchObject {
        // As for `Unlock`, an object that does not exist is left out.
      }
    }
    return [.paths(locked), .objectPath(ObjectPath.none)]
  }

  /// Returns false for an object that cannot be locked.
  private func lock(_ path: ObjectPath) async throws(ServiceError) -> Bool {
    switch path {
    case .collection, .alias:
      let collection = try await call.collection(at: path)
      let isNew = call.locks.lock(collection: collection.name)
      // Grants end, so that the next read asks again.
      call.client.reads.forget(nil)
      call.desk.forget(nil)
      if isNew { await call.signals.changed(collection, isLocked: true, call.locks) }
    case .item(let collection, let name):
      let item = try await call.keeper.item(name, in: collection)
      call.client.reads.forget(item.id)
      call.desk.forget(item.id)
      // An item with a rule is not locked here: its rule asks at the next read.
      if item.isGated {
        call.signals.changed(item: item)
      } else if call.locks.lock(item) {
        call.signals.changed(item: item, ["Locked": .boolean(true)])
      }
    default: return false
    }
    return true
  }

  /// The most bytes of the secrets of one answer.
  private static let answerLimit = 16 << 20

  private func secrets() async throws(ServiceError) -> [BusValue] {
    let session = try call.client.session(call.text(1))
    var named: Set<ObjectPath> = []
    let reads = call.paths(0).compactMap { path -> ItemRead? in
      guard let object = ObjectPath(path), case .item(let collection, let name) = object, named.insert(object).inserted
      else { return nil }
      return ItemRead(call: call, collection: collection, name: name)
    }
    var entries: [BusValue] = []
    var size = 0
    func take(_ released: ReleasedItem) throws(ServiceError) {
      guard let item = SecretServiceItem(released.item) else { return }
      size += released.secret.count
      guard size <= Self.answerLimit else {
        throw .limitsExceeded("the secrets have more than \(Self.answerLimit >> 20) MiB together")
      }
      entries.append(
        .entry(key: .objectPath(item.path.text), try session.encode(released, session: call.text(1))))
    }
    if reads.count == 1 {
      do throws(ServiceError) { try take(try await reads[0].released(waits: true)) } catch .isLocked, .noSuchObject {}
    } else {
      try await ItemRead.each(reads, for: call, take)
    }
    return [.array(of: "{o\(SecretStructure.signature)}", entries)]
  }

  private func setAlias() async throws(ServiceError) -> [BusValue] {
    let (alias, path) = (try checked(call.text(0)), call.text(1))
    guard path != ObjectPath.none else {
      try await call.keeper.setAlias(alias, to: nil)
      return []
    }
    guard let object = ObjectPath(path) else { throw .noSuchObject }
    try await call.keeper.setAlias(alias, to: try await call.collection(at: object).name)
    return []
  }

  /// Refuses an alias that does not fit into an object path or into a list with commas.
  private func checked(_ alias: String) throws(ServiceError) -> String {
    guard ObjectPath.part(alias) == alias else {
      throw .invalidArguments("an alias has letters and digits, 64 at most")
    }
    return alias
  }
}
