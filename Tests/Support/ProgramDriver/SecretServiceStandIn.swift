internal import SDBus
internal import Synchronization

/// Stands in for a Secret Service on a private bus. The test decides how its prompts end.
package final class SecretServiceStandIn: Sendable {
  package struct Item: Sendable {
    package var label: String
    package var attributes: [String: String]
    /// Nil where giving it out is refused.
    package var secret: [UInt8]?
    package var contentType: String
    /// The path of its collection.
    package var collection: String
    /// Seconds since 1970.
    package var created: UInt64
    /// Seconds since 1970.
    package var modified: UInt64

    package init(
      label: String, attributes: [String: String], secret: [UInt8]?, contentType: String = "text/plain",
      collection: String = "/collection", created: UInt64 = 0, modified: UInt64 = 0
    ) {
      (self.label, self.attributes, self.secret) = (label, attributes, secret)
      (self.contentType, self.collection, self.created) = (contentType, collection, created)
      self.modified = modified
    }
  }

  /// What becomes of changes.
  package enum Changes: Sendable {
    case made
    /// The last byte of the stored secret is changed.
    case spoiled
    /// Makes this many changes, and leaves the bus at the next one.
    case ending(after: Int)
    case refused
  }

  package enum Prompt: Sendable {
    case none, accepted, dismissed
    /// Dismissed, after another program has sent a signal that it was accepted.
    case forged
  }

  private let connection: BusConnection
  private let intruder: BusConnection
  private let contents: Contents

  /// Its items as they are now. Nil for those that were deleted.
  package var items: [Item?] { contents.items.withLock { $0 } }

  /// - Parameters:
  ///   - aliases: paths of collections by alias.
  ///   - isWhorl: whether it has the object by which Whorl's own service is recognized.
  package init(
    on bus: PrivateBus, prompt: Prompt = .none, aliases: [String: String] = [:], isWhorl: Bool = false,
    changes: Changes = .made, _ items: [Item]
  ) async throws {
    let intruder = try BusConnection(busAddress: bus.address, handlers: .init())
    self.intruder = intruder
    let isLocked = LockState(prompt != .none)
    let contents = Contents(items, changes)
    self.contents = contents
    connection = try BusConnection(
      busAddress: bus.address,
      handlers: .init(call: { call in
        switch call.member {
        case "ReadAlias": call.answer([.objectPath(call.arguments.first?.asString.flatMap { aliases[$0] } ?? "/")])
        case "Introspect" where isWhorl && call.path == "/org/whorl/SecretService":
          call.answer([.string("<node><interface name='org.whorl.SecretService1'/></node>")])
        default: Self.answer(call, prompt, contents, isLocked, intruder)
        }
      }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("org.freedesktop.secrets"), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name of the service is taken", 17) }
  }

  package func close() {
    connection.close()
    intruder.close()
  }

  private final class LockState: Sendable {
    let value: Mutex<Bool>
    init(_ value: Bool) { self.value = Mutex(value) }
  }

  private final class Contents: Sendable {
    let items: Mutex<[Item?]>
    let changes: Changes
    let made = Mutex(0)

    init(_ items: [Item], _ changes: Changes) {
      self.items = Mutex(items)
      self.changes = changes
    }

    /// Whether the call may change something. If not, answers the call.
    func allows(_ call: BusCall) -> Bool {
      switch changes {
      case .made, .spoiled: return true
      case .refused: call.fail("org.freedesktop.DBus.Error.AccessDenied", "Nothing is stored here")
      case .ending(let limit):
        let number = made.withLock { count in
          count += 1
          return count
        }
        if number <= limit { return true }
        call.connection.close()
      }
      return false
    }

    func secret(_ value: BusValue?) -> [UInt8]? {
      guard var bytes = value?.asStructure?.dropFirst(2).first?.asBytes else { return nil }
      if case .spoiled = changes, let last = bytes.popLast() { bytes.append(last ^ 1) }
      return bytes
    }
  }

  private static func answer(
    _ call: BusCall, _ prompt: Prompt, _ contents: Contents, _ isLocked: LockState, _ intruder: BusConnection
  ) {
    let locked = isLocked.value.withLock { $0 }
    let items = contents.items.withLock { $0 }
    let number = call.path.hasPrefix("/item") ? Int(call.path.dropFirst("/item".count)) : nil
    let item = number.flatMap { items.indices.contains($0) ? items[$0] : nil }
    switch call.member {
    case "CreateItem":
      guard contents.allows(call) else { return }
      let properties = call.arguments.first?.asDictionary ?? [:]
      let prefix = "org.freedesktop.Secret.Item."
      let new = Item(
        label: properties["\(prefix)Label"]?.asString ?? "",
        attributes: properties["\(prefix)Attributes"]?.asTexts ?? [:],
        secret: contents.secret(call.arguments.dropFirst().first), collection: call.path)
      let place = contents.items.withLock { items in
        items.append(new)
        return items.count - 1
      }
      call.answer([.objectPath("/item\(place)"), .objectPath("/")])
    case "SetSecret":
      guard contents.allows(call) else { return }
      let secret = contents.secret(call.arguments.first)
      if let number { contents.items.withLock { $0[number]?.secret = secret } }
      call.answer()
    case "Set":
      guard contents.allows(call) else { return }
      let label = call.arguments.last.flatMap { ($0.asVariant ?? $0).asString }
      if let number, let label { contents.items.withLock { $0[number]?.label = label } }
      call.answer()
    case "Delete":
      guard contents.allows(call) else { return }
      if let number { contents.items.withLock { $0[number] = nil } }
      call.answer([.objectPath("/")])
    case "OpenSession": call.answer([.variant(.string("")), .objectPath("/session")])
    case "GetAll":
      var collections: [String] = []
      for item in items.compactMap(\.self) where !collections.contains(item.collection) {
        collections.append(item.collection)
      }
      // A collection stays when its last item goes.
      if collections.isEmpty { collections = ["/collection"] }
      if let item {
        call.answer([
          .dictionary([
            "Label": .string(item.label), "Locked": .boolean(locked), "Attributes": .texts(item.attributes),
            "Created": .uint64(item.created), "Modified": .uint64(item.modified),
          ])
        ])
      } else if collections.contains(call.path) {
        let paths = items.indices.filter { items[$0]?.collection == call.path }.map {
          BusValue.objectPath("/item\($0)")
        }
        let label = call.path == "/collection" ? "Login" : "Label of \(call.path)"
        // Like KWallet, does not list the items of a locked collection.
        call.answer([
          .dictionary([
            "Label": .string(label), "Locked": .boolean(locked), "Items": .array(of: "o", locked ? [] : paths),
          ])
        ])
      } else {
        call.answer([.dictionary(["Collections": .array(of: "o", collections.map { .objectPath($0) })])])
      }
    case "Unlock": call.answer([.array(of: "o", []), .objectPath(locked ? "/prompt" : "/")])
    case "Prompt":
      call.answer()
      var completed = BusTarget(path: "/prompt", interface: "org.freedesktop.Secret.Prompt")
      isLocked.value.withLock { $0 = prompt != .accepted }
      if prompt == .forged {
        completed.destination = call.sender
        intruder.emit(completed, "Completed", [.boolean(false), .variant(.string(""))])
        completed.destination = nil
      }
      call.connection.emit(completed, "Completed", [.boolean(prompt != .accepted), .variant(.string(""))])
    case "GetSecret":
      guard let secret = item?.secret else { return call.fail("org.freedesktop.Secret.Error.IsLocked", "It is locked") }
      let type = item?.contentType ?? ""
      call.answer([.structure([.objectPath("/session"), .bytes([]), .bytes(secret), .string(type)])])
    default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", call.member)
    }
  }
}
