// fprintd on its bus: the connection, and the names of its interfaces.

internal import Glibc
internal import Primitives
internal import ReaderBus
internal import SDBus

/// fprintd, found on its bus. The connection ends when fprintd's name gets another owner or the bus disconnects; a
/// claimed reader is then no longer claimed.
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

  /// Longer than the 25 seconds that a bus allows for the start of a service, so that the bus's own error arrives
  /// first, and shorter than `ReaderProcess.answerLimit`.
  private static let searchLimit = Duration.seconds(28)

  private let receiver: Receiver
  private var service: BusService?
  private(set) var isOver = false

  /// Finds fprintd, and lets the bus start it if it does not run.
  init(
    _ place: FprintdPlace, through sockets: any BusSocketSource, receiver: @escaping Receiver
  ) async throws(ReaderError) {
    self.receiver = receiver
    // On the machine's own bus fprintd runs as root. On a bus that a test made, it runs as the test's user.
    let users: Set<UInt32> = place.bus == FprintdPlace.system.bus ? [0] : [0, getuid()]
    do throws(BusError) {
      service = try await BusService.find(
        FprintdNames.service, on: try await sockets.socket(toBus: place.bus), ownedBy: users,
        within: Self.searchLimit
      ) { event in self.assumeIsolated { $0.receive(event) } }
    } catch {
      throw ReaderError(reaching: error)
    }
  }

  @discardableResult
  func call(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [])
    async throws(ReaderError) -> [BusValue]
  {
    guard let service, !isOver else { throw .processDied(Self.ended) }
    do throws(BusError) {
      return try await service.callWithoutLimit(path, interface, member, arguments)
    } catch {
      throw ReaderError(fprintd: error)
    }
  }

  /// Ends the connection. fprintd notices that and releases the reader.
  func close() {
    service?.close()
    end()
  }

  private func receive(_ event: BusService.Event) {
    switch event {
    case .over: end()
    case .signal(let signal) where signal.interface == FprintdNames.device:
      receiver(.signal(path: signal.path, member: signal.member, arguments: signal.arguments))
    case .signal(let signal)
    where signal.interface == FprintdNames.properties && signal.member == "PropertiesChanged"
      && signal.arguments.first?.asString == FprintdNames.device && signal.arguments.count > 1:
      guard let properties = signal.arguments[1].asDictionary else { return }
      receiver(.changed(path: signal.path, properties: properties))
    case .signal: return
    }
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    receiver(.over)
  }

  static let ended = "fprintd has stopped or was restarted"
}

extension ReaderError {
  /// Why fprintd was not found.
  fileprivate init(reaching error: BusError) {
    switch error {
    case .remote(let name, let message, _):
      self = .fprintdUnreachable("\(message.isEmpty ? name : message)")
    case .cancelled: self = .cancelled
    case .disconnected, .notSent:
      self = .fprintdUnreachable("the bus closed the connection, or no program has its name there")
    case .system(ETIMEDOUT): self = .fprintdUnreachable("fprintd or the message bus did not answer in time")
    case .system(let code): self = .fprintdUnreachable("no bus to find it on (error \(code))")
    case .tooLarge, .malformed: self = .fprintdUnreachable("the bus gave no valid answer")
    }
  }

