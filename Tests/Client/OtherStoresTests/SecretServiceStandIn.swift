import ProgramDriver
import SDBus
import Synchronization

/// Stands in for a Secret Service on a private bus: one collection, which a prompt opens as it is told.
final class SecretServiceStandIn: Sendable {
  struct Item {
    var label: String
    var attributes: [String: String]
    /// Nil where giving it out is refused.
    var secret: [UInt8]?
  }

  enum Prompt {
    case none, accepted, dismissed
    /// Dismissed, after another program has said that it was accepted.
    case forged
  }

  private let connection: BusConnection
  private let intruder: BusConnection

  init(on bus: PrivateBus, prompt: Prompt = .none, _ items: [Item]) async throws {
    let intruder = try BusConnection(busAddress: bus.address, handlers: .init())
    self.intruder = intruder
    let isLocked = LockState(prompt != .none)
    connection = try BusConnection(
      busAddress: bus.address,
      handlers: .init(call: { Self.answer($0, prompt, items, isLocked, intruder) }))
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string("org.freedesktop.secrets"), .uint32(0)])
    guard answer.first?.asUInt32 == 1 else { throw SystemFailure("the name of the service is taken", 17) }
  }

  func close() {
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
      if let item {
        call.answer([
          .dictionary(["Label": .string(item.label), "Locked": .boolean(locked), "Attributes": .texts(item.attributes)])
        ])
      } else if call.path == "/collection" {
        let paths = items.indices.map { BusValue.objectPath("/item\($0)") }
        call.answer([
          .dictionary(["Label": .string("Login"), "Locked": .boolean(locked), "Items": .array(of: "o", paths)])
        ])
      } else {
        call.answer([.dictionary(["Collections": .array(of: "o", [.objectPath("/collection")])])])
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
      call.answer([.structure([.objectPath("/session"), .bytes([]), .bytes(secret), .string("text/plain")])])
    default: call.fail("org.freedesktop.DBus.Error.UnknownMethod", call.member)
    }
  }
}
