internal import Fingerprint
internal import Glibc
internal import SDBus

/// One connection to the bus and to the program that owns fprintd's name there.
///
/// Calls go to the owner's unique name, and signals from any other sender are ignored. The connection ends when the name
/// gets another owner or the bus disconnects; a reader that was claimed is then no longer claimed.
actor FprintdConnection {
  nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// A signal of a device, or the end. Called on the bus loop, in the order of arrival.
  typealias Receiver = @Sendable (Event) -> Void

  enum Event: Sendable {
    case signal(path: String, member: String, arguments: [BusValue])
    /// The properties of a device that have changed.
    case changed(path: String, properties: [String: BusValue])
    case over
  }

  private let receiver: Receiver
  private var connection: BusConnection?
  private var owner: String?
  private(set) var isOver = false

  private init(receiver: @escaping Receiver) {
    self.receiver = receiver
  }

  /// Finds fprintd, and lets the bus start it if it does not run.
  static func open(
    _ place: FprintdPlace, through sockets: any BusSocketSource, receiver: @escaping Receiver
  ) async throws(ReaderError) -> FprintdConnection {
    let opened = FprintdConnection(receiver: receiver)
    do throws(BusError) {
      try await opened.connect(to: try await sockets.socket(toBus: place.bus))
    } catch {
      await opened.close()
      throw ReaderError(reaching: error)
    }
    // On the machine's own bus fprintd runs as root. On a bus that a test made, it runs as the test's user.
    let users: Set<UInt32> = place.bus == FprintdPlace.system.bus ? [0] : [0, getuid()]
    guard await opened.isOwned(by: users) else {
      await opened.close()
      throw .cannotStart("\(FprintdPlace.refused)the program that has its name does not run as root")
    }
    return opened
  }

  private func connect(to bus: BusDescriptor) async throws(BusError) {
    let connection = try BusConnection(
      busSocket: bus,
      handlers: .init(
        signal: { signal in self.assumeIsolated { $0.receive(signal) } },
        closed: { self.assumeIsolated { $0.end() } }))
    self.connection = connection
    try await connection.subscribe(
      to: MessageBus.nameOwnerChanged, of: MessageBus.target, argument: FprintdNames.service)
    // Ignore the error if fprintd runs already: a bus may have no service file for it.
    if try await connection.owner(of: FprintdNames.service) == nil { try await connection.start(FprintdNames.service) }
    guard let owner = try await connection.owner(of: FprintdNames.service), !isOver else { throw .disconnected }
    self.owner = owner
  }

  private func isOwned(by users: Set<UInt32>) async -> Bool {
    guard let connection, let owner, let user = try? await connection.userID(of: owner), users.contains(user) else {
      return false
    }
    // The owner may have changed before this process subscribed to changes, so ask again.
    return (try? await connection.owner(of: FprintdNames.service)) == owner && !isOver
  }

  /// Asks for the signals of one device.
  func follow(_ path: String) async throws(ReaderError) {
    guard let connection, let owner else { throw .processDied(Self.ended) }
    do throws(BusError) {
      try await connection.subscribe(of: BusTarget(destination: owner, path: path, interface: FprintdNames.device))
      try await connection.subscribe(
        to: "PropertiesChanged", of: BusTarget(destination: owner, path: path, interface: FprintdNames.properties),
        argument: FprintdNames.device)
    } catch {
      throw ReaderError(fprintd: error)
    }
  }

  @discardableResult
  func call(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [])
    async throws(ReaderError) -> [BusValue]
  {
    guard let connection, let owner else { throw .processDied(Self.ended) }
    do throws(BusError) {
      return try await connection.call(
        BusTarget(destination: owner, path: path, interface: interface), member, arguments)
    } catch {
      throw ReaderError(fprintd: error)
    }
  }

  /// Ends the connection. fprintd notices that and releases the reader.
  func close() {
    connection?.close()
    end()
  }

  private func receive(_ signal: BusSignal) {
    let bus = MessageBus.target
    if signal.sender == bus.destination {
      guard signal.interface == bus.interface, signal.member == MessageBus.nameOwnerChanged else { return }
      let names = signal.arguments.compactMap(\.asString)
      guard names.count == 3, names[0] == FprintdNames.service else { return }
      // While the owner is still being looked up, the name may get one.
      if let owner, names[2] != owner { close() }
    } else if let owner, signal.sender == owner {
      if signal.interface == FprintdNames.device {
        receiver(.signal(path: signal.path, member: signal.member, arguments: signal.arguments))
      } else if signal.interface == FprintdNames.properties, signal.member == "PropertiesChanged",
        signal.arguments.first?.asString == FprintdNames.device, signal.arguments.count > 1,
        let properties = signal.arguments[1].asDictionary
      {
        receiver(.changed(path: signal.path, properties: properties))
      }
    }
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    connection = nil
    owner = nil
    receiver(.over)
  }

  static let ended = "fprintd ended, or another took its place"
}

extension ReaderError {
  /// Why fprintd was not found.
  fileprivate init(reaching error: BusError) {
    switch error {
    case .remote(let name, let message, _):
      self = .cannotStart("fprintd: \(message.isEmpty ? name : message)")
    case .cancelled: self = .cancelled
    case .disconnected: self = .cannotStart("fprintd: the bus hung up")
    case .system(let code): self = .cannotStart("fprintd: no bus to find it on (error \(code))")
    case .tooLarge, .malformed: self = .cannotStart("fprintd: the bus gave no answer of use")
    }
  }

  /// fprintd's own error, or that it no longer runs.
  init(fprintd error: BusError) {
    switch error {
    case .cancelled: self = .cancelled
    case .disconnected: self = .processDied(FprintdConnection.ended)
    case .tooLarge, .malformed, .system: self = .device("fprintd gave no answer of use")
    case .remote(let name, let message, _):
      guard name.hasPrefix(FprintdNames.error) else {
        self = Self.ofTheBus(name, message)
        return
      }
      switch name.dropFirst(FprintdNames.error.count) {
      case "AlreadyInUse": self = .busy(holder: "another program, through fprintd")
      case "PermissionDenied": self = .permissionDenied(FprintdPlace.refused + message)
      case "NoSuchDevice": self = .absent
      case "NoEnrolledPrints": self = .notOnChip
      default: self = .device("fprintd: \(message.isEmpty ? name : message)")
      }
    }
  }

  private static func ofTheBus(_ name: String, _ message: String) -> ReaderError {
    switch name {
    // fprintd removes the object of a reader that is unplugged.
    case "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownMethod",
      "org.freedesktop.DBus.Error.UnknownInterface":
      .removed
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
      .processDied(FprintdConnection.ended)
    case "org.freedesktop.DBus.Error.AccessDenied": .permissionDenied(FprintdPlace.refused + message)
    default: .device("fprintd: \(message.isEmpty ? name : message)")
    }
  }
}
