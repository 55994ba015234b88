internal import SDBus
internal import Synchronization

/// Stands in for a Secret Service on a private bus, whose collections a prompt opens as it is told.
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

    package init(
      label: String, attributes: [String: String], secret: [UInt8]?, contentType: String = "text/plain",
      collection: String = "/collection", created: UInt64 = 0
    ) {
      (self.label, self.attributes, self.secret) = (label, attributes, secret)
      (self.contentType, self.collection, self.created) = (contentType, collection, created)
    }
  }

  package enum Prompt: Sendable {
    case none, accepted, dismissed
    /// Dismissed, after another program has said that it was accepted.
    case forged
  }

  private let connection: BusConnection
  private let intruder: BusConnection

  /// - Parameters:
  ///   - aliases: paths of collections by alias.
  ///   - isWhorl: whether it has the object by which Whorl's own service is recognized.
  package init(
    on bus: PrivateBus, prompt: Prompt = .none, aliases: [String: String] = [:], isWhorl: Bool = false, _ items: [Item]
  ) async throws {
    let intruder = try BusConnection(busAddress: bus.address, handlers: .init())
    self.intruder = intruder
    let isLocked = LockState(prompt != .none)
    connection = try BusConnection(
      busAddress: bus.address,
      handlers: .init(call: { call in
        switch call.member {
        case "ReadAlias": call.answer([.objectPath(call.arguments.first?.asString.flatMap { aliases[$0] } ?? "/")])
        case "Introspect" where isWhorl && call.path == "/org/whorl/SecretService":
          call.answer([.string("<node><interface name='org.whorl.SecretService1'/></node>")])
        default: Self.answer(call, prompt, items, isLocked, intruder)
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

  private static func answer(
    _ call: BusCall, _ prompt: Prompt, _ items: [Item], _ isLocked: LockState, _ intruder: BusConnection
  ) {
    let locked = isLocked.value.withLock { $0 }
    let item = call.path.hasPrefix("/item") ? items[Int(call.path.dropFirst("/item".count)) ?? 0] : nil
    switch call.member {
    case "OpenSession": call.answer([.variant(.string("")), .objectPath("/session")])
    case "GetAll":
      var collections: [String] = []
      for item in items where !collections.contains(item.collection) { collections.append(item.collection) }
      if let item {
        call.answer([
          .dictionary([
            "Label": .string(item.label), "Locked": .boolean(locked), "Attributes": .texts(item.attributes),
            "Created": .uint64(item.created),
          ])
        ])
      } else if collections.contains(call.path) {
        let paths = items.indices.filter { items[$0].collection == call.path }.map { BusValue.objectPath("/item\($0)") }
        let label = call.path == "/collection" ? "Login" : "Label of \(call.path)"
        // As KWallet, it does not tell what is in a locked collection.
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