  /// fprintd's own error, or the error that it no longer runs.
  init(fprintd error: BusError) {
    switch error {
    case .cancelled: self = .cancelled
    case .disconnected, .notSent: self = .processDied(FprintdConnection.ended)
    case .tooLarge, .malformed, .system: self = .device("fprintd gave no valid answer")
    case .remote(let name, let message, _):
      guard name.hasPrefix(FprintdNames.error) else {
        self = Self.ofTheBus(name, message)
        return
      }
      switch name.dropFirst(FprintdNames.error.count) {
      case "AlreadyInUse":
        // After a sleep fprintd (1.94.2) may keep a reader for a program that has ended.
        self = .busy(
          holder: "another program, through fprintd (if none uses it: sudo systemctl restart fprintd)")
      case "PermissionDenied": self = .fprintdRefused(message)
      case "NoSuchDevice": self = .absent
      case "NoEnrolledPrints": self = .notOnChip
      // libfprint (1.94.5) keeps a reader open that fell silent while it was opened, until fprintd ends.
      case "Internal" where message.hasBytes(of: "already been opened"):
        self = .device(
          "fprintd cannot open it any more: wait a minute, or restart fprintd (sudo systemctl restart fprintd)")
      // The words of libusb and of libfprint for a reader that was pulled out, as while fprintd opens it.
      case "Internal" where message.hasSuffix("[-4]") || message.hasBytes(of: "removed from the system"):
        self = .removed
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
    case "org.freedesktop.DBus.Error.AccessDenied": .fprintdRefused(message)
    default: .device("fprintd: \(message.isEmpty ? name : message)")
    }
  }
}

/// The connection of a reader to fprintd: made when it is needed, and again after it has ended.
actor FprintdConnector {
  nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let place: FprintdPlace
  private let sockets: any BusSocketSource
  private let receiver: FprintdConnection.Receiver
  /// The last connection that was made; nil if this process has closed it.
  private(set) var link: FprintdConnection?
  /// The connection that is being made, for all calls that need one.
  private var connecting: Task<Result<FprintdConnection, ReaderError>, Never>?
  /// The number of connections made so far.
  private var connections = 0

  /// - Parameter receiver: called with each event of the current connection, on the bus loop.
  init(
    _ place: FprintdPlace, through sockets: any BusSocketSource, receiver: @escaping FprintdConnection.Receiver
  ) {
    self.place = place
    self.sockets = sockets
    self.receiver = receiver
  }

  /// The connection, made if there is none.
  ///
  /// - Parameter isOpen: whether a reader is open. If fprintd has ended since, this throws `processDied`. If this
  ///   process closed the connection itself, nothing was claimed over it, and another is made.
  func connected(isOpen: Bool) async throws(ReaderError) -> FprintdConnection {
    if let link, await !link.isOver { return link }
    guard !isOpen || link == nil else { throw .processDied(FprintdConnection.ended) }
    let task = connecting ?? Task(executorPreference: LoopTasks.shared) { await self.connect() }
    connecting = task
    return try await task.value.get()
  }

  private func connect() async -> Result<FprintdConnection, ReaderError> {
    defer { connecting = nil }
    connections += 1
    let number = connections
    do throws(ReaderError) {
      let fresh = try await FprintdConnection(place, through: sockets) { event in
        self.assumeIsolated { connector in
          // Ignore the end of an earlier connection.
          if number == connector.connections { connector.receiver(event) }
        }
      }
      link = fresh
      return .success(fresh)
    } catch {
      return .failure(error)
    }
  }

  /// Closes the connection, if there is one. fprintd then releases what was claimed over it.
  func drop() async {
    guard let closing = link else { return }
    link = nil
    // Ignore its end.
    if connecting == nil { connections += 1 }
    await closing.close()
  }
}

/// The names of fprintd's D-Bus interfaces, methods and properties.
enum FprintdNames {
  static let service = "net.reactivated.Fprint"
  static let managerPath = "/net/reactivated/Fprint/Manager"
  static let manager = "net.reactivated.Fprint.Manager"
  static let device = "net.reactivated.Fprint.Device"
  static let properties = "org.freedesktop.DBus.Properties"
  static let error = "net.reactivated.Fprint.Error."
  /// Properties of a reader, which an older fprintd does not have.
  static let fingerNeeded = "finger-needed"
  static let fingerPresent = "finger-present"
  /// What fprintd sends if it names no finger.
  static let anyFinger = "any"
}

extension Finger {
  /// fprintd's name for the finger: "right-index-finger", but "right-thumb".
  var fprintdName: String {
    switch self {
    case .leftThumb, .rightThumb: rawValue
    default: "\(rawValue)-finger"
    }
  }

  init?(fprintdName name: String) {
    guard let finger = Finger.allCases.first(where: { $0.fprintdName == name }) else { return nil }
    self = finger
  }

  /// The name of the finger's file among fprintd's templates: libfprint's number of it in one hexadecimal digit.
  var fprintdFile: String {
    switch self {
    case .leftThumb: "1"
    case .leftIndex: "2"
    case .leftMiddle: "3"
    case .leftRing: "4"
    case .leftLittle: "5"
    case .rightThumb: "6"
    case .rightIndex: "7"
    case .rightMiddle: "8"
    case .rightRing: "9"
    case .rightLittle: "a"
    }
  }
}

/// The word after the dash in `verify-…` and `enroll-…`.
enum FprintdStatus: Sendable {
  case match
  case noMatch
  case retry(RetryReason)
  case stagePassed
  case completed
  case failed(ReaderError)

  init(verify word: String) {
    switch word {
    case "verify-match": self = .match
    case "verify-no-match": self = .noMatch
    default: self = Self.common(word, prefix: "verify-")
    }
  }

  init(enroll word: String) {
    switch word {
    case "enroll-completed": self = .completed
    case "enroll-stage-passed": self = .stagePassed
    case "enroll-data-full": self = .failed(.storageFull)
    case "enroll-duplicate": self = .failed(.duplicate)
    case "enroll-failed": self = .failed(.device("fprintd could not enrol the finger"))
    default: self = Self.common(word, prefix: "enroll-")
    }
  }

  /// An unknown status counts as a failure, never as a match.
  private static func common(_ word: String, prefix: String) -> FprintdStatus {
    guard word.hasPrefix(prefix) else {
      return .failed(.device("fprintd gave an answer that does not fit the request"))
    }
    switch word.dropFirst(prefix.count) {
    case "retry-scan": return .retry(.general)
    case "swipe-too-short": return .retry(.tooShort)
    case "finger-not-centered": return .retry(.centerFinger)
    case "remove-and-retry": return .retry(.removeFinger)
    case "too-fast": return .retry(.tooFast)
    case "disconnected": return .failed(.removed)
    case "unknown-error": return .failed(.device("fprintd reports an unknown error of the driver"))
    default: return .failed(.device("fprintd reports \(word.prefix(60))"))
    }
  }
}
